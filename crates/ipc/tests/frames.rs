//! Frames carry what was sent, however they are cut; anything else is an error, neither a panic nor
//! an allocation that the bytes do not account for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ipc::frames::{Inbox, LONGEST, VERSION, receive, send};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// Notes the largest allocation of each thread.
struct Noting;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; what is noted beside it lies in a
// constant thread-local that allocates nothing.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.with(|largest| largest.set(largest.get().max(layout.size())));
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer comes from `alloc`, which took it from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Noting = Noting;

/// The largest allocation in bytes while `work` runs on this thread.
fn largest(work: impl FnOnce()) -> usize {
    LARGEST.with(|largest| largest.set(0));
    work();
    LARGEST.with(Cell::get)
}

/// A message with everything that messages are made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Message {
    Unit,
    Text(String),
    Numbers { wide: u64, signed: i32, list: Vec<u64>, bytes: Vec<u8> },
    Nested(Vec<Option<Box<Message>>>),
}

fn message() -> impl Strategy<Value = Message> {
    let numbers = (any::<u64>(), any::<i32>(), any::<Vec<u64>>(), any::<Vec<u8>>());
    let leaf = prop_oneof![
        Just(Message::Unit),
        any::<String>().prop_map(Message::Text),
        numbers.prop_map(|(wide, signed, list, bytes)| {
            Message::Numbers { wide, signed, list, bytes }
        }),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let boxed = proptest::option::of(inner.prop_map(Box::new));
        proptest::collection::vec(boxed, 0..4).prop_map(Message::Nested)
    })
}

fn framed(messages: &[Message]) -> Vec<u8> {
    let mut bytes = Vec::new();
    messages.iter().for_each(|message| send(&mut bytes, message).expect("memory takes it"));
    bytes
}

/// All messages that are complete, and whether what is left is no frame.
fn taken(inbox: &mut Inbox) -> (Vec<Message>, bool) {
    let mut messages = Vec::new();
    loop {
        match inbox.take() {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return (messages, false),
            Err(_) => return (messages, true),
        }
    }
}

proptest! {
    #[test]
    fn messages_come_out_as_they_went_in_however_they_are_cut(
        messages in proptest::collection::vec(message(), 1..4),
        part in 1usize..40,
    ) {
        let bytes = framed(&messages);
        let mut stream = bytes.as_slice();
        for message in &messages {
            prop_assert_eq!(&receive::<Message>(&mut stream).expect("a frame"), message);
        }
        let (mut inbox, mut got) = (Inbox::default(), Vec::new());
        for part in bytes.chunks(part) {
            inbox.push(part);
            let (messages, garbage) = taken(&mut inbox);
            prop_assert!(!garbage);
            got.extend(messages);
        }
        prop_assert_eq!(got, messages);
        prop_assert!(inbox.is_empty());
    }

    #[test]
    fn a_frame_that_ends_early_is_an_error(message in message(), cut in any::<prop::sample::Index>()) {
        let bytes = framed(&[message]);
        let mut stream = &bytes[..cut.index(bytes.len())];
        prop_assert!(receive::<Message>(&mut stream).is_err());
    }

    #[test]
    fn a_body_that_is_no_message_is_an_error_or_another_message(
        body in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = vec![b'R', b'C', VERSION, 0];
        bytes.extend((body.len() as u32).to_le_bytes());
        bytes.extend(&body);
        let most = largest(|| {
            let _ = receive::<Message>(&mut bytes.as_slice());
            let mut inbox = Inbox::default();
            inbox.push(&bytes);
            let _ = taken(&mut inbox);
        });
        // Lists begin with a length that the body may lie about.
        prop_assert!(most <= 2 << 20, "{} bytes at once", most);
    }

    #[test]
    fn garbage_is_an_error(bytes in proptest::collection::vec(any::<u8>(), 8..100)) {
        prop_assume!(bytes[..4] != [b'R', b'C', VERSION, 0]);
        prop_assert!(receive::<Message>(&mut bytes.as_slice()).is_err());
        let mut inbox = Inbox::default();
        inbox.push(&bytes);
        prop_assert!(inbox.take::<Message>().is_err());
    }

    #[test]
    fn a_length_beyond_the_longest_is_refused_before_anything_is_allocated(
        length in LONGEST + 1..,
    ) {
        let mut bytes = vec![b'R', b'C', VERSION, 0];
        bytes.extend(length.to_le_bytes());
        let most = largest(|| {
            let error = receive::<Message>(&mut bytes.as_slice()).expect_err("it is too long");
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
            let mut inbox = Inbox::default();
            inbox.push(&bytes);
            assert!(inbox.take::<Message>().is_err());
        });
        prop_assert!(most < 1 << 12, "{} bytes at once", most);
    }
}

#[test]
fn a_message_beyond_the_longest_is_not_sent() {
    let mut stream = Vec::new();
    assert!(send(&mut stream, &vec![1u8; LONGEST as usize + 1]).is_err());
    assert!(stream.is_empty(), "nothing of it");
}
