//! Bandwidths against each other, to the printed digits: algorithm bandwidth is size by time, bus
//! bandwidth is that times a factor that the collective and the number of ranks give.
//!
//! Source: `*GetBw` in nccl-tests and rccl-tests `src/*.cu`.

use super::model::{Footer, Half, Row};

/// Relative error of the tools' own arithmetic, beyond the printed digits.
const ROUNDING: f64 = 1e-6;
/// Worlds that are tried where a log does not list its ranks.
const MAX_RANKS: usize = 1 << 17;

/// How bus bandwidth follows from algorithm bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Law {
    /// `2 (n - 1) / n`.
    TwiceSplit,
    /// `(n - 1) / n`.
    Split,
    /// 1.
    Same,
}

impl Law {
    const ALL: [Self; 3] = [Self::TwiceSplit, Self::Split, Self::Same];

    /// The law of a tool, by its name without `_perf`.
    fn of(collective: &str) -> Option<Self> {
        match collective.to_lowercase().replace('_', "").as_str() {
            "allreduce" | "allreducebias" => Some(Self::TwiceSplit),
            "allgather" | "reducescatter" | "alltoall" | "alltoallv" | "gather" | "scatter" => {
                Some(Self::Split)
            }
            "broadcast" | "reduce" | "sendrecv" | "hypercube" => Some(Self::Same),
            _ => None,
        }
    }

    fn factor(self, ranks: usize) -> f64 {
        let ranks = ranks as f64;
        match self {
            Self::TwiceSplit => 2.0 * (ranks - 1.0) / ranks,
            Self::Split => (ranks - 1.0) / ranks,
            Self::Same => 1.0,
        }
    }
}

/// Whether a half's bus bandwidth is its algorithm bandwidth times this factor.
fn follows(half: &Half, factor: f64) -> bool {
    let allowed = half.slack.busbw_gbs + factor * half.slack.algbw_gbs + ROUNDING * half.busbw_gbs;
    (half.busbw_gbs - half.algbw_gbs * factor).abs() <= allowed
}

/// Whether a half's algorithm bandwidth is the row's size by its time.
fn follows_from_time(half: &Half, size_bytes: u64) -> bool {
    let gbs = |time_us: f64| size_bytes as f64 / time_us.max(1e-9) / 1000.0;
    let least = gbs(half.time_us + half.slack.time_us) * (1.0 - ROUNDING) - half.slack.algbw_gbs;
    let most = gbs(half.time_us - half.slack.time_us) * (1.0 + ROUNDING) + half.slack.algbw_gbs;
    (least..=most).contains(&half.algbw_gbs)
}

/// Whether algorithm bandwidth is size by time: hypercube counts less than the size, alltoallv as
/// much as its matrix says, and a tool that shows event times may use those.
fn is_by_time(half: &Half, collective: &str) -> bool {
    let other_base = matches!(collective, "hypercube" | "HyperCube" | "alltoallv" | "AlltoAllv");
    half.time_is_wall && !other_base && half.extra.iter().all(|(name, _)| !name.contains("evt"))
}

/// All halves of a run, with their rows.
fn halves<'a>(rows: &'a [&Row]) -> impl Iterator<Item = (&'a Row, &'a Half)> + Clone {
    rows.iter().flat_map(|row| row.halves.iter().map(move |half| (*row, half)))
}

/// Whether rows show that there was one rank: its factor is 0, so that bus bandwidth is 0 where
/// algorithm bandwidth is not.
pub(super) fn is_alone(footer: &Footer, rows: &[&Row]) -> bool {
    const VISIBLE_GBS: f64 = 0.05;
    match footer.ranks {
        Some(ranks) => ranks == 1,
        None => {
            let seen = halves(rows).any(|(_, half)| half.algbw_gbs >= VISIBLE_GBS);
            seen && halves(rows).all(|(_, half)| half.busbw_gbs == 0.0)
        }
    }
}

/// Rows whose bandwidths do not follow from each other.
pub(super) fn contradictions(footer: &Footer, rows: &[&Row]) -> Vec<String> {
    let law = footer.collective.as_deref().and_then(Law::of);
    let mut found = match (law, footer.ranks) {
        (Some(law), Some(ranks)) => known(law, ranks, footer, rows),
        (Some(law), None) => unknown(&[law], rows),
        (None, Some(ranks)) => match Law::ALL.iter().any(|law| all_follow(*law, ranks, rows)) {
            true => Vec::new(),
            false => vec![format!(
                "bus bandwidth follows from algorithm bandwidth by the factor of no collective of \
                 {ranks} ranks"
            )],
        },
        (None, None) => unknown(&Law::ALL, rows),
    };
    let collective = footer.collective.as_deref().unwrap_or_default();
    if law.is_some() {
        found.extend(
            halves(rows)
                .filter(|(_, half)| is_by_time(half, collective))
                .filter(|(row, half)| !follows_from_time(half, row.size_bytes))
                .map(|(row, half)| {
                    format!(
                        "line {}: algbw {} of {} is not {} bytes by {} us",
                        row.line,
                        half.algbw_gbs,
                        half.kind.name(),
                        row.size_bytes,
                        half.time_us
                    )
                }),
        );
    }
    found
}

fn all_follow(law: Law, ranks: usize, rows: &[&Row]) -> bool {
    let factor = law.factor(ranks);
    halves(rows).all(|(_, half)| follows(half, factor))
}

fn known(law: Law, ranks: usize, footer: &Footer, rows: &[&Row]) -> Vec<String> {
    let factor = law.factor(ranks);
    let collective = footer.collective.as_deref().unwrap_or_default();
    halves(rows)
        .filter(|(_, half)| !follows(half, factor))
        .map(|(row, half)| {
            format!(
                "line {}: busbw {} of {} is not algbw {} times {factor} ({collective} of {ranks} \
                 ranks)",
                row.line,
                half.busbw_gbs,
                half.kind.name(),
                half.algbw_gbs
            )
        })
        .collect()
}

/// Where the ranks are not listed, some number of them must explain every row.
fn unknown(laws: &[Law], rows: &[&Row]) -> Vec<String> {
    // The factors that each half allows; one range that all share.
    let (mut least, mut most) = (0.0f64, f64::INFINITY);
    for (_, half) in halves(rows) {
        let slack = half.slack;
        let busbw_slack = slack.busbw_gbs + ROUNDING * half.busbw_gbs;
        least = least.max((half.busbw_gbs - busbw_slack) / (half.algbw_gbs + slack.algbw_gbs));
        if half.algbw_gbs > slack.algbw_gbs {
            most = most.min((half.busbw_gbs + busbw_slack) / (half.algbw_gbs - slack.algbw_gbs));
        }
    }
    let explains =
        |law: &Law| (1..MAX_RANKS).any(|ranks| (least..=most).contains(&law.factor(ranks)));
    if laws.iter().any(explains) {
        return Vec::new();
    }
    vec![format!(
        "no number of ranks explains the bus bandwidths: each row allows another factor, or \
         together {least:.4} to {most:.4}"
    )]
}

/// Whether a number of ranks explains all rows of a collective; also where it is not known.
pub(super) fn explains(ranks: usize, collective: &str, rows: &[&Row]) -> bool {
    Law::of(collective).is_none_or(|law| all_follow(law, ranks, rows))
}
