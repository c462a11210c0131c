//! Which tool a run is of, and how many ranks it has: what stands above each header.
//!
//! A log can hold several runs. A name counts for the next header only, so that a run that does not
//! name its tool has no name, instead of that of the run before.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex_lite::Regex;

/// What was said since the last header.
#[derive(Debug, Default, Clone)]
pub(super) struct Announced {
    /// `Collective test starting: X`, which only the tool itself says.
    starting: Option<String>,
    /// Names of tools in other lines: commands, mostly.
    mentioned: BTreeSet<String>,
    /// Listed ranks, each with its group.
    devices: BTreeSet<(String, usize)>,
}

static COLLECTIVE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b([a-z][a-z_]*)_perf\b").ok());
static DEVICE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^#\s+Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?Pid\b").ok());

/// The name in front of `_perf`, wherever it stands.
pub(super) fn collective(text: &str) -> Option<String> {
    if !text.contains("_perf") {
        return None;
    }
    Some(COLLECTIVE.as_ref()?.captures(text)?[1].to_owned())
}

/// The tool that says that it has ended.
pub(super) fn concluded(text: &str) -> Option<String> {
    collective(text.split_once("Collective test concluded:")?.1)
}

impl Announced {
    /// Takes what a line says.
    pub(super) fn note(&mut self, text: &str) {
        if text.contains("Collective test concluded:") {
            return;
        }
        if let Some((_, name)) = text.split_once("Collective test starting:") {
            self.starting = collective(name);
        } else if let Some(name) = collective(text) {
            self.mentioned.insert(name);
        }
        let text = text.trim_start();
        if text.starts_with('#')
            && let Some(device) = DEVICE.as_ref().and_then(|device| device.captures(text))
            && let Ok(rank) = device[1].parse()
        {
            let group = device.get(2).map_or("", |group| group.as_str());
            self.devices.insert((group.to_owned(), rank));
        }
    }

    /// The tool; none where several are mentioned and none says that it starts.
    pub(super) fn collective(&self) -> Option<String> {
        let only = || match self.mentioned.len() {
            1 => self.mentioned.first().cloned(),
            _ => None,
        };
        self.starting.clone().or_else(only)
    }

    /// Ranks of one world: of one group where the job was split. None where the list has holes.
    pub(super) fn ranks(&self) -> Option<usize> {
        let (group, _) = self.devices.first()?;
        let listed: Vec<usize> =
            self.devices.iter().filter(|(of, _)| of == group).map(|(_, rank)| *rank).collect();
        let all: BTreeSet<usize> = self.devices.iter().map(|(_, rank)| *rank).collect();
        let is_whole = all.iter().copied().eq(0..all.len());
        is_whole.then_some(listed.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_one_group() {
        let mut said = Announced::default();
        for rank in 0..8 {
            said.note(&format!(
                "#  Rank  {rank} Group  {} Pid 1 on h device {rank} [0] x",
                rank % 2
            ));
        }
        assert_eq!(said.ranks(), Some(4));
        said.note("#  Rank  9 Group  0 Pid 1 on h device 9 [0] x");
        assert_eq!(said.ranks(), None, "rank 8 is missing");
    }

    #[test]
    fn the_tool_itself_is_believed_first() {
        let mut said = Announced::default();
        said.note("mpirun -np 8 ./all_reduce_perf");
        assert_eq!(said.collective().as_deref(), Some("all_reduce"));
        said.note("next: all_gather_perf");
        assert_eq!(said.collective(), None);
        said.note("# Collective test starting: all_gather_perf");
        assert_eq!(said.collective().as_deref(), Some("all_gather"));
    }
}
