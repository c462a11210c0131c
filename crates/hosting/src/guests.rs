//! The processes of a session: who has come, what they said, what they wait for, and who is gone.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use collectives::Rank;
use guest_protocol::message::{Answer, Ask, Hello, PROTOCOL};
use guest_protocol::wire::{Reader, send_with};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, pidfd_open};

/// How long a guest may take to say hello, and to open its first case: programs import a lot.
pub const HELLO: Duration = Duration::from_secs(120);
/// A guest that does not read its answers for so long is lost.
const ANSWER: Duration = Duration::from_secs(10);

/// One guest.
#[derive(Debug)]
struct Guest {
    stream: UnixStream,
    reader: Reader,
    /// Readable when its process has ended, also where what it started keeps the socket open.
    process: Option<OwnedFd>,
    hello: Option<Hello>,
    /// What it waits for, together with the others.
    pending: Option<Ask>,
    /// When it was last answered.
    since: Instant,
    gone: bool,
}

impl Guest {
    fn rank(&self) -> Option<Rank> {
        self.hello.as_ref().and_then(|hello| hello.rank)
    }
}

/// All guests of a session, numbered in the order in which they came.
#[derive(Debug)]
pub(crate) struct Guests {
    all: Vec<Guest>,
    /// How many guests there must be.
    expected: usize,
    started: Instant,
}

impl Guests {
    pub(crate) fn new(expected: usize) -> Guests {
        Guests { all: Vec::new(), expected, started: Instant::now() }
    }

