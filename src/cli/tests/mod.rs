//! Tests the command line against peers in the same process.

mod flags;
pub mod isolated;
mod replay;
mod send;

use std::ffi::OsString;
use std::io::Write as _;

/// Runs the command line if [`crate::common::wiretool`] started this program as the binary.
#[test]
fn as_the_binary() {
    if std::env::var_os(crate::common::AS_BINARY).is_none() {
        return;
    }
    let mut stdout = std::io::stdout();
    stdout.write_all(crate::common::READY.as_bytes()).unwrap();
    stdout.flush().unwrap();
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    let words = std::iter::once(OsString::from("wiretool")).chain(words);
    std::process::exit(super::start(words.collect(), &[]).code().into());
}
