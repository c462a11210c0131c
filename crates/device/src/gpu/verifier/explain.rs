//! What the device saw differ, copied back and explained as on the CPU.

use std::borrow::Cow;
use std::ops::Range;

use collectives::verify::verify_spans;
use collectives::{DetailLabel, Finding, HeapPlan, Problem};

use super::{CallVerifier, PAGE, VerifierDevice};
use crate::DeviceError;

/// Bytes that are copied at once, unless a span is longer.
const WINDOW: u64 = 1 << 20;
/// Bytes of a heap's region that are explained, because the host takes its time for each element.
/// Beyond them the device's count is all that is said.
const EXPLAINED: u64 = 4 << 20;

/// The pages of one heap in which something differs.
struct WrongPages {
    /// Where the heap is mapped.
    heap: u64,
    /// One byte a page: 1 where any byte of the page is wrong.
    wrong: Vec<u8>,
    /// What was copied last, from this offset on.
    start: u64,
    bytes: Vec<u8>,
    /// The region that is looked at, and how much of it was copied.
    region: Option<usize>,
    copied: u64,
}

impl CallVerifier {
    /// The findings behind `wrong` bytes that differ.
    pub(super) fn explain(
        &self,
        device: &mut dyn VerifierDevice,
        problem: &Problem,
        plan: &HeapPlan,
        wrong: u64,
    ) -> Result<Vec<Finding>, DeviceError> {
        let mut heaps = Vec::new();
        for (rank, heap) in (0..).zip(&self.heaps) {
            let mut wrong = vec![0; self.pages_per_heap as usize];
            device.download(self.pages + rank * self.pages_per_heap, &mut wrong)?;
            let bytes = Vec::new();
            heaps.push(WrongPages { heap: *heap, wrong, start: 0, bytes, region: None, copied: 0 });
        }
        let mut failed = None;
        let mut skipped = false;
        let mut findings = verify_spans(problem, plan, self.index, &mut |span| {
            let heap = &mut heaps[span.rank.index()];
            if failed.is_some() || !heap.differs(&span.bytes) {
                return None;
            }
            if heap.region != span.region {
                (heap.region, heap.copied) = (span.region, 0);
            }
            if heap.copied >= EXPLAINED {
                skipped = true;
                return None;
            }
            match heap.copy(device, &span.bytes) {
                Ok(bytes) => Some(Cow::Owned(bytes.to_vec())),
                Err(error) => {
                    failed = Some(error);
                    None
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let explained: u64 = findings.iter().map(|finding| finding.count).sum();
        if explained != wrong && !skipped {
            return Err(DeviceError::System {
                what: "verifying on the device".into(),
                reason: format!("it counts {wrong} wrong bytes, the host {explained}"),
            });
        }
        if skipped {
            let text = format!("{explained} of {wrong} wrong bytes were looked at");
            for finding in &mut findings {
                finding.detail(DetailLabel::LookedAt, text.clone());
            }
        }
        Ok(findings)
    }
}

impl WrongPages {
    fn differs(&self, bytes: &Range<u64>) -> bool {
        let pages = bytes.start / PAGE..bytes.end.div_ceil(PAGE);
        self.wrong[pages.start as usize..pages.end as usize].contains(&1)
    }

    /// The bytes of a range. Wrong pages that follow are copied with it, because spans go upwards.
    fn copy(
        &mut self,
        device: &mut dyn VerifierDevice,
        range: &Range<u64>,
    ) -> Result<&[u8], DeviceError> {
        let held = self.start..self.start + self.bytes.len() as u64;
        if range.start < held.start || range.end > held.end {
            let mut end = range.end.div_ceil(PAGE) * PAGE;
            let most = range.start + WINDOW;
            while end < most && self.wrong.get((end / PAGE) as usize) == Some(&1) {
                end += PAGE;
            }
            self.start = range.start;
            self.bytes.resize((end - range.start) as usize, 0);
            device.download(self.heap + range.start, &mut self.bytes)?;
            self.copied += end - range.start;
        }
        let at = (range.start - self.start) as usize;
        Ok(&self.bytes[at..at + (range.end - range.start) as usize])
    }
}
