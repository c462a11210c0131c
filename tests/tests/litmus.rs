//! Litmus tests of the memory model, as kernels through the real compilers: what is clean must
//! be so in every schedule, what is wrong must be found.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use collectives::{Collective, DType, Problem, Rank, Shape, Tile};
use device::cpu::CpuDevice;
use device::{Device as _, Interleave, Interleaving, Launch, Launched};
use ipc::SharedMemory;
use kernels::{Argument, Build, Cache, Compiler, Kernel, Library, Object, Recipe};
use rankcheck_tests::litmus::{Expect, LITMUS, Litmus};
use rstest::rstest;
use simt::{End, RaceKind};

const HEAP_BYTES: u64 = 128 << 10;
/// Schedules of a clean test, and at most so many until a wrong one is found.
const SCHEDULES: u64 = 200;
/// Where kernels note wrong values.
const WRONG: std::ops::Range<usize> = 0x7000..0x8000;

/// Tests in which a missing release, fence or barrier must show as wrong bytes once stores are
/// late.
const WRONG_BYTES: [u32; 14] = [2, 4, 5, 6, 9, 14, 17, 20, 22, 33, 35, 41, 48, 68];

/// Heaps lie at fixed addresses, so a process runs the tests of one compiler at a time.
static HEAPS: Mutex<()> = Mutex::new(());

#[rstest]
#[case::gcc("g++")]
#[case::clang("clang++")]
fn every_litmus_test_gives_what_it_must(#[case] name: &str) {
    let _alone = HEAPS.lock().unwrap_or_else(PoisonError::into_inner);
    let compiler = find(name)
        .unwrap_or_else(|| panic!("{name} is not on PATH: run ci/packages.sh, which installs it"));
    let mut laboratory = Laboratory::new(&compiler);
    let mut failed: Vec<String> = LITMUS.iter().filter_map(|test| laboratory.judge(test)).collect();
    failed.extend(laboratory.judge_late_stores());
    assert!(failed.is_empty(), "{name}: {} failed:\n{}", failed.len(), failed.join("\n"));
}

/// The compiler of this name on PATH.
fn find(name: &str) -> Option<Compiler> {
    let folders = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
    let file = files.find(|file| file.is_file())?;
    Some(Compiler::at(file).unwrap_or_else(|error| panic!("{name} does not work: {error}")))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository").to_owned()
}

/// An object with all litmus kernels, and heaps to run them on.
struct Laboratory {
    object: Object,
    bytes: Vec<u8>,
    heaps: Vec<SharedMemory>,
}

/// What the schedules of a test gave.
#[derive(Debug, Default)]
struct Counts {
    schedules: u64,
    races: u64,
    scope: u64,
    mixed_size: u64,
    overwrites: u64,
    deadlocks: u64,
    wrong: u64,
}

impl Laboratory {
    fn new(compiler: &Compiler) -> Laboratory {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let source = repository().join("tests/litmus/litmus.hip");
        std::fs::copy(source, folder.path().join("litmus.hip")).expect("the litmus kernels");
        let mut manifest = String::from(
            "kernel: t/litmus\ncollective: all_gather\nsource: litmus.hip\nrequires: [concurrent]\n\
             launch: {grid: blocks, threads: 1}\nargs: [{ptr: input}, {i32: rank}]\nvariants:\n",
        );
        for entry in LITMUS.iter().flat_map(|test| test.kernels) {
            let line = format!("  {entry}: {{entry: {entry}, tile: {{m: 1, n: 1}}}}\n");
            if !manifest.contains(&line) {
                manifest += &line;
            }
        }
        std::fs::write(folder.path().join("litmus.yaml"), manifest).expect("the test's own file");
        let library = Library::new(&[folder.path().to_owned()], &repository().join("kernels"));
        let kernel: Arc<Kernel> = library.unwrap().kernel("t/litmus", None).unwrap();
        let (tile, problem) = (Tile { m: 1, n: 1 }, problem());
        let variant = kernel.manifest.variants.values().next().unwrap();
        let recipe = Recipe::new(&kernel, variant, &problem, tile, 1, Build::Observed).unwrap();
        let cache = Cache::at(folder.path().join("cache")).unwrap();
        let object = recipe.make(&cache, compiler).unwrap();
        let bytes = std::fs::read(&object.path).unwrap();
        let heaps = (0..8).map(|_| SharedMemory::new("litmus", HEAP_BYTES).unwrap()).collect();
        Laboratory { object, bytes, heaps }
    }

