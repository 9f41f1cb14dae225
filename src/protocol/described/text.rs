//! Texts with members: templates, which are read and written, and regular expressions, which are only read.
//!
//! ```text
//!   {command} {rest...}     SET name value      {"command":"SET","rest":"name value"}
//!   {code:int}-{text...}    250-SIZE            {"code":250,"text":"SIZE"}
//! ```

use super::names::Names;
use crate::encoding::lossless::{ObjectForm, form, quote, text};
use crate::error::{Refusal, Result};
use crate::span::Span;
use crate::tape::{Node, Scalar, Shape, Sink, Tape};
use regex::bytes::Regex;

/// A form of a text.
#[derive(Debug)]
pub(super) enum TextForm {
    Template(Vec<TextPart>),
    /// A regular expression, and the number of the name of each group.
    Pattern(Regex, Vec<Option<u32>>),
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextPart {
    Literal(String),
    Member(TextMember),
}

/// A member of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextMember {
    /// The number of its name.
    pub label: u32,
    pub kind: TextKind,
}

/// The texts that a member takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    /// At least one character, and no white space.
    Word,
    /// Any text.
    Rest,
    /// A whole number, without zeros before it.
    Int,
}

impl TextKind {
    /// Returns the value of a part of a text; `None` if the member does not take it.
    fn value(self, part: &[u8]) -> Option<Scalar<'_>> {
        match self {
            Self::Word if part.is_empty() || part.iter().any(u8::is_ascii_whitespace) => None,
            Self::Word | Self::Rest => Some(Scalar::Str(part)),
            Self::Int => {
                let text = std::str::from_utf8(part).ok()?;
                let number: i64 = text.parse().ok()?;
                let scalar = u64::try_from(number).map_or(Scalar::Int(number), Scalar::Uint);
                (number.to_string() == text).then_some(scalar)
            }
        }
    }
}

/// Calls `found` with each member of a text; false if the template does not fit.
fn fit(parts: &[TextPart], text: &[u8], found: &mut dyn FnMut(TextMember, usize, usize)) -> bool {
    let (mut at, mut open) = (0, None::<TextMember>);
    let mut close = |member: Option<TextMember>, start: usize, end: usize| {
        let Some(member) = member else {
            return start == end;
        };
        let part = text.get(start..end).unwrap_or_default();
        found(member, start, end);
        member.kind.value(part).is_some()
    };
    for (n, part) in parts.iter().enumerate() {
        match part {
            TextPart::Member(member) => open = Some(*member),
            TextPart::Literal(literal) => {
                let rest = text.get(at..).unwrap_or_default();
                let is_last = n + 1 == parts.len();
                let next = match open {
                    Some(_) if is_last => rest
                        .ends_with(literal.as_bytes())
                        .then(|| rest.len() - literal.len()),
                    Some(_) => memchr::memmem::find(rest, literal.as_bytes()),
                    None => rest.starts_with(literal.as_bytes()).then_some(0),
                };
                let Some(next) = next else {
                    return false;
                };
                if !close(open.take(), at, at + next) {
                    return false;
                }
                at += next + literal.len();
            }
        }
    }
    close(open, at, text.len())
}

/// Reads a text as an object of the first form that fits, or else as a string.
pub(super) fn read(forms: &[TextForm], names: &Names, bytes: &[u8], body: Span, tape: &mut Tape) {
    let text = body.of(bytes);
    let member = |tape: &mut Tape, label: u32, kind: TextKind, start: usize, end: usize| {
        let span = Span::new(body.at() + start, body.at() + end);
        names.label(span.at(), label, tape);
        let value = kind.value(span.of(bytes));
        tape.scalar(span, value.unwrap_or(Scalar::Null));
    };
    for form in forms {
        match form {
            TextForm::Template(parts) if fit(parts, text, &mut |_, _, _| {}) => {
                tape.open(body.at(), Shape::Map);
                fit(parts, text, &mut |found, start, end| {
                    member(tape, found.label, found.kind, start, end);
                });
                return tape.close(body.end());
            }
            TextForm::Pattern(regex, groups) => {
                let Some(found) = regex.captures(text) else {
                    continue;
                };
                tape.open(body.at(), Shape::Map);
                for (label, group) in groups.iter().zip(found.iter()) {
                    if let (Some(label), Some(group)) = (label, group) {
                        member(tape, *label, TextKind::Rest, group.start(), group.end());
                    }
                }
                return tape.close(body.end());
            }
            TextForm::Template(_) => {}
        }
    }
    tape.scalar(body, Scalar::Str(text));
}

