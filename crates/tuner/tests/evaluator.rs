//! The reader and evaluator against facts about the public sources, and against a second,
//! naive implementation on random files.

mod naive;

use proptest::prelude::*;
use rstest::rstest;
use tuner::evaluate::Channels;
use tuner::{
    Algorithm, Choice, Collective, Dialect, Protocol, Query, Situation, Table, Unavailable,
    evaluate,
};

const A: Dialect = Dialect::NcclExample;
const B: Dialect = Dialect::RcclBuiltin;

fn shown(dialect: Dialect, file: &str) -> Vec<String> {
    let table = Table::load(dialect, file.as_bytes());
    table.rows.iter().map(|row| format!("{}: {}", row.line, row.rule)).collect()
}

/// What each dialect loads. Facts from NCCL `plugins/tuner/example/plugin.c` (some of them seen
/// by running it) and RCCL `src/plugin/tuner/csv_tuner.cc` and its unit tests.
#[rstest]
#[case::plain("allreduce,0,1023,tree,ll,4,1,8,-1,-1",
    &["1: allreduce 0..1023 tree/ll, 4 channels, nodes 1, ranks 8"], &["="])]
#[case::eight_fields("allgather,1024,4095,ring,simple,8,-1,-1",
    &["1: allgather 1024..4095 ring/simple, 8 channels, nodes any, ranks any"], &["="])]
#[case::seven_fields("allreduce,0,1023,tree,ll,4,1", &[], &[])]
#[case::twelve_fields("allreduce,0,1023,tree,ll,4,1,8,-1,-1,cpx,8",
    &["1: allreduce 0..1023 tree/ll, 4 channels, nodes 1, ranks 8"], &["="])]
#[case::empty_field_shifts("allreduce,0,1023,tree,ll,,2,16,-1,-1",
    &["1: allreduce 0..1023 tree/ll, 2 channels, nodes 16, ranks any"], &["="])]
#[case::blank_field("allreduce,0,1023,tree,ll, ,2,16",
    &["1: allreduce 0..1023 tree/ll, 0 channels, nodes 2, ranks 16"], &[])]
#[case::alltoall_is_a_live_allreduce("alltoall,0,1023,tree,ll,4,1,8",
    &["1: allreduce 0..1023 tree/ll, 4 channels, nodes 1, ranks 8"], &[])]
#[case::unknown_algorithm("allreduce,0,1023,bogus,ll,4,1,8",
    &["1: allreduce 0..1023 ring/ll, 4 channels, nodes 1, ranks 8"], &[])]
#[case::upper_case("allreduce,0,1023,tree,LL128,4,1,8",
    &["1: allreduce 0..1023 tree/simple, 4 channels, nodes 1, ranks 8"], &[])]
#[case::quoted("\"allreduce\",0,1023,tree,ll,4,1,8",
    &["1: allreduce 0..1023 tree/ll, 4 channels, nodes 1, ranks 8"], &[])]
#[case::suffixes("allreduce,32M,64M,tree,ll,4,1,8",
    &["1: allreduce 32..64 tree/ll, 4 channels, nodes 1, ranks 8"], &["="])]
#[case::exponent_and_hex("allreduce,1e6,0x100,tree,ll,4,1,8",
    &["1: allreduce 1..0 tree/ll, 4 channels, nodes 1, ranks 8"], &["="])]
#[case::minus_one_is_unbounded("allreduce,0,-1,tree,ll,4,1,8",
    &["1: allreduce 0.. tree/ll, 4 channels, nodes 1, ranks 8"], &["="])]
#[case::words_are_zero("allreduce,0,9,tree,ll,4,*,any",
    &["1: allreduce 0..9 tree/ll, 4 channels, nodes 0, ranks 0"], &["="])]
#[case::inline_comment("allreduce,0,9,tree,ll,4,1,8,-1,-1 # why, who",
    &["1: allreduce 0..9 tree/ll, 4 channels, nodes 1, ranks 8"], &["="])]
#[case::header_row("colltype,minbytes,maxbytes,algorithm,protocol,channels,nNodes,nRanks",
    &["1: allreduce 0..0 ring/simple, 0 channels, nodes 0, ranks 0"], &[])]
