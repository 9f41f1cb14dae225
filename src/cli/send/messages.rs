//! Where the messages of `send` come from: words, files of either, and lines of stdin as they come.

use super::super::{calling::SHOWN, complain};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::encode::is_line;
use crate::encoding::{Want, json};
use crate::framing::{Framing, LengthMode, Limits};
use crate::live::client::Input;
use crate::live::codec::{Codec, ConnectionConfig};
use crate::protocol::Protocol;
use crate::protocol::make::Mint;
use crate::render::style::shorten;
use crate::span::Span;
use crate::tape::{Node, Tape};
use anyhow::{Context as _, Result, bail};
use std::collections::VecDeque;
use std::io::{self, BufRead, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

/// Deepest JSON that is read.
const DEPTH: u32 = 1000;

/// Makes messages of words.
pub struct Maker<'p> {
    protocol: &'p dyn Protocol,
    mint: Mint,
}

impl<'p> Maker<'p> {
    /// Ids follow from the seed.
    pub fn new(protocol: &'p dyn Protocol, seed: u64) -> Self {
        Self {
            protocol,
            mint: Mint::new(seed),
        }
    }

    pub fn words(&mut self, words: &[String]) -> Result<String, String> {
        let name = self.protocol.name();
        let made = super::super::make::made(self.protocol, words, &mut self.mint);
        made.map(|made| made.message)
            .map_err(|refusal| format!("{refusal} (wiretool make {name} --list)"))
    }

    /// A line: JSON, words as a shell has them, or nothing.
    pub fn line(&mut self, line: &str) -> Result<Option<String>, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if line.starts_with('{') {
            let mut tape = Tape::new();
            return Ok(unwrapped(parsed(line.as_bytes(), &mut tape)?, line.as_bytes())?.next());
        }
        let words = shell_words::split(line).map_err(|error| error.to_string())?;
        self.words(&words).map(Some)
    }
}

fn parsed<'t>(text: &'t [u8], tape: &'t mut Tape) -> Result<Node<'t>, String> {
    let whole = Span::new(0, text.len());
    json::parse(text, whole, DEPTH, tape).map_err(|error| error.to_string())?;
    tape.root(text).ok_or_else(|| "JSON is wanted".to_owned())
}

/// The messages of a value: itself, or what a line of decode tells of, or those of an array.
fn unwrapped(value: Node<'_>, text: &[u8]) -> Result<impl Iterator<Item = String> + use<>, String> {
    let one = |node: Node<'_>| {
        let message = match node.get("message") {
            _ if !is_line(node) => node,
            Some(message) => message,
            None => return Err("a line of decode that holds no message".to_owned()),
        };
        Ok(String::from_utf8_lossy(message.span().of(text)).into_owned())
    };
    let all: Result<Vec<String>, String> = if value.is_array() {
        value.children().map(one).collect()
    } else {
        one(value).map(|message| vec![message])
    };
    all.map(Vec::into_iter)
}

/// Values of a file of JSON: one after another, or in an array.
pub fn values(path: &Path, ready: &mut VecDeque<String>) -> Result<()> {
    let file = Some(path);
    let text = super::super::encode::read(file)?;
    let name = super::super::encode::name(file);
    let mut rest = text.as_slice();
    while !rest.trim_ascii().is_empty() {
        let used = match json::measure(rest, DEPTH, true) {
            Ok(Some(used)) => used,
            Ok(None) => bail!("{name}: the JSON is not whole"),
            Err(error) => bail!("{name}: {error}"),
        };
        let (value, after) = rest.split_at(used);
        rest = after;
        let mut tape = Tape::new();
        match parsed(value, &mut tape).and_then(|root| unwrapped(root, value)) {
            Ok(messages) => ready.extend(messages),
            Err(error) => bail!("{name}: {error}"),
        }
    }
    Ok(())
}

/// What a message is for the side that sends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenAs {
    /// The protocol's own hello.
    pub opens: bool,
    /// No message of the protocol.
    pub is_strange: bool,
}

/// Reads a message as it goes out.
pub fn seen_as(config: &ConnectionConfig<'_>, message: &str) -> SeenAs {
    let framing = match config.framing {
        Framing::Http | Framing::WebSocket => Framing::Message,
        other => other,
    };
    let config = ConnectionConfig {
        framing,
        ..config.clone()
    };
    let (protocol, side) = (config.protocol, config.side);
    let mut codec = Codec::new(config, 0);
    let mut bytes = Vec::new();
    if codec.say(message, None, None, &mut bytes).is_err() {
        // It is refused when it is said.
        return SeenAs::default();
    }
    let mut decoder = Decoder::new(Options {
        protocols: vec![protocol],
        framing: Some(framing),
        length_mode: LengthMode::Auto,
        limits: Limits::default(),
        resync: true,
        want: Want::Places,
    });
    let origin = Origin {
        direction: Some(side),
        ..Origin::default()
    };
    let mut seen = SeenAs::default();
    let mut see = |decoded: &Decoded<'_>| {
        let message = decoded.message;
        seen.opens |= protocol.is_hello(message);
        seen.is_strange |= !message.valid || message.role.is_none();
    };
    decoder.push(origin, &bytes, &mut see);
    decoder.finish(&mut see);
    seen
}

