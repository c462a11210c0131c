//! Ranks one after another, in several orders.

use collectives::Rank;
use ranks::Cause;
use rstest::rstest;
use scenario::Mode;
use verdict::{How, OrdersRun, Verdict};

use super::{gpus, kinds};
use crate::fake::{Did, Setting, finished, loss};

#[rstest]
#[case(false, false, 6, true)] // all permutations
#[case(true, false, 3, false)] // a GPU repeats orders at some cost: identity, reversal, rotation
#[case(true, true, 6, true)]
fn every_order_of_the_list_runs(
    #[case] on_gpu: bool,
    #[case] all_orders: bool,
    #[case] ran: usize,
    #[case] complete: bool,
) {
    let target = if on_gpu { gpus(&[0]) } else { ranks::Target::Cpu };
    let mut setting = Setting::on(target, "plain", "ranks: 3");
    setting.config.all_orders = all_orders;
    let (result, ranks) = setting.run(Mode::Logical, |asked| asked.right());
    assert_eq!((result.verdict, kinds(&result)), (Verdict::Pass, vec![]));
    assert_eq!(result.how, How::Orders(OrdersRun { ran, complete }));
    assert_eq!(result.launches, 3 * ran as u64);
    let orders = ranks.orders();
    assert_eq!(orders[0], [0, 1, 2]);
    assert_eq!(orders.len(), ran);
    assert_eq!(ranks.stops, 0, "the process serves the next case");
}

#[test]
fn a_result_that_depends_on_the_order_is_a_finding_of_its_own() {
    let setting = Setting::new("plain", "ranks: 3");
    let (result, ranks) = setting.run(Mode::Logical, |asked| match asked.launches[0].rank {
        Rank(2) => asked.wrong(),
        _ => asked.right(),
    });
    assert_eq!(result.verdict, Verdict::Fail);
    assert_eq!(kinds(&result), ["output_mismatch", "order_dependent"]);
    assert_eq!(
        result.findings[1].explanation,
        "the result depends on the order in which ranks run: right in 4 (0,1,2 and 0,2,1 and 1,0,2, ..), wrong in 2 (2,0,1 and 2,1,0)"
    );
    assert_eq!(result.how.orders(), 6, "re-runs for writers do not count");
    let mut listed = vec![[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1]];
    listed.extend([[2, 0, 1], [2, 1, 0]]); // the first failing order runs once more, for writers
    assert_eq!(ranks.orders(), listed);
    assert_eq!(ranks.stops, 1, "a kernel that failed may have harmed its process");
}

#[test]
fn a_result_that_is_wrong_in_every_order_does_not_depend_on_it() {
    let setting = Setting::new("plain", "ranks: 2");
    let (result, _) = setting.run(Mode::Logical, |asked| asked.wrong());
    assert_eq!(kinds(&result), ["output_mismatch"]);
    assert_eq!(result.findings[0].rank, Some(Rank(0)), "that of the first order stands");
    assert_eq!(result.how, How::Orders(OrdersRun { ran: 2, complete: true }));
}

#[test]
fn no_further_order_runs_once_a_process_is_lost() {
    let setting = Setting::new("plain", "ranks: 3");
    let (result, ranks) = setting.run(Mode::Logical, |asked| match asked.attempt {
        1 => Did::Lost(loss(asked.process, Cause::Signal(6))),
        _ => asked.right(),
    });
    assert_eq!(kinds(&result), ["crashed", "order_dependent"]);
    assert_eq!(ranks.orders(), [[0, 1, 2], [0, 2, 1]]);
    assert_eq!(result.how, How::Orders(OrdersRun { ran: 2, complete: true }));
    assert_eq!(ranks.stops, 1);
}

#[test]
fn a_case_stops_at_its_first_wrong_call() {
    let setting = Setting::new("plain", "ranks: 1\ncalls: 3");
    let mut calls = Vec::new();
    let (result, _) = setting.run(Mode::Logical, |asked| {
        calls.push((asked.attempt, asked.call));
        match (asked.attempt, asked.call) {
            (0, 1) => asked.wrong(),
            (0, _) => asked.right(),
            _ => finished(asked.ended()),
        }
    });
    assert_eq!(result.findings[0].call, Some(1));
    assert_eq!(result.launches, 2);
    assert!(result.calls[1].effective.is_some() && result.calls[2].effective.is_none());
    drop(result);
    assert_eq!(calls, [(0, 0), (0, 1), (1, 0)], "two calls, and the re-run fails in its first");
}
