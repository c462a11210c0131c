//! A case that passes runs once more, and no element of an output may be written twice.

use rstest::rstest;
use scenario::Mode;
use verdict::{NotProved, Verdict};

use super::{gpus, kinds};
use crate::fake::{Setting, finished, thread, written};

const ONCE: &str = "ranks: 1\nwrite_once: true";

#[rstest]
#[case(1, &[], "")]
#[case(2, &["written_twice"], "1 elements written more than once, though once is all they need: rank 0, call 0, output (0,3) 2 times, first by rank 0 block 0 thread 1, last by rank 0 block 0 thread 1")]
fn elements_are_written_once(#[case] count: u64, #[case] expected: &[&str], #[case] text: &str) {
    let setting = Setting::new("plain", ONCE);
    let mut watched = Vec::new();
    let (result, _) = setting.run(Mode::Logical, |asked| {
        watched.push(asked.watched.len());
        asked.gather_all();
        let mut launched = asked.ended();
        launched.writes = vec![written(thread(0), 1); asked.watched.len()];
        if let Some(write) = launched.writes.get_mut(3) {
            *write = written(thread(1), count);
        }
        finished(launched)
    });
    assert_eq!(kinds(&result), expected);
    let texts: String = result.findings.iter().map(|finding| &finding.explanation[..]).collect();
    assert_eq!(texts, text);
    assert_eq!(result.launches, 1, "the observed run is not counted");
    drop(result);
    assert_eq!(watched, [0, 8]);
}

#[test]
fn a_case_that_fails_does_not_run_for_repeated_writes() {
    let setting = Setting::new("plain", ONCE);
    let (result, ranks) = setting.run(Mode::Logical, |asked| asked.wrong());
    assert_eq!(kinds(&result), ["output_mismatch"]);
    assert_eq!(ranks.orders().len(), 2, "the failing run, and the one for its writer");
}

#[test]
fn a_gpu_leaves_open_whether_elements_are_written_twice() {
    let setting = Setting::on(gpus(&[0]), "plain", ONCE);
    let (result, ranks) = setting.run(Mode::Logical, |asked| asked.right());
    assert_eq!((result.verdict, ranks.orders().len()), (Verdict::Pass, 1));
    assert!(result.not_proved.contains(&NotProved::WriteOnce));
}
