//! Which reader a file is probably for, and what in it speaks against that.
//!
//! A name is weak evidence. Where the content speaks against it, or the readers disagree about the
//! file, the user has to say who reads it: a decision of the wrong reader is worse than none.

use crate::csv::{Chunk, Fate, MAX_TOKENS, Rule, chunks, is_comment, tokens};
use crate::names::Dialect;

/// A guess and the doubts about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    /// The reader that the name suggests.
    pub dialect: Dialect,
    /// What in the file speaks against a guess, worst first; empty where nothing does.
    pub doubts: Vec<String>,
}

/// Guesses the reader of a file: `rccl-builtin` where its name contains `rccl`, else
/// `nccl-example`.
pub fn guess(name: &str, file: &[u8]) -> Guess {
    let dialect = match name.to_lowercase().contains("rccl") {
        true => Dialect::RcclBuiltin,
        false => Dialect::NcclExample,
    };
    let found = [surplus(file), disagreement(file), comment(dialect, name, file)];
    Guess { dialect, doubts: found.into_iter().flatten().collect() }
}

/// Fields that none of the modelled readers takes.
fn surplus(file: &[u8]) -> Option<String> {
    let fields = |line: &[u8]| line.split(|&byte| byte == b',').filter(|f| !f.is_empty()).count();
    let numbered = file.split(|&byte| byte == b'\n').enumerate();
    let (index, line) = numbered
        .filter(|(_, line)| !is_comment(line) && tokens(line).len() == MAX_TOKENS)
        .filter(|(_, line)| !line.contains(&b'#'))
        .find(|(_, line)| fields(line) > MAX_TOKENS)?;
    let (number, count) = (index + 1, fields(line));
    Some(format!(
        "line {number} has {count} fields: it is written for a reader that takes more than \
         {MAX_TOKENS} (partition modes of one fork), which none of the dialects does"
    ))
}

/// The first line of which the readers load different rows.
fn disagreement(file: &[u8]) -> Option<String> {
    let row = |chunk: &Chunk<'_>| match chunk.fate {
        Fate::Row(rule) => Some(rule),
        Fate::Blank | Fate::Comment | Fate::Dropped(_) => None,
    };
    let all = Dialect::ALL.map(|dialect| (dialect, chunks(dialect, file)));
    let rows = |chunks: &[Chunk<'_>]| -> Vec<(usize, Rule)> {
        chunks.iter().filter_map(|chunk| Some((chunk.line, row(chunk)?))).collect()
    };
    let loaded = all.map(|(dialect, chunks)| (dialect, rows(&chunks)));
    let [(first, mine), rest @ ..] = &loaded;
    let (other, theirs) = rest.iter().find(|(_, theirs)| theirs != mine)?;
    let at = mine.iter().zip(theirs).position(|(a, b)| a != b);
    let at = at.unwrap_or(mine.len().min(theirs.len()));
    let line = mine.get(at).into_iter().chain(theirs.get(at)).map(|(line, _)| line).min()?;
    Some(format!("{first} and {other} load different rows from line {line} on"))
}

/// Comments, which only files for the example plugins have.
fn comment(dialect: Dialect, name: &str, file: &[u8]) -> Option<String> {
    if dialect != Dialect::RcclBuiltin {
        return None;
    }
    let numbered = file.split(|&byte| byte == b'\n').enumerate();
    let commented =
        numbered.filter(|(_, line)| is_comment(line)).map(|(index, _)| index + 1).next();
    match commented {
        Some(line) => Some(format!(
            "line {line} is a comment: the files of the built-in tuner have none, those of the \
             example plugins (nccl-example, rccl-example) do"
        )),
        None if name.to_lowercase().ends_with(".conf") => Some(
            "files of the example plugins end in .conf, those of the built-in tuner in .csv"
                .to_owned(),
        ),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const ROW: &str = "allreduce,0,1023,tree,ll,4,1,8,-1,-1";

    #[rstest]
    #[case("rccl_tuner_gfx950.csv", ROW, Dialect::RcclBuiltin, "")]
    #[case("RCCL.csv", ROW, Dialect::RcclBuiltin, "")]
    #[case("nccl_tuner.conf", "# x\nallreduce,0,1023,tree,ll,4,1,8\n", Dialect::NcclExample, "")]
    #[case(
        "rccl.csv",
        "# x\nallreduce,0,1023,tree,ll,4,1,8\n",
        Dialect::RcclBuiltin,
        "line 1 is a comment"
    )]
    #[case("rccl.conf", ROW, Dialect::RcclBuiltin, "end in .conf")]
    #[case(
        "rccl.csv",
        "allreduce,0,1023,tree,ll,4,1,8,-1,-1,cpx,8",
        Dialect::RcclBuiltin,
        "has 12 fields"
    )]
    #[case(
        "t.csv",
        "allreduce,0,1023,tree,ll,4,1,8,-1,-1,cpx,8",
        Dialect::NcclExample,
        "has 12 fields"
    )]
    #[case(
        "t.csv",
        "allreduce,0,1023,Tree,ll,4,1,8",
        Dialect::NcclExample,
        "different rows from line 1"
    )]
    #[case("t.csv", "allreduce,0,9,tree,ll,4,1,8,\r\n", Dialect::NcclExample, "different rows")]
    #[case("t.csv", "allreduce,0,9,tree,ll,4,1,8,-1,-1 # why, who", Dialect::NcclExample, "")]
    fn names_suggest_and_contents_object(
        #[case] name: &str,
        #[case] file: &str,
        #[case] dialect: Dialect,
        #[case] doubt: &str,
    ) {
        let guess = guess(name, file.as_bytes());
        assert_eq!(guess.dialect, dialect);
        assert_eq!(guess.doubts.is_empty(), doubt.is_empty(), "{:?}", guess.doubts);
        assert!(guess.doubts.iter().any(|said| said.contains(doubt)) || doubt.is_empty());
    }
}
