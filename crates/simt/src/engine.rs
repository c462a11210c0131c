//! The executor: admits blocks, runs the thread that the schedule picks, releases barriers, and
//! knows when nobody can go on.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::c_void;

use collectives::Rank;
use corosensei::{Coroutine, CoroutineResult};

use crate::abi::{self, Dim3, kind};
use crate::event::on_event;
use crate::fault;
use crate::fiber::{BlockProgress, Fiber, Link, Shared, Suspension, ThreadLoop};
use crate::module::{Module, ModuleError};
use crate::observer::Observer;
use crate::outcome::{Divergence, End, LISTED, Outcome, RankOutcome, Wait, Waiting};
use crate::parameters::Parameters;
use crate::schedule::{Idle, Live, Schedule};
use crate::stack::StackPool;

/// Waits in a row, over all threads, without anybody making progress, that make a deadlock. High
/// enough that a thread may count to ten million in a waiting loop and still go on.
const DEADLOCK_WAITS: u64 = 20_000_000;
/// Uninitialised block-shared memory.
const SHARED_POISON: u128 = u128::from_le_bytes([0xcd; 16]);

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
    let watched = observer.watches();
    let shared = Shared {
        host: abi::Host { event: on_event, watch_first: watched.start, watch_end: watched.end },
        progress: Cell::new(false),
        // SAFETY: only the lifetime is erased; the pointer is used until `run` returns.
        observer: unsafe {
            std::mem::transmute::<*mut (dyn Observer + '_), *mut (dyn Observer + 'static)>(observer)
        },
    };
    let mut engine = Engine {
        launches,
        arguments,
        shared: &shared,
        queues: Vec::new(),
        blocks: Vec::new(),
        fibers: Vec::new(),
        free_blocks: Vec::new(),
        free_fibers: Vec::new(),
        ready: VecDeque::new(),
        waiting: Vec::new(),
        divergences: Vec::new(),
        finished: Vec::new(),
        stacks: StackPool::default(),
    };
    let end = engine.run(schedule);
    Ok(engine.into_outcome(end))
}

/// A resident block.
struct Block {
    launch: usize,
    index: u32,
    progress: Box<BlockProgress>,
    /// A [`Task::Begin`] is in the queue.
    begins: bool,
    at_barrier: Vec<usize>,
    /// Keeps the block's shared memory.
    _shared: Vec<u128>,
    block_shared: *mut u8,
    dynamic_shared: *mut u8,
}

