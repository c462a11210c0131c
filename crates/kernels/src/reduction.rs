//! The values that a manifest's `reduction:` gives tile by tile.

use collectives::{Call, Problem};

use crate::expression::Expression;
use crate::manifest::{OrderSpec, ReductionSpec, StartAt};
use crate::scope::Scope;

impl ReductionSpec {
    /// Owner and first group rank of every tile; empty where they do not depend on tiles.
    ///
    /// # Errors
    /// An expression without a value, or with one that is no group rank.
    pub fn by_tile(&self, scope: &Scope<'_>) -> Result<(Vec<u32>, Vec<u32>), String> {
        let starts = match self.order() {
            Some(OrderSpec::StartAt(StartAt::Value(expression))) => Some(expression),
            _ => None,
        };
        let values = |expression: Option<&Expression>| match expression {
            Some(expression) => tile_values(expression, scope),
            None => Ok(Vec::new()),
        };
        Ok((values(self.owner.as_ref())?, values(starts.as_ref())?))
    }
}

fn tile_values(expression: &Expression, scope: &Scope<'_>) -> Result<Vec<u32>, String> {
    let call: &Call = scope.call();
    let [down, across] = Problem::tiles(call);
    (0..down * across)
        .map(|tile| {
            let value = expression.evaluate(&|symbol| match symbol {
                "tile" => Ok(tile as i64),
                "tile.row" => Ok((tile / across) as i64),
                "tile.column" => Ok((tile % across) as i64),
                "pid" => Ok((tile % u64::from(call.blocks.max(1))) as i64),
                _ => scope.integer(symbol),
            });
            let value = value.map_err(|error| error.to_string())?;
            let group_rank = u32::try_from(value).ok().filter(|g| *g < call.group.size());
            group_rank
                .ok_or_else(|| format!("`{expression}` is {value} for tile {tile}: no group rank"))
        })
        .collect()
}
