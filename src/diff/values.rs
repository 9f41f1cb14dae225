//! Compares two values by meaning, path by path.

use super::{CompareDepth, IdUse, Ignore, MessageName, Val};
use crate::path::{Path, PathStep};
use crate::select::number::Decimal;
use crate::tape::{Node, Scalar, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hasher};

/// The maximum depth of a comparison by value; below it, only the text is compared.
const DEPTH: usize = 1000;

/// A difference between two messages at one path.
pub struct ValueDifference<'a> {
    /// The path; the outermost value if the messages differ as a whole.
    pub path: Path,
    /// The value of the first.
    pub left: Option<Node<'a>>,
    /// The value of the second.
    pub right: Option<Node<'a>>,
    /// The expected value of the second, if known: the id that corresponds to that of the first.
    pub wanted: Option<Val>,
}

/// The result of a comparison.
#[derive(Default)]
pub struct FoundDifferences<'a> {
    /// The differences.
    pub differences: Vec<ValueDifference<'a>>,
    /// The number of fields that the project's settings ignore.
    pub ignored: u64,
}

/// Decides if two values correspond: two ids of a group, or without a group two other values that
/// differ. `Err` holds the value that corresponds to the first, if known.
pub type Same<'s> =
    dyn FnMut(Option<IdUse>, &Path, Node<'_>, Node<'_>) -> Result<(), Option<Val>> + 's;

/// Returns the number of an id of a group, equal for ids that correspond.
pub type Number<'s> = dyn Fn(IdUse, &Val) -> Option<u64> + 's;

/// The rules for the comparison of two values.
#[derive(Clone, Copy)]
pub struct Meaning<'i> {
    /// The paths that are ignored.
    pub ignore: &'i Ignore,
    /// The kind and the subject of the messages, to which paths can be limited.
    pub name: MessageName<'i>,
    /// Peers re-encode relayed messages: bytes that are UTF-8 equal text, and null equals absence.
    pub re_encoded: bool,
    /// An object without members equals absence.
    pub empty_is_absent: bool,
}

