//! The device's judge against the host's: the same images, the same verdicts, byte for byte. The
//! kernels run on the CPU; nothing here needs a GPU.

mod agreement;
mod cpu;
mod problems;

use std::collections::BTreeSet;

use agreement::{Bench, agree};
use collectives::image::{Area, Moment, Source, Span, spans};
use collectives::{
    Accumulate, Collective, DType, Data, Detail, DetailLabel, HeapPlan, Op, Problem, Rank, Shape,
    arithmetic, declared,
};
use cpu::CpuVerifier;
use device::gpu::verifier::{Entry, SOURCE, VerifierDevice as _};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

#[test]
fn shipped_scenarios_are_judged_alike() {
    let mut device = CpuVerifier::new();
    let problems = problems::shipped();
    assert!(problems.len() > 200, "{}", problems.len());
    let collectives: BTreeSet<Collective> =
        problems.iter().map(|(_, problem)| problem.collective).collect();
    assert_eq!(collectives.len(), Collective::ALL.len(), "{collectives:?}");
    for (id, problem) in &problems {
        agree(&mut device, problem, 2).unwrap_or_else(|error| panic!("{id}: {error}"));
    }
}

#[test]
fn random_problems_are_judged_alike() {
    let mut device = CpuVerifier::new();
    let mut runner = TestRunner::new(Config { cases: 300, ..Config::default() });
    let device = std::cell::RefCell::new(&mut device);
    let run = runner.run(&problems::random(), |problem| {
        agree(&mut device.borrow_mut(), &problem, 2).map_err(TestCaseError::fail)
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

/// The spans after a call, by kind of place.
fn spans_after(problem: &Problem, index: usize) -> Vec<Span> {
    let plan = HeapPlan::new(problem).unwrap();
    let mut all = Vec::new();
    spans(problem, &plan, index, Moment::After, &mut |span| all.push(span));
    all
}

#[test]
fn the_first_and_last_byte_of_every_span_is_judged() {
    let mut device = CpuVerifier::new();
    for dtype in DType::ALL {
        let problem = problems::padded(dtype);
        let all = spans_after(&problem, 1);
        let areas: BTreeSet<Area> = all.iter().map(|span| span.area).collect();
        assert_eq!(areas.len(), 5, "{areas:?}");
        let mut bench = Bench::new(&mut device, &problem, 1);
        bench.fill().unwrap();
        for span in &all {
            for at in [0, span.bytes.end - span.bytes.start - 1] {
                bench.bytes(span)[at as usize] ^= 0x10;
                let found = bench.verify().unwrap_or_else(|error| panic!("{dtype}: {error}"));
                let judged = usize::from(span.source != Source::Free);
                assert_eq!(found.len(), judged, "{dtype} {span:?} {at}: {found:#?}");
                bench.bytes(span)[at as usize] ^= 0x10;
            }
        }
        bench.release();
    }
}

#[test]
fn a_nan_is_as_good_as_another_where_arithmetic_made_it() {
    let mut device = CpuVerifier::new();
    let mut exchanged = 0;
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_float()) {
        let problem = problems::reduced(dtype, Op::Sum);
        let size = dtype.bytes() as usize;
        let mut bench = Bench::new(&mut device, &problem, 0);
        bench.fill().unwrap();
        let mut copied = None;
        for span in spans_after(&problem, 0).iter().filter(|span| span.area == Area::Element) {
            for element in bench.bytes(span).chunks_mut(size) {
                let mut other = element.to_vec();
                other[0] ^= 1;
                if arithmetic::is_nan(dtype, element) && arithmetic::is_nan(dtype, &other) {
                    match span.source {
                        Source::Reduced { .. } => {
                            element.copy_from_slice(&other);
                            exchanged += 1;
                        }
                        _ => copied = copied.or(Some(span.clone())),
                    }
                }
            }
        }
        assert_eq!(bench.verify().unwrap(), [], "{dtype}");
        // One that was copied is compared bit for bit.
        if let Some(span) = copied {
            let elements = bench.bytes(&span);
            let nan = elements.chunks_mut(size).find(|e| arithmetic::is_nan(dtype, e)).unwrap();
            nan[0] ^= 1;
            assert_eq!(bench.verify().unwrap().len(), 1, "{dtype}");
        }
        bench.release();
    }
    assert!(exchanged > 20, "{exchanged}");
}

#[test]
fn of_a_great_deal_that_is_wrong_a_part_is_explained_and_all_is_counted() {
    let mut problem = problems::padded(DType::F64);
    problem.calls.truncate(1);
    problem.calls[0].shape = Shape { m: 400, n: 1024 };
    let mut device = CpuVerifier::new();
    let mut bench = Bench::new(&mut device, &problem, 0);
    bench.fill().unwrap();
    let written = |span: &&Span| span.rank == Rank(0) && matches!(span.source, Source::Row { .. });
    let mut all = 0;
    for span in
        spans_after(&problem, 0).iter().filter(written).filter(|span| span.region == Some(1))
    {
        bench.bytes(span).fill(0x55);
        all += span.bytes.end - span.bytes.start;
    }
    let (found, counted) = bench.found();
    assert_eq!(counted, all);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].count > 3 << 20 && found[0].count < all, "{}", found[0].count);
    let text = format!("{} of {all} wrong bytes were looked at", found[0].count);
    assert_eq!(found[0].details, [Detail { label: DetailLabel::LookedAt, text }]);
    bench.release();
}

