//! `librankcheck`: a program of anybody's has its own kernels judged.
//!
//! The guest's side of host mode, behind a C ABI of twelve functions (`include/rankcheck_host.h`).
//! It fills heaps and hands images over; what they must hold is known to the judge alone, which is
//! another process. No kernel is launched here, and no call panics or unwinds into its caller.

mod case;
mod connection;
mod ffi;
mod guest;
mod heap;
mod info;

pub use ffi::*;
