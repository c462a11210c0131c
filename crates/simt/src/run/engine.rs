//! The executor: admits blocks, runs the thread that the schedule picks, releases barriers, and
//! knows when nobody can go on.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ops::Range;

use collectives::Rank;
use collectives::fill::mix;
use corosensei::{Coroutine, CoroutineResult};

use super::block_buffer::{BlockBuffer, GUARD_BYTES};
use super::event::on_event;
use super::fault;
use super::fiber::{BlockProgress, Fiber, Link, Shared, Suspension, ThreadLoop};
use super::outcome::{Divergence, End, LISTED, Outcome, RankOutcome, Wait, Waiting};
use super::quiescence::Stillness;
use super::stack::{STACK_BYTES, StackPool};
use super::violation::{Misdeed, Violation};
use super::waiters::Waiters;
use crate::object::abi::{self, Dim3, WAVE, kind};
use crate::object::module::{Module, ModuleError};
use crate::object::parameters::Parameters;
use crate::observe::access::ThreadId;
use crate::observe::next::Next;
use crate::observe::observer::Observer;
use crate::schedule::contract::{Idle, Live, Ready, Schedule, Switches, Task};

/// Steps in a row, over all threads, without anybody making progress, that make a deadlock where
/// it cannot be proved ([`Stillness`]). High enough that a thread may count to ten million in a
/// waiting loop of a few steps and still go on.
const DEADLOCK_STEPS: u64 = 80_000_000;
const EVERYWHERE: Range<usize> = 0..usize::MAX;

/// One rank's launch.
#[derive(Debug)]
pub struct RankLaunch<'a> {
    /// Whose.
    pub rank: Rank,
    /// Its own copy of the object.
    pub module: &'a Module,
    /// Which entry of the object.
    pub entry: usize,
    /// Blocks.
    pub grid: u32,
    /// Threads a block.
    pub threads: u32,
    /// Bytes of dynamic block-shared memory.
    pub shared_bytes: u32,
    /// The entry's arguments.
    pub parameters: Parameters,
}

