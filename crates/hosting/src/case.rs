//! The judge's side of one case of a host program: heaps, images, findings, result.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use collectives::draw::mix;
use collectives::{Finding, FindingKind, Problem, Rank};
use ipc::HeapHandle;
use ipc::SharedMemory;
use scenario::{Case, Mode, Reason};

use crate::launched::{effective, mismatch};
use guest_protocol::message::{AttachedHeap, HostLaunch, Opened, Step};
use launch::config::patience;
use launch::orders;
use launch::ways::order_dependent;
use ranks::heaps::{HeapOwner as _, SharedHeaps};
use verdict::{CaseResult, How, Identity, NotProved, OrdersRun, Verdict};

/// A case that a program is working on.
#[derive(Debug)]
pub struct HostCase {
    case: Arc<Case>,
    /// By rank: where the judge looks.
    heaps: SharedHeaps,
    result: CaseResult,
    orders: Vec<Vec<Rank>>,
    /// The call at hand.
    step: Option<Step>,
    /// What ran in it.
    launches: BTreeMap<Rank, HostLaunch>,
    /// The next call that has not been judged, and the orders that are through, by verdict.
    next: Step,
    passed: Vec<usize>,
    failed: Vec<usize>,
    /// Bytes of the largest heap that lie beyond what the case needs.
    beyond: u64,
    /// How long a call may take, sizes aside.
    timeout: Option<Duration>,
    started: Instant,
}

/// The result of a case that no program opened, and what went wrong instead.
pub fn never_opened(case: &Case, identity: Identity, finding: Finding) -> CaseResult {
    let result = CaseResult::new(case, Mode::Host, identity);
    CaseResult { verdict: Verdict::Fail, findings: vec![finding], ..result }
}

/// The result of a case that the run ended before.
pub fn not_run(case: &Case, identity: Identity, reason: Reason) -> CaseResult {
    CaseResult::new(case, Mode::Host, identity).without_a_run(Verdict::NotRun, reason)
}

impl HostCase {
    /// Opens a case and makes memory for its images. `together` says that each rank is a
    /// process.
    ///
    /// # Errors
    /// Why the judge cannot do that.
    pub fn open(
        case: Arc<Case>,
        identity: Identity,
        together: bool,
        timeout: Option<Duration>,
    ) -> Result<HostCase, String> {
        let world = case.problem.world;
        let mut heaps = SharedHeaps::new(world).map_err(|error| error.to_string())?;
        heaps.reserve(world, &[], case.plan.bytes).map_err(|error| error.to_string())?;
        let result = CaseResult::new(&case, Mode::Host, identity);
        // A kernel that waits cannot run rank after rank: the program runs all of them at once.
        let orders = match together || case.waits() {
            true => vec![orders::active(&case.problem)],
            false => few_orders(&case.problem),
        };
        Ok(HostCase {
            case,
            heaps,
            result,
            orders,
            step: None,
            launches: BTreeMap::new(),
            next: Step { order: 0, call: 0 },
            passed: Vec::new(),
            failed: Vec::new(),
            beyond: 0,
            timeout,
            started: Instant::now(),
        })
    }

    /// What guests need to know.
    pub fn opened(&self, name: String) -> Opened {
        Opened {
            name,
            problem: self.case.problem.clone(),
            requested: self.case.requested.iter().map(|asked| (asked.tile, asked.blocks)).collect(),
            threads: self.case.threads,
            orders: self.orders.clone(),
        }
    }

    /// The memory of all images, by rank.
    pub fn heaps(&self) -> &[SharedMemory] {
        self.heaps.memory()
    }

    /// How long all ranks may take until they meet again.
    pub fn patience(&self) -> Duration {
        patience(
            self.timeout,
            &self.case,
            self.case.plan.bytes * u64::from(self.case.problem.world),
        )
    }

