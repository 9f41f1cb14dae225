//! Compares a value with a type and reports each problem with its position.
//!
//! ```text
//!   check(value, type)     each problem         lint: the protocol decides which rule it breaks
//!   refuse(value, type)    the first problem    the check before a message is written
//! ```

use super::{Member, MessageSchema, Presence, Type, ValueForm};
use crate::encoding::lossless::quote;
use crate::encoding::{cbor, json, msgpack};
use crate::error::{DecodeError, Refusal, Result};
use crate::protocol::Written;
use crate::span::Span;
use crate::tape::{Node, Scalar, Tape, Value};
use std::fmt;

/// The path of a value from the message. Each step borrows the one before.
#[derive(Clone, Copy)]
pub(crate) enum At<'p> {
    /// The whole message.
    Root,
    /// A member of an outer value: its spelling, and the member of the schema.
    Member(&'p Self, &'p str, &'p Member),
    /// An element of an outer value.
    Item(&'p Self, usize),
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Self::Root, name, _) => f.write_str(name),
            Self::Member(outer, name, _) => write!(f, "{outer}.{name}"),
            Self::Item(outer, n) => write!(f, "{outer}[{n}]"),
        }
    }
}

/// A value that its type does not allow.
pub(crate) struct TypeProblem<'p, 'a> {
    /// The value; for a missing member, the object that lacks it.
    pub node: Node<'a>,
    /// The path of the value; for a missing member, the expected path.
    pub at: At<'p>,
    /// The kind of problem.
    pub wrong: Wrong<'p>,
}

/// The kind of a problem.
#[derive(Clone, Copy)]
pub(crate) enum Wrong<'p> {
    /// The member is missing.
    Missing(&'p Member),
    /// None of several members is present: the first of them, and the others.
    None(&'p Member, &'p [Member]),
    /// The member is present together with a member that excludes it.
    Beside(&'p str, &'p Member),
    /// The value has another type.
    Type(&'p Type),
    /// The value has another form.
    Form(&'static ValueForm),
}

impl TypeProblem<'_, '_> {
    /// Returns the refusal to write such a value; `None` if it may be written.
    pub fn refusal(&self) -> Option<Refusal> {
        let at = self.at.to_string();
        Some(match self.wrong {
            Wrong::Missing(member) => Refusal::new(at, member.ty.to_string(), "nothing"),
            Wrong::None(first, members) => {
                let others = members.iter().filter(|m| m.presence == Presence::One);
                let others: Vec<_> = others.skip(1).map(|m| m.name).collect();
                let wanted = format!("{}, or {}", first.ty, others.join(" or "));
                Refusal::new(at, wanted, "nothing")
            }
            Wrong::Beside(other, _) => Refusal::new(at, format!("nothing beside {other}"), "one"),
            Wrong::Type(ty) => Refusal::new(at, ty.to_string(), quote(self.node)),
            Wrong::Form(form) if form.refused => Refusal::new(at, form.wanted, quote(self.node)),
            Wrong::Form(_) => return None,
        })
    }
}

/// A callback for each problem.
pub(crate) type ProblemSink<'t, 'a> = &'t mut dyn FnMut(&TypeProblem<'_, 'a>);

/// Compares a value with a type.
pub(crate) fn check<'a>(node: Node<'a>, ty: &Type, at: &At<'_>, report: ProblemSink<'_, 'a>) {
    let is = match ty {
        Type::Any => true,
        Type::Never(_) => false,
        Type::Null => node.is_null(),
        Type::Bool => node.as_bool().is_some(),
        Type::Text => is_text(node),
        Type::Number => is_number(node),
        Type::Integer(first, last) => whole(node).is_some_and(|n| (*first..=*last).contains(&n)),
        Type::Whole(first, last) => node
            .as_i128()
            .is_some_and(|n| (*first..=*last).contains(&n)),
        Type::OneOf(words) => words.iter().any(|word| node.is_text(word)),
        Type::Array(item) => {
            if node.is_array() && !matches!(item, Type::Any) {
                for (n, child) in node.children().enumerate() {
                    check(child, item, &At::Item(at, n), report);
                }
            }
            node.is_array()
        }
        Type::Object(members) if node.is_map() => return all(node, members, at, report),
        Type::Tuple(members) if node.is_array() => return each(node, members, at, report),
        Type::Record(members) if node.is_map() || node.is_array() => {
            return all(node, members, at, report);
        }
        Type::Object(_) | Type::Tuple(_) | Type::Record(_) => false,
        Type::Either(types) => {
            // A problem inside an array or object is more useful than a mismatch of the whole.
            let named = types.iter().find(|ty| is_named(node, ty));
            match named.or_else(|| types.iter().find(|ty| is_container(node, ty))) {
                Some(ty) => return check(node, ty, at, report),
                None => types.iter().any(|ty| fits(node, ty)),
            }
        }
        Type::Code(code) => (code.is)(node),
        Type::Form(ty, form) => {
            let mut is_whole = true;
            check(node, ty, at, &mut |problem| {
                is_whole = false;
                report(problem);
            });
            if is_whole && !(form.is)(node) {
                report_problem(node, *at, Wrong::Form(form), report);
            }
            return;
        }
    };
    if !is {
        report_problem(node, *at, Wrong::Type(ty), report);
    }
}

/// Reports a problem. Few values have one: `cold` keeps this apart from the code that every message runs.
#[cold]
fn report_problem<'a>(node: Node<'a>, at: At<'_>, wrong: Wrong<'_>, report: ProblemSink<'_, 'a>) {
    report(&TypeProblem { node, at, wrong });
}

