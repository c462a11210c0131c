//! What a change changes: the worked example, wildcards, three files, and random pairs of files
//! against direct evaluation.

use proptest::prelude::*;
use rstest::rstest;
use tuner::diff::{Overlap, changes, maps, new_shadows};
use tuner::scope::{Scope, Values};
use tuner::{Choice, Collective, Dialect, Query, Situation, Table, Unavailable, evaluate};

const B: Dialect = Dialect::RcclBuiltin;

/// A shadow that was there before is none of the change's, also where the change moves its lines or
/// names other communicators.
#[test]
fn an_old_shadow_is_not_new() {
    let old = "allreduce,0,9,tree,ll,4,-1,-1\nallreduce,2,3,ring,ll,4,1,8\n";
    let new = "allreduce,100,200,tree,ll,4,2,16\n".to_owned() + old;
    assert_eq!(new_shadows(&table(old), &table(&new)).len(), 0);
    let wider = "allreduce,0,30,tree,simple,4,-1,-1\n".to_owned() + old;
    let found: Vec<_> =
        new_shadows(&table(old), &table(&wider)).iter().map(|s| s.old_line).collect();
    assert_eq!(found, [Some(1)], "the second row had lost its sizes before");
}

/// A shipped file and a proposed rule put before it.
const OLD: &str = "allreduce,0,16383,tree,ll,1,1,8,-1,-1
allreduce,16384,524287,ring,ll,-1,1,8,-1,-1
allreduce,524288,1048575,ring,ll,32,1,8,-1,-1
allreduce,1048576,2097000,ring,ll,56,1,8,-1,-1
allreduce,33554432,54525951,ring,ll128,64,2,16,-1,-1
allreduce,54525952,117440511,tree,simple,64,2,16,-1,-1
allreduce,117440512,234881024,ring,simple,48,2,16,-1,-1
";
const RULE: &str = "allreduce,33554432,150994943,tree,ll128,64,2,16,-1,-1\n";

fn table(file: &str) -> Table {
    Table::load(B, file.as_bytes())
}

/// One line a span: `scope: from..to old -> new`.
fn shown(files: &[&str], unavailable: Unavailable) -> Vec<String> {
    let tables: Vec<Table> = files.iter().map(|file| table(file)).collect();
    let mut lines = Vec::new();
    for map in changes(&tables.iter().collect::<Vec<_>>(), unavailable) {
        for span in &map.spans {
            let choices: Vec<_> = span.decisions.iter().map(|d| d.choice.to_string()).collect();
            let range = tuner::bytes::range(span.from, span.to);
            lines.push(format!("{}: {range} {}", map.scope, choices.join(" -> ")));
        }
    }
    lines
}

#[test]
fn the_worked_example_changes_three_spans() {
    let new = RULE.to_owned() + OLD;
    assert_eq!(
        shown(&[OLD, &new], Unavailable::default()),
        [
            "allreduce, nodes 2, ranks 16: 33554432..54525951 ring/ll128 64 channels -> tree/ll128 64 channels",
            "allreduce, nodes 2, ranks 16: 54525952..117440511 tree/simple 64 channels -> tree/ll128 64 channels",
            "allreduce, nodes 2, ranks 16: 117440512..150994943 ring/simple 48 channels -> tree/ll128 64 channels",
        ]
    );
    assert_eq!(shown(&[OLD, &new], "ll128".parse().unwrap()), Vec::<String>::new());
}

#[test]
fn the_worked_example_shadows_rows_5_and_6_and_cuts_row_7() {
    let new = table(&(RULE.to_owned() + OLD));
    let shadows = new_shadows(&table(OLD), &new);
    let kept: Vec<_> = shadows.iter().map(|s| (s.old_line, s.shadow.kept())).collect();
    let cut = vec![(150_994_944, 234_881_024)];
    assert_eq!(kept, [(Some(5), vec![]), (Some(6), vec![]), (Some(7), cut)]);
    assert!(new_shadows(&new, &new).is_empty());
}

