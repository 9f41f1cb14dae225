//! Runs unit tests that count the allocations of the whole process.

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::process::Command;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const VARIABLE: &str = "WIRETOOL_TEST_ALONE";

/// Runs the test with this name in a separate process; returns true in that process.
pub fn is_isolated(name: &str) -> bool {
    if std::env::var_os(VARIABLE).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let command = command.args(["--exact", name]).env(VARIABLE, "1");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
    false
}

/// Returns the bytes that a function allocates.
pub fn allocated(does: impl FnOnce()) -> usize {
    let region = Region::new(ALLOCATOR);
    does();
    region.change().bytes_allocated
}
