//! What a comparison stands on: logarithms of times, by launch.

use crate::file::{Row, Run};
use crate::stats::{mean, median};

/// Stretches that a launch is cut into where it has no blocks to pair.
const STRETCHES: usize = 10;
/// The least number of samples of a stretch.
const STRETCH: usize = 5;

/// The natural logarithms that two arms are compared by. The unit that is independent is the launch; what lies in a launch is
/// in order of time and not independent.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// Both arms ran side by side: by launch, by block, the logarithm of the ratio of the arm's time to the base's.
    Paired(Vec<Vec<f64>>),
    /// The arms ran at different times: by launch, by stretch of time, the logarithm of each one's time.
    Apart {
        /// The base.
        base: Vec<Vec<f64>>,
        /// The arm.
        other: Vec<Vec<f64>>,
    },
}

/// By iteration, the time of the slowest rank, in nanoseconds.
pub fn slowest(run: &Run) -> Vec<f64> {
    run.samples.iter().map(|ranks| ranks.iter().copied().fold(0.0, f64::max)).collect()
}

/// All iterations of an arm: the time of the slowest rank, in nanoseconds.
pub fn times(row: &Row, arm: usize) -> Vec<f64> {
    runs(row).filter(|run| run.arm == arm).flat_map(slowest).collect()
}

/// All iterations of an arm: by how much the slowest rank is behind the first, as a share of the slowest's time. Iterations
/// of which only one number is known are left out.
pub fn skews(row: &Row, arm: usize) -> Vec<f64> {
    let samples = runs(row).filter(|run| run.arm == arm).flat_map(|run| &run.samples);
    let skews = samples.filter(|ranks| ranks.len() > 1).filter_map(|ranks| {
        let most = ranks.iter().copied().fold(0.0, f64::max);
        let least = ranks.iter().copied().fold(f64::INFINITY, f64::min);
        (most > 0.0).then(|| (most - least) / most)
    });
    skews.collect()
}

fn runs(row: &Row) -> impl Iterator<Item = &Run> {
    row.launches.iter().flat_map(|launch| &launch.blocks).flat_map(|block| &block.runs)
}

/// Two arms of one row, paired where they ran in the same blocks.
pub fn of_arms(row: &Row, base: usize, other: usize) -> Evidence {
    let launches: Vec<Vec<f64>> = row
        .launches
        .iter()
        .map(|launch| {
            launch.blocks.iter().filter_map(|block| effect(&block.runs, base, other)).collect()
        })
        .filter(|blocks: &Vec<f64>| !blocks.is_empty())
        .collect();
    // One block in all is a pair of which nobody knows how much it varies; its samples say at least that.
    match launches.iter().map(Vec::len).sum::<usize>() {
        0 | 1 => apart([row, row], [base, other]),
        _ => Evidence::Paired(launches),
    }
}

/// An arm of each of two rows, which were measured at different times.
pub fn apart([base_row, other_row]: [&Row; 2], [base, other]: [usize; 2]) -> Evidence {
    Evidence::Apart { base: stretches(base_row, base), other: stretches(other_row, other) }
}

/// The logarithm of the ratio in a block. Each arm's runs count alike, so that a drift that is linear in time
/// cancels between A B and B A.
fn effect(runs: &[Run], base: usize, other: usize) -> Option<f64> {
    let level = |arm: usize| {
        let of_arm = runs.iter().filter(|run| run.arm == arm);
        mean(&of_arm.filter_map(|run| logarithm(&slowest(run))).collect::<Vec<f64>>())
    };
    Some(level(other)? - level(base)?)
}

/// The logarithm of the median; absent without samples, and where it is 0, which has no ratio to anything.
fn logarithm(times: &[f64]) -> Option<f64> {
    median(times).filter(|median| *median > 0.0).map(f64::ln)
}

/// By launch, the logarithms of medians of stretches of time, in order.
fn stretches(row: &Row, arm: usize) -> Vec<Vec<f64>> {
    let launches = row.launches.iter().map(|launch| {
        let runs = launch.blocks.iter().flat_map(|block| &block.runs);
        let times: Vec<f64> = runs.filter(|run| run.arm == arm).flat_map(slowest).collect();
        let length = times.len().div_ceil(STRETCHES).max(STRETCH);
        times.chunks(length).filter_map(logarithm).collect::<Vec<f64>>()
    });
    launches.filter(|stretches| !stretches.is_empty()).collect()
}
