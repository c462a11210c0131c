//! The executor's loop: runs the thread that the schedule picks, releases barriers, wakes those
//! that wait for memory, and knows when no thread can go on.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ops::Range;

use collectives::draw::mix;
use slab::Slab;

use super::block::Block;
use super::block_buffer::BlockBuffer;
use super::fault;
use super::fiber::{Fiber, Suspension};
use super::giving_up::first_of;
use super::launch::RankLaunch;
use super::outcome::{Divergence, End, LISTED, OpenWait};
use super::quiescence::Quiescence;
use super::residency::Residency;
use super::shared::Shared;
use super::stack::{STACK_BYTES, StackPool};
use super::streams::Host;
use super::waiters::Waiters;
use crate::object::abi::{WAVE, kind};
use crate::object::launch_record::LaunchRecord;
use crate::observe::access::ThreadId;
use crate::schedule::contract::{Idle, Ready, Schedule, Task};

/// Steps in a row, over all threads, in which no thread makes progress, that count as a deadlock
/// where it cannot be proved ([`Quiescence`]). High enough that a thread may count to ten million
/// in a waiting loop of a few steps and still go on.
const DEADLOCK_STEPS: u64 = 80_000_000;
/// All addresses.
pub(super) const EVERYWHERE: Range<usize> = 0..usize::MAX;

pub(super) struct Engine<'a, 'b> {
    pub(super) launches: &'a [RankLaunch<'b>],
    arguments: Vec<Vec<*mut c_void>>,
    /// What stands between launches of a rank; absent where each has one.
    pub(super) host: Option<&'a mut dyn Host>,
    pub(super) shared: &'a Shared,
    pub(super) residency: Residency,
    pub(super) blocks: Slab<Block>,
    pub(super) fibers: Slab<Fiber>,
    pub(super) ready: VecDeque<Ready>,
    /// The fiber that gave way in the last step, though it need not.
    going: Option<usize>,
    /// Fibers that wait for memory.
    pub(super) waiting: Waiters,
    /// Those of them whose wait may end by itself.
    pub(super) bounded: Vec<Ready>,
    pub(super) quiescence: Quiescence,
    /// Whether a deadlock can be proved: every access is reported, and no other process can write.
    pub(super) provable: bool,
    /// Whether a thread made progress since none was ready.
    progress: bool,
    /// The hash of the interleaving so far.
    pub(super) hash: u64,
    pub(super) steps: u64,
    pub(super) divergences: Vec<Divergence>,
    pub(super) open_waits: Vec<OpenWait>,
    /// Threads finished, by launch.
    pub(super) finished: Vec<u64>,
    /// What kernels wrote about their launches, by launch; absent also where one has not ended.
    pub(super) records: Vec<Option<LaunchRecord>>,
    pub(super) stacks: StackPool,
}

