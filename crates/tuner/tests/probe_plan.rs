//! Sizes to test at edges, the run list of a comparison, and what a query is told.

use rstest::rstest;
use tuner::explain::{Verdict, explain};
use tuner::plan::{Arm, Modes, Options, Phase, Zone, plan};
use tuner::probe::{Defaults, Probe, probes, scenarios};
use tuner::sizes::Runner;
use tuner::{Collective, Dialect, Query, Situation, Table, Unavailable};

const OLD: &str = "allreduce,33554432,54525951,ring,ll128,64,2,16,-1,-1
allreduce,54525952,117440511,tree,simple,64,2,16,-1,-1
allreduce,117440512,234881024,ring,simple,48,2,16,-1,-1
";
const NEW: &str = "allreduce,33554432,150994943,tree,ll128,64,2,16,-1,-1
allreduce,33554432,54525951,ring,ll128,64,2,16,-1,-1
allreduce,54525952,117440511,tree,simple,64,2,16,-1,-1
allreduce,117440512,234881024,ring,simple,48,2,16,-1,-1
";

fn table(file: &str) -> Table {
    Table::load(Dialect::RcclBuiltin, file.as_bytes())
}

fn defaults(dtype: &str) -> Defaults {
    Defaults { nodes: 1, ranks: 8, dtype: dtype.parse().unwrap() }
}

fn sizes(probe: &Probe) -> (Option<u64>, Option<u64>) {
    (probe.below.map(|s| s.bytes), probe.above.map(|s| s.bytes))
}

/// Both edges of the new rule are probed, with the row that decides on either side.
#[test]
fn the_worked_example_probes_both_edges() {
    let found = probes(&table(NEW), defaults("float"), Runner::PerfTool);
    let visible: Vec<_> = found
        .iter()
        .filter(|probe| probe.is_visible())
        .map(|probe| {
            let line = |sample: Option<tuner::probe::Sample>| sample.and_then(|s| s.line);
            (probe.edge, sizes(probe), line(probe.below), line(probe.above))
        })
        .collect();
    assert_eq!(
        visible,
        [
            (33_554_432, (Some(33_554_428), Some(33_554_432)), None, Some(1)),
            (150_994_944, (Some(150_994_940), Some(150_994_944)), Some(1), Some(4)),
            (234_881_025, (Some(234_881_024), Some(234_881_028)), Some(4), None),
        ]
    );
    let hidden: Vec<_> =
        found.iter().filter(|probe| !probe.is_visible()).map(|probe| probe.edge).collect();
    assert_eq!(hidden, [54_525_952, 117_440_512]);
    assert_eq!(
        found[0].command("f32".parse().unwrap()).unwrap(),
        "all_reduce_perf -b 33554428 -e 33554432 -i 4 -d float -c 1"
    );
}

#[rstest]
#[case::bytes("allreduce,100,200,ring,ll,1,1,8", "u8", &[(Some(99), Some(100)), (Some(200), Some(201))])]
#[case::halves("allreduce,100,200,ring,ll,1,1,8", "f16", &[(Some(98), Some(100)), (Some(200), Some(202))])]
#[case::doubles("allreduce,100,200,ring,ll,1,1,8", "f64", &[(Some(96), Some(104)), (Some(200), Some(208))])]
#[case::parts_of_16_bytes("allgather,1000,2000,ring,ll,1,1,8", "f32", &[(Some(896), Some(1024)), (Some(1920), Some(2048))])]
#[case::default_ranks("reducescatter,1000,2000,ring,ll,1,1,-1", "f32", &[(Some(896), Some(1024)), (Some(1920), Some(2048))])]
#[case::no_message_below("allreduce,4,18446744073709551615,ring,ll,1,1,8", "f32", &[(None, Some(4))])]
#[case::nothing_above("allreduce,0,18446744073709551614,ring,ll,1,1,8", "f32", &[(Some(18_446_744_073_709_551_612), None)])]
#[case::dead_rows("allreduce,0,9,ring,ll,1,0,8\nallreduce,9,0,ring,ll,1,1,8", "f32", &[])]
fn edges_are_rounded_to_what_can_run(
    #[case] file: &str,
    #[case] dtype: &str,
    #[case] expected: &[(Option<u64>, Option<u64>)],
) {
    let found = probes(&table(file), defaults(dtype), Runner::PerfTool);
    assert_eq!(found.iter().map(sizes).collect::<Vec<_>>(), expected);
}

