//! Random values of every key. A new key's type needs a strategy here, else nothing compiles.

use std::fmt;
use std::sync::Arc;

use collectives::{DType, Data, GroupSpec, Op, Shape, Tile};
use kernels::Kernel;
use proptest::prelude::*;

use crate::keys::{CallKeys, CallsValue, Settings};
use crate::mode::Mode;
use crate::values::*;

/// A type whose values can be drawn.
pub(super) trait Sample: Value + 'static {
    fn sample(kernel: &Kernel) -> BoxedStrategy<Self>;
}

/// One key with another value.
#[derive(Clone)]
pub(super) struct Change<T> {
    pub name: &'static str,
    pub yaml: String,
    pub apply: Arc<dyn Fn(&mut T) + Send + Sync>,
}

impl<T> fmt::Debug for Change<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.yaml)
    }
}

type Changes<T> = Vec<(&'static str, BoxedStrategy<Change<T>>)>;

macro_rules! changes {
    ($(
        $name:ident: $type:ty, $doc:literal
        $(, alias($alias:literal))?
        , default($default:literal, $value:expr)
        $(, axis($axis:literal $(, $axis_alias:literal)?))?
        $(, call($call:literal $(, $call_alias:literal)?))?
        ;
    )*) => {
        /// A strategy for every key of a case.
        pub(super) fn changes(kernel: &Kernel) -> Changes<Settings> {
            vec![$((stringify!($name), <$type>::sample(kernel).prop_map(|value| {
                let yaml = value.yaml();
                let apply = Arc::new(move |settings: &mut Settings| {
                    settings.$name = value.clone().into();
                });
                Change { name: stringify!($name), yaml, apply }
            }).boxed()),)*]
        }

        /// A strategy for every key of a call.
        fn call_changes(kernel: &Kernel) -> Changes<CallKeys> {
            vec![$($((stringify!($name), <$type>::sample(kernel).prop_map(|value| {
                let _: &str = $call;
                let yaml = value.yaml();
                let apply = Arc::new(move |keys: &mut CallKeys| {
                    keys.$name = Some(value.clone().into());
                });
                Change { name: stringify!($name), yaml, apply }
            }).boxed()),)?)*]
        }
    };
}

use crate::values;

crate::keys::for_every_key!(changes);

/// Some of the changes, each with this probability.
fn some<T: 'static>(changes: Changes<T>, chance: f64) -> BoxedStrategy<Vec<Change<T>>> {
    let each: Vec<_> = changes
        .into_iter()
        .map(|(_, change)| prop::option::weighted(chance, change).boxed())
        .collect();
    each.prop_map(|changes| changes.into_iter().flatten().collect()).boxed()
}

/// Settings that a kernel may have, or nearly so: see [`sensible`].
pub(super) fn settings(kernel: &Arc<Kernel>) -> BoxedStrategy<Settings> {
    let kernel = kernel.clone();
    some(changes(&kernel), 0.4)
        .prop_map(move |changes| {
            let mut settings = Settings::defaults(&kernel);
            for change in changes {
                (change.apply)(&mut settings);
            }
            sensible(&kernel, &mut settings);
            settings
        })
        .boxed()
}

/// Takes back what a kernel's collective rules out, so that most settings can be expanded.
fn sensible(kernel: &Kernel, settings: &mut Settings) {
    let defaults = Settings::defaults(kernel);
    let collective = kernel.manifest.collective;
    let mut takes_back = CallKeys::default();
    if !collective.is_rooted() {
        settings.root = defaults.root;
        takes_back.root = Some(defaults.root);
    }
    if !collective.reduces() {
        settings.op = defaults.op;
        takes_back.op = Some(defaults.op);
    }
    if collective != collectives::Collective::AllToAll {
        settings.counts = defaults.counts.clone();
        takes_back.counts = Some(defaults.counts);
    }
    if collective.in_place_refusal().is_some() {
        settings.in_place = defaults.in_place;
    }
    if let CallsValue::List(calls) = &mut settings.calls.value {
        for call in calls {
            call.root = call.root.filter(|_| takes_back.root.is_none());
            call.op = call.op.filter(|_| takes_back.op.is_none());
            call.counts = call.counts.take().filter(|_| takes_back.counts.is_none());
        }
    }
}

impl Sample for bool {
    fn sample(_: &Kernel) -> BoxedStrategy<bool> {
        any::<bool>().boxed()
    }
}

impl Sample for u32 {
    fn sample(_: &Kernel) -> BoxedStrategy<u32> {
        prop_oneof![4 => 0..3u32, 1 => any::<u32>()].boxed()
    }
}

impl Sample for u64 {
    fn sample(_: &Kernel) -> BoxedStrategy<u64> {
        (0..10_000u64).boxed()
    }
}

impl Sample for VariantName {
    fn sample(kernel: &Kernel) -> BoxedStrategy<VariantName> {
        let names: Vec<String> = kernel.manifest.variants.keys().cloned().collect();
        prop::sample::select(names).prop_map(VariantName).boxed()
    }
}

impl Sample for Ranks {
    fn sample(_: &Kernel) -> BoxedStrategy<Ranks> {
        (1..=8u32).prop_map(Ranks).boxed()
    }
}

impl Sample for DTypeValue {
    fn sample(_: &Kernel) -> BoxedStrategy<DTypeValue> {
        prop::sample::select(DType::ALL.to_vec()).prop_map(DTypeValue).boxed()
    }
}

impl Sample for OpValue {
    fn sample(_: &Kernel) -> BoxedStrategy<OpValue> {
        prop::sample::select(Op::ALL.to_vec()).prop_map(OpValue).boxed()
    }
}

