//! What a device can show and bear, so that callers ask for an ability and never for a name.

use kernels::DeviceName;

/// The abilities of a device, as the way of a case needs to know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Objects can be built that report every access: writers are known, data races and repeated writes
    /// are seen.
    pub observes_accesses: bool,
    /// The interleaving of ranks that run at once is chosen: seeded, listed, explored. Else the device makes
    /// its own, and running again proves little.
    pub chooses_interleavings: bool,
    /// Parts of a heap can be left without memory, so that touching them faults.
    pub leaves_gaps_unbacked: bool,
    /// A kernel that has ended cannot have harmed its process, which may serve the next case.
    pub contains_kernels: bool,
    /// Another order of ranks costs so little beside the first that all permutations of small cases run;
    /// else three orders do.
    pub repeats_orders_cheaply: bool,
    /// A rank's next call can begin when its own call has ended, whatever the other ranks do, and each call is
    /// judged by what it left then.
    pub overlaps_calls: bool,
    /// The device's own executor counts the threads that ran; else the driver's word must do where a
    /// kernel writes no launch record.
    pub counts_threads: bool,
}

impl Capabilities {
    /// The abilities of a device.
    pub fn of(device: DeviceName) -> Capabilities {
        match device {
            DeviceName::Cpu => Capabilities {
                observes_accesses: true,
                chooses_interleavings: true,
                leaves_gaps_unbacked: true,
                contains_kernels: false,
                repeats_orders_cheaply: true,
                overlaps_calls: true,
                counts_threads: true,
            },
            DeviceName::Cuda | DeviceName::Hip => Capabilities {
                observes_accesses: false,
                chooses_interleavings: false,
                leaves_gaps_unbacked: false,
                contains_kernels: true,
                repeats_orders_cheaply: false,
                overlaps_calls: false,
                counts_threads: false,
            },
        }
    }
}
