//! Guests and their judge, from hello to good-bye: who waits for whom, and for how long. The session
//! owns the clock; guests that wait are always answered.

use std::os::fd::BorrowedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use collectives::{FindingKind, Rank};
use guest_protocol::message::{Answer, Ask, AttachedHeap, Form, Program, Step};
use scenario::Case;
use verdict::{CaseResult, Identity, Verdict};

use crate::case::HostCase;
use crate::guests::{Guests, HELLO};
use crate::listing::{Cases, Listing, name};

/// What a session needs from its surroundings.
pub struct SessionHooks<'a> {
    /// Finds cases: arguments as `rankcheck list` takes them.
    pub load: &'a mut dyn FnMut(&[String]) -> Result<Cases, String>,
    /// The identity of what is judged in a case, and how to do it again.
    pub identify: &'a dyn Fn(&Case, &Program) -> Identity,
    /// Writes a result.
    pub show: &'a dyn Fn(&CaseResult, Form) -> String,
    /// Takes the result of each case when it is over.
    pub finished: &'a mut dyn FnMut(CaseResult),
    /// Why the guest of this rank (of all ranks) is gone; or, where it is only late, where it is: then
    /// nobody waits for it any more.
    pub cause: &'a mut dyn FnMut(Option<Rank>, Absence) -> (FindingKind, String),
}

/// How a guest is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// It has closed its connection, or its process has ended.
    Gone,
    /// It is there, but others have waited for it too long.
    Late,
}

/// Guests, and the case they work on.
pub struct Session<'a> {
    hooks: SessionHooks<'a>,
    guests: Guests,
    /// Whether the session may give up guests that take too long.
    supervised: bool,
    /// How long a call may take, sizes aside.
    timeout: Option<Duration>,
    listing: Listing,
    current: Option<HostCase>,
    /// Cases that are over.
    finished: usize,
}

