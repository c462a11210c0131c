//! Guests and their judge, from hello to good-bye: who is there, who waits for whom, and for how
//! long. The session owns the clock; guests that wait are always answered.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use collectives::{FindingKind, Rank};
use kernels::DeviceName;
use kernels::symbols::nearest;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, pidfd_open};
use scenario::{Case, Mode};

use crate::case::HostCase;
use guest_protocol::message::{Answer, Ask, AttachedHeap, Form, Hello, PROTOCOL, Program, Step};
use guest_protocol::wire::{Reader, send_with};
use verdict::{CaseResult, Identity, Verdict};

/// How long a guest may take to say hello, and to open its first case: programs import a lot.
pub const HELLO: Duration = Duration::from_secs(120);
/// A guest that does not read its answers for so long is lost.
const ANSWER: Duration = Duration::from_secs(10);

/// Cases, as they were chosen.
pub type Cases = Vec<Arc<Case>>;

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

/// One guest.
#[derive(Debug)]
struct Guest {
    stream: UnixStream,
    reader: Reader,
    /// Readable when its process has ended, also where what it started keeps the socket open.
    process: Option<OwnedFd>,
    hello: Option<Hello>,
    /// What it waits for, together with the others.
    pending: Option<Ask>,
    /// When it was last answered.
    since: Instant,
    gone: bool,
}

/// Guests, and the case they work on.
pub struct Session<'a> {
    hooks: SessionHooks<'a>,
    guests: Vec<Guest>,
    /// How many guests there must be.
    expected: usize,
    /// Whether the session may give up guests that take too long.
    supervised: bool,
    /// How long a call may take, sizes aside.
    timeout: Option<Duration>,
    /// The cases that were listed, by the arguments that chose them.
    loaded: BTreeMap<Vec<String>, Cases>,
    current: Option<HostCase>,
    /// Cases that are over.
    finished: usize,
    started: Instant,
}

