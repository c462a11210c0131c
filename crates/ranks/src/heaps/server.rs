//! The heap server: a process that owns heaps on GPUs, fills and compares them. It never loads a kernel
//! under test.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use collectives::{Finding, FindingKind, HeapPlan, Problem, Rank, image, verify};
use device::gpu::Heaps;
use device::gpu::driver::GpuDriver;
use device::gpu::verifier::{CallVerifier, GpuVerifier};
use device::{DeviceError, MissingLibrary};
use ipc::{HeapHandle, Phase, RankEntry, frames};

pub(crate) use super::message::ROLE;
use super::message::{Answer, Ask, BEHIND};
use super::speed::{Speeds, measure};
use crate::command::PROTOCOL;

/// Until the parent closes the stream. `driver` opens the GPUs that hold heaps; `verifier` is its
/// compiled code, and without it, heaps are compared here on the host, from copies.
pub(crate) fn serve(
    mut stream: UnixStream,
    own: &RankEntry,
    driver: fn() -> Result<Rc<dyn GpuDriver>, MissingLibrary>,
    verifier: Option<&Path>,
) -> std::io::Result<()> {
    frames::send(&mut stream, &Answer::Hello(PROTOCOL))?;
    own.enter(Phase::Hello);
    let mut server: Option<Server> = None;
    loop {
        let ask: Ask = match frames::receive(&mut stream) {
            Ok(ask) => ask,
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        };
        let answer = match &mut server {
            Some(server) => server.answer(ask),
            None => Server::new(driver, verifier).and_then(|new| server.insert(new).answer(ask)),
        };
        let answer = answer.unwrap_or_else(|error| Answer::Failed(error.to_string()));
        frames::send(&mut stream, &answer)?;
    }
}

/// What stands behind the ends of heaps.
const UNTOUCHED: u8 = 0xa5;

/// Heaps, and what fills and compares them.
struct Server {
    heaps: Heaps,
    verifier: Option<PathBuf>,
    /// The verifier on a GPU, once there are heaps.
    gpu: Option<GpuVerifier>,
    /// The case at hand.
    current: Option<Current>,
    /// Copies of heaps on the host, where they are compared there.
    copies: Vec<Vec<u8>>,
}

/// A problem, laid out, with what the GPU knows of its calls.
struct Current {
    problem: Problem,
    plan: HeapPlan,
    calls: Vec<Option<CallVerifier>>,
}

impl Server {
    fn new(
        driver: fn() -> Result<Rc<dyn GpuDriver>, MissingLibrary>,
        verifier: Option<&Path>,
    ) -> Result<Server, DeviceError> {
        let (heaps, verifier) = (Heaps::new(driver()?), verifier.map(Path::to_owned));
        Ok(Server { heaps, verifier, gpu: None, current: None, copies: Vec::new() })
    }

    fn answer(&mut self, ask: Ask) -> Result<Answer, DeviceError> {
        Ok(match ask {
            Ask::Reserve { gpus, bytes } => Answer::Reserved(self.reserve(&gpus, bytes)?),
            Ask::Fill { problem, call } => {
                self.take_up(*problem)?;
                self.fill(call)?;
                Answer::Filled
            }
            Ask::Compare { problem, call } => {
                self.take_up(*problem)?;
                Answer::Compared(self.compare_all(call)?)
            }
            Ask::Measure { problem } => {
                self.take_up(*problem)?;
                Answer::Measured(self.measure()?)
            }
            Ask::Read { rank, offset, bytes } => {
                let mut copy = vec![0; bytes as usize];
                self.heaps.read(rank, offset, &mut copy)?;
                Answer::Bytes(copy)
            }
        })
    }

    fn reserve(&mut self, gpus: &[u32], bytes: u64) -> Result<Vec<HeapHandle>, DeviceError> {
        // What the GPU knows of a case holds addresses of heaps.
        self.forget();
        let handles = self.heaps.reserve(gpus, bytes)?;
        self.gpu = match &self.verifier {
            None => None,
            Some(path) => {
                let object = std::fs::read(path);
                let object = object.map_err(|error| system(&path.display().to_string(), &error))?;
                Some(GpuVerifier::load(&mut self.heaps, gpus, &object)?)
            }
        };
        Ok(handles)
    }

    /// Lays a problem out, unless it is the one that is laid out.
    fn take_up(&mut self, problem: Problem) -> Result<(), DeviceError> {
        if self.current.as_ref().is_some_and(|current| current.problem == problem) {
            return Ok(());
        }
        self.forget();
        let plan = HeapPlan::new(&problem).map_err(|error| system("laying out heaps", &error))?;
        let calls = problem.calls.iter().map(|_| None).collect();
        self.current = Some(Current { problem, plan, calls });
        Ok(())
    }

    /// Gives back what the GPU knows of the current case.
    fn forget(&mut self) {
        if let (Some(current), Some(gpu)) = (self.current.take(), &mut self.gpu) {
            current.calls.into_iter().flatten().for_each(|call| call.release(gpu));
        }
    }