/// A line that was typed, or why there is none.
type Typed = Result<String, String>;

/// What is said, one after another: what is at hand, then what is typed.
pub struct Source<'p> {
    maker: Maker<'p>,
    ready: VecDeque<String>,
    typed: Option<Receiver<Typed>>,
    judge: Option<ConnectionConfig<'p>>,
    is_broken: Arc<AtomicBool>,
}

impl<'p> Source<'p> {
    pub fn new(maker: Maker<'p>, ready: VecDeque<String>) -> Self {
        Self {
            maker,
            ready,
            typed: None,
            judge: None,
            is_broken: Arc::default(),
        }
    }

    /// What is typed comes after what is at hand.
    pub fn listen(&mut self) -> Result<()> {
        /// Lines that wait; whoever types more waits.
        const WAITING: usize = 64;
        let (lines, typed) = sync_channel(WAITING);
        self.typed = Some(typed);
        let is_broken = Arc::clone(&self.is_broken);
        let thread = std::thread::Builder::new().name("stdin".into());
        let most = Limits::default().message as usize;
        let reads = thread.spawn(move || {
            if !read(&mut io::stdin().lock(), most, &lines) {
                is_broken.store(true, Ordering::Relaxed);
            }
        });
        reads.context("cannot read stdin")?;
        Ok(())
    }

    /// What is no message of the protocol is told of.
    pub fn judge(&mut self, config: ConnectionConfig<'p>) {
        self.judge = Some(config);
    }

    /// What is said first, where that is known.
    pub fn first(&self) -> Option<&str> {
        self.ready.front().map(String::as_str)
    }

    /// Whether it is one message, and will be.
    pub fn is_one(&self) -> bool {
        self.ready.len() == 1 && self.typed.is_none()
    }

    /// Tells, later, whether stdin could not be read to its end.
    pub fn is_broken(&self) -> impl Fn() -> bool + use<> {
        let is_broken = Arc::clone(&self.is_broken);
        move || is_broken.load(Ordering::Relaxed)
    }

    pub fn next(&mut self) -> Input {
        let feed = self.take();
        if let (Input::Message(message), Some(config)) = (&feed, &self.judge)
            && seen_as(config, message).is_strange
        {
            complain(&format!(
                "{}: no message of {}, and sent all the same",
                shorten(message, SHOWN),
                config.protocol.name()
            ));
        }
        feed
    }

    fn take(&mut self) -> Input {
        if let Some(message) = self.ready.pop_front() {
            return Input::Message(message);
        }
        let Some(typed) = &self.typed else {
            return Input::End;
        };
        loop {
            let line = match typed.try_recv() {
                Ok(line) => line,
                Err(TryRecvError::Empty) => return Input::Wait,
                Err(TryRecvError::Disconnected) => return Input::End,
            };
            match line.and_then(|line| self.maker.line(&line)) {
                Ok(Some(message)) => return Input::Message(message),
                Ok(None) => {}
                Err(why) => return Input::Bad(why),
            }
        }
    }
}

/// Passes on lines of stdin as they come, and what is none; whether they could be read to the end.
fn read(input: &mut dyn BufRead, most: usize, lines: &SyncSender<Typed>) -> bool {
    for n in 1.. {
        let at = |why: String| format!("stdin, line {n}: {why}");
        let typed = match line(input, most) {
            Ok(None) => return true,
            Ok(Some(line)) if line.len() > most => {
                Err(at(format!("longer than {} MiB", most >> 20)))
            }
            Ok(Some(line)) => String::from_utf8(line).map_err(|error| {
                let place = error.utf8_error().valid_up_to();
                at(format!("not UTF-8 at byte {place}"))
            }),
            Err(error) => {
                // Nobody need hear it any more who does not.
                let _ = lines.send(Err(at(format!("cannot be read: {error}"))));
                return false;
            }
        };
        if lines.send(typed).is_err() {
            return true;
        }
    }
    true
}

/// The next line; of one that is too long as much as shows that.
fn line(input: &mut dyn BufRead, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut room = input.take(most as u64 + 1);
    if room.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > most {
        input.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_none_do_not_end_the_rest() {
        let (lines, typed) = sync_channel(64);
        let text = b"one\r\n\xff\n12345\n123456\n\nseven \xfe\nlast";
        let whole = read(&mut &text[..], 5, &lines);
        drop(lines);
        let typed: Vec<Typed> = typed.iter().collect();
        assert!(whole);
        let told: Vec<&str> = typed
            .iter()
            .map(|t| t.as_ref().map_or_else(String::as_str, String::as_str))
            .collect();
        assert_eq!(
            told,
            [
                "one\r",
                "stdin, line 2: not UTF-8 at byte 0",
                "12345",
                "stdin, line 4: longer than 0 MiB",
                "",
                "stdin, line 6: longer than 0 MiB",
                "last"
            ]
        );
    }
}
