//! A pool of rank processes with their heaps: started once, reused from case to case, renewed
//! after anything but a pass.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command as Process, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use collectives::rank::MAX_WORLD;
use command_fds::{CommandFdExt as _, FdMapping};
use device::HeapHandle;
use device::cpu::{Control, Phase, RankControl, SharedMemory};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::marked;
use crate::protocol::{self, Command, Inbox, Reply};

/// First argument of a rank process.
pub const MARKER: &str = "rankcheck-rank-process";
/// Environment variable that marks a pool's processes.
const MARK: &str = "RANKCHECK_POOL";
/// Descriptor of the control board in a rank process.
pub const CONTROL_FD: i32 = 3;
/// Descriptor of rank 0's heap in a rank process; the others follow.
const FIRST_HEAP_FD: i32 = 10;
/// How long a process may take to say hello.
const HELLO: Duration = Duration::from_secs(20);
/// After one process is lost, how long the others may take to end by themselves.
const AFTERMATH: Duration = Duration::from_millis(300);
/// How long a process may take to answer "where are you?".
const ANSWER: Duration = Duration::from_millis(500);
/// At most this much of a process's output is shown.
const OUTPUT_SHOWN: u64 = 4096;

/// A pool that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// The system refuses.
    #[error("{what}: {reason}")]
    System {
        /// What was tried.
        what: String,
        /// Why not.
        reason: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

fn system(what: &str) -> impl Fn(std::io::Error) -> PoolError {
    move |error| PoolError::System { what: what.to_owned(), reason: error.to_string() }
}

/// How a process was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// By a signal.
    Signal(i32),
    /// By itself.
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
    /// How.
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
    /// Who.
    pub thread: simt::ThreadId,
    /// Offset of the instruction in the object, where it is in the object.
    pub site: Option<usize>,
}

/// One rank process.
#[derive(Debug)]
struct RankProcess {
    child: Child,
    pidfd: OwnedFd,
    stream: UnixStream,
    inbox: Inbox,
    output: File,
}

/// Rank processes and their heaps.
#[derive(Debug)]
pub struct Pool {
    control: Control,
    heaps: Vec<SharedMemory>,
    processes: Vec<RankProcess>,
    /// Stands in the environment of the pool's processes, and of any that a kernel starts.
    mark: String,
    interrupted: &'static AtomicBool,
}

