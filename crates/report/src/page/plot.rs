//! Plots: lines of points, on logarithmic axes where sizes and times are, with intervals.

use plotters::coord::combinators::LogCoord;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// Width and height of a plot, in its own units.
const SIZE: (u32, u32) = (640, 360);
/// The page's style gives these their real colours, light or dark.
const INK: RGBColor = RGBColor(0x10, 0x10, 0x10);
const GRID: RGBColor = RGBColor(0xe0, 0xe0, 0xe0);
/// So many series can be told apart.
pub(super) const SERIES: usize = 8;

/// The colour of a series, which the page's style replaces.
fn colour(series: usize) -> RGBColor {
    RGBColor(0, 0, (series % SERIES) as u8 + 1)
}

/// A point, and an interval around it where there is one. A point whose height is no number is a gap: the line ends in front
/// of it and begins again behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) interval: Option<[f64; 2]>,
}

/// Points of one kind, in order.
#[derive(Debug, Clone)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
}

/// How an axis is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Bytes, in powers of two.
    Bytes,
    /// Microseconds.
    Microseconds,
    /// 1e9 bytes a second.
    Bandwidth,
    /// A ratio.
    Ratio,
    /// A number.
    Count,
}

impl Unit {
    fn shown(self, value: f64) -> String {
        match self {
            Unit::Bytes => bytes(value),
            Unit::Microseconds | Unit::Bandwidth | Unit::Count => short(value),
            Unit::Ratio => format!("{value:.3}"),
        }
    }
}

/// Bytes with the largest unit that fits.
pub(super) fn bytes(value: f64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(unit, _)| value >= *unit as f64) {
        Some((unit, name)) => format!("{} {name}", short(value / *unit as f64)),
        None => format!("{value:.0} B"),
    }
}

fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 1.0 => format!("{}", (value * 100.0).round() / 100.0),
        _ => format!("{value:.3}"),
    }
}

/// An axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis<'a> {
    pub(super) name: &'a str,
    pub(super) unit: Unit,
    pub(super) logarithmic: bool,
}

/// A plot of series; a horizontal line is drawn at `at`. Nothing where no series has a point.
pub(super) fn plot(series: &[Series], [x, y]: [Axis<'_>; 2], at: Option<f64>) -> Option<String> {
    let points = || series.iter().flat_map(|series| &series.points);
    let xs = range(points().map(|point| point.x), x.logarithmic)?;
    let heights = points().flat_map(|point| {
        let [low, high] = point.interval.unwrap_or([point.y; 2]);
        [point.y, low, high]
    });
    let ys = range(heights.chain(at), y.logarithmic)?;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let drawn = match (x.logarithmic, y.logarithmic) {
            (true, true) => draw(&root, series, (twos(xs), ys.log_scale()), [x, y], at),
            (true, false) => draw(&root, series, (twos(xs), ys), [x, y], at),
            (false, true) => draw(&root, series, (xs, ys.log_scale()), [x, y], at),
            (false, false) => draw(&root, series, (xs, ys), [x, y], at),
        };
        drawn.and_then(|()| root.present().map_err(|_| ())).ok()?;
    }
    // Its size is the page's matter; text takes the page's font.
    let size = format!("width=\"{}\" height=\"{}\" ", SIZE.0, SIZE.1);
    Some(svg.replacen(&size, "", 1))
}

/// A logarithmic axis with its marks at powers of two, where sizes are.
fn twos(range: std::ops::Range<f64>) -> LogCoord<f64> {
    range.log_scale().base(2.0).into()
}

/// From the least to the greatest value, with room around.
fn range(values: impl Iterator<Item = f64>, logarithmic: bool) -> Option<std::ops::Range<f64>> {
    let usable = values.filter(|value| value.is_finite() && (!logarithmic || *value > 0.0));
    let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return None;
    }
    Some(match logarithmic {
        true => low / 1.3..high * 1.3,
        false => {
            let room = ((high - low) * 0.08).max(high.abs() * 0.005).max(1e-9);
            low - room..high + room
        }
    })
}