/// A judge that is wrong on purpose does not pass for one that is right: each line of the kernels
/// that says what is right is broken once. Here, those that make the fill.
#[test]
fn a_judge_that_fills_wrongly_is_caught() {
    let breaks = [
        ("0xbf58476d1ce4e5b9ull", "0xbf58476d1ce4e5b7ull"),
        ("0x0b52d4du", "0x0b52d4fu"),
        ("x ^= x >> 13;", "x ^= x >> 12;"),
        ("key->call)) & 7", "key->call)) & 3"),
        ("(rank & 15) << 4", "(rank & 15) << 5"),
        ("| rank >> 4 << 2", ""),
        ("rank >> 4 << 2", "rank >> 4 << 1"),
        ("record.own != 0 ? rank : record.rank", "rank"),
        ("((number | step) & 1) == 0", "true"),
        ("return (byte & 7) == 0 &&", "return"),
        ("row + BATCH > record.rows", "false"),
        ("if (word == column) return;", "if (column != rc_i64(1) << 62) return;"),
        ("matrix + row * stride + byte", "matrix + row * stride"),
    ];
    are_caught(&breaks, &places());
}

/// The same for those that find and compare places.
#[test]
fn a_judge_that_looks_elsewhere_is_caught() {
    let breaks = [
        ("first == 0 && end == 16", "end == 16"),
        ("left < 16 ? rc_u32(left) : 16", "left < 16 ? rc_u32(left - 1) : 16"),
        ("place.byte < 0 ? rc_u32(-place.byte) : 0", "0"),
        ("wrong += unit;", "wrong += 1;"),
        ("record.any_nan && ", ""),
        ("is_nan(one) && is_nan(other)", "false"),
        ("(rank * launch.key->heap_bytes + place.offset)", "place.offset"),
        ("return (1u << record.rows_log2) - 1", "return (1u << record.rows_log2) / 2"),
        ("low = middle + 1;", "low = high;"),
        ("& ~below_first", ""),
        ("differs |= ", "differs = "),
        ("(seen[i].high ^ made[i].high ^ bits)", "0"),
    ];
    are_caught(&breaks, &places());
}

/// Problems that have every kind of place.
fn places() -> Vec<Problem> {
    let problem = |dtype| {
        let tall = problems::tall(dtype);
        let stored = Problem { data: Data::BitPatterns, ..tall.clone() };
        [tall, stored, problems::padded(dtype), problems::reduced(dtype, Op::Sum)]
    };
    DType::ALL
        .into_iter()
        .flat_map(problem)
        .chain([problems::crowded(DType::U8, Op::Sum)])
        .collect()
}

/// The same for what makes reductions: here, sums of floats.
#[test]
fn a_judge_that_cannot_add_is_caught() {
    let breaks = [
        ("place & 0xffffffffffffull", "place & 0x7fffffffull"),
        ("(slot + (place >> 40)) % exact.members", "slot"),
        ("index < exact.count", "index <= exact.count"),
        ("if (slot >= integers && slot < exact.members) return 0;", ""),
        ("start == 1 || start == -1 ? 1 : 0", "0"),
        ("bool negative = integers == 1", "bool negative = integers == 2"),
        ("int(exact.first_exponent)", "0"),
        ("halved ? -1 : 0", "0"),
        ("integer(turned(slot)) * rc_i64(exact.third)", "integer(turned(slot))"),
        ("encode(rc_i64(total), -halvings)", "encode(rc_i64(total), 0)"),
    ];
    let floats = [DType::F16, DType::F64, DType::F8E5M2];
    reductions_are_caught(&breaks, &floats, &[Op::Sum, Op::Avg, Op::PremulSum]);
}

