//! The twelve functions of `include/rankcheck_host.h`, which documents them for their callers.
//!
//! Each answers with null or -1 where it fails, and leaves the reason for [`rankcheck_error`].

use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;

use guest_protocol::message::{Form, Step};

use crate::guest::Guest;
use crate::heap::OwnMemory;
use crate::info::{CallInfo, Launch, Region};

/// `rankcheck`: a session, opaque to C.
#[derive(Debug)]
pub struct Session {
    guest: Mutex<Guest>,
    /// The last text that was handed out, by kind, so that it outlives the call.
    texts: Mutex<Texts>,
}

#[derive(Debug, Default)]
struct Texts {
    names: Vec<CString>,
    last: CString,
}

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Runs one call: an error or a panic becomes `failed`, and its text the thread's last error.
fn call<T>(failed: T, body: impl FnOnce() -> Result<T, String>) -> T {
    let result = catch_unwind(AssertUnwindSafe(body));
    let error = match result {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => error,
        Err(_) => "a fault in rankcheck itself (its message is on standard error)".into(),
    };
    say(&error);
    failed
}

fn say(error: &str) {
    ERROR.with(|last| *last.borrow_mut() = c_string(error));
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "?")).unwrap_or_default()
}

/// # Safety
/// Null, or a C string that stays as it is during the call.
unsafe fn text(pointer: *const c_char) -> Result<Option<String>, String> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, and a C string by this function's contract.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map(|text| Some(text.to_owned())).map_err(|_| "a text that is not UTF-8".to_owned())
}

/// # Safety
/// Null, or a session that `rankcheck_open` gave and `rankcheck_close` has not had.
unsafe fn session<'a>(pointer: *mut Session) -> Result<&'a Session, String> {
    // SAFETY: by this function's contract it points to a boxed session, which nobody frees during
    // the call; the session locks itself.
    unsafe { pointer.as_ref() }.ok_or_else(|| "the session is null".to_owned())
}

/// Runs a call on a session's guest.
///
/// # Safety
/// As for [`session`].
unsafe fn with<T>(
    pointer: *mut Session,
    failed: T,
    body: impl FnOnce(&mut Guest) -> Result<T, String>,
) -> T {
    call(failed, || {
        // SAFETY: the caller's promise is ours.
        let session = unsafe { session(pointer) }?;
        let mut guest = session.guest.lock().map_err(|_| "an earlier call has failed inside")?;
        body(&mut guest)
    })
}

fn check_size(said: u32, is: usize, what: &str) -> Result<(), String> {
    match said as usize == is {
        true => Ok(()),
        false => Err(format!("{what}.size is {said}, but this library's has {is} bytes")),
    }
}

/// Where this library was loaded from.
fn library() -> Option<PathBuf> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let here = rankcheck_error as *const c_void;
    // SAFETY: `info` is ours, and any address may be looked up.
    let found = unsafe { libc::dladdr(here, info.as_mut_ptr()) } != 0;
    // SAFETY: all zero is a valid Dl_info, and dladdr has filled it in.
    let name = unsafe { info.assume_init() }.dli_fname;
    if !found || name.is_null() {
        return None;
    }
    // SAFETY: the loader's own C string, which lives as long as the library.
    let name = unsafe { CStr::from_ptr(name) };
    std::fs::canonicalize(OsStr::from_bytes(name.to_bytes())).ok()
}

/// Why the last call of this thread failed, or why a case is unsupported.
#[unsafe(no_mangle)]
pub extern "C" fn rankcheck_error() -> *const c_char {
    ERROR.with(|last| last.borrow().as_ptr())
}

