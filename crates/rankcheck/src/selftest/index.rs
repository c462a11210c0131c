//! `mutants.yaml`: which mutants there are, what must find them, and what cannot be shown yet.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, bail};
use collectives::{Finding, FindingKind};
use kernels::DeviceName;
use scenario::Mode;
use serde::{Deserialize, Serialize};

/// The variant that is right, in every manifest with mutants.
pub(crate) const TWIN: &str = "twin";

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Index {
    /// Those that run.
    pub mutants: Vec<Mutant>,
    /// Faults that nothing here can show yet.
    #[serde(default)]
    pub waiting: Vec<Waiting>,
}

/// One mechanism in one scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutant {
    /// The variant; its manifest gives it the definition that switches the fault on.
    pub mutant: String,
    /// The scenario file, from the index's folder. It gives one case a variant.
    pub scenario: String,
    /// Rows of the catalogue of reported faults.
    #[serde(default)]
    pub rows: Vec<String>,
    /// What is wrong, in a line.
    pub mechanism: String,
    /// In which modes it shows; all of the scenario's where it is not said.
    pub modes: Option<Vec<Mode>>,
    /// The finding that kills it.
    pub expect: Option<Expected>,
    /// What differs on a GPU.
    pub on_gpu: Option<OnGpu>,
    /// Why it is right in spite of its looks.
    pub survives: Option<String>,
}

/// What a GPU shows of a mutant, where that is not what the CPU's executor shows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnGpu {
    /// Another finding kills it there.
    Expect(Expected),
    /// Nothing does, and why.
    Hidden(String),
}

/// A finding and its place; what is not said is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// What kind.
    pub finding: FindingKind,
    /// On which rank.
    pub rank: Option<u32>,
    /// In which call.
    #[serde(default)]
    pub call: Option<usize>,
    /// In which region.
    pub region: Option<String>,
    /// First row that is wrong.
    pub row: Option<u64>,
    /// First column that is wrong.
    pub column: Option<u64>,
}

/// Rows that cannot be shown yet.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Waiting {
    /// Rows of the catalogue of reported faults.
    pub rows: Vec<String>,
    /// What is wrong, in a line.
    pub mechanism: String,
    /// What must exist first.
    pub needs: String,
}

impl Index {
    /// Reads and checks `mutants.yaml` of a folder.
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Index> {
        let file = folder.join("mutants.yaml");
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("reading {}", file.display()))?;
        let index: Index = kernels::yaml::parse(&file, &text)?;
        let mut names = BTreeSet::new();
        for mutant in &index.mutants {
            let name = mutant.name();
            if mutant.expect.is_some() == mutant.survives.is_some() {
                bail!("{}: {name}: give either `expect` or `survives`", file.display());
            }
            if !names.insert(name.clone()) {
                bail!("{}: {name} stands twice", file.display());
            }
        }
        Ok(index)
    }
}

impl Mutant {
    /// `push/pair/self_skipped`.
    pub(crate) fn name(&self) -> String {
        let scenario = self.scenario.strip_suffix(".yaml").unwrap_or(&self.scenario);
        format!("{scenario}/{}", self.mutant)
    }

    /// Why a device cannot show it; `None` where it can.
    pub(crate) fn hidden_on(&self, device: DeviceName) -> Option<String> {
        let kind = self.expect.as_ref().map(|expected| expected.finding);
        match (device.is_gpu(), &self.on_gpu, kind) {
            (false, _, _) | (true, Some(OnGpu::Expect(_)), _) => None,
            (true, Some(OnGpu::Hidden(why)), _) => Some(why.clone()),
            (
                true,
                None,
                Some(
                    FindingKind::DataRace
                    | FindingKind::PacketOverwrite
                    | FindingKind::Deadlock
                    | FindingKind::BarrierDivergence
                    | FindingKind::WrittenTwice,
                ),
            ) => Some("a GPU does not report accesses, waits or barriers".into()),
            (true, None, _) => None,
        }
    }

    /// The finding that kills it on a device.
    pub(crate) fn expected_on(&self, device: DeviceName) -> Option<&Expected> {
        match (device.is_gpu(), &self.on_gpu) {
            (true, Some(OnGpu::Expect(expected))) => Some(expected),
            _ => self.expect.as_ref(),
        }
    }

    /// Whether its fault shows in a mode.
    pub(crate) fn shows_in(&self, mode: Mode) -> bool {
        self.modes.as_ref().is_none_or(|modes| modes.contains(&mode))
    }
}

impl Expected {
    /// Whether a finding is the expected one, at the expected place.
    pub(crate) fn is(&self, finding: &Finding) -> bool {
        let place = finding.place.as_ref();
        fn agrees<T: PartialEq>(expected: Option<&T>, actual: Option<&T>) -> bool {
            expected.is_none_or(|expected| actual == Some(expected))
        }
        self.finding == finding.kind
            && agrees(self.rank.as_ref(), finding.rank.map(|rank| rank.0).as_ref())
            && agrees(self.call.as_ref(), finding.call.as_ref())
            && agrees(self.region.as_ref(), place.map(|place| &place.region))
            && agrees(self.row.as_ref(), place.and_then(|place| place.row.as_ref()))
            && agrees(self.column.as_ref(), place.and_then(|place| place.column.as_ref()))
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Expected { finding, rank, call, region, row, column } = self;
        write!(f, "{finding}")?;
        for (what, number) in [("rank", rank.map(u64::from)), ("call", call.map(|c| c as u64))] {
            if let Some(number) = number {
                write!(f, ", {what} {number}")?;
            }
        }
        if let Some(region) = region {
            write!(f, ", {region}")?;
        }
        if let (Some(row), Some(column)) = (row, column) {
            write!(f, " ({row},{column})")?;
        }
        Ok(())
    }
}

/// The place of a finding, in the words of [`Expected`].
pub(crate) fn place(finding: &Finding) -> Expected {
    let place = finding.place.as_ref();
    Expected {
        finding: finding.kind,
        rank: finding.rank.map(|rank| rank.0),
        call: finding.call,
        region: place.map(|place| place.region.clone()),
        row: place.and_then(|place| place.row),
        column: place.and_then(|place| place.column),
    }
}