#[test]
fn scenarios_name_the_per_rank_shape() {
    let file = "allgather,4096,8191,ring,ll,1,2,16\nbroadcast,64,127,ring,ll,1,1,4\n";
    let dtype = "f32".parse().unwrap();
    let found = probes(&table(file), defaults("f32"), Runner::Library);
    let yaml = scenarios(&found, dtype, "x.csv");
    let text: String = yaml.iter().map(|(_, yaml)| yaml.as_str()).collect();
    // 4032, 4096, 8128 and 8192 bytes over 16 ranks of 4-byte elements.
    assert!(text.contains("shape: [1x63, 1x64, 1x127, 1x128]"), "{text}");
    assert!(text.contains("shape: [1x15, 1x16, 1x31, 1x32]"), "{text}");
    assert!(text.contains("kernel: library/all_gather\nmatrix:\n  ranks: [16]\n  dtype: [f32]"));
    assert_eq!(yaml.len(), 2);
}

fn options() -> Options {
    Options {
        defaults: defaults("f32"),
        rounds: 3,
        modes: Modes { graph: vec![0, 1], register: vec![], cta_policy: vec![] },
        iterations: 20,
        warmup: 5,
        max_bytes: 1 << 33,
        launch: "srun -N {nodes} -n {ranks} {env} {cmd}".parse().unwrap(),
        env: vec![("X".to_owned(), "a b".to_owned())],
        show_choice: None,
        runner: Runner::PerfTool,
    }
}

