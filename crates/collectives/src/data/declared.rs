//! Whether the bits of a reduction's result are known: its data are exact in any order, or its
//! author declares enough. What is not declared is never assumed.

use crate::data::exact::ExactFill;
use crate::meaning::dtype::DType;
use crate::meaning::float;
use crate::meaning::op::{Average, Op, Order, Overflow};
use crate::meaning::problem::{Call, Data, Problem};
use crate::meaning::rank::GroupRank;

/// What would have to be known, and what is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undeclared {
    /// What is needed.
    pub needed: String,
    /// What there is.
    pub found: String,
}

/// The first thing that must be known to judge `problem` and is not.
pub fn undeclared(problem: &Problem) -> Option<Undeclared> {
    if !problem.collective.reduces() {
        return None;
    }
    problem.calls.iter().find_map(|call| in_call(problem, call))
}

fn in_call(problem: &Problem, call: &Call) -> Option<Undeclared> {
    let numerics = &problem.numerics;
    let op = call.details.op;
    let members = u64::from(call.group.size());
    let dtype = problem.dtype;
    let held = numerics.held_in(dtype);
    let say = |needed: &str, found: String| Some(Undeclared { needed: needed.into(), found });
    let nothing = |key: &str, values: &str| {
        say(&format!("`reduction: {{{key}: {values}}}` in the manifest"), "nothing declared".into())
    };
    // Integers wrap in their own type, which neither a float nor a narrower one does for them.
    let narrow = !dtype.is_float() && (held.is_float() || held.bytes() < dtype.bytes());
    if narrow || (dtype.is_float() && !held.is_float()) {
        return say("an accumulate type that holds the elements", format!("{held} for {dtype}"));
    }
    let factors: Vec<i32> = (0..call.group.size()).map(|g| call.scalar(GroupRank(g))).collect();
    let vanishes = |factor: &i32| u64::from(factor.trailing_zeros()) >= 8 * dtype.bytes();
    if op == Op::PremulSum && !dtype.is_float() && factors.iter().any(vanishes) {
        return say(
            "factors that are not zero in the elements' type",
            format!("{factors:?} in {dtype}"),
        );
    }
    if dtype.is_float() {
        // Whether such a number is rounded first or used as it is, is nowhere declared.
        let exact = |value: f64| float::round(held, value, Overflow::Nan) == value;
        if op == Op::PremulSum && !factors.iter().all(|factor| exact(f64::from(*factor))) {
            return say("factors that the accumulate type holds", format!("{factors:?} in {held}"));
        }
        if op == Op::Avg && !exact(members as f64) {
            let found = format!("{members} ranks in {held}");
            return say("a number of ranks that the accumulate type holds", found);
        }
    }
    // Sums of special integers overflow, in a type that matters to what comes out of a division.
    let overflows = op == Op::Avg && !dtype.is_float() && problem.data == Data::BitPatterns;
    if overflows && numerics.accumulate.is_none() {
        return nothing("accumulate", "element, i32, ..");
    }
    let divides = op == Op::Avg && !members.is_power_of_two();
    match numerics.avg {
        None if divides && dtype.is_float() => return nothing("avg", "divide_after"),
        Some(Average::ScaleBefore) if divides || (op == Op::Avg && !dtype.is_float()) => {
            let found = format!("scale_before: {dtype} elements over {members} ranks");
            if problem.data == Data::Keyed || !dtype.is_float() {
                return say("an average that is exact (divide_after, or 2^k ranks)", found);
            }
        }
        _ => {}
    }
    if problem.data == Data::Keyed || !dtype.is_float() {
        return match ExactFill::exists(problem, call) {
            true => None,
            false if op == Op::PremulSum => {
                let needed = "factors with which every partial sum is exact";
                say(needed, format!("{factors:?} in {dtype}"))
            }
            false => say(
                "integers whose every partial sum is exact",
                format!("{op} of {members} ranks in {}", narrower(dtype, held)),
            ),
        };
    }
    let specials = problem.data == Data::BitPatterns;
    match op {
        Op::Min | Op::Max => {
            if specials && numerics.nan.is_none() {
                return nothing("nan", "propagate or ignore");
            }
            if specials && numerics.signed_zeros.is_none() {
                return nothing("signed_zeros", "ordered or first");
            }
            None
        }
        Op::Sum | Op::Prod | Op::Avg | Op::PremulSum => {
            if numerics.order == Order::Any {
                return nothing("order", "rank_order, {start_at: own} or ring");
            }
            if numerics.accumulate.is_none() {
                return nothing("accumulate", "element, f32, ..");
            }
            if op == Op::Avg && numerics.avg.is_none() {
                return nothing("avg", "divide_after or scale_before");
            }
            if specials && op != Op::Prod && numerics.initial.is_none() {
                return nothing("initial", "first or zero");
            }
            if specials && dtype.bytes() == 1 && numerics.overflow.is_none() {
                return nothing("overflow", "saturate or nan");
            }
            None
        }
    }
}

fn narrower(dtype: DType, held: DType) -> DType {
    if held.exact_bits() < dtype.exact_bits() { held } else { dtype }
}
