//! The laws of the design, each with its law patched away by a test double: the double is fooled,
//! the real judge is not.

use std::collections::HashSet;

use collectives::image::{Generator, Moment, fill, spans};
use collectives::{
    Collective, DType, Data, FindingKind, GroupSpec, HeapPlan, Problem, RegionLayout, Shape, Tile,
    verify,
};
use rankcheck_tests::{CORRECT, Project, tee};
use ranks::command::Command;
use rstest::rstest;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

fn problem(dtype: DType, data: Data) -> Problem {
    let input = RegionLayout { pad_columns: 1, offset_elements: 0 };
    let output = RegionLayout { pad_columns: 3, offset_elements: 1 };
    let problem = Problem::plain(Collective::AllGather, 3, dtype, Shape { m: 5, n: 33 })
        .with_group(GroupSpec::AllButFirst)
        .with_tile(Tile { m: 8, n: 16 })
        .with_layout(input, output)
        .with_guards(256)
        .repeated(2);
    Problem { data, ..problem }
}

struct Heaps {
    problem: Problem,
    plan: HeapPlan,
    heaps: Vec<Vec<u8>>,
}

impl Heaps {
    /// Heaps as a right kernel leaves them after call 0.
    fn right(problem: Problem) -> Heaps {
        let plan = HeapPlan::new(&problem).unwrap();
        let mut heaps = vec![vec![0; plan.bytes as usize]; problem.world as usize];
        let mut views: Vec<&mut [u8]> = heaps.iter_mut().map(Vec::as_mut_slice).collect();
        fill(&problem, &plan, 0, &mut views);
        let mut generator = Generator::new(&problem, 0);
        spans(&problem, &plan, 0, Moment::After, &mut |span| {
            let range = span.bytes.start as usize..span.bytes.end as usize;
            generator.write(&span, &mut heaps[span.rank.index()][range]);
        });
        Heaps { problem, plan, heaps }
    }

    fn kinds(&self) -> Vec<FindingKind> {
        let views: Vec<&[u8]> = self.heaps.iter().map(Vec::as_slice).collect();
        verify(&self.problem, &self.plan, 0, &views).iter().map(|finding| finding.kind).collect()
    }

    fn output_byte(&self, row: u64, column: u64) -> usize {
        let view = self.plan.output(&self.problem, &self.problem.calls[0]);
        view.row_bytes(row, column..column + 1).start as usize
    }
}

/// Law 1. The oracle shares nothing with what it judges: what a rank process is told holds no
/// expected data. The double is a harness that takes its reference from the ranks' own outputs.
#[test]
fn law_1_ranks_are_never_sent_expected_data() {
    let mut heaps = Heaps::right(problem(DType::F32, Data::Keyed));
    let at = heaps.output_byte(0, 0);
    for heap in &mut heaps.heaps[1..] {
        heap[at] ^= 0x40; // the same fault on every member
    }
    let double = heaps.heaps[1][at] == heaps.heaps[2][at]; // "all ranks agree"
    assert!(double, "the double is fooled");
    assert_eq!(heaps.kinds(), [FindingKind::OutputMismatch; 2]);

    // The real harness: what its parent sends, copied on the way, holds no eight bytes of what must
    // stand in any heap. After a kernel that is right but for one element that is what does stand there,
    // and heaps of cases that fail are kept.
    let one_too_many = "  if (rank == 0 && blockIdx.x == 0 && threadIdx.x == 0) output[n] = 0;\n";
    for mode in ["logical", "process"] {
        let project = Project::with_kernel(BINARY, &(CORRECT.to_owned() + one_too_many));
        let (frames, heaps) = (project.path().join("frames"), project.path().join("heaps"));
        std::fs::create_dir(&frames).unwrap();
        let arguments = ["run", "--mode", mode, "--keep-heaps", heaps.to_str().unwrap()];
        let mut command = project.command(&arguments);
        let said = rankcheck_tests::said(command.env(tee::FOLDER, &frames).output().unwrap());
        assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
        let mut expected: HashSet<[u8; 8]> = HashSet::new();
        for heap in std::fs::read_dir(&heaps).unwrap() {
            let heap = std::fs::read(heap.unwrap().path()).unwrap();
            expected.extend(heap.windows(8).map(|word| <[u8; 8]>::try_from(word).unwrap()));
        }
        assert!(expected.len() > 5000, "{} words of heaps", expected.len());
        let leaks = |sent: &[u8]| sent.windows(8).any(|word| expected.contains(word));

        let told = tee::copied_frames(&frames).unwrap();
        assert!(told.len() >= if mode == "process" { 2 } else { 1 }, "{} processes", told.len());
        for told in &told {
            let commands = commands(told);
            let launches =
                commands.iter().filter(|command| matches!(command, Command::Launch { .. }));
            assert!(launches.count() > 0, "{mode}: {commands:?}");
            assert!(!leaks(told), "{mode}: a rank is told what must stand in a heap");
        }

        // A parent that hands one expected word to a rank, as an argument, is noticed.
        let word = *expected.iter().next().unwrap();
        let mut leaking = commands(&told[0]);
        let launch = leaking.iter_mut().find_map(|command| match command {
            Command::Launch { launches, .. } => launches.first_mut(),
            Command::Prepare { .. } | Command::Copy { .. } | Command::Judged => None,
        });
        launch.unwrap().arguments.push(kernels::Argument::Scalar(word.to_vec()));
        let mut frames = Vec::new();
        leaking.iter().for_each(|command| ipc::frames::send(&mut frames, command).unwrap());
        assert!(leaks(&frames), "{mode}: a planted leak is not seen");
    }
}

