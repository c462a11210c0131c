//! A plan as a POSIX shell script.

use super::{Phase, Plan, Run};
use crate::launch_template::quoted;

const PROLOGUE: &str = r#"set -u
rankcheck=${RANKCHECK:-rankcheck}
out=${OUT:-tuner-plan}
mkdir -p "$out"
: >"$out/status.tsv"
failed=0

run() { # name command...: one process, its log, its exit status
    name=$1
    shift
    "$@" >"$out/$name.log" 2>&1
    status=$?
    printf '%s\t%s\n' "$status" "$name" >>"$out/status.tsv"
    [ "$status" -eq 0 ] || { echo "exit $status: $out/$name.log" >&2; failed=1; }
}

prove() { # name options...: every rank says that it has read the file and applied the row, or none
    name=$1
    shift
    "$rankcheck" tuner prove "$out/$name.log" "$@" || failed=1
}

"#;

impl Plan {
    /// The list as a POSIX shell script, which ends with status 0 only where every run ended well,
    /// every proof holds and every log is right.
    pub fn script(&self) -> String {
        let count = self.runs.len();
        let mut script = format!(
            "#!/bin/sh\n# {count} runs, one process each. Logs go to ${{OUT:-tuner-plan}}/, exit \
             statuses to its status.tsv.\n"
        );
        if self.runs.is_empty() {
            return script
                + "echo 'nothing to measure: no size that a single call can have is handled differently'\n";
        }
        script += PROLOGUE;
        for run in &self.runs {
            let id = quoted(&run.id);
            // The command may hold shell syntax of the user's template, so a shell reads it.
            script += &format!("run {id} sh -c {}\n", quoted(&run.command));
            if run.phase == Phase::Proof {
                script += &format!("prove {id}{}\n", self.proof_options(run));
            }
        }
        script + "\n\"$rankcheck\" perflog \"$out\"/*.log || failed=1\nexit $failed\n"
    }

    /// What `rankcheck tuner prove` must be told about a run.
    fn proof_options(&self, run: &Run) -> String {
        let at = run.situation;
        let expected = run.expected.to_string();
        let mut options: Vec<(&str, String)> = vec![
            ("--file", run.file.clone()),
            ("--dialect", self.dialect.to_string()),
            ("--collective", at.collective.to_string()),
            ("--bytes", run.bytes.to_string()),
            ("--nodes", at.nodes.to_string()),
            ("--ranks", at.ranks.to_string()),
        ];
        if at.reg_buff != 0 {
            options.push(("--reg-buff", at.reg_buff.to_string()));
        }
        options.push(("--expect", expected));
        let mut text: String =
            options.iter().map(|(name, value)| format!(" {name} {}", quoted(value))).collect();
        if self.own_columns {
            text += " --own-columns";
        }
        text
    }
}