/// Starts or finds the judge, and lists cases.
///
/// # Safety
/// `arguments` is null, or an array of C strings that ends with null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_open(arguments: *const *const c_char) -> *mut Session {
    call(std::ptr::null_mut(), || {
        let mut words = Vec::new();
        for index in 0.. {
            if arguments.is_null() {
                break;
            }
            // SAFETY: the array ends with null, and we have not seen that yet; its entries are C
            // strings.
            match unsafe { text(*arguments.add(index)) }? {
                Some(word) => words.push(word),
                None => break,
            }
        }
        let guest = Guest::open(library().as_deref(), &words)?;
        let names = guest.names().iter().map(|name| c_string(name)).collect();
        let texts = Texts { names, last: CString::default() };
        let session = Session { guest: Mutex::new(guest), texts: Mutex::new(texts) };
        Ok(Box::into_raw(Box::new(session)))
    })
}

/// Ends the case that is open and the session.
///
/// # Safety
/// Null, or a session that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_close(pointer: *mut Session) {
    call((), || {
        if !pointer.is_null() {
            // SAFETY: made by `Box::into_raw` in `rankcheck_open`, and the caller gives it up.
            drop(unsafe { Box::from_raw(pointer) });
        }
        Ok(())
    });
}

/// The name of case number `index`; null behind the last.
///
/// # Safety
/// As in the header: a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_name(pointer: *mut Session, index: usize) -> *const c_char {
    call(std::ptr::null(), || {
        // SAFETY: the caller's promise is ours.
        let session = unsafe { session(pointer) }?;
        let texts = session.texts.lock().map_err(|_| "an earlier call has failed inside")?;
        // The names never change, so their addresses do not either.
        Ok(texts.names.get(index).map_or(std::ptr::null(), |name| name.as_ptr()))
    })
}

/// Opens a case: 0; 1 where it is unsupported.
///
/// # Safety
/// As in the header: a session, and C strings or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_case(
    pointer: *mut Session,
    name: *const c_char,
    program: *const c_char,
    replay: *const c_char,
) -> c_int {
    let body = |guest: &mut Guest| {
        // SAFETY: C strings or null, by the contract of this function.
        let (name, program, replay) = unsafe { (text(name)?, text(program)?, text(replay)?) };
        let name = name.ok_or("the name of a case is null")?;
        match guest.start(&name, program, replay)? {
            Ok(()) => Ok(0),
            Err(why) => {
                say(&why);
                Ok(1)
            }
        }
    };
    // SAFETY: the caller's promise is ours.
    unsafe { with(pointer, -1, body) }
}

/// Describes a call.
///
/// # Safety
/// As in the header: a session, and a structure to write to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_call(
    pointer: *mut Session,
    order: u32,
    index: u32,
    out: *mut CallInfo,
) -> c_int {
    let body = |guest: &mut Guest| {
        // SAFETY: null, or a structure of the caller's that nobody else uses during the call.
        let out = unsafe { out.as_mut() }.ok_or("the structure is null")?;
        check_size(out.size, size_of::<CallInfo>(), "rankcheck_call_info")?;
        *out = CallInfo::new(guest.case()?.0, order as usize, index as usize)?;
        Ok(0)
    };
    // SAFETY: the caller's promise is ours.
    unsafe { with(pointer, -1, body) }
}

/// Describes a region of a rank's heap in a call.
///
/// # Safety
/// As in the header: a session, a C string, and a structure to write to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_region(
    pointer: *mut Session,
    index: u32,
    rank: u32,
    name: *const c_char,
    out: *mut Region,
) -> c_int {
    let body = |guest: &mut Guest| {
        // SAFETY: the caller promises, in the header, that the session is one of ours and that the name is
        // null or a C string.
        let (out, name) = unsafe { (out.as_mut(), text(name)?) };
        let out = out.ok_or("the structure is null")?;
        check_size(out.size, size_of::<Region>(), "rankcheck_region_info")?;
        let name = name.ok_or("the region's name is null")?;
        *out = guest.case()?.0.region(index as usize, rank, &name)?;
        Ok(0)
    };
    // SAFETY: the caller's promise is ours.
    unsafe { with(pointer, -1, body) }
}

