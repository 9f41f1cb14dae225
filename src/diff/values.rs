//! Two values compared by what they mean, path by path.

use super::Ignore;
use crate::path::{Path, Step};
use crate::select::number::Decimal;
use crate::tape::{Node, Scalar, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;

/// Deepest values that are looked into; below it, nothing is compared but the text.
const DEPTH: usize = 1000;

/// What of two messages differs at one path.
pub struct Difference<'a> {
    /// Where; the outermost value where the messages differ as a whole.
    pub path: Path,
    /// What the first has there.
    pub left: Option<Node<'a>>,
    /// What the second has there.
    pub right: Option<Node<'a>>,
}

/// How two values are compared.
#[derive(Clone, Copy)]
pub struct Meaning<'i> {
    /// What is passed over.
    pub ignore: &'i Ignore,
    /// The kind of the messages, which paths may be bound to.
    pub kind: &'i str,
    /// Peers re-encode what they relay: bytes that are UTF-8 count as text, nothing counts as absent.
    pub re_encoded: bool,
}

impl Meaning<'_> {
    /// What differs between two values; `None` is a value that is not there.
    pub fn compare<'a>(
        &self,
        left: Option<Node<'a>>,
        right: Option<Node<'a>>,
        found: &mut Vec<Difference<'a>>,
    ) {
        self.step(left, right, &mut Path::new(), 0, found);
    }

    fn step<'a>(
        &self,
        left: Option<Node<'a>>,
        right: Option<Node<'a>>,
        path: &mut Path,
        depth: usize,
        found: &mut Vec<Difference<'a>>,
    ) {
        if self.ignore.covers(self.kind, path) {
            return;
        }
        let (left, right) = (self.there(left), self.there(right));
        let (Some(a), Some(b)) = (left, right) else {
            if left.is_some() || right.is_some() {
                let path = path.clone();
                found.push(Difference { path, left, right });
            }
            return;
        };
        if a.is_map() && b.is_map() && depth < DEPTH {
            let (a, b) = (members(a), members(b));
            let keys: BTreeSet<&Cow<'_, str>> = a.keys().chain(b.keys()).collect();
            for key in keys {
                path.push(Step::Member(key.clone().into_owned()));
                let (left, right) = (a.get(key).copied(), b.get(key).copied());
                self.step(left, right, path, depth + 1, found);
                path.pop();
            }
        } else if a.is_array() && b.is_array() && depth < DEPTH {
            let (mut a, mut b) = (a.children(), b.children());
            for n in 0.. {
                let (left, right) = (a.next(), b.next());
                if left.is_none() && right.is_none() {
                    break;
                }
                path.push(Step::Element(n));
                self.step(left, right, path, depth + 1, found);
                path.pop();
            }
        } else if !self.is_same(a, b) {
            let path = path.clone();
            found.push(Difference { path, left, right });
        }
    }

    /// A digest of a value: the same for values between which nothing differs, and only for those. Where it tells apart
    /// what [`Meaning::compare`] does not is a float spelled in decimal with more digits than it needs.
    pub fn digest(&self, node: Option<Node<'_>>, hasher: &mut dyn Hasher) {
        let mut path = Path::new();
        match self.counts(node, &path) {
            Some(node) => self.fold(node, &mut path, 0, hasher),
            None => hasher.write_u8(b'-'),
        }
    }

    /// A value that is compared: there, and not passed over.
    fn counts<'a>(&self, node: Option<Node<'a>>, path: &Path) -> Option<Node<'a>> {
        let node = self.there(node);
        node.filter(|_| !self.ignore.covers(self.kind, path))
    }

    /// Every part has a mark, a length or an end, so that no two values fold to the same bytes.
    fn fold(&self, node: Node<'_>, path: &mut Path, depth: usize, hasher: &mut dyn Hasher) {
        if node.is_map() && depth < DEPTH {
            hasher.write_u8(b'{');
            for (key, value) in members(node) {
                path.push(Step::Member(key.clone().into_owned()));
                if let Some(value) = self.counts(Some(value), path) {
                    put(b':', key.as_bytes(), hasher);
                    self.fold(value, path, depth + 1, hasher);
                }
                path.pop();
            }
            hasher.write_u8(b'}');
        } else if node.is_array() && depth < DEPTH {
            hasher.write_u8(b'[');
            for (n, item) in node.children().enumerate() {
                path.push(Step::Element(n));
                if let Some(item) = self.counts(Some(item), path) {
                    // What is left out moves nothing.
                    hasher.write_u8(b'#');
                    hasher.write_u64(n as u64);
                    self.fold(item, path, depth + 1, hasher);
                }
                path.pop();
            }
            hasher.write_u8(b']');
        } else {
            put(b'=', self.token(node).as_bytes(), hasher);
        }
    }

    /// Whether two values, not both maps or both arrays, mean the same.
    fn is_same(&self, a: Node<'_>, b: Node<'_>) -> bool {
        self.token(a) == self.token(b) || is_rounded(a, b) || is_rounded(b, a)
    }

    /// Nothing is as good as absent where peers leave it out when they relay.
    fn there<'a>(&self, node: Option<Node<'a>>) -> Option<Node<'a>> {
        node.filter(|n| !(self.re_encoded && n.is_null()))
    }

    /// A text for a scalar: equal for scalars that mean the same, whatever their width.
    fn token<'a>(&self, node: Node<'a>) -> Cow<'a, str> {
        let string = |text: Cow<'a, str>| Cow::Owned(format!("\"{text}"));
        let Value::Scalar(scalar) = node.value() else {
            let text = String::from_utf8_lossy(node.span().of(node.bytes()));
            return Cow::Owned(format!("{}{text}", node.describe()));
        };
        match scalar {
            Scalar::Null => "null".into(),
            Scalar::Bool(v) => if v { "true" } else { "false" }.into(),
            Scalar::OddBool(v) => format!("bool {v}").into(),
            Scalar::Str(bytes) | Scalar::Json(bytes, _) => match node.text() {
                Some(text) => string(text),
                None => Cow::Owned(format!("str {}", hex::encode(bytes))),
            },
            Scalar::Bin(bytes) if self.re_encoded => match std::str::from_utf8(bytes) {
                Ok(text) => string(text.into()),
                Err(_) => Cow::Owned(format!("bin {}", hex::encode(bytes))),
            },
            Scalar::Bin(bytes) => Cow::Owned(format!("bin {}", hex::encode(bytes))),
            Scalar::Ext(kind, bytes) => Cow::Owned(format!("ext {kind} {}", hex::encode(bytes))),
            Scalar::Uint(_)
            | Scalar::Int(_)
            | Scalar::F32(_)
            | Scalar::F64(_)
            | Scalar::Name(..)
            | Scalar::Number(_) => number(scalar),
        }
    }
}

