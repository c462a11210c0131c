//! Where everything lies in a heap, and what every byte of it must be before and after a call.

pub mod image;
pub mod plan;
pub mod record;
pub mod sections;
