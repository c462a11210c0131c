//! Corruptions planted in right images: what is found, where, and which cause is named.
//!
//! A kernel here is a list of moves of elements. A planted fault changes moves, leaves some out or
//! adds some, as a kernel with that fault would; the bytes that result are judged.

use collectives::image::{Generator, Moment, fill, spans};
use collectives::{
    Collective, DType, Finding, FindingKind, GroupSpec, HeapPlan, Problem, Rank, RegionLayout,
    Shape, Tile, verify,
};
use rstest::rstest;

const M: i64 = 9;
const N: i64 = 37;
const INPUT: RegionLayout = RegionLayout { pad_columns: 3, offset_elements: 1 };
const OUTPUT: RegionLayout = RegionLayout { pad_columns: 5, offset_elements: 2 };
const INPUT_STRIDE: i64 = N + INPUT.pad_columns as i64;
const OUTPUT_STRIDE: i64 = N + OUTPUT.pad_columns as i64;

/// An element on its way, from an input to an output, as distances from their first elements.
#[derive(Debug, Clone, Copy)]
struct Move {
    /// Group rank of the sender.
    sender: i64,
    /// Group rank of the receiver.
    receiver: i64,
    /// Row and column of the sender's input.
    row: i64,
    column: i64,
    from: u32,
    from_element: i64,
    to: u32,
    to_element: i64,
}

/// What becomes of a right move; `None` if it is left out.
type Fault = fn(Move, &[u32]) -> Option<Move>;

fn problem(dtype: DType, members: &[u32]) -> Problem {
    let shape = Shape { m: M as u64, n: N as u64 };
    let mut problem = Problem::plain(Collective::AllGather, 4, dtype, shape)
        .with_group(GroupSpec::Ranks(members.to_vec()))
        .with_tile(Tile { m: 4, n: 16 })
        .with_layout(INPUT, OUTPUT)
        .with_guards(4096);
    problem.calls[0].blocks = 2;
    problem.repeated(2)
}

/// The moves of a push all-gather. Rows and columns beyond the shape are there too, up to whole
/// tiles and a row more, for faults that let them through.
fn moves(members: &[u32]) -> Vec<Move> {
    let mut moves = Vec::new();
    for (sender, from) in (0..).zip(members) {
        for row in 0..12 {
            for column in 0..48 {
                for (receiver, to) in (0..).zip(members) {
                    moves.push(Move {
                        sender,
                        receiver,
                        row,
                        column,
                        from: *from,
                        from_element: row * INPUT_STRIDE + column,
                        to: *to,
                        to_element: (sender * M + row) * OUTPUT_STRIDE + column,
                    });
                }
            }
        }
    }
    moves
}

fn inside(of: Move) -> Option<Move> {
    Some(of).filter(|of| of.row < M && of.column < N)
}

/// Runs call 0 rightly and call 1 with the fault; the findings after call 1.
fn judged(problem: &Problem, fault: &dyn Fn(Move) -> Option<Move>, stale: bool) -> Vec<Finding> {
    let plan = HeapPlan::new(problem).unwrap();
    let heaps = |call: usize| {
        let mut heaps = vec![vec![0u8; plan.bytes as usize]; problem.world as usize];
        let mut views: Vec<&mut [u8]> = heaps.iter_mut().map(Vec::as_mut_slice).collect();
        fill(problem, &plan, call, &mut views);
        heaps
    };
    let before = heaps(usize::from(!stale));
    let mut after = heaps(1);
    let call = &problem.calls[1];
    let size = problem.dtype.bytes() as i64;
    let members: Vec<u32> = call.group.members().iter().map(|rank| rank.0).collect();
    let output = plan.output(problem, call).start as i64;
    for of in moves(&members).into_iter().filter_map(fault) {
        let input = plan.input(problem, call, Rank(of.from)).start as i64;
        let from = (input + of.from_element * size) as usize;
        let to = (output + of.to_element * size) as usize;
        let bytes = before[of.from as usize][from..from + size as usize].to_vec();
        after[of.to as usize][to..to + size as usize].copy_from_slice(&bytes);
    }
    let views: Vec<&[u8]> = after.iter().map(Vec::as_slice).collect();
    verify(problem, &plan, 1, &views)
}

