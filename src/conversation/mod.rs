//! Conversations without sockets: what passes between two programs, as it passes.
//!
//! ```text
//!   chunks, events -tap-> lines of a recording
//!                     '-> frames, with how long each answer took
//! ```

pub mod guard;
pub mod latency;
pub mod tap;
