//! What a word looks like: an address, a method, a program, a condition.

use crate::protocol::registry;
use crate::transport::Address;
use std::path::Path;

/// Returns a tip for a file that cannot be opened.
pub fn file_tip(path: &Path) -> Option<String> {
    let word = path.to_str()?;
    let has = |letters: &[char]| word.contains(letters);
    let is_path = word.starts_with('.') && !has(&['/']) && word.len() > 1;
    let number = word.strip_prefix('#').unwrap_or(word);
    let in_file = word
        .rsplit_once(':')
        .filter(|(file, _)| Path::new(file).exists());
    let is_protocol = |word: &str| registry::names().any(|name| name == word);
    let is_command =
        |word: &str| !is_protocol(word) && crate::cli::command().find_subcommand(word).is_some();
    let is_stream = word
        .split_once(',')
        .is_some_and(|(kind, _)| ["tcp", "http", "tls"].contains(&kind));
    Some(if is_command(word) {
        format!("the command comes first: wiretool {word} FILE")
    } else if is_stream {
        "a connection is --where conn=N".to_owned()
    } else if let Some((first, last)) = range(word) {
        format!("messages {first} to {last} are --where 'index>={first} index<={last}'")
    } else if let Some((file, _)) = in_file {
        format!("messages of it are selected with wiretool decode {file} --where index=N")
    } else if number.parse::<u64>().is_ok() {
        format!("message {number} is --where index={number}")
    } else if let Some(port) = packet_filter(word) {
        format!("packets are chosen with --port {port}, messages with --where EXPR")
    } else if is_protocol(word) {
        format!("a protocol is -p {word}")
    } else if is_message(word) {
        let message = match word.len() {
            0..=60 => shell_words::quote(word),
            _ => "MESSAGE".into(),
        };
        format!("a message is read from stdin: printf %s {message} | wiretool decode")
    } else if has(&['=', '<', '>', '~']) {
        format!("conditions are --where {}", shell_words::quote(word))
    } else if is_method(word) {
        format!("a method is --where 'subject={word}'")
    } else if is_address(word) {
        format!("live traffic is wiretool proxy --connect {word}")
    } else if is_path {
        format!(
            "a field is --path {}, a condition --where '{word}=VALUE'",
            word.trim_start_matches('.')
        )
    } else {
        return None;
    })
}

/// Returns true for a message in JSON or in hex.
fn is_message(word: &str) -> bool {
    let digits: String = word.split(' ').flat_map(|part| part.chars()).collect();
    let digits = digits.strip_prefix("0x").unwrap_or(&digits);
    let is_hex = digits.len() >= 6
        && digits.len().is_multiple_of(2)
        && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_hex || word.starts_with(['{', '['])
}

/// Returns the first and the last number of `3:6`, `3-6` or `3..6`.
fn range(word: &str) -> Option<(u64, u64)> {
    let mut marks = ["..", ":", "-", ","].into_iter();
    let parts = marks.find_map(|mark| word.split_once(mark))?;
    let (first, last) = (parts.0.parse().ok()?, parts.1.parse().ok()?);
    (first <= last).then_some((first, last))
}

