//! How many of the drawn cases have what is easily got wrong.

use std::fmt;

use collectives::{Call, Problem, RegionLayout};

/// A property of a case, by what it is called.
type Property = (&'static str, fn(&Problem) -> bool);

const PROPERTIES: [Property; 6] = [
    ("partial tile", |p| p.calls.iter().any(partial_tile)),
    ("strided", |p| p.calls.iter().any(strided)),
    ("permuted", |p| p.calls.iter().any(permuted)),
    ("idle", |p| p.calls.iter().any(|call| call.group.size() < p.world)),
    ("offset", |p| [p.layout.input, p.layout.output].iter().any(is_offset)),
    ("zero size", |p| p.calls.iter().any(|call| call.shape.m == 0 || call.shape.n == 0)),
];

fn partial_tile(Call { shape, tile, .. }: &Call) -> bool {
    let whole = shape.m.is_multiple_of(tile.m) && shape.n.is_multiple_of(tile.n);
    shape.m > 0 && shape.n > 0 && !whole
}

fn strided(call: &Call) -> bool {
    call.group.size() > 1 && call.group.stride().is_some_and(|(_, stride)| stride > 1)
}

fn permuted(call: &Call) -> bool {
    !call.group.members().is_sorted()
}

fn is_offset(layout: &RegionLayout) -> bool {
    layout.offset_elements > 0
}

/// Counts cases by property.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    cases: usize,
    counts: [usize; PROPERTIES.len()],
}

impl Shares {
    pub(crate) fn add(&mut self, problem: &Problem) {
        self.cases += 1;
        for (count, (_, holds)) in self.counts.iter_mut().zip(PROPERTIES) {
            *count += usize::from(holds(problem));
        }
    }

    /// Percentages by name.
    pub(crate) fn percent(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let cases = self.cases.max(1) as f64;
        let names = PROPERTIES.iter().map(|(name, _)| *name);
        names.zip(self.counts.map(|count| 100.0 * count as f64 / cases))
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares: Vec<String> =
            self.percent().map(|(name, percent)| format!("{name} {percent:.0} %")).collect();
        f.write_str(&shares.join(", "))
    }
}