#[case::comments("# a\n\nallreduce,0,9,tree,ll,4,1,8\n",
    &["3: allreduce 0..9 tree/ll, 4 channels, nodes 1, ranks 8"], &["="])]
#[case::indented_comment(" # a,1,2,tree,ll,4,1,8",
    &["1: allreduce 1..2 tree/ll, 4 channels, nodes 1, ranks 8"], &[])]
#[case::crlf("allreduce,0,9,tree,ll,4,1,8\r\n",
    &["1: allreduce 0..9 tree/ll, 4 channels, nodes 1, ranks 8"], &["="])]
#[case::crlf_after_a_comma("allreduce,0,9,tree,ll,4,1,8,\r\n",
    &["1: allreduce 0..9 tree/ll, 4 channels, nodes 1, ranks 8, pipeOps 0, regBuff any"],
    &["1: allreduce 0..9 tree/ll, 4 channels, nodes 1, ranks 8"])]
#[case::byte_order_mark("\u{feff}allreduce,0,9,tree,ll,4,1,8",
    &["1: allreduce 0..9 tree/ll, 4 channels, nodes 1, ranks 8"], &[])]
#[case::blanks_around("  allreduce ,\t0 , 9,tree , ll,4, 1,8 ",
    &["1: allreduce 0..9 tree/ll, 4 channels, nodes 1, ranks 8"], &["="])]
#[case::nul_ends_the_line_or_the_file(
    "allreduce,0,9,tree,ll,4,1,8\0,5\nallreduce,0,8,tree,ll,4,1,8",
    &["1: allreduce 0..9 tree/ll, 4 channels, nodes 1, ranks 8",
      "2: allreduce 0..8 tree/ll, 4 channels, nodes 1, ranks 8"],
    &["1: allreduce 0..9 tree/ll, 4 channels, nodes 1, ranks 8"])]
#[case::integers_wrap("allreduce,0,9,tree,ll,4,4294967295,9223372036854775808",
    &["1: allreduce 0..9 tree/ll, 4 channels, nodes any, ranks any"], &["="])]
fn what_each_dialect_loads(#[case] file: &str, #[case] a: &[&str], #[case] b: &[&str]) {
    assert_eq!(shown(A, file), a, "nccl-example");
    let same = b == ["="];
    assert_eq!(shown(B, file), if same { a } else { b }, "rccl-builtin");
}

/// `fgets` into 256 bytes: the tail of a longer comment is a line of its own.
#[rstest]
#[case::tail_is_a_row(255, [1, 1])]
#[case::tail_is_llreduce(254, [1, 0])]
#[case::no_tail(228, [0, 0])]
fn the_tail_of_a_long_comment_is_a_line(#[case] comment: usize, #[case] rows: [usize; 2]) {
    let long = format!("#{}allreduce,0,9,tree,ll,4,1,8\n", "x".repeat(comment - 1));
    let loaded = [A, B].map(|dialect| Table::load(dialect, long.as_bytes()).rows.len());
    assert_eq!(loaded, rows);
}

/// Where the readers of RCCL's history differ: names, carriage returns, NUL bytes, comments, room.
#[rstest]
#[case::names("allreduce,0,9,Tree,ll,4,1,8", [1, 1, 0, 0, 1])]
#[case::carriage_return("allreduce,0,9,tree,ll,4,1,8,\r\n", [1, 1, 1, 1, 1])]
#[case::nul("a\0\nallreduce,0,9,tree,ll,4,1,8", [1, 1, 0, 1, 1])]
#[case::indented_comment("\t# a,1,2,tree,ll,4,1,8", [1, 1, 0, 0, 0])]
#[case::a_comment_fills_the_room_of_a_row(
    " # a,1,2,tree,ll,4,1,8\nallreduce,0,9,tree,ll,4,1,8\nallreduce,0,9,ring,ll,4,1,8", [3, 3, 2, 2, 2])]
#[case::blank_field("allreduce,0,9,tree,ll, ,1,8", [1, 1, 0, 0, 1])]
fn the_history_of_readers(#[case] file: &str, #[case] rows: [usize; 5]) {
    let loaded = Dialect::ALL.map(|dialect| Table::load(dialect, file.as_bytes()).rows.len());
    assert_eq!(loaded, rows, "{:?}", Dialect::ALL.map(Dialect::name));
}