/// Here, integers.
#[test]
fn a_judge_that_cannot_count_is_caught() {
    let breaks = [
        ("(slot >= nobodys ? 1 : 0)", "0"),
        ("number << 1 | 1", "number | 1"),
        ("slot % 2 == 0 ? 2 : 1", "slot % 2 == 1 ? 2 : 1"),
        ("total * term : total + term", "total + term : total + term"),
        ("lone ? level", "false ? level"),
        ("level + apart : level - apart", "level - apart : level + apart"),
        ("if (slot == 0 && (place >> 62 & 1) != 0) number--;", ""),
        ("exact.second != 0 && place >> 63 != 0", "place >> 63 != 0"),
        ("rc_i64(total) / rc_i64(exact.members)", "total / exact.members"),
    ];
    let integers = [DType::U8, DType::I8, DType::I64];
    reductions_are_caught(&breaks, &integers, &[Op::Sum, Op::Prod, Op::Avg, Op::PremulSum]);
}

/// Here, the smallest and the largest.
#[test]
fn a_judge_that_cannot_choose_is_caught() {
    let breaks = [
        ("(slot + turn) % exact.members", "slot % exact.members"),
        ("term < total : term > total", "term > total : term > total"),
        ("(exact.is_signed << (8 * exact.element - 1))", "0"),
        ("positive - 1 - number", "positive - number"),
        ("(exact.mantissa_bits - exact.second)", "0"),
    ];
    // Of an f32 that is held in less, not all bits of the mantissa are used.
    let dtypes = [DType::I8, DType::U8, DType::F8E5M2, DType::F32];
    reductions_are_caught(&breaks, &dtypes, &[Op::Min, Op::Max]);
}

/// Wrong bits that each problem is tried with.
const BITS: u64 = 12;

/// In calls of few and of many members.
fn reductions_are_caught(breaks: &[(&str, &str)], dtypes: &[DType], ops: &[Op]) {
    let problems = dtypes.iter().flat_map(|dtype| {
        ops.iter().flat_map(|op| {
            let mut narrow = problems::exact(*dtype, *op);
            if *dtype == DType::F32 {
                narrow.numerics.accumulate = Some(Accumulate::As(DType::BF16));
            }
            [narrow, problems::reduced_by(problems::crowded(*dtype, *op))]
        })
    });
    let problems: Vec<Problem> =
        problems.filter(|problem| declared::undeclared(problem).is_none()).collect();
    are_caught(breaks, &problems);
}

/// Each of the breaks is seen in one of the problems at least, and without one none is.
fn are_caught(breaks: &[(&str, &str)], problems: &[Problem]) {
    let mut right = CpuVerifier::new();
    for problem in problems {
        agree(&mut right, problem, BITS).unwrap_or_else(|error| panic!("{problem:?}: {error}"));
    }
    for (line, broken) in breaks {
        assert!(SOURCE.contains(line), "{line} is not in the source any more");
        let mut device = CpuVerifier::of(&SOURCE.replace(line, broken));
        let passes = problems.iter().all(|problem| is_right(&mut device, problem));
        assert!(!passes, "`{broken}` in place of `{line}` goes unseen");
    }
}

fn is_right(device: &mut CpuVerifier, problem: &Problem) -> bool {
    // A broken judge may also trip over itself.
    let agrees = std::panic::AssertUnwindSafe(|| agree(device, problem, BITS).is_ok());
    std::panic::catch_unwind(agrees).unwrap_or(false)
}

#[test]
fn a_copy_copies() {
    let mut device = CpuVerifier::new();
    let bytes: Vec<u8> = (0..16 * 1000).map(|at| (at * 7 % 251) as u8).collect();
    let [from, to] = [0; 2].map(|_| device.allocate(bytes.len() as u64).unwrap());
    device.upload(from, &bytes).unwrap();
    device.launch(Entry::Copy, 3, &[to, from, 1000]).unwrap();
    let mut copied = vec![0; bytes.len()];
    device.download(to, &mut copied).unwrap();
    assert!(copied == bytes);
    device.release(from);
    device.release(to);
}
