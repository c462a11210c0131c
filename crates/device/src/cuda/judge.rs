//! Fill, poison and verification as kernels, for a process that judges heaps and runs nothing else.
//!
//! The host says in records what belongs where (`collectives::record`), `judge.cu` makes the bytes
//! or compares them, and what comes back is one number: how many bytes differ. Only where some do,
//! the pages that hold them are copied and explained by `collectives::verify`, so that a finding
//! reads as it does on the CPU.

mod explain;
mod words;
mod work;

use collectives::record::{Images, Record, STORED_ALIGN};
use collectives::{Finding, HeapPlan, Problem};

use crate::DeviceError;
use work::Work;

/// What a device compiles: CUDA C++ that includes nothing.
pub const SOURCE: &str = include_str!("judge.cu");
/// The name under which the compiler speaks of it.
pub const SOURCE_NAME: &str = "judge.cu";
/// Threads of a block, in every launch.
pub const THREADS: u32 = 256;
/// Bytes of a heap of which the device says together whether any differs.
pub const PAGE: u64 = 4096;

/// The kernels of [`SOURCE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Writes an image. Arguments: key, records, how many, table of heaps, stored rows.
    Fill,
    /// Compares heaps with an image. Arguments: as of a fill, then counts and pages.
    Verify,
    /// Makes stored rows. Arguments: constants, slots, where the first row goes.
    Make,
    /// Copies 16-byte units: the yardstick. Arguments: to, from, how many.
    Copy,
}

impl Entry {
    /// Every entry.
    pub const ALL: [Entry; 4] = [Entry::Fill, Entry::Verify, Entry::Make, Entry::Copy];

    /// The function's name.
    pub const fn name(self) -> &'static str {
        match self {
            Entry::Fill => "rc_fill",
            Entry::Verify => "rc_verify",
            Entry::Make => "rc_make",
            Entry::Copy => "rc_copy",
        }
    }
}

/// What the judge needs of a device: memory, and a way to run the entries of [`SOURCE`].
///
/// Contract: addresses are the device's; `allocate` aligns to 256 bytes; calls take effect in
/// order, and `download` sees everything that was launched before.
pub trait JudgeDevice {
    /// Blocks of [`THREADS`] that keep the whole device at work.
    fn blocks(&self) -> u32;
    /// Memory with any contents.
    ///
    /// # Errors
    /// There is not enough.
    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError>;
    /// Gives memory back.
    fn release(&mut self, address: u64);
    /// Copies to the device.
    ///
    /// # Errors
    /// The device refuses.
    fn upload(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError>;
    /// Sets bytes to zero.
    ///
    /// # Errors
    /// The device refuses.
    fn clear(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError>;
    /// Copies from the device.
    ///
    /// # Errors
    /// The device refuses, or a launch before failed.
    fn download(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError>;
    /// Launches an entry; every argument has eight bytes.
    ///
    /// # Errors
    /// The device refuses.
    fn launch(&mut self, entry: Entry, blocks: u32, arguments: &[u64]) -> Result<(), DeviceError>;
}

/// One call of a problem, ready to be filled and verified any number of times.
#[derive(Debug)]
pub struct CallJudge {
    index: usize,
    /// By rank: where its heap is mapped.
    heaps: Vec<u64>,
    pages_per_heap: u64,
    /// Everything that was allocated.
    allocated: Vec<u64>,
    // On the device: `Key`, the table of heaps, matrices that records refer to.
    key: u64,
    table: u64,
    stored: u64,
    /// Wrong bytes of all records, then of each.
    counts: u64,
    /// By rank and page: whether any of its bytes is wrong.
    pages: u64,
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

impl CallJudge {
    /// Sends what the heaps hold before and after call number `index` of a problem that can be
    /// judged (`collectives::declared`). `heaps[r]` is the address of rank r's heap, a multiple of 16.
    ///
    /// # Errors
    /// The device has no memory left, or a record is too large.
    pub fn new(
        device: &mut dyn JudgeDevice,
        problem: &Problem,
        plan: &HeapPlan,
        index: usize,
        heaps: &[u64],
    ) -> Result<CallJudge, DeviceError> {
        assert!(heaps.iter().all(|heap| heap.is_multiple_of(16)), "a heap is not aligned");
        let images = Images::new(problem, plan, index);
        let pages_per_heap = plan.bytes / PAGE;
        let mut sending = Sending { device, allocated: Vec::new() };
        let made = sending.call(problem, index, &images, heaps, pages_per_heap);
        let Sending { device, allocated } = sending;
        match made {
            Ok(judge) => Ok(CallJudge { allocated, ..judge }),
            Err(error) => {
                allocated.into_iter().for_each(|address| device.release(address));
                Err(error)
            }
        }
    }

    /// Gives its memory back.
    pub fn release(self, device: &mut dyn JudgeDevice) {
        self.allocated.into_iter().for_each(|address| device.release(address));
    }

    /// Writes what the heaps hold before the call.
    ///
    /// # Errors
    /// The device refuses.
    pub fn fill(&self, device: &mut dyn JudgeDevice) -> Result<(), DeviceError> {
        self.launch(device, Entry::Fill, &self.before, &[])
    }

    /// Writes what the heaps must hold after the call: what a kernel does that makes no mistake.
    ///
    /// # Errors
    /// The device refuses.
    pub fn fill_expected(&self, device: &mut dyn JudgeDevice) -> Result<(), DeviceError> {
        self.launch(device, Entry::Fill, &self.after, &[])
    }

    /// How many bytes differ from what the heaps must hold after the call.
    ///
    /// # Errors
    /// The device refuses.
    pub fn wrong_bytes(&self, device: &mut dyn JudgeDevice) -> Result<u64, DeviceError> {
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
        device: &mut dyn JudgeDevice,
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
        device: &mut dyn JudgeDevice,
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

/// What has been allocated for a judge that is not complete yet.
struct Sending<'a> {
    device: &'a mut dyn JudgeDevice,
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
    ) -> Result<CallJudge, DeviceError> {
        Ok(CallJudge {
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