impl<'a, 'b> Engine<'a, 'b> {
    /// Nothing has run yet. `arguments` are pointers to the launches' parameters, by launch.
    pub(super) fn new(
        launches: &'a [RankLaunch<'b>],
        arguments: Vec<Vec<*mut c_void>>,
        host: Option<&'a mut dyn Host>,
        shared: &'a Shared,
        schedule: &dyn Schedule,
    ) -> Engine<'a, 'b> {
        let observed = launches.iter().all(|launch| launch.module.is_observed());
        Engine {
            provable: observed && schedule.idle() == Idle::Deadlock,
            progress: false,
            hash: 0,
            steps: 0,
            residency: Residency::new(launches),
            finished: vec![0; launches.len()],
            records: vec![None; launches.len()],
            launches,
            arguments,
            host,
            shared,
            blocks: Slab::new(),
            fibers: Slab::new(),
            ready: VecDeque::new(),
            going: None,
            waiting: Waiters::default(),
            bounded: Vec::new(),
            open_waits: Vec::new(),
            quiescence: Quiescence::default(),
            divergences: Vec::new(),
            stacks: StackPool::kept(),
        }
    }

    /// Runs until every thread has returned or no thread can go on.
    pub(super) fn run(&mut self, schedule: &mut dyn Schedule) -> End {
        let mut fruitless = 0;
        loop {
            let (resident, live) = (schedule.resident_blocks().max(1), schedule.live());
            while let Some((launch, index)) = self.residency.admit(resident, live) {
                self.begin_block(launch, index);
            }
            self.wake();
            if !self.ready.is_empty() && fruitless <= DEADLOCK_STEPS {
                let next = self.gives_up(schedule).unwrap_or_else(|| self.pick(schedule));
                self.step(next);
                let progress = self.shared.progress.replace(false);
                self.progress |= progress;
                fruitless = if progress { 0 } else { fruitless + 1 };
                continue;
            }
            if self.waiting.is_empty() && self.fibers.is_empty() {
                return End::Finished;
            }
            let shows = self.shared.observe(|observer| observer.settle());
            if shows {
                self.quiescence.forget();
            }
            let moved = std::mem::take(&mut self.progress) || shows;
            if moved {
                // Waiting threads look again before another block is admitted.
            } else if !self.waiting.is_empty()
                && schedule.admits_when_stuck()
                && let Some((launch, index)) = self.residency.admit_beyond()
            {
                self.begin_block(launch, index);
                continue;
            } else {
                match schedule.idle() {
                    Idle::Elsewhere => {
                        fruitless = 0;
                        std::thread::yield_now();
                    }
                    Idle::Deadlock => {
                        if self.waiting.is_empty() || fruitless > DEADLOCK_STEPS {
                            return self.deadlock();
                        }
                    }
                }
            }
            if !moved && let Some(next) = self.gives_up(schedule) {
                self.step(next);
                continue;
            }
            if !moved && self.is_quiescent() {
                return self.deadlock();
            }
            self.bounded.clear();
            for fiber in self.waiting.take_all() {
                self.resume_later(fiber);
            }
        }
    }

    /// The thread that the schedule picks, which leaves the list of those that are ready.
    fn pick(&mut self, schedule: &mut dyn Schedule) -> Ready {
        let going = self.going.take().and_then(|fiber| self.place_of(fiber));
        let fibers = &self.fibers;
        let index = schedule.pick(&self.ready, going, &|ready| first_of(fibers, ready));
        // What was ready first stays first, unless another one is picked.
        let next = match index {
            0 => self.ready.pop_front(),
            _ => self.ready.swap_remove_back(index),
        };
        next.expect("the schedule picks a ready thread")
    }

    /// Makes threads ready that wait for what was written since the last step.
    fn wake(&mut self) {
        let mut stored = self.shared.stored.borrow_mut();
        if stored.is_empty() {
            return;
        }
        let woken: Vec<usize> =
            stored.drain(..).flat_map(|address| self.waiting.take(address)).collect();
        drop(stored);
        for fiber in woken {
            self.resume_later(fiber);
        }
    }

    pub(super) fn resume_later(&mut self, fiber: usize) {
        self.bounded.retain(|waiting| !matches!(waiting.task, Task::GiveUp(f) if f == fiber));
        let thread = self.fibers[fiber].id();
        self.ready.push_back(Ready { thread, task: Task::Resume(fiber) });
    }

    /// Where a fiber that was made ready in the last step stands among those that are.
    fn place_of(&self, fiber: usize) -> Option<usize> {
        self.ready.iter().rposition(|ready| matches!(ready.task, Task::Resume(f) if f == fiber))
    }

    fn begin_block(&mut self, launch: usize, index: u32) {
        let RankLaunch { module, shared_bytes, threads, .. } = &self.launches[launch];
        let shared = BlockBuffer::new(module.shared_bytes(), *shared_bytes as usize);
        let id = self.blocks.insert(Block::new(launch, index, *threads, shared));
        self.begin_later(id);
    }

    /// The block's next thread is ready to begin on a fiber of its own.
    fn begin_later(&mut self, id: usize) {
        let block = &self.blocks[id];
        block.progress.begins.set(true);
        let RankLaunch { rank, call, .. } = self.launches[block.launch];
        let thread = ThreadId { rank, call, block: block.index, thread: block.progress.next.get() };
        self.ready.push_back(Ready { thread, task: Task::Begin(id) });
    }

    /// A fiber that runs the block's threads from the next one on.
    fn begin(&mut self, id: usize) -> usize {
        let block = &mut self.blocks[id];
        block.progress.begins.set(false);
        let launch = &self.launches[block.launch];
        let arguments = self.arguments[block.launch].as_mut_ptr();
        let stack = self.stacks.take();
        self.fibers.insert(Fiber::new(id, block, launch, arguments, self.shared, stack))
    }

    fn step(&mut self, next: Ready) {
        let (id, suspension) = match next.task {
            Task::Begin(block) => {
                let fiber = self.begin(block);
                (fiber, self.go_on(fiber, false))
            }
            Task::Resume(fiber) => (fiber, self.go_on(fiber, true)),
            Task::GiveUp(fiber) => (fiber, self.look_until_it_gives_up(fiber)),
            Task::Launch(launch) => {
                self.count_step(next.thread, usize::MAX);
                return self.launch_begins(launch);
            }
        };
        let block = self.fibers[id].block;
        let (suspension, bounded) = self.look_again(id, suspension);
        self.count_step(next.thread, suspension.map_or(usize::MAX, |suspension| suspension.site));
        match suspension {
            None => self.fiber_ends(id),
            Some(suspension) => self.suspend(id, suspension, bounded),
        }
        self.block_goes_on(block);
    }

    fn count_step(&mut self, thread: ThreadId, site: usize) {
        self.steps += 1;
        self.hash = mix(self.hash ^ mix(thread.key()) ^ site as u64);
    }

    /// Lets a fiber go on until it suspends, or its last thread has returned. `entered` says that one
    /// of its threads has begun before.
    pub(super) fn go_on(&mut self, id: usize, entered: bool) -> Option<Suspension> {
        let fiber = &mut self.fibers[id];
        let launch = &self.launches[self.blocks[fiber.block].launch];
        launch.module.set_now(&mut *fiber.thread);
        fault::entering(launch.module.image());
        fault::on_stack(fiber.link.stack.start);
        fault::running(fiber.id());
        if entered {
            let thread = fiber.id();
            self.shared.observe(|observer| observer.enters(thread));
        }
        let suspension = fiber.resume();
        if let Some(address) = self.shared.observe(|observer| observer.leaves()) {
            // Also for those of which it is not known what they wait for.
            self.shared.stored.borrow_mut().extend([address, 0]);
        }
        suspension
    }

    fn fiber_ends(&mut self, id: usize) {
        let fiber = self.fibers.remove(id);
        let ThreadId { rank, block, thread, .. } = fiber.id();
        let stack = fiber.into_stack();
        assert!(
            stack.is_whole(),
            "rank {rank} block {block} thread {thread} overflowed its fiber's stack of {} KiB",
            STACK_BYTES >> 10
        );
        self.stacks.give_back(stack);
        self.note_progress();
    }

    fn suspend(&mut self, id: usize, suspension: Suspension, bounded: bool) {
        let fiber = &mut self.fibers[id];
        match suspension.kind {
            kind::BARRIER => {
                self.blocks[fiber.block].arrives(id);
                self.note_progress();
            }
            kind::WAVE_BARRIER => {
                self.blocks[fiber.block].arrives_in_wave(fiber.thread.thread.x / WAVE, id);
                self.note_progress();
            }
            kind::TILE_STEP => {
                self.note_progress();
                self.resume_later(id);
            }
            kind::SWITCH => {
                self.going = Some(id);
                self.resume_later(id);
            }
            // Everything else waits for memory. Waiting at another place than before is progress.
            _ => {
                let before = fiber.waited.replace(suspension.site);
                if before != Some(suspension.site) {
                    self.shared.progress.set(true);
                }
                fault::waits(suspension.site);
                self.waiting.add(id, suspension.address);
                if bounded {
                    let thread = self.fibers[id].id();
                    self.bounded.push(Ready { thread, task: Task::GiveUp(id) });
                }
            }
        }
    }

    /// A thread got further, which is more than a write: states from before cannot come again.
    pub(super) fn note_progress(&mut self) {
        self.shared.progress.set(true);
        self.quiescence.forget();
        self.shared.ask_for(&self.shared.reported);
    }

    /// After one of its fibers ran: begin more threads, release barriers, or end the block.
    fn block_goes_on(&mut self, id: usize) {
        if self.blocks[id].needs_fiber() {
            self.begin_later(id);
        }
        let block = &mut self.blocks[id];
        if block.has_ended() {
            self.block_ends(id);
            return;
        }
        if let Some(fibers) = block.leave_barrier() {
            self.release_barrier(id, fibers);
        }
        self.release_waves(id);
    }

    fn block_ends(&mut self, id: usize) {
        let block = self.blocks.remove(id);
        self.finished[block.launch] += u64::from(block.progress.threads);
        self.shared.note_overrun(&self.launches[block.launch], &block);
        if self.residency.ended(block.launch) {
            self.launch_ends(block.launch);
        }
    }

    /// Releases the waves of which all threads that still run have met.
    fn release_waves(&mut self, id: usize) {
        let block = &mut self.blocks[id];
        let RankLaunch { rank, call, .. } = self.launches[block.launch];
        let index = block.index;
        let released = block.leave_wave_barriers();
        for (threads, _) in &released {
            self.shared.observe(|observer| observer.barrier(rank, call, index, threads.clone()));
        }
        for fiber in released.into_iter().flat_map(|(_, fibers)| fibers) {
            self.resume_later(fiber);
        }
    }

    fn release_barrier(&mut self, id: usize, fibers: Vec<usize>) {
        let Block { launch, index, progress, .. } = &self.blocks[id];
        let at = |id: &usize| {
            let fiber = &self.fibers[*id];
            (fiber.id(), fiber.suspended.map_or(usize::MAX, |suspension| suspension.site))
        };
        let one = at(&fibers[0]);
        if let Some(other) = fibers.iter().map(at).find(|(_, site)| *site != one.1)
            && self.divergences.len() < LISTED
        {
            self.divergences.push(Divergence { one, other });
        }
        let RankLaunch { rank, call, .. } = self.launches[*launch];
        let threads = progress.threads;
        self.shared.observe(|observer| observer.barrier(rank, call, *index, 0..threads));
        for fiber in fibers {
            self.resume_later(fiber);
        }
    }
}
