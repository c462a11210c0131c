//! The unit of a module for a GPU: the vendor's headers are its own, and so is the source.

use std::fmt::Write as _;

use super::Parts;

pub(super) fn unit(parts: &Parts<'_>) -> String {
    let (ours, own) = parts.split_defines();
    let mut unit = ours;
    unit += &Parts::includes(&[parts.prelude, "rankcheck.h"]);
    // The vendor's headers take longer than most kernels.
    let narrow = |value: &String| value.starts_with("rc_f") || value.starts_with("rc_bf");
    let mut own_values = parts.defines.iter().filter(|(name, _)| !name.starts_with("RC_"));
    if own_values.any(|(_, value)| narrow(value)) {
        unit += &Parts::includes(&["rc_types.h"]);
    }
    unit += &own;
    let _ = writeln!(unit, "#line 1 {:?}\n{}", parts.name, parts.source);
    unit
}
