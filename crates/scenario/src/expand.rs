//! From a scenario file to cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use collectives::fill::mix;
use collectives::{
    Call, Collective, Data, Details, Group, GroupRank, HeapPlan, Layout, Op, Problem, Tile,
    Workspace,
};
use kernels::symbols::nearest;
use kernels::yaml::Location;
use kernels::{DeviceName, Kernel, Library, LibraryError, Scope};
use serde_yaml::Spanned;

use crate::case::{Case, Mode, Requested};
use crate::labels::{calls_label, counts_label, layout_label, scalars_label};
use crate::model::{
    CallValue, CallsValue, CountsValue, Exclude, LayoutValue, NamedCounts, Sample, ScenarioFile,
};
use crate::sample::pairwise;
use crate::values::{BlocksValue, DTypeValue, GroupValue, OneOrMany, ShapeValue, TileValue};

/// More combinations than this need `allow_cases`.
pub const CASE_LIMIT: usize = 2000;
/// Guard bytes where a scenario does not say.
pub const GUARD_BYTES: u64 = 4096;
/// Key of the fill where nobody says.
pub const SEED: u64 = 7;

/// The cases of a file.
#[derive(Debug, Default)]
pub struct Expansion {
    /// In order of the matrix.
    pub cases: Vec<Case>,
    /// Combinations that mean nothing: groups that do not fit the world, or that another
    /// spelling of the same group already covers.
    pub not_generated: usize,
    /// Combinations that `exclude` left out.
    pub excluded: usize,
    /// Combinations that `sample` left out.
    pub sampled_out: usize,
}

/// A scenario that cannot be expanded.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ExpandError {
    /// Something in the scenario file.
    #[error("{at}: {message}")]
    At {
        /// Where.
        at: Location,
        /// What is wrong and what is accepted.
        message: String,
    },
    /// Its kernel.
    #[error("{at}: {why}")]
    Kernel {
        /// Where the scenario names it.
        at: Location,
        /// Why it cannot be had.
        why: LibraryError,
    },
}

/// What one combination of axis values says.
#[derive(Debug, Clone)]
struct Settings {
    variant: String,
    ranks: u32,
    dtype: DTypeValue,
    shape: ShapeValue,
    tile: TileValue,
    blocks: BlocksValue,
    group: GroupValue,
    layout: LayoutValue,
    guard_bytes: u64,
    calls: CallsValue,
    in_place: bool,
    data: Data,
    root: u32,
    op: Op,
    counts: CountsValue,
    scalars: Vec<i32>,
    first_epoch: u32,
    seed: u64,
    line: u64,
    /// Axes of the matrix that the id does not spell anyway.
    other: Vec<String>,
    /// Number of the value on each axis.
    indices: Vec<usize>,
}

/// A value of an axis: what it changes, how an id spells it.
type Setter<'a> = (u64, Box<dyn Fn(&mut Settings) + 'a>);

/// Expands a file; `seed` overrides the file's.
///
/// # Errors
/// The first thing that does not fit, with its place.
pub fn expand(
    file: &Path,
    scenario: &ScenarioFile,
    library: &Library,
    seed: Option<u64>,
) -> Result<Expansion, ExpandError> {
    let at = |line: u64, column: u64| Location { file: file.to_owned(), line, column };
    let here =
        |spanned: &Spanned<String>| at(spanned.referenced.line(), spanned.referenced.column());
    let beside = file.parent().map(|folder| match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    });
    let kernel = library
        .kernel(&scenario.kernel.value, beside)
        .map_err(|why| ExpandError::Kernel { at: here(&scenario.kernel), why })?;
    let expander = Expander { file, scenario, kernel, seed };
    expander.check_name()?;
    let combinations = expander.combinations()?;
    expander.cases(combinations)
}

struct Expander<'a> {
    file: &'a Path,
    scenario: &'a ScenarioFile,
    kernel: Arc<Kernel>,
    seed: Option<u64>,
}

