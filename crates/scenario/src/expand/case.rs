//! The case of a combination: its problem, how its heaps are laid out, and its id.

use std::sync::Arc;

use collectives::{Call, Collective, HeapPlan, Layout, Problem, Workspace};
use kernels::{Manifest, Scope, Variant};

use super::combinations::Combination;
use super::file::{ExpandError, Expander};
use super::place::to_blame;
use crate::case::{Case, Requested};
use crate::keys::Settings;
use crate::values::Value as _;

impl Expander<'_> {
    /// The case of a combination with these calls.
    pub(super) fn case(
        &self,
        Combination { settings, line, indices: _ }: Combination,
        calls: Vec<(Call, Requested)>,
    ) -> Result<Case, ExpandError> {
        let (calls, requested): (Vec<Call>, Vec<Requested>) = calls.into_iter().unzip();
        let id = self.id(&settings, &calls[0]);
        let manifest = &self.kernel.manifest;
        // Every key by name: one that is forgotten does not compile. Those of calls are in `calls`.
        let Settings {
            variant,
            ranks,
            dtype,
            shape: _,
            tile: _,
            blocks: _,
            group: _,
            layout,
            guard_bytes,
            calls: _,
            in_place,
            data,
            root: _,
            op: _,
            counts: _,
            scalars: _,
            first_epoch: _,
            seed,
            threads,
            modes,
            residency,
            write_once,
            timeout,
            shares_gpu,
            bench,
        } = &settings;
        let problem = Problem {
            collective: manifest.collective,
            world: ranks.value.0,
            dtype: dtype.value.0,
            layout: Layout::from(layout.value),
            in_place: in_place.value,
            guard_bytes: guard_bytes.value,
            data: data.value.0,
            numerics: manifest.reduction(&manifest.variants[&variant.value.0]).numerics(),
            output_init: kernels::manifest::output_init(&manifest.steps)
                .map_err(|why| self.error(self.scenario.kernel.place, why))?,
            workspaces: Vec::new(),
            calls,
            seed: seed.value,
        };
        let (problem, plan) = self.laid_out(problem, &settings, &id)?;
        Ok(Case {
            id,
            scenario: self.scenario.scenario.value.clone(),
            file: self.file.to_owned(),
            line,
            kernel: self.kernel.clone(),
            variant: variant.value.0.clone(),
            problem,
            plan: Arc::new(plan),
            requested,
            threads: threads.value.0.map(|threads| threads.0),
            modes: modes.value.0.clone(),
            residency: residency.value.0.map(|residency| residency.0),
            write_once: write_once.value,
            timeout: timeout.value.0.map(|timeout| timeout.0),
            shares_gpu: shares_gpu.value,
            bench: bench.value.clone(),
            settings: Arc::new(settings),
        })
    }

    /// What the id's own parts spell, and then every other axis of the matrix.
    fn id(&self, settings: &Settings, first: &Call) -> String {
        let kernel = &self.kernel.manifest.kernel;
        let name = kernel.rsplit('/').next().unwrap_or(kernel);
        let mut id = format!(
            "{}/{name}.{}/w{}/{}/{}/{}/t{}/b{}",
            self.scenario.scenario.value,
            settings.variant.value.label(),
            settings.ranks.value.label(),
            first.group,
            settings.dtype.value.label(),
            settings.shape.value.label(),
            settings.tile.value.label(),
            settings.blocks.value.label(),
        );
        for other in settings.labels(&self.scenario.matrix.value) {
            id += &format!("/{other}");
        }
        id
    }

    /// Adds what follows from the manifest's expressions, who computes each tile and how large
    /// workspaces are, and lays the heaps out.
    fn laid_out(
        &self,
        mut problem: Problem,
        settings: &Settings,
        id: &str,
    ) -> Result<(Problem, HeapPlan), ExpandError> {
        let manifest = &self.kernel.manifest;
        let planned = |problem: &Problem| {
            HeapPlan::new(problem).map_err(|error| {
                let place = to_blame(problem, settings, &error);
                self.error(place, format!("{id}: {error}"))
            })
        };
        let plan = planned(&problem)?;
        if problem.collective.reduces() {
            let variant = &manifest.variants[&settings.variant.value.0];
            self.add_tiles(&mut problem, &plan, variant, id)?;
        }
        if manifest.workspace.is_empty() {
            return Ok((problem, plan));
        }
        // Their sizes may depend on where input and output lie, and workspaces come behind them.
        problem.workspaces = self.workspaces(&problem, &plan, id)?;
        let plan = planned(&problem)?;
        Ok((problem, plan))
    }

    /// Who computes each tile, and in which order.
    fn add_tiles(
        &self,
        problem: &mut Problem,
        plan: &HeapPlan,
        variant: &Variant,
        id: &str,
    ) -> Result<(), ExpandError> {
        let place = self.scenario.kernel.place;
        let manifest = &self.kernel.manifest;
        let spec = manifest.reduction(variant);
        if problem.collective == Collective::ReduceScatterTiles && spec.owner.is_none() {
            let message = format!(
                "{} does not say who owns a tile (state `reduction: {{owner: tile % group.size}}`)",
                manifest.kernel
            );
            return Err(self.error(place, message));
        }
        let values: Result<Vec<_>, _> = (0..problem.calls.len())
            .map(|index| spec.by_tile(&scope(problem, plan, index, manifest)))
            .collect();
        let values = values.map_err(|why| self.error(place, format!("{id}: reduction: {why}")))?;
        for (call, (owners, starts)) in problem.calls.iter_mut().zip(values) {
            call.details.owners = owners;
            call.details.starts = starts;
        }
        Ok(())
    }

    /// The workspaces, each sized for its largest call.
    fn workspaces(
        &self,
        problem: &Problem,
        plan: &HeapPlan,
        id: &str,
    ) -> Result<Vec<Workspace>, ExpandError> {
        let manifest = &self.kernel.manifest;
        let mut workspaces = Vec::new();
        for (name, spec) in &manifest.workspace {
            let wrong = |why: String| {
                let message = format!("{id}: size of workspace.{name}: {why}");
                self.error(self.scenario.kernel.place, message)
            };
            let mut most = 0;
            for index in 0..problem.calls.len() {
                let scope = scope(problem, plan, index, manifest);
                let count = spec.count.evaluate(&|symbol| scope.integer(symbol));
                let count = count.map_err(|error| wrong(error.to_string()))?;
                let bytes = u64::try_from(count)
                    .ok()
                    .and_then(|count| count.checked_mul(spec.element.bytes()))
                    .ok_or_else(|| wrong(format!("{count} elements")))?;
                most = most.max(bytes);
            }
            workspaces.push(Workspace {
                name: name.clone(),
                bytes: most,
                init: spec.init,
                between_calls: spec.between_calls,
                judge: spec.judge,
            });
        }
        Ok(workspaces)
    }
}

/// What manifests may speak of where no rank is meant.
fn scope<'a>(
    problem: &'a Problem,
    plan: &'a HeapPlan,
    index: usize,
    manifest: &'a Manifest,
) -> Scope<'a> {
    Scope { problem, plan, index, rank: None, threads: None, manifest }
}
