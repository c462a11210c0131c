//! All ranks at once, under schedules that seeds name.

use collectives::draw::mix;
use ranks::Cause;
use rstest::rstest;
use scenario::Mode;
use simt::{End, Wait, Waiting};
use verdict::{How, SchedulesRun, Verdict};

use super::{gpus, kinds};
use crate::fake::{Asked, Did, Setting, finished, loss, thread};

/// What a schedule is said to do; its hash is its seed and 100.
fn under(asked: &mut Asked<'_>, is_wrong: bool) -> Did {
    asked.gather_all();
    if is_wrong {
        asked.spoil_output();
    }
    let mut launched = asked.ended();
    launched.outcome.schedule_hash = 100 + asked.schedule().expect("ranks run at once").0;
    finished(launched)
}

#[rstest]
#[case(&[], None, 4)] // none fails: the hash is that of the last
#[case(&[2, 4], Some(2), 2)]
#[case(&[0, 1, 2, 3, 4], Some(0), 0)]
fn every_schedule_runs_and_the_first_that_fails_is_replayed(
    #[case] failing: &[u64],
    #[case] first_failing: Option<u64>,
    #[case] hash_of: u64,
) {
    let setting = Setting::new("waits", "ranks: 2");
    let (result, _) = setting.run(Mode::Logical, |asked| {
        let (seed, _) = asked.schedule().unwrap();
        under(asked, failing.contains(&seed))
    });
    let expected = SchedulesRun {
        ran: 5,
        failed: failing.len(),
        first_failing,
        switches: None,
        complete: None,
        hash: Some(mix(100 + hash_of)),
        race: true,
        long_waits: false,
    };
    assert_eq!(result.how, How::Schedules(expected));
    let seed = first_failing.map_or(String::new(), |seed| format!(" --schedule-seed {seed}"));
    let replay = format!(
        "rankcheck run s.yaml --id '{}' --mode logical --seed {}{seed}",
        setting.case.id, setting.case.problem.seed
    );
    assert_eq!(result.replay.to_string(), replay);
}

#[test]
fn seeds_go_on_from_the_first_one() {
    let mut setting = Setting::new("waits", "ranks: 2");
    (setting.config.schedules.first, setting.config.schedules.count) = (u64::MAX, 3);
    let mut seeds = Vec::new();
    let _ = setting.run(Mode::Logical, |asked| {
        seeds.push(asked.schedule().unwrap().0);
        asked.right()
    });
    assert_eq!(seeds, [u64::MAX, 0, 1]);
}

fn deadlock(asked: &mut Asked<'_>) -> Did {
    let mut launched = asked.ended();
    let waiting = Waiting {
        thread: thread(1),
        wait: Wait::Barrier,
        site: 0,
        address: None,
        size: 0,
        value: None,
        awaited: None,
    };
    launched.outcome.end = End::Deadlock(vec![waiting]);
    finished(launched)
}

#[test]
fn later_schedules_add_kinds_that_none_before_had() {
    let setting = Setting::new("waits", "ranks: 2");
    let (result, _) = setting.run(Mode::Logical, |asked| match asked.schedule().unwrap().0 {
        1 | 2 => asked.wrong(),
        3 | 4 => deadlock(asked),
        _ => asked.right(),
    });
    assert_eq!(kinds(&result), ["output_mismatch", "deadlock"]);
    let named: Vec<bool> =
        result.findings.iter().map(|f| f.explanation.ends_with(" (--schedule-seed 3)")).collect();
    assert_eq!(named, [false, true]);
    assert_eq!(result.how.schedules().unwrap().failed, 4);
    assert_eq!(result.how.first_failing_seed(), Some(1));
}

#[test]
fn no_further_schedule_runs_once_the_process_is_lost() {
    let setting = Setting::new("waits", "ranks: 2");
    let (result, ranks) = setting.run(Mode::Logical, |asked| match asked.schedule().unwrap().0 {
        2 => Did::Lost(loss(0, Cause::Signal(6))),
        _ => asked.right(),
    });
    assert_eq!(kinds(&result), ["crashed"]);
    let schedules = result.how.schedules().unwrap();
    assert_eq!((schedules.ran, schedules.failed, schedules.first_failing), (3, 1, Some(2)));
    assert_eq!(ranks.stops, 1);
}

#[rstest]
#[case(false, Verdict::Pass, 0, None)]
#[case(true, Verdict::Fail, 1, Some(0))]
fn a_device_that_makes_its_own_schedule_runs_once(
    #[case] is_wrong: bool,
    #[case] verdict: Verdict,
    #[case] failed: usize,
    #[case] first_failing: Option<u64>,
) {
    let setting = Setting::on(gpus(&[0]), "waits", "ranks: 2");
    let (result, ranks) = setting.run(Mode::Logical, |asked| under(asked, is_wrong));
    assert_eq!(result.verdict, verdict);
    let schedules = result.how.schedules().unwrap();
    assert_eq!((schedules.ran, schedules.failed, schedules.race), (1, failed, false));
    assert_eq!(schedules.first_failing, first_failing);
    assert!(!result.replay.to_string().contains("--schedule-seed"), "{}", result.replay);
    assert_eq!(ranks.orders().len(), 1, "nothing is observed, so nothing runs again");
    assert_eq!(ranks.stops, 0, "a GPU's kernel cannot harm its process");
}
