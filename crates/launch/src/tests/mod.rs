//! The way of a case on ranks that do what a test says: no process, no compiler, no device.

mod attribution;
mod delays;
mod exhaustive;
mod launched;
mod losses;
mod not_proved;
mod orders;
mod seeded;
mod shrink;
mod write_once;
