//! Draws drafts: the same ones for the same seed.

use collectives::draw::{Draw, mix};
use collectives::{DType, Data, Group, GroupSpec, Shape, Tile};
use kernels::manifest::Groups;
use kernels::{DeviceName, Kernel};
use scenario::keys::{CallKeys, CallSettings, Settings};
use scenario::values::{
    Blocks, DTypeValue, DataValue, GroupValue, LayoutValue, OrDefault, Ranks, RegionValue,
    ShapeValue, TileValue, VariantName,
};
use scenario::{Draft, Mode};

/// More ranks than this are not drawn.
const RANKS: u32 = 8;
/// Nor more rows or columns.
const EXTENT: u64 = 300;
/// Around tiles, vectors and powers of two.
const EDGES: [u64; 16] = [7, 8, 9, 15, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 256, 257];

/// What may be drawn.
#[derive(Debug)]
pub(crate) struct Space<'a> {
    pub kernel: &'a Kernel,
    /// Never empty.
    pub variants: Vec<String>,
    pub modes: Vec<Mode>,
}

impl Space<'_> {
    /// Draft number `index` of a seed. The manifest may still rule it out.
    pub(crate) fn draw(&self, seed: u64, index: u64) -> Draft {
        let mut numbers = Draw::new(mix(seed) ^ index);
        let n = &mut numbers;
        let ranks = n.within(1, RANKS.into()) as u32;
        let calls = if n.percent(65) { 1 } else { n.within(2, 4) };
        let collective = self.kernel.manifest.collective;
        let mut settings = Settings::defaults(self.kernel);
        settings.ranks = Ranks(ranks).into();
        settings.variant = VariantName(n.one_of(&self.variants).clone()).into();
        settings.dtype = DTypeValue(*n.one_of(&DType::ALL)).into();
        settings.layout = LayoutValue { input: region(n), output: region(n) }.into();
        settings.guard_bytes = (*n.one_of(&[0, 256, 4096, 4096])).into();
        settings.in_place = (collective.in_place_refusal().is_none() && n.percent(10)).into();
        let data = if n.percent(20) { Data::BitPatterns } else { Data::Keyed };
        settings.data = DataValue(data).into();
        settings.seed = n.within(0, 1 << 32).into();
        let mode = *n.one_of(&self.modes);
        let mut draft = Draft::new("fuzz", self.kernel, settings).in_mode(mode);
        draft.calls = (0..calls).map(|_| self.call(n, &draft.settings)).collect();
        draft.lead_with_first_call();
        draft
    }

    fn call(&self, n: &mut Draw, settings: &Settings) -> CallSettings {
        let manifest = &self.kernel.manifest;
        let ranks = settings.ranks.value.0;
        let spec = self.group(n, ranks);
        let group: Group = spec.resolve(ranks).expect("drawn to fit");
        let conveys = |symbol| manifest.conveys(DeviceName::Cpu, symbol);
        let tiled = conveys("tile.m") && conveys("tile.n");
        let mut call = settings.call(&CallKeys::default());
        call.shape = ShapeValue(Shape { m: extent(n), n: extent(n) }).into();
        let tile = (tiled && n.percent(60))
            .then(|| TileValue(Tile { m: n.within(1, 64), n: n.within(1, EXTENT) }));
        call.tile = OrDefault(tile).into();
        // Often a multiple of the group's size, which some kernels need.
        let blocks = n.percent(60).then(|| {
            let most = n.within(1, 6) as u32;
            Blocks(if n.percent(50) { most * group.size() } else { most })
        });
        call.blocks = OrDefault(blocks).into();
        if manifest.collective.is_rooted() {
            call.root = (n.within(0, u64::from(group.size()) - 1) as u32).into();
        }
        call.group = GroupValue(spec).into();
        call
    }

    fn group(&self, n: &mut Draw, ranks: u32) -> GroupSpec {
        match (self.kernel.manifest.groups, n.within(0, 99)) {
            (Groups::World, _) | (Groups::Any | Groups::Strided, 0..30) => GroupSpec::World,
            (Groups::Any, 30..55) => listed(n, ranks),
            (Groups::Any, 55..65) => GroupSpec::Reversed,
            (Groups::Any | Groups::Strided, _) => strided(n, ranks),
        }
    }
}

fn region(n: &mut Draw) -> RegionValue {
    RegionValue {
        pad_columns: if n.percent(50) { n.within(1, 19) } else { 0 },
        offset_elements: if n.percent(35) { n.within(1, 17) } else { 0 },
    }
}

fn extent(n: &mut Draw) -> u64 {
    match n.within(0, 99) {
        0..4 => 0,
        4..10 => 1,
        10..65 => n.within(1, 40),
        65..85 => *n.one_of(&EDGES),
        _ => n.within(0, EXTENT),
    }
}

/// Some ranks, in any order.
fn listed(n: &mut Draw, ranks: u32) -> GroupSpec {
    let mut all: Vec<u32> = (0..ranks).collect();
    n.shuffle(&mut all);
    all.truncate(n.within(1, u64::from(ranks)) as usize);
    GroupSpec::Ranks(all)
}

fn strided(n: &mut Draw, ranks: u32) -> GroupSpec {
    let start = n.within(0, u64::from(ranks) - 1) as u32;
    let stride = n.within(1, 3) as u32;
    let most = (ranks - 1 - start) / stride + 1;
    // A single member has no stride to speak of.
    let size = n.within(u64::from(most.min(2)), u64::from(most)) as u32;
    GroupSpec::Strided { start, stride, size }
}
