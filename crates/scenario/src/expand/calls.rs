//! The calls of a combination, each checked against the kernel and its group.

use collectives::draw::mix;
use collectives::{Call, Collective, Details, Group, GroupRank, Layout, Op, Tile};
use kernels::symbols::nearest;
use kernels::{DeviceName, Variant};

use super::file::{ExpandError, Expander};
use crate::case::Requested;
use crate::keys::{CallSettings, Settings};
use crate::values::{CountsValue, OrDefault, Placed, TileValue};

impl Expander<'_> {
    /// The calls of a combination, with what was asked for in each; `None` where a group does not
    /// fit the world.
    pub(super) fn calls(
        &self,
        settings: &Settings,
        seed: u64,
    ) -> Result<Option<Vec<(Call, Requested)>>, ExpandError> {
        let variant = self.variant(settings)?;
        let mut calls = Vec::new();
        for (index, values) in settings.calls().into_iter().enumerate() {
            let group = values.group.value.0.resolve(settings.ranks.value.0);
            let Some(group) = group else { return Ok(None) };
            calls.push(self.call(settings, values, variant, group, (seed, index))?);
        }
        Ok(Some(calls))
    }

    fn variant(&self, settings: &Settings) -> Result<&Variant, ExpandError> {
        let variants = &self.kernel.manifest.variants;
        let stated = &settings.variant;
        variants.get(&stated.value.0).ok_or_else(|| {
            let nearest = nearest(&stated.value.0, variants.keys().map(String::as_str));
            let known: Vec<&str> = variants.keys().map(String::as_str).collect();
            let message = format!(
                "{} has no variant `{}` (did you mean `{nearest}`? it has {})",
                self.kernel.manifest.kernel,
                stated.value.0,
                known.join(", ")
            );
            self.error(stated.place, message)
        })
    }

    fn call(
        &self,
        settings: &Settings,
        values: CallSettings,
        variant: &Variant,
        group: Group,
        (seed, index): (u64, usize),
    ) -> Result<(Call, Requested), ExpandError> {
        // Every key by name: one that is forgotten here does not compile.
        let CallSettings { shape, tile, blocks, group: _, layout, root, op, counts, scalars } =
            values;
        self.check_root(root, &group)?;
        self.check_tile(tile, variant.tile)?;
        self.check_op(&op)?;
        let requested = Requested {
            tile: tile.value.0.map(|TileValue(tile)| tile),
            blocks: blocks.value.0.map(|blocks| blocks.0),
        };
        let rows = resolve_counts(&counts.value, shape.value.0.m, group.size(), seed, index);
        let call = Call {
            shape: shape.value.0,
            group,
            tile: requested.tile.unwrap_or(variant.tile),
            blocks: requested.blocks.unwrap_or(variant.blocks),
            root: GroupRank(root.value),
            details: Details {
                op: op.value.0,
                counts: rows,
                scalars: scalars.value.0,
                layout: (layout != settings.layout).then(|| Layout::from(layout.value)),
                first_epoch: settings.first_epoch.value,
                ..Details::default()
            },
        };
        Ok((call, requested))
    }

    fn check_op(&self, op: &Placed<crate::values::OpValue>) -> Result<(), ExpandError> {
        let collective = self.kernel.manifest.collective;
        if collective.reduces() || (!op.place.is_known() && op.value.0 == Op::Sum) {
            return Ok(());
        }
        Err(self.error(op.place, format!("{collective} combines nothing, so it has no op")))
    }

    fn check_root(&self, root: Placed<u32>, group: &Group) -> Result<(), ExpandError> {
        let collective = self.kernel.manifest.collective;
        if root.place.is_known() && !collective.is_rooted() {
            let rooted: Vec<&str> =
                Collective::ALL.iter().filter(|c| c.is_rooted()).map(|c| c.name()).collect();
            let message = format!("{collective} has no root (only {} have)", rooted.join(", "));
            return Err(self.error(root.place, message));
        }
        if root.value >= group.size() {
            let most = group.size() - 1;
            let message = format!("root {} is no group rank of {group} (0 to {most})", root.value);
            return Err(self.error(root.place, message));
        }
        Ok(())
    }

    /// An explicit tile must be able to reach the kernel.
    fn check_tile(
        &self,
        stated: Placed<OrDefault<TileValue>>,
        fixed: Tile,
    ) -> Result<(), ExpandError> {
        let OrDefault(Some(TileValue(tile))) = stated.value else { return Ok(()) };
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
        Err(self.error(stated.place, message))
    }
}

/// Numbers of rows by source and destination; none where all are M.
fn resolve_counts(
    value: &CountsValue,
    most: u64,
    members: u32,
    seed: u64,
    index: usize,
) -> Vec<Vec<u64>> {
    let drawn = |from: u64, to: u64| {
        let place = mix(seed ^ mix(index as u64)) ^ from << 8 ^ to;
        mix(place) % (most + 1)
    };
    let members = u64::from(members);
    match value {
        CountsValue::Even => Vec::new(),
        CountsValue::Uneven => {
            (0..members).map(|from| (0..members).map(|to| drawn(from, to)).collect()).collect()
        }
        CountsValue::List(list) => list.clone(),
    }
}
