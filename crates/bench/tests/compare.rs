//! What enters a ratio and what does not, and what is said instead.

use bench::compare::{Comparison, Family, Policy, Source, Verdict, between, join, within};
use bench::file::{
    Arm, ArmKind, BenchFile, Block, Cache, Ceiling, FreshLaunch, Invalid, InvalidKind, Launch,
    Machine, Protocol, Provenance, Row, Run, SCHEMA, Verification, Verified,
};
use rstest::rstest;

fn arm(name: &str, kind: ArmKind) -> Arm {
    Arm {
        name: name.to_owned(),
        kind,
        semantics: "all_gather".to_owned(),
        layout: None,
        source: None,
        requested: Launch::default(),
        effective: Launch::default(),
        verified: Verified { before: Verification::Right, after: Verification::Right },
    }
}

/// Three launches of one block A B C C B A; each arm takes its time, a launch a little more than the one before.
fn row(id: &str, times: &[f64]) -> Row {
    let names = ["base", "new", "base again"];
    let kinds = [ArmKind::Variant, ArmKind::Variant, ArmKind::Control];
    let launches = (0..3).map(|number| {
        let order = (0..times.len()).chain((0..times.len()).rev());
        let runs = order.map(|arm| {
            // The arms do not vary alike, or there would be no interval.
            let time = times[arm] * (1.0 + 0.0005 * f64::from(number) * (arm as f64 - 1.0));
            Run { arm, at_ns: None, samples: vec![vec![time / 2.0, time]; 5] }
        });
        FreshLaunch { number, blocks: vec![Block { runs: runs.collect() }] }
    });
    Row {
        id: id.to_owned(),
        collective: "all_gather".to_owned(),
        kernel: "k".to_owned(),
        axes: [("dtype".to_owned(), "f16".to_owned()), ("blocks".to_owned(), id.to_owned())].into(),
        ranks: 2,
        mode: "process".to_owned(),
        device: "cpu".to_owned(),
        bytes: 1 << 20,
        bus_factor: 0.5,
        ceiling: None,
        cache: Cache::Cold,
        arms: names
            .iter()
            .zip(kinds)
            .map(|(name, kind)| arm(name, kind))
            .take(times.len())
            .collect(),
        launches: launches.collect(),
        invalid: Vec::new(),
        skipped: None,
    }
}

fn file(rows: Vec<Row>) -> BenchFile {
    BenchFile {
        schema: SCHEMA.to_owned(),
        rankcheck: String::new(),
        machine: Machine::default(),
        command: Vec::new(),
        seed: None,
        scenario: None,
        protocol: Protocol::default(),
        provenance: Vec::new(),
        notes: Vec::new(),
        interrupted: false,
        rows,
    }
}

fn source(name: &str) -> Source {
    Source { name: name.to_owned(), paths: Vec::new(), hardware: String::new(), seed: None }
}

fn compared(file: &BenchFile) -> Comparison {
    within(file, None, source("a"), Policy::default()).unwrap()
}

#[rstest]
#[case::slower(1.1, Verdict::Slower)]
#[case::faster(0.9, Verdict::Faster)]
#[case::same(1.001, Verdict::Same)]
#[case::by_less_than_the_margin(1.008, Verdict::Same)]
fn a_row_has_a_verdict(#[case] ratio: f64, #[case] expected: Verdict) {
    let comparison = compared(&file(vec![row("1", &[1e5, 1e5 * ratio, 1e5])]));
    let row = &comparison.rows[0];
    assert_eq!(row.verdict, Some(expected), "{}", row.why);
    let found = row.ratio.as_ref().unwrap();
    assert!((found.estimate - ratio).abs() < 1e-3, "{found:?}");
    assert!(found.low.unwrap() <= ratio && ratio <= found.high.unwrap(), "{found:?}");
    assert_eq!(found.launches, 3);
    // The slowest rank counts, and its bandwidth is that of 2^20 bytes at half a factor.
    assert!((row.base.median_ns.unwrap() - 1e5).abs() < 100.0);
    assert!((row.base.busbw_gbs.unwrap() - 5.24288).abs() < 0.01, "{:?}", row.base);
    assert_eq!(row.arm.skew, Some(0.5));
}

