//! Messages as frames over any byte stream.
//!
//! A frame is `RC` + version + a zero byte, the length of what follows as 32 bits little endian,
//! and the message in postcard. Anything else is a protocol error, not a guess.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Version of the framing, in every frame.
pub const VERSION: u8 = 1;
const MAGIC: [u8; 4] = [b'R', b'C', VERSION, 0];
/// No message is longer, in bytes.
pub const LONGEST: u32 = 16 << 20;

/// Writes a frame.
///
/// # Errors
/// The stream's, or a message that is too long.
pub fn send<T: Serialize>(stream: &mut impl Write, message: &T) -> io::Result<()> {
    let body = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(body.len()).ok().filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    let mut frame = Vec::with_capacity(body.len() + 8);
    frame.extend(MAGIC);
    frame.extend(length.to_le_bytes());
    frame.extend(body);
    stream.write_all(&frame)
}

/// Reads a frame and waits for it.
///
/// # Errors
/// The stream's; `InvalidData` for anything that is no frame.
pub fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<T> {
    let mut head = [0; 8];
    stream.read_exact(&mut head)?;
    let length = frame_length(head).map_err(invalid)?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    postcard::from_bytes(&body).map_err(|error| invalid(error.to_string()))
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

fn frame_length(head: [u8; 8]) -> Result<usize, String> {
    let (magic, length) = head.split_at(4);
    let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
    match () {
        () if magic != MAGIC => Err(format!("not a frame: it begins with {magic:02x?}")),
        () if length > LONGEST => Err(format!("a frame of {length} bytes")),
        () => Ok(length as usize),
    }
}

/// Bytes that have come in so far, for a reader that must not wait.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
}

impl Inbox {
    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether a frame has begun and not ended.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next message, if it is complete.
    ///
    /// # Errors
    /// What came in is no frame, or no message.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        // Garbage is seen by its first bytes, even if it is shorter than a frame's head.
        let seen = self.bytes.len().min(4);
        if self.bytes[..seen] != MAGIC[..seen] {
            return Err(format!("not a frame: it begins with {:02x?}", &self.bytes[..seen]));
        }
        let Some(head) = self.bytes.first_chunk::<8>() else { return Ok(None) };
        let length = frame_length(*head)?;
        if self.bytes.len() < 8 + length {
            return Ok(None);
        }
        let message = postcard::from_bytes(&self.bytes[8..8 + length]);
        self.bytes.drain(..8 + length);
        message.map(Some).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Said {
        Ready,
        Failed(String),
    }

    #[test]
    fn frames_survive_being_cut_anywhere() {
        let mut bytes = Vec::new();
        send(&mut bytes, &Said::Ready).unwrap();
        send(&mut bytes, &Said::Failed("why".into())).unwrap();
        for cut in 0..bytes.len() {
            let mut inbox = Inbox::default();
            let mut got: Vec<Said> = Vec::new();
            for part in [&bytes[..cut], &bytes[cut..]] {
                inbox.push(part);
                while let Some(reply) = inbox.take().unwrap() {
                    got.push(reply);
                    if inbox.is_empty() {
                        break;
                    }
                }
            }
            assert_eq!(got, [Said::Ready, Said::Failed("why".into())], "cut at {cut}");
        }
    }

    #[test]
    fn garbage_is_seen_at_once() {
        for garbage in [&b"hello"[..], &b"R"[..], &[b'R', b'C', 9, 0][..]] {
            let mut inbox = Inbox::default();
            inbox.push(garbage);
            let taken = inbox.take::<Said>();
            assert_eq!(taken.is_err(), garbage != b"R", "{garbage:?}");
        }
        let mut inbox = Inbox::default();
        inbox.push(&[b'R', b'C', VERSION, 0, 0xff, 0xff, 0xff, 0xff]);
        assert!(inbox.take::<Said>().is_err(), "a frame of 4 GiB");
    }
}
