//! Heaps, launches and the verifier's plumbing over the fake driver.

use collectives::Rank;
use ipc::HeapHandle;
use kernels::Argument;
use simt::{End, LaunchRecord};

use super::fake::NANOSECONDS_A_LAUNCH;
use super::fake::{FakeDriver, Launched as Seen};
use super::verifier::{Entry, GpuVerifier, THREADS, VerifierDevice as _};
use super::{GpuDevice, Heaps};
use crate::{Caches, Device, DeviceError, DriverError, Fault, Interleave, Interleaving, Launch};

const GRANULE: u64 = 2 << 20;

fn launch(rank: u32, arguments: Vec<Argument>) -> Launch {
    Launch { rank: Rank(rank), call: 0, entry: 0, grid: 4, threads: 32, shared_bytes: 0, arguments }
}

fn at_once() -> Interleaving {
    let plan = Interleave::Seed;
    let (borders, race, weak) = (None, false, false);
    Interleaving::CoResident { borders, resident_blocks: 4, seed: 0, plan, race, weak }
}

fn kernel_fault(fault: Fault) -> DriverError {
    let (name, text) = ("FAULT".into(), "it did something".into());
    DriverError { call: "finish", name, text, fault: Some(fault) }
}

/// Two ranks' heaps on GPU 0, and a device that has them open and a kernel `k` loaded.
fn two_ranks(driver: &FakeDriver) -> (Heaps, GpuDevice) {
    let mut heaps = Heaps::new(driver.shared());
    let handles = heaps.reserve(&[0, 0], 100).unwrap();
    let mut device = GpuDevice::new(driver.shared(), vec![0, 0]);
    for (rank, handle) in (0..).map(Rank).zip(&handles) {
        device.import(rank, handle, 100).unwrap();
        device.load(rank, b"code", &["k".into()]).unwrap();
    }
    driver.calls();
    (heaps, device)
}

#[test]
fn heaps_are_kept_while_they_do_and_freed_before_they_grow() {
    let driver = FakeDriver::new();
    let mut heaps = Heaps::new(driver.shared());
    let first = heaps.reserve(&[0, 1], 1).unwrap();
    let of_gpu =
        |gpu: u32| [format!("gpu {gpu}: allocate {GRANULE}"), format!("gpu {gpu}: export")];
    assert_eq!(driver.calls(), [of_gpu(0), of_gpu(1)].concat());
    assert_eq!(heaps.reserve(&[0, 1], GRANULE).unwrap(), first, "they are large enough");
    assert_eq!(heaps.reserve(&[0], GRANULE).unwrap(), first[..1], "fewer ranks need fewer");
    assert_eq!(driver.calls(), Vec::<String>::new());
    // Rank 1 moves to the GPU of rank 0; rank 0 stays.
    let moved = heaps.reserve(&[0, 0], GRANULE).unwrap();
    assert_eq!(moved[0], first[0]);
    assert_ne!(moved[1], first[1]);
    assert_eq!(driver.calls(), [vec!["gpu 1: free".to_owned()], of_gpu(0).to_vec()].concat());
    assert_eq!(heaps.gpus(), [0, 0]);
    heaps.reserve(&[0, 0], GRANULE + 1).unwrap();
    assert_eq!(driver.calls().iter().filter(|call| call.ends_with("free")).count(), 2);
    assert_eq!(driver.allocations(), 2);
}

#[test]
fn parts_of_heaps_are_read_written_and_set_where_they_lie() {
    let driver = FakeDriver::new();
    let mut heaps = Heaps::new(driver.shared());
    heaps.reserve(&[0, 1], 64).unwrap();
    heaps.write(Rank(1), 8, b"rank 1").unwrap();
    heaps.set(Rank(1), 10, b'-', 2).unwrap();
    let mut bytes = [0; 6];
    heaps.read(Rank(1), 8, &mut bytes).unwrap();
    assert_eq!(&bytes, b"ra-- 1");
    let addresses = heaps.addresses(2).unwrap();
    assert_eq!(driver.bytes(addresses[1] + 8, 2), b"ra");
    let none = heaps.read(Rank(2), 0, &mut bytes).unwrap_err();
    assert_eq!(none.to_string(), "rank 2 has no heap here");
}

