//! Felts: how they are spelled, and whether they are what a signature says.

use super::Line;
use crate::protocol::oracle::cairo_serde::{Decoder, Dialect, SerdeError, Signature, Type};
use crate::protocol::oracle::felt::{Felt, NotAFelt};
use crate::protocol::session::Report;
use crate::protocol::session::text::quote;
use crate::tape::Node;

/// The first felt of a list that breaks a rule, and how many do.
#[derive(Default)]
struct Bad<'a> {
    first: Option<(usize, Node<'a>, &'static str)>,
    count: usize,
}

impl<'a> Bad<'a> {
    fn add(&mut self, at: usize, node: Node<'a>, why: &'static str) {
        self.first.get_or_insert((at, node, why));
        self.count += 1;
    }

    fn tell(&self, rule: &'static str, line: &Line<'_, 'a>, report: &mut Report) {
        let Some((at, node, why)) = self.first else {
            return;
        };
        let more = match self.count {
            1 => String::new(),
            n => format!("; {} more are so too", n - 1),
        };
        let text = format!("felt {at} is {}: {why}{more}", quote(node));
        report.broken(rule, line.seen.at(node), text);
    }
}

/// Felts must be spelled so that peers can read them.
pub(super) fn list<'a>(line: &Line<'_, 'a>, felts: Node<'a>, report: &mut Report) {
    let (mut form, mut range, mut spelling) = (Bad::default(), Bad::default(), Bad::default());
    for (at, node) in felts.children().enumerate() {
        let Some(text) = node.text().filter(|_| node.is_string()) else {
            form.add(at, node, "text in hex should be there");
            continue;
        };
        match Felt::parse(&text) {
            Ok(_) => {
                if let Some(why) = odd(&text) {
                    spelling.add(at, node, why);
                }
            }
            Err(NotAFelt::Range) => {
                let why =
                    "it should be below P; older peers take it modulo P, newer ones refuse it";
                range.add(at, node, why);
            }
            Err(NotAFelt::Prefix) => form.add(at, node, "it should begin with 0x"),
            Err(_) => form.add(at, node, "1 to 64 hex digits should follow 0x"),
        }
    }
    form.tell("felt-form", line, report);
    range.tell("felt-range", line, report);
    spelling.tell("felt-spelling", line, report);
}

/// What is odd about a felt that peers do read.
fn odd(text: &str) -> Option<&'static str> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if digits.starts_with("0x") {
        Some("one 0x is enough")
    } else if digits.len() > 1 && digits.starts_with('0') {
        Some("no zeros should lead")
    } else if digits.bytes().any(|b| b.is_ascii_uppercase()) {
        Some("digits should be lower-case")
    } else {
        None
    }
}

/// Calldata must be of the types that its selector takes.
pub(super) fn calldata(line: &Line<'_, '_>, signature: Option<&Signature>, report: &mut Report) {
    let list = line
        .call
        .params
        .and_then(|p| p.get("calldata").or_else(|| p.at(1)));
    let (Some(signature), Some(list)) = (signature, list) else {
        return;
    };
    let Some(felts) = all(list) else {
        return;
    };
    let types = signature.arguments.iter().map(|(_, ty)| ty);
    match read(types, &felts, Dialect::Cairo) {
        Ok(took) if took == felts.len() => {}
        Ok(took) => {
            let text = format!("{} felts, {signature} takes {took}", felts.len());
            let place = line.place(list.at(took));
            report.broken("calldata-surplus", place, text);
        }
        Err(error) => {
            let place = line.place(error.index.and_then(|at| list.at(at)).or(Some(list)));
            report.broken("calldata-type", place, format!("{signature}: {error}"));
        }
    }
}

/// A result must be of the type that the selector it answers gives.
pub(super) fn result(line: &Line<'_, '_>, signature: Option<&Signature>, report: &mut Report) {
    let list = line.call.result.filter(|_| line.is("result"));
    let (Some(signature), Some(list)) = (signature, list) else {
        return;
    };
    let Some(felts) = all(list) else {
        return;
    };
    let ty = [&signature.result];
    match read(ty.into_iter(), &felts, Dialect::Cairo) {
        Ok(took) if took == felts.len() => {}
        Ok(took) => {
            let text = format!("{} felts, {signature} gives {took}", felts.len());
            let place = line.place(list.at(took));
            report.broken("result-surplus", place, text);
        }
        Err(error) => {
            let sdk = read(ty.into_iter(), &felts, Dialect::Sdk);
            let sdk = match sdk {
                Ok(took) if took == felts.len() => "; it is what the Rust SDK writes, not Cairo",
                _ => "",
            };
            let place = line.place(error.index.and_then(|at| list.at(at)).or(Some(list)));
            report.broken("result-type", place, format!("{signature}: {error}{sdk}"));
        }
    }
}

/// All felts of a list; `None` where one is none, which was said.
fn all(list: Node<'_>) -> Option<Vec<Felt>> {
    list.is_array().then_some(())?;
    let felts = list.children().map(|n| Felt::parse(&n.text()?).ok());
    felts.collect()
}

/// How many felts the types take.
fn read<'t>(
    types: impl Iterator<Item = &'t Type>,
    felts: &[Felt],
    dialect: Dialect,
) -> Result<usize, SerdeError> {
    let mut decoder = Decoder::new(felts, dialect);
    for ty in types {
        decoder.value(ty)?;
    }
    Ok(decoder.at())
}
