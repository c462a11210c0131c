//! The closed list of symbols that manifests may use.

/// Name and meaning of every integer symbol, as `rankcheck explain args` prints them.
pub const INTEGERS: [(&str, &str); 35] = [
    ("m", "rows of the scenario's shape"),
    ("n", "columns of the scenario's shape"),
    ("input.rows", "rows of a rank's input"),
    ("input.columns", "columns of a rank's input"),
    ("input.row_stride", "elements from one row of the input to the next"),
    ("input.elements", "rows x columns of the input"),
    ("output.rows", "rows of a rank's output"),
    ("output.columns", "columns of a rank's output"),
    ("output.row_stride", "elements from one row of the output to the next"),
    ("output.elements", "rows x columns of the output"),
    ("dtype.bytes", "bytes an element"),
    ("rank", "the rank in the world"),
    ("world", "how many ranks there are"),
    ("group.rank", "the rank's index in the group"),
    ("group.size", "how many ranks take part"),
    ("group.start", "first rank of a strided group"),
    ("group.stride", "distance between the ranks of a strided group"),
    ("root", "the root, as a group rank"),
    ("call", "number of the call in its case, from 0"),
    ("epoch", "number of the call, from 0, growing over all calls on the same heaps"),
    ("blocks", "persistent thread blocks a rank"),
    ("threads", "threads a block"),
    ("tile.m", "rows of a tile"),
    ("tile.n", "columns of a tile"),
    ("op", "0 sum, 1 prod, 2 min, 3 max, 4 avg, 5 premul_sum"),
    ("scalar", "the rank's factor in a premultiplied sum"),
    ("tile", "in `reduction`: number of a tile of (m, n), row by row"),
    ("tile.row", "in `reduction`: row of the tile among tiles"),
    ("tile.column", "in `reduction`: column of the tile among tiles"),
    ("tiles", "number of tiles of (m, n)"),
    ("peer.rank", "in a struct over ranks: the rank that it is about"),
    ("peer.group_rank", "in a struct over ranks: its group rank"),
    ("peer.index", "in a struct over ranks: its place among the own rank's peers"),
    ("peer.own_index", "in a struct over ranks: the own rank's place among its peers"),
    ("pid", "in `reduction`: tile % blocks, the block of a persistent loop that has the tile"),
];

/// Accepts a symbol of the list.
///
/// # Errors
/// Says which symbol is nearest.
pub fn check(name: &str) -> Result<(), String> {
    if INTEGERS.iter().any(|(known, _)| *known == name) {
        return Ok(());
    }
    let nearest = nearest(name, INTEGERS.iter().map(|(known, _)| *known));
    Err(format!(
        "unknown symbol `{name}` (did you mean `{nearest}`? `rankcheck explain args` lists them)"
    ))
}

/// The candidate with the smallest edit distance.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> &'a str {
    candidates.min_by_key(|candidate| strsim::damerau_levenshtein(name, candidate)).unwrap_or("")
}
