//! Processes that are lost, hang, cannot launch, or say what was not asked for.

use std::sync::atomic::Ordering;
use std::time::Duration;

use collectives::Rank;
use device::Fault;
use ranks::command::Reply;
use ranks::{Cause, PoolError};
use rstest::rstest;
use scenario::{Mode, Reason};
use verdict::Verdict;

use super::kinds;
use crate::fake::{Did, FakeRanks, Setting, loss};
use crate::run_case;

const DEADLINE: Cause = Cause::Deadline(Duration::from_secs(7));

/// By rank: what the launch of its process does; `None` is right.
type Fates = [Option<Option<Cause>>; 3];

#[rstest]
#[case([None, Some(None), None], &[("timeout", 1)])]
#[case([Some(None), Some(None), None], &[("timeout", 0), ("timeout", 1)])]
#[case([Some(None), None, Some(Some(DEADLINE))], &[("timeout", 2), ("missing_rank", 0)])]
#[case([Some(None), Some(Some(Cause::Signal(6))), Some(None)], &[("crashed", 1), ("missing_rank", 0), ("missing_rank", 2)])]
#[case([Some(None), None, Some(Some(Cause::Exit(3)))], &[("crashed", 2), ("missing_rank", 0)])]
#[case([Some(Some(Cause::Garbage("x".into()))), Some(Some(Cause::Signal(9))), None], &[("protocol_error", 0), ("crashed", 1)])]
fn what_was_lost_first_comes_first(#[case] fates: Fates, #[case] expected: &[(&str, u32)]) {
    let setting = Setting::new("waits", "ranks: 3");
    let (result, ranks) = setting.run(Mode::Process, |asked| match &fates[asked.process] {
        None => asked.right(),
        Some(None) => Did::NeverAnswers,
        Some(Some(cause)) => Did::Lost(loss(asked.process, cause.clone())),
    });
    assert_eq!(result.verdict, Verdict::Fail);
    let found: Vec<(String, u32)> =
        result.findings.iter().map(|f| (f.kind.to_string(), f.rank.unwrap().0)).collect();
    let expected: Vec<_> = expected.iter().map(|(kind, rank)| (kind.to_string(), *rank)).collect();
    assert_eq!(found, expected);
    assert_eq!(ranks.stops, 1);
}

#[rstest]
#[case(Did::NeverAnswers, "no answer within 7.0 s: inside the kernel (phase: inside the kernel)")]
#[case(
    Did::Lost(loss(0, Cause::Signal(6))),
    "killed by signal 6 (SIGABRT): inside the kernel (phase: inside the kernel)"
)]
#[case(
    Did::Lost(loss(0, Cause::Exit(3))),
    "exited with 3 without a result inside the kernel: inside the kernel (phase: inside the kernel)"
)]
fn a_lost_process_says_how_and_where(#[case] did: Did, #[case] text: &str) {
    let setting = Setting::new("waits", "ranks: 1");
    let mut did = Some(did);
    let (result, _) = setting.run(Mode::Process, |_| did.take().unwrap());
    assert_eq!(result.findings[0].explanation, format!("rank 0, call 0: {text}"));
}

#[test]
fn a_rank_that_takes_no_part_is_missed_too() {
    let setting = Setting::new("plain", "ranks: 3\ngroup: all_but_last");
    let mut ranks = FakeRanks::new(&setting.case, |asked| asked.right());
    ranks.gone.insert(2, loss(2, Cause::Signal(9)));
    let result = run_case(&setting.case, Mode::Process, &mut ranks, &setting.config);
    assert_eq!(kinds(&result), ["missing_rank"]);
    assert_eq!(result.findings[0].rank, Some(Rank(2)));
    let text = &result.findings[0].explanation;
    assert!(text.ends_with("; it takes no part in this call"), "{text}");
}

#[rstest]
#[case(Reply::Faulted { fault: Fault::IllegalAddress, rank: None, text: "700".into() }, "out_of_bounds")]
#[case(Reply::Faulted { fault: Fault::MisalignedAddress, rank: None, text: "716".into() }, "misaligned_access")]
#[case(Reply::Faulted { fault: Fault::Other, rank: None, text: "719".into() }, "crashed")]
#[case(Reply::Failed("no".into()), "launch_mismatch")]
#[case(Reply::Prepared, "protocol_error")]
fn what_else_a_process_may_say_is_a_finding(#[case] reply: Reply, #[case] kind: &str) {
    let setting = Setting::new("plain", "ranks: 2");
    let (result, _) = setting.run(Mode::Process, |asked| match asked.process {
        1 => Did::Says(reply.clone()),
        _ => asked.right(),
    });
    assert_eq!(kinds(&result), [kind]);
    assert_eq!((result.findings[0].rank, result.findings[0].call), (Some(Rank(1)), Some(0)));
}

fn reason(needed: &str, found: &str) -> Option<Reason> {
    Some(Reason::new(needed, found))
}

#[rstest]
#[case(PoolError::Interrupted, Verdict::NotRun, reason("a run to its end", "an interrupt"), &[], false)]
#[case(PoolError::DeviceLost("gone".into()), Verdict::NotRun, reason("a device that works", "gone"), &[], true)]
#[case(PoolError::System { what: "waiting".into(), reason: "no".into() }, Verdict::Fail, None, &["missing_rank"], false)]
#[case(PoolError::DoesNotFit { needed: "3".into(), found: "2".into() }, Verdict::Unsupported, reason("3", "2"), &[], false)]
fn a_case_that_is_broken_off(
    #[case] error: PoolError,
    #[case] verdict: Verdict,
    #[case] reason: Option<Reason>,
    #[case] findings: &[&str],
    #[case] lost: bool,
) {
    let setting = Setting::new("plain", "ranks: 2");
    let mut error = Some(error);
    let (result, _) = setting.run(Mode::Process, |asked| match error.take() {
        Some(error) => Did::Breaks(error),
        None => asked.right(),
    });
    assert_eq!((result.verdict, &result.reason), (verdict, &reason));
    assert_eq!(kinds(&result), findings);
    assert_eq!(setting.config.lost.load(Ordering::Relaxed), lost);
}

#[test]
fn ranks_that_do_not_fit_at_once_are_unsupported() {
    let setting = Setting::new("waits", "ranks: 2");
    let (result, _) = setting.run(Mode::Logical, |_| {
        Did::Says(Reply::DoesNotFit { needed: "9 blocks".into(), found: "8".into() })
    });
    assert_eq!((result.verdict, &result.reason), (Verdict::Unsupported, &reason("9 blocks", "8")));
    assert_eq!(result.not_proved, []);
}
