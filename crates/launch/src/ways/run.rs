//! The attempts that a case needs in its mode.

use ranks::PoolError;
use scenario::Mode;

use super::{delays, exhaustive, failure, seeded, sequential, write_once};
use crate::admit::Admitted;
use crate::attempt::{Knobs, Ranks, attempt};
use crate::not_proved::not_proved;
use crate::orders::{Effort, Orders};
use crate::schedules::Strategy;
use crate::tally::Tally;

/// Attempts a case in every order, under every schedule or in processes; what is found is that of the
/// first attempt that fails.
///
/// # Errors
/// Ctrl-C, or no rank process can be had.
pub fn run(
    admitted: &Admitted<'_>,
    ranks: &mut dyn Ranks,
    tally: &mut Tally,
) -> Result<(), PoolError> {
    let Admitted { case, config, .. } = admitted;
    let share = config.budget.take(admitted.heap_bytes);
    let _share = share.expect("checked against the whole budget");
    tally.result.source.sha256 = source_sha256(admitted);
    admitted.reserve(ranks)?;
    let orders = Orders::new(&case.problem, admitted.heap_bytes, effort(admitted));
    let first = &orders.list[0];
    match (admitted.mode, admitted.together) {
        (Mode::Logical, false) => sequential::run(admitted, ranks, tally, &orders)?,
        (Mode::Logical, true) => match config.schedules.strategy {
            Strategy::Seeded => seeded::run(admitted, ranks, tally, first)?,
            Strategy::Exhaustive => exhaustive::run(admitted, ranks, tally, first)?,
        },
        (Mode::Process | Mode::Host, _) => {
            let knobs = Knobs::new(first.clone());
            let ran = attempt(admitted, &knobs, ranks)?;
            tally.processes();
            tally.add(&ran);
            failure::take_first(admitted, &knobs, ranks, tally, ran.findings)?;
            if let Some(time) = config.schedules.delay.filter(|_| tally.is_right() && case.waits())
            {
                delays::run(admitted, ranks, tally, first, time)?;
            }
        }
    }
    if case.write_once && config.capabilities().observes_accesses && tally.is_right() {
        write_once::run(admitted, ranks, tally, first)?;
    }
    tally.result.not_proved = not_proved(admitted, &tally.result.how, &tally.result.gpus);
    Ok(())
}

fn effort(admitted: &Admitted<'_>) -> Effort {
    match admitted.config.capabilities().repeats_orders_cheaply {
        _ if admitted.config.all_orders => Effort::All,
        true => Effort::Affordable,
        false => Effort::Few,
    }
}

fn source_sha256(admitted: &Admitted<'_>) -> String {
    admitted.objects.last().map_or_else(String::new, |object| object.source_sha256.clone())
}
