//! A GPU driver in the memory of this process, for tests that need no GPU.
//!
//! Memory is bytes of this process at addresses that no other thing has. A kernel is a closure that
//! reads and writes that memory; it runs when a call waits for it, as on a GPU. Every call is
//! noted, and the next call of a name can be made to fail.

mod time;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use kernels::DeviceName;

use super::driver::{
    Address, DriverVersion, Function, Gpu, GpuCode, GpuContext, GpuDriver, GpuMemory, Limits,
    Module, Moment, Shape, Stream,
};
use crate::DriverError;

/// What a kernel of the fake does with the memory of all its GPUs.
pub type Kernel = Rc<dyn Fn(&Launched, &mut Memory) -> Result<(), DriverError>>;

/// A launch as the driver got it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    /// The GPU's number.
    pub gpu: u32,
    /// The kernel's symbol.
    pub symbol: String,
    /// Blocks and threads.
    pub shape: Shape,
    /// The queue in which it was put.
    pub stream: Stream,
    /// The bytes of each parameter.
    pub parameters: Vec<Vec<u8>>,
}

impl Launched {
    /// A parameter of eight bytes.
    ///
    /// # Panics
    /// There is no such parameter, or it has another size.
    pub fn word(&self, index: usize) -> u64 {
        let bytes = self.parameters[index][..].try_into();
        u64::from_le_bytes(bytes.expect("a parameter of eight bytes"))
    }
}

/// Allocations of all GPUs, by address.
#[derive(Debug, Default)]
pub struct Memory {
    allocations: BTreeMap<Address, Vec<u8>>,
}

impl Memory {
    /// The bytes of a range that lies in one allocation.
    ///
    /// # Errors
    /// The range lies elsewhere.
    pub fn at(&mut self, address: Address, bytes: u64) -> Result<&mut [u8], DriverError> {
        let within = self.allocations.range_mut(..=address).next_back();
        within
            .and_then(|(start, all)| {
                let first = usize::try_from(address - start).ok()?;
                all.get_mut(first..first + usize::try_from(bytes).ok()?)
            })
            .ok_or_else(|| error("memory", format!("{bytes} bytes at {address:#x}")))
    }
}

/// All that a fake driver knows.
#[derive(Default)]
struct State {
    memory: Memory,
    next: u64,
    kernels: BTreeMap<String, Kernel>,
    globals: BTreeMap<String, (Address, u64)>,
    functions: Vec<String>,
    waiting: Vec<(Launched, Kernel)>,
    /// Whether a queue waits at the gate.
    gated: bool,
    /// How many launches came before each moment that was marked.
    moments: BTreeMap<Moment, u64>,
    launched: u64,
    failing: BTreeMap<&'static str, DriverError>,
    calls: Vec<String>,
}

/// The driver; clones are one driver.
#[derive(Clone, Default)]
pub struct FakeDriver {
    state: Rc<RefCell<State>>,
}

/// The addresses of the fake are beyond any that a table of small numbers holds.
const FIRST: Address = 0x7f00_0000_0000;
/// Between allocations, so that one's end is not another's beginning.
const APART: u64 = 1 << 32;
/// Blocks of any kernel that a multiprocessor of the fake holds.
const BLOCKS_PER_MULTIPROCESSOR: u64 = 2;
/// Multiprocessors of each GPU of the fake.
const MULTIPROCESSORS: u32 = 4;

fn error(call: &'static str, text: String) -> DriverError {
    DriverError { call, name: "FAKE".into(), text, fault: None }
}

impl fmt::Debug for FakeDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeDriver").finish_non_exhaustive()
    }
}

impl FakeDriver {
    /// A driver of two GPUs with four multiprocessors each, which hold two blocks of any kernel.
    pub fn new() -> FakeDriver {
        FakeDriver::default()
    }

    /// As the trait object that devices take.
    pub fn shared(&self) -> Rc<dyn GpuDriver> {
        Rc::new(self.clone())
    }

    /// Every module has this kernel from now on.
    pub fn kernel(
        &self,
        symbol: &str,
        run: impl Fn(&Launched, &mut Memory) -> Result<(), DriverError> + 'static,
    ) {
        self.state.borrow_mut().kernels.insert(symbol.into(), Rc::new(run));
    }

