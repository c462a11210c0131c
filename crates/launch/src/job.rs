//! From a call of a case to the launches of its ranks.

use collectives::{HeapPlan, Rank};
use device::Launch;
use kernels::{Argument, Object, Scope, arguments};
use scenario::Case;

/// Why a call cannot be launched.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JobError {
    /// An argument without a value.
    #[error(transparent)]
    Argument(#[from] arguments::ArgumentError),
    /// A grid or block without a value, or one that makes no sense.
    #[error("launch.{key}: {reason}")]
    Launch {
        /// Which key of the manifest.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// An entry that the object lacks.
    #[error("the object has no entry `{0}`")]
    Entry(String),
}

/// The launches of one call, in group order.
#[derive(Debug, Clone)]
pub struct Job {
    /// One for each member of the group.
    pub launches: Vec<Launch>,
}

impl Job {
    /// Resolves the launches of call number `index`.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn new(
        case: &Case,
        plan: &HeapPlan,
        index: usize,
        object: &Object,
    ) -> Result<Job, JobError> {
        let entry = &case.variant().entry;
        let number = object.entries.iter().position(|known| known == entry);
        let number = number.ok_or_else(|| JobError::Entry(entry.clone()))?;
        Job::resolved(case, plan, index, number as u32)
    }

    /// As [`Job::new`], with an entry of this number; nothing need have been built.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn resolved(
        case: &Case,
        plan: &HeapPlan,
        index: usize,
        entry: u32,
    ) -> Result<Job, JobError> {
        let launches = case.problem.calls[index]
            .group
            .members()
            .iter()
            .map(|rank| launch(case, plan, index, *rank, entry))
            .collect::<Result<_, _>>()?;
        Ok(Job { launches })
    }

    /// The launches of the ranks of `order` that take part, in that order.
    pub fn in_order(&self, order: &[Rank]) -> Vec<Launch> {
        let of = |rank: &Rank| self.launches.iter().find(|launch| launch.rank == *rank).cloned();
        order.iter().filter_map(of).collect()
    }
}

fn launch(
    case: &Case,
    plan: &HeapPlan,
    index: usize,
    rank: Rank,
    entry: u32,
) -> Result<Launch, JobError> {
    let manifest = &case.kernel.manifest;
    let mut scope =
        Scope { problem: &case.problem, plan, index, rank: Some(rank), threads: None, manifest };
    let number = |scope: &Scope<'_>, key, expression: &kernels::Expression, range: [u32; 2]| {
        let wrong = |reason: String| JobError::Launch { key, reason };
        let value = expression.evaluate(&|symbol| scope.integer(symbol));
        let value = value.map_err(|error| wrong(error.to_string()))?;
        let [least, most] = range;
        match u32::try_from(value) {
            Ok(value) if (least..=most).contains(&value) => Ok(value),
            _ => Err(wrong(format!("`{expression}` is {value} ({least} to {most})"))),
        }
    };
    let threads = match case.threads {
        Some(threads) => threads,
        None => number(&scope, "threads", &manifest.launch.threads, [1, 1024])?,
    };
    scope.threads = Some(threads);
    let grid = number(&scope, "grid", &manifest.launch.grid, [1, 1 << 20])?;
    let shared_bytes = number(&scope, "shared_bytes", &manifest.launch.shared_bytes, [0, 1 << 20])?;
    let arguments: Vec<Argument> = arguments::resolve(&scope)?;
    Ok(Launch { rank, call: 0, entry, grid, threads, shared_bytes, arguments })
}
