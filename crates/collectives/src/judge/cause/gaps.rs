//! What was never written, as a pattern that is exactly what a slip leaves out.

use std::collections::BTreeMap;

use crate::meaning::rank::Rank;

use super::ALTERNATIVES;
use super::scene::Scene;

/// The elements of a rank's output that still hold the poison.
pub(crate) struct Gap<'a> {
    pub rank: Rank,
    /// Column ranges (inclusive) by row.
    pub rows: &'a BTreeMap<u64, Vec<(u64, u64)>>,
    /// How many rows there are; more than are listed are not compared.
    pub row_count: u64,
}

/// First and last column that is left out of a row of a part.
type Missing<'a> = Box<dyn Fn(u64) -> Option<(u64, u64)> + 'a>;

impl Gap<'_> {
    /// The slips that leave out exactly this.
    pub(super) fn cause(&self, scene: &Scene<'_>) -> Option<String> {
        if self.row_count != self.rows.len() as u64 {
            return None;
        }
        let parts = if scene.is_stacked() { scene.size() } else { 1 };
        let rows = scene.output.shape.m / parts.max(1);
        let touched: Vec<u64> = (0..parts)
            .filter(|g| (0..rows).any(|i| self.rows.contains_key(&(g * rows + i))))
            .collect();
        let fits = |missing: &Missing<'_>| {
            touched.iter().all(|g| {
                (0..rows).all(|i| {
                    let is = self.rows.get(&(g * rows + i)).map_or(&[][..], Vec::as_slice);
                    missing(i).as_slice() == is
                })
            })
        };
        let n = scene.output.shape.n;
        if rows == 0 || n == 0 {
            return None;
        }
        if fits(&(Box::new(move |_| Some((0u64, n - 1))) as Missing<'_>)) {
            return self.whole_parts(scene, &touched, parts);
        }
        let names: Vec<String> = candidates(scene, rows, n)
            .into_iter()
            .filter(|(_, missing)| fits(missing))
            .map(|(name, _)| name)
            .take(ALTERNATIVES)
            .collect();
        let tiles = || self.whole_tiles(scene, &touched, rows, n);
        let names = if names.is_empty() { Vec::from_iter(tiles()) } else { names };
        let within = match touched.len() as u64 == parts {
            true => String::new(),
            false => format!(" of {}", self.parts(scene, &touched)),
        };
        let what = format!("exactly that is missing in {} rows{within}", self.rows.len());
        (!names.is_empty()).then(|| format!("{} ({what})", names.join(", or ")))
    }

    /// Tiles that are missing as a whole, the same ones in every part.
    fn whole_tiles(&self, scene: &Scene<'_>, touched: &[u64], rows: u64, n: u64) -> Option<String> {
        let (tile_m, tile_n) = (scene.call.tile.m.max(1), scene.call.tile.n.max(1));
        let (down, across) = (rows.div_ceil(tile_m), n.div_ceil(tile_n));
        if down * across > 4096 || down * across < 2 {
            return None;
        }
        let is_missing = |g: u64, row: u64, column: u64| {
            let ranges = self.rows.get(&(g * rows + row));
            ranges.is_some_and(|r| r.iter().any(|(from, to)| (*from..=*to).contains(&column)))
        };
        let mut missing = Vec::new();
        for tile in 0..down * across {
            let (top, left) = (tile / across * tile_m, tile % across * tile_n);
            let part = |g: &u64| {
                let g = *g;
                (top..rows.min(top + tile_m))
                    .flat_map(move |row| (left..n.min(left + tile_n)).map(move |c| (g, row, c)))
            };
            let places = || touched.iter().flat_map(part);
            let holes = places().filter(|(g, row, column)| is_missing(*g, *row, *column)).count();
            if holes > 0 && holes != places().count() {
                return None;
            }
            if holes > 0 {
                missing.push(tile.to_string());
            }
        }
        Some(format!(
            "tiles that no block takes: number {} of {} (by rows, from 0)",
            missing.join(", "),
            down * across
        ))
    }

    fn parts(&self, scene: &Scene<'_>, touched: &[u64]) -> String {
        let ranks: Vec<String> =
            touched.iter().filter_map(|g| scene.member(*g)).map(|rank| rank.to_string()).collect();
        format!("the part of rank {}", ranks.join(", "))
    }

    /// Parts that are missing as a whole.
    fn whole_parts(&self, scene: &Scene<'_>, touched: &[u64], parts: u64) -> Option<String> {
        let me = scene.group_rank(self.rank)?;
        let all = touched.len() as u64 == parts;
        let last = scene.size() - 1;
        Some(match touched {
            _ if all && scene.written.is_empty() => {
                "nothing was written at all, on no rank".into()
            }
            _ if all && me == last && me > 0 && scene.written.len() as u64 == last => {
                "a loop over peers that ends one too early: the last member alone is never written to"
                    .into()
            }
            _ if all && me == 0 && scene.written.len() as u64 == last => {
                "a loop over peers that begins one too late: the first member alone is never written to"
                    .into()
            }
            _ if all => return None,
            [only] if *only == me => "a rank never copies its own part to itself".into(),
            _ if !touched.contains(&me) && touched.len() as u64 == last => {
                "its own part alone is there: nothing arrives from other members".into()
            }
            _ => format!("{} never arrives", self.parts(scene, touched)),
        })
    }
}

