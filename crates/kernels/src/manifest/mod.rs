//! What a kernel says about itself: the manifest beside its code.
//!
//! Owns the keys, their types and defaults, and the checks that need the whole file. Paths and
//! contents of the files that a manifest names are the business of [`crate::code`].

mod arguments;
mod device;
mod model;
mod reduction;
mod scalar;
mod steps;
mod validate;

pub use arguments::{
    AddressSpec, ArgumentSpec, FloatValue, NullOf, On, Over, Pass, StructSpec, TableSpec,
};
pub use device::DeviceName;
pub use model::{
    Define, DefineText, Groups, Launch, Manifest, Requirement, Variant, WorkspaceSpec,
};
pub use reduction::{AccumulateSpec, OrderSpec, ReductionSpec, StartAt};
pub use scalar::ScalarType;
pub use steps::{FillStep, FilledRegion, NamedStep, Step, output_init};
pub(crate) use validate::validate;
