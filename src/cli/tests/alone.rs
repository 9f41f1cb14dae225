//! Unit tests that count what the whole process allocates.

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::process::Command;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ALONE: &str = "WIRETOOL_TEST_ALONE";

/// Runs the test of this name in a process of its own; true in that process.
pub fn alone(name: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let command = command.args(["--exact", name]).env(ALONE, "1");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
    false
}

/// Bytes that something allocates, in a process of its own.
pub fn allocated(does: impl FnOnce()) -> usize {
    let region = Region::new(ALLOCATOR);
    does();
    region.change().bytes_allocated
}
