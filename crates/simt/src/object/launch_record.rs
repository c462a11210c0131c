//! What a kernel says about its own launch.

use serde::{Deserialize, Serialize};

/// What the kernel itself wrote about its launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// Rows of its tile.
    pub tile_m: u32,
    /// Columns of its tile.
    pub tile_n: u32,
    /// Members of its group.
    pub group_size: u32,
    /// Its grid.
    pub blocks: u32,
    /// Its threads a block.
    pub threads: u32,
}
