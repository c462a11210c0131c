//! From the cases of each arm to rows: what differs in nothing but the arm stands side by side.

use std::collections::BTreeMap;

use bench::file::ArmKind;
use collectives::Problem;
use scenario::{Case, Mode};

use crate::units::{self, Units};

/// One arm with all its cases.
#[derive(Debug)]
pub struct ArmCases {
    /// The arm's name.
    pub name: String,
    /// What kind of thing it is.
    pub kind: ArmKind,
    /// Its cases, at most one a row.
    pub cases: Vec<Case>,
    /// What its code is: a revision; absent where the source's hash says it.
    pub source: Option<String>,
}

/// One arm of a row.
#[derive(Debug)]
pub struct PlannedArm<'a> {
    /// The arm's name.
    pub name: String,
    /// What kind of thing it is.
    pub kind: ArmKind,
    /// Its case.
    pub case: &'a Case,
    /// What its code is; absent where the source's hash says it.
    pub source: Option<String>,
}

/// One row, before anything has run.
#[derive(Debug)]
pub struct Planned<'a> {
    /// What it is called: the id of its cases without the variant.
    pub id: String,
    /// How ranks exist.
    pub mode: Mode,
    /// The size of the operation.
    pub units: Units,
    /// The arms; the first is the base.
    pub arms: Vec<PlannedArm<'a>>,
    /// Arms that have no case here, and why.
    pub missing: Vec<(String, String)>,
}

/// Rows that cannot be made.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PlanError {
    /// A sequence of calls cannot be timed.
    #[error("{id}: {calls} calls (a benchmark times one call; leave `calls` out)")]
    Calls {
        /// The case.
        id: String,
        /// How many calls it has.
        calls: usize,
    },
    /// Arms that do different things.
    #[error(
        "arm `{arm}` does `{does}`, and `{base}` does `{base_does}`: they mean different things and are \
         not compared"
    )]
    Semantics {
        /// The arm.
        arm: String,
        /// What it does.
        does: String,
        /// The base.
        base: String,
        /// What that does.
        base_does: String,
    },
}

/// The rows of arms, in the order of the base's cases. Each row gets the base once more, as a control.
///
/// # Errors
/// See [`PlanError`].
pub fn plan<'a>(
    arms: &'a [ArmCases],
    modes: &[Mode],
    device: &str,
) -> Result<Vec<Planned<'a>>, PlanError> {
    let Some((base, others)) = arms.split_first() else { return Ok(Vec::new()) };
    let by_key = |arm: &'a ArmCases| -> BTreeMap<String, &'a Case> {
        arm.cases.iter().map(|case| (key(case), case)).collect()
    };
    let others: Vec<(&ArmCases, BTreeMap<String, &Case>)> =
        others.iter().map(|arm| (arm, by_key(arm))).collect();
    let mut rows = Vec::new();
    for case in &base.cases {
        for mode in modes.iter().copied().filter(|mode| case.modes.contains(mode)) {
            rows.push(row(base, &others, case, mode, device)?);
        }
    }
    Ok(rows)
}

fn row<'a>(
    base: &'a ArmCases,
    others: &[(&'a ArmCases, BTreeMap<String, &'a Case>)],
    case: &'a Case,
    mode: Mode,
    device: &str,
) -> Result<Planned<'a>, PlanError> {
    check(base, base, case, case)?;
    let planned = |arm: &ArmCases, case: &'a Case| PlannedArm {
        name: arm.name.clone(),
        kind: arm.kind,
        case,
        source: arm.source.clone(),
    };
    let mut arms = vec![planned(base, case)];
    let mut missing = Vec::new();
    for (arm, cases) in others {
        match cases.get(&key(case)) {
            Some(other) => {
                check(base, arm, case, other)?;
                arms.push(planned(arm, other));
            }
            None => missing.push((arm.name.clone(), "it has no case like this".to_owned())),
        }
    }
    arms.push(PlannedArm {
        name: format!("{} again", base.name),
        kind: ArmKind::Control,
        case,
        source: base.source.clone(),
    });
    let id = format!("{device}-{mode}::{}", key(case));
    Ok(Planned { id, mode, units: units::units(&case.problem), arms, missing })
}

/// What cases of different arms have in common: the id without kernel and variant.
fn key(case: &Case) -> String {
    let rest = case.id.strip_prefix(&format!("{}/", case.scenario)).unwrap_or(&case.id);
    let rest = rest.split_once('/').map_or(rest, |(_, rest)| rest);
    format!("{}/{rest}", case.scenario)
}

fn check(base: &ArmCases, arm: &ArmCases, base_case: &Case, case: &Case) -> Result<(), PlanError> {
    let calls = case.problem.calls.len();
    if calls != 1 {
        return Err(PlanError::Calls { id: case.id.clone(), calls });
    }
    let does = |problem: &Problem| units::semantics(problem).0;
    let (does, base_does) = (does(&case.problem), does(&base_case.problem));
    if does != base_does {
        let (arm, base) = (arm.name.clone(), base.name.clone());
        return Err(PlanError::Semantics { arm, does, base, base_does });
    }
    Ok(())
}
