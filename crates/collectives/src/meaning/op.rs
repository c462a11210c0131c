//! What a reduction combines elements by, and what its author declares about the arithmetic.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::meaning::dtype::DType;

/// How the elements of a group's members are combined.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// x0 + x1 + ...
    #[default]
    Sum,
    /// x0 * x1 * ...
    Prod,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The sum divided by the group's size; integers towards zero.
    Avg,
    /// s0*x0 + s1*x1 + ..., where s is the member's [`crate::Call::scalar`].
    PremulSum,
}

impl Op {
    /// Every op, in the order in which they are listed to users.
    pub const ALL: [Op; 6] = [Op::Sum, Op::Prod, Op::Min, Op::Max, Op::Avg, Op::PremulSum];

    /// The one spelling that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Sum => "sum",
            Op::Prod => "prod",
            Op::Min => "min",
            Op::Max => "max",
            Op::Avg => "avg",
            Op::PremulSum => "premul_sum",
        }
    }

    /// Whether the result depends on rounding, and so on the order of the operands.
    pub const fn rounds(self) -> bool {
        !matches!(self, Op::Min | Op::Max)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Op::ALL.into_iter().find(|op| op.name() == text).ok_or_else(|| {
            let accepted: Vec<_> = Op::ALL.iter().map(|op| op.name()).collect();
            format!("unknown op `{text}`, expected one of {}", accepted.join(", "))
        })
    }
}

/// In which order a kernel combines the members' elements. All but `Any` go up by one group rank
/// from a first one, around the group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Not declared, or not fixed: only data that are exact in any order can be judged.
    #[default]
    Any,
    /// From group rank 0.
    RankOrder,
    /// From the member that computes the element.
    Own,
    /// From the successor of the member that computes the element, which comes last.
    Ring,
    /// From the group rank in [`crate::meaning::problem::Details::starts`] for the element's tile.
    ByTile,
}

/// The type in which partial results are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Accumulate {
    /// That of the elements.
    Element,
    /// f32 for floats narrower than it, else that of the elements.
    AtLeastF32,
    /// This one, whatever the elements are.
    As(DType),
}

/// When an average divides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Average {
    /// The sum, by the group's size.
    DivideAfter,
    /// Every element, by the reciprocal of the group's size in the accumulate type.
    ScaleBefore,
}

/// What a minimum or maximum makes of a NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NanRule {
    /// The result is a NaN.
    Propagate,
    /// The other operand wins.
    Ignore,
}

/// Which zero a minimum or maximum of zeros of both signs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignedZeros {
    /// The negative one is smaller.
    Ordered,
    /// The one that came first in the declared order.
    First,
}

/// What a value beyond the largest finite fp8 becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overflow {
    /// The largest finite value of its sign.
    Saturate,
    /// A NaN, or an infinity where the type has one.
    Nan,
}

/// Where a sum begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Initial {
    /// With the first member's element.
    First,
    /// With zero, so that negative zeros are lost.
    Zero,
}

/// What a kernel declares about its arithmetic; nothing is assumed where it says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the types say it")]
pub struct Numerics {
    pub order: Order,
    pub accumulate: Option<Accumulate>,
    pub initial: Option<Initial>,
    pub avg: Option<Average>,
    pub nan: Option<NanRule>,
    pub signed_zeros: Option<SignedZeros>,
    pub overflow: Option<Overflow>,
}

impl Numerics {
    /// The type in which partial results of `dtype` are held; its own where nothing is declared.
    pub fn held_in(&self, dtype: DType) -> DType {
        match self.accumulate {
            Some(Accumulate::As(held)) => held,
            Some(Accumulate::AtLeastF32) if dtype.is_float() && dtype.bytes() < 4 => DType::F32,
            Some(Accumulate::AtLeastF32) => dtype,
            Some(Accumulate::Element) | None => dtype,
        }
    }
}
