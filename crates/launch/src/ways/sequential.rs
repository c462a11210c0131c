//! Ranks one after another, in several orders.

use collectives::{Finding, FindingKind};
use ranks::PoolError;

use super::failure;
use crate::admit::Admitted;
use crate::attempt::{Knobs, Ranks, attempt};
use crate::loss::is_loss;
use crate::orders::{Orders, first_few, show};
use crate::tally::Tally;

/// Attempts a case in every order of the list.
pub(super) fn run(
    admitted: &Admitted<'_>,
    ranks: &mut dyn Ranks,
    tally: &mut Tally,
    orders: &Orders,
) -> Result<(), PoolError> {
    let (mut passed, mut failed) = (Vec::new(), Vec::new());
    tally.orders().complete = orders.complete;
    for order in &orders.list {
        tally.orders().ran += 1;
        let knobs = Knobs::new(order.clone());
        let ran = attempt(admitted, &knobs, ranks)?;
        tally.add(&ran);
        if ran.is_right() {
            passed.push(show(order));
            continue;
        }
        if failed.is_empty() {
            failure::take_first(admitted, &knobs, ranks, tally, ran.findings)?;
        }
        failed.push(show(order));
        if tally.result.findings.iter().any(|finding| is_loss(finding.kind)) {
            break;
        }
    }
    tally.result.findings.extend(order_dependent(&passed, &failed));
    Ok(())
}

/// A result that some orders have right and some wrong.
pub fn order_dependent(passed: &[String], failed: &[String]) -> Option<Finding> {
    (!passed.is_empty() && !failed.is_empty()).then(|| {
        let text = format!(
            "the result depends on the order in which ranks run: right in {} ({}), wrong in {} ({})",
            passed.len(),
            first_few(passed),
            failed.len(),
            first_few(failed),
        );
        Finding::event(FindingKind::OrderDependent, None, None, text)
    })
}
