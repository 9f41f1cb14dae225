//! Names what bytes look like if no protocol recognises them, and says what to do.
//!
//! Unlike [`super::unreadable`], this is asked only at the end: a wrong name costs no message.

mod carriers;
mod encoded;
mod yaml;

use crate::encoding::{Parsed, Want, lossless, msgpack};
use crate::framing::fields::masked;
use crate::framing::{Framing, header_framings};
use crate::span::Span;
pub(crate) use carriers::{HTTP, short_name};
use carriers::{is_grpc, is_http2, is_http2_settings, is_redis, is_ssh, is_tls};
use encoded::{encoded_text, of_other_encoding};
use std::borrow::Cow;
use yaml::is_yaml;

/// The name of something, and a way to its messages.
type LookAlike = (Cow<'static, str>, &'static str);

/// The number of bytes that are examined.
pub(crate) const EXAMINED: usize = 4 << 10;

const TO_HTTP: &str = "if a peer also speaks HTTP/1.1, wiretool proxy --connect http://HOST:PORT -w FILE.jsonl records it; \
    tshark -d tcp.port==PORT,http2 reads a packet capture";
const TO_JSON: &str = "yq -o=json -I=0 FILE | wiretool reads them";
const RECORD: &str =
    "wiretool proxy --connect ADDRESS -w FILE.jsonl records the messages themselves";

/// Returns the error for bytes that no protocol recognises.
pub(crate) fn unrecognised(bytes: &[u8]) -> String {
    let like = looks_like(bytes).map(|(what, _)| format!(", which look like {what}"));
    let like = like.unwrap_or_default();
    format!("no protocol recognises these bytes{like}: name it with -p")
}

/// Returns what bytes look like, and what to do; `None` if they look like nothing that is known.
pub(crate) fn looks_like(bytes: &[u8]) -> Option<LookAlike> {
    let bytes = bytes.get(..EXAMINED).unwrap_or(bytes);
    let named = |name: &'static str, how| Some((Cow::Borrowed(name), how));
    if is_http2(bytes) || is_http2_settings(bytes) {
        return named("HTTP/2, which gRPC uses too", TO_HTTP);
    }
    if bytes.starts_with(b"\xef\xbb\xbf{") {
        return named(
            "JSON after a byte order mark, which peers refuse",
            "-p NAME shows the fault",
        );
    }
    if let Some((name, how)) = compressed(bytes) {
        return named(name, how);
    }
    if let Some((name, how)) = wide_text(bytes) {
        return named(name, how);
    }
    if matches!(bytes, [0x1e, b'{' | b'[', ..]) {
        return named(
            "a JSON text sequence (RFC 7464)",
            "tr -d '\\036' < FILE | wiretool decode",
        );
    }
    if header_framings(bytes).is_some_and(|all| all.contains(&Framing::Http)) {
        if let Some(keys) = keys_of_body(bytes) {
            let name =
                format!("HTTP whose bodies are JSON that is no message (its keys are {keys})");
            let how = "-p NAME shows its request and status lines; a description with framings = [\"http\"] reads the bodies";
            return Some((name.into(), how));
        }
        return named(
            "HTTP without a message of a protocol",
            "-p NAME shows its request and status lines",
        );
    }
    if is_tls(bytes) {
        return named(
            "TLS, which is encrypted",
            "wiretool proxy --connect tls://HOST:PORT -w FILE.jsonl records the plain text",
        );
    }
    if is_ssh(bytes) {
        return named(
            "SSH, which is encrypted",
            "record the program behind it: wiretool record -w FILE.jsonl -- PROGRAM",
        );
    }
    if is_redis(bytes) {
        return named(
            "Redis (RESP)",
            "redis-cli MONITOR prints the commands of a server",
        );
    }
    if is_grpc(bytes) {
        return named(
            "bodies of gRPC",
            "protoc --decode_raw prints the fields of one, after its first 5 bytes",
        );
    }
    if let Some(value) = packed_value(bytes) {
        let name = format!("MessagePack, whose first value is {value}");
        let how = "-p saikuro and -p nvim read protocols in it; a description with encodings = [\"msgpack\"] reads another one";
        return Some((name.into(), how));
    }
    let text = std::str::from_utf8(bytes).or_else(|error| {
        // The last character may be cut.
        let (valid, rest) = bytes
            .split_at_checked(error.valid_up_to())
            .unwrap_or_default();
        std::str::from_utf8(if rest.len() < 4 { valid } else { bytes })
    });
    match text {
        Ok(text) => of_text(text.trim_start_matches('\u{feff}').trim()),
        Err(_) => of_other_encoding(bytes),
    }
}

