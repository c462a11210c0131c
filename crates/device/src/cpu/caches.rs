//! What a timed launch needs of the processor: caches without heaps in them, and a clock.

use std::ops::Range;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock, which all processes share.
pub(super) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Takes the lines of mapped memory out of all caches of the machine.
#[cfg(target_arch = "x86_64")]
pub(super) fn flush(range: Range<usize>) {
    use std::arch::x86_64::{_mm_clflush, _mm_mfence};
    const LINE: usize = 64;
    for line in range.step_by(LINE) {
        // SAFETY: the line is part of a mapped heap; flushing changes no byte of it.
        unsafe { _mm_clflush(line as *const u8) };
    }
    // SAFETY: a fence has no operands.
    unsafe { _mm_mfence() };
}

/// Pushes heaps out of the caches by reading something larger: here no instruction does it by address.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn flush(_: Range<usize>) {
    const LARGER: usize = 256 << 20;
    static OTHER: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    let other = OTHER.get_or_init(|| vec![1; LARGER]);
    let sum = other.chunks(64).fold(0u8, |sum, line| sum.wrapping_add(line[0]));
    std::hint::black_box(sum);
}
