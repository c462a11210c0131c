//! Problems with nothing unusual about them: where tests and measurements start from.

use crate::meaning::dtype::DType;
use crate::meaning::group::{Group, GroupSpec};
use crate::meaning::op::{Numerics, Op};
use crate::meaning::problem::{
    Call, Collective, Data, Details, Init, Layout, Problem, RegionLayout, Workspace,
};
use crate::meaning::rank::GroupRank;
use crate::meaning::shape::{Shape, Tile};

impl Problem {
    /// The simplest problem: one call of the whole world with group rank 0 as its root, contiguous
    /// rows, keyed data, outputs full of poison, no guards, no workspaces, nothing declared, seed 7.
    /// The tile is the shape, at least 1x1, and one thread block a rank handles it.
    ///
    /// What is to be different is said by the setters, or by struct update syntax:
    ///
    /// ```
    /// use collectives::{Collective, DType, GroupSpec, Problem, Shape, Tile};
    ///
    /// let plain = Problem::plain(Collective::AllGather, 4, DType::F16, Shape { m: 3, n: 5 });
    /// let padded = plain.with_group(GroupSpec::Evens).with_tile(Tile { m: 2, n: 4 }).with_guards(64);
    /// let other_key = Problem { seed: 8, ..padded.clone() };
    /// assert_eq!(padded.calls[0].group.size(), 2);
    /// assert_ne!(padded, other_key);
    /// ```
    ///
    /// # Panics
    /// When `world` is zero: a call needs a member.
    pub fn plain(collective: Collective, world: u32, dtype: DType, shape: Shape) -> Problem {
        let group = GroupSpec::World.resolve(world).expect("a world has at least one rank");
        Problem {
            collective,
            world,
            dtype,
            layout: Layout::default(),
            in_place: false,
            guard_bytes: 0,
            data: Data::Keyed,
            workspaces: Vec::new(),
            numerics: Numerics::default(),
            output_init: Init::Poison,
            calls: vec![Call::plain(shape, group)],
            seed: 7,
        }
    }

    /// The same with another group in every call.
    ///
    /// # Panics
    /// When the group does not fit into the world.
    pub fn with_group(self, group: GroupSpec) -> Problem {
        let group = group.resolve(self.world).expect("the group fits into the world");
        self.with_every_call(|call| call.group = group.clone())
    }

    /// The same with another tile in every call.
    pub fn with_tile(self, tile: Tile) -> Problem {
        self.with_every_call(|call| call.tile = tile)
    }

    /// The same with another root in every call.
    pub fn with_root(self, root: GroupRank) -> Problem {
        self.with_every_call(|call| call.root = root)
    }

    /// The same with another op in every call.
    pub fn with_op(self, op: Op) -> Problem {
        self.with_every_call(|call| call.details.op = op)
    }

    /// The same with so many bytes of poison before, between and behind regions.
    pub fn with_guards(self, guard_bytes: u64) -> Problem {
        Problem { guard_bytes, ..self }
    }

    /// The same with other strides and offsets.
    pub fn with_layout(self, input: RegionLayout, output: RegionLayout) -> Problem {
        Problem { layout: Layout { input, output }, ..self }
    }

    /// The same with these workspaces.
    pub fn with_workspaces(self, workspaces: Vec<Workspace>) -> Problem {
        Problem { workspaces, ..self }
    }

    /// The first call, `count` times in a row.
    pub fn repeated(self, count: usize) -> Problem {
        let calls = vec![self.calls[0].clone(); count];
        Problem { calls, ..self }
    }

    fn with_every_call(mut self, change: impl Fn(&mut Call)) -> Problem {
        self.calls.iter_mut().for_each(change);
        self
    }
}

impl Call {
    /// A call with nothing unusual about it: group rank 0 as its root, one thread block, and a tile
    /// that is the shape, at least 1x1. See [`Problem::plain`].
    pub fn plain(shape: Shape, group: Group) -> Call {
        Call {
            shape,
            group,
            tile: Tile { m: shape.m.max(1), n: shape.n.max(1) },
            blocks: 1,
            root: GroupRank(0),
            details: Details::default(),
        }
    }
}