/// Gives a rank a heap, or says where it is.
///
/// # Safety
/// As in the header: a session; `base` null or memory of `bytes` bytes that lives until the case is
/// over; `peers` null or one address a rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_heap(
    pointer: *mut Session,
    rank: u32,
    base: *mut c_void,
    bytes: u64,
    peers: *const u64,
) -> *mut c_void {
    let body = |guest: &mut Guest| {
        let case = guest.case()?.0;
        let world = case.problem().world as usize;
        let peers = match peers.is_null() {
            true => Vec::new(),
            // SAFETY: one address a rank, by the contract of this function.
            false => unsafe { std::slice::from_raw_parts(peers, world) }.to_vec(),
        };
        // SAFETY: memory of that size until the case is over, by the contract of this function.
        let own = (!base.is_null()).then(|| unsafe { OwnMemory::new(base.cast(), bytes) });
        case.heap(rank, own.map(|own| (own, bytes)), peers).map(<*mut u8>::cast)
    };
    // SAFETY: the caller's promise is ours.
    unsafe { with(pointer, std::ptr::null_mut(), body) }
}

/// Fills the heaps for a call, and waits for all ranks.
///
/// # Safety
/// As in the header: a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_fill(pointer: *mut Session, order: u32, index: u32) -> c_int {
    let body = |guest: &mut Guest| {
        let (case, mut judge) = guest.case()?;
        case.fill(&mut judge, Step { order: order as usize, call: index as usize })?;
        Ok(0)
    };
    // SAFETY: the caller's promise is ours.
    unsafe { with(pointer, -1, body) }
}

/// Notes what a rank launched.
///
/// # Safety
/// As in the header: a session, and a structure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_launched(
    pointer: *mut Session,
    rank: u32,
    launch: *const Launch,
) -> c_int {
    let body = |guest: &mut Guest| {
        // SAFETY: null, or a structure that stays as it is during the call.
        let launch = unsafe { launch.as_ref() }.ok_or("the structure is null")?;
        check_size(launch.size, size_of::<Launch>(), "rankcheck_launch")?;
        // SAFETY: null or a C string, by the header.
        let entry = unsafe { text(launch.entry) }?;
        let (case, mut judge) = guest.case()?;
        case.launched(&mut judge, rank, launch.said(entry))?;
        Ok(0)
    };
    // SAFETY: the caller's promise is ours.
    unsafe { with(pointer, -1, body) }
}

/// Hands the heaps over and has them judged: 1 right, 0 wrong.
///
/// # Safety
/// As in the header: a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_judge(pointer: *mut Session) -> c_int {
    let body = |guest: &mut Guest| {
        let (case, mut judge) = guest.case()?;
        case.judge(&mut judge).map(c_int::from)
    };
    // SAFETY: the caller's promise is ours.
    unsafe { with(pointer, -1, body) }
}

/// A text about the open case: `verdict`, `json` or `describe`.
///
/// # Safety
/// As in the header: a session, and a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rankcheck_text(
    pointer: *mut Session,
    what: *const c_char,
) -> *const c_char {
    call(std::ptr::null(), || {
        // SAFETY: the caller's promises are ours.
        let (session, what) = unsafe { (session(pointer)?, text(what)?) };
        let mut guest = session.guest.lock().map_err(|_| "an earlier call has failed inside")?;
        let answer = match what.as_deref() {
            Some("verdict") => guest.text(Form::Text)?,
            Some("json") => guest.text(Form::Json)?,
            Some("describe") => {
                let problem = guest.case()?.0.problem();
                serde_json::to_string_pretty(problem).map_err(|error| error.to_string())?
            }
            other => {
                let other = other.unwrap_or("null");
                return Err(format!("no text `{other}` (verdict, json or describe)"));
            }
        };
        let mut texts = session.texts.lock().map_err(|_| "an earlier call has failed inside")?;
        texts.last = c_string(&answer);
        Ok(texts.last.as_ptr())
    })
}
