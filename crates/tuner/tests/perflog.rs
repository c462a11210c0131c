//! Logs of every version seen, and a corpus of logs with one fault each, with the status that each
//! must get.

mod logs;

use logs::{
    ALLTOALL, HYPERCUBE, ITERATIONS, MODERN, NO_CHECK, OLD, OLD_ALLTOALL, ROCM, ROCM_IN_PLACE,
    ROWS, Style, json, log,
};
use proptest::prelude::*;
use rstest::rstest;
use tuner::perflog::{Check, HalfKind, Log, Status, csv, read};

use Status::{Crashed, NotACollective, Ok as Fine, Truncated, Unchecked, Wrong};

fn judged(text: &str) -> Log {
    read(text.as_bytes())
}

#[rstest]
#[case::modern(MODERN, 2, Some("nccl-tests version 2.17.8"))]
#[case::old(OLD, 2, None)]
#[case::rocm(ROCM, 2, Some("rccl-tests: Version develop:33cc4df"))]
#[case::rocm_in_place(ROCM_IN_PLACE, 1, Some("rccl-tests version 2.18.3"))]
#[case::alltoall(ALLTOALL, 2, Some("nccl-tests version"))]
#[case::old_alltoall(OLD_ALLTOALL, 2, None)]
#[case::hypercube(HYPERCUBE, 2, None)]
#[case::iterations(ITERATIONS, 2, None)]
fn every_version_is_read_whole(
    #[case] style: Style,
    #[case] halves: usize,
    #[case] tool: Option<&str>,
) {
    let found = judged(&log(&style));
    assert_eq!((found.status, &found.reasons), (Fine, &vec![]));
    assert_eq!((found.rows.len(), found.unreadable.len()), (ROWS, 0));
    assert_eq!(found.ranks, Some(8));
    if let Some(tool) = tool.filter(|_| style.preamble.contains("ersion")) {
        assert!(found.tool.unwrap().starts_with(tool));
    }
    let last = found.rows.last().unwrap();
    assert_eq!(
        (last.size_bytes, last.count, last.dtype.as_str()),
        (134_217_728, 33_554_432, "float")
    );
    assert_eq!(last.redop.as_deref(), style.redop);
    assert_eq!(last.root, style.root.then_some(-1));
    assert_eq!(last.halves.len(), halves);
    let half = &last.halves[0];
    assert_eq!(half.time_us, 6728.20);
    assert!(
        (half.busbw_gbs - half.algbw_gbs * style.factor).abs() < 0.02,
        "{half:?}"
    );
    assert_eq!(half.extra.len(), style.columns.len() - 3);
}