/// Each change makes a row whose arm would be 10 % slower say nothing, with a reason; the other row stays.
#[rstest]
#[case::cheating(|row: &mut Row| row.invalid.push(invalid(InvalidKind::Cheating)), "is invalid: why", true)]
#[case::above(|row: &mut Row| row.invalid.push(invalid(InvalidKind::AboveCeiling)), "is invalid: why", true)]
#[case::wrong(|row: &mut Row| row.arms[1].verified.after = Verification::Wrong("x".into()), "was wrong after timing: x", true)]
#[case::not_verified(|row: &mut Row| row.arms[1].verified.before = Verification::NotJudged, "was not verified before timing", true)]
#[case::skipped(|row: &mut Row| row.skipped = Some("no device".into()), "not measured: no device", false)]
#[case::other_meaning(|row: &mut Row| row.arms[1].semantics = "all_reduce sum".into(), "mean different things", false)]
#[case::no_samples(|row: &mut Row| row.launches.clear(), "has no samples", false)]
#[case::no_time(|row: &mut Row| *row = self::row("1", &[1e5, 0.0, 1e5]), "takes 0 ns", false)]
#[case::no_arm(|row: &mut Row| *row = self::row("1", &[1e5]), "the row has no such arm", false)]
#[case::base_wrong(|row: &mut Row| row.arms[0].verified.after = Verification::Wrong("x".into()), "`base` was wrong after", true)]
fn what_proves_nothing_enters_no_ratio(
    #[case] change: fn(&mut Row),
    #[case] why: &str,
    #[case] is_invalid: bool,
) {
    let mut rows = vec![row("1", &[1e5, 1.1e5, 1e5]), row("2", &[1e5, 0.9e5, 1e5])];
    change(&mut rows[0]);
    let comparison = compared(&file(rows));
    let [changed, kept] = &comparison.rows[..] else { panic!("{:?}", comparison.rows) };
    assert_eq!((changed.ratio.as_ref(), changed.verdict), (None, None));
    assert!(changed.why.contains(why), "{}", changed.why);
    assert_eq!(changed.invalid, is_invalid);
    assert_eq!(kept.verdict, Some(Verdict::Faster));
    assert_eq!(comparison.tested, 1, "a p-value is not adjusted for what was not tested");
    let all = &comparison.slices[0];
    assert_eq!((all.rows, all.without), (1, 1));
    assert!((all.ratios.unwrap().max - 0.9).abs() < 1e-3, "only the other row: {all:?}");
}

fn invalid(kind: InvalidKind) -> Invalid {
    Invalid { arm: Some(1), kind, reason: "why".to_owned() }
}

#[test]
fn a_base_that_differs_from_itself_decides_nothing() {
    let comparison = compared(&file(vec![row("1", &[1e5, 1.1e5, 1.05e5])]));
    assert_eq!(comparison.rows[0].verdict, Some(Verdict::CannotTell));
    let why = &comparison.rows[0].why;
    assert!(why.contains("the base differs from itself by +5.1"), "{why}");
}

/// The control varies by 9.2 % between launches, the arm is 7.8 % slower in each.
#[test]
fn what_lies_within_the_bases_own_spread_decides_nothing() {
    let mut one = row("1", &[1e5, 1.078e5, 1e5]);
    for (launch, factor) in one.launches.iter_mut().zip([1.092, 1.0 / 1.092, 1.0]) {
        let runs = launch.blocks.iter_mut().flat_map(|block| &mut block.runs);
        for run in runs.filter(|run| run.arm == 2) {
            run.samples.iter_mut().flatten().for_each(|time| *time *= factor);
        }
    }
    let comparison = compared(&file(vec![one]));
    assert_eq!(comparison.rows[0].verdict, Some(Verdict::CannotTell));
    let why = &comparison.rows[0].why;
    assert!(why.contains("within the +9.") && why.contains("shows against itself"), "{why}");
}

/// One row of 20 with p = 0.01 is a verdict alone and none among all of them.
#[test]
fn many_rows_are_adjusted_for() {
    let noisy = |id: &str, ratio: f64| {
        let mut row = row(id, &[1e5, 1e5 * ratio]);
        for (launch, factor) in row.launches.iter_mut().zip([0.997, 1.0, 1.003]) {
            let runs = launch.blocks.iter_mut().flat_map(|block| &mut block.runs);
            for run in runs.filter(|run| run.arm == 1) {
                run.samples.iter_mut().flatten().for_each(|time| *time *= factor);
            }
        }
        row
    };
    let alone = compared(&file(vec![noisy("1", 1.02)]));
    assert_eq!(alone.rows[0].verdict, Some(Verdict::Slower), "{}", alone.rows[0].why);
    let rows = (1..=20).map(|id| noisy(&id.to_string(), if id == 1 { 1.02 } else { 1.0 }));
    let policy = Policy { family: Family::AnyFalse, ..Policy::default() };
    let many = within(&file(rows.collect()), None, source("a"), policy).unwrap();
    assert_eq!(many.rows[0].verdict, Some(Verdict::CannotTell), "{}", many.rows[0].why);
    assert!(many.rows[0].why.contains("among 20 rows"), "{}", many.rows[0].why);
}

