//! `rankcheck judge`: the process in which a host program's heaps are expected and compared. The
//! library starts it; nobody else does.

use std::cell::RefCell;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use collectives::FindingKind;
use guest_protocol::rendezvous;
use hosting::{Absence, Session, SessionHooks};

use crate::arguments::reports::Destinations;
use crate::exit::Exit;
use crate::host::{Facts, Reports, choose, reports_asked_for};

/// Arguments of `judge`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The socket that ranks connect to; without it the one guest is at standard input.
    #[arg(long, requires = "ranks")]
    socket: Option<String>,
    /// How many ranks connect.
    #[arg(long)]
    ranks: Option<u32>,
}

/// Serves until the last guest has gone.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let facts = Facts::here();
    let asked_for = reports_asked_for()?;
    // A program alone tells its user itself; of ranks, nobody speaks for all.
    let destinations = match (asked_for.is_empty(), &arguments.socket) {
        (true, None) => Destinations::none(),
        (_, _) => Destinations::open(&asked_for, false)?,
    };
    let reports = Reports::open(destinations, &asked_for, None, &facts.environment, 0)?;
    let reports = RefCell::new(reports);
    let opened = RefCell::new(Vec::new());
    let hooks = SessionHooks {
        load: &mut |arguments| {
            let cases = choose(arguments).map_err(|error| format!("{error:#}"))?;
            opened.borrow_mut().extend(cases.iter().cloned());
            Ok(cases)
        },
        identify: &|_, program| facts.identity(program),
        show: &|result, form| facts.show(result, form),
        finished: &mut |result| reports.borrow_mut().add(result),
        cause: &mut |_, absence| match absence {
            Absence::Gone => (FindingKind::MissingRank, "has left".into()),
            Absence::Late => (FindingKind::Timeout, "the others waited for it".into()),
        },
    };
    let guests = arguments.ranks.unwrap_or(1) as usize;
    let mut session = Session::new(hooks, guests, guests > 1);
    let listener = match &arguments.socket {
        Some(socket) => Some(rendezvous::listen(socket).with_context(|| socket.clone())?),
        None => {
            let stdin = std::io::stdin().as_fd().try_clone_to_owned()?;
            session.welcome(UnixStream::from(stdin)).context("standard input is no socket")?;
            None
        }
    };
    while !session.is_over() {
        session.turn(listener.as_ref(), &[], Duration::from_millis(500))?;
    }
    session.finish();
    drop(session);
    let summary = reports.into_inner().finish(
        &opened.into_inner(),
        started.elapsed().as_secs_f64(),
        false,
    )?;
    Ok(Exit::of(&summary, false))
}
