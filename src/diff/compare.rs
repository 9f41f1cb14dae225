//! Compares two corresponding messages field by field.

use super::values::{FoundDifferences, Meaning, Number, Same, ValueDifference};
use super::{Ignore, MessageName, StoredMessage};
use crate::encoding::{Parsed, Want};
use crate::framing::View;
use crate::path::Path;
use crate::protocol::{Notes, PartName, Protocol, annotate};
use crate::render::fields::brief;
use crate::span::Span;
use crate::tape::Node;
use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::ops::Range;

/// The number of bytes of a value that are stored.
const MAX_BYTES: usize = 16;

/// The value at a path on one side: its text, and its range in its direction's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffValue {
    /// The value, shortened.
    pub text: String,
    /// The range of its bytes.
    pub range: Range<u64>,
    /// Its first bytes, as encoded; empty for the whole message.
    pub bytes: Vec<u8>,
    /// `true` if it must not be shown unless requested.
    pub secret: bool,
}

/// A difference at one path of two messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldDifference {
    /// `params.calldata[0]`; empty for the whole message.
    pub path: String,
    /// The value of A.
    pub left: Option<DiffValue>,
    /// The value of B.
    pub right: Option<DiffValue>,
    /// The expected value of B: the number that corresponds to that of A.
    pub wanted: Option<String>,
}

/// Compares pairs of messages of a protocol.
pub struct Compare<'d> {
    protocol: &'d dyn Protocol,
    ignore: &'d Ignore,
    parsed: [Parsed; 2],
    empty_is_absent: bool,
    /// The number of fields that the project's settings ignored.
    pub ignored: u64,
}

fn meaning<'k>(
    protocol: &dyn Protocol,
    ignore: &'k Ignore,
    message: &'k StoredMessage,
    parts: &'k [PartName],
) -> Meaning<'k> {
    Meaning {
        ignore,
        name: MessageName {
            parts,
            ..message.name_in_pair()
        },
        re_encoded: protocol.descriptor().is_re_encoded,
        empty_is_absent: false,
    }
}

/// Computes a digest of a value, equal for equal values.
pub(super) fn digest_of(value: Node<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let meaning = Meaning {
        ignore: &Ignore::default(),
        name: MessageName::default(),
        re_encoded: false,
        empty_is_absent: false,
    };
    meaning.digest(Some(value), &|_, _| None, &mut hasher);
    hasher.finish()
}

impl<'d> Compare<'d> {
    /// Creates a comparison of messages with at most `depth` levels.
    pub fn new(protocol: &'d dyn Protocol, ignore: &'d Ignore, depth: u32) -> Self {
        Self {
            protocol,
            ignore,
            parsed: [(); 2].map(|()| Parsed::new(Want::Places, depth)),
            empty_is_absent: false,
            ignored: 0,
        }
    }

    /// Returns a comparison for which an absent member equals an object without members, or with ignored ones only.
    #[must_use]
    pub fn without_empty(self) -> Self {
        Self {
            empty_is_absent: true,
            ..self
        }
    }

    /// Computes a digest of a message, equal for messages without differences.
    pub fn digest(&mut self, message: &StoredMessage, hasher: &mut dyn Hasher) {
        self.digest_with(message, &|_, _| None, hasher);
    }

    /// Computes a digest like [`Compare::digest`]. `number` returns the numbers of ids that
    /// correspond.
    pub fn digest_with(
        &mut self,
        message: &StoredMessage,
        number: &Number<'_>,
        mut hasher: &mut dyn Hasher,
    ) {
        message.kind.hash(&mut hasher);
        message.fault.hash(&mut hasher);
        let (view, protocol, ignore) = (message.view(), self.protocol, self.ignore);
        let [parsed, _] = &mut self.parsed;
        message.read(self.protocol, parsed, |read| {
            match read.value.and_then(|parsed| parsed.root(view.bytes)) {
                Some(root) if read.valid => {
                    let parts = protocol.part_names(root);
                    let meaning = meaning(protocol, ignore, message, &parts);
                    meaning.digest(Some(root), number, hasher);
                }
                // The body of a refusal is a text for people.
                _ => match message.http_status() {
                    Some(status) => status.hash(&mut hasher),
                    None => view.body().hash(&mut hasher),
                },
            }
        });
    }

    /// Returns the differences between two messages, except values that are equal according to
    /// `same`.
    pub fn fields(
        &mut self,
        a: &StoredMessage,
        b: &StoredMessage,
        same: &mut dyn FnMut(Node<'_>, Node<'_>) -> bool,
    ) -> Vec<FieldDifference> {
        let mut same = |_: Option<_>, _: &Path, a: Node<'_>, b: Node<'_>| {
            if same(a, b) { Ok(()) } else { Err(None) }
        };
        self.fields_with(a, b, &mut same)
    }

