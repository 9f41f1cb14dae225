//! Finds messages with the id of a request that are neither requests nor its only answer.

use super::DraftMessage;
use super::facts::{Kind, Pairs, Values, text};
use crate::protocol::Direction;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Adds the further answers of requests that are answered by several messages of one kind. Returns those kinds.
pub fn add_items(
    values: &Values,
    messages: &[DraftMessage],
    pairs: &mut Pairs,
    kind: &Kind,
) -> BTreeSet<String> {
    let names: HashMap<usize, &str> = kind
        .values
        .iter()
        .flat_map(|(name, of)| of.iter().map(move |n| (*n, name.as_str())))
        .collect();
    let name = |n: &usize| names.get(n).copied().unwrap_or_default();
    let first: HashMap<usize, &str> = pairs
        .of
        .iter()
        .map(|(n, asked)| (*asked, name(n)))
        .collect();
    let asked = pairs.asked();
    let (mut latest, mut more) = (HashMap::new(), Vec::new());
    for (n, message) in messages.iter().enumerate() {
        let value = |path: &str| text(values.get(path, n)?);
        if asked.contains(&n) {
            latest.insert((message.conn, message.direction, value(&pairs.id)), n);
        } else if let (false, Some(value)) = (pairs.of.contains_key(&n), value(&pairs.reply_to)) {
            let key = (
                message.conn,
                message.direction.map(Direction::other),
                Some(value),
            );
            more.extend(latest.get(&key).map(|asked| (n, *asked)));
        }
    }
    let of = |asked: &usize| first.get(asked).copied().unwrap_or_default();
    let items = more.iter().filter(|(n, asked)| of(asked) == name(n));
    let items: BTreeSet<_> = items.map(|(n, _)| name(n).to_owned()).collect();
    more.retain(|(_, asked)| items.contains(of(asked)));
    pairs.of.extend(more);
    items
}

/// Removes the answers to kinds that only repeat ids of the other side, such as the items of a subscription: they ask nothing.
pub fn remove_answers_to_repeats(
    values: &Values,
    messages: &[DraftMessage],
    pairs: &mut Pairs,
    kind: &Kind,
) {
    if pairs.by_order || pairs.id != pairs.reply_to {
        return;
    }
    let mut used = HashSet::new();
    let mut repeats = HashSet::new();
    for (n, message) in messages.iter().enumerate() {
        let Some(id) = values.get(&pairs.id, n).and_then(text) else {
            continue;
        };
        let key = |direction| (message.conn, direction, id.clone());
        if used.contains(&key(message.direction.map(Direction::other))) {
            repeats.insert(n);
        }
        used.insert(key(message.direction));
    }
    for (_, of) in &kind.values {
        if of.iter().all(|n| repeats.contains(n)) {
            pairs.of.retain(|_, asked| !of.contains(asked));
        }
    }
}