/// Runs the launches to their end.
///
/// # Errors
/// A launch that does not fit its object. What the kernels do wrong is in the outcome.
pub fn run(
    launches: &mut [RankLaunch<'_>],
    schedule: &mut dyn Schedule,
    observer: &mut dyn Observer,
) -> Result<Outcome, ModuleError> {
    fault::begins();
    for launch in launches.iter() {
        launch.module.accepts(launch.entry, &launch.parameters)?;
        launch.module.clear_record();
    }
    let arguments: Vec<Vec<*mut c_void>> =
        launches.iter_mut().map(|launch| launch.parameters.pointers()).collect();
    let switches = schedule.switches();
    let watched = observer.watches();
    let shared = Shared {
        host: abi::Host { event: on_event, watch_first: Cell::new(0), watch_end: Cell::new(0) },
        progress: Cell::new(false),
        wrote: Cell::new(false),
        stored: RefCell::default(),
        reported: match &switches {
            Switches::Accesses(heaps) => covering(&watched, heaps),
            _ => watched.clone(),
        },
        switches,
        tile_steps: schedule.live() == Live::AllRanks,
        watched,
        watches_shared_memory: observer.watches_shared_memory(),
        violations: RefCell::default(),
        // SAFETY: only the lifetime is erased; the pointer is used until `run` returns.
        observer: unsafe {
            std::mem::transmute::<*mut (dyn Observer + '_), *mut (dyn Observer + 'static)>(observer)
        },
    };
    shared.ask_for(&shared.reported);
    let observed = launches.iter().all(|launch| launch.module.is_observed());
    let mut engine = Engine {
        provable: observed && schedule.idle() == Idle::Deadlock,
        progress: false,
        hash: 0,
        steps: 0,
        launches,
        arguments,
        shared: &shared,
        queues: Vec::new(),
        blocks: Vec::new(),
        fibers: Vec::new(),
        free_blocks: Vec::new(),
        free_fibers: Vec::new(),
        ready: VecDeque::new(),
        going: None,
        waiting: Waiters::default(),
        stillness: Stillness::default(),
        divergences: Vec::new(),
        finished: Vec::new(),
        stacks: StackPool::kept(),
    };
    let end = engine.run(schedule);
    // SAFETY: the observer outlives the run, and no fiber is running.
    unsafe { (*shared.observer).settle() };
    Ok(engine.into_outcome(end))
}

/// The smallest range that holds both.
fn covering(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    match (one.is_empty(), other.is_empty()) {
        (true, _) => other.clone(),
        (_, true) => one.clone(),
        _ => one.start.min(other.start)..one.end.max(other.end),
    }
}

/// A resident block.
struct Block {
    launch: usize,
    index: u32,
    progress: Box<BlockProgress>,
    at_barrier: Vec<usize>,
    /// Fibers at a barrier of their wave.
    at_wave_barrier: Vec<(u32, usize)>,
    shared: Box<BlockBuffer>,
}

/// A launch's blocks that have not been admitted.
struct Queue {
    launch: usize,
    next: u32,
    resident: u32,
}

struct Engine<'a, 'b> {
    launches: &'a mut [RankLaunch<'b>],
    arguments: Vec<Vec<*mut c_void>>,
    shared: &'a Shared,
    queues: Vec<Queue>,
    blocks: Vec<Option<Block>>,
    fibers: Vec<Option<Fiber>>,
    free_blocks: Vec<usize>,
    free_fibers: Vec<usize>,
    ready: VecDeque<Ready>,
    /// The fiber that gave way in the last step, though it need not.
    going: Option<usize>,
    /// Fibers that wait for memory.
    waiting: Waiters,
    stillness: Stillness,
    /// Whether a deadlock can be proved: every access is reported, and nobody else can write.
    provable: bool,
    /// Somebody made progress since nobody was ready.
    progress: bool,
    /// Of the interleaving so far.
    hash: u64,
    steps: u64,
    divergences: Vec<Divergence>,
    /// Threads finished, by launch.
    finished: Vec<u64>,
    stacks: StackPool,
}

impl Engine<'_, '_> {
    fn run(&mut self, schedule: &mut dyn Schedule) -> End {
        self.finished = vec![0; self.launches.len()];
        self.queues =
            (0..self.launches.len()).map(|launch| Queue { launch, next: 0, resident: 0 }).collect();
        let mut fruitless = 0;
        loop {
            self.admit(schedule);
            self.wake();
            if !self.ready.is_empty() && fruitless <= DEADLOCK_STEPS {
                let going = self.going.take().and_then(|fiber| self.place_of(fiber));
                let fibers = &self.fibers;
                let index = schedule.pick(&self.ready, going, &|ready| match ready.task {
                    Task::Begin(_) => Next::BEGIN,
                    Task::Resume(fiber) => fibers[fiber].as_ref().map_or(Next::BEGIN, Fiber::next),
                });
                // What was ready first stays first, unless somebody else is picked.
                let next = match index {
                    0 => self.ready.pop_front(),
                    _ => self.ready.swap_remove_back(index),
                };
                self.step(next.expect("the schedule picks a ready thread"));
                let progress = self.shared.progress.replace(false);
                self.progress |= progress;
                fruitless = if progress { 0 } else { fruitless + 1 };
                continue;
            }
            if self.waiting.is_empty() && self.fibers.iter().all(Option::is_none) {
                return End::Finished;
            }
            // SAFETY: the observer outlives the run, and no fiber is running.
            let shows = unsafe { (*self.shared.observer).settle() };
            if shows {
                self.stillness.forget();
            }
            let moved = std::mem::take(&mut self.progress) || shows;
            if moved {
                // Waiting threads look again before anybody else is admitted.
            } else if !self.waiting.is_empty()
                && schedule.admits_when_stuck()
                && self.admit_one_more()
            {
                continue;
            } else {
                match schedule.idle() {
                    Idle::Elsewhere => {
                        fruitless = 0;
                        std::thread::yield_now();
                    }
                    Idle::Deadlock => {
                        if self.waiting.is_empty() || fruitless > DEADLOCK_STEPS {
                            return End::Deadlock(self.who_waits());
                        }
                    }
                }
            }
            if !moved && self.stands_still() {
                return End::Deadlock(self.who_waits());
            }
            for fiber in self.waiting.take_all() {
                self.resume_later(fiber);
            }
        }
    }

