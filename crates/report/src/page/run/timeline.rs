//! A schedule's story as a timeline: a lane for each rank, time downwards, and the flag's arrow between lanes.

use std::fmt::Write as _;

use verdict::{Switch, switches_of};

use crate::page::html::{escaped, figure};

const LANE: f64 = 190.0;
const STEP: f64 = 46.0;
const TOP: f64 = 30.0;

/// What stands in a lane at one moment.
struct Moment {
    /// The lane; none where it belongs to no rank.
    rank: Option<u64>,
    /// The lane that an arrow leads to.
    to: Option<u64>,
    label: String,
    text: String,
}

/// The accesses of a finding, in the order in which they are told.
pub(super) fn of_details(details: &[(String, String)]) -> String {
    let moments: Vec<Moment> = details
        .iter()
        .map(|(label, text)| {
            let mut ranks = ranks(text);
            let (rank, to) = (ranks.next(), ranks.next());
            let is_flag = label == "flag";
            Moment { rank, to: to.filter(|_| is_flag), label: label.clone(), text: text.clone() }
        })
        .collect();
    let list = moments.iter().map(|moment| {
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
            escaped(&moment.label),
            escaped(&moment.text)
        )
    });
    let list = format!("<table><tbody>{}</tbody></table>\n", list.collect::<String>());
    match moments.iter().filter(|moment| moment.rank.is_some()).count() {
        0 | 1 => list,
        _ => drawn(&moments, "what each rank did, first to last") + &list,
    }
}

/// The switches between threads that make the interleaving; nothing where they cannot be read.
pub(super) fn of_switches(text: &str) -> Option<String> {
    let switches: Vec<Switch> = switches_of(text).ok()?;
    let moments: Vec<Moment> = switches
        .iter()
        .map(|switch| {
            let after = switch.after.map_or_else(
                || format!("call {} begins", switch.call),
                |(thread, steps)| format!("after step {steps} of {thread}"),
            );
            Moment {
                rank: switch.after.map(|(thread, _)| u64::from(thread.rank.0)),
                to: Some(u64::from(switch.to.rank.0)),
                label: switch.to.to_string(),
                text: after,
            }
        })
        .map(|moment| Moment { rank: moment.rank.or(moment.to), ..moment })
        .collect();
    (!moments.is_empty()).then(|| drawn(&moments, "switches between threads, first to last"))
}

/// The numbers that a line calls ranks.
fn ranks(text: &str) -> impl Iterator<Item = u64> + '_ {
    let mut words = text.split([' ', ',', ';', ':', '\'', '(', ')']);
    std::iter::from_fn(move || {
        loop {
            if words.next()? == "rank" {
                let number = words.next().and_then(|word| word.parse().ok());
                if number.is_some() {
                    return number;
                }
            }
        }
    })
}

fn drawn(moments: &[Moment], caption: &str) -> String {
    let mut lanes: Vec<u64> =
        moments.iter().flat_map(|moment| [moment.rank, moment.to]).flatten().collect();
    lanes.sort_unstable();
    lanes.dedup();
    let of = |rank: u64| {
        let lane = lanes.iter().position(|lane| *lane == rank).unwrap_or(0);
        (lane as f64 + 0.5) * LANE
    };
    let (width, height) = (lanes.len() as f64 * LANE, TOP + moments.len() as f64 * STEP + 10.0);
    let mut svg = format!("<svg viewBox=\"0 0 {width:.0} {height:.0}\" font-size=\"12\">");
    for lane in &lanes {
        let x = of(*lane);
        let _ = write!(
            svg,
            "<line class=\"lane\" x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{height}\"/><text x=\"{x}\" y=\"18\" \
             text-anchor=\"middle\">rank {lane}</text>"
        );
    }
    let mut told = Vec::new();
    for (number, moment) in moments.iter().enumerate() {
        let Some(rank) = moment.rank else { continue };
        let (from, y) = (of(rank), TOP + (number as f64 + 0.5) * STEP);
        if let Some(to) = moment.to.filter(|to| *to != rank) {
            let to = of(to);
            let head = if to > from { -9.0 } else { 9.0 };
            let _ = write!(
                svg,
                "<path class=\"arrow\" d=\"M{from} {y}H{to}m{head} -5l{} 5l{head} 5\"/>",
                -head
            );
        }
        let text = escaped(&shortened(&moment.text));
        let _ = write!(
            svg,
            "<rect class=\"step\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"34\" rx=\"4\"><title>{}</title></rect>\
             <text x=\"{from}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"600\">{}</text>\
             <text x=\"{from}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10\">{text}</text>",
            from - LANE * 0.46,
            y - 17.0,
            LANE * 0.92,
            escaped(&moment.text),
            y - 3.0,
            escaped(&moment.label),
            y + 11.0,
        );
        told.push(format!("rank {rank}: {} {}", moment.label, moment.text));
    }
    svg += "</svg>";
    figure(&svg, &told.join("; "), caption)
}

/// As much as fits into a lane.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 36;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(lines: &[(&str, &str)]) -> Vec<(String, String)> {
        lines.iter().map(|(label, text)| ((*label).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn a_flag_is_an_arrow_from_who_set_it_to_who_saw_it() {
        let html = of_details(&details(&[
            ("write", "rank 0 block 0 thread 3 one_shot.hip:41 staging[i] = v;"),
            ("flag", "rank 0 set ready[0] = 2 at :43; rank 1 saw it at :52"),
            ("read", "rank 1 block 0 thread 3 one_shot.hip:57 <acc>"),
        ]));
        assert_eq!(html.matches("class=\"arrow\"").count(), 1);
        assert_eq!(html.matches("class=\"lane\"").count(), 2);
        // From the middle of the first lane to that of the second.
        assert!(html.contains("M95 "), "{html}");
        assert!(html.contains("H285"), "{html}");
        assert!(html.contains("&lt;acc&gt;") && !html.contains("<acc>"), "text is text");
        assert!(html.contains("aria-label=\"rank 0: write rank 0"), "{html}");
    }

    #[test]
    fn one_line_alone_is_no_timeline() {
        let html = of_details(&details(&[("waits at", "rank 0 at a.hip:3"), ("flag", "nobody")]));
        assert!(!html.contains("<svg") && html.contains("a.hip:3"), "{html}");
    }

    #[test]
    fn switches_are_arrows_between_lanes() {
        let html = of_switches("0:>r0b0t5,0:r0b0t5@12>r1b0t3").expect("switches");
        assert_eq!(html.matches("class=\"arrow\"").count(), 1, "{html}");
        assert!(html.contains("after step 12 of r0b0t5"));
        assert!(of_switches("nonsense").is_none());
        assert!(of_switches("none").is_none());
    }
}
