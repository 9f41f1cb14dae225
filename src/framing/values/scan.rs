//! Finds the possible end of an incomplete value. Each byte is examined once, for any split.

use crate::encoding::cbor::{Inside, head_size};

/// The progress in a value.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueScan {
    /// The number of examined bytes.
    at: usize,
    state: ScanState,
}

#[derive(Clone, Debug, Default)]
enum ScanState {
    #[default]
    Start,
    Json {
        /// The number of open objects and arrays.
        open: usize,
        in_string: bool,
        escaped: bool,
    },
    /// The number of values that follow, the current one included.
    MessagePack(u64),
    Cbor(CborLevels),
}

impl ValueScan {
    /// Returns `true` if the value at the start of `bytes` may end in them, and is to be measured;
    /// also if no value starts there. `bytes` must extend those of the last call.
    pub(super) fn may_end(&mut self, bytes: &[u8], is_cbor: bool) -> bool {
        if matches!(self.state, ScanState::Start) {
            self.state = match bytes.first() {
                Some(b'{' | b'[') => ScanState::Json {
                    open: 0,
                    in_string: false,
                    escaped: false,
                },
                Some(_) if is_cbor => ScanState::Cbor(CborLevels::default()),
                Some(_) => ScanState::MessagePack(1),
                None => return false,
            };
        }
        match &mut self.state {
            ScanState::Start => true,
            ScanState::Json {
                open,
                in_string,
                escaped,
            } => {
                let rest = bytes.get(self.at..).unwrap_or_default();
                for byte in rest {
                    self.at += 1;
                    match byte {
                        _ if *escaped => *escaped = false,
                        b'\\' if *in_string => *escaped = true,
                        b'"' => *in_string = !*in_string,
                        _ if *in_string => {}
                        b'{' | b'[' => *open += 1,
                        b'}' | b']' => {
                            *open = open.saturating_sub(1);
                            if *open == 0 {
                                return true;
                            }
                        }
                        _ => {}
                    }
                }
                false
            }
            ScanState::Cbor(levels) => levels.may_end(bytes, &mut self.at),
            ScanState::MessagePack(left) => {
                while *left > 0 {
                    let rest = bytes.get(self.at..).unwrap_or_default();
                    let Some((size, inside)) = msgpack(rest) else {
                        return false;
                    };
                    // Waits for bytes beyond the window.
                    if size > rest.len() as u64 {
                        return false;
                    }
                    self.at += size as usize;
                    *left = left.saturating_add(inside) - 1;
                }
                true
            }
        }
    }
}

/// Returns the length of the value that starts here without the values inside it, and their number;
/// `None` if its header is not complete. The reserved byte counts as a value: the measurement
/// refuses it.
fn msgpack(bytes: &[u8]) -> Option<(u64, u64)> {
    let number = |size: usize| {
        let digits = bytes.get(1..=size)?;
        Some(digits.iter().fold(0, |n, byte| n << 8 | *byte as u64))
    };
    Some(match *bytes.first()? {
        0x00..=0x7f | 0xc0..=0xc3 | 0xe0..=0xff => (1, 0),
        byte @ 0x80..=0x8f => (1, 2 * (byte as u64 & 15)),
        byte @ 0x90..=0x9f => (1, byte as u64 & 15),
        byte @ 0xa0..=0xbf => (1 + (byte as u64 & 31), 0),
        0xc4 | 0xd9 => (2 + number(1)?, 0),
        0xc5 | 0xda => (3 + number(2)?, 0),
        0xc6 | 0xdb => (5 + number(4)?, 0),
        0xc7 => (3 + number(1)?, 0),
        0xc8 => (4 + number(2)?, 0),
        0xc9 => (6 + number(4)?, 0),
        0xcc | 0xd0 => (2, 0),
        0xcd | 0xd1 | 0xd4 => (3, 0),
        0xca | 0xce | 0xd2 => (5, 0),
        0xcb | 0xcf | 0xd3 => (9, 0),
        0xd5 => (4, 0),
        0xd6 => (6, 0),
        0xd7 => (10, 0),
        0xd8 => (18, 0),
        0xdc => (3, number(2)?),
        0xdd => (5, number(4)?),
        0xde => (3, 2 * number(2)?),
        0xdf => (5, 2 * number(4)?),
    })
}

/// The deepest nesting that is followed; a deeper value is measured as soon as it may be too deep.
const MAX_OPEN: usize = 1024;

/// The levels of a value of CBOR: the number of values that are still to come on each; `None` up to a break.
#[derive(Clone, Debug, Default)]
struct CborLevels(Vec<Option<u64>>);

impl CborLevels {
    /// Examines bytes from `at` on.
    fn may_end(&mut self, bytes: &[u8], at: &mut usize) -> bool {
        loop {
            let rest = bytes.get(*at..).unwrap_or_default();
            let Some((size, inside)) = head_size(rest) else {
                // No argument has more than 8 bytes: a longer head is malformed.
                return rest.len() > 8;
            };
            // Waits for bytes beyond the window.
            if size > rest.len() as u64 {
                return false;
            }
            *at += size as usize;
            match inside {
                Inside::Values(0) => {}
                Inside::Values(count) => self.0.push(Some(count)),
                Inside::Open => self.0.push(None),
                Inside::Break if self.0.pop() == Some(None) => {}
                Inside::Break => return true,
            }
            if self.0.len() > MAX_OPEN {
                return true;
            }
            if matches!(inside, Inside::Values(0) | Inside::Break) && self.end_value() {
                return true;
            }
        }
    }

    /// Counts a value that ended, with those that end with it. Returns `true` at the end of the outermost one.
    fn end_value(&mut self) -> bool {
        while let Some(Some(left)) = self.0.last_mut() {
            *left -= 1;
            if *left > 0 {
                return false;
            }
            self.0.pop();
        }
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::ValueScan;
    use crate::encoding::{cbor, json, msgpack};

    /// The scan may end exactly at the end of the value.
    #[test]
    fn scan_ends_with_the_value() {
        let json = br#"{"a":["}]\"\\",{"b":{}}, "\\"],"c":"[" } "#;
        let mut packed = Vec::new();
        let value = rmpv::Value::Map(vec![
            ("nil".into(), rmpv::Value::Nil),
            ("text".into(), "x".repeat(300).into()),
            (rmpv::Value::Array(vec![]), (-70_000).into()),
            (1.5.into(), rmpv::Value::Binary(vec![0x93; 40])),
            (u64::MAX.into(), rmpv::Value::Ext(3, vec![0xdf; 5])),
            ("many".into(), vec![rmpv::Value::from(0x1234); 20].into()),
            ("ext".into(), rmpv::Value::Ext(1, vec![1; 16])),
        ]);
        rmpv::encode::write_value(&mut packed, &value).unwrap();
        let open = "bf6161c29f4101ff61628201a0617f7f626161626262ff00f97e00ff00";
        let open = hex::decode(open).unwrap();
        for (bytes, end, is_cbor) in [
            (&json[..], json::measure(json, 128, false), false),
            (&packed, msgpack::measure(&packed, 128), false),
            (&open, cbor::measure(&open, 128), true),
        ] {
            let end = end.unwrap().unwrap();
            for step in [1, 2, 7, 1000] {
                let mut scan = ValueScan::default();
                let (mut seen, mut ended) = (0, None);
                while seen < bytes.len() && ended.is_none() {
                    seen = (seen + step).min(bytes.len());
                    ended = scan.may_end(&bytes[..seen], is_cbor).then_some(scan.at);
                }
                assert_eq!(ended, Some(end), "{step}");
            }
        }
    }
}
