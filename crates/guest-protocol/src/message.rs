//! What guest and judge say to each other, in the frames of [`ipc::frames`].

use collectives::{Problem, Rank, Tile};
use ipc::HeapHandle;
use serde::{Deserialize, Serialize};

/// A hash of the sources that define this protocol: library and judge must have the same one.
pub const PROTOCOL: u64 = match u64::from_str_radix(env!("RANKCHECK_PROTOCOL"), 10) {
    Ok(hash) => hash,
    Err(_) => panic!("the build script writes a number"),
};

/// What a guest says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// First of all.
    Hello(Hello),
    /// Which cases are there? Arguments as `rankcheck list` takes them.
    List(Vec<String>),
    /// Open a case; together with all other ranks.
    Open {
        /// The case's name, as it was listed.
        name: String,
        /// Who is judged.
        program: Program,
    },
    /// Where the heaps of this guest's ranks are; together with all other ranks.
    Attach(Vec<AttachedHeap>),
    /// The heaps of this guest's ranks are filled for a call; together with all other ranks.
    Filled(Step),
    /// What a rank launched in the call at hand. No answer.
    Launched(Rank, HostLaunch),
    /// The call has run on this guest's ranks; together with all other ranks.
    Returned,
    /// The images are where the judge looks; together with all other ranks.
    HandedOver,
    /// The result so far.
    Text(Form),
    /// Good-bye.
    Close,
}

/// Who a guest is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`] of the library: it and the judge must speak the same.
    pub protocol: u64,
    /// The library's version, for people.
    pub version: String,
    /// Its rank, where each rank is a process; `None` where it has all ranks.
    pub rank: Option<Rank>,
}

/// The identity of what is judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The file that holds the kernel or launches it.
    pub path: String,
    /// A command that runs the case again.
    pub replay: String,
}

/// A heap that a guest uses for a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedHeap {
    /// The rank whose heap it is.
    pub rank: Rank,
    /// `Memfd`: the judge's own memory, nothing to copy. `Host`: the guest's memory, whose image it
    /// copies to the judge's. A device's handle will let the judge look for itself.
    pub handle: HeapHandle,
    /// Its size in bytes; at least what the case needs.
    pub bytes: u64,
    /// Where the rank finds every rank's heap; empty where it has not said.
    pub peers: Vec<u64>,
}

/// A call in one of the orders of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Which order, from 0.
    pub order: usize,
    /// Which call, from 0.
    pub call: usize,
}

/// What a program says it launched; `None` where it has no such thing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLaunch {
    /// The entry's name.
    pub entry: Option<String>,
    /// The tile, in rows and columns.
    pub tile: Option<Tile>,
    /// The number of blocks.
    pub blocks: Option<u32>,
    /// The threads a block.
    pub threads: Option<u32>,
    /// The group's size.
    pub group_size: Option<u32>,
}

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// As text for people.
    Text,
    /// `rankcheck.run/1`.
    Json,
}

/// What the judge says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// To a hello.
    Welcome,
    /// Names of cases.
    Names(Vec<String>),
    /// A case is open; the descriptors of all heaps come along, by rank.
    Opened(Box<Opened>),
    /// This case cannot be served.
    Unsupported(String),
    /// All ranks have come this far.
    Go,
    /// Every byte has been compared.
    Judged {
        /// Nothing was wrong.
        right: bool,
    },
    /// A result as text.
    Text(String),
    /// What was asked makes no sense; the guest may ask something else.
    Refused(String),
    /// The case is over: another rank was lost.
    Lost(String),
}

/// A case, as a guest needs it to fill heaps and to launch. Nothing that is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// The case's name, as it was listed.
    pub name: String,
    /// The pure part.
    pub problem: Problem,
    /// By call: the tile and the blocks that were asked for.
    pub requested: Vec<(Option<Tile>, Option<u32>)>,
    /// The threads a block that were asked for.
    pub threads: Option<u32>,
    /// In which orders a guest with all ranks runs them.
    pub orders: Vec<Vec<Rank>>,
}
