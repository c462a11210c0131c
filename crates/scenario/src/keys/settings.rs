//! What one combination of axis values says: a value of every key, each with its place.

use collectives::{DType, Data, GroupSpec, Shape};
use kernels::Kernel;

use super::calls::CallsValue;
use super::key::find;
use super::model::{CallKeys, Matrix, ScenarioFile};
use super::table::for_every_key;
use crate::values::{self, Place, Placed, Value};

/// Defaults that depend on the kernel.
mod defaults {
    use kernels::Kernel;

    use crate::mode::Mode;
    use crate::values::{ModesValue, OpValue, VariantName};

    pub(super) fn variant(kernel: &Kernel) -> VariantName {
        VariantName(kernel.manifest.variants.keys().next().cloned().unwrap_or_default())
    }

    pub(super) fn op(kernel: &Kernel) -> OpValue {
        let first = kernel.manifest.ops.as_ref().and_then(|ops| ops.first());
        OpValue(first.copied().unwrap_or_default())
    }

    pub(super) fn modes(kernel: &Kernel) -> ModesValue {
        ModesValue(match kernel.manifest.is_host_program() {
            true => vec![Mode::Host],
            false => Mode::ALL.to_vec(),
        })
    }
}

/// One axis of a matrix.
pub(crate) struct Axis<'a> {
    /// The key.
    pub name: &'static str,
    /// Where its list stands.
    pub place: Place,
    /// Whether the key stands outside the matrix, too.
    pub is_stated: bool,
    /// Its values: where each stands, and what it changes.
    pub values: Vec<(Place, Setter<'a>)>,
}

/// Gives a key of a combination another value.
type Setter<'a> = Box<dyn Fn(&mut Settings) + 'a>;

/// The structures that hold a value of every key.
macro_rules! settings {
    ($(
        $name:ident: $type:ty, $doc:literal
        $(, alias($alias:literal))?
        , default($default:literal, $value:expr)
        $(, axis($axis:literal $(, $axis_alias:literal)?))?
        $(, call($call:literal $(, $call_alias:literal)?))?
        ;
    )*) => {
        /// A value of every key: what a scenario of one case would say.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings {
            $(
                #[doc = $doc]
                pub $name: Placed<$type>,
            )*
        }

        /// A value of every key that may differ between calls.
        #[derive(Debug, Clone, PartialEq)]
        pub struct CallSettings {
            $($(
                #[cfg_attr(any(), doc = $call)]
                #[doc = $doc]
                pub $name: Placed<$type>,
            )?)*
        }

        impl Settings {
            /// The values that hold for a kernel where a scenario states nothing.
            pub fn defaults(kernel: &Kernel) -> Settings {
                Settings { $($name: Placed::from(($value)(kernel)),)* }
            }

            /// The values of the keys outside the matrix.
            pub(crate) fn of(file: &ScenarioFile, kernel: &Kernel) -> Settings {
                let Settings { $($name,)* } = Settings::defaults(kernel);
                Settings { $($name: file.$name.clone().unwrap_or($name),)* }
            }

            /// `key=value` for every axis that an id does not spell anyway.
            pub(crate) fn labels(&self, matrix: &Matrix) -> Vec<String> {
                let mut labels = Vec::new();
                $($(
                    if matrix.$name.is_some() && !$axis.is_empty() {
                        labels.push(format!("{}={}", $axis, self.$name.value.label()));
                    }
                )?)*
                labels
            }

            /// The values of a call: those that it states, else those of the case.
            pub fn call(&self, keys: &CallKeys) -> CallSettings {
                CallSettings { $($(
                    $name: {
                        let _: &str = $call;
                        keys.$name.clone().unwrap_or_else(|| self.$name.clone())
                    },
                )?)* }
            }

            /// Makes the values of a call those of the case.
            pub fn set_call(&mut self, call: &CallSettings) {
                $($(
                    let _: &str = $call;
                    self.$name = call.$name.clone();
                )?)*
            }

            /// `key: value` of every key, as a scenario file spells it, for which `is_wanted` answers
            /// yes when asked with the key's name and whether its value differs from `other`'s.
            pub(crate) fn lines(
                &self,
                other: &Settings,
                is_wanted: &dyn Fn(&str, bool) -> bool,
            ) -> Vec<String> {
                let mut lines = Vec::new();
                $(
                    if is_wanted(stringify!($name), self.$name != other.$name) {
                        lines.push(format!(
                            concat!(stringify!($name), ": {}"),
                            self.$name.value.yaml()
                        ));
                    }
                )*
                lines
            }
        }

        impl Settings {
            /// For every key that differs from `other` and is wanted: the settings with that key's value
            /// as in `other`.
            pub fn with_each(
                &self,
                other: &Settings,
                is_wanted: &dyn Fn(&str) -> bool,
            ) -> Vec<Settings> {
                let mut all = Vec::new();
                $(
                    if self.$name != other.$name && is_wanted(stringify!($name)) {
                        let mut next = self.clone();
                        next.$name = other.$name.clone();
                        all.push(next);
                    }
                )*
                all
            }
        }

        impl CallSettings {
            /// As [`Settings::with_each`].
            pub fn with_each(
                &self,
                other: &Settings,
                is_wanted: &dyn Fn(&str) -> bool,
            ) -> Vec<CallSettings> {
                let mut all = Vec::new();
                $($(
                    let _: &str = $call;
                    if self.$name != other.$name && is_wanted(stringify!($name)) {
                        let mut next = self.clone();
                        next.$name = other.$name.clone();
                        all.push(next);
                    }
                )?)*
                all
            }

            /// What the call would state beside the case's values.
            pub(crate) fn beside(&self, case: &Settings) -> CallKeys {
                CallKeys { $($(
                    $name: {
                        let _: &str = $call;
                        (self.$name != case.$name).then(|| self.$name.clone())
                    },
                )?)* }
            }
        }

        /// The axes of a file's matrix, in the order of the table.
        pub(crate) fn axes(file: &ScenarioFile) -> Vec<Axis<'_>> {
            let mut axes = Vec::new();
            $($(
                let _: &str = $axis;
                if let Some(values) = &file.matrix.value.$name {
                    let setter = |value: &'_ Placed<$type>| {
                        let value = value.clone();
                        let setter: Setter<'_> =
                            Box::new(move |settings| settings.$name = value.clone());
                        setter
                    };
                    axes.push(Axis {
                        name: stringify!($name),
                        place: values.place,
                        is_stated: file.$name.is_some(),
                        values: values.value.iter().map(|v| (v.place, setter(v))).collect(),
                    });
                }
            )?)*
            axes
        }
    };
}

for_every_key!(settings);

/// Whether every id spells the key, so that every draft states it.
pub(crate) fn is_spelled(name: &str) -> bool {
    find(name).is_some_and(|key| key.axis == Some(""))
}

impl Settings {
    /// `key: value` of every key that ids do not always spell and that differs from `defaults`.
    pub fn unusual(&self, defaults: &Settings) -> Vec<String> {
        self.lines(defaults, &|name, differs| differs && !is_spelled(name))
    }

    /// The values of every call of the case.
    pub fn calls(&self) -> Vec<CallSettings> {
        let unchanged = CallKeys::default();
        let list: Vec<&CallKeys> = match &self.calls.value {
            CallsValue::Count(count) => vec![&unchanged; *count as usize],
            CallsValue::List(list) => list.iter().collect(),
        };
        list.into_iter().map(|keys| self.call(keys)).collect()
    }
}
