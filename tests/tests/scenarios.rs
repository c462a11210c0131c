//! Every case of scenarios/ is a test of its own.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    rankcheck::rank_main();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    std::env::set_current_dir(root).expect("the workspace can be entered");
    rankcheck::nextest::main("scenarios", &[])
}