/// Returns true if a value has a type.
pub(crate) fn fits(node: Node<'_>, ty: &Type) -> bool {
    let mut fits = true;
    check(node, ty, &At::Root, &mut |_| fits = false);
    fits
}

/// Returns true if an object has the word that names a type: `"type": "text"`.
fn is_named(node: Node<'_>, ty: &Type) -> bool {
    let Type::Object(members) = ty else {
        return false;
    };
    let mut words = members.iter().filter_map(|member| match member.ty {
        Type::OneOf([word]) => Some((member.name, *word)),
        _ => None,
    });
    words.any(|(name, word)| node.get(name).is_some_and(|value| value.is_text(word)))
}

/// Returns true if value and type are both arrays, or both objects.
fn is_container(node: Node<'_>, ty: &Type) -> bool {
    match ty {
        Type::Array(_) | Type::Tuple(_) => node.is_array(),
        Type::Object(_) => node.is_map(),
        Type::Record(_) => node.is_array() || node.is_map(),
        _ => false,
    }
}

/// Returns the form that a message has, of the forms of its kind: the first whose member, or its first element (`stages[0]`), is
/// present.
pub(crate) fn form<'m>(
    forms: impl IntoIterator<Item = &'m MessageSchema>,
    root: Node<'_>,
) -> Option<&'m MessageSchema> {
    let has = |member: &str| match member.strip_suffix("[0]") {
        Some(list) => root.get(list).is_some_and(|list| list.at(0).is_some()),
        None => root.get(member).is_some(),
    };
    let mut forms = forms.into_iter();
    forms.find(|message| message.when.is_none_or(has))
}

/// Compares the elements of an array that has members at fixed positions.
fn each<'a>(node: Node<'a>, members: &[Member], at: &At<'_>, report: ProblemSink<'_, 'a>) {
    for (n, member) in members.iter().enumerate() {
        let at = At::Item(at, n);
        match node.at(n) {
            Some(value) => check(value, &member.ty, &at, report),
            None if member.presence == Presence::Required => {
                report_problem(node, at, Wrong::Missing(member), report);
            }
            None => {}
        }
    }
}

/// The number of members that are found in one pass over an object. Few types have more.
const AT_ONCE: usize = 16;

/// Compares the members of an object, or of an array that has them at fixed positions.
fn all<'a>(node: Node<'a>, members: &[Member], at: &At<'_>, report: ProblemSink<'_, 'a>) {
    // The first member of those that exclude each other, and the one that is present.
    let (mut first, mut one): (Option<&Member>, Option<&str>) = (None, None);
    for (chunk, some) in members.chunks(AT_ONCE).enumerate() {
        let values = (!node.is_array()).then(|| node.get_each::<AT_ONCE, _>(some, |m| m.name));
        for (n, member) in some.iter().enumerate() {
            let mut name = member.name;
            let mut value = match &values {
                Some(values) => values.get(n),
                None => node.at(member.position.unwrap_or(chunk * AT_ONCE + n)),
            };
            if values.is_none() {
                value = value.filter(|value| !value.is_null());
            } else if value.is_none()
                && let Some((other, _)) = member.spelled
            {
                value = node.get(other);
                name = value.map_or(name, |_| other);
            }
            if member.presence == Presence::One {
                first = first.or(Some(member));
            }
            let at = At::Member(at, name, member);
            let Some(value) = value else {
                if member.presence == Presence::Required {
                    report_problem(node, at, Wrong::Missing(member), report);
                }
                continue;
            };
            if member.presence == Presence::Nullable && value.is_null() {
                continue;
            }
            if member.presence == Presence::One
                && let Some(other) = one.replace(name)
            {
                report_problem(value, at, Wrong::Beside(other, member), report);
            }
            if !matches!(member.ty, Type::Any) {
                check(value, &member.ty, &at, report);
            }
        }
    }
    if one.is_none()
        && let Some(first) = first
    {
        let at = At::Member(at, first.name, first);
        report_problem(node, at, Wrong::None(first, members), report);
    }
}

