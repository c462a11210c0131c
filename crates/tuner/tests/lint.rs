//! Every rule fires where it must, at its line and column, and stays silent just beside that.

use proptest::prelude::*;
use rstest::rstest;
use tuner::Dialect;
use tuner::lint::{Finding, RuleId, Severity, fix, lint};

const A: Dialect = Dialect::NcclExample;

/// `rule@line:column` of all findings.
fn places(file: &str, dialect: Dialect) -> Vec<String> {
    let place = |f: &Finding| format!("{}@{}:{}", f.rule.name(), f.line, f.column);
    lint(file.as_bytes(), dialect).iter().map(place).collect()
}

/// (rule, a file that it finds something in, where, a neighbour that it must leave alone)
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str, &str)] = &[
    ("too-few-fields", "allreduce,0,9,tree,ll,4,1", "1:1", "allreduce,0,9,tree,ll,4,1,8"),
    ("too-many-fields", "allreduce,0,9,tree,ll,4,1,8,-1,-1,cpx,8", "1:35",
     "allreduce,0,9,tree,ll,4,1,8,-1,-1"),
    ("unknown-name", "alltoall,0,9,tree,ll,4,1,8", "1:1", "allreduce,0,9,tree,ll,4,1,8"),
    ("unknown-name", "allreduce,0,9,Tree,ll,4,1,8", "1:15", "allreduce,0,9,nvls_tree,ll,4,1,8"),
    ("unknown-name", "allreduce,0,9,tree,LL,4,1,8", "1:20", "allreduce,0,9,tree, ll ,4,1,8"),
    ("bad-bytes", "allreduce,32M,99999999,tree,ll,4,1,8", "1:11", "allreduce,32,99,tree,ll,4,1,8"),
    ("bad-bytes", "allreduce,0,0x100,tree,ll,4,1,8", "1:13", "allreduce,0,100,tree,ll,4,1,8"),
    ("bad-bytes", "allreduce,0,-1,tree,ll,4,1,8", "1:13",
     "allreduce,0,18446744073709551615,tree,ll,4,1,8"),
    ("bad-bytes", "allreduce,0,18446744073709551616,tree,ll,4,1,8", "1:13",
     "allreduce,0,18446744073709551615,tree,ll,4,1,8"),
    ("bad-integer", "allreduce,0,9,tree,ll,4,1,any", "1:27", "allreduce,0,9,tree,ll,4,1,-1"),
    ("bad-integer", "allreduce,0,9,tree,ll,4,1,4294967295", "1:27", "allreduce,0,9,tree,ll,4,1,8"),
    ("empty-field", "allreduce,0,9,tree,ll,,2,16,-1", "1:23", "allreduce,0,9,tree,ll,4,2,16,-1"),
    ("empty-field", "allreduce,0,9,tree,ll, ,2,16", "1:23", "allreduce,0,9,tree,ll, 4,2,16"),
    ("min-above-max", "allreduce,10,9,tree,ll,4,1,8", "1:11", "allreduce,9,9,tree,ll,4,1,8"),
    ("never-matches", "allreduce,0,9,tree,ll,4,0,8", "1:25", "allreduce,0,9,tree,ll,4,-1,8"),
    ("never-matches", "allreduce,0,9,tree,ll,4,1,0", "1:27", "allreduce,0,9,tree,ll,4,1,1"),
    ("never-matches", "allreduce,0,9,tree,ll,4,1,8,0", "1:29", "allreduce,0,9,tree,ll,4,1,8,1"),
    ("never-matches", "allreduce,0,9,tree,ll,4,1,8,-1,2", "1:32",
     "allreduce,0,9,tree,ll,4,1,8,-1,1"),
    ("ranks-below-nodes", "allreduce,0,9,tree,ll,4,16,8", "1:28", "allreduce,0,9,tree,ll,4,8,8"),
    ("nul-byte", "allreduce,0,9,tree,ll,4,1,8\0", "1:28", "allreduce,0,9,tree,ll,4,1,8"),
    ("live-comment", " # a,0,9,tree,ll,4,1,8", "1:1", " # a,0,9,tree,ll,4,1"),
    ("header-row", "colltype,minbytes,maxbytes,algorithm,protocol,channels,nNodes,nRanks", "1:1",
     "# colltype,minbytes,maxbytes"),
    ("header-row", "Collective,Min Bytes,max", "1:1", "allreduce,0,9,tree,ll,4,1,8"),
    ("quotes", "\"allreduce\",0,9,tree,ll,4,1,8", "1:1", "# \"allreduce\""),
    ("byte-order-mark", "\u{feff}# x", "1:1", "# \u{feff}"),
    ("crlf", "# a\r\n# b\r\n", "1:1", "# a\n# b\n"),
    ("indented-comment", "\t# a", "1:1", "# a"),
    ("trailing-text", "allreduce,0,9,tree,ll,4,1,8 # x", "1:28", "allreduce,0,9,tree,ll,4,1,8 "),
    ("channels", "allreduce,0,9,tree,ll,0,1,8", "1:23", "allreduce,0,9,tree,ll,-1,1,8"),
    ("channels", "allreduce,0,9,tree,ll,-2,1,8", "1:23", "allreduce,0,9,tree,ll,1,1,8"),
    ("shadowed", "allreduce,0,9,tree,ll,4,1,8\nallreduce,2,3,ring,ll,4,1,8", "2:1",
     "allreduce,0,9,tree,ll,4,1,8\nallreduce,2,3,ring,ll,4,2,8"),
    ("shadowed", "allreduce,0,9,tree,ll,4,-1,8\nallreduce,5,20,ring,ll,4,1,8", "2:1",
     "allreduce,0,9,tree,ll,4,-1,8\nallreduce,10,20,ring,ll,4,1,8"),
    ("specific-first", "allreduce,0,9,tree,ll,4,1,8\nallreduce,0,9,ring,ll,4,-1,-1", "2:1",
     "allreduce,0,9,tree,ll,4,-1,-1\nallreduce,0,9,ring,ll,4,1,8"),
    ("gap", "allreduce,0,1023,tree,ll,4,1,8\nallreduce,1025,2047,ring,ll,4,1,8", "2:11",
     "allreduce,0,1023,tree,ll,4,1,8\nallreduce,1024,2047,ring,ll,4,1,8"),
    ("gap", "allreduce,0,1023,tree,ll,4,1,8\nallreduce,1025,2047,ring,ll,4,1,8", "2:11",
     "allreduce,0,1023,tree,ll,4,1,8\nallreduce,1025,2047,ring,ll,4,1,8\nallreduce,0,4096,ring,ll,4,-1,-1"),
    ("touching-bounds", "allreduce,0,65536,tree,ll,4,1,8\nallreduce,65536,99999,ring,ll,4,1,8",
     "2:11", "allreduce,0,65536,tree,ll,4,1,8\nallreduce,65537,99999,ring,ll,4,1,8"),
    ("touching-bounds", "allreduce,65536,99999,ring,ll,4,1,8\nallreduce,0,65536,tree,ll,4,1,8",
     "2:13", "allreduce,65536,99999,ring,ll,4,1,8\nallreduce,0,65535,tree,ll,4,1,8"),
    ("one-channel", "allreduce,0,9,tree,ll,-1,1,8", "1:23", ""),
    ("one-channel", "allreduce,0,9,tree,ll,4,1,8", "1:1", "# allreduce,0,9,tree,ll,-1,1,8"),
    ("mixed-bounds", "allreduce,0,1023,tree,ll,4,1,8\nallreduce,1024,2047,ring,ll,4,1,8\nallreduce,2048,4096,ring,ll,4,1,8",
     "3:16", "allreduce,0,1024,tree,ll,4,1,8\nallreduce,1025,2048,ring,ll,4,1,8\nallreduce,2049,4096,ring,ll,4,1,8"),
    ("near-power", "allreduce,0,2097000,tree,ll,4,1,8", "1:13", "allreduce,0,2097151,tree,ll,4,1,8"),
    ("near-power", "allreduce,0,2097000,tree,ll,4,1,8", "1:13", "allreduce,0,1000000,tree,ll,4,1,8"),
    ("open-top", "allreduce,0,4294967295,tree,ll,4,1,8", "1:13",
     "allreduce,0,18446744073709551615,tree,ll,4,1,8"),
    ("ranks-not-multiple", "allreduce,0,9,tree,ll,4,2,15", "1:27", "allreduce,0,9,tree,ll,4,2,16"),
    ("algorithm-unsupported", "reducescatter,0,9,tree,ll,4,1,8", "1:19",
     "reducescatter,0,9,ring,ll,4,1,8"),
    ("algorithm-unsupported", "broadcast,0,9,tree,ll,4,1,8", "1:15", "allreduce,0,9,tree,ll,4,1,8"),
    ("algorithm-unsupported", "allreduce,0,9,nvls,ll,4,1,8", "1:20",
     "allreduce,0,9,nvls,simple,4,1,8"),
    ("unreachable-max", "allreduce,0,150994943,tree,ll,4,1,8", "1:13",
     "allreduce,0,150994944,tree,ll,4,1,8"),
    ("unreachable-max", "allgather,0,96,ring,ll,4,2,16", "1:13", "allgather,0,64,ring,ll,4,2,16"),
];