fn draw<X, Y>(
    root: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    series: &[Series],
    (xs, ys): (X, Y),
    [x, y]: [Axis<'_>; 2],
    at: Option<f64>,
) -> Result<(), ()>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let font = |size: u32| ("sans-serif", size).into_font();
    let mut chart = ChartBuilder::on(root)
        .margin(8)
        .margin_right(24)
        .x_label_area_size(46)
        .y_label_area_size(64)
        .build_cartesian_2d(xs, ys)
        .map_err(|_| ())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(7)
        .y_labels(7)
        .x_desc(x.name)
        .y_desc(y.name)
        .label_style(font(15))
        .axis_desc_style(font(16))
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|value| x.unit.shown(*value))
        .y_label_formatter(&|value| y.unit.shown(*value))
        .draw()
        .map_err(|_| ())?;
    let xs = || series.iter().flat_map(|series| &series.points).map(|point| point.x);
    if let Some(at) = at {
        let ends = [xs().fold(f64::INFINITY, f64::min), xs().fold(0.0, f64::max)];
        let line = LineSeries::new(ends.map(|x| (x, at)), INK.stroke_width(1));
        chart.draw_series(line).map_err(|_| ())?;
    }
    for (number, series) in series.iter().enumerate() {
        let colour = colour(number);
        for part in series.points.split(|point| point.y.is_nan()) {
            let line = part.iter().map(|point| (point.x, point.y));
            let line = LineSeries::new(line, colour.stroke_width(2));
            chart.draw_series(line).map_err(|_| ())?;
        }
        for point in series.points.iter().filter(|point| !point.y.is_nan()) {
            if let Some([low, high]) = point.interval {
                let bar =
                    PathElement::new(vec![(point.x, low), (point.x, high)], colour.stroke_width(2));
                chart.draw_series([bar]).map_err(|_| ())?;
            }
            let place = (point.x, point.y);
            // Shapes differ, too: colour alone tells nothing to some.
            let drawn = match number % 3 {
                0 => chart.draw_series([Circle::new(place, 4, colour.filled())]).map(|_| ()),
                1 => {
                    chart.draw_series([TriangleMarker::new(place, 6, colour.filled())]).map(|_| ())
                }
                _ => chart.draw_series([Cross::new(place, 4, colour.stroke_width(2))]).map(|_| ()),
            };
            drawn.map_err(|_| ())?;
        }
    }
    Ok(())
}

/// The names of series beside their colours, as HTML.
pub(super) fn legend(series: &[Series]) -> String {
    let marks = ["●", "▲", "✕"];
    let items = series.iter().enumerate().map(|(number, series)| {
        let (mark, colour) = (marks[number % 3], number % SERIES);
        let name = super::html::escaped(&series.name);
        format!("<span style=\"color:var(--series-{colour})\">{mark}</span> {name} ")
    });
    format!("<p class=\"faint\">{}</p>\n", items.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(heights: &[f64]) -> String {
        let point = |(i, y): (usize, &f64)| Point {
            x: 1024.0 * 2f64.powi(i as i32),
            y: *y,
            interval: Some([y * 0.9, y * 1.1]),
        };
        let points = heights.iter().enumerate().map(point).collect();
        let series = [Series { name: "a".to_owned(), points }];
        let x = Axis { name: "bytes", unit: Unit::Bytes, logarithmic: true };
        let y = Axis { name: "us", unit: Unit::Microseconds, logarithmic: true };
        plot(&series, [x, y], Some(1.0)).expect("points")
    }

    /// Lines of the series' colour with three corners or more, or two: intervals are lines of two, too.
    fn lines(svg: &str) -> usize {
        svg.split("<polyline").filter(|line| line.contains("#000001")).count()
    }

    #[test]
    fn a_gap_ends_the_line() {
        let whole = drawn(&[1.0, 2.0, 3.0, 4.0]);
        let broken = drawn(&[1.0, 2.0, f64::NAN, 4.0, 5.0]);
        assert_eq!((lines(&whole), lines(&broken)), (1 + 4, 2 + 4), "{broken}");
        assert_eq!(broken.matches("<circle").count(), 4);
        assert!(!broken.contains("NaN"), "{broken}");
    }

    #[test]
    fn sizes_are_in_powers_of_two() {
        assert!(drawn(&[1.0, 2.0, 3.0]).contains("2 KiB"));
        assert_eq!(bytes(1536.0), "1.5 KiB");
        assert_eq!(bytes(3.0), "3 B");
    }

    #[test]
    fn nothing_to_draw_is_no_plot() {
        let axis = Axis { name: "", unit: Unit::Count, logarithmic: false };
        assert!(plot(&[], [axis, axis], Some(1.0)).is_none());
    }
}
