//! A protocol that a TOML file describes, beside those that are folders of this crate.
//!
//! ```text
//!   dap.toml --read--> Description --> Described: Protocol, Behavior
//!   [[message]] when = ".type=request"  kind = "request"  id = ".seq"  subject = ".command"
//! ```
//!
//! The first `[[message]]` whose condition holds gives kind, role, id and subject. Messages are written of the same facts.
//! With `base`, another protocol reads and writes the messages, and the description gives names and marks.

mod body;
mod checked;
mod description;
mod embedded;
mod matching;
mod message;
mod names;
mod peer;
mod read;
mod schema;
mod session;
#[cfg(test)]
mod tests;
mod text;
mod write;

use super::make::{IdGen, Made, Recipe, Words};
use super::peer::{Peer, PeerConfig, with_json};
use super::rule_names::described as rule;
use super::rules::{Rule, built_in};
use super::schema::files::SchemaFile;
use super::schema::json_schema::MessageJsonSchema;
use super::schema::marks::{Generated, Marks};
use super::schema::{Fresh, Maker};
use super::session::{Behavior, Session, SessionConfig};
use super::{
    Context, Descriptor, Direction, Kind, Message, Notes, PartName, Protocol, Role, WriteOptions,
    Written, registry,
};
use crate::encoding::Parsed;
use crate::error::Refusal;
use crate::framing::{CustomFraming, Frame, FramingName};
use crate::own_rules::wrap_with_rules;
use crate::tape::Node;
use crate::toml_text::TomlError;
use body::Header;
use description::{Description, MessageKind, Pairing};
pub use embedded::embedded;
pub(crate) use embedded::texts;
use matching::Matcher;
use read::FIELDS;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// A protocol that a TOML text describes.
///
/// ```
/// use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
/// use wiretool::protocol::described::Described;
///
/// let text = r#"
///     name = "quiz"
///     framings = ["lines"]
///     [[message]]
///     when = ".ask"
///     role = "request"
///     id = ".ask"
///     subject = ".about"
///     [[message]]
///     when = ".is"
///     role = "response"
///     id = ".answer"
///     content = ".is"
/// "#;
/// let quiz = Described::from_toml(text).unwrap();
/// let mut decoder = Decoder::new(DecodeOptions::new(vec![&quiz]));
/// let mut subjects = Vec::new();
/// let mut tell = |decoded: &Decoded<'_>| subjects.push(decoded.message.subject.as_deref().map(str::to_owned));
/// decoder.push(Origin::default(), b"{\"ask\":1,\"about\":\"time\"}\n", &mut tell);
/// decoder.finish(&mut tell);
/// assert_eq!(subjects, [Some("time".to_owned())]);
///
/// let error = Described::from_toml(&text.replace("subject", "subjct")).unwrap_err();
/// assert!(error.to_string().contains("unknown key subjct: did you mean subject?"));
/// ```
pub struct Described {
    description: Description,
    /// The protocol that reads and writes the messages, if the description has none of its own.
    base: Option<&'static dyn Protocol>,
    matcher: Matcher,
    /// Kind and subject of the messages that open a session.
    hellos: Vec<(String, Option<String>)>,
    kinds: Vec<Kind>,
    recipes: Vec<Recipe>,
    marks: Marks,
    /// Those of the protocol, and those of the description.
    rules: Vec<Arc<Rule>>,
    /// The SHA-256 of the text.
    hash: String,
}

impl fmt::Debug for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Described");
        fields.field("name", &self.description.name);
        fields.finish_non_exhaustive()
    }
}

/// The errors of a description, each with its place.
#[derive(Clone, Debug)]
pub struct DescriptionError {
    errors: Vec<TomlError>,
}

impl DescriptionError {
    /// Returns the line, the column and the text of each error, in the order of the text. Lines and columns are counted
    /// from 1, columns in characters.
    pub fn errors(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        let errors = self.errors.iter();
        errors.map(|error| (error.line, error.column, error.text.as_str()))
    }
}

