//! Both sides of each protocol, joined: what one says, the other understands, and no rule is broken.

use super::super::registry;
use crate::conversation::Judge;
use crate::framing::{Framing, Limits};
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::Endpoint;
use crate::live::handler::Command;
use crate::protocol::peer::{Offer, PeerConfig, Readiness, Says};
use crate::protocol::{Direction, Protocol};
use std::fmt::Write as _;

const CONN: u32 = 3;

/// Two parties and a wire between them.
struct Joined<'p> {
    /// The side that dialled, then the other.
    parties: [Endpoint<'p>; 2],
    now: i64,
    out: String,
}

impl<'p> Joined<'p> {
    fn new(protocol: &'p dyn Protocol, framing: Framing, offers: [&str; 2]) -> Self {
        let endpoint = |side, offer: &str| {
            let offer = Offer {
                name: offer.to_owned(),
                ..Offer::default()
            };
            let peer_config = PeerConfig {
                offers: [offer].into_iter().filter(|o| !o.name.is_empty()).collect(),
                ..PeerConfig::default()
            };
            let config = ConnectionConfig::new(protocol, framing, side);
            Endpoint::new(config, &peer_config, Limits::default(), &Judge::default())
        };
        Self {
            parties: [
                endpoint(Direction::ToServer, offers[0]),
                endpoint(Direction::ToClient, offers[1]),
            ],
            now: 1_700_000_000_000_000_000,
            out: String::new(),
        }
    }

    fn open(&mut self) {
        let mut commands = [Vec::new(), Vec::new()];
        for (endpoint, commands) in self.parties.iter_mut().zip(&mut commands) {
            endpoint.opened(CONN, self.now, commands);
        }
        self.carry(commands);
    }

    fn say(&mut self, side: usize, message: &str) {
        let mut commands = [Vec::new(), Vec::new()];
        let says = Says::new(CONN, message);
        let said = self.parties[side].say(&says, None, self.now, &mut commands[side]);
        said.expect("a message that can be written");
        self.carry(commands);
    }

    fn bye(&mut self, side: usize) {
        let mut commands = [Vec::new(), Vec::new()];
        self.parties[side].bye(CONN, true, self.now, &mut commands[side]);
        self.carry(commands);
    }

    /// Carries what is sent to the other side, until nobody says any more.
    fn carry(&mut self, mut commands: [Vec<Command>; 2]) {
        while commands.iter().any(|commands| !commands.is_empty()) {
            for side in 0..2 {
                let (parties, out, now) = (&mut self.parties, &mut self.out, self.now);
                for order in std::mem::take(&mut commands[side]) {
                    let arrow = ["->", "<-"][side];
                    match order {
                        Command::Connect(conn) => {
                            let _ = writeln!(out, "{arrow} dials");
                            for (endpoint, commands) in parties.iter_mut().zip(&mut commands) {
                                endpoint.opened(conn, now, commands);
                            }
                        }
                        Command::Send(conn, bytes) => {
                            let other = 1 - side;
                            let mut listen = |heard: crate::live::endpoint::Received<'_>| {
                                let message = heard.decoded.message;
                                let subject = message.subject.as_deref().unwrap_or_default();
                                let line = format!("{arrow} {} {subject}", message.kind);
                                let _ = writeln!(out, "{}", line.trim_end());
                                for finding in heard.verdict.findings {
                                    let _ = writeln!(out, "  ! {}", finding.rule.name);
                                }
                            };
                            let commands = &mut commands[other];
                            parties[other].received(conn, &bytes, now, commands, &mut listen);
                        }
                        Command::Close(_) => {
                            let _ = writeln!(out, "{arrow} close");
                        }
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
    }
}

/// How a conversation goes: it opens, the client says a message, and takes its leave.
fn told(name: &str, framing: Framing, offers: [&str; 2], call: &str) -> String {
    let protocol = registry::find(name).expect("a protocol");
    let mut joined = Joined::new(protocol, framing, offers);
    joined.open();
    for endpoint in &joined.parties {
        assert_eq!(endpoint.readiness(CONN), Readiness::Ready, "{name}");
    }
    joined.say(0, call);
    joined.bye(0);
    joined.out
}

#[test]
fn two_peers_understand_each_other() {
    let mut all = String::new();
    for (name, framing, offers, call) in [
        (
            "saikuro",
            Framing::Prefix,
            ["math.add", ""],
            r#"{"version":1,"type":"cast","id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","target":"a.b","args":[]}"#,
        ),
        (
            "oracle",
            Framing::Lines,
            ["", "f"],
            r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"g","calldata":[]}}"#,
        ),
        (
            "sael",
            Framing::Lines,
            ["", "echo"],
            r#"{"v":1,"kind":"SUB","seq":1,"topic":"news"}"#,
        ),
        (
            "stepflow",
            Framing::Lines,
            ["", "/upper"],
            r#"{"jsonrpc":"2.0","id":"a","method":"components/list","params":{}}"#,
        ),
        (
            "stepflow",
            Framing::Http,
            ["", "/upper"],
            r#"{"jsonrpc":"2.0","id":"a","method":"components/list","params":{}}"#,
        ),
        (
            "sael",
            Framing::WebSocket,
            ["", "echo"],
            r#"{"v":1,"kind":"LST","seq":1}"#,
        ),
        (
            "sael",
            Framing::Header,
            ["", "echo"],
            r#"{"v":1,"kind":"INV","seq":1,"tool":"nope"}"#,
        ),
        (
            "telequick",
            Framing::Method,
            ["", ""],
            r#"{"method":"StreamEvents","struct":"EventStreamRequest","fields":{"client_id":"me"}}"#,
        ),
    ] {
        let _ = writeln!(all, "{name} {}", framing.name());
        for line in told(name, framing, offers, call).lines() {
            let _ = writeln!(all, "  {line}");
        }
    }
    insta::assert_snapshot!(all, @"
    saikuro prefix
      -> announce $saikuro.announce
      <- response
      -> cast a.b
      -> close
    oracle lines
      <- ready
      -> ack
      -> invoke g
      <- error
      -> shutdown
      -> close
      <- close
    sael lines
      -> HEY
      <- HEY
      -> SUB news
        ! anonymous-subscription
      <- RES
      -> UNS
      -> BYE
      -> close
      <- close
    stepflow lines
      -> request initialize
      <- response
      -> notification initialized
      -> request components/list
      <- response
      -> close
    stepflow http
      -> request initialize
      <- response
      -> notification initialized
      <- http-response
      -> request components/list
      <- response
      -> close
    sael websocket
      -> http-request GET /
      <- http-response
      -> HEY
      <- HEY
      -> LST
      <- LST
      -> BYE
      -> close
      -> close
      <- close
      <- close
    sael header
      -> HEY
        ! header-form
      <- HEY
        ! header-form
      -> INV nope
      <- ERR
      -> BYE
      -> close
      <- close
    telequick method
      -> EventStreamRequest StreamEvents
      -> close
    ");
}
