//! Which slip of address arithmetic gives an address that faulted: each is undone, and believed if
//! that leads to where the kernel had something to do.

use collectives::{Rank, RegionName};
use device::cpu::{heap_address, trap};

use super::context::Context;

/// At most this many wraps of an offset are undone.
const WRAPS: u64 = 8;

impl Context<'_> {
    /// What an access of `rank` to `address` looks like, in a process that sees heaps like `viewer`.
    pub(crate) fn wrong_address(&self, address: u64, rank: Rank, viewer: Rank) -> Option<String> {
        if let Some(table) = trap(address) {
            return (!table.contains("written"))
                .then(|| format!("a table read past its end: {table}"));
        }
        let translation = Translation { context: self, address, rank, viewer };
        translation.slip().or_else(|| self.wrapped_offset(address, viewer))
    }

    /// An offset that did not fit its integer.
    fn wrapped_offset(&self, address: u64, viewer: Rank) -> Option<String> {
        let size = self.problem.dtype.bytes();
        let wrap = |bits: u32, unit: u64| (1u64 << bits).checked_mul(unit);
        let units = [(32, size, "elements"), (32, 1, "bytes")];
        for rank in self.problem.ranks() {
            let base = heap_address(rank, viewer);
            for (bits, unit, what) in units {
                for wraps in 1..=WRAPS {
                    let right = address.checked_add(wrap(bits, unit)?.checked_mul(wraps)?)?;
                    let offset = right.checked_sub(base);
                    let Some(place) = offset.and_then(|offset| self.element_at(offset)) else {
                        continue;
                    };
                    return Some(format!(
                        "an int32 offset that overflows: {wraps} x 2^{bits} {what} further on lies {place} of rank {rank}"
                    ));
                }
            }
            // Sixteen bits, where the sign makes the offset negative.
            let output = self.plan.output(self.problem, &self.problem.calls[self.call]);
            let elements = output.shape.m * output.row_stride;
            let front = (base + output.start).checked_sub(address).filter(|_| address < base);
            if elements > 1 << 15 && front.is_some_and(|bytes| bytes <= (1 << 15) * size) {
                return Some(format!(
                    "an offset kept in 16 bits that overflows: the output of rank {rank} has {elements} elements, and this is in front of it"
                ));
            }
        }
        None
    }

    /// An element of the input or the output at an offset of a heap: `output (3,0)`.
    fn element_at(&self, offset: u64) -> Option<String> {
        let call = &self.problem.calls[self.call];
        let region = self.plan.regions.iter().find(|region| region.storage.contains(&offset))?;
        let view = match region.name {
            RegionName::Input => self.plan.input(self.problem, call, Rank(0)),
            RegionName::Output => self.plan.output(self.problem, call),
            RegionName::Workspace(_) => return None,
        };
        if !(view.start..view.end()).contains(&offset) {
            return None;
        }
        let (row, column) = view.row_column(offset);
        (column < view.shape.n)
            .then(|| format!("{} ({row},{column})", region.name.label(self.problem)))
    }
}

/// An address that should be one of the own heap's, moved to another rank's.
struct Translation<'a> {
    context: &'a Context<'a>,
    address: u64,
    rank: Rank,
    viewer: Rank,
}

