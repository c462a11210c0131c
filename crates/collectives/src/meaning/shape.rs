//! Shapes and tiles: rows x columns, spelled `7x255`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Rows and columns of a matrix, in elements. Which matrix is for the collective to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Rows.
    pub m: u64,
    /// Columns.
    pub n: u64,
}

/// Rows and columns that a thread block handles in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tile {
    /// Rows.
    pub m: u64,
    /// Columns.
    pub n: u64,
}

fn pair(text: &str, what: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("`{text}` is not a {what}: write it as ROWSxCOLUMNS, such as 9x257");
    let (m, n) = text.split_once('x').ok_or_else(wrong)?;
    Ok((m.trim().parse().map_err(|_| wrong())?, n.trim().parse().map_err(|_| wrong())?))
}

impl FromStr for Shape {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        pair(text, "shape").map(|(m, n)| Shape { m, n })
    }
}

impl FromStr for Tile {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        pair(text, "tile").map(|(m, n)| Tile { m, n })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.m, self.n)
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.m, self.n)
    }
}
