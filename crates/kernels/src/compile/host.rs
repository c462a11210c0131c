//! The host's C++ compiler as a toolchain: preprocess, replace assembly, compile, link.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::compiler::{Compiler, FLAGS, LINK};
use super::toolchain::{CompileFailure, CompileJob, Compiled, Toolchain};
use crate::manifest::DeviceName;
use crate::recipe::Build;
use crate::unit::ObjectKind;
use crate::unit::hooks::{self, Refused};

impl Toolchain for Compiler {
    fn device(&self) -> DeviceName {
        DeviceName::Cpu
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn identity(&self) -> String {
        let flags = (FLAGS, self.own_flags(), self.observing_flags(), self.checks(), LINK);
        format!("{}\0{}\0{flags:?}", self.path.display(), self.version)
    }

    fn architecture(&self) -> Option<String> {
        None
    }

    fn include_folder(&self) -> &'static str {
        "cpu"
    }

    fn prelude(&self) -> &'static str {
        "rc_cpu.h"
    }

    fn object_kind(&self) -> ObjectKind {
        ObjectKind::SharedObject
    }

    fn compile(&self, job: &CompileJob<'_>) -> Result<Compiled, CompileFailure> {
        let arguments = self.arguments(job);
        let run = |command: &mut Command, input: &str| self.run(command, input);
        let command = |language: &str| {
            let mut command = Command::new(&self.path);
            command.args(&arguments).args(["-x", language]);
            command
        };
        let depends = job.scratch.join("depends");
        let mut preprocess = command("c++");
        let unit = run(preprocess.args(["-E", "-MD", "-MF"]).arg(&depends).arg("-"), job.unit)?;
        let unit = hooks::replace(&unit, job.hooks).map_err(|refused| assembly(&refused))?;
        // Compiled and linked apart: the checks' own run time is not to be linked.
        let part = job.scratch.join("unit.o");
        let mut kernel = command("c++-cpp-output");
        kernel.arg(self.checks());
        if job.build == Build::Observed {
            kernel.args(self.observing_flags());
        }
        run(kernel.args(["-c", "-o"]).arg(&part).arg("-"), &unit)?;
        let mut parts = vec![part];
        if job.build == Build::Observed {
            // The hooks are a unit of their own, without instrumentation.
            let hooks = job.scratch.join("hooks.o");
            let text = "#include \"rc_observed.cpp\"\n";
            run(command("c++").args(["-fno-builtin", "-c", "-o"]).arg(&hooks).arg("-"), text)?;
            parts.push(hooks);
        }
        let object = job.scratch.join("linked.so");
        let mut link = Command::new(&self.path);
        run(link.args(LINK).arg("-o").arg(&object).args(&parts), "")?;
        Ok(Compiled {
            object: std::fs::read(&object)?,
            symbols: Vec::new(),
            headers: Some(headers(&std::fs::read_to_string(&depends)?)),
        })
    }
}

impl Compiler {
    fn arguments(&self, job: &CompileJob<'_>) -> Vec<String> {
        let mut arguments: Vec<String> =
            FLAGS.iter().chain(self.own_flags()).map(|flag| (*flag).to_owned()).collect();
        if job.build == Build::Observed {
            arguments.push("-DRC_OBSERVED".into());
        }
        let mut option = |name: &str, folder: &Path| {
            arguments.extend([name.into(), folder.display().to_string()]);
        };
        if let Some(folder) = job.beside {
            option("-iquote", folder);
        }
        job.folders.iter().for_each(|folder| option("-I", folder));
        arguments
    }

    /// Runs one step; what it puts out.
    fn run(&self, command: &mut Command, input: &str) -> Result<String, CompileFailure> {
        let said = run_compiler(command, input)
            .map_err(|error| CompileFailure::System(format!("{}: {error}", self.path.display())))?;
        said.map_err(CompileFailure::Refused)
    }
}

/// Assembly that nothing replaces, as a compiler would say it.
fn assembly(Refused { file, line, text }: &Refused) -> CompileFailure {
    CompileFailure::Refused(format!(
        "{file}:{line}: inline assembly cannot run on the CPU: keep it behind `#if !defined(RC_CPU)`, or say in the manifest what stands in for it:\n  hooks: {{{text:?}: ..}}"
    ))
}

/// Runs a compiler on a text; what it puts out, or says if it refuses.
fn run_compiler(command: &mut Command, input: &str) -> std::io::Result<Result<String, String>> {
    let mut child = command
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().expect("it is piped");
    // The compiler may put out before it has read everything.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A compiler that stops early closes its input; its message says why.
            let _ = stdin.write_all(input.as_bytes());
        });
        child.wait_with_output()
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    })
}

/// The files of a make rule, the standard input and the system's headers aside.
fn headers(rule: &str) -> Vec<PathBuf> {
    let (_, files) = rule.split_once(':').unwrap_or(("", rule));
    files
        .replace("\\\n", " ")
        .split_whitespace()
        .filter(|file| *file != "-" && !file.starts_with("/usr/"))
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_make_rule_names_the_headers() {
        let rule = "-.o: - /a/rc_cpu.h /usr/include/stdint.h \\\n  b/k.h \\\n c.h\n";
        assert_eq!(headers(rule), ["/a/rc_cpu.h", "b/k.h", "c.h"].map(PathBuf::from));
    }

    #[test]
    fn what_the_compiler_says_is_kept_and_told_from_a_missing_program() {
        let compiler = Compiler { path: "/no/such/compiler".into(), version: "1".into() };
        let missing = compiler.run(&mut Command::new(&compiler.path), "").unwrap_err();
        let CompileFailure::System(text) = missing else { panic!("{missing:?}") };
        assert!(text.starts_with("/no/such/compiler: "), "{text}");
        let mut shell = Command::new("sh");
        let refused = compiler.run(shell.args(["-c", "cat >&2; exit 1"]), "line 1").unwrap_err();
        assert_eq!(refused, CompileFailure::Refused("line 1".into()));
        let mut shell = Command::new("sh");
        assert_eq!(compiler.run(shell.args(["-c", "cat"]), "text").unwrap(), "text");
    }
}
