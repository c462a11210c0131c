//! Every interleaving of a small case.

use device::Interleave;
use rstest::rstest;
use scenario::Mode;
use simt::{Act, Next, Operation, Order, Recorded, Scope, Step, ThreadId, Turn};
use verdict::Verdict;

use super::kinds;
use crate::Strategy;
use crate::fake::{Asked, Did, Setting, finished, thread};

fn setting(keys: &str, count: u64) -> Setting {
    let mut setting = Setting::new("waits", keys);
    setting.config.schedules.strategy = Strategy::Exhaustive;
    setting.config.schedules.count = count;
    setting
}

/// Two threads with one atomic store each, at `addresses`, run as the exploration says. Wrong where
/// thread 1 comes first and `second_is_wrong`.
fn explored(asked: &mut Asked<'_>, addresses: [usize; 2], second_is_wrong: bool) -> Did {
    let Some((_, Interleave::Explore(branch))) = asked.schedule() else {
        // The re-run for writers.
        return asked.right();
    };
    let next = |thread: ThreadId| Next {
        act: Act::Access(Operation::AtomicStore, Order::Relaxed, Scope::System),
        site: 8 * thread.thread as usize,
        address: addresses[thread.thread as usize],
        size: 4,
        waits: false,
    };
    let mut ready = vec![thread(0), thread(1)];
    let mut recorded = Recorded::default();
    while !ready.is_empty() {
        let told = branch.prefix.get(recorded.steps.len());
        let awake = |thread: &&ThreadId| !branch.asleep.contains(*thread);
        let Some(picked) = told.or_else(|| ready.iter().find(awake)).copied() else {
            recorded.redundant = Some(recorded.steps.len());
            break;
        };
        ready.retain(|thread| *thread != picked);
        let others = ready.iter().map(|thread| (*thread, next(*thread))).collect();
        recorded.steps.push(Step { thread: picked, next: next(picked), others });
    }
    let is_reversed = recorded.steps[0].thread == thread(1);
    if is_reversed {
        recorded.turns.push(Turn { after: None, to: thread(1) });
    }
    asked.gather_all();
    if is_reversed && second_is_wrong {
        asked.spoil_output();
    }
    let mut launched = asked.ended();
    launched.recorded = Some(recorded);
    finished(launched)
}

#[rstest]
#[case([64, 64], 2)] // they depend on each other
#[case([64, 128], 1)]
fn interleavings_are_counted(#[case] addresses: [usize; 2], #[case] complete: u64) {
    let setting = setting("ranks: 2", 10);
    let (result, _) = setting.run(Mode::Logical, |asked| explored(asked, addresses, false));
    assert_eq!((result.verdict, kinds(&result)), (Verdict::Pass, vec![]));
    let schedules = result.how.schedules().unwrap();
    assert_eq!((schedules.ran, schedules.failed), (complete as usize, 0));
    assert_eq!(schedules.complete, Some(complete));
}

#[test]
fn the_first_failing_interleaving_is_named_by_its_switches() {
    let setting = setting("ranks: 2", 10);
    let (result, _) = setting.run(Mode::Logical, |asked| explored(asked, [64, 64], true));
    assert_eq!(kinds(&result), ["output_mismatch"]);
    let schedules = result.how.schedules().unwrap();
    assert_eq!((schedules.ran, schedules.failed, schedules.complete), (2, 1, None));
    assert_eq!(schedules.first_failing, Some(1), "its seed has the places of an exploration");
    let replay = result.replay.to_string();
    assert!(replay.ends_with(" --schedule-seed 1 --switches '0:>r0b0t1'"), "{replay}");
}

#[rstest]
#[case(
    "ranks: 2\nthreads: 33",
    10,
    None,
    "at most 64 threads on all ranks for --strategy exhaustive",
    "66 (a scenario may say `threads:`)"
)]
#[case(
    "ranks: 2\nblocks: 2",
    10,
    Some(1),
    "all blocks resident for --strategy exhaustive",
    "--residency 1"
)]
#[case(
    "ranks: 2",
    1,
    None,
    "at most 1 interleavings for --strategy exhaustive (--schedules N for more)",
    "1 that pass, and more to come"
)]
fn what_is_not_small_is_unsupported(
    #[case] keys: &str,
    #[case] count: u64,
    #[case] residency: Option<u32>,
    #[case] needed: &str,
    #[case] found: &str,
) {
    let mut setting = setting(keys, count);
    setting.config.schedules.residency = residency;
    let (result, _) = setting.run(Mode::Logical, |asked| explored(asked, [64, 64], false));
    assert_eq!(result.verdict, Verdict::Unsupported);
    let reason = result.reason.unwrap();
    assert_eq!((&reason.needed[..], &reason.found[..]), (needed, found));
}

#[rstest]
#[case("ranks: 2\nthreads: 32", None)]
#[case("ranks: 2\nblocks: 2", Some(2))]
fn the_largest_of_the_small_run(#[case] keys: &str, #[case] residency: Option<u32>) {
    let mut setting = setting(keys, 10);
    setting.config.schedules.residency = residency;
    let (result, _) = setting.run(Mode::Logical, |asked| explored(asked, [64, 64], false));
    assert_eq!((result.verdict, result.reason), (Verdict::Pass, None));
}
