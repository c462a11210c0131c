//! A launch's arguments in memory, as the entry's unpacker expects them.

use std::ffi::c_void;

/// The values of an entry's parameters, each at an address aligned to 16 bytes.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    storage: Vec<u128>,
    /// Index of each value's first element in `storage`, and its size in bytes.
    values: Vec<(usize, usize)>,
}

impl Parameters {
    /// Parameters with these values, each as its bytes in little-endian order.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Parameters {
        let mut parameters = Parameters::default();
        for value in values {
            parameters.values.push((parameters.storage.len(), value.len()));
            for chunk in value.chunks(16) {
                let mut word = [0; 16];
                word[..chunk.len()].copy_from_slice(chunk);
                parameters.storage.push(u128::from_le_bytes(word));
            }
        }
        parameters
    }

    /// The sizes of the values in bytes, in order.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.values.iter().map(|(_, bytes)| *bytes)
    }

    /// One pointer a value. Valid while `self` is neither moved out of nor changed.
    pub(crate) fn pointers(&mut self) -> Vec<*mut c_void> {
        let base = self.storage.as_mut_ptr();
        self.values.iter().map(|(first, _)| base.wrapping_add(*first).cast()).collect()
    }
}
