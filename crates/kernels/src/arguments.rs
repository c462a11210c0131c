//! A manifest's `args` as values for one rank and one call.
//!
//! Addresses are not known here: a resolved argument names regions by their offset in a heap, and
//! the device that has the heaps mapped binds them.

use collectives::{GroupRank, Rank, RegionName};
use serde::{Deserialize, Serialize};

use crate::manifest::{ArgumentSpec, FloatValue, On, Over, Pass, ScalarType, TableSpec};
use crate::scope::Scope;
use crate::symbols::nearest;

/// Entries behind the end of every table: reading one is a fault that names itself.
pub const TRAP_ENTRIES: u64 = 16;

/// One parameter of a launch, addresses aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Argument {
    /// Little-endian bytes of a scalar.
    Scalar(Vec<u8>),
    /// A null pointer.
    Null,
    /// The address of an offset in a rank's heap.
    Heap(Rank, u64),
    /// An array with one entry a rank.
    Table {
        /// The entries, in the order of the ranks that the table runs over.
        entries: Vec<TableEntry>,
        /// The size of one entry in bytes.
        entry_bytes: u64,
        /// The array itself, with this many entries; `None` passes a pointer.
        by_value: Option<u64>,
    },
    /// Fields laid out as C does.
    Struct {
        /// The values of the fields, in order.
        fields: Vec<Argument>,
        /// The bytes themselves, or a pointer to them.
        by_value: bool,
    },
}

/// One entry of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableEntry {
    /// The address of an offset in a rank's heap.
    Heap(Rank, u64),
    /// A plain number, such as a rank.
    Number(i64),
}

/// An argument that has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("argument {index} of {kernel}: {reason}")]
pub struct ArgumentError {
    /// The number of the argument in the manifest, from 0.
    pub index: usize,
    /// The name of the kernel whose argument it is.
    pub kernel: String,
    /// Why the argument has no value here.
    pub reason: String,
}

/// Resolves every argument of the scope's kernel.
///
/// # Errors
/// The first argument that has no value, with the reason.
pub fn resolve(scope: &Scope<'_>) -> Result<Vec<Argument>, ArgumentError> {
    let resolve = |(index, spec)| {
        argument(scope, None, spec).map_err(|reason| ArgumentError {
            index,
            kernel: scope.manifest.kernel.clone(),
            reason,
        })
    };
    scope.manifest.args.iter().enumerate().map(resolve).collect()
}

/// The value of an argument; `peer` is the rank that a struct over ranks is about.
fn argument(
    scope: &Scope<'_>,
    peer: Option<Rank>,
    spec: &ArgumentSpec,
) -> Result<Argument, String> {
    let integer = |symbol: &str| match (peer, symbol.strip_prefix("peer.")) {
        (Some(peer), Some(field)) => peer_integer(scope, peer, field),
        _ => scope.integer(symbol),
    };
    if let Some((scalar, expression)) = spec.integer() {
        let value = expression.evaluate(&integer);
        return Ok(Argument::Scalar(scalar.encode(value.map_err(|e| e.to_string())?)?));
    }
    Ok(match spec {
        ArgumentSpec::Ptr(region) => {
            let rank = scope.rank.ok_or("a pointer differs between ranks")?;
            Argument::Heap(rank, region_offset(scope, region, rank)?)
        }
        ArgumentSpec::Address(address) => {
            let rank = match address.on {
                On::Own => scope.rank.ok_or("an address differs between ranks")?,
                On::Peer => peer.ok_or("`on: peer` is for the fields of a struct over ranks")?,
            };
            let bytes = address.bytes.evaluate(&integer).map_err(|error| error.to_string())?;
            let bytes = u64::try_from(bytes).map_err(|_| format!("an offset of {bytes} bytes"))?;
            Argument::Heap(rank, region_offset(scope, &address.of, rank)? + bytes)
        }
        ArgumentSpec::Null(_) => Argument::Null,
        ArgumentSpec::F32(value) => {
            Argument::Scalar((value.evaluate(scope)? as f32).to_le_bytes().to_vec())
        }
        ArgumentSpec::F64(value) => Argument::Scalar(value.evaluate(scope)?.to_le_bytes().to_vec()),
        ArgumentSpec::Table(table) => self::table(scope, table)?,
        ArgumentSpec::Struct(spec) => {
            let one = |peer: Option<Rank>| -> Result<Vec<Argument>, String> {
                spec.fields.iter().map(|field| argument(scope, peer, field)).collect()
            };
            let fields = match spec.over {
                None => one(peer)?,
                Some(over) => ranks(scope, over)?
                    .into_iter()
                    .map(|rank| Ok(Argument::Struct { fields: one(Some(rank))?, by_value: true }))
                    .collect::<Result<_, String>>()?,
            };
            Argument::Struct { fields, by_value: spec.pass == Pass::Value }
        }
        integer => unreachable!("{integer:?} was resolved above"),
    })
}

/// Bytes from a heap's start to the first element of a region, as `rank` sees it in this call.
fn region_offset(scope: &Scope<'_>, name: &str, rank: Rank) -> Result<u64, String> {
    match name {
        "input" => Ok(scope.plan.input(scope.problem, scope.call(), rank).start),
        "output" => Ok(scope.plan.output_of(scope.problem, scope.call(), rank).start),
        _ => {
            let names = || scope.problem.workspaces.iter().map(|w| format!("workspace.{}", w.name));
            match names().position(|workspace| workspace == name) {
                Some(index) => Ok(scope.plan.region(&RegionName::Workspace(index)).storage.start),
                None => {
                    let known: Vec<String> =
                        ["input".into(), "output".into()].into_iter().chain(names()).collect();
                    let nearest = nearest(name, known.iter().map(String::as_str));
                    Err(format!("unknown region `{name}` (did you mean `{nearest}`?)"))
                }
            }
        }
    }
}

