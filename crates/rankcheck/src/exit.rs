//! Exit codes: part of the machine interface.

use std::process::ExitCode;

use verdict::Summary;

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// At least one case passed and none failed; with `--strict`, none was unsupported either.
    Passed = 0,
    /// A case failed, or a gate said no.
    Failed = 1,
    /// Usage, a scenario or a manifest is wrong.
    Usage = 2,
    /// A device, compiler or launcher that was asked for by name is missing.
    Missing = 3,
    /// Nothing passed or failed: nothing was selected, or all of it is unsupported.
    Nothing = 4,
    /// Something that should not happen.
    Internal = 5,
    /// Ctrl-C; reports are complete.
    Interrupted = 130,
}

impl Exit {
    /// The code for a run.
    pub fn of(summary: &Summary, strict: bool) -> Exit {
        match summary {
            Summary { interrupted: true, .. } => Exit::Interrupted,
            Summary { failed: 1.., .. } => Exit::Failed,
            Summary { not_run: 1.., .. } => Exit::Internal,
            Summary { unsupported: 1.., passed: 1.., .. } if strict => Exit::Failed,
            Summary { passed: 0, .. } => Exit::Nothing,
            _ => Exit::Passed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_becomes_a_code() {
        let of = |passed, failed, unsupported, strict| {
            Exit::of(&Summary { passed, failed, unsupported, ..Summary::default() }, strict)
        };
        assert_eq!(of(1, 0, 0, false), Exit::Passed);
        assert_eq!(of(1, 0, 1, false), Exit::Passed);
        assert_eq!(of(1, 0, 1, true), Exit::Failed);
        assert_eq!(of(1, 1, 0, false), Exit::Failed);
        assert_eq!(of(0, 0, 3, false), Exit::Nothing);
        assert_eq!(of(0, 0, 0, false), Exit::Nothing);
        let interrupted = Summary { interrupted: true, failed: 1, ..Summary::default() };
        assert_eq!(Exit::of(&interrupted, false), Exit::Interrupted);
    }
}
