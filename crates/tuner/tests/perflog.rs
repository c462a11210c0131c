//! Logs of every version seen, and a corpus of logs with one fault each, with the status that each
//! must get.

mod logs;

use logs::corpus::{corpus, row_of};
use logs::{
    ALLTOALL, HYPERCUBE, HYPERCUBE_WITHOUT_ROOT, ITERATIONS, MODERN, OLD, OLD_ALLTOALL, ROCM,
    ROCM_CHOICE, ROCM_IN_PLACE, ROWS, Style, json, log,
};
use proptest::prelude::*;
use rstest::rstest;
use tuner::perflog::{Check, HalfKind, Log, Status, csv, read};

use Status::Ok as Fine;

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
#[case::hypercube_without_root(HYPERCUBE_WITHOUT_ROOT, 2, None)]
#[case::choice(ROCM_CHOICE, 2, Some("rccl-tests version 2.17.9"))]
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
    assert!((half.busbw_gbs - half.algbw_gbs * style.factor).abs() < 0.02, "{half:?}");
    assert_eq!(half.extra.len(), style.columns.len() - 3);
    let shown = last.own_choice().map(|own| (own.algorithm, own.protocol, own.channels));
    assert_eq!(shown, style.tail.contains("LL").then_some(("Tree", "LL128", "64")));
}

/// Each run of a log has its own tool; a run that does not name its tool has none.
#[test]
fn every_run_has_its_own_tool() {
    let named = |name: &str, factor| {
        log(&Style { preamble: "# Collective test starting: X_perf\n", factor, ..MODERN })
            .replace("X_perf", name)
    };
    let found = judged(&(named("broadcast_perf", 1.0) + &named("reduce_scatter_perf", 0.875)));
    let tools: Vec<_> = found.footers.iter().map(|run| run.collective.as_deref()).collect();
    assert_eq!(tools, [Some("broadcast"), Some("reduce_scatter")]);
    assert_eq!((found.collective.clone(), found.ranks), (None, Some(8)));
    let table = csv(&[("x", &found)]);
    assert!(table.lines().nth(1).unwrap().ends_with(",right,0,broadcast,8,,,,"), "{table}");
    assert!(table.lines().last().unwrap().contains(",right,0,reduce_scatter,8,"), "{table}");

    let unnamed = log(&Style { preamble: "", ..MODERN });
    let found = judged(&(named("broadcast_perf", 1.0) + &unnamed));
    let tools: Vec<_> = found.footers.iter().map(|run| run.collective.as_deref()).collect();
    assert_eq!((found.status, tools), (Fine, vec![Some("broadcast"), None]));
}

/// A count that sticks to other output is read to its end: `1e+06nodeA` is a million, not one.
#[test]
fn a_glued_count_is_read_to_its_end() {
    let good = log(&MODERN);
    let row = row_of(&good, 65_536);
    let cut = row.rfind('0').unwrap();
    let glued = format!("{}1e+06nodeA:12:34 [0] NCCL INFO x", &row[..cut]);
    let found = judged(&good.replacen(&row, &glued, 1));
    assert_eq!(found.rows[3].halves[1].check, Check::Wrong(1e6));
}

/// What rows show of the choice is a column of the CSV, and of JSON.
#[test]
fn the_csv_keeps_the_choice() {
    let found = judged(&log(&ROCM_CHOICE));
    let table = csv(&[("x", &found)]);
    assert!(
        table.lines().nth(2).unwrap().ends_with(",right,0,all_reduce,8,Tree,LL128,64,"),
        "{table}"
    );
}

