//! The pages of benchmarks: what was measured, and what follows from comparing it.

mod comparison;
mod drift;
mod figures;
mod markdown;
mod measured;

pub use comparison::comparison_page;
pub use markdown::bench_markdown;
pub use measured::bench_page;
