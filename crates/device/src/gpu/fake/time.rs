//! The fake's clock: every launch and every copy takes as long.

use super::super::driver::{Address, Function, GpuTime, Moment, Resources, Stream};
use super::{FakeContext, NANOSECONDS_A_LAUNCH, error};
use crate::DriverError;

impl GpuTime for FakeContext {
    fn resources(&self, _: Function) -> Result<Resources, DriverError> {
        let resources = Resources { registers: 32, spilled_bytes: 8 };
        self.call("resources", format_args!(""), |_| Ok(resources))
    }

    fn wait_at_gate(&self, _: Stream) -> Result<(), DriverError> {
        self.call("wait_at_gate", format_args!(""), |state| {
            state.gated = true;
            Ok(())
        })
    }

    fn open_gate(&self) {
        let opened = self.call("open_gate", format_args!(""), |state| {
            state.gated = false;
            Ok(())
        });
        opened.expect("it never fails");
    }

    fn moment(&self) -> Result<Moment, DriverError> {
        self.call("moment", format_args!(""), |state| {
            state.next += 1;
            Ok(Moment(state.next))
        })
    }

    fn mark(&self, moment: Moment, _: Stream) -> Result<(), DriverError> {
        self.call("mark", format_args!(""), |state| {
            state.moments.insert(moment, state.launched);
            Ok(())
        })
    }

    fn await_moment(&self, _: Moment, _: Stream) -> Result<(), DriverError> {
        self.call("await_moment", format_args!(""), |_| Ok(()))
    }

    fn between(&self, from: Moment, to: Moment) -> Result<u64, DriverError> {
        self.call("between", format_args!(""), |state| {
            if state.gated || !state.waiting.is_empty() {
                return Err(error("between", "the moment was not reached".into()));
            }
            let at = |moment: &Moment| {
                let at = state.moments.get(moment).copied();
                at.ok_or_else(|| error("between", "a moment that was never marked".into()))
            };
            Ok((at(&to)? - at(&from)?) * NANOSECONDS_A_LAUNCH)
        })
    }

    fn copy(&self, from: Address, to: Address, bytes: u64, _: Stream) -> Result<(), DriverError> {
        self.call("copy", format_args!("{bytes}"), |state| {
            let copied = state.memory.at(from, bytes)?.to_vec();
            state.memory.at(to, bytes)?.copy_from_slice(&copied);
            // It takes as long as a launch.
            state.launched += 1;
            Ok(())
        })
    }

    fn forget_moment(&self, moment: Moment) -> Result<(), DriverError> {
        self.call("forget_moment", format_args!(""), |state| {
            state.moments.remove(&moment);
            Ok(())
        })
    }
}
