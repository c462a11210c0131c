//! One file a verb; `select` is what several of them share.

pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod select;
