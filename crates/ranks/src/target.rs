//! What a run runs on: which device, and which of its GPUs.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use device::vendors::VENDORS;
use kernels::DeviceName;

/// A device and its GPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The host's processor.
    Cpu,
    /// GPUs of one vendor.
    Gpus {
        /// The device whose driver opens them.
        device: DeviceName,
        /// Their numbers: rank r of a process case runs on the r-th of them, and round again;
        /// logical ranks all run on the first. Never empty.
        gpus: Vec<u32>,
        /// The compiled verifier; without one, heaps are compared on the host, from copies.
        verifier: Option<PathBuf>,
        /// A program that rank processes run under: compute-sanitizer.
        sanitizer: Option<PathBuf>,
    },
}

impl Target {
    /// The kind of device.
    pub fn device(&self) -> DeviceName {
        match self {
            Target::Cpu => DeviceName::Cpu,
            Target::Gpus { device, .. } => *device,
        }
    }

    /// The program that rank processes run under.
    pub fn sanitizer(&self) -> Option<&PathBuf> {
        match self {
            Target::Cpu => None,
            Target::Gpus { sanitizer, .. } => sanitizer.as_ref(),
        }
    }

    /// By rank, the GPU on which it runs, in `processes` processes; empty on a CPU.
    pub fn gpus_of(&self, ranks: u32, processes: usize) -> Vec<u32> {
        match self {
            Target::Cpu => Vec::new(),
            Target::Gpus { gpus, .. } if processes <= 1 => vec![gpus[0]; ranks as usize],
            Target::Gpus { gpus, .. } => {
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
            Target::Gpus { device, gpus, verifier, sanitizer: _ } => {
                let gpus: Vec<String> = gpus.iter().map(u32::to_string).collect();
                write!(f, "{device}:{}", gpus.join(","))?;
                verifier.as_ref().map_or(Ok(()), |path| write!(f, ":{}", path.display()))
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
        let (device, gpus) = text.split_once(':').ok_or_else(wrong)?;
        let vendor = VENDORS.iter().find(|vendor| vendor.device.name() == device);
        let device = vendor.ok_or_else(wrong)?.device;
        let (gpus, verifier) = match gpus.split_once(':') {
            Some((gpus, verifier)) => (gpus, Some(verifier.into())),
            None => (gpus, None),
        };
        let gpus = gpus.split(',').map(|gpu| gpu.parse().map_err(|_| wrong()));
        let gpus = gpus.collect::<Result<_, _>>()?;
        Ok(Target::Gpus { device, gpus, verifier, sanitizer: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn cuda(gpus: Vec<u32>, verifier: Option<PathBuf>) -> Target {
        Target::Gpus { device: DeviceName::Cuda, gpus, verifier, sanitizer: None }
    }

    #[rstest]
    #[case("0")]
    #[case("gpu:0")]
    #[case("cpu:0")]
    #[case("cuda:a")]
    fn other_texts_are_no_targets(#[case] text: &str) {
        assert_eq!(text.parse::<Target>(), Err(format!("`{text}` is no target")));
    }

    #[rstest]
    #[case(Target::Cpu, "cpu")]
    #[case(cuda(vec![0], None), "cuda:0")]
    #[case(cuda(vec![3, 1], Some("/a/b".into())), "cuda:3,1:/a/b")]
    fn targets_are_read_as_they_are_written(#[case] target: Target, #[case] text: &str) {
        assert_eq!(target.to_string(), text);
        assert_eq!(text.parse(), Ok(target));
    }

    #[rstest]
    #[case(1, vec![4, 4, 4])]
    #[case(3, vec![4, 2, 4])]
    fn ranks_go_round_the_gpus(#[case] processes: usize, #[case] expected: Vec<u32>) {
        let target = cuda(vec![4, 2], None);
        assert_eq!(target.gpus_of(3, processes), expected);
    }
}
