//! Several files of the same measurement, each of which was a launch of its own.

use crate::file::{BenchFile, Run};

/// Files that are not of the same measurement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// There is none.
    #[error("no file")]
    None,
    /// A row that is another one.
    #[error("row `{id}` is another operation in the second file: {what}")]
    Differs {
        /// The row's id.
        id: String,
        /// In what it differs.
        what: String,
    },
}

/// Joins files: launches of a later one come behind those of an earlier one, rows and arms that are new are added.
///
/// # Errors
/// See [`JoinError`].
pub fn join(files: Vec<BenchFile>) -> Result<BenchFile, JoinError> {
    let mut files = files.into_iter();
    let mut joined = files.next().ok_or(JoinError::None)?;
    for file in files {
        add(&mut joined, file)?;
    }
    Ok(joined)
}

fn add(joined: &mut BenchFile, file: BenchFile) -> Result<(), JoinError> {
    for note in file.notes {
        if !joined.notes.contains(&note) {
            joined.notes.push(note);
        }
    }
    joined.provenance.extend(file.provenance);
    joined.interrupted |= file.interrupted;
    for mut row in file.rows {
        let Some(known) = joined.rows.iter_mut().find(|known| known.id == row.id) else {
            joined.rows.push(row);
            continue;
        };
        let is_same = known.bytes == row.bytes || !joined.provenance.is_empty();
        if !is_same || known.ranks != row.ranks {
            let what = format!(
                "{} bytes on {} ranks, not {} on {}",
                row.bytes, row.ranks, known.bytes, known.ranks
            );
            return Err(JoinError::Differs { id: row.id, what });
        }
        let mut places = Vec::new();
        for arm in std::mem::take(&mut row.arms) {
            let place = known.arms.iter().position(|other| other.name == arm.name);
            places.push(place.unwrap_or(known.arms.len()));
            if place.is_none() {
                known.arms.push(arm);
            }
        }
        let place = |run: Run| Run { arm: places[run.arm], ..run };
        for mut launch in row.launches {
            launch.number = known.launches.len() as u32;
            for block in &mut launch.blocks {
                block.runs = std::mem::take(&mut block.runs).into_iter().map(place).collect();
            }
            known.launches.push(launch);
        }
        for mut invalid in row.invalid {
            invalid.arm = invalid.arm.map(|arm| places[arm]);
            known.invalid.push(invalid);
        }
        known.skipped = known.skipped.take().or(row.skipped);
    }
    Ok(())
}