/// Returns true if a word has the ending of a file: `a.jsonl`.
pub fn is_file_name(word: &str) -> bool {
    let is_ending = |end: &str| {
        (1..=8).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let parts = word.rsplit_once('.');
    parts.is_some_and(|(stem, end)| !stem.is_empty() && is_ending(end) && !word.contains(' '))
}

/// Returns the port of a filter of tcpdump, such as `tcp port 7700`; `PORT` if it has none.
pub fn packet_filter(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let is_filter = ["port", "tcp", "host", "udp"].contains(&first);
    is_filter.then(|| {
        words
            .find(|word| word.parse::<u16>().is_ok())
            .unwrap_or("PORT")
    })
}

/// Returns the tip for the id of a process.
pub fn tip_of_process(pid: u32) -> String {
    format!(
        "no process is opened: strace -f -ttt -y -s 65535 -o FILE -p {pid} writes a trace that wiretool FILE shows"
    )
}

/// Returns words as arguments of a tool, `add '{"a":1}'`: those with `=` are numbers, truth values or text, those with `:=` JSON.
pub fn tool_arguments(words: &[&str]) -> Option<String> {
    let mut name = None;
    let mut arguments = serde_json::Map::new();
    for word in words {
        let (key, value) = match (word.split_once(":="), word.split_once('=')) {
            (Some((key, value)), _) => (key, serde_json::from_str(value).ok()?),
            (None, Some(("name", value))) => {
                name = Some(value);
                continue;
            }
            (None, Some((key, value))) => (key, plain_value(value)),
            (None, None) if name.is_none() => {
                name = Some(word);
                continue;
            }
            (None, None) => return None,
        };
        arguments.insert(key.to_owned(), value);
    }
    let arguments = serde_json::Value::Object(arguments).to_string();
    Some(shell_words::join([name?, &arguments]))
}

/// Returns a number or a truth value, and otherwise a text.
fn plain_value(text: &str) -> serde_json::Value {
    let value = serde_json::from_str(text).ok();
    let value = value.filter(|value: &serde_json::Value| value.is_number() || value.is_boolean());
    value.unwrap_or_else(|| text.into())
}

/// Returns an address of socat, with its options left out: `tcp-listen:8080,fork`, `tcp:localhost:80`.
pub fn endpoint_of_socat(word: &str) -> Option<String> {
    let (kind, rest) = word.split_once(':')?;
    let address = rest.split(',').next()?;
    match kind.to_ascii_lowercase().as_str() {
        "tcp-listen" | "tcp-l" | "tcp4-listen" | "tcp" | "tcp-connect" | "tcp4" => {
            as_address(address)
        }
        "unix-listen" | "unix-l" | "unix-connect" => Some(format!("unix:{address}")),
        _ => None,
    }
}

pub fn tip_of_address(address: &str) -> String {
    format!(
        "wiretool proxy --connect {address} shows the traffic; wiretool send PROTOCOL WORD... --connect {address} sends a message"
    )
}

/// Returns a tip for an address as socat and websocat write it: `tcp-l:127.0.0.1:80`, `ws-c:ws://127.0.0.1`.
pub fn tip_of_endpoint(word: &str) -> Option<String> {
    let (kind, address) = word.split_once(':')?;
    let (scheme, role) = kind.split_once('-').unwrap_or((kind, ""));
    if !["tcp", "tcp4", "unix", "ws", "wss", "autoreconnect"].contains(&scheme) {
        return None;
    }
    let address = as_address(address)?;
    Some(if role.starts_with('l') {
        format!("wiretool proxy --listen {address} --connect ADDR stands between two programs")
    } else {
        tip_of_address(&address)
    })
}

/// Returns true for the name of a method, such as `tools/list`, in a folder that does not exist.
pub fn is_method(word: &str) -> bool {
    let is_word = |part: &str| {
        let mut chars = part.chars();
        chars.next().is_some_and(char::is_alphabetic) && chars.all(char::is_alphanumeric)
    };
    let folder = word.split('/').next().unwrap_or_default();
    word.contains('/') && word.split('/').all(is_word) && !Path::new(folder).exists()
}

/// Returns the address of a port of this machine.
pub fn local(port: &str) -> String {
    format!("tcp://127.0.0.1:{port}")
}

/// Returns the address that a word most likely means: a port, `HOST:PORT` or a URL.
pub fn as_address(word: &str) -> Option<String> {
    let port = word.strip_prefix(':').unwrap_or(word);
    if port.parse::<u16>().is_ok() {
        return Some(local(port));
    }
    if !is_address(word) {
        return None;
    }
    Some(if word.contains("://") || word.starts_with("unix:") {
        word.to_owned()
    } else {
        format!("tcp://{word}")
    })
}

/// Returns true for `HOST:PORT` and for addresses with a scheme.
fn is_address(word: &str) -> bool {
    // A URL may have a path.
    let path = word
        .split_once("://")
        .and_then(|(_, rest)| rest.split_once('/'));
    let path = path.map_or(0, |(_, path)| path.len() + 1);
    word.get(..word.len() - path)
        .is_some_and(|address| Address::parse(address).is_ok())
}

/// Returns true if the shell would find a program of this name.
pub fn is_program(word: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    !word.is_empty()
        && !word.contains('/')
        && std::env::split_paths(&path).any(|folder| folder.join(word).is_file())
}
