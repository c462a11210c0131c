//! What rccl-tests writes with `-x FILE -Z json|csv`: one record for each half of each row, no
//! header of devices and no footer. The file is written when the run has ended, so a file that is
//! whole comes from a run that reached its end.

use std::collections::BTreeMap;

use serde_json::Value;

use super::factor::explains;
use super::half::{agrees_with_itself, element_bytes, half_unit, number};
use super::model::{Check, Evidence, Footer, Format, Half, HalfKind, Row, Slack, Unreadable};
use super::text::quote;

/// A record by its keys, in lower case; values as printed, without quotes.
type Record = BTreeMap<String, String>;

/// Whether a log is the CSV of `-Z csv`.
pub(super) fn is_csv(text: &str) -> bool {
    let first = text.trim_start_matches(['\u{feff}', '\n', '\r', ' ']);
    first.starts_with("numCycle,collective,")
}

/// Whether a log is the JSON of `-Z json`.
pub(super) fn is_json(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with('[') && text.contains("\"numCycle\"")
}

/// Reads `-Z csv`.
pub(super) fn read_csv(text: &str) -> Evidence {
    let mut evidence =
        Evidence { format: Format::ReportCsv, is_perf_tool: true, ..Evidence::default() };
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let names: Vec<String> = match lines.next() {
        Some((_, header)) => {
            header.trim_start_matches('\u{feff}').trim().split(',').map(str::to_lowercase).collect()
        }
        None => Vec::new(),
    };
    let mut records = Vec::new();
    for (index, line) in lines {
        match record(&names, line) {
            Some(record) => records.push((index + 1, line.to_owned(), record)),
            None => evidence.unreadable.push(Unreadable {
                line: index + 1,
                why: "the number of fields does not fit the header".to_owned(),
                text: quote(line),
            }),
        }
    }
    if !text.ends_with('\n') {
        evidence.missing.push("the last line does not end".to_owned());
    }
    take(records, evidence)
}

/// With MPI the tool writes a field for the nodes that its header does not name.
fn record(names: &[String], line: &str) -> Option<Record> {
    let plain = |field: &str| field.trim().trim_matches('"').to_owned();
    let values: Vec<String> = line.trim_end_matches('\r').split(',').map(plain).collect();
    let mut names = names.to_vec();
    if values.len() == names.len() + 1 {
        names.insert(names.iter().position(|name| name == "ranks")?, "nodes".to_owned());
    }
    (values.len() == names.len()).then(|| names.into_iter().zip(values).collect())
}

/// Reads `-Z json`.
pub(super) fn read_json(text: &str) -> Evidence {
    let mut evidence =
        Evidence { format: Format::ReportJson, is_perf_tool: true, ..Evidence::default() };
    if serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')).is_err() {
        evidence.missing.push("the JSON is not complete".to_owned());
    }
    let mut records = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let object = line.trim().trim_start_matches('[').trim().trim_end_matches([',', ']']).trim();
        if object.is_empty() {
            continue;
        }
        match serde_json::from_str::<BTreeMap<String, Value>>(object) {
            Ok(fields) => {
                let plain = |value: Value| match value {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                let record =
                    fields.into_iter().map(|(key, value)| (key.to_lowercase(), plain(value)));
                records.push((index + 1, line.to_owned(), record.collect()));
            }
            Err(_) => evidence.unreadable.push(Unreadable {
                line: index + 1,
                why: "the record is cut or not JSON".to_owned(),
                text: quote(line),
            }),
        }
    }
    take(records, evidence)
}