impl<'a> Session<'a> {
    /// A session of so many guests. One guest alone may take its time: its user may be debugging.
    pub fn new(hooks: SessionHooks<'a>, expected: usize, supervised: bool) -> Session<'a> {
        Session {
            hooks,
            guests: Guests::new(expected),
            supervised,
            timeout: None,
            listing: Listing::default(),
            current: None,
            finished: 0,
        }
    }

    /// How long a call may take, sizes aside, whatever scenarios say.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// A guest has come.
    ///
    /// # Errors
    /// The system refuses.
    pub fn welcome(&mut self, stream: UnixStream) -> std::io::Result<()> {
        self.guests.welcome(stream)
    }

    /// Waits for at most `wait` and handles what has come. `more` wakes it up too.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub fn turn(
        &mut self,
        listener: Option<&UnixListener>,
        more: &[BorrowedFd<'_>],
        wait: Duration,
    ) -> std::io::Result<()> {
        for guest in self.guests.wait(listener, more, wait)? {
            self.read(guest);
        }
        self.meet();
        self.look_at_the_clock();
        Ok(())
    }

    /// Whether nobody will ask anything more.
    pub fn is_over(&self) -> bool {
        self.guests.are_over()
    }

    /// How many guests have come so far, and how many of them are gone.
    pub fn guests(&self) -> (usize, usize) {
        (self.guests.count(), self.guests.gone().len())
    }

    /// How many cases are over.
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// The case at hand, for whoever knows that it is over.
    pub fn current(&mut self) -> Option<&mut HostCase> {
        self.current.as_mut()
    }

    /// Ends the case at hand and hands its result over.
    pub fn finish(&mut self) {
        if let Some(case) = self.current.take() {
            self.finished += 1;
            (self.hooks.finished)(case.result());
        }
    }

    fn read(&mut self, number: usize) {
        if !self.guests.read(number) {
            return;
        }
        loop {
            match self.guests.take(number) {
                Ok(Some(ask)) => self.hear(number, ask),
                Ok(None) => return,
                Err(why) => {
                    let rank = self.guests.rank(number);
                    self.lose(FindingKind::ProtocolError, rank, &why);
                    return;
                }
            }
        }
    }

    /// What a guest says; what needs the others is kept until all have said it.
    fn hear(&mut self, number: usize, ask: Ask) {
        match ask {
            Ask::Hello(hello) => {
                let answer = self.guests.greet(number, hello);
                self.answer(number, &answer);
            }
            Ask::List(arguments) => {
                let answer = match self.listing.list(&arguments, self.hooks.load) {
                    Ok(cases) => Answer::Names(cases.iter().map(|case| name(case)).collect()),
                    Err(why) => Answer::Refused(why),
                };
                self.answer(number, &answer);
            }
            Ask::Launched(rank, launch) => {
                if let Some(case) = &mut self.current
                    && let Err(why) = case.launched(rank, launch)
                {
                    case.lose(FindingKind::ProtocolError, Some(rank), why);
                }
            }
            Ask::Text(form) => {
                let answer = match &self.current {
                    Some(case) => Answer::Text((self.hooks.show)(&case.result(), form)),
                    None => Answer::Refused("no case is open".into()),
                };
                self.answer(number, &answer);
            }
            Ask::Close => self.guests.leave(number),
            Ask::Open { .. }
            | Ask::Attach(_)
            | Ask::Filled(_)
            | Ask::Returned
            | Ask::HandedOver => self.guests.keep(number, ask),
        }
    }

    /// Goes on where all guests wait for each other, or where one of them is no more.
    fn meet(&mut self) {
        if !self.guests.gone().is_empty() {
            self.someone_left();
        }
        if self.guests.all_wait() {
            self.step();
        }
    }

    /// A case cannot go on without one of its ranks.
    fn someone_left(&mut self) {
        let gone = self.guests.gone();
        // A program that is alone just left its case; the result says how far it came.
        let missed = self.supervised || self.guests.expected() > 1;
        let lost = missed
            && self.current.as_ref().is_some_and(|case| !case.has_failed() && !case.is_through());
        if lost {
            for rank in &gone {
                let (kind, why) = (self.hooks.cause)(*rank, Absence::Gone);
                self.lose(kind, *rank, &why);
            }
        }
        let ranks: Vec<String> = gone.iter().map(|rank| who(*rank)).collect();
        let text = format!("{} is gone", ranks.join(" and "));
        for number in 0..self.guests.count() {
            if self.guests.pending(number).is_some() {
                self.answer(number, &Answer::Lost(text.clone()));
            }
        }
        if self.guests.present().is_empty() {
            self.finish();
        }
    }

    fn lose(&mut self, kind: FindingKind, rank: Option<Rank>, how: &str) {
        if let Some(case) = &mut self.current {
            let place = case.place();
            case.lose(kind, rank, format!("{} ({place}) {how}", who(rank)));
        }
    }

    /// All guests wait: they must wait for the same thing.
    fn step(&mut self) {
        let numbers = 0..self.guests.count();
        let asks: Vec<Ask> =
            numbers.clone().filter_map(|number| self.guests.pending(number)).collect();
        let answer = match &asks[0] {
            Ask::Open { name, program } => self.open(name, program.clone(), &asks),
            Ask::Attach(_) => self.attach(&asks),
            Ask::Filled(step) => self.filled(*step, &asks),
            Ask::Returned => self.all_the_same(&asks, |_| Ok(Answer::Go)),
            Ask::HandedOver => {
                self.all_the_same(&asks, |case| Ok(Answer::Judged { right: case.judge()? }))
            }
            other => Err(format!("{other:?} is not for all ranks")),
        };
        let answer = answer.unwrap_or_else(Answer::Refused);
        for number in numbers {
            self.answer(number, &answer);
        }
    }

    fn all_the_same(
        &mut self,
        asks: &[Ask],
        go: impl FnOnce(&mut HostCase) -> Result<Answer, String>,
    ) -> Result<Answer, String> {
        let case = self.current.as_mut().ok_or("no case is open")?;
        if let Some(odd) = asks.iter().position(|ask| *ask != asks[0]) {
            let rank = self.guests.rank(odd);
            let text = format!(
                "the ranks are not at the same place: {} {}, {} {}",
                who(self.guests.rank(0)),
                what(&asks[0]),
                who(rank),
                what(&asks[odd]),
            );
            case.lose(FindingKind::ProtocolError, rank, text.clone());
            return Err(text);
        }
        go(case)
    }

    fn open(&mut self, wanted: &str, program: Program, asks: &[Ask]) -> Result<Answer, String> {
        self.finish();
        if let Some(odd) = asks.iter().find_map(|ask| match ask {
            Ask::Open { name, .. } => (name != wanted).then(|| name.clone()),
            other => Some(what(other).to_owned()),
        }) {
            return Err(format!("the ranks do not open the same case: {wanted} and {odd}"));
        }
        let case = self.listing.find(wanted)?;
        let together = (0..self.guests.count()).any(|number| self.guests.rank(number).is_some());
        if together && case.problem.world as usize != self.guests.expected() {
            let (needed, found) = (case.problem.world, self.guests.expected());
            return Err(format!("{wanted} has {needed} ranks, but {found} processes are here"));
        }
        let (reason, title) = (case.unserved(), name(&case));
        let identity = (self.hooks.identify)(&case, &program);
        let opened = HostCase::open(case, identity, together, self.timeout)?;
        if let Some(reason) = reason {
            let text = format!("unsupported: {reason}");
            let mut result = opened.result();
            result.findings.clear();
            (result.verdict, result.reason) = (Verdict::Unsupported, Some(reason));
            self.finished += 1;
            (self.hooks.finished)(result);
            return Ok(Answer::Unsupported(text));
        }
        let answer = Answer::Opened(Box::new(opened.opened(title)));
        self.current = Some(opened);
        Ok(answer)
    }

    fn attach(&mut self, asks: &[Ask]) -> Result<Answer, String> {
        let mut heaps: Vec<AttachedHeap> = Vec::new();
        for ask in asks {
            match ask {
                Ask::Attach(attached) => heaps.extend(attached.iter().cloned()),
                other => return Err(format!("a rank attaches its heaps, another {}", what(other))),
            }
        }
        self.current.as_mut().ok_or("no case is open")?.attach(&heaps)?;
        Ok(Answer::Go)
    }

    fn filled(&mut self, step: Step, asks: &[Ask]) -> Result<Answer, String> {
        self.all_the_same(asks, |case| case.begin(step).map(|()| Answer::Go))
    }

    fn answer(&mut self, number: usize, answer: &Answer) {
        let heaps = match (answer, &self.current) {
            (Answer::Opened(_), Some(case)) => case.heaps(),
            _ => &[],
        };
        let descriptors: Vec<BorrowedFd<'_>> = heaps.iter().map(|heap| heap.fd()).collect();
        self.guests.answer(number, answer, &descriptors);
    }

    /// Ranks that others wait for may not take forever.
    fn look_at_the_clock(&mut self) {
        if !self.supervised {
            return;
        }
        let patience = self.current.as_ref().map_or(HELLO, HostCase::patience);
        for number in self.guests.late(patience) {
            let rank = self.guests.rank(number);
            let (_, output) = (self.hooks.cause)(rank, Absence::Late);
            let seconds = patience.as_secs_f64();
            self.lose(
                FindingKind::Timeout,
                rank,
                &format!("was not heard of for {seconds:.1} s: {output}"),
            );
            self.guests.leave(number);
        }
    }
}

fn who(rank: Option<Rank>) -> String {
    rank.map_or_else(|| "the program".into(), |rank| format!("rank {rank}"))
}

fn what(ask: &Ask) -> &'static str {
    match ask {
        Ask::Hello(_) => "says hello",
        Ask::List(_) => "lists cases",
        Ask::Open { .. } => "opens a case",
        Ask::Attach(_) => "attaches its heap",
        Ask::Filled(_) => "has filled its heap",
        Ask::Launched(..) => "has launched",
        Ask::Returned => "has returned from the call",
        Ask::HandedOver => "has handed its image over",
        Ask::Text(_) => "asks for the result",
        Ask::Close => "says good-bye",
    }
}
