//! The reference against an MPI's collectives: every rank fills its own heap, lets MPI move or
//! combine what is in it, and compares its whole heap with what the reference expects.

use std::collections::BTreeMap;

use ::mpi::collective::SystemOperation;
use ::mpi::datatype::{Partition, PartitionMut};
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, CommunicatorCollectives, Group as _, Root};
use collectives::image::Moment;
use collectives::{Call, Collective, DType, GroupRank, HeapPlan, Op, Problem, Rank};

use crate::cases;
use crate::expected::{Reference, after, image, packed};
use crate::number::{self, Codec, Number};
use crate::planted;

/// Compares `count` distinct cases of up to as many ranks as MPI has, with `judged` in the place of
/// the reference. Prints what was compared on MPI rank 0; whether everything agreed, and every
/// planted fault was noticed.
///
/// # Errors
/// No MPI, or too few of its ranks.
pub fn compare(count: usize, judged: Reference) -> Result<bool, String> {
    let universe = ::mpi::initialize().ok_or("MPI is initialised already")?;
    let world = universe.world();
    if world.size() < 3 {
        return Err(format!("{} MPI ranks, at least 3 are needed: use mpirun", world.size()));
    }
    // The others would wait for a rank that has panicked.
    std::panic::set_hook(Box::new(|what| {
        eprintln!("{what}");
        std::process::abort();
    }));
    let me = Rank(world.rank() as u32);
    let problems = cases::draw(count, world.size() as u32, number::reduces);
    let references: Vec<Reference> =
        [judged].into_iter().chain(planted::ALL.map(|(_, reference)| reference)).collect();
    // By reference and case: whether this rank's heap differs.
    let mut differs = vec![vec![0u8; problems.len()]; references.len()];
    for (number, problem) in problems.iter().enumerate() {
        let call = &problem.calls[0];
        let members: Vec<i32> = call.group.members().iter().map(|rank| rank.0 as i32).collect();
        let group = world.split_by_subgroup_collective(&world.group().include(&members));
        if me.0 >= problem.world {
            continue;
        }
        let plan = HeapPlan::new(problem).map_err(|error| error.to_string())?;
        let before = image(problem, &plan, me, Moment::Before);
        let mut heap = before.clone();
        if let Some(group) = group {
            perform(problem, call, &plan, &group, me, &mut heap);
        }
        for (reference, differs) in references.iter().zip(&mut differs) {
            differs[number] = (after(problem, &plan, me, &before, *reference) != heap).into();
        }
    }
    let differs = differs.iter().map(|own| {
        let mut anywhere = vec![0u8; own.len()];
        world.all_reduce_into(&own[..], &mut anywhere[..], SystemOperation::max());
        anywhere
    });
    let differs: Vec<Vec<u8>> = differs.collect();
    let wrong = |reference: usize| differs[reference].iter().filter(|d| **d != 0).count();
    let noticed = (1..references.len()).all(|reference| wrong(reference) > 0);
    if me == Rank(0) {
        report(&problems, &differs);
        for (reference, (name, _)) in (1..).zip(planted::ALL) {
            println!("  planted fault {name}: {} cases differ", wrong(reference));
        }
    }
    Ok(wrong(0) == 0 && noticed)
}

fn report(problems: &[Problem], differs: &[Vec<u8>]) {
    let library = ::mpi::environment::library_version().unwrap_or_default();
    let library = library.split([',', '\n']).next().unwrap_or_default().trim();
    let mut compared: BTreeMap<Collective, usize> = BTreeMap::new();
    for (problem, differs) in problems.iter().zip(&differs[0]) {
        *compared.entry(problem.collective).or_default() += 1;
        if *differs != 0 {
            println!("DIFFERS {}", label(problem));
        }
    }
    let wrong = differs[0].iter().filter(|differs| **differs != 0).count();
    println!(
        "oracle: {} cases of {} distinct (collective, op, dtype, ranks, group) against {library}: {wrong} differ",
        problems.len(),
        cases::count_distinct(problems),
    );
    for (collective, count) in compared {
        println!("  {collective}: {count}");
    }
}

