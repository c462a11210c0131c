//! The one table of scenario keys, and everything that follows from it.
//!
//! A key is one entry of [`table`](self): its name, the type of its values, its default, and where
//! it may stand. From the table follow the file's model ([`ScenarioFile`], [`Matrix`], [`CallKeys`],
//! [`When`]), the settings of a combination ([`Settings`], [`CallSettings`]), how ids spell axes, what
//! filters may ask for, what a [`Draft`](crate::Draft) writes, and the reference page
//! ([`reference`](fn@reference)). A new key is an entry here, and a field of [`Case`](crate::Case) or of
//! its problem that `expand` fills from the settings.

mod calls;
mod key;
mod model;
mod reference;
mod settings;
mod table;

#[cfg(test)]
pub(crate) use table::for_every_key;

pub use calls::{CallsValue, MOST_CALLS};
pub use key::{KEYS, Key, find};
pub use model::{CallKeys, Exclude, Matrix, Sample, ScenarioFile, When};
pub use reference::reference;
pub(crate) use settings::{Axis, axes, is_spelled};
pub use settings::{CallSettings, Settings};
