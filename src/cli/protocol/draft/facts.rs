//! Finds what members mean: which names the kind, which pairs answers with requests, which roles follow from that.

use super::{DraftMessage, scalar};
use crate::framing::fields::is_secret_name;
use crate::protocol::Direction;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The maximum number of paths that are examined, and of those that may pair messages.
const MAX_PATHS: usize = 200;
const MAX_IDS: usize = 40;
/// The maximum number of kinds.
const MAX_KINDS: usize = 32;
/// The maximum length of an id.
const MAX_ID: usize = 64;
/// The fewest pairs that show a member that pairs.
pub const MIN_PAIRS: usize = 3;
/// The fewest pairs that show that answers come in order.
const MIN_BY_ORDER: usize = 6;

/// The paths of the length and of the checksum in a header.
const LENGTH: &str = ".header.length";
const SUM: &str = ".header.sum";

/// The values of each path, by message.
pub struct Values(pub BTreeMap<String, Vec<Option<Value>>>);

impl Values {
    /// Collects the members of messages, and the members of those that are objects.
    pub fn of(messages: &[DraftMessage]) -> Self {
        let mut all = Self(BTreeMap::new());
        for (n, message) in messages.iter().enumerate() {
            all.add("", &message.value, 2, n, messages.len());
        }
        all
    }

    fn add(&mut self, path: &str, value: &Value, levels: u32, n: usize, count: usize) {
        // A draft is shared: it shows no secret, and a secret is neither a kind nor an id.
        if is_secret_name(last_name(path).as_bytes()) {
            return;
        }
        if !path.is_empty() && (self.0.len() < MAX_PATHS || self.0.contains_key(path)) {
            let values = self.0.entry(path.to_owned());
            let values = values.or_insert_with(|| vec![None; count]);
            if let Some(slot) = values.get_mut(n) {
                *slot = Some(match scalar(value).unwrap_or(value) {
                    Value::Object(_) => Value::Object(serde_json::Map::new()),
                    Value::Array(_) => Value::Array(Vec::new()),
                    other => other.clone(),
                });
            }
        }
        let Some(levels) = levels.checked_sub(1).filter(|_| scalar(value).is_none()) else {
            return;
        };
        match value {
            Value::Object(members) => {
                for (key, value) in members.iter().filter(|(key, _)| is_name(key)) {
                    self.add(&format!("{path}.{key}"), value, levels, n, count);
                }
            }
            Value::Array(items) if path.is_empty() || path == ".body" => {
                for (at, value) in items.iter().enumerate().take(8) {
                    self.add(&format!("{path}.[{at}]"), value, levels, n, count);
                }
            }
            _ => {}
        }
    }

    /// Returns the value of a message.
    pub fn get(&self, path: &str, n: usize) -> Option<&Value> {
        self.0.get(path)?.get(n)?.as_ref()
    }

    pub fn count(&self, path: &str) -> usize {
        self.0
            .get(path)
            .map_or(0, |all| all.iter().flatten().count())
    }

    /// Returns the texts of a path in some messages, without repetition.
    pub fn texts(&self, path: &str, of: &[usize]) -> BTreeSet<String> {
        let values = of.iter().filter_map(|n| self.get(path, *n));
        values.filter_map(text).collect()
    }
}

