//! What every value of a scenario key can do.

use std::fmt::Debug;

use collectives::Group;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::from_yaml::FromYaml;

/// A value of a scenario key.
pub trait Value: FromYaml + Clone + Debug + PartialEq + DeserializeOwned + JsonSchema {
    /// What may be written, in words, for the reference page and for error messages.
    fn accepted() -> String;

    /// The value as a scenario file spells it, on one line; reading it again gives an equal value.
    fn yaml(&self) -> String;

    /// The value as an id spells it.
    fn label(&self) -> String {
        self.yaml()
    }

    /// Whether this value, stated in `exclude.when`, means the value `other` of a combination.
    fn means(&self, other: &Self, _combination: Combination<'_>) -> bool {
        self == other
    }
}

/// What a value in `exclude.when` may depend on: a group is known by its ranks, not by its name.
#[derive(Debug, Clone, Copy)]
pub struct Combination<'a> {
    /// How many ranks exist.
    pub ranks: u32,
    /// The group of the first call.
    pub group: &'a Group,
}

impl FromYaml for bool {
    fn expected() -> String {
        "true or false".into()
    }
    fn from_bool(yes: bool) -> Result<bool, String> {
        Ok(yes)
    }
}

impl Value for bool {
    fn accepted() -> String {
        "`true` or `false`".into()
    }
    fn yaml(&self) -> String {
        self.to_string()
    }
}

impl FromYaml for u32 {
    fn expected() -> String {
        "a number below 2^32".into()
    }
    fn from_number(number: i128) -> Result<u32, String> {
        u32::try_from(number).map_err(|_| format!("`{number}`, expected {}", u32::expected()))
    }
}

impl Value for u32 {
    fn accepted() -> String {
        u32::expected()
    }
    fn yaml(&self) -> String {
        self.to_string()
    }
}

impl FromYaml for u64 {
    fn expected() -> String {
        "a number below 2^64".into()
    }
    fn from_number(number: i128) -> Result<u64, String> {
        u64::try_from(number).map_err(|_| format!("`{number}`, expected {}", u64::expected()))
    }
}

impl Value for u64 {
    fn accepted() -> String {
        u64::expected()
    }
    fn yaml(&self) -> String {
        self.to_string()
    }
}

/// A text that YAML reads as a string again: in quotes where it could be taken for something else.
pub(crate) fn scalar(text: &str) -> String {
    const WORDS: [&str; 10] =
        ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "default"];
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_word { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}
