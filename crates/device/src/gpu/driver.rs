//! What this project asks of a GPU vendor's driver, and nothing more.
//!
//! A [`GpuDriver`] finds GPUs and opens a [`GpuContext`] on one of them: memory ([`GpuMemory`]) and
//! code ([`GpuCode`]). Heaps, launches and the verifier are written over these traits once; a vendor
//! implements them and adds a line to [`crate::vendors::VENDORS`]. [`super::fake`] implements them
//! in the memory of this process.

use std::fmt::Debug;
use std::rc::Rc;

use kernels::DeviceName;

use crate::{DeviceError, DriverError};

/// An address in a GPU's memory.
pub type Address = u64;

/// A GPU of this machine.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Gpu {
    /// The GPU's number, as `--gpus` names it.
    pub number: u32,
    /// The model's name.
    pub name: String,
    /// Bytes of the GPU's memory.
    pub memory_bytes: u64,
    /// The architecture for which objects are compiled, such as `sm_90`.
    pub architecture: String,
    /// Multiprocessors, each of which holds blocks of its own.
    pub multiprocessors: u32,
}

/// A loaded module, as the driver knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Module(pub u64);

/// A moment in a queue, as the driver knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

/// What the driver says that a kernel needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread that lie in memory because they did not fit into registers.
    pub spilled_bytes: u32,
}

/// A kernel of a loaded module, as the driver knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function(pub u64);

/// A queue of launches, as the driver knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream(pub u64);

impl Stream {
    /// The queue that every context has from the start.
    pub const DEFAULT: Stream = Stream(0);
}

/// How many blocks and threads a launch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of thread blocks.
    pub grid: u32,
    /// The number of threads of a block.
    pub threads: u32,
    /// Bytes of dynamic block-shared memory of a block.
    pub shared_bytes: u32,
}

/// What a GPU holds, as far as launches depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The GPU's number.
    pub number: u32,
    /// Multiprocessors, each of which holds blocks of its own.
    pub multiprocessors: u32,
    /// The most bytes of dynamic block-shared memory that a kernel may ask for.
    pub shared_bytes: u32,
}

/// A vendor's driver, loaded in this process.
pub trait GpuDriver: Debug {
    /// The device whose driver it is.
    fn device(&self) -> DeviceName;

    /// The driver's version and where it was found, for people.
    fn version(&self) -> DriverVersion;

    /// The GPUs of this machine, by number.
    ///
    /// # Errors
    /// The driver refuses.
    fn gpus(&self) -> Result<Vec<Gpu>, DriverError>;

    /// Opens a GPU in this process; the context lives as long as the process.
    ///
    /// # Errors
    /// The driver refuses, or there is no GPU of that number.
    fn context(&self, number: u32) -> Result<Rc<dyn GpuContext>, DriverError>;
}

/// The version of a driver and its place.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DriverVersion {
    /// The version as people write it, such as `13.0`.
    pub version: String,
    /// The file that was loaded.
    pub path: String,
}

/// A GPU in this process. It must not leave the thread that opened it.
pub trait GpuContext: GpuMemory + GpuCode + GpuTime + Debug {
    /// What the GPU holds.
    fn limits(&self) -> Limits;

    /// The driver's own number for the context, for calls of the same driver.
    fn raw(&self) -> u64;
}

/// Memory of a GPU.
///
/// Contract: copies and settings take effect in the order of calls, behind all kernels that were
/// launched before on the default queue; an address outside of every allocation is an error.
pub trait GpuMemory {
    /// Device memory with any contents, aligned to 256 bytes.
    ///
    /// # Errors
    /// There is not enough.
    fn allocate(&self, bytes: u64) -> Result<Address, DriverError>;

    /// Gives an allocation back. Nothing may use it any more, in any process.
    ///
    /// # Errors
    /// The driver refuses.
    fn free(&self, address: Address) -> Result<(), DriverError>;

    /// Copies to the device; returns when the bytes are there.
    ///
    /// # Errors
    /// The driver refuses, or a kernel before failed.
    fn write(&self, to: Address, bytes: &[u8]) -> Result<(), DriverError>;

    /// Copies from the device; returns when the bytes are here.
    ///
    /// # Errors
    /// The driver refuses, or a kernel before failed.
    fn read(&self, from: Address, bytes: &mut [u8]) -> Result<(), DriverError>;

    /// Sets every byte of a piece of device memory.
    ///
    /// # Errors
    /// The driver refuses.
    fn set(&self, at: Address, value: u8, bytes: u64) -> Result<(), DriverError>;

    /// The bytes by which other processes open the allocation that begins at `address`.
    ///
    /// # Errors
    /// The driver refuses.
    fn export(&self, address: Address) -> Result<Vec<u8>, DriverError>;

    /// Maps an allocation that another process exported, also one of another GPU.
    ///
    /// # Errors
    /// The bytes are no handle, or the driver refuses.
    fn open(&self, handle: &[u8]) -> Result<Address, DriverError>;

    /// Ends a mapping that `open` made.
    ///
    /// # Errors
    /// The driver refuses.
    fn close(&self, address: Address) -> Result<(), DriverError>;

    /// Lets this GPU read and write the memory of another one that this process has opened.
    ///
    /// # Errors
    /// The driver refuses.
    fn reach(&self, other: &dyn GpuContext) -> Result<(), DriverError>;
}

