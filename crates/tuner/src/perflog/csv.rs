//! Rows of judged logs as CSV, one line for each half of each row.

use super::model::{Check, Half, Log};

/// One table for all logs, each with the name to write; a log without rows still has one line, so
/// that its status is not lost.
pub fn csv(logs: &[(&str, &Log)]) -> String {
    let mut table =
        "file,status,line,run,size_bytes,count,dtype,redop,root,half,time_us,algbw_gbs,\
                     busbw_gbs,check,value,collective,ranks,algo,proto,\
                     nchannels,extra\n"
            .to_owned();
    for (file, log) in logs {
        let head = format!("{},{}", field(file), log.status.name());
        if log.rows.is_empty() {
            table += &format!("{head}{}\n", ",".repeat(19));
        }
        for row in &log.rows {
            let run = log.run_of(row);
            for half in &row.halves {
                let (check, value) = match half.check {
                    Check::NotChecked => ("not_checked", String::new()),
                    Check::Wrong(0.0) => ("right", "0".to_owned()),
                    Check::Wrong(elements) => ("wrong", elements.to_string()),
                    Check::Deviation { value, exceeds: true } => ("wrong", value.to_string()),
                    Check::Deviation { value, .. } => ("right", value.to_string()),
                };
                table += &format!(
                    "{head},{},{},{},{},{},{},{},{},{},{},{},{check},{value},{},{},{},{},{},{}\n",
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
                    field(run.and_then(|run| run.collective.as_deref()).unwrap_or_default()),
                    run.and_then(|run| run.ranks).map_or(String::new(), |ranks| ranks.to_string()),
                    field(row.extra("algo").unwrap_or_default()),
                    field(row.extra("proto").unwrap_or_default()),
                    field(row.extra("nchannels").unwrap_or_default()),
                    field(&others(half)),
                );
            }
        }
    }
    table
}

/// Columns of a half that have no column here: `hipevt=2.78;i_min=5.1`.
fn others(half: &Half) -> String {
    let named = |name: &str| matches!(name, "algo" | "proto" | "nchannels");
    let others = half.extra.iter().filter(|(name, _)| !named(name));
    others.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";")
}

/// A field as RFC 4180 has it.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
