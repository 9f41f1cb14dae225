//! Secrets in messages: no screen shows them.

use crate::common::Setup;
use crate::shape;
use serde_json::{Map, Value};
use wiretool::decoder::{Decoded, Decoder, Origin};
use wiretool::encoding::Want;
use wiretool::protocol::Notes;
use wiretool::render::{DisplayOptions, hex, line, tree};

const SECRET: &str = "Qz00000Kx9";
/// Names of secret values, and what comes before a secret in text.
const NAMES: [&str; 6] = [
    "password",
    "api_key",
    "accessToken",
    "Authorization",
    "client-secret",
    "auth",
];
const PREFIXES: [&str; 5] = [
    "",
    "Bearer ",
    "curl -H 'Authorization: Bearer ",
    "https://h/?x=1&token=",
    "https://me:",
];

/// Puts the secret into the objects of a value: below a secret name, or after a prefix that makes text secret.
fn hide(value: &mut Value, name: &str, prefix: &str, count: &mut usize) {
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| hide(item, name, prefix, count)),
        Value::Object(members) => {
            for item in members.values_mut() {
                hide(item, name, prefix, count);
            }
            let end = if prefix.ends_with(':') { "@h/" } else { "" };
            let text = Value::from(format!("{prefix}{SECRET}{end}"));
            let member = if prefix.is_empty() { name } else { "note" };
            members.insert(member.to_owned(), text);
            *count += 1;
        }
        _ => {}
    }
}

/// The last three bytes select the place of the secret, the protocol, and the length of the stream.
pub fn check(data: &[u8]) -> u64 {
    let Some((text, [kind, high, low])) = data.split_last_chunk() else {
        return 0;
    };
    let Ok(mut value) = serde_json::from_slice::<Value>(text) else {
        return 0;
    };
    let kind = usize::from(*kind);
    let name = NAMES[kind % NAMES.len()];
    let prefix = PREFIXES[kind / NAMES.len() % PREFIXES.len()];
    let mut count = 0;
    hide(&mut value, name, prefix, &mut count);
    let protocol =
        ["jsonrpc", "mcp", "acp", "lsp", "oracle", "stepflow", "sael"][usize::from(*high) % 7];
    let mut message = Map::new();
    message.insert("jsonrpc".into(), "2.0".into());
    message.insert("id".into(), 1.into());
    message.insert("method".into(), "m".into());
    message.insert("params".into(), value);
    let mut stream = Value::Object(message).to_string().into_bytes();
    // A message that ends early is shown, too; the secret itself is whole, or absent.
    if *low % 4 == 0 {
        let end = stream.len() - usize::from(*low) * 4 % stream.len();
        let cut = before_secret(&stream, end);
        stream.truncate(cut);
    } else {
        stream.push(b'\n');
    }
    let mut decoder = Decoder::new(Setup::of(protocol).options(Want::Places));
    let (mut shown, mut notes) = (String::new(), Notes::default());
    let display = DisplayOptions::default();
    let mut sink = |decoded: &Decoded<'_>| {
        line::write(decoded, None, display, &mut shown);
        tree::write(decoded, None, display, &mut notes, &mut shown);
        hex::write(decoded, None, display, &mut notes, &mut shown);
    };
    decoder.push(Origin::default(), &stream, &mut sink);
    decoder.finish(&mut sink);
    let spaced: Vec<String> = SECRET.bytes().take(8).map(|b| format!("{b:02x}")).collect();
    let is_shown = shown.contains(SECRET) || shown.contains(&spaced.join(" "));
    assert!(
        !is_shown,
        "{protocol} shows the secret of {}:\n{shown}",
        stream.escape_ascii()
    );
    shape::of(&(protocol, count.min(3), shown.lines().count().min(20)))
}

/// Returns the end of the stream, moved out of a secret.
fn before_secret(stream: &[u8], end: usize) -> usize {
    let from = end.saturating_sub(SECRET.len());
    let secret = SECRET.as_bytes();
    let inside =
        (from..end).find(|at| stream[*at..].starts_with(secret) && at + secret.len() > end);
    inside.unwrap_or(end)
}