/// The commands in a stream of frames, which holds nothing else.
fn commands(mut frames: &[u8]) -> Vec<Command> {
    let mut commands = Vec::new();
    while !frames.is_empty() {
        commands.push(ipc::frames::receive(&mut frames).expect("a whole frame"));
    }
    commands
}

/// Law 2. Bytes are compared, never tolerances. The double compares values with a tolerance.
#[test]
fn law_2_bytes_are_compared_never_tolerances() {
    let mut heaps = Heaps::right(problem(DType::F32, Data::BitPatterns));
    // Of the specials in the first shard's row 0, change a zero's sign and a NaN's payload.
    let view = heaps.plan.output(&heaps.problem, &heaps.problem.calls[0]);
    let mut changed = 0;
    for (row, column) in (0..10).flat_map(|row| (0..33).map(move |column| (row, column))) {
        let at = view.row_bytes(row, column..column + 1).start as usize;
        let bits = u32::from_le_bytes(heaps.heaps[1][at..at + 4].try_into().unwrap());
        let value = f32::from_bits(bits);
        let other = match () {
            () if value == 0.0 => bits ^ 0x8000_0000,
            () if value.is_nan() && bits & 0xff == 5 => bits ^ 2,
            () => continue,
        };
        let close = |a: f32, b: f32| (a - b).abs() <= 1e-5 || (a.is_nan() && b.is_nan());
        assert!(close(value, f32::from_bits(other)), "the double is fooled");
        heaps.heaps[1][at..at + 4].copy_from_slice(&other.to_le_bytes());
        changed += 1;
    }
    assert!(changed >= 2, "both kinds occur");
    assert_eq!(heaps.kinds(), [FindingKind::OutputMismatch]);
}

/// Law 3. Every byte of every rank's heap is judged. The double looks at the members' outputs.
#[test]
fn law_3_every_byte_of_every_heap_is_judged() {
    let right = Heaps::right(problem(DType::U8, Data::Keyed));
    assert_eq!(right.kinds(), []);
    let mut seen = 0;
    spans(&right.problem, &right.plan, 0, Moment::After, &mut |span| {
        seen += span.bytes.end - span.bytes.start;
    });
    assert_eq!(seen, right.plan.bytes * 3, "the spans cover the heaps");
    let view = right.plan.output(&right.problem, &right.problem.calls[0]);
    let outputs = |heaps: &Heaps| -> Vec<u8> {
        let rows = (0..view.shape.m).flat_map(|row| view.row_bytes(row, 0..view.shape.n));
        rows.flat_map(|at| [heaps.heaps[1][at as usize], heaps.heaps[2][at as usize]]).collect()
    };
    let mut heaps = Heaps::right(problem(DType::U8, Data::Keyed));
    for (rank, at) in [(0, 700), (1, 3), (2, right.output_byte(0, 33)), (1, 4095)] {
        heaps.heaps[rank][at] ^= 1;
        assert_eq!(
            outputs(&heaps),
            outputs(&right),
            "the double is fooled at rank {rank} byte {at}"
        );
        assert_eq!(heaps.kinds().len(), 1, "rank {rank} byte {at}");
        heaps.heaps[rank][at] ^= 1;
    }
}

