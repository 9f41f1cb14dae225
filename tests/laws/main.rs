//! Laws for every input: any split reads the same, damage never panics and loses nothing, and our parsers agree with
//! independent ones.
//!
//! `WIRETOOL_CAPTURES` names a folder of captured streams (`*.bin`, in subfolders named after protocols),
//! `WIRETOOL_CONFORMANCE` a folder of conformance suites; without them the laws use only the streams built here.

mod agreement;
mod captures;
mod chunking;
mod common;
mod conformance;
mod conversation;
mod crashes;
mod damage;
mod detection;
mod escaping;
mod formats;
mod input_forms;
mod operations;
mod recovery;
mod redaction;
mod references;
mod rewriting;
mod runs;
mod secret_places;
mod secrets;
mod seeds;
mod select;
mod strict_json;
mod times;
mod verdicts;
