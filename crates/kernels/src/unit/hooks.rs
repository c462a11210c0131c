//! Inline assembly in a preprocessed source: what a manifest's `hooks` replace, and what is refused.
//!
//! Looks at the preprocessor's output, so that headers, macros and excluded parts are seen as the
//! compiler sees them. Assembly in system headers is the host's own, and empty assembly orders the
//! compiler only: both stay.

use std::collections::BTreeMap;

/// The text in front of the hooks, which stand behind a source.
const BEGIN: &str = "rc_hooks_begin";
/// The text behind each hook.
const END: &str = "rc_hook_end";
/// A hook's `%` while the preprocessor sees it.
const OPERAND: &str = "rc_operand_";

/// Assembly that nothing replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) file: String,
    pub(crate) line: u64,
    /// The instructions, as a manifest would name them.
    pub(crate) text: String,
}

/// What stands between the parentheses of an assembly statement.
#[derive(Debug, Default, PartialEq, Eq)]
struct Statement {
    /// Its string literals, joined, with single spaces.
    text: String,
    /// The expressions of its operands, in order: `%0`, `%1`, ..
    operands: Vec<String>,
}

/// A place in preprocessed text.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    file: String,
    line: u64,
    in_system_header: bool,
}

/// What stands behind the source, so that the preprocessor expands macros in hooks as well.
pub(crate) fn declared(hooks: &BTreeMap<String, String>) -> String {
    let mut text = format!("{BEGIN}\n");
    for hook in hooks.values() {
        text += &format!("{} {END}\n", hook.replace('%', OPERAND));
    }
    text
}

/// Replaces the assembly that `hooks` name in a source with [`declared`] hooks behind it.
pub(crate) fn replace(
    text: &str,
    hooks: &BTreeMap<String, String>,
) -> Result<String, Box<Refused>> {
    let (text, expanded) = text.rsplit_once(BEGIN).unwrap_or((text, ""));
    let hooks: Vec<(String, &str)> =
        hooks.keys().map(|named| single_spaced(named)).zip(expanded.split(END)).collect();
    let mut scanner =
        Scanner { text, at: 0, file: String::new(), line: 1, in_system_header: false };
    let mut output = String::with_capacity(text.len());
    let mut copied = 0;
    while let Some((start, line)) = scanner.next_assembly() {
        let Some(statement) = scanner.statement() else { continue };
        if scanner.in_system_header || statement.text.is_empty() {
            continue;
        }
        let hook = hooks.iter().find(|(named, _)| *named == statement.text);
        let Some((_, hook)) = hook else {
            let Statement { text, .. } = statement;
            return Err(Box::new(Refused { file: scanner.file, line, text }));
        };
        output += &text[copied..start];
        output += &filled(hook, &statement.operands);
        // The lines below keep their numbers.
        output.extend(text[start..scanner.at].matches('\n'));
        copied = scanner.at;
    }
    output += &text[copied..];
    Ok(output)
}

/// A hook with the operands in their places, on one line.
fn filled(hook: &str, operands: &[String]) -> String {
    let lines = hook.lines().filter(|line| !line.starts_with('#'));
    let hook = single_spaced(&lines.collect::<Vec<_>>().join(" "));
    let mut parts = hook.split(OPERAND);
    let mut output = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        match part[..digits].parse::<usize>().ok().and_then(|index| operands.get(index)) {
            Some(operand) => output += &format!("({})", single_spaced(operand)),
            // A remainder, or an operand that there is not: the compiler says what is wrong.
            None => output += &format!("%{}", &part[..digits]),
        }
        output += &part[digits..];
    }
    output
}