/// Sees that a finding is of a kind, at a place, and looks like something.
#[track_caller]
fn expect(findings: &[Finding], kind: FindingKind, at: (u32, Option<(u64, u64)>), cause: &str) {
    let (rank, place) = at;
    let of = |finding: &&Finding| finding.kind == kind && finding.rank == Some(Rank(rank));
    let Some(finding) = findings.iter().find(of) else {
        panic!("no {kind} on rank {rank}: {findings:#?}")
    };
    let found = finding.place.as_ref().unwrap();
    assert_eq!(found.row.zip(found.column), place, "{finding:#?}");
    let looks_like = finding.looks_like.as_deref().unwrap_or_default();
    assert!(
        looks_like.contains(cause),
        "looks like: {looks_like}\nexpected: {cause}\n{findings:#?}"
    );
}

use FindingKind::{
    GuardOverwritten, IdleRankModified, OutputMismatch, PaddingOverwritten, SlackOverwritten,
    Unwritten,
};

const TYPES: [DType; 4] = [DType::U8, DType::BF16, DType::F32, DType::I64];
const LISTED: &[u32] = &[3, 0, 2];

#[rstest]
// Whose heap is written.
#[case::target_is_index(&[1, 3], |m: Move, _: &[u32]| inside(Move { to: m.receiver as u32, ..m }), IdleRankModified, (0, Some((0, 0))), "a group rank used as a rank")]
#[case::target_is_index_gap(&[1, 3], |m: Move, _: &[u32]| inside(Move { to: m.receiver as u32, ..m }), Unwritten, (3, Some((0, 0))), "a group rank used as a rank")]
#[case::stride_one(&[1, 3], |m: Move, g: &[u32]| inside(Move { to: g[0] + m.receiver as u32, ..m }), IdleRankModified, (2, Some((0, 0))), "counted from the group's first rank with stride one")]
#[case::own_part_skipped(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.sender != m.receiver), Unwritten, (0, Some((9, 0))), "never copies its own part")]
#[case::last_peer_skipped(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.receiver < 2), Unwritten, (2, Some((0, 0))), "ends one too early")]
#[case::first_peer_skipped(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.receiver > 0), Unwritten, (3, Some((0, 0))), "begins one too late")]
#[case::one_sender_is_silent(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.sender != 1), Unwritten, (3, Some((9, 0))), "the part of rank 0 never arrives")]
#[case::only_itself(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.sender == m.receiver), Unwritten, (3, Some((9, 0))), "nothing arrives from other members")]
// Whose data arrives.
#[case::group_rank_as_rank(LISTED, |m: Move, _: &[u32]| inside(Move { from: m.sender as u32, ..m }), OutputMismatch, (3, Some((0, 0))), "a group rank used as a rank")]
#[case::sorted(LISTED, |m: Move, _: &[u32]| inside(Move { from: [0, 2, 3][m.sender as usize], ..m }), OutputMismatch, (0, Some((0, 0))), "wrong order of ranks: sorted")]
#[case::reversed(LISTED, |m: Move, g: &[u32]| inside(Move { from: g[2 - m.sender as usize], ..m }), OutputMismatch, (0, Some((0, 0))), "wrong order of ranks: the group reversed")]
#[case::rotated(LISTED, |m: Move, g: &[u32]| inside(Move { from: g[((m.receiver + m.sender) % 3) as usize], ..m }), OutputMismatch, (2, Some((0, 0))), "rotated to begin with the own rank")]
#[case::next_member(LISTED, |m: Move, g: &[u32]| inside(Move { from: g[((m.sender + 1) % 3) as usize], ..m }), OutputMismatch, (3, Some((0, 0))), "a neighbour's data: the next member's")]
#[case::member_before(LISTED, |m: Move, g: &[u32]| inside(Move { from: g[((m.sender + 2) % 3) as usize], ..m }), OutputMismatch, (3, Some((0, 0))), "a neighbour's data: the member's before")]
#[case::own_data(LISTED, |m: Move, g: &[u32]| inside(Move { from: g[m.receiver as usize], ..m }), OutputMismatch, (0, Some((0, 0))), "its own data in place of another member's")]
#[case::first_member(LISTED, |m: Move, g: &[u32]| inside(Move { from: g[0], ..m }), OutputMismatch, (0, Some((9, 0))), "the first member's data")]
// From where in the input.
#[case::n_as_input_stride(LISTED, |m: Move, _: &[u32]| inside(Move { from_element: m.row * N + m.column, ..m }), OutputMismatch, (3, Some((1, 0))), "the number of columns (n = 37) used as the input's row stride, which is 40")]
#[case::output_stride_for_input(LISTED, |m: Move, _: &[u32]| inside(Move { from_element: m.row * OUTPUT_STRIDE + m.column, ..m }), OutputMismatch, (3, Some((1, 0))), "the output's row stride used for the input")]
#[case::input_offset_left_out(LISTED, |m: Move, _: &[u32]| inside(Move { from_element: m.from_element - 1, ..m }), OutputMismatch, (3, Some((0, 0))), "the input's offset in its region left out")]
#[case::column_off_by_one(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.column < N - 1).map(|m| Move { from_element: m.from_element + 1, ..m }), OutputMismatch, (0, Some((0, 0))), "off by one in the column: read too far right")]
#[case::row_off_by_one(LISTED, |m: Move, _: &[u32]| inside(m).map(|m| Move { from_element: m.from_element - INPUT_STRIDE.min(m.from_element), ..m }).filter(|m| m.row > 0), OutputMismatch, (0, Some((1, 0))), "off by one in the row: read too far up")]
#[case::tile_off_by_one(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.column < 21).map(|m| Move { from_element: m.from_element + 16, ..m }), OutputMismatch, (0, Some((0, 0))), "off by one tile of 16 in the column")]
#[case::columns_reversed(LISTED, |m: Move, _: &[u32]| inside(Move { from_element: m.row * INPUT_STRIDE + N - 1 - m.column, ..m }), OutputMismatch, (3, Some((0, 0))), "columns in reverse order")]
// Where in the output.
#[case::n_as_output_stride(LISTED, |m: Move, _: &[u32]| inside(Move { to_element: (m.sender * M + m.row) * N + m.column, ..m }), OutputMismatch, (3, Some((1, 0))), "the number of columns (n = 37) used as the output's row stride, which is 42")]
#[case::n_as_output_stride_padding(LISTED, |m: Move, _: &[u32]| inside(Move { to_element: (m.sender * M + m.row) * N + m.column, ..m }), PaddingOverwritten, (3, Some((0, 37))), "used as the output's row stride")]
#[case::input_stride_for_output(LISTED, |m: Move, _: &[u32]| inside(Move { to_element: (m.sender * M + m.row) * INPUT_STRIDE + m.column, ..m }), Unwritten, (3, Some((1, 35))), "the input's row stride used for the output")]
#[case::output_offset_left_out(LISTED, |m: Move, _: &[u32]| inside(Move { to_element: m.to_element - 2, ..m }), OutputMismatch, (0, Some((0, 0))), "the output's offset in its region left out")]
#[case::input_offset_for_output(LISTED, |m: Move, _: &[u32]| inside(Move { to_element: m.to_element - 1, ..m }), OutputMismatch, (0, Some((0, 0))), "the input's offset used for the output")]
#[case::interleaved(LISTED, |m: Move, _: &[u32]| inside(Move { to_element: (m.row * 3 + m.sender) * OUTPUT_STRIDE + m.column, ..m }), OutputMismatch, (2, Some((1, 0))), "rows of the members interleaved")]
#[case::side_by_side(LISTED, |m: Move, _: &[u32]| inside(Move { to_element: m.row * 3 * N + m.sender * N + m.column, ..m }), PaddingOverwritten, (2, Some((0, 37))), "parts put side by side")]
#[case::part_of_rank(&[1, 3], |m: Move, _: &[u32]| inside(Move { to_element: (i64::from(m.from) * M + m.row) * OUTPUT_STRIDE + m.column, ..m }), OutputMismatch, (1, Some((9, 0))), "chosen by rank in place of group rank")]
#[case::part_of_rank_guard(&[1, 3], |m: Move, _: &[u32]| inside(Move { to_element: (i64::from(m.from) * M + m.row) * OUTPUT_STRIDE + m.column, ..m }), GuardOverwritten, (3, None), "chosen by rank in place of group rank")]
#[case::part_of_receiver(LISTED, |m: Move, _: &[u32]| inside(Move { to_element: (m.receiver * M + m.row) * OUTPUT_STRIDE + m.column, ..m }), OutputMismatch, (0, Some((9, 0))), "chosen by the receiver in place of the sender")]
#[case::part_of_whole_tiles(LISTED, |m: Move, _: &[u32]| inside(Move { to_element: (m.sender * 12 + m.row) * OUTPUT_STRIDE + m.column, ..m }), OutputMismatch, (0, Some((12, 0))), "as if m = 9 were whole tiles (12 rows)")]
#[case::eight_bits(LISTED, |m: Move, _: &[u32]| inside(Move { to_element: i64::from(m.to_element as u8), ..m }), OutputMismatch, (3, Some((0, 0))), "an offset kept in 8 bits")]
// What belongs to the matrix.
#[case::no_column_mask(LISTED, |m: Move, _: &[u32]| Some(m).filter(|m| m.row < M), PaddingOverwritten, (3, Some((0, 37))), "a missing column mask: the last tile ends behind n = 37")]
#[case::column_mask_off_by_one(LISTED, |m: Move, _: &[u32]| Some(m).filter(|m| m.row < M && m.column <= N), PaddingOverwritten, (2, Some((0, 37))), "off by one: the column mask lets column n = 37 through")]
#[case::row_mask_off_by_one(LISTED, |m: Move, _: &[u32]| Some(m).filter(|m| m.row <= M && m.column < N), GuardOverwritten, (0, None), "off by one: the row mask lets row m = 9 through")]
#[case::no_row_mask(LISTED, |m: Move, _: &[u32]| Some(m).filter(|m| m.column < N), GuardOverwritten, (0, None), "a missing row mask: the last tile ends behind m = 9")]
// What is taken.
#[case::column_tiles_rounded_down(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.column < 32), Unwritten, (3, Some((0, 32))), "the number of column tiles is rounded down (32 = 2 of 16)")]
#[case::row_tiles_rounded_down(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.row < 8), Unwritten, (3, Some((8, 0))), "the number of row tiles is rounded down (8 = 2 of 4)")]
#[case::rounded_down_both_ways(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.row < 8 && m.column < 32), Unwritten, (3, Some((0, 32))), "rounded down both ways")]
#[case::one_tile_a_block(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.row / 4 * 3 + m.column / 16 < 2), Unwritten, (3, Some((0, 32))), "a block takes one tile and no more: tiles from number 2 on")]
#[case::remainder(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.row < 8), Unwritten, (3, Some((8, 0))), "the remainder forgotten: 2 blocks take 4 rows each, m = 9")]
#[case::some_tile(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.row / 4 * 3 + m.column / 16 != 4), Unwritten, (3, Some((4, 16))), "tiles that no block takes: number 4 of 9")]
#[case::last_row(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.row < M - 1), Unwritten, (3, Some((8, 0))), "row")]
#[case::last_column(LISTED, |m: Move, _: &[u32]| inside(m).filter(|m| m.column < N - 1), Unwritten, (3, Some((0, 36))), "column")]
fn a_planted_fault_is_placed_and_named(
    #[values(0, 1, 2, 3)] dtype: usize,
    #[case] members: &[u32],
    #[case] fault: Fault,
    #[case] kind: FindingKind,
    #[case] at: (u32, Option<(u64, u64)>),
    #[case] cause: &str,
) {
    let problem = problem(TYPES[dtype], members);
    let findings = judged(&problem, &|of| fault(of, members), false);
    expect(&findings, kind, at, cause);
    // Whatever is said elsewhere is not another cause of the same fault.
    assert!(findings.iter().all(|finding| finding.count > 0));
}

