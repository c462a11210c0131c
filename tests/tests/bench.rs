//! `rankcheck bench` as a whole: what it plans, what it keeps, and whom it does not believe.

use std::path::{Path, PathBuf};

use rankcheck_tests::{Project, Said};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// A folder of this repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests have a repository").join(path)
}

/// Runs `bench` and reads the file that it leaves.
fn benched(project: &Project, arguments: &[&str]) -> (Said, Value) {
    let file = project.path().join("bench.json");
    let file = file.to_str().expect("a plain path");
    let mut all = vec!["bench"];
    all.extend(arguments);
    all.extend(["--json", file]);
    let said = project.run(&all);
    let text = std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("no file ({error}): {}{}", said.stdout, said.stderr));
    (said, serde_json::from_str(&text).expect("the file is JSON"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// How many samples an arm of a row has.
fn samples(row: &Value, arm: usize) -> usize {
    let blocks = list(row, "launches").iter().flat_map(|launch| list(launch, "blocks"));
    let runs = blocks.flat_map(|block| list(block, "runs"));
    runs.filter(|run| run["arm"] == arm).map(|run| list(run, "samples").len()).sum()
}

/// Every way to look faster than one is, beside the kernel that does the same work honestly.
#[test]
fn who_cheats_the_clock_is_marked_invalid_and_its_twin_is_not() {
    for verify in ["every", "drawn"] {
        let project = Project::new(BINARY);
        let from = repository("tests/clocked");
        for file in ["clocked.hip", "clocked.yaml", "timed.yaml"] {
            let text = std::fs::read_to_string(from.join(file)).expect("a mutant's file");
            let how = format!("launches: 1, verify: {verify}}}");
            project.write(&format!("clocked/{file}"), &text.replace("launches: 1}", &how));
        }
        // Each is right where nothing is timed.
        let right = project.run(&["run", "clocked/timed.yaml"]);
        assert_eq!(right.code, Some(0), "{}{}", right.stdout, right.stderr);

        let (said, file) = benched(&project, &["clocked/timed.yaml"]);
        assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
        let rows = list(&file, "rows");
        assert_eq!(rows.len(), 2, "one in each mode: {}", said.stdout);
        for row in rows {
            for (number, arm) in list(row, "arms").iter().enumerate() {
                let name = arm["name"].as_str().expect("a name");
                let mut invalid = list(row, "invalid").iter().filter(|why| why["arm"] == number);
                assert_eq!(arm["verified"]["before"], "right", "{verify} {name}");
                if name.starts_with("twin") {
                    assert!(invalid.next().is_none(), "{verify} {name}: {row}");
                    assert_eq!(arm["verified"]["after"], "right", "{verify} {name}");
                    assert_eq!(samples(row, number), 10, "{verify} {name}: two runs of five");
                } else {
                    let why =
                        invalid.next().unwrap_or_else(|| panic!("{verify} {name} is believed"));
                    assert_eq!(why["kind"], "wrong_after", "{verify} {name}: {why}");
                    assert_eq!(samples(row, number), 0, "{verify} {name} runs no more");
                }
            }
        }
    }
}

/// The same seed gives the same order of arms, another one another; every block is its own mirror image.
#[test]
fn blocks_are_drawn_by_a_seed_and_mirrored() {
    let project = Project::with_kernel(BINARY, rankcheck_tests::CORRECT);
    let quick = ["scenarios/s.yaml", "--mode", "logical", "--iterations", "1", "--warmup", "0"];
    let orders = |seed: &str| {
        let how = ["--blocks", "4", "--launches", "2", "--seed", seed, "--arm", "other=base"];
        let (said, file) = benched(&project, &[&quick[..], &how].concat());
        assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
        let row = &file["rows"][0];
        assert_eq!(list(row, "launches").len(), 2);
        let blocks = list(row, "launches").iter().flat_map(|launch| list(launch, "blocks"));
        blocks
            .map(|block| list(block, "runs").iter().map(|run| run["arm"].as_u64()).collect())
            .collect::<Vec<Vec<Option<u64>>>>()
    };
    let first = orders("7");
    assert_eq!(first.len(), 8);
    for block in &first {
        let mirrored: Vec<_> = block.iter().rev().copied().collect();
        assert_eq!((block.len(), block), (6, &mirrored), "three arms, each twice");
    }
    assert!(first.iter().any(|block| *block != first[0]), "not always the same order");
    assert_eq!(first, orders("7"));
    assert_ne!(first, orders("8"));
}

/// What a row says about itself, and that all ranks' samples of every iteration are kept.
#[test]
fn a_row_keeps_every_sample_of_every_rank() {
    let project = Project::with_kernel(BINARY, rankcheck_tests::CORRECT);
    let quick = ["--iterations", "3", "--warmup", "1", "--blocks", "1", "--launches", "1"];
    let to = ["scenarios/s.yaml", "--csv", "out.csv"];
    let (said, file) = benched(&project, &[&to[..], &quick[..]].concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let table = std::fs::read_to_string(project.path().join("out.csv")).expect("a table");
    assert!(table.starts_with("benchmark,world_size,mode,"), "{table}");
    assert_eq!(table.lines().count(), 1 + list(&file, "rows").len(), "no line for the control");
    assert_eq!(file["schema"], "rankcheck.bench/1");
    for row in list(&file, "rows") {
        assert_eq!(row["bytes"], 2 * 9 * 33 * 2, "the size in the units of perf tools");
        assert_eq!(row["bus_factor"], 0.5);
        let arms: Vec<_> = list(row, "arms").iter().map(|arm| arm["name"].as_str()).collect();
        assert_eq!(arms, [Some("base"), Some("base again")]);
        assert_eq!(row["arms"][0]["effective"]["blocks"], 2, "{row}");
        for run in list(&row["launches"][0]["blocks"][0], "runs") {
            assert_eq!(list(run, "samples").len(), 3);
            for ranks in list(run, "samples") {
                let times = ranks.as_array().expect("a list");
                assert_eq!(times.len(), 2);
                assert!(times.iter().all(|time| time.as_f64() > Some(0.0)), "{ranks}");
            }
        }
    }
}

#[test]
fn a_dry_run_needs_no_compiler_and_says_every_launch() {
    let project = Project::with_kernel(BINARY, rankcheck_tests::CORRECT);
    let axes = ["--axis", "ranks=2,4", "--axis", "m=8,16", "--axis", "n=64"];
    let arguments = [&["bench", "scenarios/s.yaml", "--dry-run", "--mode", "process"], &axes[..]];
    let mut command = project.command(&arguments.concat());
    let said = rankcheck_tests::said(command.env("PATH", "/nowhere").output().expect("it starts"));
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.ends_with("4 rows\n"), "{}", said.stdout);
    assert!(said.stdout.contains("2 blocks of 64 threads, tile 1x64"), "{}", said.stdout);
    let wrong = project.run(&["bench", "scenarios/s.yaml", "--dry-run", "--axis", "rows=3"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("no axis is called `rows`"), "{}", wrong.stderr);
}

/// Arms that do different things have no common time.
#[test]
fn arms_that_mean_different_things_are_refused() {
    let project = Project::with_kernel(BINARY, rankcheck_tests::CORRECT);
    let other = "other=all_reduce/one_shot.base";
    let said = project.run(&["bench", "scenarios/s.yaml", "--dry-run", "--arm", other]);
    assert_eq!(said.code, Some(2), "{}", said.stdout);
    assert!(said.stderr.contains("mean different things"), "{}", said.stderr);
}

/// A revision has kernel, manifest and headers of its own; the work tree stays as it is.
#[test]
fn a_revision_is_an_arm_and_says_in_what_it_differs() {
    let project = Project::with_kernel(BINARY, rankcheck_tests::CORRECT);
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
        let done = command.args(arguments).current_dir(project.path()).output().expect("git");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    git(&["init", "--quiet"]);
    git(&["add", "kernels", "scenarios"]);
    git(&["commit", "--quiet", "-m", "right"]);
    let how = ["--mode", "logical", "--iterations", "1", "--blocks", "1", "--launches", "1"];
    let arguments = [&["scenarios/s.yaml", "--arm", "base=@HEAD"], &how[..]].concat();
    let same = project.run(&[&["bench"], &arguments[..]].concat());
    assert_eq!(same.code, Some(2), "{}", same.stdout);
    assert!(same.stderr.contains("has the same files"), "{}", same.stderr);

    // Today's kernel does nothing; that of the commit was right, and is what the base is built from.
    project.kernel("");
    let (said, file) = benched(&project, &arguments);
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    let row = &file["rows"][0];
    let arms: Vec<_> = list(row, "arms").iter().map(|arm| arm["name"].as_str()).collect();
    assert_eq!(arms, [Some("base"), Some("base today"), Some("base again")]);
    assert_eq!(row["arms"][0]["kind"], "revision");
    assert_eq!(row["arms"][0]["verified"]["before"], "right");
    assert_eq!(
        (row["invalid"][0]["arm"].as_u64(), row["invalid"][0]["kind"].as_str()),
        (Some(1), Some("wrong_before"))
    );
    let note = file["notes"][0].as_str().expect("a note");
    assert!(note.contains("only in k.hip ("), "{note}");
    assert_eq!(git(&["status", "--short", "kernels", "scenarios"]).trim(), "M kernels/k.hip");

    // A header that differs is declared, or refused.
    project.write("kernels/extra.h", "// new\n");
    let refused = project.run(&[&["bench"], &arguments[..]].concat());
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("differs in extra.h too"), "{}", refused.stderr);
    let declared = project.run(&[&["bench", "--differs", "extra.h"], &arguments[..]].concat());
    assert_eq!(declared.code, Some(1), "{}{}", declared.stdout, declared.stderr);
}

#[test]
fn shipped_benchmarks_have_rows_and_launches() {
    let project = Project::new(BINARY);
    let said = project.run(&["bench", "bench", "--dry-run"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let on_gpus = repository("ci/bench");
    let on_gpus = on_gpus.to_str().expect("a plain path");
    let said = project.run(&["bench", on_gpus, "--dry-run", "--device", "cuda"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("cuda-logical::bench/one_gpu/w4"), "{}", said.stdout);
}
