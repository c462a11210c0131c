//! A device without a GPU: the judge's kernels, compiled by the project's compiler for the CPU and
//! run by its executor.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::path::Path;

use collectives::{GroupSpec, Rank};
use device::DeviceError;
use device::gpu::verifier::{Entry, SOURCE, SOURCE_NAME, THREADS, VerifierDevice};
use kernels::{Build, Cache, Compiler, Library, Recipe};
use simt::{Idle, Module, NoObserver, Parameters, RankLaunch, Sequential};

/// In front of and behind every allocation, to see what is written outside.
const FENCE: usize = 256;
const FENCE_BYTE: u8 = 0xa5;

const MANIFEST: &str = "
kernel: verifier/verifier
collective: barrier
source: verifier.cu
launch: {grid: blocks, threads: 256}
variants:
  fill: {entry: rc_fill, tile: {m: 1, n: 1}}
  verify: {entry: rc_verify, tile: {m: 1, n: 1}}
  make: {entry: rc_make, tile: {m: 1, n: 1}}
  copy: {entry: rc_copy, tile: {m: 1, n: 1}}
args: []
";

/// The judge on the CPU.
pub(crate) struct CpuVerifier {
    module: Module,
    entries: Vec<String>,
    /// Bytes at each address that was given out.
    allocated: BTreeMap<u64, usize>,
    pub(crate) launches: usize,
}

impl CpuVerifier {
    /// The judge as it is.
    pub(crate) fn new() -> CpuVerifier {
        CpuVerifier::of(SOURCE)
    }

    /// A judge with another source.
    pub(crate) fn of(source: &str) -> CpuVerifier {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("verifier.yaml"), MANIFEST).unwrap();
        std::fs::write(folder.path().join(SOURCE_NAME), source).unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
        let library = Library::new(&[folder.path().to_owned()], &shipped).unwrap();
        let kernel = library.kernel("verifier/verifier", None).unwrap();
        let variant = &kernel.manifest.variants["fill"];
        let problem = crate::problems::padded(collectives::DType::U8);
        let group = GroupSpec::World.resolve(1).unwrap();
        let build = Build::Fast;
        let recipe =
            Recipe::new(&kernel, variant, &problem, variant.tile, group.size(), build).unwrap();
        let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("judge")).unwrap();
        let object = recipe.make(&cache, &Compiler::find().unwrap()).unwrap();
        CpuVerifier {
            module: Module::load(&std::fs::read(&object.path).unwrap()).unwrap(),
            entries: object.entries,
            allocated: BTreeMap::new(),
            launches: 0,
        }
    }

    /// Sees that an access stays inside one allocation.
    fn check(&self, address: u64, bytes: usize) {
        let (start, length) = self.allocated.range(..=address).next_back().expect("no allocation");
        assert!(address + bytes as u64 <= start + *length as u64, "outside an allocation");
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes + 2 * FENCE, FENCE).unwrap()
}

impl VerifierDevice for CpuVerifier {
    fn blocks(&self) -> u32 {
        3
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let bytes = bytes as usize;
        // SAFETY: the layout is not empty; all bytes are written before anybody reads them.
        let fenced = unsafe {
            let fenced = alloc(layout(bytes));
            fenced.write_bytes(FENCE_BYTE, bytes + 2 * FENCE);
            fenced
        };
        let address = (fenced.expose_provenance() + FENCE) as u64;
        self.allocated.insert(address, bytes);
        Ok(address)
    }

    fn release(&mut self, address: u64) {
        let bytes = self.allocated.remove(&address).expect("it was given out");
        let fenced = std::ptr::with_exposed_provenance_mut::<u8>(address as usize - FENCE);
        // SAFETY: `allocate` made it with this layout, and nobody has it any more.
        unsafe {
            let all = std::slice::from_raw_parts(fenced, bytes + 2 * FENCE);
            let (front, rest) = all.split_at(FENCE);
            let fences = front.iter().chain(&rest[bytes..]);
            assert!(fences.copied().all(|byte| byte == FENCE_BYTE), "written outside");
            dealloc(fenced, layout(bytes));
        }
    }

    fn upload(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.check(address, bytes.len());
        let to = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: inside an allocation, which `bytes` is no part of.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    fn clear(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.upload(address, &vec![0; bytes as usize])
    }

    fn download(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.check(address, bytes.len());
        let from = std::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: inside an allocation, which `bytes` is no part of.
        unsafe { from.copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn launch(&mut self, entry: Entry, blocks: u32, arguments: &[u64]) -> Result<(), DeviceError> {
        self.launches += 1;
        let number = self.entries.iter().position(|name| name == entry.name()).unwrap();
        let values: Vec<[u8; 8]> = arguments.iter().map(|value| value.to_le_bytes()).collect();
        let mut launch = [RankLaunch {
            rank: Rank(0),
            call: 0,
            module: &self.module,
            entry: number,
            grid: blocks,
            threads: THREADS,
            shared_bytes: 0,
            parameters: Parameters::new(values.iter().map(|value| &value[..])),
        }];
        let mut schedule = Sequential { idle: Idle::Deadlock };
        let outcome = simt::run(&mut launch, &mut schedule, &mut NoObserver)?;
        let finished = outcome.ranks[0].threads_finished;
        assert_eq!(finished, u64::from(blocks * THREADS), "{outcome:?}");
        Ok(())
    }
}

impl Drop for CpuVerifier {
    fn drop(&mut self) {
        let addresses: Vec<u64> = self.allocated.keys().copied().collect();
        for address in addresses.into_iter().filter(|_| !std::thread::panicking()) {
            self.release(address);
        }
    }
}
