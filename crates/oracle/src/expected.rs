//! What the reference says a rank's heap holds after the call.

use collectives::arithmetic::Operand;
use collectives::image::{Generator, Moment, spans};
use collectives::op::Numerics;
use collectives::plan::View;
use collectives::reference::{Block, Content};
use collectives::{Call, DType, GroupRank, HeapPlan, Op, Problem, Rank, arithmetic, reference};

/// Combines rows of elements, one a group rank: [`arithmetic::reduce`].
pub type Reduce = fn(DType, &Numerics, Op, usize, &[Operand<'_>]) -> Vec<u8>;

/// The two halves of a reference: where things belong, and what a reduction's elements are.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    /// As [`reference::output`].
    pub blocks: fn(&Problem, &Call, Rank) -> Vec<Block>,
    /// As [`arithmetic::reduce`].
    pub reduce: Reduce,
}

/// The one under test.
pub const REFERENCE: Reference =
    Reference { blocks: reference::output, reduce: arithmetic::reduce };

/// The heap of `rank` before or after the problem's only call, as the crate's own images say.
pub fn image(problem: &Problem, plan: &HeapPlan, rank: Rank, moment: Moment) -> Vec<u8> {
    let mut heap = vec![0; plan.bytes as usize];
    let mut generator = Generator::new(problem, 0);
    spans(problem, plan, 0, moment, &mut |span| {
        if span.rank == rank {
            let range = span.bytes.start as usize..span.bytes.end as usize;
            generator.write(&span, &mut heap[range]);
        }
    });
    heap
}

/// The heap of `rank` after the call: `before`, with the blocks that `reference` names.
pub fn after(
    problem: &Problem,
    plan: &HeapPlan,
    rank: Rank,
    before: &[u8],
    reference: Reference,
) -> Vec<u8> {
    let call = &problem.calls[0];
    let output = plan.output_of(problem, call, rank);
    let mut generator = Generator::new(problem, 0);
    let mut heap = before.to_vec();
    for block in (reference.blocks)(problem, call, rank) {
        for row in block.rows.clone() {
            let from_row = block.from_row + row - block.rows.start;
            let content = match block.content {
                Content::Input(from) => generator.row(from, from_row).to_vec(),
                Content::Reduced(first) => {
                    let row = |member: &Rank| generator.row(*member, from_row).to_vec();
                    let rows: Vec<Vec<u8>> = call.group.members().iter().map(row).collect();
                    let operands: Vec<Operand<'_>> = rows
                        .iter()
                        .zip(0..)
                        .map(|(bytes, member)| Operand {
                            bytes,
                            scalar: call.scalar(GroupRank(member)),
                        })
                        .collect();
                    let Problem { dtype, numerics, .. } = problem;
                    (reference.reduce)(*dtype, numerics, call.details.op, first as usize, &operands)
                }
            };
            let target = output.row_bytes(row, block.columns.clone());
            let target = target.start as usize..target.end as usize;
            let first = (block.from_column * output.element) as usize;
            let length = target.len();
            heap[target].copy_from_slice(&content[first..first + length]);
        }
    }
    heap
}

/// The rows of a matrix in a heap, one behind the other.
pub fn packed(heap: &[u8], view: View) -> Vec<u8> {
    let row = |row| {
        let bytes = view.row_bytes(row, 0..view.shape.n);
        &heap[bytes.start as usize..bytes.end as usize]
    };
    (0..view.shape.m).flat_map(row).copied().collect()
}
