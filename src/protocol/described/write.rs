//! Writes messages: the check before writing, and messages that are made of the facts of their kind.
//!
//! ```text
//!   when = ".type=request"  id = ".seq"  subject = ".command"     {"type":"request","seq":1,"command":"next"}
//!   when = ".[0]=0"         id = ".[1]"  subject = ".[2]"         [0,1,"next"]
//! ```

use super::body::{Check, Header};
use super::description::{MessageKind, Word};
use super::{Described, about};
use crate::encoding::lossless::quote;
use crate::error::{Refusal, Result};
use crate::framing::Framing;
use crate::path::{Path, PathStep};
use crate::protocol::make::{
    ANY_PATH, IdGen, Made, Recipe, Words, is_json, text, unknown_kind, value,
};
use crate::protocol::peer::{json_of, with_json};
use crate::protocol::schema::check::{write_cbor, write_json, write_msgpack};
use crate::protocol::{Direction, MessageForm, Role, WriteOptions, Written};
use crate::select::{Expr, Key, KeyTest, Operand, Order, Test};
use crate::tape::Node;

/// The kind for `make` of an answer that is an error, if no kind has this name.
const ERROR: &str = "error";

impl Described {
    /// Writes a message. One that no description matches is refused.
    pub(super) fn write_message(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written> {
        let check = |root: Node<'_>| {
            let messages = &self.description.messages;
            if self
                .matcher
                .find(messages, root, options.direction)
                .is_some()
            {
                return Ok(());
            }
            let wanted = format!("a message of {}", self.description.name);
            Err(Refusal::whole(wanted, quote(root)))
        };
        let body = &self.description.body;
        let packed = options.form != MessageForm::Json;
        if !body.is_plain(body.encoding_of(body.value(message), packed)) {
            let check: Option<Check<'_>> = Some(&check);
            let mut written = Written::default();
            let check = check.filter(|_| !options.force);
            let start = out.len();
            written.head.header_len = body.write(message, packed, check, out)?;
            let is_lines = self.description.framings.first() == Some(&Framing::Lines);
            if is_lines && out.get(start..).unwrap_or_default().contains(&b'\n') {
                out.truncate(start);
                return Err(Refusal::whole("one line", "a line break in the text"));
            }
            return Ok(written);
        }
        match options.form {
            MessageForm::MessagePack => write_msgpack(message, options.force, check, out),
            MessageForm::Cbor => write_cbor(message, options.force, check, out),
            _ => write_json(message, options.force, check, out),
        }
    }

    /// Returns the messages that can be made of a few words.
    pub(super) fn recipes_of(messages: &[MessageKind]) -> Vec<Recipe> {
        let mut recipes: Vec<Recipe> = Vec::new();
        for (name, kind, fails) in made(messages) {
            recipes.push(Recipe {
                name: name.to_owned().into(),
                words: words_of(kind, fails).join(" ").into(),
                keys: keys_of(kind).into(),
                about: about(if fails { Role::Error } else { kind.role }).into(),
            });
        }
        recipes
    }

    /// Makes a message of a few words.
    pub(super) fn make_message(
        &self,
        kind: &str,
        words: &mut Words<'_>,
        id_gen: &mut IdGen,
    ) -> Result<Made> {
        let messages = &self.description.messages;
        let found = made(messages).into_iter().find(|(name, ..)| *name == kind);
        let (_, kind, fails) = found.ok_or_else(|| unknown_kind(kind, &self.recipes))?;
        let mut parts = Parts {
            failed: fails,
            ..Parts::default()
        };
        let is_answer = kind.answers();
        if is_answer && kind.pair_id().is_some() {
            parts.pair_id = Some(value(words.word("the id of the request")?));
        }
        if let Some(Word::At(path)) = &kind.subject {
            parts.subject = Some(words.word(&label(path))?.to_owned());
        }
        if fails && error_text(kind).is_some() {
            parts.text = words.optional().map(str::to_owned);
        } else if is_first_element(kind) {
            let first = parts.subject.as_deref().map(text);
            let rest = std::iter::from_fn(|| words.optional()).map(value);
            let elements: Vec<_> = first.into_iter().chain(rest).collect();
            parts.content = Some(format!("[{}]", elements.join(",")));
        } else if let Some(content) = &kind.content {
            parts.content = words.optional().map(value);
            let has_subject = matches!(&kind.subject, Some(Word::At(path)) if path.len() > content.len() && path.starts_with(content));
            let given = parts.content.as_deref().filter(|_| has_subject);
            if let Some(given) = given.filter(|given| !given.starts_with(['{', '['])) {
                return Err(Refusal::new(
                    words.place(),
                    "an object, which has the subject, too",
                    given.to_owned(),
                ));
            }
        }
        words.end()?;
        let given = words.key("id").map(value);
        // The opening of a client takes the first numbers.
        let next = |id_gen: &mut IdGen| {
            let opening = self.description.opening.client.len() as u64;
            (id_gen.number() + opening + 1).to_string()
        };
        if kind.id.is_some() && (kind.reply_to.is_some() || !is_answer) {
            parts.id = Some(given.unwrap_or_else(|| next(id_gen)));
        }
        let usual = if is_answer {
            Direction::ToClient
        } else {
            Direction::ToServer
        };
        let direction = kind.direction.unwrap_or(usual);
        let mut tree = build(kind, &parts);
        tree.set_keys(words)?;
        let message = self.with_header(tree);
        self.check_error(kind, &parts, &message)?;
        // A value that is left out can make another kind of it.
        let found = with_json(&message, |root| {
            self.matcher.find(messages, root, Some(direction))
        });
        match found.flatten() {
            Some(other) if name_of(other) != name_of(kind) => {
                let words = words_of(kind, fails).join(" ");
                let made = format!("words that make a {}", name_of(other));
                Err(Refusal::whole(words, made))
            }
            _ => Ok(Made { message, direction }),
        }
    }