/// Returns true for an object with the members of a template.
pub(super) fn is_form(forms: &[TextForm], names: &Names, value: Node<'_>) -> bool {
    let count = value.members().count();
    forms.iter().any(|form| match form {
        TextForm::Template(parts) => {
            let mut all = members(parts);
            let has = |member: &TextMember| value.get(names.get(member.label).as_str()).is_some();
            value.is_map() && members(parts).count() == count && all.all(has)
        }
        TextForm::Pattern(..) => false,
    })
}

fn members(parts: &[TextPart]) -> impl Iterator<Item = &TextMember> {
    parts.iter().filter_map(|part| match part {
        TextPart::Member(member) => Some(member),
        TextPart::Literal(_) => None,
    })
}

/// Writes a text: a string as it is, an object by the template with its members.
pub(super) fn write(
    forms: &[TextForm],
    names: &Names,
    value: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let string = string(value)?;
    if let Some(bytes) = string {
        out.extend(bytes);
        return Ok(());
    }
    let count = value.members().count();
    for (n, form) in forms.iter().enumerate() {
        let TextForm::Template(parts) = form else {
            continue;
        };
        if members(parts).count() != count {
            continue;
        }
        let written = written(parts, names, value)?;
        // The text is read in the same form again.
        let first = |bytes: &[u8]| {
            forms.iter().position(|form| match form {
                TextForm::Template(parts) => fit(parts, bytes, &mut |_, _, _| {}),
                TextForm::Pattern(regex, _) => regex.is_match(bytes),
            })
        };
        if let Some(bytes) =
            written.filter(|bytes| first(bytes) == Some(n) && is_same(parts, names, value, bytes))
        {
            out.extend(bytes);
            return Ok(());
        }
    }
    let wanted = match nearest_form(forms, names, value) {
        Some(members) => format!("the members {members} of a form, with values that it can hold"),
        None => "a text: a regular expression is only read".to_owned(),
    };
    Err(Refusal::whole(wanted, quote(value)))
}

/// Returns the members of the template that has most members of an object, and fewest others.
fn nearest_form(forms: &[TextForm], names: &Names, value: Node<'_>) -> Option<String> {
    let of = forms.iter().filter_map(|form| match form {
        TextForm::Template(parts) => Some(members(parts).map(|one| names.get(one.label).as_str())),
        TextForm::Pattern(..) => None,
    });
    let distance = |members: &Vec<&str>| {
        let known = members.iter().filter(|name| value.get(name).is_some());
        let known = known.count();
        members.len() + value.members().count() - 2 * known
    };
    let nearest = of.map(Iterator::collect).min_by_key(distance);
    nearest.map(|members| members.join(", "))
}

/// Returns the bytes of a string; `None` for another object.
fn string(value: Node<'_>) -> Result<Option<Vec<u8>>> {
    if value.is_string() {
        return Ok(Some(text(value)?.into_owned().into_bytes()));
    }
    if !value.is_map() {
        return Ok(None);
    }
    Ok(match form(value)? {
        ObjectForm::Str(bytes) => Some(bytes),
        _ => None,
    })
}

/// Returns the text of a value for a member.
fn member_bytes(value: Node<'_>) -> Result<Option<Vec<u8>>> {
    match value.as_i128() {
        Some(number) => Ok(Some(number.to_string().into_bytes())),
        None => string(value),
    }
}

/// Returns the text of an object; `None` if it lacks a member.
fn written(parts: &[TextPart], names: &Names, value: Node<'_>) -> Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    for part in parts {
        match part {
            TextPart::Literal(literal) => out.extend(literal.as_bytes()),
            TextPart::Member(member) => {
                let value = value.get(names.get(member.label).as_str());
                match value.map(member_bytes).transpose()?.flatten() {
                    Some(bytes) => out.extend(bytes),
                    None => return Ok(None),
                }
            }
        }
    }
    Ok(Some(out))
}

/// Returns true if each member of a text has its value in an object.
fn is_same(parts: &[TextPart], names: &Names, value: Node<'_>, bytes: &[u8]) -> bool {
    let mut is_same = true;
    fit(parts, bytes, &mut |member, start, end| {
        let value = value.get(names.get(member.label).as_str());
        let given = value.and_then(|value| member_bytes(value).ok().flatten());
        is_same &= given.as_deref() == bytes.get(start..end);
    });
    is_same
}
