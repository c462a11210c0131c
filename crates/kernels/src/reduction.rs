//! What a manifest promises about a reduction's arithmetic, and what else happens in a call.

use collectives::op::{
    Accumulate, Average, Initial, NanRule, Numerics, Order, Overflow, SignedZeros,
};
use collectives::{Call, DType, Init, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::expression::Expression;
use crate::symbols::Scope;

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

/// A number, or an integer expression.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FloatValue {
    /// A number.
    Number(f64),
    /// An integer expression.
    Expression(Expression),
}

/// A type for partial results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccumulateSpec(pub Accumulate);

/// What happens in a call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Step {
    /// By name.
    Named(NamedStep),
    /// The members' outputs are filled.
    Fill(FillStep),
}

/// A step without parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NamedStep {
    /// The kernel runs.
    Kernel,
    /// All ranks have finished the step before.
    HostBarrier,
}

/// A fill before the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FillStep {
    /// Which region: `output`.
    pub fill: FilledRegion,
    /// With what.
    #[schemars(with = "String")]
    pub with: Init,
}

/// A region that a step may fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilledRegion {
    /// What members receive.
    Output,
}

/// The steps of a kernel that says nothing about them.
pub(crate) fn kernel_alone() -> Vec<Step> {
    vec![Step::Named(NamedStep::Kernel)]
}

/// What the outputs hold when the kernel starts.
///
/// # Errors
/// Steps that this harness does not take: anything but fills, barriers, and one kernel at the end.
pub fn output_init(steps: &[Step]) -> Result<Init, String> {
    let mut init = Init::Poison;
    match steps.split_last() {
        Some((Step::Named(NamedStep::Kernel), before)) => {
            for step in before {
                match step {
                    Step::Fill(fill) => init = fill.with,
                    Step::Named(NamedStep::HostBarrier) => {}
                    Step::Named(NamedStep::Kernel) => {
                        return Err("`steps` run the kernel more than once".into());
                    }
                }
            }
            Ok(init)
        }
        _ => Err("`steps` must end with `kernel`".into()),
    }
}

impl ReductionSpec {
    fn order(&self) -> Option<OrderSpec> {
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

    /// Owner and first group rank of every tile; empty where they do not depend on tiles.
    ///
    /// # Errors
    /// An expression without a value, or with one that is no group rank.
    pub fn by_tile(&self, scope: &Scope<'_>) -> Result<(Vec<u32>, Vec<u32>), String> {
        let starts = match self.order() {
            Some(OrderSpec::StartAt(StartAt::Value(expression))) => Some(expression),
            _ => None,
        };
        let values = |expression: Option<&Expression>| match expression {
            Some(expression) => tile_values(expression, scope),
            None => Ok(Vec::new()),
        };
        Ok((values(self.owner.as_ref())?, values(starts.as_ref())?))
    }
}

fn tile_values(expression: &Expression, scope: &Scope<'_>) -> Result<Vec<u32>, String> {
    let call: &Call = scope.call();
    let [down, across] = Problem::tiles(call);
    (0..down * across)
        .map(|tile| {
            let value = expression.evaluate(&|symbol| match symbol {
                "tile" => Ok(tile as i64),
                "tile.row" => Ok((tile / across) as i64),
                "tile.column" => Ok((tile % across) as i64),
                "pid" => Ok((tile % u64::from(call.blocks.max(1))) as i64),
                _ => scope.integer(symbol),
            });
            let value = value.map_err(|error| error.to_string())?;
            let group_rank = u32::try_from(value).ok().filter(|g| *g < call.group.size());
            group_rank
                .ok_or_else(|| format!("`{expression}` is {value} for tile {tile}: no group rank"))
        })
        .collect()
}

impl FloatValue {
    /// The value.
    ///
    /// # Errors
    /// An expression that has none.
    pub fn evaluate(&self, scope: &Scope<'_>) -> Result<f64, String> {
        match self {
            FloatValue::Number(number) => Ok(*number),
            FloatValue::Expression(expression) => expression
                .evaluate(&|symbol| scope.integer(symbol))
                .map(|value| value as f64)
                .map_err(|error| error.to_string()),
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
