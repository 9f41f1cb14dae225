//! stub
pub mod capture;
pub mod decoder;
pub mod encoding;
pub mod error;
pub mod framing;
pub mod protocol;
pub mod render;
pub mod select;
pub mod span;
pub mod tape;
