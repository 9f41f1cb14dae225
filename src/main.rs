//! The `wiretool` binary: reads the command line, runs, exits.

#![forbid(unsafe_code)]

mod cli;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os()).into()
}
