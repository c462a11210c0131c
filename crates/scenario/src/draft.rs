//! A case as a scenario file would say it: what `fuzz` draws and `--shrink` makes smaller.
//!
//! A draft holds the settings that a case was made of, and so forgets no key. Writing it and expanding
//! what was written gives the same case again.

use std::path::Path;

use kernels::{Kernel, Library};

use crate::ScenarioSource;
use crate::case::Case;
use crate::expand::{ExpandError, expand};
use crate::keys::{CallKeys, CallSettings, Settings, is_spelled};
use crate::mode::Mode;
use crate::values::ModesValue;

/// Everything that a scenario file of one case says.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// What the scenario's name begins with.
    pub theme: &'static str,
    /// The kernel, as its manifest names it.
    pub kernel: String,
    /// The value of every key; those of calls are in `calls`.
    pub settings: Settings,
    /// The values of every call. Never empty.
    pub calls: Vec<CallSettings>,
    /// What holds where a file states nothing.
    defaults: Settings,
}

/// A draft that is no case.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DraftError {
    /// What is written does not parse.
    #[error(transparent)]
    Yaml(#[from] kernels::yaml::YamlError),
    /// What is written cannot be expanded.
    #[error(transparent)]
    Expand(#[from] ExpandError),
    /// The group of a call does not fit the number of ranks.
    #[error("{0}: a group that does not fit")]
    Group(String),
}

impl Draft {
    /// A draft of a kernel with these settings.
    pub fn new(theme: &'static str, kernel: &Kernel, settings: Settings) -> Draft {
        Draft {
            theme,
            kernel: kernel.manifest.kernel.clone(),
            calls: settings.calls(),
            settings,
            defaults: Settings::defaults(kernel),
        }
    }

    /// What a case is made of.
    pub fn of(theme: &'static str, case: &Case) -> Draft {
        Draft::new(theme, &case.kernel, Settings::clone(&case.settings))
    }

    /// The same in one mode only.
    pub fn in_mode(mut self, mode: Mode) -> Draft {
        self.settings.modes = ModesValue(vec![mode]).into();
        self
    }

    /// The first of its modes.
    pub fn mode(&self) -> Mode {
        self.settings.modes.value.0.first().copied().unwrap_or(Mode::Logical)
    }

    /// Makes the first call's values those of the case, so that less has to be said about calls.
    pub fn lead_with_first_call(&mut self) {
        self.settings.set_call(&self.calls[0]);
    }

    /// The values that its kernel's cases have where a file states nothing.
    pub fn defaults(&self) -> &Settings {
        &self.defaults
    }

    /// The scenario's name: its theme, and that of its file.
    pub fn name(&self, file: &Path) -> String {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        format!("{}/{}", self.theme, stem.unwrap_or_default())
    }

    /// The scenario file; `comment` is its first line. Keys that ids always spell are stated, others
    /// where they differ from the default.
    pub fn yaml(&self, name: &str, comment: &str) -> String {
        let is_wanted =
            |name: &str, differs: bool| name != "calls" && (differs || is_spelled(name));
        let mut text = format!("# {comment}\nscenario: {name}\nkernel: {}\n", self.kernel);
        for line in self.settings.lines(&self.defaults, &is_wanted) {
            text += &format!("{line}\n");
        }
        let calls: Vec<CallKeys> =
            self.calls.iter().map(|call| call.beside(&self.settings)).collect();
        match calls.iter().all(|call| *call == CallKeys::default()) {
            true if calls.len() == 1 => {}
            true => text += &format!("calls: {}\n", calls.len()),
            false => {
                text += "calls:\n";
                for call in calls {
                    text += &format!("  - {}\n", call.yaml());
                }
            }
        }
        text
    }

    /// The case that the file gives.
    ///
    /// # Errors
    /// Whatever a file's reader would be told.
    pub fn case(&self, file: &Path, library: &Library) -> Result<Case, DraftError> {
        let text = self.yaml(&self.name(file), "drawn");
        let source = ScenarioSource { path: file.to_owned(), text };
        let cases = expand(file, &source.parse()?, library, None)?.cases;
        cases.into_iter().next().ok_or_else(|| DraftError::Group(self.name(file)))
    }
}