fn is_name(key: &str) -> bool {
    key.len() <= 40
        && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns a text or a whole number as text.
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.len() <= MAX_ID => Some(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}

/// Which messages answer which.
#[derive(Default)]
pub struct Pairs {
    /// The paths of the id and of its repetition; equal if it is the same member. Empty: no ids.
    pub id: String,
    pub reply_to: String,
    /// Answer and request.
    pub of: BTreeMap<usize, usize>,
    /// The number of messages with the repetition.
    pub answers: usize,
    /// The answers come in the order of requests with the same value of the kind.
    pub by_order: bool,
}

impl Pairs {
    pub fn asked(&self) -> HashSet<usize> {
        self.of.values().copied().collect()
    }
}

/// Pairs messages by two members: an answer of the other side repeats the value of an open request.
fn pair(values: &Values, messages: &[DraftMessage], id: &str, reply_to: &str) -> Pairs {
    let mut open: HashMap<(Option<u32>, Option<Direction>, String, bool), usize> = HashMap::new();
    let mut answered = HashSet::new();
    let mut pairs = Pairs {
        id: id.to_owned(),
        reply_to: reply_to.to_owned(),
        ..Pairs::default()
    };
    for (n, message) in messages.iter().enumerate() {
        let key = |direction, value: &Value| {
            let text = text(value)?;
            Some((message.conn, direction, text, value.is_string()))
        };
        let other_side = message.direction.map(Direction::other);
        if let Some(value) = values.get(reply_to, n) {
            let key = key(other_side, value);
            let asked = key.as_ref().and_then(|key| open.remove(key));
            // A request can have several answers.
            let is_more = asked.is_none() && id != reply_to;
            let is_more = is_more && key.as_ref().is_some_and(|key| answered.contains(key));
            pairs.answers += usize::from(key.is_some() && !is_more);
            answered.extend(key.filter(|_| asked.is_some()));
            if let Some(asked) = asked {
                pairs.of.insert(n, asked);
                if id == reply_to {
                    continue;
                }
            }
        }
        if let Some(key) = values
            .get(id, n)
            .and_then(|value| key(message.direction, value))
        {
            open.insert(key, n);
        }
    }
    pairs
}

/// Returns true if both sides only count their messages there, in a member that is not called id: then equal values show
/// nothing.
fn counts_all(values: &Values, messages: &[DraftMessage], path: &str) -> bool {
    if path.to_ascii_lowercase().ends_with("id") {
        return false;
    }
    let mut last: HashMap<_, i64> = HashMap::new();
    messages.iter().enumerate().all(|(n, message)| {
        let number = values.get(path, n).and_then(Value::as_i64);
        let key = (message.conn, message.direction);
        number.is_some_and(|number| {
            last.insert(key, number)
                .is_none_or(|last| number == last + 1)
        })
    })
}

/// Returns the members that pair most messages, and whether nothing speaks against them.
pub fn find_pairs(values: &Values, messages: &[DraftMessage]) -> Option<(Pairs, bool)> {
    let is_id = |path: &&String| {
        let all = values.0.get(*path).into_iter().flatten().flatten();
        let texts: Vec<_> = all.filter_map(text).collect();
        let different: HashSet<_> = texts.iter().collect();
        different.len() >= 2 && different.len() * 4 >= texts.len() && !is_computed(path)
    };
    let paths: Vec<_> = values.0.keys().filter(is_id).take(MAX_IDS).collect();
    let mut best: Option<(f64, Pairs)> = None;
    for id in &paths {
        for reply_to in &paths {
            let pairs = pair(values, messages, id, reply_to);
            let count = pairs.of.len();
            let is_same = id == reply_to;
            // A request and its answer both have a member that is the same.
            let answers = if is_same {
                pairs.answers / 2
            } else {
                pairs.answers
            };
            let requests: Vec<_> = pairs.of.values().copied().collect();
            let different: HashSet<_> = pairs
                .of
                .values()
                .filter_map(|n| {
                    let message = messages.get(*n)?;
                    let text = text(values.get(id, *n)?)?;
                    Some((message.conn, message.direction, text))
                })
                .collect();
            let different = different.len();
            let is_constant = count > 1 && values.texts(id, &requests).len() == 1;
            if count == 0
                || is_constant
                || different * 10 < count * 9
                || count * 10 < answers * if is_same { 5 } else { 9 }
                || is_same && counts_all(values, messages, id)
            {
                continue;
            }
            if !has_roles(values, messages, &pairs) || !is_plausible(values, &pairs) {
                continue;
            }
            let depth = id.matches('.').count() + reply_to.matches('.').count();
            let score = as_f64(count)
                * (as_f64(count) / as_f64(answers.max(count)) + agreement(values, &pairs))
                - as_f64(depth) / 100.0;
            if best.as_ref().is_none_or(|(most, _)| score > *most) {
                best = Some((score, pairs));
            }
        }
    }
    let (_, pairs) = best?;
    let is_certain = pairs.of.len() >= MIN_PAIRS;
    Some((pairs, is_certain))
}

/// Returns true if more than a few small numbers speaks for the pairs: the name of the member, long values, or another text
/// that requests and answers share.
fn is_plausible(values: &Values, pairs: &Pairs) -> bool {
    const NAMES: [&str; 7] = ["id", "seq", "ref", "reply", "respon", "tag", "token"];
    let name = pairs.reply_to.rsplit('.').next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let is_named = name == "re" || NAMES.iter().any(|one| name.contains(one));
    let is_same = pairs.id == pairs.reply_to;
    let is_element = name.starts_with('[') && is_same;
    let requests: Vec<_> = pairs.of.values().copied().collect();
    let texts = values.texts(&pairs.id, &requests);
    let is_long = texts.iter().all(|text| text.len() >= 8);
    let is_text = texts.iter().any(|text| text.parse::<i64>().is_err());
    let is_often = is_same && texts.len() >= MIN_BY_ORDER && (is_text || is_in_header(&pairs.id));
    is_named || is_element || is_long || is_often || agreement(values, pairs) > 0.5
}

/// Returns true if another member tells requests and answers apart.
fn has_roles(values: &Values, messages: &[DraftMessage], pairs: &Pairs) -> bool {
    let requests: Vec<_> = pairs.asked().into_iter().collect();
    let answers: Vec<_> = pairs.of.keys().copied().collect();
    pairs.id != pairs.reply_to
        || find_kind(values, messages, Some(pairs)).is_some()
        || only_in(values, &requests, &answers).is_some()
        || is_in_header(&pairs.id) && is_one_way(messages, pairs)
}

/// Returns true if all messages of one side ask, and all of the other one answer.
pub fn is_one_way(messages: &[DraftMessage], pairs: &Pairs) -> bool {
    let answers = |n: usize| pairs.of.contains_key(&n);
    let mut sides = messages.iter().enumerate();
    sides.all(|(n, one)| one.direction == Some(Direction::ToServer) || answers(n))
}

#[allow(clippy::cast_precision_loss)] // counts of messages
fn as_f64(count: usize) -> f64 {
    count as f64
}

/// Returns the share of pairs in which another text is the same, and differs from pair to pair.
fn agreement(values: &Values, pairs: &Pairs) -> f64 {
    let shares = values
        .0
        .keys()
        .filter(|path| **path != pairs.id && **path != pairs.reply_to);
    let share = |path: &String| {
        let mut same = BTreeSet::new();
        let mut count = 0;
        for (answer, request) in &pairs.of {
            let texts = [*answer, *request].map(|n| values.get(path, n).and_then(Value::as_str));
            if let [Some(one), Some(other)] = texts
                && one == other
            {
                count += 1;
                same.insert(one);
            }
        }
        if same.len() < 2 {
            0.0
        } else {
            as_f64(count) / as_f64(pairs.of.len())
        }
    };
    shares.map(share).fold(0.0, f64::max)
}

/// Pairs messages by order, those with the same kind if there is one: every request must have its answer.
pub fn pair_by_order(
    values: &Values,
    messages: &[DraftMessage],
    kind: Option<&str>,
) -> Option<Pairs> {
    let mut open: HashMap<_, Vec<usize>> = HashMap::new();
    let mut pairs = Pairs {
        by_order: true,
        ..Pairs::default()
    };
    let mut events: HashMap<_, bool> = HashMap::new();
    for (n, message) in messages.iter().enumerate() {
        let name = match kind {
            Some(kind) => values.get(kind, n).and_then(text)?,
            None => String::new(),
        };
        let key = (message.conn, name.clone());
        match message.direction? {
            Direction::ToServer => open.entry(key).or_default().push(n),
            Direction::ToClient => {
                let of = open.get_mut(&key).filter(|of| !of.is_empty());
                let is_event = of.is_none();
                // A name that is an event once is never an answer.
                if *events.entry(name).or_insert(is_event) != is_event {
                    return None;
                }
                if let Some(of) = of {
                    pairs.of.insert(n, of.remove(0));
                }
            }
        }
    }
    let unanswered: usize = open.values().map(Vec::len).sum();
    (unanswered <= 1 && pairs.of.len() >= MIN_BY_ORDER).then_some(pairs)
}

/// The member that names the kind.
pub struct Kind {
    pub path: String,
    /// Its values, in the order of their first message, with the messages.
    pub values: Vec<(String, Vec<usize>)>,
}

/// Returns the member of all messages that has few values; with pairs, one whose values decide the role.
pub fn find_kind(
    values: &Values,
    messages: &[DraftMessage],
    pairs: Option<&Pairs>,
) -> Option<Kind> {
    let count = messages.len();
    // A usual name first, then the member with fewer values.
    let mut best: Option<((bool, usize), Kind)> = None;
    for path in values.0.keys() {
        let is_id = pairs.is_some_and(|pairs| pairs.id == *path || pairs.reply_to == *path);
        if values.count(path) < count || count < 4 || is_id || is_computed(path) {
            continue;
        }
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for n in 0..count {
            let Some(name) = values.get(path, n).and_then(text) else {
                groups.clear();
                break;
            };
            if let Some((_, of)) = groups.iter_mut().find(|(known, _)| *known == name) {
                of.push(n);
            } else if groups.len() > MAX_KINDS {
                break;
            } else {
                groups.push((name, vec![n]));
            }
        }
        let decides = pairs.is_none_or(|pairs| {
            let asked = pairs.asked();
            groups.iter().all(|(_, of)| {
                let answers = of.iter().filter(|n| pairs.of.contains_key(n)).count();
                let requests = of.iter().filter(|n| asked.contains(n)).count();
                answers == 0 || requests == 0
            })
        });
        // A usual name may have many values.
        let least = match path.as_str() {
            _ if is_usual_kind(path) => 0,
            path if names_kind(path) => 1,
            _ => 2,
        };
        let is_few = (2..=MAX_KINDS).contains(&groups.len())
            && (groups.len() * (least + 1) <= count.max(9) && groups.len() < count);
        let rank = (!names_kind(path), groups.len());
        let is_best = best.as_ref().is_none_or(|(least, _)| rank < *least);
        if is_few && decides && is_best {
            let kind = Kind {
                path: path.clone(),
                values: groups,
            };
            best = Some((rank, kind));
        }
    }
    best.map(|(_, kind)| kind)
}

/// Returns the member that every one of these messages has, and none of the others.
pub fn only_in(values: &Values, these: &[usize], others: &[usize]) -> Option<String> {
    let has = |path: &str, n: &usize| values.get(path, *n).is_some_and(|value| !value.is_null());
    let fits = |path: &&String| {
        is_first_level(path)
            && these.iter().all(|n| has(path, n))
            && !others.iter().any(|n| has(path, n))
    };
    // A name is better than other values.
    let is_name = |path: &&String| {
        let texts = these.iter().filter_map(|n| values.get(path, *n)?.as_str());
        texts.count() == these.len()
    };
    let rank = |path: &&String| (!is_name(path), !names_kind(path));
    values.0.keys().filter(fits).min_by_key(rank).cloned()
}

/// Returns true for the usual names of a member that names the kind.
pub fn names_kind(path: &str) -> bool {
    is_usual_kind(path) || [".[0]", ".body.[0]"].contains(&path)
}

fn is_usual_kind(path: &str) -> bool {
    ["type", "kind", "op"].contains(&last_name(path))
}

/// Returns true for fields of a header that follow from the body.
fn is_computed(path: &str) -> bool {
    [LENGTH, SUM].contains(&path)
}

pub fn is_in_header(path: &str) -> bool {
    path.starts_with(".header.")
}

pub fn is_first_level(path: &str) -> bool {
    path.matches('.').count() == 1
}

/// Returns the member that says what requests are about: a name in each, of several that repeat or name an operation.
pub fn find_subject(values: &Values, these: &[usize], not: &[&str]) -> Option<String> {
    const NAMES: [&str; 7] = [
        ".method",
        ".command",
        ".event",
        ".action",
        ".cmd",
        ".target",
        ".header.type",
    ];
    let is_word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-/:$".contains(c))
    };
    let is_element = |path: &str| path.starts_with(".[");
    let fits = |path: &&String| {
        let mut texts = these
            .iter()
            .map(|n| values.get(path, *n).and_then(Value::as_str));
        let different = values.texts(path, these).len();
        let repeats = is_first_level(path) && (2..these.len()).contains(&different);
        !not.contains(&path.as_str())
            && *path != ".body"
            && texts.all(|text| text.is_some_and(is_word))
            && (NAMES.contains(&path.as_str()) || is_element(path) || repeats)
    };
    let rank = |path: &&String| {
        let named = NAMES.iter().position(|name| path == name);
        named.unwrap_or(NAMES.len())
    };
    values.0.keys().filter(fits).min_by_key(rank).cloned()
}

