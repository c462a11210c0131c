//! Whole-binary tests: a folder of a user's own, and what rankcheck says there.

pub mod litmus;
pub mod modules;
pub mod programs;
pub mod tee;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A user's folder with kernels and scenarios, and a cache of its own.
pub struct Project {
    folder: tempfile::TempDir,
    binary: PathBuf,
}

/// What a run said.
pub struct Said {
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// The manifest of a plain all-gather whose entry has the parameters of [`SIGNATURE`].
pub const MANIFEST: &str = "kernel: t/k
collective: all_gather
source: k.hip
launch: {grid: blocks, threads: 64}
defines: {ELEM: dtype.storage}
variants:
  base: {entry: k, tile: {m: 1, n: 64}, blocks: 2}
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
  - {u32: call}
";

/// The parameters of [`MANIFEST`]'s entry.
pub const SIGNATURE: &str = "RC_KERNEL k(const ELEM* input, ELEM* output, int m, int n, rc_i64 is, rc_i64 os, \
    const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, rc_u32 call)";

/// A scenario of two ranks for that manifest.
pub const SCENARIO: &str = "scenario: t/s
kernel: t/k
ranks: 2
dtype: f16
shape: 9x33
layout: {output: {pad_columns: 3}}
";

/// The body of a correct kernel.
pub const CORRECT: &str = "
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int column = threadIdx.x; column < n; column += blockDim.x)
      for (int peer = 0; peer < group_size; peer++)
        rc_peer(output, bases, rank, ranks[peer])[((rc_i64)group_rank * m + row) * os + column] = input[row * is + column];
";

impl Project {
    /// An empty folder for a binary.
    pub fn new(binary: impl AsRef<Path>) -> Project {
        let folder = tempfile::tempdir().expect("a folder for the test");
        Project { folder, binary: binary.as_ref().to_owned() }
    }

    /// With one kernel whose body is `body`, and [`SCENARIO`].
    pub fn with_kernel(binary: impl AsRef<Path>, body: &str) -> Project {
        let project = Project::new(binary);
        project.kernel(body);
        project.write("scenarios/s.yaml", SCENARIO);
        project
    }

    /// Replaces the kernel's body.
    pub fn kernel(&self, body: &str) {
        self.write("kernels/k.yaml", MANIFEST);
        self.write(
            "kernels/k.hip",
            &format!("#include \"rankcheck.h\"\n{SIGNATURE} {{\n{body}\n}}\n"),
        );
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file.
    pub fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        std::fs::write(path, text).expect("the test's own file");
    }

    /// The command, not started yet.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(self.path())
            .env("RANKCHECK_CACHE", self.cache())
            .env_remove("GITHUB_STEP_SUMMARY")
            .env_remove("CXX");
        command
    }

    /// The cache folder. One for all tests of a target folder, so that kernels compile once.
    pub fn cache(&self) -> PathBuf {
        let target = self.binary.parent().expect("a binary has a folder");
        target.join("test-cache")
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments).output().expect("the binary under test starts"))
    }

    /// Runs cases and reads the JSON report.
    pub fn json(&self, arguments: &[&str]) -> (Said, Value) {
        let report = self.path().join("report.json");
        let to = format!("json={}", report.display());
        let mut all = vec!["run"];
        all.extend(arguments);
        all.extend(["--report", &to]);
        let said = self.run(&all);
        let text = std::fs::read_to_string(&report).unwrap_or_else(|error| {
            panic!("no report ({error}): {}{}", said.stdout, said.stderr);
        });
        (said, serde_json::from_str(&text).expect("the report is JSON"))
    }

    /// The findings of all cases, as (kind, rank, region).
    pub fn findings(&self, arguments: &[&str]) -> Vec<(String, Option<u64>, String)> {
        let (_, report) = self.json(arguments);
        let cases = report["cases"].as_array().expect("cases");
        let findings = cases.iter().flat_map(|case| case["findings"].as_array().expect("findings"));
        findings
            .map(|finding| {
                let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
                (text("kind"), finding["rank"].as_u64(), text("region"))
            })
            .collect()
    }
}

/// What an ended process said.
pub fn said(output: Output) -> Said {
    Said {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
