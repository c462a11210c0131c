//! Logs as the perf tools write them, one style for each version seen, with rows whose numbers
//! and footers agree.

pub(crate) mod corpus;

/// How a version writes.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Lines before the devices.
    pub(crate) preamble: &'static str,
    pub(crate) redop: Option<&'static str>,
    pub(crate) root: bool,
    /// Columns of a half behind the time.
    pub(crate) columns: &'static [&'static str],
    /// Halves that are written.
    pub(crate) halves: &'static [&'static str],
    /// The check of each half: `0`, `N/A`, `0e+00`.
    pub(crate) checks: &'static [&'static str],
    /// Algorithm bandwidth by size and time.
    pub(crate) base: f64,
    /// Bus bandwidth by algorithm bandwidth.
    pub(crate) factor: f64,
    /// What follows each row.
    pub(crate) tail: &'static str,
    /// Extra footer line.
    pub(crate) asterisks: bool,
}

/// nccl-tests 2.17 and later.
pub(crate) const MODERN: Style = Style {
    preamble: "# nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902\n\
               # Collective test starting: all_reduce_perf\n",
    redop: Some("sum"),
    root: true,
    columns: &["algbw", "busbw", "#wrong"],
    halves: &["out-of-place", "in-place"],
    checks: &["0", "0"],
    base: 1.0,
    factor: 1.75,
    tail: "",
    asterisks: false,
};

/// Before 2.12: a deviation, no root.
pub(crate) const OLD: Style = Style {
    preamble: "",
    root: false,
    columns: &["algbw", "busbw", "error"],
    checks: &["0e+00", "3e-07"],
    ..MODERN
};

/// rccl-tests with its bare version line.
pub(crate) const ROCM: Style = Style {
    preamble: "# Collective test starting: all_reduce_perf\nrccl-tests: Version develop:33cc4df\n",
    asterisks: true,
    ..MODERN
};

/// rccl-tests, in-place only, with event times.
pub(crate) const ROCM_IN_PLACE: Style = Style {
    preamble: "# rccl-tests version 2.18.3 rccl-headers=23004 rccl-library=23004\n\
               # Collective test starting: all_reduce_perf\n",
    columns: &["hipevt", "algbw", "busbw", "#wrong"],
    halves: &["in-place"],
    checks: &["0"],
    ..MODERN
};

/// alltoall: the in-place half is never checked.
pub(crate) const ALLTOALL: Style = Style {
    preamble: "# Collective test starting: alltoall_perf\n",
    redop: Some("none"),
    checks: &["0", "N/A"],
    factor: 0.875,
    ..MODERN
};

/// alltoall of old versions: no reduction, no root.
pub(crate) const OLD_ALLTOALL: Style = Style {
    redop: None,
    root: false,
    columns: &["algbw", "busbw", "error"],
    checks: &["0e+00", "N/A"],
    ..ALLTOALL
};

/// hypercube: the name of the reduction is empty.
pub(crate) const HYPERCUBE: Style = Style {
    preamble: "# Collective test starting: hypercube_perf\n",
    redop: Some(""),
    base: 0.875,
    factor: 1.0,
    ..MODERN
};

/// hypercube without a root: the empty name would be the last field before the times.
pub(crate) const HYPERCUBE_WITHOUT_ROOT: Style = Style { root: false, ..HYPERCUBE };

/// rccl-tests that shows the library's choice.
pub(crate) const ROCM_CHOICE: Style = Style {
    preamble: "# rccl-tests version 2.17.9 rccl-headers=23004 rccl-library=23004\n\
               # Collective test starting: all_reduce_perf\n",
    tail: "    Tree     LL128          64",
    ..MODERN
};

/// Per-iteration statistics and the time of day.
pub(crate) const ITERATIONS: Style = Style {
    columns: &["algbw", "busbw", "#wrong", "i_min", "i_max", "i_p99", "i_cv%"],
    tail: "  2026-05-04 03:02:01",
    ..MODERN
};

/// Data check off.
pub(crate) const NO_CHECK: Style = Style { checks: &["N/A", "N/A"], ..MODERN };

const SIZES: [u64; 6] = [0, 1024, 4096, 65_536, 1_048_576, 134_217_728];

/// Number of rows in every log.
pub(crate) const ROWS: usize = SIZES.len();

fn header(style: &Style) -> String {
    let groups: String = style.halves.iter().map(|half| format!("{half:>45}")).collect();
    let mut lead = "#       size         count      type".to_owned();
    lead += style.redop.map_or("", |_| "   redop");
    lead += if style.root { "    root" } else { "" };
    let half = format!("     time   {}", style.columns.join("   "));
    let tail = match style.tail {
        "" => "",
        tail if tail.contains("LL") => "        algo      proto      nchannels",
        _ => "           timestamp",
    };
    format!(
        "#{groups}          \n{lead}{}{tail} \n#        (B)    (elements)    (us)  (GB/s)  (GB/s)\n",
        half.repeat(style.halves.len())
    )
}

/// One row, and the bus bandwidths in it.
fn row(style: &Style, size: u64) -> (String, Vec<f64>) {
    let mut line = format!("{size:>12}  {:>12}  {:>8}", size / 4, "float");
    line += &style.redop.map_or(String::new(), |redop| format!("  {redop:>6}"));
    line += if style.root { "      -1" } else { "" };
    let mut bandwidths = Vec::new();
    for (index, check) in style.checks.iter().enumerate() {
        let time = 17.31 + index as f64 + size as f64 / 20_000.0;
        let algbw = size as f64 / time / 1e3 * style.base;
        let busbw = algbw * style.factor;
        bandwidths.push(busbw);
        line += &format!("  {time:>7.2}");
        for column in style.columns {
            line += &match *column {
                "algbw" => format!("  {algbw:>6.2}"),
                "busbw" => format!("  {busbw:>6.2}"),
                "#wrong" | "error" => format!("  {check:>6}"),
                _ => format!("  {:>6.2}", time * 0.9),
            };
        }
    }
    (line + style.tail + "\n", bandwidths)
}