/// Runs of spaces, tabs and line ends as one space, none at the ends.
fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Goes behind the next `asm` in any spelling; where it began, and at which line.
    fn next_assembly(&mut self) -> Option<(usize, u64)> {
        loop {
            let rest = self.rest();
            let word = word(rest);
            match rest.chars().next()? {
                '#' if self.at == 0 || self.text[..self.at].ends_with('\n') => self.marker(),
                '"' | '\'' => self.literal(),
                _ if word.is_empty() => self.step(1),
                _ if ["asm", "__asm", "__asm__"].contains(&word) => {
                    let start = (self.at, self.line);
                    self.step(word.len());
                    return Some(start);
                }
                _ => {
                    let (length, raw) = (word.len(), word.ends_with('R'));
                    self.step(length);
                    if raw && self.rest().starts_with('"') {
                        self.raw_literal();
                    }
                }
            }
        }
    }

    /// Goes on by at least so many bytes, to the next character.
    fn step(&mut self, bytes: usize) {
        let mut end = (self.at + bytes).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.line += self.text[self.at..end].matches('\n').count() as u64;
        self.at = end;
    }

    /// `# 12 "file.h" 1 3`: the next line is line 12 of a file, a system header's where there is a 3.
    fn marker(&mut self) {
        let line = self.rest().lines().next().unwrap_or_default();
        let length = line.len() + 1;
        let mut words = line[1..].trim_start().trim_start_matches("line ").splitn(2, ' ');
        let number = words.next().and_then(|number| number.parse::<u64>().ok());
        let named = words.next().and_then(|rest| rest.trim().strip_prefix('"')?.rsplit_once('"'));
        if let (Some(number), Some((file, flags))) = (number, named) {
            self.file = file.replace("\\\\", "\\");
            self.in_system_header = flags.split(' ').any(|flag| flag == "3");
            self.step(length);
            self.line = number;
        } else {
            self.step(length);
        }
    }

    /// Goes behind a string or a character.
    fn literal(&mut self) {
        let rest = self.rest();
        let quote = rest.as_bytes()[0];
        let mut end = 1;
        while end < rest.len() && rest.as_bytes()[end] != quote && rest.as_bytes()[end] != b'\n' {
            end += 1 + usize::from(rest.as_bytes()[end] == b'\\');
        }
        self.step(end + 1);
    }

    /// Goes behind `"delimiter(..)delimiter"`.
    fn raw_literal(&mut self) {
        let rest = self.rest();
        let delimiter = rest[1..].split('(').next().unwrap_or_default();
        let close = format!("){delimiter}\"");
        let end = rest.find(&close).map_or(rest.len(), |at| at + close.len());
        self.step(end);
    }

    /// Goes behind qualifiers and the parentheses of an assembly statement.
    fn statement(&mut self) -> Option<Statement> {
        const QUALIFIERS: [&str; 6] =
            ["volatile", "__volatile__", "__volatile", "goto", "inline", "const"];
        loop {
            self.blanks();
            let word = word(self.rest());
            if word.is_empty() {
                break;
            }
            if !QUALIFIERS.contains(&word) {
                return None;
            }
            self.step(word.len());
        }
        if !self.rest().starts_with('(') {
            return None;
        }
        let open = self.at + 1;
        let sections = self.sections();
        let first = sections.first().map_or(open..open, Clone::clone);
        let text = strings(&self.text[first]).join("");
        let text = single_spaced(&text.replace("\\n", " ").replace("\\t", " "));
        let operands =
            sections.iter().skip(1).take(2).flat_map(|s| operands(&self.text[s.clone()]));
        Some(Statement { text, operands: operands.collect() })
    }

    fn blanks(&mut self) {
        loop {
            match self.rest().chars().next() {
                Some('#') if self.text[..self.at].ends_with('\n') => self.marker(),
                Some(c) if c.is_whitespace() => self.step(1),
                _ => return,
            }
        }
    }

    /// Goes behind the matching parenthesis; the parts between colons at its own level.
    fn sections(&mut self) -> Vec<std::ops::Range<usize>> {
        let mut depth = 0;
        let mut sections = Vec::new();
        let mut start = self.at + 1;
        while let Some(c) = self.rest().chars().next() {
            match c {
                '"' | '\'' => {
                    self.literal();
                    continue;
                }
                '#' if self.text[..self.at].ends_with('\n') => {
                    self.marker();
                    continue;
                }
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                // `a::b` is a name, and `::` between strings two empty sections.
                ':' if depth == 1 && !self.inside_name() => {
                    sections.push(start..self.at);
                    start = self.at + 1;
                }
                _ => {}
            }
            if depth == 0 {
                sections.push(start..self.at);
                self.step(1);
                break;
            }
            self.step(1);
        }
        sections
    }

    /// Whether the colon here is half of the `::` of a qualified name.
    fn inside_name(&self) -> bool {
        let (before, after) = (&self.text[..self.at], &self.text[self.at + 1..]);
        let named = |c: char| c.is_alphanumeric() || c == '_' || c == '>';
        let starts = |text: &str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        match (before.strip_suffix(':'), after.strip_prefix(':')) {
            (Some(before), _) => before.ends_with(named) && starts(after),
            (_, Some(after)) => before.ends_with(named) && starts(after),
            _ => false,
        }
    }
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

