//! One child process: started, told things, listened to with a deadline, and ended.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command as Process, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use collectives::Rank;
use command_fds::{CommandFdExt as _, FdMapping};
use device::vendors::VENDORS;
use ipc::frames::{self, Inbox};
use ipc::{Board, Phase};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::PoolError;

/// First argument of a rank process.
pub const MARKER: &str = "rankcheck-rank-process";
/// Descriptor of the control board in a child.
pub const BOARD_FD: i32 = 3;
/// After one process is lost, how long the others may take to end by themselves.
const AFTERMATH: Duration = Duration::from_millis(300);
/// How long a process may take to answer "where are you?".
const ANSWER: Duration = Duration::from_millis(500);
/// At most this much of a process's output is shown.
const OUTPUT_SHOWN: u64 = 4096;

pub(crate) fn system(what: &str) -> impl Fn(std::io::Error) -> PoolError {
    move |error| PoolError::System { what: what.to_owned(), reason: error.to_string() }
}

/// How a process was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// By a signal.
    Signal(i32),
    /// It ended by itself, with this exit code.
    Exit(i32),
    /// It said something that is no message.
    Garbage(String),
    /// It did not answer in time.
    Deadline(Duration),
    /// The pool stopped it because another was lost.
    Stopped,
}

/// What is known about a lost process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Which process of the pool.
    pub process: usize,
    /// How it was lost.
    pub cause: Cause,
    /// What it was doing.
    pub phase: Phase,
    /// The thread that ran, and the instruction's offset in the object.
    pub running: Option<Running>,
    /// Faulting address, for memory faults.
    pub address: Option<u64>,
    /// The end of what it printed.
    pub output: String,
}

/// A kernel thread that was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running {
    /// The thread that ran.
    pub thread: simt::ThreadId,
    /// Offset of the instruction in the object, where it is in the object.
    pub site: Option<usize>,
}

impl From<ipc::RunningThread> for Running {
    fn from(running: ipc::RunningThread) -> Running {
        let ipc::RunningThread { rank, call, block, thread, site } = running;
        Running { thread: simt::ThreadId { rank: Rank(rank), call, block, thread }, site }
    }
}

/// What every child of a pool is started with.
#[derive(Debug)]
pub struct Spawn<'a> {
    /// Its place on the control board.
    pub number: usize,
    /// Its arguments behind the marker and the number.
    pub arguments: Vec<String>,
    /// Name and value of the variable that marks it and what it starts.
    pub mark: (&'static str, &'a str),
    /// Descriptors that it inherits, each under a number.
    pub descriptors: Vec<(BorrowedFd<'a>, i32)>,
    /// A program that it runs under.
    pub under: Option<&'a Path>,
}

/// A child of the pool.
#[derive(Debug)]
pub struct ChildProcess {
    number: usize,
    child: Child,
    pidfd: OwnedFd,
    stream: UnixStream,
    inbox: Inbox,
    output: File,
    /// Bytes of its output that were looked at.
    heard: u64,
}

