//! What within and between files have in common: sides of a row, what may be compared, verdicts of all rows.

use super::decide::{Policy, decide, spread};
use super::estimate::{Estimate, estimate};
use super::evidence::{Evidence, skews, times};
use super::result::{Compared, Control, Family, Ratio, Side};
use crate::file::{Arm, ArmKind, BenchFile, InvalidKind, Row, Verification};
use crate::stats::adjust::{benjamini_hochberg, holm};
use crate::stats::median;

/// A row before all rows are known.
pub(super) struct Pending {
    pub(super) compared: Compared,
    /// Absent where there is a reason against a ratio.
    pub(super) estimate: Option<Estimate>,
    pub(super) control: Option<Estimate>,
}

/// Why there is no ratio.
pub(super) struct Refused {
    pub(super) why: String,
    /// Whether the arm is to blame.
    pub(super) invalid: bool,
}

/// One arm of one row of a file.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: &'a BenchFile,
    pub(super) row: &'a Row,
    pub(super) arm: usize,
}

impl Place<'_> {
    pub(super) fn arm(&self) -> &Arm {
        &self.row.arms[self.arm]
    }

    /// What is known of the side, whether it is valid or not.
    pub(super) fn side(&self) -> Side {
        let times = times(self.row, self.arm);
        let median_ns = median(&times);
        let busbw = |ns: f64| self.row.bytes as f64 * self.row.bus_factor / ns;
        let busbw_gbs = median_ns.filter(|ns| *ns > 0.0 && self.row.bytes > 0).map(busbw);
        let ceiling = self.row.ceiling.as_ref().map(|ceiling| ceiling.busbw_gbs);
        let share = busbw_gbs.zip(ceiling.filter(|most| *most > 0.0));
        Side {
            arm: self.arm().name.clone(),
            median_ns,
            busbw_gbs,
            share_of_ceiling: share.map(|(busbw, most)| busbw / most),
            skew: median(&skews(self.row, self.arm)),
            samples: times.len(),
        }
    }

    /// Whether its samples may enter a ratio.
    pub(super) fn check(&self) -> Result<(), Refused> {
        let arm = self.arm();
        let refused = |why: String, invalid: bool| Err(Refused { why, invalid });
        if let Some(why) = &self.row.skipped {
            return refused(format!("not measured: {why}"), false);
        }
        let of_arm = |arm: Option<usize>| arm.is_none_or(|arm| arm == self.arm);
        if let Some(invalid) = self.row.invalid.iter().find(|invalid| of_arm(invalid.arm)) {
            return match invalid.kind {
                InvalidKind::Skipped => {
                    refused(format!("`{}` was not measured: {}", arm.name, invalid.reason), false)
                }
                _ => refused(format!("`{}` is invalid: {}", arm.name, invalid.reason), true),
            };
        }
        for (when, verification) in
            [("before", &arm.verified.before), ("after", &arm.verified.after)]
        {
            match verification {
                Verification::Right | Verification::ClaimedRight => {}
                Verification::Wrong(what) => {
                    return refused(
                        format!("`{}` was wrong {when} timing: {what}", arm.name),
                        true,
                    );
                }
                // Nobody could judge what others measured; their comparison says so once.
                Verification::NotJudged if self.is_imported() => {}
                Verification::NotJudged => {
                    return refused(format!("`{}` was not verified {when} timing", arm.name), true);
                }
            }
        }
        if times(self.row, self.arm).is_empty() {
            return refused(format!("`{}` has no samples", arm.name), false);
        }
        if self.side().median_ns == Some(0.0) {
            return refused(format!("`{}` takes 0 ns, which has no ratio", arm.name), false);
        }
        Ok(())
    }

    pub(super) fn is_imported(&self) -> bool {
        !self.file.provenance.is_empty() || self.arm().kind == ArmKind::Command
    }
}

/// Why arms have no ratio even though each is right.
pub(super) fn comparable(base: Place<'_>, other: Place<'_>) -> Result<(), Refused> {
    let refused = |why: String| Err(Refused { why, invalid: false });
    let (a, b) = (base.row, other.row);
    if base.arm().semantics != other.arm().semantics {
        let (a, b) = (&base.arm().semantics, &other.arm().semantics);
        return refused(format!("the arms mean different things: {a} and {b}"));
    }
    // Imported bytes come of printed bandwidths and are not exact; the ids say that the operations are the same.
    if a.bytes != b.bytes && !(base.is_imported() && other.is_imported()) {
        return refused(format!("{} bytes and {} bytes", a.bytes, b.bytes));
    }
    if a.ranks != b.ranks {
        return refused(format!("{} ranks and {} ranks", a.ranks, b.ranks));
    }
    if a.cache != b.cache {
        return refused(format!("caches are {:?} and {:?}", a.cache, b.cache).to_lowercase());
    }
    Ok(())
}