#[test]
fn halves_keep_their_kind_and_check() {
    let kinds = |style: &Style| {
        let found = judged(&log(style));
        found.rows[1]
            .halves
            .iter()
            .map(|half| (half.kind, half.check))
            .collect::<Vec<_>>()
    };
    let (out, r#in) = (HalfKind::OutOfPlace, HalfKind::InPlace);
    assert_eq!(
        kinds(&ALLTOALL),
        [(out, Check::Wrong(0.0)), (r#in, Check::NotChecked)]
    );
    assert_eq!(kinds(&ROCM_IN_PLACE), [(r#in, Check::Wrong(0.0))]);
    let deviation = |value| Check::Deviation {
        value,
        exceeds: false,
    };
    assert_eq!(
        kinds(&OLD),
        [(out, deviation(0.0)), (r#in, deviation(3e-7))]
    );
}

#[test]
fn json_gives_the_same_rows_and_never_the_environment() {
    let (found, text) = (judged(&json()), judged(&log(&MODERN)));
    assert_eq!((found.status, &found.reasons), (Fine, &vec![]));
    assert_eq!(found.collective.as_deref(), Some("all_reduce"));
    let sizes = |log: &Log| {
        log.rows
            .iter()
            .map(|row| (row.size_bytes, row.root))
            .collect::<Vec<_>>()
    };
    assert_eq!(sizes(&found), sizes(&text));
    let written = serde_json::to_string(&found).unwrap() + &csv(&[("x", &found)]);
    assert!(!written.contains("secret"), "{written}");
}

/// The first half can be left blank under a header that has it.
#[test]
fn a_blank_first_half_leaves_the_second() {
    let good = log(&MODERN);
    let row = row_of(&good, 134_217_728);
    let tokens: Vec<&str> = row.split_whitespace().collect();
    let blank = format!(
        "{}{}  {}",
        tokens[..5].join("  "),
        " ".repeat(32),
        tokens[9..].join("  ")
    );
    let found = judged(&good.replacen(&row, &blank, 1));
    let halves = &found.rows.last().unwrap().halves;
    assert_eq!((halves.len(), halves[0].kind), (1, HalfKind::InPlace));
    assert_eq!(halves[0].time_us, 6729.20);
    let unclear = format!("{}  {}", tokens[..5].join("  "), tokens[9..].join("  "));
    assert_eq!(
        judged(&good.replacen(&row, &unclear, 1)).unreadable.len(),
        1
    );
}

/// Columns of words, and halves in another order.
#[test]
fn the_header_decides_what_columns_are() {
    let text = "# nThread 1 nGpus 8\n#      in-place     out-of-place\n\
        # size count type redop root time algbw busbw #wrong algo proto time algbw busbw #wrong algo proto\n\
        1000 250 float sum -1 1.00 1.00 1.75 0 RING LL 2.00 0.50 0.88 0 TREE N/A\n\
        # Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.315\n";
    let found = judged(text);
    assert_eq!((found.status, &found.reasons), (Fine, &vec![]));
    let halves = &found.rows[0].halves;
    assert_eq!(
        (halves[0].kind, halves[1].kind),
        (HalfKind::InPlace, HalfKind::OutOfPlace)
    );
    assert_eq!(
        halves[0].extra,
        [
            ("algo".into(), "RING".into()),
            ("proto".into(), "LL".into())
        ]
    );
}

/// The first versions: no `#`, milliseconds, other names.
#[test]
fn the_first_versions_count_in_milliseconds() {
    let text = "nThread 1 nGpus 8 minBytes 9 maxBytes 33554432 step: 1048576(bytes) warmup iters: 5 iters: 20 validation: 1\n\
        #                              out-of-place                    in-place\n\
        #      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res\n\
        33554432       8388608   float     sum    5.170   6.49   11.36    0e+00    5.168   6.49   11.36    0e+00\n\
        # Out of bounds values : 0 OK\n# Avg bus bandwidth    : 11.36\n";
    let found = judged(text);
    assert_eq!((found.status, &found.reasons), (Fine, &vec![]));
    assert_eq!(found.rows[0].halves[0].time_us, 5170.0);
}

/// Replaces one piece of a log, which must be there.
fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from:?} is not in the log");
    text.replacen(from, to, 1)
}

/// The line of the row of this size.
fn row_of(text: &str, size: u64) -> String {
    let starts = |line: &&str| line.split_whitespace().next() == Some(&size.to_string());
    text.lines().find(starts).unwrap().to_owned()
}

fn until(text: &str, piece: &str) -> String {
    text[..text.find(piece).unwrap()].to_owned()
}

fn prefixed(text: &str, prefix: impl Fn(usize) -> String) -> String {
    text.lines()
        .enumerate()
        .map(|(i, line)| prefix(i) + line + "\n")
        .collect()
}

/// A row cut after its first half, with noise there.
fn split_row(text: &str, after: usize, noise: &str) -> String {
    let row = row_of(text, 65_536);
    let tokens: Vec<&str> = row.split_whitespace().collect();
    let (head, tail) = tokens.split_at(after);
    with(
        text,
        &row,
        &format!("   {}{noise}   {}", head.join("   "), tail.join("   ")),
    )
}

const NOISE: &str = "hostA:5001:5001 [1] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n";

fn json_without_first_halves() -> String {
    let text = json();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        lines.push(
            match (line.find("\"out_of_place\""), line.find("\"in_place\"")) {
                (Some(from), Some(to)) => {
                    format!("{}\"out_of_place\": null, {}", &line[..from], &line[to..])
                }
                _ => line.to_owned(),
            },
        );
    }
    lines.join("\n")
}

/// (name, log, status, rows read, rows unreadable)
fn corpus() -> Vec<(&'static str, String, Status, usize, usize)> {
    let good = log(&MODERN);
    let wrong_row = |wrong: &str| {
        let row = row_of(&good, 1_048_576);
        let cut = row.rfind('0').unwrap();
        let text = with(&good, &row, &format!("{}{wrong}", &row[..cut]));
        with(&text, "values : 0 OK", "values : 2 FAILED")
    };
    let failure = "\n .. hostA pid 100: Test failure common.cu:1189\n";
    let all = ROWS;
    vec![
        // complete and right, in disguise
        ("as_is", good.clone(), Fine, all, 0),
        (
            "windows_line_ends",
            good.replace('\n', "\r\n"),
            Fine,
            all,
            0,
        ),
        (
            "no_last_line_feed",
            good.trim_end().to_owned(),
            Fine,
            all,
            0,
        ),
        (
            "mpirun_tags",
            prefixed(&good, |_| "[1,0]<stdout>:".to_owned()),
            Fine,
            all,
            0,
        ),
        (
            "prte_tags",
            prefixed(&good, |_| "[prterun-h-1@1,0]<stdout>: ".to_owned()),
            Fine,
            all,
            0,
        ),
        (
            "srun_labels",
            prefixed(&good, |_| "0: ".to_owned()),
            Fine,
            all,
            0,
        ),
        (
            "srun_padded_labels",
            prefixed(&good, |_| " 3: ".to_owned()),
            Fine,
            all,
            0,
        ),
        (
            "mpich_ranks",
            prefixed(&good, |_| "[0] ".to_owned()),
            Fine,
            all,
            0,
        ),
        (
            "compose",
            prefixed(&good, |_| "worker-0  | ".to_owned()),
            Fine,
            all,
            0,
        ),
        (
            "pdsh",
            prefixed(&good, |_| "node17: ".to_owned()),
            Fine,
            all,
            0,
        ),
        (
            "time_stamps",
            prefixed(&good, |i| format!("2026-01-02T03:04:{i:02}.5Z ")),
            Fine,
            all,
            0,
        ),
        (
            "stamps_and_tags",
            prefixed(&good, |i| format!("2026-01-02 03:04:{i:02} [1,0]<stdout>:")),
            Fine,
            all,
            0,
        ),
        (
            "quoted_in_a_mail",
            prefixed(&good, |_| "> ".to_owned()),
            Fine,
            all,
            0,
        ),
        (
            "colours",
            prefixed(&good, |_| "\x1b[0m".to_owned()),
            Fine,
            all,
            0,
        ),
        (
            "other_ranks_tagged",
            good.lines()
                .map(|l| format!("[1,0]<stdout>:{l}\n[1,1]<stderr>:{NOISE}"))
                .collect(),
            Fine,
            all,
            0,
        ),
        (
            "noise_between_rows",
            good.lines().map(|l| format!("{l}\n{NOISE}")).collect(),
            Fine,
            all,
            0,
        ),
        (
            "cpu_time",
            good.replace("time   algbw", "cputime   algbw"),
            Fine,
            all,
            0,
        ),
        (
            "scientific_times",
            with(&good, "6728.20", "6.7e+03"),
            Fine,
            all,
            0,
        ),
        (
            "without_group_line",
            with(&good, "out-of-place", ""),
            Fine,
            all,
            0,
        ),
        (
            "two_runs_in_one_file",
            format!("{good}{good}"),
            Fine,
            2 * all,
            0,
        ),
        (
            "min_bandwidth_kept",
            with(&good, " \n#\n# Coll", " OK\n#\n# Coll"),
            Fine,
            all,
            0,
        ),
        (
            "last_library_message",
            with(
                &good,
                "# Collective test concluded",
                "# error: unhandled cuda error\n# Collective test concluded",
            ),
            Fine,
            all,
            0,
        ),
        (
            "bitwise_repeatable",
            with(&good, "# Avg", "# Bitwise mismatches   : 0 OK\n# Avg"),
            Fine,
            all,
            0,
        ),
        // noise inside rows: taken out where one reading is left
        (
            "noise_after_the_fields",
            split_row(&good, 5, &format!("\n{NOISE}")),
            Fine,
            all,
            0,
        ),
        (
            "noise_glued_to_the_root",
            split_row(&good, 5, NOISE),
            Fine,
            all,
            0,
        ),
        (
            "noise_between_halves",
            split_row(&good, 9, &format!(" {NOISE}")),
            Fine,
            all,
            0,
        ),
        (
            "noise_glued_to_the_check",
            split_row(&good, 9, NOISE),
            Fine,
            all,
            0,
        ),
        (
            "noise_on_the_same_line",
            split_row(&good, 9, " WARN something "),
            Fine,
            all,
            0,
        ),
        (
            "noise_in_both_places",
            split_row(&split_row(&good, 5, &format!("\n{NOISE}")), 5, NOISE),
            Fine,
            all,
            0,
        ),
        (
            "noise_before_the_row",
            with(
                &good,
                &row_of(&good, 4096),
                &format!("WARN x {}", row_of(&good, 4096)),
            ),
            Fine,
            all,
            0,
        ),
        // noise that leaves doubt: reported
        (
            "noise_inside_a_half",
            split_row(&good, 7, &format!(" {NOISE}")),
            Truncated,
            all - 1,
            1,
        ),
        (
            "noise_glued_to_a_time",
            with(&good, "6728.20", "6728.20WARN"),
            Truncated,
            all - 1,
            1,
        ),
        (
            "numbers_as_noise",
            split_row(&good, 9, " 12 "),
            Truncated,
            all - 1,
            1,
        ),
        (
            "glued_name_with_digits",
            split_row(&good, 9, "4gpu: hello\n"),
            Truncated,
            all - 1,
            2,
        ),
        // wrong
        ("wrong_count", wrong_row("96"), Wrong, all, 0),
        ("wrong_scientific", wrong_row("2.09715e+06"), Wrong, all, 0),
        (
            "wrong_and_exit_message",
            wrong_row("96") + failure,
            Wrong,
            all,
            0,
        ),
        (
            "wrong_and_crashed",
            wrong_row("96") + "Segmentation fault (core dumped)\n",
            Wrong,
            all,
            0,
        ),
        (
            "wrong_and_cut",
            until(&wrong_row("96"), "# Out of"),
            Wrong,
            all,
            0,
        ),
        (
            "wrong_row_footer_ok",
            with(&wrong_row("96"), "2 FAILED", "0 OK"),
            Wrong,
            all,
            0,
        ),
        (
            "footer_failed_no_wrong_row",
            with(&good, "values : 0 OK", "values : 4 FAILED"),
            Wrong,
            all,
            0,
        ),
        (
            "not_bitwise_repeatable",
            with(&good, "# Avg", "# Bitwise mismatches   : 2 FAILED\n# Avg"),
            Wrong,
            all,
            0,
        ),
        (
            "old_large_deviation",
            with(&log(&OLD), "3e-07", "1e+00"),
            Wrong,
            all,
            0,
        ),
        (
            "old_asterisk",
            with(&log(&OLD), "3e-07", "3e-07*"),
            Wrong,
            all,
            0,
        ),
        (
            "old_not_a_number",
            with(&log(&OLD), "3e-07", "nan"),
            Wrong,
            all,
            0,
        ),
        // unchecked
        ("validation_off", log(&NO_CHECK), Unchecked, all, 0),
        (
            "one_row_unchecked",
            with(&good, &row_of(&good, 4096), &row_of(&log(&NO_CHECK), 4096)),
            Unchecked,
            all,
            0,
        ),
        (
            "in_place_alltoall_only",
            log(&Style {
                halves: &["in-place"],
                checks: &["N/A"],
                ..ALLTOALL
            }),
            Unchecked,
            all,
            0,
        ),
        // truncated
        (
            "cut_before_the_footer",
            until(&good, "# Out of"),
            Truncated,
            all,
            0,
        ),
        (
            "cut_inside_the_footer",
            until(&good, "# Avg"),
            Truncated,
            all,
            0,
        ),
        (
            "cut_inside_a_row",
            until(&good, "6728.20"),
            Truncated,
            all - 1,
            1,
        ),
        (
            "cut_before_the_rows",
            until(&good, "           0 "),
            Truncated,
            0,
            0,
        ),
        (
            "cut_before_the_header",
            until(&good, "NCCL version"),
            Truncated,
            0,
            0,
        ),
        (
            "a_row_lost",
            with(&good, &row_of(&good, 1_048_576), ""),
            Truncated,
            all - 1,
            0,
        ),
        (
            "a_number_changed",
            with(
                &good,
                &row_of(&good, 134_217_728),
                &row_of(&good, 134_217_728).replace("34.", "33."),
            ),
            Truncated,
            all,
            0,
        ),
        (
            "a_digit_lost",
            with(&good, "6728.20", "728.20"),
            Truncated,
            all - 1,
            1,
        ),
        (
            "a_time_is_no_number",
            with(&good, "6728.20", "6728.2x"),
            Truncated,
            all - 1,
            1,
        ),
        (
            "a_column_lost",
            with(&good, "6728.20", ""),
            Truncated,
            all - 1,
            1,
        ),
        (
            "a_size_shrank",
            with(&good, "   134217728  ", "   13421772  "),
            Truncated,
            all - 1,
            1,
        ),
        (
            "footer_garbled",
            with(&good, "values : 0 OK", "values : 0 O"),
            Truncated,
            all,
            1,
        ),
        (
            "rows_without_header",
            good.lines()
                .filter(|l| !l.starts_with('#'))
                .map(|l| format!("{l}\n"))
                .collect(),
            Truncated,
            0,
            all,
        ),
        (
            "footer_without_header",
            good[good.find("# Out of").unwrap()..].to_owned(),
            Truncated,
            0,
            0,
        ),
        (
            "second_run_never_began",
            format!("{good}{}", until(&good, "NCCL version")),
            Truncated,
            all,
            0,
        ),
        (
            "second_run_cut",
            format!("{good}{}", until(&good, "# Out of")),
            Truncated,
            2 * all,
            0,
        ),
        (
            "two_worlds_one_footer",
            until(&good, "           0 ") + &good,
            Truncated,
            all,
            0,
        ),
        // crashed
        (
            "nccl_failure",
            until(&good, "           0 ")
                + "hostA: Test NCCL failure common.cu:392 'unhandled cuda error'\n",
            Crashed,
            0,
            0,
        ),
        (
            "hip_failure_in_a_row",
            until(&good, "6728.20") + "\nhostA: Test HIP failure common.cu:1\n",
            Crashed,
            all - 1,
            1,
        ),
        (
            "at_the_start",
            until(&good, "NCCL version")
                + "hostA: Test CUDA failure common.cu:1016 'out of memory'\n",
            Crashed,
            0,
            0,
        ),
        (
            "signal",
            until(&good, "# Out of")
                + "mpirun noticed that process rank 3 exited on signal 9 (Killed).\n",
            Crashed,
            all,
            0,
        ),
        (
            "time_limit",
            until(&good, "# Out of")
                + "slurmstepd: error: *** JOB 1 CANCELLED DUE TO TIME LIMIT ***\n",
            Crashed,
            all,
            0,
        ),
        (
            "gpu_fault",
            until(&good, "# Out of") + "Memory access fault by GPU node-4\n",
            Crashed,
            all,
            0,
        ),
        (
            "watchdog",
            until(&good, "# Out of") + "hostA: Test timeout common.cu:700\n",
            Crashed,
            all,
            0,
        ),
        (
            "died_at_exit",
            format!("{good}Segmentation fault\n"),
            Crashed,
            all,
            0,
        ),
        (
            "bare_test_failure",
            format!("{good}{failure}"),
            Crashed,
            all,
            0,
        ),
        // not a log
        ("empty", String::new(), NotACollective, 0, 0),
        (
            "some_other_crash",
            "building...\nSegmentation fault\n".to_owned(),
            NotACollective,
            0,
            0,
        ),
        (
            "a_table_of_numbers",
            "1 2 3\n4 5 6 float\n".to_owned(),
            NotACollective,
            0,
            0,
        ),
        ("other_json", "{\"a\": 1}".to_owned(), NotACollective, 0, 0),
        // JSON
        ("json", json(), Fine, all, 0),
        (
            "json_wrong",
            with(&json(), "\"nwrong\": 0.000000", "\"nwrong\": 3.000000"),
            Wrong,
            all,
            0,
        ),
        (
            "json_said_false",
            with(
                &json(),
                "\"count\": 0, \"okay\": \"true\"",
                "\"count\": 3, \"okay\": \"false\"",
            ),
            Wrong,
            all,
            0,
        ),
        (
            "json_unchecked",
            json().replace("\"nwrong\": 0.000000", "\"nwrong\": null"),
            Unchecked,
            all,
            0,
        ),
        (
            "json_cut_in_a_result",
            until(&json(), "134217728, \"count\""),
            Truncated,
            all - 1,
            1,
        ),
        (
            "json_cut_after_the_results",
            until(&json(), "\"out_of_bounds\""),
            Truncated,
            all,
            0,
        ),
        (
            "json_without_results",
            until(&json(), "\"results\": [\n"),
            Truncated,
            0,
            0,
        ),
        (
            "json_not_a_number",
            with(&json(), "\"bus_bw\": 0.000000", "\"bus_bw\": nan"),
            Truncated,
            all - 1,
            1,
        ),
        (
            "json_last_message",
            with(&json(), "\"errors\": [\"\"]", "\"errors\": [\"a warning\"]"),
            Fine,
            all,
            0,
        ),
        (
            "json_in_place_only",
            json_without_first_halves(),
            Fine,
            all,
            0,
        ),
        (
            "json_bitwise",
            with(
                &json(),
                "\"errors\"",
                "\"bitwise_mismatches\": {\"count\": 1, \"okay\": \"false\"}, \"errors\"",
            ),
            Wrong,
            all,
            0,
        ),
    ]
}

#[test]
fn the_corpus_gets_its_statuses() {
    let corpus = corpus();
    assert!(corpus.len() >= 40);
    let mut faults = Vec::new();
    for (name, text, status, rows, unreadable) in &corpus {
        let found = judged(text);
        let got = (found.status, found.rows.len(), found.unreadable.len());
        if got != (*status, *rows, *unreadable) {
            faults.push(format!(
                "{name}: {got:?}, expected {:?}\n  {:?}",
                (status, rows, unreadable),
                found.reasons
            ));
        }
        let explained = found.status == Fine || !found.reasons.is_empty();
        assert!(explained, "{name}: a status without a reason");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Noise is taken out without changing a value.
#[test]
fn what_noise_leaves_is_what_was_written() {
    let good = judged(&log(&MODERN));
    for (name, text, _, rows, _) in corpus() {
        if name.starts_with("noise_") && rows == ROWS {
            let found = judged(&text);
            for (found, good) in found.rows.iter().zip(&good.rows) {
                assert_eq!(found.halves, good.halves, "{name}");
                assert_eq!(
                    (found.size_bytes, found.root),
                    (good.size_bytes, good.root),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn a_bandwidth_below_the_limit_is_told_apart_from_wrong_data() {
    let slow = log(&MODERN).replace(" \n#\n# Coll", " FAILED\n#\n# Coll")
        + " .. hostA pid 1: Test failure common.cu:1189\n";
    let found = judged(&slow);
    assert_eq!((found.status, found.below_min_bandwidth), (Fine, true));
}

/// Built without MPI: every process is a world of its own, all write to one terminal.
#[test]
fn worlds_that_share_a_terminal_are_counted() {
    let one = log(&MODERN);
    let (head, rest) = one.split_at(one.find("           0 ").unwrap());
    let (rows, footer) = rest.split_at(rest.find("# Out of").unwrap());
    let rows: String = rows.lines().map(|row| format!("{row}\n{row}\n")).collect();
    let found = judged(&format!("{head}{head}{rows}{footer}{footer}"));
    assert_eq!((found.status, found.rows.len()), (Fine, 2 * ROWS));
    assert_eq!(found.footers[0].worlds, 2);
    assert!(
        found.notes.iter().any(|note| note.contains("2 worlds")),
        "{:?}",
        found.notes
    );
}

#[test]
fn csv_has_a_line_a_half_and_one_for_an_empty_log() {
    let (good, none) = (judged(&log(&MODERN)), judged(""));
    let table = csv(&[("a,b.txt", &good), ("none", &none)]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * ROWS + 1);
    let columns = lines[0].split(',').count();
    assert_eq!(
        lines[3],
        "\"a,b.txt\",ok,20,0,1024,256,float,sum,-1,out_of_place,17.36,0.06,0.1,wrong,0"
    );
    assert_eq!(lines.last().unwrap().split(',').count(), columns);
    assert!(lines.last().unwrap().starts_with("none,not-a-collective,"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(read(&bytes).status != Fine);
    }

    #[test]
    fn any_words_of_a_log_are_judged(
        words in prop::collection::vec(prop::sample::select(vec![
            "#", "\n", " ", "size", "count", "type", "redop", "root", "time", "algbw", "busbw",
            "#wrong", "error", "8", "2", "float", "sum", "-1", "1.5", "0", "N/A", "nan", "-", "{",
            "}", "[", "]", "\"results\":", "\"", "\\", "# Out of bounds values :", "OK", "FAILED",
            "# Avg bus bandwidth :", "in-place", "[1,0]<stdout>:", "é", "99999999999999999999999",
            "1e999", "1e-99999999999", "2026-01-02", "03:04:05", "\0",
        ]), 0..200),
    ) {
        let _ = read(words.join(" ").as_bytes());
        let _ = read(words.concat().as_bytes());
    }

    /// Cut anywhere, overwritten anywhere, a piece repeated or removed: never a panic; a log that
    /// is cut before its footer is never `ok`.
    #[test]
    fn mutated_logs_are_judged(
        pick in 0usize..1000, cut in 0usize..100_000, at in 0usize..100_000, length in 0usize..200,
        byte in any::<u8>(), repeat in any::<bool>(),
    ) {
        let corpus = corpus();
        let (_, text, ..) = &corpus[pick % corpus.len()];
        let mut bytes = text.clone().into_bytes();
        let cut_log = judged(&log(&MODERN)[..cut % (log(&MODERN).find("# Avg").unwrap() + 1)]);
        prop_assert!(cut_log.status != Fine);
        if !bytes.is_empty() {
            let at = at % bytes.len();
            let end = (at + length).min(bytes.len());
            let piece: Vec<u8> = bytes[at..end].to_vec();
            if repeat {
                bytes.splice(at..at, piece);
            } else {
                bytes.drain(at..end);
            }
            if let Some(target) = bytes.get_mut(at) {
                *target = byte;
            }
        }
        let found = read(&bytes);
        prop_assert!(found.status == Fine || !found.reasons.is_empty());
    }

    /// The first digit of any number of a large row is changed: the log is not `ok` any more.
    #[test]
    fn a_changed_size_or_bandwidth_is_noticed(column in 0usize..13, digit in b'0'..=b'9') {
        let good = log(&MODERN);
        let row = row_of(&good, 134_217_728);
        let start = {
            let token = row.split_whitespace().nth(column).unwrap();
            let before: usize = row.split_whitespace().take(column).map(str::len).sum();
            // The first digit of the token, found behind as many characters as stand before it.
            let mut seen = 0;
            row.char_indices().filter(|(_, c)| !c.is_whitespace()).find(|_| { seen += 1; seen > before })
                .map(|(index, _)| index + usize::from(token.starts_with('-'))).unwrap()
        };
        let mut changed = row.clone().into_bytes();
        let is_checked = !matches!(column, 2 | 3 | 4);
        prop_assume!(is_checked && changed[start].is_ascii_digit() && changed[start] != digit);
        changed[start] = digit;
        let text = good.replacen(&row, &String::from_utf8(changed).unwrap(), 1);
        prop_assert!(judged(&text).status != Fine, "column {} digit {}", column, digit as char);
    }
}
