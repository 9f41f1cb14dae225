//! `wiretool --version --verbose`: how this program was built.

use std::ffi::OsString;

/// The names of the features that are on.
const FEATURES: &str = env!("WIRETOOL_FEATURES");
const TARGET: &str = env!("WIRETOOL_TARGET");
const PROFILE: &str = env!("WIRETOOL_PROFILE");
const RUSTC: &str = env!("WIRETOOL_RUSTC");

/// Returns true if the arguments ask for details beside the version.
pub fn is_detailed(args: &[OsString]) -> bool {
    args.iter().any(|word| word == "--verbose" || word == "-v")
}

/// Returns the lines below the version.
pub fn details() -> String {
    format!("features: {FEATURES}\ntarget: {TARGET}\nprofile: {PROFILE}\nrustc: {RUSTC}\n")
}
