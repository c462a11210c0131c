//! `rankcheck cache`: how large the object cache is, and making it smaller.

use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use kernels::Cache;
use kernels::compile::{CacheEntry, Keep, Pruned};
use ranks::budget::show_bytes;

use crate::arguments::time::duration;
use crate::commands::emit;
use crate::exit::Exit;

/// Arguments of `cache`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Remove what was used longest ago until entries take at most SIZE: 500MiB, 2GiB.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    limit: Option<u64>,
    /// Remove entries that were last used longer ago than AGE: 12h, 30d.
    #[arg(long, value_name = "AGE", value_parser = duration)]
    older_than: Option<Duration>,
    /// Remove every entry that no running process uses.
    #[arg(long, conflicts_with_all = ["limit", "older_than"])]
    clear: bool,
}

/// Says what is in the cache, after removing what the arguments name.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let cache = Cache::open().context("the cache folder (name another in RANKCHECK_CACHE)")?;
    let mut text = String::new();
    let keep = match arguments.clear {
        true => Keep::NOTHING,
        false => Keep { bytes: arguments.limit, age: arguments.older_than },
    };
    if keep != Keep::default() {
        text += &told(cache.prune(keep).context("removing entries")?);
    }
    let entries = cache.entries().context("reading the cache folder")?;
    let (objects, written): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.is_object);
    text += &format!("{}\n", cache.folder().display());
    text += &line("compiled objects", &objects);
    text += &line("copies of the binary's own files", &written);
    emit(&text)?;
    Ok(Exit::Passed)
}

fn line(what: &str, entries: &[CacheEntry]) -> String {
    let bytes = entries.iter().map(|entry| entry.bytes).sum();
    format!("  {:>6} {what}, {}\n", entries.len(), show_bytes(bytes))
}

fn told(pruned: Pruned) -> String {
    let Pruned { removed, removed_bytes, in_use } = pruned;
    let kept = match in_use {
        0 => String::new(),
        _ => format!(" ({in_use} more stay: a running process uses them)"),
    };
    format!("removed {removed} entries, {}{kept}\n", show_bytes(removed_bytes))
}

/// Reads a number of bytes such as `500MiB`; K, M and G are powers of 1024 in every spelling.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size such as 500MiB or 2GiB");
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let shift = match unit {
        "" | "B" => 0,
        "K" | "KB" | "KiB" => 10,
        "M" | "MB" | "MiB" => 20,
        "G" | "GB" | "GiB" => 30,
        "T" | "TB" | "TiB" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_or_refused() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("500MiB"), Ok(500 << 20));
        assert_eq!(size("2G"), Ok(2 << 30));
        for wrong in ["", "MiB", "-1", "1.5GiB", "1 GiB", "2Gib", "99999999999T"] {
            let error = size(wrong).unwrap_err();
            assert!(error.contains("is not a size such as"), "{wrong}: {error}");
        }
    }

    #[test]
    fn what_stays_because_it_is_used_is_told() {
        let pruned = Pruned { removed: 3, removed_bytes: 2048, in_use: 1 };
        let text = "removed 3 entries, 2.0 KiB (1 more stay: a running process uses them)\n";
        assert_eq!(told(pruned), text);
        assert_eq!(told(Pruned { in_use: 0, ..pruned }), "removed 3 entries, 2.0 KiB\n");
    }
}
