//! Blobs that a runtime stores for its servers. They are bounded; the oldest are removed first.

use crate::encoding::json::write_str;
use crate::encoding::lossless::write_scalar;
use crate::protocol::make::Object;
use crate::protocol::peer::RecentEntries;
use crate::tape::{Node, Value};
use sha2::{Digest as _, Sha256};

/// The largest number of blobs.
const COUNT: usize = 1 << 12;
/// The largest size of all blobs, in bytes.
const TOTAL: usize = 64 << 20;

/// Blobs by id, each as the answer to `blobs/get`.
#[derive(Debug)]
pub(super) struct Blobs {
    stored: RecentEntries<String, String>,
    total: usize,
    capacity: usize,
}

impl Default for Blobs {
    fn default() -> Self {
        Self::with_capacity(TOTAL)
    }
}

impl Blobs {
    fn with_capacity(capacity: usize) -> Self {
        Self {
            stored: RecentEntries::with_capacity(COUNT),
            total: 0,
            capacity,
        }
    }

    /// Stores data, and returns its id; `None` if it is too large.
    pub(super) fn put(&mut self, data: Node<'_>, sort: Option<&str>) -> Option<String> {
        let mut bytes = Vec::new();
        compact(data, &mut bytes);
        let id = hex::encode(Sha256::digest(&bytes));
        let data = String::from_utf8(bytes).ok()?;
        let answer = Object::default().json("data", &data);
        let answer = answer.text("blob_type", sort.unwrap_or("data")).finish();
        if answer.len() > self.capacity {
            return None;
        }
        self.remove(&id.clone());
        while self.total + answer.len() > self.capacity || self.stored.len() >= COUNT {
            let oldest = self.stored.iter().next().map(|(id, _)| id.clone())?;
            self.remove(&oldest);
        }
        self.total += answer.len();
        self.stored.insert(id.clone(), answer);
        Some(id)
    }

    fn remove(&mut self, id: &String) {
        let gone = self.stored.remove(id).map_or(0, |answer| answer.len());
        self.total = self.total.saturating_sub(gone);
    }

    /// Returns the answer to `blobs/get`.
    pub(super) fn get(&self, id: &str) -> Option<&str> {
        self.stored.get(&id.to_owned()).map(String::as_str)
    }
}

/// Writes a value as the runtime's serializer does: no blanks, keys in their order, numbers unchanged.
fn compact(node: Node<'_>, out: &mut Vec<u8>) {
    let (open, close) = if node.is_map() {
        (b'{', b'}')
    } else {
        (b'[', b']')
    };
    match node.value() {
        Value::Array | Value::Map => {
            out.push(open);
            for (at, child) in node.children().enumerate() {
                match at {
                    0 => {}
                    _ if node.is_map() && at % 2 == 1 => out.push(b':'),
                    _ => out.push(b','),
                }
                compact(child, out);
            }
            out.push(close);
        }
        Value::Scalar(scalar) => match node.text() {
            Some(text) => write_str(&text, out),
            None => write_scalar(scalar, out),
        },
        Value::Label(name) => write_str(name, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::peer::with_json;

    fn put(blobs: &mut Blobs, data: &str) -> Option<String> {
        with_json(data, |data| blobs.put(data, None)).expect("JSON")
    }

    #[test]
    fn an_id_is_the_hash_of_the_compact_text() {
        let mut blobs = Blobs::default();
        let id = put(&mut blobs, r#"{ "b" : [1, 2.50], "a":"\u0041" }"#).expect("room");
        assert_eq!(
            id,
            hex::encode(Sha256::digest(br#"{"b":[1,2.50],"a":"A"}"#))
        );
        let stored = blobs.get(&id);
        assert_eq!(
            stored,
            Some(r#"{"data":{"b":[1,2.50],"a":"A"},"blob_type":"data"}"#)
        );
    }

    #[test]
    fn full_storage_removes_the_oldest_blobs() {
        let mut blobs = Blobs::with_capacity(100);
        let first = put(&mut blobs, "\"first\"").expect("room");
        assert_eq!(put(&mut blobs, &format!("\"{}\"", "x".repeat(100))), None);
        let second = put(&mut blobs, "\"second\"").expect("room");
        assert!(blobs.get(&first).is_some() && blobs.get(&second).is_some());
        let third = put(&mut blobs, "\"third\"").expect("room");
        assert!(blobs.get(&first).is_none() && blobs.get(&third).is_some());
        assert_eq!(
            blobs.total,
            blobs.stored.iter().map(|(_, a)| a.len()).sum::<usize>()
        );
    }
}