/// The string literals of a text, without their quotes.
fn strings(text: &str) -> Vec<&str> {
    let mut strings = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('"') {
        let body = &rest[open + 1..];
        let mut close = 0;
        while close < body.len() && body.as_bytes()[close] != b'"' {
            close += 1 + usize::from(body.as_bytes()[close] == b'\\');
        }
        strings.push(&body[..close.min(body.len())]);
        rest = body.get(close + 1..).unwrap_or_default();
    }
    strings
}

/// The expressions of `"=r"(a), [name] "l"(b)`.
fn operands(section: &str) -> Vec<String> {
    let mut operands = Vec::new();
    let (mut depth, mut start, mut quoted) = (0, 0, false);
    for (at, c) in section.char_indices() {
        match c {
            '"' if depth == 0 => quoted = !quoted,
            _ if quoted => {}
            '(' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            ')' => {
                depth -= 1;
                if depth == 0 {
                    operands.push(section[start..at].trim().to_owned());
                }
            }
            _ => {}
        }
    }
    operands
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn hooks() -> BTreeMap<String, String> {
        [
            ("ld.acquire.sys.u32 %0, [%1];", "%0 = load(%1)"),
            ("st.release.sys.u32 [%1], %0;", "store(%1, %0)"),
        ]
        .map(|(named, hook)| (named.to_owned(), hook.to_owned()))
        .into()
    }

    fn refused(text: &str) -> (String, u64, String) {
        let text = text.to_owned() + &declared(&hooks());
        let Refused { file, line, text } = *replace(&text, &hooks()).unwrap_err();
        (file, line, text)
    }

    #[rstest]
    #[case(
        "asm volatile(\"ld.acquire.sys.u32 %0, [%1];\" : \"=r\"(v) : \"l\"(p) : \"memory\");",
        "(v) = load((p));"
    )]
    #[case(
        "__asm__ __volatile__ (\"st.release.sys.u32  [%1], %0;\" :: \"r\"(f(a, b)), \"l\"(p + 1));",
        "store((p + 1), (f(a, b)));"
    )]
    #[case(
        "asm(\"ld.acquire.sys.u32 %0, \"\n\"[%1];\\n\" : \"=r\"(s::v[x]) : \"l\"(p));",
        "(s::v[x]) = load((p))\n;"
    )]
    #[case("asm volatile(\"\" ::: \"memory\");", "asm volatile(\"\" ::: \"memory\");")]
    #[case("x = \"asm volatile(1)\"; plasma(2);", "x = \"asm volatile(1)\"; plasma(2);")]
    #[case("R\"(asm(\"nop\"))\"; '\"'; f();", "R\"(asm(\"nop\"))\"; '\"'; f();")]
    #[case(
        "# 3 \"/usr/include/a.h\" 1 3\nint f() __asm__(\"g\");\n",
        "# 3 \"/usr/include/a.h\" 1 3\nint f() __asm__(\"g\");\n"
    )]
    fn replaced_or_left(#[case] text: &str, #[case] expected: &str) {
        let text = text.to_owned() + &declared(&hooks());
        assert_eq!(replace(&text, &hooks()).unwrap(), expected);
    }

    #[rstest]
    #[case("# 7 \"a.h\"\nint x;\nasm(\"nop;\");", ("a.h", 8, "nop;"))]
    #[case("# 1 \"k.hip\"\nasm\n  volatile goto (\"bra %l0;\" :::: there);", ("k.hip", 1, "bra %l0;"))]
    #[case("# 1 \"k.hip\"\n__asm(\"a;\\n\\t\" \"b;\");", ("k.hip", 1, "a; b;"))]
    #[case("# 1 \"/usr/a.h\" 3\nasm(\"x\");\n# 5 \"k.hip\" 2\n__asm__ volatile(\"y\");", ("k.hip", 5, "y"))]
    fn refused_with_its_place(#[case] text: &str, #[case] expected: (&str, u64, &str)) {
        let (file, line, text) = refused(text);
        assert_eq!((file.as_str(), line, text.as_str()), expected);
    }
}
