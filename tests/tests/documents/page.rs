//! A page as its reader would work through it: files are written, commands run, in order.

use std::fs;
use std::path::Path;
use std::process::Command;

use rankcheck_tests::{MANIFEST, Project, programs, said};
use regex_lite::Regex;

use crate::BINARY;
use crate::blocks::Block;
use crate::console::Help;
use crate::yaml::{self, Kind};

/// The line of a kernel's source that a block without a file name takes the place of.
const BODY: &str = "// the body";

/// A reader's folder, and what was done in it so far.
pub(crate) struct Page {
    name: String,
    project: Project,
    help: Help,
    /// What the commands of the last `sh` block printed.
    printed: String,
    /// The last file that holds [`BODY`], and its text.
    template: Option<(String, String)>,
    /// The last scenario, its file and text.
    scenario: Option<(String, String)>,
    /// Keys of a scenario in this section, and the section.
    part: (usize, String),
}

impl Page {
    /// An empty folder for a page.
    pub(crate) fn new(name: &str) -> Page {
        let project = Project::new(BINARY);
        let programs = project.path().join(".programs");
        fs::create_dir(&programs).unwrap();
        std::os::unix::fs::symlink(BINARY, programs.join("rankcheck")).unwrap();
        let (help, part) = (Help::new(&project), (0, String::new()));
        let (template, scenario) = (None, None);
        Page { name: name.into(), project, help, printed: String::new(), template, scenario, part }
    }

    /// Does what a block says.
    ///
    /// # Panics
    /// It does not work, or its tag has no meaning here.
    pub(crate) fn work_through(&mut self, block: &Block) {
        let place = format!("{}:{}", self.name, block.line);
        match block.tag.as_str() {
            "yaml" => self.yaml(block, &place),
            "cpp" => self.kernel(block, &place),
            "python" => self.python(block, &place),
            "c" => self.c(block, &place),
            "sh" => self.commands(block, &place),
            "console" => self.help.console(&block.text, &place),
            "json" => {
                let json: Result<serde_json::Value, _> = serde_json::from_str(&block.text);
                assert!(json.is_ok(), "{place}: {json:?}");
            }
            "rust" => documented(&block.text, &place),
            // Words, a picture, or what the commands in front of it print.
            "text" if block.follows && !self.printed.is_empty() => self.compare(block, &place),
            "text" => {}
            other => panic!("{place}: nothing is known about blocks with the tag `{other}`"),
        }
        if block.tag != "sh" {
            self.printed.clear();
        }
    }

    fn yaml(&mut self, block: &Block, place: &str) {
        match yaml::kind(&block.text) {
            Kind::Scenario => {
                let name = yaml::value(&block.text, "scenario").unwrap();
                let file = named(&block.text).unwrap_or(format!("scenarios/{name}.yaml"));
                self.project.write(&file, &block.text);
                self.must(&["list", &file, "--mode", "logical,process,host"], place);
                self.scenario = Some((file, block.text.clone()));
            }
            Kind::Manifest => {
                let file = named(&block.text)
                    .unwrap_or_else(|| panic!("{place}: its first line names its file"));
                self.project.write(&file, &block.text);
                // The page shows them later; until then a manifest without its files is refused.
                for key in ["source", "object"] {
                    let value = yaml::value(&block.text, key).unwrap_or_default();
                    for name in value.split([' ', ',', '{', '}']).filter(|name| name.contains('.'))
                    {
                        let path = self.project.path().join(&file).with_file_name(name);
                        if !path.exists() {
                            fs::write(path, "{}").unwrap();
                        }
                    }
                }
                self.loads(&block.text, place);
            }
            Kind::PartOfScenario => {
                self.part = (block.section, block.text.clone());
                let text = yaml::merged(
                    "scenario: part/of\nkernel: all_gather/push\nranks: 4\nshape: 9x257\n",
                    &block.text,
                );
                self.project.write(".part/scenario.yaml", &text);
                self.must(&["list", ".part/scenario.yaml"], place);
            }
            Kind::PartOfManifest => {
                let text = yaml::merged(MANIFEST, &block.text).replace("t/k", "part/of");
                self.project.write(".part/k.hip", "");
                self.project.write(".part/k.yaml", &text);
                self.loads(&text, place);
            }
            Kind::Workflow => {
                let parsed: Result<serde_json::Value, _> = serde_yaml::from_str(&block.text);
                let parsed = parsed.unwrap_or_else(|error| panic!("{place}: {error}"));
                Help::workflow(&parsed, place);
            }
        }
    }

    /// A manifest is read where a scenario asks for its kernel.
    fn loads(&self, manifest: &str, place: &str) {
        let kernel = yaml::value(manifest, "kernel").unwrap();
        let op = if manifest.contains("\nreduction:") { "op: sum\n" } else { "" };
        let scenario = format!("scenario: part/of\nkernel: {kernel}\nranks: 4\nshape: 8x64\n{op}");
        self.project.write(".part/scenario.yaml", &scenario);
        self.must(
            &["list", ".part/scenario.yaml", "--kernels", ".part", "--mode", "logical,host"],
            place,
        );
    }

