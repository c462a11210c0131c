//! A region map as lines of text:
//!
//! ```text
//!            col 0..255 | 256 | 257..263
//!      row 0..17   .    |  .  |    P
//!                . right  P padding overwritten
//! ```

use collectives::RegionMap;
use collectives::region_map::Mark;

/// The lines of a map.
pub(crate) fn lines(map: &RegionMap) -> Vec<String> {
    let (letter, legend) = match map.mark {
        Mark::Wrong => ("X", "wrong"),
        Mark::Unwritten => ("U", "unwritten"),
        Mark::PaddingOverwritten => ("P", "padding overwritten"),
    };
    let heads: Vec<String> = map.columns.iter().map(|band| range(band.first, band.last)).collect();
    let mut lines = vec![format!("{:>14} {}", "col", heads.join(" | "))];
    for row in &map.rows {
        let cells: Vec<String> = row
            .wrong
            .iter()
            .zip(&heads)
            .map(|(wrong, head)| {
                format!("{:^width$}", if *wrong { letter } else { "." }, width = head.len())
            })
            .collect();
        let rows = format!("row {}", range(row.first, row.last));
        lines.push(format!("{rows:>14} {}", cells.join(" | ")));
    }
    let more = match map.more_bands {
        0 => String::new(),
        more => format!("   ({more} more bands)"),
    };
    lines.push(format!("{:>14} . right  {letter} {legend}{more}", ""));
    lines
}

fn range(first: u64, last: u64) -> String {
    if first == last { format!("{first}") } else { format!("{first}..{last}") }
}
