//! One problem, judged on the device and on the host: where they do not agree, and in what.

use collectives::draw::mix;
use collectives::image::{self, Generator, Moment, Span, spans};
use collectives::{Finding, HeapPlan, Problem, verify};
use device::gpu::verifier::{CallVerifier, VerifierDevice as _};

use crate::cpu::CpuVerifier;

/// The heaps of a call, on the device and beside it.
pub(crate) struct Bench<'a> {
    device: &'a mut CpuVerifier,
    problem: &'a Problem,
    plan: HeapPlan,
    index: usize,
    judge: CallVerifier,
    addresses: Vec<u64>,
    /// What the heaps hold.
    pub(crate) heaps: Vec<Vec<u8>>,
}

impl<'a> Bench<'a> {
    /// Heaps that hold what some kernel left.
    pub(crate) fn new(
        device: &'a mut CpuVerifier,
        problem: &'a Problem,
        index: usize,
    ) -> Bench<'a> {
        let plan = HeapPlan::new(problem).unwrap();
        let heap = |rank: u64| {
            (0..plan.bytes).map(|at| mix(problem.seed ^ rank << 40 ^ at) as u8).collect()
        };
        let heaps: Vec<Vec<u8>> = (0..problem.world.into()).map(heap).collect();
        let addresses: Vec<u64> =
            heaps.iter().map(|_| device.allocate(plan.bytes).unwrap()).collect();
        let judge = CallVerifier::new(device, problem, &plan, index, &addresses).unwrap();
        Bench { device, problem, plan, index, judge, addresses, heaps }
    }

    pub(crate) fn release(self) {
        self.judge.release(self.device);
        for address in self.addresses {
            self.device.release(address);
        }
    }

    fn upload(&mut self) {
        for (address, heap) in self.addresses.iter().zip(&self.heaps) {
            self.device.upload(*address, heap).unwrap();
        }
    }

    /// Whether the device's heaps hold what `heaps` does.
    fn same(&mut self, what: &str) -> Result<(), String> {
        for (rank, (address, heap)) in self.addresses.iter().zip(&self.heaps).enumerate() {
            let mut held = vec![0; heap.len()];
            self.device.download(*address, &mut held).unwrap();
            if let Some(at) = (0..heap.len()).find(|at| held[*at] != heap[*at]) {
                let (got, wanted) = (held[at], heap[at]);
                return Err(format!("{what}: rank {rank}, {at:#x}: {got:02x}, not {wanted:02x}"));
            }
        }
        Ok(())
    }

    /// Fills on both sides, then makes on both sides what the call must leave.
    pub(crate) fn fill(&mut self) -> Result<(), String> {
        self.upload();
        self.judge.fill(self.device).unwrap();
        let mut views: Vec<&mut [u8]> = self.heaps.iter_mut().map(Vec::as_mut_slice).collect();
        image::fill(self.problem, &self.plan, self.index, &mut views);
        self.same("before the call")?;
        self.judge.fill_expected(self.device).unwrap();
        let mut generator = Generator::new(self.problem, self.index);
        let mut all = Vec::new();
        spans(self.problem, &self.plan, self.index, Moment::After, &mut |span| all.push(span));
        for span in all {
            generator.write(&span, self.bytes(&span));
        }
        self.same("after the call")
    }

    /// Verifies on both sides.
    pub(crate) fn verify(&mut self) -> Result<Vec<Finding>, String> {
        self.upload();
        let views: Vec<&[u8]> = self.heaps.iter().map(Vec::as_slice).collect();
        let expected = verify(self.problem, &self.plan, self.index, &views);
        let count: u64 = expected.iter().map(|finding| finding.count).sum();
        let counted = self.judge.wrong_bytes(self.device).unwrap();
        if counted != count {
            return Err(format!("{counted} wrong bytes, not {count}"));
        }
        let found = self.judge.verify(self.device, self.problem, &self.plan).unwrap();
        match found == expected {
            true => Ok(found),
            false => Err(format!("{found:#?}\nare not\n{expected:#?}")),
        }
    }

    /// What the device finds, and how many bytes it counts.
    pub(crate) fn found(&mut self) -> (Vec<Finding>, u64) {
        self.upload();
        let found = self.judge.verify(self.device, self.problem, &self.plan).unwrap();
        (found, self.judge.wrong_bytes(self.device).unwrap())
    }

    pub(crate) fn bytes(&mut self, span: &Span) -> &mut [u8] {
        let range = span.bytes.start as usize..span.bytes.end as usize;
        &mut self.heaps[span.rank.index()][range]
    }

    /// Spoils the heaps: single bits, runs of bytes, bytes from elsewhere.
    pub(crate) fn spoil(&mut self, seed: u64) {
        let bytes = self.plan.bytes;
        for fault in 0..1 + mix(seed) % 5 {
            let random = |what: u64| mix(seed ^ fault << 32 ^ what);
            let rank = random(1) as usize % self.heaps.len();
            let at = (random(2) % bytes) as usize;
            let length = (random(3) % (bytes - at as u64).min(3000) + 1) as usize;
            let from = (random(4) % (bytes - length as u64 + 1)) as usize;
            match random(5) % 3 {
                0 => self.heaps[rank][at] ^= 1 << (random(6) % 8),
                1 => self.heaps[rank][at..at + length].fill(random(6) as u8),
                _ => {
                    let other = self.heaps[random(7) as usize % self.heaps.len()].clone();
                    self.heaps[rank][at..at + length].copy_from_slice(&other[from..from + length]);
                }
            }
        }
    }
}

/// Everything about a problem: images, right heaps, heaps with one wrong bit, that many of them, and
/// heaps with more faults.
pub(crate) fn agree(device: &mut CpuVerifier, problem: &Problem, bits: u64) -> Result<(), String> {
    for index in 0..problem.calls.len() {
        let mut bench = Bench::new(device, problem, index);
        let checked = bench.fill().and_then(|()| {
            let found = bench.verify()?;
            if !found.is_empty() {
                return Err(format!("right heaps are judged wrong: {found:#?}"));
            }
            for bit in 0..bits {
                let random = mix(problem.seed ^ mix(bit));
                let rank = random as usize % bench.heaps.len();
                let at = ((random >> 8) % bench.plan.bytes) as usize;
                bench.heaps[rank][at] ^= 1 << (random >> 61);
                bench.verify()?;
                bench.heaps[rank][at] ^= 1 << (random >> 61);
            }
            bench.spoil(problem.seed);
            bench.verify().map(|_| ())
        });
        bench.release();
        checked.map_err(|error| format!("call {index}: {error}"))?;
    }
    Ok(())
}