/// Returns the first value of bytes that begin with an object or a list in `MessagePack`, as JSON without secrets.
fn packed_value(bytes: &[u8]) -> Option<String> {
    const DEPTH: u32 = 32;
    const SHOWN: usize = 120;
    let first = bytes.first()?;
    if !matches!(first, 0x81..=0x8f | 0x92..=0x9f | 0xdc..=0xdf) {
        return None;
    }
    let len = msgpack::measure(bytes, DEPTH).ok()??;
    let mut parsed = Parsed::new(Want::Places, DEPTH);
    parsed.msgpack(bytes, Span::new(0, len)).ok()?;
    let mut json = Vec::new();
    lossless::write(parsed.root(bytes)?, &mut json);
    let json = String::from_utf8(json).ok()?;
    let shown = masked(&json);
    let is_long = shown.chars().count() > SHOWN;
    let end = if is_long { "…" } else { "" };
    // A few bytes of anything can be one small value.
    (len >= 4).then(|| shown.chars().take(SHOWN).collect::<String>() + end)
}

/// Returns the name of an encoding with several bytes for each character of ASCII, and the command that converts it.
fn wide_text(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const LEAST: usize = 16;
    let is_character = |c: u8| matches!(c, b'\t'..=b'\r' | b' '..=b'~');
    let is_in = |width: usize, at: usize| {
        let head = bytes
            .get(..bytes.len().min(64) / width * width)
            .unwrap_or_default();
        let mut units = head.chunks(width).skip(usize::from(width == 4 && at == 0));
        head.len() >= LEAST
            && units.all(|unit| {
                let mut unit = unit.iter().enumerate();
                unit.all(|(n, c)| if n == at { is_character(*c) } else { *c == 0 })
            })
    };
    Some(match () {
        () if is_in(4, 0) => (
            "text in UTF-32",
            "iconv -f UTF-32LE -t UTF-8 FILE | wiretool decode",
        ),
        () if is_in(4, 3) => (
            "text in UTF-32",
            "iconv -f UTF-32BE -t UTF-8 FILE | wiretool decode",
        ),
        () if is_in(2, 0) => (
            "text in UTF-16",
            "iconv -f UTF-16LE -t UTF-8 FILE | wiretool decode",
        ),
        () if is_in(2, 1) => (
            "text in UTF-16",
            "iconv -f UTF-16BE -t UTF-8 FILE | wiretool decode",
        ),
        () => return None,
    })
}

/// Names compressed bytes. A file in gzip is inflated before: this one was in a text.
fn compressed(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match bytes {
        [0x1f, 0x8b, 8, ..] => Some((
            "gzip inside of a text",
            "base64 -d FILE | wiretool decode, for hex xxd -r -p FILE | wiretool decode",
        )),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some((
            "zstd inside of a text",
            "base64 -d FILE | zstd -d | wiretool decode, for hex xxd -r -p",
        )),
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => Some((
            "data compressed with zlib",
            "pigz -dz < FILE | wiretool decode, after base64 -d if it is Base64",
        )),
        _ => None,
    }
}

