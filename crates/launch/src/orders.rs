//! In which orders logical ranks run, one after another.

use collectives::draw::mix;
use collectives::{Problem, Rank};

/// Runs in several orders together may touch this many bytes beyond the three that always run.
const BYTES: u64 = 64 << 20;
/// Cases above this many bytes run in two orders.
const LARGE: u64 = 1 << 30;
/// All permutations only up to this many ranks.
const PERMUTED: usize = 4;

/// How many orders are worth their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Identity, reversal and one rotation: on a GPU each costs milliseconds.
    Few,
    /// As many as are cheap on a CPU.
    Affordable,
    /// Every permutation whatever it costs (rotations and reversals beyond eight ranks).
    All,
}

/// Orders of a case's active ranks; the first is the identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orders {
    /// Each a permutation of the ranks that take part in some call.
    pub list: Vec<Vec<Rank>>,
    /// Whether every permutation is in the list.
    pub complete: bool,
}

impl Orders {
    /// The orders for a problem with heaps of `heap_bytes` in total.
    pub fn new(problem: &Problem, heap_bytes: u64, effort: Effort) -> Orders {
        let active = active(problem);
        let count = active.len();
        let all = effort == Effort::All;
        let affordable =
            |orders: u64| effort != Effort::Few && orders.saturating_mul(heap_bytes) <= BYTES;
        // Of twenty-one ranks and more there are more orders than a number holds.
        let permutations = (1..=count as u64).fold(1, u64::saturating_mul);
        let mut list = if (count <= PERMUTED && affordable(permutations)) || (all && count <= 8) {
            permute(&active)
        } else if affordable(count as u64) || all {
            (0..count).map(|by| rotated(&active, by)).collect()
        } else {
            vec![active.clone()]
        };
        let reverse: Vec<Rank> = active.iter().rev().copied().collect();
        let mut more = vec![reverse];
        if heap_bytes < LARGE {
            more.push(rotated(&active, 1 + mix(problem.seed) as usize % count.max(2)));
        }
        for order in more {
            if !list.contains(&order) {
                list.push(order);
            }
        }
        let complete = list.len() as u64 == permutations;
        Orders { list, complete }
    }
}

/// The ranks that take part in some call.
pub fn active(problem: &Problem) -> Vec<Rank> {
    let takes_part =
        |rank: &Rank| problem.calls.iter().any(|call| call.group.group_rank(*rank).is_some());
    problem.ranks().filter(takes_part).collect()
}

/// How an order is shown: `0,2,1`.
pub fn show(order: &[Rank]) -> String {
    order.iter().map(Rank::to_string).collect::<Vec<_>>().join(",")
}

/// The first three orders as text, and whether there are more.
pub fn first_few(orders: &[String]) -> String {
    let shown: Vec<&str> = orders.iter().take(3).map(String::as_str).collect();
    let more = if orders.len() > 3 { ", .." } else { "" };
    format!("{}{more}", shown.join(" and "))
}

/// The ranks, with the first `by` of them moved to the end.
pub fn rotated(ranks: &[Rank], by: usize) -> Vec<Rank> {
    let mut ranks = ranks.to_vec();
    let by = by % ranks.len().max(1);
    ranks.rotate_left(by);
    ranks
}

/// All permutations in lexicographic order; the identity first.
fn permute(ranks: &[Rank]) -> Vec<Vec<Rank>> {
    if ranks.len() <= 1 {
        return vec![ranks.to_vec()];
    }
    (0..ranks.len())
        .flat_map(|first| {
            let mut rest = ranks.to_vec();
            let head = rest.remove(first);
            permute(&rest).into_iter().map(move |mut tail| {
                tail.insert(0, head);
                tail
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use collectives::{Collective, DType, Shape};
    use rstest::rstest;

    fn problem(world: u32, group: &str) -> Problem {
        Problem::plain(Collective::AllGather, world, DType::U8, Shape { m: 1, n: 1 })
            .with_group(group.parse().unwrap())
    }

    #[rstest]
    #[case(1, "world", 4096, Effort::Affordable, 1, true)]
    #[case(2, "world", 4096, Effort::Affordable, 2, true)]
    #[case(4, "world", 4096, Effort::Affordable, 24, true)]
    #[case(4, "evens", 4096, Effort::Affordable, 2, true)]
    #[case(8, "world", 4096, Effort::Affordable, 9, false)] // eight rotations and the reversal
    #[case(8, "world", 16 << 20, Effort::Affordable, 3, false)] // identity, reversal, one rotation
    #[case(4, "world", 16 << 20, Effort::Affordable, 5, false)] // four rotations and the reversal
    #[case(4, "world", 2 << 30, Effort::Affordable, 2, false)]
    #[case(4, "world", 16 << 20, Effort::All, 24, true)]
    #[case(4, "world", 4096, Effort::Few, 3, false)]
    #[case(2, "world", 4096, Effort::Few, 2, true)]
    #[case(64, "world", 4096, Effort::Affordable, 65, false)]
    #[case(64, "world", 4096, Effort::All, 65, false)]
    fn as_many_as_are_affordable(
        #[case] world: u32,
        #[case] group: &str,
        #[case] bytes: u64,
        #[case] effort: Effort,
        #[case] count: usize,
        #[case] complete: bool,
    ) {
        let orders = Orders::new(&problem(world, group), bytes, effort);
        assert_eq!(orders.list.len(), count, "{:?}", orders.list);
        assert_eq!(orders.complete, complete);
        let mut sorted = orders.list[0].clone();
        sorted.sort();
        assert_eq!(orders.list[0], sorted, "the identity comes first");
        for order in &orders.list {
            let mut ranks = order.clone();
            ranks.sort();
            assert_eq!(ranks, sorted);
        }
    }
}