fn label(problem: &Problem) -> String {
    let Call { shape, group, root, details, .. } = &problem.calls[0];
    format!(
        "{} {} {} w{} {group} {shape} root {root} in_place {} seed {}",
        problem.collective,
        details.op,
        problem.dtype,
        problem.world,
        problem.in_place,
        problem.seed
    )
}

/// Lets MPI do what the problem asks for, and puts the result where it belongs in the heap.
fn perform(
    problem: &Problem,
    call: &Call,
    plan: &HeapPlan,
    group: &SimpleCommunicator,
    me: Rank,
    heap: &mut [u8],
) {
    let output = plan.output_of(problem, call, me);
    let input = buffer(packed(heap, plan.input(problem, call, me)));
    let mut result = buffer(packed(heap, output));
    if problem.collective.reduces() {
        reduce(problem, call, group, &input, &mut result);
    } else {
        exchange(problem, call, group, &input, &mut result);
    }
    let row_bytes = (output.shape.n * output.element) as usize;
    for row in 0..output.shape.m {
        let target = output.row_bytes(row, 0..output.shape.n);
        let from = row as usize * row_bytes;
        heap[target.start as usize..target.end as usize]
            .copy_from_slice(&result[from..from + row_bytes]);
    }
}

/// A buffer that has an address even where it is empty: an empty list of bytes lies at 1, which MPI
/// takes for `MPI_IN_PLACE`.
fn buffer<T>(mut elements: Vec<T>) -> Vec<T> {
    elements.reserve(1);
    elements
}

/// The collectives that move elements, as bytes.
fn exchange(
    problem: &Problem,
    call: &Call,
    group: &SimpleCommunicator,
    input: &[u8],
    result: &mut [u8],
) {
    let root = group.process_at_rank(call.root.0 as i32);
    let is_root = group.rank() == call.root.0 as i32;
    let row_bytes = call.shape.n * problem.dtype.bytes();
    match problem.collective {
        Collective::AllGather => group.all_gather_into(input, result),
        Collective::Gather if is_root => root.gather_into_root(input, result),
        Collective::Gather => root.gather_into(input),
        Collective::Scatter if is_root => root.scatter_into_root(input, result),
        Collective::Scatter => root.scatter_into(result),
        Collective::Broadcast => {
            if is_root {
                result.copy_from_slice(input);
            }
            root.broadcast_into(result);
        }
        Collective::AllToAll if !call.details.counts.is_empty() => {
            let me = group.rank() as usize;
            let counts = &call.details.counts;
            let bytes = |rows: u64| (rows * row_bytes) as i32;
            let sent: Vec<i32> = counts[me].iter().map(|rows| bytes(*rows)).collect();
            let received: Vec<i32> = counts.iter().map(|sent| bytes(sent[me])).collect();
            let (from, to) = (displacements(&sent), displacements(&received));
            let input = Partition::new(input, &sent[..], &from[..]);
            group.all_to_all_varcount_into(&input, &mut PartitionMut::new(result, received, to));
        }
        Collective::AllToAll => group.all_to_all_into(input, result),
        Collective::AllToAllColumns => {
            // MPI's parts lie one behind the other: a part's rows are taken out, and put back.
            let parts = call.group.size() as usize;
            let (part_row, row) = (row_bytes as usize, row_bytes as usize * parts);
            let place = |part: usize, m: usize| m * row + part * part_row;
            let rows = call.shape.m as usize;
            let places: Vec<usize> =
                (0..parts).flat_map(|part| (0..rows).map(move |m| place(part, m))).collect();
            let out = |at: &usize| input[*at..at + part_row].iter().copied();
            let sent: Vec<u8> = buffer(places.iter().flat_map(out).collect());
            let mut received = buffer(vec![0; sent.len()]);
            group.all_to_all_into(&sent[..], &mut received[..]);
            for (number, at) in places.iter().enumerate() {
                let from = number * part_row;
                result[*at..at + part_row].copy_from_slice(&received[from..from + part_row]);
            }
        }
        Collective::AllReduce
        | Collective::Reduce
        | Collective::ReduceScatter
        | Collective::ReduceScatterTiles
        | Collective::Barrier => unreachable!("moves no elements"),
    }
}

