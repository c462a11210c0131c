//! A program that wants to be judged: its judge, its cases, and the one that is open.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use collectives::Rank;
use guest_protocol::message::{Answer, Ask, Form, Hello, PROTOCOL, Program};
use guest_protocol::rendezvous::{self, Place};

use crate::case::Case;
use crate::connection::Connection;

/// Restricts any program to one case; replays name it.
const CASE: &str = "RANKCHECK_CASE";
/// As the first argument: all ranks are in this process, whatever the environment says.
const ALONE: &str = "--alone";

/// The judge of this process, where it has all ranks: sessions share it, and so its reports.
static JUDGE: Mutex<Weak<Mutex<Connection>>> = Mutex::new(Weak::new());

/// A program that has found its judge.
#[derive(Debug)]
pub(crate) struct Guest {
    connection: Arc<Mutex<Connection>>,
    /// This process's rank; `None` where it has all of them.
    rank: Option<Rank>,
    names: Vec<String>,
    open: Option<Case>,
}

impl Guest {
    /// Finds the judge and lists the cases that `arguments` choose, as `rankcheck list` does.
    pub(crate) fn open(library: Option<&Path>, arguments: &[String]) -> Result<Guest, String> {
        let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let (alone, arguments) = match arguments.split_first() {
            Some((first, rest)) if first == ALONE => (true, rest),
            _ => (false, arguments),
        };
        let place: Option<Place> = if alone { None } else { rendezvous::place(&variable)? };
        let mut arguments = arguments.to_vec();
        let connection = match &place {
            None => alone_connection(library)?,
            Some(place) => {
                arguments.extend(["--ranks".into(), place.world.to_string()]);
                greeted(Connection::together(library, place)?, Some(place.rank))?
            }
        };
        let rank = place.map(|place| place.rank);
        let answer = locked(&connection)?.ask(&Ask::List(arguments))?;
        let names = expect(answer, "names", |answer| match answer {
            Answer::Names(names) => Some(names),
            _ => None,
        })?;
        let names = match variable(CASE) {
            None => names,
            Some(only) => {
                let id = |name: &str| name.rsplit("::").next().unwrap_or(name).to_owned();
                let found: Vec<String> =
                    names.into_iter().filter(|name| id(name) == id(&only)).collect();
                if found.is_empty() {
                    return Err(format!("{CASE}: no case `{only}` is among the listed ones"));
                }
                found
            }
        };
        Ok(Guest { connection, rank, names, open: None })
    }

    /// The cases, as `rankcheck list` names them.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Opens a case and ends the one before. False: it is unsupported, and the text says why.
    pub(crate) fn start(
        &mut self,
        name: &str,
        program: Option<String>,
        replay: Option<String>,
    ) -> Result<Result<(), String>, String> {
        self.open = None;
        let command = command_line();
        let program = Program {
            path: program.unwrap_or_else(|| {
                let path = std::env::current_exe().unwrap_or_default();
                path.display().to_string()
            }),
            replay: replay.unwrap_or_else(|| format!("{CASE}='{name}' {command}")),
        };
        let mut connection = locked(&self.connection)?;
        let answer = connection.ask(&Ask::Open { name: name.into(), program })?;
        match answer {
            Answer::Unsupported(why) => Ok(Err(why)),
            Answer::Opened(opened) => {
                let images = connection.take_descriptors();
                self.open = Some(Case::new(*opened, images, self.rank)?);
                Ok(Ok(()))
            }
            other => Err(unexpected(&other, "a case")),
        }
    }

    /// The case that is open, and the way to the judge.
    pub(crate) fn case(&mut self) -> Result<(&mut Case, MutexGuard<'_, Connection>), String> {
        let case = self.open.as_mut().ok_or("no case is open: call rankcheck_case first")?;
        Ok((case, locked(&self.connection)?))
    }

    /// The result of the case so far.
    pub(crate) fn text(&mut self, form: Form) -> Result<String, String> {
        let answer = locked(&self.connection)?.ask(&Ask::Text(form))?;
        expect(answer, "a text", |answer| match answer {
            Answer::Text(text) => Some(text),
            _ => None,
        })
    }
}

fn locked(connection: &Mutex<Connection>) -> Result<MutexGuard<'_, Connection>, String> {
    connection.lock().map_err(|_| "an earlier call has failed inside".to_owned())
}

fn greeted(
    mut connection: Connection,
    rank: Option<Rank>,
) -> Result<Arc<Mutex<Connection>>, String> {
    let version = env!("CARGO_PKG_VERSION").into();
    let answer = connection.ask(&Ask::Hello(Hello { protocol: PROTOCOL, version, rank }))?;
    expect(answer, "welcome", |answer| matches!(answer, Answer::Welcome).then_some(()))?;
    Ok(Arc::new(Mutex::new(connection)))
}

fn alone_connection(library: Option<&Path>) -> Result<Arc<Mutex<Connection>>, String> {
    let mut shared = JUDGE.lock().map_err(|_| "an earlier call has failed inside")?;
    if let Some(connection) = shared.upgrade().filter(|connection| is_ours(connection)) {
        return Ok(connection);
    }
    let connection = greeted(Connection::alone(library)?, None)?;
    *shared = Arc::downgrade(&connection);
    Ok(connection)
}

/// A forked process starts its own judge.
fn is_ours(connection: &Mutex<Connection>) -> bool {
    locked(connection).is_ok_and(|connection| connection.is_ours())
}

/// What an answer carries, if it is the one that belongs here.
pub(crate) fn expect<T>(
    answer: Answer,
    wanted: &str,
    take: impl FnOnce(Answer) -> Option<T>,
) -> Result<T, String> {
    let shown = unexpected(&answer, wanted);
    take(answer).ok_or(shown)
}

fn unexpected(answer: &Answer, wanted: &str) -> String {
    let said: String = format!("{answer:?}").chars().take(80).collect();
    format!("the judge said {said} instead of {wanted}")
}

/// This process's command, as a shell takes it.
fn command_line() -> String {
    let bytes = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let words = words.map(|word| shell_words::quote(&String::from_utf8_lossy(word)).into_owned());
    words.collect::<Vec<_>>().join(" ")
}
