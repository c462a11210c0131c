//! `--report KIND[=PATH]`: where a run's events go.

use std::path::{Path, PathBuf};

use report::{Html, Human, Json, Junit, Kind, Markdown, ReportError, ReportFile, Reporter};
use verdict::Event;

/// Parses `KIND[=PATH]`.
pub(crate) fn report_argument(text: &str) -> Result<(Kind, Option<PathBuf>), String> {
    let (name, path) = match text.split_once('=') {
        Some((name, path)) => (name, Some(PathBuf::from(path))),
        None => (text, None),
    };
    let kind = Kind::NAMES.iter().find(|(known, _)| *known == name);
    let kind = kind.ok_or_else(|| {
        let known: Vec<&str> = Kind::NAMES.iter().map(|(known, _)| *known).collect();
        format!("unknown kind `{name}`, expected one of {}", known.join(", "))
    })?;
    if path.as_ref().is_some_and(|path| path.as_os_str().is_empty()) {
        return Err(format!("{name}= needs a path"));
    }
    Ok((kind.1, path))
}

/// Every report of a run. One that cannot be written does not stop the others.
pub(crate) struct Destinations {
    reporters: Vec<Box<dyn Reporter>>,
    broken: Option<ReportError>,
}

impl Destinations {
    /// Opens every report before anything runs.
    pub(crate) fn open(
        reports: &[(Kind, Option<PathBuf>)],
        verbose: bool,
    ) -> anyhow::Result<Destinations> {
        Ok(Destinations { reporters: reporters(reports, verbose)?, broken: None })
    }

    /// No report at all.
    pub(crate) fn none() -> Destinations {
        Destinations { reporters: Vec::new(), broken: None }
    }

    /// Takes an event of the run.
    pub(crate) fn event(&mut self, event: &Event) {
        for reporter in &mut self.reporters {
            if let Err(error) = reporter.event(event) {
                self.broken.get_or_insert(error);
            }
        }
    }

    /// Says whether all reports could be written.
    ///
    /// # Errors
    /// The first report that could not.
    pub(crate) fn finish(self) -> Result<(), ReportError> {
        self.broken.map_or(Ok(()), Err)
    }
}

fn reporters(
    reports: &[(Kind, Option<PathBuf>)],
    verbose: bool,
) -> anyhow::Result<Vec<Box<dyn Reporter>>> {
    let mut reporters: Vec<Box<dyn Reporter>> = Vec::new();
    for (index, (_, path)) in reports.iter().enumerate() {
        if path.is_some() && reports[..index].iter().any(|(_, other)| other == path) {
            anyhow::bail!("two reports go to {}", path.as_deref().unwrap_or("".as_ref()).display());
        }
    }
    for (kind, path) in reports {
        let open = || ReportFile::open(path.as_deref());
        reporters.push(match kind {
            Kind::Human => Box::new(Human::new(verbose)),
            Kind::Json => Box::new(Json::new(open()?)),
            Kind::Junit => Box::new(Junit::new(open()?)),
            Kind::Markdown => Box::new(Markdown::new(open()?)),
            Kind::Html => Box::new(Html::new(open()?)),
            Kind::Csv => anyhow::bail!("csv is for measurements, not for runs"),
        });
    }
    // People want to see something, unless standard output belongs to a machine.
    let taken = reports.iter().any(|(kind, path)| {
        *kind == Kind::Human || path.as_deref().is_none_or(|path| path == Path::new("-"))
    });
    if !taken {
        reporters.push(Box::new(Human::new(verbose)));
    }
    if let Some(summary) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) {
        reporters.push(Box::new(Markdown::appended(Path::new(&summary))));
    }
    Ok(reporters)
}

/// Appends Markdown to the summary of a CI run, where there is one.
///
/// # Errors
/// It cannot be written.
pub(crate) fn appended_summary(text: impl FnOnce() -> String) -> anyhow::Result<()> {
    let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
    let Some(path) = summary else { return Ok(()) };
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
    Ok(std::io::Write::write_all(&mut file, text().as_bytes())?)
}

/// Where a journal lies that nobody named: beside the first report that goes to a regular file.
pub(crate) fn journal_beside(reports: &[(Kind, Option<PathBuf>)]) -> Option<PathBuf> {
    let files = reports.iter().filter_map(|(_, path)| path.as_deref());
    let mut files = files.filter(|path| *path != Path::new("-"));
    let first = files.find(|path| !path.exists() || path.is_file())?;
    let mut name = first.as_os_str().to_owned();
    name.push(".journal");
    Some(name.into())
}
