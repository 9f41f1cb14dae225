//! Two messages that belong together, compared field by field.

use super::values::Meaning;
use super::{Ignore, Kept};
use crate::encoding::{Parsed, Want};
use crate::protocol::{Notes, Protocol, annotate};
use crate::render::fields::brief;
use crate::span::Span;
use crate::tape::Node;
use std::hash::{Hash as _, Hasher};
use std::ops::Range;

/// Bytes of a value that are kept.
const SHOWN: usize = 16;

/// What one side has at a path: how it reads, and where it lies in its direction's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The value, shortened.
    pub text: String,
    /// First byte, and one past the last.
    pub range: Range<u64>,
    /// Its first bytes, as encoded; none for the message as a whole.
    pub bytes: Vec<u8>,
    /// Must not be shown unless asked.
    pub secret: bool,
}

/// What differs at one path of two messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// `params.calldata[0]`; empty for the message as a whole.
    pub path: String,
    /// What A has.
    pub left: Option<Value>,
    /// What B has.
    pub right: Option<Value>,
}

/// Whether two values that differ stand for the same.
pub type Same<'s> = dyn FnMut(Node<'_>, Node<'_>) -> bool + 's;

/// Compares messages of a protocol, two at a time.
pub struct Compare<'d> {
    protocol: &'d dyn Protocol,
    ignore: &'d Ignore,
    parsed: [Parsed; 2],
}

impl<'d> Compare<'d> {
    /// Will compare messages of at most `depth` levels.
    pub fn new(protocol: &'d dyn Protocol, ignore: &'d Ignore, depth: u32) -> Self {
        Self {
            protocol,
            ignore,
            parsed: [(); 2].map(|()| Parsed::new(Want::Places, depth)),
        }
    }

    fn meaning<'k>(&self, kind: &'k str) -> Meaning<'k>
    where
        'd: 'k,
    {
        Meaning {
            ignore: self.ignore,
            kind,
            re_encoded: self.protocol.is_re_encoded(),
        }
    }

    /// A digest of a message, the same for messages between which nothing differs.
    pub fn digest(&mut self, message: &Kept, mut hasher: &mut dyn Hasher) {
        message.kind.hash(&mut hasher);
        message.fault.hash(&mut hasher);
        let meaning = self.meaning(&message.kind);
        let view = message.view();
        let [parsed, _] = &mut self.parsed;
        message.read(self.protocol, parsed, |read| {
            match read.value.and_then(|parsed| parsed.root(view.bytes)) {
                Some(root) => meaning.digest(Some(root), hasher),
                None => view.body().hash(&mut hasher),
            }
        });
    }

    /// What differs between two messages. `misnamed`: whether each goes by another id than the request that it is taken to
    /// answer; `same`: which values stand for the same although they differ.
    pub fn fields(
        &mut self,
        a: &Kept,
        b: &Kept,
        misnamed: [bool; 2],
        same: &mut Same<'_>,
    ) -> Vec<Field> {
        let mut fields = Vec::new();
        let whole = |path: &str, texts: [String; 2]| {
            let [left, right] = texts;
            let value = |kept: &Kept, text: String| {
                let view = kept.view();
                Some(Value {
                    text,
                    range: view.range(Span::new(0, view.bytes.len())),
                    bytes: Vec::new(),
                    secret: false,
                })
            };
            Field {
                path: path.into(),
                left: value(a, left),
                right: value(b, right),
            }
        };
        if a.kind != b.kind {
            fields.push(whole("(kind)", [a.kind.clone(), b.kind.clone()]));
        }
        // Ids differ from run to run; that an answer goes by its request's does not.
        if misnamed[0] != misnamed[1] {
            let text = |kept: &Kept, misnamed: bool| {
                let own = if misnamed { "not " } else { "" };
                format!("{own}its request's, {}", kept.id)
            };
            fields.push(whole("(id)", [text(a, misnamed[0]), text(b, misnamed[1])]));
        }
        if a.fault != b.fault {
            let text = |kept: &Kept| kept.fault.unwrap_or("none").to_owned();
            fields.push(whole("(fault)", [text(a), text(b)]));
        }
        let meaning = self.meaning(&a.kind);
        let [first, second] = &mut self.parsed;
        let (left, right) = (a.view(), b.view());
        let protocol = self.protocol;
        a.read(protocol, first, |one| {
            b.read(protocol, second, |other| {
                let roots = [(one, left.bytes), (other, right.bytes)]
                    .map(|(m, bytes)| m.value.and_then(|parsed| parsed.root(bytes)));
                if let [None, None] = roots {
                    if left.body() != right.body() {
                        let text = |body: &[u8]| format!("{} bytes", body.len());
                        fields.push(whole("", [text(left.body()), text(right.body())]));
                    }
                    return;
                }
                let mut notes = [Notes::default(), Notes::default()];
                for ((root, message), notes) in roots.iter().zip([one, other]).zip(&mut notes) {
                    if let Some(root) = root {
                        annotate(protocol, *root, message, notes);
                    }
                }
                let mut found = Vec::new();
                meaning.compare(roots[0], roots[1], &mut found);
                for difference in found {
                    let both = difference.left.zip(difference.right);
                    if both.is_some_and(|(a, b)| same(a, b)) {
                        continue;
                    }
                    // What is secret on one side is not shown of the other one either.
                    let sides = [difference.left, difference.right];
                    let mut sides = sides.iter().zip(&notes);
                    let secret =
                        sides.any(|(node, notes)| node.is_some_and(|node| notes.is_secret(node)));
                    let value = |node: Node<'_>, view: &crate::framing::View<'_>| {
                        let bytes = node.span().of(view.bytes);
                        Value {
                            text: brief(node),
                            range: view.range(node.span()),
                            bytes: bytes
                                .get(..SHOWN.min(bytes.len()))
                                .unwrap_or_default()
                                .to_vec(),
                            secret,
                        }
                    };
                    fields.push(Field {
                        left: difference.left.map(|node| value(node, &left)),
                        right: difference.right.map(|node| value(node, &right)),
                        path: difference.path.to_string(),
                    });
                }
            });
        });
        fields
    }
}
