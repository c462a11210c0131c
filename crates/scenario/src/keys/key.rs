//! The table as data, for pages, filters and tests.

use super::calls::CallsValue;
use super::settings::Settings;
use super::table::for_every_key;
use crate::values::{self, Value};

/// One key of the table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// As it stands in a file.
    pub name: &'static str,
    /// Another spelling that is read, too.
    pub alias: Option<&'static str>,
    /// What it means, in whole sentences.
    pub doc: &'static str,
    /// What may be written, in words.
    pub accepted: fn() -> String,
    /// Its default, as a file spells it; in words where it depends on the kernel.
    pub default: &'static str,
    /// What ids call it where it varies; empty where their own parts spell it. Absent for a key that
    /// is no axis.
    pub axis: Option<&'static str>,
    /// What stands in front of its value in the label of a call. Absent for a key that no call may
    /// state.
    pub call: Option<&'static str>,
    /// Its value in a case: as a file spells it, and as an id does.
    pub spellings: fn(&Settings) -> [String; 2],
}

const fn first(of: &[&'static str]) -> Option<&'static str> {
    match of {
        [first, ..] => Some(*first),
        [] => None,
    }
}

macro_rules! describe {
    ($(
        $name:ident: $type:ty, $doc:literal
        $(, alias($alias:literal))?
        , default($default:literal, $value:expr)
        $(, axis($axis:literal $(, $axis_alias:literal)?))?
        $(, call($call:literal $(, $call_alias:literal)?))?
        ;
    )*) => {
        /// Every key, in the order of the table.
        pub const KEYS: &[Key] = &[$(
            Key {
                name: stringify!($name),
                alias: first(&[$($alias)?]),
                doc: $doc,
                accepted: <$type as Value>::accepted,
                default: $default,
                axis: first(&[$($axis)?]),
                call: first(&[$($call)?]),
                spellings: |settings| {
                    [settings.$name.value.yaml(), settings.$name.value.label()]
                },
            },
        )*];
    };
}

for_every_key!(describe);

/// The key of this name, or of this other spelling.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name || key.alias == Some(name))
}
