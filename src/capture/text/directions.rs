//! The direction that words and arrows beside bytes say.
//!
//! ```text
//!   DEBUG ws.client: > TEXT '...'           c2s: the writer sends it
//!   [server] << {"id":0}                    c2s: a server receives it
//!   Request: {"id":0}    C->S {"id":0}      c2s
//! ```

use crate::protocol::Direction;
use Direction::{ToClient, ToServer};

/// Returns true if a line has a request line of HTTP: `> POST /mcp HTTP/1.1`.
pub(super) fn is_request_line(line: &[u8]) -> bool {
    let mut all = line.split(|&c| c == b' ');
    all.any(|word| METHODS.contains(&word))
        && all
            .next()
            .is_some_and(|target| target.starts_with(b"/") || target.starts_with(b"http"))
}

/// Returns true if a line has the status of an answer of HTTP: `2026/11/27 10:00:00 HTTP/1.1 200 OK`, `okhttp: <-- 200 OK`,
/// ` << 200 OK 79b`.
pub(super) fn is_answer_line(line: &[u8]) -> bool {
    let is_status = |word: &[u8]| word.len() == 3 && word.iter().all(u8::is_ascii_digit);
    let is_mark = |word: &[u8]| word.starts_with(b"HTTP/1.") || matches!(word, b"<--" | b"<<");
    let mut all = line.split(|&c| c == b' ');
    all.any(is_mark) && all.next().is_some_and(is_status)
}

/// Returns a text without the header of a message at its end, and what is between the two: `read b"Content-Length: 52\r\n\r\n`.
fn without_header(text: &[u8]) -> &[u8] {
    let is_rest = |c: &u8| c.is_ascii_digit() || c.is_ascii_whitespace() || b"\\rn".contains(c);
    let start = memchr::memmem::rfind(text, HEADER);
    let parts = start.and_then(|at| text.split_at_checked(at));
    let bare = parts.filter(|(_, header)| {
        header
            .get(HEADER.len()..)
            .is_some_and(|rest| rest.iter().all(is_rest))
    });
    bare.map_or(text, |(bare, _)| bare)
}

const HEADER: &[u8] = b"Content-Length: ";

/// Returns true for a line that has nothing else than a direction: `>>>`, `^ sent to server`, `--> Content-Length: 77`.
pub(super) fn is_direction_line(line: &[u8]) -> bool {
    const MAX_WORDS: usize = 4;
    let line = line.trim_ascii();
    let end = memchr::memmem::find(line, HEADER).filter(|at| *at > 0);
    let text = line.get(..end.unwrap_or(line.len())).unwrap_or(line);
    let is_short = text.split(u8::is_ascii_whitespace).count() <= MAX_WORDS;
    let is_mark = |c: &u8| c.is_ascii_whitespace() || b"-=#*[]:".contains(c);
    let start = text.iter().position(|c| !is_mark(c)).unwrap_or(text.len());
    let last = text
        .iter()
        .rposition(|c| !is_mark(c))
        .map_or(start, |at| at + 1);
    let name = text.get(start..last).unwrap_or_default();
    let is_label = ["request", "response", "client", "server"]
        .iter()
        .any(|label| name.eq_ignore_ascii_case(label.as_bytes()));
    is_short && (is_label || find_direction(text, b"").is_some())
}

/// Methods of HTTP whose request has a body, or whose answer has one.
const METHODS: [&[u8]; 5] = [b"GET", b"POST", b"PUT", b"PATCH", b"DELETE"];

/// A direction as the writer of a line sees it, or as both sides see it.
#[derive(Clone, Copy)]
pub(super) enum WrittenDirection {
    Sent,
    Received,
    Fixed(Direction),
}

