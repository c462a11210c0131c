//! The picture of a diff: one lane a file, sizes on a logarithmic axis, changed spans framed.
//!
//! Plain SVG text, no scripts, no fonts beyond `sans-serif`; every span carries a `<title>` with
//! the exact bytes.

use std::fmt::Write as _;

use crate::diff::{Map, Overlap, Span};
use crate::evaluate::Choice;

const WIDTH: f64 = 1100.0;
const LABELS: f64 = 170.0;
const MARGIN: f64 = 20.0;
const LANE: f64 = 30.0;
const HEAD: f64 = 26.0;
const AXIS: f64 = 46.0;
const LEGEND: f64 = 30.0;

/// Colours of choices, in order of first appearance; white is the library's default.
const COLOURS: [&str; 10] = [
    "#8dd3c7", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5", "#bc80bd",
    "#ccebc5", "#ffed6f",
];

/// Draws the maps; `files` labels the lanes, first the base.
pub fn draw(maps: &[Map], files: &[&str]) -> String {
    let choices = distinct_choices(maps);
    let height = |map: &Map| HEAD + LANE * map.spans[0].decisions.len() as f64 + AXIS;
    let total = maps.iter().map(height).sum::<f64>() + LEGEND + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{total}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut top = MARGIN;
    for map in maps {
        draw_map(&mut svg, map, files, &choices, top);
        top += height(map);
    }
    draw_legend(&mut svg, &choices, top);
    svg + "</svg>\n"
}

fn distinct_choices(maps: &[Map]) -> Vec<Choice> {
    let mut choices = Vec::new();
    for decision in maps.iter().flat_map(|map| &map.spans).flat_map(|span| &span.decisions) {
        if decision.choice.pick.is_some() && !choices.contains(&decision.choice) {
            choices.push(decision.choice);
        }
    }
    choices
}

fn colour(choices: &[Choice], choice: &Choice) -> &'static str {
    let index = choices.iter().position(|known| known == choice);
    index.map_or("#ffffff", |index| COLOURS[index % COLOURS.len()])
}

/// Maps bytes to x, from just under the first bound to just over the last.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(spans: &[Span]) -> Self {
        let bounds = spans.iter().map(|span| span.from).filter(|&from| from > 0);
        let (low, high) = bounds.fold((u64::MAX, 1), |(l, h), b| (l.min(b), h.max(b)));
        Self { low: (low as f64).log2().floor() - 1.0, high: (high as f64).log2().ceil() + 1.0 }
    }

    fn x(&self, bytes: f64) -> f64 {
        let at =
            (bytes.max(1.0).log2().clamp(self.low, self.high) - self.low) / (self.high - self.low);
        LABELS + at * (WIDTH - LABELS - MARGIN)
    }
}

fn draw_map(svg: &mut String, map: &Map, files: &[&str], choices: &[Choice], top: f64) {
    let scale = Scale::of(&map.spans);
    text(svg, MARGIN, top + 16.0, "start", &format!("{}", map.scope), " font-weight=\"bold\"");
    for (lane, file) in files.iter().enumerate() {
        let y = top + HEAD + LANE * lane as f64;
        text(svg, LABELS - 8.0, y + 18.0, "end", &shortened(file), "");
        for span in &map.spans {
            draw_span(svg, span, lane, &scale, y, choices);
        }
    }
    let axis = top + HEAD + LANE * files.len() as f64;
    // Where the last label of each of two rows ends; what fits in neither is left to the titles.
    let mut ends = [f64::NEG_INFINITY; 2];
    for span in map.spans.iter().skip(1) {
        let x = scale.x(span.from as f64);
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{axis:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#444\"/>",
            axis + 5.0
        );
        let label = crate::bytes::in_units(span.from).unwrap_or_else(|| span.from.to_string());
        let half = 3.2 * label.len() as f64;
        if let Some(row) = ends.iter().position(|&end| end < x - half) {
            text(svg, x, axis + 17.0 + 12.0 * row as f64, "middle", &label, " font-size=\"10\"");
            ends[row] = x + half + 4.0;
        }
    }
}

fn draw_span(
    svg: &mut String,
    span: &Span,
    lane: usize,
    scale: &Scale,
    y: f64,
    choices: &[Choice],
) {
    let (left, right) = (scale.x(span.from as f64), scale.x(span.to as f64 + 1.0));
    let choice = &span.decisions[lane].choice;
    let (stroke, width) = match span.overlap() {
        _ if *choice == span.decisions[0].choice => ("#888", 0.5),
        Overlap::Conflict => ("#d00000", 2.5),
        Overlap::Unchanged | Overlap::One | Overlap::Agree => ("#000", 2.0),
    };
    let _ = writeln!(
        svg,
        "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\" \
         stroke=\"{stroke}\" stroke-width=\"{width}\"><title>{}: {choice}</title></rect>",
        y + 2.0,
        (right - left).max(0.5),
        LANE - 6.0,
        colour(choices, choice),
        crate::bytes::range(span.from, span.to),
    );
    let label = choice.to_string();
    if right - left > 6.5 * label.len() as f64 {
        text(svg, (left + right) / 2.0, y + 18.0, "middle", &label, " font-size=\"11\"");
    }
}

fn draw_legend(svg: &mut String, choices: &[Choice], top: f64) {
    let mut x = MARGIN;
    for choice in choices {
        let label = choice.to_string();
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"14\" height=\"14\" fill=\"{}\" \
             stroke=\"#888\"/>",
            colour(choices, choice)
        );
        text(svg, x + 18.0, top + 11.0, "start", &label, "");
        x += 34.0 + 6.6 * label.len() as f64;
    }
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, content: &str, attributes: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{attributes}>{content}</text>"
    );
}

/// The end of a path, which is what tells two files apart.
fn shortened(path: &str) -> String {
    let count = path.chars().count();
    if count <= 20 {
        path.to_owned()
    } else {
        "…".to_owned() + &path.chars().skip(count - 19).collect::<String>()
    }
}
