//! Results of a plan, from the review of a rule on two nodes: what is believed, and what stays open.

use std::collections::BTreeMap;

use bench::compare::Policy;
use rstest::rstest;
use tuner::evaluate::Channels;
use tuner::judge::{
    Content, Judged, Judgement, LogFile, Overall, SummaryHalf, Verdict, judge, summary,
};
use tuner::perflog::{self, HalfKind};
use tuner::plan::{Arm, Modes, Options, Phase, Plan, Run, Zone, plan};
use tuner::probe::Defaults;
use tuner::sizes::Runner;
use tuner::{Dialect, Table};

const OLD: &str = "allreduce,33554432,54525951,ring,ll128,64,2,16,-1,-1
allreduce,54525952,117440511,tree,simple,64,2,16,-1,-1
allreduce,117440512,234881024,ring,simple,48,2,16,-1,-1
";
const RULE: &str = "allreduce,33554432,150994943,tree,ll128,64,2,16,-1,-1\n";
/// Half of where the change begins.
const OUTSIDE: u64 = 16_777_216;
const GRAPH: &str = "-G 1";

fn tables(file: &str) -> Option<Table> {
    let new = RULE.to_owned() + OLD;
    let text = if file == "new.csv" { &new } else { OLD };
    Some(Table::load(Dialect::RcclBuiltin, text.as_bytes()))
}

fn planned() -> Plan {
    let options = Options {
        defaults: Defaults { nodes: 2, ranks: 16, dtype: "f32".parse().unwrap() },
        rounds: 6,
        modes: Modes { graph: vec![0, 1], ..Modes::default() },
        iterations: 20,
        warmup: 5,
        max_bytes: 8 << 30,
        launch: "mpirun -np {ranks} {env} {cmd}".parse().unwrap(),
        env: Vec::new(),
        show_choice: None,
        runner: Runner::PerfTool,
    };
    let [old, new] = ["old.csv", "new.csv"].map(|file| tables(file).unwrap());
    plan((&old, "old.csv"), (&new, "new.csv"), &options)
}

/// What the perf tool prints of one size on sixteen ranks.
fn log(bytes: u64, [out, within]: [f64; 2], wrong: u32) -> String {
    let half = |time: f64| {
        let algbw = bytes as f64 / time / 1e3;
        (algbw, algbw * 1.875)
    };
    let devices: String = (0..16)
        .map(|rank| {
            format!("#  Rank {rank:>2} Group  0 Pid  {rank} on host{} device  {} [0000:00:00] Some GPU\n", rank / 8, rank % 8)
        })
        .collect();
    let [(oa, ob), (ia, ib)] = [half(out), half(within)];
    let (mean, said) = ((ob + ib) / 2.0, if wrong > 0 { "1 FAILED" } else { "0 OK" });
    format!(
        "# nThread 1 nGpus 1 minBytes {bytes} maxBytes {bytes} step: 1048576(bytes) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
{devices}#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
 {bytes} {} float sum -1 {out:.2} {oa:.2} {ob:.2} {wrong} {within:.2} {ia:.2} {ib:.2} 0
# Out of bounds values : {said}
# Avg bus bandwidth    : {mean:.4}
",
        bytes / 4
    )
}

/// What every rank says of the row that it applies.
fn proof_lines(run: &Run, rows: usize) -> String {
    let of_rank = |rank: usize| {
        let who = format!("host{}:{rank}:{rank} [{}] NCCL INFO", rank / 8, rank % 8);
        let file = &run.file;
        let mut text = format!("{who} Using built-in CSV tuner, config: {file}\n");
        text += &format!("{who} TUNER/CsvTuner: Loaded {rows} tuning configurations from {file}\n");
        if let Some((algorithm, protocol)) = run.expected.pick {
            let channels = match run.expected.channels {
                Channels::Exactly(count) => count,
                Channels::Library => -1,
            };
            text += &format!(
                "{who} TUNER/CsvTuner: Applied config for allreduce, bytes={}: algo={algorithm}, proto={protocol}, channels={channels}\n",
                run.bytes
            );
        }
        text
    };
    (0..16).map(of_rank).collect()
}

/// The time of a run in the review: faster inside, as fast elsewhere, with 0.04 % between rounds.
fn reviewed(run: &Run) -> [f64; 2] {
    let base = run.bytes as f64 / 9e4;
    let faster = if run.arm == Arm::Candidate && run.zone == Zone::Inside { 0.72 } else { 1.0 };
    let arm = run.arm as u32 + 1;
    let varied = 1.0 + 0.0002 * f64::from((run.round * arm) % 3);
    [base * faster * varied, base * 1.1 * faster * varied]
}

