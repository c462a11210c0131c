//! JSON logs (`-J`), also those that a crash has left without an end.
//!
//! The results are taken one by one, so that a cut or broken one costs only itself. `env` is never
//! looked at.

use serde_json::Value;

use super::model::{
    Average, Check, Evidence, Footer, Format, Half, HalfKind, OutOfBounds, Row, Slack, Unreadable,
};
use super::runs::collective;
use super::text::quote;

/// Whether a log is one JSON object of a perf tool.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

pub(super) fn read(text: &str) -> Evidence {
    let mut evidence = Evidence { format: Format::Json, ..Evidence::default() };
    let Some(results) = after_key(text, "results") else {
        evidence.is_perf_tool = text.contains("ccl_version\"") || text.contains("_perf");
        evidence.missing.push("no results".to_owned());
        return evidence;
    };
    evidence.is_perf_tool = true;
    if serde_json::from_str::<Value>(text).is_err() {
        evidence.missing.push("the JSON is not complete".to_owned());
    }
    let (objects, is_closed) = objects(results);
    if !is_closed {
        evidence.missing.push("the results do not end".to_owned());
    }
    for (index, object) in objects.iter().enumerate() {
        match row(object, index + 1) {
            Ok(row) => evidence.rows.push(row),
            Err(why) => {
                let text = quote(&object.replace('\n', " "));
                evidence.unreadable.push(Unreadable { line: index + 1, why: why.to_owned(), text });
            }
        }
    }
    evidence.footers.push(footer(text));
    // A code (23003) in the versions seen.
    evidence.tool = ["nccl", "rccl"].into_iter().find_map(|library| {
        match value(text, &format!("{library}_version"))? {
            Value::String(version) => Some(format!("{library} {version}")),
            Value::Number(code) => Some(format!("{library} {code}")),
            _ => None,
        }
    });
    if value(text, "bitwise_mismatches").is_some_and(|value| okay(&value) == Some(false)) {
        evidence.mismatches.push("repeated runs differ bit for bit".to_owned());
    }
    // The library's last message, which it also has after a good run; often empty.
    if let Some(Value::Array(errors)) = value(text, "errors") {
        let errors = errors.iter().filter_map(Value::as_str).filter(|error| !error.is_empty());
        evidence
            .notes
            .extend(errors.map(|error| format!("last library message: {}", quote(error))));
    }
    evidence.missing.extend(value(text, "end_time").is_none().then(|| "no end time".to_owned()));
    evidence
}

/// The text behind `"key" :`. A key inside a string has its quotes escaped and is not found.
fn after_key<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let quoted = format!("\"{key}\"");
    // The same word can be a value; a key is the one with a colon behind it.
    text.match_indices(&quoted).find_map(|(index, _)| {
        let value = text[index + quoted.len()..].trim_start().strip_prefix(':')?;
        Some(value.trim_start())
    })
}

fn value(text: &str, key: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(after_key(text, key)?).into_iter().next()?.ok()
}

/// The objects of an array, by their braces, and whether the array ends. The last one may be cut.
fn objects(array: &str) -> (Vec<&str>, bool) {
    let (mut depth, mut start, mut in_string, mut escaped) = (0usize, 0, false, false);
    let mut found = Vec::new();
    for (index, c) in array.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' => {
                if depth == 0 {
                    start = index;
                }
                depth += 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    found.push(&array[start..=index]);
                }
            }
            ']' if depth == 0 => return (found, true),
            _ => {}
        }
    }
    if depth > 0 {
        found.push(&array[start..]);
    }
    (found, false)
}

/// Numbers may stand as strings (`"root": "    -1"`).
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }?;
    number.is_finite().then_some(number)
}

fn unsigned(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn row(object: &str, line: usize) -> Result<Row, &'static str> {
    let object: Value =
        serde_json::from_str(object).map_err(|_| "the result is cut or not JSON")?;
    let halves = [("out_of_place", HalfKind::OutOfPlace), ("in_place", HalfKind::InPlace)]
        .into_iter()
        .filter_map(|(key, kind)| Some((kind, object.get(key).filter(|half| !half.is_null())?)))
        .map(|(kind, object)| half(kind, object))
        .collect::<Result<Vec<_>, _>>()?;
    if halves.is_empty() {
        return Err("the result has neither half");
    }
    let text =
        |key: &str| object.get(key).and_then(Value::as_str).map(|text| text.trim().to_owned());
    Ok(Row {
        line,
        section: 0,
        size_bytes: object.get("size").and_then(unsigned).ok_or("the size is not a number")?,
        count: object.get("count").and_then(unsigned).ok_or("the count is not a number")?,
        dtype: text("type").ok_or("the type is missing")?,
        redop: text("redop"),
        root: object.get("root").and_then(number).map(|root| root as i64),
        halves,
        had_noise: false,
    })
}

fn half(kind: HalfKind, object: &Value) -> Result<Half, &'static str> {
    let get = |key: &str| object.get(key).and_then(number);
    let check = match object.get("nwrong") {
        Some(Value::Null) => Check::NotChecked,
        Some(value) => {
            let wrong = number(value).filter(|wrong| *wrong >= 0.0);
            Check::Wrong(wrong.ok_or("nwrong is not a count")?)
        }
        None => return Err("nwrong is missing"),
    };
    let hip = object.get("hip_event_time").map(|value| ("hipevt".to_owned(), value.to_string()));
    // Printed with six decimals.
    let slack = Slack { time_us: 5e-7, algbw_gbs: 5e-7, busbw_gbs: 5e-7 };
    Ok(Half {
        kind,
        time_us: get("time").or_else(|| get("cpu_time")).ok_or("the time is not a number")?,
        algbw_gbs: get("alg_bw").ok_or("alg_bw is not a number")?,
        busbw_gbs: get("bus_bw").ok_or("bus_bw is not a number")?,
        check,
        extra: hip.into_iter().collect(),
        slack,
        time_is_wall: object.get("time").is_some(),
    })
}

/// `okay` of a summary; booleans are strings: "true", "false", "unchecked".
fn okay(value: &Value) -> Option<bool> {
    match value.get("okay")? {
        Value::Bool(okay) => Some(*okay),
        Value::String(okay) => okay.trim().parse().ok(),
        _ => None,
    }
}

/// Ranks of one world: processes times threads times GPUs. Each process has one device in the list,
/// and its group where the job was split.
fn ranks(config: &Value) -> Option<usize> {
    let count = |key: &str| usize::try_from(config.get(key)?.as_u64()?).ok();
    let devices = config.get("devices")?.as_array()?;
    let group = |device: &Value| device.get("group").and_then(Value::as_i64);
    let first = devices.first().map(group)?;
    let processes = devices.iter().filter(|device| group(device) == first).count();
    processes.checked_mul(count("nthreads")?)?.checked_mul(count("ngpus")?)
}

fn footer(text: &str) -> Footer {
    let out_of_bounds = value(text, "out_of_bounds").and_then(|value| {
        let count = value.get("count").and_then(unsigned)?;
        Some(OutOfBounds { count, ok: okay(&value)? })
    });
    let average = value(text, "average_bus_bandwidth").and_then(|value| {
        let busbw_gbs = value.get("bandwidth").and_then(number)?;
        Some(Average { busbw_gbs, ok: okay(&value), slack: 5e-7 })
    });
    Footer {
        collective: value(text, "args").and_then(|args| collective(&args.to_string())),
        ranks: value(text, "config").and_then(|config| ranks(&config)),
        worlds: 1,
        out_of_bounds: out_of_bounds.into_iter().collect(),
        averages: average.into_iter().collect(),
    }
}
