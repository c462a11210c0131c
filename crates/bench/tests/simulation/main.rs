//! Verdicts on machines of which everything is known: how often is one false, how often is an effect found?
//!
//! The small tests run with every change; those behind `#[ignore]` draw many more and are `ci/nightly.sh`'s.

mod world;

use bench::compare::{Policy, Source, Verdict, between, within};
use bench::file::BenchFile;
use collectives::draw::Draw;
use rstest::rstest;

use self::world::World;

const QUIET: World = World::QUIET;

fn source(name: &str) -> Source {
    Source { name: name.to_owned(), paths: Vec::new(), hardware: String::new(), seed: None }
}

fn verdict(file: &BenchFile) -> Verdict {
    let comparison = within(file, None, source("a"), Policy::default()).unwrap();
    comparison.rows[0].verdict.unwrap()
}

/// The share of machines of this kind on which a verdict is one of these.
fn share(world: World, trials: u64, verdicts: &[Verdict]) -> f64 {
    let mut draw = Draw::new(16);
    let found = (0..trials).filter(|_| verdicts.contains(&verdict(&world.file(&mut draw)))).count();
    found as f64 / trials as f64
}

const FALSE: [Verdict; 2] = [Verdict::Faster, Verdict::Slower];

#[rstest]
#[case::quiet(QUIET)]
#[case::without_control(World { control: false, ..QUIET })]
#[case::noisy(World { noise: 0.05, ..QUIET })]
#[case::autocorrelated(World { kept: 0.9, ..QUIET })]
#[case::drifting(World { drift: 0.2, ..QUIET })]
#[case::waving(World { wave: 0.05, kept: 0.5, ..QUIET })]
#[case::stragglers(World { stragglers: 8, ..QUIET })]
#[case::launches_differ(World { launch_noise: 0.01, control: false, ..QUIET })]
#[case::five_launches_differ(World { launch_noise: 0.01, launches: 5, control: false, ..QUIET })]
#[case::ten_launches_differ(World { launch_noise: 0.02, launches: 10, control: false, ..QUIET })]
#[case::launches_differ_much(World { launch_noise: 0.05, launches: 5, kept: 0.5, ..QUIET })]
#[case::one_launch(World { launches: 1, kept: 0.8, launch_noise: 0.003, blocks: 8, ..QUIET })]
#[case::one_launch_without_control(World { launches: 1, kept: 0.5, drift: 0.1, blocks: 8, control: false, ..QUIET })]
#[case::one_launch_autocorrelated(World { launches: 1, kept: 0.95, blocks: 20, control: false, ..QUIET })]
#[case::one_launch_that_differs(World { launches: 1, launch_noise: 0.004, blocks: 12, control: false, ..QUIET })]
#[case::two_launches(World { launches: 2, kept: 0.8, launch_noise: 0.003, blocks: 8, ..QUIET })]
fn the_base_against_itself_is_no_difference(#[case] world: World) {
    let found = share(world, 200, &FALSE);
    assert!(found <= 0.05, "{found} are false");
}

#[rstest]
#[case::three_launches(World { effect: 0.03, ..QUIET })]
#[case::autocorrelated(World { effect: 0.03, kept: 0.5, ..QUIET })]
#[case::drifting(World { effect: 0.03, drift: 0.1, ..QUIET })]
#[case::ten_launches_differ(World { effect: 0.03, launch_noise: 0.01, launches: 10, ..QUIET })]
#[case::two_percent(World { effect: 0.02, launches: 5, ..QUIET })]
#[case::one_launch(World { effect: 0.03, launches: 1, blocks: 10, ..QUIET })]
fn an_effect_is_found(#[case] world: World) {
    let found = share(world, 100, &[Verdict::Slower]);
    assert!(found >= 0.9, "{found} are found");
    let faster = World { effect: 1.0 / (1.0 + world.effect) - 1.0, ..world };
    let found = share(faster, 100, &[Verdict::Faster]);
    assert!(found >= 0.9, "{found} are found");
}

#[test]
fn enough_launches_of_the_same_say_same() {
    let found = share(World { launches: 8, ..QUIET }, 100, &[Verdict::Same]);
    assert!(found >= 0.9, "{found}");
}

/// Two files of one base, measured at different times.
fn share_between(world: World, effect: f64, trials: u64, verdicts: &[Verdict]) -> f64 {
    let mut draw = Draw::new(23);
    let found = (0..trials).filter(|_| {
        let mut files = [0.0, effect].map(|effect| World { effect, ..world }.file(&mut draw));
        files.iter_mut().for_each(|file| file.rows[0].arms[1].name = "compared".to_owned());
        let sources = [source("a"), source("b")];
        let comparison = between([&files[0], &files[1]], sources, Policy::default()).unwrap();
        let mut rows = comparison.rows.iter().filter(|row| row.arm.arm == "compared");
        verdicts.contains(&rows.next().unwrap().verdict.unwrap())
    });
    found.count() as f64 / trials as f64
}

#[rstest]
#[case::three_launches(World { launch_noise: 0.005, ..QUIET })]
#[case::autocorrelated(World { kept: 0.9, launch_noise: 0.01, launches: 5, ..QUIET })]
#[case::one_launch(World { launches: 1, kept: 0.5, launch_noise: 0.005, ..QUIET })]
#[case::twelve_launches(World { launches: 12, launch_noise: 0.01, iterations: 5, ..QUIET })]
fn files_of_the_same_are_no_difference(#[case] world: World) {
    let found = share_between(world, 0.0, 150, &FALSE);
    assert!(found <= 0.05, "{found} are false");
}

#[test]
fn an_effect_between_files_is_found() {
    let world = World { launch_noise: 0.005, launches: 6, ..QUIET };
    let found = share_between(world, 0.03, 100, &[Verdict::Slower]);
    assert!(found >= 0.9, "{found} are found");
}

/// The same with so many machines that 5 % is known to half a percent.
#[rstest]
#[ignore = "minutes: ci/nightly.sh runs it"]
fn the_base_against_itself_on_thousands_of_machines(
    #[values(0.0, 0.005, 0.02)] launch_noise: f64,
    #[values(0.0, 0.9)] kept: f64,
    #[values(3, 5, 10)] launches: u32,
    #[values(true, false)] control: bool,
) {
    let world = World { launch_noise, kept, launches, control, drift: 0.05, ..QUIET };
    let found = share(world, 3000, &FALSE);
    println!(
        "{launches} launches, control {control}, launches differ by {launch_noise}, kept {kept}: {found:.4} false"
    );
    assert!(found <= 0.05, "{found} are false: {world:?}");
}