/// Rows of an all_to_all between the scope's rank and `peer`: how many, or where they begin.
fn all_to_all_rows(scope: &Scope<'_>, what: &str, peer: Rank) -> Result<i64, String> {
    let call = scope.call();
    let group_rank = |rank: Rank| {
        let group_rank = call.group.group_rank(rank);
        group_rank.map(|g| g.0 as usize).ok_or_else(|| format!("rank {rank} is not in the group"))
    };
    let own = group_rank(scope.rank.ok_or("counts differ between ranks")?)?;
    let peer = group_rank(peer)?;
    let count = |from: usize, to: usize| match call.details.counts.get(from) {
        Some(sent) => sent[to],
        None => call.shape.m,
    };
    let rows: u64 = match what {
        "send_rows" => count(own, peer),
        "send_first" => (0..peer).map(|to| count(own, to)).sum(),
        "receive_rows" => count(peer, own),
        "receive_first" => (0..peer).map(|from| count(from, own)).sum(),
        _ => (0..own).map(|from| count(from, peer)).sum(),
    };
    i64::try_from(rows).map_err(|_| "a row beyond 63 bits".into())
}

/// The ranks that an aggregate runs over.
fn ranks(scope: &Scope<'_>, over: Over) -> Result<Vec<Rank>, String> {
    let members = scope.call().group.members();
    Ok(match over {
        Over::World => scope.problem.ranks().collect(),
        Over::Group => members.to_vec(),
        Over::Peers => {
            let own = scope.rank.ok_or("peers differ between ranks")?;
            members.iter().copied().filter(|rank| *rank != own).collect()
        }
    })
}

fn peer_integer(scope: &Scope<'_>, peer: Rank, field: &str) -> Result<i64, String> {
    let own = scope.rank.ok_or("peers differ between ranks")?;
    let group = &scope.call().group;
    let group_rank = |rank: Rank| {
        let group_rank = group.group_rank(rank).map(|g| i64::from(g.0));
        group_rank.ok_or_else(|| format!("rank {rank} is not in the group"))
    };
    // In a list without `whom`, the ranks behind it move up by one.
    let index = |rank: Rank, whom: Rank| -> Result<i64, String> {
        let (place, gone) = (group_rank(rank)?, group_rank(whom)?);
        Ok(place - i64::from(gone < place))
    };
    match field {
        "rank" => Ok(peer.0.into()),
        "group_rank" => group_rank(peer),
        "index" => index(peer, own),
        "own_index" => index(own, peer),
        _ => Err(format!("unknown symbol `peer.{field}`")),
    }
}

fn table(scope: &Scope<'_>, table: &TableSpec) -> Result<Argument, String> {
    let group = &scope.call().group;
    let ranks = ranks(scope, table.over)?;
    let entry = |rank: Rank| match table.of.as_str() {
        "rank" => Ok(TableEntry::Number(rank.0.into())),
        "group_rank" => {
            let GroupRank(group_rank) = group.group_rank(rank).unwrap_or(GroupRank(u32::MAX));
            Ok(TableEntry::Number(group_rank.into()))
        }
        "scalar" => {
            let group_rank = group.group_rank(rank).unwrap_or(GroupRank(0));
            Ok(TableEntry::Number(scope.call().scalar(group_rank).into()))
        }
        "send_rows" | "send_first" | "receive_rows" | "receive_first" | "remote_first" => {
            Ok(TableEntry::Number(all_to_all_rows(scope, &table.of, rank)?))
        }
        "heap_base" => Ok(TableEntry::Heap(rank, 0)),
        region => Ok::<_, String>(TableEntry::Heap(rank, region_offset(scope, region, rank)?)),
    };
    let entries = ranks.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    let is_address = entries.iter().any(|entry| matches!(entry, TableEntry::Heap(..)));
    if is_address && !matches!(table.element, ScalarType::U64 | ScalarType::I64) {
        return Err(format!("a table of {} holds addresses: `as: u64`", table.of));
    }
    let by_value = match (table.pass, table.length) {
        (Pass::Pointer, None) => None,
        (Pass::Pointer, Some(_)) => return Err("`length` is for `pass: value`".into()),
        (Pass::Value, length) => Some(length.unwrap_or(entries.len() as u64)),
    };
    if by_value.is_some_and(|length| length < entries.len() as u64) {
        return Err(format!("a table of {} ranks does not fit its length", entries.len()));
    }
    Ok(Argument::Table { entries, entry_bytes: table.element.bytes(), by_value })
}

impl FloatValue {
    /// The value.
    ///
    /// # Errors
    /// An expression that has none.
    pub fn evaluate(&self, scope: &Scope<'_>) -> Result<f64, String> {
        match self {
            FloatValue::Number(number) => Ok(*number),
            FloatValue::Expression(expression) => expression
                .evaluate(&|symbol| scope.integer(symbol))
                .map(|value| value as f64)
                .map_err(|error| error.to_string()),
        }
    }
}
