//! Which value is to blame where heaps cannot be laid out.

use collectives::{HeapPlan, Layout, PlanError, Problem, Shape};

use crate::keys::Settings;
use crate::values::Place;

/// The place of the value without which the problem could be laid out.
pub(super) fn to_blame(problem: &Problem, settings: &Settings, error: &PlanError) -> Place {
    let calls = settings.calls();
    let is_wrong = |problem: &Problem| {
        let kind = std::mem::discriminant::<PlanError>;
        HeapPlan::new(problem).is_err_and(|other| kind(&other) == kind(error))
    };
    let alone =
        |index: usize| Problem { calls: vec![problem.calls[index].clone()], ..problem.clone() };
    let Some(index) = (0..calls.len()).find(|index| is_wrong(&alone(*index))) else {
        return settings.guard_bytes.place;
    };
    let call = &calls[index];
    match error {
        PlanError::World(_) => settings.ranks.place,
        PlanError::InPlace(..) => settings.in_place.place,
        PlanError::Counts(..) => call.counts.place,
        PlanError::Scalars(_) => call.scalars.place,
        PlanError::NoCall => settings.calls.place,
        PlanError::Overflow => {
            let mut small_guards = alone(index);
            small_guards.guard_bytes = 0;
            let mut plain = alone(index);
            plain.layout = Layout::default();
            plain.calls[0].details.layout = None;
            let mut small_shape = alone(index);
            small_shape.calls[0].shape = Shape { m: 1, n: 1 };
            if !is_wrong(&small_guards) {
                settings.guard_bytes.place
            } else if !is_wrong(&plain) {
                call.layout.place
            } else if !is_wrong(&small_shape) {
                call.shape.place
            } else {
                // More than one is too large by itself.
                [call.layout.place, settings.guard_bytes.place, call.shape.place]
                    .into_iter()
                    .find(|place| place.is_known())
                    .unwrap_or_default()
            }
        }
    }
}
