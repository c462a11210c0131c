//! Proofs that hold, and made ones that must not: each differs from a good log in one thing.

#[allow(dead_code, reason = "the logs of perf tools are for another test")]
mod logs;

use logs::{MODERN, ROCM_CHOICE, Style, log};
use rstest::rstest;
use tuner::proof::{Expectation, Proof, prove};
use tuner::{Collective, Dialect, Query, Situation, Table};

/// A size that the logs have a row of.
const BYTES: u64 = 1_048_576;
const RANKS: usize = 8;
const FILE: &str = "allreduce,0,65535,ring,ll,-1,1,8,-1,-1
allreduce,65536,134217727,tree,ll128,64,1,8,-1,-1
";

/// What one rank says: it has read the file, and has applied a row on each of its calls.
fn said(rank: usize, file: &str, applied: &[&str]) -> String {
    let who = format!("host{}:{}:{} [{rank}] NCCL INFO", rank / 4, 100 + rank, 200 + rank);
    let mut text = format!("{who} Using built-in CSV tuner, config: {file}\n");
    text += &format!("{who} TUNER/CsvTuner: Loaded 2 tuning configurations from {file}\n");
    for choice in applied {
        text += &format!(
            "{who} TUNER/CsvTuner: Applied config for allreduce, bytes={BYTES}: {choice}\n"
        );
    }
    text
}

const RIGHT: &str = "algo=tree, proto=ll128, channels=64";

/// A good log in which one rank says something else.
fn with_rank(rank: usize, file: &str, applied: &[&str]) -> String {
    let all = (0..RANKS).map(|r| match r == rank {
        true => said(r, file, applied),
        false => said(r, "new.csv", &[RIGHT, RIGHT]),
    });
    all.collect::<String>() + &log(&MODERN)
}

fn judged(log: &str, bytes: u64) -> Proof {
    let table = Table::load(Dialect::RcclBuiltin, FILE.as_bytes());
    let situation = Situation {
        collective: Collective::AllReduce,
        nodes: 1,
        ranks: RANKS as i32,
        pipe_ops: 1,
        reg_buff: 0,
    };
    let query = Query { situation, bytes };
    let expected = Expectation { table: &table, file: "new.csv", query, own_columns: false };
    prove(log.as_bytes(), &expected)
}

#[test]
fn every_rank_proves_its_row() {
    let proof = judged(&with_rank(0, "new.csv", &[RIGHT, RIGHT]), BYTES);
    assert_eq!(proof.problems, Vec::<String>::new());
    assert_eq!((proof.line, proof.loaded_by, proof.applied_by), (Some(2), RANKS, RANKS));
}

#[rstest]
#[case::longer_protocol("algo=tree, proto=ll128x, channels=64")]
#[case::shorter_protocol("algo=tree, proto=ll, channels=64")]
#[case::longer_algorithm("algo=nvls_tree, proto=ll128, channels=64")]
#[case::channels("algo=tree, proto=ll128, channels=6")]
#[case::more_channels("algo=tree, proto=ll128, channels=640")]
#[case::default_channels("algo=tree, proto=ll128, channels=-1")]
#[case::text_behind("algo=tree, proto=ll128, channels=64 of 64")]
#[case::cut("algo=tree, proto=ll12")]
fn one_rank_that_applies_another_row_fails_the_proof(#[case] other: &str) {
    for rank in [0, 5] {
        // Also on its second call only.
        for applied in [vec![other, RIGHT], vec![RIGHT, other]] {
            let proof = judged(&with_rank(rank, "new.csv", &applied), BYTES);
            assert!(!proof.holds(), "{other}");
        }
    }
}

#[rstest]
#[case::embedded("<embedded>/rccl_tuner_gfx950.csv")]
#[case::longer("new.csv.bak")]
#[case::another_folder("old/new.csv")]
fn one_rank_that_reads_another_file_fails_the_proof(#[case] file: &str) {
    let proof = judged(&with_rank(7, file, &[RIGHT, RIGHT]), BYTES);
    assert!(proof.problems.iter().any(|p| p.contains(file) && p.contains("host1")), "{proof:?}");
}