/// Law 4. A finding explains itself: place, expected, got, whose data, who wrote it. The double
/// counts differences.
#[test]
fn law_4_a_finding_explains_itself() {
    let body = CORRECT.replace("input[row * is + column]", "input[row * is + (column ^ 1)]");
    let project = Project::with_kernel(BINARY, &body);
    let (_, report) = project.json(&["--mode", "logical"]);
    let finding = &report["cases"][0]["findings"][0];
    for key in ["rank", "call", "region", "offset", "row", "column", "tile", "expected", "actual"] {
        assert!(!finding[key].is_null(), "{key} is missing: {finding}");
    }
    let actual = finding["actual"].as_str().unwrap();
    assert!(actual.contains("its own input (0,1)"), "{actual}");
    for key in ["file", "line", "rank", "block", "thread"] {
        assert!(!finding["writer"][key].is_null(), "{key} is missing: {finding}");
    }
}

/// Law 5. Not run is a verdict. The double counts every case that did not fail as a pass.
#[test]
fn law_5_not_run_is_a_verdict() {
    let project = Project::with_kernel(BINARY, CORRECT);
    let manifest =
        rankcheck_tests::MANIFEST.replace("launch:", "requires: [{divisible: {n: 8}}]\nlaunch:");
    project.write("kernels/k.yaml", &manifest);
    let (said, report) = project.json(&[]);
    let summary = &report["summary"];
    assert_eq!(summary["failed"], 0, "the double is fooled: nothing failed");
    assert_eq!((&summary["passed"], &summary["unsupported"]), (&0.into(), &2.into()));
    assert_eq!(said.code, Some(4));
    assert!(
        said.stdout.contains("n divisible by 8 (manifest: requires), found n = 33"),
        "{}",
        said.stdout
    );
    assert_eq!(report["cases"][0]["reason"]["found"], "n = 33");
    let listed = project.run(&["list", "--unsupported"]).stdout;
    assert!(listed.contains("needs n divisible by 8"), "{listed}");
}

/// Law 6. The kernel is proved to have run, as asked. The double looks at the output alone.
#[test]
fn law_6_the_kernel_is_proved_to_have_run_as_asked() {
    let tiled = |record: &str| {
        let project = Project::with_kernel(BINARY, &format!("{record}\n{CORRECT}"));
        let manifest = rankcheck_tests::MANIFEST
            .replace("defines: {ELEM: dtype.storage}", "defines: {ELEM: dtype.storage, T: tile.m}");
        project.write("kernels/k.yaml", &manifest);
        project.write(
            "scenarios/s.yaml",
            "scenario: t/s\nkernel: t/k\nranks: 2\nshape: 9x33\ntile: 4x64\n",
        );
        project.json(&["--mode", "logical"]).1["cases"][0].clone()
    };
    // The outputs are right in all three; a launcher that ignores the tile is not.
    let honest = tiled("RC_RECORD_LAUNCH(T, 64, group_size);");
    assert_eq!(honest["verdict"], "pass", "{honest}");
    assert_eq!(honest["calls"][0]["effective"]["source"], "kernel");
    assert_eq!(honest["calls"][0]["requested"]["tile"]["m"], 4);
    let ignores = tiled("RC_RECORD_LAUNCH(1, 64, group_size);");
    assert_eq!(ignores["findings"][0]["kind"], "launch_mismatch", "{ignores}");
    let explanation = ignores["findings"][0]["explanation"].as_str().unwrap();
    assert!(explanation.contains("tile 1x64 instead of 4x64"), "{explanation}");
    let silent = tiled("if (m < 0) RC_RECORD_LAUNCH(T, 64, group_size);");
    assert_eq!(silent["findings"][0]["kind"], "kernel_did_not_run", "{silent}");
}

