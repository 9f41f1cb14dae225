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
                    let root = decoded.root().filter(|root| root.is_map());
                    let members = root.into_iter().flat_map(Node::members);
                    members.for_each(|(key, _)| add(&key.text().unwrap_or_default()));
                }),
                Key::Role if word == Role::Error.name() => {
                    failed = Some(0);
                    return;
                }
                _ => return,
            };
            let path = key.to_string();
            let wanted = match key {
                Key::Message(_) => path.trim_start_matches('.').split(['.', '[']).next(),
                _ => Some(word),
            };
            if !all.iter().any(|words| words.what == what) {
                all.push(Words {
                    what,
                    get,
                    wanted: wanted.unwrap_or_default().to_lowercase(),
                    found: BTreeSet::new(),
                });
            }
        });
        Self { lists: all, failed }
    }

    /// Stores the words of a message, without secrets.
    pub fn add(&mut self, decoded: &Decoded<'_>) {
        if let (Some(failed), true) = (&mut self.failed, decoded.message.failed) {
            *failed += 1;
        }
        for words in &mut self.lists {
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
            all.sort_by_cached_key(|word| distance(word));
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