impl Meaning<'_> {
    /// Compares two values; `None` is an absent value.
    pub fn compare<'a>(
        &self,
        left: Option<Node<'a>>,
        right: Option<Node<'a>>,
        same: &mut Same<'_>,
        found: &mut FoundDifferences<'a>,
    ) {
        self.step([left, right], &mut Path::new(), 0, same, found);
    }

    fn step<'a>(
        &self,
        [left, right]: [Option<Node<'a>>; 2],
        path: &mut Path,
        depth: usize,
        same: &mut Same<'_>,
        found: &mut FoundDifferences<'a>,
    ) {
        let counts = self.ignore.counts(self.name, path);
        match counts {
            CompareDepth::Nothing => return,
            CompareDepth::NothingBySettings => {
                found.ignored += u64::from(left.is_some() || right.is_some());
                return;
            }
            _ => {}
        }
        let (left, right) = (self.present(left), self.present(right));
        let differs = |path: &Path, wanted| ValueDifference {
            path: path.clone(),
            left,
            right,
            wanted,
        };
        let (Some(a), Some(b)) = (left, right) else {
            let one = left.or(right);
            if let Some(map) = one.filter(|map| self.empty_is_absent && map.is_map())
                && depth < DEPTH
            {
                for (key, value) in members(map) {
                    path.push(PathStep::Member(key.0.into_owned()));
                    let sides = [left.map(|_| value), right.map(|_| value)];
                    self.step(sides, path, depth + 1, same, found);
                    path.pop();
                }
                return;
            }
            if left.is_some() || right.is_some() {
                found.differences.push(differs(path, None));
            }
            return;
        };
        match counts {
            CompareDepth::Presence if a.is_null() == b.is_null() => return,
            CompareDepth::Id(used) | CompareDepth::Opaque(used) if are_ids(used, a, b) => {
                if let Err(wanted) = same(Some(used), path, a, b) {
                    found.differences.push(differs(path, wanted));
                }
                return;
            }
            _ => {}
        }
        if a.is_map() && b.is_map() && depth < DEPTH {
            let (a, b) = (members(a), members(b));
            let keys: BTreeSet<&MemberKey<'_>> = a.keys().chain(b.keys()).collect();
            for key in keys {
                path.push(PathStep::Member(key.0.clone().into_owned()));
                let sides = [a.get(key).copied(), b.get(key).copied()];
                self.step(sides, path, depth + 1, same, found);
                path.pop();
            }
        } else if a.is_array() && b.is_array() && depth < DEPTH {
            let [mut a, mut b] = if path.is_empty() {
                self.members_of_batch([a, b], path, same)
            } else {
                self.elements([a, b], counts == CompareDepth::Unordered, path)
            };
            for n in 0.. {
                let sides = [a.next(), b.next()];
                if sides.iter().all(Option::is_none) {
                    break;
                }
                path.push(PathStep::Element(n));
                self.step(sides, path, depth + 1, same, found);
                path.pop();
            }
        } else if !self.is_same(a, b) && same(None, path, a, b).is_err() {
            found.differences.push(differs(path, None));
        }
    }

    /// Returns the elements of two arrays that are whole messages. Answers in a batch have any order (JSON-RPC 2.0
    /// section 6): those whose ids correspond have the same place.
    fn members_of_batch<'a>(
        &self,
        arrays: [Node<'a>; 2],
        path: &mut Path,
        same: &mut Same<'_>,
    ) -> [Box<dyn Iterator<Item = Node<'a>> + 'a>; 2] {
        let has_id = |array: &Node<'a>| array.at(0).is_some_and(Node::is_map);
        if !arrays.iter().all(has_id) {
            return self.elements(arrays, false, path);
        }
        let [a, mut b] = arrays.map(|array| array.children().collect::<Vec<_>>());
        let mut places: Option<HashMap<Val, usize>> = None;
        for (n, member) in a.iter().enumerate() {
            path.push(PathStep::Element(n));
            let wanted = self.corresponding_id(*member, b.get(n).copied(), path, same);
            let id_of = |other: Node<'_>| self.id_of(other, path).and_then(|(node, _)| id(node));
            if let Some(wanted) = wanted {
                let places = places.get_or_insert_with(|| {
                    let ids = b.iter().enumerate();
                    ids.filter_map(|(at, one)| Some((id_of(*one)?, at)))
                        .collect()
                });
                if let Some(at) = places.get(&wanted).copied().filter(|at| *at > n) {
                    b.swap(n, at);
                    let moved = b.get(at).and_then(|moved| id_of(*moved));
                    places.extend(moved.map(|moved| (moved, at)));
                }
            }
            path.pop();
        }
        [Box::new(a.into_iter()), Box::new(b.into_iter())]
    }

    /// Returns the id of B that corresponds to that of a member of A, if the member of B at its place has another one.
    fn corresponding_id(
        &self,
        a: Node<'_>,
        b: Option<Node<'_>>,
        path: &mut Path,
        same: &mut Same<'_>,
    ) -> Option<Val> {
        let (one, used) = self.id_of(a, path)?;
        let (other, _) = self.id_of(b?, path)?;
        same(Some(used), path, one, other).err().flatten()
    }

    /// Returns the id of a member of a batch, whose path is given.
    fn id_of<'a>(&self, member: Node<'a>, path: &Path) -> Option<(Node<'a>, IdUse)> {
        member.members().find_map(|(key, value)| {
            let mut path = path.clone();
            path.push(PathStep::Member(key.text()?.into_owned()));
            match self.ignore.counts(self.name, &path) {
                CompareDepth::Id(used) => Some((value, used)),
                _ => None,
            }
        })
    }

    /// Returns the elements of two arrays. Without an order, equal ones come first.
    fn elements<'a>(
        &self,
        arrays: [Node<'a>; 2],
        is_unordered: bool,
        path: &mut Path,
    ) -> [Box<dyn Iterator<Item = Node<'a>> + 'a>; 2] {
        if !is_unordered {
            // The elements of a long array are not collected.
            return arrays.map(|array| Box::new(array.children()) as Box<_>);
        }
        let [mut a, mut b] = arrays.map(|array| array.children().collect::<Vec<_>>());
        self.align_equal(&mut a, &mut b, path);
        [Box::new(a.into_iter()), Box::new(b.into_iter())]
    }

    /// Sorts equal items to the start of both lists, in one order, and keeps the order of the
    /// others.
    fn align_equal<'a>(&self, a: &mut Vec<Node<'a>>, b: &mut Vec<Node<'a>>, path: &mut Path) {
        let mut count = BTreeMap::<u64, usize>::new();
        for digest in self.digests(b, path) {
            *count.entry(digest).or_default() += 1;
        }
        let mut common = BTreeMap::<u64, usize>::new();
        for digest in self.digests(a, path) {
            if let Some(left) = count.get_mut(&digest).filter(|left| **left > 0) {
                *left -= 1;
                *common.entry(digest).or_default() += 1;
            }
        }
        for items in [a, b] {
            let mut left = common.clone();
            let digests = self.digests(items, path);
            let mut keyed: Vec<_> = (digests.into_iter().zip(items.drain(..)))
                .map(|(digest, item)| {
                    let is_common = left.get_mut(&digest).filter(|left| **left > 0);
                    (
                        is_common
                            .map(|left| *left -= 1)
                            .map_or((true, 0), |()| (false, digest)),
                        item,
                    )
                })
                .collect();
            keyed.sort_by_key(|(key, _)| *key);
            items.extend(keyed.into_iter().map(|(_, item)| item));
        }
    }

    /// Returns the digests of items whose order is ignored.
    fn digests(&self, items: &[Node<'_>], path: &mut Path) -> Vec<u64> {
        let digest = |item: &Node<'_>| {
            let mut hasher = DefaultHasher::new();
            path.push(PathStep::Element(0));
            if let Some((item, _)) = self.counted(*item, path) {
                self.fold(item, CompareDepth::All, path, 0, &|_, _| None, &mut hasher);
            }
            path.pop();
            hasher.finish()
        };
        items.iter().map(digest).collect()
    }

    /// Computes a digest of a value: equal exactly for values without differences. One exception:
    /// it distinguishes a decimal float with more digits than necessary, which [`Meaning::compare`]
    /// does not.
    pub fn digest(&self, node: Option<Node<'_>>, number: &Number<'_>, hasher: &mut dyn Hasher) {
        match self.present(node) {
            Some(node) => self.fold(node, CompareDepth::All, &mut Path::new(), 0, number, hasher),
            None => hasher.write_u8(b'-'),
        }
    }

    /// Returns a value that is compared: present, and not ignored.
    fn counted<'a>(&self, node: Node<'a>, path: &Path) -> Option<(Node<'a>, CompareDepth)> {
        let counts = self.ignore.counts(self.name, path);
        let is_ignored = matches!(
            counts,
            CompareDepth::Nothing | CompareDepth::NothingBySettings
        );
        let node = self.present(Some(node)).filter(|_| !is_ignored)?;
        Some((node, counts))
    }

    /// Every part has a mark, a length or an end, so that different values give different bytes.
    fn fold(
        &self,
        node: Node<'_>,
        counts: CompareDepth,
        path: &mut Path,
        depth: usize,
        number: &Number<'_>,
        hasher: &mut dyn Hasher,
    ) {
        match (counts, id(node)) {
            (CompareDepth::Presence | CompareDepth::Opaque(_), _) => {
                return hasher.write_u8(if node.is_null() { b'0' } else { b'1' });
            }
            (CompareDepth::Id(used), Some(val)) => {
                hasher.write_u8(b'@');
                return hasher.write_u64(number(used, &val).unwrap_or(u64::MAX));
            }
            _ => {}
        }
        if node.is_map() && depth < DEPTH {
            hasher.write_u8(b'{');
            for ((key, nth), value) in members(node) {
                path.push(PathStep::Member(key.clone().into_owned()));
                if let Some((value, counts)) = self.counted(value, path) {
                    write_part(b':', key.as_bytes(), hasher);
                    hasher.write_u32(nth);
                    self.fold(value, counts, path, depth + 1, number, hasher);
                }
                path.pop();
            }
            hasher.write_u8(b'}');
        } else if node.is_array() && depth < DEPTH {
            hasher.write_u8(b'[');
            if counts == CompareDepth::Unordered {
                let items: Vec<_> = node.children().collect();
                let mut digests = self.digests(&items, path);
                digests.sort_unstable();
                for digest in digests {
                    hasher.write_u64(digest);
                }
                return;
            }
            for (n, item) in node.children().enumerate() {
                path.push(PathStep::Element(n));
                if let Some((item, counts)) = self.counted(item, path) {
                    // An ignored item does not change the position of others.
                    hasher.write_u8(b'#');
                    hasher.write_u64(n as u64);
                    self.fold(item, counts, path, depth + 1, number, hasher);
                }
                path.pop();
            }
            hasher.write_u8(b']');
        } else {
            write_part(b'=', self.token(node).as_bytes(), hasher);
        }
    }

    /// Returns `true` if two values, not both maps or both arrays, have the same meaning.
    fn is_same(&self, a: Node<'_>, b: Node<'_>) -> bool {
        self.token(a) == self.token(b) || is_rounded(a, b) || is_rounded(b, a)
    }

    /// Null equals absence if peers drop it when they relay a message.
    fn present<'a>(&self, node: Option<Node<'a>>) -> Option<Node<'a>> {
        node.filter(|n| !(self.re_encoded && n.is_null()))
    }

    /// Returns a text for a scalar, equal for scalars with the same meaning, independent of width.
    fn token<'a>(&self, node: Node<'a>) -> Cow<'a, str> {
        let string = |text: Cow<'a, str>| Cow::Owned(format!("\"{text}"));
        let Value::Scalar(scalar) = node.value() else {
            let text = String::from_utf8_lossy(node.span().of(node.bytes()));
            return Cow::Owned(format!("{}{text}", node.describe()));
        };
        match scalar {
            Scalar::Null => "null".into(),
            Scalar::Bool(v) => if v { "true" } else { "false" }.into(),
            Scalar::BoolByte(v) => format!("bool {v}").into(),
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
            | Scalar::Negative(_)
            | Scalar::F32(_)
            | Scalar::F64(_)
            | Scalar::Name(..)
            | Scalar::Number(_) => number(scalar),
        }
    }
}

