//! Reads the messages of `send`: from arguments, files, and lines of stdin as they arrive.

use super::super::encode::{input_name, next_value, read_input};
use super::super::values::parse_json;
use super::super::{client::MAX_SHOWN, print_message};
use crate::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use crate::encode::is_line;
use crate::framing::{Framing, Limits};
use crate::live::client::FeedInput;
use crate::live::codec::{Codec, ConnectionConfig};
use crate::protocol::Protocol;
use crate::protocol::make::IdGen;
use crate::render::style::shorten;
use crate::tape::{Node, Tape};
use anyhow::{Context as _, Result, anyhow};
use std::collections::VecDeque;
use std::io::{self, BufRead, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

/// Makes messages from arguments.
pub struct MessageMaker<'p> {
    protocol: &'p dyn Protocol,
    id_gen: IdGen,
}

impl<'p> MessageMaker<'p> {
    /// Creates a maker; ids are derived from the seed.
    pub fn new(protocol: &'p dyn Protocol, seed: u64) -> Self {
        Self {
            protocol,
            id_gen: IdGen::new(seed),
        }
    }

    pub fn make(&mut self, words: &[String]) -> Result<String, String> {
        let name = self.protocol.name();
        let made = super::super::make::make_message(self.protocol, words, &mut self.id_gen);
        made.map(|made| made.message).map_err(|refusal| {
            let word = refusal.got.trim_matches('`');
            if word.contains("://") {
                format!("{refusal} (the address is --connect {word})")
            } else if words.first().is_some_and(|first| first == word) && Path::new(word).is_file()
            {
                format!("{refusal} (the messages of a file are --json {word})")
            } else {
                format!("{refusal} (wiretool make {name} --list)")
            }
        })
    }

    /// Reads a line: JSON, arguments in the syntax of a shell, or nothing.
    pub fn line(&mut self, line: &str) -> Result<Option<String>, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if line.starts_with('{') {
            let mut tape = Tape::new();
            return Ok(
                unwrap_messages(parse_json(line.as_bytes(), &mut tape)?, line.as_bytes())?.next(),
            );
        }
        let words = shell_words::split(line).map_err(|error| error.to_string())?;
        self.make(&words).map(Some)
    }
}

/// Returns the messages of a value: the value, the message of a line of decode, or those of an array.
fn unwrap_messages(
    value: Node<'_>,
    text: &[u8],
) -> Result<impl Iterator<Item = String> + use<>, String> {
    let one = |node: Node<'_>| {
        let message = match node.get("message") {
            _ if !is_line(node) => node,
            Some(message) => message,
            None => return Err("this line of decode contains no message".to_owned()),
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

/// Reads the values of a JSON file: one after another, or in an array.
pub fn read_json_file(path: &Path, ready: &mut VecDeque<String>) -> Result<()> {
    let (text, name) = (read_input(Some(path))?, input_name(Some(path)));
    let mut rest = text.as_slice();
    let mut read = || {
        while let Some(value) = next_value(&mut rest)? {
            let mut tape = Tape::new();
            ready.extend(unwrap_messages(parse_json(value, &mut tape)?, value)?);
        }
        Ok(())
    };
    read().map_err(|error: String| anyhow!("{name}: {error}"))
}

/// The properties of a message that the sender needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageClass {
    /// The message is a hello of the protocol, or a request that needs none.
    pub opens: bool,
    /// The message is not one of the protocol.
    pub is_unknown: bool,
}

/// Decodes a message before it is sent.
pub fn classify(config: &ConnectionConfig<'_>, message: &str) -> MessageClass {
    let framing = match config.framing {
        Framing::Http | Framing::WebSocket => Framing::Message,
        other => other,
    };
    let config = ConnectionConfig {
        framing,
        ..config.clone()
    };
    let (protocol, side) = (config.protocol, config.side);
    let mut codec = Codec::new(config, 0, 0);
    let mut bytes = Vec::new();
    if codec
        .write_message(message, None, None, &mut bytes)
        .is_err()
    {
        // Sending it returns the error.
        return MessageClass::default();
    }
    let mut decoder = Decoder::new(DecodeOptions {
        framing: Some(framing),
        ..DecodeOptions::new(vec![protocol])
    });
    let origin = Origin {
        direction: Some(side),
        ..Origin::default()
    };
    let mut seen = MessageClass::default();
    let mut see = |decoded: &Decoded<'_>| {
        let message = decoded.message;
        seen.opens |= protocol.is_hello(message)
            || (decoded.root()).is_some_and(|root| protocol.needs_no_session(root));
        seen.is_unknown |= !message.valid || message.role.is_none();
    };
    decoder.push(origin, &bytes, &mut see);
    decoder.finish(&mut see);
    seen
}

