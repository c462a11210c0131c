//! The values of scenario keys: how YAML spells each, how a draft writes it again, and how an id
//! names it.
//!
//! A type here belongs to the table of keys ([`crate::keys`]) and implements [`Value`]. What a value
//! must be whatever the other keys say is checked while it is read, so that the error stands at its
//! own line and column; what depends on other keys is checked by [`crate::expand`](mod@crate::expand).

mod any_of;
mod bench;
mod counts;
mod from_yaml;
mod group;
mod layout;
mod names;
mod numbers;
mod placed;
mod shapes;
mod value;

pub use any_of::AnyOf;
pub use bench::{ArmValue, ArmsValue, BenchValue, CacheValue, VerifyValue};
pub use counts::{CountsValue, ScalarsValue};
pub use from_yaml::{FromYaml, OrDefault};
pub(crate) use from_yaml::{deserialize, elements, read};
pub use group::GroupValue;
pub use layout::{LayoutValue, RegionValue};
pub use names::{DTypeValue, DataValue, ModesValue, OpValue, VariantName};
pub use numbers::{Blocks, Ranks, Residency, Seconds, Threads};
pub use placed::{Place, Placed};
pub use shapes::{ShapeValue, TileValue};
pub use value::{Combination, Value};
