//! What the felts of a message stand for.

use super::cairo_serde::{Decoder, Dialect, Signature, Type};
use super::felt::{self, Felt};
use crate::protocol::jsonrpc::Call;
use crate::protocol::{Message, Notes};
use crate::tape::Node;
use std::collections::HashMap;

/// Characters of a value that a remark shows.
const SHOWN: usize = 160;

/// Remarks on calldata and results: each felt's number and text, or, where a signature says more, the values they are.
pub(super) fn annotate(
    root: Node<'_>,
    message: &Message<'_>,
    signatures: &[Signature],
    notes: &mut Notes,
) {
    let call = Call::of(root);
    let is_invoke = message.kind == "invoke";
    let list = match message.kind.as_ref() {
        "invoke" => call
            .params
            .and_then(|p| p.get("calldata").or_else(|| p.at(1))),
        "result" => call.result,
        _ => None,
    };
    let Some(list) = list.filter(|l| l.is_array()) else {
        return;
    };
    let signature = match signatures {
        _ if is_invoke => signatures
            .iter()
            .find(|s| message.subject.as_deref() == Some(&s.name)),
        // A result says by its id alone what it answers, and that was another message.
        [only] => Some(only),
        _ => None,
    };
    let remarks = signature.and_then(|signature| {
        let felts: Option<Vec<Felt>> = list
            .children()
            .map(|n| Felt::parse(&n.text()?).ok())
            .collect();
        Some(if is_invoke {
            arguments(signature, &felts?)
        } else {
            result(signature, &felts?)
        })
    });
    let remarks = remarks.unwrap_or_default();
    if let Some(remark) = remarks.whole {
        notes.remark(list, remark);
    }
    for (i, node) in list.children().enumerate() {
        let remark = match remarks.felts.get(&i) {
            Some(remark) => Some(remark.clone()),
            None => node.text().and_then(|t| felt::remark(&t)),
        };
        if let Some(remark) = remark {
            notes.remark(node, remark);
        }
    }
}

/// What is said of felts, by their place, and of all of them.
#[derive(Default)]
struct Remarks {
    felts: HashMap<usize, String>,
    whole: Option<String>,
    /// Whether all could be decoded, and nothing was left over.
    fits: bool,
}

fn arguments(signature: &Signature, felts: &[Felt]) -> Remarks {
    let values = signature.arguments.iter();
    let values = values.map(|(name, ty)| (name.as_deref(), ty));
    remarks(&signature.name, values, felts, Dialect::Cairo)
}

/// An oracle may write Cairo's own form or the SDK's; where only one of them fits, that is what it wrote.
fn result(signature: &Signature, felts: &[Felt]) -> Remarks {
    let read = |dialect, label| {
        let value = [(Some(label), &signature.result)];
        remarks(&signature.name, value.into_iter(), felts, dialect)
    };
    let cairo = read(Dialect::Cairo, "result");
    if cairo.fits {
        return cairo;
    }
    let sdk = read(Dialect::Sdk, "result in the SDK's form");
    if sdk.fits { sdk } else { cairo }
}

fn remarks<'t>(
    name: &str,
    values: impl Iterator<Item = (Option<&'t str>, &'t Type)>,
    felts: &[Felt],
    dialect: Dialect,
) -> Remarks {
    let mut remarks = Remarks::default();
    let mut decoder = Decoder::new(felts, dialect);
    for (label, ty) in values {
        let start = decoder.at();
        let label = label.map(|l| format!("{l}: ")).unwrap_or_default();
        let said = match decoder.value(ty) {
            Ok(value) => format!("{label}{} ({ty})", shorten(&value.to_json())),
            Err(error) => {
                let at = error.index.unwrap_or(start);
                let text = format!("{label}no {ty}: {error}");
                if at < felts.len() {
                    remarks.felts.insert(at, text);
                } else {
                    remarks.whole = Some(text);
                }
                return remarks;
            }
        };
        if decoder.at() > start {
            remarks.felts.insert(start, said);
        } else {
            let before = remarks.whole.take().map(|w| format!("{w}, "));
            remarks.whole = Some(before.unwrap_or_default() + &said);
        }
    }
    if decoder.left() > 0 {
        let text = format!("left over: {name} has no more than {} felts", decoder.at());
        remarks.felts.insert(decoder.at(), text);
    } else {
        remarks.fits = true;
    }
    remarks
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
