//! What went wrong around a kernel, as findings: lost processes, deadlocks, launches that were not
//! as asked.

use std::path::Path;

use collectives::{Finding, FindingKind, HeapPlan, Place, Problem, Rank, RegionName, Writer};
use device::Fault;
use device::cpu::{heap_at, trap};
use ipc::fault_record;
use simt::{Access, Divergence, End, Outcome, STACK_BYTES, ThreadId};

use super::lines::{self, SourceLine};
use super::races::HeapAddress;
use ranks::process::{Cause, Loss, Running};

/// What findings about one launch refer to.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The case's problem.
    pub problem: &'a Problem,
    /// Its heaps' layout.
    pub plan: &'a HeapPlan,
    /// The call that was launched, from 0; the first of those that ran together.
    pub call: usize,
    /// The object, for lines.
    pub object: &'a Path,
    /// What people call its source.
    pub source_name: &'a str,
    /// Where its source is.
    pub source_path: &'a Path,
    /// Whether each rank has a process of its own.
    pub one_rank_a_process: bool,
    /// Whether the kernel was said to wait for other ranks.
    pub waits: bool,
}

impl Context<'_> {
    /// The line of an instruction.
    pub(crate) fn line(&self, site: usize) -> Option<SourceLine> {
        lines::look_up(self.object, self.source_name, site)
    }

    /// A thread at an instruction, where its line is known.
    pub fn writer(&self, thread: ThreadId, site: Option<usize>) -> Option<Writer> {
        let line = self.line(site?)?;
        let ThreadId { rank, block, thread, .. } = thread;
        Some(Writer { file: line.file, line: line.line, rank, block, thread })
    }

    pub(crate) fn at(&self, thread: ThreadId, site: Option<usize>) -> String {
        let ThreadId { rank, block, thread: index, .. } = thread;
        let line = site.and_then(|site| self.line(site));
        let line = line.map_or(String::new(), |line| format!(" at {line}"));
        format!("rank {rank} block {block} thread {index}{line}")
    }

    /// What stands at a line of the source.
    pub(crate) fn code(&self, line: &SourceLine) -> Option<String> {
        const SHOWN: usize = 60;
        let file =
            if line.file == self.source_name { self.source_path } else { Path::new(&line.file) };
        let text = std::fs::read_to_string(file).ok()?;
        let text = text.lines().nth(line.line as usize - 1)?.trim();
        let cut = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| at);
        Some(text[..cut].to_owned())
    }

    /// Whose heap an address of the process of all ranks lies in, and where.
    pub(crate) fn heap_of(&self, address: usize) -> Option<HeapAddress> {
        let (rank, offset) = heap_at(address as u64, Rank(0))?;
        (rank.0 < self.problem.world && offset < self.plan.bytes).then_some((rank, offset))
    }

    /// Where an offset lies in a heap's plan.
    pub(crate) fn place(&self, offset: u64) -> Place {
        let region = self.plan.regions.iter().find(|region| region.storage.contains(&offset));
        let Some(region) = region else {
            return Place { region: "guard".into(), offset, ..Place::default() };
        };
        let call = &self.problem.calls[self.call];
        let view = match region.name {
            RegionName::Input if !self.problem.in_place => {
                Some(self.plan.input(self.problem, call, Rank(0)))
            }
            RegionName::Output => Some(self.plan.output(self.problem, call)),
            RegionName::Input | RegionName::Workspace(_) => None,
        };
        let view = view.filter(|view| (view.start..view.end()).contains(&offset));
        let position = view.map(|view| view.row_column(offset));
        Place {
            region: region.name.label(self.problem),
            offset,
            row: position.map(|(row, _)| row),
            column: position.map(|(_, column)| column),
            tile: None,
        }
    }

    /// An element of `size` bytes, as the source may call it: `flags[3]` on rank 1.
    pub(crate) fn element(&self, address: usize, size: u32) -> String {
        if let Some((rank, block, offset)) = simt::shared_memory_at(address) {
            return format!("byte {offset} of the shared memory of rank {rank} block {block}");
        }
        let Some((rank, offset)) = self.heap_of(address) else {
            return self.address(address as u64, Rank(0));
        };
        let place = self.place(offset);
        let name = place.region.strip_prefix("workspace.").unwrap_or(&place.region);
        let start = self.plan.regions.iter().find(|region| region.storage.contains(&offset));
        let start = start.map_or(0, |region| region.storage.start);
        let index = match (place.row, place.column) {
            (Some(row), Some(column)) => format!("{row},{column}"),
            _ => ((offset - start) / u64::from(size.max(1))).to_string(),
        };
        format!("`{name}[{index}]` of rank {rank}")
    }

    /// What an address is, as a process that sees heaps like `viewer` has it.
    pub(crate) fn address(&self, address: u64, viewer: Rank) -> String {
        if address == fault_record::UNKNOWN {
            return "an address that no pointer can hold".into();
        }
        if address < 0x1_0000 {
            return format!("a null pointer ({address:#x})");
        }
        match heap_at(address, viewer) {
            Some((rank, offset)) if offset >= self.plan.bytes => {
                let behind = offset - self.plan.bytes;
                format!("{behind} bytes behind the end of rank {rank}'s heap")
            }
            Some((rank, offset)) if self.is_gap(rank, offset) => {
                format!(
                    "a gap between rows of rank {rank}'s heap, which nobody may touch ({offset:#x})"
                )
            }
            Some((rank, offset)) if rank.0 < self.problem.world => {
                format!("rank {rank}'s heap at {offset:#x}")
            }
            _ => match trap(address) {
                Some(table) => table.into(),
                None => format!("{address:#x}, which is no heap"),
            },
        }
    }

    fn is_gap(&self, rank: Rank, offset: u64) -> bool {
        rank.0 < self.problem.world
            && self.plan.gaps(self.problem).iter().any(|gap| gap.contains(&offset))
    }

    fn viewer(&self, process: usize) -> Rank {
        if self.one_rank_a_process { Rank(process as u32) } else { Rank(0) }
    }

    /// The rank that a lost process stands for.
    fn rank_of(&self, loss: &Loss) -> Option<Rank> {
        match self.one_rank_a_process {
            true => Some(Rank(loss.process as u32)),
            false => loss.running.map(|running| running.thread.rank),
        }
    }

    /// What a lost process means.
    pub fn lost(&self, loss: &Loss) -> Finding {
        let rank = self.rank_of(loss);
        let call = loss.running.map_or(self.call, |running| self.call_of(running.thread));
        let running = loss.running.map(|Running { thread, site }| self.at(thread, site));
        let site = loss.running.and_then(|running| running.site);
        let place = running.clone().unwrap_or_else(|| loss.phase.describe().into());
        let (kind, mut text) = match &loss.cause {
            Cause::Signal(signal) => match (signal_name(*signal), loss.address) {
                ("SIGSEGV", Some(fault_record::MISALIGNED)) if loss.running.is_some() => {
                    let what = "moved sixteen bytes at an address that is not a multiple of 16";
                    (FindingKind::MisalignedAccess, format!("{place} {what}"))
                }
                ("SIGSEGV" | "SIGBUS", Some(fault_record::STACK)) if loss.running.is_some() => {
                    let stack = STACK_BYTES >> 10;
                    let text = format!(
                        "{place} overflowed its fiber's stack of {stack} KiB (deep recursion, or local arrays that belong in shared or device memory)"
                    );
                    (FindingKind::Crashed, text)
                }
                ("SIGSEGV" | "SIGBUS", Some(address)) if loss.running.is_some() => {
                    let address = self.address(address, self.viewer(loss.process));
                    (FindingKind::OutOfBounds, format!("{place} touched {address}"))
                }
                (name, _) => {
                    (FindingKind::Crashed, format!("killed by signal {signal} ({name}): {place}"))
                }
            },
            Cause::Exit(code) => (
                FindingKind::Crashed,
                format!("exited with {code} without a result {}: {place}", loss.phase.describe()),
            ),
            Cause::Garbage(what) => {
                (FindingKind::ProtocolError, format!("said something that is no message: {what}"))
            }
            Cause::Deadline(patience) => (
                FindingKind::Timeout,
                format!(
                    "no answer within {:.1} s: {place}{}",
                    patience.as_secs_f64(),
                    self.hint_to_wait()
                ),
            ),
            Cause::Stopped => (
                FindingKind::MissingRank,
                format!("stopped because another rank was lost: {place}"),
            ),
        };
        text += &format!(" (phase: {})", loss.phase.describe());
        if !loss.output.trim().is_empty() {
            let printed: Vec<&str> = loss.output.trim().lines().rev().take(5).collect();
            let printed: Vec<&str> = printed.into_iter().rev().collect();
            text += &format!("; it printed: {}", printed.join(" / "));
        }
        let subject = match rank {
            Some(rank) => format!("rank {rank}, call {call}: {text}"),
            None => format!("the process of all ranks, call {call}: {text}"),
        };
        let mut finding = Finding::event(kind, rank, Some(call), subject);
        if let (FindingKind::OutOfBounds, Some(running), Some(address)) =
            (kind, loss.running, loss.address)
        {
            let viewer = self.viewer(loss.process);
            finding.looks_like = self.wrong_address(address, running.thread.rank, viewer);
        }
        finding.writer = loss.running.and_then(|running| self.writer(running.thread, site));
        finding
    }

    /// What a kernel did that lost its process's use of the GPU.
    pub fn faulted(
        &self,
        fault: Fault,
        rank: Option<Rank>,
        text: &str,
        sanitized: bool,
    ) -> Finding {
        let (kind, what) = match fault {
            Fault::IllegalAddress => {
                (FindingKind::OutOfBounds, "the kernel touched an address that is not mapped")
            }
            Fault::MisalignedAddress => {
                (FindingKind::MisalignedAccess, "the kernel made an access that is not aligned")
            }
            Fault::Other => (FindingKind::Crashed, "the kernel was stopped by the GPU"),
        };
        let who = rank.map_or_else(|| "some rank".into(), |rank| format!("rank {rank}"));
        let hint = if sanitized { "" } else { " (`--sanitizer` names the place)" };
        let text = format!("{who}, call {}: {what}: {text}{hint}", self.call);
        Finding::event(kind, rank, Some(self.call), text)
    }

    /// What an outcome says besides memory.
    pub fn outcome(&self, outcome: &Outcome, flags: &[Access]) -> Vec<Finding> {
        let mut findings = Vec::new();
        match &outcome.end {
            End::Finished => {}
            End::Deadlock(waiting) => findings.push(self.deadlock(waiting, flags)),
        }
        findings.extend(self.violations(&outcome.violations));
        findings.extend(outcome.divergences.iter().filter_map(|d| self.divergence(d)).take(1));
        findings
    }

    /// Ranks that run one after another cannot wait for each other.
    pub(crate) fn hint_to_wait(&self) -> &'static str {
        match self.waits || self.one_rank_a_process {
            true => "",
            false => {
                " (if it waits for other ranks, its manifest must say `requires: [concurrent]`)"
            }
        }
    }

    /// Threads of a block that met at different barriers; one barrier that the compiler made two
    /// instructions of is no divergence.
    fn divergence(&self, divergence: &Divergence) -> Option<Finding> {
        let Divergence { one: (thread, site), other: (other, other_site) } = *divergence;
        let line = self.line(site)?;
        let other_line = self.line(other_site)?;
        if line == other_line {
            return None;
        }
        let text = format!(
            "threads of one block met at different barriers: {}, and thread {} at {other_line}",
            self.at(thread, Some(site)),
            other.thread,
        );
        let kind = FindingKind::BarrierDivergence;
        let call = self.call_of(thread);
        let mut finding = Finding::event(kind, Some(thread.rank), Some(call), text);
        finding.writer = self.writer(thread, Some(site));
        Some(finding)
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => "another signal",
    }
}
