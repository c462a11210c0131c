//! Gives the shared library the name under which programs look for it.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,librankcheck.so.0");
}
