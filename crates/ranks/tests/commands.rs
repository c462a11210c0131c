//! What parent and rank say to each other comes out as it went in, and no bytes make either of them
//! panic.

use collectives::Rank;
use device::{Borders, Caches, Fault, Interleave, Interleaving, Launch, WatchedByte};
use ipc::HeapHandle;
use ipc::frames::{Inbox, receive, send};
use kernels::Argument;
use proptest::collection::vec;
use proptest::prelude::*;
use ranks::command::{Command, Reply, Start};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn rank() -> impl Strategy<Value = Rank> {
    any::<u32>().prop_map(Rank)
}

fn handle() -> impl Strategy<Value = HeapHandle> {
    prop_oneof![
        any::<i32>().prop_map(HeapHandle::Memfd),
        any::<(String, Vec<u8>, u64)>().prop_map(|(device, handle, offset)| HeapHandle::GpuIpc {
            device,
            handle,
            offset
        }),
        any::<u64>().prop_map(|address| HeapHandle::Host { address }),
    ]
}

fn argument() -> impl Strategy<Value = Argument> {
    let leaf = prop_oneof![
        any::<Vec<u8>>().prop_map(Argument::Scalar),
        Just(Argument::Null),
        (rank(), any::<u64>()).prop_map(|(rank, offset)| Argument::Heap(rank, offset)),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        (vec(inner, 0..4), any::<bool>())
            .prop_map(|(fields, by_value)| Argument::Struct { fields, by_value })
    })
}

fn launch() -> impl Strategy<Value = Launch> {
    let numbers = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    (rank(), numbers, vec(argument(), 0..5)).prop_map(|(rank, numbers, arguments)| {
        let (call, entry, grid, threads, shared_bytes) = numbers;
        Launch { rank, call, entry, grid, threads, shared_bytes, arguments }
    })
}

fn interleaving() -> impl Strategy<Value = Interleaving> {
    let ranges = vec(any::<std::ops::Range<u64>>(), 0..3);
    let borders = (any::<u32>(), any::<u64>(), ranges, vec(rank(), 0..3)).prop_map(
        |(calls, part_bytes, touched, idle)| Borders { calls, part_bytes, touched, idle },
    );
    let at_once = (proptest::option::of(borders), any::<u64>(), any::<[bool; 2]>()).prop_map(
        |(borders, seed, [race, weak])| {
            let (resident_blocks, plan) = (4, Interleave::Seed);
            Interleaving::CoResident { borders, resident_blocks, seed, plan, race, weak }
        },
    );
    prop_oneof![Just(Interleaving::Sequential), at_once]
}

fn command() -> impl Strategy<Value = Command> {
    let prepare = (
        (vec(rank(), 0..9), any::<bool>(), vec(handle(), 0..9), any::<u64>()),
        (vec(any::<std::ops::Range<u64>>(), 0..3), any::<String>(), any::<Vec<String>>()),
    );
    let start = (any::<u32>(), any::<u32>())
        .prop_map(|(ready_at, inside_at)| Start { ready_at, inside_at });
    let byte = (rank(), any::<u64>(), any::<u32>()).prop_map(|(rank, offset, call)| WatchedByte {
        rank,
        offset,
        call,
    });
    let caches = prop_oneof![Just(Caches::Cold), Just(Caches::Warm)];
    let how = (proptest::option::of(start), proptest::option::of(caches));
    let launch = (vec(launch(), 0..4), how, vec(byte, 0..4));
    prop_oneof![
        prepare.prop_map(|((hosted, alone, heaps, heap_bytes), (gaps, object, symbols))| {
            Command::Prepare { hosted, alone, heaps, heap_bytes, gaps, object, symbols }
        }),
        (launch, interleaving()).prop_map(|((launches, (start, timed), watched), interleaving)| {
            Command::Launch { launches, interleaving, start, watched, timed }
        }),
        any::<u64>().prop_map(|bytes| Command::Copy { bytes }),
        Just(Command::Judged),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let fault = prop_oneof![
        Just(Fault::IllegalAddress),
        Just(Fault::MisalignedAddress),
        Just(Fault::Other)
    ];
    prop_oneof![
        (any::<u64>(), any::<u32>(), any::<String>())
            .prop_map(|(protocol, process, host)| Reply::Hello { protocol, process, host }),
        Just(Reply::Prepared),
        proptest::option::of(-1e9..1e12).prop_map(Reply::Copied),
        any::<(String, String)>().prop_map(|(needed, found)| Reply::DoesNotFit { needed, found }),
        (fault, proptest::option::of(rank()), any::<String>())
            .prop_map(|(fault, rank, text)| Reply::Faulted { fault, rank, text }),
        any::<String>().prop_map(Reply::Failed),
    ]
}

/// What comes out of a message's own frame, and of all its beginnings: nothing, and no error.
fn sent_and_received<T: Serialize + DeserializeOwned>(message: &T) -> T {
    let mut bytes = Vec::new();
    send(&mut bytes, message).expect("memory takes it");
    for end in 0..bytes.len() {
        let mut inbox = Inbox::default();
        inbox.push(&bytes[..end]);
        assert!(matches!(inbox.take::<T>(), Ok(None)), "{end} of {} bytes", bytes.len());
    }
    receive(&mut bytes.as_slice()).expect("a whole frame")
}

/// A frame with any body, which may be no message.
fn body(bytes: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    send(&mut frame, &()).expect("memory takes it");
    frame.truncate(4);
    frame.extend((bytes.len() as u32).to_le_bytes());
    frame.extend(bytes);
    frame
}

proptest! {
    #[test]
    fn a_command_comes_out_as_it_went_in(command in command()) {
        prop_assert_eq!(sent_and_received(&command), command);
    }

    #[test]
    fn a_reply_comes_out_as_it_went_in(reply in reply()) {
        prop_assert_eq!(sent_and_received(&reply), reply);
    }

    /// Of a body cut short something is missing, so it is no message.
    #[test]
    fn a_body_without_its_end_is_an_error(command in command(), cut in any::<prop::sample::Index>()) {
        let mut bytes = Vec::new();
        send(&mut bytes, &command).expect("memory takes it");
        let short = body(&bytes[8..8 + cut.index(bytes.len() - 8)]);
        prop_assert!(receive::<Command>(&mut short.as_slice()).is_err());
    }

    #[test]
    fn no_body_makes_parent_or_rank_panic(bytes in vec(any::<u8>(), 0..300)) {
        let frame = body(&bytes);
        // Some bodies are messages: then that message has a frame of its own.
        if let Ok(command) = receive::<Command>(&mut frame.as_slice()) {
            prop_assert_eq!(sent_and_received(&command), command);
        }
        if let Ok(reply) = receive::<Reply>(&mut frame.as_slice()) {
            prop_assert_eq!(sent_and_received(&reply), reply);
        }
    }
}
