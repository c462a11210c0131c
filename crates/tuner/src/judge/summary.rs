//! Summaries: rows without the logs that they were read from, as `rankcheck perflog --format csv` writes them.

use std::collections::BTreeMap;

use crate::perflog::HalfKind;

/// One half of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummaryHalf {
    /// Which half.
    pub kind: HalfKind,
    /// Bytes of the operation.
    pub bytes: u64,
    /// Microseconds an operation.
    pub time_us: f64,
    /// Whether the tool counted wrong elements.
    pub is_wrong: bool,
}

/// The rows of a summary, by the run whose log they were read from; absent where the text is no such table. Lines that cannot be
/// read are left out, so that their runs have no rows.
pub fn summary(text: &str) -> Option<BTreeMap<String, Vec<SummaryHalf>>> {
    let mut reader = ::csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().ok()?.clone();
    let column = |name: &str| header.iter().position(|column| column == name);
    let columns = ["file", "size_bytes", "half", "time_us", "check"].map(column);
    let [Some(file), Some(size), Some(half), Some(time), Some(check)] = columns else {
        return None;
    };
    let mut runs: BTreeMap<String, Vec<SummaryHalf>> = BTreeMap::new();
    for line in reader.records().flatten() {
        let cell = |index: usize| line.get(index).unwrap_or_default();
        let name = cell(file).rsplit(['/', '\\']).next().unwrap_or_default();
        let kind = match cell(half) {
            "out_of_place" => HalfKind::OutOfPlace,
            "in_place" => HalfKind::InPlace,
            _ => continue,
        };
        let (Ok(bytes), Ok(time_us)) = (cell(size).parse(), cell(time).parse()) else { continue };
        let is_wrong = cell(check) == "wrong";
        let run = name.trim_end_matches(".log").to_owned();
        runs.entry(run).or_default().push(SummaryHalf { kind, bytes, time_us, is_wrong });
    }
    Some(runs)
}