/// Returns the object or the list with a usual name that most of these messages have: the arguments or the result.
pub fn find_content(values: &Values, these: &[usize], subject: Option<&str>) -> Option<String> {
    const NAMES: [&str; 10] = [
        ".params",
        ".arguments",
        ".args",
        ".body",
        ".result",
        ".data",
        ".payload",
        ".content",
        ".input",
        ".output",
    ];
    // Messages with a header.
    if values.count(LENGTH) > 0 {
        let body = || these.iter().any(|n| values.get(".body", *n).is_some());
        return body().then(|| ".body".to_owned());
    }
    let has = |path: &str| {
        let all = these.iter().filter_map(|n| values.get(path, *n));
        all.filter(|value| value.is_object() || value.is_array())
            .count()
    };
    let fits = |path: &&String| {
        let is_usual = NAMES.contains(&path.as_str()) || path.starts_with(".[");
        is_usual && Some(path.as_str()) != subject
    };
    let best = values.0.keys().filter(fits).max_by_key(|path| has(path))?;
    (has(best) * 2 > these.len()).then(|| best.clone())
}

fn last_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Returns the condition of answers that are errors, if some are: a usual flag that is false in them, or a usual member that
/// only they have.
pub fn find_error(values: &Values, answers: &[usize]) -> Option<String> {
    const FLAGS: [&str; 3] = ["ok", "success", "succeeded"];
    const MEMBERS: [&str; 5] = ["error", "err", "errors", "exception", "failure"];
    for path in values.0.keys().filter(|path| is_first_level(path)) {
        let name = last_name(path);
        let flags: Vec<_> = answers
            .iter()
            .map(|n| values.get(path, *n).and_then(Value::as_bool))
            .collect();
        if FLAGS.contains(&name)
            && flags.iter().all(Option::is_some)
            && flags.contains(&Some(false))
            && flags.contains(&Some(true))
        {
            return Some(format!("{path}=false"));
        }
        let is_there = |n: &&usize| values.get(path, **n).is_some_and(|value| !value.is_null());
        let there: Vec<_> = answers.iter().filter(is_there).copied().collect();
        let others: Vec<_> = answers
            .iter()
            .filter(|n| !there.contains(n))
            .copied()
            .collect();
        if MEMBERS.contains(&name) && !there.is_empty() && !others.is_empty() {
            return Some(path.clone());
        }
    }
    None
}

/// Returns the condition that a path has one of these values.
pub fn is(path: &str, names: &[String]) -> String {
    let is_token = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(fits)
    };
    let words = names.iter().map(|name| {
        if is_token(name) {
            name.clone()
        } else {
            format!("{name:?}")
        }
    });
    format!("{path}={}", words.collect::<Vec<_>>().join(","))
}
