//! The unit of a shared object for the CPU: the source between the shims and a table of entries.

use std::fmt::Write as _;

use super::{Parts, hooks, rewrite};

/// The name of the table of entries in compiler messages; line n of it is entry n - 1.
pub(crate) const ENTRIES: &str = "rankcheck-entries";

pub(super) fn unit(parts: &Parts<'_>) -> String {
    let (shims, own) = parts.split_defines();
    let mut unit = shims;
    unit += &Parts::includes(&[parts.prelude, "rc_vendor.h", "rankcheck.h", "rc_module.h"]);
    unit += &own;
    let _ = writeln!(unit, "#line 1 {:?}", parts.name);
    unit += &rewrite::dynamic_shared(parts.source);
    unit += "\n";
    // One line an entry, so that an error's line tells which one is missing.
    let _ = writeln!(unit, "#line 1 {ENTRIES:?}");
    for (number, entry) in parts.entries.iter().enumerate() {
        let _ = writeln!(unit, "RC_ENTRY({number}, {entry})");
    }
    unit += "static const rc_entry rc_entries[] = {\n";
    for (number, entry) in parts.entries.iter().enumerate() {
        let _ = writeln!(unit, "  RC_ENTRY_ROW({number}, {entry:?}, {entry}),");
    }
    let _ = writeln!(
        unit,
        "}};\nextern \"C\" RC_EXPORT const rc_module rc_module_1 = {{3, {}, rc_entries, &rc_now, &rc_record, RC_IS_OBSERVED}};",
        parts.entries.len()
    );
    unit += &hooks::declared(parts.hooks);
    unit
}
