//! The way to the judge: find it, start it where nobody has, talk to it.

use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use guest_protocol::message::{Answer, Ask};
use guest_protocol::rendezvous::{self, Place};
use guest_protocol::wire::{Reader, send_with};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The judge's binary, where the library does not lie beside it.
const BINARY: &str = "RANKCHECK";
/// How long other ranks wait for the judge that rank 0 starts.
const START: Duration = Duration::from_secs(60);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a judge may take to write its reports once its last guest has gone.
const END: Duration = Duration::from_secs(10);

/// A conversation with the judge.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
    reader: Reader,
    /// The judge, where this process has started it.
    judge: Option<Child>,
    /// The process that opened it.
    process: u32,
}

impl Connection {
    /// Starts a judge for this process alone.
    pub(crate) fn alone(library: Option<&Path>) -> Result<Connection, String> {
        let (ours, theirs) = UnixStream::pair().map_err(|error| error.to_string())?;
        let judge = start(library, &["judge"], Stdio::from(OwnedFd::from(theirs)))?;
        Ok(Connection::new(ours, Some(judge)))
    }

    /// Meets the other ranks at their judge; rank 0 starts it where the launcher has not.
    pub(crate) fn together(library: Option<&Path>, place: &Place) -> Result<Connection, String> {
        let Place { rank, world, socket, started } = place;
        let judge = match *started || rank.0 > 0 {
            true => None,
            false => {
                let ranks = world.to_string();
                let arguments = ["judge", "--socket", socket, "--ranks", &ranks];
                Some(start(library, &arguments, Stdio::null())?)
            }
        };
        let deadline = Instant::now() + START;
        loop {
            match rendezvous::connect(socket) {
                Ok(stream) => return Ok(Connection::new(stream, judge)),
                Err(error) if Instant::now() > deadline => {
                    return Err(format!(
                        "rank {rank} found no judge within {} s: {error} (does rank 0 open rankcheck too?)",
                        START.as_secs()
                    ));
                }
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    fn new(stream: UnixStream, judge: Option<Child>) -> Connection {
        Connection { stream, reader: Reader::default(), judge, process: std::process::id() }
    }

    /// Whether this process opened it, rather than one that it was forked from.
    pub(crate) fn is_ours(&self) -> bool {
        std::process::id() == self.process
    }

    /// Says something that has no answer.
    pub(crate) fn tell(&mut self, ask: &Ask) -> Result<(), String> {
        if !self.is_ours() {
            return Err(
                "this process was forked after rankcheck_open: only its parent may ask".into()
            );
        }
        send_with(&self.stream, ask, &[]).map_err(|error| self.broken(&error))
    }

    /// Says something and waits for the answer; refusals and losses are errors.
    pub(crate) fn ask(&mut self, ask: &Ask) -> Result<Answer, String> {
        self.tell(ask)?;
        match self.reader.wait(&self.stream) {
            Ok(Answer::Refused(why)) => Err(why),
            Ok(Answer::Lost(why)) => Err(format!("the case is over: {why}")),
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.broken(&error)),
        }
    }

    /// The descriptors that came with the last answer.
    pub(crate) fn take_descriptors(&mut self) -> Vec<OwnedFd> {
        self.reader.take_descriptors()
    }

    fn broken(&mut self, error: &std::io::Error) -> String {
        let ended = self.judge.as_mut().and_then(|judge| judge.try_wait().ok().flatten());
        match ended {
            Some(status) => format!("the judge has ended ({status}): {error}"),
            None => format!("the judge does not answer: {error}"),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.is_ours() {
            return;
        }
        // It may have ended already.
        let _ = send_with(&self.stream, &Ask::Close, &[]);
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let Some(judge) = &mut self.judge else { return };
        let pid = rustix::process::Pid::from_child(judge);
        if let Ok(judge) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
            let timeout = Timespec { tv_sec: END.as_secs() as i64, tv_nsec: 0 };
            let _ =
                poll(&mut [PollFd::from_borrowed_fd(judge.as_fd(), PollFlags::IN)], Some(&timeout));
        }
        let _ = judge.try_wait();
    }
}

fn start(library: Option<&Path>, arguments: &[&str], stdin: Stdio) -> Result<Child, String> {
    let binary = binary(library);
    let mut command = Command::new(&binary);
    // A group of its own: Ctrl-C is for the program, and the judge ends when the program does.
    command.args(arguments).stdin(stdin).process_group(0);
    command.spawn().map_err(|error| {
        format!(
            "cannot start the judge `{}`: {error} (put `rankcheck` into PATH, or name it in {BINARY})",
            binary.display()
        )
    })
}

/// The judge's binary: named in the environment, beside the library, in `bin` beside the library's
/// folder, or in PATH.
fn binary(library: Option<&Path>) -> PathBuf {
    if let Some(binary) = std::env::var_os(BINARY).filter(|text| !text.is_empty()) {
        return binary.into();
    }
    let folder = library.and_then(Path::parent);
    let beside = folder.map(|folder| [folder.join("rankcheck"), folder.join("../bin/rankcheck")]);
    let found = beside.into_iter().flatten().find(|path| path.is_file());
    found.unwrap_or_else(|| "rankcheck".into())
}
