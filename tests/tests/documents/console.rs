//! What is not run: commands that need a GPU, a network or minutes, and commands between words. They
//! are held against what there is: verbs, options, scripts.

use rankcheck_tests::{Project, programs};
use serde_json::Value;

/// The help of every verb.
pub(crate) struct Help {
    verbs: Vec<(String, String)>,
}

impl Help {
    /// Asks the binary.
    pub(crate) fn new(project: &Project) -> Help {
        let mut verbs = Vec::new();
        for verb in verbs_of(&project.run(&["--help"]).stdout) {
            let mut help = project.run(&[&verb, "--help"]).stdout;
            for below in verbs_of(&help) {
                help += &project.run(&[&verb, &below, "--help"]).stdout;
            }
            verbs.push((verb, help));
        }
        assert!(verbs.len() > 10, "{verbs:?}");
        Help { verbs }
    }

    /// A command line that begins with `rankcheck`: the verb exists and has the options.
    pub(crate) fn rankcheck(&self, line: &str, place: &str) {
        let ours = line.split(" -- ").next().unwrap().split(" #").next().unwrap();
        let mut words = ours.split_whitespace().skip(1);
        let Some(verb) = words.next() else { return };
        if ["--help", "--version", "-V"].contains(&verb) || verb.starts_with("..") {
            return;
        }
        let help = self.verbs.iter().find(|(name, _)| name == verb);
        let (_, help) = help.unwrap_or_else(|| panic!("{place}: no verb `{verb}`: {line}"));
        for option in words.filter(|word| word.starts_with('-')) {
            let option = option.split('=').next().unwrap();
            let short = option.len() == 2 && help.contains(&format!("{option},"));
            assert!(
                short || help.split([' ', ',', '\n', '[', '=']).any(|word| word == option),
                "{place}: `rankcheck {verb}` has no `{option}`: {line}"
            );
        }
    }

    /// The lines behind `$` in a console.
    pub(crate) fn console(&self, text: &str, place: &str) {
        let text = text.replace("\\\n", " ");
        let mut commands = text.lines().filter_map(|line| line.strip_prefix("$ ")).peekable();
        assert!(
            commands.peek().is_some(),
            "{place}: a console without a line that begins with `$ `"
        );
        for line in commands {
            self.command(line, place);
        }
    }

    fn command(&self, line: &str, place: &str) {
        // `VARIABLE=value command` and `sudo command`.
        let start = line.split_whitespace().find(|word| !word.contains('=') && *word != "sudo");
        let start = start.unwrap_or_default();
        // What an environment of Python brings.
        match start.strip_prefix("venv/bin/").unwrap_or(start) {
            "rankcheck" => self.rankcheck(&line[line.find("rankcheck").unwrap()..], place),
            "cargo" => {
                if let Some((_, arguments)) = line.split_once("-p rankcheck -- ") {
                    self.rankcheck(&format!("rankcheck {arguments}"), place);
                }
            }
            "git" | "python3" | "python" | "pip" | "torchrun" | "mpirun" | "srun" | "export"
            | "cd" | "tar" | "cc" | "apt-get" | "mdbook" => {}
            script if script.starts_with("ci/") || script.starts_with("./") => {
                let file = programs::root().join(script);
                assert!(file.is_file(), "{place}: there is no {script}");
            }
            other => panic!("{place}: nothing is known about the command `{other}`"),
        }
    }

    /// Every step of a workflow runs a script of this repository or a command of ours.
    pub(crate) fn workflow(parsed: &Value, place: &str) {
        let mut runs = Vec::new();
        texts(parsed, "run", &mut runs);
        for line in runs.iter().flat_map(|text| text.lines()) {
            let word = line.split_whitespace().next().unwrap_or_default();
            let known = word.starts_with("rankcheck") || word.starts_with("./rankcheck");
            assert!(
                known || programs::root().join(word).is_file(),
                "{place}: `{line}` is neither a script here nor rankcheck"
            );
        }
    }
}

/// All texts under a key, anywhere below.
pub(crate) fn texts(value: &Value, key: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                match value.as_str() {
                    Some(text) if name == key => found.push(text.to_owned()),
                    _ => texts(value, key, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| texts(value, key, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn verbs_of(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("Commands:\n") else { return Vec::new() };
    list.lines()
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .map(str::to_owned)
        .collect()
}
