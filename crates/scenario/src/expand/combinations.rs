//! Every combination of axis values.

use super::file::{CASE_LIMIT, ExpandError, Expander};
use crate::keys::{Axis, Settings};

/// One combination of axis values.
#[derive(Debug, Clone)]
pub(super) struct Combination {
    /// The value of every key.
    pub settings: Settings,
    /// The line of the value that best names the combination.
    pub line: u64,
    /// Number of the value on each axis.
    pub indices: Vec<usize>,
}

/// Every combination, in order of the axes.
pub(super) fn combinations(
    expander: &Expander<'_>,
    axes: &[Axis<'_>],
) -> Result<Vec<Combination>, ExpandError> {
    let scenario = expander.scenario;
    for axis in axes {
        let name = axis.name;
        match axis.values.first() {
            None => {
                let message = format!("matrix.{name} is an empty list");
                return Err(expander.error(axis.place, message));
            }
            Some((place, _)) if axis.is_stated => {
                let message = format!("`{name}` stands both in matrix and outside it");
                return Err(expander.error(*place, message));
            }
            Some(_) => {}
        }
    }
    let product = axes.iter().try_fold(1usize, |all, axis| all.checked_mul(axis.values.len()));
    let limit = scenario.allow_cases.unwrap_or(CASE_LIMIT);
    if product.is_none_or(|product| product > limit) {
        let count = product.map_or("too many".into(), |product| product.to_string());
        return Err(expander.error(
            scenario.matrix.place,
            format!("the matrix has {count} combinations, more than {limit} (thin it with `sample: {{pairwise: 1}}`, or state `allow_cases`)"),
        ));
    }
    let mut all = vec![Combination {
        settings: Settings::of(scenario, &expander.kernel),
        line: scenario.scenario.place.line,
        indices: Vec::new(),
    }];
    for axis in axes {
        let with_each = |combination: Combination| {
            axis.values.iter().enumerate().map(move |(index, (place, set))| {
                let mut next = combination.clone();
                set(&mut next.settings);
                next.indices.push(index);
                // A case is best found by the line of its shape.
                let line = if axis.name == "shape" { place.line } else { 0 };
                next.line = next.line.max(line);
                next
            })
        };
        all = all.into_iter().flat_map(with_each).collect();
    }
    Ok(all)
}
