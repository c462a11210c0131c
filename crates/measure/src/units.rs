//! The bytes of an operation, in the units of the vendors' perf tools.
//!
//! Source: `doc/PERFORMANCE.md` of nccl-tests. Algorithm bandwidth is the operation's bytes over its time; bus
//! bandwidth is that times a factor, so that it can be held against what a link carries.

use collectives::{Collective, Problem};

/// The size of an operation, and the factor from algorithm bandwidth to bus bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    /// Bytes as perf tools count them: of the larger of a rank's two buffers.
    pub bytes: u64,
    /// What algorithm bandwidth is multiplied by to get bus bandwidth.
    pub bus_factor: f64,
}

/// The units of a problem's first call.
pub fn units(problem: &Problem) -> Units {
    let call = &problem.calls[0];
    let part = call.shape.m * call.shape.n * problem.dtype.bytes();
    let size = u64::from(call.group.size());
    let members = size as f64;
    let to_others = (members - 1.0) / members;
    let (bytes, bus_factor) = match problem.collective {
        Collective::AllGather
        | Collective::Gather
        | Collective::Scatter
        | Collective::AllToAll
        | Collective::AllToAllColumns
        | Collective::ReduceScatter => (size * part, to_others),
        Collective::ReduceScatterTiles => (part, to_others),
        Collective::AllReduce => (part, 2.0 * to_others),
        Collective::Broadcast | Collective::Reduce => (part, 1.0),
        Collective::Barrier => (0, 0.0),
    };
    Units { bytes, bus_factor }
}

/// The bytes that all members together must read and write at least, each once: what memory cannot do
/// faster than its bandwidth allows.
pub fn least_traffic(problem: &Problem) -> u64 {
    let call = &problem.calls[0];
    let part = call.shape.m * call.shape.n * problem.dtype.bytes();
    let size = u64::from(call.group.size());
    let [read, written] = match problem.collective {
        Collective::AllGather => [size, size * size],
        Collective::Gather | Collective::Scatter => [size, size],
        Collective::AllToAll | Collective::AllToAllColumns => [size * size, size * size],
        Collective::ReduceScatter => [size * size, size],
        Collective::AllReduce => [size, size],
        Collective::ReduceScatterTiles | Collective::Reduce => [size, 1],
        Collective::Broadcast => [1, size],
        Collective::Barrier => [0, 0],
    };
    (read + written) * part
}

/// What two arms must have in common to be compared, and how the layout differs where bytes are the same.
pub fn semantics(problem: &Problem) -> (String, Option<String>) {
    let collective = match problem.collective {
        Collective::AllToAllColumns => {
            let note = "parts are columns of the input, not rows".to_owned();
            return (Collective::AllToAll.name().to_owned(), Some(note));
        }
        other => other,
    };
    let name = collective.name();
    match collective.reduces() {
        true => (format!("{name} {}", problem.calls[0].details.op.name()), None),
        false => (name.to_owned(), None),
    }
}
