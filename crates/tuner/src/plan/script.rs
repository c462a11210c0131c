//! A plan as a POSIX shell script.

use super::{Phase, Plan};
use crate::launch_template::quoted;
use crate::names::Dialect;

impl Plan {
    /// The list as a POSIX shell script. `dialect` says which log lines a proof looks for.
    pub fn script(&self, dialect: Dialect) -> String {
        let applied = match dialect {
            Dialect::NcclExample => "TUNER/ExamplePlugin: Applied config",
            Dialect::RcclBuiltin => "TUNER/CsvTuner: Applied config",
        };
        let mut script = format!(
            r#"#!/bin/sh
# {} runs, one process each. Logs go to ${{OUT:-tuner-plan}}/, exit statuses to its status.tsv.
set -u
out=${{OUT:-tuner-plan}}
mkdir -p "$out"
: >"$out/status.tsv"
failed=0

run() {{ # name command...: one process, its log, its exit status
    name=$1
    shift
    "$@" >"$out/$name.log" 2>&1
    status=$?
    printf '%s\t%s\n' "$status" "$name" >>"$out/status.tsv"
    [ "$status" -eq 0 ] || {{ echo "exit $status: $out/$name.log" >&2; failed=1; }}
}}

prove() {{ # name choice file: the library says that it read the file and applied the row, or none
    if ! grep -F 'onfigurations' "$out/$1.log" | grep -qF "$3"; then
        echo "the library did not read $3: $out/$1.log" >&2
        failed=1
    fi
    line=$(grep -F '{applied}' "$out/$1.log" | head -n 1)
    case $line in
    '') [ "$2" = none ] && return ;;
    *"$2"*) return ;;
    esac
    echo "not as expected ($2): $out/$1.log: ${{line:-no row applied}}" >&2
    failed=1
}}

"#,
            self.runs.len(),
        );
        for run in &self.runs {
            let id = quoted(&run.id);
            // The command may hold shell syntax of the user's template, so a shell reads it.
            script += &format!("run {id} sh -c {}\n", quoted(&run.command));
            if run.phase == Phase::Proof {
                let choice = match run.expected.pick {
                    Some((algorithm, protocol)) => format!("algo={algorithm}, proto={protocol}"),
                    None => "none".to_owned(),
                };
                let (choice, file) = (quoted(&choice), quoted(&run.file));
                script += &format!("prove {id} {choice} {file}\n");
            }
        }
        script + "\nrankcheck perflog \"$out\"/*.log || failed=1\nexit $failed\n"
    }
}
