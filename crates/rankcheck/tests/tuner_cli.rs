//! `rankcheck tuner` and `rankcheck perflog` as a user runs them: output, files, exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A shipped file and a proposed rule put before it.
const OLD: &str = "allreduce,0,16383,tree,ll,1,1,8,-1,-1
allreduce,16384,524287,ring,ll,-1,1,8,-1,-1
allreduce,524288,1048575,ring,ll,32,1,8,-1,-1
allreduce,1048576,2097000,ring,ll,56,1,8,-1,-1
allreduce,33554432,54525951,ring,ll128,64,2,16,-1,-1
allreduce,54525952,117440511,tree,simple,64,2,16,-1,-1
allreduce,117440512,234881024,ring,simple,48,2,16,-1,-1
";
const RULE: &str = "allreduce,33554432,150994943,tree,ll128,64,2,16,-1,-1\n";

/// A log of one size, as the perf tool writes it.
const LOG: &str = "# nThread 1 nGpus 1 minBytes 1024 maxBytes 1024 step: 1048576(bytes) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
        1024           256     float     sum      -1    10.24    0.10    0.18      0    10.24    0.10    0.18      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.175
";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the binary in the folder: exit code, standard output, standard error.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rankcheck"));
        told(command.args(arguments).current_dir(self.0.path()).output().unwrap())
    }
}

