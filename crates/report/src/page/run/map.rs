//! The region map of a finding as pictures: all bands, and the elements around the first wrong byte.

use std::fmt::Write as _;

use collectives::RegionMap;
use collectives::region_map::Mark;

use super::document::Finding;
use crate::page::html::figure;

const LEFT: f64 = 96.0;
const TOP: f64 = 28.0;
const WIDE: f64 = 520.0;
const HIGH: f64 = 34.0;
/// Elements shown on each side of the first wrong one.
const AROUND: u64 = 6;

/// A cell of a picture.
struct Cell {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Both pictures of a finding.
pub(super) fn pictures(map: &RegionMap, finding: &Finding) -> String {
    let rank = finding.rank.map_or_else(String::new, |rank| format!("rank {rank}, "));
    let region = finding.region.as_deref().unwrap_or("matrix");
    let what = match map.mark {
        Mark::Wrong => "wrong",
        Mark::Unwritten => "unwritten",
        Mark::PaddingOverwritten => "padding overwritten",
    };
    let caption = format!(
        "{rank}{region}: bands of rows and columns, widths not to scale. Hatched: {what}. Dashed line: edge of a tile ({}x{}). \
         Dotted cells: padding behind column {}.",
        map.tile.m,
        map.tile.n,
        map.n.saturating_sub(1),
    );
    let mut html = String::from("<div class=\"figures\">");
    html += &figure(&bands(map), &alternative(map, what), &caption);
    if let Some((row, column)) = finding.row.zip(finding.column) {
        let caption = format!(
            "{rank}{region} around row {row}, column {column} (circled), element by element: expected {}, got {}",
            finding.expected.as_deref().unwrap_or("other bytes"),
            finding.actual.as_deref().unwrap_or("these"),
        );
        let alternative = format!("elements around row {row}, column {column}");
        html += &figure(&zoom(map, row, column), &alternative, &caption);
    }
    html + "</div>\n"
}

/// The map in words: which rows are wrong in which columns.
fn alternative(map: &RegionMap, what: &str) -> String {
    let rows = map.rows.iter().filter(|row| row.wrong.contains(&true)).map(|row| {
        let columns = map.columns.iter().zip(&row.wrong).filter(|(_, wrong)| **wrong);
        let columns: Vec<String> = columns.map(|(band, _)| range(band.first, band.last)).collect();
        format!("rows {} {what} in columns {}", range(row.first, row.last), columns.join(", "))
    });
    rows.collect::<Vec<_>>().join("; ")
}

fn bands(map: &RegionMap) -> String {
    let width = WIDE / map.columns.len().max(1) as f64;
    let height = TOP + HIGH * map.rows.len() as f64;
    let mut svg = open(height + 8.0);
    for (index, column) in map.columns.iter().enumerate() {
        let x = LEFT + (index as f64 + 0.5) * width;
        text(&mut svg, x, TOP - 8.0, "middle", &range(column.first, column.last));
    }
    for (number, row) in map.rows.iter().enumerate() {
        let y = TOP + number as f64 * HIGH;
        text(
            &mut svg,
            LEFT - 8.0,
            y + HIGH * 0.6,
            "end",
            &format!("row {}", range(row.first, row.last)),
        );
        for (index, wrong) in row.wrong.iter().enumerate() {
            let cell = Cell { x: LEFT + index as f64 * width, y, width, height: HIGH };
            let padding = map.columns[index].first >= map.n;
            draw(&mut svg, &cell, *wrong, padding);
        }
    }
    // Bands end where something changes, and at tiles where they do.
    for (index, column) in map.columns.iter().enumerate().skip(1) {
        let x = LEFT + index as f64 * width;
        edges(&mut svg, map, column.first, x, height);
    }
    svg + "</svg>"
}

/// The elements around one, as far as the map knows them.
fn zoom(map: &RegionMap, row: u64, column: u64) -> String {
    let columns = column.saturating_sub(AROUND)..(column + AROUND + 1).min(map.row_stride);
    let rows = row.saturating_sub(2)..row + 3;
    let width = WIDE / columns.clone().count().max(1) as f64;
    let last = map.rows.last().map_or(row, |band| band.last);
    let rows = rows.start..rows.end.min(last + 1).max(row + 1);
    let height = TOP + HIGH * rows.clone().count() as f64;
    let mut svg = open(height + 8.0);
    for (index, at) in columns.clone().enumerate() {
        text(&mut svg, LEFT + (index as f64 + 0.5) * width, TOP - 8.0, "middle", &at.to_string());
    }
    for (number, at_row) in rows.enumerate() {
        let y = TOP + number as f64 * HIGH;
        text(&mut svg, LEFT - 8.0, y + HIGH * 0.6, "end", &format!("row {at_row}"));
        for (index, at) in columns.clone().enumerate() {
            let cell = Cell { x: LEFT + index as f64 * width, y, width, height: HIGH };
            draw(&mut svg, &cell, is_wrong(map, at_row, at), at >= map.n);
            if (at_row, at) == (row, column) {
                let _ = write!(
                    svg,
                    "<circle class=\"map-first\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"13\"/>",
                    cell.x + width / 2.0,
                    y + HIGH / 2.0
                );
            }
        }
    }
    for (index, at) in columns.enumerate().skip(1) {
        edges(&mut svg, map, at, LEFT + index as f64 * width, height);
    }
    svg + "</svg>"
}

fn is_wrong(map: &RegionMap, row: u64, column: u64) -> bool {
    let column = map.columns.iter().position(|band| (band.first..=band.last).contains(&column));
    let row = map.rows.iter().find(|band| (band.first..=band.last).contains(&row));
    row.zip(column).is_some_and(|(row, column)| row.wrong.get(column) == Some(&true))
}

fn open(height: f64) -> String {
    format!("<svg viewBox=\"0 0 {:.0} {height:.0}\" font-size=\"12\">", LEFT + WIDE + 8.0)
}

fn draw(svg: &mut String, Cell { x, y, width, height }: &Cell, wrong: bool, padding: bool) {
    let class = match (wrong, padding) {
        (true, _) => "map-wrong",
        (false, true) => "map-padding",
        (false, false) => "map-right",
    };
    let _ = write!(
        svg,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
    );
    if wrong {
        // Hatching, so that colour is not needed to see it.
        let mut from = 6.0;
        while from < width + height {
            let (x1, y1) = if from < *width { (from, 0.0) } else { (*width, from - width) };
            let (x2, y2) = if from < *height { (0.0, from) } else { (from - height, *height) };
            let _ = write!(
                svg,
                "<line class=\"map-hatch\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
                x + x1,
                y + y1,
                x + x2,
                y + y2
            );
            from += 9.0;
        }
    }
}

/// The edge of a tile in front of a column, and that of the matrix.
fn edges(svg: &mut String, map: &RegionMap, column: u64, x: f64, height: f64) {
    let tile = map.tile.n;
    let class = match () {
        () if column == map.n => "map-edge",
        () if tile > 0 && column.is_multiple_of(tile) => "map-tile",
        () => return,
    };
    let _ = write!(
        svg,
        "<line class=\"{class}\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{height:.1}\"/>"
    );
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
}

fn range(first: u64, last: u64) -> String {
    if first == last { format!("{first}") } else { format!("{first}..{last}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nine rows; column 257 and what is behind it is padding, and overwritten.
    const MAP: &str = r#"{"mark": "padding_overwritten",
        "columns": [{"first": 0, "last": 127}, {"first": 128, "last": 256}, {"first": 257, "last": 263}],
        "rows": [{"first": 0, "last": 3, "wrong": [false, false, true]}, {"first": 4, "last": 8, "wrong": [false, false, false]}],
        "more_bands": 0, "n": 257, "row_stride": 264, "tile": {"m": 1, "n": 128}}"#;

    #[test]
    fn the_picture_says_in_words_what_it_shows() {
        let map: RegionMap = serde_json::from_str(MAP).unwrap();
        let words = alternative(&map, "padding overwritten");
        assert_eq!(words, "rows 0..3 padding overwritten in columns 257..263");
        let svg = bands(&map);
        assert_eq!(svg.matches("class=\"map-wrong\"").count(), 1);
        assert_eq!(svg.matches("class=\"map-padding\"").count(), 1);
        assert_eq!(svg.matches("class=\"map-tile\"").count(), 1, "column 128");
        assert_eq!(svg.matches("class=\"map-edge\"").count(), 1, "column 257");
    }

    /// Around row 3, column 257: rows 1..5, of which 4 and 5 are right; columns 251..263.
    #[test]
    fn the_elements_around_the_first_wrong_one_are_those_of_the_map() {
        let map: RegionMap = serde_json::from_str(MAP).unwrap();
        let svg = zoom(&map, 3, 257);
        assert_eq!(svg.matches("<rect").count(), 5 * 13);
        assert_eq!(svg.matches("class=\"map-wrong\"").count(), 3 * 7);
        assert_eq!(svg.matches("class=\"map-first\"").count(), 1);
        assert!(svg.contains(">251<") && svg.contains(">263<") && !svg.contains(">264<"));
    }
}