impl fmt::Display for DescriptionError {
    /// Each error with the name of the text, line and column, and a caret under the wrong part.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.errors.iter().enumerate() {
            let separator = if n > 0 { "\n" } else { "" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for DescriptionError {}

impl Described {
    /// Reads a description. Every error is reported.
    pub fn from_toml(text: &str) -> Result<Self, DescriptionError> {
        Self::from_toml_named("description", text)
    }

    /// Reads a description; `name` names the text in errors, for example its file.
    pub fn from_toml_named(name: &str, text: &str) -> Result<Self, DescriptionError> {
        let none = |_: &str| Err("the description is in no folder".to_owned());
        Self::from_toml_with(name, text, &none)
    }

    /// Reads a description; `files` returns the text of a file that it names, by its path from the description's folder, or
    /// the reason why it cannot. Absolute paths and those with `..` are refused before.
    pub fn from_toml_with(
        name: &str,
        text: &str,
        files: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, DescriptionError> {
        match read::read(name, text, files) {
            Ok(description) => Ok(Self::new(description, text)),
            Err(mut errors) => {
                errors.sort_by_key(|error| (error.line, error.column));
                Err(DescriptionError { errors })
            }
        }
    }

    fn new(description: Description, text: &str) -> Self {
        let base = description
            .base
            .as_deref()
            .and_then(registry::find_built_in);
        let matcher = Matcher::new(&description);
        Self {
            base,
            hellos: hellos(&description, &matcher),
            hash: hex::encode(Sha256::digest(text)),
            matcher,
            kinds: kinds(&description.messages),
            recipes: Self::recipes_of(&description.messages),
            marks: marks(&description, base),
            rules: rules_without_own(base)
                .iter()
                .chain(rules_of_types(base, &description))
                .cloned()
                .chain(description.rules.iter().map(|own| Arc::clone(&own.rule)))
                .collect(),
            description,
        }
    }

    /// Adds the types of a file of this crate.
    fn with_schema(mut self, schema: Option<&'static LazyLock<SchemaFile>>) -> Self {
        self.description.schemas.own = schema;
        self
    }

    /// Returns its meaning in one line; empty if the description has none.
    pub fn about(&self) -> &str {
        &self.description.about
    }
}

/// Returns the rules that every description has, or those of its base.
fn rules_without_own(base: Option<&'static dyn Protocol>) -> &'static [Arc<Rule>] {
    static RULES: LazyLock<Vec<Arc<Rule>>> =
        LazyLock::new(|| built_in(include_str!("rules.md"), None));
    base.map_or(&RULES, |base| base.behavior().rules())
}

/// Returns the rules of types, if the base does not have them.
fn rules_of_types(
    base: Option<&'static dyn Protocol>,
    description: &Description,
) -> impl Iterator<Item = &'static Arc<Rule>> {
    let has_types = base.is_some() && description.schemas.is_any();
    let ids = [rule::WRONG_TYPE, rule::NOT_CHECKED];
    let all = rules_without_own(None).iter();
    all.filter(move |one| has_types && ids.contains(&one.id))
}

/// Returns the kinds of messages, each once.
fn kinds(messages: &[MessageKind]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for message in messages {
        let name = message.fixed_kind().unwrap_or(message.role.name());
        let role = Some(message.role).filter(|_| message.error.is_none() && message.last.is_none());
        match kinds.iter_mut().find(|kind| kind.name == name) {
            Some(kind) if kind.role != role => kind.role = None,
            Some(_) => {}
            None => kinds.push(Kind::new(name.to_owned(), role, about(message.role))),
        }
    }
    kinds.push(Kind::new(
        message::UNKNOWN,
        None,
        "no message of the description matches",
    ));
    kinds
}

/// Returns kind and subject of the messages that a client sends first.
fn hellos(description: &Description, matcher: &Matcher) -> Vec<(String, Option<String>)> {
    let hello = |text: &String| {
        let hello = with_json(text, |root| {
            matcher.read(root, |found| {
                let kind = found.kind(&description.messages, Some(Direction::ToServer))?;
                let (name, subject) = message::names(kind, found);
                Some((
                    name.into_owned(),
                    subject.map(|text| text.text.into_owned()),
                ))
            })
        });
        hello.flatten()
    };
    description
        .opening
        .client
        .iter()
        .filter_map(hello)
        .collect()
}

/// Returns the meaning of a role.
fn about(role: Role) -> &'static str {
    match role {
        Role::Request => "asks for an answer",
        Role::Response => "an answer",
        Role::Error => "an answer with an error",
        Role::Notification => "needs no answer",
        Role::Item => "one of several answers",
        Role::End => "the last of several answers",
        Role::Hello => "opens a session",
        Role::Heartbeat => "shows that a side is alive",
        Role::Control => "belongs to the session, not to a call",
    }
}

/// Returns the marks of the description, and those of ids: each run has its own.
fn marks(description: &Description, base: Option<&dyn Protocol>) -> Marks {
    /// The group of all ids that pairs need: each side counts its own.
    const GROUP: &str = "id";
    /// The group of ids that nothing refers to. An answer has the scope of its request, whose ids are not its own.
    const NUMBERS: &str = "number";
    let mut marks = description.marks.clone();
    let computed = description.body.header.iter().flat_map(Header::computed);
    let computed = computed.map(Generated::uncompared);
    marks.generated.extend(computed);
    let of = |kind: &MessageKind, path: &crate::path::Path, fresh, maker| Generated {
        maker,
        ..Generated::new(
            match kind.fixed_kind() {
                Some(kind) => format!("{kind}:{path}"),
                None => path.to_string(),
            },
            GROUP,
            fresh,
        )
        .volatile()
    };
    for kind in &description.messages {
        let reply_to = kind.reply_to.as_ref();
        // Other messages are only numbered.
        let own = kind.id.as_ref().map(|path| {
            let pairs = kind.role == Role::Request || kind.answers() && reply_to.is_none();
            let mark = of(kind, path, Fresh::Id, None);
            // Without the name of a kind, the path is that of all messages.
            let is_number = !pairs && kind.fixed_kind().is_some();
            Generated {
                fresh: mark.fresh.filter(|_| pairs),
                group: if is_number { NUMBERS } else { GROUP }.into(),
                ..mark
            }
        });
        let asked = reply_to.map(|path| of(kind, path, Fresh::Same, None));
        let cancelled = kind.cancels.as_ref();
        let cancelled = cancelled.map(|path| of(kind, path, Fresh::Same, Some(Maker::Sender)));
        for mark in [own, asked, cancelled].into_iter().flatten() {
            if !marks.generated.iter().any(|one| one.path == mark.path) {
                marks.generated.push(mark);
            }
        }
    }
    if let Some(base) = base.map(Protocol::marks) {
        marks.generated.extend(base.generated.iter().cloned());
        marks.unordered.extend(base.unordered.iter().cloned());
        marks.secrets.extend(base.secrets.iter().cloned());
        marks.dictionaries.extend(base.dictionaries.iter().cloned());
        marks.public.extend(base.public.iter().cloned());
    }
    marks
}

impl Protocol for Described {
    fn descriptor(&self) -> Descriptor<'_> {
        let description = &self.description;
        let [first, second] = &description.sides;
        let own = Descriptor {
            encodings: &description.body.encodings,
            is_sequential: description.pairing != Pairing::Id,
            answers_in_order: description.pairing == Pairing::Order,
            answers_by_subject: description.pairing == Pairing::Subject,
            answers_anywhere: description.across_connections,
            line_end: &description.line_end,
            is_read_only: description.body.is_read_only(),
            ..Descriptor::USUAL
        };
        Descriptor {
            name: &description.name,
            port: description.port,
            framings: &description.framings,
            sides: [first, second],
            ..self.base.map_or(own, Protocol::descriptor)
        }
    }

    fn kinds(&self) -> &[Kind] {
        self.base.map_or(&self.kinds, Protocol::kinds)
    }

    fn recipes(&self) -> &[Recipe] {
        self.base.map_or(&self.recipes, Protocol::recipes)
    }

    fn marks(&self) -> &Marks {
        &self.marks
    }

    fn shapes(&self) -> Vec<MessageJsonSchema> {
        self.base.map(Protocol::shapes).unwrap_or_default()
    }

    fn custom_framing(&self, name: FramingName) -> Option<&dyn CustomFraming> {
        let header = self.description.body.header.as_ref()?;
        (name == FIELDS).then_some(&header.layout)
    }

    fn read<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &Context<'_>,
        parsed: &'a mut Parsed,
    ) -> Message<'a> {
        match self.base {
            Some(base) => base.read(frame, context, parsed),
            None => message::read(self, frame, context, parsed),
        }
    }

    fn write(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written, Refusal> {
        match self.base {
            Some(base) => base.write(message, options, out),
            None => self.write_message(message, options, out),
        }
    }

    fn make(&self, kind: &str, words: &mut Words<'_>, id_gen: &mut IdGen) -> Result<Made, Refusal> {
        match self.base {
            Some(base) => base.make(kind, words, id_gen),
            None => self.make_message(kind, words, id_gen),
        }
    }

    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        if let Some(base) = self.base {
            base.annotate(root, message, notes);
        }
    }

    fn content<'n>(&self, root: Node<'n>, message: &Message<'_>) -> Option<Node<'n>> {
        match self.base {
            Some(base) => base.content(root, message),
            None => message::content(self, root, message),
        }
    }

    fn fixed_direction(&self, message: &Message<'_>) -> Option<Direction> {
        if let Some(base) = self.base {
            return base.fixed_direction(message);
        }
        let kinds = self.description.messages.iter();
        let mut same = kinds.filter(|kind| kind.fixed_kind() == Some(&*message.kind));
        let direction = same.next()?.direction;
        direction.filter(|_| same.all(|kind| kind.direction == direction))
    }

    fn own_direction(&self, frame: &Frame<'_>, message: &Message<'_>) -> Option<Direction> {
        match self.base {
            Some(base) => base.own_direction(frame, message),
            None => self.fixed_direction(message),
        }
    }

    fn needs_no_session(&self, root: Node<'_>) -> bool {
        self.base.is_some_and(|base| base.needs_no_session(root))
    }

    fn is_hello(&self, message: &Message<'_>) -> bool {
        if let Some(base) = self.base {
            return base.is_hello(message);
        }
        let subject = message.subject.as_deref();
        let mut hellos = self.hellos.iter();
        message.role == Some(Role::Hello)
            || hellos.any(|(kind, of)| *kind == message.kind && of.as_deref() == subject)
    }

    fn parts<'n>(&self, root: Node<'n>, message: &Message<'_>) -> Vec<Node<'n>> {
        let parts = self.base.map(|base| base.parts(root, message));
        parts.unwrap_or_default()
    }

    fn part_names(&self, root: Node<'_>) -> Vec<PartName> {
        self.base
            .map(|base| base.part_names(root))
            .unwrap_or_default()
    }

    fn pair_id<'n>(&self, root: Node<'n>, direction: Direction) -> Option<Node<'n>> {
        match self.base {
            Some(base) => base.pair_id(root, direction),
            None => message::pair_id(self, root, direction),
        }
    }

    fn is_error_answer(&self, root: Node<'_>, direction: Direction) -> bool {
        match self.base {
            Some(base) => base.is_error_answer(root, direction),
            None => message::role_of(self, root, direction) == Some(Role::Error),
        }
    }

    fn behavior(&self) -> &dyn Behavior {
        self
    }

    fn description_hash(&self) -> Option<&str> {
        Some(&self.hash)
    }
}

impl Behavior for Described {
    fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    fn session<'a>(&'a self, config: &SessionConfig) -> Box<dyn Session + 'a> {
        let session = match self.base {
            Some(base) => base.behavior().session(config),
            None => Box::new(session::DescribedSession::new(self, config)),
        };
        let session = checked::wrap_with_types(session, self, config);
        wrap_with_rules(session, self, &self.description.rules)
    }

    fn peer<'a>(&'a self, side: Direction, config: &PeerConfig) -> Box<dyn Peer + 'a> {
        match self.base {
            Some(base) => base.behavior().peer(side, config),
            None => Box::new(peer::DescribedPeer::new(self, side, config)),
        }
    }
}
