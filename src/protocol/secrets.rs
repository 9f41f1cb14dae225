//! Finds the secrets of a message, by the names of its values and inside of its texts.
//!
//! ```text
//!   {"password": "hunter2"}                          by its name
//!   {"name": "X-Api-Key", "value": "hunter2"}        by its name beside it
//!   ["--token", "hunter2"]                           after a flag
//!   {"tokens": ["hunter2"]}                          in a list with its name
//!   "{\"password\": \"hunter2\"}"                    JSON in text: all of the text
//!   "https://me:hunter2@host/"                       a part of a text
//! ```

use super::schema::marks::Marks;
use super::{Message, Protocol};
use crate::encoding::json;
use crate::framing::fields::{
    FlagValue, HeaderSecret, is_pair_name, is_plain_secret, is_secret_field, is_secret_list,
    is_secret_name, text_secrets,
};
use crate::tape::{Node, Scalar, Tape, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The depth to which JSON in text of JSON in text is searched.
const LEVELS: usize = 4;
/// The deepest nesting of JSON in text.
const DEPTH: u32 = 128;
/// The start of a first parameter that is a secret, as in aria2.
const TOKEN_PARAMETER: &str = "token:";

/// What is secret of a value.
pub enum Extent {
    /// All of it, with the values below it.
    Whole,
    /// Parts of a text.
    Parts(Vec<HeaderSecret>),
}

/// The names of secret values in a message.
pub struct SecretNames<'n> {
    /// The marks of its protocol.
    pub marks: &'n Marks,
    /// Accepts further names.
    pub also: &'n dyn Fn(&[u8]) -> bool,
}

impl<'n> SecretNames<'n> {
    /// Returns the names that are secret in every message of a protocol.
    pub fn of(protocol: &'n dyn Protocol) -> Self {
        Self {
            marks: protocol.marks(),
            also: &|_| false,
        }
    }

    fn is_secret(&self, name: &[u8]) -> bool {
        let is = |own: &Cow<'_, str>| name.eq_ignore_ascii_case(own.as_bytes());
        (self.also)(name) || is_secret_name(name) || self.marks.secrets.iter().any(is)
    }

    /// Returns true for a member whose keys are names of something else.
    fn is_dictionary(&self, name: &[u8]) -> bool {
        let mut own = self.marks.dictionaries.iter();
        // In a JSON Schema, the value of a property name describes the property.
        name == b"properties" || own.any(|own| name == own.as_bytes())
    }
}

/// Returns the index of the value in a message that only connects messages, although its name is that of a secret.
pub fn public_value(marks: &Marks, root: Node<'_>, message: &Message<'_>) -> Option<usize> {
    let subject = message.subject.as_deref();
    let mut public = marks.public.iter();
    let (_, keys) = public.find(|(own, _)| subject == Some(&**own))?;
    let value = keys.iter().try_fold(root, |node, key| node.get(key))?;
    (!value.is_map() && !value.is_array()).then(|| value.index())
}

/// Calls `visit` for each value that is secret, as a whole or in part.
pub fn for_each_secret<'a>(
    root: Node<'a>,
    names: &SecretNames<'_>,
    visit: &mut dyn FnMut(Node<'a>, Extent),
) {
    let mut search = SecretSearch::new(names);
    root.each(&mut |node| search.see(node, visit));
}

/// Searches a message, one value after the other.
pub(super) struct SecretSearch<'n> {
    names: &'n SecretNames<'n>,
    dictionaries: BTreeSet<usize>,
}

impl<'n> SecretSearch<'n> {
    pub fn new(names: &'n SecretNames<'n>) -> Self {
        Self {
            names,
            dictionaries: BTreeSet::new(),
        }
    }

    /// Calls `visit` for what is secret of the next value, and for its members with a secret name.
    pub fn see<'a>(&mut self, node: Node<'a>, visit: &mut dyn FnMut(Node<'a>, Extent)) {
        if node.is_map() {
            find_in_members(node, self.names, &mut self.dictionaries, visit);
        } else if node.is_array() {
            find_in_arguments(node, visit);
        } else {
            let parts = text_parts(node);
            if !parts.is_empty() {
                visit(node, Extent::Parts(parts));
            }
        }
    }
}

/// Visits each member with a secret name; of an object, its members except `type` and `scheme`.
fn find_in_members<'a>(
    map: Node<'a>,
    names: &SecretNames<'_>,
    dictionaries: &mut BTreeSet<usize>,
    visit: &mut dyn FnMut(Node<'a>, Extent),
) {
    let is_dictionary = dictionaries.contains(&map.index());
    // A pair of a name and a value, as in lists of variables and of header fields.
    let (mut is_secret_pair, mut pair_value) = (false, None);
    for (key, value) in map.members() {
        let name = key.key_content();
        let name = name.as_ref();
        match name {
            _ if is_pair_name(name) => is_secret_pair |= is_secret_field(value.raw_text()),
            _ if name.eq_ignore_ascii_case(b"value") => pair_value = Some(value),
            b"params" if value.is_array() => find_token_parameter(value, visit),
            _ if value.is_map() && names.is_dictionary(name) => {
                _ = dictionaries.insert(value.index());
            }
            _ => {}
        }
        if value.is_array() && is_secret_list(name) {
            let is_secret = |node: &Node<'_>| node.raw_content().is_some_and(is_plain_secret);
            let texts = value.children().filter(is_secret);
            texts.for_each(|node| visit(node, Extent::Whole));
        }
        let describes = is_dictionary && value.is_map();
        if describes || !names.is_secret(name) {
            continue;
        }
        if !value.is_map() {
            visit(value, Extent::Whole);
            continue;
        }
        for (key, value) in value.members() {
            let names_kind = key.is_text("type") || key.is_text("scheme");
            if !names_kind || !value.is_string() {
                visit(value, Extent::Whole);
            }
        }
    }
    if let Some(value) = pair_value.filter(|_| is_secret_pair) {
        visit(value, Extent::Whole);
    }
}

