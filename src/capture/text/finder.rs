//! Finds all messages of a text, in JSON and as programs print objects, in the order in which they are written.
//!
//! ```text
//!   sent={"id":0} received={"id":0}          two messages
//!   {"events":[{"msg":{"id":0}}]}            inside other objects and lists
//!   {"body":"recv {\"id\":0}"}               inside a string, also with the escapes of a programming language
//!   {'id': 0, 'ok': True}                    as Python prints it
//! ```

use super::clean::{in_json_string, to_ascii, unescaped};
use super::columns::{self, place_at_end};
use super::cut;
use super::escapes::{
    begins_with_doubled, is_print_of_node, marks_bytes, read_string, repeated, verbatim,
    without_doubled_backslashes,
};
use super::found::{
    CutMessage, Found, FoundAll, NEAR, first, is_inside, note_unescaped, until_object,
};
use super::golang;
use super::line::with_header;
use super::literal::Lost;
use super::objects;
use super::probe::{Expected, MessageFraming, MessageTest, exchange, is_http_request};
use super::unbracketed::with_brackets;
use crate::capture::base64_text;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// Maximum depth of a message inside objects and strings.
const MAX_DEPTH: u32 = 32;
/// The most places in a row where a value may begin and none does.
const MAX_STARTS: usize = 32;

/// Beginnings of server-sent events.
const EVENT_FIELDS: [&[u8]; 5] = [b"event: ", b"data: ", b"id: ", b"retry: ", b": "];

#[derive(Default)]
pub(super) struct Finder {
    test: MessageTest,
    /// The framing of all messages of the text, known from the first message that shows it.
    framing: Option<MessageFraming>,
    /// The characters before the place of a call at the right end of the last line that has one.
    pub width: Option<usize>,
    /// What the messages of the text lack.
    pub lost: Lost,
    /// Backslashes of the text are doubled.
    is_doubled: bool,
}

impl Finder {
    pub(super) fn new(expected: Expected) -> Self {
        Self {
            test: MessageTest::new(expected),
            ..Self::default()
        }
    }

    /// Returns true if the messages had headers with their lengths.
    pub(super) fn has_headers(&self) -> bool {
        self.framing == Some(MessageFraming::Headers)
    }

    /// Returns a message as the stream has it: with its line end or its header.
    pub(super) fn framed(&self, message: &[u8]) -> Vec<u8> {
        if self.has_headers() {
            with_header(message)
        } else {
            [message, b"\n"].concat()
        }
    }

    /// Returns a message as the stream has it, if these bytes are one.
    pub(super) fn framed_message(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let framing = bytes.ends_with(b"}").then(|| self.test.framing(bytes))??;
        self.note(framing);
        Some(self.framed(bytes))
    }

