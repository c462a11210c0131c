//! Logs with one fault or one disguise each, made from good ones, and the judgement each must get.

use tuner::perflog::Status;
use tuner::perflog::Status::{
    Crashed, NoCommunication, NotACollective, Ok as Fine, Truncated, Unchecked, Wrong,
};

use super::{ALLTOALL, MODERN, NO_CHECK, OLD, ROWS, Style, json, log, report_csv, report_json};

/// Replaces one piece of a log, which must be there.
pub(crate) fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from:?} is not in the log");
    text.replacen(from, to, 1)
}

/// The line of the row of this size.
pub(crate) fn row_of(text: &str, size: u64) -> String {
    let starts = |line: &&str| line.split_whitespace().next() == Some(&size.to_string());
    text.lines().find(starts).unwrap().to_owned()
}

fn until(text: &str, piece: &str) -> String {
    text[..text.find(piece).unwrap()].to_owned()
}

fn prefixed(text: &str, prefix: impl Fn(usize) -> String) -> String {
    text.lines().enumerate().map(|(i, line)| prefix(i) + line + "\n").collect()
}

/// A row cut after its first half, with noise there.
fn split_row(text: &str, after: usize, noise: &str) -> String {
    let row = row_of(text, 65_536);
    let tokens: Vec<&str> = row.split_whitespace().collect();
    let (head, tail) = tokens.split_at(after);
    with(text, &row, &format!("   {}{noise}   {}", head.join("   "), tail.join("   ")))
}

/// The tokens of the second half of the row that is split.
fn second_half(text: &str) -> String {
    let row = row_of(text, 65_536);
    row.split_whitespace().skip(9).collect::<Vec<_>>().join(" ")
}

/// What the library writes at any time.
const NOISE: &str = "hostA:5001:5001 [1] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n";

fn json_without_first_halves() -> String {
    let text = json();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        lines.push(match (line.find("\"out_of_place\""), line.find("\"in_place\"")) {
            (Some(from), Some(to)) => {
                format!("{}\"out_of_place\": null, {}", &line[..from], &line[to..])
            }
            _ => line.to_owned(),
        });
    }
    lines.join("\n")
}

/// Every line cut after so many characters, as a terminal does.
fn cut(text: &str, width: usize) -> String {
    let pieces = |line: &str| {
        let chars: Vec<char> = line.chars().collect();
        let pieces: Vec<String> = chars.chunks(width).map(|piece| piece.iter().collect()).collect();
        if pieces.is_empty() { "\n".to_owned() } else { pieces.join("\n") + "\n" }
    };
    text.lines().map(pieces).collect()
}

/// Every line broken between words, as a mail does.
fn broken(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut length = 0;
        for word in line.split_inclusive(' ') {
            if length + word.trim_end().len() > width && word.trim() != "" {
                out = out.trim_end_matches(' ').to_owned() + "\n";
                length = 0;
            }
            out += word;
            length += word.len();
        }
        out += "\n";
    }
    out
}

/// The whole log of one tool, with another tool's name and factor.
fn of_tool(name: &'static str, factor: f64) -> String {
    let style = Style { preamble: "# Collective test starting: X_perf\n", factor, ..MODERN };
    log(&style).replace("X_perf", name)
}

