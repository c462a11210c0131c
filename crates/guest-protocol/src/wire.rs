//! Frames over a Unix socket, with file descriptors beside them.

use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use collectives::rank::MAX_WORLD;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use ipc::frames::{Inbox, send};

/// No message brings more descriptors: one heap a rank.
const MOST: usize = MAX_WORLD as usize;

/// Writes a message, and with its first byte the descriptors.
///
/// # Errors
/// The socket's.
pub fn send_with(
    mut stream: &UnixStream,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    if descriptors.is_empty() {
        return send(&mut stream, message);
    }
    let mut frame = Vec::new();
    send(&mut frame, message)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("more descriptors than ranks"));
    }
    let sent = sendmsg(stream, &[IoSlice::new(&frame)], &mut beside, SendFlags::NOSIGNAL)?;
    stream.write_all(&frame[sent..])
}

/// One end of a conversation: what came in and is not a whole message yet.
#[derive(Debug, Default)]
pub struct Reader {
    inbox: Inbox,
    descriptors: Vec<OwnedFd>,
}

impl Reader {
    /// Reads what is there, and waits for the first of it; false at the end of the stream.
    ///
    /// # Errors
    /// The socket's; `WouldBlock` after its read timeout.
    pub fn read(&mut self, stream: &UnixStream) -> io::Result<bool> {
        let mut bytes = [0; 1 << 16];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = loop {
            match recvmsg(stream, &mut [IoSliceMut::new(&mut bytes)], &mut beside, flags) {
                Err(rustix::io::Errno::INTR) => {}
                result => break result?,
            }
        };
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        self.inbox.push(&bytes[..received.bytes]);
        Ok(received.bytes > 0)
    }

    /// The next message, if it is complete.
    ///
    /// # Errors
    /// What came in is no message.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        if self.inbox.is_empty() { Ok(None) } else { self.inbox.take() }
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// The socket's; `UnexpectedEof` where the other end has closed it.
    pub fn wait<T: DeserializeOwned>(&mut self, stream: &UnixStream) -> io::Result<T> {
        loop {
            let taken = self.take();
            if let Some(message) =
                taken.map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))?
            {
                return Ok(message);
            }
            if !self.read(stream)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// The descriptors that have come so far.
    pub fn take_descriptors(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.descriptors)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;
    use crate::message::{Answer, Ask};

    #[test]
    fn descriptors_come_with_their_message() {
        let (judge, guest) = UnixStream::pair().unwrap();
        let memory = ipc::SharedMemory::new("test", 4096).unwrap();
        send_with(&judge, &Answer::Go, &[memory.fd(), judge.as_fd()]).unwrap();
        send_with(&judge, &Answer::Judged { right: true }, &[]).unwrap();
        let mut reader = Reader::default();
        assert_eq!(reader.wait::<Answer>(&guest).unwrap(), Answer::Go);
        assert_eq!(reader.take_descriptors().len(), 2);
        assert_eq!(reader.wait::<Answer>(&guest).unwrap(), Answer::Judged { right: true });
        drop(judge);
        let end = reader.wait::<Answer>(&guest).unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_long_message_is_sent_whole() {
        let (judge, guest) = UnixStream::pair().unwrap();
        let text = "x".repeat(3 << 20);
        let sent = Ask::List(vec![text]);
        std::thread::scope(|scope| {
            let memory = ipc::SharedMemory::new("test", 1).unwrap();
            let (judge, sent) = (&judge, &sent);
            scope.spawn(move || send_with(judge, sent, &[memory.fd()]).unwrap());
            assert_eq!(Reader::default().wait::<Ask>(&guest).unwrap(), *sent);
        });
    }
}
