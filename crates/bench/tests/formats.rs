//! What others measured is read as it is, and what leaves is read by their scripts.

use std::collections::BTreeMap;

use bench::compare::{Policy, Source, Verdict, between, within};
use bench::export::csv;
use bench::file::{BenchFile, InvalidKind, Verification};
use bench::import::{Origin, read};
use rstest::rstest;

const ORIGIN: Origin<'_> = Origin { path: "x", sha256: "00ff" };

fn file(text: &str) -> BenchFile {
    let file = read(text, ORIGIN).expect("a known format").unwrap();
    bench::file::read(&bench::file::write(&file).unwrap()).expect("a file of the own format")
}

fn source(name: &str) -> Source {
    Source { name: name.to_owned(), paths: Vec::new(), hardware: String::new(), seed: None }
}

const IRIS: &str = r#"[
  {"benchmark": "all_gather", "world_size": 8, "params": {"num_ranks": 8, "backend": "iris", "M": 1024, "dtype": "float16"},
   "gpu_time_ms": 2.0, "min_time_ms": 1.5, "skew_pct": 25.0, "local_times_ms": [1.9, 2.1, 2.0], "bandwidth_gbps": 100.0},
  {"benchmark": "all_gather", "world_size": 8, "params": {"num_ranks": 8, "backend": "rccl", "M": 1024, "dtype": "float16"},
   "gpu_time_ms": 1.0, "all_times_ms": [1.0, 0.9, 1.1], "bandwidth_gbps": 200.0, "counters": {"tiles": 3.0}},
  {"benchmark": "all_gather", "world_size": 8, "params": {"backend": "iris", "M": 2048, "dtype": "fp8"},
   "gpu_time_ms": 0.0, "all_times_ms": [], "skipped": true, "skip_reason": "no fp8"}
]"#;

#[test]
fn json_of_iris_bench_keeps_samples_arms_and_skips() {
    let file = file(IRIS);
    let [row, skipped] = &file.rows[..] else { panic!("{:?}", file.rows) };
    assert_eq!(row.id, "all_gather/w8/dtype=float16/m=1024");
    assert_eq!((row.ranks, row.bytes, row.bus_factor), (8, 200_000_000, 1.0));
    let names: Vec<&str> = row.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names, ["iris", "rccl"], "backends are arms, and not merged");
    assert_eq!(row.arms[0].verified.before, Verification::NotJudged);
    let runs: Vec<_> = row.launches[0].blocks.iter().flat_map(|block| &block.runs).collect();
    assert_eq!(runs[0].samples, [[1.9e6], [2.1e6], [2e6]]);
    assert_eq!(runs[1].samples, [[1e6], [0.9e6], [1.1e6]]);
    assert_eq!(row.launches[0].blocks.len(), 2, "not side by side");
    assert_eq!(skipped.invalid[0].kind, InvalidKind::Skipped);
    assert_eq!(skipped.invalid[0].reason, "no fp8");
    assert!(!file.provenance[0].summary_only);
    assert!(file.notes[0].contains("rank 0's"), "{:?}", file.notes);
    // One launch of three samples is too little to say, and says so.
    let comparison = within(&file, None, source("a"), Policy::default()).unwrap();
    assert_eq!(comparison.rows[0].verdict, Some(Verdict::CannotTell), "{:?}", comparison.rows);
    assert_eq!(comparison.rows[1].verdict, None);
}

const TABLE: &str = "benchmark,world_size,M,dtype,backend,gpu_time_ms,min_time_ms,skew_pct,bandwidth_gbps,tflops,tiles,skipped,skip_reason
all_gather,8,1024,float16,iris,2.0000,1.5000,25.00,100.00,,3.0,False,
all_gather,8,1024,float16,rccl,0.0000,0.0000,0.00,,,,False,
all_gather,8,2048,\"fp8, fnuz\",iris,,,,,,,True,\"no \"\"fp8\"\"\"
";

#[test]
fn csv_of_iris_bench_is_a_summary() {
    let file = file(TABLE);
    assert_eq!(file.rows.len(), 2);
    assert!(file.provenance[0].summary_only);
    assert_eq!(file.rows[0].id, "all_gather/w8/dtype=float16/m=1024");
    let runs: Vec<_> = file.rows[0].launches[0].blocks.iter().flat_map(|b| &b.runs).collect();
    assert_eq!(runs[0].samples, [[2e6]]);
    assert_eq!(runs[1].samples, [[0.0]], "0.0 is a time and stays 0.0");
    assert_eq!(file.rows[1].axes["dtype"], "fp8, fnuz");
    assert_eq!(file.rows[1].invalid[0].reason, "no \"fp8\"");
}

