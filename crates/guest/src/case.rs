//! An open case, from this process's side: heaps, fill, hand-over.

use std::os::fd::OwnedFd;

use collectives::{HeapPlan, Problem, Rank, RegionName, image};
use guest_protocol::message::{Answer, Ask, AttachedHeap, HostLaunch, Opened, Step};

use crate::connection::Connection;
use crate::guest::expect;
use crate::heap::{Heap, OwnMemory};
use crate::info::Region;

/// A case that is open in this process.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) opened: Opened,
    plan: HeapPlan,
    /// The judge's memory of every rank, until it is mapped here.
    images: Vec<Option<OwnedFd>>,
    /// By rank: those of this process, and those of others that it looked up.
    heaps: Vec<Option<Heap>>,
    /// The one rank of this process; `None` where it has all.
    rank: Option<Rank>,
    attached: bool,
}

impl Case {
    pub(crate) fn new(
        opened: Opened,
        images: Vec<OwnedFd>,
        rank: Option<Rank>,
    ) -> Result<Case, String> {
        let plan = HeapPlan::new(&opened.problem).map_err(|error| error.to_string())?;
        let world = opened.problem.world as usize;
        if images.len() != world {
            return Err(format!("{} images came for {world} ranks", images.len()));
        }
        let images = images.into_iter().map(Some).collect();
        let heaps = (0..world).map(|_| None).collect();
        Ok(Case { opened, plan, images, heaps, rank, attached: false })
    }

    /// The pure part.
    pub(crate) fn problem(&self) -> &Problem {
        &self.opened.problem
    }

    /// Bytes of a heap.
    pub(crate) fn heap_bytes(&self) -> u64 {
        self.plan.bytes
    }

    /// The call number `index`.
    pub(crate) fn call(&self, index: usize) -> Result<&collectives::Call, String> {
        let calls = &self.problem().calls;
        let count = calls.len();
        calls.get(index).ok_or_else(|| format!("call {index} of {count} calls"))
    }

    /// The one rank of this process; `None` where it has all.
    pub(crate) fn rank(&self) -> Option<Rank> {
        self.rank
    }

    /// The ranks of a call's group that this process runs, in the order in which it must.
    pub(crate) fn running_order(&self, order: usize, call: usize) -> Result<Vec<Rank>, String> {
        let orders = &self.opened.orders;
        let group = &self.call(call)?.group;
        let count = orders.len();
        let order = orders.get(order).ok_or_else(|| format!("order {order} of {count} orders"))?;
        let runs = |rank: &Rank| {
            group.group_rank(*rank).is_some() && self.rank.is_none_or(|mine| mine == *rank)
        };
        Ok(order.iter().copied().filter(runs).collect())
    }

    fn check_rank(&self, rank: u32) -> Result<Rank, String> {
        let world = self.problem().world;
        (rank < world).then_some(Rank(rank)).ok_or(format!("rank {rank} of {world} ranks"))
    }

    /// Where a region lies in a call.
    pub(crate) fn region(&self, index: usize, rank: u32, name: &str) -> Result<Region, String> {
        let (problem, call) = (self.problem(), self.call(index)?);
        let rank = self.check_rank(rank)?;
        let storage = |region: &RegionName| self.plan.region(region).storage.clone();
        match name {
            "input" => {
                let region = if problem.in_place { RegionName::Output } else { RegionName::Input };
                Ok(Region::matrix(&self.plan.input(problem, call, rank), storage(&region)))
            }
            "output" => {
                let view = self.plan.output_of(problem, call, rank);
                Ok(Region::matrix(&view, storage(&RegionName::Output)))
            }
            _ => {
                let names: Vec<&str> =
                    problem.workspaces.iter().map(|workspace| workspace.name.as_str()).collect();
                let wanted = name.strip_prefix("workspace.").unwrap_or(name);
                let number = names.iter().position(|known| *known == wanted).ok_or_else(|| {
                    let known: String = names.iter().map(|n| format!(", workspace.{n}")).collect();
                    format!("no region `{name}` (there are input, output{known})")
                })?;
                Ok(Region::bytes(storage(&RegionName::Workspace(number))))
            }
        }
    }

