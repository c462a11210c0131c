//! Cases as files, for another program to work out what heaps must hold: `ci/layouts.py` does with
//! NumPy, from the layout's numbers alone.

use std::fs::File;
use std::io::{BufWriter, Error, Write};
use std::path::Path;

use collectives::image::Moment;
use collectives::{DType, HeapPlan, RegionName};
use serde_json::json;

use crate::cases;
use crate::expected::{self, image};
use crate::planted;

/// Ranks of the largest world.
const MOST_RANKS: u32 = 8;

/// Writes `cases.jsonl`, a line a case, and `heaps.bin`: for each case the heaps of all ranks
/// before the call, after it, and after it as a planted fault has it (one of them a case, in turn).
///
/// # Errors
/// A folder that cannot be written.
pub fn write(folder: &Path, count: usize) -> Result<(), Error> {
    let mut lines = BufWriter::new(File::create(folder.join("cases.jsonl"))?);
    let mut heaps = BufWriter::new(File::create(folder.join("heaps.bin"))?);
    let problems = cases::draw(count, MOST_RANKS, reduces);
    for (problem, (fault, faulty)) in problems.iter().zip(planted::ALL.iter().cycle()) {
        let plan = HeapPlan::new(problem).map_err(Error::other)?;
        let start = |name: &RegionName| {
            plan.regions.iter().find(|region| region.name == *name).map(|r| r.storage.start)
        };
        let line = json!({
            "problem": problem,
            "heap_bytes": plan.bytes,
            "element_bytes": problem.dtype.bytes(),
            "input_start": start(&RegionName::Input),
            "output_start": start(&RegionName::Output),
            "fault": fault,
        });
        writeln!(lines, "{line}")?;
        let heap_at = |moment| -> Vec<Vec<u8>> {
            problem.ranks().map(|rank| image(problem, &plan, rank, moment)).collect()
        };
        let before = heap_at(Moment::Before);
        for heap in before.iter().chain(&heap_at(Moment::After)) {
            heaps.write_all(heap)?;
        }
        for (rank, before) in problem.ranks().zip(&before) {
            heaps.write_all(&expected::after(problem, &plan, rank, before, *faulty))?;
        }
    }
    lines.flush()?;
    heaps.flush()
}

/// Whether NumPy can reduce elements of this type: it has no bfloat16 and no 8-bit floats.
fn reduces(dtype: DType) -> bool {
    !dtype.is_float() || (dtype.bytes() > 1 && dtype != DType::BF16)
}