/// Finds the direction in the text before and after bytes. The word or arrow that is nearest to the bytes counts.
pub(super) fn find_direction(before: &[u8], after: &[u8]) -> Option<Direction> {
    // Brackets around the bytes are no arrows.
    let before = match before.strip_suffix(b"<") {
        Some(inner) if closes(after) => inner,
        _ => before,
    };
    // `b'...'`, as Python prints bytes.
    let before = without_header(before).trim_ascii_end();
    let inner = before.strip_suffix(b"'").or(before.strip_suffix(b"\""));
    let data = inner.unwrap_or(before);
    let data = data.strip_suffix(b"$").unwrap_or(data);
    if DATA_FLAGS.iter().any(|flag| ends_with_word(data, flag)) {
        return Some(ToServer);
    }
    let before = inner
        .unwrap_or(before)
        .strip_suffix(b" b")
        .unwrap_or(before);
    let is_client = words(before)
        .chain(words(after))
        .any(|word| word.eq_ignore_ascii_case(b"client"));
    let is_server = !is_client && [before, after].into_iter().any(names_server);
    let named = named_sides(before);
    let last = words(before).next_back();
    let nearest = |allows_weak: bool| {
        words(before).rev().find_map(|word| {
            let is_last = allows_weak && Some(word) == last || is_value(before, word);
            word_direction(word, is_last).or_else(|| member_direction(before, word))
        })
    };
    // `SEND on 0(in):` sends.
    let nearest = nearest(false).or_else(|| nearest(true)).or_else(|| {
        let mut named = words(after).filter(|word| word.first().is_some_and(|&c| class(c) == 0));
        named.find_map(|word| word_direction(word, is_value(after, word)))
    });
    let labelled = || {
        let at = member(after, &[b"direction", b"dir"])?;
        named_sides(at).or_else(|| words(at).find_map(|word| word_direction(word, true)))
    };
    let calls = |call: &&[u8]| memchr::memmem::find(before, call).is_some();
    let is_sent = || CALLS.iter().any(calls) || is_request_line(&without_quotes(before));
    let sent = || is_sent().then_some(WrittenDirection::Fixed(ToServer));
    let found = named.or(nearest).or_else(labelled).or_else(sent);
    let found = found.or_else(|| remark(after));
    let answered = || is_answer_line(before).then_some(WrittenDirection::Fixed(ToClient));
    let found = found.or_else(answered);
    Some(match found.or_else(|| label(before))? {
        WrittenDirection::Fixed(direction) => direction,
        WrittenDirection::Sent if is_server => ToClient,
        WrittenDirection::Sent => ToServer,
        WrittenDirection::Received if is_server => ToServer,
        WrittenDirection::Received => ToClient,
    })
}

/// The direction that is all of the text behind bytes: `-->`, `",send`, `// client -> server`, `# to server`.
fn remark(after: &[u8]) -> Option<WrittenDirection> {
    const MAX_WORDS: usize = 3;
    let mut all = words(after);
    let found: Vec<&[u8]> = all.by_ref().take(MAX_WORDS).collect();
    if all.next().is_some() {
        return None;
    }
    match *found {
        // One character closes a bracket.
        [word] if word.len() > 1 => word_direction(word, true),
        [arrow, peer] if from_differs(arrow) => {
            let to = side(peer)?;
            let is_back = arrow.first() == Some(&b'<');
            Some(WrittenDirection::Fixed(if is_back {
                to
            } else {
                to.other()
            }))
        }
        _ => named_sides(after),
    }
}

/// Flags of curl and PowerShell before the body of a request.
const DATA_FLAGS: [&[u8]; 7] = [
    b"-d",
    b"--data",
    b"--data-raw",
    b"--data-binary",
    b"--data-ascii",
    b"--json",
    b"-Body",
];
/// Calls that send a body.
const CALLS: [&[u8]; 3] = [b"fetch(", b".post(", b"XMLHttpRequest("];

/// A text without the quotes around a line of an access log.
fn without_quotes(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|c| *c != b'"').collect()
}

/// The value of the first member in JSON that has one of these names and is a text.
fn member<'a>(text: &'a [u8], names: &[&[u8]]) -> Option<&'a [u8]> {
    let mut ends = memchr::memmem::find_iter(text, b"\":");
    let value = ends.find_map(|end| {
        let name = text.get(..end)?.rsplit(|&c| c == b'"').next()?;
        let value = text
            .get(end + 2..)?
            .trim_ascii_start()
            .strip_prefix(b"\"")?;
        names.contains(&name).then_some(value)
    })?;
    value.split(|&c| c == b'"').next()
}

