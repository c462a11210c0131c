//! Pages of HTML that need nothing but themselves: a run, a benchmark, a comparison.
//!
//! Verdict first, then tables and pictures. Everything that a page says stands in it as text; the script only filters, searches
//! and copies. Pictures are SVG with a text alternative and take the colours of the page, light or dark.

mod bench;
mod html;
mod plot;
mod run;

pub use self::bench::{bench_markdown, bench_page, comparison_page};
pub use self::run::{RunDocument, run_markdown, run_page};