#[test]
fn halves_keep_their_kind_and_check() {
    let kinds = |style: &Style| {
        let found = judged(&log(style));
        found.rows[1].halves.iter().map(|half| (half.kind, half.check)).collect::<Vec<_>>()
    };
    let (out, r#in) = (HalfKind::OutOfPlace, HalfKind::InPlace);
    assert_eq!(kinds(&ALLTOALL), [(out, Check::Wrong(0.0)), (r#in, Check::NotChecked)]);
    assert_eq!(kinds(&ROCM_IN_PLACE), [(r#in, Check::Wrong(0.0))]);
    let deviation = |value| Check::Deviation { value, exceeds: false };
    assert_eq!(kinds(&OLD), [(out, deviation(0.0)), (r#in, deviation(3e-7))]);
}

#[test]
fn json_gives_the_same_rows_and_never_the_environment() {
    let (found, text) = (judged(&json()), judged(&log(&MODERN)));
    assert_eq!((found.status, &found.reasons), (Fine, &vec![]));
    assert_eq!(found.collective.as_deref(), Some("all_reduce"));
    let sizes =
        |log: &Log| log.rows.iter().map(|row| (row.size_bytes, row.root)).collect::<Vec<_>>();
    assert_eq!(sizes(&found), sizes(&text));
    let written = serde_json::to_string(&found).unwrap() + &csv(&[("x", &found)]);
    assert!(!written.contains("secret"), "{written}");
    assert_eq!(found.notes, Vec::<String>::new());
}

/// The first half can be left blank under a header that has it.
#[test]
fn a_blank_first_half_leaves_the_second() {
    let good = log(&MODERN);
    let row = row_of(&good, 134_217_728);
    let tokens: Vec<&str> = row.split_whitespace().collect();
    let blank = format!("{}{}  {}", tokens[..5].join("  "), " ".repeat(32), tokens[9..].join("  "));
    let found = judged(&good.replacen(&row, &blank, 1));
    let halves = &found.rows.last().unwrap().halves;
    assert_eq!((halves.len(), halves[0].kind), (1, HalfKind::InPlace));
    assert_eq!(halves[0].time_us, 6729.20);
    let unclear = format!("{}  {}", tokens[..5].join("  "), tokens[9..].join("  "));
    assert_eq!(judged(&good.replacen(&row, &unclear, 1)).unreadable.len(), 1);
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
    assert_eq!((halves[0].kind, halves[1].kind), (HalfKind::InPlace, HalfKind::OutOfPlace));
    assert_eq!(halves[0].extra, [("algo".into(), "RING".into()), ("proto".into(), "LL".into())]);
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

/// Reasons are the faults, and nothing that only follows from them.
#[test]
fn reasons_name_the_fault() {
    let reasons = |wanted: &str| {
        let corpus = corpus();
        let (_, text, ..) = corpus.iter().find(|(name, ..)| *name == wanted).unwrap();
        judged(text).reasons
    };
    assert_eq!(
        reasons("wrong_row_footer_ok"),
        [
            "line 23: 96 wrong elements at 1048576 bytes, in_place",
            "the footer counts 0 out-of-bounds checks, but 1 halves of rows are wrong",
        ]
    );
    assert_eq!(
        reasons("noise_that_holds_a_half"),
        ["line 22: other output inside the row leaves several readings"]
    );
    assert_eq!(reasons("a_header_inside_a_row")[0], "line 24: a header follows inside the row");
    assert_eq!(reasons("a_time_is_no_number"), ["line 24: the time is not a number"]);
    assert_eq!(
        reasons("rows_without_header"),
        ["line 2 and 5 more: no header names the columns", "no header"]
    );
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
                assert_eq!((found.size_bytes, found.root), (good.size_bytes, good.root), "{name}");
            }
        }
    }
}

/// Runs one after the other, and worlds with tags of their own, are judged one by one.
#[test]
fn every_run_has_its_own_footer() {
    for wanted in ["two_runs_in_one_file", "two_worlds_tagged"] {
        let corpus = corpus();
        let (_, text, ..) = corpus.iter().find(|(name, ..)| *name == wanted).unwrap();
        let found = judged(text);
        assert_eq!(found.footers.len(), 2, "{wanted}");
        for section in 0..2 {
            let rows = found.rows.iter().filter(|row| row.section == section);
            assert_eq!(rows.count(), ROWS, "{wanted}");
        }
    }
}

/// A column that was not measured does not keep noise in.
#[test]
fn noise_comes_out_beside_a_column_without_value() {
    let text = "# in-place\n# size count type redop root time hipevt algbw busbw #wrong\n\
                1024 512 half sum -1 WARN x 5.71 N/A 0.18 0.00 0\n";
    let found = judged(text);
    assert_eq!((found.rows.len(), found.rows[0].had_noise), (1, true));
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
    assert!(found.notes.iter().any(|note| note.contains("2 worlds")), "{:?}", found.notes);
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
        "\"a,b.txt\",ok,20,0,1024,256,float,sum,-1,out_of_place,17.36,0.06,0.1,right,0,\
         all_reduce,8,,,,"
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
}

/// The first digit of any number of a large row is changed: the log is not `ok` any more.
#[test]
fn a_changed_number_is_noticed() {
    let good = log(&MODERN);
    let row = row_of(&good, 134_217_728);
    let tokens: Vec<&str> = row.split_whitespace().collect();
    // Size, count, then time, algbw, busbw, #wrong of both halves.
    for column in [0, 1, 5, 6, 7, 8, 9, 10, 11, 12] {
        for digit in '0'..='9' {
            let changed = format!("{digit}{}", &tokens[column][1..]);
            let mut tokens: Vec<&str> = tokens.clone();
            if tokens[column] != changed {
                tokens[column] = &changed;
                let found = judged(&good.replacen(&row, &tokens.join("  "), 1));
                assert_ne!(found.status, Fine, "{}", tokens.join(" "));
            }
        }
    }
}

/// Found by fuzzing: a name cut in the middle of a character.
#[test]
fn a_tool_name_that_is_not_ascii_is_read() {
    let found = judged(&json().replace("all_reduce_perf", "all_reduc\u{fffd}_perf"));
    assert_eq!((found.status, found.collective), (Fine, None));
}