    /// Every module has a variable of so many bytes from now on; its address.
    pub fn global(&self, symbol: &str, bytes: u64) -> Address {
        let mut state = self.state.borrow_mut();
        let address = state.allocate(bytes);
        state.globals.insert(symbol.into(), (address, bytes));
        address
    }

    /// The next call of that name fails.
    pub fn fail_next(&self, error: DriverError) {
        self.state.borrow_mut().failing.insert(error.call, error);
    }

    /// The calls since the last time, each as `gpu N: NAME ARGUMENTS`.
    pub fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state.borrow_mut().calls)
    }

    /// A copy of the bytes of a range.
    ///
    /// # Panics
    /// The range does not lie in one allocation.
    pub fn bytes(&self, address: Address, bytes: u64) -> Vec<u8> {
        let mut state = self.state.borrow_mut();
        state.memory.at(address, bytes).expect("bytes of an allocation").to_vec()
    }

    /// How many allocations there are, variables of modules included.
    pub fn allocations(&self) -> usize {
        self.state.borrow().memory.allocations.len()
    }
}

impl State {
    fn allocate(&mut self, bytes: u64) -> Address {
        let address = FIRST + self.next * APART;
        self.next += 1;
        let bytes = usize::try_from(bytes).expect("a test's allocation is small");
        // Fresh memory holds anything but zeros.
        self.memory.allocations.insert(address, vec![0xdd; bytes]);
        address
    }

    /// Runs everything that was launched, in the order of launches.
    fn finish(&mut self) -> Result<(), DriverError> {
        if self.gated {
            return Err(error("finish", "a queue waits at the closed gate for ever".into()));
        }
        for (launched, kernel) in std::mem::take(&mut self.waiting) {
            kernel(&launched, &mut self.memory)?;
        }
        Ok(())
    }
}

impl GpuDriver for FakeDriver {
    fn device(&self) -> DeviceName {
        DeviceName::Cuda
    }

    fn version(&self) -> DriverVersion {
        DriverVersion { version: "0.0".into(), path: "fake".into() }
    }

    fn gpus(&self) -> Result<Vec<Gpu>, DriverError> {
        let gpu = |number| Gpu {
            number,
            name: "fake GPU".into(),
            memory_bytes: 1 << 30,
            architecture: "sm_0".into(),
            multiprocessors: MULTIPROCESSORS,
        };
        Ok(vec![gpu(0), gpu(1)])
    }

    fn context(&self, number: u32) -> Result<Rc<dyn GpuContext>, DriverError> {
        let gpus = self.gpus()?;
        let gpu = gpus.into_iter().find(|gpu| gpu.number == number);
        let gpu = gpu.ok_or_else(|| error("context", format!("there is no GPU {number}")))?;
        let Gpu { number, multiprocessors, .. } = gpu;
        let limits = Limits { number, multiprocessors, shared_bytes: 1000 };
        Ok(Rc::new(FakeContext { driver: self.clone(), limits }))
    }
}

/// One of the fake's GPUs.
#[derive(Debug)]
struct FakeContext {
    driver: FakeDriver,
    limits: Limits,
}

impl FakeContext {
    /// Notes a call and does it, unless it is to fail.
    fn call<T>(
        &self,
        name: &'static str,
        arguments: fmt::Arguments<'_>,
        work: impl FnOnce(&mut State) -> Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        let mut state = self.driver.state.borrow_mut();
        let call = format!("gpu {}: {name} {arguments}", self.limits.number);
        state.calls.push(call.trim_end().into());
        match state.failing.remove(name) {
            Some(error) => Err(error),
            None => work(&mut state),
        }
    }
}

impl GpuContext for FakeContext {
    fn limits(&self) -> Limits {
        self.limits
    }

    fn raw(&self) -> u64 {
        self.limits.number.into()
    }
}

impl GpuMemory for FakeContext {
    fn allocate(&self, bytes: u64) -> Result<Address, DriverError> {
        self.call("allocate", format_args!("{bytes}"), |state| Ok(state.allocate(bytes)))
    }

    fn free(&self, address: Address) -> Result<(), DriverError> {
        self.call("free", format_args!(""), |state| {
            let freed = state.memory.allocations.remove(&address);
            freed.map(drop).ok_or_else(|| error("free", format!("{address:#x}")))
        })
    }

    fn write(&self, to: Address, bytes: &[u8]) -> Result<(), DriverError> {
        self.call("write", format_args!("{}", bytes.len()), |state| {
            state.finish()?;
            state.memory.at(to, bytes.len() as u64)?.copy_from_slice(bytes);
            Ok(())
        })
    }