    fn fill(&mut self, call: usize) -> Result<(), DeviceError> {
        let Current { problem, plan, .. } = self.current.as_ref().expect("taken up");
        for rank in problem.ranks() {
            self.heaps.set(rank, plan.bytes, UNTOUCHED, BEHIND)?;
        }
        if let Some((judge, gpu, _)) = self.on_gpu(call)? {
            judge.fill(gpu)?;
            // Ranks launch in processes of their own, which this one's queue does not hold up.
            return gpu.finish();
        }
        let Current { problem, plan, .. } = self.current.as_ref().expect("taken up");
        room(&mut self.copies, problem, plan);
        let mut copies: Vec<&mut [u8]> = self.copies.iter_mut().map(Vec::as_mut_slice).collect();
        image::fill(problem, plan, call, &mut copies);
        for (rank, copy) in (0..).map(Rank).zip(&self.copies) {
            self.heaps.write(rank, 0, copy)?;
        }
        Ok(())
    }

    fn measure(&mut self) -> Result<Speeds, DeviceError> {
        let places = self.heaps.addresses(2)?;
        let Some((judge, gpu, (problem, plan))) = self.on_gpu(0)? else {
            return Err(system("measuring", &"heaps are compared on the host"));
        };
        // One heap onto another; the fill that is measured next mends it.
        let copied = plan.bytes / 16 * 16;
        let bytes = plan.bytes * u64::from(problem.world);
        measure(gpu, judge, bytes, (places[0], places[1], copied))
    }

    /// What is wrong in the heaps, and behind their ends.
    fn compare_all(&mut self, call: usize) -> Result<Vec<Finding>, DeviceError> {
        let mut findings = self.compare(call)?;
        findings.extend(self.behind_the_ends(call)?);
        Ok(findings)
    }

    /// Writes behind the end of a heap, where a CPU would have faulted.
    fn behind_the_ends(&mut self, call: usize) -> Result<Vec<Finding>, DeviceError> {
        let Current { problem, plan, .. } = self.current.as_ref().expect("taken up");
        let mut findings = Vec::new();
        let mut behind = vec![0; BEHIND as usize];
        for rank in problem.ranks() {
            self.heaps.read(rank, plan.bytes, &mut behind)?;
            findings.extend(written_behind(&behind, rank, call));
        }
        Ok(findings)
    }

    fn compare(&mut self, call: usize) -> Result<Vec<Finding>, DeviceError> {
        if let Some((judge, gpu, (problem, plan))) = self.on_gpu(call)? {
            return judge.verify(gpu, problem, plan);
        }
        let Current { problem, plan, .. } = self.current.as_ref().expect("taken up");
        room(&mut self.copies, problem, plan);
        for (rank, copy) in (0..).map(Rank).zip(&mut self.copies) {
            self.heaps.read(rank, 0, copy)?;
        }
        let copies: Vec<&[u8]> = self.copies.iter().map(Vec::as_slice).collect();
        Ok(verify(problem, plan, call, &copies))
    }

    /// What verifies a call on the GPU; `None` where the host does.
    #[expect(clippy::type_complexity, reason = "three things that belong together, used at once")]
    fn on_gpu(
        &mut self,
        call: usize,
    ) -> Result<Option<(&CallVerifier, &mut GpuVerifier, (&Problem, &HeapPlan))>, DeviceError> {
        let Some(gpu) = &mut self.gpu else { return Ok(None) };
        let Current { problem, plan, calls } = self.current.as_mut().expect("taken up");
        let judge = match &mut calls[call] {
            Some(judge) => judge,
            empty => {
                let heaps = self.heaps.addresses(problem.world)?;
                empty.insert(CallVerifier::new(gpu, problem, plan, call, &heaps)?)
            }
        };
        Ok(Some((judge, gpu, (problem, plan))))
    }
}

/// A finding for bytes behind the end of `rank`'s heap that somebody wrote.
fn written_behind(behind: &[u8], rank: Rank, call: usize) -> Option<Finding> {
    let first = behind.iter().position(|byte| *byte != UNTOUCHED)?;
    let count = behind.iter().filter(|byte| **byte != UNTOUCHED).count();
    let text = format!(
        "rank {rank}, call {call}: {count} bytes written behind the end of its heap, the first {first} \
         bytes behind it"
    );
    let mut finding = Finding::event(FindingKind::OutOfBounds, Some(rank), Some(call), text);
    finding.count = count as u64;
    Some(finding)
}

/// Room for copies of all heaps.
fn room(copies: &mut Vec<Vec<u8>>, problem: &Problem, plan: &HeapPlan) {
    copies.resize_with(problem.world as usize, Vec::new);
    copies.iter_mut().for_each(|copy| copy.resize(plan.bytes as usize, 0));
}

fn system(what: &str, error: &dyn std::fmt::Display) -> DeviceError {
    DeviceError::System { what: what.into(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_behind_a_heap_are_watched() {
        let mut behind = vec![UNTOUCHED; 64];
        assert_eq!(written_behind(&behind, Rank(1), 0), None);
        behind[63] = 0;
        behind[40] = 1;
        let finding = written_behind(&behind, Rank(1), 2).unwrap();
        assert_eq!(
            (finding.kind, finding.rank, finding.call),
            (FindingKind::OutOfBounds, Some(Rank(1)), Some(2))
        );
        assert!(
            finding.explanation.contains("2 bytes") && finding.explanation.contains("first 40")
        );
    }
}
