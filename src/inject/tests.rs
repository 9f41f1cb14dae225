//! Tests: faults as tables of input and output.

mod corrupting;
mod inserting;
mod laws;
mod reading;

use super::*;
use crate::decoder::DecodeOptions;
use crate::framing::{self, Framing, LengthMode, Limits, Wire};
use crate::protocol::{Direction, Origin, registry};

fn options(protocol: &str, framing: Option<Framing>) -> DecodeOptions<'static> {
    DecodeOptions {
        protocols: vec![registry::find(protocol).unwrap()],
        framing,
        // Bodies of other protocols do not show a length mode.
        length_mode: LengthMode::Exclusive,
        limits: Limits::default(),
        resync: true,
        want: crate::encoding::Want::Head,
        flags: false,
        lookup: None,
    }
}

fn origin(direction: Direction) -> Origin {
    Origin {
        conn: Some(1),
        direction: Some(direction),
        ..Origin::default()
    }
}

fn plan(faults: &[&str]) -> FaultPlan {
    let fault = |text: &&str| {
        let mut fault: InjectedFault = text.parse().unwrap_or_else(|e| panic!("{e}"));
        if let Action::Inject(file) = &mut fault.action {
            file.bytes = b"<file>"[..].into();
        }
        fault
    };
    FaultPlan {
        faults: faults.iter().map(fault).collect(),
        seed: 7,
        ..FaultPlan::default()
    }
}

/// Returns the output of one direction as text: bytes unchanged, with `{wait 5}` and so on between
/// them; and the events.
fn run(
    plan: FaultPlan,
    options: DecodeOptions<'static>,
    direction: Direction,
    chunks: &mut dyn Iterator<Item = &[u8]>,
) -> (Vec<u8>, Vec<String>) {
    let mut injector = Injector::new(plan, options);
    let mut outs = Vec::new();
    for chunk in chunks {
        injector.push(origin(direction), chunk, &mut outs);
    }
    injector.end(origin(direction), &mut outs);
    injector.close(1);
    let (mut bytes, mut events) = (Vec::new(), Vec::new());
    for out in outs {
        match out {
            Out::Bytes(more) => bytes.extend_from_slice(&more),
            Out::Wait(ns) => bytes.extend_from_slice(format!("{{wait {ns}}}").as_bytes()),
            Out::Close(_) => bytes.extend_from_slice(b"{close}"),
            Out::Reset(_) => bytes.extend_from_slice(b"{reset}"),
            Out::Stall => bytes.extend_from_slice(b"{stall}"),
            Out::Event(reported) => events.push(serde_json::Value::Object(reported).to_string()),
        }
    }
    (bytes, events)
}

fn once(faults: &[&str], framing: Framing, stream: &[u8]) -> (String, Vec<String>) {
    let whole = &mut std::iter::once(stream);
    let options = options(name(framing), Some(framing));
    let (bytes, events) = run(plan(faults), options, Direction::ToServer, whole);
    (bytes.escape_ascii().to_string(), events)
}

fn name(framing: Framing) -> &'static str {
    match framing {
        Framing::Lines => "oracle",
        Framing::Http => "stepflow",
        Framing::Method => "telequick",
        Framing::WebSocket => "sael",
        _ => "saikuro",
    }
}

