//! Gives parent and rank processes a hash of what they say to each other.

include!("../ipc/protocol_hash.rs");

fn main() {
    hash_protocol(&[
        "src",
        "../collectives/src",
        "../device/src",
        "../ipc/src",
        "../kernels/src",
        "../simt/src",
    ]);
}
