//! Two messages that belong together, compared field by field.

use super::values::{Found, Meaning, Number, Same};
use super::{Ignore, Kept, Val};
use crate::encoding::{Parsed, Want};
use crate::path::Path;
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
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Field {
    /// `params.calldata[0]`; empty for the message as a whole.
    pub path: String,
    /// What A has.
    pub left: Option<Value>,
    /// What B has.
    pub right: Option<Value>,
    /// What B should have: the number that corresponds to A's.
    pub wanted: Option<String>,
}

/// Compares messages of a protocol, two at a time.
pub struct Compare<'d> {
    protocol: &'d dyn Protocol,
    ignore: &'d Ignore,
    parsed: [Parsed; 2],
    /// Fields that the settings of the project ignored so far.
    pub ignored: u64,
}

impl<'d> Compare<'d> {
    /// Will compare messages of at most `depth` levels.
    pub fn new(protocol: &'d dyn Protocol, ignore: &'d Ignore, depth: u32) -> Self {
        Self {
            protocol,
            ignore,
            parsed: [(); 2].map(|()| Parsed::new(Want::Places, depth)),
            ignored: 0,
        }
    }

    fn meaning<'k>(&self, kind: &'k str) -> Meaning<'k>
    where
        'd: 'k,
    {
        Meaning {
            ignore: self.ignore,
            kind,
            re_encoded: self.protocol.descriptor().is_re_encoded,
        }
    }

    /// A digest of a message, the same for messages between which nothing differs.
    pub fn digest(&mut self, message: &Kept, hasher: &mut dyn Hasher) {
        self.digest_with(message, &|_, _| None, hasher);
    }

    /// The same. `number`: which ids correspond.
    pub fn digest_with(
        &mut self,
        message: &Kept,
        number: &Number<'_>,
        mut hasher: &mut dyn Hasher,
    ) {
        message.kind.hash(&mut hasher);
        message.fault.hash(&mut hasher);
        let meaning = self.meaning(&message.kind);
        let view = message.view();
        let [parsed, _] = &mut self.parsed;
        message.read(self.protocol, parsed, |read| {
            match read.value.and_then(|parsed| parsed.root(view.bytes)) {
                Some(root) if read.valid => meaning.digest(Some(root), number, hasher),
                _ => view.body().hash(&mut hasher),
            }
        });
    }

    /// What differs between two messages, but for values that `same` says stand for the same.
    pub fn fields(
        &mut self,
        a: &Kept,
        b: &Kept,
        same: &mut dyn FnMut(Node<'_>, Node<'_>) -> bool,
    ) -> Vec<Field> {
        let mut same = |_: Option<_>, _: &Path, a: Node<'_>, b: Node<'_>| {
            if same(a, b) { Ok(()) } else { Err(None) }
        };
        self.fields_with(a, b, &mut same)
    }

    /// The same. `same`: which values correspond.
    pub fn fields_with(&mut self, a: &Kept, b: &Kept, same: &mut Same<'_>) -> Vec<Field> {
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
                wanted: None,
            }
        };
        if a.kind != b.kind {
            fields.push(whole("(kind)", [a.kind.to_string(), b.kind.to_string()]));
        }
        if a.fault != b.fault {
            let text = |kept: &Kept| kept.fault.unwrap_or("none").to_owned();
            fields.push(whole("(fault)", [text(a), text(b)]));
        }
        let meaning = self.meaning(&a.kind);
        let [first, second] = &mut self.parsed;
        let (left, right) = (a.view(), b.view());
        let protocol = self.protocol;
        let mut ignored = 0;
        a.read(protocol, first, |one| {
            b.read(protocol, second, |other| {
                let roots = [(one, left.bytes), (other, right.bytes)]
                    .map(|(m, bytes)| m.value.and_then(|parsed| parsed.root(bytes)));
                let mut found = Found::default();
                meaning.compare(roots[0], roots[1], same, &mut found);
                ignored = found.ignored;
                // What cannot be read as a value is equal only to the same bytes.
                let is_whole = roots[0].is_some() && one.valid && other.valid;
                if !is_whole && found.differences.is_empty() && left.body() != right.body() {
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
                    let wanted = difference.wanted.and_then(|val| match val {
                        Val::Number(text) => Some(text),
                        _ => None,
                    });
                    fields.push(Field {
                        left: difference.left.map(|node| value(node, &left)),
                        right: difference.right.map(|node| value(node, &right)),
                        path: difference.path.to_string(),
                        wanted,
                    });
                }
            });
        });
        self.ignored += ignored;
        fields
    }
}
