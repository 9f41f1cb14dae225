//! A line of strace.
//!
//! ```text
//!   [pid  77] 10:02:27.123456 read(3<TCP:[..]>, "\0\177a"..., 4096) = 38 <0.000012>
//!   77        1795341791.3613 read(0,  <unfinished ...>
//!   77                        <... read resumed>"{}\n", 4096) = 3
//!   77                        +++ exited with 0 +++
//!   77<python3>  [  45] [00007f0a12b4c0de] read(..    -Y: the program; -n: the number of the call; -i: its address
//!    > /usr/lib/libc.so.6(__read+0x10) [0x10c0de]     -k: a line of the call's stack
//! ```

use super::super::time::{self, Time};

/// A line, after pid and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceLine<'a> {
    pub pid: Option<u32>,
    /// The time, if the line has one with a date.
    pub time: Option<Time>,
    pub what: TraceEvent<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraceEvent<'a> {
    /// A system call, from its name on.
    Call(&'a [u8]),
    /// The beginning of a call, from its name on.
    Unfinished(&'a [u8]),
    /// The rest of a call with this name.
    Resumed(&'a [u8], &'a [u8]),
    /// The process ended, or received a signal; or a line of a stack.
    Other,
}

/// The greatest process number of Linux.
const MAX_PID: u64 = 1 << 22;
const UNFINISHED: &[u8] = b"<unfinished ...>";

/// Reads a line; `None` if it is not one of strace.
pub(super) fn read(line: &[u8]) -> Option<TraceLine<'_>> {
    let (pid, time, rest) = prefix(line.trim_ascii());
    let is_other = is_stack(line)
        || (rest.starts_with(b"+++ ") && rest.ends_with(b" +++"))
        || (rest.starts_with(b"--- ") && rest.ends_with(b" ---"));
    let what = if is_other {
        TraceEvent::Other
    } else if let Some(resumed) = rest.strip_prefix(b"<... ") {
        let (name, rest) = word(resumed);
        TraceEvent::Resumed(name, rest.strip_prefix(b" resumed>")?)
    } else {
        let (name, args) = word(rest);
        if name.is_empty() || !args.starts_with(b"(") {
            return None;
        }
        match rest.strip_suffix(UNFINISHED) {
            Some(beginning) => TraceEvent::Unfinished(beginning.trim_ascii_end()),
            None => TraceEvent::Call(rest),
        }
    };
    Some(TraceLine { pid, time, what })
}

/// Reads pid and time at the start of a line.
pub(super) fn prefix(line: &[u8]) -> (Option<u32>, Option<Time>, &[u8]) {
    let (mut pid, mut time, mut rest) = (None, None, line);
    if let Some(inside) = rest.strip_prefix(b"[pid ") {
        let (digits, after) = digits(inside.trim_ascii_start());
        let after = without_program(after);
        if let (Some(n), Some(after)) = (number(digits), after.strip_prefix(b"] ")) {
            pid = u32::try_from(n).ok();
            rest = after.trim_ascii_start();
        }
    } else {
        let (digits, after) = digits(rest);
        let after = without_program(after);
        if let Some(n) = number(digits).filter(|n| *n <= MAX_PID)
            && after.starts_with(b" ")
        {
            pid = u32::try_from(n).ok();
            rest = after.trim_ascii_start();
        }
    }
    let end = rest.iter().position(|b| *b == b' ').unwrap_or(rest.len());
    let (token, after) = rest.split_at_checked(end).unwrap_or_default();
    let is_time = token.first().is_some_and(u8::is_ascii_digit)
        && token
            .iter()
            .all(|b| b.is_ascii_digit() || b".:".contains(b));
    if is_time && !after.is_empty() {
        // A time since the last call says nothing alone.
        let clock = || std::str::from_utf8(token).ok().and_then(time::parse);
        time = epoch(token).or_else(clock);
        rest = after.trim_ascii_start();
        // -t and -r together: `10:02:27 (+     0.000123)`.
        if let Some(relative) = rest.strip_prefix(b"(+")
            && let Some(at) = memchr::memchr(b')', relative)
        {
            rest = relative
                .get(at + 1..)
                .unwrap_or_default()
                .trim_ascii_start();
        }
    }
    for _ in 0..2 {
        rest = without_number(rest);
    }
    (pid, time, rest)
}

/// Skips the name of the program after a process number: `<python3>`.
fn without_program(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'>', text).filter(|_| text.starts_with(b"<"));
    end.and_then(|end| text.get(end + 1..)).unwrap_or(text)
}

/// Skips the number or the address of a call: `[  45] `, `[00007f0a12b4c0de] `.
fn without_number(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(b']', text).unwrap_or_default();
    let inside = text.get(1..end).unwrap_or_default().trim_ascii_start();
    let is_number = inside.iter().all(|b| b.is_ascii_hexdigit() || *b == b'?');
    if !text.starts_with(b"[") || inside.is_empty() || !is_number {
        return text;
    }
    text.get(end + 1..).unwrap_or_default().trim_ascii_start()
}

