//! A copy of what a rank process is told, for tests that look at it: what the parent really sends, taken
//! between both without either of them knowing.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Names the folder in which each rank process leaves what it was told, as `PROCESS-ID.frames`.
pub const FOLDER: &str = "RANKCHECK_TESTS_FRAMES";

/// In a rank process and where [`FOLDER`] is set, copies all that comes in over standard input.
pub fn copy_frames_where_asked() {
    let is_rank = std::env::args().nth(1).is_some_and(|first| first == ranks::process::MARKER);
    if let (true, Some(folder)) = (is_rank, std::env::var_os(FOLDER)) {
        copy_frames(Path::new(&folder)).expect("a copy of what comes in");
    }
}

fn copy_frames(folder: &Path) -> io::Result<()> {
    let file = File::create(folder.join(format!("{}.frames", std::process::id())))?;
    let mut parent = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (rank, mut own) = UnixStream::pair()?;
    rustix::stdio::dup2_stdin(&rank)?;
    let (mut to_parent, mut from_rank) = (parent.try_clone()?, own.try_clone()?);
    std::thread::spawn(move || {
        // Written down first: what the rank has acted on is in the file.
        let mut both = Both(file, &mut own);
        let ended = io::copy(&mut parent, &mut both);
        let _ = own.shutdown(Shutdown::Write);
        ended
    });
    std::thread::spawn(move || io::copy(&mut from_rank, &mut to_parent));
    Ok(())
}

/// Writes to one, then to the other.
struct Both<'a>(File, &'a mut UnixStream);

impl Write for Both<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(bytes)?;
        self.1.write_all(bytes)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What each rank process of a run was told, from the files in a folder.
pub fn copied_frames(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let files = std::fs::read_dir(folder)?;
    files
        .map(|file| {
            let mut bytes = Vec::new();
            File::open(file?.path())?.read_to_end(&mut bytes)?;
            Ok(bytes)
        })
        .collect()
}
