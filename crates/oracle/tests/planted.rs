//! The oracle's own expectations, without anything to compare them with.

use collectives::image::Moment;
use collectives::{HeapPlan, Problem};
use oracle::cases::{count_distinct, draw};
use oracle::expected::{REFERENCE, Reference, after, image};
use oracle::planted;

/// Whether the heaps that `reference` expects are those that kernels are judged by.
fn same(problem: &Problem, reference: Reference) -> bool {
    let plan = HeapPlan::new(problem).unwrap();
    problem.ranks().all(|rank| {
        let before = image(problem, &plan, rank, Moment::Before);
        let judged_by = image(problem, &plan, rank, Moment::After);
        after(problem, &plan, rank, &before, reference) == judged_by
    })
}

#[test]
fn the_reference_is_what_kernels_are_judged_by() {
    let problems = draw(500, 8, |_| true);
    assert_eq!(count_distinct(&problems), 500);
    assert!(problems.iter().all(|problem| same(problem, REFERENCE)));
}

#[test]
fn every_planted_fault_changes_an_expectation() {
    let problems = draw(500, 3, |_| true);
    for (name, reference) in planted::ALL {
        assert!(planted::named(name).is_some());
        assert!(problems.iter().any(|problem| !same(problem, reference)), "{name} changes nothing");
    }
}
