//! A case as a scenario file would say it.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use collectives::{DType, Data, GroupSpec, Op, RegionLayout, Shape, Tile};
use kernels::Library;
use scenario::{Case, Mode, ScenarioSource, expand};

/// Everything that a fuzzed case varies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    /// What the scenario's name begins with.
    pub theme: &'static str,
    pub kernel: String,
    pub variant: String,
    pub ranks: u32,
    pub dtype: DType,
    pub input: RegionLayout,
    pub output: RegionLayout,
    pub guard_bytes: u64,
    pub in_place: bool,
    pub data: Data,
    pub seed: u64,
    pub mode: Mode,
    /// Threads a block, where the manifest's are not wanted.
    pub threads: Option<u32>,
    /// Never empty.
    pub calls: Vec<CallDraft>,
}

/// Everything that differs between calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallDraft {
    pub shape: Shape,
    pub group: GroupSpec,
    pub tile: Option<Tile>,
    pub blocks: Option<u32>,
    /// For rooted collectives.
    pub root: Option<u32>,
    /// For reductions.
    pub op: Option<Op>,
    /// Rows by source and destination, where they are not all alike.
    pub counts: Vec<Vec<u64>>,
}

impl CallDraft {
    /// `key: value` of every key.
    fn keys(&self) -> Vec<String> {
        let CallDraft { shape, group, tile, blocks, root, op, counts } = self;
        let tile = tile.map_or("default".into(), |tile| tile.to_string());
        let blocks = blocks.map_or("default".into(), |blocks| blocks.to_string());
        let mut keys = vec![
            // Quoted: to YAML, 0x5 is the number five.
            format!("shape: '{shape}'"),
            format!("group: {group}"),
            format!("tile: {tile}"),
            format!("blocks: {blocks}"),
        ];
        keys.extend(root.map(|root| format!("root: {root}")));
        keys.extend(op.map(|op| format!("op: {op}")));
        if !counts.is_empty() {
            keys.push(format!("counts: {counts:?}"));
        }
        keys
    }
}

impl Draft {
    /// What a case in a mode is.
    pub(crate) fn of(case: &Case, mode: Mode) -> Draft {
        let problem = &case.problem;
        let calls = problem.calls.iter().zip(&case.requested).map(|(call, requested)| CallDraft {
            shape: call.shape,
            group: match call.group.is_world(problem.world) {
                true => GroupSpec::World,
                false => GroupSpec::Ranks(call.group.members().iter().map(|rank| rank.0).collect()),
            },
            tile: requested.tile,
            blocks: requested.blocks,
            root: problem.collective.is_rooted().then_some(call.root.0),
            op: problem.collective.reduces().then_some(call.details.op),
            counts: call.details.counts.clone(),
        });
        Draft {
            theme: "shrunk",
            kernel: case.kernel.manifest.kernel.clone(),
            variant: case.variant.clone(),
            ranks: problem.world,
            dtype: problem.dtype,
            input: problem.layout.input,
            output: problem.layout.output,
            guard_bytes: problem.guard_bytes,
            in_place: problem.in_place,
            data: problem.data,
            seed: problem.seed,
            mode,
            threads: case.threads,
            calls: calls.collect(),
        }
    }

    /// The scenario's name: its theme, and that of its file.
    pub(crate) fn name(&self, file: &Path) -> String {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        format!("{}/{}", self.theme, stem.unwrap_or_default())
    }

    /// The scenario file; `comment` is its first line.
    pub(crate) fn yaml(&self, name: &str, comment: &str) -> String {
        let Draft { kernel, variant, ranks, dtype, guard_bytes, in_place, seed, mode, .. } = self;
        let mut text = format!("# {comment}\nscenario: {name}\nkernel: {kernel}\n");
        let region = |RegionLayout { pad_columns, offset_elements }: RegionLayout| {
            format!("{{pad_columns: {pad_columns}, offset_elements: {offset_elements}}}")
        };
        let data = match self.data {
            Data::Keyed => "keyed",
            Data::BitPatterns => "bit_patterns",
            Data::Random => "random",
        };
        let _ = write!(
            text,
            "variant: {variant}\nranks: {ranks}\ndtype: {dtype}\n\
             layout: {{input: {}, output: {}}}\n\
             guard_bytes: {guard_bytes}\nin_place: {in_place}\ndata: {data}\nseed: {seed}\nmodes: [{mode}]\n",
            region(self.input),
            region(self.output),
        );
        if let Some(threads) = self.threads {
            let _ = writeln!(text, "threads: {threads}");
        }
        for key in self.calls[0].keys() {
            text += &format!("{key}\n");
        }
        if self.calls.len() > 1 {
            text += "calls:\n  - {}\n";
            for call in &self.calls[1..] {
                let _ = writeln!(text, "  - {{{}}}", call.keys().join(", "));
            }
        }
        text
    }

    /// The case that the file gives; `None` where the kernel's manifest rules it out.
    pub(crate) fn case(&self, file: &Path, library: &Library) -> anyhow::Result<Option<Case>> {
        let text = self.yaml(&self.name(file), "drawn");
        let source = ScenarioSource { path: file.to_owned(), text };
        let mut cases = expand(file, &source.parse()?, library, None)?.cases;
        let case = cases.pop().with_context(|| format!("a group that does not fit: {self:?}"))?;
        Ok(case.unsupported(kernels::DeviceName::Cpu).is_none().then_some(case))
    }
}
