//! Connects both sides of each protocol: each understands the messages of the other, and no rule is broken.

use super::super::registry;
use crate::conversation::Judge;
use crate::framing::{Framing, Limits};
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::Endpoint;
use crate::live::handler::Command;
use crate::protocol::peer::{Offer, Outgoing, PeerConfig, Readiness};
use crate::protocol::{Direction, Protocol};
use std::fmt::Write as _;

const CONN: u32 = 3;

/// Two peers and the connection between them.
struct PeerPair<'p> {
    /// The side that opened the connection, then the other.
    parties: [Endpoint<'p>; 2],
    now: i64,
    out: String,
}

impl<'p> PeerPair<'p> {
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
        self.deliver(commands);
    }

    fn send(&mut self, side: usize, message: &str) {
        let mut commands = [Vec::new(), Vec::new()];
        let outgoing = Outgoing::new(CONN, message);
        let output =
            self.parties[side].send_message(&outgoing, None, self.now, &mut commands[side]);
        output.expect("a message that can be written");
        self.deliver(commands);
    }

    fn prepare_close(&mut self, side: usize) {
        let mut commands = [Vec::new(), Vec::new()];
        self.parties[side].prepare_close(CONN, true, self.now, &mut commands[side]);
        self.deliver(commands);
    }

    /// Delivers messages to the other side until neither side sends any more.
    fn deliver(&mut self, mut commands: [Vec<Command>; 2]) {
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
                            let mut listen = |awaited: crate::live::endpoint::Received<'_>| {
                                let message = awaited.decoded.message;
                                let subject = message.subject.as_deref().unwrap_or_default();
                                let line = format!("{arrow} {} {subject}", message.kind);
                                let _ = writeln!(out, "{}", line.trim_end());
                                for finding in awaited.verdict.findings {
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

/// Runs a conversation: opens it, sends a message from the client, and closes it.
fn conversation(name: &str, framing: Framing, offers: [&str; 2], call: &str) -> String {
    let protocol = registry::find(name).expect("a protocol");
    let mut pair = PeerPair::new(protocol, framing, offers);
    pair.open();
    for endpoint in &pair.parties {
        assert_eq!(endpoint.readiness(CONN), Readiness::Ready, "{name}");
    }
    pair.send(0, call);
    pair.prepare_close(0);
    pair.out
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
        for line in conversation(name, framing, offers, call).lines() {
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
