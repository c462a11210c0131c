//! Runs a kernel on two ranks, by hand: the example of the crate's documentation.

use collectives::{Collective, DType, Problem, Rank, Shape};
use kernels::{Build, Cache, Compiler, Library, Recipe};
use simt::{
    End, Idle, Module, NoObserver, Outcome, Parameters, Races, RankLaunch, Seeded, Sequential, Wait,
};

/// Rank 0 writes into the heap of rank 1 and raises a flag there; rank 1 waits for the flag.
const KERNEL: &str = r#"
#include "rankcheck.h"
RC_KERNEL hand_over(rc_u32* own, rc_u32* peer, int rank) {
  const int data = 0, flag = 16, copy = 32;
  if (rank == 0) {
    peer[data] = 42;
    rc_store_release_system(peer + flag, 1u);
  } else {
    while (rc_load_acquire_system(own + flag) != 1) rc_spin_hint();
    own[copy] = own[data];
  }
}
"#;
const MANIFEST: &str = "
kernel: tutorial/hand_over
collective: broadcast
source: hand_over.hip
launch: {grid: blocks, threads: 1}
args: [{ptr: input}, {ptr: output}, {i32: rank}]
variants: {base: {entry: hand_over, tile: {m: 1, n: 1}}}
";

fn main() {
    let object = compile();
    // Each rank loads a copy of its own, so that device globals are not shared.
    let modules = [(); 2].map(|()| Module::load(&object).expect("the object loads"));
    let mut heaps = [[0u32; 64]; 2];
    let start = heaps.as_ptr() as usize;
    let addresses = start..start + size_of_val(&heaps);
    let [own, peer] = heaps.each_mut().map(|heap| heap.as_mut_ptr() as u64);

    // One launch a rank: a block of one thread, with the arguments as bytes, in order.
    let launch = |rank: u32, [own, peer]: [u64; 2]| RankLaunch {
        rank: Rank(rank),
        call: 0,
        module: &modules[rank as usize],
        entry: 0,
        grid: 1,
        threads: 1,
        shared_bytes: 0,
        parameters: Parameters::new([
            &own.to_le_bytes()[..],
            &peer.to_le_bytes()[..],
            &rank.to_le_bytes()[..],
        ]),
    };

    // Rank 1 alone waits for ever. No time-out is needed to know that: every thread was seen
    // to come back to a state in which it had been before, and nothing was written.
    let mut schedule = Sequential { idle: Idle::Deadlock };
    let alone: Outcome =
        simt::run(&mut [launch(1, [peer, own])], &mut schedule, &mut NoObserver).expect("it fits");
    let End::Deadlock(waiting) = alone.end else { panic!("rank 0 did not run: {alone:?}") };
    assert_eq!((waiting[0].thread.rank, waiting[0].wait), (Rank(1), Wait::Memory));
    assert_eq!((waiting[0].value, waiting[0].awaited), (Some(0), Some(1)));

    // Both ranks under ten schedules, each named by its seed, before a race detector.
    for seed in 0..10 {
        // SAFETY: both pointers are those of `heaps`, which lives until the end; no kernel runs now.
        unsafe {
            (own as *mut [u32; 64]).write([0; 64]);
            (peer as *mut [u32; 64]).write([0; 64]);
        }
        let mut schedule = Seeded::new(seed, 1, Idle::Deadlock, addresses.clone());
        let mut races = Races::new(addresses.clone());
        let mut launches = [launch(0, [own, peer]), launch(1, [peer, own])];
        let outcome = simt::run(&mut launches, &mut schedule, &mut races).expect("it fits");
        assert_eq!(outcome.end, End::Finished);
        assert_eq!(races.into_found(), []);
        // SAFETY: `peer` points to `heaps`, which lives until the end; no kernel runs now.
        assert_eq!(unsafe { (peer as *const u32).add(32).read() }, 42);
    }
}

/// Compiles the kernel for the CPU, with every access reported to the executor.
fn compile() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("hand_over.hip"), KERNEL).expect("the kernel");
    std::fs::write(folder.path().join("hand_over.yaml"), MANIFEST).expect("its manifest");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels");
    let library = Library::new(&[folder.path().to_owned()], shipped.as_ref()).expect("a library");
    let kernel = library.kernel("tutorial/hand_over", None).expect("the kernel");
    let problem = Problem::plain(Collective::Broadcast, 2, DType::F32, Shape { m: 1, n: 1 });
    let (variant, tile) = (&kernel.manifest.variants["base"], problem.calls[0].tile);
    let recipe = Recipe::new(&kernel, variant, &problem, tile, 2, Build::Observed);
    let cache = Cache::at(folder.path().join("cache")).expect("a cache");
    let compiler = Compiler::find().expect("a C++ compiler");
    let object = recipe.expect("a recipe").make(&cache, &compiler).expect("an object");
    std::fs::read(object.path).expect("the object")
}
