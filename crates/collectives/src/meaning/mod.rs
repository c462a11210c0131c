//! What a collective means: ranks, groups, shapes, types, operators, and the reference. Knows nothing of
//! heaps and of what they are filled with.

pub mod arithmetic;
pub mod dtype;
pub mod float;
pub mod group;
pub mod op;
mod plain;
pub mod problem;
pub mod rank;
pub mod reference;
pub mod shape;
