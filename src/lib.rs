//! stub
pub mod capture;
pub mod encoding;
pub mod error;
pub mod framing;
pub mod protocol;
pub mod span;
pub mod tape;
