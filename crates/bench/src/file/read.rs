//! Text to a file and back, with everything checked that the types do not say.

use super::row::{BenchFile, Row};

/// The name of the format.
pub const SCHEMA: &str = "rankcheck.bench/1";

/// Why a text is no file of measurements.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is no JSON, or its fields are others.
    #[error("not a file of {SCHEMA}: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another format or version.
    #[error("`schema` is `{0}`, expected `{SCHEMA}`")]
    Schema(String),
    /// A row contradicts itself.
    #[error("row {number} (`{id}`): {what}")]
    Row {
        /// The row's number in the file, from 0.
        number: usize,
        /// The row's id.
        id: String,
        /// What is wrong.
        what: String,
    },
}

/// Reads a file of measurements.
///
/// # Errors
/// It is none, or it contradicts itself.
pub fn read(text: &str) -> Result<BenchFile, FileError> {
    let file: BenchFile = serde_json::from_str(text)?;
    check_file(&file)?;
    Ok(file)
}

fn check_file(file: &BenchFile) -> Result<(), FileError> {
    if file.schema != SCHEMA {
        return Err(FileError::Schema(file.schema.clone()));
    }
    let mut ids = std::collections::BTreeSet::new();
    for (number, row) in file.rows.iter().enumerate() {
        let wrong = |what: String| FileError::Row { number, id: row.id.clone(), what };
        check(row).map_err(wrong)?;
        if !ids.insert(row.id.as_str()) {
            return Err(wrong("another row has the same id".to_owned()));
        }
    }
    Ok(())
}

/// A file of measurements as text, one row a line, so that line tools and diffs work.
///
/// # Errors
/// The file contradicts itself, and could not be read again.
pub fn write(file: &BenchFile) -> Result<String, FileError> {
    check_file(file)?;
    let head = BenchFile { rows: Vec::new(), ..file.clone() };
    let head = serde_json::to_string(&head)?;
    let head = head.strip_suffix("[]}").expect("rows are the last field");
    let rows: Result<Vec<String>, _> = file.rows.iter().map(serde_json::to_string).collect();
    Ok(format!("{head}[\n{}\n]}}\n", rows?.join(",\n")))
}

fn check(row: &Row) -> Result<(), String> {
    let mut names = std::collections::BTreeSet::new();
    if let Some(arm) = row.arms.iter().find(|arm| !names.insert(arm.name.as_str())) {
        return Err(format!("two arms are called `{}`", arm.name));
    }
    if row.ranks == 0 {
        return Err("0 ranks".to_owned());
    }
    if !(row.bus_factor.is_finite() && row.bus_factor >= 0.0) {
        return Err(format!("bus_factor is {}", row.bus_factor));
    }
    if let Some(invalid) = row.invalid.iter().find(|i| i.arm.is_some_and(|a| a >= row.arms.len())) {
        return Err(format!("`invalid` names an arm that is not there: {}", invalid.reason));
    }
    for launch in &row.launches {
        for (block, run) in launch
            .blocks
            .iter()
            .enumerate()
            .flat_map(|(number, block)| block.runs.iter().map(move |run| (number, run)))
        {
            let at = format!("launch {}, block {block}", launch.number);
            if run.arm >= row.arms.len() {
                return Err(format!("{at}: arm {} of {}", run.arm, row.arms.len()));
            }
            for (iteration, samples) in run.samples.iter().enumerate() {
                if samples.len() != 1 && samples.len() != row.ranks as usize {
                    let (found, ranks) = (samples.len(), row.ranks);
                    return Err(format!(
                        "{at}, iteration {iteration}: {found} samples for {ranks} ranks"
                    ));
                }
                if let Some(wrong) =
                    samples.iter().find(|time| !(time.is_finite() && **time >= 0.0))
                {
                    return Err(format!("{at}, iteration {iteration}: a time of {wrong} ns"));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::*;
    use rstest::rstest;

    fn arm(name: &str, kind: ArmKind) -> Arm {
        Arm {
            name: name.to_owned(),
            kind,
            semantics: "all_gather".to_owned(),
            layout: None,
            source: Some("push.hip sha256 00ff".to_owned()),
            requested: Launch { blocks: Some(64), ..Launch::default() },
            effective: Launch { blocks: Some(64), threads: Some(256), ..Launch::default() },
            verified: Verified {
                before: Verification::Right,
                after: Verification::Wrong("unwritten: rank 1".to_owned()),
            },
        }
    }

    fn file() -> BenchFile {
        let run = |arm, samples| Run { arm, at_ns: Some(5.0), samples };
        let block = Block {
            runs: vec![
                run(0, vec![vec![1000.5, 1002.0], vec![1001.0, 0.0]]),
                run(1, vec![vec![900.0], vec![901.0]]),
            ],
        };
        BenchFile {
            schema: SCHEMA.to_owned(),
            rankcheck: "0.1.0".to_owned(),
            machine: Machine { gpus: vec![Gpu::default()], ..Machine::default() },
            command: vec!["bench".to_owned(), "a.yaml".to_owned()],
            seed: Some(7),
            scenario: Some(Scenario::default()),
            protocol: Protocol::default(),
            provenance: Vec::new(),
            notes: vec!["arms differ only in push.hip".to_owned()],
            interrupted: false,
            rows: vec![Row {
                id: "all_gather/w2/f16".to_owned(),
                collective: "all_gather".to_owned(),
                kernel: "all_gather/push".to_owned(),
                axes: [("dtype".to_owned(), "f16".to_owned())].into(),
                ranks: 2,
                mode: "process".to_owned(),
                device: "cpu".to_owned(),
                bytes: 4096,
                bus_factor: 0.5,
                ceiling: Some(Ceiling { busbw_gbs: 10.0, what: "memcpy".to_owned() }),
                cache: Cache::Cold,
                arms: vec![arm("base", ArmKind::Variant), arm("aa", ArmKind::Control)],
                launches: vec![FreshLaunch { number: 0, blocks: vec![block] }],
                invalid: vec![Invalid {
                    arm: Some(1),
                    kind: InvalidKind::AboveCeiling,
                    reason: "19 GB/s".to_owned(),
                }],
                skipped: None,
            }],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let text = write(&file()).unwrap();
        assert_eq!(read(&text).unwrap(), file());
        assert_eq!(text.lines().count(), 3, "one row a line: {text}");
    }

    #[rstest]
    #[case::schema("rankcheck.bench/1", "rankcheck.bench/2", "expected `rankcheck.bench/1`")]
    #[case::unknown("\"seed\"", "\"sead\"", "unknown field `sead`")]
    #[case::arms("\"aa\"", "\"base\"", "two arms are called `base`")]
    #[case::arm("{\"arm\":1,\"at_ns\"", "{\"arm\":2,\"at_ns\"", "launch 0, block 0: arm 2 of 2")]
    #[case::ranks("\"ranks\":2", "\"ranks\":3", "2 samples for 3 ranks")]
    #[case::time("901.0", "-901.0", "iteration 1: a time of -901 ns")]
    #[case::invalid("{\"arm\":1,\"kind\"", "{\"arm\":9,\"kind\"", "names an arm that is not there")]
    fn what_contradicts_itself_is_refused(
        #[case] from: &str,
        #[case] to: &str,
        #[case] expected: &str,
    ) {
        let text = write(&file()).unwrap();
        assert!(text.contains(from), "{text}");
        let error = read(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