    /// Whether it is proved that all waiting threads will wait for ever. To be asked when nobody
    /// is ready.
    fn stands_still(&mut self) -> bool {
        if !self.provable {
            return false;
        }
        if self.shared.wrote.replace(false) {
            self.stillness.forget();
        }
        // From now on every write counts, wherever it is; the observer still sees its range only.
        self.shared.ask_for(&EVERYWHERE);
        let Engine { stillness, fibers, waiting, .. } = self;
        stillness.repeats(waiting.iter().filter_map(|fiber| fibers[fiber].as_ref()))
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

    fn resume_later(&mut self, fiber: usize) {
        let thread = self.fibers[fiber].as_ref().expect("a suspended fiber exists").id();
        self.ready.push_back(Ready { thread, task: Task::Resume(fiber) });
    }

    /// Where a fiber that was made ready in the last step stands among those that are.
    fn place_of(&self, fiber: usize) -> Option<usize> {
        self.ready.iter().rposition(|ready| matches!(ready.task, Task::Resume(f) if f == fiber))
    }

    fn begin_later(&mut self, id: usize) {
        let block = self.blocks[id].as_ref().expect("a resident block");
        block.progress.begins.set(true);
        let rank = self.launches[block.launch].rank;
        let thread = ThreadId { rank, block: block.index, thread: block.progress.next.get() };
        self.ready.push_back(Ready { thread, task: Task::Begin(id) });
    }

    /// Admits blocks as far as the schedule's residency allows.
    fn admit(&mut self, schedule: &mut dyn Schedule) {
        let resident = schedule.resident_blocks().max(1);
        for queue in 0..self.queues.len() {
            while self.queues[queue].resident < resident && self.admit_from(queue) {}
            let Queue { launch, next, resident, .. } = self.queues[queue];
            let over = next == self.launches[launch].grid && resident == 0;
            if !over && schedule.live() == Live::OneRank {
                break;
            }
        }
    }

    /// All resident blocks wait: another block of a rank that has begun may be what they wait for.
    fn admit_one_more(&mut self) -> bool {
        (0..self.queues.len())
            .any(|queue| self.queues[queue].resident > 0 && self.admit_from(queue))
    }

    fn admit_from(&mut self, queue: usize) -> bool {
        let Queue { launch, next: index, .. } = self.queues[queue];
        let rank_launch = &self.launches[launch];
        if index == rank_launch.grid {
            return false;
        }
        self.queues[queue].next += 1;
        self.queues[queue].resident += 1;
        let (static_bytes, dynamic_bytes) =
            (rank_launch.module.shared_bytes(), rank_launch.shared_bytes as usize);
        let threads = rank_launch.threads;
        let block = Block {
            launch,
            index,
            progress: Box::new(BlockProgress::new(threads)),
            at_barrier: Vec::new(),
            at_wave_barrier: Vec::new(),
            shared: Box::new(BlockBuffer::new(static_bytes, dynamic_bytes)),
        };
        let id = insert(&mut self.blocks, &mut self.free_blocks, block);
        self.begin_later(id);
        true
    }

    fn step(&mut self, next: Ready) {
        let id = match next.task {
            Task::Begin(block) => {
                let queued = self.blocks[block].as_ref().expect("it has work queued");
                queued.progress.begins.set(false);
                self.begin(block)
            }
            Task::Resume(fiber) => fiber,
        };
        let fiber = self.fibers[id].as_mut().expect("a ready fiber exists");
        let block = fiber.block;
        let launch = &self.launches[self.blocks[block].as_ref().expect("its block too").launch];
        launch.module.set_now(&mut *fiber.thread);
        fault::entering(launch.module.image());
        fault::on_stack(fiber.link.stack.start);
        fault::running(fiber.id());
        if matches!(next.task, Task::Resume(_)) {
            // SAFETY: the observer outlives the run, and no fiber is running.
            unsafe { (*self.shared.observer).enters(next.thread) };
        }
        let result = fiber.coroutine.as_mut().expect("it is suspended").resume(());
        // SAFETY: as above.
        if let Some(address) = unsafe { (*self.shared.observer).leaves() } {
            // Also for those of whom nobody knows what they wait for.
            self.shared.stored.borrow_mut().extend([address, 0]);
        }
        let site = match &result {
            CoroutineResult::Return(()) => usize::MAX,
            CoroutineResult::Yield(suspension) => suspension.site,
        };
        self.steps += 1;
        self.hash = mix(self.hash ^ mix(next.thread.key()) ^ site as u64);
        match result {
            CoroutineResult::Return(()) => self.fiber_ends(id),
            CoroutineResult::Yield(suspension) => self.suspend(id, suspension),
        }
        self.block_goes_on(block);
    }

    /// A fiber that runs the block's threads from the next one on.
    fn begin(&mut self, block: usize) -> usize {
        let resident = self.blocks[block].as_mut().expect("an admitted block");
        let launch = &self.launches[resident.launch];
        let buffer = &mut *resident.shared;
        let watches = self.shared.watches_shared_memory;
        let thread = Box::new(abi::Thread {
            thread: Dim3::default(),
            block: Dim3 { x: resident.index, ..Dim3::default() },
            threads: Dim3 { x: launch.threads, y: 1, z: 1 },
            grid: Dim3 { x: launch.grid, y: 1, z: 1 },
            block_shared: buffer.block_shared(),
            dynamic_shared: buffer.dynamic_shared(),
            departed: buffer.departed(),
            host: &self.shared.host,
            fiber: std::ptr::null_mut(),
            clock: 0,
            shared_bytes: if watches { buffer.span() } else { 0 },
            static_bytes: buffer.static_bytes(),
            dynamic_bytes: buffer.dynamic_bytes(),
            guard_bytes: GUARD_BYTES,
            compared: [[0; 2]; 4],
            compares: 0,
        });
        let stack = self.stacks.take();
        let link = Box::new(Link {
            yielder: Cell::new(std::ptr::null()),
            last_atomics: Cell::default(),
            last_load: Cell::new((0, 0)),
            stack: stack.range(),
            buffer,
            frame: Cell::new(0),
            rank: launch.rank,
            object_base: launch.module.image().start,
            shared: self.shared,
        });
        let mut fiber =
            Fiber { coroutine: None, thread, link, block, suspended: None, waited: None };
        fiber.thread.fiber = std::ptr::from_ref(&*fiber.link).cast_mut().cast();
        let work = ThreadLoop {
            run: launch.module.entry(launch.entry).expect("checked by `accepts`").run,
            arguments: self.arguments[resident.launch].as_mut_ptr(),
            thread: &mut *fiber.thread,
            link: &*fiber.link,
            progress: &*resident.progress,
        };
        fiber.coroutine = Some(Coroutine::with_stack(stack, move |yielder, ()| work.run(yielder)));
        insert(&mut self.fibers, &mut self.free_fibers, fiber)
    }

    fn fiber_ends(&mut self, id: usize) {
        let mut fiber = self.fibers[id].take().expect("it just ran");
        self.free_fibers.push(id);
        let stack = fiber.coroutine.take().expect("it just returned").into_stack();
        let ThreadId { rank, block, thread } = fiber.id();
        assert!(
            stack.is_whole(),
            "rank {rank} block {block} thread {thread} overflowed its fiber's stack of {} KiB",
            STACK_BYTES >> 10
        );
        self.stacks.give_back(stack);
        self.note_progress();
    }

    fn suspend(&mut self, id: usize, suspension: Suspension) {
        let fiber = self.fibers[id].as_mut().expect("it just suspended");
        fiber.suspended = Some(suspension);
        match suspension.kind {
            kind::BARRIER => {
                self.note_progress();
                let block = self.fibers[id].as_ref().expect("it just suspended").block;
                self.blocks[block].as_mut().expect("its block").at_barrier.push(id);
            }
            kind::WAVE_BARRIER => {
                let (block, wave) = (fiber.block, fiber.thread.thread.x / WAVE);
                self.note_progress();
                self.blocks[block].as_mut().expect("its block").at_wave_barrier.push((wave, id));
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
            }
        }
    }

    /// Somebody got further, which is more than a write: states from before cannot come again.
    fn note_progress(&mut self) {
        self.shared.progress.set(true);
        self.stillness.forget();
        self.shared.ask_for(&self.shared.reported);
    }

    /// After one of its fibers ran: begin more threads, release the barrier, or end the block.
    fn block_goes_on(&mut self, id: usize) {
        let block = self.blocks[id].as_ref().expect("its fiber just ran");
        let BlockProgress { next, threads, begins, .. } = &*block.progress;
        if next.get() < *threads && !begins.get() {
            self.begin_later(id);
        }
        let block = self.blocks[id].as_ref().expect("its fiber just ran");
        let BlockProgress { finished, threads, begins, .. } = &*block.progress;
        if finished.get() == *threads && !begins.get() {
            self.finished[block.launch] += u64::from(*threads);
            self.look_beside_shared_memory(block);
            self.queues[block.launch].resident -= 1;
            self.blocks[id] = None;
            self.free_blocks.push(id);
        } else if !block.at_barrier.is_empty()
            && block.at_barrier.len() as u32 + finished.get() == *threads
        {
            self.release_barrier(id);
        }
        self.release_waves(id);
    }

    /// What a block wrote beside its shared memory, if no access was seen to do it.
    fn look_beside_shared_memory(&self, block: &Block) {
        let seen = |violation: &Violation| matches!(violation.what, Misdeed::OutsideShared { .. });
        if self.shared.violations.borrow().iter().any(seen) {
            return;
        }
        if let Some(what) = block.shared.overrun() {
            let rank = self.launches[block.launch].rank;
            let thread = ThreadId { rank, block: block.index, thread: 0 };
            self.shared.accuse(Violation { thread, site: None, what });
        }
    }

    /// Releases the waves of which all threads that still run have met.
    fn release_waves(&mut self, id: usize) {
        let Some(block) = self.blocks[id].as_mut().filter(|b| !b.at_wave_barrier.is_empty()) else {
            return;
        };
        let rank = self.launches[block.launch].rank;
        let mut released = Vec::new();
        for (wave, finished) in (0..).zip(&block.progress.finished_in_wave) {
            let threads = block.progress.wave(wave);
            let arrived = block.at_wave_barrier.iter().filter(|(of, _)| *of == wave).count() as u32;
            if arrived > 0 && arrived + finished.get() == threads.end - threads.start {
                // SAFETY: the observer outlives the run, and no fiber is running.
                unsafe { (*self.shared.observer).barrier(rank, block.index, threads) };
                released.extend(block.at_wave_barrier.extract_if(.., |(of, _)| *of == wave));
            }
        }
        for (_, fiber) in released {
            self.resume_later(fiber);
        }
    }

    fn release_barrier(&mut self, id: usize) {
        let block = self.blocks[id].as_mut().expect("a resident block");
        let arrived = std::mem::take(&mut block.at_barrier);
        let (launch, index, threads) = (block.launch, block.index, block.progress.threads);
        let at = |id: &usize| {
            let fiber = self.fibers[*id].as_ref().expect("it waits");
            (fiber.id(), fiber.suspended.expect("it waits").site)
        };
        let one = at(&arrived[0]);
        if let Some(other) = arrived.iter().map(at).find(|(_, site)| *site != one.1)
            && self.divergences.len() < LISTED
        {
            self.divergences.push(Divergence { one, other });
        }
        let rank = self.launches[launch].rank;
        // SAFETY: the observer outlives the run, and no fiber is running.
        unsafe { (*self.shared.observer).barrier(rank, index, 0..threads) };
        for fiber in arrived {
            self.resume_later(fiber);
        }
    }

    /// One waiting thread for each (rank, block, site).
    fn who_waits(&self) -> Vec<Waiting> {
        let mut list: Vec<Waiting> = Vec::new();
        for fiber in self.fibers.iter().flatten() {
            let Some(suspension) = fiber.suspended else { continue };
            let (wait, address) = match suspension.kind {
                kind::BARRIER => (Wait::Barrier, None),
                kind::WAVE_BARRIER => (Wait::Wave, None),
                _ => (Wait::Memory, Some(suspension.address).filter(|address| *address != 0)),
            };
            let value = address.and_then(|address| value_at(address, suspension.size));
            let awaited = value.and_then(|value| fiber.thread.compared_with(value));
            let Suspension { site, size, .. } = suspension;
            let waiting = Waiting { thread: fiber.id(), wait, site, address, size, value, awaited };
            let same = |other: &Waiting| {
                (other.thread.rank, other.thread.block, other.site)
                    == (waiting.thread.rank, waiting.thread.block, waiting.site)
            };
            if !list.iter().any(same) && list.len() < LISTED {
                list.push(waiting);
            }
        }
        list
    }

    fn into_outcome(mut self, end: End) -> Outcome {
        for block in self.blocks.iter().flatten() {
            self.look_beside_shared_memory(block);
        }
        for mut coroutine in self.fibers.iter_mut().flatten().filter_map(|f| f.coroutine.take()) {
            // SAFETY: the fiber runs kernel code and the loop of `ThreadLoop`, neither of
            // which holds anything that must be dropped.
            unsafe { coroutine.force_reset() };
            self.stacks.give_back(coroutine.into_stack());
        }
        let ranks = self
            .launches
            .iter()
            .zip(&self.finished)
            .map(|(launch, finished)| RankOutcome {
                rank: launch.rank,
                threads_finished: *finished,
                record: launch.module.record(),
            })
            .collect();
        self.stacks.keep();
        let (divergences, schedule_hash, steps) = (self.divergences, self.hash, self.steps);
        let violations = self.shared.violations.take();
        Outcome { ranks, end, divergences, violations, schedule_hash, steps }
    }
}

/// What stands at an address from which a suspended thread has read this many bytes.
fn value_at(address: usize, size: u32) -> Option<u64> {
    let mut bytes = [0; 8];
    let known = bytes.get_mut(..size as usize).filter(|bytes| !bytes.is_empty())?;
    for (at, byte) in known.iter_mut().enumerate() {
        // SAFETY: a kernel thread has loaded these bytes, and nobody runs now.
        *byte = unsafe { ((address + at) as *const u8).read_volatile() };
    }
    Some(u64::from_le_bytes(bytes))
}

/// Puts a value into a slot of its own.
fn insert<T>(slots: &mut Vec<Option<T>>, free: &mut Vec<usize>, value: T) -> usize {
    match free.pop() {
        Some(slot) => {
            slots[slot] = Some(value);
            slot
        }
        None => {
            slots.push(Some(value));
            slots.len() - 1
        }
    }
}
