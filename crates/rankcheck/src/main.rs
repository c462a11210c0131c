//! A thin main: everything is in the library, because test binaries call it too.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    rankcheck::rank_main();
    rankcheck::main()
}
