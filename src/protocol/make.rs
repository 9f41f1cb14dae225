//! Messages from a few words: recipes, generated ids, words and JSON objects.

use super::Direction;
use crate::encoding::json;
use crate::error::Refusal;
use crate::tape::Tape;
use std::borrow::Cow;

/// The key that stands for any path in a message that begins with a dot, such as `.header.flags`.
pub(crate) const ANY_PATH: &str = ".PATH";

/// One kind of message that can be made: its words and its description.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The kind, the first word.
    pub name: Cow<'static, str>,
    /// The words after it: `TARGET [ARG…]`.
    pub words: Cow<'static, str>,
    /// The keys that `KEY=VALUE` words may set.
    pub keys: Cow<'static, str>,
    /// The description.
    pub about: Cow<'static, str>,
}

/// A message that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The message, as `decode -f json` would show it.
    pub message: String,
    /// The direction of the message.
    pub direction: Direction,
}

impl Made {
    /// A message to the side that listens.
    pub fn to_server(object: Object) -> Self {
        Self {
            message: object.finish(),
            direction: Direction::ToServer,
        }
    }

    /// A message to the side that opened the connection.
    pub fn to_client(object: Object) -> Self {
        Self {
            message: object.finish(),
            direction: Direction::ToClient,
        }
    }
}

/// A generator of ids. The same seed gives the same ids.
#[derive(Debug)]
pub struct IdGen {
    random: fastrand::Rng,
    next: u64,
}

impl IdGen {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            random: fastrand::Rng::with_seed(seed),
            next: 0,
        }
    }

    /// Returns a random UUID (RFC 9562 section 5.4).
    pub fn uuid(&mut self) -> [u8; 16] {
        let mut uuid = self.random.u128(..).to_be_bytes();
        uuid[6] = uuid[6] & 0x0f | 0x40;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        uuid
    }

    /// Returns the next number, from 0.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

/// The words of a message, consumed from the front.
#[derive(Debug, Default)]
pub struct Words<'a> {
    plain: Vec<&'a str>,
    /// `KEY=VALUE` words, if the protocol accepts the key.
    keyed: Vec<(&'a str, &'a str)>,
    taken: usize,
}

impl<'a> Words<'a> {
    /// Separates words of the form `KEY=VALUE` from the others if `is_key` accepts the key.
    pub fn new(words: &'a [String], is_key: impl Fn(&str) -> bool) -> Self {
        let mut all = Self::default();
        for word in words {
            match word.split_once('=').filter(|(key, _)| is_key(key)) {
                Some(pair) => all.keyed.push(pair),
                None => all.plain.push(word),
            }
        }
        all
    }

    /// Returns the next word; fails if there is none.
    pub fn word(&mut self, name: &str) -> Result<&'a str, Refusal> {
        self.optional().ok_or_else(|| {
            Refusal::new(
                format!("word {}", self.taken + 1),
                name.to_owned(),
                "nothing",
            )
        })
    }

    /// Returns the next word, if there is one.
    pub fn optional(&mut self) -> Option<&'a str> {
        let word = self.plain.get(self.taken).copied()?;
        self.taken += 1;
        Some(word)
    }

    /// Returns the only word, if no word is taken and there is one.
    pub fn only(&self) -> Option<&'a str> {
        match self.plain.as_slice() {
            [word] if self.taken == 0 => Some(word),
            _ => None,
        }
    }

    /// Returns the position of the last word, for a refusal.
    pub fn place(&self) -> String {
        format!("word {}", self.taken)
    }

    /// Returns the value of a key.
    pub fn key(&self, key: &str) -> Option<&'a str> {
        self.keyed
            .iter()
            .rev()
            .find(|(k, _)| *k == key)
            .map(|(_, v)| *v)
    }

    /// Returns all keys and values, in order.
    pub fn keys(&self) -> &[(&'a str, &'a str)] {
        &self.keyed
    }

    /// Fails if a word is left.
    pub fn end(&mut self) -> Result<(), Refusal> {
        match self.optional() {
            None => Ok(()),
            Some(word) => Err(self.refuse(word)),
        }
    }

    /// Refuses the last word: no more words may follow.
    pub fn refuse(&self, word: &str) -> Refusal {
        Refusal::new(self.place(), "no more words", quote(word))
    }
}