/// Modules, kernels and their launches on a GPU.
pub trait GpuCode {
    /// Loads compiled code.
    ///
    /// # Errors
    /// The image is none for this GPU.
    fn load(&self, image: &[u8]) -> Result<Module, DriverError>;

    /// Forgets a module; nothing of it may run.
    ///
    /// # Errors
    /// The driver refuses.
    fn unload(&self, module: Module) -> Result<(), DriverError>;

    /// A kernel by its symbol.
    ///
    /// # Errors
    /// The module has none of that name.
    fn function(&self, module: Module, symbol: &str) -> Result<Function, DriverError>;

    /// A device variable by its symbol: its address and its bytes.
    ///
    /// # Errors
    /// The module has none of that name.
    fn global(&self, module: Module, symbol: &str) -> Result<(Address, u64), DriverError>;

    /// Allows a kernel that many bytes of dynamic block-shared memory.
    ///
    /// # Errors
    /// The driver refuses.
    fn allow_shared(&self, function: Function, bytes: u32) -> Result<(), DriverError>;

    /// How many blocks of a kernel are resident on the whole GPU at once.
    ///
    /// # Errors
    /// The driver refuses.
    fn resident_blocks(
        &self,
        function: Function,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u64, DriverError>;

    /// A queue of its own.
    ///
    /// # Errors
    /// The driver refuses.
    fn stream(&self) -> Result<Stream, DriverError>;

    /// Forgets a queue; what is in it still runs.
    ///
    /// # Errors
    /// The driver refuses.
    fn forget_stream(&self, stream: Stream) -> Result<(), DriverError>;

    /// Starts a kernel and does not wait for it.
    ///
    /// # Safety
    /// `parameters` must be as many and as large as the kernel's own. What the kernel does with
    /// device addresses stays on the device: a wrong one is an error of the context, seen at the
    /// next [`GpuCode::finish`].
    ///
    /// # Errors
    /// The driver refuses the launch.
    unsafe fn launch(
        &self,
        function: Function,
        shape: Shape,
        stream: Stream,
        parameters: &mut [Vec<u8>],
    ) -> Result<(), DriverError>;

    /// Waits until everything that was started on this GPU by this process has ended.
    ///
    /// # Errors
    /// A kernel failed; [`DriverError::fault`] says whether that was its own doing.
    fn finish(&self) -> Result<(), DriverError>;
}

/// Moments of a GPU's queues, and a gate in front of them.
///
/// Contract: a queue that waits at the gate goes on once the gate was opened after the wait was put in the
/// queue. Moments are those of the GPU's own clock.
pub trait GpuTime {
    /// What a kernel needs; the kernel is loaded when this returns.
    ///
    /// # Errors
    /// The driver refuses.
    fn resources(&self, function: Function) -> Result<Resources, DriverError>;

    /// Puts a wait at the closed gate in the queue: what comes behind it runs once the gate is open.
    ///
    /// # Errors
    /// The driver cannot let a queue wait for the host.
    fn wait_at_gate(&self, stream: Stream) -> Result<(), DriverError>;

    /// Opens the gate for all that wait.
    fn open_gate(&self);

    /// A moment that no queue has reached yet.
    ///
    /// # Errors
    /// The driver refuses.
    fn moment(&self) -> Result<Moment, DriverError>;

    /// Puts a moment in a queue.
    ///
    /// # Errors
    /// The driver refuses.
    fn mark(&self, moment: Moment, stream: Stream) -> Result<(), DriverError>;

    /// Makes a queue wait until another one has reached a moment.
    ///
    /// # Errors
    /// The driver refuses.
    fn await_moment(&self, moment: Moment, stream: Stream) -> Result<(), DriverError>;

    /// Nanoseconds from one moment that was reached to another.
    ///
    /// # Errors
    /// One of them was not reached.
    fn between(&self, from: Moment, to: Moment) -> Result<u64, DriverError>;

    /// Copies within the GPU's memory, in a queue.
    ///
    /// # Errors
    /// The driver refuses.
    fn copy(
        &self,
        from: Address,
        to: Address,
        bytes: u64,
        stream: Stream,
    ) -> Result<(), DriverError>;

    /// Forgets a moment.
    ///
    /// # Errors
    /// The driver refuses.
    fn forget_moment(&self, moment: Moment) -> Result<(), DriverError>;
}

/// A context that was opened once for each GPU.
#[derive(Debug)]
pub(crate) struct Contexts {
    driver: Rc<dyn GpuDriver>,
    open: Vec<Rc<dyn GpuContext>>,
}

impl Contexts {
    pub(crate) fn new(driver: Rc<dyn GpuDriver>) -> Contexts {
        Contexts { driver, open: Vec::new() }
    }

    pub(crate) fn driver(&self) -> &dyn GpuDriver {
        &*self.driver
    }

    /// A GPU in this process; the first use takes some tenths of a second.
    pub(crate) fn get(&mut self, gpu: u32) -> Result<Rc<dyn GpuContext>, DeviceError> {
        if let Some(known) = self.open.iter().find(|context| context.limits().number == gpu) {
            return Ok(known.clone());
        }
        let context = self.driver.context(gpu)?;
        self.open.push(context.clone());
        Ok(context)
    }
}