/// Returns true for a line of a stack: ` > /usr/bin/cat(main+0x12) [0x2f34]`.
fn is_stack(line: &[u8]) -> bool {
    line.starts_with(b" > ") && line.ends_with(b"]")
        || line.ends_with(b"> unexpected_backtracing_error")
}

/// Reads seconds since 1970.
fn epoch(token: &[u8]) -> Option<Time> {
    let (seconds, rest) = digits(token);
    let seconds = number(seconds).filter(|n| *n > MAX_PID)?;
    let (fraction, after) = digits(rest.strip_prefix(b".").unwrap_or(rest));
    if !after.is_empty() || fraction.len() > 9 {
        return None;
    }
    let scale = 10u64.checked_pow(9 - fraction.len() as u32)?;
    let fraction = number(fraction).unwrap_or_default() * scale;
    Some(Time::from(seconds) * 1_000_000_000 + Time::from(fraction))
}

/// Splits the name of a system call off.
pub(super) fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let is_name = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_';
    let end = text.iter().position(|b| !is_name(b)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or_default()
}

pub(super) fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !b.is_ascii_digit());
    text.split_at_checked(end.unwrap_or(text.len()))
        .unwrap_or_default()
}

pub(super) fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A system call that has returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SystemCall<'a> {
    pub name: &'a [u8],
    /// The arguments.
    pub args: Vec<&'a [u8]>,
    /// The return value; `None` for an error, and if the process ended in the call.
    pub value: Option<u64>,
}

impl<'a> SystemCall<'a> {
    /// Reads a call from its name on.
    pub(super) fn read(text: &'a [u8]) -> Option<Self> {
        let (name, rest) = word(text);
        let (args, rest) = arguments(rest.strip_prefix(b"(")?)?;
        let rest = rest
            .trim_ascii_start()
            .strip_prefix(b"=")?
            .trim_ascii_start();
        let (digits, after) = digits(rest);
        let ends = after.first().is_none_or(|b| b" <".contains(b));
        if digits.is_empty() && !rest.starts_with(b"-") && !rest.starts_with(b"?") {
            return None;
        }
        Some(Self {
            name,
            args,
            value: number(digits).filter(|_| ends),
        })
    }

    /// Returns an argument, or nothing.
    pub(super) fn arg(&self, at: usize) -> &'a [u8] {
        self.args.get(at).copied().unwrap_or_default()
    }
}

