//! The CPU executor: kernels compiled for the host, one fiber a GPU thread.
//!
//! [`run`] executes the launches of one or several ranks in one OS thread, under a [`Schedule`]
//! and before an [`Observer`]. A block's threads start on one fiber, one after another; only a
//! thread that suspends (barrier, wait, tile step) keeps a fiber of its own.
//!
//! `unsafe` lives here because this crate loads objects, switches stacks and is called back by
//! compiled kernels. Nothing is global but what signal handlers must find ([`fault`]).

mod object;
mod observe;
mod run;
mod schedule;

pub use object::{LaunchRecord, Module, ModuleError, Parameters};
pub use observe::{
    Access, Act, Delay, Flag, LastWriters, Late, Log, Missing, Next, NoObserver, Observer,
    Operation, Order, Race, RaceKind, Races, Scope, ThreadId, Write, shared_memory_at,
};
pub use run::{
    Divergence, End, Outcome, RankLaunch, RankOutcome, STACK_BYTES, Side, Violation, ViolationKind,
    Wait, Waiting, fault, run,
};
pub use schedule::{
    Branch, CHANGES, Directed, Explorer, Exploring, Idle, Live, Look, Places, Ready, Recorded,
    Recorder, Schedule, Seeded, Sequential, Step, Strategy, Switches, Turn,
};
