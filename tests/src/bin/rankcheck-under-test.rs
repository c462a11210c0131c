//! The command line, as a binary that this package's tests can start.

fn main() -> std::process::ExitCode {
    rankcheck_tests::tee::copy_frames_where_asked();
    rankcheck::rank_main();
    rankcheck::main()
}
