//! Filters: printing and parsing, and what they mean, against an evaluator without a grammar.

use std::sync::LazyLock;

use proptest::prelude::*;
use regex_lite::Regex;

use super::expanded;
use crate::case::Case;
use crate::filter::{Expression, Field, Pattern};
use crate::keys::KEYS;
use crate::mode::Mode;

/// Cases that the atoms below tell apart.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let text = "scenario: t/s\nkernel: all_gather/push\nmatrix: {ranks: [2, 4], dtype: [f16, f32], \
                group: [world, reversed], in_place: [true, false]}\n";
    expanded(text).expect("a valid matrix").cases
});

/// Atoms, and what each means.
type Atom = (&'static str, fn(&Case, Mode) -> bool);

const ATOMS: [Atom; 10] = [
    ("test(w4)", |case, _| case.problem.world == 4),
    ("ranks(2)", |case, _| case.problem.world == 2),
    ("dtype( f16 )", |case, _| case.problem.dtype.name() == "f16"),
    ("dtype(/^f/)", |_, _| true),
    ("group(=reversed)", |case, _| !case.problem.calls[0].group.is_world(case.problem.world)),
    ("in_place(true)", |case, _| case.problem.in_place),
    ("kernel(push)", |_, _| true),
    ("kernel(=push)", |_, _| false),
    ("mode(process)", |_, mode| mode == Mode::Process),
    ("all()", |_, _| true),
];

/// An expression without a grammar, and one way to write it.
#[derive(Debug, Clone)]
enum Tree {
    Atom(usize),
    Not(Box<Tree>, bool),
    And(Box<Tree>, Box<Tree>, bool),
    Less(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>, u8),
}

impl Tree {
    fn means(&self, case: &Case, mode: Mode) -> bool {
        match self {
            Tree::Atom(atom) => (ATOMS[*atom].1)(case, mode),
            Tree::Not(inner, _) => !inner.means(case, mode),
            Tree::And(a, b, _) => a.means(case, mode) && b.means(case, mode),
            Tree::Less(a, b) => a.means(case, mode) && !b.means(case, mode),
            Tree::Or(a, b, _) => a.means(case, mode) || b.means(case, mode),
        }
    }

    /// 0 binds least: or, and, not, atom.
    fn strength(&self) -> u8 {
        match self {
            Tree::Or(..) => 0,
            Tree::And(..) | Tree::Less(..) => 1,
            Tree::Not(..) => 2,
            Tree::Atom(_) => 3,
        }
    }

    /// In parentheses only where it binds less than `least`.
    fn text(&self, least: u8) -> String {
        let text = match self {
            Tree::Atom(atom) => ATOMS[*atom].0.to_owned(),
            Tree::Not(inner, true) => format!("not {}", inner.text(2)),
            Tree::Not(inner, false) => format!("!{}", inner.text(2)),
            Tree::And(a, b, true) => format!("{} and {}", a.text(1), b.text(2)),
            Tree::And(a, b, false) => format!("{}&{}", a.text(1), b.text(2)),
            Tree::Less(a, b) => format!("{} - {}", a.text(1), b.text(2)),
            Tree::Or(a, b, 0) => format!("{} or {}", a.text(0), b.text(1)),
            Tree::Or(a, b, 1) => format!("{}+ {}", a.text(0), b.text(1)),
            Tree::Or(a, b, _) => format!("{} |{}", a.text(0), b.text(1)),
        };
        if self.strength() < least { format!("( {text})") } else { text }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let atom = (0..ATOMS.len()).prop_map(Tree::Atom);
    atom.prop_recursive(5, 40, 2, |inner| {
        let two = (inner.clone().prop_map(Box::new), inner.clone().prop_map(Box::new));
        prop_oneof![
            (inner.prop_map(Box::new), any::<bool>()).prop_map(|(a, word)| Tree::Not(a, word)),
            (two.clone(), any::<bool>()).prop_map(|((a, b), word)| Tree::And(a, b, word)),
            two.clone().prop_map(|(a, b)| Tree::Less(a, b)),
            (two, 0..3u8).prop_map(|((a, b), how)| Tree::Or(a, b, how)),
        ]
    })
}

fn expression() -> impl Strategy<Value = Expression> {
    let fields: Vec<Field> = [Field::Test, Field::Scenario, Field::Kernel, Field::Mode]
        .into_iter()
        .chain(KEYS.iter().map(Field::Key))
        .collect();
    let text = "[a-z0-9_./:{][a-z0-9_./:, {}]{0,6}[a-z0-9_.}]";
    let pattern = prop_oneof![
        text.prop_filter("a regex", |text| !text.starts_with('/')).prop_map(Pattern::Text),
        "[a-z0-9 ]{0,6}[a-z0-9]".prop_map(Pattern::Exact),
        "[a-z0-9.^$(|+]{0,6}"
            .prop_filter_map("no regex", |text| { Regex::new(&text).ok().map(Pattern::Regex) }),
    ];
    let field = (prop::sample::select(fields), pattern)
        .prop_map(|(field, pattern)| Expression::Field(field, pattern));
    let leaf = prop_oneof![1 => Just(Expression::All), 6 => field];
    leaf.prop_recursive(5, 40, 2, |inner| {
        let two = (inner.clone().prop_map(Box::new), inner.clone().prop_map(Box::new));
        prop_oneof![
            inner.prop_map(|inner| Expression::Not(Box::new(inner))),
            two.clone().prop_map(|(a, b)| Expression::And(a, b)),
            two.prop_map(|(a, b)| Expression::Or(a, b)),
        ]
    })
}

proptest! {
    #[test]
    fn an_expression_is_read_as_it_is_printed(expression in expression()) {
        let text = expression.to_string();
        prop_assert_eq!(Expression::parse(&text), Ok(expression), "{}", text);
    }

    #[test]
    fn an_expression_means_what_it_says(tree in tree()) {
        let text = tree.text(0);
        let parsed = Expression::parse(&text);
        let parsed = parsed.map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        for case in CASES.iter() {
            for mode in Mode::LAUNCHING {
                let name = case.name(kernels::DeviceName::Cpu, mode);
                let holds = parsed.holds(case, &name, mode);
                prop_assert_eq!(holds, tree.means(case, mode), "{} of {}", text, name);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_column_of_its_own(
        text in "[-!&|+() a-z/=ä]{0,40}|(test|all|ranks|!|&|\\(|\\)| or ){0,12}",
    ) {
        if let Err(crate::FilterError::Wrong(wrong)) = Expression::parse(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&wrong.column), "{text}: {wrong}");
            prop_assert!(!wrong.reason.is_empty(), "{text}: {wrong}");
        }
    }
}
