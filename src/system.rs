//! What operating systems do differently: files, terminals, signals and processes. On Windows, wiretool starts no program
//! and has no Unix sockets: what needs them fails with a sentence.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// The reason why a program cannot be started, or a Unix socket cannot be used.
#[cfg(windows)]
pub fn unsupported<T>(what: &str) -> std::io::Result<T> {
    let text = format!("wiretool {what} on Windows");
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, text))
}