    fn read(&self, from: Address, bytes: &mut [u8]) -> Result<(), DriverError> {
        self.call("read", format_args!("{}", bytes.len()), |state| {
            state.finish()?;
            bytes.copy_from_slice(state.memory.at(from, bytes.len() as u64)?);
            Ok(())
        })
    }

    fn set(&self, at: Address, value: u8, bytes: u64) -> Result<(), DriverError> {
        self.call("set", format_args!("{value} {bytes}"), |state| {
            state.finish()?;
            state.memory.at(at, bytes)?.fill(value);
            Ok(())
        })
    }

    fn export(&self, address: Address) -> Result<Vec<u8>, DriverError> {
        self.call("export", format_args!(""), |_| Ok(address.to_le_bytes().to_vec()))
    }

    fn open(&self, handle: &[u8]) -> Result<Address, DriverError> {
        self.call("open", format_args!(""), |_| {
            let bytes = handle.try_into();
            bytes.map(u64::from_le_bytes).map_err(|_| error("open", "another handle".into()))
        })
    }

    fn close(&self, _: Address) -> Result<(), DriverError> {
        self.call("close", format_args!(""), |_| Ok(()))
    }

    fn reach(&self, other: &dyn GpuContext) -> Result<(), DriverError> {
        self.call("reach", format_args!("{}", other.raw()), |_| Ok(()))
    }
}

impl GpuCode for FakeContext {
    fn load(&self, image: &[u8]) -> Result<Module, DriverError> {
        let image = String::from_utf8_lossy(image);
        self.call("load", format_args!("{image}"), |_| Ok(Module(1)))
    }

    fn unload(&self, _: Module) -> Result<(), DriverError> {
        self.call("unload", format_args!(""), |_| Ok(()))
    }

    fn function(&self, _: Module, symbol: &str) -> Result<Function, DriverError> {
        self.call("function", format_args!("{symbol}"), |state| {
            if !state.kernels.contains_key(symbol) {
                return Err(error("function", format!("no kernel {symbol}")));
            }
            state.functions.push(symbol.into());
            Ok(Function(state.functions.len() as u64 - 1))
        })
    }

    fn global(&self, _: Module, symbol: &str) -> Result<(Address, u64), DriverError> {
        self.call("global", format_args!("{symbol}"), |state| {
            let global = state.globals.get(symbol).copied();
            global.ok_or_else(|| error("global", format!("no variable {symbol}")))
        })
    }

    fn allow_shared(&self, _: Function, bytes: u32) -> Result<(), DriverError> {
        self.call("allow_shared", format_args!("{bytes}"), |_| Ok(()))
    }

    fn resident_blocks(&self, _: Function, _: u32, _: u32) -> Result<u64, DriverError> {
        let blocks = BLOCKS_PER_MULTIPROCESSOR * u64::from(self.limits.multiprocessors);
        self.call("resident_blocks", format_args!(""), |_| Ok(blocks))
    }

    fn stream(&self) -> Result<Stream, DriverError> {
        self.call("stream", format_args!(""), |state| {
            state.next += 1;
            Ok(Stream(state.next))
        })
    }

    fn forget_stream(&self, _: Stream) -> Result<(), DriverError> {
        self.call("forget_stream", format_args!(""), |_| Ok(()))
    }

    unsafe fn launch(
        &self,
        function: Function,
        shape: Shape,
        stream: Stream,
        parameters: &mut [Vec<u8>],
    ) -> Result<(), DriverError> {
        let at = usize::try_from(function.0).expect("a number of `function`");
        let symbol = self.driver.state.borrow().functions[at].clone();
        self.call("launch", format_args!("{symbol} {}x{}", shape.grid, shape.threads), |state| {
            let parameters = parameters.to_vec();
            let kernel = state.kernels[&symbol].clone();
            let gpu = self.limits.number;
            let launched = Launched { gpu, symbol: symbol.clone(), shape, stream, parameters };
            state.waiting.push((launched, kernel));
            state.launched += 1;
            Ok(())
        })
    }

    fn finish(&self) -> Result<(), DriverError> {
        self.call("finish", format_args!(""), State::finish)
    }
}

/// A launch of the fake takes so many nanoseconds.
pub const NANOSECONDS_A_LAUNCH: u64 = 1000;
