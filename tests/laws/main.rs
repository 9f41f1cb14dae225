//! What holds for every input: any split reads the same, damage never panics and loses nothing, and our parsers agree
//! with independent ones.
//!
//! `WIRETOOL_CAPTURES` names a folder of captured streams (`*.bin`, its subfolders named after protocols),
//! `WIRETOOL_CONFORMANCE` one of conformance suites; without them the laws hold the streams built here alone.

mod agreement;
mod capture;
mod chunking;
mod common;
mod conformance;
mod conversation;
mod crashes;
mod damage;
mod escaping;
mod recovery;
mod secrets;
mod seeds;
mod select;
mod strict;
mod verdicts;
mod wants;
mod writing;