    /// Notes where guests have their heaps.
    ///
    /// # Errors
    /// A heap that cannot be judged: too small, of a rank that does not exist, twice, or missing.
    pub fn attach(&mut self, attached: &[AttachedHeap]) -> Result<(), String> {
        let world = self.case.problem.world;
        let mut seen = vec![false; world as usize];
        for heap in attached {
            let AttachedHeap { rank, bytes, .. } = heap;
            let place = seen.get_mut(rank.index());
            let place = place.ok_or_else(|| format!("there is no rank {rank} among {world}"))?;
            if std::mem::replace(place, true) {
                return Err(format!("rank {rank} has two heaps"));
            }
            if *bytes < self.case.plan.bytes {
                let needed = self.case.plan.bytes;
                return Err(format!("rank {rank}'s heap has {bytes} bytes, {needed} are needed"));
            }
            match &heap.handle {
                HeapHandle::Memfd(_) | HeapHandle::Host { .. } => {}
                HeapHandle::GpuIpc { .. } => {
                    return Err(format!(
                        "rank {rank}'s heap is device memory, which this judge cannot open (copy it to a heap of the library before judging)"
                    ));
                }
            }
            self.beyond = self.beyond.max(bytes - self.case.plan.bytes);
        }
        if let Some(rank) = seen.iter().position(|seen| !seen) {
            return Err(format!("rank {rank} has no heap"));
        }
        let findings = asymmetries(world, attached);
        self.add(findings);
        Ok(())
    }

    /// A call begins.
    ///
    /// # Errors
    /// It is not the one that comes next.
    pub fn begin(&mut self, step: Step) -> Result<(), String> {
        let starts_order = step.call == 0 && step.order < self.orders.len();
        let new_order = starts_order && step.order == self.next.order + 1;
        if step != self.next && !new_order {
            let Step { order, call } = self.next;
            return Err(format!(
                "call {} of order {} was filled, but call {call} of order {order} comes next ({} calls, {} orders)",
                step.call,
                step.order,
                self.case.problem.calls.len(),
                self.orders.len()
            ));
        }
        if new_order && !self.failed.contains(&self.next.order) {
            return Err(format!("order {} was not finished", self.next.order));
        }
        self.step = Some(step);
        self.next = step;
        self.launches.clear();
        Ok(())
    }

    /// A rank has launched something.
    ///
    /// # Errors
    /// No call is at hand, or the rank is not in its group.
    pub fn launched(&mut self, rank: Rank, launch: HostLaunch) -> Result<(), String> {
        let step = self.step.ok_or("a launch outside a call: fill the heaps first")?;
        let group = &self.case.problem.calls[step.call].group;
        if group.group_rank(rank).is_none() {
            return Err(format!("rank {rank} takes no part in call {} ({group})", step.call));
        }
        self.launches.insert(rank, launch);
        Ok(())
    }

    /// Judges the call at hand: every byte of every image, and every launch.
    ///
    /// # Errors
    /// No call is at hand.
    pub fn judge(&mut self) -> Result<bool, String> {
        let step = self.step.take().ok_or("nothing to judge: fill the heaps first")?;
        let index = step.call;
        let case = self.case.clone();
        let call = &case.problem.calls[index];
        let mut findings = Vec::new();
        for rank in call.group.members() {
            let launch = self.launches.get(rank);
            findings.extend(mismatch(&case, index, *rank, launch));
            if let Some(launch) = launch {
                self.result.launches += 1;
                self.result.calls[index].effective = Some(effective(launch, call));
            }
        }
        let wrong = self.heaps.compare(&case.problem, &case.plan, index, 0);
        findings.extend(wrong.map_err(|error| error.to_string())?);
        let right = findings.is_empty();
        self.next = Step { call: index + 1, ..step };
        if self.failed.is_empty() {
            self.add(findings);
        }
        if !right && !self.failed.contains(&step.order) {
            self.failed.push(step.order);
        }
        if self.next.call == case.problem.calls.len() {
            if !self.failed.contains(&step.order) {
                self.passed.push(step.order);
            }
            if step.order + 1 < self.orders.len() {
                self.next = Step { order: step.order + 1, call: 0 };
            }
        }
        Ok(right && !self.has_failed())
    }

    /// Something that ends the case.
    pub fn lose(&mut self, kind: FindingKind, rank: Option<Rank>, text: impl Into<String>) {
        let call = self.step.or(Some(self.next)).map(|step| step.call);
        let call = call.filter(|call| *call < self.case.problem.calls.len());
        self.add(vec![Finding::event(kind, rank, call, text)]);
    }

    /// What the ranks are in, for messages: `call 1` or `before call 0`.
    pub fn place(&self) -> String {
        match self.step {
            Some(step) => format!("in call {}", step.call),
            None if self.next.call == self.case.problem.calls.len() => "after the last call".into(),
            None => format!("before call {}", self.next.call),
        }
    }

