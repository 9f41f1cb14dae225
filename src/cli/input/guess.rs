//! Which protocol the bytes have, and how that is known.

use super::Show;
use crate::decoder::Decoder;

/// Says how the protocol was found out, and that it could be another one.
pub fn tell_guess(source: &str, decoder: &Decoder<'_>, show: &mut dyn Show) {
    let Some(guess) = decoder.guess() else {
        return;
    };
    let (protocol, framing) = (&guess.protocol, guess.framing.name());
    if guess.tie {
        let other = guess.runner_up.as_deref().unwrap_or("another protocol");
        let text = format!("read as {protocol}, could as well be {other}: name it with -p");
        show.note(source, &text, false);
    }
    let next = guess.runner_up.as_ref();
    let next = next.map(|r| format!("; next would be {r}"));
    let text = format!(
        "{protocol} ({framing}): {}{}",
        guess.evidence,
        next.unwrap_or_default()
    );
    show.detail(source, &text);
}

/// Says that no protocol recognises the bytes; whether there are such bytes.
pub fn tell_undetected(source: &str, decoder: &Decoder<'_>, show: &mut dyn Show) -> bool {
    let undetected = decoder.undetected() > 0;
    let text = if undetected {
        "no protocol recognises these bytes: name it with -p, and the framing with --framing"
    } else {
        "there are no bytes in this input to decode"
    };
    show.note(source, text, true);
    undetected
}