#[test]
fn a_kernel_gets_the_addresses_of_heaps_and_its_stores_are_seen() {
    let driver = FakeDriver::new();
    driver.kernel("k", |seen: &Seen, memory| {
        memory.at(seen.word(0), 4)?.copy_from_slice(&seen.parameters[1]);
        Ok(())
    });
    let (mut heaps, mut device) = two_ranks(&driver);
    let arguments = |value: u8| vec![Argument::Heap(Rank(1), 16), Argument::Scalar(vec![value; 4])];
    let launches = [launch(0, arguments(1)), launch(1, arguments(2))];
    let launched = device.launch(&launches, Interleaving::Sequential, &[]).unwrap();
    assert_eq!(launched.outcome.end, End::Finished);
    let threads: Vec<u64> = launched.outcome.ranks.iter().map(|r| r.threads_finished).collect();
    assert_eq!(threads, [128, 128]);
    // One after another: the second is not started before the first has ended.
    let one = ["gpu 0: launch k 4x32", "gpu 0: finish"];
    assert_eq!(driver.calls(), [one, one].concat());
    let mut bytes = [0; 4];
    heaps.read(Rank(1), 16, &mut bytes).unwrap();
    assert_eq!(bytes, [2; 4], "the last launch wrote last");
}

#[test]
fn ranks_at_once_have_queues_of_their_own_and_are_awaited_together() {
    let driver = FakeDriver::new();
    driver.kernel("k", |_, _| Ok(()));
    let (_heaps, mut device) = two_ranks(&driver);
    device.launch(&[launch(0, vec![]), launch(1, vec![])], at_once(), &[]).unwrap();
    let calls = driver.calls();
    let calls: Vec<&str> = calls.iter().map(|call| &call["gpu 0: ".len()..]).collect();
    let (asked, ran) = calls.split_at(2);
    assert_eq!(asked, ["resident_blocks"; 2]);
    let start = ["stream", "launch k 4x32"];
    let end = ["finish", "forget_stream", "forget_stream"];
    assert_eq!(ran, [&start[..], &start, &end].concat());
    // Each launch takes half of the eight blocks that the GPU holds.
    let three = [launch(0, vec![]), launch(1, vec![]), launch(0, vec![])];
    let refused = device.launch(&three, at_once(), &[]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "needs 12 blocks resident at once, found room for 8 on this GPU"
    );
}

#[test]
fn a_timed_launch_waits_at_the_gate_until_everything_is_queued() {
    const ONE: u64 = NANOSECONDS_A_LAUNCH;
    let driver = FakeDriver::new();
    driver.kernel("k", |_, _| Ok(()));
    let (_heaps, mut device) = two_ranks(&driver);
    let both = [launch(0, vec![]), launch(1, vec![])];
    // One after another, the second begins where the first ends; at once, both begin together.
    for (how, times) in
        [(Interleaving::Sequential, [0..ONE, ONE..2 * ONE]), (at_once(), [0..ONE, 0..2 * ONE])]
    {
        let mut begun = 0;
        let launched = device.time(&both, how, Caches::Cold, &mut || begun += 1).unwrap();
        let measured = launched.measured.unwrap();
        assert_eq!((begun, measured.times), (1, times.to_vec()));
        assert_eq!((measured.registers, measured.spilled_bytes), (Some(32), Some(8)));
        let calls = driver.calls();
        let at = |name: &str| calls.iter().position(|call| call.ends_with(name)).unwrap();
        let (closed, open) = (at("wait_at_gate"), at("open_gate"));
        // What waits for the GPU in there would wait for ever.
        for call in &calls[closed + 1..open] {
            let queues = ["mark", "await_moment", "launch k 4x32"];
            assert!(queues.iter().any(|name| call.ends_with(name)), "{call}");
        }
        assert!(calls[..closed].iter().any(|call| call.contains("set 0 536870912")), "{calls:?}");
    }
}

