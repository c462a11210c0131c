//! Findings as SARIF 2.1.0, which code hosts turn into annotations.

use serde_json::{Value, json};

use crate::lint::Finding;
use crate::lint::rules::{RuleId, Severity};

/// One SARIF log for all files; each is (path as the user gave it, its findings).
pub fn sarif(files: &[(&str, &[Finding])]) -> Value {
    let rules: Vec<_> = RuleId::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.name(),
                "shortDescription": {"text": rule.why()},
                "defaultConfiguration": {"level": level(rule.severity())},
            })
        })
        .collect();
    let results: Vec<_> = files
        .iter()
        .flat_map(|(path, findings)| findings.iter().map(move |finding| result(path, finding)))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "rankcheck tuner lint",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result(path: &str, finding: &Finding) -> Value {
    let effects = finding.effects.iter().map(|e| format!("\n{}: {}", e.dialect, e.what));
    let suggestion = finding.suggestion.iter().map(|text| format!("\nsuggestion: {text}"));
    let details: String = effects.chain(suggestion).collect();
    json!({
        "ruleId": finding.rule.name(),
        "level": level(finding.severity),
        "message": {"text": format!("{}{details}", finding.message)},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": path},
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }}],
    })
}