/// Returns a number by its exact value: `1`, `1.0` and `10e-1` are equal, and so are a float and
/// its wider form. A float is the shortest number that reads back as it.
fn number(scalar: Scalar<'_>) -> Cow<'_, str> {
    let float = |float: f64| Cow::Owned(format!("{float:?}"));
    let text: Cow<'_, str> = match scalar {
        Scalar::Uint(n) => n.to_string().into(),
        Scalar::Int(n) | Scalar::Name(n, ..) => n.to_string().into(),
        Scalar::Negative(n) => (-1 - i128::from(n)).to_string().into(),
        Scalar::F32(bits) => float(f32::from_bits(bits) as f64),
        Scalar::F64(bits) => float(f64::from_bits(bits)),
        Scalar::Number(text) => String::from_utf8_lossy(text),
        _ => return Cow::Borrowed(""),
    };
    match Decimal::parse(&text).map(Decimal::canonical) {
        Some(Some(canonical)) => canonical.into(),
        // Such an exponent is compared as text, and no number of that size is created.
        Some(None) => format!("spelled {text}").into(),
        None => text,
    }
}

/// Returns `true` if a decimal number equals this float: a peer that re-encodes messages can write
/// any number of digits.
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

/// Writes bytes with a mark and their length, so that they cannot run into others.
fn write_part(mark: u8, bytes: &[u8], hasher: &mut dyn Hasher) {
    hasher.write_u8(mark);
    hasher.write_u64(bytes.len() as u64);
    hasher.write(bytes);
}