    /// Clean tests stay right when stores are late; others give wrong bytes, and soon.
    fn judge_late_stores(&mut self) -> Vec<String> {
        let mut failed = Vec::new();
        let mut seeds = Vec::new();
        for test in &LITMUS {
            let mut device = self.device();
            let stop = |counts: &Counts| test.expect != Expect::Clean && counts.wrong > 0;
            let counts = self.count(&mut device, test, true, stop);
            println!("{:3} {:<45} late: {counts:?}", test.number, test.name);
            let wrong = WRONG_BYTES.contains(&test.number) && counts.wrong == 0;
            if wrong || (test.expect == Expect::Clean && !counts.meets(Expect::Clean)) {
                failed.push(format!("{} {}, late: {counts:?}", test.number, test.name));
            }
            if WRONG_BYTES.contains(&test.number) {
                seeds.push(counts.schedules);
            }
        }
        seeds.sort_unstable();
        println!(
            "seeds to the first wrong bytes: median {}, all {seeds:?}",
            seeds[seeds.len() / 2]
        );
        failed
    }

    fn device(&self) -> CpuDevice {
        let mut device = CpuDevice::new(Rank(0), true);
        for (rank, heap) in (0..).map(Rank).zip(&self.heaps) {
            use std::os::fd::AsRawFd as _;
            let handle = ipc::HeapHandle::Memfd(heap.fd().as_raw_fd());
            device.import(rank, &handle, HEAP_BYTES).unwrap();
            device.load(rank, &self.bytes, &[]).unwrap();
        }
        device
    }

    /// Runs a test under many schedules; what is not as expected, in words.
    fn judge(&mut self, test: &Litmus) -> Option<String> {
        let mut device = self.device();
        let stop = |counts: &Counts| test.expect != Expect::Clean && counts.meets(test.expect);
        let counts = self.count(&mut device, test, false, stop);
        println!("{:3} {:<45} {counts:?}", test.number, test.name);
        (!counts.meets(test.expect)).then(|| {
            format!("{} {}: expected {:?}, got {counts:?}", test.number, test.name, test.expect)
        })
    }

    fn count(
        &mut self,
        device: &mut CpuDevice,
        test: &Litmus,
        weak: bool,
        stop: impl Fn(&Counts) -> bool,
    ) -> Counts {
        let mut counts = Counts::default();
        for seed in 0..SCHEDULES {
            self.heaps.iter_mut().for_each(|heap| heap.bytes_mut().fill(0));
            counts.schedules += 1;
            for kernel in test.kernels {
                let launched = self.launch(device, test, kernel, seed, weak);
                counts.add(&launched);
                if launched.outcome.end != End::Finished {
                    break;
                }
            }
            counts.wrong += u64::from(self.heaps[0].bytes()[WRONG].iter().any(|byte| *byte != 0));
            if stop(&counts) {
                break;
            }
        }
        counts
    }

    fn launch(
        &self,
        device: &mut CpuDevice,
        test: &Litmus,
        kernel: &str,
        seed: u64,
        weak: bool,
    ) -> Launched {
        let entry = self.object.entries.iter().position(|entry| entry == kernel).unwrap() as u32;
        let launch = |rank: u32| Launch {
            call: 0,
            rank: Rank(rank),
            entry,
            grid: test.blocks,
            threads: test.threads,
            shared_bytes: 0,
            arguments: vec![
                Argument::Heap(Rank(0), 0),
                Argument::Scalar(rank.to_le_bytes().to_vec()),
            ],
        };
        let launches: Vec<Launch> = (0..test.ranks).map(launch).collect();
        let interleaving = Interleaving::CoResident {
            borders: None,
            resident_blocks: test.blocks,
            seed,
            plan: Interleave::Seed,
            race: true,
            weak,
        };
        device.launch(&launches, interleaving, &[]).unwrap()
    }
}

impl Counts {
    fn add(&mut self, launched: &Launched) {
        let has = |kind| u64::from(launched.races.iter().any(|race| race.kind == kind));
        self.races += has(RaceKind::Plain);
        self.scope += has(RaceKind::Scope);
        self.mixed_size += has(RaceKind::MixedSize);
        self.overwrites += has(RaceKind::Overwrite);
        self.deadlocks += u64::from(launched.outcome.end != End::Finished);
    }

    fn meets(&self, expect: Expect) -> bool {
        match expect {
            Expect::Clean => {
                let found = self.races + self.scope + self.mixed_size + self.overwrites;
                found + self.deadlocks + self.wrong == 0
            }
            Expect::Race => self.races > 0,
            Expect::Scope => self.scope > 0,
            Expect::RaceAndScope => self.races > 0 && self.scope > 0,
            Expect::MixedSize => self.mixed_size > 0,
            Expect::Overwrite => self.overwrites > 0,
            Expect::Deadlock => self.deadlocks > 0,
        }
    }
}

fn problem() -> Problem {
    Problem::plain(Collective::AllGather, 1, DType::F32, Shape { m: 1, n: 1 })
}