/// Law 7. A pass says what it does not prove: exactly what is open, for each way in which a case can
/// be run. The double says what is open whatever was run.
#[rstest]
#[case::all_orders(&["--mode", "logical"], "", &[ONE_AFTER_ANOTHER])]
#[case::some_orders(
    &["--mode", "logical"], "ranks: 8",
    &[ONE_AFTER_ANOTHER, "orders of ranks beyond the 9 that ran"]
)]
#[case::processes(&["--mode", "process"], "", &["interleavings beyond the one that happened"])]
#[case::schedules(
    &["--mode", "logical", "--schedules", "3"], CONCURRENT, &["schedules beyond the 3 that ran"]
)]
#[case::without_races(
    &["--mode", "logical", "--schedules", "3", "--no-race"], CONCURRENT,
    &["schedules beyond the 3 that ran", "data races (--no-race)"]
)]
#[case::every_interleaving(
    &["--mode", "logical", "--strategy", "exhaustive"], TINY,
    &["late visibility of relaxed and volatile accesses"]
)]
#[case::gaps(
    &["--mode", "logical"], "shape: 3x64\nlayout: {output: {pad_columns: 16777152}}",
    &["reads and writes near rows only: gaps between rows are judged by fault", ONE_AFTER_ANOTHER]
)]
fn law_7_a_pass_says_what_it_does_not_prove(
    #[case] arguments: &[&str],
    #[case] scenario: &str,
    #[case] open: &[&str],
) {
    let project = Project::with_kernel(BINARY, CORRECT);
    if [CONCURRENT, TINY].contains(&scenario) {
        let manifest = rankcheck_tests::MANIFEST;
        project.write(
            "kernels/k.yaml",
            &manifest.replace("launch:", "requires: [concurrent]\nlaunch:"),
        );
    }
    let of_two = if scenario.contains("ranks:") { "" } else { "ranks: 2\n" };
    let shape = if scenario.contains("shape:") { "" } else { "shape: 9x33\n" };
    let text = format!("scenario: t/s\nkernel: t/k\ndtype: f16\n{of_two}{shape}{scenario}\n");
    project.write("scenarios/s.yaml", &text);
    let (said, report) = project.json(arguments);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let always = ["transport between GPUs", "the host code that launches the kernel in production"];
    let expected: Vec<&str> = always.iter().chain(open).copied().collect();
    assert_eq!(report["cases"][0]["verdict"], "pass");
    assert_eq!(report["cases"][0]["not_proved"], serde_json::json!(expected));
}

const ONE_AFTER_ANOTHER: &str = "concurrent ranks (they ran one after another)";
/// A kernel that waits, so that ranks run at once.
const CONCURRENT: &str = "blocks: 2";
/// One that is small enough to see every interleaving.
const TINY: &str = "shape: 1x2\nblocks: 1\nthreads: 2";

/// Law 8. Same object, same seed: same bytes. The double is a run with another seed.
#[test]
fn law_8_the_same_seed_gives_the_same_bytes() {
    let project = Project::with_kernel(BINARY, &CORRECT.replace("row < m", "row < m - 1"));
    let findings = |seed: &str| {
        let (_, report) = project.json(&["--mode", "logical", "--seed", seed]);
        report["cases"][0]["findings"].clone()
    };
    assert_eq!(findings("7"), findings("7"));
    assert_ne!(findings("7"), findings("8"));
    let flags = kernels::compile::FLAGS;
    assert!(flags.contains(&"-ffp-contract=off") && flags.contains(&"-march=x86-64-v2"));
    assert!(!flags.iter().any(|flag| flag.contains("native")));
}

// Laws 9 and 10 (every wait is bounded; nothing is left behind) are tests/supervision.rs: a hang
// ends in time, ranks die with their parent, and after each fault processes, shared memory, hidden
// files and the cache are looked at.