fn of_text(text: &str) -> Option<LookAlike> {
    let first = text.lines().next()?;
    if text.chars().any(|c| c.is_control() && !c.is_whitespace()) {
        return None;
    }
    if let Some(keys) = json_keys(text) {
        let name = format!("JSON that is no message (its keys are {keys})");
        let how = "-p NAME tells what a protocol misses; if messages are inside, jq -c .KEY FILE takes them out";
        return Some((name.into(), how));
    }
    if is_access_log(first) {
        let how = "it has no bodies: wiretool proxy --connect http://HOST:PORT -w FILE.jsonl records them";
        return Some(("the access log of a web server".into(), how));
    }
    if text.contains("<Buffer ") && text.contains(" more bytes>") {
        let how = "console.log(buffer.toString('hex')) prints all bytes, and so does require('buffer').INSPECT_MAX_BYTES = Infinity";
        return Some((
            "buffers that Node prints with only 50 bytes of each".into(),
            how,
        ));
    }
    if let Some((name, how)) = encoded_text(text) {
        return Some((name.into(), how));
    }
    if let Some(print) = shown_by_a_language(text) {
        return Some(print);
    }
    if is_yaml(text) {
        return Some(("YAML".into(), TO_JSON));
    }
    if first.starts_with("<!DOCTYPE") || first.starts_with("<html") || first.starts_with("<?xml") {
        return Some(("XML or HTML".into(), RECORD));
    }
    if text.lines().any(|line| line.starts_with("@@ -")) {
        let how = "give wiretool both files, or all lines around the changes: diff -U9999, git diff -U9999";
        return Some(("a diff of parts of messages".into(), how));
    }
    if let Some(columns) = columns(text) {
        let name = format!("a table with the columns {columns}");
        let how = "give wiretool only the column with the messages or bytes: mlr --icsv --onidx cut -f NAME FILE";
        return Some((name.into(), how));
    }
    let words = text.split_whitespace().count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    if words >= 4 && 2 * letters >= text.chars().count() {
        let how = "wiretool proxy --connect ADDRESS -w FILE.jsonl records the messages themselves; \
            if these are the messages: wiretool protocol draft FILE";
        return Some(("text without messages".into(), how));
    }
    None
}

/// Messages that are written in another notation than JSON.
fn shown_by_a_language(text: &str) -> Option<LookAlike> {
    let lower = text.to_lowercase();
    let has = |marks: &[&str]| {
        let mut keys = lower.match_indices("jsonrpc");
        keys.any(|(at, key)| {
            let after = lower.get(at + key.len()..).unwrap_or_default();
            marks.iter().any(|mark| after.starts_with(mark))
        })
    };
    let (name, how) = if has(&["&quot;", "&#34;"]) {
        (
            "messages in which HTML replaces the quotes",
            "python3 -c 'import html,sys; print(html.unescape(sys.stdin.read()))' < FILE | wiretool reads them",
        )
    } else if has(&["\">> =>", "\">>=>"]) {
        (
            "messages as Erlang prints them",
            "print them as JSON: json:encode(Message)",
        )
    } else if has(&[" \"2.0\""]) {
        (
            "messages as Lisp or Clojure prints them",
            "print them as JSON: (json-encode message), (json/write-str message)",
        )
    } else if has(&[": jsonrpcversion"]) {
        (
            "messages as Rust prints them with Debug",
            "print them as JSON: serde_json::to_string(&message)",
        )
    } else if has(&["^\\^\":"]) {
        (
            "a command for cmd.exe",
            "copy it for bash, where quotes stay as they are",
        )
    } else if has(&["\"]=>", "\"=>", "\" =>", "=>", "] =>", "' =>"]) {
        (
            "messages as PHP or Ruby prints them",
            "print them as JSON: json_encode($message), message.to_json",
        )
    } else if has(&["=2.0", ":2.0"]) {
        (
            "messages as Java or Go prints them, without quotes around texts",
            "print them as JSON: ObjectMapper.writeValueAsString(message), json.Marshal(message)",
        )
    } else if has(&[": "])
        && (lower
            .lines()
            .any(|line| line.trim().starts_with("jsonrpc: "))
            || has(&[": '2.0'"]))
    {
        ("messages in YAML", TO_JSON)
    } else {
        return None;
    };
    Some((name.into(), how))
}

/// Returns the first keys of the JSON in the first body of HTTP.
fn keys_of_body(bytes: &[u8]) -> Option<String> {
    let at = memchr::memmem::find(bytes, b"\r\n\r\n")?;
    let body = String::from_utf8_lossy(bytes.get(at + 4..)?);
    json_keys(&body).filter(|_| body.starts_with(['{', '[']))
}

/// Returns the first keys of JSON: of the first line, or of the whole text.
fn json_keys(text: &str) -> Option<String> {
    // Another program may have written an arrow or a time before it.
    let first = text.lines().next()?;
    let start = if first.starts_with('[') {
        0
    } else {
        first.find('{')?
    };
    let values = serde_json::Deserializer::from_str(text.get(start..)?);
    let mut values = values.into_iter::<serde_json::Value>();
    let value = values.next()?.ok()?;
    let object = value.get(0).unwrap_or(&value).as_object()?;
    let keys: Vec<&str> = object.keys().take(4).map(String::as_str).collect();
    let more = if object.len() > keys.len() {
        ", …"
    } else {
        ""
    };
    (!keys.is_empty()).then(|| format!("{}{more}", keys.join(", ")))
}

