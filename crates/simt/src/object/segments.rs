//! How large an object's image and its block-shared memory are, from its ELF headers.

use std::collections::BTreeMap;

use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{Object as _, ObjectSymbol as _, SymbolKind};

/// What names of the shims' own variables begin with.
const SHIMS: &str = "rc_";

/// What the object's program headers say.
pub(super) struct Segments {
    /// From the lowest to the highest mapped address.
    pub(super) image_bytes: usize,
    /// The thread-local segment, which is where `__shared__` variables live.
    pub(super) block_shared_bytes: usize,
    /// The most of it that one function needs, with what stands outside of functions.
    pub(super) largest_kernel: usize,
}

impl Segments {
    pub(super) fn of(object: &[u8]) -> object::Result<Segments> {
        let file = ElfFile64::<object::Endianness>::parse(object)?;
        let endian = file.endian();
        let of_type = |kind| {
            file.elf_program_headers().iter().filter(move |header| header.p_type(endian) == kind)
        };
        let end = |header: &object::elf::ProgramHeader64<object::Endianness>| {
            (header.p_vaddr(endian) + header.p_memsz(endian)) as usize
        };
        let mut by_function: BTreeMap<String, u64> = BTreeMap::new();
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Tls) {
            let name = symbol.name().unwrap_or_default();
            // The shims keep what waves exchange there, which no GPU needs memory for.
            if name.contains(SHIMS) {
                continue;
            }
            let function = function_of(name);
            *by_function.entry(function.to_owned()).or_default() += symbol.size();
        }
        let outside = by_function.remove("").unwrap_or(0);
        let largest = by_function.into_values().max().unwrap_or(0);
        Ok(Segments {
            largest_kernel: (outside + largest) as usize,
            image_bytes: of_type(object::elf::PT_LOAD).map(end).max().unwrap_or(0),
            block_shared_bytes: of_type(object::elf::PT_TLS)
                .map(|header| header.p_memsz(endian) as usize)
                .sum(),
        })
    }
}

/// The function of a static variable, as both compilers mangle it (`_ZZ4pushE5drawn`: `drawn` of
/// `push`); empty for one outside of functions.
fn function_of(symbol: &str) -> &str {
    let inside = symbol.strip_prefix("_ZZ").and_then(|rest| rest.rsplit_once('E'));
    inside.map_or("", |(function, _)| function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_functions_are_told_from_others() {
        assert_eq!(function_of("_ZZ4pushE5drawn"), "4push");
        assert_eq!(function_of("_ZZ5twistItLi64EET_S0_iE5first"), "5twistItLi64EET_S0_i");
        assert_eq!(function_of("_ZL5waves"), "");
    }
}