/// A row that keeps a part can fire, also behind a row of its own choice.
#[test]
fn only_a_row_that_keeps_nothing_is_unreachable() {
    let file = "allreduce,0,9,tree,ll,1,1,8\nallreduce,5,20,tree,ll,2,1,8\n\
                allreduce,6,7,tree,ll,3,1,8\nallreduce,6,7,ring,ll,3,1,8\n";
    let shadows = tuner::shadow::shadows(&table(file));
    let found: Vec<_> = shadows.iter().map(|s| (s.row.line, s.is_unreachable())).collect();
    assert_eq!(found, [(2, false), (3, true), (4, false)]);
}

#[rstest]
#[case::nothing("", "", &[])]
#[case::comments_and_order_of_disjoint_rows("allreduce,0,9,tree,ll,1,1,8\nallreduce,10,19,ring,ll,1,1,8",
    "# moved\nallreduce,10,19,ring,ll,1,1,8\nallreduce,0,9,tree,ll,1,1,8", &[])]
#[case::from_zero_without_limit("", "reduce,0,18446744073709551615,ring,ll,-1,-1,-1",
    &["reduce, nodes any, ranks any: 0.. library default -> ring/ll"])]
#[case::all_but_the_named("allreduce,0,9,tree,ll,4,2,-1", "allreduce,0,9,tree,ll,4,2,-1\nallreduce,0,9,tree,ll,4,-1,-1",
    &["allreduce, nodes any but 2, ranks any: 0..9 library default -> tree/ll 4 channels"])]
#[case::one_kind_of_buffer("", "allreduce,0,9,tree,ll,4,-1,-1,-1,1",
    &["allreduce, nodes any, ranks any, regBuff 1: 0..9 library default -> tree/ll 4 channels"])]
#[case::two_values("", "allreduce,0,9,tree,ll,4,2,-1\nallreduce,0,9,tree,ll,4,4,-1",
    &["allreduce, nodes 2, ranks any: 0..9 library default -> tree/ll 4 channels",
      "allreduce, nodes 4, ranks any: 0..9 library default -> tree/ll 4 channels"])]
#[case::invalid_channels_mean_the_default("allreduce,0,9,tree,ll,-1,1,8", "allreduce,0,9,tree,ll,0,1,8", &[])]
fn effects_are_compared_not_text(#[case] old: &str, #[case] new: &str, #[case] expected: &[&str]) {
    assert_eq!(shown(&[old, new], Unavailable::default()), expected);
}

#[test]
fn two_changes_to_one_base_agree_conflict_or_stay_apart() {
    let a = "allreduce,0,29,tree,ll,4,1,8\n";
    let b = "allreduce,10,19,tree,ll,4,1,8\nallreduce,20,39,ring,ll,4,1,8\n";
    let tables = ["", a, b].map(table);
    let maps = changes(&tables.iter().collect::<Vec<_>>(), Unavailable::default());
    let found: Vec<_> = maps[0].spans.iter().map(|s| (s.from, s.to, s.overlap())).collect();
    assert_eq!(
        found,
        [
            (0, 9, Overlap::One),
            (10, 19, Overlap::Agree),
            (20, 29, Overlap::Conflict),
            (30, 39, Overlap::One),
        ]
    );
}

#[test]
fn the_picture_has_a_lane_a_file_and_exact_bytes() {
    let new = table(&(RULE.to_owned() + OLD));
    let old = table(OLD);
    let maps = maps(&[&old, &new], Unavailable::default());
    let svg = tuner::svg::draw(&maps, &["old<&>.csv", "new.csv"]);
    let bars = svg.matches("<title>").count();
    // Six spans: below, three changed, the rest of row 7, above.
    assert_eq!(bars, 2 * 6, "{svg}");
    assert_eq!(svg.matches("stroke=\"#000\"").count(), 3);
    assert!(svg.contains("<title>117440512..150994943: tree/ll128 64 channels</title>"));
    assert!(svg.contains("old&lt;&amp;&gt;.csv") && !svg.contains("NaN"));
}