/// A line from stdin, or the reason why it cannot be used.
type InputLine = Result<String, String>;

/// The messages to send: first those of the command line, then those of stdin.
pub struct MessageSource<'p> {
    maker: MessageMaker<'p>,
    ready: VecDeque<String>,
    typed: Option<Receiver<InputLine>>,
    judge: Option<ConnectionConfig<'p>>,
    is_broken: Arc<AtomicBool>,
}

impl<'p> MessageSource<'p> {
    pub fn new(maker: MessageMaker<'p>, ready: VecDeque<String>) -> Self {
        Self {
            maker,
            ready,
            typed: None,
            judge: None,
            is_broken: Arc::default(),
        }
    }

    /// Reads stdin in a thread; its messages follow those of the command line.
    pub fn read_stdin(&mut self) -> Result<()> {
        /// The maximum number of lines that wait; then reading pauses.
        const MAX_WAITING: usize = 64;
        let (lines, typed) = sync_channel(MAX_WAITING);
        self.typed = Some(typed);
        let is_broken = Arc::clone(&self.is_broken);
        let thread = std::thread::Builder::new().name("stdin".into());
        let most = Limits::default().message as usize;
        let reads = thread.spawn(move || {
            if !forward_lines(&mut io::stdin().lock(), most, &lines) {
                is_broken.store(true, Ordering::Relaxed);
            }
        });
        reads.context("cannot read stdin")?;
        Ok(())
    }

    /// Warns about messages that are not of the protocol.
    pub fn warn_about_unknown(&mut self, config: ConnectionConfig<'p>) {
        self.judge = Some(config);
    }

    /// Returns the first message, if it is known.
    pub fn first(&self) -> Option<&str> {
        self.ready.front().map(String::as_str)
    }

    /// Returns true if there is exactly one message.
    pub fn is_one(&self) -> bool {
        self.ready.len() == 1 && self.typed.is_none()
    }

    /// Returns a function that reports if stdin could not be read to its end.
    pub fn is_broken(&self) -> impl Fn() -> bool + use<> {
        let is_broken = Arc::clone(&self.is_broken);
        move || is_broken.load(Ordering::Relaxed)
    }

    pub fn next(&mut self) -> FeedInput {
        let feed = self.take();
        if let (FeedInput::Message(message), Some(config)) = (&feed, &self.judge)
            && classify(config, message).is_unknown
        {
            print_message(&format!(
                "{}: not a message of {}, sent anyway",
                shorten(message, MAX_SHOWN),
                config.protocol.name()
            ));
        }
        feed
    }

    fn take(&mut self) -> FeedInput {
        if let Some(message) = self.ready.pop_front() {
            return FeedInput::Message(message);
        }
        let Some(typed) = &self.typed else {
            return FeedInput::End;
        };
        loop {
            let line = match typed.try_recv() {
                Ok(line) => line,
                Err(TryRecvError::Empty) => return FeedInput::Wait,
                Err(TryRecvError::Disconnected) => return FeedInput::End,
            };
            match line.and_then(|line| self.maker.line(&line)) {
                Ok(Some(message)) => return FeedInput::Message(message),
                Ok(None) => {}
                Err(why) => return FeedInput::Bad(why),
            }
        }
    }
}

/// Sends lines of stdin and errors to `lines`. Returns true if stdin was read to its end.
fn forward_lines(input: &mut dyn BufRead, most: usize, lines: &SyncSender<InputLine>) -> bool {
    for n in 1.. {
        let at = |why: String| format!("stdin, line {n}: {why}");
        let typed = match read_limited_line(input, most) {
            Ok(None) => return true,
            Ok(Some(line)) if line.len() > most => {
                Err(at(format!("longer than {} MiB", most >> 20)))
            }
            Ok(Some(line)) => String::from_utf8(line).map_err(|error| {
                let place = error.utf8_error().valid_up_to();
                at(format!("not UTF-8 at byte {place}"))
            }),
            Err(error) => {
                // The receiver may be gone.
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

/// Reads the next line; of a line over the limit, only enough bytes to detect it.
fn read_limited_line(input: &mut dyn BufRead, most: usize) -> io::Result<Option<Vec<u8>>> {
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
    fn invalid_lines_do_not_stop_reading() {
        let (lines, typed) = sync_channel(64);
        let text = b"one\r\n\xff\n12345\n123456\n\nseven \xfe\nlast";
        let whole = forward_lines(&mut &text[..], 5, &lines);
        drop(lines);
        let typed: Vec<InputLine> = typed.iter().collect();
        assert!(whole);
        let reported: Vec<&str> = typed
            .iter()
            .map(|t| t.as_ref().map_or_else(String::as_str, String::as_str))
            .collect();
        assert_eq!(
            reported,
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
