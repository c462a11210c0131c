//! How ranks that somebody else started find their judge: by names in the environment.
//!
//! Sockets are in the abstract namespace, so that nothing is left in a file system.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use collectives::Rank;

/// The judge's socket, where `rankcheck exec` has started the program.
pub const JUDGE: &str = "RANKCHECK_JUDGE";

/// Pairs of variables in which launchers say rank and number of ranks: torchrun and `rankcheck
/// exec`, Open MPI, MPICH and Intel MPI, Slurm.
const RANKS: [(&str, &str); 4] = [
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
];
/// Variables that name one start of a launcher on one machine.
const JOBS: [&str; 6] = [
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "OMPI_MCA_ess_base_jobid",
    "PMIX_NAMESPACE",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
];

/// This process among its ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The rank of this process in the world.
    pub rank: Rank,
    /// How many ranks there are.
    pub world: u32,
    /// The judge's socket.
    pub socket: String,
    /// Whether the judge runs already; else rank 0 starts it.
    pub started: bool,
}

/// Where the environment puts this process; `None` where it is alone. `variable` looks up the
/// environment.
///
/// # Errors
/// Variables that contradict each other.
pub fn place(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Place>, String> {
    let judge = variable(JUDGE);
    let number = |name: &str| -> Result<Option<u32>, String> {
        let Some(text) = variable(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| format!("{name} is `{text}`, which is no number"))
    };
    for (rank_name, world_name) in RANKS {
        let (Some(rank), Some(world)) = (number(rank_name)?, number(world_name)?) else { continue };
        if rank >= world {
            return Err(format!("{rank_name} is {rank}, but {world_name} is {world}"));
        }
        // A launcher's only rank is alone, and has all ranks of its cases.
        if world == 1 && judge.is_none() {
            return Ok(None);
        }
        if let Some(local) = number("LOCAL_WORLD_SIZE")?.filter(|local| *local != world) {
            return Err(format!(
                "{world} ranks, of which {local} are on this machine: the judge sees one machine only"
            ));
        }
        let started = judge.is_some();
        let socket = judge.unwrap_or_else(|| {
            let parts: Vec<String> = JOBS.iter().filter_map(|name| variable(name)).collect();
            format!("rankcheck-{}-{}", rustix::process::getuid().as_raw(), parts.join("-"))
        });
        return Ok(Some(Place { rank: Rank(rank), world, socket, started }));
    }
    match judge {
        Some(_) => Err(format!("{JUDGE} is set, but RANK and WORLD_SIZE are not")),
        None => Ok(None),
    }
}

/// Listens at a judge's socket.
///
/// # Errors
/// The name is taken.
pub fn listen(socket: &str) -> std::io::Result<UnixListener> {
    UnixListener::bind_addr(&SocketAddr::from_abstract_name(socket)?)
}

/// Connects to a judge's socket.
///
/// # Errors
/// No process listens there.
pub fn connect(socket: &str) -> std::io::Result<UnixStream> {
    UnixStream::connect_addr(&SocketAddr::from_abstract_name(socket)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(variables: &[(&str, &str)]) -> Result<Option<Place>, String> {
        place(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_told_apart_by_their_variables() {
        assert_eq!(at(&[]), Ok(None));
        assert_eq!(at(&[("RANK", "0"), ("WORLD_SIZE", "1")]), Ok(None));
        let torchrun = at(&[("RANK", "2"), ("WORLD_SIZE", "4"), ("MASTER_PORT", "29500")]);
        let torchrun = torchrun.unwrap().unwrap();
        assert_eq!((torchrun.rank, torchrun.world, torchrun.started), (Rank(2), 4, false));
        assert!(torchrun.socket.ends_with("-29500"), "{}", torchrun.socket);
        let exec = at(&[("RANK", "0"), ("WORLD_SIZE", "1"), (JUDGE, "here")]).unwrap().unwrap();
        assert_eq!((exec.socket.as_str(), exec.started), ("here", true));
        let mpi = at(&[("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")]);
        assert_eq!(mpi.unwrap().unwrap().rank, Rank(1));
    }

    #[test]
    fn contradictions_are_said() {
        assert!(at(&[("RANK", "4"), ("WORLD_SIZE", "4")]).unwrap_err().contains("RANK is 4"));
        assert!(at(&[("RANK", "x"), ("WORLD_SIZE", "4")]).unwrap_err().contains("no number"));
        let nodes = [("RANK", "0"), ("WORLD_SIZE", "16"), ("LOCAL_WORLD_SIZE", "8")];
        assert!(at(&nodes).unwrap_err().contains("one machine"));
        assert!(at(&[(JUDGE, "here")]).unwrap_err().contains("RANK"));
    }
}
