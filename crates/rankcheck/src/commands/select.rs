//! The arguments that choose cases, the same for `run`, `list` and `explain`.

use std::path::PathBuf;

use clap::Args;
use collectives::rank::MAX_WORLD;
use kernels::DeviceName;
use scenario::filter::Expression;
use scenario::{Case, Filter, Mode};

/// Which cases.
#[derive(Debug, Clone, Args)]
pub(crate) struct Select {
    /// Scenario files, folders, or embedded themes such as `smoke` [default: scenarios].
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How ranks exist.
    #[arg(long, value_delimiter = ',', default_value = "logical,process")]
    pub mode: Vec<Mode>,
    /// Only cases with these numbers of ranks.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WORLD)))]
    pub ranks: Vec<u32>,
    /// Only cases for which this holds, such as `test(w8) & !dtype(f16)`.
    #[arg(short = 'E', value_name = "EXPR")]
    pub expression: Option<String>,
    /// Only cases whose name contains this.
    #[arg(short = 'k', value_name = "TEXT")]
    pub text: Option<String>,
    /// Only the case with this id.
    #[arg(long)]
    pub id: Option<String>,
    /// More folders in which kernels are looked for.
    #[arg(long, value_name = "DIR")]
    pub kernels: Vec<PathBuf>,
    /// Key of the fill [default: the scenario's].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Only a part of the cases: `hash:1/4` is the first of four.
    #[arg(long, value_name = "hash:K/N", value_parser = partition)]
    pub partition: Option<(u64, u64)>,
}

fn partition(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("`{text}` is not hash:K/N with 1 <= K <= N");
    let (part, of) =
        text.strip_prefix("hash:").and_then(|t| t.split_once('/')).ok_or_else(wrong)?;
    let (part, of) = (part.parse().map_err(|_| wrong())?, of.parse().map_err(|_| wrong())?);
    if part == 0 || part > of { Err(wrong()) } else { Ok((part, of)) }
}

/// A mode in which nothing is launched by rankcheck itself.
pub(crate) fn launching(modes: &[Mode]) -> anyhow::Result<()> {
    if modes.contains(&Mode::Host) {
        anyhow::bail!(
            "mode host runs inside your own program: start it with `rankcheck exec`, or use pytest"
        );
    }
    Ok(())
}

impl Select {
    pub(crate) fn filter(&self) -> anyhow::Result<Filter> {
        Ok(Filter {
            id: self.id.clone(),
            text: self.text.clone(),
            expression: self.expression.as_deref().map(Expression::parse).transpose()?,
            ranks: self.ranks.clone(),
        })
    }

    /// The chosen cases in their modes, in order of the files.
    pub(crate) fn choose<'a>(
        &self,
        cases: &'a [Case],
        device: DeviceName,
    ) -> anyhow::Result<Vec<(&'a Case, Mode)>> {
        let filter = self.filter()?;
        let mut chosen = Vec::new();
        for case in cases {
            for mode in Mode::ALL {
                let in_part = self
                    .partition
                    .is_none_or(|(part, of)| hash(&case.name(device, mode)) % of == part - 1);
                if self.mode.contains(&mode)
                    && case.modes.contains(&mode)
                    && in_part
                    && filter.takes(case, device, mode)
                {
                    chosen.push((case, mode));
                }
            }
        }
        Ok(chosen)
    }
}

/// FNV-1a, the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