impl Expander<'_> {
    fn error<T>(&self, place: &Spanned<T>, message: impl Into<String>) -> ExpandError {
        let at = Location {
            file: self.file.to_owned(),
            line: place.referenced.line(),
            column: place.referenced.column(),
        };
        ExpandError::At { at, message: message.into() }
    }

    fn check_name(&self) -> Result<(), ExpandError> {
        let name = &self.scenario.scenario;
        let good = |c: char| c.is_ascii_alphanumeric() || "_-/.".contains(c);
        if name.value.is_empty() || !name.value.chars().all(good) {
            let message = format!("`{}` is not a name (letters, digits, _ - . /)", name.value);
            return Err(self.error(name, message));
        }
        Ok(())
    }

    /// Every combination of axis values, in order of the axes.
    fn combinations(&self) -> Result<Vec<Settings>, ExpandError> {
        let base = self.base();
        let axes = self.axes()?;
        let product = axes.iter().try_fold(1usize, |all, axis| all.checked_mul(axis.len()));
        let limit = self.scenario.allow_cases.unwrap_or(CASE_LIMIT);
        if product.is_none_or(|product| product > limit) {
            let count = product.map_or("too many".into(), |product| product.to_string());
            return Err(self.error(
                &self.scenario.scenario,
                format!("the matrix has {count} combinations, more than {limit} (thin it with `sample: {{pairwise: 1}}`, or state `allow_cases`)"),
            ));
        }
        let mut combinations = vec![base];
        for axis in &axes {
            combinations = combinations
                .iter()
                .flat_map(|settings| {
                    axis.iter().enumerate().map(|(index, (line, set))| {
                        let mut next = settings.clone();
                        set(&mut next);
                        next.indices.push(index);
                        next.line = next.line.max(*line);
                        next
                    })
                })
                .collect();
        }
        Ok(combinations)
    }

    /// The values of the keys outside the matrix.
    fn base(&self) -> Settings {
        let s = self.scenario;
        let variant = self.kernel.manifest.variants.keys().next().expect("validated");
        Settings {
            variant: s.variant.as_ref().map_or(variant.clone(), |v| v.value.clone()),
            ranks: s.ranks.as_ref().map_or(2, |v| v.value),
            dtype: s.dtype.as_ref().map_or(DTypeValue(collectives::DType::F32), |v| v.value),
            shape: s
                .shape
                .as_ref()
                .map_or(ShapeValue(collectives::Shape { m: 16, n: 64 }), |v| v.value),
            tile: s.tile.as_ref().map_or(TileValue(None), |v| v.value),
            blocks: s.blocks.as_ref().map_or(BlocksValue(None), |v| v.value),
            group: s
                .group
                .as_ref()
                .map_or(GroupValue(collectives::GroupSpec::World), |v| v.value.clone()),
            layout: s.layout.as_ref().map_or(LayoutValue::default(), |v| v.value),
            guard_bytes: s.guard_bytes.as_ref().map_or(GUARD_BYTES, |v| v.value),
            calls: s.calls.as_ref().map_or(CallsValue::Count(1), |v| v.value.clone()),
            in_place: s.in_place.as_ref().is_some_and(|v| v.value),
            data: s.data.as_ref().map_or(Data::Keyed, |v| v.value),
            root: s.root.as_ref().map_or(0, |v| v.value),
            op: s.op.as_ref().map_or(self.default_op(), |v| v.value),
            counts: s.counts.as_ref().map_or(CountsValue::Even, |v| v.value.clone()),
            scalars: s.scalars.as_ref().map_or(Vec::new(), |v| v.value.clone()),
            first_epoch: s.first_epoch.as_ref().map_or(0, |v| v.value),
            seed: self.seed.or(s.seed.as_ref().map(|v| v.value)).unwrap_or(SEED),
            line: s.scenario.referenced.line(),
            other: Vec::new(),
            indices: Vec::new(),
        }
    }

    /// The axes of the matrix, each with its values.
    fn axes(&self) -> Result<Vec<Vec<Setter<'_>>>, ExpandError> {
        let m = &self.scenario.matrix;
        let mut axes = Vec::new();
        let s = self.scenario;
        self.axis(&mut axes, "variant", &m.variant, s.variant.is_some(), |c, v| {
            c.variant = v.clone();
        })?;
        self.axis(&mut axes, "ranks", &m.ranks, s.ranks.is_some(), |c, v| c.ranks = *v)?;
        self.axis(&mut axes, "dtype", &m.dtype, s.dtype.is_some(), |c, v| c.dtype = *v)?;
        self.axis(&mut axes, "shape", &m.shape, s.shape.is_some(), |c, v| c.shape = *v)?;
        self.axis(&mut axes, "tile", &m.tile, s.tile.is_some(), |c, v| c.tile = *v)?;
        self.axis(&mut axes, "blocks", &m.blocks, s.blocks.is_some(), |c, v| c.blocks = *v)?;
        self.axis(&mut axes, "group", &m.group, s.group.is_some(), |c, v| c.group = v.clone())?;
        self.axis(&mut axes, "layout", &m.layout, s.layout.is_some(), |c, v| {
            c.layout = *v;
            c.other.push(format!("layout={}", layout_label(v)));
        })?;
        self.axis(&mut axes, "guard_bytes", &m.guard_bytes, s.guard_bytes.is_some(), |c, v| {
            c.guard_bytes = *v;
            c.other.push(format!("guard={v}"));
        })?;
        self.axis(&mut axes, "calls", &m.calls, s.calls.is_some(), |c, v| {
            c.calls = v.clone();
            c.other.push(format!("calls={}", calls_label(v)));
        })?;
        self.axis(&mut axes, "in_place", &m.in_place, s.in_place.is_some(), |c, v| {
            c.in_place = *v;
            c.other.push(format!("in_place={v}"));
        })?;
        self.axis(&mut axes, "data", &m.data, s.data.is_some(), |c, v| {
            c.data = *v;
            c.other.push(match v {
                Data::Keyed => "data=keyed".into(),
                Data::BitPatterns => "data=bit_patterns".into(),
                Data::Random => "data=random".into(),
            });
        })?;
        self.axis(&mut axes, "root", &m.root, s.root.is_some(), |c, v| {
            c.root = *v;
            c.other.push(format!("root={v}"));
        })?;
        self.axis(&mut axes, "op", &m.op, s.op.is_some(), |c, v| {
            c.op = *v;
            c.other.push(format!("op={v}"));
        })?;
        self.axis(&mut axes, "counts", &m.counts, s.counts.is_some(), |c, v| {
            c.counts = v.clone();
            c.other.push(format!("counts={}", counts_label(v)));
        })?;
        self.axis(&mut axes, "scalars", &m.scalars, s.scalars.is_some(), |c, v| {
            c.scalars = v.clone();
            c.other.push(format!("scalars={}", scalars_label(v)));
        })?;
        self.axis(&mut axes, "first_epoch", &m.first_epoch, s.first_epoch.is_some(), |c, v| {
            c.first_epoch = *v;
            c.other.push(format!("epoch={v}"));
        })?;
        let seed = self.seed;
        self.axis(&mut axes, "seed", &m.seed, s.seed.is_some(), move |c, v| {
            c.seed = seed.unwrap_or(*v);
            c.other.push(format!("seed={v}"));
        })?;
        Ok(axes)
    }

    fn axis<'v, T>(
        &'v self,
        axes: &mut Vec<Vec<Setter<'v>>>,
        name: &str,
        values: &'v Option<Vec<Spanned<T>>>,
        stated: bool,
        set: impl Fn(&mut Settings, &T) + Copy + 'v,
    ) -> Result<(), ExpandError> {
        let Some(values) = values else { return Ok(()) };
        let place = &self.scenario.scenario;
        match values.first() {
            None => Err(self.error(place, format!("matrix.{name} is an empty list"))),
            Some(first) if stated => {
                Err(self.error(first, format!("`{name}` stands both in matrix and outside it")))
            }
            Some(_) => {
                axes.push(
                    values
                        .iter()
                        .map(|value| {
                            // A case is best found by the line of its shape.
                            let line = if name == "shape" { value.referenced.line() } else { 0 };
                            let set: Box<dyn Fn(&mut Settings) + 'v> =
                                Box::new(move |settings| set(settings, &value.value));
                            (line, set)
                        })
                        .collect(),
                );
                Ok(())
            }
        }
    }

    fn cases(&self, combinations: Vec<Settings>) -> Result<Expansion, ExpandError> {
        let mut expansion = Expansion::default();
        let mut removed = vec![0usize; self.scenario.exclude.len()];
        let mut kept: Vec<(Settings, Case)> = Vec::new();
        let mut ids: BTreeMap<String, GroupValue> = BTreeMap::new();
        for settings in combinations {
            let Some(calls) = self.calls(&settings)? else {
                expansion.not_generated += 1;
                continue;
            };
            let excluded = self
                .scenario
                .exclude
                .iter()
                .position(|exclude| matches(&exclude.value, &settings, &calls[0].0.group));
            if let Some(exclude) = excluded {
                removed[exclude] += 1;
                expansion.excluded += 1;
                continue;
            }
            let case = self.case(&settings, calls)?;
            match ids.get(&case.id) {
                // Another spelling of the same group, such as `evens` on one rank.
                Some(earlier) if *earlier != settings.group => {
                    expansion.not_generated += 1;
                    continue;
                }
                Some(_) => {
                    return Err(self.error(
                        &self.scenario.scenario,
                        format!(
                            "two combinations give the id {} (remove the repeated value)",
                            case.id
                        ),
                    ));
                }
                None => ids.insert(case.id.clone(), settings.group.clone()),
            };
            kept.push((settings, case));
        }
        if let Some(idle) = removed.iter().position(|count| *count == 0) {
            return Err(self.error(
                &self.scenario.exclude[idle],
                "this exclude removes nothing (no combination matches all of `when`)",
            ));
        }
        if let Some(Sample::Pairwise(seed)) = self.scenario.sample {
            let rows: Vec<Vec<usize>> = kept.iter().map(|(s, _)| s.indices.clone()).collect();
            let chosen: BTreeSet<usize> = pairwise(&rows, seed).into_iter().collect();
            expansion.sampled_out = kept.len() - chosen.len();
            kept = kept
                .into_iter()
                .enumerate()
                .filter(|(index, _)| chosen.contains(index))
                .map(|(_, kept)| kept)
                .collect();
        }
        expansion.cases = kept.into_iter().map(|(_, case)| case).collect();
        Ok(expansion)
    }

    /// The calls of a combination, with what was asked for in each; `None` where a group does not
    /// fit the world.
    fn calls(&self, settings: &Settings) -> Result<Option<Vec<(Call, Requested)>>, ExpandError> {
        let place = &self.scenario.scenario;
        if !(1..=collectives::rank::MAX_WORLD).contains(&settings.ranks) {
            let message =
                format!("ranks: {} (1 to {})", settings.ranks, collectives::rank::MAX_WORLD);
            return Err(self.error(place, message));
        }
        let variants = &self.kernel.manifest.variants;
        let Some(variant) = variants.get(&settings.variant) else {
            let nearest = nearest(&settings.variant, variants.keys().map(String::as_str));
            let known: Vec<&str> = variants.keys().map(String::as_str).collect();
            let message = format!(
                "{} has no variant `{}` (did you mean `{nearest}`? it has {})",
                self.kernel.manifest.kernel,
                settings.variant,
                known.join(", ")
            );
            let named = self.scenario.matrix.variant.iter().flatten();
            let spanned = named
                .chain(&self.scenario.variant)
                .find(|spanned| spanned.value == settings.variant)
                .unwrap_or(place);
            return Err(self.error(spanned, message));
        };
        let unchanged = CallValue::default();
        let list: Vec<&CallValue> = match &settings.calls {
            CallsValue::Count(count) => vec![&unchanged; *count as usize],
            CallsValue::List(list) => list.iter().collect(),
        };
        let mut calls = Vec::new();
        for value in list {
            let group = value.group.as_ref().unwrap_or(&settings.group);
            let Some(group) = group.0.resolve(settings.ranks) else { return Ok(None) };
            let root = value.root.unwrap_or(settings.root);
            self.check_root(root, &group)?;
            let requested = Requested {
                tile: value.tile.unwrap_or(settings.tile).0,
                blocks: value.blocks.unwrap_or(settings.blocks).0,
            };
            if let Some(tile) = requested.tile {
                self.check_tile(tile, variant.tile)?;
            }
            let call = Call {
                shape: value.shape.unwrap_or(settings.shape).0,
                group,
                tile: requested.tile.unwrap_or(variant.tile),
                blocks: requested.blocks.unwrap_or(variant.blocks),
                root: GroupRank(root),
                details: Details {
                    op: value.op.unwrap_or(settings.op),
                    scalars: value.scalars.as_ref().unwrap_or(&settings.scalars).clone(),
                    layout: value.layout.map(Layout::from),
                    first_epoch: settings.first_epoch,
                    ..Details::default()
                },
            };
            self.check_op(call.details.op)?;
            let counts = value.counts.as_ref().unwrap_or(&settings.counts);
            let call = Call {
                details: Details {
                    counts: resolve_counts(counts, &call, settings.seed, calls.len()),
                    ..call.details
                },
                ..call
            };
            calls.push((call, requested));
        }
        Ok(Some(calls))
    }

    /// The first op that the kernel can do, sum for most.
    fn default_op(&self) -> Op {
        let ops = self.kernel.manifest.ops.as_ref();
        ops.and_then(|ops| ops.first()).copied().unwrap_or_default()
    }

    fn check_op(&self, op: Op) -> Result<(), ExpandError> {
        let collective = self.kernel.manifest.collective;
        let stated = self.scenario.matrix.op.iter().flatten().chain(&self.scenario.op).next();
        if collective.reduces() || (stated.is_none() && op == Op::Sum) {
            return Ok(());
        }
        let message = format!("{collective} combines nothing, so it has no op");
        Err(match stated {
            Some(stated) => self.error(stated, message),
            None => self.error(&self.scenario.scenario, message),
        })
    }

    fn check_root(&self, root: u32, group: &Group) -> Result<(), ExpandError> {
        let place = &self.scenario.scenario;
        let collective = self.kernel.manifest.collective;
        let stated = self.scenario.root.is_some() || self.scenario.matrix.root.is_some();
        if (stated || root != 0) && !collective.is_rooted() {
            let rooted: Vec<&str> =
                Collective::ALL.iter().filter(|c| c.is_rooted()).map(|c| c.name()).collect();
            let message = format!("{collective} has no root (only {} have)", rooted.join(", "));
            return Err(self.error(self.scenario.root.as_ref().map_or(place, |_| place), message));
        }
        if root >= group.size() {
            let message =
                format!("root {root} is no group rank of {group} (0 to {})", group.size() - 1);
            return Err(self.error(place, message));
        }
        Ok(())
    }

    /// An explicit tile must be able to reach the kernel.
    fn check_tile(&self, tile: Tile, fixed: Tile) -> Result<(), ExpandError> {
        let manifest = &self.kernel.manifest;
        // A host program's launcher may take any tile; it says which one it used.
        let reaches =
            |symbol: &str| manifest.is_host_program() || manifest.conveys(DeviceName::Cpu, symbol);
        let fits =
            (tile.m == fixed.m || reaches("tile.m")) && (tile.n == fixed.n || reaches("tile.n"));
        if fits {
            return Ok(());
        }
        let message = format!(
            "tile {tile} does not fit the manifest: {} passes no tile to its kernel, which is fixed at {fixed} (accepted: default, {fixed})",
            manifest.kernel
        );
        let spanned = self.scenario.matrix.tile.iter().flatten().chain(&self.scenario.tile);
        match spanned.into_iter().find(|spanned| spanned.value.0 == Some(tile)) {
            Some(spanned) => Err(self.error(spanned, message)),
            None => Err(self.error(&self.scenario.scenario, message)),
        }
    }

    fn case(
        &self,
        settings: &Settings,
        calls: Vec<(Call, Requested)>,
    ) -> Result<Case, ExpandError> {
        let scenario = self.scenario;
        let (calls, requested): (Vec<Call>, Vec<Requested>) = calls.into_iter().unzip();
        let manifest = &self.kernel.manifest;
        let name = manifest.kernel.rsplit('/').next().unwrap_or(&manifest.kernel);
        let mut id = format!(
            "{}/{name}.{}/w{}/{}/{}/{}/{}/{}",
            scenario.scenario.value,
            settings.variant,
            settings.ranks,
            calls[0].group,
            settings.dtype.0,
            settings.shape.0,
            settings.tile,
            settings.blocks,
        );
        for other in &settings.other {
            id += &format!("/{other}");
        }
        let mut problem = Problem {
            collective: manifest.collective,
            world: settings.ranks,
            dtype: settings.dtype.0,
            layout: Layout::from(settings.layout),
            in_place: settings.in_place,
            guard_bytes: settings.guard_bytes,
            data: settings.data,
            numerics: manifest.reduction(&manifest.variants[&settings.variant]).numerics(),
            output_init: kernels::reduction::output_init(&manifest.steps)
                .map_err(|why| self.error(&scenario.kernel, why))?,
            workspaces: Vec::new(),
            calls,
            seed: settings.seed,
        };
        if problem.collective.reduces() {
            self.add_tiles(&mut problem, settings, &id)?;
        }
        self.add_workspaces(&mut problem, &id)?;
        HeapPlan::new(&problem)
            .map_err(|error| self.error(&scenario.scenario, format!("{id}: {error}")))?;
        Ok(Case {
            id,
            scenario: scenario.scenario.value.clone(),
            file: self.file.to_owned(),
            line: settings.line,
            kernel: self.kernel.clone(),
            variant: settings.variant.clone(),
            problem,
            requested,
            threads: self.threads()?,
            modes: scenario.modes.clone().unwrap_or_else(|| match manifest.is_host_program() {
                true => vec![Mode::Host],
                false => Mode::ALL.to_vec(),
            }),
            residency: scenario.residency,
            write_once: scenario.write_once.unwrap_or(false),
            timeout: scenario.timeout,
            shares_gpu: scenario.shares_gpu,
        })
    }

    fn threads(&self) -> Result<Option<u32>, ExpandError> {
        match &self.scenario.threads {
            Some(threads) if !(1..=1024).contains(&threads.value) => {
                Err(self.error(threads, format!("threads: {} (1 to 1024)", threads.value)))
            }
            threads => Ok(threads.as_ref().map(|threads| threads.value)),
        }
    }

    /// Who computes each tile, and in which order.
    fn add_tiles(
        &self,
        problem: &mut Problem,
        settings: &Settings,
        id: &str,
    ) -> Result<(), ExpandError> {
        let place = &self.scenario.scenario;
        let manifest = &self.kernel.manifest;
        let spec = manifest.reduction(&manifest.variants[&settings.variant]);
        if problem.collective == Collective::ReduceScatterTiles && spec.owner.is_none() {
            let message = format!(
                "{} does not say who owns a tile (state `reduction: {{owner: tile % group.size}}`)",
                manifest.kernel
            );
            return Err(self.error(&self.scenario.kernel, message));
        }
        let plan = HeapPlan::new(problem).map_err(|e| self.error(place, format!("{id}: {e}")))?;
        let values: Result<Vec<_>, _> = (0..problem.calls.len())
            .map(|index| {
                spec.by_tile(&Scope {
                    problem,
                    plan: &plan,
                    index,
                    rank: None,
                    threads: None,
                    manifest,
                })
            })
            .collect();
        let values = values.map_err(|why| self.error(place, format!("{id}: reduction: {why}")))?;
        for (call, (owners, starts)) in problem.calls.iter_mut().zip(values) {
            call.details.owners = owners;
            call.details.starts = starts;
        }
        Ok(())
    }

    /// Workspaces are sized for their largest call.
    fn add_workspaces(&self, problem: &mut Problem, id: &str) -> Result<(), ExpandError> {
        let place = &self.scenario.scenario;
        let plan = HeapPlan::new(problem).map_err(|e| self.error(place, format!("{id}: {e}")))?;
        let mut workspaces = Vec::new();
        for (name, spec) in &self.kernel.manifest.workspace {
            let mut most = 0;
            for index in 0..problem.calls.len() {
                let manifest = &self.kernel.manifest;
                let scope =
                    Scope { problem, plan: &plan, index, rank: None, threads: None, manifest };
                let count = spec.count.evaluate(&|symbol| scope.integer(symbol));
                let wrong = |why: String| {
                    self.error(place, format!("{id}: size of workspace.{name}: {why}"))
                };
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
        problem.workspaces = workspaces;
        Ok(())
    }
}

fn matches(exclude: &Exclude, settings: &Settings, group: &Group) -> bool {
    let when = &exclude.when;
    fn any<T: PartialEq>(values: &Option<OneOrMany<T>>, value: &T) -> bool {
        values.as_ref().is_none_or(|values| values.0.contains(value))
    }
    let same_group = when.group.as_ref().is_none_or(|values| {
        values.0.iter().any(|value| value.0.resolve(settings.ranks).as_ref() == Some(group))
    });
    same_group
        && any(&when.variant, &settings.variant)
        && any(&when.ranks, &settings.ranks)
        && any(&when.dtype, &settings.dtype)
        && any(&when.shape, &settings.shape)
        && any(&when.tile, &settings.tile)
        && any(&when.blocks, &settings.blocks)
        && any(&when.in_place, &settings.in_place)
        && any(&when.op, &settings.op)
}

/// Numbers of rows by source and destination; none where all are M.
fn resolve_counts(value: &CountsValue, call: &Call, seed: u64, index: usize) -> Vec<Vec<u64>> {
    let drawn = |from: u64, to: u64| {
        let place = mix(seed ^ mix(index as u64)) ^ from << 8 ^ to;
        mix(place) % (call.shape.m + 1)
    };
    let members = u64::from(call.group.size());
    match value {
        CountsValue::Even | CountsValue::Named(NamedCounts::Even) => Vec::new(),
        CountsValue::Named(NamedCounts::Uneven) => {
            (0..members).map(|from| (0..members).map(|to| drawn(from, to)).collect()).collect()
        }
        CountsValue::List(list) => list.clone(),
    }
}
