//! Checks the spelling of felts, and their types against a signature.

use super::{OracleLine, broken, rule};
use crate::protocol::oracle::cairo_serde::{
    CairoDecoder, CairoDialect, CairoType, SerdeError, Signature,
};
use crate::protocol::oracle::felt::{Felt, NotAFelt};
use crate::protocol::session::RuleId;
use crate::protocol::session::text::quote;
use crate::tape::Node;

/// The first felt of a list that breaks a rule, and the number of such felts.
#[derive(Default)]
struct Violations<'a> {
    first: Option<(usize, Node<'a>, &'static str)>,
    count: usize,
}

impl<'a> Violations<'a> {
    fn add(&mut self, at: usize, node: Node<'a>, why: &'static str) {
        self.first.get_or_insert((at, node, why));
        self.count += 1;
    }

    fn report(&self, rule: RuleId, line: &OracleLine<'_, 'a>) {
        let Some((at, node, why)) = self.first else {
            return;
        };
        let more = match self.count {
            1 => String::new(),
            n => format!("; {} more have the same problem", n - 1),
        };
        broken!(line, rule, line.at(node); "felt {at} is {}: {why}{more}", quote(node));
    }
}

/// Checks the felts of a list: peers must be able to read them.
pub(super) fn list<'a>(line: &OracleLine<'_, 'a>, felts: Node<'a>) {
    let (mut form, mut range, mut spelling) = (
        Violations::default(),
        Violations::default(),
        Violations::default(),
    );
    for (at, node) in felts.children().enumerate() {
        if Felt::is_usual(node.raw_text()) {
            continue;
        }
        let Some(text) = node.text().filter(|_| node.is_string()) else {
            form.add(at, node, "it should be text in hex");
            continue;
        };
        match Felt::parse(&text) {
            Ok(_) => {
                if let Some(why) = unusual_spelling(&text) {
                    spelling.add(at, node, why);
                }
            }
            Err(NotAFelt::Range) => {
                let why =
                    "it should be below P; older peers reduce it modulo P, newer peers refuse it";
                range.add(at, node, why);
            }
            Err(NotAFelt::Prefix) => form.add(at, node, "it should begin with 0x"),
            Err(_) => form.add(at, node, "1 to 64 hex digits should follow 0x"),
        }
    }
    form.report(rule::FELT_FORM, line);
    range.report(rule::FELT_RANGE, line);
    spelling.report(rule::FELT_SPELLING, line);
}

/// Describes an unusual spelling that peers can read.
fn unusual_spelling(text: &str) -> Option<&'static str> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if digits.starts_with("0x") {
        Some("one 0x is enough")
    } else if digits.len() > 1 && digits.starts_with('0') {
        Some("it should have no leading zeros")
    } else if digits.bytes().any(|b| b.is_ascii_uppercase()) {
        Some("digits should be lower-case")
    } else {
        None
    }
}

/// Checks calldata against the types of its selector.
pub(super) fn calldata(line: &OracleLine<'_, '_>, signature: Option<&Signature>) {
    let params = line.call.params;
    let list = params.and_then(|p| p.get("calldata").or_else(|| p.at(1)));
    if let (Some(signature), Some(list)) = (signature, list) {
        let types: Vec<&CairoType> = signature.arguments.iter().map(|(_, ty)| ty).collect();
        let rules = [rule::CALLDATA_SURPLUS, rule::CALLDATA_TYPE];
        check(line, list, (signature, "takes", &types), rules);
    }
}

/// Checks a result against the type of the selector that it answers.
pub(super) fn result(line: &OracleLine<'_, '_>, signature: Option<&Signature>) {
    let list = line.call.result.filter(|_| line.is("result"));
    if let (Some(signature), Some(list)) = (signature, list) {
        let types = [&signature.result];
        check(
            line,
            list,
            (signature, "gives", &types),
            [rule::RESULT_SURPLUS, rule::RESULT_TYPE],
        );
    }
}

fn check(
    line: &OracleLine<'_, '_>,
    list: Node<'_>,
    (signature, verb, types): (&Signature, &str, &[&CairoType]),
    [surplus, wrong]: [RuleId; 2],
) {
    let Some(felts) = all(list) else {
        return;
    };
    match count_felts(types, &felts, CairoDialect::Cairo) {
        Ok(took) if took == felts.len() => {}
        Ok(took) => {
            broken!(line, surplus, line.place(list.at(took));
                "there are {} felts, but {signature} {verb} {took}", felts.len());
        }
        Err(error) => {
            // Only an oracle may use the SDK.
            let sdk = match count_felts(types, &felts, CairoDialect::Sdk) {
                Ok(took) if took == felts.len() && verb == "gives" => {
                    "; it is what the Rust SDK writes, not Cairo"
                }
                _ => "",
            };
            let place = line.place(error.index.and_then(|at| list.at(at)).or(Some(list)));
            broken!(line, wrong, place; "{signature}: {error}{sdk}");
        }
    }
}

/// Returns all felts of a list; `None` if an element is not a felt, which was reported.
fn all(list: Node<'_>) -> Option<Vec<Felt>> {
    list.is_array().then_some(())?;
    let felts = list.children().map(|n| Felt::parse(&n.text()?).ok());
    felts.collect()
}

/// Returns the number of felts of the types.
fn count_felts(
    types: &[&CairoType],
    felts: &[Felt],
    dialect: CairoDialect,
) -> Result<usize, SerdeError> {
    let mut decoder = CairoDecoder::new(felts, dialect);
    for ty in types {
        decoder.value(ty)?;
    }
    Ok(decoder.at())
}