impl Sample for DataValue {
    fn sample(_: &Kernel) -> BoxedStrategy<DataValue> {
        let data = vec![Data::Keyed, Data::BitPatterns, Data::Random];
        prop::sample::select(data).prop_map(DataValue).boxed()
    }
}

impl Sample for ModesValue {
    fn sample(_: &Kernel) -> BoxedStrategy<ModesValue> {
        prop::sample::subsequence(Mode::ALL.to_vec(), 1..=3).prop_map(ModesValue).boxed()
    }
}

impl Sample for ShapeValue {
    fn sample(_: &Kernel) -> BoxedStrategy<ShapeValue> {
        (0..40u64, 0..300u64).prop_map(|(m, n)| ShapeValue(Shape { m, n })).boxed()
    }
}

/// A value or `default`.
fn or_default<T: fmt::Debug + Clone + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<OrDefault<T>> {
    prop::option::of(value).prop_map(OrDefault).boxed()
}

impl Sample for OrDefault<TileValue> {
    fn sample(kernel: &Kernel) -> BoxedStrategy<Self> {
        let conveys = |symbol| kernel.manifest.conveys(kernels::DeviceName::Cpu, symbol);
        let tiles = (1..40u64, 1..40u64).prop_map(|(m, n)| TileValue(Tile { m, n }));
        match conveys("tile.m") && conveys("tile.n") {
            true => or_default(tiles),
            false => Just(OrDefault(None)).boxed(),
        }
    }
}

impl Sample for OrDefault<Blocks> {
    fn sample(_: &Kernel) -> BoxedStrategy<Self> {
        or_default((1..9u32).prop_map(Blocks))
    }
}

impl Sample for OrDefault<Threads> {
    fn sample(_: &Kernel) -> BoxedStrategy<Self> {
        or_default((1..=1024u32).prop_map(Threads))
    }
}

impl Sample for OrDefault<Residency> {
    fn sample(_: &Kernel) -> BoxedStrategy<Self> {
        or_default((1..9u32).prop_map(Residency))
    }
}

impl Sample for OrDefault<Seconds> {
    fn sample(_: &Kernel) -> BoxedStrategy<Self> {
        or_default(any::<u64>().prop_map(Seconds))
    }
}

impl Sample for GroupValue {
    fn sample(_: &Kernel) -> BoxedStrategy<Self> {
        let named = prop::sample::select(GroupSpec::NAMES.to_vec())
            .prop_map(|name| name.parse::<GroupSpec>().expect("a listed name"));
        let listed = prop::sample::subsequence((0..8u32).collect::<Vec<_>>(), 1..=4)
            .prop_shuffle()
            .prop_map(GroupSpec::Ranks);
        let strided = (0..3u32, 1..3u32, 1..4u32)
            .prop_map(|(start, stride, size)| GroupSpec::Strided { start, stride, size });
        prop_oneof![named, listed, strided].prop_map(GroupValue).boxed()
    }
}

impl Sample for LayoutValue {
    fn sample(_: &Kernel) -> BoxedStrategy<Self> {
        let region = || {
            (0..9u64, 0..9u64).prop_map(|(pad_columns, offset_elements)| RegionValue {
                pad_columns,
                offset_elements,
            })
        };
        (region(), region()).prop_map(|(input, output)| LayoutValue { input, output }).boxed()
    }
}

impl Sample for CountsValue {
    fn sample(_: &Kernel) -> BoxedStrategy<Self> {
        let square = |size: usize| {
            prop::collection::vec(prop::collection::vec(0..3u64, size), size)
                .prop_map(CountsValue::List)
        };
        prop_oneof![
            3 => Just(CountsValue::Uneven),
            1 => Just(CountsValue::Even),
            2 => (1..4usize).prop_flat_map(square),
        ]
        .boxed()
    }
}

impl Sample for ScalarsValue {
    fn sample(_: &Kernel) -> BoxedStrategy<Self> {
        let factor = prop_oneof![1..9i32, -9..0i32];
        prop::collection::vec(factor, 0..4).prop_map(ScalarsValue).boxed()
    }
}

impl Sample for BenchValue {
    fn sample(kernel: &Kernel) -> BoxedStrategy<Self> {
        let variant = VariantName::sample(kernel).prop_map(|VariantName(name)| ArmValue {
            name: Some("one".into()),
            ..ArmValue::variant(&name)
        });
        let kernel =
            Just(ArmValue { kernel: Some("all_gather/pull".into()), ..ArmValue::default() });
        let cache = prop_oneof![Just(CacheValue::Cold), Just(CacheValue::Warm)];
        let verify = prop_oneof![Just(VerifyValue::Every), Just(VerifyValue::Drawn)];
        let counts = (0..9u32, 1..9u32, 1..9u32, 1..9u32);
        (prop::option::of((variant, kernel)), counts, cache, verify)
            .prop_map(|(arms, (warmup, iterations, blocks, launches), cache, verify)| BenchValue {
                arms: ArmsValue(arms.into_iter().flat_map(|(one, two)| [one, two]).collect()),
                warmup,
                iterations,
                blocks,
                launches,
                cache,
                verify,
            })
            .boxed()
    }
}

impl Sample for CallsValue {
    fn sample(kernel: &Kernel) -> BoxedStrategy<Self> {
        let call = some(call_changes(kernel), 0.2).prop_map(|changes| {
            let mut keys = CallKeys::default();
            for change in changes {
                (change.apply)(&mut keys);
            }
            keys
        });
        prop_oneof![
            (1..4u32).prop_map(CallsValue::Count),
            prop::collection::vec(call, 1..4).prop_map(CallsValue::List),
        ]
        .boxed()
    }
}
