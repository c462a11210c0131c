//! `steps:` of a manifest: what happens in a call.

use collectives::Init;
use schemars::JsonSchema;
use serde::Deserialize;

/// What happens in a call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Step {
    /// By name.
    Named(NamedStep),
    /// The members' outputs are filled.
    Fill(FillStep),
}

/// A step without parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NamedStep {
    /// The kernel runs.
    Kernel,
    /// All ranks have finished the step before.
    HostBarrier,
}

/// A fill before the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FillStep {
    /// Which region: `output`.
    pub fill: FilledRegion,
    /// With what.
    #[schemars(with = "String")]
    pub with: Init,
}

/// A region that a step may fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilledRegion {
    /// What members receive.
    Output,
}

/// The steps of a kernel that says nothing about them.
pub(crate) fn kernel_alone() -> Vec<Step> {
    vec![Step::Named(NamedStep::Kernel)]
}

/// What the outputs hold when the kernel starts.
///
/// # Errors
/// Steps that this harness does not take: anything but fills, barriers, and one kernel at the end.
pub fn output_init(steps: &[Step]) -> Result<Init, String> {
    let mut init = Init::Poison;
    match steps.split_last() {
        Some((Step::Named(NamedStep::Kernel), before)) => {
            for step in before {
                match step {
                    Step::Fill(fill) => init = fill.with,
                    Step::Named(NamedStep::HostBarrier) => {}
                    Step::Named(NamedStep::Kernel) => {
                        return Err("`steps` run the kernel more than once".into());
                    }
                }
            }
            Ok(init)
        }
        _ => Err("`steps` must end with `kernel`".into()),
    }
}
