//! The CPU executor: runs GPU kernels that were compiled for the host, one fiber for each GPU thread.
//!
//! [`run`] takes four things, and each of the crate's folders is about one of them:
//!
//! * **launches** ([`RankLaunch`]), one for each rank: a [`Module`] (the rank's own copy of the
//!   compiled object), the entry, grid, threads and arguments (`object/`);
//! * a [`Schedule`], which says how many blocks live at once, where a thread may be switched though
//!   it need not wait, and which of the ready threads runs next. [`Sequential`] runs one rank after
//!   another, [`Seeded`] is an interleaving named by a number, [`Directed`] one spelled out turn by
//!   turn, and [`Explorer`] walks through all of them (`schedule/`);
//! * an [`Observer`], which sees every access, atomic, fence and barrier before it takes effect:
//!   [`NoObserver`], [`LastWriters`], or the race detector [`Races`] (`observe/`);
//! * and it returns an [`Outcome`]: how the run ended ([`End`]), what each rank's kernel recorded
//!   about its launch, and what no GPU would have let pass (`run/`).
//!
//! Several launches of one rank are calls that follow each other as on a stream ([`run_calls`]): a call
//! begins when the rank's own call before has ended, and a [`Host`] acts in between.
//!
//! A run uses one OS thread, whatever the number of ranks, and depends on nothing but its
//! arguments: the same object, schedule and memory give the same run. A block's threads begin on
//! one fiber, one after another; only a thread that suspends (at a barrier, a wait or a place to
//! switch) keeps a fiber of its own.
//!
//! # Two ranks, by hand
//!
//! This is a whole program: it compiles a kernel, runs it on two ranks, and reads what came out.
//!
//! ```
#![doc = include_str!("../examples/two_ranks.rs")]
//! ```
//!
//! # What is unsafe here
//!
//! This crate loads objects, switches stacks and is called back by compiled kernels, so `unsafe` is
//! its business. Nothing is global but what signal handlers must find ([`fault`]).

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
    Divergence, End, Host, OpenWait, Outcome, RankLaunch, RankOutcome, STACK_BYTES, Side,
    Unexplored, Violation, ViolationKind, Wait, Waiting, fault, run, run_calls,
};
pub use schedule::{
    Branch, CHANGES, Directed, Explorer, Exploring, Idle, Live, Look, Places, Ready, Recorded,
    Recorder, Schedule, Seeded, Sequential, Step, Strategy, Switches, Turn,
};
