//! Finds the name of a message, and the value that says that its call failed.

use super::{Mark, Type, members_of};
use crate::encoding::json;
use crate::span::SpannedText;
use crate::tape::{Node, Scalar, Value};

/// The depth of the members that are examined.
const MAX_DEPTH: usize = 2;

/// The path of a member, by names.
type MemberPath = Vec<&'static str>;

/// The places of marked values in the content of a message.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeadPlaces {
    names: Vec<MemberPath>,
    failures: Vec<(MemberPath, &'static [&'static str])>,
}

impl HeadPlaces {
    /// Returns the places in content of a type.
    pub(crate) fn of(ty: &Type) -> Self {
        let mut places = Self::default();
        places.add(ty);
        places
    }

    /// Adds the places in content of a type.
    pub(crate) fn add(&mut self, ty: &Type) {
        self.add_below(ty, &mut Vec::new());
    }

    fn add_below(&mut self, ty: &Type, path: &mut MemberPath) {
        if let Type::Either([_, others @ ..]) = ty {
            for other in others {
                self.add_below(other, path);
            }
        }
        if matches!(ty, Type::Tuple(_)) {
            return;
        }
        for member in members_of(ty) {
            path.push(member.name);
            for mark in member.marks {
                match mark {
                    Mark::Name if !self.names.contains(path) => self.names.push(path.clone()),
                    Mark::Fails(values) if !self.failures.iter().any(|(had, _)| had == path) => {
                        self.failures.push((path.clone(), values));
                    }
                    _ => {}
                }
            }
            if path.len() < MAX_DEPTH {
                self.add_below(&member.ty, path);
            }
            path.pop();
        }
    }

    /// Returns the name of a message with this content.
    pub(crate) fn name<'a>(&self, content: Node<'a>) -> Option<SpannedText<'a>> {
        self.names.iter().find_map(|path| text_at(content, path))
    }

    /// Returns the value that says that the call failed: `isError: true`.
    pub(crate) fn failure<'a>(&self, content: Node<'a>) -> Option<SpannedText<'a>> {
        let content =
            Some(content).filter(|content| content.is_map() && !self.failures.is_empty())?;
        for (key, value) in content.members() {
            let name = key.key_bytes();
            for (path, values) in &self.failures {
                let (Some(first), deeper) = (path.first(), path.get(1)) else {
                    continue;
                };
                if first.as_bytes() != name.as_ref() {
                    continue;
                }
                match deeper {
                    None if is_failure(value, values) => return Some(outcome(first, value)),
                    Some(last) => {
                        let text = member_text(value, last);
                        if let Some(text) = text.filter(|text| values.contains(&&**text)) {
                            return Some(SpannedText {
                                text: format!("{last}: {text}").into(),
                                span: text.span,
                            });
                        }
                    }
                    None => {}
                }
            }
        }
        None
    }
}

/// Returns true if a value says that the call failed.
fn is_failure(value: Node<'_>, values: &[&str]) -> bool {
    match value.value() {
        Value::Scalar(Scalar::Bool(value)) => {
            values.contains(&if value { "true" } else { "false" })
        }
        Value::Scalar(Scalar::Null) => false,
        Value::Map | Value::Array => values.is_empty() && value.span().len > 2,
        _ if values.is_empty() => value.is_string() && !value.is_text(""),
        _ => values.iter().any(|text| value.is_text(text)),
    }
}

/// Returns the name of a member, with its value if that is a word.
fn outcome<'a>(name: &'static str, value: Node<'a>) -> SpannedText<'a> {
    let shown = match value.value() {
        Value::Scalar(Scalar::Bool(value)) => Some(if value { "true" } else { "false" }.into()),
        Value::Scalar(_) => value
            .text()
            .filter(|text| text.len() < 20 && name != "error"),
        _ => None,
    };
    SpannedText {
        text: shown.map_or(name.into(), |shown| format!("{name}: {shown}").into()),
        span: Some(value.span()),
    }
}

/// Returns the text at a path of at most [`MAX_DEPTH`] names.
fn text_at<'a>(content: Node<'a>, path: &[&str]) -> Option<SpannedText<'a>> {
    match path {
        [name] => content
            .get(name)
            .filter(|node| node.is_string())?
            .spanned_text(),
        [first, last] => member_text(content.get(first)?, last),
        _ => None,
    }
}

/// Returns the text of a member, also if the tape does not hold the members.
fn member_text<'a>(node: Node<'a>, name: &str) -> Option<SpannedText<'a>> {
    if node.children().next().is_some() {
        return node
            .get(name)
            .filter(|node| node.is_string())?
            .spanned_text();
    }
    json::find_text(node.bytes(), node.span(), name).filter(|_| node.is_map())
}
