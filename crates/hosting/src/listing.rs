//! The cases that guests have asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use kernels::DeviceName;
use kernels::symbols::nearest;
use scenario::{Case, Mode};

/// Cases, as they were chosen.
pub type Cases = Vec<Arc<Case>>;

/// Every list of cases that was asked for, by the arguments that chose it.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    lists: BTreeMap<Vec<String>, Cases>,
}

impl Listing {
    /// The cases that the arguments choose; `load` is asked the first time only.
    ///
    /// # Errors
    /// What `load` says.
    pub(crate) fn list(
        &mut self,
        arguments: &[String],
        load: &mut dyn FnMut(&[String]) -> Result<Cases, String>,
    ) -> Result<&[Arc<Case>], String> {
        if !self.lists.contains_key(arguments) {
            let cases = load(arguments)?;
            self.lists.insert(arguments.to_vec(), cases);
        }
        Ok(&self.lists[arguments])
    }

    /// A listed case, by its name or its id.
    ///
    /// # Errors
    /// Nothing of the kind was listed; says what is nearest.
    pub(crate) fn find(&self, wanted: &str) -> Result<Arc<Case>, String> {
        let mut all = self.lists.values().flatten();
        if let Some(case) = all.find(|case| name(case) == wanted || case.id == wanted) {
            return Ok(case.clone());
        }
        let names: Vec<String> = self.lists.values().flatten().map(|case| name(case)).collect();
        let nearest = nearest(wanted, names.iter().map(String::as_str));
        Err(format!("no case `{wanted}` among the listed ones (did you mean `{nearest}`?)"))
    }
}

/// How a case is listed.
pub(crate) fn name(case: &Case) -> String {
    case.name(DeviceName::Cpu, Mode::Host)
}
