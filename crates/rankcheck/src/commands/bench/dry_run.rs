//! `--dry-run`: what every row would launch, and the bytes that it is about.

use launch::job::Job;
use measure::Planned;
use ranks::budget::show_bytes;

use crate::commands::emit;
use crate::exit::Exit;

/// Prints every row with its arms.
pub(super) fn print(rows: &[Planned<'_>]) -> anyhow::Result<Exit> {
    let mut text = String::new();
    for row in rows {
        let bench = &row.arms[0].case.bench;
        let case = row.arms[0].case;
        let heaps = case.plan.backed_bytes(&case.problem) * u64::from(case.problem.world);
        text += &format!(
            "{}\n  {} of {}, bus factor {:.3}, heaps {}, {} launches of {} blocks, {} + {} iterations a run\n",
            row.id,
            show_bytes(row.units.bytes),
            case.problem.collective,
            row.units.bus_factor,
            show_bytes(heaps),
            bench.launches,
            bench.blocks,
            bench.warmup,
            bench.iterations,
        );
        for arm in &row.arms {
            let case = arm.case;
            let kernel = format!("{}.{}", case.kernel.manifest.kernel, case.variant);
            let job = Job::resolved(case, &case.plan, 0, 0)?;
            let launch = job.launches.first();
            let launch = launch.map_or_else(String::new, |launch| {
                let (grid, threads, shared) = (launch.grid, launch.threads, launch.shared_bytes);
                let tile = case.problem.calls[0].tile;
                format!("{grid} blocks of {threads} threads, tile {tile}, {shared} shared bytes")
            });
            text += &format!("  {:<20} {kernel}: {launch}\n", arm.name);
        }
        for (arm, why) in &row.missing {
            text += &format!("  {arm:<20} not here: {why}\n");
        }
    }
    text += &format!("{} rows\n", rows.len());
    emit(&text)?;
    Ok(Exit::Passed)
}