    /// Returns a message with the numbers of the header that it leaves out, so that they can be changed.
    fn with_header(&self, mut tree: Tree) -> String {
        let header = self.description.body.header.as_ref();
        for path in header.into_iter().flat_map(Header::numbers) {
            tree.fill(&path, Tree::Json("0".to_owned()));
        }
        tree.to_json()
    }

    /// Refuses an answer with an error that the condition of errors does not show.
    pub(super) fn check_error(
        &self,
        kind: &MessageKind,
        parts: &Parts,
        message: &str,
    ) -> Result<()> {
        let Some(error) = kind.error.as_ref().filter(|_| parts.failed) else {
            return Ok(());
        };
        let holds = with_json(message, |root| {
            self.matcher.read(root, |found| found.holds(error, None))
        });
        if holds == Some(true) {
            return Ok(());
        }
        let wanted = format!("values with which {error} holds");
        Err(Refusal::new("error", wanted, message.to_owned()))
    }
}

/// Returns true if the subject is the first element of the content: the other elements are its words.
fn is_first_element(kind: &MessageKind) -> bool {
    let Some((Word::At(subject), content)) = kind.subject.as_ref().zip(kind.content.as_ref())
    else {
        return false;
    };
    matches!(subject.split_last(), Some((PathStep::Element(0), list)) if list == &content[..])
}

/// Returns the kinds that can be made, with their names; true for an answer that is an error.
fn made(messages: &[MessageKind]) -> Vec<(&str, &MessageKind, bool)> {
    let mut made: Vec<(&str, &MessageKind, bool)> = Vec::new();
    let fails = messages.iter().filter(|kind| kind.error.is_some());
    let fails = fails.map(|kind| (ERROR, kind, true));
    let named = messages
        .iter()
        .map(|kind| (name_of(kind), kind, kind.role == Role::Error));
    for one in named {
        match made.iter_mut().find(|(name, ..)| *name == one.0) {
            // Special kinds come first.
            Some(known) => *known = one,
            None => made.push(one),
        }
    }
    for one in fails {
        if made.iter().all(|(name, ..)| *name != one.0) {
            made.push(one);
        }
    }
    made
}

/// Returns the keys of a kind: its id, its name, and any path.
fn keys_of(kind: &MessageKind) -> String {
    let id = kind.id.as_ref().filter(|_| !kind.answers());
    let name = match &kind.name {
        Some(Word::At(path)) => format!(".{path}"),
        _ => String::new(),
    };
    let keys = [id.map_or("", |_| "id"), &name, ANY_PATH];
    let keys: Vec<_> = keys.into_iter().filter(|key| !key.is_empty()).collect();
    keys.join(" ")
}

/// Returns the name of a kind for `make`.
fn name_of(kind: &MessageKind) -> &str {
    kind.fixed_kind().unwrap_or(kind.role.name())
}

/// Returns the words of a kind: `[COMMAND] [ARGUMENTS]`.
fn words_of(kind: &MessageKind, fails: bool) -> Vec<String> {
    let mut words = Vec::new();
    if kind.answers() && kind.pair_id().is_some() {
        words.push("ID".to_owned());
    }
    if let Some(Word::At(path)) = &kind.subject {
        words.push(label(path));
    }
    if fails && error_text(kind).is_some() {
        words.push("[TEXT]".to_owned());
    } else if is_first_element(kind) {
        words.push("[VALUE]...".to_owned());
    } else if let Some(path) = &kind.content {
        words.push(format!("[{}]", label(path)));
    }
    words
}

