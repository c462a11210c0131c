//! Ctrl-C, and being asked to end.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;

/// A flag that Ctrl-C and SIGTERM set.
///
/// # Errors
/// The system refuses to listen for signals.
pub(crate) fn interrupted() -> anyhow::Result<&'static AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = FLAG.get_or_init(Arc::default);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, flag.clone()).context("listening for Ctrl-C")?;
    }
    Ok(flag)
}