#[test]
fn slices_are_by_arm_and_axis_and_share_of_the_ceiling() {
    let mut rows = vec![
        row("8", &[1e5, 1.1e5, 1e5]),
        row("16", &[1e5, 0.9e5, 1e5]),
        row("128", &[1e5, 0.8e5, 1e5]),
    ];
    for (row, busbw_gbs) in rows.iter_mut().zip([6.0, 5.2, 50.0]) {
        row.ceiling = Some(Ceiling { busbw_gbs, what: "copy".to_owned() });
    }
    let comparison = compared(&file(rows));
    let names: Vec<&str> = comparison.slices.iter().map(|slice| slice.of.as_str()).collect();
    let expected = [
        "all",
        "blocks 8",
        "blocks 16",
        "blocks 128",
        "base at 0..25 % of the ceiling",
        "base at 75..90 % of the ceiling",
        "base at 100 % of the ceiling or more",
    ];
    assert_eq!(names, expected);
    let all = comparison.slices[0].ratios.unwrap();
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 2e-3, "{all:?}");
    near(all.median, 0.9);
    near(all.mean, (1.1_f64 * 0.9 * 0.8).cbrt());
    near(all.min, 0.8);
    near(all.max, 1.1);
    assert_eq!(comparison.slices[0].verdicts[&Verdict::Faster], 2);
}

#[test]
fn files_are_compared_arm_by_arm_and_rows_of_one_file_stay() {
    let a = file(vec![row("1", &[1e5, 2e5, 1e5]), row("2", &[1e5, 2e5, 1e5])]);
    let b = file(vec![row("1", &[1.1e5, 1.8e5, 1.1e5]), row("3", &[1e5, 2e5, 1e5])]);
    let comparison = between([&a, &b], [source("a"), source("b")], Policy::default()).unwrap();
    let rows: Vec<_> = comparison
        .rows
        .iter()
        .map(|row| (row.id.as_str(), row.arm.arm.as_str(), row.verdict, row.why.as_str()))
        .collect();
    assert_eq!(rows[0].2, Some(Verdict::Slower), "{rows:?}");
    assert_eq!((rows[0].1, rows[1].1), ("base", "new"));
    assert_eq!(rows[1].2, Some(Verdict::Faster), "{rows:?}");
    assert_eq!((rows[2].0, rows[2].2, rows[2].3), ("2", None, "not in b"));
    assert_eq!((rows[4].0, rows[4].2, rows[4].3), ("3", None, "not in a"));
    let other = file(vec![row("9", &[1e5])]);
    assert!(between([&a, &other], [source("a"), source("b")], Policy::default()).is_err());
}

#[test]
fn imported_times_are_compared_and_said_to_be_unverified() {
    let mut imported = file(vec![row("1", &[1e5, 1.1e5])]);
    imported.rows[0].arms.iter_mut().for_each(|arm| arm.verified = Verified::default());
    assert!(compared(&imported).rows[0].invalid, "rankcheck's own must be verified");
    imported.provenance = vec![Provenance {
        path: "x.csv".to_owned(),
        sha256: String::new(),
        kind: "iris.bench csv".to_owned(),
        summary_only: false,
    }];
    let comparison = compared(&imported);
    assert_eq!(comparison.rows[0].verdict, Some(Verdict::Slower));
    assert!(comparison.notes[0].contains("did not verify"), "{:?}", comparison.notes);
}

#[test]
fn files_of_one_measurement_are_joined_as_launches() {
    let joined = join(vec![
        file(vec![row("1", &[1e5, 1.1e5, 1e5])]),
        file(vec![row("1", &[1e5, 1.1e5, 1e5]), row("2", &[1e5])]),
    ])
    .unwrap();
    assert_eq!(joined.rows.len(), 2);
    let numbers: Vec<u32> = joined.rows[0].launches.iter().map(|launch| launch.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    let mut other = row("1", &[1e5]);
    other.bytes += 1;
    let error = join(vec![file(vec![row("1", &[1e5])]), file(vec![other])]).unwrap_err();
    assert!(error.to_string().contains("is another operation"), "{error}");
}

#[test]
fn one_launch_says_that_it_is_one() {
    let mut one = row("1", &[1e5, 1.1e5, 1e5]);
    let three: Vec<Block> = row("1", &[1e5, 1.1e5, 1e5])
        .launches
        .into_iter()
        .flat_map(|launch| launch.blocks)
        .collect();
    one.launches = vec![FreshLaunch { number: 0, blocks: [three.clone(), three].concat() }];
    let comparison = compared(&file(vec![one]));
    let row = &comparison.rows[0];
    assert_eq!(row.verdict, Some(Verdict::Slower), "{}", row.why);
    assert!(row.why.contains("one launch only"), "{}", row.why);
}