/// The direction of a message with a label: `Request: `, `Response body = `.
fn label(before: &[u8]) -> Option<WrittenDirection> {
    let is_name = |word: &&[u8]| word.first().is_some_and(|&c| class(c) == 0);
    let mut names = words(before).rev().filter(is_name);
    let end = names.next()?;
    // `Request body:`
    let is_part = matches!(end, b"body" | b"Body" | b"payload" | b"data");
    let last = if is_part { names.next()? } else { end };
    let at = end.as_ptr() as usize - before.as_ptr() as usize + end.len();
    let after = before.get(at..).unwrap_or_default();
    let ends = after.iter().any(|c| b":=".contains(c)) && after.len() <= 4;
    let direction = match last {
        b"request" | b"Request" | b"REQUEST" => ToServer,
        b"response" | b"Response" | b"RESPONSE" => ToClient,
        // `C: {"id":1}`
        _ if before.trim_ascii().strip_suffix(b":") == Some(last) => side(last)?,
        _ => return None,
    };
    ends.then_some(WrittenDirection::Fixed(direction))
}

/// Returns true if the last word of a text is this one.
fn ends_with_word(text: &[u8], word: &[u8]) -> bool {
    let before = text.trim_ascii_end().strip_suffix(word);
    before.is_some_and(|text| text.last().is_none_or(u8::is_ascii_whitespace))
}

/// Returns true if the writer is a server: `server`, `StdioServerTransport`, but not a `ServerConnector`.
fn names_server(text: &[u8]) -> bool {
    let mut names = text.chunk_by(|&a, &b| class(a) == class(b));
    names.any(|name| {
        // A name follows that of the peer: `MCP server "a": Sending`.
        let end = name.as_ptr() as usize - text.as_ptr() as usize + name.len();
        let after = text.get(end..).unwrap_or_default();
        if after.starts_with(b" \"") || after.starts_with(b" '") {
            return false;
        }
        let rest = memchr::memmem::rfind(name, b"Server").and_then(|at| name.get(at + 6..));
        let is_part = |rest: &[u8]| matches!(rest, b"" | b"Transport" | b"Session" | b"Protocol");
        name.eq_ignore_ascii_case(b"server") || rest.is_some_and(is_part)
    })
}

/// Returns true if a word is all of a value in quotes, or that of a direction: `"msg":"read"`, `dir=in`.
fn is_value(text: &[u8], word: &[u8]) -> bool {
    let at = word.as_ptr() as usize - text.as_ptr() as usize;
    let before = text.get(..at).unwrap_or_default();
    if [&b"dir="[..], b"direction="]
        .iter()
        .any(|key| ends_with_word(before, key))
    {
        return true;
    }
    let before = before.strip_suffix(b"\"").map(<[u8]>::trim_ascii_end);
    let after = text.get(at + word.len()..).unwrap_or_default();
    let is_value = |before: &[u8]| before.ends_with(b":") || before.ends_with(b"=");
    before.is_some_and(is_value) && after.starts_with(b"\"")
}

/// The direction of the member or the element that a word names: `"request":{`, `<response>`.
fn member_direction(text: &[u8], word: &[u8]) -> Option<WrittenDirection> {
    let direction = match word {
        b"request" | b"Request" => ToServer,
        b"response" | b"Response" => ToClient,
        _ => return None,
    };
    let at = word.as_ptr() as usize - text.as_ptr() as usize;
    let before = at.checked_sub(1).and_then(|at| text.get(at))?;
    let after = text.get(at + word.len()..).unwrap_or_default();
    let after = after.strip_prefix(b" Body").unwrap_or(after);
    let is_name = *before == b'<' || *before == b'"' && after.starts_with(b"\":");
    is_name.then_some(WrittenDirection::Fixed(direction))
}

/// Returns true if brackets around bytes close here, perhaps after an ellipsis.
fn closes(after: &[u8]) -> bool {
    let after = after.trim_ascii_start();
    after.starts_with(b">") || after.starts_with(b"...")
}

/// Words of letters and digits, and arrows.
pub(super) fn words(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    // `c2s` is a word, and so is `>>`.
    let is_tag = |word: &[u8]| {
        // `<Buffer 00>` is a tag, `< TEXT` an arrow.
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        let is_word = |c: Option<&u8>| c.is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'/');
        (word == b"<" && is_word(text.get(at + 1)))
            || (word == b">" && at.checked_sub(1).is_some_and(|at| is_word(text.get(at))))
    };
    // `StdioServerTransport` are three.
    let goes_on = |a: &u8, b: &u8| {
        class(*a) == class(*b) && !(a.is_ascii_lowercase() && b.is_ascii_uppercase())
    };
    text.chunk_by(goes_on)
        .filter(move |word| word.first().is_some_and(|&c| class(c) < 2) && !is_tag(word))
}

