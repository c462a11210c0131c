//! What inputs and untouched places hold: the keyed fill, the poison, data of reductions, special bit
//! patterns; and which data a declared arithmetic allows.

pub mod declared;
pub mod draw;
pub mod exact;
pub mod fill;
pub mod patterns;
mod permutation;
mod poison;
mod word;
