//! The sizes that must be tested at each edge of a file, and what must happen there.
//!
//! An edge is the first size of its upper side: a row's `min`, or its `max + 1`. The two runnable
//! sizes that straddle it prove it; an edge at which the decision is the same on both sides proves
//! nothing and is listed without a run.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::csv::{Rule, Table, WILDCARD};
use crate::evaluate::{Choice, Query, Situation, Unavailable, evaluate};
use crate::sizes::{Dtype, Runner, at_or_above, at_or_below, elements_per_rank, granule};

/// Values for what rows leave open.
#[derive(Debug, Clone, Copy)]
pub struct Defaults {
    /// Nodes, for rows that match any number.
    pub nodes: i32,
    /// Ranks, for rows that match any number.
    pub ranks: i32,
    /// Element type of the runs.
    pub dtype: Dtype,
}

/// One size and what the file makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sample {
    /// Bytes of the whole operation.
    pub bytes: u64,
    /// Line of the row that applies.
    pub line: Option<usize>,
    /// Its effect.
    pub choice: Choice,
}

/// One edge and the sizes that straddle it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Probe {
    /// The communicator to run it in.
    #[serde(flatten)]
    pub situation: Situation,
    /// First size of the upper side, in bytes.
    pub edge: u64,
    /// Lines of the rows that begin or end here.
    pub lines: Vec<usize>,
    /// Largest runnable size below the edge; none where that would be an empty message.
    pub below: Option<Sample>,
    /// Smallest runnable size at or above the edge; none beyond 2^64.
    pub above: Option<Sample>,
}

impl Probe {
    /// Whether the decision differs between the two sides.
    pub fn is_visible(&self) -> bool {
        let line = |sample: Option<Sample>| sample.map(|sample| sample.line);
        line(self.below) != line(self.above)
    }

    /// The perf-tool command that runs both sides; `None` where neither can run.
    pub fn command(&self, dtype: Dtype) -> Option<String> {
        let sizes: Vec<u64> = [self.below, self.above].iter().flatten().map(|s| s.bytes).collect();
        let (first, last) = (sizes.first()?, sizes.last()?);
        let step = if first < last { format!(" -i {}", last - first) } else { String::new() };
        let registered = if self.situation.reg_buff == 1 { " -R 1" } else { "" };
        let tool = self.situation.collective.snake_name();
        let dtype = dtype.perf_name;
        Some(format!("{tool}_perf -b {first} -e {last}{step} -d {dtype} -c 1{registered}"))
    }
}

/// All edges of all rows, in order of communicator and size.
pub fn probes(table: &Table, defaults: Defaults, runner: Runner) -> Vec<Probe> {
    let mut edges: BTreeMap<(Situation, u64), Vec<usize>> = BTreeMap::new();
    for situation in situations(table, defaults) {
        for row in table.rows.iter().filter(|row| row.rule.concerns(&situation)) {
            let bounds = [Some(row.rule.min_bytes), row.rule.max_bytes.checked_add(1)];
            for edge in bounds.into_iter().flatten().filter(|&edge| edge > 0) {
                edges.entry((situation, edge)).or_default().push(row.line);
            }
        }
    }
    edges
        .into_iter()
        .map(|((situation, edge), lines)| {
            let granule = granule(situation.collective, situation.ranks, defaults.dtype, runner);
            let sample = |bytes: u64| {
                let query = Query { situation, bytes };
                let row = evaluate(table, &query, Unavailable::default()).map(|i| table.rows[i]);
                let choice = Choice::of(table.dialect, row.as_ref().map(|row| &row.rule));
                Sample { bytes, line: row.map(|row| row.line), choice }
            };
            let below = at_or_below(edge - 1, granule).map(sample);
            let above = at_or_above(edge, granule).map(sample);
            Probe { situation, edge, lines, below, above }
        })
        .collect()
}

/// The communicators to probe: of each row its own, with the defaults for what it leaves open, and of
/// rows that leave something open also those that other rows name, where they can decide otherwise.
fn situations(table: &Table, defaults: Defaults) -> BTreeSet<Situation> {
    let named = |axis: fn(&Rule) -> i32, default: i32| -> BTreeSet<i32> {
        let values = table.rows.iter().map(|row| axis(&row.rule));
        values.filter(|&value| value >= 0).chain([default]).collect()
    };
    let nodes = named(|rule| rule.nodes, defaults.nodes);
    let ranks = named(|rule| rule.ranks, defaults.ranks);
    let pipe_ops = named(|rule| rule.pipe_ops, 1);
    let reg_buff = named(|rule| rule.reg_buff, 0);
    let own = |rule: &Rule| {
        let given = |value: i32, default: i32| if value == WILDCARD { default } else { value };
        Situation {
            collective: rule.collective,
            nodes: given(rule.nodes, defaults.nodes),
            ranks: given(rule.ranks, defaults.ranks),
            pipe_ops: given(rule.pipe_ops, 1),
            reg_buff: given(rule.reg_buff, 0),
        }
    };
    let mut found: BTreeSet<Situation> = table.rows.iter().map(|row| own(&row.rule)).collect();
    for collective in table.rows.iter().map(|row| row.rule.collective).collect::<BTreeSet<_>>() {
        for &nodes in &nodes {
            for &ranks in ranks.iter().filter(|&&ranks| ranks >= nodes) {
                for &pipe_ops in &pipe_ops {
                    found.extend(reg_buff.iter().map(|&reg_buff| Situation {
                        collective,
                        nodes,
                        ranks,
                        pipe_ops,
                        reg_buff,
                    }));
                }
            }
        }
    }
    let exists = |at: &Situation| {
        at.nodes >= 1 && at.ranks >= 1 && at.pipe_ops >= 1 && (0..=1).contains(&at.reg_buff)
    };
    found.retain(exists);
    found
}

/// One scenario file for each communicator, for the arm that calls the library directly; each is
/// (name, YAML). `source` names the tuner file in comments.
pub fn scenarios(probes: &[Probe], dtype: Dtype, source: &str) -> Vec<(String, String)> {
    let mut sizes: BTreeMap<Situation, Vec<u64>> = BTreeMap::new();
    for probe in probes.iter().filter(|probe| probe.is_visible()) {
        let both = [probe.below, probe.above].into_iter().flatten().map(|sample| sample.bytes);
        sizes.entry(probe.situation).or_default().extend(both);
    }
    sizes
        .into_iter()
        .map(|(at, mut bytes)| {
            bytes.sort_unstable();
            bytes.dedup();
            let kernel = at.collective.snake_name();
            let name = format!(
                "{kernel}_edges_n{}_r{}_p{}_b{}",
                at.nodes, at.ranks, at.pipe_ops, at.reg_buff
            );
            let shapes: Vec<_> = bytes
                .iter()
                .map(|&size| {
                    format!("1x{}", elements_per_rank(at.collective, size, at.ranks, dtype))
                })
                .collect();
            let yaml = format!(
                "# Catches: a tuner rule that reaches past its bounds ({source}, {} nodes, pipeOps {}, \
                 regBuff {}).\n# Bytes of the whole operation: {}\n\
                 scenario: tuner/{name}\nkernel: library/{kernel}\nmatrix:\n  ranks: [{}]\n  \
                 dtype: [{}]\n  shape: [{}]\n",
                at.nodes,
                at.pipe_ops,
                at.reg_buff,
                bytes.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
                at.ranks,
                dtype.scenario_name,
                shapes.join(", "),
            );
            (name, yaml)
        })
        .collect()
}