#[test]
fn every_rule_fires_in_its_place_and_not_beside_it() {
    for (rule, file, place, neighbour) in TABLE {
        let found = places(file, A);
        assert!(found.contains(&format!("{rule}@{place}")), "{rule} in {file:?}: {found:?}");
        let beside = places(neighbour, A);
        let silent = !beside.iter().any(|found| found.starts_with(&format!("{rule}@")));
        assert!(silent, "{rule} in {neighbour:?}: {beside:?}");
    }
}

#[test]
fn every_rule_is_in_the_table() {
    let in_table = |rule: &RuleId| TABLE.iter().any(|(name, ..)| *name == rule.name());
    // A long line needs more than a literal; its test is below.
    let missing: Vec<_> = RuleId::ALL.iter().filter(|rule| !in_table(rule)).collect();
    assert_eq!(missing, [&RuleId::LineTooLong]);
}

#[test]
fn a_line_of_256_bytes_is_too_long() {
    let line = |length: usize| format!("#{}", "x".repeat(length - 1));
    assert_eq!(places(&line(255), A), Vec::<String>::new());
    let found = places(&(line(255) + "allreduce,0,9,tree,ll,4,1,8"), A);
    assert!(found.contains(&"line-too-long@1:256".to_owned()), "{found:?}");
}

