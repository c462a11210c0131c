//! Who wrote it: a failing case runs once more, observed.

use collectives::Rank;
use device::WatchedByte;
use ranks::command::Command;
use rstest::rstest;
use scenario::Mode;
use simt::{Side, Violation, ViolationKind, Write};

use super::{gpus, kinds};
use crate::fake::{Asked, Did, Setting, finished, thread, written};

#[rstest]
#[case(true, written(thread(3), 1), "")]
#[case(true, written(thread(3), 2), "; written 2 times")]
#[case(true, None, "; in an observed re-run no kernel thread wrote it")]
#[case(false, written(thread(3), 2), "; an observed re-run did not reproduce it")]
fn the_writer_of_a_wrong_byte_is_asked_for(
    #[case] again: bool,
    #[case] write: Option<Write>,
    #[case] end: &str,
) {
    let setting = Setting::new("plain", "ranks: 1");
    let (plain, _) = Setting::on(gpus(&[0]), "plain", "ranks: 1").case_run_wrong();
    let mut asked_for = Vec::new();
    let (result, _) = setting.run(Mode::Logical, |asked| {
        asked_for.push(asked.watched.to_vec());
        if asked.attempt == 0 {
            return asked.wrong();
        }
        asked.gather_all();
        if again {
            asked.spoil_output();
        }
        let mut launched = asked.ended();
        launched.writes = vec![write];
        finished(launched)
    });
    assert_eq!(kinds(&result), ["output_mismatch"]);
    assert_eq!(result.findings[0].explanation, format!("{plain}{end}"));
    let (problem, plan) = (&setting.case.problem, &setting.case.plan);
    let offset = plan.output(problem, &problem.calls[0]).start;
    drop(result);
    assert_eq!(asked_for, [vec![], vec![WatchedByte { rank: Rank(0), offset, call: 0 }]]);
}

impl Setting {
    /// What a wrong output is called where nothing is observed.
    fn case_run_wrong(&self) -> (String, usize) {
        let (result, ranks) = self.run(Mode::Logical, |asked| asked.wrong());
        (result.findings[0].explanation.clone(), ranks.orders().len())
    }
}

#[test]
fn nothing_runs_again_where_accesses_are_not_observed() {
    let (_, launches) = Setting::on(gpus(&[0]), "plain", "ranks: 1").case_run_wrong();
    assert_eq!(launches, 1);
    let (_, launches) = Setting::new("plain", "ranks: 1").case_run_wrong();
    assert_eq!(launches, 2);
}

#[rstest]
#[case("plain", true)]
#[case("waits", false)] // it is observed in the first place
fn the_re_run_is_of_observed_objects(#[case] kernel: &str, #[case] differs: bool) {
    let mut setting = Setting::new(kernel, "ranks: 1");
    setting.config.schedules.count = 1;
    let (_, ranks) = setting.run(Mode::Logical, |asked| asked.wrong());
    let object = |(_, command): &(usize, Command)| match command {
        Command::Prepare { object, .. } => Some(object.clone()),
        _ => None,
    };
    let objects: Vec<String> = ranks.told.iter().filter_map(object).collect();
    assert_eq!((objects.len(), objects[0] != objects[1]), (2, differs));
}

#[test]
fn a_failure_in_processes_runs_again_in_one_process() {
    let setting = Setting::new("plain", "ranks: 2");
    let (result, ranks) = setting.run(Mode::Process, |asked| match asked.launches[0].rank {
        Rank(1) => asked.wrong(),
        _ => asked.right(),
    });
    assert_eq!(kinds(&result), ["output_mismatch"]);
    assert_eq!(ranks.orders(), [vec![0], vec![1], vec![0, 1]]);
}

/// Damage beside block-shared memory, with its thread where it is known.
fn beside_shared_memory(asked: &mut Asked<'_>, site: Option<usize>) -> Did {
    let what = ViolationKind::OutsideShared {
        side: Side::Static(64),
        distance: 4,
        bytes: 4,
        stores: true,
    };
    let mut launched = asked.ended();
    launched.outcome.violations.push(Violation { thread: thread(2), site, what });
    finished(launched)
}

#[rstest]
#[case(
    true,
    "rank 0, call 0: rank 0 block 0 thread 2 stores 4 bytes, 4 bytes behind the 64 bytes of its static block-shared memory"
)]
#[case(
    false,
    "rank 0, call 0: rank 0 block 0 stores 4 bytes, 4 bytes behind the 64 bytes of its static block-shared memory"
)]
fn damage_that_was_found_later_is_told_as_the_re_run_saw_it(
    #[case] again: bool,
    #[case] text: &str,
) {
    let setting = Setting::new("plain", "ranks: 1");
    let (result, ranks) = setting.run(Mode::Logical, |asked| match asked.attempt {
        0 => beside_shared_memory(asked, None),
        _ if again => beside_shared_memory(asked, Some(16)),
        _ => asked.right(),
    });
    assert_eq!(kinds(&result), ["out_of_bounds"]);
    assert_eq!(result.findings[0].explanation, text);
    assert_eq!(ranks.orders().len(), 2);
}
