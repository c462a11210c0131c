//! Whether what was launched is what was asked for.

use std::ops::Range;

use rstest::rstest;
use scenario::Mode;
use simt::LaunchRecord;
use verdict::{LaunchWitness, Verdict};

use super::{gpus, kinds};
use crate::fake::{Setting, finished};

const ASKED: LaunchRecord =
    LaunchRecord { tile_m: 1, tile_n: 8, group_size: 1, blocks: 1, threads: 4 };

#[rstest]
#[case(Some(ASKED), None)]
#[case(
    None,
    Some(
        "kernel_did_not_run: rank 0: the kernel wrote no launch record, though its source has RC_RECORD_LAUNCH"
    )
)]
#[case(Some(LaunchRecord { tile_m: 2, ..ASKED }), Some("launch_mismatch: rank 0, call 0: the kernel ran with tile 2x8 instead of 1x8"))]
#[case(Some(LaunchRecord { blocks: 2, threads: 8, group_size: 3, ..ASKED }), Some("launch_mismatch: rank 0, call 0: the kernel ran with 2 blocks instead of 1, 8 threads a block instead of 4, 3 ranks in the group instead of 1"))]
fn a_launch_record_is_compared(
    #[case] record: Option<LaunchRecord>,
    #[case] expected: Option<&str>,
) {
    let setting = Setting::new("records", "ranks: 1");
    let (result, _) = setting.run(Mode::Logical, |asked| {
        asked.gather_all();
        let mut launched = asked.ended();
        launched.outcome.ranks[0].record = record;
        finished(launched)
    });
    let found: Vec<String> =
        result.findings.iter().map(|f| format!("{}: {}", f.kind, f.explanation)).collect();
    assert_eq!(found, Vec::from_iter(expected));
    let effective = result.calls[0].effective.as_ref().unwrap();
    let source = if record.is_some() { LaunchWitness::Kernel } else { LaunchWitness::Executor };
    let said = record.unwrap_or(ASKED);
    assert_eq!(
        (effective.source, effective.blocks, effective.threads),
        (source, said.blocks, said.threads)
    );
}

#[test]
fn the_driver_is_the_witness_where_nothing_counts_threads() {
    let setting = Setting::on(gpus(&[0]), "plain", "ranks: 1");
    let (result, _) = setting.run(Mode::Logical, |asked| asked.right());
    assert_eq!(result.calls[0].effective.as_ref().unwrap().source, LaunchWitness::Driver);
}

#[test]
fn threads_that_did_not_run_are_missed() {
    let setting = Setting::new("plain", "ranks: 1\nblocks: 2");
    let (result, _) = setting.run(Mode::Logical, |asked| {
        asked.gather_all();
        let mut launched = asked.ended();
        launched.outcome.ranks[0].threads_finished -= 1;
        finished(launched)
    });
    assert_eq!(kinds(&result), ["kernel_did_not_run"]);
    assert_eq!(result.findings[0].explanation, "rank 0: 7 of 8 threads ran");
}

#[rstest]
#[case("waits", [100..200, 200..300], &[], true)] // one came as the other left
#[case("waits", [100..200, 201..300], &["missing_rank"], false)]
#[case("plain", [100..200, 201..300], &[], false)] // ranks that do not wait need not meet
fn processes_that_wait_must_have_been_inside_at_one_time(
    #[case] kernel: &str,
    #[case] inside: [Range<u64>; 2],
    #[case] expected: &[&str],
    #[case] overlapped: bool,
) {
    let setting = Setting::new(kernel, "ranks: 2");
    let (result, _) = setting.run(Mode::Process, |asked| {
        asked.is_inside(inside[asked.process].clone());
        asked.right()
    });
    assert_eq!(kinds(&result), expected);
    assert_eq!(result.verdict, if expected.is_empty() { Verdict::Pass } else { Verdict::Fail });
    assert_eq!(result.how.processes().unwrap().overlapped, Some(overlapped));
    assert_eq!(result.kernel_s, 100e-9);
}
