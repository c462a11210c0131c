//! Time on a GPU: launches behind a gate, between moments of the GPU's own clock, and the speed of a copy.

use super::device::GpuDevice;
use super::driver::{Moment, Stream};
use crate::{Caches, DeviceError, DriverError, Interleaving, Launch, Launched, Measured};

/// Larger than the caches of any GPU so far.
const OTHER_BYTES: u64 = 512 << 20;

impl GpuDevice {
    /// As [`crate::Device::time`].
    pub(super) fn timed(
        &mut self,
        launches: &[Launch],
        interleaving: &Interleaving,
        caches: Caches,
        begin: &mut dyn FnMut(),
    ) -> Result<Launched, DeviceError> {
        self.clear(launches)?;
        let at_once = match interleaving {
            Interleaving::Sequential => false,
            Interleaving::CoResident { .. } => true,
        };
        if at_once {
            self.fits(launches)?;
        }
        // Everything that waits for the GPU comes before the gate: behind it nothing of the host may.
        let mut parameters = Vec::new();
        let mut resources = None;
        for launch in launches {
            parameters.push(self.bind(launch)?);
            let (context, function) = self.entry(launch)?;
            resources = Some(context.resources(function)?);
        }
        let context = self.context()?;
        if caches == Caches::Cold {
            let other = match self.other {
                Some(other) => other,
                None => *self.other.insert(context.allocate(OTHER_BYTES)?),
            };
            context.set(other, 0, OTHER_BYTES)?;
        }
        let moments = (0..=launches.len()).map(|_| context.moment());
        let moments: Vec<Moment> = moments.collect::<Result<_, _>>()?;
        let streams = match at_once {
            true => launches.iter().map(|_| context.stream()).collect::<Result<_, _>>()?,
            false => vec![Stream::DEFAULT; launches.len()],
        };
        context.wait_at_gate(Stream::DEFAULT)?;
        let queued = self.queue(launches, &mut parameters, &streams, &moments);
        // A queue that waits for ever would block everything that comes behind it.
        if queued.is_ok() {
            begin();
        }
        context.open_gate();
        let only = launches.first().filter(|_| launches.len() == 1).map(|launch| launch.rank);
        let finished = context.finish().map_err(|error| DeviceError::of_kernel(error, only));
        queued.and(finished)?;
        let times = moments[1..].iter().enumerate().map(|(number, end)| {
            // One after another, a launch begins where the one before it ended.
            let first = if at_once { moments[0] } else { moments[number] };
            Ok(context.between(moments[0], first)?..context.between(moments[0], *end)?)
        });
        let measured = Measured {
            times: times.collect::<Result<_, DriverError>>()?,
            registers: resources.map(|resources| resources.registers),
            spilled_bytes: resources.map(|resources| resources.spilled_bytes),
        };
        for moment in moments {
            context.forget_moment(moment)?;
        }
        for stream in streams.into_iter().filter(|stream| *stream != Stream::DEFAULT) {
            context.forget_stream(stream)?;
        }
        let ranks = self.outcomes(launches)?;
        Ok(Launched { measured: Some(measured), ..Launched::unobserved(ranks) })
    }

    /// Puts launches in their queues, with moments before the first and behind each.
    fn queue(
        &self,
        launches: &[Launch],
        parameters: &mut [Vec<Vec<u8>>],
        streams: &[Stream],
        moments: &[Moment],
    ) -> Result<(), DeviceError> {
        for (number, launch) in launches.iter().enumerate() {
            let (context, _) = self.entry(launch)?;
            let stream = streams[number];
            if number == 0 {
                context.mark(moments[0], Stream::DEFAULT)?;
            }
            if stream != Stream::DEFAULT {
                context.await_moment(moments[0], stream)?;
            }
            self.go(launch, &mut parameters[number], stream)?;
            context.mark(moments[number + 1], stream)?;
        }
        Ok(())
    }

    /// As [`crate::Device::copy_speed`].
    pub(super) fn copied(&mut self, bytes: u64) -> Result<Option<f64>, DeviceError> {
        /// The first copies wake the GPU up.
        const COPIES: usize = 10;
        let context = self.context()?;
        let (from, to) = (context.allocate(bytes)?, context.allocate(bytes)?);
        let moments = [context.moment()?, context.moment()?];
        let mut fastest = u64::MAX;
        for _ in 0..COPIES {
            context.mark(moments[0], Stream::DEFAULT)?;
            context.copy(from, to, bytes, Stream::DEFAULT)?;
            context.mark(moments[1], Stream::DEFAULT)?;
            context.finish()?;
            fastest = fastest.min(context.between(moments[0], moments[1])?);
        }
        for moment in moments {
            context.forget_moment(moment)?;
        }
        context.free(from)?;
        context.free(to)?;
        // Each byte is read once and written once.
        Ok((fastest > 0).then(|| 2.0 * bytes as f64 / (fastest as f64 / 1e9)))
    }
}
