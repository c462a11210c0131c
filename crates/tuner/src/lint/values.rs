//! Rules about the values of one loaded row.

use crate::bytes::show;
use crate::csv::{Rule, WILDCARD};
use crate::lint::Finding;
use crate::lint::rules::RuleId;
use crate::sizes::{Dtype, Runner, at_or_below, granule};

/// Whether no message of any communicator can match the row.
pub(super) fn never_matches(rule: &Rule) -> bool {
    let impossible = |value: i32| value == 0 || value < WILDCARD;
    rule.min_bytes > rule.max_bytes
        || impossible(rule.nodes)
        || impossible(rule.ranks)
        || impossible(rule.pipe_ops)
        || !(WILDCARD..=1).contains(&rule.reg_buff)
}

/// `columns` are those of the row's tokens; `readable` says whether a token's number was read as
/// written (otherwise another rule has spoken).
pub(super) fn findings(
    rule: &Rule,
    line: usize,
    columns: &[usize],
    readable: impl Fn(usize) -> bool,
) -> Vec<Finding> {
    let at = |id, index: usize, message: String| {
        // A field that is not in the line has the column where it would be.
        let column = columns.get(index).or(columns.last()).copied().unwrap_or(1);
        Finding::new(id, line, column, message)
    };
    let mut found = Vec::new();
    if readable(1) && readable(2) && rule.min_bytes > rule.max_bytes {
        let message = format!("minimum {} exceeds maximum {}", rule.min_bytes, rule.max_bytes);
        found.push(at(RuleId::MinAboveMax, 1, message).suggest("swap them, or remove the row"));
    }
    for (index, what, value) in
        [(6, "nNodes", rule.nodes), (7, "nRanks", rule.ranks), (8, "numPipeOps", rule.pipe_ops)]
    {
        if readable(index) && (value == 0 || value < WILDCARD) {
            let message = format!("{what} {value} never matches");
            found.push(at(RuleId::NeverMatches, index, message).suggest("write -1 for any"));
        }
    }
    if readable(9) && !(WILDCARD..=1).contains(&rule.reg_buff) {
        let message = format!("regBuff {} never matches", rule.reg_buff);
        found.push(at(RuleId::NeverMatches, 9, message).suggest("write 0, 1, or -1 for any"));
    }
    if rule.nodes > 0 && rule.ranks > 0 {
        let (nodes, ranks) = (rule.nodes, rule.ranks);
        if ranks < nodes {
            let message = format!("{ranks} ranks on {nodes} nodes");
            found.push(at(RuleId::RanksBelowNodes, 7, message).suggest("are the two swapped?"));
        } else if ranks % nodes != 0 {
            let message = format!("{ranks} ranks do not spread evenly over {nodes} nodes");
            found.push(at(RuleId::RanksNotMultiple, 7, message));
        }
    }
    if readable(5) && (rule.channels == 0 || rule.channels < WILDCARD) {
        let meaning = match rule.channels {
            0 => "nccl-example: the library's default; rccl-builtin: a warning and the default",
            _ => {
                "nccl-example: handed to the library as it is; rccl-builtin: a warning and the default"
            }
        };
        let message = format!("channels {}: {meaning}", rule.channels);
        found.push(at(RuleId::Channels, 5, message).suggest("write -1 or a positive number"));
    }
    if !rule.algorithm.serves(rule.collective) {
        let message = format!("{} has no {} algorithm", rule.collective, rule.algorithm);
        found.push(at(RuleId::AlgorithmUnsupported, 3, message));
    } else if !rule.algorithm.speaks(rule.protocol) {
        let message = format!("{} is offered with protocol simple only", rule.algorithm);
        found.push(at(RuleId::AlgorithmUnsupported, 4, message));
    }
    if readable(2) {
        found.extend(unreachable_max(rule).map(|message| at(RuleId::UnreachableMax, 2, message)));
    }
    found
}

fn unreachable_max(rule: &Rule) -> Option<String> {
    let max = rule.max_bytes;
    let dtypes = ["half", "float"].map(|name| name.parse::<Dtype>().ok());
    let reached: Vec<_> = dtypes
        .into_iter()
        .flatten()
        .filter_map(|dtype| {
            let step = granule(rule.collective, rule.ranks, dtype, Runner::Library);
            let size = at_or_below(max, step)?;
            (size != max).then(|| format!("{} {size}", dtype.perf_name))
        })
        .collect();
    let open = max == u64::MAX || rule.min_bytes > max || reached.is_empty();
    (!open).then(|| format!("largest sizes at or below {}: {}", show(max), reached.join(", ")))
}
