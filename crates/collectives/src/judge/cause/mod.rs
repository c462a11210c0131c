//! A cause that fits what is wrong, with its evidence.
//!
//! A [`Slip`] is a mistake that kernels make, as a claim about memory: what stands where, if this is
//! the mistake. It is believed only where *every* wrong element that was looked at holds exactly the
//! bytes that it claims; the fill makes sure that another mistake would have left other bytes. Where
//! several claims cannot be told apart by the data (a group of two reversed, its neighbour's data),
//! all are said. Where none fits, nothing is: a wrong cause is worse than none.

mod combining;
mod contents;
mod gaps;
mod memory;
mod overruns;
mod placing;
mod reading;
mod samples;
mod scene;
mod targets;

pub(crate) use gaps::Gap;
pub(crate) use samples::{Sample, Samples};
pub(crate) use scene::Scene;

use crate::judge::finding::FindingKind;
use memory::Memory;
use scene::Origin;

/// Fewer wrong bytes than this would fit a claim by chance.
const LEAST_BYTES: usize = 4;
/// At most this many claims that the data cannot tell apart are said.
const ALTERNATIVES: usize = 2;

/// Where the bytes come from that a mistake leaves at a place.
type Claim<'a> = Box<dyn Fn(&Sample) -> Option<Origin> + 'a>;

/// A mistake.
struct Slip<'a> {
    name: String,
    origin: Claim<'a>,
}

impl<'a> Slip<'a> {
    fn new(name: impl Into<String>, origin: impl Fn(&Sample) -> Option<Origin> + 'a) -> Slip<'a> {
        Slip { name: name.into(), origin: Box::new(origin) }
    }
}

/// All that is wrong after a call in one way: on one rank, of one kind, in one region.
pub(crate) struct Evidence<'a> {
    pub kind: FindingKind,
    pub samples: &'a [Sample],
    /// First and last wrong column, where the region is a matrix.
    pub columns: Option<[u64; 2]>,
    /// Of what was never written.
    pub gap: Option<Gap<'a>>,
}

/// The causes of what is wrong after a call, one an evidence.
///
/// One mistake shows in several ways (rows that moved, a gap where they were, a guard overwritten),
/// so a claim counts for more the more of them it explains. `probes` are places where nothing
/// belongs, with what stands there.
pub(crate) fn causes(
    scene: &Scene<'_>,
    all: &[Evidence<'_>],
    probes: &[Sample],
) -> Vec<Option<String>> {
    let mut memory = Memory::new(scene);
    let unrefuted = placing::slips(scene).into_iter().filter(|slip| {
        // What a wrong address brings to places where nothing belongs must be there.
        probes.iter().all(|probe| {
            (slip.origin)(probe).is_none_or(|origin| memory.holds(&origin, probe) != Some(false))
        })
    });
    let placing: Vec<Slip<'_>> = unrefuted.collect();
    let slips: Vec<Slip<'_>> = [
        overruns::slips(scene, all),
        reading::slips(scene),
        combining::slips(scene),
        targets::slips(scene),
        placing,
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut fits: Vec<Vec<usize>> = all
        .iter()
        .map(|evidence| match evidence.gap {
            Some(_) => Vec::new(),
            None => that_fit(&slips, evidence.samples, &mut memory),
        })
        .collect();
    // A mistake that is believed elsewhere also explains the places to which it brings nothing.
    let mut believed: Vec<usize> = fits.iter().flatten().copied().collect();
    believed.sort_unstable();
    believed.dedup();
    for (fits, evidence) in fits.iter_mut().zip(all).filter(|(_, e)| e.gap.is_some()) {
        let brings_nothing = |index: &usize| {
            let mut origins = evidence.samples.iter().map(|s| ((slips[*index].origin)(s), s));
            origins.all(|(origin, sample)| {
                origin.is_none_or(|origin| memory.holds(&origin, sample).is_none())
            })
        };
        fits.extend(believed.iter().copied().filter(brings_nothing));
    }
    let explained = |slip: usize| fits.iter().filter(|fits| fits.contains(&slip)).count();
    all.iter()
        .zip(&fits)
        .map(|(evidence, fits)| {
            let most = fits.iter().map(|slip| explained(*slip)).max();
            let best: Vec<&Slip<'_>> = fits
                .iter()
                .filter(|slip| Some(explained(**slip)) == most)
                .map(|slip| &slips[*slip])
                .take(ALTERNATIVES)
                .collect();
            match (&evidence.gap, best.is_empty()) {
                (_, false) => Some(evidence.said(&best, &memory)),
                (Some(gap), true) => gap.cause(scene),
                (None, true) => contents::cause(evidence, scene, &mut memory),
            }
        })
        .collect()
}

/// The claims that all samples agree with.
fn that_fit(slips: &[Slip<'_>], samples: &[Sample], memory: &mut Memory<'_>) -> Vec<usize> {
    let bytes: usize = samples.iter().map(|sample| sample.actual().len()).sum();
    if bytes < LEAST_BYTES {
        return Vec::new();
    }
    let agrees = |slip: &Slip<'_>, memory: &mut Memory<'_>| {
        samples.iter().all(|sample| {
            (slip.origin)(sample).is_some_and(|origin| memory.holds(&origin, sample) == Some(true))
        })
    };
    (0..slips.len()).filter(|index| agrees(&slips[*index], memory)).collect()
}

impl Evidence<'_> {
    /// Claims that cannot be told apart, in one line with what speaks for them.
    fn said(&self, slips: &[&Slip<'_>], memory: &Memory<'_>) -> String {
        let names: Vec<&str> = slips.iter().map(|slip| slip.name.as_str()).collect();
        let names = names.join(", or ");
        let sample = &self.samples[0];
        let Some(origin) = (slips[0].origin)(sample).filter(|_| self.gap.is_none()) else {
            return format!("{names} (nothing is brought here by it)");
        };
        format!(
            "{names} (all {} wrong {} that were compared agree; the first is {})",
            self.samples.len(),
            if sample.is_element { "elements" } else { "bytes" },
            memory.describe(&origin, sample.rank),
        )
    }
}
