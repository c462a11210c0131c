//! A selection of cases.

use kernels::DeviceName;

use super::expression::Expression;
use crate::case::Case;
use crate::mode::Mode;

/// A selection; everything that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Exactly this id, with or without `cpu-logical::` in front.
    pub id: Option<String>,
    /// A text that the case's name contains.
    pub text: Option<String>,
    /// An expression that holds for the case.
    pub expression: Option<Expression>,
    /// Only these numbers of ranks; empty means any.
    pub ranks: Vec<u32>,
}

impl Filter {
    /// Whether a run takes the case in this mode.
    pub fn takes(&self, case: &Case, device: DeviceName, mode: Mode) -> bool {
        let name = case.name(device, mode);
        self.id.as_ref().is_none_or(|id| *id == case.id || *id == name)
            && self.text.as_ref().is_none_or(|text| name.contains(text.as_str()))
            && (self.ranks.is_empty() || self.ranks.contains(&case.problem.world))
            && self.expression.as_ref().is_none_or(|e| e.holds(case, &name, mode))
    }
}