    /// Whether something is wrong already.
    pub fn has_failed(&self) -> bool {
        !self.result.findings.is_empty()
    }

    /// Whether every call of every order has been judged.
    pub fn is_through(&self) -> bool {
        let judged = self.passed.len() + self.failed.len();
        self.step.is_none() && judged == self.orders.len()
    }

    /// Whether every call of at least one order has been judged.
    fn is_complete(&self) -> bool {
        !self.passed.is_empty() && self.step.is_none()
    }

    fn add(&mut self, findings: Vec<Finding>) {
        self.result.findings.extend(findings);
    }

    /// The result so far; a case that was not judged to its end has failed.
    pub fn result(&self) -> CaseResult {
        let mut result = self.result.clone();
        let shown = |orders: &[usize]| -> Vec<String> {
            orders.iter().map(|order| orders::show(&self.orders[*order])).collect()
        };
        if result.findings.is_empty() && !self.is_complete() {
            let text = format!(
                "the program left the case {}: {} of {} calls were judged in the first order of ranks",
                self.place(),
                if self.next.order == 0 { self.next.call } else { self.case.problem.calls.len() },
                self.case.problem.calls.len(),
            );
            let kind = FindingKind::KernelDidNotRun;
            result.findings.push(Finding::event(kind, None, None, text));
        }
        result.findings.extend(order_dependent(&shown(&self.passed), &shown(&self.failed)));
        result.verdict = if result.findings.is_empty() { Verdict::Pass } else { Verdict::Fail };
        let ran = self.passed.len() + self.failed.len();
        result.how = How::Host(OrdersRun { ran, complete: false });
        result.duration_s = self.started.elapsed().as_secs_f64();
        result.not_proved = self.not_proved();
        result
    }

    fn not_proved(&self) -> Vec<NotProved> {
        let mut open = vec![NotProved::Transport, NotProved::ProgramsWord];
        let ran = self.passed.len() + self.failed.len();
        open.push(match self.orders.len() {
            1 => NotProved::OtherInterleavings,
            _ => NotProved::OrdersBeyond(ran),
        });
        if self.beyond > 0 {
            open.push(NotProved::BytesBehind { needed: self.case.plan.bytes, beyond: self.beyond });
        }
        open
    }
}

/// Identity, reverse, one seeded rotation: host programs may take their time for each.
fn few_orders(problem: &Problem) -> Vec<Vec<Rank>> {
    let identity = orders::active(problem);
    let reverse: Vec<Rank> = identity.iter().rev().copied().collect();
    let by = 1 + mix(problem.seed) as usize % identity.len().max(2);
    let rotated = orders::rotated(&identity, by);
    let mut list: Vec<Vec<Rank>> = Vec::new();
    for order in [identity, reverse, rotated] {
        if !list.contains(&order) {
            list.push(order);
        }
    }
    list
}

/// Heaps of unequal size, and tables of peers that do not say where the rank's own heap is.
fn asymmetries(world: u32, attached: &[AttachedHeap]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut about = |rank: Rank, text: String| {
        findings.push(Finding::event(FindingKind::AsymmetricHeap, Some(rank), None, text));
    };
    if let Some(first) = attached.first() {
        for heap in attached.iter().filter(|heap| heap.bytes != first.bytes) {
            about(
                heap.rank,
                format!(
                    "rank {}'s heap has {} bytes, rank {}'s has {}: symmetric heaps have one size",
                    heap.rank, heap.bytes, first.rank, first.bytes
                ),
            );
        }
    }
    for heap in attached.iter().filter(|heap| !heap.peers.is_empty()) {
        let AttachedHeap { rank, handle, peers, .. } = heap;
        if peers.len() != world as usize {
            let length = peers.len();
            about(
                *rank,
                format!("rank {rank}'s table of bases has {length} entries for {world} ranks"),
            );
        }
        if let Some(peer) = peers.iter().position(|base| *base == 0) {
            about(*rank, format!("rank {rank}'s table of bases has null for rank {peer}"));
        }
        match (handle, peers.get(rank.index())) {
            (HeapHandle::Host { address }, Some(own)) if own != address => about(
                *rank,
                format!(
                    "rank {rank}'s table of bases has {own:#x} for itself, but its heap is at {address:#x}"
                ),
            ),
            _ => {}
        }
    }
    findings
}
