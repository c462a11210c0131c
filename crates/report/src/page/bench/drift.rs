//! Medians of runs by time: whether the machine drifted while it measured.

use bench::compare::evidence::slowest;
use bench::file::{BenchFile, Row};
use bench::stats::median;

use crate::page::html::{escaped, figure, section};
use crate::page::plot::{Axis, Point, Series, Unit, legend, plot};

/// So many rows have a picture; all samples are in the file.
const ROWS: usize = 24;

/// A figure a row, folded; nothing where no run says when it began.
pub(super) fn of_file(file: &BenchFile) -> String {
    let drawn: Vec<String> = file.rows.iter().filter_map(of_row).take(ROWS).collect();
    if drawn.is_empty() {
        return String::new();
    }
    let mut html = section("drift", "Runs by time");
    if file.rows.len() > drawn.len() {
        html += &format!("<p class=\"faint\">{} of {} rows</p>\n", drawn.len(), file.rows.len());
    }
    html + &drawn.concat()
}

fn of_row(row: &Row) -> Option<String> {
    let runs =
        || row.launches.iter().flat_map(|launch| &launch.blocks).flat_map(|block| &block.runs);
    let series: Vec<Series> = row
        .arms
        .iter()
        .enumerate()
        .map(|(index, arm)| {
            let of_arm = runs().filter(|run| run.arm == index);
            let points = of_arm.filter_map(|run| {
                let y = median(&slowest(run))? / 1e3;
                Some(Point { x: run.at_ns? / 1e9, y, interval: None })
            });
            Series { name: arm.name.clone(), points: points.collect() }
        })
        .collect();
    let x =
        Axis { name: "seconds since the benchmark began", unit: Unit::Count, logarithmic: false };
    let y = Axis { name: "median of a run, us", unit: Unit::Microseconds, logarithmic: false };
    let svg = plot(&series, [x, y], None)?;
    let caption = format!("{}: the median of each run, by when it began", row.id);
    Some(format!(
        "<details><summary class=\"id\">{}</summary>{}{}</details>\n",
        escaped(&row.id),
        figure(&svg, &caption, &caption),
        legend(&series),
    ))
}