/// Records to rows: out-of-place and in-place of one size stand one behind the other.
fn take(records: Vec<(usize, String, Record)>, mut evidence: Evidence) -> Evidence {
    let mut worlds: Vec<[usize; 2]> = Vec::new();
    for (line, text, record) in records {
        match row(line, &record) {
            Ok((name, candidates, mut row)) => {
                let known = evidence
                    .footers
                    .iter()
                    .position(|run| run.collective.as_deref() == Some(name.as_str()));
                let section = known.unwrap_or_else(|| {
                    let collective = Some(name);
                    evidence.footers.push(Footer { collective, worlds: 1, ..Footer::default() });
                    worlds.push(candidates);
                    evidence.footers.len() - 1
                });
                row.section = section;
                match evidence.rows.last_mut().filter(|last| is_other_half(last, &row)) {
                    Some(last) => last.halves.append(&mut row.halves),
                    None => evidence.rows.push(row),
                }
            }
            Err(why) => {
                let text = quote(&text);
                evidence.unreadable.push(Unreadable { line, why: why.to_owned(), text });
            }
        }
    }
    // `ranks` counts processes of the job, `ranksPerNode` those of the communicator: the same
    // unless the job was split. The bandwidths tell which one is meant.
    for (section, candidates) in worlds.into_iter().enumerate() {
        let rows: Vec<&Row> = evidence.rows.iter().filter(|row| row.section == section).collect();
        let collective = evidence.footers[section].collective.clone().unwrap_or_default();
        let fits = candidates.into_iter().find(|&ranks| explains(ranks, &collective, &rows));
        evidence.footers[section].ranks = Some(fits.unwrap_or(candidates[0]));
    }
    evidence
}

/// Whether a half belongs to the row before it.
fn is_other_half(last: &Row, next: &Row) -> bool {
    let key = |row: &Row| (row.section, row.size_bytes, row.dtype.clone(), row.redop.clone());
    let kinds = |row: &Row| row.halves.iter().map(|half| half.kind).collect::<Vec<_>>();
    key(last) == key(next)
        && kinds(last) == [HalfKind::OutOfPlace]
        && kinds(next) == [HalfKind::InPlace]
}

/// One record: the collective, the numbers of ranks that it can mean, and a row of one half.
fn row(line: usize, record: &Record) -> Result<(String, [usize; 2], Row), &'static str> {
    let get = |key: &str| record.get(key).map(String::as_str);
    let count = |key: &str| get(key).and_then(|value| value.parse::<usize>().ok());
    let collective =
        get("collective").or_else(|| get("name")).ok_or("the collective is missing")?;
    let gpus = count("gpusperrank").or_else(|| count("gpus")).ok_or("the GPUs are missing")?;
    let of_job = count("ranks").unwrap_or(1);
    let of_world = count("rankspernode").unwrap_or(of_job);
    let size_bytes: u64 =
        get("size").and_then(|size| size.parse().ok()).ok_or("the size is not a number")?;
    let dtype = get("type").ok_or("the type is missing")?;
    let element = element_bytes(dtype).ok_or("the type is not known")?;
    let kind = match get("inplace") {
        Some("0") => HalfKind::OutOfPlace,
        Some("1") => HalfKind::InPlace,
        _ => return Err("inPlace is neither 0 nor 1"),
    };
    let value = |key: &str, why| {
        let text = get(key).ok_or(why)?;
        Ok::<_, &'static str>((number(text).ok_or(why)?, half_unit(text)))
    };
    let (time_us, time_slack) = value("time", "the time is not a number")?;
    let (algbw_gbs, algbw_slack) = value("algbw", "algBw is not a number")?;
    let (busbw_gbs, busbw_slack) = value("busbw", "busBw is not a number")?;
    let check = match get("wrong").or_else(|| get("#wrong")) {
        Some("N/A") => Check::NotChecked,
        Some(text) => Check::Wrong(number(text).ok_or("wrong is not a count")?),
        None => return Err("wrong is missing"),
    };
    let half = Half {
        kind,
        time_us,
        algbw_gbs,
        busbw_gbs,
        check,
        extra: Vec::new(),
        slack: Slack { time_us: time_slack, algbw_gbs: algbw_slack, busbw_gbs: busbw_slack },
        time_is_wall: true,
    };
    let row = Row {
        line,
        section: 0,
        size_bytes,
        count: size_bytes / element,
        dtype: dtype.to_owned(),
        redop: get("redop").map(str::to_owned),
        root: None,
        halves: vec![half],
        had_noise: false,
    };
    agrees_with_itself(&row.halves[0], &row)?;
    Ok((snake(collective), [of_job * gpus, of_world * gpus], row))
}

/// The tool's name of a collective: `AllReduce` is `all_reduce`, `AlltoAll` is `alltoall`.
fn snake(name: &str) -> String {
    match name {
        "AllReduce" => "all_reduce".to_owned(),
        "AllGather" => "all_gather".to_owned(),
        "ReduceScatter" => "reduce_scatter".to_owned(),
        other => other.to_lowercase(),
    }
}