/// Returns a value that can be an id. An empty text, like null, means absence.
fn id(node: Node<'_>) -> Option<Val> {
    Val::of(node).filter(|val| !val.is_empty())
}

/// A key, and the number of earlier equal keys in its map.
type MemberKey<'a> = (Cow<'a, str>, u32);

/// Returns a map by key. Keys that are not text are represented by their type and bytes.
fn members(map: Node<'_>) -> BTreeMap<MemberKey<'_>, Node<'_>> {
    let name = |key: Node<'_>| {
        let bytes = key.span().of(key.bytes());
        Cow::Owned(format!("{} {}", key.describe(), hex::encode(bytes)))
    };
    let members = map.members();
    let members = members.map(|(key, value)| (key.text().unwrap_or_else(|| name(key)), value));
    let mut members: Vec<_> = members.collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    let (mut last, mut nth) = (None, 0);
    let members = members.into_iter().map(|(key, value)| {
        nth = if last.as_ref() == Some(&key) {
            nth + 1
        } else {
            0
        };
        last = Some(key.clone());
        ((key, nth), value)
    });
    members.collect()
}

/// Returns `true` if both values can be ids of a group.
fn are_ids(used: IdUse, a: Node<'_>, b: Node<'_>) -> bool {
    if used.is_opaque {
        !a.is_null() && !b.is_null()
    } else {
        id(a).zip(id(b)).is_some()
    }
}
