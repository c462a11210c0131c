//! What parsing alone cannot see of a manifest.

use collectives::Tile;

use super::arguments::ArgumentSpec;
use super::model::Manifest;
use crate::symbols::nearest;

/// Checks a manifest that was parsed: keys that exclude each other, sizes, names of regions.
///
/// # Errors
/// What is wrong, and what to write instead.
pub(crate) fn validate(manifest: &Manifest) -> Result<(), String> {
    if manifest.source.is_some() && manifest.object.is_some() {
        return Err("give either `source` or `object`".into());
    }
    if manifest.is_host_program() && !manifest.devices.is_empty() {
        return Err(
            "give `source` or `object`, or `devices: []` where a host program launches it".into()
        );
    }
    if manifest.variants.is_empty() {
        return Err("`variants` is empty: name at least one entry".into());
    }
    for (name, variant) in &manifest.variants {
        let Tile { m, n } = variant.tile;
        if m == 0 || n == 0 || variant.blocks == 0 {
            return Err(format!("variant `{name}`: tile and blocks must be at least 1"));
        }
        let good = |c: char| c.is_ascii_alphanumeric() || "_:<>, ()+-*/".contains(c);
        if variant.entry.is_empty() || !variant.entry.chars().all(good) {
            return Err(format!("variant `{name}`: `{}` is not a function's name", variant.entry));
        }
    }
    super::steps::output_init(&manifest.steps)?;
    for argument in &manifest.args {
        if let ArgumentSpec::Ptr(region) = argument {
            let known: Vec<String> = ["input".to_owned(), "output".to_owned()]
                .into_iter()
                .chain(manifest.workspace.keys().map(|name| format!("workspace.{name}")))
                .collect();
            if !known.contains(region) {
                let nearest = nearest(region, known.iter().map(String::as_str));
                return Err(format!("unknown region `{region}` (did you mean `{nearest}`?)"));
            }
        }
    }
    Ok(())
}