impl<'a> Session<'a> {
    /// A session of so many guests. One guest alone may take its time: its user may be debugging.
    pub fn new(hooks: SessionHooks<'a>, expected: usize, supervised: bool) -> Session<'a> {
        let timeout = None;
        Session {
            hooks,
            guests: Vec::new(),
            expected,
            supervised,
            timeout,
            loaded: BTreeMap::new(),
            current: None,
            finished: 0,
            started: Instant::now(),
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
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(ANSWER))?;
        let peer = rustix::net::sockopt::socket_peercred(&stream)?;
        // Names of sockets can be guessed by others on this machine.
        if peer.uid != rustix::process::getuid() {
            return Ok(());
        }
        let process = pidfd_open(peer.pid, PidfdFlags::empty()).ok();
        self.guests.push(Guest {
            stream,
            reader: Reader::default(),
            process,
            hello: None,
            pending: None,
            since: Instant::now(),
            gone: false,
        });
        Ok(())
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
        let present: Vec<usize> =
            (0..self.guests.len()).filter(|guest| !self.guests[*guest].gone).collect();
        let mut descriptors = Vec::new();
        for guest in &present {
            let Guest { stream, process, .. } = &self.guests[*guest];
            descriptors.push(PollFd::new(stream, PollFlags::IN));
            let process = process.as_ref().map_or(stream.as_fd(), |process| process.as_fd());
            descriptors.push(PollFd::from_borrowed_fd(process, PollFlags::IN));
        }
        descriptors.extend(more.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        descriptors.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        let timeout =
            Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
        match poll(&mut descriptors, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = descriptors.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(descriptors);
        for (guest, ready) in present.iter().zip(ready.chunks(2)) {
            match ready {
                [true, _] => self.read(*guest),
                [false, true] => self.guests[*guest].gone = true,
                _ => {}
            }
        }
        if let (Some(listener), Some(true)) = (listener, ready.last()) {
            self.welcome(listener.accept()?.0)?;
        }
        self.meet();
        self.look_at_the_clock();
        Ok(())
    }

    /// Whether nobody will ask anything more.
    pub fn is_over(&self) -> bool {
        let all_came = self.guests.len() >= self.expected;
        let nobody_came = self.started.elapsed() > HELLO && self.guests.is_empty();
        nobody_came
            || (!self.guests.is_empty() && self.guests.iter().all(|guest| guest.gone))
                && (all_came || self.started.elapsed() > HELLO)
    }

    /// How many guests have come so far, and how many of them are gone.
    pub fn guests(&self) -> (usize, usize) {
        (self.guests.len(), self.guests.iter().filter(|guest| guest.gone).count())
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
        let guest = &mut self.guests[number];
        match guest.reader.read(&guest.stream) {
            Ok(true) => {}
            Ok(false) | Err(_) => {
                guest.gone = true;
                return;
            }
        }
        loop {
            let guest = &mut self.guests[number];
            match guest.reader.take() {
                Ok(Some(ask)) => self.hear(number, ask),
                Ok(None) => return,
                Err(why) => {
                    let rank = guest.rank();
                    guest.gone = true;
                    let text = format!("said something that is no message: {why}");
                    self.lose(FindingKind::ProtocolError, rank, &text);
                    return;
                }
            }
        }
    }

    /// What a guest says; what needs the others is kept until all have said it.
    fn hear(&mut self, number: usize, ask: Ask) {
        match ask {
            Ask::Hello(hello) => {
                let answer = self.greet(&hello);
                self.guests[number].hello = Some(hello);
                self.answer(number, &answer);
            }
            Ask::List(arguments) => {
                let answer = match self.cases(&arguments) {
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
            Ask::Close => self.guests[number].gone = true,
            Ask::Open { .. }
            | Ask::Attach(_)
            | Ask::Filled(_)
            | Ask::Returned
            | Ask::HandedOver => self.guests[number].pending = Some(ask),
        }
    }

    fn greet(&self, hello: &Hello) -> Answer {
        let ours = env!("CARGO_PKG_VERSION");
        if hello.protocol != PROTOCOL {
            let theirs = &hello.version;
            return Answer::Refused(format!(
                "the library is rankcheck {theirs} (protocol {:016x}), the judge {ours} ({PROTOCOL:016x}): \
                 they must be of one build",
                hello.protocol
            ));
        }
        let known = self.guests.iter().filter_map(|guest| guest.hello.as_ref());
        match hello.rank {
            Some(rank) if rank.index() >= self.expected => Answer::Refused(format!(
                "rank {rank} among {} ranks (what do RANK and WORLD_SIZE say?)",
                self.expected
            )),
            Some(rank) if known.clone().any(|other| other.rank == Some(rank)) => {
                Answer::Refused(format!("another process is rank {rank} already"))
            }
            _ => Answer::Welcome,
        }
    }

    fn cases(&mut self, arguments: &[String]) -> Result<&[Arc<Case>], String> {
        if !self.loaded.contains_key(arguments) {
            let cases = (self.hooks.load)(arguments)?;
            self.loaded.insert(arguments.to_vec(), cases);
        }
        Ok(&self.loaded[arguments])
    }

    fn case(&self, wanted: &str) -> Result<Arc<Case>, String> {
        let mut all = self.loaded.values().flatten();
        if let Some(case) = all.find(|case| name(case) == wanted || case.id == wanted) {
            return Ok(case.clone());
        }
        let names: Vec<String> = self.loaded.values().flatten().map(|case| name(case)).collect();
        let nearest = nearest(wanted, names.iter().map(String::as_str));
        Err(format!("no case `{wanted}` among the listed ones (did you mean `{nearest}`?)"))
    }

    /// Goes on where all guests wait for each other, or where one of them is no more.
    fn meet(&mut self) {
        let present = self.guests.iter().filter(|guest| !guest.gone).count();
        let waiting = self.guests.iter().filter(|guest| !guest.gone && guest.pending.is_some());
        let all_wait = waiting.count() == present;
        if self.guests.len() > present {
            self.someone_left();
        }
        if present > 0 && all_wait && self.guests.len() == self.expected && present == self.expected
        {
            self.step();
        }
    }

    /// A case cannot go on without one of its ranks.
    fn someone_left(&mut self) {
        let gone: Vec<Option<Rank>> =
            self.guests.iter().filter(|guest| guest.gone).map(Guest::rank).collect();
        // A program that is alone just left its case; the result says how far it came.
        let missed = self.supervised || self.expected > 1;
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
        for number in 0..self.guests.len() {
            if self.guests[number].pending.take().is_some() {
                self.answer(number, &Answer::Lost(text.clone()));
            }
        }
        if self.guests.iter().all(|guest| guest.gone) {
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
        let asks: Vec<Ask> =
            self.guests.iter_mut().filter_map(|guest| guest.pending.take()).collect();
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
        for number in 0..self.guests.len() {
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
            let rank = self.guests[odd].rank();
            let text = format!(
                "the ranks are not at the same place: {} {}, {} {}",
                who(self.guests[0].rank()),
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
        let case = self.case(wanted)?;
        let together = self.guests.iter().any(|guest| guest.rank().is_some());
        if together && case.problem.world as usize != self.expected {
            let (needed, found) = (case.problem.world, self.expected);
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
        let guest = &mut self.guests[number];
        guest.since = Instant::now();
        if guest.gone {
            return;
        }
        let heaps = match (answer, &self.current) {
            (Answer::Opened(_), Some(case)) => case.heaps(),
            _ => &[],
        };
        let descriptors: Vec<BorrowedFd<'_>> = heaps.iter().map(|heap| heap.fd()).collect();
        if send_with(&guest.stream, answer, &descriptors).is_err() {
            guest.gone = true;
        }
    }

    /// Ranks that others wait for may not take forever.
    fn look_at_the_clock(&mut self) {
        if !self.supervised {
            return;
        }
        let patience = self.current.as_ref().map_or(HELLO, HostCase::patience);
        let late: Vec<usize> = (0..self.guests.len())
            .filter(|number| {
                let guest = &self.guests[*number];
                !guest.gone && guest.pending.is_none() && guest.since.elapsed() > patience
            })
            .collect();
        for number in late {
            let rank = self.guests[number].rank();
            let (_, output) = (self.hooks.cause)(rank, Absence::Late);
            let seconds = patience.as_secs_f64();
            self.lose(
                FindingKind::Timeout,
                rank,
                &format!("was not heard of for {seconds:.1} s: {output}"),
            );
            self.guests[number].gone = true;
        }
    }
}

impl Guest {
    fn rank(&self) -> Option<Rank> {
        self.hello.as_ref().and_then(|hello| hello.rank)
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

/// How a case is listed.
fn name(case: &Case) -> String {
    case.name(DeviceName::Cpu, Mode::Host)
}
