//! A device whose launches are closures: for tests of what stands above devices, without a
//! compiler, a process or a GPU.

use std::collections::BTreeMap;
use std::ops::Range;

use collectives::Rank;
use ipc::HeapHandle;

use crate::{Caches, Device, DeviceError, Interleaving, Launch, Launched, Measured, WatchedByte};

/// What a launch on a [`FakeDevice`] is given.
#[derive(Debug)]
pub struct FakeLaunch<'a> {
    /// The launches, in the order in which they were given.
    pub launches: &'a [Launch],
    /// How they are to run.
    pub interleaving: Interleaving,
    /// The bytes whose writers are wanted.
    pub watched: &'a [WatchedByte],
    /// What was imported for each rank: the handle, and how many bytes are accessible.
    pub heaps: &'a BTreeMap<Rank, (HeapHandle, u64)>,
}

/// What takes the place of kernels.
pub type Script = Box<dyn FnMut(&FakeLaunch<'_>) -> Result<Launched, DeviceError>>;

/// A device that does with a launch what a test says. It keeps the contract of [`Device`]: a launch
/// of a rank without an object is refused, an object is forgotten by `unload`, and another viewer
/// has no heaps.
pub struct FakeDevice {
    viewer: Rank,
    heaps: BTreeMap<Rank, (HeapHandle, u64)>,
    objects: BTreeMap<Rank, Vec<u8>>,
    gaps: Vec<Range<u64>>,
    script: Script,
}

impl FakeDevice {
    /// A device that runs `script` in place of kernels.
    pub fn new(
        script: impl FnMut(&FakeLaunch<'_>) -> Result<Launched, DeviceError> + 'static,
    ) -> FakeDevice {
        let (heaps, objects) = (BTreeMap::new(), BTreeMap::new());
        FakeDevice { viewer: Rank(0), heaps, objects, gaps: Vec::new(), script: Box::new(script) }
    }

    /// The parts of every heap that must fault, as they were last given.
    pub fn gaps(&self) -> &[Range<u64>] {
        &self.gaps
    }
}

impl Device for FakeDevice {
    fn host(&mut self, viewer: Rank, _: bool) -> Result<(), DeviceError> {
        if self.viewer != viewer {
            self.heaps.clear();
        }
        self.viewer = viewer;
        Ok(())
    }

    fn import(&mut self, rank: Rank, handle: &HeapHandle, bytes: u64) -> Result<(), DeviceError> {
        self.heaps.insert(rank, (handle.clone(), bytes));
        Ok(())
    }

    fn unback(&mut self, gaps: &[Range<u64>]) -> Result<(), DeviceError> {
        self.gaps = gaps.to_vec();
        Ok(())
    }

    fn load(&mut self, rank: Rank, object: &[u8], _: &[String]) -> Result<(), DeviceError> {
        self.objects.insert(rank, object.to_vec());
        Ok(())
    }

    fn unload(&mut self) {
        self.objects.clear();
    }

    fn launch(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        watched: &[WatchedByte],
    ) -> Result<Launched, DeviceError> {
        for launch in launches {
            if !self.objects.contains_key(&launch.rank) {
                return Err(DeviceError::NoRank(launch.rank, "object"));
            }
        }
        let heaps = &self.heaps;
        (self.script)(&FakeLaunch { launches, interleaving, watched, heaps })
    }

    fn time(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        _: Caches,
        begin: &mut dyn FnMut(),
    ) -> Result<Launched, DeviceError> {
        begin();
        let launched = self.launch(launches, interleaving, &[])?;
        // A launch takes a nanosecond, one behind the other.
        let times = (0..launches.len() as u64).map(|at| at..at + 1).collect();
        let measured = Some(Measured { times, registers: None, spilled_bytes: None });
        Ok(Launched { measured, ..launched })
    }

    fn copy_speed(&mut self, _: u64) -> Result<Option<f64>, DeviceError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::RankOutcome;

    fn launch(rank: u32) -> Launch {
        let arguments = Vec::new();
        Launch {
            rank: Rank(rank),
            call: 0,
            entry: 0,
            grid: 2,
            threads: 3,
            shared_bytes: 0,
            arguments,
        }
    }

    #[test]
    fn a_script_answers_for_kernels_and_the_contract_is_kept() {
        let mut device: Box<dyn Device> = Box::new(FakeDevice::new(|asked| {
            assert_eq!(asked.heaps[&Rank(1)], (HeapHandle::Memfd(7), 4096));
            let ranks = asked.launches.iter().map(|launch| RankOutcome {
                call: launch.call,
                rank: launch.rank,
                threads_finished: u64::from(launch.grid * launch.threads),
                record: None,
            });
            Ok(Launched::unobserved(ranks.collect()))
        }));
        device.import(Rank(1), &HeapHandle::Memfd(7), 4096).unwrap();
        let refused = device.launch(&[launch(1)], Interleaving::Sequential, &[]).unwrap_err();
        assert_eq!(refused.to_string(), "rank 1 has no object here");
        device.load(Rank(1), b"object", &[]).unwrap();
        let launched = device.launch(&[launch(1)], Interleaving::Sequential, &[]).unwrap();
        assert_eq!(launched.outcome.ranks[0].threads_finished, 6);
        device.unload();
        assert!(device.launch(&[launch(1)], Interleaving::Sequential, &[]).is_err());
    }
}
