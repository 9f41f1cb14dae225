//! Says what there is if no message matches.

use crate::decoder::Decoded;
use crate::framing::fields::{text_secrets, without};
use crate::protocol::Role;
use crate::select::{Filter, Key};
use crate::tape::Node;
use std::collections::BTreeSet;

/// The maximum number of words that are stored.
const MAX_WORDS: usize = 1 << 10;
/// The maximum number of words that are shown.
const MAX_SHOWN: usize = 8;
/// The maximum length of a word.
const MAX_LEN: usize = 100;

/// The maximum depth of the members that are listed.
const MAX_DEPTH: u32 = 5;
/// The maximum number of messages whose members are listed.
const MAX_MESSAGES: u64 = 1 << 12;

/// Passes the words of a message on.
type GetWords = fn(&Decoded<'_>, &mut dyn FnMut(&str));

/// The words of one sort that the messages have.
struct Words {
    /// `kinds`, `subjects`.
    what: &'static str,
    get: GetWords,
    wanted: String,
    found: BTreeSet<String>,
}

/// The words that occur where a condition wants others.
pub struct Unmatched {
    lists: Vec<Words>,
    /// The number of messages with `outcome=error`, if the condition wants `role=error`.
    failed: Option<u64>,
    /// The number of messages so far.
    messages: u64,
}

/// Passes on the paths of the members of a value: `.params`, `.params.name`.
fn add_paths(node: Node<'_>, path: &str, depth: u32, add: &mut dyn FnMut(&str)) {
    if !node.is_map() || depth > MAX_DEPTH {
        return;
    }
    for (key, value) in node.members() {
        let Some(name) = key.text() else { continue };
        let path = format!("{path}.{name}");
        add(&path);
        add_paths(value, &path, depth + 1, add);
    }
}

impl Unmatched {
    /// Creates the lists for the keys that a filter compares.
    pub fn new(filter: &Filter) -> Self {
        let mut all: Vec<Words> = Vec::new();
        let mut failed = None;
        filter.expr().wanted(&mut |key, word| {
            let (what, get): (_, GetWords) = match key {
                Key::Kind => ("kinds", |decoded, add| add(&decoded.message.kind)),
                Key::Subject => ("subjects", |decoded, add| {
                    decoded.message.subject.as_deref().into_iter().for_each(add);
                }),
                Key::Name => ("names", |decoded, add| {
                    decoded.message.name.as_deref().into_iter().for_each(add);
                }),
                Key::Message(_) => ("members", |decoded, add| {
                    if let Some(root) = decoded.root() {
                        add_paths(root, "", 0, add);
                    }
                }),
                Key::Role if word == Role::Error.name() => {
                    failed = Some(0);
                    return;
                }
                _ => return,
            };
            // A condition can leave out the first point.
            let path = key.to_string();
            let path = format!(".{}", path.trim_start_matches('.'));
            let wanted = match key {
                Key::Message(_) => &path,
                _ => word,
            };
            if !all.iter().any(|words| words.what == what) {
                all.push(Words {
                    what,
                    get,
                    wanted: wanted.to_lowercase(),
                    found: BTreeSet::new(),
                });
            }
        });
        Self {
            lists: all,
            failed,
            messages: 0,
        }
    }

    /// Stores the words of a message, without secrets.
    pub fn add(&mut self, decoded: &Decoded<'_>) {
        if let (Some(failed), true) = (&mut self.failed, decoded.message.failed) {
            *failed += 1;
        }
        self.messages += 1;
        let has_members = self.messages <= MAX_MESSAGES;
        let lists = self.lists.iter_mut();
        for words in lists.filter(|words| has_members || words.what != "members") {
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
            let is_there = |word: &String| word.to_lowercase() == words.wanted;
            if words.found.is_empty() || words.found.iter().any(is_there) {
                return None;
            }
            let mut all: Vec<&String> = words.found.iter().collect();
            let distance =
                |word: &str| strsim::damerau_levenshtein(&words.wanted, &word.to_lowercase());
            // The last member of a path says most.
            let last = |word: &str| word.rsplit('.').next().map(str::to_lowercase);
            let wanted = last(&words.wanted);
            all.sort_by_cached_key(|word| (last(word) != wanted, distance(word)));
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
        let lists: Vec<String> = lists.chain(failed).collect();
        (!lists.is_empty()).then(|| lists.join("; "))
    }
}
