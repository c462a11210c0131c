//! A resident block: which of its threads have begun, wait at a barrier, or have returned.

use std::cell::Cell;
use std::ops::Range;

use super::block_buffer::BlockBuffer;
use crate::object::abi::WAVE;

/// A resident block.
pub(super) struct Block {
    /// The index of its launch.
    pub(super) launch: usize,
    /// Its index in the grid.
    pub(super) index: u32,
    /// Boxed, because its fibers point to it.
    pub(super) progress: Box<BlockProgress>,
    /// Fibers at the block's barrier.
    at_barrier: Vec<usize>,
    /// Fibers at a barrier of their wave, with the wave.
    at_wave_barrier: Vec<(u32, usize)>,
    /// Boxed, because its fibers point to it.
    pub(super) shared: Box<BlockBuffer>,
}

impl Block {
    /// Block `index` of a launch, with its shared memory. None of its threads has begun.
    pub(super) fn new(launch: usize, index: u32, threads: u32, shared: BlockBuffer) -> Block {
        Block {
            launch,
            index,
            progress: Box::new(BlockProgress::new(threads)),
            at_barrier: Vec::new(),
            at_wave_barrier: Vec::new(),
            shared: Box::new(shared),
        }
    }

    /// A fiber has come to the block's barrier.
    pub(super) fn arrives(&mut self, fiber: usize) {
        self.at_barrier.push(fiber);
    }

    /// A fiber has come to the barrier of its wave.
    pub(super) fn arrives_in_wave(&mut self, wave: u32, fiber: usize) {
        self.at_wave_barrier.push((wave, fiber));
    }

    /// Whether some of its threads have not begun and no fiber is about to run them.
    pub(super) fn needs_fiber(&self) -> bool {
        self.progress.next.get() < self.progress.threads && !self.progress.begins.get()
    }

    /// Whether all threads have returned.
    pub(super) fn has_ended(&self) -> bool {
        self.progress.finished.get() == self.progress.threads && !self.progress.begins.get()
    }

    /// The fibers that leave the block's barrier: all, once every thread that still runs is there.
    pub(super) fn leave_barrier(&mut self) -> Option<Vec<usize>> {
        let arrived = self.at_barrier.len() as u32;
        let all = arrived > 0 && arrived + self.progress.finished.get() == self.progress.threads;
        all.then(|| std::mem::take(&mut self.at_barrier))
    }

    /// The fibers that leave a barrier of their wave, by wave, with the threads of that wave.
    pub(super) fn leave_wave_barriers(&mut self) -> Vec<(Range<u32>, Vec<usize>)> {
        let mut left = Vec::new();
        if self.at_wave_barrier.is_empty() {
            return left;
        }
        for (wave, finished) in (0..).zip(&self.progress.finished_in_wave) {
            let threads = self.progress.wave(wave);
            let arrived = self.at_wave_barrier.iter().filter(|(of, _)| *of == wave).count() as u32;
            if arrived > 0 && arrived + finished.get() == threads.end - threads.start {
                let fibers = self.at_wave_barrier.extract_if(.., |(of, _)| *of == wave);
                left.push((threads, fibers.map(|(_, fiber)| fiber).collect()));
            }
        }
        left
    }
}

/// What a block's fibers count.
pub(super) struct BlockProgress {
    /// The next thread that has not begun.
    pub(super) next: Cell<u32>,
    /// Whether it is about to begin on a fiber of its own.
    pub(super) begins: Cell<bool>,
    /// Threads that have returned.
    pub(super) finished: Cell<u32>,
    /// Threads that have returned, by wave.
    pub(super) finished_in_wave: Vec<Cell<u32>>,
    /// Threads of the block.
    pub(super) threads: u32,
}

impl BlockProgress {
    fn new(threads: u32) -> BlockProgress {
        BlockProgress {
            next: Cell::new(0),
            begins: Cell::new(false),
            finished: Cell::new(0),
            finished_in_wave: vec![Cell::new(0); threads.div_ceil(WAVE) as usize],
            threads,
        }
    }

    /// The next thread to begin on a fiber that has come this far, if it is for this fiber.
    pub(super) fn begin_next(&self) -> Option<u32> {
        let thread = self.next.get();
        (thread < self.threads && !self.begins.get()).then(|| {
            self.next.set(thread + 1);
            thread
        })
    }

    /// A thread has returned.
    pub(super) fn finish(&self, thread: u32) {
        self.finished.set(self.finished.get() + 1);
        let in_wave = &self.finished_in_wave[(thread / WAVE) as usize];
        in_wave.set(in_wave.get() + 1);
    }

    /// The threads of a wave.
    fn wave(&self, wave: u32) -> Range<u32> {
        wave * WAVE..self.threads.min((wave + 1) * WAVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_opens_for_those_that_still_run() {
        let mut block = Block::new(0, 0, 3, BlockBuffer::new(0, 0));
        assert_eq!(block.progress.begin_next(), Some(0));
        block.arrives(5);
        assert_eq!(block.leave_barrier(), None);
        block.progress.finish(1);
        assert_eq!(block.leave_barrier(), None);
        block.arrives(7);
        assert_eq!(block.leave_barrier(), Some(vec![5, 7]));
        assert_eq!(block.leave_barrier(), None, "no thread is there any more");
    }

    #[test]
    fn waves_meet_apart_from_each_other() {
        let mut block = Block::new(0, 0, WAVE + 2, BlockBuffer::new(0, 0));
        block.arrives_in_wave(0, 1);
        block.arrives_in_wave(1, 2);
        assert_eq!(block.leave_wave_barriers(), []);
        block.progress.finish(WAVE);
        assert_eq!(block.leave_wave_barriers(), [(WAVE..WAVE + 2, vec![2])]);
    }
}
