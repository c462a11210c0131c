//! A scenario file as YAML says it. Unknown keys, wrong types and duplicates are errors.

use schemars::JsonSchema;
use serde::Deserialize;

use super::calls::CallsValue;
use super::table::for_every_key;
use crate::values::{self, AnyOf, Combination, Place, Placed, Value};

/// The structures into which a file is read. A key's label only says here that it may stand there.
macro_rules! model {
    ($(
        $name:ident: $type:ty, $doc:literal
        $(, alias($alias:literal))?
        , default($default:literal, $value:expr)
        $(, axis($axis:literal $(, $axis_alias:literal)?))?
        $(, call($call:literal $(, $call_alias:literal)?))?
        ;
    )*) => {
        /// One scenario file.
        #[derive(Debug, Clone, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct ScenarioFile {
            /// `theme/name`; ids begin with it.
            pub scenario: Placed<String>,
            /// The kernel: searched beside this file, in --kernels, in kernels/, in the binary.
            pub kernel: Placed<String>,
            /// Axes: every combination of their values is a case.
            #[serde(default)]
            pub matrix: Placed<Matrix>,
            $(
                #[doc = $doc]
                $(#[serde(alias = $alias)])?
                pub $name: Option<Placed<$type>>,
            )*
            /// Combinations that are left out.
            #[serde(default)]
            pub exclude: Vec<Placed<Exclude>>,
            /// Thins the matrix.
            pub sample: Option<Sample>,
            /// Lifts the limit on the number of combinations to this.
            pub allow_cases: Option<usize>,
        }

        /// Axes; each list has at least one value.
        #[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct Matrix {
            $($(
                #[cfg_attr(any(), doc = $axis)]
                #[doc = $doc]
                $(#[serde(alias = $axis_alias)])?
                pub $name: Option<Placed<Vec<Placed<$type>>>>,
            )?)*
        }

        /// What differs in a call; keys that it does not state are the case's.
        #[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        #[schemars(rename = "Call")]
        pub struct CallKeys {
            $($(
                #[cfg_attr(any(), doc = $call)]
                #[doc = $doc]
                $(#[serde(alias = $call_alias)])?
                pub $name: Option<Placed<$type>>,
            )?)*
        }

        /// Values of axes to match; a list means any of its elements.
        #[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct When {
            $($(
                #[cfg_attr(any(), doc = $axis)]
                #[doc = $doc]
                $(#[serde(alias = $axis_alias)])?
                pub $name: Option<AnyOf<$type>>,
            )?)*
        }

        impl ScenarioFile {
            /// Gives an axis other values, as a file would list them between brackets.
            ///
            /// # Errors
            /// There is no such axis, or it has no such values.
            pub fn set_axis(&mut self, name: &str, list: &str) -> Result<(), String> {
                $($(
                    let _: &str = $axis;
                    if [stringify!($name) $(, $axis_alias)?].contains(&name) {
                        let read = serde_yaml::from_str(&format!("[{list}]"));
                        let values: Vec<$type> = read.map_err(|error| {
                            let error = error.to_string();
                            format!("{name}: {}", error.lines().next().unwrap_or_default())
                        })?;
                        let at_no_place = |value| Placed { value, place: Place::default() };
                        let value = values.into_iter().map(at_no_place).collect();
                        self.matrix.value.$name = Some(Placed { value, place: Place::default() });
                        self.$name = None;
                        return Ok(());
                    }
                )?)*
                let names = super::key::KEYS.iter().filter(|key| key.axis.is_some());
                let names: Vec<&str> = names.map(|key| key.name).collect();
                Err(format!("no axis is called `{name}` (there are {})", names.join(", ")))
            }
        }

        impl When {
            /// Whether a combination has all of these values.
            pub(crate) fn matches(
                &self,
                settings: &super::Settings,
                combination: Combination<'_>,
            ) -> bool {
                true $($(
                    && {
                        let _: &str = $axis;
                        let stated = self.$name.as_ref();
                        stated.is_none_or(|any| any.mean(&settings.$name.value, combination))
                    }
                )?)*
            }
        }

        impl CallKeys {
            /// The call as a scenario file spells it, in braces.
            pub(crate) fn yaml(&self) -> String {
                let mut keys: Vec<String> = Vec::new();
                $($(
                    let _: &str = $call;
                    let stated = self.$name.as_ref();
                    keys.extend(stated.map(|stated| {
                        format!(concat!(stringify!($name), ": {}"), stated.value.yaml())
                    }));
                )?)*
                format!("{{{}}}", keys.join(", "))
            }

            /// The call as an id spells it.
            pub(crate) fn label(&self) -> String {
                let mut parts: Vec<(&str, String)> = Vec::new();
                $($(
                    let stated = self.$name.as_ref();
                    let part = stated.map(|stated| format!("{}{}", $call, stated.value.label()));
                    parts.extend(part.map(|part| (stringify!($name), part)));
                )?)*
                // Ids spell a call's layout last, where it was before it became an axis.
                parts.sort_by_key(|(name, _)| *name == "layout");
                match parts.is_empty() {
                    true => "same".to_owned(),
                    false => parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join("-"),
                }
            }
        }
    };
}

for_every_key!(model);

/// Combinations to leave out: those that match all of `when`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exclude {
    /// Values of axes; a list means any of its elements.
    pub when: When,
    /// Why these combinations are left out.
    pub reason: String,
}

/// Thins a matrix.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sample {
    /// Keeps a part in which every pair of axis values occurs; the number seeds the choice.
    Pairwise(u64),
}
