//! What guest and judge say to each other arrives as it was said, however the stream cuts it; what is
//! no message is an error and never a panic.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use collectives::{Rank, Tile};
use guest_protocol::message::{
    Answer, Ask, AttachedHeap, Form, Hello, HostLaunch, PROTOCOL, Program, Step,
};
use guest_protocol::wire::Reader;
use ipc::HeapHandle;
use ipc::frames::send;
use proptest::prelude::*;

fn heap() -> impl Strategy<Value = AttachedHeap> {
    let handle = prop_oneof![
        any::<i32>().prop_map(HeapHandle::Memfd),
        any::<u64>().prop_map(|address| HeapHandle::Host { address }),
    ];
    (any::<u32>(), handle, any::<u64>(), any::<Vec<u64>>()).prop_map(
        |(rank, handle, bytes, peers)| AttachedHeap { rank: Rank(rank), handle, bytes, peers },
    )
}

fn launch() -> impl Strategy<Value = HostLaunch> {
    let tile = any::<Option<(u64, u64)>>().prop_map(|tile| tile.map(|(m, n)| Tile { m, n }));
    let numbers = (any::<Option<u32>>(), any::<Option<u32>>(), any::<Option<u32>>());
    (any::<Option<String>>(), tile, numbers).prop_map(|(entry, tile, numbers)| {
        let (blocks, threads, group_size) = numbers;
        HostLaunch { entry, tile, blocks, threads, group_size }
    })
}

fn ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        (any::<String>(), any::<Option<u32>>()).prop_map(|(version, rank)| {
            Ask::Hello(Hello { protocol: PROTOCOL, version, rank: rank.map(Rank) })
        }),
        any::<Vec<String>>().prop_map(Ask::List),
        any::<(String, String, String)>().prop_map(|(name, path, replay)| {
            Ask::Open { name, program: Program { path, replay } }
        }),
        prop::collection::vec(heap(), 0..4).prop_map(Ask::Attach),
        any::<(usize, usize)>().prop_map(|(order, call)| Ask::Filled(Step { order, call })),
        (any::<u32>(), launch()).prop_map(|(rank, launch)| Ask::Launched(Rank(rank), launch)),
        Just(Ask::Returned),
        Just(Ask::HandedOver),
        Just(Ask::Text(Form::Json)),
        Just(Ask::Close),
    ]
}

/// Everything that a judge hears from a guest that writes these bytes and leaves.
fn heard(bytes: &[u8], cut: usize) -> Result<Vec<Ask>, String> {
    let (judge, mut guest) = UnixStream::pair().expect("a pair of sockets");
    let mut reader = Reader::default();
    let mut all = Vec::new();
    let (first, rest) = bytes.split_at(cut.min(bytes.len()));
    for part in [first, rest] {
        guest.write_all(part).expect("a socket takes a few kilobytes");
        if !part.is_empty() {
            reader.read(&judge).expect("there is something to read");
        }
        while let Some(ask) = reader.take()? {
            all.push(ask);
        }
    }
    Ok(all)
}

fn framed(asks: &[Ask]) -> Vec<u8> {
    let mut bytes = Vec::new();
    asks.iter().for_each(|ask| send(&mut bytes, ask).expect("a vector takes everything"));
    bytes
}

proptest! {
    #[test]
    fn what_is_said_is_heard(asks in prop::collection::vec(ask(), 1..4), cut in 0_usize..600) {
        prop_assert_eq!(heard(&framed(&asks), cut).unwrap(), asks);
    }

    #[test]
    fn a_changed_byte_is_an_error_or_another_message(
        ask in ask(),
        at in any::<prop::sample::Index>(),
        change in 1_u8..,
    ) {
        let mut bytes = framed(std::slice::from_ref(&ask));
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        // Either is right, as long as it is not taken for what was said.
        if let Ok(heard) = heard(&bytes, 0) {
            prop_assert_ne!(heard, vec![ask]);
        }
    }

    #[test]
    fn noise_is_never_an_answer_that_ends_a_case(bytes in prop::collection::vec(any::<u8>(), 1..200)) {
        let (judge, mut guest) = UnixStream::pair().unwrap();
        guest.write_all(&bytes).unwrap();
        let mut reader = Reader::default();
        reader.read(&judge).unwrap();
        // The version in front of every frame makes noise an error in nearly all draws; a frame whose
        // length has not come is waited for.
        let taken: Result<Option<Answer>, String> = reader.take();
        let judged = matches!(taken, Ok(Some(Answer::Judged { right: true })));
        prop_assert!(!judged, "{:?}", bytes);
    }
}
