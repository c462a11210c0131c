//! A rank process: maps heaps, loads objects, runs launches, and says so.

use std::cell::Cell;
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use collectives::Rank;
use device::cpu::CpuDevice;
use device::gpu::GpuDevice;
use device::vendors::vendor;
use device::{Caches, Device, DeviceError, Interleaving, Launch, Launched, WatchedByte};
use ipc::{Board, HeapHandle, Phase, RankEntry, frames};

use crate::command::{Command, PROTOCOL, Reply, Start};
use crate::heaps::server;
use crate::probe;
use crate::process::{BOARD_FD, MARKER};
use crate::target::Target;

/// If this process was started as a rank, lives as one and never returns. Every binary that
/// starts ranks (the command line, test binaries) calls this first.
pub fn rank_main() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != MARKER) {
        return;
    }
    let arguments: Vec<String> =
        arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
    let life = match &arguments[..] {
        [_, what, device] if what == probe::ROLE => Some(probe::live(device)),
        [number, target, role @ ..] => {
            let (number, target) = (number.parse().ok(), target.parse().ok());
            number.zip(target).map(|(number, target)| live(number, target, role))
        }
        _ => None,
    };
    let code = match life {
        Some(Ok(())) => 0,
        Some(Err(error)) => {
            eprintln!("rank process: {error}");
            70
        }
        None => {
            eprintln!("{MARKER} is for rankcheck itself: it starts its rank processes with it");
            64
        }
    };
    std::process::exit(code);
}

fn live(process: u32, target: Target, role: &[String]) -> std::io::Result<()> {
    // The parent's death is ours, also if it died before we could ask for that.
    let kill = Some(rustix::process::Signal::KILL);
    rustix::process::set_parent_process_death_signal(kill)?;
    if rustix::process::getppid().is_none_or(|parent| parent.is_init()) {
        return Ok(());
    }
    let board = File::options().read(true).write(true).open(format!("/proc/self/fd/{BOARD_FD}"))?;
    let board = Board::open(OwnedFd::from(board)).map_err(std::io::Error::other)?.leak();
    let own = board.rank(process as usize);
    // The socket is standard input: kernels that print reach standard output and error only.
    let stream = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    own.enter(Phase::Starting);
    let device = target.device();
    if role.first().is_some_and(|role| role == server::ROLE) {
        let Target::Gpus { verifier, .. } = target else {
            return Err(std::io::Error::other("a CPU's heaps are the parent's own"));
        };
        let vendor = vendor(device).map_err(std::io::Error::other)?;
        return server::serve(stream, own, vendor.driver, verifier.as_deref());
    }
    simt::fault::install(&own.fault)?;
    let device: Box<dyn Device> = match target {
        Target::Cpu => Box::new(CpuDevice::new(Rank(0), true)),
        Target::Gpus { gpus, .. } => {
            let driver = vendor(device).map_err(std::io::Error::other)?.driver;
            Box::new(GpuDevice::new(driver().map_err(std::io::Error::other)?, gpus))
        }
    };
    let mut worker = Worker { stream, board, own, device };
    worker.say(&Reply::Hello {
        protocol: PROTOCOL,
        process,
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
    })?;
    worker.own.enter(Phase::Hello);
    worker.serve()
}

struct Worker {
    stream: UnixStream,
    board: &'static Board,
    own: &'static RankEntry,
    device: Box<dyn Device>,
}

impl Worker {
    fn say(&mut self, reply: &Reply) -> std::io::Result<()> {
        frames::send(&mut self.stream, reply)
    }

    /// Until the parent closes the stream.
    fn serve(&mut self) -> std::io::Result<()> {
        loop {
            let command = match frames::receive(&mut self.stream) {
                Ok(command) => command,
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error),
            };
            let reply = match command {
                Command::Prepare { hosted, alone, heaps, heap_bytes, gaps, object, symbols } => {
                    let prepared =
                        self.prepare(&hosted, alone, &heaps, heap_bytes, &object, &symbols);
                    match prepared.and_then(|()| self.unback(&gaps)) {
                        Ok(()) => Reply::Prepared,
                        Err(reason) => Reply::Failed(reason),
                    }
                }
                Command::Launch { launches, interleaving, start, watched, timed } => match timed {
                    None => self.launch(&launches, interleaving, start, &watched),
                    Some(caches) => self.time(&launches, interleaving, start, caches),
                },
                Command::Copy { bytes } => match self.device.copy_speed(bytes) {
                    Ok(speed) => Reply::Copied(speed),
                    Err(error) => Reply::Failed(error.to_string()),
                },
                Command::Judged => {
                    self.device.unload();
                    self.own.enter(Phase::Judged);
                    continue;
                }
            };
            self.say(&reply)?;
        }
    }

    fn prepare(
        &mut self,
        hosted: &[Rank],
        alone: bool,
        heaps: &[HeapHandle],
        heap_bytes: u64,
        object: &str,
        symbols: &[String],
    ) -> Result<(), String> {
        self.own.enter(Phase::Hello);
        let bytes = std::fs::read(object).map_err(|error| format!("{object}: {error}"))?;
        let viewer = if alone { Rank(0) } else { hosted[0] };
        self.device.host(viewer, alone).map_err(|error| error.to_string())?;
        for (rank, handle) in (0..).map(Rank).zip(heaps) {
            self.device.import(rank, handle, heap_bytes).map_err(|error| error.to_string())?;
        }
        for rank in hosted {
            self.device.load(*rank, &bytes, symbols).map_err(|error| error.to_string())?;
        }
        self.own.enter(Phase::Mapped);
        Ok(())
    }

    fn unback(&mut self, gaps: &[Range<u64>]) -> Result<(), String> {
        self.device.unback(gaps).map_err(|error| error.to_string())
    }

    fn launch(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        start: Option<Start>,
        watched: &[WatchedByte],
    ) -> Reply {
        self.own.enter(Phase::Filled);
        if let Some(start) = start {
            self.board.meet(start.ready_at);
        }
        self.own.enter(Phase::Launched);
        if let Some(start) = start {
            self.board.meet(start.inside_at);
        }
        let launched = self.device.launch(launches, interleaving, watched);
        self.own.enter(Phase::Done);
        answer(launched)
    }

    /// Ranks begin together behind everything that is not the kernel's own work.
    fn time(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        start: Option<Start>,
        caches: Caches,
    ) -> Reply {
        self.own.enter(Phase::Filled);
        if let Some(start) = start {
            self.board.meet(start.ready_at);
        }
        let (board, own) = (self.board, self.own);
        let begun = Cell::new(false);
        let mut begin = || {
            begun.set(true);
            own.enter(Phase::Launched);
            if let Some(start) = start {
                board.meet_awake(start.inside_at);
            }
        };
        let launched = self.device.time(launches, interleaving, caches, &mut begin);
        if !begun.get() {
            // The others need not wait for one that cannot launch.
            begin();
        }
        self.own.enter(Phase::Done);
        answer(launched)
    }
}

/// What the parent is told of a launch.
fn answer(launched: Result<Launched, DeviceError>) -> Reply {
    match launched {
        Ok(launched) => Reply::Finished(Box::new(launched)),
        Err(DeviceError::DoesNotFit { needed, found }) => Reply::DoesNotFit { needed, found },
        Err(DeviceError::Fault { fault, rank, text }) => Reply::Faulted { fault, rank, text },
        Err(error) => Reply::Failed(error.to_string()),
    }
}
