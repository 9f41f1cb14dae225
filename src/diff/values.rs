//! Two values compared by what they mean, path by path.

use super::Ignore;
use crate::path::{Path, Step};
use crate::tape::{Node, Scalar, Value};
use std::borrow::Cow;
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
        } else if self.token(a) != self.token(b) {
            let path = path.clone();
            found.push(Difference { path, left, right });
        }
    }

    /// A digest of a value, the same for values between which nothing differs.
    pub fn digest(&self, node: Option<Node<'_>>, hasher: &mut dyn Hasher) {
        self.fold(node, &mut Path::new(), 0, hasher);
    }

    fn fold(&self, node: Option<Node<'_>>, path: &mut Path, depth: usize, hasher: &mut dyn Hasher) {
        if self.ignore.covers(self.kind, path) {
            return;
        }
        let Some(node) = self.there(node) else {
            return;
        };
        if node.is_map() && depth < DEPTH {
            for (key, value) in members(node) {
                hasher.write(key.as_bytes());
                hasher.write_u8(b':');
                path.push(Step::Member(key.into_owned()));
                self.fold(Some(value), path, depth + 1, hasher);
                path.pop();
            }
        } else if node.is_array() && depth < DEPTH {
            for (n, item) in node.children().enumerate() {
                path.push(Step::Element(n));
                self.fold(Some(item), path, depth + 1, hasher);
                path.pop();
            }
            hasher.write_u8(b']');
        } else {
            hasher.write(self.token(node).as_bytes());
            hasher.write_u8(b',');
        }
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
            Scalar::Name(v, ..) => v.to_string().into(),
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
            | Scalar::Number(_) => number(node, scalar),
        }
    }
}

/// A number by its value: `1` and `1.0` are the same, and so are a float and its wider self.
fn number<'a>(node: Node<'a>, scalar: Scalar<'a>) -> Cow<'a, str> {
    if let Some(whole) = node.as_i128() {
        return whole.to_string().into();
    }
    let float = match scalar {
        Scalar::F32(bits) => f32::from_bits(bits) as f64,
        Scalar::F64(bits) => f64::from_bits(bits),
        _ => {
            let text = node.number_text().unwrap_or_default();
            // What is no integer of this width and no plain fraction counts as it is spelled.
            match text.parse::<f64>() {
                Ok(float) if text.contains(['.', 'e', 'E']) && float.is_finite() => float,
                _ => return text.into(),
            }
        }
    };
    if float.is_nan() {
        "nan".into()
    } else {
        format!("{float:?}").into()
    }
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