/// What slips leave out of a part of `m` rows and `n` columns.
fn candidates<'a>(scene: &Scene<'_>, m: u64, n: u64) -> Vec<(String, Missing<'a>)> {
    let (tile_m, tile_n) = (scene.call.tile.m.max(1), scene.call.tile.n.max(1));
    let blocks = u64::from(scene.call.blocks.max(1));
    let whole = move || Some((0, n - 1));
    let from_column = move |first: u64| (first < n).then(|| (first, n - 1));
    let from_row = move |first: u64| -> Missing<'a> {
        Box::new(move |row| if row >= first { whole() } else { None })
    };
    let (whole_m, whole_n) = (m / tile_m * tile_m, n / tile_n * tile_n);
    let tiles = m.div_ceil(tile_m) * n.div_ceil(tile_n);
    let mut all: Vec<(String, Missing<'a>)> = Vec::new();
    if whole_n < n {
        let name = format!(
            "the last partial tile skipped: the number of column tiles is rounded down ({whole_n} = {} of {tile_n})",
            whole_n / tile_n
        );
        all.push((name, Box::new(move |_| from_column(whole_n))));
    }
    if whole_m < m {
        let name = format!(
            "the last partial tile skipped: the number of row tiles is rounded down ({whole_m} = {} of {tile_m})",
            whole_m / tile_m
        );
        all.push((name, from_row(whole_m)));
    }
    if whole_m < m && whole_n < n {
        let name = "the last partial tiles skipped: the number of tiles is rounded down both ways";
        let missing = move |row| if row >= whole_m { whole() } else { from_column(whole_n) };
        all.push((name.into(), Box::new(missing)));
    }
    let vectors = n / scene.vector.max(1) * scene.vector.max(1);
    if vectors < n {
        let name = format!(
            "the tail of a row skipped: {} columns, fewer than a vector of 16 bytes",
            n - vectors
        );
        all.push((name, Box::new(move |_| from_column(vectors))));
    }
    if blocks < tiles {
        let name = format!(
            "a block takes one tile and no more: tiles from number {blocks} on are missing ({blocks} blocks, {tiles} tiles)"
        );
        let across = n.div_ceil(tile_n);
        let missing = move |row: u64| {
            let first = (row / tile_m * across..).take(across as usize);
            let kept = first.filter(|tile| *tile < blocks).count() as u64;
            from_column(kept * tile_n)
        };
        all.push((name, Box::new(missing)));
    }
    let share = m / blocks;
    if share * blocks < m {
        let name =
            format!("the remainder forgotten: {blocks} blocks take {share} rows each, m = {m}");
        all.push((name, from_row(share * blocks)));
    }
    if m > 1 {
        all.push(("off by one: the last row is never copied".into(), from_row(m - 1)));
        let first: Missing<'a> = Box::new(move |row| if row == 0 { whole() } else { None });
        all.push(("off by one: the first row is never copied".into(), first));
    }
    if n > 1 {
        let name = "off by one: the last column is never copied";
        all.push((name.into(), Box::new(move |_| from_column(n - 1))));
        all.push((
            "off by one: the first column is never copied".into(),
            Box::new(|_| Some((0u64, 0u64))),
        ));
    }
    all
}
