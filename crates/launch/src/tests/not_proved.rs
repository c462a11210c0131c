//! A pass says what it leaves open, by mode, kernel and device.

use std::time::Duration;

use ranks::Target;
use rstest::rstest;
use scenario::Mode;
use verdict::NotProved::{
    self, ConcurrentRanks, FarWrites, HostCode, OrdersBeyond, OtherDelays, OtherInterleavings,
    RacesNotSought, RacesOnDevice, SchedulesBeyond, Transport, WriteOnce,
};
use verdict::Verdict;

use super::gpus;
use crate::fake::{Setting, finished};

fn delays(ran: usize) -> NotProved {
    OtherDelays { ran, failed: 0 }
}

#[rstest]
#[case(Target::Cpu, Mode::Logical, "plain", true, &[Transport, HostCode, ConcurrentRanks])]
#[case(Target::Cpu, Mode::Logical, "waits", true, &[Transport, HostCode, SchedulesBeyond(5)])]
#[case(Target::Cpu, Mode::Logical, "waits", false, &[Transport, HostCode, SchedulesBeyond(5), RacesNotSought])]
#[case(Target::Cpu, Mode::Process, "plain", true, &[Transport, HostCode, OtherInterleavings])]
#[case(Target::Cpu, Mode::Process, "waits", true, &[Transport, HostCode, delays(12)])]
#[case(gpus(&[0]), Mode::Logical, "plain", true, &[Transport, HostCode, RacesOnDevice, FarWrites, WriteOnce, ConcurrentRanks, OrdersBeyond(3)])]
#[case(gpus(&[0]), Mode::Logical, "waits", true, &[Transport, HostCode, RacesOnDevice, FarWrites, WriteOnce, OtherInterleavings])]
#[case(gpus(&[0, 1]), Mode::Process, "plain", true, &[Transport, HostCode, RacesOnDevice, FarWrites, WriteOnce, OtherInterleavings])]
#[case(gpus(&[0, 1, 2]), Mode::Process, "plain", true, &[HostCode, RacesOnDevice, FarWrites, WriteOnce, OtherInterleavings])]
#[case(gpus(&[0, 1, 2]), Mode::Process, "waits", true, &[HostCode, RacesOnDevice, FarWrites, WriteOnce, delays(12)])]
fn a_pass_says_what_it_leaves_open(
    #[case] target: Target,
    #[case] mode: Mode,
    #[case] kernel: &str,
    #[case] race: bool,
    #[case] expected: &[NotProved],
) {
    let mut setting = Setting::on(target, kernel, "ranks: 3\nwrite_once: true");
    setting.config.schedules.delay = Some(Duration::from_millis(1));
    setting.config.schedules.race = race;
    let (result, _) = setting.run(mode, |asked| {
        asked.gather_all();
        let mut launched = asked.ended();
        launched.writes = vec![None; asked.watched.len()];
        finished(launched)
    });
    assert_eq!(result.verdict, Verdict::Pass);
    assert_eq!(result.not_proved, expected);
}