/// Visits each value after a flag in a list of arguments: `["--token", "hunter2"]`.
fn find_in_arguments<'a>(list: Node<'a>, visit: &mut dyn FnMut(Node<'a>, Extent)) {
    let mut flag = None;
    for (n, node) in list.children().enumerate() {
        let is_text = node.is_string();
        // The list begins with a text, or it is not a list of arguments.
        if n == 0 && !is_text {
            return;
        }
        let text = node.raw_text();
        if let Some(flag) = flag.take() {
            visit_flag_value(node, flag, visit);
        }
        flag = Some(text).filter(|_| is_text).and_then(FlagValue::after);
    }
}

fn visit_flag_value<'a>(node: Node<'a>, flag: FlagValue, visit: &mut dyn FnMut(Node<'a>, Extent)) {
    let text = match flag {
        FlagValue::All => Cow::Borrowed(node.raw_text()),
        _ => match node.text() {
            Some(Cow::Borrowed(text)) => Cow::Borrowed(text.as_bytes()),
            Some(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
            None => return,
        },
    };
    match flag.secret_in(&text) {
        Some(range) if range == (0..text.len()) => visit(node, Extent::Whole),
        Some(range) => {
            let escaped = false;
            visit(node, Extent::Parts(vec![HeaderSecret { range, escaped }]));
        }
        None => {}
    }
}

/// Visits the secret in a first parameter `token:hunter2`.
fn find_token_parameter<'a>(list: Node<'a>, visit: &mut dyn FnMut(Node<'a>, Extent)) {
    let first = list.children().next();
    let first = first.and_then(|first| Some((first, first.text()?)));
    if let Some((node, text)) = first
        && text.len() > TOKEN_PARAMETER.len()
        && text.starts_with(TOKEN_PARAMETER)
    {
        let secret = HeaderSecret {
            range: TOKEN_PARAMETER.len()..text.len(),
            escaped: false,
        };
        visit(node, Extent::Parts(vec![secret]));
    }
}

/// Returns the secret parts of a text.
pub fn text_parts(node: Node<'_>) -> Vec<HeaderSecret> {
    if node.raw_content().is_none() {
        return Vec::new();
    }
    if node.is_plain_text() {
        return text_secrets(node.raw_text());
    }
    match node.value() {
        Value::Scalar(Scalar::Bin(bytes)) if bytes.is_ascii() => text_secrets(bytes),
        Value::Scalar(Scalar::Json(_, true)) => {
            let text = node.text().unwrap_or_default();
            text_secrets(text.as_bytes())
        }
        _ => Vec::new(),
    }
}

/// Returns true if a value is text or bytes that may hold JSON.
#[inline]
pub fn may_hold_json(node: Node<'_>) -> bool {
    let content = node.raw_content().unwrap_or_default();
    if content.first().is_none_or(u8::is_ascii_alphanumeric) {
        return false;
    }
    let first = content.iter().find(|b| !b.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'[' | b'"' | b'\\'))
}

/// Returns the JSON text that a value holds.
pub fn embedded_json(node: Node<'_>) -> Option<Cow<'_, str>> {
    match node.value() {
        Value::Scalar(Scalar::Bin(bytes)) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        _ => node.text(),
    }
}

/// Parses JSON text and visits its root.
pub fn with_json<T>(text: &str, see: impl FnOnce(Node<'_>) -> T) -> Option<T> {
    let mut tape = Tape::new();
    json::root(text.as_bytes(), DEPTH, &mut tape).ok().map(see)
}

/// Returns true if a value is text that holds JSON with a secret.
#[inline]
pub fn holds_secret(node: Node<'_>, names: &SecretNames<'_>) -> bool {
    may_hold_json(node) && holds_secret_within(node, LEVELS, names)
}

fn holds_secret_within(node: Node<'_>, levels: usize, names: &SecretNames<'_>) -> bool {
    if levels == 0 || !may_hold_json(node) {
        return false;
    }
    let Some(text) = embedded_json(node) else {
        return false;
    };
    let found = with_json(&text, |root| {
        let mut found = false;
        for_each_secret(root, names, &mut |value, extent| {
            found |= match extent {
                Extent::Whole => !value.is_null(),
                // Without escapes, the part is a part of the whole text too.
                Extent::Parts(_) => value.raw_text().contains(&b'\\'),
            };
        });
        root.each(&mut |node| found = found || holds_secret_within(node, levels - 1, names));
        found
    });
    found.unwrap_or_default()
}
