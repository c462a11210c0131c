//! Fill, poison and verification as kernels, for a process that judges heaps and runs nothing else.
//!
//! The host says in records what belongs where (`collectives::record`), `judge.cu` makes the bytes
//! or compares them, and what comes back is one number: how many bytes differ. Only where some do,
//! the pages that hold them are copied and explained by `collectives::verify`, so that a finding
//! reads as it does on the CPU.

mod explain;
mod work;

use collectives::image::Moment;
use collectives::record::{Bytes, Key, Record, Records};
use collectives::{Finding, HeapPlan, Problem, Rank};

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
    /// Copies 16-byte units: the yardstick. Arguments: to, from, how many.
    Copy,
}

impl Entry {
    /// Every entry.
    pub const ALL: [Entry; 3] = [Entry::Fill, Entry::Verify, Entry::Copy];

    /// The function's name.
    pub const fn name(self) -> &'static str {
        match self {
            Entry::Fill => "rc_fill",
            Entry::Verify => "rc_verify",
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
    /// The same, on the device.
    table: u64,
    /// Wrong bytes of all records, then of each.
    counts: u64,
    /// By rank and page: whether any of its bytes is wrong.
    pages: u64,
    pages_per_heap: u64,
    before: Image,
    after: Image,
}

/// Records on the device.
#[derive(Debug)]
struct Image {
    key: u64,
    records: u64,
    count: u64,
    stored: u64,
    pieces: u64,
}

impl CallJudge {
    /// Sends what the heaps hold before and after call number `index`. `heaps[r]` is the address of
    /// rank r's heap, a multiple of 16.
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
        let before = Image::upload(device, &Records::new(problem, plan, index, Moment::Before))?;
        let after = Image::upload(device, &Records::new(problem, plan, index, Moment::After))?;
        let pages_per_heap = plan.bytes / PAGE;
        let table: Vec<u8> = heaps.iter().flat_map(|heap| heap.to_le_bytes()).collect();
        Ok(CallJudge {
            index,
            heaps: heaps.to_vec(),
            table: sent(device, &table)?,
            counts: device.allocate(8 * (1 + after.count))?,
            pages: device.allocate(pages_per_heap * heaps.len() as u64)?,
            pages_per_heap,
            before,
            after,
        })
    }

    /// Gives its memory back.
    pub fn release(self, device: &mut dyn JudgeDevice) {
        let CallJudge { table, counts, pages, before, after, .. } = self;
        for address in [table, counts, pages, before.key, after.key] {
            device.release(address);
        }
    }

    /// Writes what the heaps hold before the call.
    ///
    /// # Errors
    /// The device refuses.
    pub fn fill(&self, device: &mut dyn JudgeDevice) -> Result<(), DeviceError> {
        self.before.launch(device, Entry::Fill, self.table, &[])
    }

    /// Writes what the heaps must hold after the call: what a kernel does that makes no mistake.
    ///
    /// # Errors
    /// The device refuses.
    pub fn fill_expected(&self, device: &mut dyn JudgeDevice) -> Result<(), DeviceError> {
        self.after.launch(device, Entry::Fill, self.table, &[])
    }

    /// How many bytes differ from what the heaps must hold after the call.
    ///
    /// # Errors
    /// The device refuses.
    pub fn wrong_bytes(&self, device: &mut dyn JudgeDevice) -> Result<u64, DeviceError> {
        device.clear(self.counts, 8 * (1 + self.after.count))?;
        device.clear(self.pages, self.pages_per_heap * self.heaps.len() as u64)?;
        self.after.launch(device, Entry::Verify, self.table, &[self.counts, self.pages])?;
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
}

/// Memory with these contents.
fn sent(device: &mut dyn JudgeDevice, bytes: &[u8]) -> Result<u64, DeviceError> {
    let address = device.allocate(bytes.len().max(1) as u64)?;
    device.upload(address, bytes)?;
    Ok(address)
}

impl Image {
    fn upload(device: &mut dyn JudgeDevice, image: &Records) -> Result<Image, DeviceError> {
        let mut head: Vec<u64> = key_words(&image.key).to_vec();
        let records = head.len() as u64 * 8;
        let mut pieces = 0;
        for record in &image.records {
            let work = Work::of(record)?;
            pieces += work.pieces;
            head.extend(record_words(record));
            head.extend([pieces, work.teams, work.strips, work.lanes_log2, work.rows_log2]);
        }
        let head: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        let stored = (head.len() as u64).next_multiple_of(256);
        let key = device.allocate(stored + image.stored.len() as u64)?;
        device.upload(key, &head)?;
        if !image.stored.is_empty() {
            device.upload(key + stored, &image.stored)?;
        }
        let count = image.records.len() as u64;
        Ok(Image { key, records: key + records, count, stored: key + stored, pieces })
    }

    fn launch(
        &self,
        device: &mut dyn JudgeDevice,
        entry: Entry,
        table: u64,
        results: &[u64],
    ) -> Result<(), DeviceError> {
        let mut arguments = vec![self.key, self.records, self.count, table, self.stored];
        arguments.extend(results);
        let blocks = self.pieces.clamp(1, device.blocks().into()) as u32;
        device.launch(entry, blocks, &arguments)
    }
}

/// `Key`, field for field.
fn key_words(key: &Key) -> [u64; 28] {
    let fill = &key.fill;
    let mut words = [0; 28];
    let scalars = [
        fill.permutation,
        fill.words_per_row,
        fill.element,
        fill.column_multiplier,
        fill.row_multiplier,
        fill.call,
    ];
    words[..6].copy_from_slice(&scalars);
    words[6..14].copy_from_slice(&fill.places);
    words[14..22].copy_from_slice(&fill.poison_places);
    words[22] = key.stored_stride;
    words[23..26].copy_from_slice(&[key.nan.add, key.nan.mask, key.nan.above]);
    words[26..].copy_from_slice(&[key.heap_bytes, key.world.into()]);
    words
}

/// The first fields of `Record`; those of [`Work`] follow.
fn record_words(record: &Record) -> [u64; 13] {
    let (source, whose, key, row, byte) = match record.bytes {
        Bytes::Poison { seed } => (0, None, seed, 0, 0),
        Bytes::Zero => (1, Some(Rank(0)), 0, 0, 0),
        Bytes::Filled { rank, row, byte } => (2, rank, 0, row, byte),
        Bytes::Stored { matrix, row, byte } => (3, Some(Rank(0)), matrix, row, byte),
    };
    [
        source,
        record.ranks.into(),
        whose.is_none().into(),
        whose.map_or(0, |rank| rank.0.into()),
        record.start,
        record.rows,
        record.row_bytes,
        record.row_stride,
        record.unit,
        record.any_nan.into(),
        key,
        row,
        byte,
    ]
}
