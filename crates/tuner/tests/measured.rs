//! Logs of perf tools as measurements.

use bench::file::Verification;
use bench::import::Origin;
use tuner::measured::measurements;
use tuner::perflog::read;

/// Eight ranks; one size twice, one row with a wrong half, one half that is not checked.
const LOG: &str = "# nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 8 minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid  1000 on      hostA device  0 [0000:00:00] Some GPU
#  Rank  1 Group  0 Pid  1000 on      hostA device  1 [0000:01:00] Some GPU
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
        1024           256     float     sum      -1    10.00    0.10    0.10       0    11.00    0.09    0.09       0
        1024           256     float     sum      -1    12.00    0.09    0.09       0    13.00    0.08    0.08     N/A
        4096          1024     float     sum      -1    20.00    0.20    0.20       3    21.00    0.20    0.20       0
# Out of bounds values : 1 FAILED
# Avg bus bandwidth    : 0.12667
#
";

#[test]
fn rows_and_halves_are_rows_and_repeated_sizes_are_of_one_launch() {
    let log = read(LOG.as_bytes());
    let file = measurements(&log, Origin { path: "a.log", sha256: "00ff" }).expect("rows");
    let ids: Vec<&str> = file.rows.iter().map(|row| row.id.as_str()).collect();
    let id = |bytes: u32, half: &str| {
        format!("all_reduce/w2/bytes={bytes}/dtype=float/half={half}/op=sum")
    };
    let (out, within) = ("out_of_place", "in_place");
    assert_eq!(ids, [id(1024, out), id(1024, within), id(4096, out), id(4096, within)]);
    let row = &file.rows[0];
    assert_eq!((row.bytes, row.ranks, row.launches.len()), (1024, 2, 1));
    assert_eq!(row.launches[0].blocks[0].runs[0].samples, [[10_000.0], [12_000.0]]);
    assert_eq!(row.arms[0].semantics, "all_reduce sum");
    assert_eq!(row.arms[0].verified.before, Verification::ClaimedRight);
    assert!(matches!(file.rows[2].arms[0].verified.after, Verification::Wrong(_)));
    assert!(file.provenance[0].summary_only);
    assert!(file.notes[0].contains("the log is wrong"), "{:?}", file.notes);
    assert!(bench::file::write(&file).is_ok());
}

#[test]
fn a_log_without_rows_is_no_measurement() {
    let log = read(b"nothing of a perf tool");
    assert!(measurements(&log, Origin { path: "a", sha256: "" }).is_none());
}
