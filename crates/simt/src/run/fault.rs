//! Signal handlers of a rank process: they write down which thread ran, where, and on which address.
//!
//! The record ([`FaultRecord`]) lies in memory shared with the parent, which reads it when the process has
//! died or hangs. Only what a handler must find is global.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use collectives::Rank;
use ipc::fault_record::{FaultRecord, MISALIGNED, OUTSIDE, STACK, UNKNOWN};

use super::stack::PAGE;
use crate::observe::access::ThreadId;

static RECORD: AtomicPtr<FaultRecord> = AtomicPtr::new(std::ptr::null_mut());
static OBJECT_BASE: AtomicUsize = AtomicUsize::new(0);
static OBJECT_END: AtomicUsize = AtomicUsize::new(0);
static STACK_LOW: AtomicUsize = AtomicUsize::new(0);

/// Installs handlers for faults and for SIGUSR2 ("where are you?") that write to `record`.
///
/// # Errors
/// The system refuses a handler.
pub fn install(record: &'static FaultRecord) -> std::io::Result<()> {
    RECORD.store(std::ptr::from_ref(record).cast_mut(), Ordering::Release);
    alternate_stack()?;
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT] {
        // After the handler the default action kills the process, with this signal as its cause.
        handle(signal, on_fault, libc::SA_RESETHAND)?;
    }
    handle(libc::SIGUSR2, on_question, libc::SA_RESTART)
}

fn alternate_stack() -> std::io::Result<()> {
    const BYTES: usize = 64 << 10;
    let memory = Box::leak(vec![0u8; BYTES].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: BYTES };
    // SAFETY: the memory is leaked, so it outlives every signal.
    match unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

fn handle(signal: i32, handler: Handler, flags: i32) -> std::io::Result<()> {
    // SAFETY: all zero is a valid sigaction; the handlers only touch atomics.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | flags;
        libc::sigaction(signal, &action, std::ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

fn record() -> Option<&'static FaultRecord> {
    // SAFETY: null, or the `'static` record given to `install`.
    unsafe { RECORD.load(Ordering::Acquire).as_ref() }
}

/// The instruction's address, and where it is in the object.
fn instruction(context: *mut libc::c_void) -> (usize, u64) {
    // SAFETY: the kernel passes a ucontext to a handler with SA_SIGINFO.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    let ip = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    let (base, end) = (OBJECT_BASE.load(Ordering::Relaxed), OBJECT_END.load(Ordering::Relaxed));
    (ip, if (base..end).contains(&ip) { (ip - base) as u64 } else { OUTSIDE })
}

/// Whether an instruction faults on addresses that are not a multiple of sixteen: the legacy
/// encodings (0F ..) of whole-register loads, stores and arithmetic do. Scalar ones (prefix F2 or
/// F3) and the unaligned moves (0F 10, 0F 11) do not.
fn needs_alignment(code: &[u8]) -> bool {
    let mut scalar = false;
    for (at, byte) in code.iter().enumerate() {
        match byte {
            0xf2 | 0xf3 => scalar = true,
            0x66 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64 | 0x65 | 0x40..=0x4f => {}
            0x0f => {
                let whole = [0x28..=0x29, 0x2b..=0x2b, 0x51..=0x7f, 0xd0..=0xff];
                let opcode = code.get(at + 1).copied().unwrap_or(0);
                return !scalar && whole.iter().any(|range| range.contains(&opcode));
            }
            _ => return false,
        }
    }
    false
}

extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if let Some(record) = record() {
        let (ip, site) = instruction(context);
        // SAFETY: the kernel passes a siginfo to a handler with SA_SIGINFO.
        let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as u64) };
        let below = (STACK_LOW.load(Ordering::Relaxed) as u64).checked_sub(address);
        let address = if below.is_some_and(|below| (1..=PAGE as u64).contains(&below)) {
            STACK
        } else if signal != libc::SIGSEGV || code != libc::SI_KERNEL {
            address
        } else if site != OUTSIDE
            && needs_alignment(
                // SAFETY: an instruction of the object that was running, not at the object's end,
                // which holds data.
                unsafe { std::slice::from_raw_parts(ip as *const u8, 8) },
            )
        {
            MISALIGNED
        } else {
            UNKNOWN
        };
        record.address.store(address, Ordering::Relaxed);
        record.site.store(site, Ordering::Relaxed);
        record.signal.store(signal, Ordering::Release);
    }
}

extern "C" fn on_question(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if let Some(record) = record() {
        record.site.store(instruction(context).1, Ordering::Relaxed);
        record.answers.fetch_add(1, Ordering::Release);
    }
}

/// Notes which object's code runs next, so that instructions can be told from the executor's.
pub(crate) fn entering(image: std::ops::Range<usize>) {
    OBJECT_BASE.store(image.start, Ordering::Relaxed);
    OBJECT_END.store(image.end, Ordering::Relaxed);
}

/// Notes the lowest address of the stack on which a kernel runs next.
pub(crate) fn on_stack(low: usize) {
    STACK_LOW.store(low, Ordering::Relaxed);
}

/// Notes where a thread waits for memory.
pub(crate) fn waits(site: usize) {
    if let Some(record) = record() {
        record.waited.store(site as u64 + 1, Ordering::Relaxed);
    }
}

/// Notes who runs next. Between two threads the last one still counts as running: a hang is in
/// the kernel, also while the executor looks for a thread that can go on.
pub(crate) fn running(ThreadId { rank: Rank(rank), call, block, thread }: ThreadId) {
    let Some(record) = record() else { return };
    record.rank.store(rank, Ordering::Relaxed);
    record.call.store(call, Ordering::Relaxed);
    record.block.store(block, Ordering::Relaxed);
    record.thread.store(thread, Ordering::Relaxed);
    record.in_kernel.store(1, Ordering::Relaxed);
}

/// Notes that a run begins.
pub(crate) fn begins() {
    if let Some(record) = record() {
        record.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_that_need_alignment_are_told_from_those_that_do_not() {
        assert!(needs_alignment(&[0x0f, 0x29, 0x04, 0x11])); // movaps [rcx+rdx], xmm0
        assert!(needs_alignment(&[0x66, 0x41, 0x0f, 0x6f, 0x00])); // movdqa xmm0, [r8]
        assert!(needs_alignment(&[0x66, 0x0f, 0xfe, 0x07])); // paddd xmm0, [rdi]
        assert!(!needs_alignment(&[0x0f, 0x11, 0x04, 0x11])); // movups [rcx+rdx], xmm0
        assert!(!needs_alignment(&[0xf3, 0x0f, 0x6f, 0x00])); // movdqu xmm0, [rax]
        assert!(!needs_alignment(&[0xf3, 0x0f, 0x58, 0x00])); // addss xmm0, [rax]
        assert!(!needs_alignment(&[0x48, 0x8b, 0x00])); // mov rax, [rax]
        assert!(!needs_alignment(&[0x0f, 0xb6, 0x00])); // movzx eax, byte [rax]
    }
}
