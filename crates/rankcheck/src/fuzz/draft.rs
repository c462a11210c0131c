//! From drafts to cases that can run.

use std::path::Path;

use kernels::{DeviceName, Library};
use scenario::{Case, Draft, DraftError};

/// The case that a draft gives in `file`; `None` where the kernel's manifest rules it out.
pub(crate) fn runnable(
    draft: &Draft,
    file: &Path,
    library: &Library,
) -> Result<Option<Case>, DraftError> {
    let case = draft.case(file, library)?;
    Ok(case.unsupported(DeviceName::Cpu).is_none().then_some(case))
}
