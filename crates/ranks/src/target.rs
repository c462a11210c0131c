//! What a run runs on: which device, and which of its GPUs.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use kernels::DeviceName;

/// A device and its GPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The host's processor.
    Cpu,
    /// NVIDIA GPUs.
    Cuda {
        /// Their numbers: rank r of a process case runs on the r-th of them, and round again;
        /// logical ranks all run on the first. Never empty.
        gpus: Vec<u32>,
        /// The compiled judge; without one, heaps are judged on the host, from copies.
        judge: Option<PathBuf>,
        /// A program that rank processes run under: compute-sanitizer.
        sanitizer: Option<PathBuf>,
    },
}

impl Target {
    /// Which device.
    pub fn device(&self) -> DeviceName {
        match self {
            Target::Cpu => DeviceName::Cpu,
            Target::Cuda { .. } => DeviceName::Cuda,
        }
    }

    /// The program that rank processes run under.
    pub fn sanitizer(&self) -> Option<&PathBuf> {
        match self {
            Target::Cpu => None,
            Target::Cuda { sanitizer, .. } => sanitizer.as_ref(),
        }
    }

    /// By rank, the GPU on which it runs, in `processes` processes; empty on a CPU.
    pub fn gpus_of(&self, ranks: u32, processes: usize) -> Vec<u32> {
        match self {
            Target::Cpu => Vec::new(),
            Target::Cuda { gpus, .. } if processes <= 1 => vec![gpus[0]; ranks as usize],
            Target::Cuda { gpus, .. } => {
                gpus.iter().copied().cycle().take(ranks as usize).collect()
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Cpu => f.write_str("cpu"),
            // Whoever runs under it need not know.
            Target::Cuda { gpus, judge, sanitizer: _ } => {
                let gpus: Vec<String> = gpus.iter().map(u32::to_string).collect();
                write!(f, "cuda:{}", gpus.join(","))?;
                judge.as_ref().map_or(Ok(()), |judge| write!(f, ":{}", judge.display()))
            }
        }
    }
}

impl FromStr for Target {
    type Err = String;
    fn from_str(text: &str) -> Result<Target, String> {
        let wrong = || format!("`{text}` is no target");
        if text == "cpu" {
            return Ok(Target::Cpu);
        }
        let gpus = text.strip_prefix("cuda:").ok_or_else(wrong)?;
        let (gpus, judge) = match gpus.split_once(':') {
            Some((gpus, judge)) => (gpus, Some(judge.into())),
            None => (gpus, None),
        };
        let gpus = gpus.split(',').map(|gpu| gpu.parse().map_err(|_| wrong()));
        Ok(Target::Cuda { gpus: gpus.collect::<Result<_, _>>()?, judge, sanitizer: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Target::Cpu, "cpu")]
    #[case(Target::Cuda { gpus: vec![0], judge: None, sanitizer: None }, "cuda:0")]
    #[case(Target::Cuda { gpus: vec![3, 1], judge: Some("/a/b".into()), sanitizer: None }, "cuda:3,1:/a/b")]
    fn targets_are_read_as_they_are_written(#[case] target: Target, #[case] text: &str) {
        assert_eq!(target.to_string(), text);
        assert_eq!(text.parse(), Ok(target));
    }

    #[rstest]
    #[case(1, vec![4, 4, 4])]
    #[case(3, vec![4, 2, 4])]
    fn ranks_go_round_the_gpus(#[case] processes: usize, #[case] expected: Vec<u32>) {
        let target = Target::Cuda { gpus: vec![4, 2], judge: None, sanitizer: None };
        assert_eq!(target.gpus_of(3, processes), expected);
    }
}
