//! A rank process: maps heaps, loads objects, runs launches, and says so.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use collectives::Rank;
use device::cpu::{Control, CpuDevice, Phase, RankControl};
use device::{Device, HeapHandle, Interleaving, Launch, WatchedByte};

use crate::pool::{CONTROL_FD, MARKER};
use crate::protocol::{self, Command, Reply, Start};

/// If this process was started as a rank, lives as one and never returns. Every binary that
/// starts ranks (the command line, test binaries) calls this first.
pub fn rank_main() {
    crate::host::ranks::exec_main();
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != MARKER) {
        return;
    }
    let process = arguments.next().and_then(|text| text.to_str()?.parse().ok());
    let code = match process.map(live) {
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

fn live(process: u32) -> std::io::Result<()> {
    // The parent's death is ours, also if it died before we could ask for that.
    let kill = Some(rustix::process::Signal::KILL);
    rustix::process::set_parent_process_death_signal(kill)?;
    if rustix::process::getppid().is_none_or(|parent| parent.is_init()) {
        return Ok(());
    }
    let control =
        File::options().read(true).write(true).open(format!("/proc/self/fd/{CONTROL_FD}"))?;
    let control = Control::open(OwnedFd::from(control)).map_err(std::io::Error::other)?.leak();
    simt::fault::install(&control.rank(process as usize).fault)?;
    // The socket is standard input: kernels that print reach standard output and error only.
    let stream = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut worker = Worker {
        stream,
        control,
        own: control.rank(process as usize),
        device: CpuDevice::new(Rank(0), true),
    };
    worker.own.enter(Phase::Starting);
    worker.say(&Reply::Hello {
        version: env!("CARGO_PKG_VERSION").into(),
        process,
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
    })?;
    worker.own.enter(Phase::Hello);
    worker.serve()
}

struct Worker {
    stream: UnixStream,
    control: &'static Control,
    own: &'static RankControl,
    device: CpuDevice,
}

impl Worker {
    fn say(&mut self, reply: &Reply) -> std::io::Result<()> {
        protocol::send(&mut self.stream, reply)
    }

    /// Until the parent closes the stream.
    fn serve(&mut self) -> std::io::Result<()> {
        loop {
            let command = match protocol::receive(&mut self.stream) {
                Ok(command) => command,
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error),
            };
            let reply = match command {
                Command::Prepare { hosted, alone, heaps, heap_bytes, object } => {
                    match self.prepare(&hosted, alone, &heaps, heap_bytes, &object) {
                        Ok(()) => Reply::Prepared,
                        Err(reason) => Reply::Failed(reason),
                    }
                }
                Command::Launch { launches, interleaving, start, watched } => {
                    self.launch(&launches, interleaving, start, &watched)
                }
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
    ) -> Result<(), String> {
        self.own.enter(Phase::Hello);
        let bytes = std::fs::read(object).map_err(|error| format!("{object}: {error}"))?;
        let viewer = if alone { Rank(0) } else { hosted[0] };
        self.device.host(viewer, alone);
        for (rank, handle) in (0..).map(Rank).zip(heaps) {
            self.device.import(rank, handle, heap_bytes).map_err(|error| error.to_string())?;
        }
        for rank in hosted {
            self.device.load(*rank, &bytes).map_err(|error| error.to_string())?;
        }
        self.own.enter(Phase::Mapped);
        Ok(())
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
            self.control.meet(start.ready_at);
        }
        self.own.enter(Phase::Launched);
        if let Some(start) = start {
            self.control.meet(start.inside_at);
        }
        let launched = self.device.launch(launches, interleaving, watched);
        self.own.enter(Phase::Done);
        match launched {
            Ok(launched) => Reply::Finished(launched),
            Err(error) => Reply::Failed(error.to_string()),
        }
    }
}