    /// A source with a name, or a body for the last such source: then what comes of it is what the
    /// heading or the first line says.
    fn kernel(&mut self, block: &Block, place: &str) {
        if let Some(file) = named(&block.text) {
            self.project.write(&file, &block.text);
            if block.text.contains(BODY) {
                self.template = Some((file, block.text.clone()));
            }
            return;
        }
        let (file, template) = self.template.as_ref().unwrap_or_else(|| {
            panic!("{place}: a body, but no source above it has a line `{BODY}`")
        });
        self.project.write(file, &template.replace(BODY, block.text.trim_end()));
        let (file, scenario) = self.scenario.as_ref().expect("a scenario stands above the bodies");
        let part = if self.part.0 == block.section { self.part.1.as_str() } else { "" };
        self.project.write(file, &yaml::merged(scenario, part));
        let (said, report) = self.project.json(&[file, "--report", "human"]);
        let findings = report["cases"].as_array().unwrap().iter();
        let findings: Vec<_> =
            findings.flat_map(|case| case["findings"].as_array().unwrap()).collect();
        let kind = block.heading.trim_matches('`');
        let looks_like = block.text.lines().next().and_then(|l| l.strip_prefix("// looks like: "));
        match looks_like {
            Some(cause) => assert!(
                findings.iter().any(|f| f["looks_like"].as_str().unwrap_or("").contains(cause)),
                "{place}: nothing looks like {cause}:\n{}",
                said.stdout
            ),
            None => assert!(
                findings.iter().any(|f| f["kind"] == kind),
                "{place}: no finding is {kind}:\n{}{}",
                said.stdout,
                said.stderr
            ),
        }
    }

    fn python(&self, block: &Block, place: &str) {
        if let Some(file) = named(&block.text) {
            self.project.write(&file, &block.text);
        }
        let mut python = Command::new(programs::python());
        let parsed = python.args(["-c", "import ast, sys; ast.parse(sys.argv[1])", &block.text]);
        let said = said(parsed.output().unwrap());
        assert_eq!(said.code, Some(0), "{place}: {}", said.stderr);
    }

    fn c(&self, block: &Block, place: &str) {
        let file = named(&block.text).unwrap_or_else(|| panic!("{place}: no file name"));
        self.project.write(&file, &block.text);
        let mut compiler = Command::new("cc");
        compiler.current_dir(self.project.path()).args(["-Wall", "-Werror", "-fsyntax-only"]);
        compiler.arg("-I").arg(crate::c_header_folder()).arg(&file);
        let said = said(compiler.output().unwrap());
        assert_eq!(said.code, Some(0), "{place}: {}", said.stderr);
    }

    fn commands(&mut self, block: &Block, place: &str) {
        self.printed.clear();
        let mut folders = vec![self.project.path().join(".programs")];
        if block.text.contains("python") {
            folders.push(programs::python().parent().unwrap().to_owned());
        }
        let folders: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
        let path = format!("{}:{}", folders.join(":"), std::env::var("PATH").unwrap());
        for line in block.text.replace("\\\n", " ").lines().filter(|line| !line.trim().is_empty()) {
            let first = line.split_whitespace().next().unwrap();
            assert!(
                ["rankcheck", "python", "sed", "cat", "grep", "cc"].contains(&first),
                "{place}: `{first}` is not run in tests: use the tag `console`"
            );
            let code = line.split_once("# exit code ").map_or(0, |(_, code)| {
                code.split_whitespace().next().unwrap().trim_matches(',').parse().unwrap()
            });
            let mut shell = programs::program(BINARY, "sh", self.project.path());
            shell.env("PATH", &path).env("COLUMNS", "100").args(["-c", line]);
            let said = said(shell.output().unwrap());
            let (out, error) = (&said.stdout, &said.stderr);
            assert_eq!(said.code, Some(code), "{place}: `{line}` said:\n{out}{error}");
            self.printed += out;
            self.printed += error;
        }
    }

    /// What stands there is what was printed: line by line, in order, times aside.
    fn compare(&self, block: &Block, place: &str) {
        let times = Regex::new(r"\d+(\.\d+)? ?m?s\b|\d+ objects compiled").unwrap();
        let plain = |line: &str| times.replace_all(line.trim(), "TIME").replace(' ', "");
        let mut printed = self.printed.lines();
        for line in block.text.lines().filter(|line| !["", "..."].contains(&line.trim())) {
            assert!(
                printed.any(|printed| plain(printed) == plain(line)),
                "{place}: not printed (any more, or in this order): {line}\nbut:\n{}",
                self.printed
            );
        }
    }

    fn must(&self, arguments: &[&str], place: &str) {
        let said = self.project.run(arguments);
        assert_eq!(said.code, Some(0), "{place}: {arguments:?}: {}", said.stderr);
    }

    /// At the end of a page every kernel on it compiles, and nothing on it was left unused.
    pub(crate) fn finish(&self) {
        if self.project.path().join("scenarios").is_dir() && self.template.is_none() {
            self.must(&["build", "scenarios"], &self.name);
        }
    }
}

/// The file that the first line names: `// kernels/mine/copy.hip` or `# test_mine.py: words`.
fn named(text: &str) -> Option<String> {
    let first = text.lines().next()?;
    let rest = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "))?;
    let word = rest.split_whitespace().next()?.trim_end_matches(':');
    let is_file = Path::new(word).extension().is_some() && !word.ends_with('.');
    is_file.then(|| word.to_owned())
}

/// Rust blocks repeat the examples of the crates' documentation, which `cargo test --doc` compiles.
fn documented(text: &str, place: &str) {
    let mut sources = Vec::new();
    crate::files(&programs::root().join("crates"), "rs", &mut sources);
    let text: Vec<&str> = text.lines().collect();
    let found = sources.iter().any(|source| {
        let source = fs::read_to_string(source).unwrap();
        let docs: Vec<&str> = source
            .lines()
            .map(|line| line.trim_start().trim_start_matches("//!").trim_start_matches("///"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        docs.windows(text.len()).any(|lines| lines == text)
    });
    assert!(found, "{place}: no crate's documentation has this example");
}