#[rstest]
fn data_of_the_call_before_is_stale(#[values(0, 1, 2, 3)] dtype: usize) {
    let problem = problem(TYPES[dtype], LISTED);
    let findings = judged(&problem, &inside, true);
    expect(
        &findings,
        OutputMismatch,
        (3, Some((0, 0))),
        "stale data: what belonged there in call 0",
    );
}

#[rstest]
fn a_wide_store_at_the_end_of_a_row(#[values(0, 1, 2, 3)] dtype: usize) {
    let problem = problem(TYPES[dtype], LISTED);
    let width = (16 / problem.dtype.bytes()) as i64;
    let end = (N + width - 1) / width * width;
    let wide = |of: Move| Some(of).filter(|of| of.row < M && of.column < end);
    let findings = judged(&problem, &wide, false);
    expect(&findings, PaddingOverwritten, (0, Some((0, 37))), "an over-wide store: 16 bytes");
}

#[rstest]
fn slack_in_front_of_the_output(#[values(0, 1, 2, 3)] dtype: usize) {
    let problem = problem(TYPES[dtype], LISTED);
    let early = |of: Move| inside(Move { to_element: of.to_element - 2, ..of });
    let findings = judged(&problem, &early, false);
    let cause = match problem.dtype.bytes() {
        // Two bytes are too few to tell a cause from chance.
        1 => "",
        _ => "the output's offset in its region left out",
    };
    expect(&findings, SlackOverwritten, (0, None), cause);
}

