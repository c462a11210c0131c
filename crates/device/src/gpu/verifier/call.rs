//! One call of a problem on a device: what the heaps hold before and after it.

use collectives::record::{Images, Record, STORED_ALIGN};
use collectives::{Finding, HeapPlan, Problem};

use super::work::Work;
use super::{Entry, PAGE, VerifierDevice, words};
use crate::DeviceError;

/// One call of a problem, ready to be filled and verified any number of times.
#[derive(Debug)]
pub struct CallVerifier {
    pub(super) index: usize,
    /// By rank: where its heap is mapped.
    pub(super) heaps: Vec<u64>,
    pub(super) pages_per_heap: u64,
    /// Everything that was allocated.
    allocated: Vec<u64>,
    // On the device: `Key`, the table of heaps, matrices that records refer to.
    key: u64,
    table: u64,
    stored: u64,
    /// Wrong bytes of all records, then of each.
    counts: u64,
    /// By rank and page: whether any of its bytes is wrong.
    pub(super) pages: u64,
    before: Image,
    after: Image,
}

/// Records on the device.
#[derive(Debug)]
struct Image {
    records: u64,
    count: u64,
    pieces: u64,
}

impl CallVerifier {
    /// Sends what the heaps hold before and after call number `index` of a problem that can be
    /// judged (`collectives::declared`). `heaps[r]` is the address of rank r's heap, a multiple of 16.
    ///
    /// # Errors
    /// The device has no memory left, or a record is too large.
    pub fn new(
        device: &mut dyn VerifierDevice,
        problem: &Problem,
        plan: &HeapPlan,
        index: usize,
        heaps: &[u64],
    ) -> Result<CallVerifier, DeviceError> {
        assert!(heaps.iter().all(|heap| heap.is_multiple_of(16)), "a heap is not aligned");
        let images = Images::new(problem, plan, index);
        let pages_per_heap = plan.bytes / PAGE;
        let mut sending = Sending { device, allocated: Vec::new() };
        let made = sending.call(problem, index, &images, heaps, pages_per_heap);
        let Sending { device, allocated } = sending;
        match made {
            Ok(verifier) => Ok(CallVerifier { allocated, ..verifier }),
            Err(error) => {
                allocated.into_iter().for_each(|address| device.release(address));
                Err(error)
            }
        }
    }

    /// Gives the device's memory back.
    pub fn release(self, device: &mut dyn VerifierDevice) {
        self.allocated.into_iter().for_each(|address| device.release(address));
    }

    /// Writes what the heaps hold before the call.
    ///
    /// # Errors
    /// The device refuses.
    pub fn fill(&self, device: &mut dyn VerifierDevice) -> Result<(), DeviceError> {
        self.launch(device, Entry::Fill, &self.before, &[])
    }

    /// Writes what the heaps must hold after the call: what a kernel does that makes no mistake.
    ///
    /// # Errors
    /// The device refuses.
    pub fn fill_expected(&self, device: &mut dyn VerifierDevice) -> Result<(), DeviceError> {
        self.launch(device, Entry::Fill, &self.after, &[])
    }

    /// How many bytes differ from what the heaps must hold after the call.
    ///
    /// # Errors
    /// The device refuses.
    pub fn wrong_bytes(&self, device: &mut dyn VerifierDevice) -> Result<u64, DeviceError> {
        device.clear(self.counts, 8 * (1 + self.after.count))?;
        device.clear(self.pages, self.pages_per_heap * self.heaps.len() as u64)?;
        self.launch(device, Entry::Verify, &self.after, &[self.counts, self.pages])?;
        let mut all = [0; 8];
        device.download(self.counts, &mut all)?;
        Ok(u64::from_le_bytes(all))
    }

    /// What is wrong in the heaps after the call; empty means every byte is right.
    ///
    /// # Errors
    /// The device refuses, or it and the host do not agree.
    pub fn verify(
        &self,
        device: &mut dyn VerifierDevice,
        problem: &Problem,
        plan: &HeapPlan,
    ) -> Result<Vec<Finding>, DeviceError> {
        match self.wrong_bytes(device)? {
            0 => Ok(Vec::new()),
            wrong => self.explain(device, problem, plan, wrong),
        }
    }

    fn launch(
        &self,
        device: &mut dyn VerifierDevice,
        entry: Entry,
        image: &Image,
        results: &[u64],
    ) -> Result<(), DeviceError> {
        let mut arguments = vec![self.key, image.records, image.count, self.table, self.stored];
        arguments.extend(results);
        let blocks = image.pieces.clamp(1, device.blocks().into()) as u32;
        device.launch(entry, blocks, &arguments)
    }
}

/// What has been allocated for a verifier that is not complete yet.
struct Sending<'a> {
    device: &'a mut dyn VerifierDevice,
    allocated: Vec<u64>,
}

impl Sending<'_> {
    fn call(
        &mut self,
        problem: &Problem,
        index: usize,
        images: &Images,
        heaps: &[u64],
        pages_per_heap: u64,
    ) -> Result<CallVerifier, DeviceError> {
        Ok(CallVerifier {
            index,
            heaps: heaps.to_vec(),
            pages_per_heap,
            allocated: Vec::new(),
            key: self.words(&words::key(&images.key))?,
            table: self.words(heaps)?,
            stored: self.stored(problem, index, images)?,
            counts: self.memory(8 * (1 + images.after.len() as u64))?,
            pages: self.memory(pages_per_heap * heaps.len() as u64)?,
            before: self.image(&images.before)?,
            after: self.image(&images.after)?,
        })
    }

    fn memory(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let address = self.device.allocate(bytes.max(1))?;
        self.allocated.push(address);
        Ok(address)
    }

    fn words(&mut self, words: &[u64]) -> Result<u64, DeviceError> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let address = self.memory(bytes.len() as u64)?;
        self.device.upload(address, &bytes)?;
        Ok(address)
    }

    fn image(&mut self, records: &[Record]) -> Result<Image, DeviceError> {
        let mut all = Vec::new();
        let mut pieces = 0;
        for record in records {
            let work = Work::of(record)?;
            pieces += work.pieces;
            all.extend(words::record(record));
            let Work { teams, strips, lanes_log2, rows_log2, align, .. } = work;
            all.extend([pieces, teams, strips, lanes_log2, rows_log2, align]);
        }
        Ok(Image { records: self.words(&all)?, count: records.len() as u64, pieces })
    }

    /// The matrices, made by the device where it can.
    fn stored(
        &mut self,
        problem: &Problem,
        index: usize,
        images: &Images,
    ) -> Result<u64, DeviceError> {
        let stored = &images.stored;
        let address = self.memory(stored.bytes())?;
        if stored.bytes() == 0 {
            return Ok(address);
        }
        match stored.exact(problem, index) {
            Some((constants, matrices)) => {
                let constants = self.words(&words::exact(&constants, stored, &matrices))?;
                let slots = self.words(&words::slots(&matrices))?;
                let blocks = self.device.blocks();
                let arguments = [constants, slots, address + STORED_ALIGN];
                self.device.launch(Entry::Make, blocks, &arguments)?;
            }
            None => self.device.upload(address, &stored.make(problem, index))?,
        }
        Ok(address)
    }
}