fn class(c: u8) -> u8 {
    match c {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => 0,
        b'<' | b'>' | b'-' | b'=' => 1,
        _ => 2,
    }
}

pub(super) fn word_direction(word: &[u8], is_last: bool) -> Option<WrittenDirection> {
    use WrittenDirection::{Fixed, Received, Sent};
    let mut lower = [0; 16];
    let lower = lower.get_mut(..word.len())?;
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    let lower = lower.strip_prefix(b"frame").unwrap_or(lower);
    Some(match lower {
        b"c2s" | b"stdin" => Fixed(ToServer),
        b"s2c" | b"stdout" => Fixed(ToClient),
        b">>" | b">>>" | b"->" | b"-->" | b"--->" | b"=>" | b"==>" | b"send" | b"sent"
        | b"sending" | b"tx" | b"outgoing" | b"outbound" | b"wrote" | b"egress" => Sent,
        b"<<" | b"<<<" | b"<-" | b"<--" | b"<---" | b"<=" | b"<==" | b"recv" | b"rcv"
        | b"received" | b"receive" | b"receiving" | b"rx" | b"incoming" | b"inbound"
        | b"ingress" => Received,
        b">" | b"out" | b"write" if is_last => Sent,
        b"<" | b"in" | b"read" if is_last => Received,
        // `> TEXT '...'`: the opcode is between them.
        b">" => Sent,
        b"<" => Received,
        _ => return None,
    })
}

/// `C->S`, `client --> server`, `from client`, `to server`, `client message`, `server replies`: the last one.
pub(super) fn named_sides(text: &[u8]) -> Option<WrittenDirection> {
    let (mut a, mut arrow): (&[u8], &[u8]) = (b"", b"");
    let mut found = None;
    for word in words(text) {
        if arrow.eq_ignore_ascii_case(b"from")
            && let Some(from) = side(word)
        {
            found = Some(WrittenDirection::Fixed(from));
        }
        if arrow.eq_ignore_ascii_case(b"to")
            && let Some(to) = side(word)
        {
            found = Some(WrittenDirection::Fixed(to.other()));
        }
        let is_message = matches!(
            word,
            b"message"
                | b"request"
                | b"notification"
                | b"response"
                | b"reply"
                | b"sends"
                | b"replies"
        );
        let owner = if arrow == b"-" { a } else { arrow };
        // Words of two members in JSON are no phrase.
        let gap = between(text, owner, word);
        let is_phrase = !gap.iter().any(|c| b"\",".contains(c));
        if is_message
            && is_phrase
            && let Some(from) = side(owner)
        {
            found = Some(WrittenDirection::Fixed(from));
        }
        if let (Some(from), Some(to), true) = (side(a), side(word), from_differs(arrow))
            && from != to
        {
            let backward = arrow.first() == Some(&b'<');
            found = Some(WrittenDirection::Fixed(if backward { to } else { from }));
        }
        (a, arrow) = (arrow, word);
    }
    found
}

/// The text between two parts of a text.
fn between<'t>(text: &'t [u8], first: &[u8], second: &[u8]) -> &'t [u8] {
    let place = |part: &[u8]| (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    let range = place(first).zip(place(second));
    let gap = range.and_then(|(from, to)| text.get(from + first.len()..to));
    gap.unwrap_or_default()
}

/// The direction of what a side sends.
pub(super) fn side(word: &[u8]) -> Option<Direction> {
    match word {
        b"C" | b"c" | b"client" | b"Client" | b"CLIENT" | b"editor" => Some(ToServer),
        b"S" | b"s" | b"server" | b"Server" | b"SERVER" => Some(ToClient),
        _ => None,
    }
}