/// A carriage return behind the last comma is a field of its own, but for the reader that drops it.
#[test]
fn a_carriage_return_can_be_a_field() {
    let pipe_ops =
        |dialect| Table::load(dialect, b"allreduce,0,9,tree,ll,4,1,8,\r\n").rows[0].rule.pipe_ops;
    assert_eq!(Dialect::ALL.map(pipe_ops), [0, 0, -1, 0, 0]);
}

fn ask(bytes: u64, nodes: i32, ranks: i32) -> Query {
    let collective = Collective::AllReduce;
    Query { situation: Situation { collective, nodes, ranks, pipe_ops: 1, reg_buff: 0 }, bytes }
}

/// A prepended rule, as seen by running the public plugin on it.
const CANDIDATE: &str = "allreduce,33554432,150994943,tree,ll128,64,2,16,-1,-1
allreduce,33554432,54525951,ring,ll128,64,2,16,-1,-1
allreduce,54525952,117440511,tree,simple,64,2,16,-1,-1
allreduce,117440512,234881024,ring,simple,48,2,16,-1,-1
";

#[rstest]
#[case(33_554_431, "", None)]
#[case(33_554_432, "", Some(1))]
#[case(150_994_943, "", Some(1))]
#[case(150_994_944, "", Some(4))]
#[case(234_881_024, "", Some(4))]
#[case(234_881_025, "", None)]
#[case(33_554_432, "tree/ll128", Some(2))]
#[case(60_000_000, "tree/ll128", Some(3))]
#[case(60_000_000, "tree", None)]
#[case(33_554_432, "ll128", None)]
fn the_first_applicable_row_wins(
    #[case] bytes: u64,
    #[case] unavailable: &str,
    #[case] line: Option<usize>,
) {
    let unavailable = match unavailable {
        "" => Unavailable::default(),
        text => text.parse().unwrap(),
    };
    for dialect in Dialect::ALL {
        let table = Table::load(dialect, CANDIDATE.as_bytes());
        let row = evaluate(&table, &ask(bytes, 2, 16), unavailable);
        assert_eq!(row.map(|index| table.rows[index].line), line, "{dialect}");
        assert_eq!(evaluate(&table, &ask(bytes, 2, 8), unavailable), None);
        assert_eq!(evaluate(&table, &ask(bytes, 1, 16), unavailable), None);
    }
}

/// `*nChannels` is preset to 1 in one dialect and 0 in the other, also where no row matches.
#[rstest]
#[case(A, Some(-1), Channels::Exactly(1))]
#[case(A, Some(0), Channels::Library)]
#[case(A, Some(8), Channels::Exactly(8))]
#[case(A, Some(-5), Channels::Exactly(-5))]
#[case(A, None, Channels::Exactly(1))]
#[case(B, Some(-1), Channels::Library)]
#[case(B, Some(0), Channels::Library)]
#[case(B, Some(8), Channels::Exactly(8))]
#[case(B, Some(-5), Channels::Library)]
#[case(B, None, Channels::Library)]
#[case(Dialect::RcclExample, Some(-1), Channels::Library)]
#[case(Dialect::RcclExample, Some(-5), Channels::Exactly(-5))]
#[case(Dialect::RcclExample, None, Channels::Library)]
#[case(Dialect::RcclBuiltinV1, Some(-5), Channels::Exactly(-5))]
#[case(Dialect::RcclBuiltinV1, Some(-1), Channels::Library)]
#[case(Dialect::RcclBuiltinV2, Some(-5), Channels::Library)]
fn channels(#[case] dialect: Dialect, #[case] row: Option<i32>, #[case] expected: Channels) {
    let file = format!("allreduce,0,9,tree,ll,{},1,8", row.unwrap_or(0));
    let table = Table::load(dialect, file.as_bytes());
    let rule = row.map(|_| &table.rows[0].rule);
    assert_eq!(Choice::of(dialect, rule).channels, expected);
}

fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["0", "1", "2", "8", "16", "-1", "9", "10", "100", "4096"]),
        1 => prop::sample::select(vec![
            "", " ", "32M", "1e6", "0x10", "*", "any", "-5", "+3", "8 # c", "\r", "\t7\t", "\x0b4",
            "18446744073709551615", "18446744073709551616", "-18446744073709551616", "4294967295",
            "9223372036854775808", "- 1", "\0",
        ]),
    ]
    .prop_map(str::to_owned)
}