/// Refuses a value that its type does not allow.
pub fn refuse(node: Node<'_>, ty: &Type) -> Result<()> {
    let mut first = None;
    check(node, ty, &At::Root, &mut |problem| {
        if first.is_none() {
            first = problem.refusal();
        }
    });
    first.map_or(Ok(()), Err)
}

/// Refuses an absent object: names the first member that must be present.
pub(crate) fn refuse_nothing(ty: &Type) -> Result<()> {
    let mut members = super::members_of(ty).iter();
    match members.find(|member| member.presence == Presence::Required) {
        Some(member) => Err(Refusal::new(member.name, member.ty.to_string(), "nothing")),
        None => Ok(()),
    }
}

/// Returns true if a value is UTF-8 text.
pub(crate) fn is_text(node: Node<'_>) -> bool {
    node.is_json_string() || node.is_string() && node.text().is_some()
}

fn is_number(node: Node<'_>) -> bool {
    let float = matches!(node.value(), Value::Scalar(Scalar::F32(_) | Scalar::F64(_)));
    float || node.number_text().is_some() || node.as_i128().is_some()
}

/// Returns a number as a float.
#[allow(clippy::cast_precision_loss)] // precision of readers that know only floats
pub fn number(node: Node<'_>) -> Option<f64> {
    match node.value() {
        Value::Scalar(Scalar::F64(bits)) => Some(f64::from_bits(bits)),
        Value::Scalar(Scalar::F32(bits)) => Some(f64::from(f32::from_bits(bits))),
        Value::Scalar(Scalar::Uint(n)) => Some(n as f64),
        Value::Scalar(Scalar::Int(n)) => Some(n as f64),
        Value::Scalar(Scalar::Negative(n)) => Some(-1.0 - n as f64),
        _ => node.number_text()?.parse().ok(),
    }
}

/// Returns an integer that is written as one.
pub(crate) fn whole(node: Node<'_>) -> Option<i128> {
    match node.value() {
        Value::Scalar(Scalar::Uint(value)) => Some(value.into()),
        Value::Scalar(Scalar::Int(value)) => Some(value.into()),
        Value::Scalar(Scalar::Negative(n)) => Some(-1 - i128::from(n)),
        Value::Scalar(Scalar::Number(_)) => node.number_text()?.parse().ok(),
        _ => None,
    }
}

/// Writes a message that is JSON: its own text.
pub fn write_json(
    message: Node<'_>,
    force: bool,
    check: impl FnOnce(Node<'_>) -> Result<()>,
    out: &mut Vec<u8>,
) -> Result<Written> {
    if !force {
        check(message)?;
    }
    json::write_text(message.span().of(message.bytes()), true, out);
    Ok(Written::default())
}

/// Writes a message that is `MessagePack`. The check reads the written bytes, so that it needs no knowledge of lossless
/// forms.
pub fn write_msgpack(
    message: Node<'_>,
    force: bool,
    check: impl FnOnce(Node<'_>) -> Result<()>,
    out: &mut Vec<u8>,
) -> Result<Written> {
    let mut body = Vec::new();
    msgpack::write(message, &mut body)?;
    append(&body, msgpack::parse, force, check, out)
}

/// Writes a message that is CBOR, in the same way.
pub fn write_cbor(
    message: Node<'_>,
    force: bool,
    check: impl FnOnce(Node<'_>) -> Result<()>,
    out: &mut Vec<u8>,
) -> Result<Written> {
    let mut body = Vec::new();
    cbor::write(message, &mut body)?;
    append(&body, cbor::parse, force, check, out)
}

/// Appends a written message. It is checked as it was written, unless it is written by force.
fn append(
    body: &[u8],
    parse: fn(&[u8], Span, u32, &mut Tape) -> std::result::Result<(), DecodeError>,
    force: bool,
    check: impl FnOnce(Node<'_>) -> Result<()>,
    out: &mut Vec<u8>,
) -> Result<Written> {
    if !force {
        let mut tape = Tape::new();
        let parsed = parse(
            body,
            Span::new(0, body.len()),
            msgpack::MAX_DEPTH,
            &mut tape,
        );
        parsed.map_err(|error| Refusal::whole(error.wanted, error.got))?;
        tape.root(body).map_or(Ok(()), check)?;
    }
    out.extend_from_slice(body);
    Ok(Written::default())
}