    /// Finds all messages of a text; its quotes may be typographic ones.
    pub(super) fn find(&mut self, original: &[u8]) -> FoundAll {
        if self.is_doubled
            && let Some(found) = self.find_doubled(original)
        {
            return found;
        }
        let found = self.find_exactly(original);
        if found.messages.is_empty()
            && memchr::memmem::find(original, br#"\\""#).is_some()
            && let Some(found) = self.find_doubled(original)
        {
            self.is_doubled = true;
            return found;
        }
        if found.messages.is_empty()
            && let Some(text) = with_brackets(original, |object| self.is_certain(object))
        {
            return self.find_exactly(&text);
        }
        if found.messages.is_empty()
            && let Some(text) = golang::without_types(original)
        {
            return self.find_exactly(&text);
        }
        if found.messages.is_empty()
            && let Some(text) = in_json_string(original)
        {
            let mut inner = self.find_exactly(text.as_bytes());
            if !inner.messages.is_empty() {
                for found in &mut inner.messages {
                    found.is_unescaped = true;
                }
                return FoundAll {
                    open: None,
                    ..inner
                };
            }
        }
        match unescaped(original) {
            Cow::Owned(text) if found.messages.is_empty() && found.open.is_none() => {
                let mut found = self.find_exactly(&text);
                note_unescaped(original, &mut found.messages);
                found
            }
            _ => found,
        }
    }

    /// Finds the messages of a text in which each backslash is doubled, as in source code: `"a \\"b\\""`.
    fn find_doubled(&mut self, text: &[u8]) -> Option<FoundAll> {
        let mut messages = Vec::new();
        self.in_text(&without_doubled_backslashes(text)?, 0, &mut messages);
        for one in &mut messages {
            one.is_unescaped = true;
        }
        let open = None;
        (!messages.is_empty()).then_some(FoundAll { messages, open })
    }

    fn find_exactly(&mut self, text: &[u8]) -> FoundAll {
        let mut messages = Vec::new();
        let at = self.in_text(text, 0, &mut messages);
        // Beside a message, other objects of a line are parts of the log.
        if !text.contains(&b'\n') && messages.iter().any(|one| one.is_certain) {
            messages.retain(|one| one.is_certain);
        }
        let open = self.printed(text, at, &mut messages);
        let is_object = |start: &usize| messages.is_empty() || text.get(*start) == Some(&b'{');
        let open = open.filter(is_object);
        FoundAll { messages, open }
    }

    /// Finds the messages that a program printed as objects, from a place of the text on; returns where an object begins that
    /// is not complete.
    fn printed(&mut self, text: &[u8], mut at: usize, messages: &mut Vec<Found>) -> Option<usize> {
        loop {
            match objects::find(text, at, &mut self.test) {
                objects::Search::Found(object) => {
                    let (start, end) = object.place;
                    // Programs with such messages also print other objects, such as parts of them.
                    let is_part = self.has_headers() && !object.is_certain;
                    if is_part
                        || is_difference(text, &object.json)
                        || cut::lacks_its_middle(text, object.place)
                        || !object.is_certain && self.has_cut_before(text, start)
                    {
                        at = end;
                        continue;
                    }
                    self.note(object.framing);
                    self.lost.parts |= object.lost.parts;
                    self.lost.numbers |= object.lost.numbers;
                    let before = text.get(at..start).unwrap_or_default();
                    let after = text.get(end..).unwrap_or_default();
                    let after = if is_inside(before) {
                        after
                    } else {
                        until_object(after)
                    };
                    let count = messages.len();
                    if object.json.starts_with(b"[") {
                        self.in_value(&object.json, 0, messages);
                    }
                    if messages.len() == count {
                        let mut found = Found::new(object.json, b"", b"");
                        found.is_certain = object.is_certain;
                        messages.push(found);
                    }
                    for found in messages.get_mut(count..).unwrap_or_default() {
                        found.within(before, after);
                    }
                    at = end;
                }
                objects::Search::Open(start) => return Some(start),
                objects::Search::Nothing => return None,
            }
        }
    }

    /// Finds the messages in JSON of several lines. A line may have been broken anywhere, also inside a text, and may have
    /// columns beside it.
    pub(super) fn in_lines(&mut self, text: &[u8]) -> FoundAll {
        let text = &*columns::without_guides(text);
        let bare = columns::without_left(text);
        let mut messages = Vec::new();
        let end = self.in_text(text, 0, &mut messages);
        if !messages.is_empty() {
            // An object of JavaScript can have a request in JSON, and its answer as an object.
            let mut printed = Vec::new();
            self.printed(text, end, &mut printed);
            printed.retain(|one| one.is_certain);
            messages.append(&mut printed);
            // Source code: only messages without quotes in their texts are read as they are.
            let is_doubled = memchr::memmem::find(text, br#"\\""#).is_some();
            if let Some(all) = is_doubled.then(|| self.find_doubled(text)).flatten()
                && all.messages.len() > messages.len()
            {
                return all;
            }
        }
        if messages.is_empty() && matches!(bare, Cow::Owned(_)) {
            self.in_text(&bare, 0, &mut messages);
            note_column(text, &bare, &mut messages);
        }
        // Quotes that end strings of a program would become text.
        let column = columns::first_difference(text, &bare);
        if messages.is_empty() && matches!(column.last(), Some(b'"' | b'\'' | b'`')) {
            return FoundAll::default();
        }
        if messages.is_empty() {
            let unwrapped = columns::unwrapped(&bare, self.width);
            self.in_text(&unwrapped, 0, &mut messages);
            let first = bare.split(|&c| c == b'\n').next().unwrap_or_default();
            if messages.is_empty() && place_at_end(first).is_some() {
                messages = self.find_exactly(&unwrapped).messages;
            }
        }
        if messages.is_empty() {
            self.in_text(&unescaped(text), 0, &mut messages);
            note_unescaped(text, &mut messages);
        }
        if let Some([old, new]) = columns::versions(text).filter(|_| messages.is_empty()) {
            messages = self.find_exactly(&old).messages;
            let mut changed = self.find_exactly(&new).messages;
            changed.retain(|found| messages.iter().all(|old| old.message != found.message));
            messages.append(&mut changed);
        }
        if messages.is_empty() {
            let found = self.find(text);
            if !found.messages.is_empty() {
                return found;
            }
            return match &bare {
                Cow::Owned(bare) => {
                    let mut found = self.find(bare);
                    note_column(text, bare, &mut found.messages);
                    found
                }
                Cow::Borrowed(_) => found,
            };
        }
        FoundAll {
            messages,
            open: None,
        }
    }

    /// Returns true if a text has a message.
    pub(super) fn has_message(&mut self, text: &[u8]) -> bool {
        let mut messages = Vec::new();
        self.in_text(text, 0, &mut messages);
        !messages.is_empty()
    }

    /// Returns true if a member of an object has a message.
    pub(super) fn has_inner_message(&mut self, object: &[u8]) -> bool {
        let mut messages = Vec::new();
        self.in_object(object, 0, &mut messages);
        !messages.is_empty()
    }

    /// Finds the first message of a text of which only the beginning is there.
    pub(super) fn cut_message(&mut self, text: &[u8]) -> Option<CutMessage> {
        let text = &*to_ascii(text);
        let inner = in_strings(text);
        let texts = [Some(text), inner.as_deref()];
        let mut beginnings = texts.into_iter().flatten().flat_map(cut::beginnings);
        beginnings.find_map(|one| {
            let (_, is_certain) = self.test.certain_framing(&one.json)?;
            let protocol = self.test.protocol(&one.json);
            is_certain.then_some(CutMessage {
                mark: one.mark,
                protocol,
            })
        })
    }

    /// Returns true if an object, which other objects look like too, may be a part of a message whose middle is left out.
    fn has_cut_before(&mut self, text: &[u8], start: usize) -> bool {
        let before = text.get(..start).unwrap_or_default();
        memchr::memchr(b'{', before).is_some() && self.cut_message(before).is_some()
    }

    fn is_certain(&mut self, object: &[u8]) -> bool {
        matches!(self.test.certain_framing(object), Some((_, true)))
    }

    fn note(&mut self, framing: MessageFraming) {
        if framing != MessageFraming::Either {
            self.framing.get_or_insert(framing);
        }
    }

    /// Finds the messages in JSON of a text; returns the end of the last one.
    pub(super) fn in_text(&mut self, text: &[u8], depth: u32, messages: &mut Vec<Found>) -> usize {
        // The end of the last message, and of what is beside the next one.
        let (mut end, mut from) = (0, 0);
        let (mut at, mut starts) = (0, 0);
        while depth <= MAX_DEPTH && starts < MAX_STARTS {
            let rest = text.get(at..).unwrap_or_default();
            let Some(next) = rest.iter().position(|c| b"{[\"'`".contains(c)) else {
                break;
            };
            at += next;
            starts += 1;
            let count = messages.len();
            let (before, rest) = text.split_at_checked(at).unwrap_or_default();
            let Some(len) = self.starting(rest, marks_bytes(before), depth, messages) else {
                at += 1;
                continue;
            };
            let is_uncertain = messages
                .get(count..)
                .is_some_and(|found| found.iter().any(|one| !one.is_certain));
            if cut::lacks_its_middle(text, (at, at + len))
                || is_uncertain && self.has_cut_before(text, at)
            {
                messages.truncate(count);
            }
            let before = text.get(from..at).unwrap_or_default();
            at += len;
            let after = text.get(at..).unwrap_or_default();
            let is_element = after.trim_ascii_start().starts_with(b",");
            if from > 0
                && (before.trim_ascii().is_empty() || before.starts_with(b"Content-Length:"))
                && let Some(found) = messages.get_mut(count)
            {
                found.follows = true;
            }
            for found in messages.get_mut(count..).unwrap_or_default() {
                found.within(before, until_object(after));
                (starts, end, from) = (0, at, at);
            }
            if is_element {
                from = at;
            }
        }
        end
    }

    /// Finds the messages of the value that a text begins with, or of the bytes that its string shows; returns the length of the value, or `None` if there is none.
    fn starting(
        &mut self,
        text: &[u8],
        is_bytes: bool,
        depth: u32,
        messages: &mut Vec<Found>,
    ) -> Option<usize> {
        let (&c, body) = text.split_first()?;
        if matches!(c, b'{' | b'[') {
            let Some(len) = json_len(text) else {
                let (bytes, len) = golang::bytes(text)?;
                let count = messages.len();
                self.in_text(&bytes, depth + 1, messages);
                return (messages.len() > count).then_some(len);
            };
            self.in_value(text.get(..len)?, depth, messages);
            return Some(len);
        }
        if c == b'`' && !is_print_of_node(body) {
            return None;
        }
        // A string whose text has an object: in JSON, or as a programming language prints it.
        let near = first(body, NEAR);
        let has = |mark: &[u8]| memchr::memmem::find(near, mark).is_some();
        let is_doubled = c == b'"' && (has(b"{\"\"") || begins_with_doubled(body));
        let begins = |mark: &&[u8]| body.starts_with(mark);
        let is_event = EVENT_FIELDS.iter().any(begins) && has(b"data: {");
        // Bytes before the object, such as the header of a frame.
        let is_framed = is_bytes && body.starts_with(b"\\x") && has(b"{\"");
        let is_text = [b"{".as_slice(), b"b'{", b"Content-"].iter().any(begins)
            || is_event
            || is_framed
            || has(b"{\\\"");
        if !is_doubled && !is_text {
            return None;
        }
        let (after, inner) = if is_doubled {
            let mut inner = Vec::new();
            (verbatim(body, &mut inner), inner)
        } else {
            read_string(is_bytes, |escapes, inner| {
                let mut rest = escapes.read(body, Some(c), inner).rest?;
                while let Some(after) = repeated(rest, escapes, inner) {
                    rest = after;
                }
                Some(rest)
            })
        };
        let after = after?;
        let count = messages.len();
        self.in_text(&inner, depth + 1, messages);
        (messages.len() > count).then_some(text.len() - after.len())
    }

    /// Finds the messages of a value in JSON.
    fn in_value(&mut self, value: &[u8], depth: u32, messages: &mut Vec<Found>) {
        if depth > MAX_DEPTH {
            return;
        }
        match value.first() {
            Some(b'"') if memchr::memchr(b'{', value).is_none() => {
                if let Some(text) = base64_text::text_of_string(value) {
                    self.in_text(&text, depth + 1, messages);
                }
            }
            Some(b'"') => {
                if let Ok(text) = serde_json::from_slice::<String>(value) {
                    self.in_text(text.as_bytes(), depth + 1, messages);
                }
            }
            Some(b'[') => {
                if let Ok(bytes) = serde_json::from_slice::<Vec<u8>>(value) {
                    self.in_text(&bytes, depth + 1, messages);
                } else if depth == 0 && is_batch(value) {
                    let mut found = Found::new(value.to_vec(), b"", b"");
                    found.is_certain = true;
                    messages.push(found);
                } else if let Ok(elements) = serde_json::from_slice::<Vec<&RawValue>>(value) {
                    self.in_parts(value, &elements, depth, messages);
                }
            }
            Some(b'{') => {
                let own = self.test.certain_framing(value);
                let own = own.filter(|_| !is_http_request(value));
                let mut inner = Vec::new();
                if !matches!(own, Some((_, true))) {
                    self.in_object(value, depth, &mut inner);
                }
                match own {
                    // Other objects have a method too, such as a request of HTTP around a message.
                    Some((framing, is_certain)) if !inner.iter().any(|found| found.is_certain) => {
                        self.note(framing);
                        let mut found = Found::new(value.to_vec(), b"", b"");
                        found.is_certain = is_certain;
                        messages.push(found);
                    }
                    _ => messages.append(&mut inner),
                }
            }
            _ => {}
        }
    }

    fn in_object(&mut self, object: &[u8], depth: u32, messages: &mut Vec<Found>) {
        let members = serde_json::from_slice::<BTreeMap<String, &RawValue>>(object);
        let mut members = members.unwrap_or_default();
        // Postman repeats the request beside its answer.
        members.remove("originalRequest");
        let mut members: Vec<_> = members.into_values().collect();
        members.sort_by_key(|member| member.get().as_ptr() as usize);
        self.in_parts(object, &members, depth, messages);
    }

    /// Returns the messages of each part. Beside a member that is one for certain, others are parts of the log, such as the
    /// process.
    fn of_parts<'p>(
        &mut self,
        parts: &[&'p RawValue],
        (is_list, depth): (bool, u32),
    ) -> Vec<(&'p RawValue, Vec<Found>)> {
        let mut all: Vec<_> = parts.iter().map(|part| (*part, Vec::new())).collect();
        for (part, own) in &mut all {
            self.in_value(part.get().as_bytes(), depth + 1, own);
        }
        let mut found = all.iter().flat_map(|(_, own)| own);
        if !is_list && found.any(|one| one.is_certain) {
            for (_, own) in &mut all {
                own.retain(|one| one.is_certain);
            }
        }
        all
    }

    /// Finds the messages of the parts of a value.
    fn in_parts(
        &mut self,
        whole: &[u8],
        parts: &[&RawValue],
        depth: u32,
        messages: &mut Vec<Found>,
    ) {
        let is_list = whole.first() == Some(&b'[');
        // The ids of the answers in the members of an object.
        let mut answered = HashSet::new();
        let mut from = 0;
        for (part, mut own) in self.of_parts(parts, (is_list, depth)) {
            let text = part.get().as_bytes();
            let at = text.as_ptr() as usize - whole.as_ptr() as usize;
            let end = at + text.len();
            let count = messages.len();
            messages.append(&mut own);
            if let Some(found) = messages
                .get(count..)
                .filter(|found| !is_list && found.len() == 1)
            {
                let mut ids = found.iter().filter_map(|found| exchange(&found.message));
                match ids.next() {
                    // A log can repeat the request beside its answer.
                    Some((id, true)) if answered.contains(&id) => messages.truncate(count),
                    Some((id, false)) => {
                        answered.insert(id);
                    }
                    _ => {}
                }
            }
            let before = whole.get(from..at).unwrap_or_default();
            // The text after an element of a list belongs to the next one.
            let after = whole.get(end..).filter(|_| !is_list).unwrap_or_default();
            for found in messages.get_mut(count..).unwrap_or_default() {
                found.within(before, after);
                from = end;
            }
            // An object in a list describes itself alone; a time can be an element before its message.
            if is_list && text.starts_with(b"{") {
                from = end;
            }
        }
    }
}

/// Returns true if a list on one line is a batch of JSON-RPC: a log that collects messages has those of both sides.
fn is_batch(list: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Member<'a> {
        #[serde(borrow)]
        jsonrpc: Cow<'a, str>,
        method: Option<serde::de::IgnoredAny>,
    }
    if memchr::memchr(b'\n', list).is_some() {
        return false;
    }
    let members = serde_json::from_slice::<Vec<Member<'_>>>(list).unwrap_or_default();
    let is_sent = |one: &Member<'_>| one.method.is_some();
    members.len() > 1
        && members.iter().all(|one| one.jsonrpc == "2.0")
        && (members.iter().all(is_sent) || !members.iter().any(is_sent))
}

/// Returns true for a member that differs, as pytest prints it: `E   {'result': 5} != {'result': 6}`. No message has only one.
fn is_difference(line: &[u8], object: &[u8]) -> bool {
    line.starts_with(b"E   ")
        && serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(object)
            .is_ok_and(|members| members.len() == 1)
}

/// Returns a text without the backslashes before quotes: what strings in it show.
fn in_strings(text: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(text, b"{\\\"")?;
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, b"\\\"") {
        out.extend_from_slice(rest.get(..at)?);
        rest = rest.get(at + 1..)?;
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// Adds the column that is left out to the text before the first message: it can name the side that writes.
fn note_column(text: &[u8], bare: &[u8], messages: &mut [Found]) {
    if let Some(found) = messages.first_mut() {
        let column = columns::first_difference(text, bare);
        found.before.splice(0..0, column.iter().copied());
    }
}

/// Returns true if a text begins with a value in JSON.
pub(super) fn is_json(text: &[u8]) -> bool {
    json_len(text).is_some()
}

/// The length of the JSON value that a text begins with.
pub(super) fn json_len(text: &[u8]) -> Option<usize> {
    let mut values =
        serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}