impl ChildProcess {
    /// Starts this binary again, as a child.
    pub fn start(spawn: Spawn<'_>) -> Result<ChildProcess, PoolError> {
        let start = system("starting a rank process");
        let (ours, theirs) = UnixStream::pair().map_err(&start)?;
        ours.set_nonblocking(true).map_err(&start)?;
        let output = rustix::fs::memfd_create("output", rustix::fs::MemfdFlags::CLOEXEC)
            .map_err(|error| start(error.into()))?;
        let output = File::from(output);
        let mappings = spawn.descriptors.iter().map(|(fd, child_fd)| {
            let parent_fd = fd.try_clone_to_owned().map_err(&start)?;
            Ok(FdMapping { parent_fd, child_fd: *child_fd })
        });
        let mappings = mappings.collect::<Result<Vec<_>, PoolError>>()?;
        // Both ends of its output append to one file, which nobody can find by name.
        let mut command = match spawn.under {
            None => {
                let mut command = Process::new("/proc/self/exe");
                command.arg0("rankcheck");
                command
            }
            Some(program) => {
                let mut command = Process::new(program);
                command.arg(format!("/proc/{}/exe", std::process::id()));
                command
            }
        };
        command
            .arg(MARKER)
            .arg(spawn.number.to_string())
            .args(&spawn.arguments)
            .env("RUST_BACKTRACE", "0")
            .envs(VENDORS.iter().flat_map(|vendor| vendor.environment).copied())
            .env(spawn.mark.0, spawn.mark.1)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(output.try_clone().map_err(&start)?)
            .stderr(output.try_clone().map_err(&start)?);
        command.fd_mappings(mappings).map_err(|error| start(std::io::Error::other(error)))?;
        let child = command.spawn().map_err(&start)?;
        let pid = rustix::process::Pid::from_child(&child);
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| start(error.into()))?;
        let inbox = Inbox::default();
        let (number, heard) = (spawn.number, 0);
        Ok(ChildProcess { number, child, pidfd, stream: ours, inbox, output, heard })
    }

    /// Tells it something. A process that is gone is noticed by [`gather`].
    pub fn tell(&mut self, message: &impl Serialize) {
        let mut stream = &self.stream;
        let _ = frames::send(&mut stream, message);
    }

    /// What it said, or how it was lost; `None` for nothing yet.
    fn look<T: DeserializeOwned>(&mut self, board: &Board) -> Option<Result<T, Loss>> {
        let mut buffer = [0; 1 << 16];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => self.inbox.push(&buffer[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        if !self.inbox.is_empty() {
            match self.inbox.take() {
                Ok(Some(reply)) => return Some(Ok(reply)),
                Ok(None) => {}
                Err(reason) => return Some(Err(self.give_up(board, Cause::Garbage(reason)))),
            }
        }
        self.ended(board).map(Err)
    }

    /// How it has ended, if it has.
    pub fn ended(&mut self, board: &Board) -> Option<Loss> {
        let status = self.child.try_wait().ok().flatten()?;
        let phase = board.rank(self.number).phase();
        Some(self.loss(board, cause_of(status), phase))
    }

    /// Asks where it is, then kills it.
    fn give_up(&mut self, board: &Board, cause: Cause) -> Loss {
        let own = board.rank(self.number);
        // The question itself may wake the process up, so what it was doing is read first.
        let phase = own.phase();
        let answers = &own.fault.answers;
        let before = answers.load(Ordering::Acquire);
        if pidfd_send_signal(&self.pidfd, Signal::USR2).is_ok() {
            let deadline = Instant::now() + ANSWER;
            while answers.load(Ordering::Acquire) == before && Instant::now() < deadline {
                std::thread::yield_now();
            }
        }
        self.kill();
        self.reap();
        self.loss(board, cause, phase)
    }

    fn loss(&mut self, board: &Board, cause: Cause, phase: Phase) -> Loss {
        let fault = &board.rank(self.number).fault;
        let running = (fault.in_kernel.load(Ordering::Acquire) != 0 && phase == Phase::Launched)
            .then(|| Running::from(fault.running()));
        let signalled = fault.signal.load(Ordering::Acquire) != 0;
        let address = fault.address.load(Ordering::Acquire);
        Loss {
            process: self.number,
            phase,
            running,
            address: (signalled && matches!(cause, Cause::Signal(_))).then_some(address),
            cause,
            output: tail(&mut self.output),
        }
    }

    /// Ends it; [`ChildProcess::reap`] waits until it has ended.
    pub fn kill(&self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }

    /// Waits for its end.
    pub fn reap(&mut self) {
        let _ = self.child.wait();
    }

    /// What it has printed since this was last asked, at most 64 KiB of it.
    pub fn printed(&mut self) -> String {
        const MOST: u64 = 1 << 16;
        let mut text = Vec::new();
        if self.output.seek(SeekFrom::Start(self.heard)).is_ok() {
            let _ = (&self.output).take(MOST).read_to_end(&mut text);
        }
        self.heard = self.output.metadata().map_or(self.heard, |metadata| metadata.len());
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

/// Waits for one reply of each child, for at most `patience`. Once one is lost, the others are
/// given a moment, then stopped: their losses say so. `None` when the user wants to stop.
pub fn gather<T: DeserializeOwned>(
    children: &mut [&mut ChildProcess],
    board: &Board,
    interrupted: &AtomicBool,
    patience: Duration,
) -> Result<Option<Vec<Result<T, Loss>>>, PoolError> {
    let mut deadline = Instant::now() + patience;
    let mut results: Vec<Option<Result<T, Loss>>> = children.iter().map(|_| None).collect();
    loop {
        let open: Vec<usize> =
            (0..children.len()).filter(|index| results[*index].is_none()).collect();
        if open.is_empty() {
            return Ok(Some(results.into_iter().flatten().collect()));
        }
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let lost_before = results.iter().flatten().any(Result::is_err);
            for index in open {
                let cause = match lost_before {
                    true => Cause::Stopped,
                    false => Cause::Deadline(patience),
                };
                results[index] = Some(Err(children[index].give_up(board, cause)));
            }
            continue;
        }
        wait_readable(open.iter().map(|index| &*children[*index]), left)?;
        for index in open {
            if let Some(result) = children[index].look(board) {
                if result.is_err() {
                    deadline = deadline.min(Instant::now() + AFTERMATH);
                }
                results[index] = Some(result);
            }
        }
    }
}

/// Waits until one of the children says something or ends.
fn wait_readable<'a>(
    children: impl Iterator<Item = &'a ChildProcess>,
    left: Duration,
) -> Result<(), PoolError> {
    let mut fds = Vec::new();
    for child in children {
        fds.push(PollFd::new(&child.stream, PollFlags::IN));
        fds.push(PollFd::new(&child.pidfd, PollFlags::IN));
    }
    // Short enough that Ctrl-C, which may reach another thread, is noticed.
    let left = left.min(Duration::from_millis(100)) + Duration::from_micros(500);
    let timeout =
        Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(system("waiting for ranks")(error.into())),
    }
}

fn cause_of(status: ExitStatus) -> Cause {
    match status.signal() {
        Some(signal) => Cause::Signal(signal),
        None => Cause::Exit(status.code().unwrap_or(-1)),
    }
}

/// The end of what a process printed.
fn tail(output: &mut File) -> String {
    let length = output.metadata().map_or(0, |metadata| metadata.len());
    let mut text = Vec::new();
    let start = SeekFrom::Start(length.saturating_sub(OUTPUT_SHOWN));
    if output.seek(start).is_ok() {
        let _ = output.take(OUTPUT_SHOWN).read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}
