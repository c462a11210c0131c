//! `--axis NAME=LIST`: other values for an axis of a scenario.

use std::str::FromStr;

use scenario::ScenarioFile;

/// One `--axis`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AxisArgument {
    name: String,
    list: String,
}

impl FromStr for AxisArgument {
    type Err = String;
    fn from_str(text: &str) -> Result<AxisArgument, String> {
        match text.split_once('=') {
            Some((name, list)) if !name.is_empty() && !list.trim().is_empty() => {
                Ok(AxisArgument { name: name.to_owned(), list: list.to_owned() })
            }
            _ => Err(format!("`{text}` is not NAME=LIST, such as ranks=2,4")),
        }
    }
}

/// Gives a scenario the axes of the command line. Rows and columns on their own are multiplied out into shapes.
pub(crate) fn apply(file: &mut ScenarioFile, axes: &[AxisArgument]) -> anyhow::Result<()> {
    let list = |name: &str| -> anyhow::Result<Option<Vec<u64>>> {
        let Some(axis) = axes.iter().rfind(|axis| axis.name == name) else { return Ok(None) };
        let number = |text: &str| {
            let number = text.trim().parse::<u64>();
            number.map_err(|_| anyhow::anyhow!("--axis {name}: `{text}` is no number"))
        };
        axis.list.split(',').map(number).collect::<anyhow::Result<_>>().map(Some)
    };
    for axis in axes.iter().filter(|axis| axis.name != "m" && axis.name != "n") {
        file.set_axis(&axis.name, &axis.list)
            .map_err(|why| anyhow::anyhow!("--axis {}: {why}", axis.name))?;
    }
    match (list("m")?, list("n")?) {
        (None, None) => Ok(()),
        (Some(rows), Some(columns)) => {
            let shapes = rows.iter().flat_map(|m| columns.iter().map(move |n| format!("{m}x{n}")));
            let shapes: Vec<String> = shapes.collect();
            let set = file.set_axis("shape", &shapes.join(", "));
            set.map_err(|why| anyhow::anyhow!("--axis m, --axis n: {why}"))
        }
        _ => anyhow::bail!("--axis m and --axis n are given together, or as --axis shape"),
    }
}
