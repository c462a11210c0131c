//! Proof that no thread can go on: the same state twice, with nothing written in between.
//!
//! A fiber's state is its stack (where its registers are saved while it is suspended) and the
//! last clock it read. When every waiting fiber has looked at memory once more, no memory was
//! written, and all of them are in a state in which they were before, they will be so for ever:
//! a deadlock, found without a time-out. A thread that counts its waits is never quiescent.

use std::ops::Range;

use super::fiber::Fiber;

/// States that are remembered; threads that take turns in longer cycles are left to the limit on
/// fruitless waits.
const REMEMBERED: usize = 8;
/// What a suspended fiber keeps below the frame of its last event: the saved registers.
const SAVED_BYTES: usize = 512;

/// Overwrites what earlier calls left below the caller's frame, so that of two equal states of a
/// fiber the saved registers are all that lies there.
#[inline(never)]
pub(crate) fn scrub_stack() {
    let mut area = [0u64; 2 * SAVED_BYTES / 8];
    std::hint::black_box(&mut area);
}

/// States that all waiting fibers have been in since anything was written.
#[derive(Debug, Default)]
pub(crate) struct Quiescence {
    states: Vec<u64>,
}

impl Quiescence {
    /// Something was written.
    pub(crate) fn forget(&mut self) {
        self.states.clear();
    }

    /// Whether these fibers, which all wait, have been in this state before.
    pub(crate) fn repeats<'a>(&mut self, fibers: impl Iterator<Item = &'a Fiber>) -> bool {
        let state = fibers.fold(0, |hash, fiber| (hash ^ state(fiber)).wrapping_mul(PRIME));
        let known = self.states.contains(&state);
        if !known && self.states.len() < REMEMBERED {
            self.states.push(state);
        }
        known
    }
}

const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A hash of all that decides what a suspended fiber does next, memory that others write aside.
pub(super) fn state(fiber: &Fiber) -> u64 {
    let stack = &fiber.link.stack;
    let low = fiber.link.frame.get().saturating_sub(SAVED_BYTES).max(stack.start) & !7;
    // One word is the engine's: its own stack pointer, which the coroutine finds its way back by.
    let engines = (fiber.link.yielder.get() as usize).clamp(low, stack.end);
    let hash = hash_of(low..engines, fiber.thread.clock);
    hash_of((engines + 8).min(stack.end)..stack.end, hash)
}

/// A hash of the words of a part of a suspended fiber's stack.
fn hash_of(words: Range<usize>, start: u64) -> u64 {
    words.step_by(8).fold(start, |hash, address| {
        // SAFETY: `state` gives parts of the fiber's mapped stack, aligned to words, and the fiber is
        // suspended, so no thread writes it.
        let word = unsafe { (address as *const u64).read_volatile() };
        (hash ^ word).wrapping_mul(PRIME).rotate_left(23)
    })
}
