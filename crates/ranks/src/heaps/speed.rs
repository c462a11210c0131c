//! How fast a GPU's judge is, beside how fast the GPU copies: two figures of one run.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use collectives::{Collective, DType, HeapPlan, Problem, Shape, Tile};
use device::DeviceError;
use device::gpu::verifier::{CallVerifier, GpuVerifier};
use ipc::Board;
use serde::{Deserialize, Serialize};

use super::{HeapOwner as _, RemoteHeaps};
use crate::error::PoolError;
use crate::target::Target;

/// Each figure is the median of so many runs.
const RUNS: usize = 5;

/// What was measured, in bytes a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speeds {
    /// Bytes of all heaps.
    pub bytes: u64,
    /// A copy on the GPU, bytes read and bytes written.
    pub copy: f64,
    /// Filling heaps: bytes written.
    pub fill: f64,
    /// Comparing heaps that are right: bytes read.
    pub verify: f64,
}

/// A collective of eight ranks with 64 Mi elements each, as the judge sees it.
pub fn problem(collective: Collective) -> Problem {
    Problem::plain(collective, 8, DType::F32, Shape { m: 8192, n: 8192 })
        .with_tile(Tile { m: 1, n: 1 })
        .with_guards(4096)
}

/// Measures the judge of a target on a problem.
///
/// # Errors
/// No memory, or no GPU.
pub fn speeds(target: &Target, problem: &Problem) -> Result<Speeds, PoolError> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let plan = HeapPlan::new(problem).map_err(|error| PoolError::System {
        what: "laying out heaps".into(),
        reason: error.to_string(),
    })?;
    if *target == Target::Cpu {
        return Err(PoolError::System {
            what: "measuring the verifier".into(),
            reason: "a CPU's is part of `cargo bench`".into(),
        });
    }
    let board = Board::new().map_err(|error| PoolError::System {
        what: "shared memory".into(),
        reason: error.to_string(),
    })?;
    let mark = std::process::id().to_string();
    let mut heaps = RemoteHeaps::start(target, &Arc::new(board), &mark, &NEVER)?;
    heaps.reserve(problem.world, &target.gpus_of(problem.world, 0), plan.bytes)?;
    heaps.measure(problem)
}

/// In the judging process.
pub fn measure(
    gpu: &mut GpuVerifier,
    judge: &CallVerifier,
    bytes: u64,
    (from, to, copied): (u64, u64, u64),
) -> Result<Speeds, DeviceError> {
    let mut median = |what: &mut dyn FnMut(&mut GpuVerifier) -> Result<(), DeviceError>| {
        let mut times = Vec::new();
        for run in 0..=RUNS {
            let started = Instant::now();
            what(gpu)?;
            gpu.finish()?;
            // The first one warms up.
            if run > 0 {
                times.push(started.elapsed());
            }
        }
        times.sort();
        Ok::<Duration, DeviceError>(times[RUNS / 2])
    };
    let copy = median(&mut |gpu| gpu.copy(to, from, copied))?;
    let fill = median(&mut |gpu| judge.fill_expected(gpu))?;
    let mut wrong = 0;
    let verify = median(&mut |gpu| {
        wrong += judge.wrong_bytes(gpu)?;
        Ok(())
    })?;
    if wrong > 0 {
        return Err(DeviceError::System {
            what: "measuring the judge".into(),
            reason: format!("{wrong} bytes differ from what it wrote itself"),
        });
    }
    let speed = |bytes: u64, time: Duration| bytes as f64 / time.as_secs_f64();
    Ok(Speeds {
        bytes,
        copy: speed(2 * copied, copy),
        fill: speed(bytes, fill),
        verify: speed(bytes, verify),
    })
}
