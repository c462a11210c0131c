//! Arguments that several verbs take: reports and times.

pub(crate) mod reports;
pub(crate) mod time;
