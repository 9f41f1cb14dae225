//! Runs conversation scripts with a peer. Each line is a step; the lines below it are the messages of the peer.
//!
//! ```text
//!   open 1                a connection opens           wait 30     30 seconds pass
//!   < {…}   2< {…}        the other side sends it      bye         the peer prepares to close
//!   > {…}                 the script sends it          closed      a connection closes
//!   result 5              a reply that answers the last open request of the peer; `@0 result 5` answers the first
//!   ready                 are calls possible?
//! ```
//!
//! In messages of the other side, `$id`, `$session_id` and `$blob_id` are the values that the peer sent last.
//!
//! Every message is written and read as on a wire, and checked as lint does: the messages of a peer must belong to the
//! protocol, and a broken rule is a line below with `!`.

use crate::conversation::{Conversation, Judge};
use crate::decoder::{DecodeOptions, Decoder};
use crate::encode::{self, Encoder};
use crate::encoding::json;
use crate::framing::Framing;
use crate::protocol::make::IdGen;
use crate::protocol::peer::{Outgoing, Peer, PeerConfig, PeerReply, Request, json_of, with_json};
use crate::protocol::session::SessionConfig;
use crate::protocol::{Direction, Origin, Protocol};
use crate::tape::Tape;
use std::fmt::Write as _;

const SECOND: i64 = 1_000_000_000;
/// The start time of every script, in seconds since 1970.
const BEGIN: i64 = 1_700_000_000;

/// A peer on one side, a script on the other.
struct Stage<'p> {
    protocol: &'p dyn Protocol,
    framing: Framing,
    side: Direction,
    peer: Box<dyn Peer + 'p>,
    decoder: Decoder<'p>,
    conversation: Conversation<'p>,
    requests: Vec<Request>,
    /// The values that the peer generated, by name.
    made: Vec<(&'static str, String)>,
    now: i64,
    out: String,
}

/// Runs a script with the peer of one side. The time starts at 1 700 000 000 s, and advances with `wait`.
pub(in crate::protocol) fn run_script(
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
    let options = DecodeOptions {
        framing: Some(framing),
        ..DecodeOptions::new(vec![protocol])
    };
    let mut stage = Stage {
        protocol,
        framing,
        side,
        peer: protocol.behavior().peer(side, &config),
        decoder: Decoder::new(options),
        conversation: Conversation::new(&[protocol], &Judge::default(), SessionConfig::default()),
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
        let mut outgoing = Vec::new();
        match word {
            "open" => self.peer.opened(conn(rest), self.now, &mut outgoing),
            "closed" => self.peer.closed(conn(rest), self.now),
            "bye" => drop(
                self.peer
                    .prepare_close(conn(rest), true, self.now, &mut outgoing),
            ),
            "ready" => {
                let readiness = self.peer.readiness(conn(rest));
                let _ = writeln!(self.out, "    {readiness:?}");
            }
            "wait" => {
                self.now += rest.parse::<i64>().expect("seconds") * SECOND;
                while self.peer.due().is_some_and(|due| due <= self.now) {
                    let before = (self.peer.due(), outgoing.len());
                    self.peer.tick(self.now, &mut outgoing);
                    assert_ne!(
                        before,
                        (self.peer.due(), outgoing.len()),
                        "a tick does something"
                    );
                }
            }
            "raw" => self.pass(1, self.side.other(), rest.as_bytes(), &mut outgoing),
            _ if word.ends_with('<') => {
                let conn = conn(word.trim_end_matches('<'));
                let made = self.made.iter().rev();
                let rest = made.fold(rest.to_owned(), |rest, (name, value)| {
                    rest.replace(&format!("${name}"), value)
                });
                let bytes = self.written(&rest, self.side.other(), true);
                self.pass(conn, self.side.other(), &bytes, &mut outgoing);
            }
            _ if word.ends_with('>') => {
                let conn = conn(word.trim_end_matches('>'));
                outgoing.push(Outgoing::new(conn, rest));
            }
            _ => match self.encode_reply(line) {
                Ok(one) => outgoing.push(one),
                Err(refused) => {
                    let _ = writeln!(self.out, "    refused: {refused}");
                }
            },
        }
        for one in outgoing {
            self.outgoing(&one);
        }
    }

    fn encode_reply(&mut self, line: &str) -> Result<Outgoing, crate::error::Refusal> {
        let (nth, line) = match line.strip_prefix('@').and_then(|l| l.split_once(' ')) {
            Some((nth, line)) => (nth.parse().expect("a number"), line),
            None => (self.requests.len() - 1, line),
        };
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let parts = || rest.split_once(' ').expect("two words");
        let reply = match word {
            "result" => PeerReply::Result(rest),
            "item" => PeerReply::Item(rest),
            "delta" => PeerReply::Delta(rest),
            "end" => PeerReply::End((!rest.is_empty()).then_some(rest)),
            "ask" => PeerReply::Ask(parts().0, parts().1),
            "tell" => PeerReply::Tell(parts().0, parts().1),
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
                PeerReply::Error {
                    code,
                    message,
                    data,
                }
            }
            _ => panic!("no step of a script: {line}"),
        };
        let to = self.requests.get(nth).expect("a request").clone();
        self.peer.encode_reply(&to, reply, self.now)
    }

    /// Handles the messages of the peer, in their wire form.
    fn outgoing(&mut self, outgoing: &Outgoing) {
        let closes = |is: bool| {
            if is && outgoing.closes {
                "   closes"
            } else {
                ""
            }
        };
        let last = outgoing.then.len();
        for (at, message) in std::iter::once(&outgoing.message)
            .chain(&outgoing.then)
            .enumerate()
        {
            let _ = writeln!(
                self.out,
                "    {}> {message}{}",
                outgoing.conn,
                closes(at == last)
            );
            self.passes(outgoing.conn, message);
        }
    }

    fn passes(&mut self, conn: u32, message: &str) {
        if !message.is_empty() {
            with_json(message, |root| {
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
        let options = encode::EncodeOptions {
            protocols: vec![self.protocol],
            protocol: Some(self.protocol),
            framing: Some(self.framing),
            direction: Some(direction),
            force,
            ..encode::EncodeOptions::default()
        };
        let mut tape = Tape::new();
        let root = json::root(message.as_bytes(), 1000, &mut tape).expect(message);
        let mut writer = Encoder::new(options, IdGen::new(0));
        let encoded = writer.message(root, Some(direction));
        encoded
            .unwrap_or_else(|refusal| panic!("{message}: {refusal}"))
            .bytes
    }

    fn pass(
        &mut self,
        conn: u32,
        direction: Direction,
        bytes: &[u8],
        outgoing: &mut Vec<Outgoing>,
    ) {
        let origin = Origin {
            conn: Some(conn),
            direction: Some(direction),
            time: Some(self.now),
            ..Origin::default()
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
                // A message of the script may be deliberately wrong.
                if direction == side {
                    let _ = writeln!(out, "    ! {}: {}", finding.rule.name, finding.text);
                }
            }
            if direction == side {
                return peer.sent(&seen, now);
            }
            let before = outgoing.len();
            peer.received(&seen, now, outgoing);
            if outgoing.len() == before {
                requests.push(Request::of(&seen));
            }
        });
    }
}