#[test]
fn a_plan_rotates_arms_repeats_controls_and_leaves_the_range() {
    let plan = plan((&table(OLD), "old.csv"), (&table(NEW), "new.csv"), &options());
    let timed: Vec<_> = plan.runs.iter().filter(|run| run.phase == Phase::Timed).collect();
    // Every (round, mode, size) runs its three arms side by side; each arm goes first once.
    for (index, group) in timed.chunks(3).enumerate() {
        let arms: Vec<_> = group.iter().map(|run| run.arm).collect();
        let mut rotated = [Arm::Base, Arm::Candidate, Arm::Control];
        rotated.rotate_left(group[0].round as usize - 1);
        assert_eq!(arms, rotated, "group {index}");
        assert!(group.iter().all(|run| (run.bytes, &run.mode) == (group[0].bytes, &group[0].mode)));
    }
    let at = |zone| {
        let mut sizes: Vec<u64> =
            timed.iter().filter(|run| run.zone == zone).map(|run| run.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    };
    assert_eq!(at(Zone::Around), [33_554_428, 150_994_944]);
    let outside = [4_194_304, 8_388_608, 16_777_216, 301_989_888, 603_979_772, 1_207_959_544];
    assert_eq!(at(Zone::Outside), outside);
    let inside = at(Zone::Inside);
    for edge in [33_554_432, 54_525_948, 54_525_952, 117_440_508, 117_440_512, 150_994_940] {
        assert!(inside.contains(&edge), "{edge} in {inside:?}");
    }
    let modes: std::collections::BTreeSet<_> = timed.iter().map(|run| run.mode.as_str()).collect();
    assert_eq!(Vec::from_iter(modes), ["-G 0", "-G 1"]);
    let sizes = inside.len() + 8;
    assert_eq!(timed.len(), 3 * 2 * sizes * 3);
    assert_eq!(plan.runs.len() - timed.len(), 2 * sizes * 2);
}

#[test]
fn a_run_is_one_process_with_its_own_file() {
    let plan = plan((&table(OLD), "old one.csv"), (&table(NEW), "new.csv"), &options());
    let run = |arm| plan.runs.iter().find(|r| r.arm == arm && r.phase == Phase::Timed).unwrap();
    assert_eq!(
        run(Arm::Control).command,
        "srun -N 2 -n 16 env X='a b' NCCL_TUNER_CONFIG_FILE='old one.csv' \
         all_reduce_perf -b 4194304 -e 4194304 -d float -c 1 -n 20 -w 5 -G 0"
    );
    assert!(run(Arm::Candidate).command.contains("NCCL_TUNER_CONFIG_FILE=new.csv "));
    let ids: std::collections::BTreeSet<_> = plan.runs.iter().map(|run| &run.id).collect();
    assert_eq!(ids.len(), plan.runs.len());
}

#[test]
fn a_plan_leaves_out_what_is_too_large_and_says_so() {
    let open = "allreduce,1048576,18446744073709551615,tree,ll,4,2,16\n";
    let mut options = options();
    options.max_bytes = 1 << 30;
    let plan = plan((&table(""), "old"), (&table(open), "new"), &options);
    assert!(plan.runs.iter().all(|run| run.bytes <= 1 << 30));
    assert!(!plan.too_large.is_empty() && plan.too_large.iter().all(|&bytes| bytes > 1 << 30));
    assert!(plan.runs.iter().any(|run| run.zone == Zone::Inside));
}

/// Registered buffers are part of what rows match: the mode asks for them, and the expectation
/// follows.
#[test]
fn a_mode_with_registered_buffers_expects_their_rows() {
    let new = "allreduce,1024,2047,tree,ll,4,1,8,-1,1\n";
    let run = |register: Vec<u32>| {
        let mut options = options();
        options.modes = Modes { register, ..Modes::default() };
        let plan = plan((&table(""), "old"), (&table(new), "new"), &options);
        let at = |run: &&tuner::plan::Run| run.arm == Arm::Candidate && run.bytes == 1024;
        let runs = plan.runs.iter().filter(at).filter(|run| run.round == 1);
        runs.map(|run| (run.mode.clone(), run.expected.to_string())).collect::<Vec<_>>()
    };
    let tree = ("-R 1".to_owned(), "tree/ll 4 channels".to_owned());
    assert_eq!(run(vec![]), std::slice::from_ref(&tree));
    let none = ("-R 0".to_owned(), "library default".to_owned());
    let symmetric = ("-R 2".to_owned(), "tree/ll 4 channels".to_owned());
    assert_eq!(run(vec![0, 1, 2]), [none, tree, symmetric]);
}

#[test]
fn what_no_single_call_reaches_is_left_out_and_named() {
    let new = "allreduce,1024,2047,tree,ll,4,1,8,4,-1\n";
    let plan = plan((&table(""), "old"), (&table(new), "new"), &options());
    assert!(plan.runs.is_empty());
    let scopes: Vec<_> = plan.untestable.iter().map(ToString::to_string).collect();
    assert_eq!(scopes, ["allreduce, nodes 1, ranks 8, pipeOps 4"]);
}

#[test]
fn equal_files_need_no_run() {
    let plan = plan((&table(OLD), "a"), (&table(OLD), "b"), &options());
    assert!(plan.runs.is_empty());
    assert!(plan.script().contains("nothing to measure") && !plan.script().contains("perflog"));
}

/// A plan is read back as it was written, by whoever judges its logs.
#[test]
fn a_plan_survives_its_file() {
    let mut options = options();
    options.show_choice = Some("-A 1".to_owned());
    let made = plan((&table(OLD), "a"), (&table(NEW), "b"), &options);
    let read: tuner::plan::Plan =
        serde_json::from_str(&serde_json::to_string(&made).unwrap()).unwrap();
    assert_eq!(read, made);
    let shows = |phase| {
        let mut runs = made.runs.iter().filter(|run| run.phase == phase);
        runs.all(|run| run.command.ends_with(" -A 1") == (phase == Phase::Proof))
    };
    assert!(made.own_columns && shows(Phase::Proof) && shows(Phase::Timed));
}

/// A row for any communicator is probed in the ones that other rows name, too.
#[test]
fn wildcard_rows_are_probed_in_named_communicators() {
    let file = "allreduce,0,1023,tree,ll,4,2,16\nallreduce,0,8191,ring,ll,4,-1,-1\n";
    let found = probes(&table(file), defaults("f32"), Runner::PerfTool);
    let visible: Vec<_> = found
        .iter()
        .filter(|probe| probe.is_visible())
        .map(|probe| (probe.situation.nodes, probe.situation.ranks, probe.edge))
        .collect();
    for expected in [(1, 8, 8192), (2, 16, 1024), (2, 16, 8192)] {
        assert!(visible.contains(&expected), "{expected:?} in {visible:?}");
    }
}

#[test]
fn an_explanation_names_every_reason_and_every_fallback() {
    let situation = Situation {
        collective: Collective::AllReduce,
        nodes: 2,
        ranks: 16,
        pipe_ops: 1,
        reg_buff: 0,
    };
    let query = Query { situation, bytes: 60_000_000 };
    let told = explain(&table(NEW), query, Unavailable::default());
    assert_eq!(told.steps.len(), 1);
    assert_eq!(told.steps[0].verdict, Verdict::Applies);
    let fallbacks: Vec<_> =
        told.fallbacks.iter().map(|f| (f.row.map(|row| row.line), f.choice.to_string())).collect();
    let expected =
        [(Some(3), "tree/simple 64 channels".to_owned()), (None, "library default".to_owned())];
    assert_eq!(fallbacks, expected);

    let other = Situation { nodes: 4, ranks: 8, ..situation };
    let told = explain(&table(OLD), Query { situation: other, bytes: 1 }, Unavailable::default());
    let Verdict::Mismatch(reasons) = &told.steps[0].verdict else { panic!("{:?}", told.steps) };
    let said: Vec<_> =
        reasons.iter().map(|reason| reason.describe(&told.steps[0].row, &told.query)).collect();
    assert_eq!(
        said,
        ["for 2 nodes, not 4", "for 16 ranks, not 8", "starts at 33554432 (32 MiB) bytes"]
    );
    assert_eq!(told.choice.to_string(), "library default");
}