/// Splits arguments at commas outside strings, names and brackets. Returns what follows the closing parenthesis.
fn arguments(text: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let (mut args, mut start, mut at, mut depth) = (Vec::new(), 0, 0, 0u32);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at = string_end(text, at)?,
            // The name of a file descriptor: it ends before a comma or a parenthesis.
            b'<' if text
                .get(start..at)?
                .trim_ascii()
                .iter()
                .all(u8::is_ascii_digit) =>
            {
                at = name_end(text, at)?;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                let last = text.get(start..at)?.trim_ascii();
                if !last.is_empty() || !args.is_empty() {
                    args.push(last);
                }
                return Some((args, text.get(at + 1..)?));
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                args.push(text.get(start..at)?.trim_ascii());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the position of the quote that ends a string.
pub(super) fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// Returns the position of the `>` that ends a name. `->` is part of the names of sockets.
fn name_end(text: &[u8], start: usize) -> Option<usize> {
    memchr::memchr_iter(b'>', text.get(start..)?)
        .map(|at| start + at)
        .find(|at| text.get(at + 1).is_none_or(|next| b",)( ".contains(next)))
}

/// Reads a file descriptor and its name: `3<TCP:[127.0.0.1:1->127.0.0.1:2]>`.
pub(super) fn descriptor(arg: &[u8]) -> Option<(u64, Vec<u8>)> {
    let (digits, rest) = digits(arg);
    let name = rest.strip_prefix(b"<").unwrap_or_default();
    let end = memchr::memrchr(b'>', name).unwrap_or(name.len());
    let mut unescaped = Vec::new();
    unescape(name.get(..end).unwrap_or_default(), &mut unescaped);
    Some((number(digits)?, unescaped))
}

/// Reads a string that begins with its quote. Appends its bytes; returns whether it was cut, and what follows.
pub(super) fn string<'a>(text: &'a [u8], out: &mut Vec<u8>) -> Option<(bool, &'a [u8])> {
    if text.first() != Some(&b'"') {
        return None;
    }
    let end = string_end(text, 0)?;
    unescape(text.get(1..end)?, out);
    let rest = text.get(end + 1..)?;
    Some(match rest.strip_prefix(b"...") {
        Some(rest) => (true, rest),
        None => (false, rest),
    })
}

/// Replaces escapes: `\n`, `\"`, `\x1f`, and octal ones of one to three digits.
fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        let Some((&first, after)) = rest.split_first() else {
            out.push(b'\\');
            return;
        };
        rest = after;
        let mut take = |radix: u32, most: usize, value: u32| {
            let mut value = value;
            for _ in 0..most {
                let Some(digit) = rest.first().and_then(|b| char::from(*b).to_digit(radix)) else {
                    break;
                };
                value = value * radix + digit;
                rest = rest.get(1..).unwrap_or_default();
            }
            value as u8
        };
        out.push(match first {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'f' => 0x0c,
            b'v' => 0x0b,
            b'a' => 0x07,
            b'b' => 0x08,
            b'e' => 0x1b,
            b'x' => take(16, 2, 0),
            digit @ b'0'..=b'7' => take(8, 2, u32::from(digit - b'0')),
            other => other,
        });
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_has_pid_and_time() {
        let second = 1_000_000_000;
        let day = time::of_day((10 * 3600 + 2 * 60 + 27) * second);
        let table: &[(&str, Option<u32>, Option<Time>)] = &[
            ("read(0", None, None),
            ("77  read(0", Some(77), None),
            ("[pid    77] read(0", Some(77), None),
            ("10:02:27 read(0", None, Some(day)),
            ("77 10:02:27.5 read(0", Some(77), Some(day + second / 2)),
            ("1795341791 read(0", None, Some(1_795_341_791 * second)),
            (
                "[pid 7] 1795341791.000012 read(0",
                Some(7),
                Some(1_795_341_791 * second + 12_000),
            ),
            ("     0.000123 read(0", None, None),
            ("10:02:27 (+     0.000123) read(0", None, Some(day)),
            ("[00007f0a12b4c0de] read(0", None, None),
            (
                "77<python3> 10:02:27 [  45] [00007f0a12b4c0de] read(0",
                Some(77),
                Some(day),
            ),
            ("[pid 77<a b>] read(0", Some(77), None),
            ("[????????????????] read(0", None, None),
        ];
        for (line, pid, time) in table {
            let got = prefix(line.trim_start().as_bytes());
            assert_eq!(got, (*pid, *time, &b"read(0"[..]), "{line}");
        }
    }

    #[test]
    fn call_has_arguments_and_value() {
        let table: &[(&str, &[&str], Option<u64>)] = &[
            (
                r#"read(0, "a,)\"", 9) = 5"#,
                &["0", r#""a,)\"""#, "9"],
                Some(5),
            ),
            (
                r#"read(3<TCP:[1.2.3.4:5->6.7.8.9:1]>, "", 1)   = 0 <0.01>"#,
                &["3<TCP:[1.2.3.4:5->6.7.8.9:1]>", r#""""#, "1"],
                Some(0),
            ),
            (
                r#"connect(3, {a=1, b=inet_addr("x")}, 16) = -1 EINPROGRESS (Operation now in progress)"#,
                &["3", r#"{a=1, b=inet_addr("x")}"#, "16"],
                None,
            ),
            ("fork()  = 12", &[], Some(12)),
            ("read(0, 0x7ffd, 4096) = ?", &["0", "0x7ffd", "4096"], None),
            (
                "accept(3</a,b>, NULL, NULL) = 4<TCP:[x]>",
                &["3</a,b>", "NULL", "NULL"],
                Some(4),
            ),
        ];
        for (text, args, value) in table {
            let call = SystemCall::read(text.as_bytes()).unwrap();
            let got: Vec<&str> = call
                .args
                .iter()
                .map(|arg| std::str::from_utf8(arg).unwrap())
                .collect();
            assert_eq!((got.as_slice(), call.value), (*args, *value), "{text}");
        }
        for text in [
            "read(0, \"a\", 1",
            "write(1, \"a\", 1);",
            "f(x) = y",
            "(0) = 1 ",
        ] {
            let call = SystemCall::read(text.as_bytes());
            assert!(call.is_none_or(|call| call.name.is_empty()), "{text}");
        }
    }

    #[test]
    fn string_is_unescaped() {
        let table: &[(&str, &[u8], bool)] = &[
            (r#""a\n\t\r\f\v\"\\""#, b"a\n\t\r\x0c\x0b\"\\", false),
            (r#""\0\08\1779\3774"..."#, b"\0\x008\x7f9\xff4", true),
            (r#""\x7b\x0a""#, b"{\n", false),
            (r#""""#, b"", false),
        ];
        for (text, bytes, cut) in table {
            let mut out = Vec::new();
            let (was_cut, rest) = string(text.as_bytes(), &mut out).unwrap();
            assert_eq!(
                (out.as_slice(), was_cut, rest),
                (*bytes, *cut, &b""[..]),
                "{text}"
            );
        }
    }
}
