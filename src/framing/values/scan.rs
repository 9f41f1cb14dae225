//! Where may a value that is not complete end? Looks at each byte once, however it arrives.

/// How far a value was read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scan {
    /// Bytes that were looked at.
    at: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Start,
    Json {
        /// Objects and arrays that are open.
        open: usize,
        in_string: bool,
        escaped: bool,
    },
    /// Values that are still to come, the one at hand included.
    MessagePack(u64),
}

impl Scan {
    /// Whether the value at the start of `bytes`, which begin as they did before, may end in them: then it is to be
    /// measured. Where no value begins, it may.
    pub(super) fn may_end(&mut self, bytes: &[u8]) -> bool {
        if matches!(self.state, State::Start) {
            self.state = match bytes.first() {
                Some(b'{' | b'[') => State::Json {
                    open: 0,
                    in_string: false,
                    escaped: false,
                },
                Some(_) => State::MessagePack(1),
                None => return false,
            };
        }
        match &mut self.state {
            State::Start => true,
            State::Json {
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
            State::MessagePack(left) => {
                while *left > 0 {
                    let rest = bytes.get(self.at..).unwrap_or_default();
                    let Some((size, inside)) = msgpack(rest) else {
                        return false;
                    };
                    // What reaches beyond the window is waited for.
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

/// Bytes of the value that begins here without those inside it, and how many are inside it; `None` where its head is not
/// complete. The reserved byte counts as a value: who measures it will refuse it.
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

#[cfg(test)]
mod tests {
    use super::Scan;
    use crate::encoding::{json, msgpack};

    /// It may end exactly where it does.
    #[test]
    fn a_scan_ends_where_the_value_does() {
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
        let ends = [
            json::measure(json, 128, false).unwrap().unwrap(),
            msgpack::measure(&packed, 128).unwrap().unwrap(),
        ];
        for (bytes, end) in [&json[..], &packed].into_iter().zip(ends) {
            for step in [1, 2, 7, 1000] {
                let mut scan = Scan::default();
                let (mut seen, mut ended) = (0, None);
                while seen < bytes.len() && ended.is_none() {
                    seen = (seen + step).min(bytes.len());
                    ended = scan.may_end(&bytes[..seen]).then_some(scan.at);
                }
                assert_eq!(ended, Some(end), "{step}");
            }
        }
    }
}