fn displacements(counts: &[i32]) -> Vec<i32> {
    let before = |index: usize| counts[..index].iter().sum();
    (0..counts.len()).map(before).collect()
}

/// The collectives that combine elements, by element type.
fn reduce(
    problem: &Problem,
    call: &Call,
    group: &SimpleCommunicator,
    input: &[u8],
    result: &mut [u8],
) {
    match problem.dtype {
        DType::U8 => reduce_as(number::U8, problem, call, group, input, result),
        DType::I8 => reduce_as(number::I8, problem, call, group, input, result),
        DType::I32 => reduce_as(number::I32, problem, call, group, input, result),
        DType::I64 => reduce_as(number::I64, problem, call, group, input, result),
        DType::F16 => reduce_as(number::F16, problem, call, group, input, result),
        DType::BF16 => reduce_as(number::BF16, problem, call, group, input, result),
        DType::F32 => reduce_as(number::F32, problem, call, group, input, result),
        DType::F64 => reduce_as(number::F64, problem, call, group, input, result),
        DType::F8E4M3Fn | DType::F8E4M3Fnuz | DType::F8E5M2 | DType::F8E5M2Fnuz => {
            unreachable!("not drawn")
        }
    }
}

fn reduce_as<T: Number>(
    codec: Codec<T>,
    problem: &Problem,
    call: &Call,
    group: &SimpleCommunicator,
    input: &[u8],
    result: &mut [u8],
) {
    let element = problem.dtype.bytes() as usize;
    let op = call.details.op;
    let mut own: Vec<T> = buffer(input.chunks(element).map(codec.decode).collect());
    if op == Op::PremulSum {
        // Whoever contributes multiplies, as NCCL's premultiplied sum says.
        let factor = call.scalar(GroupRank(group.rank() as u32));
        own.iter_mut().for_each(|value| *value = value.times(factor));
    }
    let operation = match op {
        Op::Sum | Op::Avg | Op::PremulSum => SystemOperation::sum(),
        Op::Prod => SystemOperation::product(),
        Op::Min => SystemOperation::min(),
        Op::Max => SystemOperation::max(),
    };
    let mut reduced = buffer(vec![T::default(); result.len() / element]);
    let root = group.process_at_rank(call.root.0 as i32);
    match problem.collective {
        Collective::Reduce if group.rank() == call.root.0 as i32 => {
            root.reduce_into_root(&own[..], &mut reduced[..], operation);
        }
        Collective::Reduce => return root.reduce_into(&own[..], operation),
        Collective::ReduceScatter => {
            group.reduce_scatter_block_into(&own[..], &mut reduced[..], operation);
        }
        _ => group.all_reduce_into(&own[..], &mut reduced[..], operation),
    }
    for (index, (value, bytes)) in reduced.iter().zip(result.chunks_mut(element)).enumerate() {
        let value = if op == Op::Avg { value.over(call.group.size()) } else { *value };
        if problem.collective != Collective::ReduceScatterTiles || owns(call, group, index as u64) {
            bytes.copy_from_slice(&(codec.encode)(value));
        }
    }
}

/// Whether element number `index` of (M, N) lies in a tile that this member owns.
fn owns(call: &Call, group: &SimpleCommunicator, index: u64) -> bool {
    let (row, column) = (index / call.shape.n, index % call.shape.n);
    let [_, across] = Problem::tiles(call);
    let tile = row / call.tile.m * across + column / call.tile.n;
    call.details.owners[tile as usize] == group.rank() as u32
}