#[test]
fn silence_is_no_proof() {
    let good = with_rank(0, "new.csv", &[RIGHT]);
    let without = |piece: &str| {
        good.lines().filter(|l| !l.contains(piece)).map(|l| format!("{l}\n")).collect::<String>()
    };
    for piece in ["Loaded", "Applied", "[3] NCCL INFO TUNER/CsvTuner: Applied", "[3] NCCL INFO"] {
        assert!(!judged(&without(piece), BYTES).holds(), "{piece}");
    }
    // A library that loads other rows than the file has, a run without a row of this size.
    assert!(!judged(&good.replacen("Loaded 2", "Loaded 7", 1), BYTES).holds());
    assert!(!judged(&without("1048576  "), BYTES).holds());
    assert!(
        !judged(
            &good.replacen("TUNER/CsvTuner: Applied", "TUNER/ExamplePlugin: Applied", 1),
            BYTES
        )
        .holds()
    );
}

#[test]
fn where_no_row_is_for_a_size_none_may_be_applied() {
    let silent = (0..RANKS).map(|r| said(r, "new.csv", &[])).collect::<String>() + &log(&MODERN);
    let proof = judged(&silent, 134_217_728);
    assert_eq!((proof.problems.as_slice(), proof.line), (&[][..], None));
    let applied = silent.clone()
        + "h:1:1 [0] NCCL INFO TUNER/CsvTuner: Applied config for allreduce, bytes=134217728: \
           algo=ring, proto=ll, channels=-1\n";
    assert!(!judged(&applied, 134_217_728).holds());
}

/// `-A 1`: the rows themselves show another choice than the log lines.
#[test]
fn rows_that_show_their_choice_are_compared() {
    let lines: String = (0..RANKS).map(|r| said(r, "new.csv", &[RIGHT])).collect();
    let shown = |tail: &'static str| lines.clone() + &log(&Style { tail, ..ROCM_CHOICE });
    let good = judged(&shown("    TREE     LL128          64"), BYTES);
    assert_eq!((good.problems.as_slice(), good.own_rows), (&[][..], 1));
    for tail in [
        "    TREE     LL          64",
        "    RING     LL128       64",
        "    TREE     LL128       32",
    ] {
        let proof = judged(&shown(tail), BYTES);
        assert_eq!(proof.problems.len(), 1, "{tail}: {proof:?}");
    }
}

/// The example plugins say which call a row was applied to, and for which communicators it is.
#[test]
fn the_example_plugins_say_more() {
    let file = "allreduce,65536,134217727,tree,ll128,-1,-1,8,-1,-1\n";
    let table = Table::load(Dialect::RcclExample, file.as_bytes());
    let situation = Situation {
        collective: Collective::AllReduce,
        nodes: 1,
        ranks: RANKS as i32,
        pipe_ops: 1,
        reg_buff: 0,
    };
    let query = Query { situation, bytes: BYTES };
    let expected = Expectation { table: &table, file: "t.conf", query, own_columns: false };
    let made = |details: &str, choice: &str| -> String {
        let lines = (0..RANKS).map(|rank| {
            let who = format!("h:{rank}:1 [{rank}] NCCL INFO TUNER/ExamplePlugin:");
            format!(
                "{who} Loaded 1 tuning configurations from t.conf\n{who} Applied config for \
                 collType=allreduce, bytes={BYTES}, {details}: algo=tree, proto=ll128, {choice}\n"
            )
        });
        lines.collect::<String>() + &log(&MODERN)
    };
    let right = "channels=default (nodes=-1, ranks=8)";
    let proof = prove(made("pipeOps=1, regBuff=0", right).as_bytes(), &expected);
    assert_eq!((proof.problems.as_slice(), proof.applied_by), (&[][..], RANKS));
    for (details, choice) in [
        ("pipeOps=1, regBuff=1", right),
        ("pipeOps=4, regBuff=0", right),
        ("pipeOps=1, regBuff=0", "channels=1 (nodes=-1, ranks=8)"),
        ("pipeOps=1, regBuff=0", "channels=default (nodes=2, ranks=8)"),
    ] {
        assert!(!prove(made(details, choice).as_bytes(), &expected).holds(), "{details} {choice}");
    }
}