/// Returns the name of the value at a path, as a word of `make`: `COMMAND`, `VALUE2` for an element.
fn label(path: &Path) -> String {
    let name = path.iter().rev().find_map(|step| match step {
        PathStep::Member(name) => Some(name.to_uppercase()),
        PathStep::Element(_) => None,
    });
    let name = name.unwrap_or_else(|| "VALUE".to_owned());
    match path.last() {
        Some(PathStep::Element(n)) => format!("{name}{n}"),
        _ => name,
    }
}

/// Returns the place of the text of an error.
fn error_text(kind: &MessageKind) -> Option<&Path> {
    kind.text.as_ref().or(kind.outcome.as_ref())
}

/// The parts of a message that its kind does not fix; values are JSON.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The message's own id.
    pub id: Option<String>,
    /// The id of the request.
    pub pair_id: Option<String>,
    pub kind: Option<String>,
    pub subject: Option<String>,
    pub content: Option<String>,
    /// The message is an answer with an error.
    pub failed: bool,
    pub code: Option<String>,
    pub text: Option<String>,
}

/// Builds a message of a kind.
pub(super) fn build(kind: &MessageKind, parts: &Parts) -> Tree {
    let mut tree = Tree::Nothing;
    if let Some(when) = &kind.when {
        set_constants(when, &mut tree);
    }
    match &kind.error {
        Some(error) if parts.failed => set_constants(error, &mut tree),
        Some(error) => set_opposites(error, &mut tree),
        None => {}
    }
    let mut set = |path: Option<&Path>, value: Option<String>| {
        if let Some((path, value)) = path.zip(value) {
            tree.set(path, value);
        }
    };
    let reply_to = kind.reply_to.as_ref();
    let own = kind
        .id
        .as_ref()
        .filter(|_| reply_to.is_some() || !kind.answers());
    set(own, parts.id.clone());
    set(
        kind.pair_id().filter(|_| kind.answers()),
        parts.pair_id.clone(),
    );
    if let Word::At(path) = &kind.kind {
        set(Some(path), parts.kind.as_deref().map(text));
    }
    if let Some(Word::At(path)) = &kind.subject {
        set(Some(path), parts.subject.as_deref().map(text));
    }
    if parts.failed {
        let message = parts.text.as_deref().map(text);
        let has_text = kind.text.is_some();
        match (&kind.outcome, parts.code.as_deref().map(value)) {
            (code, Some(given)) if has_text => set(code.as_ref(), Some(given)),
            // The condition may have set one.
            (Some(code), None) if has_text => tree.fill(code, Tree::Json("0".to_owned())),
            (code, _) => set(code.as_ref(), message.clone().filter(|_| !has_text)),
        }
        if let Some((path, message)) = kind.text.as_ref().zip(message) {
            tree.set(path, message);
        }
    }
    let content = parts.content.clone().or_else(|| usual_content(kind, parts));
    if let Some((path, content)) = kind.content.as_ref().zip(content) {
        // Parts of it may be set: the subject, an id.
        let content = with_json(&content, Tree::of).unwrap_or(Tree::Json(content));
        tree.fill(path, content);
    }
    tree
}

/// Returns the content that a message has if none is given: a message that is an array has all its elements.
fn usual_content(kind: &MessageKind, parts: &Parts) -> Option<String> {
    let is_element = matches!(kind.content.as_ref()?[..], [PathStep::Element(_)]);
    let usual = if kind.answers() || parts.failed {
        "null"
    } else {
        "[]"
    };
    is_element.then(|| usual.to_owned())
}

/// Sets the values that a condition requires.
fn set_constants(condition: &Expr, tree: &mut Tree) {
    match condition {
        Expr::All(parts) => parts.iter().for_each(|part| set_constants(part, tree)),
        Expr::Test(Test {
            key: Key::Message(path),
            what: KeyTest::Is(list),
        }) => {
            if let Some(value) = list.first().and_then(json_of_operand) {
                tree.set(path, value);
            }
        }
        Expr::Test(Test {
            key: Key::Message(path),
            what: KeyTest::Order(order @ (Order::AtLeast | Order::More), Operand::Word(least)),
        }) => {
            if let Ok(least) = least.parse::<i64>() {
                let more = i64::from(*order == Order::More);
                tree.set(path, least.saturating_add(more).to_string());
            }
        }
        _ => {}
    }
}

