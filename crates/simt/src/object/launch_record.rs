//! What a kernel says about its own launch.

use serde::{Deserialize, Serialize};

/// What a kernel itself wrote about its launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// The number of rows of its tile.
    pub tile_m: u32,
    /// The number of columns of its tile.
    pub tile_n: u32,
    /// The number of members of its group.
    pub group_size: u32,
    /// The number of its blocks.
    pub blocks: u32,
    /// The number of threads of each block.
    pub threads: u32,
}
