//! `reduction:` of a manifest: what it promises about a reduction's arithmetic.

use collectives::DType;
use collectives::op::{
    Accumulate, Average, Initial, NanRule, Numerics, Order, Overflow, SignedZeros,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::expression::Expression;

/// `reduction:` of a manifest. What is not said is not assumed: such cases get data that are exact
/// in any order, or are not run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReductionSpec {
    /// In which order the members' elements are combined.
    pub order: Option<OrderSpec>,
    /// The same as `order: {start_at: ..}`.
    pub start_at: Option<StartAt>,
    /// Where partial results are held: `element`, `at_least_f32`, or a dtype.
    #[schemars(with = "Option<String>")]
    pub accumulate: Option<AccumulateSpec>,
    /// Where a sum begins: `first` or `zero`.
    #[schemars(with = "Option<String>")]
    pub initial: Option<Initial>,
    /// `divide_after` or `scale_before`.
    #[schemars(with = "Option<String>")]
    pub avg: Option<Average>,
    /// NaN in min and max: `propagate` or `ignore`.
    #[schemars(with = "Option<String>")]
    pub nan: Option<NanRule>,
    /// Zeros of both signs in min and max: `ordered` or `first`.
    #[schemars(with = "Option<String>")]
    pub signed_zeros: Option<SignedZeros>,
    /// fp8 beyond its largest value: `saturate` or `nan`.
    #[schemars(with = "Option<String>")]
    pub overflow: Option<Overflow>,
    /// The group rank that computes a tile; the member that receives it where it is not said.
    pub owner: Option<Expression>,
}

/// An order of operands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderSpec {
    /// Not fixed.
    Any,
    /// Group ranks 0, 1, ..
    RankOrder,
    /// The computing member's successor first, the member itself last.
    Ring,
    /// Up from a group rank, around the group.
    StartAt(StartAt),
}

/// The group rank whose element comes first: `own`, or an expression of `tile`, `pid` and others.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub enum StartAt {
    /// That of the member that computes the element.
    Own,
    /// The value.
    Value(Expression),
}

/// A type for partial results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccumulateSpec(pub Accumulate);

impl ReductionSpec {
    /// The order of operands, under whichever of its two keys it stands.
    pub(crate) fn order(&self) -> Option<OrderSpec> {
        self.order.clone().or_else(|| self.start_at.clone().map(OrderSpec::StartAt))
    }

    /// The promises, tile by tile values aside.
    pub fn numerics(&self) -> Numerics {
        let order = match self.order() {
            None | Some(OrderSpec::Any) => Order::Any,
            Some(OrderSpec::RankOrder) => Order::RankOrder,
            Some(OrderSpec::Ring) => Order::Ring,
            Some(OrderSpec::StartAt(StartAt::Own)) => Order::Own,
            Some(OrderSpec::StartAt(StartAt::Value(_))) => Order::ByTile,
        };
        Numerics {
            order,
            accumulate: self.accumulate.map(|spec| spec.0),
            initial: self.initial,
            avg: self.avg,
            nan: self.nan,
            signed_zeros: self.signed_zeros,
            overflow: self.overflow,
        }
    }
}

impl<'de> Deserialize<'de> for StartAt {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "own" => Ok(StartAt::Own),
            _ => Expression::parse(&text).map(StartAt::Value).map_err(serde::de::Error::custom),
        }
    }
}

impl<'de> Deserialize<'de> for AccumulateSpec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let accumulate = match text.as_str() {
            "element" => Ok(Accumulate::Element),
            "at_least_f32" => Ok(Accumulate::AtLeastF32),
            name => name.parse::<DType>().map(Accumulate::As).map_err(|error| {
                serde::de::Error::custom(format!("{error}, element, at_least_f32"))
            }),
        };
        accumulate.map(AccumulateSpec)
    }
}