/// The logs of all runs, with times of the given function.
fn logs(plan: &Plan, times: impl Fn(&Run) -> [f64; 2]) -> BTreeMap<String, String> {
    let of_run = |run: &Run| {
        let text = match run.phase {
            Phase::Proof => {
                let rows = if run.file == "new.csv" { 4 } else { 3 };
                proof_lines(run, rows) + &log(run.bytes, reviewed(run), 0)
            }
            Phase::Timed => log(run.bytes, times(run), 0),
        };
        (run.id.clone(), text)
    };
    plan.runs.iter().map(of_run).collect()
}

fn judged(plan: &Plan, logs: &BTreeMap<String, String>) -> Judgement {
    let files: Vec<LogFile<'_>> = logs
        .iter()
        .map(|(run, text)| LogFile {
            run: run.clone(),
            sha256: "00ff",
            content: Content::Log(text.as_bytes()),
        })
        .collect();
    judge(plan, &files, &tables, &BTreeMap::new(), Policy::default())
}

fn row<'a>(judgement: &'a Judgement, bytes: u64, mode: &str, half: HalfKind) -> &'a Judged {
    let mut rows = judgement.rows.iter();
    rows.find(|row| row.bytes == bytes && row.mode == mode && row.half == half).expect("a row")
}

#[test]
fn the_review_comes_out() {
    let plan = planned();
    let judgement = judged(&plan, &logs(&plan, reviewed));
    assert_eq!(judgement.not_counted, []);
    assert_eq!(judgement.verdict, Overall::Improved, "{}", judgement.text());
    for row in &judgement.rows {
        let expected =
            if row.zone == Zone::Inside { Verdict::Improved } else { Verdict::Unchanged };
        assert_eq!(row.verdict, expected, "{row:?}");
        assert_eq!(row.rounds, 6);
        assert_eq!((row.provenance.logs.len(), row.provenance.summaries), (18, 0));
    }
    let first = row(&judgement, 33_554_432, "-G 0", HalfKind::OutOfPlace);
    assert!(first.why.starts_with("1.39x, 28.0 % faster"), "{}", first.why);
    let [range] = &judgement.supported[..] else { panic!("{:?}", judgement.supported) };
    assert_eq!(range.bytes[0], 33_554_432);
    assert!(range.bytes[1] < 150_994_944 && range.bytes[1] >= 117_440_512, "{range:?}");
    assert_eq!((judgement.modes.tested.len(), judgement.modes.possible), (2, 18));
    let text = judgement.text();
    assert!(text.starts_with("improved\n- inside the change: "), "{text}");
    assert!(text.contains("of 18 modes were tested: `-G 0`, `-G 1`"), "{text}");
    let markdown = judgement.markdown();
    assert!(markdown.starts_with("## Tuner rule: improved\n\n- inside"), "{markdown}");
    let lines = markdown.lines().filter(|line| line.starts_with("| improved |"));
    assert_eq!(lines.count(), judgement.rows.iter().filter(|r| r.zone == Zone::Inside).count());
}

/// 7.8 % slower outside the rule in one mode, against 0.6 % in its control; in another mode the control of the same
/// size varies by 9.2 %.
#[test]
fn a_slowdown_within_what_another_control_varies_by_is_unresolved_and_said() {
    let plan = planned();
    let times = |run: &Run| {
        let mut times = reviewed(run);
        let factor = match (run.bytes, run.mode.as_str(), run.arm) {
            (OUTSIDE, "-G 0", Arm::Candidate) => 1.078,
            (OUTSIDE, "-G 0", Arm::Control) => 1.006,
            (OUTSIDE, GRAPH, Arm::Control) => 1.092,
            _ => 1.0,
        };
        times[0] *= factor;
        times
    };
    let judgement = judged(&plan, &logs(&plan, times));
    let slow = row(&judgement, OUTSIDE, "-G 0", HalfKind::OutOfPlace);
    assert_eq!((slow.zone, slow.verdict), (Zone::Outside, Verdict::Unresolved), "{}", slow.why);
    let expected = "unresolved: 7.8 % slower against 0.6 % in its own control, but another control of this \
                    size (out-of-place with -G 1) varied by 9.";
    assert!(slow.why.starts_with(expected), "{}", slow.why);
    // The other mode's own row has a base that differs from itself.
    let other = row(&judgement, OUTSIDE, GRAPH, HalfKind::OutOfPlace);
    assert_eq!(other.verdict, Verdict::Unresolved);
    assert_eq!(judgement.verdict, Overall::Unresolved);
    assert!(judgement.edges_hold);
    assert_eq!(judgement.supported.len(), 1, "the range stands on its own");
    assert!(judgement.text().contains("unresolved: "), "{}", judgement.text());
}