    /// A guest has come.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn welcome(&mut self, stream: UnixStream) -> std::io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(ANSWER))?;
        let peer = rustix::net::sockopt::socket_peercred(&stream)?;
        // Names of sockets can be guessed by others on this machine.
        if peer.uid != rustix::process::getuid() {
            return Ok(());
        }
        let process = pidfd_open(peer.pid, PidfdFlags::empty()).ok();
        self.all.push(Guest {
            stream,
            reader: Reader::default(),
            process,
            hello: None,
            pending: None,
            since: Instant::now(),
            gone: false,
        });
        Ok(())
    }

    /// Waits for at most `wait`; the guests that have said something. Guests whose process has ended
    /// are gone afterwards, and who knocked is let in. `more` ends the wait too.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub(crate) fn wait(
        &mut self,
        listener: Option<&UnixListener>,
        more: &[BorrowedFd<'_>],
        wait: Duration,
    ) -> std::io::Result<Vec<usize>> {
        let present = self.present();
        let mut descriptors = Vec::new();
        for guest in &present {
            let Guest { stream, process, .. } = &self.all[*guest];
            descriptors.push(PollFd::new(stream, PollFlags::IN));
            let process = process.as_ref().map_or(stream.as_fd(), |process| process.as_fd());
            descriptors.push(PollFd::from_borrowed_fd(process, PollFlags::IN));
        }
        descriptors.extend(more.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        descriptors.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        let timeout =
            Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
        match poll(&mut descriptors, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = descriptors.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(descriptors);
        let mut readable = Vec::new();
        for (guest, ready) in present.iter().zip(ready.chunks(2)) {
            match ready {
                [true, _] => readable.push(*guest),
                [false, true] => self.leave(*guest),
                _ => {}
            }
        }
        if let (Some(listener), Some(true)) = (listener, ready.last()) {
            self.welcome(listener.accept()?.0)?;
        }
        Ok(readable)
    }

    /// Reads what a guest has said; a guest that closed its connection is gone, which is `false`.
    pub(crate) fn read(&mut self, number: usize) -> bool {
        let guest = &mut self.all[number];
        let open = matches!(guest.reader.read(&guest.stream), Ok(true));
        guest.gone |= !open;
        open
    }

    /// The next whole message of a guest.
    ///
    /// # Errors
    /// Bytes that are no message; the guest is gone then.
    pub(crate) fn take(&mut self, number: usize) -> Result<Option<Ask>, String> {
        let guest = &mut self.all[number];
        guest.reader.take().map_err(|why| {
            guest.gone = true;
            format!("said something that is no message: {why}")
        })
    }

    /// Answers a guest, which is gone if it does not listen.
    pub(crate) fn answer(&mut self, number: usize, answer: &Answer, heaps: &[BorrowedFd<'_>]) {
        let guest = &mut self.all[number];
        guest.since = Instant::now();
        if !guest.gone && send_with(&guest.stream, answer, heaps).is_err() {
            guest.gone = true;
        }
    }

    /// Takes a guest's hello, or says why it cannot take part.
    pub(crate) fn greet(&mut self, number: usize, hello: Hello) -> Answer {
        let answer = self.check(&hello);
        self.all[number].hello = Some(hello);
        answer
    }

    fn check(&self, hello: &Hello) -> Answer {
        let ours = env!("CARGO_PKG_VERSION");
        if hello.protocol != PROTOCOL {
            let theirs = &hello.version;
            return Answer::Refused(format!(
                "the library is rankcheck {theirs} (protocol {:016x}), the judge {ours} ({PROTOCOL:016x}): \
                 they must be of one build",
                hello.protocol
            ));
        }
        let mut known = self.all.iter().filter_map(Guest::rank);
        match hello.rank {
            Some(rank) if rank.index() >= self.expected => Answer::Refused(format!(
                "rank {rank} among {} ranks (what do RANK and WORLD_SIZE say?)",
                self.expected
            )),
            Some(rank) if known.any(|other| other == rank) => {
                Answer::Refused(format!("another process is rank {rank} already"))
            }
            _ => Answer::Welcome,
        }
    }

    /// Keeps what a guest waits for until all have said the same.
    pub(crate) fn keep(&mut self, number: usize, ask: Ask) {
        self.all[number].pending = Some(ask);
    }

    /// Takes what a guest waits for.
    pub(crate) fn pending(&mut self, number: usize) -> Option<Ask> {
        self.all[number].pending.take()
    }

    /// Nobody waits for this guest any more.
    pub(crate) fn leave(&mut self, number: usize) {
        self.all[number].gone = true;
    }

    /// The rank that a guest said it is; `None` for a program that has all ranks, or said nothing.
    pub(crate) fn rank(&self, number: usize) -> Option<Rank> {
        self.all[number].rank()
    }

    /// How many guests have come, gone ones included.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// How many guests there must be.
    pub(crate) fn expected(&self) -> usize {
        self.expected
    }

    /// The numbers of the guests that are there.
    pub(crate) fn present(&self) -> Vec<usize> {
        (0..self.all.len()).filter(|number| !self.all[*number].gone).collect()
    }

    /// The ranks of the guests that are gone.
    pub(crate) fn gone(&self) -> Vec<Option<Rank>> {
        self.all.iter().filter(|guest| guest.gone).map(Guest::rank).collect()
    }

    /// Whether everybody who must be there is, and waits for the others.
    pub(crate) fn all_wait(&self) -> bool {
        self.all.len() == self.expected
            && !self.all.is_empty()
            && self.all.iter().all(|guest| !guest.gone && guest.pending.is_some())
    }

    /// Guests that have been busy for longer than `patience`.
    pub(crate) fn late(&self, patience: Duration) -> Vec<usize> {
        let late = |guest: &Guest| guest.pending.is_none() && guest.since.elapsed() > patience;
        self.present().into_iter().filter(|number| late(&self.all[*number])).collect()
    }

    /// Whether nobody will ask anything more.
    pub(crate) fn are_over(&self) -> bool {
        let late = self.started.elapsed() > HELLO;
        let nobody_is_left = !self.all.is_empty() && self.all.iter().all(|guest| guest.gone);
        (late && self.all.is_empty())
            || (nobody_is_left && (late || self.all.len() >= self.expected))
    }
}
