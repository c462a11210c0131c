//! Each rank in turn late at each place of its kernel.

use std::time::Duration;

use collectives::Rank;
use device::Interleave;
use rstest::rstest;
use scenario::Mode;
use simt::Late;
use verdict::{How, ProcessesRun, Verdict};

use super::kinds;
use crate::fake::Setting;

fn setting(kernel: &str) -> Setting {
    let mut setting = Setting::new(kernel, "ranks: 2");
    setting.config.schedules.delay = Some(Duration::from_millis(5));
    setting
}

#[rstest]
#[case("waits", 8)]
#[case("plain", 0)] // no rank waits for one that is late
fn every_rank_is_late_at_every_place(#[case] kernel: &str, #[case] delays: usize) {
    let setting = setting(kernel);
    let mut late = Vec::new();
    let (result, _) = setting.run(Mode::Process, |asked| {
        if let Some((_, Interleave::Late(place, time))) = asked.schedule() {
            late.push((asked.process, *place, *time));
        }
        asked.right()
    });
    assert_eq!(result.verdict, Verdict::Pass);
    let expected = ProcessesRun { overlapped: Some(true), delays, delays_failed: 0 };
    assert_eq!(result.how, How::Processes(expected));
    let all =
        (0..2).flat_map(|rank| Late::ALL.map(|place| (rank, place, Duration::from_millis(5))));
    drop(result);
    assert_eq!(late, all.take(delays).collect::<Vec<_>>());
}

#[test]
fn the_first_failure_ends_the_delays_and_says_who_was_late() {
    let setting = setting("waits");
    let (result, _) = setting.run(Mode::Process, |asked| match (asked.process, asked.schedule()) {
        (1, Some((_, Interleave::Late(Late::BeforeFlag, _)))) => asked.wrong(),
        _ => asked.right(),
    });
    assert_eq!(kinds(&result), ["output_mismatch"]);
    assert_eq!(result.findings[0].rank, Some(Rank(1)));
    let expected = ProcessesRun { overlapped: Some(true), delays: 6, delays_failed: 1 };
    assert_eq!(result.how, How::Processes(expected));
    let text = &result.findings[0].explanation;
    let end = " (rank 1 was late by 5 ms between its data and its flag); an observed re-run did not reproduce it";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn a_case_that_fails_by_itself_is_not_delayed() {
    let setting = setting("waits");
    let (result, _) = setting.run(Mode::Process, |asked| asked.wrong());
    assert_eq!(result.verdict, Verdict::Fail);
    let expected = ProcessesRun { overlapped: Some(true), delays: 0, delays_failed: 0 };
    assert_eq!(result.how, How::Processes(expected));
}
