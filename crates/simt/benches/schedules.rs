//! Schedules a second, and nanoseconds a step, of a flag exchange among four ranks. Printed, never
//! asserted: `cargo bench -p simt`.

use std::path::Path;
use std::time::Duration;

use collectives::{Collective, DType, Problem, Rank, Shape, Tile};
use kernels::{Build, Cache, Compiler, Library, Recipe};
use simt::{
    Idle, Module, NoObserver, Observer, Parameters, Races, RankLaunch, Seeded, Strategy, Switches,
};

const RANKS: u32 = 4;
const HEAP_WORDS: usize = 1 << 14;
const FLAGS: usize = HEAP_WORDS - 256;
/// How long each figure is measured, in this thread's own time: other programs on the machine do
/// not count.
const PATIENCE: Duration = Duration::from_millis(1500);

fn main() {
    let object = object();
    let modules: Vec<Module> =
        (0..RANKS).map(|_| Module::load(&object).expect("the object loads")).collect();
    println!("{RANKS} ranks x 1 block, one core; schedules/s (steps a schedule, ns a step)");
    let columns = ["random, sync", "priorities, sync", "race, sync", "race, every access"];
    println!("{:>8} {}", "threads", columns.map(|column| format!("{column:>30}")).concat());
    for threads in [64, 256, 1024] {
        let columns = [
            (Strategy::Random, false, false),
            (Strategy::Priorities, false, false),
            (Strategy::Random, true, false),
            (Strategy::Random, true, true),
        ];
        let columns = columns.map(|(strategy, race, accesses)| {
            format!("{:>30}", measure(&modules, threads, strategy, race, accesses))
        });
        println!("{threads:>8} {}", columns.concat());
    }
}

/// Time that this thread has spent on a core.
fn own_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn measure(
    modules: &[Module],
    threads: u32,
    strategy: Strategy,
    race: bool,
    accesses: bool,
) -> String {
    let mut memory = vec![0u32; HEAP_WORDS * RANKS as usize];
    let start = memory.as_ptr() as usize;
    let heaps = start..start + 4 * memory.len();
    let (mut steps, mut schedules, begun) = (0, 0, own_time());
    while own_time() - begun < PATIENCE {
        memory.fill(0);
        let switches = match accesses {
            true => Switches::Accesses(heaps.clone()),
            false => Switches::Synchronisation,
        };
        let idle = Idle::Deadlock;
        let mut schedule = Seeded::with(strategy, switches, schedules, 1, idle);
        let mut observer: Box<dyn Observer> = match race {
            true => Box::new(Races::new(heaps.clone())),
            false => Box::new(NoObserver),
        };
        let mut launches: Vec<RankLaunch<'_>> = (0..RANKS)
            .zip(modules)
            .map(|(rank, module)| launch(rank, module, threads, start))
            .collect();
        let outcome = simt::run(&mut launches, &mut schedule, &mut *observer);
        steps += outcome.expect("it runs").steps;
        schedules += 1;
    }
    let time = own_time() - begun;
    format!(
        "{:.0}/s ({} steps, {:.0} ns)",
        schedules as f64 / time.as_secs_f64(),
        steps / schedules,
        time.as_nanos() as f64 / steps as f64
    )
}

fn launch(rank: u32, module: &Module, threads: u32, start: usize) -> RankLaunch<'_> {
    let heap = |rank: u32| (start + 4 * HEAP_WORDS * rank as usize) as u64;
    let bases: Vec<u64> = (0..RANKS).map(heap).collect();
    // Read until the process ends.
    let bases = Vec::leak(bases).as_ptr() as u64;
    let values = [heap(rank), heap(rank) + 4 * FLAGS as u64, bases].map(u64::to_le_bytes);
    let rank_bytes = rank.to_le_bytes();
    let values = values.iter().map(|value| &value[..]).chain([&rank_bytes[..]]);
    let parameters = Parameters::new(values);
    RankLaunch {
        rank: Rank(rank),
        call: 0,
        module,
        entry: 0,
        grid: 1,
        threads,
        shared_bytes: 0,
        parameters,
    }
}

fn object() -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder for the object");
    let source = here.join("benches/flag_exchange.hip");
    std::fs::copy(source, folder.path().join("k.hip")).expect("the kernel");
    let manifest = "kernel: t/k\ncollective: all_gather\nsource: k.hip\n\
        launch: {grid: blocks, threads: 64}\n\
        args: [{ptr: input}, {ptr: output}, {ptr: input}, {i32: rank}]\n\
        variants: {base: {entry: flag_exchange, tile: {m: 1, n: 1}}}\n";
    std::fs::write(folder.path().join("k.yaml"), manifest).expect("its manifest");
    let kernels = here.join("../../kernels");
    let library = Library::new(&[folder.path().to_owned()], &kernels).expect("a library");
    let kernel = library.kernel("t/k", None).expect("the kernel");
    let tile = Tile { m: 1, n: 1 };
    let variant = &kernel.manifest.variants["base"];
    let recipe = Recipe::new(&kernel, variant, &problem(tile), tile, RANKS, Build::Observed);
    let cache = Cache::at(folder.path().join("cache")).expect("a cache");
    let compiler = Compiler::find().expect("a compiler");
    let object = recipe.expect("a recipe").make(&cache, &compiler).expect("an object");
    std::fs::read(object.path).expect("the object")
}

fn problem(tile: Tile) -> Problem {
    Problem::plain(Collective::AllGather, RANKS, DType::F32, Shape { m: 1, n: 1 }).with_tile(tile)
}