#[rstest]
#[case(
    "allreduce,0,9,tree,ll,4,1",
    "dropped without a message (7 fields)",
    "dropped without a message (7 fields)"
)]
#[case(
    "alltoall,0,9,tree,ll,4,1,8",
    "loaded: allreduce 0..9 tree/ll, 4 channels, nodes 1, ranks 8",
    "skipped with a warning (unknown colltype)"
)]
#[case(
    "allreduce,0,9,tree,ll, ,1,8",
    "loaded: allreduce 0..9 tree/ll, 0 channels, nodes 1, ranks 8",
    "skipped with a warning (empty field)"
)]
#[case(
    "allreduce,0,9,tree,ll,4,0,8",
    "loaded, but never matches: allreduce 0..9 tree/ll, 4 channels, nodes 0, ranks 8",
    "loaded, but never matches: allreduce 0..9 tree/ll, 4 channels, nodes 0, ranks 8"
)]
fn each_finding_says_what_each_dialect_does(#[case] file: &str, #[case] a: &str, #[case] b: &str) {
    let findings = lint(file.as_bytes(), A);
    let error = findings.iter().find(|f| f.severity == Severity::Error).unwrap();
    let effects: Vec<_> = error.effects.iter().map(|effect| effect.what.as_str()).collect();
    // nccl-example, rccl-example, rccl-builtin, its second and its first reader.
    assert_eq!(effects, [a, a, b, b, a]);
}

/// The later row of two that touch decides at the shared size where the earlier one's choice is
/// unavailable, so that moving its bound would change a decision: nothing is rewritten.
#[test]
fn touching_bounds_are_told_and_left() {
    let file = "allreduce,0,65536,tree,ll,4,1,8\nallreduce,65536,99999,ring,ll,4,1,8";
    let found = lint(file.as_bytes(), A);
    let finding = found.iter().find(|f| f.rule == RuleId::TouchingBounds).unwrap();
    assert!(!finding.fixable);
    assert_eq!(fix(file.as_bytes()), (file.as_bytes().to_vec(), vec![]));
}

/// A hole for one kind of buffer only, in one communicator only.
#[test]
fn gaps_are_looked_for_in_every_communicator() {
    let file = "allreduce,0,1023,tree,ll,4,1,8\nallreduce,2048,4095,ring,ll,4,1,8\n\
                allreduce,1024,2047,ring,ll,4,1,8,-1,0\n";
    let gaps: Vec<_> = lint(file.as_bytes(), A)
        .into_iter()
        .filter(|finding| finding.rule == RuleId::Gap)
        .map(|finding| (finding.line, finding.message))
        .collect();
    let expected =
        "for allreduce, nodes 1, ranks 8, regBuff 1: sizes 1024..2047 below this row have no row";
    assert_eq!(gaps, [(2, expected.to_owned())]);
}