/// Returns true if this is an arrow.
fn from_differs(word: &[u8]) -> bool {
    word.first() == Some(&b'<') || word.last() == Some(&b'>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_found_beside_the_bytes() {
        for (before, after, want) in [
            (">> ", "", Some(ToServer)),
            ("<- ", "", Some(ToClient)),
            ("12:00 DEBUG send: ", "", Some(ToServer)),
            ("12:00 DEBUG recv ", "", Some(ToClient)),
            ("[server] recv ", "", Some(ToServer)),
            ("C->S ", "", Some(ToServer)),
            ("S -> C: ", "", Some(ToClient)),
            ("client <- server ", "", Some(ToClient)),
            ("{\"stream\":\"stdout\",\"log\":", "}", Some(ToClient)),
            ("{\"data\":\"", "\",\"dir\":\"recv\"}", Some(ToClient)),
            (
                "DEBUG:websockets.client:> TEXT '",
                "' [9 bytes]",
                Some(ToServer),
            ),
            ("DEBUG:websockets.server:> TEXT '", "'", Some(ToClient)),
            ("[in] ", "", Some(ToClient)),
            ("event=wire dir=out body=\"", "\"", Some(ToServer)),
            ("level=debug body=\"", "\" direction=in", Some(ToClient)),
            ("level=debug redirection=in body=\"", "\"", None),
            ("[editor -> server] ", "", Some(ToServer)),
            ("[server -> editor] ", "", Some(ToClient)),
            ("mcp.client - Received server message: ", "", Some(ToClient)),
            ("Sending client message: ", "", Some(ToServer)),
            (
                "{\"name\":\"mcp.client\",\"message\":\"recv\",\"rpc\":",
                "}",
                Some(ToClient),
            ),
            ("Sending to server: ", "", Some(ToServer)),
            ("Message from server: ", "", Some(ToClient)),
            ("bytes in the buffer ", "", None),
            ("DEBUG Request: ", "", Some(ToServer)),
            ("Verbose,\"Response: ", "", Some(ToClient)),
            ("the request ", "", None),
            ("DEBUG Request body: ", "", Some(ToServer)),
            ("response=", "", Some(ToClient)),
            ("S: ", "", Some(ToClient)),
            ("12:00 S: ", "", None),
            ("<tr><td>received</td><td>", "</td></tr>", Some(ToClient)),
            ("<entry dir=\"out\" n=\"1\">", "</entry>", Some(ToServer)),
            ("", " -> server", Some(ToServer)),
            ("", "\",recv", Some(ToClient)),
            ("", " in 5 ms", None),
            (
                "await fetch(\"http://h/mcp\", {\"body\": ",
                "",
                Some(ToServer),
            ),
            ("requests.post(url, json=", "", Some(ToServer)),
            (
                "h - [x] \"POST / HTTP/1.1\" 200 90 \"a\" \"",
                "\"",
                Some(ToServer),
            ),
            ("-Body \"", "\"", Some(ToServer)),
            ("2026/11/27 10:00:00 HTTP/1.1 200 OK", "", Some(ToClient)),
            (
                "I okhttp.OkHttpClient: <-- 200 OK http://h/ (29ms) ",
                "",
                Some(ToClient),
            ),
            (
                "TRACE read b\"Content-Length: 52\\r\\n\\r\\n",
                "\"",
                Some(ToClient),
            ),
            (
                "{\"message\":\"",
                "\",\"rpc\":{\"direction\":\"client->server\"}}",
                Some(ToServer),
            ),
            ("$ curl -v localhost -d '", "'", Some(ToServer)),
            ("  --data-raw $'", "'", Some(ToServer)),
            ("  --json ", "", Some(ToServer)),
            ("tool -d x '", "'", None),
            (
                "t.StdioServerTransport - Received JSON message: ",
                "",
                Some(ToServer),
            ),
            (
                "t.StdioServerTransport - Sending JSON message: ",
                "",
                Some(ToClient),
            ),
            (
                "t.StdioClientTransport - Received server text: ",
                "",
                Some(ToClient),
            ),
            ("c.Lsp4jServerConnector - --> clangd: ", "", Some(ToServer)),
            ("{\"msg\":\"write\",\"body\":\"", "\"}", Some(ToServer)),
            ("{\"body\":\"", "\",\"dir\":\"in\"}", Some(ToClient)),
            ("{\"read\":true,\"body\":\"", "\"}", None),
            ("DEBUG read b", "", Some(ToClient)),
            ("WebSocket framereceived { payload: ", " }", Some(ToClient)),
            (
                "}},\"response\":{\"status\":200,\"text\":\"",
                "\"",
                Some(ToClient),
            ),
            ("the response has ", "", None),
            ("<Buffer ", " ... 19 more bytes>", None),
            ("<", ">", None),
            ("2026-11-22 host oracle[77]: ", "", None),
        ] {
            let got = find_direction(before.as_bytes(), after.as_bytes());
            assert_eq!(got, want, "{before:?} {after:?}");
        }
    }
}
