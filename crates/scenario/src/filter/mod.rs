//! Which cases a run takes: by id, by text, or by an expression such as
//! `test(w8) & !dtype(f16) | kernel(/ping_pong/)`. Every key of a scenario is a field of expressions.

mod expression;
mod grammar;
mod select;

pub use expression::{Expression, Field, Pattern};
pub use grammar::FilterError;
pub use select::Filter;