impl Pool {
    /// An empty pool; processes start when they are needed.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(interrupted: &'static AtomicBool) -> Result<Pool, PoolError> {
        let memory = |error: device::DeviceError| PoolError::System {
            what: "shared memory for ranks".into(),
            reason: error.to_string(),
        };
        let heaps = (0..MAX_WORLD)
            .map(|rank| SharedMemory::new(&format!("rankcheck-heap-{rank}"), 1))
            .collect::<Result<_, _>>()
            .map_err(memory)?;
        let control = Control::new().map_err(memory)?;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}.{number}", std::process::id());
        Ok(Pool { control, heaps, processes: Vec::new(), mark, interrupted })
    }

    /// Makes room for heaps of `bytes` on `ranks` ranks and sees that `processes` processes live.
    ///
    /// # Errors
    /// The system refuses, or a process does not say hello.
    pub fn reserve(&mut self, ranks: u32, bytes: u64, processes: usize) -> Result<(), PoolError> {
        let grows = self.heaps[..ranks as usize].iter().any(|heap| heap.len() < bytes);
        if grows {
            // Some room to spare, so that heaps need not be mapped again for every case.
            let bytes = bytes.next_power_of_two().min(bytes.next_multiple_of(64 << 20));
            for heap in &mut self.heaps[..ranks as usize] {
                heap.reserve(bytes).map_err(|error| PoolError::System {
                    what: format!("heaps of {bytes} bytes"),
                    reason: error.to_string(),
                })?;
            }
        }
        let first = self.processes.len();
        while self.processes.len() < processes {
            let process = self.start(self.processes.len())?;
            self.processes.push(process);
        }
        let started: Vec<usize> = (first..processes).collect();
        if started.is_empty() {
            return Ok(());
        }
        for (process, reply) in started.iter().zip(self.gather(&started, HELLO)?) {
            let wrong = match reply {
                Ok(Reply::Hello { version, .. }) if version == env!("CARGO_PKG_VERSION") => {
                    continue;
                }
                Ok(other) => format!("{other:?}"),
                Err(loss) => format!("{:?} {} {}", loss.cause, loss.phase.describe(), loss.output),
            };
            self.stop();
            return Err(PoolError::System {
                what: format!("rank process {process} did not say hello"),
                reason: wrong,
            });
        }
        Ok(())
    }

    fn start(&self, number: usize) -> Result<RankProcess, PoolError> {
        let start = system("starting a rank process");
        let (ours, theirs) = UnixStream::pair().map_err(&start)?;
        ours.set_nonblocking(true).map_err(&start)?;
        let output = rustix::fs::memfd_create("output", rustix::fs::MemfdFlags::CLOEXEC)
            .map_err(|error| start(error.into()))?;
        let output = File::from(output);
        let duplicate = |fd: std::os::fd::BorrowedFd<'_>| fd.try_clone_to_owned().map_err(&start);
        let mut mappings =
            vec![FdMapping { parent_fd: duplicate(self.control.fd())?, child_fd: CONTROL_FD }];
        for (heap, child_fd) in self.heaps.iter().zip(FIRST_HEAP_FD..) {
            mappings.push(FdMapping { parent_fd: duplicate(heap.fd())?, child_fd });
        }
        // Both ends of its output append to one file, which nobody can find by name.
        let mut command = Process::new("/proc/self/exe");
        command
            .arg0("rankcheck")
            .arg(MARKER)
            .arg(number.to_string())
            .env("RUST_BACKTRACE", "0")
            .env(MARK, &self.mark)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(output.try_clone().map_err(&start)?)
            .stderr(output.try_clone().map_err(&start)?);
        command.fd_mappings(mappings).map_err(|error| start(std::io::Error::other(error)))?;
        let child = command.spawn().map_err(&start)?;
        let pid = rustix::process::Pid::from_child(&child);
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| start(error.into()))?;
        Ok(RankProcess { child, pidfd, stream: ours, inbox: Inbox::default(), output })
    }

    /// How to open the first `ranks` heaps in a rank process.
    pub fn handles(&self, ranks: u32) -> Vec<HeapHandle> {
        (0..ranks as i32).map(|rank| HeapHandle::Memfd(FIRST_HEAP_FD + rank)).collect()
    }

    /// The first `bytes` of each heap, to fill. To be called while no rank runs.
    pub fn heaps_mut(&mut self, ranks: u32, bytes: u64) -> Vec<&mut [u8]> {
        let heaps = self.heaps[..ranks as usize].iter_mut();
        heaps.map(|heap| &mut heap.bytes_mut()[..bytes as usize]).collect()
    }

    /// The first `bytes` of each heap, to judge. To be called while no rank runs.
    pub fn heaps(&self, ranks: u32, bytes: u64) -> Vec<&[u8]> {
        self.heaps[..ranks as usize].iter().map(|heap| &heap.bytes()[..bytes as usize]).collect()
    }

    /// A process's part of the control board.
    pub fn board(&self, process: usize) -> &RankControl {
        self.control.rank(process)
    }

    /// How many times processes have met on the board, over all launches so far.
    pub fn met_so_far(&self) -> u32 {
        self.control.met_so_far()
    }

    /// Tells a process to do something. A process that is gone is noticed by [`Pool::gather`].
    pub fn tell(&mut self, process: usize, command: &Command) {
        let mut stream = &self.processes[process].stream;
        let _ = protocol::send(&mut stream, command);
    }

    /// Waits for one reply of each of `processes`, for at most `patience`. Once one is lost, the
    /// others are given a moment, then stopped: their losses say so.
    ///
    /// # Errors
    /// Ctrl-C, or the system refuses to wait.
    pub fn gather(
        &mut self,
        processes: &[usize],
        patience: Duration,
    ) -> Result<Vec<Result<Reply, Loss>>, PoolError> {
        let started = Instant::now();
        let mut deadline = started + patience;
        let mut results: Vec<Option<Result<Reply, Loss>>> = vec![None; processes.len()];
        loop {
            let open: Vec<usize> =
                (0..processes.len()).filter(|index| results[*index].is_none()).collect();
            if open.is_empty() {
                return Ok(results.into_iter().flatten().collect());
            }
            if self.interrupted.load(Ordering::Relaxed) {
                self.stop();
                return Err(PoolError::Interrupted);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let lost_before = results.iter().flatten().any(Result::is_err);
                for index in open {
                    let cause = match lost_before {
                        true => Cause::Stopped,
                        false => Cause::Deadline(patience),
                    };
                    results[index] = Some(Err(self.give_up(processes[index], cause)));
                }
                continue;
            }
            let numbers: Vec<usize> = open.iter().map(|index| processes[*index]).collect();
            self.wait_readable(&numbers, left)?;
            for index in open {
                if let Some(result) = self.look(processes[index]) {
                    if result.is_err() {
                        deadline = deadline.min(Instant::now() + AFTERMATH);
                    }
                    results[index] = Some(result);
                }
            }
        }
    }

    /// Waits until one of the processes says something or ends.
    fn wait_readable(&self, processes: &[usize], left: Duration) -> Result<(), PoolError> {
        let mut fds = Vec::new();
        for process in processes {
            let process = &self.processes[*process];
            fds.push(PollFd::new(&process.stream, PollFlags::IN));
            fds.push(PollFd::new(&process.pidfd, PollFlags::IN));
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

    /// What a process said, or how it was lost; `None` for nothing yet.
    fn look(&mut self, number: usize) -> Option<Result<Reply, Loss>> {
        let process = &mut self.processes[number];
        let mut buffer = [0; 1 << 16];
        loop {
            match process.stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => process.inbox.push(&buffer[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        if !process.inbox.is_empty() {
            match process.inbox.take() {
                Ok(Some(reply)) => return Some(Ok(reply)),
                Ok(None) => {}
                Err(reason) => return Some(Err(self.give_up(number, Cause::Garbage(reason)))),
            }
        }
        let status = process.child.try_wait().ok().flatten()?;
        let phase = self.control.rank(number).phase();
        Some(Err(self.loss(number, cause_of(status), phase)))
    }

    /// Asks where a process is, then kills it.
    fn give_up(&mut self, number: usize, cause: Cause) -> Loss {
        let process = &self.processes[number];
        // The question itself may wake the process up, so what it was doing is read first.
        let phase = self.control.rank(number).phase();
        let answers = &self.control.rank(number).fault.answers;
        let before = answers.load(Ordering::Acquire);
        if pidfd_send_signal(&process.pidfd, Signal::USR2).is_ok() {
            let deadline = Instant::now() + ANSWER;
            while answers.load(Ordering::Acquire) == before && Instant::now() < deadline {
                std::thread::yield_now();
            }
        }
        let _ = pidfd_send_signal(&process.pidfd, Signal::KILL);
        let _ = self.processes[number].child.wait();
        self.loss(number, cause, phase)
    }

    fn loss(&mut self, number: usize, cause: Cause, phase: Phase) -> Loss {
        let fault = &self.control.rank(number).fault;
        let running = (fault.in_kernel.load(Ordering::Acquire) != 0 && phase == Phase::Launched)
            .then(|| fault.running());
        let running = running.map(|(thread, site)| Running { thread, site });
        let signalled = fault.signal.load(Ordering::Acquire) != 0;
        let address = fault.address.load(Ordering::Acquire);
        Loss {
            process: number,
            phase,
            running,
            address: (signalled && matches!(cause, Cause::Signal(_))).then_some(address),
            cause,
            output: tail(&mut self.processes[number].output),
        }
    }

    /// Ends all processes. Heaps stay.
    pub fn stop(&mut self) {
        for process in &self.processes {
            let _ = pidfd_send_signal(&process.pidfd, Signal::KILL);
        }
        let started = !self.processes.is_empty();
        for mut process in self.processes.drain(..) {
            let _ = process.child.wait();
        }
        if started {
            marked::kill(MARK, &self.mark);
        }
        for number in 0..MAX_WORLD as usize {
            self.control.rank(number).reset();
        }
    }

    /// Ends all processes and gives the heaps' memory back to the system.
    ///
    /// # Errors
    /// The system has no memory for an empty pool.
    pub fn renew(&mut self) -> Result<(), PoolError> {
        self.stop();
        *self = Pool::new(self.interrupted)?;
        Ok(())
    }

    /// Bytes that the heaps hold.
    pub fn held_bytes(&self) -> u64 {
        self.heaps.iter().map(SharedMemory::len).sum()
    }

    /// Process ids, for tests that kill one.
    pub fn process_ids(&self) -> Vec<u32> {
        self.processes.iter().map(|process| process.child.id()).collect()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop();
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
