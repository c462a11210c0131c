//! Rows of judged logs as CSV, one line for each half of each row.

use super::model::{Check, Log};

/// One table for all logs, each with the name to write; a log without rows still has one line, so
/// that its status is not lost.
pub fn csv(logs: &[(&str, &Log)]) -> String {
    let mut table =
        "file,status,line,run,size_bytes,count,dtype,redop,root,half,time_us,algbw_gbs,\
                     busbw_gbs,check,value\n"
            .to_owned();
    for (file, log) in logs {
        let head = format!("{},{}", field(file), log.status.name());
        if log.rows.is_empty() {
            table += &format!("{head}{}\n", ",".repeat(13));
        }
        for row in &log.rows {
            for half in &row.halves {
                let (check, value) = match half.check {
                    Check::NotChecked => ("not_checked", String::new()),
                    Check::Wrong(elements) => ("wrong", elements.to_string()),
                    Check::Deviation { value, .. } => ("deviation", value.to_string()),
                };
                table += &format!(
                    "{head},{},{},{},{},{},{},{},{},{},{},{},{check},{value}\n",
                    row.line,
                    row.section,
                    row.size_bytes,
                    row.count,
                    field(&row.dtype),
                    field(row.redop.as_deref().unwrap_or_default()),
                    row.root.map_or(String::new(), |root| root.to_string()),
                    half.kind.name(),
                    half.time_us,
                    half.algbw_gbs,
                    half.busbw_gbs,
                );
            }
        }
    }
    table
}

/// A field as RFC 4180 has it.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