fn covers(scope: &Scope, at: &Situation) -> bool {
    let has = |values: &Values, value: i32| match values {
        Values::Any => true,
        Values::Only(listed) => listed.contains(&value),
        Values::AnyBut(listed) => !listed.contains(&value),
    };
    scope.collective == at.collective
        && has(&scope.nodes, at.nodes)
        && has(&scope.ranks, at.ranks)
        && has(&scope.pipe_ops, at.pipe_ops)
        && has(&scope.reg_buff, at.reg_buff)
}

fn rows() -> impl Strategy<Value = String> {
    let row = (
        prop::sample::select(vec!["allreduce", "reduce"]),
        prop::sample::select(vec![0u64, 1, 10, 20]),
        prop::sample::select(vec![9u64, 10, 19, 30, u64::MAX]),
        prop::sample::select(vec!["tree,ll", "ring,ll", "ring,simple"]),
        prop::sample::select(vec!["-1", "4"]),
        prop::sample::select(vec![-1, 1, 2]),
        prop::sample::select(vec![-1, 8, 16]),
        prop::sample::select(vec![-1, 1, 3]),
        prop::sample::select(vec![-1, 0, 1, 5]),
    )
        .prop_map(|(coll, min, max, choice, channels, nodes, ranks, ops, reg)| {
            format!("{coll},{min},{max},{choice},{channels},{nodes},{ranks},{ops},{reg}\n")
        });
    prop::collection::vec(row, 0..5).prop_map(|rows| rows.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// A size of a communicator is in the diff exactly if its handling differs, with what each
    /// file decides; no size is in it twice.
    #[test]
    fn the_diff_is_exactly_the_difference(
        old in rows(),
        new in rows(),
        dialect in prop::sample::select(Dialect::ALL.to_vec()),
        asked in prop::collection::vec(
            (prop::sample::select(vec![Collective::AllReduce, Collective::Reduce]),
             prop::sample::select(vec![0u64, 1, 9, 10, 11, 19, 20, 29, 30, 31, u64::MAX]),
             1i32..4, prop::sample::select(vec![4, 8, 16]), 1i32..5, 0i32..2),
            40),
    ) {
        let tables = [old, new].map(|file| Table::load(dialect, file.as_bytes()));
        let changed = changes(&[&tables[0], &tables[1]], Unavailable::default());
        for (collective, bytes, nodes, ranks, pipe_ops, reg_buff) in asked {
            let situation = Situation { collective, nodes, ranks, pipe_ops, reg_buff };
            let choices: Vec<_> = tables.iter().map(|table| {
                let row = evaluate(table, &Query { situation, bytes }, Unavailable::default());
                Choice::of(dialect, row.map(|index| &table.rows[index].rule))
            }).collect();
            let said: Vec<_> = changed.iter()
                .filter(|map| covers(&map.scope, &situation))
                .flat_map(|map| &map.spans)
                .filter(|span| span.from <= bytes && bytes <= span.to)
                .map(|span| span.decisions.iter().map(|d| d.choice).collect::<Vec<_>>())
                .collect();
            let expected = if choices[0] == choices[1] { vec![] } else { vec![choices] };
            prop_assert_eq!(said, expected);
        }
    }

    /// A shadow report says of every size which row decides there.
    #[test]
    fn shadows_are_what_evaluation_says(file in rows(), dialect in prop::sample::select(Dialect::ALL.to_vec())) {
        let table = Table::load(dialect, file.as_bytes());
        for shadow in tuner::shadow::shadows(&table) {
            let at = Situation {
                collective: shadow.scope.collective,
                nodes: shadow.scope.nodes.example(1),
                ranks: shadow.scope.ranks.example(1),
                pipe_ops: shadow.scope.pipe_ops.example(1),
                reg_buff: shadow.scope.reg_buff.example(0),
            };
            for piece in &shadow.pieces {
                for bytes in [piece.from, piece.to] {
                    let row = evaluate(&table, &Query { situation: at, bytes }, Unavailable::default());
                    prop_assert_eq!(row.map(|index| table.rows[index]), Some(piece.winner));
                }
            }
            prop_assert!(shadow.taken().count() > 0);
        }
    }
}