/// Each action in each framing, on the second of three messages.
#[test]
fn every_action_on_every_framing() {
    let mut reported = String::new();
    let body = br#"{"jsonrpc":"2.0","id":7,"method":"ready"}"#;
    let actions = [
        "delay 5ns",
        "drop",
        "dup",
        "truncate 9",
        "length +1",
        "close",
        "reset",
        "stall",
        "inject f",
    ];
    for (framing, wire) in wires() {
        let mut frame = Vec::new();
        framing::write(framing, body, &wire, &mut frame);
        let stream = frame.repeat(3);
        let shown = frame.escape_ascii().to_string();
        reported += &format!("{} {shown}\n", framing.name());
        for action in actions {
            let (out, events) = once(&[&format!("nth 2: {action}")], framing, &stream);
            let out = out.replace(&shown, "F");
            let event: serde_json::Value = serde_json::from_str(&events[0]).unwrap();
            assert_eq!(event["offset"], frame.len(), "{action}");
            let undone = event["undone"].as_str().unwrap_or_default();
            reported += format!("  {action:10} {out} {undone}").trim_end();
            reported += "\n";
        }
    }
    insta::assert_snapshot!(reported, @r#"
    lines {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ready\"}\n
      delay 5ns  F{wait 5}FF
      drop       FF
      dup        FFFF
      truncate 9 F{\"jsonrpcF
      length +1  FFF its frame has no length
      close      F{close}
      reset      F{reset}
      stall      F{stall}
      inject f   F<file>FF
    prefix \x00\x00\x00){\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ready\"}
      delay 5ns  F{wait 5}FF
      drop       FF
      dup        FFFF
      truncate 9 F\x00\x00\x00){\"jsoF
      length +1  F\x00\x00\x00*{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ready\"}F
      close      F{close}
      reset      F{reset}
      stall      F{stall}
      inject f   F<file>FF
    method -\x00\x00\x00\x87\xd6\x12\x00{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ready\"}
      delay 5ns  F{wait 5}FF
      drop       FF
      dup        FFFF
      truncate 9 F-\x00\x00\x00\x87\xd6\x12\x00{F
      length +1  F.\x00\x00\x00\x87\xd6\x12\x00{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ready\"}F
      close      F{close}
      reset      F{reset}
      stall      F{stall}
      inject f   F<file>FF
    websocket \x81\xa97\xfa!=L\xd8KNX\x94SMT\xd8\x1b\x1f\x05\xd4\x11\x1f\x1b\xd8HY\x15\xc0\x16\x11\x15\x97DI_\x95E\x1f\r\xd8SXV\x9eX\x1fJ
      delay 5ns  F{wait 5}FF
      drop       FF
      dup        FFFF
      truncate 9 F\x81\xa97\xfa!=L\xd8KF
      length +1  F\x81\xaa7\xfa!=L\xd8KNX\x94SMT\xd8\x1b\x1f\x05\xd4\x11\x1f\x1b\xd8HY\x15\xc0\x16\x11\x15\x97DI_\x95E\x1f\r\xd8SXV\x9eX\x1fJF
      close      F{close}
      reset      F{reset}
      stall      F{stall}
      inject f   F<file>FF
    websocket \x01\x857\xfa!=L\xd8KNX\x80\xa47\xfa!=Y\x88Q^\x15\xc0\x03\x0f\x19\xca\x03\x11\x15\x93E\x1f\r\xcd\r\x1fZ\x9fUUX\x9e\x03\x07\x15\x88D\\S\x83\x03@
      delay 5ns  F{wait 5}FF
      drop       FF
      dup        FFFF
      truncate 9 F\x01\x857\xfa!=L\xd8KF
      length +1  F\x01\x867\xfa!=L\xd8KNX\x80\xa47\xfa!=Y\x88Q^\x15\xc0\x03\x0f\x19\xca\x03\x11\x15\x93E\x1f\r\xcd\r\x1fZ\x9fUUX\x9e\x03\x07\x15\x88D\\S\x83\x03@F
      close      F{close}
      reset      F{reset}
      stall      F{stall}
      inject f   F<file>FF
    http POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: 41\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ready\"}
      delay 5ns  F{wait 5}FF
      drop       FF
      dup        FFFF
      truncate 9 FPOST / HTF
      length +1  FPOST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: 42\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ready\"}F
      close      F{close}
      reset      F{reset}
      stall      F{stall}
      inject f   F<file>FF
    http POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n14\r\n{\"jsonrpc\":\"2.0\",\"id\r\n15\r\n\":7,\"method\":\"ready\"}\r\n0\r\n\r\n
      delay 5ns  F{wait 5}FF
      drop       FF
      dup        FFFF
      truncate 9 FPOST / HTF
      length +1  FPOST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n15\r\n{\"jsonrpc\":\"2.0\",\"id\r\n15\r\n\":7,\"method\":\"ready\"}\r\n0\r\n\r\nF
      close      F{close}
      reset      F{reset}
      stall      F{stall}
      inject f   F<file>FF
    "#);
}

fn wires() -> Vec<(Framing, Wire)> {
    let mask = Some(vec![[0x37, 0xfa, 0x21, 0x3d]]);
    vec![
        (Framing::Lines, Wire::default()),
        (Framing::Prefix, Wire::default()),
        (
            Framing::Method,
            Wire {
                method: Some((1_234_567, LengthMode::Exclusive)),
                ..Wire::default()
            },
        ),
        (
            Framing::WebSocket,
            Wire {
                mask: mask.clone(),
                opcode: Some(1),
                ..Wire::default()
            },
        ),
        (
            Framing::WebSocket,
            Wire {
                fragments: vec![5, 36],
                opcode: Some(1),
                mask,
                ..Wire::default()
            },
        ),
        (Framing::Http, Wire::default()),
        (
            Framing::Http,
            Wire {
                chunks: Some(vec![20, 21]),
                ..Wire::default()
            },
        ),
    ]
}

#[test]
fn inner_ping_stays_when_its_message_is_dropped() {
    let stream = b"\x01\x01a\x89\x02hi\x80\x01b\x81\x01c";
    let (out, _) = once(&["len>3 nth 2: drop"], Framing::WebSocket, stream);
    assert_eq!(out, r"\x89\x02hi\x81\x01c");
    let (out, _) = once(&["kind=ping: drop"], Framing::WebSocket, stream);
    assert_eq!(out, r"\x01\x01a\x80\x01b\x81\x01c");
    let (out, _) = once(&["len>5: dup"], Framing::WebSocket, stream);
    assert_eq!(
        out,
        r"\x01\x01a\x89\x02hi\x80\x01b\x01\x01a\x80\x01b\x81\x01c"
    );
}

const STREAM: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
    2c\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n\r\n\
    2c\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n\r\n0\r\n\r\n";

#[test]
fn changed_events_keep_their_chunks() {
    let down = |fault: &str| {
        let options = options("stepflow", Some(Framing::Http));
        let (out, _) = run(
            plan(&[fault]),
            options,
            Direction::ToClient,
            &mut std::iter::once(STREAM),
        );
        let head = STREAM.len() - 2 * 50 - 5;
        String::from_utf8(out[head..].to_vec()).unwrap()
    };
    insta::assert_snapshot!(down("id=1: drop").escape_debug().to_string(), @r#"2c\r\n:ata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n\r\n2c\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n\r\n0\r\n\r\n"#);
    insta::assert_snapshot!(down("id=1: dup").escape_debug().to_string(), @r#"2c\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n\r\n2c\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n\r\n2c\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n\r\n0\r\n\r\n"#);
    insta::assert_snapshot!(down("id=2: dup").escape_debug().to_string(), @r#"2c\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n\r\n2c\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n\r\n2c\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n\r\n0\r\n\r\n"#);
}

#[test]
fn frequency_selects_messages() {
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ready\"}\n";
    let stream = line.repeat(9);
    let count = |fault: &str, seed| {
        let plan = FaultPlan {
            seed,
            ..plan(&[fault])
        };
        let options = options("oracle", None);
        let (_, events) = run(
            plan,
            options,
            Direction::ToServer,
            &mut std::iter::once(&stream[..]),
        );
        let offset = |event: &String| {
            let event: serde_json::Value = serde_json::from_str(event).unwrap();
            event["offset"].as_u64().unwrap() / line.len() as u64
        };
        events.iter().map(offset).collect::<Vec<_>>()
    };
    assert_eq!(count("nth 4: drop", 1), [3]);
    assert_eq!(count("every 3: drop", 1), [2, 5, 8]);
    assert!(count("kind=invoke: drop", 1).is_empty());
    assert!(count("chance 0: drop", 1).is_empty());
    assert_eq!(count("chance 100%: drop", 1).len(), 9);
    let some = count("chance 0.5: drop", 1);
    assert!(!some.is_empty() && some.len() < 9);
    assert_eq!(count("chance 0.5: drop", 1), some, "the same seed");
    let others = (2..20).filter(|seed| count("chance 0.5: drop", *seed) != some);
    assert!(others.count() > 10, "another seed");
}

#[test]
fn unaffected_direction_is_not_held() {
    let mut injector = Injector::new(
        plan(&["dir=s2c kind=result: drop"]),
        options("oracle", None),
    );
    assert!(!injector.affects(Direction::ToServer));
    assert!(injector.affects(Direction::ToClient));
    let mut out = Vec::new();
    injector.push(origin(Direction::ToServer), b"{\"half", &mut out);
    assert_eq!(out, [Out::Bytes(b"{\"half".to_vec())]);
    injector.push(origin(Direction::ToClient), b"{\"half", &mut out);
    assert_eq!(out.len(), 1);
}

#[test]
fn held_bytes_are_bounded() {
    let limits = Limits {
        message: 1 << 16,
        depth: 128,
    };
    for (framing, head, chunk) in [
        (Framing::Lines, &b""[..], &b"no line end"[..]),
        (Framing::WebSocket, b"\x01\x01a", b"\x89\0"),
        (Framing::Http, b"POST / HTTP/1.1\r\nx: ", b"y"),
        (
            Framing::Http,
            b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
            b"y",
        ),
        (Framing::Prefix, b"\x7f\xff\xff\xff", b"y"),
    ] {
        let options = DecodeOptions {
            limits,
            ..options(name(framing), Some(framing))
        };
        let mut injector = Injector::new(plan(&["nth 99999: drop"]), options);
        let mut outs = Vec::new();
        let (mut reported, mut most) = (head.len(), 0);
        injector.push(origin(Direction::ToServer), head, &mut outs);
        let chunk = chunk.repeat(4096);

        for _ in 0..400 {
            injector.push(origin(Direction::ToServer), &chunk, &mut outs);
            reported += chunk.len();
            let sent = outs.iter().map(|out| match out {
                Out::Bytes(bytes) => bytes.len(),
                _ => 0,
            });
            most = most.max(reported - sent.sum::<usize>());
            if outs.len() > 64 {
                reported = 0;
                outs.clear();
                break;
            }
        }
        assert!(most < 4 << 20, "{} {most} held", framing.name());
        assert!(reported == 0 || !outs.is_empty(), "{}", framing.name());
    }
}

#[test]
fn only_the_host_field_is_rewritten() {
    let request =
        b"POST /x HTTP/1.1\r\nA: Host\r\nHOST:  old.example \r\ncontent-length: 2\r\n\r\n{}";
    let plan = FaultPlan {
        host: Some("new:1".into()),
        ..FaultPlan::default()
    };
    let stream = request.repeat(2);
    let options = options("stepflow", Some(Framing::Http));
    let (out, events) = run(
        plan,
        options,
        Direction::ToServer,
        &mut std::iter::once(&stream[..]),
    );
    let want = b"POST /x HTTP/1.1\r\nA: Host\r\nHOST:  new:1 \r\ncontent-length: 2\r\n\r\n{}";
    assert_eq!(out, want.repeat(2));
    insta::assert_snapshot!(events.join("\n"), @r#"
    {"dir":"c2s","is":"new:1","kind":"http-request","len":71,"offset":0,"rewrite":"host","was":"old.example"}
    {"dir":"c2s","is":"new:1","kind":"http-request","len":71,"offset":71,"rewrite":"host","was":"old.example"}
    "#);
}

#[test]
fn every_host_name_is_rewritten() {
    for (request, want) in [
        (
            "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nhost: b:2\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: new:1\r\nX: 1\r\nhost: new:1\r\n\r\n",
        ),
        (
            "GET http://me:pw@a.example:80/x?u=http://q/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET http://me:pw@new:1/x?u=http://q/ HTTP/1.1\r\nHost: new:1\r\n\r\n",
        ),
        (
            "GET http://a?x HTTP/1.1\r\nHost: new:1\r\n\r\n",
            "GET http://new:1?x HTTP/1.1\r\nHost: new:1\r\n\r\n",
        ),
        (
            "GET /x?u=http://a/ HTTP/1.1\r\n\r\n",
            "GET /x?u=http://a/ HTTP/1.1\r\n\r\n",
        ),
    ] {
        let plan = FaultPlan {
            host: Some("new:1".into()),
            ..FaultPlan::default()
        };
        let options = options("stepflow", Some(Framing::Http));
        let mut chunks = std::iter::once(request.as_bytes());
        let (out, _) = run(plan, options, Direction::ToServer, &mut chunks);
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}

#[test]
fn websocket_is_not_held_for_host_rewrites() {
    let plan = FaultPlan {
        host: Some("new".into()),
        ..FaultPlan::default()
    };
    let mut injector = Injector::new(plan, options("sael", Some(Framing::Http)));
    let ask = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let mut out = Vec::new();
    injector.push(origin(Direction::ToServer), ask, &mut out);
    for part in [&b"\x01\x05ab"[..], b"cde", b"\x80\x7e\x01\x00", b"rest"] {
        out.clear();
        injector.push(origin(Direction::ToServer), part, &mut out);
        assert_eq!(out, [Out::Bytes(part.to_vec())]);
    }
}
