//! Message sizes that can be run at all: multiples of an element, or of one part a rank.
//!
//! Source: nccl-tests and rccl-tests `src/*.cu`. `count = bytes / element`; for the split
//! collectives each rank's part is cut to a multiple of 16 bytes (4 elements in rccl-tests before
//! 2025), so other sizes are silently rounded down by the tool.

use std::str::FromStr;

use serde::Serialize;

use crate::names::Collective;

/// An element type, spelled as the perf tools and as scenarios spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Dtype {
    /// The perf tools' spelling (`-d`).
    pub perf_name: &'static str,
    /// The scenarios' spelling.
    pub scenario_name: &'static str,
    /// Bytes of one element.
    pub bytes: u64,
}

/// All element types that both sides know.
pub const DTYPES: [Dtype; 10] = [
    Dtype { perf_name: "int8", scenario_name: "i8", bytes: 1 },
    Dtype { perf_name: "uint8", scenario_name: "u8", bytes: 1 },
    Dtype { perf_name: "half", scenario_name: "f16", bytes: 2 },
    Dtype { perf_name: "bfloat16", scenario_name: "bf16", bytes: 2 },
    Dtype { perf_name: "int32", scenario_name: "i32", bytes: 4 },
    Dtype { perf_name: "uint32", scenario_name: "u32", bytes: 4 },
    Dtype { perf_name: "float", scenario_name: "f32", bytes: 4 },
    Dtype { perf_name: "int64", scenario_name: "i64", bytes: 8 },
    Dtype { perf_name: "uint64", scenario_name: "u64", bytes: 8 },
    Dtype { perf_name: "double", scenario_name: "f64", bytes: 8 },
];

/// An element type that neither spelling knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype `{got}` (accepted: {accepted})")]
pub struct UnknownDtype {
    got: String,
    accepted: String,
}

impl FromStr for Dtype {
    type Err = UnknownDtype;

    fn from_str(got: &str) -> Result<Self, UnknownDtype> {
        let known = |dtype: &&Self| dtype.perf_name == got || dtype.scenario_name == got;
        DTYPES.iter().find(known).copied().ok_or_else(|| UnknownDtype {
            got: got.to_owned(),
            accepted: DTYPES
                .map(|dtype| format!("{}|{}", dtype.scenario_name, dtype.perf_name))
                .join(", "),
        })
    }
}

/// What will run the sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// A perf tool, which aligns each rank's part to 16 bytes.
    PerfTool,
    /// An rccl-tests that aligns each rank's part to 4 elements.
    OldRcclTests,
    /// The library called directly.
    Library,
}

/// Bytes by which runnable sizes of the whole operation are apart.
pub fn granule(collective: Collective, ranks: i32, dtype: Dtype, runner: Runner) -> u64 {
    let parts = u64::try_from(ranks).unwrap_or(1).max(1);
    match (collective.is_split(), runner) {
        (false, _) => dtype.bytes,
        (true, Runner::PerfTool) => parts * dtype.bytes.max(16),
        (true, Runner::OldRcclTests) => parts * dtype.bytes * 4,
        (true, Runner::Library) => parts * dtype.bytes,
    }
}

/// Largest multiple of `granule` at or below `bytes`; `None` where that is 0 (no message).
pub fn at_or_below(bytes: u64, granule: u64) -> Option<u64> {
    Some(bytes / granule * granule).filter(|&size| size > 0)
}

/// Smallest multiple of `granule` at or above `bytes`; `None` beyond 2^64 and where that is 0.
pub fn at_or_above(bytes: u64, granule: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(granule).filter(|&size| size > 0)
}

/// Elements of the per-rank shape that a scenario names for an operation of `bytes`: the input,
/// or for reduce_scatter the output.
pub fn elements_per_rank(collective: Collective, bytes: u64, ranks: i32, dtype: Dtype) -> u64 {
    bytes / granule(collective, ranks, dtype, Runner::Library)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    // 150994943 with float: 150994940 in, 150994944 out.
    #[rstest]
    #[case(Collective::AllReduce, 16, "float", Runner::PerfTool, 4)]
    #[case(Collective::AllGather, 16, "float", Runner::PerfTool, 256)]
    #[case(Collective::AllGather, 16, "float", Runner::Library, 64)]
    #[case(Collective::AllGather, 16, "float", Runner::OldRcclTests, 256)]
    #[case(Collective::AllGather, 16, "f64", Runner::OldRcclTests, 512)]
    #[case(Collective::ReduceScatter, 3, "u8", Runner::OldRcclTests, 12)]
    #[case(Collective::AllReduce, 16, "f64", Runner::OldRcclTests, 8)]
    #[case(Collective::ReduceScatter, 3, "f16", Runner::PerfTool, 48)]
    #[case(Collective::Broadcast, 8, "u8", Runner::PerfTool, 1)]
    fn granules(
        #[case] collective: Collective,
        #[case] ranks: i32,
        #[case] dtype: &str,
        #[case] runner: Runner,
        #[case] expected: u64,
    ) {
        assert_eq!(granule(collective, ranks, dtype.parse().unwrap(), runner), expected);
    }

    #[test]
    fn rounding_never_makes_an_empty_message_or_wraps() {
        assert_eq!(at_or_below(150_994_943, 4), Some(150_994_940));
        assert_eq!(at_or_above(150_994_944, 4), Some(150_994_944));
        assert_eq!(at_or_below(3, 4), None);
        assert_eq!(at_or_above(0, 4), None);
        assert_eq!(at_or_above(u64::MAX, 4), None);
    }

    #[test]
    fn an_unknown_dtype_names_the_accepted_ones() {
        let message = "float16".parse::<Dtype>().unwrap_err().to_string();
        assert!(message.contains("`float16`") && message.contains("f16|half"), "{message}");
    }
}
