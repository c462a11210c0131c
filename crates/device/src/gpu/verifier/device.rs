//! The verifier's kernels, and what they need of a device.

use crate::DeviceError;

/// What a device compiles: CUDA C++ that includes nothing.
pub const SOURCE: &str = include_str!("verifier.cu");
/// The name under which the compiler speaks of it.
pub const SOURCE_NAME: &str = "verifier.cu";
/// Threads of a block, in every launch.
pub const THREADS: u32 = 256;
/// Bytes of a heap of which the device says together whether any differs.
pub const PAGE: u64 = 4096;

/// The kernels of [`SOURCE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Writes an image. Arguments: key, records, how many, table of heaps, stored rows.
    Fill,
    /// Compares heaps with an image. Arguments: as of a fill, then counts and pages.
    Verify,
    /// Makes stored rows. Arguments: constants, slots, where the first row goes.
    Make,
    /// Copies 16-byte units: the yardstick. Arguments: to, from, how many.
    Copy,
}

impl Entry {
    /// Every entry.
    pub const ALL: [Entry; 4] = [Entry::Fill, Entry::Verify, Entry::Make, Entry::Copy];

    /// The function's name.
    pub const fn name(self) -> &'static str {
        match self {
            Entry::Fill => "rc_fill",
            Entry::Verify => "rc_verify",
            Entry::Make => "rc_make",
            Entry::Copy => "rc_copy",
        }
    }
}

/// What the verifier needs of a device: memory, and a way to run the entries of [`SOURCE`].
///
/// Contract: addresses are the device's; `allocate` aligns to 256 bytes; calls take effect in
/// order, and `download` sees everything that was launched before.
pub trait VerifierDevice {
    /// Blocks of [`THREADS`] that keep the whole device at work.
    fn blocks(&self) -> u32;
    /// Memory with any contents.
    ///
    /// # Errors
    /// There is not enough.
    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError>;
    /// Gives memory back.
    fn release(&mut self, address: u64);
    /// Copies to the device.
    ///
    /// # Errors
    /// The device refuses.
    fn upload(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError>;
    /// Sets bytes to zero.
    ///
    /// # Errors
    /// The device refuses.
    fn clear(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError>;
    /// Copies from the device.
    ///
    /// # Errors
    /// The device refuses, or a launch before failed.
    fn download(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError>;
    /// Launches an entry; every argument has eight bytes.
    ///
    /// # Errors
    /// The device refuses.
    fn launch(&mut self, entry: Entry, blocks: u32, arguments: &[u64]) -> Result<(), DeviceError>;
}