/// Sets the values with which a condition does not hold, as far as it says them: the other truth value.
fn set_opposites(condition: &Expr, tree: &mut Tree) {
    match condition {
        Expr::Not(part) => set_constants(part, tree),
        Expr::Test(Test {
            key: Key::Message(path),
            what: KeyTest::Is(list),
        }) => match list.as_slice() {
            [Operand::Word(word)] if word == "false" => tree.set(path, "true".to_owned()),
            [Operand::Word(word)] if word == "true" => tree.set(path, "false".to_owned()),
            _ => {}
        },
        _ => {}
    }
}

fn json_of_operand(operand: &Operand) -> Option<String> {
    match operand {
        Operand::Text(word) => Some(text(word)),
        Operand::Word(word) if is_json(word) => Some(word.clone()),
        Operand::Word(word) => Some(text(word)),
        Operand::Number(_) | Operand::SinceStart(_) | Operand::OfDay(_) => None,
    }
}

/// A message that is built value by value.
#[derive(Debug)]
pub(super) enum Tree {
    Nothing,
    Json(String),
    Object(Vec<(String, Tree)>),
    Array(Vec<Tree>),
}

impl Tree {
    /// Returns a value whose members or elements can be replaced.
    pub fn of(node: Node<'_>) -> Self {
        if node.is_map() {
            let named = node.members().map(|(key, value)| {
                let key = key.text().unwrap_or_default().into_owned();
                (key, Self::of(value))
            });
            Self::Object(named.collect())
        } else if node.is_array() {
            Self::Array(node.children().map(Self::of).collect())
        } else {
            Self::Json(json_of(node))
        }
    }

    /// Sets the value at a path. Nothing is set below a value that has no members or elements.
    pub fn set(&mut self, path: &[PathStep], json: String) {
        if let Some(place) = self.place(path) {
            *place = Self::Json(json);
        }
    }

    /// Sets the values of words such as `.header.flags=3`.
    fn set_keys(&mut self, words: &Words<'_>) -> Result<()> {
        for (key, given) in words.keys() {
            // Of the keys, only paths begin with a dot.
            let Some(path) = key.parse::<Path>().ok().filter(|_| key.starts_with('.')) else {
                continue;
            };
            let wanted = "a member of an object, or an element of a list";
            let place = self.place(&path);
            *place.ok_or_else(|| Refusal::new((*key).to_owned(), wanted, "another value"))? =
                Self::Json(value(given));
        }
        Ok(())
    }

    /// Sets the value at a path, except the parts that are set.
    fn fill(&mut self, path: &[PathStep], value: Self) {
        if let Some(place) = self.place(path) {
            place.merge(value);
        }
    }

    fn merge(&mut self, other: Self) {
        match (self, other) {
            (place @ Self::Nothing, other) => *place = other,
            (Self::Object(members), Self::Object(others)) => {
                for (name, value) in others {
                    match members.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, known)) => known.merge(value),
                        None => members.push((name, value)),
                    }
                }
            }
            (Self::Array(elements), Self::Array(others)) => {
                for (n, value) in others.into_iter().enumerate() {
                    match elements.get_mut(n) {
                        Some(known) => known.merge(value),
                        None => elements.push(value),
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the place of a path, which is added; `None` below a value that has no members or elements.
    fn place(&mut self, path: &[PathStep]) -> Option<&mut Self> {
        let Some((step, rest)) = path.split_first() else {
            return Some(self);
        };
        let next = match step {
            PathStep::Member(name) => {
                if matches!(self, Self::Nothing) {
                    *self = Self::Object(Vec::new());
                }
                let Self::Object(members) = self else {
                    return None;
                };
                let at = members.iter().position(|(key, _)| key == name);
                let at = at.unwrap_or_else(|| {
                    members.push((name.clone(), Self::Nothing));
                    members.len() - 1
                });
                members.get_mut(at).map(|(_, value)| value)
            }
            PathStep::Element(n) => {
                if matches!(self, Self::Nothing) {
                    *self = Self::Array(Vec::new());
                }
                let Self::Array(elements) = self else {
                    return None;
                };
                while elements.len() <= *n {
                    elements.push(Self::Nothing);
                }
                elements.get_mut(*n)
            }
        };
        next?.place(rest)
    }

    /// Returns the value as JSON.
    pub fn to_json(&self) -> String {
        let join = |parts: Vec<String>| parts.join(",");
        match self {
            Self::Nothing => "null".to_owned(),
            Self::Json(json) => json.clone(),
            Self::Object(members) => {
                let members = members.iter();
                let members =
                    members.map(|(name, value)| format!("{}:{}", text(name), value.to_json()));
                format!("{{{}}}", join(members.collect()))
            }
            Self::Array(elements) => {
                format!("[{}]", join(elements.iter().map(Self::to_json).collect()))
            }
        }
    }
}