#[rstest]
#[case::time("2.0000", "fast", "line 2: `gpu_time_ms` is `fast`")]
#[case::missing("2.0000", "", "line 2: no `gpu_time_ms`, and not skipped")]
#[case::ranks(
    "all_gather,8,1024,float16,iris",
    "all_gather,x,1,f,iris",
    "`world_size` is no number"
)]
fn a_broken_table_is_refused_with_its_line(
    #[case] from: &str,
    #[case] to: &str,
    #[case] expected: &str,
) {
    let error = read(&TABLE.replacen(from, to, 1), ORIGIN).unwrap().unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[rstest]
#[case::list("[1.5, 2.5]", &["measured"], &[1.5e3, 2.5e3], 1)]
#[case::launches("[[1.5, 2.5], [3, 4]]", &["measured"], &[1.5e3, 2.5e3], 2)]
#[case::unit(r#"{"unit": "ms", "samples": [1.5, 2.5]}"#, &["measured"], &[1.5e6, 2.5e6], 1)]
#[case::suffix(r#"{"times_ns": [1.5, 2.5]}"#, &["measured"], &[1.5, 2.5], 1)]
#[case::arms(r#"{"base": [1.5, 2.5], "new": [1, 2]}"#, &["base", "new"], &[1.5e3, 2.5e3], 1)]
fn lists_of_samples_are_read(
    #[case] text: &str,
    #[case] arms: &[&str],
    #[case] first: &[f64],
    #[case] launches: usize,
) {
    let file = file(text);
    let names: Vec<&str> = file.rows[0].arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names, arms);
    assert_eq!(file.rows[0].launches.len(), launches);
    let samples = &file.rows[0].launches[0].blocks[0].runs[0].samples;
    assert_eq!(samples.concat(), first);
}

#[test]
fn what_is_no_list_of_samples_is_refused_or_not_taken() {
    assert!(read("[1, -2]", ORIGIN).unwrap().is_err());
    assert!(read(r#"{"unit": "h", "samples": [1]}"#, ORIGIN).unwrap().is_err());
    for other in ["{}", "[]", "# nThread 1", r#"{"results": 3}"#] {
        assert!(read(other, ORIGIN).is_none(), "{other}");
    }
}

/// Lists with 4 % between them, noise of about 1 % and a hundred samples each.
#[test]
fn two_lists_of_samples_are_compared() {
    let list = |factor: f64| {
        let noise = |i: u32| 1.0 + 0.01 * f64::from(i * 7 % 13) / 13.0;
        let times: Vec<f64> = (0..100).map(|i| 50.0 * factor * noise(i)).collect();
        file(&serde_json::to_string(&times).unwrap())
    };
    let verdict = |factor: f64| {
        let sources = [source("a"), source("b")];
        let files = [list(1.0), list(factor)];
        let comparison = between([&files[0], &files[1]], sources, Policy::default()).unwrap();
        comparison.rows[0].verdict.unwrap()
    };
    assert_eq!(verdict(1.04), Verdict::Slower);
    assert_eq!(verdict(0.96), Verdict::Faster);
    assert_eq!(verdict(1.0), Verdict::CannotTell, "one launch cannot show how launches differ");
}

/// As a script for iris.bench reads it: by the names of columns.
#[test]
fn the_csv_has_the_columns_of_iris_bench() {
    let text = csv(&file(IRIS));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header[..2], ["benchmark", "world_size"]);
    for column in ["M", "dtype", "gpu_time_ms", "min_time_ms", "skew_pct", "bandwidth_gbps"] {
        assert!(header.iter().any(|name| name == column), "{column} of {header:?}");
    }
    assert_eq!(header[header.len() - 2..], ["skipped", "skip_reason"]);
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 3);
    let get = |row: usize, column: &str| rows[row][column].as_str();
    assert_eq!((get(0, "backend"), get(0, "gpu_time_ms")), ("iris", "2.000000"));
    assert_eq!((get(0, "world_size"), get(0, "skipped")), ("8", "False"));
    assert_eq!((get(1, "backend"), get(1, "bandwidth_gbps")), ("rccl", "200.0000"));
    assert_eq!(
        (get(2, "skipped"), get(2, "skip_reason"), get(2, "gpu_time_ms")),
        ("True", "no fp8", "")
    );
    // And it is read again as what it was.
    let again = file(&text);
    assert_eq!(again.rows[0].arms.len(), 2);
    assert_eq!(again.rows[1].invalid[0].reason, "no fp8");
}

/// The slowest rank's median, and the spread between ranks' medians.
#[test]
fn ranks_have_medians_of_their_own() {
    let text = r#"{"schema": "rankcheck.bench/1", "rankcheck": "0.1.0", "rows": [{
        "id": "a", "collective": "all_gather", "ranks": 2, "bytes": 4000000, "bus_factor": 0.5,
        "arms": [{"name": "base", "kind": "variant", "semantics": "all_gather"}],
        "launches": [{"number": 0, "blocks": [{"runs": [
            {"arm": 0, "samples": [[1e6, 2e6], [3e6, 1e6], [2e6, 4e6]]}]}]}]}]}"#;
    let table = csv(&file(text));
    let line = table.lines().nth(1).unwrap();
    assert_eq!(line, "all_gather,2,base,2.000000,2.000000,0.00,1.0000,,4000000,2.0000,False,");
}
