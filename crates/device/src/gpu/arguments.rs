//! Pages of pointer arguments in device memory.

use std::rc::Rc;

use super::driver::{Address, GpuContext};
use crate::DeviceError;
use crate::arguments::{PAGE, Pages};

/// Pages of arguments on one GPU; kept from launch to launch.
#[derive(Debug, Default)]
pub(super) struct ArgumentPages {
    context: Option<Rc<dyn GpuContext>>,
    pages: Vec<Address>,
    used: usize,
}

impl ArgumentPages {
    /// Forgets all arguments and uses this GPU from now on.
    pub(super) fn clear(&mut self, context: Rc<dyn GpuContext>) {
        let number = |context: &Rc<dyn GpuContext>| context.limits().number;
        if self.context.as_ref().is_none_or(|known| number(known) != number(&context)) {
            // The few pages on another GPU are freed with the process.
            self.pages.clear();
        }
        self.context = Some(context);
        self.used = 0;
    }
}

impl Pages for ArgumentPages {
    fn place(&mut self, bytes: &[u8]) -> Result<u64, DeviceError> {
        let context = self.context.as_ref().expect("cleared for a GPU before it is used");
        if self.used == self.pages.len() {
            self.pages.push(context.allocate(PAGE as u64)?);
        }
        let page = self.pages[self.used];
        self.used += 1;
        context.write(page, bytes)?;
        Ok(page)
    }
}
