//! How a command is started on the user's machine: `mpirun -np {ranks} {env} {cmd}`.
//!
//! The template is shell text and is kept as it is; what is put into it is quoted.

use std::str::FromStr;

/// A template that has passed its checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchTemplate(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Env,
    Cmd,
    Ranks,
    Nodes,
}

/// A template that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A placeholder that does not exist.
    #[error("unknown placeholder `{{{0}}}` (accepted: {{env}}, {{cmd}}, {{ranks}}, {{nodes}})")]
    Unknown(String),
    /// `{` without `}`.
    #[error("`{{` without `}}` at column {0}")]
    Unclosed(usize),
    /// A run would not start, or not with the arm's tuner file.
    #[error("the template must contain `{0}`: without it every arm would run the same")]
    Missing(&'static str),
}

impl FromStr for LaunchTemplate {
    type Err = TemplateError;

    fn from_str(template: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            let column = template.len() - rest.len() + open + 1;
            let close = rest[open..].find('}').ok_or(TemplateError::Unclosed(column))? + open;
            parts.push(Part::Text(rest[..open].to_owned()));
            parts.push(match &rest[open + 1..close] {
                "env" => Part::Env,
                "cmd" => Part::Cmd,
                "ranks" => Part::Ranks,
                "nodes" => Part::Nodes,
                other => return Err(TemplateError::Unknown(other.to_owned())),
            });
            rest = &rest[close + 1..];
        }
        parts.push(Part::Text(rest.to_owned()));
        for (part, name) in [(Part::Env, "{env}"), (Part::Cmd, "{cmd}")] {
            if !parts.contains(&part) {
                return Err(TemplateError::Missing(name));
            }
        }
        Ok(Self(parts))
    }
}

impl LaunchTemplate {
    /// One shell command. `{env}` becomes `env NAME=value ...`, which every launcher passes on.
    pub fn expand(
        &self,
        env: &[(String, String)],
        command: &str,
        ranks: i32,
        nodes: i32,
    ) -> String {
        let assignments = env.iter().map(|(name, value)| format!(" {name}={}", quoted(value)));
        let env = format!("env{}", assignments.collect::<String>());
        self.0
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Env => env.clone(),
                Part::Cmd => command.to_owned(),
                Part::Ranks => ranks.to_string(),
                Part::Nodes => nodes.to_string(),
            })
            .collect()
    }
}

/// A word as a POSIX shell reads it back.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_and_never_expanded_again() {
        let template: LaunchTemplate = "srun -n {ranks} {env} {cmd}".parse().unwrap();
        let env = [("F".to_owned(), "a b/{cmd}'s.csv".to_owned())];
        assert_eq!(
            template.expand(&env, "all_reduce_perf -b 8", 16, 2),
            r"srun -n 16 env F='a b/{cmd}'\''s.csv' all_reduce_perf -b 8"
        );
    }

    #[test]
    fn bad_templates_say_what_is_accepted() {
        let error = |text: &str| text.parse::<LaunchTemplate>().unwrap_err();
        assert_eq!(error("{env} run"), TemplateError::Missing("{cmd}"));
        assert_eq!(error("{cmd}"), TemplateError::Missing("{env}"));
        assert_eq!(error("{env} {cmd} {np}"), TemplateError::Unknown("np".to_owned()));
        assert_eq!(error("ab{env"), TemplateError::Unclosed(3));
    }
}