#[test]
fn a_launch_that_cannot_be_queued_leaves_no_queue_at_the_gate() {
    let driver = FakeDriver::new();
    driver.kernel("k", |_, _| Ok(()));
    let (_heaps, mut device) = two_ranks(&driver);
    driver.fail_next(DriverError { call: "launch", ..kernel_fault(Fault::Other) });
    let mut begun = 0;
    let how = Interleaving::Sequential;
    let failed = device.time(&[launch(0, vec![])], how, Caches::Warm, &mut || begun += 1);
    assert!(failed.is_err());
    assert_eq!(begun, 0);
    assert!(driver.calls().iter().any(|call| call.ends_with("open_gate")));
}

#[test]
fn the_speed_of_a_copy_counts_reading_and_writing() {
    let driver = FakeDriver::new();
    driver.kernel("k", |_, _| Ok(()));
    let (_heaps, mut device) = two_ranks(&driver);
    let before = driver.allocations();
    let speed = device.copy_speed(1000).unwrap();
    assert_eq!(speed, Some(2.0 * 1000.0 * 1e9 / NANOSECONDS_A_LAUNCH as f64));
    assert_eq!(driver.allocations(), before, "nothing is left");
}

#[test]
fn a_fault_is_told_with_its_rank_where_that_is_known() {
    let driver = FakeDriver::new();
    driver.kernel("k", |_, _| Err(kernel_fault(Fault::IllegalAddress)));
    let (_heaps, mut device) = two_ranks(&driver);
    let both = [launch(0, vec![]), launch(1, vec![])];
    let mut told = |launches: &[Launch], how| match device.launch(launches, how, &[]) {
        Err(DeviceError::Fault { fault, rank, text }) => (fault, rank, text),
        other => panic!("{other:?}"),
    };
    let text = "FAULT (it did something)".to_owned();
    let expected = |rank| (Fault::IllegalAddress, rank, text.clone());
    assert_eq!(told(&both[1..], Interleaving::Sequential), expected(Some(Rank(1))));
    assert_eq!(told(&both[1..], at_once()), expected(Some(Rank(1))));
    assert_eq!(told(&both, at_once()), expected(None), "either could have done it");
    // What is not a kernel's doing stays the driver's refusal.
    driver.kernel("k", |_, _| Ok(()));
    driver.fail_next(DriverError { fault: None, ..kernel_fault(Fault::Other) });
    let refused = device.launch(&both, Interleaving::Sequential, &[]).unwrap_err();
    assert!(matches!(refused, DeviceError::Driver(_)), "{refused:?}");
}