fn told(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn worked_example() -> Folder {
    Folder::new(&[("rccl_old.csv", OLD), ("rccl_new.csv", &(RULE.to_owned() + OLD))])
}

#[test]
fn the_worked_example_is_told_in_full() {
    let folder = worked_example();
    let (code, out, _) =
        folder.run(&["tuner", "diff", "rccl_old.csv", "rccl_new.csv", "--svg", "map.svg"]);
    assert_eq!(code, 0);
    for line in [
        "33554432    54525951   ring/ll128 64 channels (line 5)   tree/ll128 64 channels (line 1)",
        "117440512   150994943  ring/simple 48 channels (line 7)  tree/ll128 64 channels (line 1)",
        "line 6 (was line 5): allreduce 33554432..54525951 ring/ll128: fully shadowed unless tree/ll128 is unavailable",
        "line 7 (was line 6): allreduce 54525952..117440511 tree/simple: fully shadowed unless",
        "line 8 (was line 7): allreduce 117440512..234881024 ring/simple: cut to 150994944..234881024",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
    assert!(std::fs::read_to_string(folder.path("map.svg")).unwrap().starts_with("<svg"));

    let (_, out, _) = folder.run(&["tuner", "probe", "rccl_new.csv"]);
    for edge in ["-b 33554428 -e 33554432 -i 4", "-b 150994940 -e 150994944 -i 4"] {
        assert!(out.contains(&format!("all_reduce_perf {edge} -d float -c 1\n")), "{out}");
    }
    let (_, out, _) = folder.run(&["tuner", "probe", "rccl_new.csv", "--format", "scenario"]);
    assert!(out.contains("1x8388607, 1x8388608, 1x37748735, 1x37748736"), "{out}");
}

#[test]
fn a_diff_of_three_shows_the_overlap_and_is_json_too() {
    let folder = worked_example();
    std::fs::write(
        folder.path("b.csv"),
        "allreduce,0,99999999,ring,ll128,8,2,16\n".to_owned() + OLD,
    )
    .unwrap();
    let files = ["rccl_old.csv", "rccl_new.csv", "b.csv"];
    let (code, out, _) = folder.run(&[&["tuner", "diff"][..], &files].concat());
    assert_eq!(code, 0);
    assert!(out.contains("CONFLICT") && out.contains("one change"), "{out}");
    let (_, out, _) = folder.run(&[&["tuner", "diff"][..], &files, &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let overlaps: Vec<_> = json["changes"][0]["spans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|span| span["overlap"].as_str().unwrap())
        .collect();
    assert!(overlaps.contains(&"conflict") && overlaps.contains(&"one"), "{overlaps:?}");
    assert_eq!(json["dialect"], "rccl-builtin");
}

#[test]
fn explain_names_the_row_and_what_comes_after_it() {
    let folder = worked_example();
    let query =
        ["--collective", "allreduce", "--bytes", "33554432", "--nodes", "2", "--ranks", "16"];
    let (code, out, _) = folder.run(&[&["tuner", "explain", "rccl_new.csv"][..], &query].concat());
    assert_eq!(code, 0);
    assert!(out.contains("result: tree/ll128 64 channels\n"), "{out}");
    assert!(
        out.contains("where tree/ll128 is unavailable: ring/ll128 64 channels (line 6)\n"),
        "{out}"
    );
    let more = ["--unavailable", "ll128", "--dialect", "nccl-example"];
    let (_, out, _) =
        folder.run(&[&["tuner", "explain", "rccl_new.csv"][..], &query, &more].concat());
    assert!(out.contains("matches, but its choice is unavailable"), "{out}");
    assert!(out.contains("result: library default 1 channel\n"), "{out}");
}

#[test]
fn lint_gates_fixes_and_annotates() {
    let good = "allreduce,0,18446744073709551615,tree,simple,4,2,16\n";
    let bad = "\u{feff}# x\r\nallreduce,0,32M,Tree,ll,4,1,8\n";
    let folder = Folder::new(&[("good.csv", good), ("bad.csv", bad)]);
    let (code, out, err) = folder.run(&["tuner", "lint", "good.csv"]);
    assert_eq!(code, 0);
    assert!(out.ends_with("good.csv (nccl-example): 0 errors, 1 warnings, 0 infos\n"), "{out}");
    assert!(out.contains("everything that no row is for with 1 channel"), "{out}");
    assert!(err.contains("note: good.csv: read as nccl-example, by its name"), "{err}");
    let (_, out, err) = folder.run(&["tuner", "lint", "good.csv", "--dialect", "rccl-example"]);
    let clean = "good.csv (rccl-example): 0 errors, 0 warnings, 0 infos\n";
    assert_eq!((out.as_str(), err.as_str()), (clean, ""));

    let (code, out, _) = folder.run(&["tuner", "lint", "good.csv", "bad.csv"]);
    assert_eq!(code, 1);
    assert!(out.contains("bad.csv:2:13: error: `32M` is not a plain number of bytes"), "{out}");
    assert!(
        out.contains(
            "  rccl-builtin, rccl-builtin-v2: skipped with a warning (unknown algorithm)\n"
        ),
        "{out}"
    );

    let (code, out, _) = folder.run(&["tuner", "lint", "bad.csv", "--format", "sarif"]);
    let sarif: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &sarif["version"]), (1, &"2.1.0".into()));
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let bytes = results.iter().find(|result| result["ruleId"] == "bad-bytes").unwrap();
    assert_eq!(bytes["level"], "error");
    let region = &bytes["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&2.into(), &13.into()));
    let known: Vec<_> = sarif["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| &rule["id"])
        .collect();
    assert!(results.iter().all(|result| known.contains(&&result["ruleId"])));

    let (code, out, _) = folder.run(&["tuner", "lint", "--fix", "bad.csv"]);
    assert_eq!(code, 1, "the suffix is left to its author");
    assert!(out.contains("fixed [unknown-name]\n  - allreduce,0,32M,Tree,ll,4,1,8\n"), "{out}");
    let fixed = std::fs::read_to_string(folder.path("bad.csv")).unwrap();
    assert_eq!(fixed, "# x\nallreduce,0,32M,tree,ll,4,1,8\n");

    std::fs::write(folder.path("open.csv"), "allreduce,0,1024,ring,ll,4,1,8\n").unwrap();
    assert_eq!(folder.run(&["tuner", "lint", "open.csv"]).0, 0);
    assert_eq!(folder.run(&["tuner", "lint", "open.csv", "--strict"]).0, 1);
}

#[test]
fn mistakes_of_usage_are_2_and_say_what_is_accepted() {
    let folder = worked_example();
    let plan = ["tuner", "plan", "rccl_old.csv", "rccl_new.csv", "--launch"];
    for (arguments, told) in [
        (&["tuner", "lint", "missing.csv"][..], "cannot read missing.csv"),
        (&["perflog", "missing.txt"][..], "cannot read missing.txt"),
        (
            &["tuner", "lint", "--dialect", "nccl", "rccl_old.csv"][..],
            "accepted: nccl-example, rccl-example, rccl-builtin, rccl-builtin-v2, rccl-builtin-v1",
        ),
        (&["tuner", "probe", "rccl_old.csv", "--dtype", "fp4"][..], "accepted: i8|int8"),
        (&["tuner", "diff", "rccl_old.csv"][..], "2"),
        (&[&plan[..], &["srun {cmd}"]].concat(), "must contain `{env}`"),
        (&[&plan[..], &["{env} {cmd} {np}"]].concat(), "accepted: {env}, {cmd}, {ranks}, {nodes}"),
    ] {
        let (code, _, err) = folder.run(arguments);
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert!(err.contains(told), "{arguments:?}: {err}");
    }
}

#[test]
fn perflog_judges_and_gates() {
    let slow = LOG.replace(": 0.175", ": 0.175 FAILED");
    let wrong = LOG.replacen("     0    10.24", "     7    10.24", 1);
    let folder = Folder::new(&[("ok.txt", LOG), ("slow.txt", &slow), ("wrong.txt", &wrong)]);
    let (code, out, _) = folder.run(&["perflog", "ok.txt"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("1 rows read, 0 unreadable, 1024..1024 bytes"), "{out}");
    assert_eq!(folder.run(&["perflog", "ok.txt", "slow.txt"]).0, 1);

    let (code, out, _) = folder.run(&["perflog", "ok.txt", "wrong.txt", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["schema"]), (1, &"rankcheck.perflog/1".into()));
    let statuses: Vec<_> = json["logs"].as_array().unwrap().iter().map(|l| &l["status"]).collect();
    assert_eq!(statuses, ["ok", "wrong"]);
    let (_, out, _) = folder.run(&["perflog", "wrong.txt", "--format", "csv"]);
    assert!(
        out.contains(
            "wrong.txt,wrong,4,0,1024,256,float,sum,-1,out_of_place,10.24,0.1,0.18,wrong,7,,,,,,\n"
        ),
        "{out}"
    );
}

/// A perf tool that reads the tuner file by itself (awk), and says what it applied.
const FAKE_TOOL: &str = r##"#!/bin/sh
while [ $# -gt 0 ]; do case $1 in -b) bytes=$2 ;; esac; shift; done
if [ -n "${NCCL_DEBUG:-}" ]; then
    file=$FILE_OVERRIDE$NCCL_TUNER_CONFIG_FILE
    rows=$(grep -c . "$file")
    rank=0
    while [ $rank -lt "${SPEAKING:-16}" ]; do
        read=$NCCL_TUNER_CONFIG_FILE
        [ $rank -ne 9 ] || read=${LOADED:-$read}
        echo "h:$rank:1 [0] NCCL INFO TUNER/CsvTuner: Loaded $rows tuning configurations from $read"
        awk -F, -v b="$bytes" -v r="$rank" '$2 <= b && b <= $3 && $7 == 2 { printf "h:%d:1 [0] NCCL INFO TUNER/CsvTuner: Applied config for allreduce, bytes=%d: algo=%s, proto=%s, channels=%s\n", r, b, $4, $5, $6; exit }' "$file"
        rank=$((rank + 1))
    done
fi
awk -v b="$bytes" 'BEGIN {
    print "# nThread 1 nGpus 1 minBytes 1 maxBytes 1 step: 1(bytes) validation: 1"
    print "#   out-of-place   in-place"
    print "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"
    t = b / 1e5; printf "%d %d float sum -1", b, b / 4
    for (i = 0; i < 2; i++) printf "  %.2f %.2f %.2f 0", t, 100, 187.5
    printf "\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 187.5\n"
}'
"##;

/// The script of a plan runs as it is, proves the rows, and fails where another row is applied.
#[cfg(unix)]
#[test]
fn a_plan_runs_proves_and_gates() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = worked_example();
    let tool = folder.path("all_reduce_perf");
    std::fs::write(&tool, FAKE_TOOL).unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let plan = [
        "tuner",
        "plan",
        "rccl_old.csv",
        "rccl_new.csv",
        "--rounds",
        "1",
        "--launch",
        "{env} {cmd}",
    ];
    let (code, script, err) = folder.run(&plan);
    assert_eq!(code, 0, "{err}");
    std::fs::write(folder.path("plan.sh"), &script).unwrap();

    let binary = Path::new(env!("CARGO_BIN_EXE_rankcheck")).parent().unwrap();
    let path = std::env::join_paths(
        [folder.0.path().to_owned(), binary.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let sh = || {
        let mut command = Command::new("sh");
        command.arg("plan.sh").current_dir(folder.0.path()).env("PATH", &path);
        command.env_remove("RANKCHECK").env_remove("OUT").env("FILE_OVERRIDE", "");
        command
    };
    let (code, out, err) = told(sh().output().unwrap());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let runs = script.lines().filter(|line| line.starts_with("run ")).count();
    assert!(out.ends_with(&format!("{runs} logs, {runs} ok, 0 not\n")), "{out}");

    // A library that falls back to a file of its own.
    let (code, _, err) = told(sh().env("LOADED", "<embedded>/x.csv").output().unwrap());
    assert_eq!(code, 1);
    assert!(err.contains("h:9 [0] (line "), "{err}");
    assert!(err.contains("reads <embedded>/x.csv, not rccl_new.csv"), "{err}");

    // A rank that says nothing.
    let (code, _, err) = told(sh().env("SPEAKING", "15").output().unwrap());
    assert_eq!(code, 1);
    assert!(err.contains("15 of 16 ranks say that they have loaded rccl_new.csv"), "{err}");

    // A library that applies other rows.
    std::fs::create_dir(folder.path("other")).unwrap();
    std::fs::write(folder.path("other/rccl_new.csv"), OLD).unwrap();
    std::fs::write(folder.path("other/rccl_old.csv"), OLD).unwrap();
    let (code, _, err) = told(sh().env("FILE_OVERRIDE", "other/").output().unwrap());
    assert_eq!(code, 1);
    assert!(err.contains("applied algorithm ring, not tree (line 1)"), "{err}");
}

/// A guess by name that the content speaks against is asked about, not told as a decision.
#[test]
fn a_doubtful_reader_is_asked_for() {
    let twelve = "allreduce,0,1023,tree,ll,4,1,8,-1,-1,cpx,8\n";
    let commented = format!("# of the example plugin\n{OLD}");
    let folder = Folder::new(&[("rccl_a.csv", twelve), ("rccl_b.csv", &commented)]);
    let query = ["--collective", "allreduce", "--bytes", "1K", "--nodes", "1", "--ranks", "8"];
    for (file, why) in
        [("rccl_a.csv", "line 1 has 12 fields"), ("rccl_b.csv", "line 1 is a comment")]
    {
        let (code, out, err) = folder.run(&[&["tuner", "explain", file][..], &query].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(why) && err.contains("--dialect"), "{err}");
        let said = ["--dialect", "rccl-example"];
        let (code, ..) = folder.run(&[&["tuner", "explain", file][..], &query, &said].concat());
        assert_eq!(code, 0);
    }
}

#[test]
fn a_diff_is_gated_by_the_declared_range() {
    let folder = worked_example();
    let diff = ["tuner", "diff", "rccl_old.csv", "rccl_new.csv", "--gate"];
    let gate = |range: &str| folder.run(&[&diff[..], &[range]].concat());
    assert_eq!(gate("allreduce nodes=2 ranks=16 32M..150994943").0, 0);
    assert_eq!(gate("32M..144M").0, 0);
    for (range, told) in [
        ("allreduce nodes=2 ranks=16 32M..128M", "134217729..150994943 bytes"),
        ("allgather 32M..150994943", "allreduce, nodes 2, ranks 16: 33554432"),
        ("nodes=4 32M..150994943", "outside the declared ranges"),
    ] {
        let (code, _, err) = gate(range);
        assert_eq!(code, 1, "{range}");
        assert!(err.contains(told), "{range}: {err}");
    }
    assert_eq!(gate("32M").0, 2);
}

#[test]
fn equal_files_leave_nothing_to_measure() {
    let folder = worked_example();
    let (code, out, err) = folder.run(&["tuner", "plan", "rccl_old.csv", "rccl_old.csv"]);
    assert_eq!(code, 0);
    assert!(out.contains("nothing to measure") && err.contains("nothing to measure"), "{out}{err}");
}

#[test]
fn policies_have_names() {
    let folder = worked_example();
    let plan = ["tuner", "plan", "rccl_old.csv", "rccl_new.csv", "--rounds", "1"];
    let named = ["--cta-policy", "zero", "--register", "none,symmetric"];
    let numbered = ["--cta-policy", "2", "--register", "0,2"];
    let (code, by_name, err) = folder.run(&[&plan[..], &named].concat());
    assert_eq!(code, 0, "{err}");
    assert_eq!(by_name, folder.run(&[&plan[..], &numbered].concat()).1);
    let (code, _, err) = folder.run(&[&plan[..], &["--cta-policy", "fast"]].concat());
    assert!(code == 2 && err.contains("default, efficiency, zero"), "{err}");
}