impl Translation<'_> {
    fn base(&self, rank: Rank) -> i64 {
        heap_address(rank, self.viewer) as i64
    }

    /// Whether the address lies in the own heap once `moved` is undone.
    fn is_moved_by(&self, moved: i64) -> bool {
        let own = (self.address as i64).wrapping_sub(moved).wrapping_sub(self.base(self.rank));
        (0..self.context.plan.bytes as i64).contains(&own)
    }

    fn slip(&self) -> Option<String> {
        let problem = self.context.problem;
        let size = problem.dtype.bytes() as i64;
        for to in problem.ranks().filter(|to| *to != self.rank) {
            let right = self.base(to) - self.base(self.rank);
            let narrow = i64::from(right as i32);
            if self.is_moved_by(narrow) || self.is_moved_by(i64::from(right as u32)) {
                return Some(format!(
                    "a distance between heaps kept in 32 bits: that to rank {to} is {right:#x}"
                ));
            }
            if size > 1 && self.is_moved_by(right.wrapping_mul(size)) {
                return Some(format!(
                    "a distance between heaps added in elements of {size} bytes, not in bytes (to rank {to})"
                ));
            }
            if size > 1 && self.is_moved_by(right / size) {
                return Some(format!(
                    "a distance between heaps divided by the element size and added in bytes (to rank {to})"
                ));
            }
            if self.is_moved_by(self.base(to)) {
                return Some(format!(
                    "rank {to}'s base added to a pointer, not its distance to the own base"
                ));
            }
        }
        self.wrong_base()
    }

    /// The distance to a rank, but not from the own base.
    fn wrong_base(&self) -> Option<String> {
        let Context { problem, call, .. } = self.context;
        let group_rank = problem.calls[*call].group.group_rank(self.rank).map(|g| Rank(g.0));
        let others = || problem.ranks().filter(|other| *other != self.rank);
        let to_some = |from: Rank| {
            problem
                .ranks()
                .find(|to| *to != from && self.is_moved_by(self.base(*to) - self.base(from)))
        };
        // What is likely comes first: a distance with the wrong sign is one from another base, too.
        if let Some(from) = group_rank.filter(|from| *from != self.rank)
            && to_some(from).is_some()
        {
            return Some(format!(
                "a group rank used as a rank: the base of rank {from} taken for the own one, that of rank {}",
                self.rank
            ));
        }
        if let Some(to) =
            others().find(|to| self.is_moved_by(self.base(self.rank) - self.base(*to)))
        {
            return Some(format!(
                "a distance between heaps with the wrong sign (to rank {to}), or from the base of rank {to} to the own one"
            ));
        }
        let from = others().find(|from| to_some(*from).is_some())?;
        Some(format!("the base of rank {from} taken for the own one, that of rank {}", self.rank))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use collectives::{Collective, DType, GroupSpec, HeapPlan, Problem, Shape, Tile};
    use rstest::rstest;

    use super::*;

    fn problem(n: u64) -> Problem {
        Problem::plain(Collective::AllGather, 4, DType::F32, Shape { m: 3, n })
            .with_group(GroupSpec::AllButFirst)
            .with_tile(Tile { m: 1, n: 64 })
            .with_guards(4096)
    }

    /// An address, made of the base of each rank and the output's offset.
    type Address<'a> = &'a dyn Fn(&dyn Fn(u32) -> i64, i64) -> i64;

    fn said(n: u64, address: Address<'_>) -> Option<String> {
        let problem = problem(n);
        let plan = HeapPlan::new(&problem).unwrap();
        let context = Context {
            problem: &problem,
            plan: &plan,
            call: 0,
            object: Path::new("none"),
            source_name: "none",
            source_path: Path::new("none"),
            one_rank_a_process: false,
            waits: false,
        };
        let base = |rank: u32| heap_address(Rank(rank), Rank(0)) as i64;
        let output = plan.output(&problem, &problem.calls[0]).start as i64;
        context.wrong_address(address(&base, output) as u64, Rank(2), Rank(0))
    }

    #[test]
    fn slips_of_translation_are_named() {
        let at = |address: Address<'_>| said(33, address).unwrap();
        let own = |base: &dyn Fn(u32) -> i64, output: i64| base(2) + output + 40;
        // Rank 2 has group rank 1.
        let text = at(&|base, output| own(base, output) + base(3) - base(1));
        assert!(text.starts_with("a group rank used as a rank: the base of rank 1"), "{text}");
        let text = at(&|base, output| own(base, output) + base(3) - base(0));
        assert!(text.starts_with("the base of rank 0 taken for the own one"), "{text}");
        let text = at(&|base, output| own(base, output) + i64::from((base(3) - base(2)) as i32));
        assert!(text.contains("kept in 32 bits"), "{text}");
        let text = at(&|base, output| own(base, output) + (base(3) - base(2)) * 4);
        assert!(text.contains("in elements of 4 bytes"), "{text}");
        let text = at(&|base, output| own(base, output) + base(2) - base(3));
        assert!(text.contains("wrong sign"), "{text}");
        let text = at(&|base, output| own(base, output) + base(3));
        assert!(text.contains("base added"), "{text}");
    }

    #[test]
    fn offsets_that_wrap_are_named() {
        let text = said(33, &|base, output| base(1) + output + (33 + 5) * 4 - (4 << 32)).unwrap();
        assert!(
            text.contains("1 x 2^32 elements further on lies output (1,5) of rank 1"),
            "{text}"
        );
        let text = said(9000, &|base, output| base(1) + output - 120_000).unwrap();
        assert!(text.contains("kept in 16 bits"), "{text}");
    }

    #[rstest]
    #[case(0x7f00_1234_5678)]
    #[case(0x1234)]
    #[case(0x1000_0000_0000 - 64)]
    fn nothing_is_made_up(#[case] address: i64) {
        assert_eq!(said(33, &|_, _| address), None);
    }
}