/// `127.0.0.1 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 2326`
fn is_access_log(line: &str) -> bool {
    let mut quoted = line.split('"').skip(1).step_by(2);
    let has_request = quoted.any(|part| {
        let version = part.rsplit(' ').next().unwrap_or_default();
        version.starts_with("HTTP/") && part.split(' ').count() == 3
    });
    has_request && line.contains('[')
}

/// Returns the first cells of the heading of a table whose rows have the same number of cells.
fn columns(text: &str) -> Option<String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (first, second) = (lines.next()?, lines.next()?);
    let separator = [',', '\t', ';', '|'].into_iter().find(|separator| {
        let count = |line: &str| line.matches(*separator).count();
        count(first) >= 1 && count(second) >= count(first) && !first.contains(". ")
    })?;
    let cells: Vec<&str> = first
        .split(separator)
        .map(|cell| cell.trim().trim_matches('"'))
        .collect();
    let is_name = |cell: &&str| {
        cell.len() <= 40
            && !cell.is_empty()
            && !cell.contains(['{', '"'])
            && cell.split(' ').count() <= 3
    };
    let more = if cells.len() > 4 { ", …" } else { "" };
    let shown: Vec<&str> = cells.iter().copied().take(4).collect();
    cells
        .iter()
        .all(is_name)
        .then(|| format!("{}{more}", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_bytes_are_named() {
        let wide = |before: &[u8], after: &[u8]| {
            let units = b"{\"jsonrpc\":\"2.0\",\"id\":1}\n".iter();
            units
                .flat_map(|c| [before, &[*c], after].concat())
                .collect::<Vec<u8>>()
        };
        let table: &[(&[u8], &str)] = &[
            (
                b"time,dir,method\n1,c2s,tools/call\n",
                "a table with the columns time, dir, method",
            ),
            (b"a\tb\n1\t2\n", "a table with the columns a, b"),
            (
                b"--> {\"op\":1,\"n\":2}\n<-- {\"ok\":1,\"n\":2}\n",
                "JSON that is no message (its keys are n, op)",
            ),
            (
                b"{\"level\":30,\"time\":1,\"msg\":\"a\",\"x\":1,\"y\":2}\n{}",
                "JSON that is no message (its keys are level, msg, time, x, …)",
            ),
            (
                b"{\n  \"a\": 1\n}",
                "JSON that is no message (its keys are a)",
            ),
            (
                b"127.0.0.1 - - [10/Oct/2026:13:55:36 +0000] \"GET / HTTP/1.0\" 200 2326\n",
                "the access log of a web server",
            ),
            (
                b"Dear colleague,\n\nthe server does not answer, again.\n",
                "text without messages",
            ),
            (
                b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n",
                "HTTP without a message of a protocol",
            ),
            (
                b"POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 22\r\n\r\n{\"method\":\"a\",\"tag\":1}POST",
                "HTTP whose bodies are JSON that is no message (its keys are method, tag)",
            ),
            (
                b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\n\xff\xfe",
                "HTTP without a message of a protocol",
            ),
            (b"*1\r\n$4\r\nPING\r\n", "Redis (RESP)"),
            (
                b"\x82\xa2id\x01\xa8password\xa7hunter2\x81",
                r#"MessagePack, whose first value is {"id":1,"password":"(secret)"}"#,
            ),
            (b"+OK\r\n", "Redis (RESP)"),
            (b"-ERR unknown command\r\n", "Redis (RESP)"),
            (
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                "HTTP/2, which gRPC uses too",
            ),
            (
                b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0d",
                "HTTP/2, which gRPC uses too",
            ),
            (
                b"\0\0\0\0\x02\x08\x01\0\0\0\0\x02\x08\x02",
                "bodies of gRPC",
            ),
            (
                b"\x16\x03\x01\x02\0\x01\0\x01\xfc",
                "TLS, which is encrypted",
            ),
            (
                b"JSONRPCRequest[jsonrpc=2.0, method=tools/list, id=1]\nx, y\n",
                "messages as Java or Go prints them, without quotes around texts",
            ),
            (
                b"{JSONRPC:2.0 ID:1 Method:ping Params:map[a:b]}\n",
                "messages as Java or Go prints them, without quotes around texts",
            ),
            (
                b"array(1) {\n  [\"jsonrpc\"]=>\n  string(3) \"2.0\"\n}\n",
                "messages as PHP or Ruby prints them",
            ),
            (
                b"{:jsonrpc=>\"2.0\", :id=>1}\n",
                "messages as PHP or Ruby prints them",
            ),
            (
                b"<pre>{&quot;jsonrpc&quot;:&quot;2.0&quot;}</pre>",
                "messages in which HTML replaces the quotes",
            ),
            (b"---\njsonrpc: \"2.0\"\nid: 1\n", "messages in YAML"),
            (
                b"{\"jsonrpc\":\"2.0\",\"q\":\"\x8e\xf5\x8ei\"}\n",
                "text that is not in UTF-8",
            ),
            (b"dir: out\nmessage:\n  v: 1\n  kind: INV\n", "YAML"),
            (
                b"array (\n  'jsonrpc' => '2.0',\n)\n",
                "messages as PHP or Ruby prints them",
            ),
            (
                b"#{<<\"jsonrpc\">> => <<\"2.0\">>}",
                "messages as Erlang prints them",
            ),
            (
                b"{:jsonrpc \"2.0\", :id 8}",
                "messages as Lisp or Clojure prints them",
            ),
            (
                b"JsonRpcRequest { jsonrpc: JsonRpcVersion2_0, id: Number(7) }",
                "messages as Rust prints them with Debug",
            ),
            (
                b"Array\n(\n    [jsonrpc] => 2.0\n",
                "messages as PHP or Ruby prints them",
            ),
            (b"<?xml version=\"1.0\"?><a/>", "XML or HTML"),
            (
                b"CEAAAAAS7K56KAAAA4AAAAADAAAAAYLCMMIQAAAALUIIVZAAAADQAAAAAMAAAADBMJRQUAAAACH4\nC3U4AAAAAAAAAA======\n",
                "Base32",
            ),
            (b"\x1f\x8b\x08\0\0", "gzip inside of a text"),
            (b"\x78\x9c\xab\x56", "data compressed with zlib"),
            (b"00112233445566778899AABBCCDDEEFF\n", ""),
            (b"[{id: 7, jsonrpc: '2.0', method: a/b}]\n", "messages in YAML"),
            (
                b"begin 644 x\nM$0   !+ZN^4   <    #    86)C40\n`\nend\n",
                "a uuencoded file",
            ),
            (b"begin 2026 with a line\nof text\n", "text without messages"),
            (
                b":100000001100000012FABBE5000007000000030029\n:00000001FF\n",
                "Intel HEX",
            ),
            (
                b"S00F000068656C6C6F202020202000003C\nS9030000FC\n",
                "S-records of Motorola",
            ),
            (
                b".data:0000000140003000    db 11h, 00h, 12h, 0FAh\n",
                "bytes in assembly language",
            ),
            (
                b"out \\021\\000\\000\\000\\022\\372\\273\\345\\000\n",
                "bytes with octal escapes",
            ),
            (
                b"\\{\\\"jsonrpc\\\":\\ \\\"2.0\\\"\\,\\ \\\"id\\\":\\ 1\\}\n",
                "messages as printf %q of bash quotes them",
            ),
            (&wide(&[0, 0, 0], &[]), "text in UTF-32"),
            (&wide(&[], &[0, 0, 0]), "text in UTF-32"),
            (&wide(&[0], &[]), "text in UTF-16"),
            (&wide(&[], &[0]), "text in UTF-16"),
            (
                b"\x1e{\"jsonrpc\":\"2.0\"}\n\x1e{}\n",
                "a JSON text sequence (RFC 7464)",
            ),
            (b"\0\x01\x02\x03", ""),
            (b"hello", ""),
            (b"", ""),
            (b"\xff\xfe\xfd", ""),
            (b"12 34 56 78 90\n", ""),
        ];
        for (bytes, wanted) in table {
            let got = looks_like(bytes).map(|(name, _)| name);
            assert_eq!(
                got.as_deref().unwrap_or_default(),
                *wanted,
                "{}",
                bytes.escape_ascii()
            );
        }
    }
}
