//! The structures of the C ABI, as `rankcheck_host.h` has them.

use std::ffi::c_char;
use std::ops::Range;

use collectives::Tile;
use collectives::plan::View;
use collectives::rank::MAX_WORLD;
use guest_protocol::message::HostLaunch;

use crate::case::Case;

/// No world is larger.
const RANKS: usize = MAX_WORLD as usize;
/// `RANKCHECK_ALL`: this process has all ranks.
const ALL: u32 = u32::MAX;
/// Names are no longer, their end included.
const NAME: usize = 32;

/// `rankcheck_call_info`: one call of the open case.
#[repr(C)]
#[derive(Debug)]
pub struct CallInfo {
    /// `sizeof(rankcheck_call_info)`, set by the caller.
    pub size: u32,
    /// How many ranks exist.
    pub world: u32,
    /// How many calls the case has.
    pub calls: u32,
    /// In how many orders of ranks all of them are to run.
    pub orders: u32,
    /// How many ranks take part.
    pub group_size: u32,
    /// By group rank: the rank.
    pub group: [u32; RANKS],
    /// How many ranks of the group this process runs.
    pub run_size: u32,
    /// Those ranks, in the order in which they are to run.
    pub run: [u32; RANKS],
    /// This process's rank, or `RANKCHECK_ALL`.
    pub rank: u32,
    /// The root's group rank, for rooted collectives.
    pub root: u32,
    /// Bytes an element.
    pub element_bytes: u32,
    /// Thread blocks that were asked for; 0 leaves them to the program.
    pub blocks: u32,
    /// Threads a block that were asked for; 0 leaves them to the program.
    pub threads: u32,
    /// Tile that was asked for; 0 leaves it to the program.
    pub tile_m: u64,
    /// Columns of the tile.
    pub tile_n: u64,
    /// Rows of the call's shape, as the scenario has it.
    pub m: u64,
    /// Columns of it.
    pub n: u64,
    /// Bytes of every rank's heap.
    pub heap_bytes: u64,
    /// `all_gather`.
    pub collective: [c_char; NAME],
    /// `bf16`.
    pub dtype: [c_char; NAME],
    /// `sum`.
    pub op: [c_char; NAME],
}

/// `rankcheck_region_info`: where a region lies in a heap.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Region {
    /// `sizeof(rankcheck_region_info)`, set by the caller.
    pub size: u32,
    /// Bytes an element.
    pub element_bytes: u32,
    /// Bytes from the heap's start to element (0, 0).
    pub offset: u64,
    /// Rows of the matrix.
    pub rows: u64,
    /// Columns of the matrix.
    pub columns: u64,
    /// Elements from one row to the next.
    pub row_stride: u64,
    /// Bytes from the heap's start to the region's storage.
    pub storage_offset: u64,
    /// Bytes of the region's storage.
    pub storage_bytes: u64,
}

/// `rankcheck_launch`: what ran. Zero and null are left out.
#[repr(C)]
#[derive(Debug)]
pub struct Launch {
    /// `sizeof(rankcheck_launch)`, set by the caller.
    pub size: u32,
    /// The number of thread blocks.
    pub blocks: u32,
    /// Threads a block.
    pub threads: u32,
    /// Ranks in the group, as the kernel was told.
    pub group_size: u32,
    /// Rows a tile.
    pub tile_m: u64,
    /// Columns a tile.
    pub tile_n: u64,
    /// The kernel's name.
    pub entry: *const c_char,
}

impl Region {
    /// A region that holds a matrix.
    pub(crate) fn matrix(view: &View, storage: Range<u64>) -> Region {
        Region {
            element_bytes: view.element as u32,
            offset: view.start,
            rows: view.shape.m,
            columns: view.shape.n,
            row_stride: view.row_stride,
            ..Region::bytes(storage)
        }
    }

    /// A region of bytes.
    pub(crate) fn bytes(storage: Range<u64>) -> Region {
        let bytes = storage.end - storage.start;
        Region {
            size: size_of::<Region>() as u32,
            element_bytes: 1,
            offset: storage.start,
            rows: 1,
            columns: bytes,
            row_stride: bytes,
            storage_offset: storage.start,
            storage_bytes: bytes,
        }
    }
}

impl CallInfo {
    /// A call in one of the orders of ranks.
    pub(crate) fn new(case: &Case, order: usize, index: usize) -> Result<CallInfo, String> {
        let (problem, call) = (case.problem(), case.call(index)?);
        let (tile, blocks) = case.opened.requested[index];
        let tile = tile.unwrap_or(Tile { m: 0, n: 0 });
        let run = case.running_order(order, index)?;
        Ok(CallInfo {
            size: size_of::<CallInfo>() as u32,
            world: problem.world,
            calls: problem.calls.len() as u32,
            orders: case.opened.orders.len() as u32,
            group_size: call.group.size(),
            group: array(call.group.members().iter().map(|rank| rank.0)),
            run_size: run.len() as u32,
            run: array(run.iter().map(|rank| rank.0)),
            rank: case.rank().map_or(ALL, |rank| rank.0),
            root: call.root.0,
            element_bytes: problem.dtype.bytes() as u32,
            blocks: blocks.unwrap_or(0),
            threads: case.opened.threads.unwrap_or(0),
            tile_m: tile.m,
            tile_n: tile.n,
            m: call.shape.m,
            n: call.shape.n,
            heap_bytes: case.heap_bytes(),
            collective: text(problem.collective.name()),
            dtype: text(problem.dtype.name()),
            op: text(&call.details.op.to_string()),
        })
    }
}

impl Launch {
    /// What was said; `entry` is the text behind the pointer.
    pub(crate) fn said(&self, entry: Option<String>) -> HostLaunch {
        let some = |number: u32| (number > 0).then_some(number);
        HostLaunch {
            entry,
            tile: (self.tile_m > 0 || self.tile_n > 0)
                .then_some(Tile { m: self.tile_m, n: self.tile_n }),
            blocks: some(self.blocks),
            threads: some(self.threads),
            group_size: some(self.group_size),
        }
    }
}

fn array(numbers: impl Iterator<Item = u32>) -> [u32; RANKS] {
    let mut array = [0; RANKS];
    for (place, number) in array.iter_mut().zip(numbers) {
        *place = number;
    }
    array
}

fn text(name: &str) -> [c_char; NAME] {
    let mut text = [0; NAME];
    for (place, byte) in text[..NAME - 1].iter_mut().zip(name.bytes()) {
        *place = byte as c_char;
    }
    text
}
