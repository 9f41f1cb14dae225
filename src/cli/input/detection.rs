//! Reports the detected protocol and the evidence.

use super::InputRun;
use crate::capture::lookalike::looks_like;
use crate::decoder::Decoder;
use crate::render::style::escape;

const START: &str = "no protocol recognises these bytes";
const DRAFT: &str = "; wiretool protocol draft FILE proposes a description of an unknown protocol (wiretool help describe)";

/// Returns the note about an input that no protocol recognizes.
pub fn no_protocol(decoder: &Decoder<'_>) -> String {
    if decoder.undetected() == 0 {
        return "the input has no bytes to decode".to_owned();
    }
    if let Some(name) = decoder.unknown_protocol() {
        let name = escape(name);
        return format!(
            "it is a recording of {name}, which is not known here: name its description with -p FILE.toml, or with protocols = [\"FILE.toml\"] in wiretool.toml"
        );
    }
    if let Some(what) = decoder.resembles() {
        return format!("this is {what}, which no protocol here reads");
    }
    if let (Some(given), Some(guess)) = (decoder.options().framing, decoder.readable_as()) {
        return format!(
            "{START} as {}: they are {} with --framing {}",
            given.name(),
            guess.protocol,
            guess.framing.name()
        );
    }
    match looks_like(decoder.start_of_undetected()) {
        Some((what, how)) => {
            let draft = if what.contains("JSON") { DRAFT } else { "" };
            format!("{START}, which look like {what}: {how}{draft}")
        }
        None => format!("{START}: name it with -p, and the framing with --framing{DRAFT}"),
    }
}

/// Reports the evidence for the protocol, and the second candidate.
pub fn report_detection(source: &str, decoder: &Decoder<'_>, run: &mut InputRun) {
    let Some(guess) = decoder.guess() else {
        return;
    };
    let (protocol, framing) = (&guess.protocol, guess.framing.name());
    if guess.tie {
        let other = guess.runner_up.as_deref().unwrap_or("another protocol");
        let text = format!("read as {protocol}, but it can also be {other}: name it with -p");
        run.note(source, &text, false);
    }
    let next = guess.runner_up.as_ref();
    let next = next.map(|r| format!("; next would be {r}"));
    let text = format!(
        "{protocol} ({framing}): {}{}",
        guess.evidence,
        next.unwrap_or_default()
    );
    run.detail(source, &text);
}

/// Reports the connections whose bytes no protocol recognises, beside others that are decoded.
pub fn report_unrecognised(source: &str, decoder: &Decoder<'_>, run: &mut InputRun) {
    /// The maximum number of connections that are listed.
    const MAX_LISTED: usize = 8;
    let all = decoder.unrecognised_connections();
    if all.is_empty() || decoder.protocol().is_none() {
        return;
    }
    let listed: Vec<String> = all
        .iter()
        .take(MAX_LISTED)
        .map(|conn| format!("c{conn}"))
        .collect();
    let more = if all.len() > MAX_LISTED { ", …" } else { "" };
    let count = match all.len() {
        1 => "1 connection has".to_owned(),
        n => format!("{n} connections have"),
    };
    let text = format!(
        "{count} bytes that no protocol recognises ({}{more}): name it with -p, and choose with --port",
        listed.join(", ")
    );
    run.note(source, &text, false);
}