/// (name, log, status, rows read, rows unreadable)
pub(crate) type Entry = (&'static str, String, Status, usize, usize);

/// Every log has one fault, or one disguise.
#[rustfmt::skip]
pub(crate) fn corpus() -> Vec<Entry> {
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
        ("windows_line_ends", good.replace('\n', "\r\n"), Fine, all, 0),
        ("no_last_line_feed", good.trim_end().to_owned(), Fine, all, 0),
        ("mpirun_tags", prefixed(&good, |_| "[1,0]<stdout>:".to_owned()), Fine, all, 0),
        ("prte_tags", prefixed(&good, |_| "[prterun-h-1@1,0]<stdout>: ".to_owned()), Fine, all, 0),
        ("srun_labels", prefixed(&good, |_| "0: ".to_owned()), Fine, all, 0),
        ("srun_padded_labels", prefixed(&good, |_| " 3: ".to_owned()), Fine, all, 0),
        ("mpich_ranks", prefixed(&good, |_| "[0] ".to_owned()), Fine, all, 0),
        ("compose", prefixed(&good, |_| "worker-0  | ".to_owned()), Fine, all, 0),
        ("pdsh", prefixed(&good, |_| "node17: ".to_owned()), Fine, all, 0),
        ("time_stamps", prefixed(&good, |i| format!("2026-01-02T03:04:{i:02}.5Z ")), Fine, all, 0),
        ("stamps_and_tags", prefixed(&good, |i| format!("2026-01-02 03:04:{i:02} [1,0]<stdout>:")), Fine, all, 0),
        ("quoted_in_a_mail", prefixed(&good, |_| "> ".to_owned()), Fine, all, 0),
        ("colours", prefixed(&good, |_| "\x1b[0m".to_owned()), Fine, all, 0),
        ("two_worlds_tagged", good.lines().map(|l| format!("[1,0]<stdout>:{l}\n[1,1]<stdout>:{l}\n")).collect(), Fine, 2 * all, 0),
        ("other_ranks_tagged", good.lines().map(|l| format!("[1,0]<stdout>:{l}\n[1,1]<stderr>:{NOISE}")).collect(), Fine, all, 0),
        ("noise_between_rows", good.lines().map(|l| format!("{l}\n{NOISE}")).collect(), Fine, all, 0),
        ("cpu_time", with(&good.replace("time   algbw", "cputime   algbw"), "6728.20", "1.20"), Fine, all, 0),
        ("scientific_times", with(&good, "6728.20", "6.7e+03"), Fine, all, 0),
        ("without_group_line", with(&good, "out-of-place", ""), Fine, all, 0),
        ("two_runs_in_one_file", format!("{good}{good}"), Fine, 2 * all, 0),
        ("min_bandwidth_kept", with(&good, " \n#\n# Coll", " OK\n#\n# Coll"), Fine, all, 0),
        ("last_library_message", with(&good, "# Collective test concluded", "# error: unhandled cuda error\n# Collective test concluded"), Fine, all, 0),
        ("bitwise_repeatable", with(&good, "# Avg", "# Bitwise mismatches   : 0 OK\n# Avg"), Fine, all, 0),
        // noise inside rows: taken out where one reading is left
        ("noise_after_the_fields", split_row(&good, 5, &format!("\n{NOISE}")), Fine, all, 0),
        ("noise_glued_to_the_root", split_row(&good, 5, NOISE), Fine, all, 0),
        ("noise_between_halves", split_row(&good, 9, &format!(" {NOISE}")), Fine, all, 0),
        ("noise_glued_to_the_check", split_row(&good, 9, NOISE), Fine, all, 0),
        ("noise_on_the_same_line", split_row(&good, 9, " WARN something "), Fine, all, 0),
        ("noise_in_both_places", split_row(&split_row(&good, 5, &format!("\n{NOISE}")), 5, NOISE), Fine, all, 0),
        ("noise_before_the_row", with(&good, &row_of(&good, 4096), &format!("WARN x {}", row_of(&good, 4096))), Fine, all, 0),
        // noise that leaves doubt: reported
        ("noise_inside_a_half", split_row(&good, 7, &format!(" {NOISE}")), Truncated, all - 1, 1),
        ("noise_glued_to_a_time", with(&good, "6728.20", "6728.20WARN"), Truncated, all - 1, 1),
        ("numbers_as_noise", split_row(&good, 9, " 12 "), Truncated, all - 1, 1),
        ("glued_name_with_digits", split_row(&good, 9, "4gpu: hello\n"), Truncated, all - 1, 2),
        ("a_number_before_noise", split_row(&good, 9, " 12.5 WARN x\n"), Truncated, all - 1, 2),
        ("noise_that_holds_a_half", split_row(&good, 9, &format!(" WARN {} x ", second_half(&good))), Truncated, all - 1, 1),
        ("glued_name_makes_a_root", split_row(&good, 5, "4gpu: hello\n"), Truncated, all - 1, 2),
        ("a_row_inside_a_row", split_row(&good, 5, &format!("\n{}\n", row_of(&good, 4096))), Truncated, all, 2),
        ("a_header_inside_a_row", until(&good, "6728.20") + &good, Truncated, 2 * all - 1, 1),
        ("a_bandwidth_changed", until(&with(&good, "34.91", "94.91"), "# Out of"), Truncated, all - 1, 1),
        // labels, wraps, colours, numbers
        ("label_inside_a_row", prefixed(&split_row(&good, 5, "[1,0]<stdout>:"), |_| "[1,0]<stdout>:".into()), Fine, all, 0),
        ("label_between_halves", prefixed(&split_row(&good, 9, " [3] "), |_| "[3] ".into()), Fine, all, 0),
        ("cut_at_80", cut(&good, 80), Fine, all, 0),
        ("cut_at_100", cut(&good, 100), Fine, all, 0),
        ("broken_at_72", broken(&good, 72), Fine, all, 0),
        ("colours_without_escapes", prefixed(&good, |_| "[32m".into()), Fine, all, 0),
        ("numbered_lines", prefixed(&good, |i| format!("{}:", i + 1)), Fine, all, 0),
        ("syslog", prefixed(&good, |_| "May  4 03:02:01 node7 run[4711]: ".into()), Fine, all, 0),
        ("wall_clock", prefixed(&good, |_| "[03:02:01.250] ".into()), Fine, all, 0),
        // several tools
        ("two_tools", of_tool("broadcast_perf", 1.0) + &of_tool("reduce_scatter_perf", 0.875), Fine, 2 * all, 0),
        ("begins_as_another", with(&good, "concluded: all_reduce_perf", "concluded: all_gather_perf"), Truncated, all, 0),
        // bandwidths
        ("all_gather_without_its_factor", of_tool("all_gather_perf", 1.0), Truncated, all, 0),
        ("all_reduce_of_twice_algbw", of_tool("all_reduce_perf", 2.0), Truncated, all, 0),
        ("broadcast_with_a_factor", of_tool("broadcast_perf", 0.875), Truncated, all, 0),
        ("ranks_not_listed", good.lines().filter(|l| !l.contains("Rank")).map(|l| format!("{l}\n")).collect(), Fine, all, 0),
        ("json_without_its_factor", json().replace("all_reduce_perf", "all_gather_perf"), Truncated, all, 0),
        // a wrong count that sticks to other output
        ("wrong_count_glued", with(&wrong_row("1e+06"), "1e+06", "1e+06nodeA:12:34 [0] NCCL INFO x\n"), Wrong, all, 0),
        // other output of just as many tokens as are missing
        ("as_many_words_as_columns", split_row(&good, 5, "\nWARN one two three four five six 7\n"), Fine, all, 0),
        ("as_many_numbers_as_columns", split_row(&good, 5, "\n1 2 3 4 5 6 7 8\n"), Fine, all, 0),
        // no communication
        ("one_rank", log(&Style { factor: 0.0, ..MODERN }).lines().filter(|l| !l.contains("Rank ") || l.contains("Rank  0")).map(|l| format!("{l}\n")).collect(), NoCommunication, all, 0),
        ("one_rank_not_listed", log(&Style { factor: 0.0, ..MODERN }).lines().filter(|l| !l.contains("Rank ")).map(|l| format!("{l}\n")).collect(), NoCommunication, all, 0),
        // wrong
        ("wrong_count", wrong_row("96"), Wrong, all, 0),
        ("wrong_scientific", wrong_row("2.09715e+06"), Wrong, all, 0),
        ("wrong_and_exit_message", wrong_row("96") + failure, Wrong, all, 0),
        ("wrong_and_crashed", wrong_row("96") + "Segmentation fault (core dumped)\n", Wrong, all, 0),
        ("wrong_and_cut", until(&wrong_row("96"), "# Out of"), Wrong, all, 0),
        ("wrong_row_footer_ok", with(&wrong_row("96"), "2 FAILED", "0 OK"), Wrong, all, 0),
        ("footer_failed_no_wrong_row", with(&good, "values : 0 OK", "values : 4 FAILED"), Wrong, all, 0),
        ("not_bitwise_repeatable", with(&good, "# Avg", "# Bitwise mismatches   : 2 FAILED\n# Avg"), Wrong, all, 0),
        ("old_large_deviation", with(&log(&OLD), "3e-07", "1e+00"), Wrong, all, 0),
        ("old_asterisk", with(&log(&OLD), "3e-07", "3e-07*"), Wrong, all, 0),
        ("old_not_a_number", with(&log(&OLD), "3e-07", "nan"), Wrong, all, 0),
        // unchecked
        ("validation_off", log(&NO_CHECK), Unchecked, all, 0),
        ("one_row_unchecked", with(&good, &row_of(&good, 4096), &row_of(&log(&NO_CHECK), 4096)), Unchecked, all, 0),
        ("in_place_alltoall_only", log(&Style { halves: &["in-place"], checks: &["N/A"], ..ALLTOALL }), Unchecked, all, 0),
        // truncated
        ("cut_before_the_footer", until(&good, "# Out of"), Truncated, all, 0),
        ("cut_inside_the_footer", until(&good, "# Avg"), Truncated, all, 0),
        ("cut_inside_a_row", until(&good, "6728.20"), Truncated, all - 1, 1),
        ("cut_before_the_rows", until(&good, "           0 "), Truncated, 0, 0),
        ("cut_before_the_header", until(&good, "NCCL version"), Truncated, 0, 0),
        ("a_row_lost", with(&good, &row_of(&good, 1_048_576), ""), Truncated, all - 1, 0),
        ("a_number_changed", with(&good, &row_of(&good, 134_217_728), &row_of(&good, 134_217_728).replace("34.", "33.")), Truncated, all, 0),
        ("a_digit_lost", with(&good, "6728.20", "728.20"), Truncated, all - 1, 1),
        ("a_time_is_no_number", with(&good, "6728.20", "6728.2x"), Truncated, all - 1, 1),
        ("a_column_lost", with(&good, "6728.20", ""), Truncated, all - 1, 1),
        ("a_size_shrank", with(&good, "   134217728  ", "   13421772  "), Truncated, all - 1, 1),
        ("footer_garbled", with(&good, "values : 0 OK", "values : 0 O"), Truncated, all, 1),
        ("rows_without_header", good.lines().filter(|l| !l.starts_with('#')).map(|l| format!("{l}\n")).collect(), Truncated, 0, all),
        ("footer_without_header", good[good.find("# Out of").unwrap()..].to_owned(), Truncated, 0, 0),
        ("second_run_never_began", format!("{good}{}", until(&good, "NCCL version")), Truncated, all, 0),
        ("second_run_cut", format!("{good}{}", until(&good, "# Out of")), Truncated, 2 * all, 0),
        ("two_worlds_one_footer", until(&good, "           0 ") + &good, Truncated, all, 0),
        // crashed
        ("nccl_failure", until(&good, "           0 ") + "hostA: Test NCCL failure common.cu:392 'unhandled cuda error'\n", Crashed, 0, 0),
        ("hip_failure_in_a_row", until(&good, "6728.20") + "\nhostA: Test HIP failure common.cu:1\n", Crashed, all - 1, 1),
        ("at_the_start", until(&good, "NCCL version") + "hostA: Test CUDA failure common.cu:1016 'out of memory'\n", Crashed, 0, 0),
        ("signal", until(&good, "# Out of") + "mpirun noticed that process rank 3 exited on signal 9 (Killed).\n", Crashed, all, 0),
        ("time_limit", until(&good, "# Out of") + "slurmstepd: error: *** JOB 1 CANCELLED DUE TO TIME LIMIT ***\n", Crashed, all, 0),
        ("gpu_fault", until(&good, "# Out of") + "Memory access fault by GPU node-4\n", Crashed, all, 0),
        ("watchdog", until(&good, "# Out of") + "hostA: Test timeout common.cu:700\n", Crashed, all, 0),
        ("died_at_exit", format!("{good}Segmentation fault\n"), Crashed, all, 0),
        ("bare_test_failure", format!("{good}{failure}"), Crashed, all, 0),
        // not a log
        ("empty", String::new(), NotACollective, 0, 0),
        ("some_other_crash", "building...\nSegmentation fault\n".to_owned(), NotACollective, 0, 0),
        ("a_table_of_numbers", "1 2 3\n4 5 6 float\n".to_owned(), NotACollective, 0, 0),
        ("other_json", "{\"a\": 1}".to_owned(), NotACollective, 0, 0),
        // JSON
        ("json", json(), Fine, all, 0),
        ("json_wrong", with(&json(), "\"nwrong\": 0.000000", "\"nwrong\": 3.000000"), Wrong, all, 0),
        ("json_said_false", with(&json(), "\"count\": 0, \"okay\": \"true\"", "\"count\": 3, \"okay\": \"false\""), Wrong, all, 0),
        ("json_unchecked", json().replace("\"nwrong\": 0.000000", "\"nwrong\": null"), Unchecked, all, 0),
        ("json_cut_in_a_result", until(&json(), "134217728, \"count\""), Truncated, all - 1, 1),
        ("json_cut_after_the_results", until(&json(), "\"out_of_bounds\""), Truncated, all, 0),
        ("json_without_results", until(&json(), "\"results\": [\n"), Truncated, 0, 0),
        ("json_not_a_number", with(&json(), "\"bus_bw\": 0.000000", "\"bus_bw\": nan"), Truncated, all - 1, 1),
        ("json_last_message", with(&json(), "\"errors\": [\"\"]", "\"errors\": [\"a warning\"]"), Fine, all, 0),
        ("json_in_place_only", json_without_first_halves(), Fine, all, 0),
        ("report_json", report_json(), Fine, all, 0),
        ("report_json_wrong", with(&report_json(), "\"wrong\":\"0\"", "\"wrong\":\"7\""), Wrong, all, 0),
        ("report_json_unchecked", report_json().replace("\"wrong\":\"0\"", "\"wrong\":\"N/A\""), Unchecked, all, 0),
        ("report_json_cut", until(&report_json(), "\"busBw\""), Truncated, 0, 1),
        ("report_json_of_another", report_json().replace("AllReduce", "Broadcast"), Truncated, all, 0),
        ("report_csv", report_csv(true), Fine, all, 0),
        ("report_csv_without_mpi", report_csv(false), Fine, all, 0),
        ("report_csv_wrong", report_csv(true).replacen(",\"0\"", ",\"7\"", 1), Wrong, all, 0),
        ("report_csv_of_another", report_csv(true).replace("AllReduce", "ReduceScatter"), Truncated, all, 0),
        ("report_csv_cut", report_csv(true)[..report_csv(true).len() - 30].to_owned(), Truncated, all, 1),
        ("json_bitwise", with(&json(), "\"errors\"", "\"bitwise_mismatches\": {\"count\": 1, \"okay\": \"false\"}, \"errors\""), Wrong, all, 0),
    ]
}
