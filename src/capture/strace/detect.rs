//! Tells traces of strace from other text.
//!
//! Every line must be one of strace, and a call has its return value. So C code and text about calls are not taken for traces.

use super::super::form::FormVerdict::{self, No, Open, Yes};
use super::super::form::InputEnd;
use super::call::Transfer;
use super::line::{self, SystemCall, TraceEvent};

/// The number of lines that decide.
const ENOUGH: usize = 3;

/// Functions of the C library.
const LIBRARY: [&[u8]; 6] = [b"fgets", b"fputs", b"fread", b"fwrite", b"getline", b"puts"];

pub(in super::super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    let mut found = 0;
    let mut lines = text.split(|&b| b == b'\n').peekable();
    while let Some(line) = lines.next() {
        let is_whole = lines.peek().is_some();
        let line = line.trim_ascii_end();
        if !is_whole {
            return match end {
                InputEnd::More if may_begin(line) => Open,
                InputEnd::More => No,
                // The last line of a file that was cut, or one that is longer than the view.
                _ if found > 0 && may_begin(line) || begins_transfer(line) => yes(found.max(1)),
                _ => No,
            };
        }
        if line.is_empty() || line.starts_with(b"strace: ") {
            continue;
        }
        if !is_trace(line) {
            return No;
        }
        found += 1;
        if found == ENOUGH {
            return yes(found);
        }
    }
    No
}

fn yes(lines: usize) -> FormVerdict {
    let lines = if lines == 1 {
        "line is a system call".to_owned()
    } else {
        format!("{lines} lines are system calls")
    };
    Yes(format!("its first {lines} of strace"))
}

/// Returns true for a whole line of strace.
fn is_trace(line: &[u8]) -> bool {
    match line::read(line).map(|trace| trace.what) {
        // ltrace prints calls of libraries, which transfer bytes too.
        Some(TraceEvent::Call(call)) if LIBRARY.contains(&line::word(call).0) => false,
        Some(TraceEvent::Call(call)) => SystemCall::read(call).is_some(),
        Some(_) => true,
        None => false,
    }
}

/// Returns true if a line may become one of strace.
fn may_begin(line: &[u8]) -> bool {
    // A line of a stack.
    if line.starts_with(b" >") {
        return true;
    }
    let line = line.trim_ascii_start();
    if b"strace: ".starts_with(line) || line.starts_with(b"strace: ") {
        return true;
    }
    let (_, _, rest) = line::prefix(line);
    let (name, args) = line::word(rest);
    let is_mark = |mark: &&[u8]| mark.starts_with(rest) || rest.starts_with(mark);
    // The prefix itself may not be complete.
    let in_prefix = |b: &u8| b.is_ascii_hexdigit() || b"[]:.+() pid?".contains(b);
    if begins_program(line) {
        return true;
    }
    match args.first() {
        None => name.len() <= 40,
        Some(b'(') if !name.is_empty() => true,
        Some(_) => {
            rest.len() <= 40 && rest.iter().all(in_prefix)
                || [&b"<... "[..], b"+++ ", b"--- "].iter().any(is_mark)
        }
    }
}

/// Returns true for a process number and the beginning of the name of its program: `77<pyth`.
fn begins_program(line: &[u8]) -> bool {
    let inside = line.strip_prefix(b"[pid ").unwrap_or(line);
    let (digits, name) = line::digits(inside.trim_ascii_start());
    let end = name.iter().position(|b| *b == b'>');
    let after = end.and_then(|end| name.get(end + 1..)).unwrap_or_default();
    !digits.is_empty() && name.starts_with(b"<") && name.len() <= 40 && b"] ".starts_with(after)
}

/// Returns true for the beginning of a call that transfers bytes, with a string.
fn begins_transfer(line: &[u8]) -> bool {
    let (_, _, rest) = line::prefix(line.trim_ascii_start());
    let (name, rest) = line::word(rest);
    let rest = rest.strip_prefix(b"(").unwrap_or_default();
    let (fd, rest) = line::digits(rest);
    let Some(at) = memchr::memmem::find(rest, b", \"").filter(|_| !fd.is_empty()) else {
        return false;
    };
    let name_of_fd = rest.get(..at).unwrap_or_default();
    let is_name = name_of_fd.starts_with(b"<") && name_of_fd.ends_with(b">");
    Transfer::of(name).is_some() && (name_of_fd.is_empty() || is_name)
}