/// A row with the evidence of both sides.
pub(super) fn pending(
    base: Place<'_>,
    other: Place<'_>,
    evidence: impl FnOnce() -> Evidence,
    control: Option<Estimate>,
) -> Pending {
    let allowed = base.check().and_then(|()| other.check()).and_then(|()| comparable(base, other));
    let mut compared = empty(base, other.side());
    compared.layout.clone_from(&other.arm().layout);
    match allowed {
        Ok(()) => Pending { estimate: estimate(&evidence()), compared, control },
        Err(Refused { why, invalid }) => {
            // A base that proves nothing is no fault of the arm's, but nothing was shown to be as fast either.
            (compared.why, compared.invalid) = (why, invalid);
            Pending { compared, estimate: None, control }
        }
    }
}

/// A row without its other side.
pub(super) fn missing(base: Place<'_>, arm: &str, why: String) -> Pending {
    let side = Side {
        arm: arm.to_owned(),
        median_ns: None,
        busbw_gbs: None,
        share_of_ceiling: None,
        skew: None,
        samples: 0,
    };
    let compared = Compared { why, ..empty(base, side) };
    Pending { compared, estimate: None, control: None }
}

fn empty(base: Place<'_>, arm: Side) -> Compared {
    let row = base.row;
    Compared {
        id: row.id.clone(),
        collective: row.collective.clone(),
        axes: row.axes.clone(),
        ranks: row.ranks,
        mode: row.mode.clone(),
        bytes: row.bytes,
        base: base.side(),
        arm,
        layout: None,
        ratio: None,
        control: None,
        verdict: None,
        why: String::new(),
        invalid: false,
    }
}

/// The base against its control, in one row.
pub(super) fn control(file: &BenchFile, row: &Row, base: usize) -> Option<Estimate> {
    let control = row.arms.iter().position(|arm| arm.kind == ArmKind::Control)?;
    let valid = [base, control].map(|arm| Place { file, row, arm }.check().is_ok());
    let evidence = super::evidence::of_arms(row, base, control);
    valid.iter().all(|valid| *valid).then(|| estimate(&evidence)).flatten()
}

/// Judges all rows together.
pub(super) fn judge(pending: Vec<Pending>, policy: Policy) -> (Vec<Compared>, usize) {
    let p_values: Vec<f64> =
        pending.iter().filter_map(|row| row.estimate.as_ref()).map(|found| found.p).collect();
    let tested = p_values.len();
    let adjusted = match policy.family {
        Family::AnyFalse => holm(&p_values),
        Family::FewFalse => benjamini_hochberg(&p_values),
    };
    let mut adjusted = adjusted.into_iter();
    let judged = pending.into_iter().map(|Pending { mut compared, estimate, control }| {
        compared.control = control.as_ref().map(shown_control);
        if let Some(found) = estimate {
            let p_adjusted = adjusted.next().unwrap_or(1.0);
            let (verdict, why) = decide(&found, p_adjusted, tested, control.as_ref(), policy);
            compared.ratio = Some(shown(&found, p_adjusted));
            (compared.verdict, compared.why) = (Some(verdict), why);
        }
        compared
    });
    (judged.collect(), tested)
}

fn shown(found: &Estimate, p_adjusted: f64) -> Ratio {
    Ratio {
        estimate: found.log_ratio.exp(),
        low: found.interval.map(|interval| interval.low.exp()),
        high: found.interval.map(|interval| interval.high.exp()),
        p: found.p,
        p_adjusted,
        detectable: found.detectable.map(f64::exp_m1),
        method: found.method,
        launches: found.launches,
    }
}

fn shown_control(found: &Estimate) -> Control {
    Control {
        estimate: found.log_ratio.exp(),
        low: found.interval.map(|interval| interval.low.exp()),
        high: found.interval.map(|interval| interval.high.exp()),
        spread: spread(found).exp_m1(),
    }
}
