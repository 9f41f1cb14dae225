//! Shows what a conversation costs.

use super::Table;
use crate::render::style::shorten;
use crate::stat::{Cost, OtherForm, SubjectCost};
use serde_json::{Value, json};
use std::cmp::Reverse;

/// The number of bytes that are taken as a token.
const TOKEN: u64 = 4;
/// The minimum width for all columns.
const WIDE: usize = 90;

/// Returns the other forms, with the names of their rows and of their keys.
fn forms(cost: &Cost) -> [(&'static str, &'static str, OtherForm); 4] {
    [
        ("MessagePack for JSON", "msgpack", cost.msgpack),
        ("permessage-deflate", "deflate", cost.deflate),
        (
            "  without context takeover",
            "deflate_no_context_takeover",
            cost.deflate_each,
        ),
        ("merge patches of states", "delta", cost.delta),
    ]
}

/// Writes the tables.
pub fn write(cost: &Cost, table: &mut Table<'_>) {
    let is_wide = table.display.width.is_none_or(|width| width >= WIDE);
    let wide = if is_wide { 36 } else { 28 };
    let total = |one: &SubjectCost| one.asked.bytes + one.answered.bytes;
    let mut subjects: Vec<_> = cost.subjects.iter().collect();
    subjects.sort_by_key(|(_, one)| Reverse(total(one)));
    let mut heading = format!("{:<1$} messages", "bytes by subject", wide + 2);
    heading.push_str("    requests      answers        bytes");
    table.write(&heading, &subjects, |table, (what, one)| {
        let what = if what.is_empty() { "-" } else { what.as_str() };
        table.wire(&format!("  {:<wide$} ", table.subject(what, wide)));
        let messages = one.asked.messages + one.answered.messages;
        let (asked, answered) = (one.asked.bytes, one.answered.bytes);
        let all = total(one);
        table.text(&format!(
            "{messages:>8} {asked:>11} {answered:>12} {all:>12}\n"
        ));
    });
    let mut definitions: Vec<_> = cost.definitions.iter().collect();
    definitions.sort_by_key(|(_, bytes)| Reverse(**bytes));
    let heading = format!("{:<1$}    bytes  about tokens", "definitions", wide + 2);
    table.write(&heading, &definitions, |table, (name, bytes)| {
        table.wire(&format!("  {:<wide$} ", table.subject(name, wide)));
        table.text(&format!("{bytes:>8} {:>13}\n", bytes.div_ceil(TOKEN)));
    });
    if cost.lists.messages > 0 {
        let (lists, bytes) = (cost.lists.messages, cost.lists.bytes);
        let tokens = bytes.div_ceil(TOKEN);
        table.dim(&format!(
            "  all lists: {lists}, {bytes} bytes, about {tokens} tokens (an estimate: {TOKEN} bytes each)\n"
        ));
    }
    let members = cost
        .stated
        .iter()
        .flat_map(|(what, members)| members.iter().map(move |(member, one)| (what, member, one)));
    let members: Vec<_> = members.collect();
    let heading = format!("{:<1$}  answers          sum", "stated costs", wide + 2);
    table.write(&heading, &members, |table, (what, member, one)| {
        table.wire(&format!("  {:<wide$} ", table.subject(what, wide)));
        table.text(&format!("{:>8} {:>12}  ", one.answers, one.sum));
        table.wire(&shorten(member, 20));
        table.text("\n");
    });
    let forms: Vec<_> = forms(cost)
        .into_iter()
        .filter(|(.., form)| form.messages > 0)
        .collect();
    let heading = format!(
        "{:<1$} messages        bytes      instead   saves",
        "other forms",
        wide + 2
    );
    table.write(&heading, &forms, |table, (name, _, form)| {
        table.text(&format!("  {name:<wide$} {:>8}", form.messages));
        let saved = form.saved();
        table.text(&format!(
            " {:>12} {:>12} {saved:>5.1} %\n",
            form.bytes, form.other
        ));
    });
    if cost.chained > 0 {
        let (calls, chained) = (cost.calls, cost.chained);
        let least = calls - chained;
        table.text(&format!(
            "\nround trips: {calls}, at least {least} with pipelines\n"
        ));
        table.dim(&format!(
            "  calls that take an output of the call before: at most {chained}\n"
        ));
    }
}

pub fn json(cost: &Cost) -> Value {
    let tokens = |bytes: u64| bytes.div_ceil(TOKEN);
    let subjects = cost.subjects.iter().map(|(what, one)| {
        json!({
            "what": what,
            "messages": one.asked.messages + one.answered.messages,
            "request_bytes": one.asked.bytes,
            "answer_bytes": one.answered.bytes,
        })
    });
    let definitions = cost.definitions.iter().map(
        |(name, bytes)| json!({"name": name, "bytes": bytes, "tokens_estimate": tokens(*bytes)}),
    );
    let stated = cost.stated.iter().flat_map(|(what, members)| {
        members.iter().map(move |(member, one)| {
            json!({"what": what, "member": member, "answers": one.answers, "sum": one.sum})
        })
    });
    let forms = forms(cost).into_iter().map(|(_, key, form)| {
        let form = json!({
            "messages": form.messages,
            "bytes": form.bytes,
            "other_bytes": form.other,
        });
        (key.to_owned(), form)
    });
    json!({
        "subjects": subjects.collect::<Vec<_>>(),
        "definitions": definitions.collect::<Vec<_>>(),
        "lists": {
            "messages": cost.lists.messages,
            "bytes": cost.lists.bytes,
            "tokens_estimate": tokens(cost.lists.bytes),
        },
        "stated": stated.collect::<Vec<_>>(),
        "forms": forms.collect::<serde_json::Map<_, _>>(),
        "calls": cost.calls,
        "calls_with_previous_output": cost.chained,
    })
}
