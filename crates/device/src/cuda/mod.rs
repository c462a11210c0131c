//! NVIDIA GPUs.

pub mod judge;
