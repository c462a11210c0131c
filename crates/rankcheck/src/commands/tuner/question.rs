//! What a tuner is asked, as the command line has it.

use tuner::bytes::Bytes;
use tuner::{Collective, Query, Situation};

/// One operation of one communicator.
#[derive(Debug, clap::Args)]
pub(super) struct Question {
    /// broadcast, reduce, allgather, reducescatter or allreduce
    #[arg(long)]
    collective: Collective,
    /// Bytes of the whole operation, the perf tools' `size` column: 33554432 or 32M
    #[arg(long)]
    bytes: Bytes,
    /// Nodes of the communicator
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..))]
    nodes: i32,
    /// Ranks of the communicator
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..))]
    ranks: i32,
    /// 1 where both buffers are registered
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..=1))]
    reg_buff: i32,
}

impl Question {
    /// The question, with so many operations in the pipeline as the library estimates them.
    pub(super) fn query(&self, pipe_ops: i32) -> Query {
        let Question { collective, bytes, nodes, ranks, reg_buff } = *self;
        let situation = Situation { collective, nodes, ranks, pipe_ops, reg_buff };
        Query { situation, bytes: bytes.0 }
    }
}
