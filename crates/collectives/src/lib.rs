//! What a collective must leave in every byte of every rank's heap.
//!
//! Pure: no I/O, no threads, no `unsafe`. A [`Problem`] is laid out once by [`HeapPlan`], filled
//! by [`image`], and judged by [`verify()`] against [`mod@reference`]. Nothing here ever sees a kernel.
#![forbid(unsafe_code)]

pub mod arithmetic;
pub(crate) mod cause;
pub mod declared;
pub mod dtype;
pub mod exact;
pub mod explain;
pub mod fill;
pub mod finding;
pub mod float;
pub mod group;
pub mod image;
pub mod op;
pub mod patterns;
mod plain;
pub mod plan;
pub mod problem;
pub mod rank;
pub mod record;
pub mod reference;
pub mod region_map;
pub mod sections;
pub mod shape;
pub mod verify;

pub use dtype::DType;
pub use finding::{Detail, DetailLabel, Finding, FindingKind, Place, Writer};
pub use group::{Group, GroupSpec};
pub use op::{Accumulate, Numerics, Op, Order};
pub use plan::{HeapPlan, PlanError, RegionName};
pub use problem::{
    BetweenCalls, Call, Collective, Contents, Data, Details, Init, Judge, Layout, Problem,
    RegionLayout, Workspace,
};
pub use rank::{GroupRank, Rank};
pub use region_map::RegionMap;
pub use shape::{Shape, Tile};
pub use verify::verify;
