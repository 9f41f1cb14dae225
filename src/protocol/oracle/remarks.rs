//! Remarks on the felts of a message.

use super::cairo_serde::{CairoDecoder, CairoDialect, CairoType, Signature};
use super::felt::{self, Felt};
use crate::escape::shorten;
use crate::protocol::rpc::Call;
use crate::protocol::{Message, Notes};
use crate::tape::Node;
use std::collections::HashMap;

/// The largest number of characters of a value in a remark.
const SHOWN: usize = 160;

/// Adds remarks on calldata and results: number and text of each felt or, if a signature is known, the decoded values.
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
        // A result names its request only by the id, and the request is another message.
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

/// Remarks on felts by their position, and on all of them.
#[derive(Default)]
struct Remarks {
    felts: HashMap<usize, String>,
    whole: Option<String>,
    /// All values were decoded, and no felt was left over.
    fits: bool,
}

fn arguments(signature: &Signature, felts: &[Felt]) -> Remarks {
    let values = signature.arguments.iter();
    let values = values.map(|(name, ty)| (name.as_deref(), ty));
    remarks(&signature.name, values, felts, CairoDialect::Cairo)
}

/// An oracle may write Cairo's dialect or the SDK's; if only one of them fits, it wrote that.
fn result(signature: &Signature, felts: &[Felt]) -> Remarks {
    let read = |dialect, label| {
        let value = [(Some(label), &signature.result)];
        remarks(&signature.name, value.into_iter(), felts, dialect)
    };
    let cairo = read(CairoDialect::Cairo, "result");
    if cairo.fits {
        return cairo;
    }
    let sdk = read(CairoDialect::Sdk, "result in the SDK's form");
    if sdk.fits { sdk } else { cairo }
}

fn remarks<'t>(
    name: &str,
    values: impl Iterator<Item = (Option<&'t str>, &'t CairoType)>,
    felts: &[Felt],
    dialect: CairoDialect,
) -> Remarks {
    let mut remarks = Remarks::default();
    let mut decoder = CairoDecoder::new(felts, dialect);
    for (label, ty) in values {
        let start = decoder.at();
        let label = label.map(|l| format!("{l}: ")).unwrap_or_default();
        let output = match decoder.value(ty) {
            Ok(value) => format!("{label}{} ({ty})", shorten(&value, SHOWN + 1)),
            Err(error) => {
                let at = error.index.unwrap_or(start);
                let text = format!("{label}not {ty}: {error}");
                if at < felts.len() {
                    remarks.felts.insert(at, text);
                } else {
                    remarks.whole = Some(text);
                }
                return remarks;
            }
        };
        if decoder.at() > start {
            remarks.felts.insert(start, output);
        } else {
            let before = remarks.whole.take().map(|w| format!("{w}, "));
            remarks.whole = Some(before.unwrap_or_default() + &output);
        }
    }
    if decoder.left() > 0 {
        let text = format!("surplus: {name} has only {} felts", decoder.at());
        remarks.felts.insert(decoder.at(), text);
    } else {
        remarks.fits = true;
    }
    remarks
}
