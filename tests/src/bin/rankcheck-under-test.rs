//! The command line, as a binary that this package's tests can start.

fn main() -> std::process::ExitCode {
    rankcheck::rank_main();
    rankcheck::main()
}