/// A complete log without faults.
pub(crate) fn log(style: &Style) -> String {
    let mut text = style.preamble.to_owned();
    text += "# nThread 1 nGpus 1 minBytes 0 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n";
    for rank in 0..8 {
        text += &format!(
            "#  Rank {rank:>2} Group  0 Pid  100{rank} on      hostA device  {rank} [0000:0{rank}:00] Some GPU\n"
        );
    }
    text += "NCCL version 2.30.3+cuda13.0\n#\n";
    text += &header(style);
    let mut bandwidths = Vec::new();
    for size in SIZES {
        let (line, halves) = row(style, size);
        text += &line;
        bandwidths.extend(halves);
    }
    if style.asterisks {
        text +=
            "# Errors with asterisks indicate errors that have exceeded the maximum threshold.\n";
    }
    let mean = bandwidths.iter().sum::<f64>() / bandwidths.len() as f64;
    let mean: f64 = format!("{mean:.5e}").parse().unwrap_or(mean);
    text + &format!(
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {mean} \n#\n{}",
        style.preamble.lines().last().unwrap_or_default().replace("starting", "concluded")
    ) + "\n"
}

/// The same results as `-J` writes them.
pub(crate) fn json() -> String {
    let half = |size: u64, nwrong: &str| {
        let time = 17.31 + size as f64 / 20_000.0;
        let algbw = size as f64 / time / 1e3;
        format!(
            "{{\"time\": {time:.6}, \"alg_bw\": {algbw:.6}, \"bus_bw\": {:.6}, \"nwrong\": {nwrong}}}",
            algbw * 1.75
        )
    };
    let results: Vec<_> = SIZES
        .iter()
        .map(|&size| {
            format!(
                "{{\"size\": {size}, \"count\": {}, \"type\": \"float\", \"redop\": \"sum\", \"root\": \"    -1\", \
                 \"out_of_place\": {}, \"in_place\": {}}}",
                size / 4,
                half(size, "0.000000"),
                half(size, "0.000000")
            )
        })
        .collect();
    let mean = SIZES
        .iter()
        .map(|&size| size as f64 / (17.31 + size as f64 / 20_000.0) / 1e3 * 1.75)
        .sum::<f64>()
        / SIZES.len() as f64;
    format!(
        "{{\"version\": 3, \"start_time\": \"now\", \"args\": [\"./all_reduce_perf\", \"-J\", \"x.json\"],\n\
         \"env\": [\"TOKEN=secret \\\"results\\\": [{{\"], \"nccl_version\": 23003,\n\
         \"config\": {{\"nthreads\": 1, \"ngpus\": 8, \"devices\": [{{\"rank\": 0, \"group\": 0}}]}},\n\"results\": [\n{}\n],\n\
         \"out_of_bounds\": {{\"count\": 0, \"okay\": \"true\"}},\n\
         \"average_bus_bandwidth\": {{\"bandwidth\": {mean:.6}, \"okay\": \"unchecked\"}},\n\
         \"errors\": [\"\"], \"end_time\": \"later\"}}\n",
        results.join(",\n")
    )
}

/// The records of rccl-tests' `-Z`: (size, half, time, algbw, busbw).
fn records() -> Vec<(u64, u32, f64, f64, f64)> {
    let one = |size: u64, half: u32| {
        let time = 17.31 + f64::from(half) + size as f64 / 20_000.0;
        let algbw = size as f64 / time / 1e3;
        (size, half, time, algbw, algbw * 1.75)
    };
    SIZES.iter().flat_map(|&size| [one(size, 0), one(size, 1)]).collect()
}

/// What rccl-tests writes with `-Z json`.
pub(crate) fn report_json() -> String {
    let record = |(size, half, time, algbw, busbw): (u64, u32, f64, f64, f64)| {
        format!(
            "{{\"numCycle\":0, \"name\":\"AllReduce\", \"nodes\":1, \"ranks\":8, \"ranksPerNode\":8, \
             \"gpusPerRank\":1, \"size\":{size}, \"type\":\"float\", \"redop\":\"sum\", \"inPlace\":{half}, \
             \"time\":{time:.6}, \"algBw\":{algbw:.6}, \"busBw\":{busbw:.6}, \"wrong\":\"0\"}}"
        )
    };
    let records: Vec<_> = records().into_iter().map(record).collect();
    format!("[\n{}\n]\n", records.join(",\n"))
}

/// What rccl-tests writes with `-Z csv`; built with MPI, rows have a field that the header lacks.
pub(crate) fn report_csv(mpi: bool) -> String {
    let (names, values) = match mpi {
        true => ("ranks,rankspernode,gpusperrank", "1,8,8,1"),
        false => ("gpus", "8"),
    };
    let mut text =
        format!("numCycle,collective,{names},size,type,redop,inplace,time,algbw,busbw,#wrong\n");
    for (size, half, time, algbw, busbw) in records() {
        text += &format!(
            "0,\"AllReduce\",{values},{size},\"float\",\"sum\",{half},{time:.6},{algbw:.6},{busbw:.6},\"0\"\n"
        );
    }
    text
}
