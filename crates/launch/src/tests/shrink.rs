//! The fewest switches with which a case still fails.

use device::Interleave;
use rstest::rstest;
use scenario::Mode;
use simt::{Recorded, Turn};
use verdict::Verdict;

use crate::fake::{Asked, Did, FakeRanks, Setting, finished, thread};
use crate::ways::shrink::shrink;

/// The switch to thread 1 after so many steps of thread 0.
fn turn(steps: u32) -> Turn {
    Turn { after: Some((thread(0), steps)), to: thread(1) }
}

/// Seed 3 makes switches 0 to 7; a schedule is wrong if it makes all that are `needed`.
fn scheduled(asked: &mut Asked<'_>, needed: &[u32]) -> Did {
    let turns = match asked.schedule() {
        Some((3, Interleave::Recorded)) => (0..8).map(turn).collect(),
        Some((_, Interleave::Turns(turns))) => turns.clone(),
        _ => Vec::new(),
    };
    asked.gather_all();
    if needed.iter().all(|steps| turns.contains(&turn(*steps))) {
        asked.spoil_output();
    }
    let mut launched = asked.ended();
    launched.recorded = Some(Recorded { turns, ..Recorded::default() });
    finished(launched)
}

#[rstest]
#[case(&[5], 1)]
#[case(&[2, 5], 2)]
#[case(&[0, 3, 7], 3)]
#[case(&[0, 1, 2, 3, 4, 5, 6, 7], 8)]
#[case(&[], 0)] // the round robin fails too
fn exactly_the_needed_switches_stay(#[case] needed: &[u32], #[case] count: usize) {
    let setting = Setting::new("waits", "ranks: 1");
    let mut ranks = FakeRanks::new(&setting.case, |asked| scheduled(asked, needed));
    let same = |findings: &[_]| !findings.is_empty();
    let smallest = shrink(&setting.case, &mut ranks, &setting.config, 3, None, &same);
    let smallest = smallest.unwrap().expect("seed 3 fails");
    assert_eq!((smallest.switches, smallest.switches_before), (count, 8));
    let result = smallest.result;
    assert_eq!((result.verdict, result.mode), (Verdict::Fail, Mode::Logical));
    let switches: Vec<String> =
        needed.iter().map(|steps| format!("0:r0b0t0@{steps}>r0b0t1")).collect();
    let shown = match needed {
        [] => " --schedule-seed 0".to_owned(),
        _ => format!(" --schedule-seed 3 --switches '{}'", switches.join(",")),
    };
    assert!(result.replay.to_string().ends_with(&shown), "{}", result.replay);
}

#[test]
fn a_schedule_that_does_not_fail_is_not_shrunk() {
    let setting = Setting::new("waits", "ranks: 1");
    let mut ranks = FakeRanks::new(&setting.case, |asked| scheduled(asked, &[5]));
    let same = |findings: &[_]| !findings.is_empty();
    let smallest = shrink(&setting.case, &mut ranks, &setting.config, 4, None, &same);
    assert!(smallest.unwrap().is_none());
    assert_eq!(ranks.orders().len(), 1);
}
