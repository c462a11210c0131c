//! A case's result before anything has run: identity, requests, replay.

use kernels::DeviceName;
use scenario::{Case, Mode, Reason};

use crate::run::Surroundings;
use verdict::{CallResult, CaseResult, Location, RequestedLaunch, Source, Verdict};

/// The result of a case that an interrupt kept from running to its end.
pub(crate) fn not_run(case: &Case, mode: Mode, around: &Surroundings) -> CaseResult {
    let reason = Some(Reason::new("a run to its end", "an interrupt"));
    CaseResult { verdict: Verdict::NotRun, reason, ..blank(case, mode, around) }
}

/// The result of a case that found its device lost.
pub(crate) fn device_lost(
    case: &Case,
    mode: Mode,
    around: &Surroundings,
    why: String,
) -> CaseResult {
    let reason = Some(Reason::new("a device that works", why));
    CaseResult { verdict: Verdict::NotRun, reason, ..blank(case, mode, around) }
}

/// A result of a case in which nothing has run yet.
pub(crate) fn blank(case: &Case, mode: Mode, around: &Surroundings) -> CaseResult {
    let replay = format!(
        "rankcheck run {} --id '{}' --mode {mode} --seed {}{}",
        shell_word(&case.file.display().to_string()),
        case.id,
        case.problem.seed,
        around.replay_arguments
    );
    let source = Source {
        path: case.kernel.shown_file(),
        commit: around.commit.clone(),
        dirty: around.dirty,
        sha256: String::new(),
    };
    let world = case.problem.world;
    let processes = if mode == Mode::Process { world as usize } else { 1 };
    CaseResult {
        device: around.target.device(),
        gpus: around.target.gpus_of(world, processes),
        ..blank_of(case, mode, Identity { source, replay })
    }
}

/// What is judged, and how to do it again.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The source that is judged.
    pub source: Source,
    /// A command.
    pub replay: String,
}

/// A result of a case of something that is not the kernel's source alone.
pub fn blank_of(case: &Case, mode: Mode, identity: Identity) -> CaseResult {
    let calls =
        case.problem.calls.iter().zip(&case.requested).map(|(call, requested)| CallResult {
            group: call.group.to_string(),
            dtype: case.problem.dtype,
            op: case.problem.collective.reduces().then(|| call.details.op.to_string()),
            shape: [call.shape.m, call.shape.n],
            requested: RequestedLaunch {
                tile: requested.tile,
                blocks: requested.blocks,
                threads: case.threads,
            },
            effective: None,
        });
    let file = case.file.display().to_string();
    CaseResult {
        id: case.id.clone(),
        scenario: case.scenario.clone(),
        location: Location { file, line: case.line },
        collective: case.problem.collective,
        kernel: case.kernel.manifest.kernel.clone(),
        variant: case.variant.clone(),
        source: identity.source,
        mode,
        device: DeviceName::Cpu,
        gpus: Vec::new(),
        ranks: case.problem.world,
        seed: case.problem.seed,
        orders: 0,
        schedules: 0,
        schedules_failed: 0,
        failing_schedule: None,
        switches: None,
        complete: None,
        delays: 0,
        delays_failed: 0,
        schedule_hash: None,
        race: false,
        verdict: Verdict::Pass,
        reason: None,
        calls: calls.collect(),
        launches: 0,
        overlapped: None,
        duration_s: 0.0,
        kernel_s: 0.0,
        replay: identity.replay,
        not_proved: Vec::new(),
        findings: Vec::new(),
    }
}

/// A path as a shell takes it.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
