//! A real oracle with a few functions, some of which misbehave.

use anyhow::ensure;
use cairo_oracle_server::Oracle;
use std::process::ExitCode;

fn main() -> ExitCode {
    Oracle::new()
        .provide("square", |value: u64| {
            ensure!(value < 1 << 32, "value is too large");
            Ok(value * value)
        })
        .provide("noise", |value: u64| {
            println!("a log line where none belongs");
            Ok(value)
        })
        .provide("die", |value: u64| -> anyhow::Result<u64> { panic!("{value}") })
        .run()
}
