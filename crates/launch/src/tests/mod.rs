//! The way of a case on ranks that do what a test says: no process, no compiler, no device.

mod attribution;
mod delays;
mod exhaustive;
mod launched;
mod losses;
mod not_proved;
mod orders;
mod seeded;
mod shrink;
mod write_once;

use kernels::DeviceName;
use ranks::Target;
use verdict::CaseResult;

/// One GPU, or several, with everything made up.
pub(crate) fn gpus(gpus: &[u32]) -> Target {
    let gpus = gpus.to_vec();
    Target::Gpus { device: DeviceName::Cuda, gpus, verifier: None, sanitizer: None }
}

/// What is wrong, in order.
pub(crate) fn kinds(result: &CaseResult) -> Vec<String> {
    result.findings.iter().map(|finding| finding.kind.to_string()).collect()
}
