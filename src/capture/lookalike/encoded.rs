//! Texts that another program turns into the bytes of messages.

use super::LookAlike;

/// Texts that a command turns into what is inside.
pub(super) fn encoded_text(text: &str) -> Option<(&'static str, &'static str)> {
    const LEAST: usize = 32;
    let first = text.lines().next()?;
    let lines = || text.lines().map(str::trim_end);
    let is_digit = |c: char| matches!(c, '2'..='7');
    let is_base32 = |line: &str| {
        let bare = line.trim_end_matches('=');
        bare.chars().all(|c| c.is_ascii_uppercase() || is_digit(c))
    };
    // Hex in capital letters has no such letter.
    let is_late = |c: char| matches!(c, 'G'..='Z');
    if first.len() >= LEAST
        && lines().all(is_base32)
        && text.contains(is_digit)
        && text.contains(is_late)
    {
        return Some(("Base32", "base32 -d FILE | wiretool decode"));
    }
    if let Some(dump) = dump_of_bytes(text, first) {
        return Some(dump);
    }
    if first.contains("\\{\\\"")
        && first.contains("\\\":")
        && !first.replace("\\\"", "").contains('"')
    {
        return Some((
            "messages as printf %q of bash quotes them",
            "sed 's/\\\\\\(.\\)/\\1/g' FILE | wiretool decode",
        ));
    }
    None
}

/// Names text in an encoding that is not UTF-8, as logs on Windows are: most of it is ASCII, with JSON.
pub(super) fn of_other_encoding(bytes: &[u8]) -> Option<LookAlike> {
    let is_text = |c: &&u8| c.is_ascii_graphic() || c.is_ascii_whitespace();
    let count = bytes.iter().filter(is_text).count();
    let is_mostly_text = 2 * count > bytes.len() && !bytes.contains(&0);
    let has_json = memchr::memmem::find(bytes, b"\":").is_some();
    (is_mostly_text && has_json).then_some((
        "text that is not in UTF-8".into(),
        "iconv -f ENCODING -t UTF-8 FILE | wiretool, with CP932, GBK or another ENCODING",
    ))
}

/// Dumps of bytes that other programs convert.
fn dump_of_bytes(text: &str, first: &str) -> Option<(&'static str, &'static str)> {
    const LEAST: usize = 8;
    let is_hex_after = |line: &str, mark: char| {
        let digits = line.strip_prefix(mark).unwrap_or_default();
        digits.len() >= LEAST && digits.bytes().all(|c| c.is_ascii_hexdigit())
    };
    let octal_escapes = text.split('\\').skip(1).filter(|after| {
        let digits = after.bytes().take_while(|c| matches!(c, b'0'..=b'7'));
        digits.count() >= 3
    });
    let octal_escapes = octal_escapes.count();
    Some(match () {
        () if is_uuencoded(text) => (
            "a uuencoded file",
            "uudecode -o /dev/stdout FILE | wiretool decode",
        ),
        () if is_hex_after(first, ':') => (
            "Intel HEX",
            "objcopy -I ihex -O binary FILE FILE.bin writes the bytes",
        ),
        () if first.starts_with("S0") && is_hex_after(first, 'S') => (
            "S-records of Motorola",
            "objcopy -I srec -O binary FILE FILE.bin writes the bytes",
        ),
        () if first.contains(" db ") && first.ends_with('h') => (
            "bytes in assembly language",
            "copy them as hex: IDA has Edit, Export data; Ghidra has Copy Special, Byte String",
        ),
        () if octal_escapes >= LEAST => (
            "bytes with octal escapes",
            "print them in hex: xxd, od -t x1, in PostgreSQL SET bytea_output = 'hex'",
        ),
        () => return None,
    })
}

/// Returns true for `begin 644 name` and a full line of 45 bytes, or the only one.
fn is_uuencoded(text: &str) -> bool {
    let mut lines = text.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let is_mode = |word: &str| word.len() >= 3 && word.bytes().all(|c| c.is_ascii_digit());
    words.next() == Some("begin")
        && words.next().is_some_and(is_mode)
        && lines
            .next()
            .is_some_and(|line| line.bytes().all(|c| matches!(c, b' '..=b'`')))
}
