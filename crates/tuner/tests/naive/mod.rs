//! A second reader and evaluator, written from the C sources' description without the crate's
//! building blocks: one cursor over bytes, wide integers, plain loops. Slow and obvious.

use tuner::{Dialect, Unavailable};

/// A row as (line, names by index, numbers).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NaiveRow {
    pub(crate) line: usize,
    pub(crate) collective: usize,
    pub(crate) algorithm: usize,
    pub(crate) protocol: usize,
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// channels, nodes, ranks, pipe operations, registered buffers
    pub(crate) ints: [i32; 5],
}

const COLLECTIVES: [&[u8]; 5] =
    [b"broadcast", b"reduce", b"allgather", b"reducescatter", b"allreduce"];
const ALGORITHMS: [&[u8]; 7] =
    [b"tree", b"ring", b"collnet_direct", b"collnet_chain", b"nvls", b"nvls_tree", b"pat"];
const PROTOCOLS: [&[u8]; 3] = [b"ll", b"ll128", b"simple"];

/// (value, negative, too large for 128 bits) of the leading number.
fn leading_number(text: &[u8]) -> (i128, bool) {
    let mut at = 0;
    while at < text.len() && b" \t\n\x0b\x0c\r".contains(&text[at]) {
        at += 1;
    }
    let mut negative = false;
    if at < text.len() && (text[at] == b'-' || text[at] == b'+') {
        negative = text[at] == b'-';
        at += 1;
    }
    let mut value: i128 = 0;
    while at < text.len() && text[at].is_ascii_digit() {
        value = (value * 10 + i128::from(text[at] - b'0')).min(1 << 100);
        at += 1;
    }
    (value, negative)
}

fn unsigned(text: &[u8]) -> u64 {
    let (value, negative) = leading_number(text);
    if value > i128::from(u64::MAX) {
        u64::MAX
    } else if negative {
        ((1i128 << 64) - value) as u64
    } else {
        value as u64
    }
}

fn int(text: &[u8]) -> i32 {
    let (value, negative) = leading_number(text);
    let signed = if negative { -value } else { value };
    signed.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64 as i32
}

pub(crate) fn rows(dialect: Dialect, file: &[u8]) -> Vec<NaiveRow> {
    let rccl = dialect == Dialect::RcclBuiltin;
    let strict = matches!(dialect, Dialect::RcclBuiltin | Dialect::RcclBuiltinV2);
    let mut result = Vec::new();
    // What the first pass of the oldest built-in reader counts.
    let mut room = 0;
    let (mut at, mut line_number) = (0, 1);
    while at < file.len() && !(rccl && file[at] == 0) {
        let started_on = line_number;
        let mut line = Vec::new();
        loop {
            if at == file.len() || (rccl && file[at] == 0) {
                break;
            }
            if file[at] == b'\n' {
                at += 1;
                line_number += 1;
                break;
            }
            if line.len() == 255 {
                break;
            }
            line.push(file[at]);
            at += 1;
        }
        if !rccl && let Some(nul) = line.iter().position(|&byte| byte == 0) {
            line.truncate(nul);
        }
        if rccl && line.last() == Some(&b'\r') {
            line.pop();
        }
        let mut first = 0;
        while strict && first < line.len() && (line[first] == b' ' || line[first] == b'\t') {
            first += 1;
        }
        let mut visible = 0;
        while visible < line.len() && b" \t\r\n\x0b\x0c".contains(&line[visible]) {
            visible += 1;
        }
        if visible < line.len() && line[visible] != b'#' {
            room += 1;
        }
        if first == line.len() || line[first] == b'#' {
            continue;
        }
        result.extend(row(&line, started_on, strict));
    }
    if dialect == Dialect::RcclBuiltinV1 {
        result.truncate(room);
    }
    result
}

fn row(line: &[u8], number: usize, strict: bool) -> Option<NaiveRow> {
    let mut tokens: Vec<Vec<u8>> = Vec::new();
    let mut current: Vec<u8> = Vec::new();
    let mut ends = line.to_vec();
    ends.push(b',');
    for byte in ends {
        if byte != b',' {
            current.push(byte);
        } else if !current.is_empty() && tokens.len() < 10 {
            while !current.is_empty() && (current[0] == b' ' || current[0] == b'\t') {
                current.remove(0);
            }
            while matches!(current.last(), Some(b' ' | b'\t')) {
                current.pop();
            }
            if current.is_empty() && strict {
                return None;
            }
            tokens.push(std::mem::take(&mut current));
        } else {
            current.clear();
        }
    }
    if tokens.len() < 8 {
        return None;
    }
    let index = |names: &[&[u8]], token: &[u8], default: usize| {
        names.iter().position(|name| *name == token).or((!strict).then_some(default))
    };
    Some(NaiveRow {
        line: number,
        collective: index(&COLLECTIVES, &tokens[0], 4)?,
        algorithm: index(&ALGORITHMS, &tokens[3], 1)?,
        protocol: index(&PROTOCOLS, &tokens[4], 2)?,
        min: unsigned(&tokens[1]),
        max: unsigned(&tokens[2]),
        ints: [5, 6, 7, 8, 9].map(|i| tokens.get(i).map_or(-1, |token| int(token))),
    })
}

/// (collective, bytes, nodes, ranks, pipe operations, registered buffers)
pub(crate) type NaiveQuery = (usize, u64, i32, i32, i32, i32);

/// The index of the row that applies and the `nChannels` that the plugin leaves behind.
pub(crate) fn evaluate(
    dialect: Dialect,
    rows: &[NaiveRow],
    query: NaiveQuery,
    ignored: Unavailable,
) -> (Option<usize>, i32) {
    let default = if dialect == Dialect::NcclExample { 1 } else { 0 };
    let (collective, bytes, nodes, ranks, pipe_ops, reg_buff) = query;
    for (index, row) in rows.iter().enumerate() {
        let mut matches = row.collective == collective;
        matches &= row.min <= bytes && bytes <= row.max;
        for (wanted, got) in row.ints[1..].iter().zip([nodes, ranks, pipe_ops, reg_buff]) {
            matches &= *wanted == -1 || *wanted == got;
        }
        let algorithm = tuner::Algorithm::ALL[row.algorithm];
        let protocol = tuner::Protocol::ALL[row.protocol];
        if matches && !ignored.contains(algorithm, protocol) {
            let strict = matches!(dialect, Dialect::RcclBuiltin | Dialect::RcclBuiltinV2);
            let keeps = row.ints[0] == -1 || strict && row.ints[0] < 1;
            return (Some(index), if keeps { default } else { row.ints[0] });
        }
    }
    (None, default)
}
