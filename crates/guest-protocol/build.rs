//! Gives host programs and judges a hash of what they say to each other.

include!("../ipc/protocol_hash.rs");

fn main() {
    hash_protocol(&["src", "../collectives/src", "../ipc/src"]);
}