    /// Returns the differences like [`Compare::fields`]. `same` decides which values correspond.
    pub fn fields_with(
        &mut self,
        a: &StoredMessage,
        b: &StoredMessage,
        same: &mut Same<'_>,
    ) -> Vec<FieldDifference> {
        let mut fields = Vec::new();
        let whole = |path: &str, texts: [String; 2]| whole_difference(path, [a, b], texts);
        if a.kind != b.kind {
            fields.push(whole("(kind)", [a.kind.to_string(), b.kind.to_string()]));
        }
        if a.fault != b.fault {
            let text = |stored: &StoredMessage| stored.fault.unwrap_or("none").to_owned();
            fields.push(whole("(fault)", [text(a), text(b)]));
        }
        let statuses = [a, b].map(StoredMessage::http_status);
        if let [Some(one), Some(other)] = statuses
            && one != other
        {
            fields.push(whole("(status)", [one.to_string(), other.to_string()]));
        }
        let ignore = self.ignore;
        let empty_is_absent = self.empty_is_absent;
        let [first, second] = &mut self.parsed;
        let (left, right) = (a.view(), b.view());
        let protocol = self.protocol;
        let mut ignored = 0;
        a.read(protocol, first, |one| {
            if let Some(parsed) = one.value {
                second.tape.clear(u32::MAX);
                second.tape.reserve_as(&parsed.tape);
            }
            b.read(protocol, second, |other| {
                let roots = [(one, left.bytes), (other, right.bytes)]
                    .map(|(m, bytes)| m.value.and_then(|parsed| parsed.root(bytes)));
                let parts = roots[0].map(|root| protocol.part_names(root));
                let parts = parts.unwrap_or_default();
                let mut found = FoundDifferences::default();
                let meaning = Meaning {
                    empty_is_absent,
                    ..meaning(protocol, ignore, a, &parts)
                };
                meaning.compare(roots[0], roots[1], same, &mut found);
                ignored = found.ignored;
                // Bodies that are not readable as values are equal only if their bytes are.
                let is_whole = roots[0].is_some() && one.valid && other.valid;
                let is_refusal = statuses.iter().all(Option::is_some);
                if !(is_whole || is_refusal)
                    && found.differences.is_empty()
                    && left.body() != right.body()
                {
                    let text = |body: &[u8]| format!("{} bytes", body.len());
                    fields.push(whole("", [text(left.body()), text(right.body())]));
                }
                let mut notes = [Notes::default(), Notes::default()];
                for ((root, message), notes) in roots.iter().zip([one, other]).zip(&mut notes) {
                    if let Some(root) = root {
                        annotate(protocol, *root, message, notes);
                    }
                }
                for difference in found.differences {
                    fields.push(field_difference(difference, [&left, &right], &notes));
                }
            });
        });
        self.ignored += ignored;
        fields
    }
}

/// Returns a difference of whole messages.
fn whole_difference(path: &str, sides: [&StoredMessage; 2], texts: [String; 2]) -> FieldDifference {
    let [left, right] = texts;
    let value = |stored: &StoredMessage, text: String| {
        let view = stored.view();
        Some(DiffValue {
            text,
            range: view.range(Span::new(0, view.bytes.len())),
            bytes: Vec::new(),
            secret: false,
        })
    };
    FieldDifference {
        path: path.into(),
        left: value(sides[0], left),
        right: value(sides[1], right),
        wanted: None,
    }
}

/// Returns a difference of values. If a value is secret on one side, the other side is not shown either.
fn field_difference(
    difference: ValueDifference<'_>,
    views: [&View<'_>; 2],
    notes: &[Notes; 2],
) -> FieldDifference {
    let sides = [difference.left, difference.right];
    let mut both = sides.iter().zip(notes);
    let secret = both.any(|(node, notes)| node.is_some_and(|node| notes.hides(node)));
    let value = |node: Node<'_>, view: &View<'_>| {
        let bytes = node.span().of(view.bytes);
        let shown = bytes.get(..MAX_BYTES.min(bytes.len()));
        DiffValue {
            text: brief(node),
            range: view.range(node.span()),
            bytes: shown.unwrap_or_default().to_vec(),
            secret,
        }
    };
    let wanted = difference.wanted;
    let wanted = wanted.and_then(|val| Some(val.number_text()?.into_owned()));
    FieldDifference {
        left: difference.left.map(|node| value(node, views[0])),
        right: difference.right.map(|node| value(node, views[1])),
        path: difference.path.to_string(),
        wanted,
    }
}