/// Refuses a kind that the protocol does not make.
pub(crate) fn unknown_kind(kind: &str, recipes: &[Recipe]) -> Refusal {
    const MAX_LISTED: usize = 16;
    let names: Vec<&str> = recipes.iter().map(|r| &*r.name).collect();
    let similar = similar(kind, &names);
    let wanted = match similar.as_slice() {
        [] if names.len() > MAX_LISTED => "a kind of this protocol".to_owned(),
        [] => format!("one of {}", names.join(" ")),
        [one] => one.to_string(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    };
    Refusal::new("word 1", wanted, quote(kind))
}

/// Returns the names with the same words, `list-tools` and `tools/list`; otherwise those that end with the word; otherwise the
/// nearest one.
fn similar<'n>(kind: &str, names: &[&'n str]) -> Vec<&'n str> {
    const MAX_SIMILAR: usize = 4;
    let own = words_of(kind);
    let having = |has: &dyn Fn(&[String]) -> bool| {
        let found = names.iter().filter(|name| has(&words_of(name)));
        found.copied().take(MAX_SIMILAR).collect::<Vec<_>>()
    };
    let same = having(&|all| all.len() == own.len() && own.iter().all(|word| all.contains(word)));
    let others =
        || having(&|all| !own.is_empty() && (all.ends_with(&own) || all.starts_with(&own)));
    let found = if same.is_empty() { others() } else { same };
    #[cfg(feature = "select")]
    if found.is_empty() {
        let nearest = crate::words::nearest(kind, names.iter().copied());
        return nearest.into_iter().collect();
    }
    found
}

/// Returns the words of a name in small letters and in the singular: `tools/list` and `listTools` have `tool` and `list`.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        let begins = !c.is_alphanumeric() || c.is_uppercase() && was_small;
        was_small = c.is_lowercase();
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    for word in &mut words {
        if word.len() > 2 && word.ends_with('s') {
            word.pop();
        }
    }
    words
}

/// Quotes text for an error message.
fn quote(text: &str) -> String {
    format!("`{text}`")
}

/// Returns true if text is one JSON value.
pub(super) fn is_json(text: &str) -> bool {
    json::root(text.as_bytes(), 128, &mut Tape::new()).is_ok()
}

/// Returns a word as JSON: a JSON value stays unchanged, other text becomes a string.
pub fn value(word: &str) -> String {
    if is_json(word) {
        word.to_owned()
    } else {
        text(word)
    }
}

/// Writes text as a JSON string.
pub fn text(text: &str) -> String {
    let mut out = Vec::new();
    json::write_str(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Writes a JSON array of JSON values.
pub fn array(values: &[String]) -> String {
    format!("[{}]", values.join(","))
}

/// A JSON object that is built member by member.
#[derive(Debug)]
pub struct Object {
    out: String,
}

impl Default for Object {
    fn default() -> Self {
        Self { out: "{".into() }
    }
}

impl Object {
    /// Adds a member whose value is JSON.
    #[must_use]
    pub fn json(mut self, key: &str, value: &str) -> Self {
        if self.out.len() > 1 {
            self.out.push(',');
        }
        self.out.push_str(&text(key));
        self.out.push(':');
        self.out.push_str(value);
        self
    }

    /// Adds a member that is text.
    #[must_use]
    pub fn text(self, key: &str, value: &str) -> Self {
        self.json(key, &text(value))
    }

    /// Adds a member if it has a value.
    #[must_use]
    pub fn optional(self, key: &str, value: Option<String>) -> Self {
        match value {
            Some(value) => self.json(key, &value),
            None => self,
        }
    }

    /// Returns the text of the object.
    pub fn finish(mut self) -> String {
        self.out.push('}');
        self.out
    }
}