#[rstest]
#[case("allreduce,32M,64M,tree,ll,4,1,8", "write 33554432, if that is meant")]
#[case("allreduce,1e6,2000000,tree,ll,4,1,8", "write 1000000, if that is meant")]
#[case("allreduce,0x100,512,tree,ll,4,1,8", "write 256, if that is meant")]
#[case("all_reduce,0,9,tree,ll,4,1,8", "write `allreduce`")]
fn suggestions_name_the_value(#[case] file: &str, #[case] suggestion: &str) {
    let findings = lint(file.as_bytes(), A);
    let error = findings.iter().find(|f| f.severity == Severity::Error).unwrap();
    assert_eq!(error.suggestion.as_deref(), Some(suggestion));
}

/// The prepended rule: the winner is named, and when the shadowed row still fires.
#[test]
fn shadows_name_the_winner_and_the_exception() {
    let file = "allreduce,33554432,150994943,tree,ll128,64,2,16\n\
                allreduce,33554432,54525951,ring,ll128,64,2,16\n\
                allreduce,117440512,234881024,ring,simple,48,2,16\n\
                allreduce,40000000,50000000,tree,ll128,8,2,16\n";
    let messages: Vec<_> = lint(file.as_bytes(), A)
        .into_iter()
        .filter(|finding| finding.rule == RuleId::Shadowed)
        .map(|finding| finding.message)
        .collect();
    assert_eq!(
        messages,
        [
            "for allreduce, nodes 2, ranks 16: fully shadowed unless tree/ll128 is unavailable \
             (33554432..54525951 goes to line 1 (tree/ll128))",
            "for allreduce, nodes 2, ranks 16: cut to 150994944..234881024 (117440512..150994943 goes to line 1 (tree/ll128))",
            "for allreduce, nodes 2, ranks 16: fully shadowed by rows of the same choice: never fires \
             (40000000..50000000 goes to line 1 (tree/ll128))",
        ]
    );
}

#[test]
fn fix_repairs_what_is_mechanical_and_lists_it() {
    let file = "\u{feff}colltype,minbytes,maxbytes\r\n  # note\n\"AllReduce\",0,65536,TREE,ll,4,1,8\n\
                allreduce,65536,131071,ring,ll,4,1,8\nallreduce,32M,1,ring,ll,4,2,8";
    let (fixed, edits) = fix(file.as_bytes());
    assert_eq!(
        String::from_utf8(fixed.clone()).unwrap(),
        "# colltype,minbytes,maxbytes\n# note\nallreduce,0,65536,tree,ll,4,1,8\n\
         allreduce,65536,131071,ring,ll,4,1,8\nallreduce,32M,1,ring,ll,4,2,8"
    );
    let listed: Vec<_> = edits.iter().map(|edit| (edit.line, edit.rule.name())).collect();
    assert_eq!(
        listed,
        [
            (1, "byte-order-mark"),
            (1, "crlf"),
            (1, "header-row"),
            (2, "indented-comment"),
            (3, "quotes"),
            (3, "unknown-name"),
        ]
    );
    assert_eq!(fix(&fixed).1, []);
    assert!(!lint(&fixed, A).iter().any(|finding| finding.fixable));
}

/// A byte order mark in the middle is no mark: it is part of a name.
#[test]
fn a_byte_order_mark_is_looked_for_at_the_start_only() {
    let file = "# a\n\u{feff}allreduce,0,9,tree,ll,4,1,8";
    let (fixed, edits) = fix(file.as_bytes());
    assert_eq!(fixed, b"# a\nallreduce,0,9,tree,ll,4,1,8");
    assert_eq!((edits.len(), edits[0].rule), (1, RuleId::UnknownName));
}

proptest! {
    /// Any bytes: no panic, every place inside the file, and repairs settle at once.
    #[test]
    fn lint_and_fix_are_total(text in "[a-z,0-9#\" \t\r\n\\-\u{feff}\0]{0,400}") {
        for dialect in Dialect::ALL {
            let lines = text.split('\n').count();
            for finding in lint(text.as_bytes(), dialect) {
                prop_assert!((1..=lines).contains(&finding.line) && finding.column >= 1);
            }
            let (fixed, _) = fix(text.as_bytes());
            let (again, edits) = fix(&fixed);
            prop_assert_eq!(&again, &fixed);
            prop_assert_eq!(edits, []);
        }
    }
}