/// The same slowdown where every control is quiet is one.
#[test]
fn a_slowdown_that_no_control_shows_is_worse() {
    let plan = planned();
    let times = |run: &Run| {
        let mut times = reviewed(run);
        if run.bytes == OUTSIDE && run.arm == Arm::Candidate {
            times[0] *= 1.078;
        }
        times
    };
    let judgement = judged(&plan, &logs(&plan, times));
    assert_eq!(judgement.verdict, Overall::Worse);
    assert!(!judgement.edges_hold);
    let slow = row(&judgement, OUTSIDE, "-G 0", HalfKind::OutOfPlace);
    assert_eq!(slow.verdict, Verdict::Worse, "{}", slow.why);
    assert!(slow.why.contains("% slower, its control 0."), "{}", slow.why);
    let quiet = row(&judgement, OUTSIDE, "-G 0", HalfKind::InPlace);
    assert_eq!(quiet.verdict, Verdict::Unchanged, "{}", quiet.why);
}

/// A size in the middle at which one mode is as fast as before: the range ends in front of it, or begins behind it.
#[test]
fn a_range_has_no_holes() {
    let plan = planned();
    let mut sizes: Vec<u64> =
        plan.runs.iter().filter(|run| run.zone == Zone::Inside).map(|run| run.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    assert!(sizes.len() >= 4, "{sizes:?}");
    let hole = sizes[1];
    let times = |run: &Run| match (run.bytes == hole, run.mode.as_str(), run.arm) {
        (true, GRAPH, Arm::Candidate) => reviewed(run).map(|time| time / 0.72),
        _ => reviewed(run),
    };
    let judgement = judged(&plan, &logs(&plan, times));
    let [range] = &judgement.supported[..] else { panic!("{:?}", judgement.supported) };
    assert_eq!(range.bytes, [sizes[2], sizes[sizes.len() - 1]]);
    assert_eq!((range.sizes, range.rows), (sizes.len() - 2, 4 * (sizes.len() - 2)));
}

fn proof_of(plan: &Plan, arm: Arm, bytes: u64) -> String {
    let mut runs = plan.runs.iter().filter(|run| run.phase == Phase::Proof && run.mode == GRAPH);
    runs.find(|run| run.arm == arm && run.bytes == bytes).expect("a proof").id.clone()
}

/// Each change takes the proof of one size, mode and file away: its twelve or six timed runs do not count, and nothing else.
#[rstest]
#[case::no_proof_log(Arm::Candidate, None, 6, "no log")]
#[case::other_row(Arm::Candidate, Some(["algo=tree", "algo=ring"]), 6, "applied")]
#[case::other_file(Arm::Candidate, Some(["new.csv", "<embedded>/x"]), 6, "0 of 16 ranks")]
#[case::silent_rank(Arm::Candidate, Some(["host1:15:15 [7] NCCL INFO TUNER", "x"]), 6, "15")]
#[case::base(Arm::Base, None, 12, "no log")]
fn runs_whose_row_is_not_proved_never_count(
    #[case] arm: Arm,
    #[case] change: Option<[&str; 2]>,
    #[case] count: usize,
    #[case] why: &str,
) {
    let plan = planned();
    let mut all = logs(&plan, reviewed);
    let proof = proof_of(&plan, arm, 33_554_432);
    let text = all.remove(&proof).expect("its log");
    if let Some([from, to]) = change {
        assert!(text.contains(from), "{text}");
        all.insert(proof, text.replace(from, to));
    }
    let judgement = judged(&plan, &all);
    assert_eq!(judgement.not_counted.len(), count, "{:?}", judgement.not_counted);
    for run in &judgement.not_counted {
        assert!(run.why.starts_with("the applied row is not proved"), "{}", run.why);
        assert!(run.why.contains(why), "{}", run.why);
    }
    let open = row(&judgement, 33_554_432, GRAPH, HalfKind::OutOfPlace);
    assert_eq!((open.verdict, open.rounds, open.ratio), (Verdict::Unresolved, 0, None));
    let counted = row(&judgement, 33_554_432, "-G 0", HalfKind::OutOfPlace);
    assert_eq!(counted.verdict, Verdict::Improved);
    assert!(judgement.supported.iter().all(|range| range.bytes[0] > 33_554_432));
    assert!(judgement.text().contains(&format!("{count} timed runs do not count")));
}

fn timed(plan: &Plan, arm: Arm, bytes: u64, round: u32) -> &Run {
    let mut runs = plan.runs.iter().filter(|run| run.phase == Phase::Timed && run.mode == GRAPH);
    runs.find(|run| (run.arm, run.bytes, run.round) == (arm, bytes, round)).expect("a run")
}

#[test]
fn wrong_elements_are_worse_and_broken_logs_do_not_count() {
    let plan = planned();
    let mut all = logs(&plan, reviewed);
    let wrong = timed(&plan, Arm::Candidate, 33_554_432, 2);
    all.insert(wrong.id.clone(), log(wrong.bytes, reviewed(wrong), 3));
    let cut = timed(&plan, Arm::Base, 33_554_432, 3);
    let text = log(cut.bytes, reviewed(cut), 0);
    all.insert(cut.id.clone(), text[..text.len() / 2].to_owned());
    let other = timed(&plan, Arm::Base, 33_554_432, 4);
    all.insert(other.id.clone(), log(other.bytes / 2, reviewed(other), 0));
    let judgement = judged(&plan, &all);
    let row = row(&judgement, 33_554_432, GRAPH, HalfKind::OutOfPlace);
    assert_eq!(row.verdict, Verdict::Worse, "{}", row.why);
    assert!(row.why.contains("counts wrong elements"), "{}", row.why);
    let why: BTreeMap<&str, &str> =
        judgement.not_counted.iter().map(|run| (run.run.as_str(), run.why.as_str())).collect();
    assert_eq!(why.len(), 2, "{why:?}");
    assert!(why[cut.id.as_str()].contains("the log is"), "{why:?}");
    assert!(why[other.id.as_str()].contains("no row of 33554432 bytes"), "{why:?}");
    assert_eq!(judgement.verdict, Overall::Worse);
}

/// A timed log in which the library itself says that it applied something else.
#[test]
fn a_timed_log_that_contradicts_the_plan_does_not_count() {
    let plan = planned();
    let mut all = logs(&plan, reviewed);
    let run = timed(&plan, Arm::Candidate, 33_554_432, 1);
    let said = proof_lines(run, 4).replace("algo=tree", "algo=ring");
    all.insert(run.id.clone(), said + &log(run.bytes, reviewed(run), 0));
    let judgement = judged(&plan, &all);
    let [one] = &judgement.not_counted[..] else { panic!("{:?}", judgement.not_counted) };
    assert!(one.why.starts_with("its own log does not prove"), "{}", one.why);
}

#[test]
fn a_run_that_ended_badly_does_not_count() {
    let plan = planned();
    let all = logs(&plan, reviewed);
    let files: Vec<LogFile<'_>> = all
        .iter()
        .map(|(run, text)| LogFile {
            run: run.clone(),
            sha256: "",
            content: Content::Log(text.as_bytes()),
        })
        .collect();
    let run = timed(&plan, Arm::Control, 33_554_432, 1).id.clone();
    let statuses = BTreeMap::from([(run.clone(), 1)]);
    let judgement = judge(&plan, &files, &tables, &statuses, Policy::default());
    assert_eq!(judgement.not_counted[0].run, run);
    assert!(judgement.not_counted[0].why.contains("status 1"));
}

/// What `rankcheck perflog --format csv` wrote of logs that are gone.
#[test]
fn summaries_are_told_apart_from_raw_logs() {
    let plan = planned();
    let all = logs(&plan, reviewed);
    let gone = |run: &&Run| run.phase == Phase::Timed && run.bytes == 33_554_432 && run.round <= 2;
    let read: Vec<(String, perflog::Log)> = plan
        .runs
        .iter()
        .filter(gone)
        .map(|run| (format!("logs/{}.log", run.id), perflog::read(all[&run.id].as_bytes())))
        .collect();
    let named: Vec<(&str, &perflog::Log)> =
        read.iter().map(|(name, log)| (name.as_str(), log)).collect();
    let runs: BTreeMap<String, Vec<SummaryHalf>> =
        summary(&perflog::csv(&named)).expect("a summary");
    assert_eq!(runs.len(), 12, "two rounds of two modes and three arms");
    let files: Vec<LogFile<'_>> = all
        .iter()
        .map(|(run, text)| LogFile {
            run: run.clone(),
            sha256: "00ff",
            content: match runs.get(run) {
                Some(halves) => Content::Summary(halves.clone()),
                None => Content::Log(text.as_bytes()),
            },
        })
        .collect();
    let judgement = judge(&plan, &files, &tables, &BTreeMap::new(), Policy::default());
    let mixed = row(&judgement, 33_554_432, GRAPH, HalfKind::InPlace);
    assert_eq!(mixed.provenance.told(), "12 raw logs, 6 runs summary only");
    assert_eq!(mixed.verdict, Verdict::Improved, "{}", mixed.why);
    assert!(judgement.text().contains("4 rows stand on summaries"), "{}", judgement.text());
    assert!(summary("no table").is_none());
}