/// A number by its value, exactly: `1`, `1.0` and `10e-1` are the same, and so are a float and its wider self. A float is
/// the shortest number that reads back as it.
fn number(scalar: Scalar<'_>) -> Cow<'_, str> {
    let float = |float: f64| Cow::Owned(format!("{float:?}"));
    let text: Cow<'_, str> = match scalar {
        Scalar::Uint(n) => n.to_string().into(),
        Scalar::Int(n) | Scalar::Name(n, ..) => n.to_string().into(),
        Scalar::F32(bits) => float(f32::from_bits(bits) as f64),
        Scalar::F64(bits) => float(f64::from_bits(bits)),
        Scalar::Number(text) => String::from_utf8_lossy(text),
        _ => return Cow::Borrowed(""),
    };
    match Decimal::parse(&text).map(Decimal::canonical) {
        Some(Some(canonical)) => canonical.into(),
        // An exponent of that size counts as it is spelled, and no number of that size is made.
        Some(None) => format!("spelled {text}").into(),
        None => text,
    }
}

/// Whether a number spelled in decimal is this float: where peers re-encode, one may have written what another read, with
/// as many digits as it likes.
fn is_rounded(spelled: Node<'_>, float: Node<'_>) -> bool {
    let float = match float.value() {
        Value::Scalar(Scalar::F32(bits)) => f32::from_bits(bits) as f64,
        Value::Scalar(Scalar::F64(bits)) => f64::from_bits(bits),
        _ => return false,
    };
    let text = spelled.number_text();
    let text = text.filter(|text| text.contains(['.', 'e', 'E']));
    let read = text.and_then(|text| text.parse::<f64>().ok());
    let read = read.filter(|read| read.is_finite());
    read.and_then(|read| read.partial_cmp(&float)) == Some(Ordering::Equal)
}

/// Bytes that cannot run into others.
fn put(mark: u8, bytes: &[u8], hasher: &mut dyn Hasher) {
    hasher.write_u8(mark);
    hasher.write_u64(bytes.len() as u64);
    hasher.write(bytes);
}

/// A map by key; the last of a repeated key counts. Keys that are no text go by what they are.
fn members(map: Node<'_>) -> BTreeMap<Cow<'_, str>, Node<'_>> {
    map.members()
        .map(|(key, value)| {
            let name = key.text().unwrap_or_else(|| {
                let bytes = key.span().of(key.bytes());
                Cow::Owned(format!("{} {}", key.describe(), hex::encode(bytes)))
            });
            (name, value)
        })
        .collect()
}
