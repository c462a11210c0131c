//! Time on NVIDIA's GPUs: events, a gate that the host opens, and what a kernel needs.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use super::context::Context;
use super::driver::Handle;
use crate::DriverError;
use crate::gpu::driver::{Address, Function, GpuTime, Moment, Resources, Stream};

/// `CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES`.
const LOCAL_BYTES: i32 = 3;
/// `CU_FUNC_ATTRIBUTE_NUM_REGS`.
const REGISTERS: i32 = 4;
/// `CU_MEMHOSTALLOC_DEVICEMAP`.
const MAPPED: u32 = 2;
/// `CU_STREAM_WAIT_VALUE_GEQ`.
const AT_LEAST: u32 = 0;

/// A word of the host's memory that queues of the GPU wait for.
#[derive(Debug)]
pub(super) struct Gate {
    /// The word, page-locked and never freed.
    word: *mut c_void,
    /// Where the GPU sees it.
    address: Address,
    /// How many times it was opened.
    opened: Cell<u32>,
}

impl Context {
    fn gate(&self) -> Result<&Gate, DriverError> {
        if let Some(gate) = self.gate.get() {
            return Ok(gate);
        }
        let functions = self.functions()?;
        let mut word = std::ptr::null_mut();
        // SAFETY: a place for one pointer; the memory lives as long as the context.
        let got = unsafe { (functions.host_allocate)(&mut word, size_of::<u32>(), MAPPED) };
        self.check("cuMemHostAlloc", got)?;
        let mut address = 0;
        // SAFETY: a place for one address, and the word that was just allocated with a device's mapping.
        let got = unsafe { (functions.host_address)(&mut address, word, 0) };
        self.check("cuMemHostGetDevicePointer", got)?;
        let gate = Gate { word, address, opened: Cell::new(0) };
        gate.write(0);
        Ok(self.gate.get_or_init(|| gate))
    }
}

impl Gate {
    fn write(&self, value: u32) {
        // SAFETY: page-locked memory of four bytes, aligned by the driver, which is never freed; other than
        // here only the GPU reads it.
        let word = unsafe { AtomicU32::from_ptr(self.word.cast()) };
        word.store(value, Ordering::SeqCst);
    }
}

impl GpuTime for Context {
    fn resources(&self, function: Function) -> Result<Resources, DriverError> {
        let read = self.functions()?.read_attribute;
        let attribute = |which| {
            let mut value = 0;
            // SAFETY: a place for one number; the function's module is loaded.
            let got = unsafe { read(&mut value, which, function.0 as Handle) };
            self.check("cuFuncGetAttribute", got)?;
            Ok::<u32, DriverError>(value.max(0).cast_unsigned())
        };
        Ok(Resources { registers: attribute(REGISTERS)?, spilled_bytes: attribute(LOCAL_BYTES)? })
    }

    fn wait_at_gate(&self, stream: Stream) -> Result<(), DriverError> {
        let gate = self.gate()?;
        let next = gate.opened.get().wrapping_add(1);
        let wait = self.functions()?.wait_value;
        // SAFETY: the word is mapped for the device and never freed.
        let got = unsafe { wait(stream.0 as Handle, gate.address, next, AT_LEAST) };
        self.check("cuStreamWaitValue32", got)
    }

    fn open_gate(&self) {
        if let Some(gate) = self.gate.get() {
            gate.opened.set(gate.opened.get().wrapping_add(1));
            gate.write(gate.opened.get());
        }
    }

    fn moment(&self) -> Result<Moment, DriverError> {
        let mut event = std::ptr::null_mut();
        // SAFETY: a place for one handle; the flags are the default's.
        let got = unsafe { (self.functions()?.event_create)(&mut event, 0) };
        self.check("cuEventCreate", got)?;
        Ok(Moment(event as u64))
    }

    fn mark(&self, moment: Moment, stream: Stream) -> Result<(), DriverError> {
        let record = self.functions()?.event_record;
        // SAFETY: the event was made by `moment` and is not forgotten yet.
        let got = unsafe { record(moment.0 as Handle, stream.0 as Handle) };
        self.check("cuEventRecord", got)
    }

    fn await_moment(&self, moment: Moment, stream: Stream) -> Result<(), DriverError> {
        let wait = self.functions()?.await_event;
        // SAFETY: the event was made by `moment` and is not forgotten yet.
        let got = unsafe { wait(stream.0 as Handle, moment.0 as Handle, 0) };
        self.check("cuStreamWaitEvent", got)
    }

    fn between(&self, from: Moment, to: Moment) -> Result<u64, DriverError> {
        let elapsed = self.functions()?.event_elapsed;
        let mut milliseconds = 0.0;
        // SAFETY: a place for one number; both events were made by `moment`.
        let got = unsafe { elapsed(&mut milliseconds, from.0 as Handle, to.0 as Handle) };
        self.check("cuEventElapsedTime", got)?;
        Ok((f64::from(milliseconds) * 1e6).round() as u64)
    }

    fn copy(
        &self,
        from: Address,
        to: Address,
        bytes: u64,
        stream: Stream,
    ) -> Result<(), DriverError> {
        let copy = self.functions()?.copy_behind;
        // SAFETY: addresses outside of allocations are errors.
        let got = unsafe { copy(to, from, bytes as usize, stream.0 as Handle) };
        self.check("cuMemcpyDtoDAsync", got)
    }

    fn forget_moment(&self, moment: Moment) -> Result<(), DriverError> {
        // SAFETY: made by `moment` and forgotten once.
        let got = unsafe { (self.functions()?.event_destroy)(moment.0 as Handle) };
        self.check("cuEventDestroy", got)
    }
}
