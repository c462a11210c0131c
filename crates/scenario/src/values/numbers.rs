//! Numbers that have bounds of their own.

use std::fmt;

use collectives::rank::MAX_WORLD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::from_yaml::{FromYaml, deserialize};
use super::value::Value;

/// Numbers: a type each, so that an error names the key and stands at the number.
macro_rules! numbers {
    ($(
        $(#[$doc:meta])*
        $name:ident($type:ty): $key:literal, $least:expr, $most:expr, $accepted:literal;
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub $type);

        impl FromYaml for $name {
            fn expected() -> String {
                $accepted.into()
            }
            fn from_text(text: &str) -> Result<Self, String> {
                match text.parse::<$type>() {
                    Ok(number) if ($least..=$most).contains(&number) => Ok($name(number)),
                    _ => Err(format!(concat!($key, ": {} ({} to {})"), text, $least, $most)),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        deserialize!($name);

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "integer", "minimum": $least, "maximum": $most })
            }
        }

        impl Value for $name {
            fn accepted() -> String {
                format!("a number from {} to {}", $least, $most)
            }
            fn yaml(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

numbers! {
    /// How many ranks exist.
    Ranks(u32): "ranks", 1, MAX_WORLD, "a number of ranks";
    /// Persistent thread blocks a rank.
    Blocks(u32): "blocks", 1, u32::MAX, "a number of blocks";
    /// Threads a block.
    Threads(u32): "threads", 1, 1024, "a number of threads from 1 to 1024";
    /// Thread blocks a rank that are resident at once.
    Residency(u32): "residency", 0, u32::MAX, "a number of blocks";
    /// A time in seconds.
    Seconds(u64): "timeout", 0, u64::MAX, "a number of seconds";
}
