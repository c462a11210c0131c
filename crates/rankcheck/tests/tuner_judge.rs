//! `rankcheck tuner judge` as a user runs it: a plan, a folder of logs, an answer, an exit code.

use std::path::Path;
use std::process::Command;

const OLD: &str = "allreduce,0,4194304,ring,ll,-1,1,2,-1,-1\n";
const RULE: &str = "allreduce,65536,131071,tree,ll,1,1,2,-1,-1\n";

fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rankcheck"));
    let output = command.args(arguments).current_dir(folder).output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("a code"), text(output.stdout), text(output.stderr))
}

/// A log of one size on two ranks.
fn log(bytes: u64, time: f64) -> String {
    let algbw = bytes as f64 / time / 1e3;
    format!(
        "# nThread 1 nGpus 2 minBytes {bytes} maxBytes {bytes} step: 1048576(bytes) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
# Using devices
#  Rank  0 Group  0 Pid  1 on hostA device  0 [0000:00:00] Some GPU
#  Rank  1 Group  0 Pid  1 on hostA device  1 [0000:01:00] Some GPU
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
 {bytes} {} float sum -1 {time:.2} {algbw:.2} {algbw:.2} 0 {time:.2} {algbw:.2} {algbw:.2} 0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : {algbw:.4}
",
        bytes / 4
    )
}

/// What both ranks say of the row that they apply.
fn lines(file: &str, rows: usize, bytes: u64, choice: &str) -> String {
    let of_rank = |rank: u32| {
        let who = format!("hostA:{rank}:{rank} [{rank}] NCCL INFO");
        format!(
            "{who} Using built-in CSV tuner, config: {file}\n{who} TUNER/CsvTuner: Loaded {rows} tuning configurations from {file}\n\
             {who} TUNER/CsvTuner: Applied config for allreduce, bytes={bytes}: {choice}\n"
        )
    };
    (0..2).map(of_rank).collect()
}

/// Plans the change and writes the logs of all runs; inside it the new file takes `factor` of the time.
fn measured(factor: f64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("the test's own file");
    };
    write("old.csv", OLD);
    write("new.csv", &(RULE.to_owned() + OLD));
    let dialect = ["--dialect", "rccl-builtin", "--ranks", "2"];
    let arguments = [&["tuner", "plan", "old.csv", "new.csv", "--format", "json"], &dialect[..]];
    let (code, plan, said) = run(folder.path(), &arguments.concat());
    assert_eq!(code, 0, "{said}");
    write("plan.json", &plan);
    std::fs::create_dir(folder.path().join("logs")).expect("a folder");
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
    for run in plan["runs"].as_array().expect("runs") {
        let text = |key: &str| run[key].as_str().expect(key).to_owned();
        let bytes = run["bytes"].as_u64().expect("bytes");
        let (new, inside) = (text("file") == "new.csv", text("zone") == "inside");
        let round = run["round"].as_u64().expect("a round") as f64;
        let varied = 1.0 + 0.0003 * ((round + text("arm").len() as f64) % 3.0);
        let time = 200.0 * varied * if new && inside { factor } else { 1.0 };
        let choice = match new && (65536..131_072).contains(&bytes) {
            true => "algo=tree, proto=ll, channels=1",
            false => "algo=ring, proto=ll, channels=-1",
        };
        let said = match text("phase").as_str() {
            "proof" => lines(&text("file"), if new { 2 } else { 1 }, bytes, choice),
            _ => String::new(),
        };
        write(&format!("logs/{}.log", text("id")), &(said + &log(bytes, time)));
    }
    folder
}

#[test]
fn results_are_judged_from_a_plan_and_a_folder_of_logs() {
    let folder = measured(0.8);
    let (code, text, said) = run(folder.path(), &["tuner", "judge", "plan.json", "logs", "--gate"]);
    assert_eq!(code, 0, "{text}{said}");
    assert!(text.starts_with("improved\n- inside the change: "), "{text}");
    assert!(text.contains("the widest range that the evidence supports: allreduce"), "{text}");
    let (code, text, _) =
        run(folder.path(), &["tuner", "judge", "plan.json", "logs", "--format", "json"]);
    assert_eq!(code, 0);
    let judgement: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(judgement["schema"], "rankcheck.tuner-judge/1");
    assert_eq!(judgement["supported"][0]["bytes"][0], 65536);
    let hash = judgement["rows"][0]["provenance"]["logs"][0][1].as_str().expect("a hash");
    assert_eq!(hash.len(), 64);
    let (_, text, _) =
        run(folder.path(), &["tuner", "judge", "plan.json", "logs", "--format", "markdown"]);
    assert!(
        text.contains("\n| improved | allreduce, 1 nodes, 2 ranks | 65536 | inside |"),
        "{text}"
    );
}

#[test]
fn a_hidden_slowdown_closes_the_gate() {
    let folder = measured(1.03);
    let (code, text, _) = run(folder.path(), &["tuner", "judge", "plan.json", "logs", "--gate"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with("worse\n") && text.contains("3.0 % slower"), "{text}");
    assert_eq!(run(folder.path(), &["tuner", "judge", "plan.json", "logs"]).0, 0, "no gate");
}

#[test]
fn a_file_that_has_changed_since_proves_nothing() {
    let folder = measured(0.8);
    std::fs::write(folder.path().join("new.csv"), OLD).expect("the test's own file");
    let (code, text, _) = run(folder.path(), &["tuner", "judge", "plan.json", "logs"]);
    assert!(text.contains("timed runs do not count"), "{text}");
    assert!(text.contains("and tree/ll 1 channel was planned"), "{text}");
    assert!(text.contains("the evidence supports no range"), "{text}");
    assert_eq!(code, 4, "no row has a run of both files");
}

#[test]
fn what_is_no_plan_or_ambiguous_is_refused() {
    let folder = measured(0.8);
    let (code, _, said) = run(folder.path(), &["tuner", "judge", "old.csv", "logs"]);
    assert_eq!(code, 2);
    assert!(said.contains("tuner plan --format json"), "{said}");
    std::fs::create_dir(folder.path().join("more")).expect("a folder");
    let first = std::fs::read_dir(folder.path().join("logs")).expect("logs").flatten().next();
    let first = first.expect("a log");
    std::fs::copy(first.path(), folder.path().join("more").join(first.file_name()))
        .expect("a copy");
    let (code, _, said) = run(folder.path(), &["tuner", "judge", "plan.json", "logs", "more"]);
    assert_eq!(code, 2);
    assert!(said.contains("two logs are called"), "{said}");
}
