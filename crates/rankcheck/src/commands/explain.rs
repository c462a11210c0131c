//! `rankcheck explain`: what a case is made of.

use std::fmt::Write as _;

use anyhow::bail;
use clap::Args;
use collectives::{HeapPlan, Problem};
use kernels::{Argument, Scope, TableEntry, arguments, symbols};
use scenario::Case;
use scenario::keys::Settings;

use crate::commands::emit;
use crate::commands::select::Select;
use crate::exit::Exit;
use crate::load::{KernelStore, load};

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A case's id, or `args` for the symbols that manifests may use.
    what: String,
    #[command(flatten)]
    select: Select,
}

/// Prints the explanation.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if arguments.what == "args" {
        emit(&symbols_text())?;
        return Ok(Exit::Passed);
    }
    let store = KernelStore::open(&arguments.select.kernels)?;
    let loaded = load(&arguments.select.paths, &store.library, arguments.select.seed)?;
    let id = arguments.what.rsplit("::").next().unwrap_or(&arguments.what);
    let Some(case) = loaded.cases.iter().find(|case| case.id == id) else {
        let ids = loaded.cases.iter().map(|case| case.id.as_str());
        let nearest = symbols::nearest(id, ids);
        bail!("no case `{id}` (did you mean `{nearest}`? `rankcheck list` has them all)");
    };
    emit(&case_text(case)?)?;
    Ok(Exit::Passed)
}

fn symbols_text() -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "integers, in expressions with + - * / % ( ) ceil_div(a, b) min(a, b) max(a, b):"
    );
    for (name, meaning) in symbols::INTEGERS {
        let _ = writeln!(text, "  {name:<18} {meaning}");
    }
    let _ = writeln!(text,
        "\narguments:
  {{ptr: input}}, {{ptr: output}}, {{ptr: workspace.NAME}}   address of element (0, 0)
  {{i8|u8|i16|u16|i32|u32|i64|u64: EXPRESSION}}          an integer; one that does not fit is an error
  {{f32: NUMBER}}, {{f64: NUMBER}}                        a float; also an integer expression
  {{null: ptr}}                                         a null pointer
  {{table: {{of: heap_base|rank|group_rank|scalar|send_rows|send_first|receive_rows|receive_first
           |remote_first|REGION, over: world|group|peers, as: u64|i32|..,
           pass: pointer|value, length: N}}}}           one entry a rank; traps behind the end
  {{address: {{of: REGION, on: own|peer, bytes: EXPRESSION}}}} an address in a region
  {{struct: {{fields: [ARGUMENTS], pass: value|pointer, over: world|group|peers}}}}
                                                       laid out as C does; with `over` one a rank

definitions (`defines`): a number, `dtype.storage`, `dtype.type`, `dtype.name`,
`reduction.accumulate` (device types), `'literal text'`, or an expression of tile.m, tile.n, group.size, world and dtype.bytes"
    );
    text
}

fn case_text(case: &Case) -> anyhow::Result<String> {
    let mut text = String::new();
    let problem = &case.problem;
    let plan = &*case.plan;
    let _ = writeln!(text, "{}", case.id);
    let _ = writeln!(text, "  scenario    {}:{}", case.file.display(), case.line);
    let kernel = &case.kernel;
    let _ = writeln!(
        text,
        "  kernel      {} variant {} ({})",
        kernel.manifest.kernel,
        case.variant,
        kernel.shown_file()
    );
    let _ = writeln!(text, "  entry       {}", case.variant().entry);
    let _ = writeln!(
        text,
        "  collective  {} of {} on {} ranks, seed {}",
        problem.collective, problem.dtype, problem.world, problem.seed
    );
    if let Some(reason) = case.unsupported(kernels::DeviceName::Cpu) {
        let _ = writeln!(text, "  unsupported {reason}");
    }
    let stated = case.settings.unusual(&Settings::defaults(kernel));
    if !stated.is_empty() {
        let _ = writeln!(text, "  keys        {}", stated.join(", "));
    }
    let _ = writeln!(text, "  heap        {} bytes a rank", plan.bytes);
    text += &heap_text(problem, plan);
    for (index, (call, requested)) in problem.calls.iter().zip(&case.requested).enumerate() {
        let say = |value: Option<String>| value.unwrap_or_else(|| "default".into());
        let _ = writeln!(
            text,
            "  call {index}      shape {}, group {}, tile {} (requested {}), blocks {} (requested {})",
            call.shape,
            call.group,
            call.tile,
            say(requested.tile.map(|tile| tile.to_string())),
            call.blocks,
            say(requested.blocks.map(|blocks| blocks.to_string())),
        );
        for rank in call.group.members() {
            let manifest = &kernel.manifest;
            let scope = Scope { problem, plan, index, rank: Some(*rank), threads: None, manifest };
            let values = arguments::resolve(&scope)?;
            let values: Vec<String> = values.iter().map(show).collect();
            let _ = writeln!(text, "    rank {rank:<2}   {}", values.join(", "));
        }
    }
    Ok(text)
}

fn heap_text(problem: &Problem, plan: &HeapPlan) -> String {
    let mut text = String::new();
    let mut end = 0;
    let mut line = |from: u64, to: u64, what: &str| {
        if to > from {
            let _ = writeln!(text, "    {from:#010x}..{to:#010x}  {:>12}  {what}", to - from);
        }
    };
    for region in &plan.regions {
        line(end, region.storage.start, "guard");
        line(region.storage.start, region.storage.end, &region.name.label(problem));
        end = region.storage.end;
    }
    line(end, plan.bytes, "guard");
    text
}

fn show(argument: &Argument) -> String {
    match argument {
        Argument::Scalar(bytes) => {
            let mut wide = [0; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(wide).to_string()
        }
        Argument::Null => "null".into(),
        Argument::Heap(rank, offset) => format!("heap[{rank}]+{offset:#x}"),
        Argument::Table { entries, .. } => {
            let entry = |entry: &TableEntry| match entry {
                TableEntry::Heap(rank, offset) => format!("heap[{rank}]+{offset:#x}"),
                TableEntry::Number(number) => number.to_string(),
            };
            format!("[{}]", entries.iter().map(entry).collect::<Vec<_>>().join(" "))
        }
        Argument::Struct { fields, .. } => {
            format!("{{{}}}", fields.iter().map(show).collect::<Vec<_>>().join(", "))
        }
    }
}
