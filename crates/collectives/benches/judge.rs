//! Fill and verify against memcpy over the same bytes, in one run; ratios are printed, not asserted.
//!
//! `cargo bench -p collectives`

use std::time::{Duration, Instant};

use collectives::image::{Generator, Moment, fill, spans};
use collectives::{Collective, DType, HeapPlan, Problem, Shape, Tile, verify};

fn problem(dtype: DType, shape: Shape, ranks: u32) -> Problem {
    Problem::plain(Collective::AllGather, ranks, dtype, shape)
        .with_tile(Tile { m: 8, n: 256 })
        .with_guards(4096)
}

/// The fastest of five runs: these machines are shared.
fn best(mut run: impl FnMut()) -> Duration {
    (0..5)
        .map(|_| {
            let started = Instant::now();
            run();
            started.elapsed()
        })
        .min()
        .expect("five runs")
}

fn main() {
    println!(
        "{:<34} {:>12} {:>12} {:>12} {:>7} {:>7}",
        "problem", "memcpy", "fill", "verify", "fill/m", "ver/m"
    );
    for (dtype, m, n, ranks) in [
        (DType::F16, 2048, 4096, 4),
        (DType::U8, 2048, 4096, 4),
        (DType::F64, 512, 4096, 4),
        (DType::F16, 4096, 65, 4),
        (DType::F32, 2048, 2048, 8),
    ] {
        let problem = problem(dtype, Shape { m, n }, ranks);
        let plan = HeapPlan::new(&problem).expect("it fits");
        let bytes = plan.bytes * u64::from(ranks);
        let mut heaps = vec![vec![1u8; plan.bytes as usize]; ranks as usize];
        let mut copy = vec![2u8; plan.bytes as usize];
        let memcpy = best(|| {
            for heap in &heaps {
                std::hint::black_box(&mut copy).copy_from_slice(heap);
            }
        });
        let filled = best(|| {
            let mut views: Vec<&mut [u8]> = heaps.iter_mut().map(Vec::as_mut_slice).collect();
            fill(&problem, &plan, 0, &mut views);
        });
        let mut generator = Generator::new(&problem, 0);
        spans(&problem, &plan, 0, Moment::After, &mut |span| {
            let range = span.bytes.start as usize..span.bytes.end as usize;
            generator.write(&span, &mut heaps[span.rank.index()][range]);
        });
        let verified = best(|| {
            let views: Vec<&[u8]> = heaps.iter().map(Vec::as_slice).collect();
            assert!(verify(&problem, &plan, 0, &views).is_empty());
        });
        let rate = |time: Duration| format!("{:.2} GB/s", bytes as f64 / time.as_secs_f64() / 1e9);
        let ratio = |time: Duration| format!("{:.2}", memcpy.as_secs_f64() / time.as_secs_f64());
        println!(
            "{:<34} {:>12} {:>12} {:>12} {:>7} {:>7}",
            format!("{dtype} {m}x{n} on {ranks} ranks, {} MB", bytes / 1_000_000),
            rate(memcpy),
            rate(filled),
            rate(verified),
            ratio(filled),
            ratio(verified),
        );
    }
}
