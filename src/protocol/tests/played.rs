//! Conversations as scripts, played with a peer: a step a line, and below it what the peer says to it.
//!
//! ```text
//!   open 1                a connection opens           wait 30     so many seconds go by
//!   < {…}   2< {…}        the other side says it       bye         the peer takes its leave
//!   > {…}                 the script says it           closed      a connection is no more
//!   result 5              a phrase, in answer to the last request that the peer left open; `@0 result 5` to the first
//!   ready                 may calls be made?
//! ```
//!
//! `$id`, `$session_id` and `$blob_id` in what the other side says are those that the peer said last.
//!
//! Everything is written and read back as on a wire, and judged as lint judges it: what a peer says must be one of the
//! protocol's messages, and a broken rule stands below it, behind a `!`.

use crate::conversation::{Conversation, Judge};
use crate::decoder::{Decoder, Options};
use crate::encode::{self, Encoder};
use crate::encoding::json;
use crate::framing::Framing;
use crate::protocol::make::Mint;
use crate::protocol::peer::{Peer, PeerConfig, Phrase, Request, Says, json_of, look};
use crate::protocol::session::SessionConfig;
use crate::protocol::{Direction, Origin, Protocol};
use crate::span::Span;
use crate::tape::Tape;
use std::fmt::Write as _;

const SECOND: i64 = 1_000_000_000;
/// When every script begins, in seconds since 1970.
const BEGIN: i64 = 1_700_000_000;

/// A stage: a peer on one side, a script on the other.
struct Stage<'p> {
    protocol: &'p dyn Protocol,
    framing: Framing,
    side: Direction,
    peer: Box<dyn Peer + 'p>,
    decoder: Decoder<'p>,
    conversation: Conversation<'p>,
    requests: Vec<Request>,
    /// What the peer made up, by name.
    made: Vec<(&'static str, String)>,
    now: i64,
    out: String,
}

/// Plays a script with the peer of one side. The time is 1 700 000 000 s, and goes by with `wait`.
pub(in crate::protocol) fn played(
    protocol: &dyn Protocol,
    framing: Framing,
    side: Direction,
    config: &PeerConfig,
    script: &str,
) -> String {
    let config = PeerConfig {
        now: BEGIN * SECOND,
        ..config.clone()
    };
    let options = Options {
        framing: Some(framing),
        ..Options::new(vec![protocol])
    };
    let mut stage = Stage {
        protocol,
        framing,
        side,
        peer: protocol.behavior().peer(side, &config),
        decoder: Decoder::new(options),
        conversation: Conversation::new(
            &[protocol],
            &Judge::default(),
            SessionConfig::default(),
            true,
        ),
        requests: Vec::new(),
        made: Vec::new(),
        now: config.now,
        out: String::new(),
    };
    for line in script.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let _ = writeln!(stage.out, "{line}");
        stage.step(line);
    }
    stage.out
}

