//! The `wiretool` binary: the library's command line.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    wiretool::cli::run(std::env::args_os(), &[])
}