#[test]
fn a_launch_record_is_cleared_before_a_launch_and_read_behind_it() {
    let driver = FakeDriver::new();
    let record = driver.global("rc_record", 24);
    driver.kernel("k", move |_, memory| {
        let record = memory.at(record, 24)?;
        assert_eq!(record, [0; 24], "what an earlier launch wrote is gone");
        for (word, value) in record.chunks_exact_mut(4).zip([1u32, 8, 256, 2, 4, 32]) {
            word.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    });
    let (_heaps, mut device) = two_ranks(&driver);
    let expected = LaunchRecord { tile_m: 8, tile_n: 256, group_size: 2, blocks: 4, threads: 32 };
    for _ in 0..2 {
        let launched = device.launch(&[launch(0, vec![])], Interleaving::Sequential, &[]).unwrap();
        assert_eq!(launched.outcome.ranks[0].record, Some(expected));
    }
    driver.kernel("k", |_, _| Ok(()));
    let launched = device.launch(&[launch(0, vec![])], Interleaving::Sequential, &[]).unwrap();
    assert_eq!(launched.outcome.ranks[0].record, None, "it wrote none");
}

#[test]
fn heaps_are_opened_once_and_again_where_they_changed() {
    let driver = FakeDriver::new();
    driver.kernel("k", |_, _| Ok(()));
    let (mut heaps, mut device) = two_ranks(&driver);
    let same = heaps.reserve(&[0, 0], 100).unwrap();
    device.import(Rank(0), &same[0], 50).unwrap();
    assert_eq!(driver.calls(), Vec::<String>::new());
    let larger = heaps.reserve(&[0, 0], 2 * GRANULE).unwrap();
    driver.calls();
    device.import(Rank(0), &larger[0], 50).unwrap();
    assert_eq!(driver.calls(), ["gpu 0: close", "gpu 0: open"]);
    let foreign = HeapHandle::GpuIpc { device: "hip".into(), handle: vec![0; 8], offset: 0 };
    for handle in [foreign, HeapHandle::Memfd(3)] {
        let refused = device.import(Rank(0), &handle, 50).unwrap_err();
        assert!(refused.to_string().starts_with("a cuda cannot open the heap"), "{refused}");
    }
}

#[test]
fn what_a_gpu_does_not_have_is_refused() {
    let driver = FakeDriver::new();
    driver.kernel("k", |_, _| Ok(()));
    let (_heaps, mut device) = two_ranks(&driver);
    device.unback(&[]).unwrap();
    assert!(device.unback(&[0..4096, 8192..12288]).is_err());
    let mut large = launch(0, vec![]);
    large.shared_bytes = 1001;
    let refused = device.launch(&[large.clone()], Interleaving::Sequential, &[]).unwrap_err();
    let expected = "needs 1001 bytes of block-shared memory, found 1000 on this GPU";
    assert_eq!(refused.to_string(), expected);
    large.shared_bytes = 1000;
    driver.calls();
    device.launch(&[large], Interleaving::Sequential, &[]).unwrap();
    assert_eq!(driver.calls()[0], "gpu 0: allow_shared 1000");
    let unknown = device.load(Rank(0), b"code", &["other".into()]).unwrap_err();
    assert!(unknown.to_string().contains("no kernel other"), "{unknown}");
}

#[test]
fn a_device_that_goes_unloads_every_module() {
    let driver = FakeDriver::new();
    driver.kernel("k", |_, _| Ok(()));
    let (_heaps, mut device) = two_ranks(&driver);
    device.load(Rank(0), b"other", &["k".into()]).unwrap();
    let unloads =
        |driver: &FakeDriver| driver.calls().iter().filter(|call| call.ends_with("unload")).count();
    assert_eq!(unloads(&driver), 1, "a rank has one object");
    drop(device);
    assert_eq!(unloads(&driver), 2);
}

#[test]
fn the_verifier_runs_on_the_first_gpu_and_reaches_the_others() {
    let driver = FakeDriver::new();
    for entry in Entry::ALL {
        driver.kernel(entry.name(), |_, _| Ok(()));
    }
    driver.kernel("rc_copy", |seen: &Seen, memory| {
        let bytes = seen.word(2) * 16;
        let from = memory.at(seen.word(1), bytes)?.to_vec();
        memory.at(seen.word(0), bytes)?.copy_from_slice(&from);
        Ok(())
    });
    let mut heaps = Heaps::new(driver.shared());
    heaps.reserve(&[1, 0, 1], 64).unwrap();
    driver.calls();
    let mut verifier = GpuVerifier::load(&mut heaps, &[1, 0, 1], b"verifier").unwrap();
    let loaded = ["gpu 1: reach 0", "gpu 1: load verifier"].map(str::to_owned);
    let functions = Entry::ALL.map(|entry| format!("gpu 1: function {}", entry.name()));
    assert_eq!(driver.calls(), [&loaded[..], &functions].concat());
    heaps.write(Rank(1), 0, b"sixteen bytes...").unwrap();
    let places = heaps.addresses(3).unwrap();
    driver.calls();
    verifier.copy(places[2], places[1], 16).unwrap();
    verifier.finish().unwrap();
    // Eight blocks on each of four multiprocessors.
    assert_eq!(
        driver.calls(),
        [format!("gpu 1: launch rc_copy 32x{THREADS}"), "gpu 1: finish".into()]
    );
    assert_eq!(driver.bytes(places[2], 16), b"sixteen bytes...");
    let scratch = verifier.allocate(0).unwrap();
    verifier.upload(scratch, &[5]).unwrap();
    verifier.clear(scratch, 1).unwrap();
    let mut byte = [7];
    verifier.download(scratch, &mut byte).unwrap();
    assert_eq!(byte, [0]);
    verifier.release(scratch);
    assert_eq!(driver.allocations(), 3, "the heaps alone");
}
