//! The table.
//!
//! ```text
//! name: Type, "What it means.", alias("another spelling"),
//!     default("as the reference page says it", fn of the kernel),
//!     axis("what ids call it", "another spelling"),
//!     call("what stands before its value in the label of a call", "another spelling");
//! ```
//! Other spellings are left out where there are none; `axis` and `call` where they do not apply:
//! without `axis` a key stands in no matrix, without `call` in no entry of `calls`. An axis without a
//! name is spelled by every id's own parts. Axes vary in the order of the table, the last one fastest.

/// Hands the table to a macro.
macro_rules! for_every_key {
    ($with:ident) => {
        $with! {
            variant: values::VariantName,
                "Which of the kernel's variants is tested, by the name that its manifest gives it.",
                default("the manifest's first", defaults::variant), axis("");
            ranks: values::Ranks,
                "How many ranks exist, whether they take part or not.",
                default("2", |_| values::Ranks(2)), axis("");
            dtype: values::DTypeValue,
                "The type of the elements of inputs and outputs.",
                default("f32", |_| values::DTypeValue(DType::F32)), axis("");
            shape: values::ShapeValue,
                "Rows and columns that each rank contributes: its input, or for scatter and \
                 reduce_scatter its output.",
                default("16x64", |_| values::ShapeValue(Shape { m: 16, n: 64 })),
                axis(""), call("");
            tile: values::OrDefault<values::TileValue>,
                "Rows and columns that a thread block handles in one step.",
                default("default", |_| values::OrDefault(None)),
                axis(""), call("t");
            blocks: values::OrDefault<values::Blocks>,
                "Persistent thread blocks a rank; `default` is the variant's number.",
                alias("comm_sms"),
                default("default", |_| values::OrDefault(None)), axis("", "comm_sms"), call("b", "comm_sms");
            group: values::GroupValue,
                "Which ranks take part, in group order.",
                default("world", |_| values::GroupValue(GroupSpec::World)),
                axis(""), call("");
            layout: values::LayoutValue,
                "Row padding and offsets of the two regions, in elements.",
                default("{}", |_| values::LayoutValue::default()),
                axis("layout"), call("");
            guard_bytes: u64,
                "Bytes of poison in front of, between and behind regions.",
                default("4096", |_| 4096), axis("guard");
            calls: CallsValue,
                "The sequence of calls on the same heaps: how many, or what differs in each.",
                default("1", |_| CallsValue::Count(1)), axis("calls");
            in_place: bool,
                "Whether the input is the rank's own part of the output, or the output its own part of \
                 the input.",
                default("false", |_| false), axis("in_place");
            data: values::DataValue,
                "What inputs hold: a fill that names its owner, special values in every other element, \
                 or random floats whose sums round (for reductions of a declared order).",
                default("keyed", |_| values::DataValue(Data::Keyed)), axis("data");
            root: u32,
                "The root, as a group rank; for rooted collectives only.",
                default("0", |_| 0), axis("root"), call("root");
            op: values::OpValue,
                "How a reduction combines elements; for reductions only.",
                default("the first that the manifest lists, else `sum`", defaults::op),
                axis("op"), call("");
            counts: values::CountsValue,
                "Rows that an all_to_all sends from each group rank to each, at most M.",
                default("even", |_| values::CountsValue::Even),
                axis("counts"), call("counts");
            scalars: values::ScalarsValue,
                "The factors of a premultiplied sum, by group rank; for `op: premul_sum` only.",
                default("[]", |_| values::ScalarsValue::default()),
                axis("scalars"), call("scalars");
            first_epoch: u32,
                "The `epoch` of the first call, for counters that must pass 2^16 or 2^31.",
                default("0", |_| 0), axis("epoch");
            seed: u64,
                "The key of the fill; `--seed` overrides it.",
                default("7", |_| 7), axis("seed");
            threads: values::OrDefault<values::Threads>,
                "Threads a block; `default` is the manifest's number.",
                default("default", |_| values::OrDefault(None));
            modes: values::ModesValue,
                "In which modes the case runs.",
                default("all of them; `[host]` for a host program", defaults::modes);
            residency: values::OrDefault<values::Residency>,
                "At most this many blocks a rank are resident at once, where ranks run at once; \
                 `--residency` overrides it.",
                default("default", |_| values::OrDefault(None));
            write_once: bool,
                "Whether no element of an output may be written twice; a case that is right runs once \
                 more to see that.",
                default("false", |_| false);
            timeout: values::OrDefault<values::Seconds>,
                "Seconds that a launch may take before its ranks are ended; `--timeout` overrides it.",
                default("default", |_| values::OrDefault(None));
            shares_gpu: bool,
                "Whether ranks that wait for each other, in processes of their own, may share a GPU: \
                 each wait costs milliseconds there, so that only a few cases should.",
                default("false", |_| false);
            bench: values::BenchValue,
                "What `rankcheck bench` compares, how often each arm runs, and in which state; `run` reads \
                 over it.",
                default("{}", |_| values::BenchValue::default());
        }
    };
}

pub(crate) use for_every_key;