/// Nothing is said where nothing fits.
#[rstest]
#[case::noise(|heap: &mut [u8], from: usize| heap[from..from + 64].iter_mut().for_each(|b| *b = b.wrapping_mul(37) ^ 0x5a))]
#[case::one_byte(|heap: &mut [u8], from: usize| heap[from] ^= 0x40)]
#[case::backwards(|heap: &mut [u8], from: usize| heap[from..from + 33].reverse())]
#[case::ones(|heap: &mut [u8], from: usize| heap[from..from + 40].fill(0xff))]
fn no_cause_is_made_up(#[values(0, 1, 2, 3)] dtype: usize, #[case] damage: fn(&mut [u8], usize)) {
    let problem = problem(TYPES[dtype], LISTED);
    let plan = HeapPlan::new(&problem).unwrap();
    let mut heaps = vec![vec![0u8; plan.bytes as usize]; 4];
    let mut generator = Generator::new(&problem, 1);
    spans(&problem, &plan, 1, Moment::After, &mut |span| {
        let range = span.bytes.start as usize..span.bytes.end as usize;
        generator.write(&span, &mut heaps[span.rank.index()][range]);
    });
    let output = plan.output(&problem, &problem.calls[1]);
    damage(&mut heaps[2], output.row_bytes(10, 3..4).start as usize);
    let views: Vec<&[u8]> = heaps.iter().map(Vec::as_slice).collect();
    let findings = verify(&problem, &plan, 1, &views);
    assert!(!findings.is_empty());
    for finding in findings {
        assert_eq!(finding.looks_like, None, "{finding:#?}");
    }
}

/// A claim that most elements agree with is no cause.
#[rstest]
fn one_element_that_disagrees_refutes_a_claim(#[values(0, 1, 2, 3)] dtype: usize) {
    let problem = problem(TYPES[dtype], LISTED);
    let almost = |of: Move| {
        let from = if of.row == 5 && of.column == 5 { 2 } else { 3 };
        inside(Move { from, ..of })
    };
    for finding in judged(&problem, &almost, false) {
        let says_first = finding.looks_like.as_deref().unwrap_or_default().contains("first member");
        assert!(!says_first, "{finding:#?}");
    }
}