    /// Sets a rank's heap, or looks it up: memory of the program's own, or the judge's.
    pub(crate) fn heap(
        &mut self,
        rank: u32,
        own: Option<(OwnMemory, u64)>,
        peers: Vec<u64>,
    ) -> Result<*mut u8, String> {
        let rank = self.check_rank(rank)?;
        let needed = self.plan.bytes;
        if let Some((_, bytes)) = own {
            if self.attached {
                return Err(format!("rank {rank}'s heap cannot change once a call was filled"));
            }
            if self.rank.is_some_and(|mine| mine != rank) {
                return Err(format!("rank {rank} is another process: it gives its own heap"));
            }
            if bytes < needed {
                return Err(format!(
                    "rank {rank}'s heap has {bytes} bytes, but the case needs {needed}"
                ));
            }
        }
        let index = rank.index();
        if self.heaps[index].is_some() && own.is_some() {
            return Err(format!("rank {rank} has a heap already"));
        }
        if self.heaps[index].is_none() {
            let image = self.images[index].take().ok_or("an image is mapped once")?;
            self.heaps[index] = Some(Heap::new(image, needed, own.map(|(own, _)| own), peers)?);
        }
        Ok(self.heaps[index].as_mut().map_or(std::ptr::null_mut(), Heap::address))
    }

    /// Fills the heaps of this process's ranks, and waits until all ranks have.
    pub(crate) fn fill(&mut self, judge: &mut Connection, step: Step) -> Result<(), String> {
        self.call(step.call)?;
        if !self.attached {
            go(judge.ask(&Ask::Attach(self.attachments()?))?)?;
            self.attached = true;
        }
        let mine = |rank: usize| self.rank.is_none_or(|own| own.index() == rank);
        let mut heaps: Vec<Option<&mut [u8]>> = self
            .heaps
            .iter_mut()
            .enumerate()
            .map(|(rank, heap)| heap.as_mut().filter(|_| mine(rank)).map(Heap::bytes_mut))
            .collect();
        image::fill_some(&self.opened.problem, &self.plan, step.call, &mut heaps);
        go(judge.ask(&Ask::Filled(step))?)
    }

    fn attachments(&mut self) -> Result<Vec<AttachedHeap>, String> {
        let mine: Vec<Rank> = match self.rank {
            Some(rank) => vec![rank],
            None => self.problem().ranks().collect(),
        };
        mine.into_iter()
            .map(|rank| {
                let heap = self.heaps[rank.index()].as_mut();
                let heap = heap.ok_or(format!("rank {rank} has no heap: give it one first"))?;
                let (handle, bytes) = (heap.handle(), heap.len());
                Ok(AttachedHeap { rank, handle, bytes, peers: heap.peers().to_vec() })
            })
            .collect()
    }

    /// Notes what a rank of this process launched.
    pub(crate) fn launched(
        &self,
        judge: &mut Connection,
        rank: u32,
        launch: HostLaunch,
    ) -> Result<(), String> {
        let rank = self.check_rank(rank)?;
        if self.rank.is_some_and(|mine| mine != rank) {
            return Err(format!("rank {rank} is another process: it says what it launched"));
        }
        judge.tell(&Ask::Launched(rank, launch))
    }

    /// Hands the images over once all ranks have returned from the call; whether all is right.
    pub(crate) fn judge(&mut self, judge: &mut Connection) -> Result<bool, String> {
        go(judge.ask(&Ask::Returned)?)?;
        for heap in self.heaps.iter_mut().flatten() {
            heap.hand_over();
        }
        expect(judge.ask(&Ask::HandedOver)?, "a judgement", |answer| match answer {
            Answer::Judged { right } => Some(right),
            _ => None,
        })
    }
}

fn go(answer: Answer) -> Result<(), String> {
    expect(answer, "go", |answer| matches!(answer, Answer::Go).then_some(()))
}
