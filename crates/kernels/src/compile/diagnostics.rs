//! What a compiler says, made shorter and turned to the user's own files.

use crate::code::MissingCode;
use crate::recipe::Undefined;
use crate::symbols::nearest;
use crate::unit::ENTRIES;

/// Lines of a compiler's messages that are shown.
const LINES: usize = 20;

/// A kernel that has no object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The compiler refused the source; the text names the user's lines.
    #[error("{source_name} does not compile:\n{log}")]
    Compile {
        /// The source as shown to people.
        source_name: String,
        /// The compiler's messages.
        log: String,
    },
    /// An entry that the source does not define.
    #[error("entry `{entry}` is not in {source_name}{hint}")]
    NoEntry {
        /// The entry as the manifest spells it.
        entry: String,
        /// The source as shown to people.
        source_name: String,
        /// The nearest function that the source defines, as the end of a sentence.
        hint: String,
    },
    /// A definition without a value.
    #[error(transparent)]
    Define(#[from] Undefined),
    /// No code for the toolchain's device or architecture: the case is unsupported, not wrong.
    #[error("{} is needed, and there are {}", .0.needed, .0.found)]
    Missing(MissingCode),
    /// Files or programs that could not be used.
    #[error("building {source_name}: {reason}")]
    Io {
        /// The source as shown to people.
        source_name: String,
        /// What failed, and why.
        reason: String,
    },
}

/// The error behind a compiler's messages about a unit with these entries and this source.
pub(crate) fn refused(
    log: &str,
    source_name: &str,
    source: &str,
    entries: &[String],
) -> BuildError {
    let source_name = source_name.to_owned();
    if let Some(entry) = missing_entry(log, entries) {
        let nearest = nearest(entry, defined_in(source).into_iter());
        let hint = match nearest {
            "" => " (it defines no kernel)".into(),
            nearest => format!(" (did you mean `{nearest}`?)"),
        };
        return BuildError::NoEntry { entry: entry.clone(), source_name, hint };
    }
    let mut shown: Vec<&str> = log.lines().take(LINES).collect();
    if log.lines().count() > LINES {
        shown.push("(more lines are left out)");
    }
    BuildError::Compile { source_name, log: shown.join("\n") }
}

/// The entry whose row in the table of entries the compiler does not know.
fn missing_entry<'a>(log: &str, entries: &'a [String]) -> Option<&'a String> {
    log.lines().find_map(|line| {
        let rest = line.strip_prefix(ENTRIES)?.strip_prefix(':')?;
        let number: usize = rest.split(':').next()?.parse().ok()?;
        let undeclared = line.contains("not declared") || line.contains("undeclared");
        entries.get(number.checked_sub(1)?).filter(|_| undeclared)
    })
}

/// Names that follow `RC_KERNEL` or `__global__ void` in a source.
fn defined_in(source: &str) -> Vec<&str> {
    let length = |rest: &str| {
        rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
    };
    let mut names = Vec::new();
    for marker in ["RC_KERNEL", "__global__ void"] {
        for (at, _) in source.match_indices(marker) {
            let rest = source[at + marker.len()..].trim_start();
            names.push(&rest[..length(rest)]);
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const SOURCE: &str = "RC_KERNEL push_base(int a)\n__global__ void pull_base() {}\n";

    fn entries() -> Vec<String> {
        ["pull_bass", "push_base"].map(str::to_owned).to_vec()
    }

    #[rstest]
    #[case("rankcheck-entries:1:13: error: 'pull_bass' was not declared in this scope")]
    #[case("x\nrankcheck-entries:1:13: error: use of undeclared identifier 'pull_bass'")]
    fn a_missing_entry_is_named_with_the_nearest_one(#[case] log: &str) {
        let error = refused(log, "k.hip", SOURCE, &entries());
        let expected = "entry `pull_bass` is not in k.hip (did you mean `pull_base`?)";
        assert_eq!(error.to_string(), expected);
        let none = refused(log, "k.hip", "int x;", &entries());
        assert_eq!(none.to_string(), "entry `pull_bass` is not in k.hip (it defines no kernel)");
    }

    #[rstest]
    #[case::other_error("rankcheck-entries:1:13: error: no matching function")]
    #[case::no_such_line("rankcheck-entries:3:1: error: x was not declared")]
    #[case::line_zero("rankcheck-entries:0:1: error: x was not declared")]
    #[case::elsewhere("k.hip:1:1: error: x was not declared")]
    fn other_messages_are_shown_as_they_are(#[case] log: &str) {
        let error = refused(log, "k.hip", SOURCE, &entries());
        let expected = BuildError::Compile { source_name: "k.hip".into(), log: log.into() };
        assert_eq!(error, expected);
    }

    #[rstest]
    #[case(20, 20, false)]
    #[case(21, 21, true)]
    fn long_messages_are_cut(#[case] lines: usize, #[case] shown: usize, #[case] cut: bool) {
        let log = (0..lines).map(|line| format!("k.hip:{line}: e\n")).collect::<String>();
        let BuildError::Compile { log, .. } = refused(&log, "k.hip", SOURCE, &entries()) else {
            panic!("another error")
        };
        assert_eq!(log.lines().count(), shown);
        assert_eq!(log.ends_with("(more lines are left out)"), cut);
    }
}
