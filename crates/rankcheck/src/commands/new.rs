//! `rankcheck new`: a small kernel or scenario that passes, to start from.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};

use crate::exit::Exit;

/// Arguments of `new`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A kernel: source, manifest and a scenario for it, below kernels/ and scenarios/.
    Kernel {
        /// `folder/name`.
        name: String,
    },
    /// A scenario for an existing kernel, below scenarios/.
    Scenario {
        /// `theme/name`.
        name: String,
        /// The kernel to test.
        #[arg(long, default_value = "all_gather/push")]
        kernel: String,
    },
}

/// Writes the files; never overwrites one.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.what {
        What::Kernel { name } => {
            let (folder, file) = split(name)?;
            let entry = format!("{}_{file}", folder.replace('/', "_")).replace('-', "_");
            let fill = |text: &str| {
                text.replace("NAME", name).replace("ENTRY", &entry).replace("FILE", file)
            };
            let kernels = Path::new("kernels").join(folder);
            write(&kernels.join(format!("{file}.hip")), &fill(SOURCE))?;
            write(&kernels.join(format!("{file}.yaml")), &fill(MANIFEST))?;
            let scenario = Path::new("scenarios").join(folder).join(format!("{file}.yaml"));
            write(&scenario, &scenario_text(name, name))?;
            println!("try it: rankcheck run {}", scenario.display());
        }
        What::Scenario { name, kernel } => {
            let (folder, file) = split(name)?;
            let scenario = Path::new("scenarios").join(folder).join(format!("{file}.yaml"));
            write(&scenario, &scenario_text(name, kernel))?;
            println!("try it: rankcheck run {}", scenario.display());
        }
    }
    Ok(Exit::Passed)
}

fn split(name: &str) -> anyhow::Result<(&str, &str)> {
    let good = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    match name.rsplit_once('/') {
        Some((folder, file)) if folder.split('/').all(good) && good(file) => Ok((folder, file)),
        _ => bail!("`{name}` is no name: write folder/name with letters, digits, _ and -"),
    }
}

fn write(path: &PathBuf, text: &str) -> anyhow::Result<()> {
    if path.exists() {
        bail!("{} exists already", path.display());
    }
    let folder = path.parent().expect("every path here has a folder");
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    std::fs::write(path, text).with_context(|| path.display().to_string())?;
    println!("wrote {}", path.display());
    Ok(())
}

fn scenario_text(name: &str, kernel: &str) -> String {
    SCENARIO.replace("NAME", name).replace("KERNEL", kernel)
}

const SOURCE: &str = "// What this kernel does, in one sentence.
#include \"rankcheck.h\"

RC_KERNEL ENTRY(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
                const rc_u64* heap_bases, const int* group_ranks, int rank, int group_rank, int group_size) {
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int column = threadIdx.x; column < n; column += blockDim.x) {
      const ELEM value = input[row * input_stride + column];
      ELEM* mine = output + ((rc_i64)group_rank * m + row) * output_stride + column;
      for (int peer = 0; peer < group_size; peer++) *rc_peer(mine, heap_bases, rank, group_ranks[peer]) = value;
    }
}
";

const MANIFEST: &str = "kernel: NAME
collective: all_gather
source: FILE.hip
launch: {grid: blocks, threads: 128}
defines: {ELEM: dtype.storage}
variants:
  base: {entry: ENTRY, tile: {m: 1, n: 128}, blocks: 4}
args:
  - {ptr: input}
  - {ptr: output}
  - {i32: m}
  - {i32: n}
  - {i64: input.row_stride}
  - {i64: output.row_stride}
  - {table: {of: heap_base, over: world, as: u64}}
  - {table: {of: rank, over: group, as: i32}}
  - {i32: rank}
  - {i32: group.rank}
  - {i32: group.size}
";

const SCENARIO: &str = "# Catches: say which bug this file would catch.
scenario: NAME
kernel: KERNEL
matrix:
  ranks: [1, 2, 4]
  dtype: [f16, f32]
  shape: [9x257, 1x1]
  group: [world, evens]
layout: {input: {pad_columns: 3}, output: {pad_columns: 5, offset_elements: 1}}
";