fn name(good: &'static [&'static str]) -> impl Strategy<Value = String> {
    let bad = ["Tree", "\"ring\"", "alltoall", "", " ", "ll129", "# x", "\u{feff}allreduce"];
    prop_oneof![
        6 => prop::sample::select(good).prop_map(str::to_owned),
        1 => prop::sample::select(bad.to_vec()).prop_map(str::to_owned),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let row = (
        name(&["allreduce", "allgather", "broadcast", "reduce", "reducescatter"]),
        prop::collection::vec(token(), 2),
        name(&["tree", "ring", "nvls", "pat", "nvls_tree", "collnet_chain", "collnet_direct"]),
        name(&["ll", "ll128", "simple"]),
        prop::collection::vec(token(), 2..8),
        prop::sample::select(vec![",", ",", ",", ",,", " , "]),
    )
        .prop_map(|(collective, bounds, algorithm, protocol, rest, comma)| {
            let mut fields = vec![collective];
            fields.extend(bounds);
            fields.extend([algorithm, protocol]);
            fields.extend(rest);
            fields.join(comma)
        });
    prop_oneof![
        8 => row,
        1 => "[ \t]{0,2}#[a-z, ]{0,20}",
        1 => (240usize..520, "[#a]").prop_map(|(length, first)| {
            first + &"y".repeat(length) + "allreduce,0,9,ring,ll,1,-1,-1,allreduce,0"
        }),
        1 => Just(String::new()),
    ]
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let ended = (line(), prop::sample::select(vec!["\n", "\n", "\n", "\r\n", ""]));
    let lines = prop::collection::vec(ended, 0..12)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect::<String>());
    prop_oneof![
        9 => lines.prop_map(String::into_bytes),
        1 => prop::collection::vec(prop::sample::select(b",\n\r#\0 \t-1a".to_vec()), 0..600),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn agrees_with_the_naive_evaluator(
        file in file(),
        dialect in prop::sample::select(Dialect::ALL.to_vec()),
        queries in prop::collection::vec(
            (0usize..5, prop::sample::select(vec![0u64, 1, 8, 9, 10, 11, 99, 100, 4096, u64::MAX]),
             prop::sample::select(vec![1, 2, 8]), prop::sample::select(vec![1, 8, 16]),
             1i32..4, 0i32..2),
            1..20),
        ignored in prop::collection::vec((0usize..7, 0usize..3), 0..6),
    ) {
        let table = Table::load(dialect, &file);
        let rows = naive::rows(dialect, &file);
        let ours: Vec<_> = table.rows.iter().map(|row| naive::NaiveRow {
            line: row.line,
            collective: row.rule.collective as usize,
            algorithm: row.rule.algorithm as usize,
            protocol: row.rule.protocol as usize,
            min: row.rule.min_bytes,
            max: row.rule.max_bytes,
            ints: [row.rule.channels, row.rule.nodes, row.rule.ranks, row.rule.pipe_ops, row.rule.reg_buff],
        }).collect();
        prop_assert_eq!(&ours, &rows);
        let ignored = ignored.into_iter().fold(Unavailable::default(), |set, (a, p)| {
            set.with(Algorithm::ALL[a], Protocol::ALL[p])
        });
        for (collective, bytes, nodes, ranks, pipe_ops, reg_buff) in queries {
            let situation = Situation {
                collective: Collective::ALL[collective], nodes, ranks, pipe_ops, reg_buff,
            };
            let row = evaluate(&table, &Query { situation, bytes }, ignored);
            let query = (collective, bytes, nodes, ranks, pipe_ops, reg_buff);
            let (naive_row, channels) = naive::evaluate(dialect, &rows, query, ignored);
            prop_assert_eq!(row, naive_row);
            let choice = Choice::of(dialect, row.map(|index| &table.rows[index].rule));
            // The core reads a 0 as its own default.
            let core = if channels == 0 { Channels::Library } else { Channels::Exactly(channels) };
            prop_assert_eq!(choice.channels, core);
        }
    }
}
