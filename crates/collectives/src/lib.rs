//! What a collective must leave in every byte of every rank's heap.
//!
//! Pure: no I/O, no threads, no `unsafe`, and nothing here ever sees a kernel. Each folder is one step,
//! and uses those above it only:
//!
//! * `meaning/`: a [`Problem`] says what is asked: a [`Collective`], ranks, a type, and [`Call`]s with
//!   their shapes and groups. [`mod@reference`] says which element belongs where, and [`arithmetic`]
//!   how elements are combined;
//! * `data/`: what inputs and untouched places hold. The [`mod@fill`] names the owner of a word,
//!   data of reductions are [`exact`], and [`draw`] has the seeded numbers of the whole workspace;
//! * `heap/`: a [`HeapPlan`] lays all regions out once, and [`image`] is what every byte must be before
//!   and after a call;
//! * `judge/`: [`verify()`] compares heaps with their images, and each [`Finding`] says what is wrong,
//!   where, whose data stand there instead, and what that looks like.
//!
//! # A broken byte, by hand
//!
//! This is a whole program: it fills two heaps, does what a right all-gather does, breaks a byte and
//! reads the verdict.
//!
//! ```
#![doc = include_str!("../examples/broken_byte.rs")]
//! ```
#![forbid(unsafe_code)]

mod data;
mod heap;
mod judge;
mod meaning;

pub use data::{declared, draw, exact, fill, patterns};
pub use heap::plan::{HeapPlan, PlanError, RegionName};
pub use heap::{image, plan, record, sections};
pub use judge::finding::{Detail, DetailLabel, Finding, FindingKind, Place, Writer};
pub use judge::region_map::RegionMap;
pub use judge::verify::verify;
pub use judge::{explain, finding, region_map, verify};
pub use meaning::dtype::DType;
pub use meaning::group::{Group, GroupSpec};
pub use meaning::op::{Accumulate, Numerics, Op, Order};
pub use meaning::problem::{
    BetweenCalls, Call, Collective, Contents, Data, Details, Init, Judge, Layout, Problem,
    RegionLayout, Workspace,
};
pub use meaning::rank::{GroupRank, Rank};
pub use meaning::shape::{Shape, Tile};
pub use meaning::{arithmetic, dtype, float, group, op, problem, rank, reference, shape};