#[derive(Clone, Copy)]
enum Task {
    /// Begin the block's next threads on a fresh fiber.
    Begin(usize),
    Resume(usize),
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
    ready: VecDeque<Task>,
    /// Fibers that wait for memory.
    waiting: Vec<usize>,
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
        let mut idle_waits = 0;
        loop {
            self.admit(schedule);
            if !self.ready.is_empty() {
                let index = schedule.pick(self.ready.len());
                let task = self.ready.remove(index).expect("the schedule picks a ready thread");
                self.step(task);
                continue;
            }
            if self.waiting.is_empty() && self.fibers.iter().all(Option::is_none) {
                return End::Finished;
            }
            if self.shared.progress.replace(false) {
                idle_waits = 0;
            } else if !self.waiting.is_empty() && self.admit_one_more() {
                continue;
            } else {
                match schedule.idle() {
                    Idle::Elsewhere => std::thread::yield_now(),
                    Idle::Deadlock => {
                        idle_waits += self.waiting.len() as u64;
                        if self.waiting.is_empty() || idle_waits > DEADLOCK_WAITS {
                            return End::Deadlock(self.who_waits());
                        }
                    }
                }
            }
            self.ready.extend(self.waiting.drain(..).map(Task::Resume));
        }
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
        let static_bytes = rank_launch.module.shared_bytes().next_multiple_of(256);
        let bytes = static_bytes + rank_launch.shared_bytes as usize;
        // One more unit than needed to align the start to 256 bytes.
        let mut shared = vec![SHARED_POISON; (bytes + 256) / 16 + 1];
        let start = shared.as_mut_ptr().cast::<u8>();
        let block_shared = start.wrapping_add(start.align_offset(256));
        let threads = rank_launch.threads;
        let block = Block {
            launch,
            index,
            progress: Box::new(BlockProgress {
                next: Cell::new(0),
                finished: Cell::new(0),
                threads,
            }),
            begins: true,
            at_barrier: Vec::new(),
            _shared: shared,
            block_shared,
            dynamic_shared: block_shared.wrapping_add(static_bytes),
        };
        let id = insert(&mut self.blocks, &mut self.free_blocks, block);
        self.ready.push_back(Task::Begin(id));
        true
    }

    fn step(&mut self, task: Task) {
        let id = match task {
            Task::Begin(block) => {
                self.blocks[block].as_mut().expect("it has work queued").begins = false;
                self.begin(block)
            }
            Task::Resume(fiber) => fiber,
        };
        let fiber = self.fibers[id].as_mut().expect("a ready fiber exists");
        let block = fiber.block;
        let launch = &self.launches[self.blocks[block].as_ref().expect("its block too").launch];
        launch.module.set_now(&mut *fiber.thread);
        fault::entering(launch.module.image());
        fault::running(fiber.id());
        let result = fiber.coroutine.as_mut().expect("it is suspended").resume(());
        match result {
            CoroutineResult::Return(()) => self.fiber_ends(id),
            CoroutineResult::Yield(suspension) => self.suspend(id, suspension),
        }
        self.block_goes_on(block);
    }

    /// A fiber that runs the block's threads from the next one on.
    fn begin(&mut self, block: usize) -> usize {
        let resident = self.blocks[block].as_ref().expect("an admitted block");
        let launch = &self.launches[resident.launch];
        let thread = Box::new(abi::Thread {
            thread: Dim3::default(),
            block: Dim3 { x: resident.index, ..Dim3::default() },
            threads: Dim3 { x: launch.threads, y: 1, z: 1 },
            grid: Dim3 { x: launch.grid, y: 1, z: 1 },
            block_shared: resident.block_shared,
            dynamic_shared: resident.dynamic_shared,
            host: &self.shared.host,
            fiber: std::ptr::null_mut(),
        });
        let link = Box::new(Link {
            yielder: Cell::new(std::ptr::null()),
            last_atomic: Cell::new((0, 0)),
            rank: launch.rank,
            object_base: launch.module.image().start,
            shared: self.shared,
        });
        let mut fiber = Fiber { coroutine: None, thread, link, block, suspended: None };
        fiber.thread.fiber = std::ptr::from_ref(&*fiber.link).cast_mut().cast();
        let work = ThreadLoop {
            run: launch.module.entry(launch.entry).expect("checked by `accepts`").run,
            arguments: self.arguments[resident.launch].as_mut_ptr(),
            thread: &mut *fiber.thread,
            link: &*fiber.link,
            progress: &*resident.progress,
        };
        let stack = self.stacks.take();
        fiber.coroutine = Some(Coroutine::with_stack(stack, move |yielder, ()| work.run(yielder)));
        insert(&mut self.fibers, &mut self.free_fibers, fiber)
    }

    fn fiber_ends(&mut self, id: usize) {
        let mut fiber = self.fibers[id].take().expect("it just ran");
        self.free_fibers.push(id);
        let stack = fiber.coroutine.take().expect("it just returned").into_stack();
        assert!(stack.is_whole(), "a kernel thread overflowed its stack ({:?})", fiber.id());
        self.stacks.give_back(stack);
        self.shared.progress.set(true);
    }

    fn suspend(&mut self, id: usize, suspension: Suspension) {
        let fiber = self.fibers[id].as_mut().expect("it just suspended");
        let before = fiber.suspended.replace(suspension);
        match suspension.kind {
            kind::BARRIER => {
                self.shared.progress.set(true);
                let block = fiber.block;
                self.blocks[block].as_mut().expect("its block").at_barrier.push(id);
            }
            kind::TILE_STEP => {
                self.shared.progress.set(true);
                self.ready.push_back(Task::Resume(id));
            }
            // Everything else waits for memory. Waiting at another place than before is progress.
            _ => {
                if before.is_none_or(|before| before.site != suspension.site) {
                    self.shared.progress.set(true);
                }
                fault::waits(suspension.site);
                self.waiting.push(id);
            }
        }
    }

    /// After one of its fibers ran: begin more threads, release the barrier, or end the block.
    fn block_goes_on(&mut self, id: usize) {
        let block = self.blocks[id].as_mut().expect("its fiber just ran");
        let BlockProgress { next, finished, threads } = &*block.progress;
        if next.get() < *threads && !block.begins {
            block.begins = true;
            self.ready.push_back(Task::Begin(id));
        }
        if finished.get() == *threads && !block.begins {
            self.finished[block.launch] += u64::from(*threads);
            self.queues[block.launch].resident -= 1;
            self.blocks[id] = None;
            self.free_blocks.push(id);
        } else if !block.at_barrier.is_empty()
            && block.at_barrier.len() as u32 + finished.get() == *threads
        {
            self.release_barrier(id);
        }
    }

    fn release_barrier(&mut self, id: usize) {
        let block = self.blocks[id].as_mut().expect("a resident block");
        let arrived = std::mem::take(&mut block.at_barrier);
        let (launch, index) = (block.launch, block.index);
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
        unsafe { (*self.shared.observer).barrier(rank, index) };
        self.ready.extend(arrived.into_iter().map(Task::Resume));
    }

    /// One waiting thread for each (rank, block, site).
    fn who_waits(&self) -> Vec<Waiting> {
        let mut list: Vec<Waiting> = Vec::new();
        for fiber in self.fibers.iter().flatten() {
            let Some(suspension) = fiber.suspended else { continue };
            let (wait, address) = match suspension.kind {
                kind::BARRIER => (Wait::Barrier, None),
                _ => (Wait::Memory, Some(suspension.address).filter(|address| *address != 0)),
            };
            let waiting = Waiting { thread: fiber.id(), wait, site: suspension.site, address };
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
        for fiber in self.fibers.iter_mut().flatten() {
            if let Some(coroutine) = &mut fiber.coroutine {
                // SAFETY: the fiber runs kernel code and the loop of `ThreadLoop`, neither of
                // which holds anything that must be dropped.
                unsafe { coroutine.force_reset() };
            }
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
        Outcome { ranks, end, divergences: self.divergences }
    }
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
