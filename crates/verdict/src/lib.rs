//! What a run says of its cases: one stream of [`Event`]s, which reporters fold.
//!
//! Pure data, typed throughout: no text here is parsed again, what belongs to one way of running stands in
//! that way's variant of [`How`], and what a pass leaves open is a list of [`NotProved`]. How it is spelled in
//! JSON (`rankcheck.run/1`) is the crate `report`'s matter.
#![forbid(unsafe_code)]

mod case_result;
mod event;
mod how;
mod not_proved;
mod replay;
mod switch;

pub use case_result::{
    CallResult, CaseResult, Effective, Identity, LaunchWitness, Location, RequestedLaunch, Source,
    Verdict,
};
pub use event::{Environment, Event, Summary};
pub use how::{How, OrdersRun, ProcessesRun, SchedulesRun};
pub use not_proved::NotProved;
pub use replay::Replay;
pub use switch::{KernelThread, Switch, SwitchError, show_switches, switches_of};
