//! Law 16: data must be able to show the slip. For every element type, op and number of members, results
//! change when a member is forgotten, taken twice or taken in place of another, in every row; and any two
//! rows, any two columns and any two calls have different results.

use collectives::image::Generator;
use collectives::op::Average;
use collectives::{
    Collective, DType, GroupRank, Op, Problem, Rank, Shape, Tile,
    arithmetic::{self, Operand},
    declared,
};
use rstest::rstest;

const ROWS: u64 = 12;
/// Columns whose results are compared with those of other columns.
const COLUMNS: u64 = 40;
/// Columns that are looked at at once.
const CHUNK: usize = 8;

/// Wide enough that every member decides an extreme, or has the one odd factor, several times in a row.
fn problem(dtype: DType, op: Op, members: u32) -> Problem {
    let shape = Shape { m: ROWS, n: COLUMNS.max(8 * u64::from(members)) };
    let mut problem = Problem::plain(Collective::AllReduce, members, dtype, shape)
        .with_tile(Tile { m: 4, n: 16 })
        .with_op(op)
        .repeated(2);
    problem.numerics.avg = Some(Average::DivideAfter);
    problem
}

/// Members by number, each with the member whose factor it has; one that is `None` adds nothing.
type Taken = Vec<(Option<usize>, usize)>;

/// The rows of all members, of which some columns are combined.
struct Inputs<'a> {
    problem: &'a Problem,
    rows: Vec<Vec<u8>>,
}

impl<'a> Inputs<'a> {
    fn new(problem: &'a Problem, call: usize, row: u64) -> Inputs<'a> {
        let mut generator = Generator::new(problem, call);
        let rows = (0..problem.world).map(|rank| generator.row(Rank(rank), row).to_vec()).collect();
        Inputs { problem, rows }
    }

    /// The result of some columns, as bytes.
    fn combined(
        &self,
        taken: &[(Option<usize>, usize)],
        columns: std::ops::Range<usize>,
    ) -> Vec<u8> {
        let size = self.problem.dtype.bytes() as usize;
        let call = &self.problem.calls[0];
        let zeros = vec![0; columns.len() * size];
        let operand = |(whose, factor): &(Option<usize>, usize)| Operand {
            bytes: whose.map_or(&zeros, |whose| {
                &self.rows[whose][columns.start * size..columns.end * size]
            }),
            scalar: call.scalar(GroupRank(*factor as u32)),
        };
        let operands: Vec<Operand<'_>> = taken.iter().map(operand).collect();
        arithmetic::reduce(
            self.problem.dtype,
            &self.problem.numerics,
            call.details.op,
            0,
            &operands,
        )
    }

    /// Whether a row shows that these were taken in place of all.
    fn shows(&self, taken: &[(Option<usize>, usize)]) -> bool {
        let all = everybody(self.rows.len());
        let columns = self.problem.calls[0].shape.n as usize;
        (0..columns).step_by(CHUNK).any(|start| {
            let columns = start..(start + CHUNK).min(columns);
            self.combined(taken, columns.clone()) != self.combined(&all, columns)
        })
    }
}

fn everybody(members: usize) -> Taken {
    (0..members).map(|member| (Some(member), member)).collect()
}

/// Everybody, but for one slip of a member.
fn slips(op: Op, members: usize, member: usize) -> Vec<(String, Taken)> {
    let all = everybody(members);
    let mut slips = Vec::new();
    let distances = [1, 2, 3, 4, 5, 8, 16, 32];
    for distance in distances.into_iter().filter(|distance| *distance < members) {
        let other = (member + distance) % members;
        let mut exchanged = all.clone();
        exchanged[member].0 = Some(other);
        slips.push((format!("{other} in place of {member}"), exchanged));
    }
    let mut forgotten = all.clone();
    match op {
        Op::Prod | Op::Min | Op::Max => drop(forgotten.remove(member)),
        // The divisor stays as it is.
        Op::Sum | Op::Avg | Op::PremulSum => forgotten[member].0 = None,
    }
    slips.push((format!("{member} forgotten"), forgotten));
    if matches!(op, Op::Sum | Op::Prod | Op::PremulSum) {
        slips.push((
            format!("{member} twice"),
            all.into_iter().chain([(Some(member), member)]).collect(),
        ));
    }
    slips
}

#[rstest]
fn every_slip_of_a_member_or_of_a_place_is_seen(
    #[values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)] dtype: usize,
    #[values(Op::Sum, Op::Prod, Op::Min, Op::Max, Op::Avg, Op::PremulSum)] op: Op,
) {
    let dtype = DType::ALL[dtype];
    let mut judged = 0;
    for members in (2..=16).chain([31, 32, 33, 64]) {
        let problem = problem(dtype, op, members);
        if declared::undeclared(&problem).is_some() {
            continue;
        }
        judged += 1;
        let said = format!("{dtype} {op} of {members}");
        let members = members as usize;
        let few = [0, 1, members / 2, members - 1];
        for row in 0..2 {
            let inputs = Inputs::new(&problem, 0, row);
            for member in (0..members).filter(|member| members <= 16 || few.contains(member)) {
                for (slip, taken) in slips(op, members, member) {
                    assert!(inputs.shows(&taken), "{said}, row {row}: {slip}");
                }
            }
        }
        let results = [0, 1].map(|call| -> Vec<Vec<u8>> {
            let all = everybody(members);
            let columns = 0..COLUMNS as usize;
            (0..ROWS)
                .map(|row| Inputs::new(&problem, call, row).combined(&all, columns.clone()))
                .collect()
        });
        let [now, next] = &results;
        for (row, of_next) in next.iter().enumerate() {
            assert_ne!(&now[row], of_next, "{said}: row {row} of two calls");
            for other in 0..row {
                assert_ne!(now[row], now[other], "{said}: rows {row} and {other}");
            }
        }
        let size = dtype.bytes() as usize;
        let column =
            |at: usize| -> Vec<&[u8]> { now.iter().map(|row| &row[at * size..][..size]).collect() };
        for (a, b) in (0..COLUMNS as usize).flat_map(|a| (0..a).map(move |b| (a, b))) {
            assert_ne!(column(a), column(b), "{said}: columns {a} and {b}");
        }
    }
    assert!(judged > 1, "{dtype} {op}: {judged}");
}
