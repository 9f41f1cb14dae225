//! Says what there is if no message matches.

use crate::decoder::Decoded;
use crate::framing::fields::{text_secrets, without};
use crate::protocol::Role;
use crate::select::{Filter, Key, Path, PathStep};
use crate::tape::Node;
use std::collections::BTreeSet;

/// The maximum number of words that are stored.
const MAX_WORDS: usize = 1 << 10;
/// The maximum number of words that are shown.
const MAX_SHOWN: usize = 8;
/// The maximum length of a word.
const MAX_LEN: usize = 100;
/// The maximum number of steps of the paths that are listed.
const MAX_STEPS: usize = 6;
/// The maximum number of messages whose paths are listed.
const MAX_MESSAGES: u64 = 1 << 12;

/// Passes the words of a message on.
type GetWords = fn(&Decoded<'_>, &mut dyn FnMut(&str));

/// The words of one sort that the messages have.
struct Words {
    /// `kinds`, `subjects`.
    what: &'static str,
    get: GetWords,
    wanted: String,
    /// Listed only if they contain what is wanted of another key.
    is_instead: bool,
    found: BTreeSet<String>,
}

impl Words {
    /// Returns how far a word is from the wanted one. The last step of a path says most.
    fn distance(&self, word: &str) -> (bool, usize) {
        let (word, wanted) = (word.to_lowercase(), self.wanted.to_lowercase());
        let last = |path: &str| path.rsplit('.').next().map(str::to_owned);
        let is_other = self.what == PATHS && last(&word) != last(&wanted);
        (is_other, strsim::damerau_levenshtein(&wanted, &word))
    }
}

/// What the lists of paths are called.
const PATHS: &str = "members";

/// Passes on the paths of the members of a value: `.params`, `.params.name`; of an array, those of the first element.
fn add_paths(node: Node<'_>, path: &mut Path, add: &mut dyn FnMut(&str)) {
    if path.len() >= MAX_STEPS {
        return;
    }
    for (key, value) in node.is_map().then(|| node.members()).into_iter().flatten() {
        let Some(name) = key.text() else { continue };
        path.push(PathStep::Member(name.into_owned()));
        add(&Key::Message(path.clone()).to_string());
        add_paths(value, path, add);
        path.pop();
    }
    if let Some(first) = node.at(0).filter(|_| node.is_array()) {
        path.push(PathStep::Element(0));
        add_paths(first, path, add);
        path.pop();
    }
}

/// The words that occur where a condition wants others.
pub struct Unmatched {
    lists: Vec<Words>,
    /// The number of messages with `outcome=error`, if the condition wants `role=error`.
    failed: Option<u64>,
    /// The number of answers of HTTP that refuse a request, if the condition wants errors.
    refused: Option<u64>,
    /// The filter compares times, and no message has one so far.
    has_no_time: bool,
    /// The filter wants the latency of a request.
    is_slow_request: bool,
    /// A condition with the text of `--grep` as a pattern, if it looks like one.
    pattern: Option<String>,
    /// The number of messages so far.
    messages: u64,
}

/// Returns the condition for a text that is most likely a regular expression.
fn as_pattern(text: &str) -> Option<String> {
    const SIGNS: [&str; 6] = ["|", ".*", "\\", "[", "^", "$"];
    let is_pattern = SIGNS.iter().any(|sign| text.contains(sign));
    let is_safe = !text.contains(['/', '\'', '"']) && regex::Regex::new(text).is_ok();
    (is_pattern && is_safe).then(|| format!("message~/{text}/"))
}

impl Unmatched {
    /// Creates the lists for the keys that a filter compares.
    pub fn new(filter: &Filter) -> Self {
        let mut all: Vec<Words> = Vec::new();
        let (mut failed, mut refused) = (None, None);
        let mut has_no_time = false;
        let (mut has_latency, mut is_request) = (false, false);
        filter.expr().wanted(&mut |key, word| {
            let mut list = |what, wanted: &str, is_instead, get| {
                if !all.iter().any(|words| words.what == what) {
                    all.push(Words {
                        what,
                        get,
                        wanted: wanted.to_owned(),
                        is_instead,
                        found: BTreeSet::new(),
                    });
                }
            };
            match key {
                Key::Kind => list("kinds", word, false, add_kind),
                Key::Subject => {
                    list("subjects", word, false, add_subject);
                    list("names", word, true, add_name);
                }
                Key::Name => list("names", word, false, add_name),
                Key::Conn => list("connections", word, false, add_connection),
                Key::Message(path) => {
                    // A list is there, whatever its elements are.
                    let is_element = |step: &&PathStep| matches!(step, PathStep::Element(_));
                    let elements = path.iter().rev().take_while(is_element).count();
                    let steps = path
                        .iter()
                        .take(path.len() - elements)
                        .map(|step| match step {
                            PathStep::Element(_) => PathStep::Element(0),
                            member @ PathStep::Member(_) => member.clone(),
                        });
                    let path = Path::from(steps.collect::<Vec<_>>());
                    list(PATHS, &Key::Message(path).to_string(), false, add_members);
                }
                Key::Time | Key::Latency => {
                    has_no_time = true;
                    has_latency |= *key == Key::Latency;
                }
                Key::Role if word == Role::Request.name() => is_request = true,
                Key::Role if word == Role::Error.name() => (failed, refused) = (Some(0), Some(0)),
                Key::Outcome => refused = Some(0),
                _ => {}
            }
        });
        Self {
            lists: all,
            failed,
            refused,
            has_no_time,
            is_slow_request: has_latency && is_request,
            pattern: filter.grep().and_then(as_pattern),
            messages: 0,
        }
    }

    /// Stores the words of a message, without secrets.
    pub fn add(&mut self, decoded: &Decoded<'_>) {
        if let (Some(failed), true) = (&mut self.failed, decoded.message.failed) {
            *failed += 1;
        }
        if let (Some(refused), true) = (&mut self.refused, is_refusal(decoded)) {
            *refused += 1;
        }
        self.has_no_time &= decoded.origin.time.is_none();
        self.messages += 1;
        let has_paths = self.messages <= MAX_MESSAGES;
        let lists = self.lists.iter_mut();
        for words in lists.filter(|words| has_paths || words.what != PATHS) {
            let found = &mut words.found;
            (words.get)(decoded, &mut |word| {
                let is_new = !word.is_empty() && word.len() <= MAX_LEN && !found.contains(word);
                if is_new && found.len() < MAX_WORDS {
                    found.insert(without(word, &text_secrets(word.as_bytes())).into_owned());
                }
            });
        }
    }

    /// Returns what there is, the nearest first: `kinds: call, cast, response`. A word that occurs says nothing.
    pub fn describe(&self) -> Option<String> {
        let lists = self.lists.iter().filter_map(|words| {
            let is_there = |word: &String| *word == words.wanted;
            let wanted = words.wanted.to_lowercase();
            let mut all: Vec<&String> = words.found.iter().collect();
            if words.is_instead {
                all.retain(|word| !wanted.is_empty() && word.to_lowercase().contains(&wanted));
            } else if words.found.iter().any(is_there) {
                return None;
            }
            if all.is_empty() {
                return None;
            }
            all.sort_by_cached_key(|word| words.distance(word));
            let more = all.len().saturating_sub(MAX_SHOWN);
            let shown: Vec<&str> = all
                .into_iter()
                .take(MAX_SHOWN)
                .map(String::as_str)
                .collect();
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            Some(format!("{}: {}{more}", words.what, shown.join(", ")))
        });
        let failed = self.failed.filter(|failed| *failed > 0);
        let failed = failed.map(|failed| format!("{failed} with outcome=error"));
        let refused = self.refused.filter(|refused| *refused > 0);
        let refused = refused.map(|count| {
            format!("{count} with a status of HTTP that refuses a request: --where finding~refused")
        });
        let pattern = self.pattern.as_ref();
        let pattern =
            pattern.map(|expr| format!("--grep takes plain text, a pattern is --where '{expr}'"));
        let time = self
            .has_no_time
            .then(|| "they have no times, so no latencies".to_owned());
        let slow = self.is_slow_request.then(|| {
            "only answers have a latency: --where 'latency>…' --pair shows their requests"
                .to_owned()
        });
        let lists = lists
            .chain(slow)
            .chain(failed)
            .chain(refused)
            .chain(time)
            .chain(pattern);
        let lists: Vec<String> = lists.collect();
        (!lists.is_empty()).then(|| lists.join("; "))
    }
}

/// Returns true for the head of an answer that refuses a request, such as `500`.
fn is_refusal(decoded: &Decoded<'_>) -> bool {
    let status = decoded.message.outcome.as_deref();
    let is_status = |text: &str| text.parse().is_ok_and(|status: u16| status >= 400);
    decoded.message.role == Some(Role::Control) && status.is_some_and(is_status)
}

fn add_kind(decoded: &Decoded<'_>, add: &mut dyn FnMut(&str)) {
    add(&decoded.message.kind);
}

fn add_subject(decoded: &Decoded<'_>, add: &mut dyn FnMut(&str)) {
    decoded.message.subject.as_deref().into_iter().for_each(add);
}

fn add_name(decoded: &Decoded<'_>, add: &mut dyn FnMut(&str)) {
    decoded.message.name.as_deref().into_iter().for_each(add);
}

fn add_connection(decoded: &Decoded<'_>, add: &mut dyn FnMut(&str)) {
    let conn = decoded.origin.conn.map(|conn| conn.to_string());
    conn.as_deref().into_iter().for_each(add);
}

fn add_members(decoded: &Decoded<'_>, add: &mut dyn FnMut(&str)) {
    if let Some(root) = decoded.root() {
        add_paths(root, &mut Path::new(), add);
    }
}