impl Stage<'_> {
    fn step(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let conn = |text: &str| text.parse().unwrap_or(1);
        let mut says = Vec::new();
        match word {
            "open" => self.peer.opened(conn(rest), self.now, &mut says),
            "closed" => self.peer.closed(conn(rest), self.now),
            "bye" => drop(self.peer.bye(conn(rest), true, self.now, &mut says)),
            "ready" => {
                let readiness = self.peer.readiness(conn(rest));
                let _ = writeln!(self.out, "    {readiness:?}");
            }
            "wait" => {
                self.now += rest.parse::<i64>().expect("seconds") * SECOND;
                while self.peer.due().is_some_and(|due| due <= self.now) {
                    let before = (self.peer.due(), says.len());
                    self.peer.tick(self.now, &mut says);
                    assert_ne!(
                        before,
                        (self.peer.due(), says.len()),
                        "a tick does something"
                    );
                }
            }
            "raw" => self.pass(1, self.side.other(), rest.as_bytes(), &mut says),
            _ if word.ends_with('<') => {
                let conn = conn(word.trim_end_matches('<'));
                let made = self.made.iter().rev();
                let rest = made.fold(rest.to_owned(), |rest, (name, value)| {
                    rest.replace(&format!("${name}"), value)
                });
                let bytes = self.written(&rest, self.side.other(), true);
                self.pass(conn, self.side.other(), &bytes, &mut says);
            }
            _ if word.ends_with('>') => {
                let conn = conn(word.trim_end_matches('>'));
                says.push(Says::new(conn, rest));
            }
            _ => match self.phrase(line) {
                Ok(one) => says.push(one),
                Err(refused) => {
                    let _ = writeln!(self.out, "    refused: {refused}");
                }
            },
        }
        for one in says {
            self.says(&one);
        }
    }

    fn phrase(&mut self, line: &str) -> Result<Says, crate::error::Refusal> {
        let (nth, line) = match line.strip_prefix('@').and_then(|l| l.split_once(' ')) {
            Some((nth, line)) => (nth.parse().expect("a number"), line),
            None => (self.requests.len() - 1, line),
        };
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let parts = || rest.split_once(' ').expect("two words");
        let phrase = match word {
            "result" => Phrase::Result(rest),
            "item" => Phrase::Item(rest),
            "delta" => Phrase::Delta(rest),
            "end" => Phrase::End((!rest.is_empty()).then_some(rest)),
            "ask" => Phrase::Ask(parts().0, parts().1),
            "tell" => Phrase::Tell(parts().0, parts().1),
            // `error [CODE:] message [| data]`
            "error" => {
                let (rest, data) = match rest.split_once(" | ") {
                    Some((rest, data)) => (rest, Some(data)),
                    None => (rest, None),
                };
                let (code, message) = match rest.split_once(": ") {
                    Some((code, message)) => (Some(code), message),
                    None => (None, rest),
                };
                Phrase::Error {
                    code,
                    message,
                    data,
                }
            }
            _ => panic!("no step of a script: {line}"),
        };
        let to = self.requests.get(nth).expect("a request").clone();
        self.peer.phrase(&to, phrase, self.now)
    }

    /// What the peer says, as it stands on the wire.
    fn says(&mut self, says: &Says) {
        let closes = |is: bool| if is && says.closes { "   closes" } else { "" };
        let last = says.then.len();
        for (at, message) in std::iter::once(&says.message).chain(&says.then).enumerate() {
            let _ = writeln!(
                self.out,
                "    {}> {message}{}",
                says.conn,
                closes(at == last)
            );
            self.passes(says.conn, message);
        }
    }

    fn passes(&mut self, conn: u32, message: &str) {
        if !message.is_empty() {
            look(message, |root| {
                for name in ["id", "session_id", "blob_id"] {
                    let inner = || root.get("result").and_then(|r| r.get(name));
                    if let Some(node) = root.get(name).or_else(inner) {
                        self.made.push((name, json_of(node)));
                    }
                }
            });
            let bytes = self.written(message, self.side, false);
            self.pass(conn, self.side, &bytes, &mut Vec::new());
        }
    }

    fn written(&self, message: &str, direction: Direction, force: bool) -> Vec<u8> {
        let options = encode::Options {
            protocols: vec![self.protocol],
            protocol: Some(self.protocol),
            framing: Some(self.framing),
            direction: Some(direction),
            force,
            ..encode::Options::default()
        };
        let mut tape = Tape::new();
        let whole = Span::new(0, message.len());
        json::parse(message.as_bytes(), whole, 1000, &mut tape).expect(message);
        let root = tape.root(message.as_bytes()).expect("a value");
        let mut writer = Encoder::new(options, Mint::new(0));
        let encoded = writer.message(root, Some(direction));
        encoded
            .unwrap_or_else(|refusal| panic!("{message}: {refusal}"))
            .bytes
    }

    fn pass(&mut self, conn: u32, direction: Direction, bytes: &[u8], says: &mut Vec<Says>) {
        let origin = Origin {
            conn: Some(conn),
            direction: Some(direction),
            time: Some(self.now),
        };
        let mut bytes = bytes.to_vec();
        if self.framing == Framing::Lines && !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        let Self {
            decoder,
            conversation,
            peer,
            requests,
            out,
            ..
        } = self;
        let (side, now) = (self.side, self.now);
        decoder.push(origin, &bytes, &mut |decoded| {
            let seen = decoded.seen();
            for finding in conversation.see(decoded).findings {
                // What the script says may be wrong on purpose.
                if direction == side {
                    let _ = writeln!(out, "    ! {}: {}", finding.rule.name, finding.text);
                }
            }
            if direction == side {
                return peer.said(&seen, now);
            }
            let before = says.len();
            peer.heard(&seen, now, says);
            if says.len() == before {
                requests.push(Request::of(&seen));
            }
        });
    }
}
