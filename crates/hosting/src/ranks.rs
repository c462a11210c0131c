//! Ranks of any program, started as a launcher does, supervised, and ended with all they started.

use std::fs::File;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use collectives::{FindingKind, Rank};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::session::Absence;
use guest_protocol::rendezvous::JUDGE;
use ranks::orphans;

/// First argument of the process that becomes a rank's program.
pub const MARKER: &str = "rankcheck-exec-rank";
/// Marks everything that a start of ranks has started.
const MARK: &str = "RANKCHECK_EXEC";
/// A process that has closed its connection may take so long to end.
const END: Duration = Duration::from_secs(2);
/// A program that answers SIGUSR2 (the Python package does, with its stack) may take so long.
const STACK: Duration = Duration::from_millis(500);
/// At most so many lines of a rank's output are shown in a finding.
const LINES: usize = 12;
/// At most this much of a rank's output is read.
const OUTPUT: u64 = 1 << 20;

/// If this process was started to become a rank of a user's program, becomes it and never returns.
/// The parent's death is a rank's death, also if the parent is killed.
pub fn exec_main() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != MARKER) {
        return;
    }
    let parent = arguments.next().and_then(|text| text.to_str()?.parse().ok());
    let program = arguments.next().unwrap_or_default();
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    if rustix::process::getppid().map(Pid::as_raw_nonzero).map(|pid| pid.get()) != parent {
        std::process::exit(70);
    }
    let error = Command::new(&program).args(arguments).exec();
    eprintln!("cannot start {}: {error}", program.display());
    std::process::exit(127);
}

/// What ranks are started with.
#[derive(Debug, Clone)]
pub struct Program {
    /// Program and arguments.
    pub command: Vec<String>,
    /// How many ranks.
    pub world: u32,
    /// The judge's socket.
    pub socket: String,
    /// Where each rank's output is kept, besides in findings.
    pub output: Option<PathBuf>,
}

#[derive(Debug)]
struct RankProcess {
    child: Child,
    pidfd: OwnedFd,
    output: File,
    ended: Option<ExitStatus>,
}

/// Ranks that run.
#[derive(Debug)]
pub struct Ranks {
    processes: Vec<RankProcess>,
    mark: String,
}

impl Ranks {
    /// Starts every rank, with the variables that launchers set.
    ///
    /// # Errors
    /// The system refuses.
    pub fn start(program: &Program, generation: usize) -> std::io::Result<Ranks> {
        let mark = format!("{}.{generation}", std::process::id());
        // A port that is free now; the program binds it, not we.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut ranks = Ranks { processes: Vec::new(), mark };
        for rank in 0..program.world {
            let output = match &program.output {
                Some(folder) => File::options()
                    .create(true)
                    .append(true)
                    .read(true)
                    .open(folder.join(format!("rank{rank}.txt")))?,
                None => {
                    File::from(rustix::fs::memfd_create("output", rustix::fs::MemfdFlags::CLOEXEC)?)
                }
            };
            let child = Command::new("/proc/self/exe")
                .arg0("rankcheck")
                .args([MARKER.to_owned(), std::process::id().to_string()])
                .args(&program.command)
                .env(JUDGE, &program.socket)
                .env(MARK, &ranks.mark)
                .env("RANK", rank.to_string())
                .env("LOCAL_RANK", rank.to_string())
                .env("WORLD_SIZE", program.world.to_string())
                .env("LOCAL_WORLD_SIZE", program.world.to_string())
                .env("MASTER_ADDR", "127.0.0.1")
                .env("MASTER_PORT", port.to_string())
                .env("PYTHONUNBUFFERED", "1")
                .stdin(Stdio::null())
                .stdout(output.try_clone()?)
                .stderr(output.try_clone()?)
                .spawn()?;
            let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
            ranks.processes.push(RankProcess { child, pidfd, output, ended: None });
        }
        Ok(ranks)
    }

    /// Readable when a rank that still runs has ended.
    pub fn descriptors(&self) -> Vec<OwnedFd> {
        let running = self.processes.iter().filter(|process| process.ended.is_none());
        running.filter_map(|process| process.pidfd.try_clone().ok()).collect()
    }

    /// How many ranks have ended.
    pub fn ended(&mut self) -> usize {
        for process in &mut self.processes {
            if process.ended.is_none() {
                process.ended = process.child.try_wait().ok().flatten();
            }
        }
        self.processes.iter().filter(|process| process.ended.is_some()).count()
    }

    /// The first rank that ended badly, and how.
    pub fn failure(&mut self) -> Option<(Rank, String)> {
        let bad = |process: &RankProcess| process.ended.is_some_and(|status| !status.success());
        let index = self.processes.iter().position(bad)?;
        let status = self.processes[index].ended?;
        Some((Rank(index as u32), format!("{}{}", ending(status), self.said(index))))
    }

    /// Why a rank is gone, or where it is if it is not: then it is asked for its stack and killed.
    pub fn cause(&mut self, rank: Rank, absence: Absence) -> (FindingKind, String) {
        let Some(process) = self.processes.get_mut(rank.index()) else {
            return (FindingKind::MissingRank, "was never started".into());
        };
        let ended = match absence {
            Absence::Gone => process.wait(END),
            Absence::Late => None,
        };
        if let Some(status) = ended {
            process.ended = ended;
            let kind = match status.code() {
                Some(0) => FindingKind::MissingRank,
                _ => FindingKind::Crashed,
            };
            return (kind, format!("{}{}", ending(status), self.said(rank.index())));
        }
        let _ = pidfd_send_signal(&process.pidfd, Signal::USR2);
        let _ = process.wait(STACK);
        let _ = pidfd_send_signal(&process.pidfd, Signal::KILL);
        process.ended = process.child.wait().ok();
        let said = self.said(rank.index());
        (FindingKind::Timeout, format!("it was still running and was killed{said}"))
    }

    /// Ends every rank and everything that ranks have started.
    pub fn stop(&mut self) {
        for process in &mut self.processes {
            if process.ended.is_none() {
                let _ = pidfd_send_signal(&process.pidfd, Signal::KILL);
                process.ended = process.child.wait().ok();
            }
        }
        orphans::kill(MARK, &self.mark);
    }

    fn said(&mut self, index: usize) -> String {
        let lines = tail(&self.processes[index].output);
        match lines.is_empty() {
            true => "; it printed nothing".into(),
            false => format!("; it printed:\n      {}", lines.join("\n      ")),
        }
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        self.stop();
    }
}

fn ending(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, code) => format!("exited with {}", code.unwrap_or(-1)),
    }
}

impl RankProcess {
    /// Waits for the process's end, for at most so long.
    fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let timeout = Timespec {
            tv_sec: patience.as_secs() as i64,
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        // A signal may wake us up early; then the process counts as still running.
        let _ = poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&timeout));
        self.child.try_wait().ok().flatten()
    }
}

/// The last lines of what a process printed.
fn tail(output: &File) -> Vec<String> {
    let length = output.metadata().map_or(0, |metadata| metadata.len());
    let start = length.saturating_sub(OUTPUT);
    let mut bytes = vec![0; (length - start) as usize];
    // Not by seeking: what the rank has started may still write here.
    let read = output.read_at(&mut bytes, start).unwrap_or(0);
    bytes.truncate(read);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.len().saturating_sub(LINES);
    lines[first..].iter().map(|line| (*line).to_owned()).collect()
}
