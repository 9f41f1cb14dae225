//! Operations in real sessions: facts name earlier messages, and a link is inferred only if nothing else fits.
//!
//! Reads recordings that `tests/recordings.py` makes of the captures in `WIRETOOL_CAPTURES`.

use crate::common;
use std::collections::BTreeMap;
use std::path::Path;
use wiretool::capture::EventKind;
use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::decoder::{DecodeOptions, Decoded, Decoder};
use wiretool::framing::Head;
use wiretool::protocol::session::{ConnectionChange, Link, Report, Session, SessionConfig};
use wiretool::protocol::{Direction, Origin, Role, registry};

/// The messages of a session.
#[derive(Default)]
struct Told {
    /// Open requests, by index: the connection and the direction.
    open: BTreeMap<u64, (Option<u32>, Option<Direction>)>,
    links: [u64; 2],
    wrong: Vec<String>,
}

impl Told {
    /// Checks the facts of a message.
    fn add(&mut self, decoded: &Decoded<'_>, report: &Report) {
        let (index, origin) = (decoded.index, decoded.origin);
        let facts = &report.operation;
        let named = [("part of", facts.part_of), ("inside", facts.inside)];
        for (name, (of, link)) in named.iter().filter_map(|(name, of)| Some((name, (*of)?))) {
            let subject = decoded.message.subject.as_deref().unwrap_or_default();
            println!(
                "#{index} {subject}: {name} #{of} {link:?} {:?}",
                facts.owner
            );
            if of >= index {
                self.wrong
                    .push(format!("#{index} is {name} #{of}, which comes later"));
            }
            self.links[usize::from(link == Link::Inferred)] += 1;
            if *name == "inside" && link == Link::Inferred {
                let other = origin.direction.map(Direction::other);
                // Over HTTP, what was posted on another connection.
                let is_event = matches!(decoded.frame.head, Head::Http { event: true, .. });
                let fits = |at: &(Option<u32>, Option<Direction>)| {
                    (at.0 == origin.conn || is_event) && at.1 == other
                };
                let open: Vec<_> = self.open.iter().filter(|(_, at)| fits(at)).collect();
                if open.len() != 1 || *open[0].0 != of {
                    self.wrong
                        .push(format!("#{index} is inside #{of}, but {open:?} are open"));
                }
            }
        }
        if decoded.message.role == Some(Role::Request) {
            self.open.insert(index, (origin.conn, origin.direction));
        }
        if let Some(answer) = report.answer.as_ref().filter(|answer| answer.last) {
            self.open.remove(&answer.to);
        }
    }
}

/// Shows a message to a session.
fn see(session: &mut dyn Session, told: &mut Told, decoded: &Decoded<'_>) {
    let mut report = Report::default();
    session.message(&decoded.seen(), &mut report);
    told.add(decoded, &report);
}

/// Reads a recording of a protocol.
fn told(protocol: &str, recording: &Path) -> Told {
    let protocol = registry::find(protocol).expect("a protocol");
    let mut decoder = Decoder::new(DecodeOptions::new(vec![protocol]));
    let mut session = protocol.behavior().session(&SessionConfig::default());
    let mut told = Told::default();
    let bytes = std::fs::read(recording).expect("a recording");
    let mut input = CaptureInput::new(Form::Recording);
    let mut item = |item: Item<'_>| match item {
        Item::Chunk(chunk) => {
            let origin = Origin {
                conn: Some(chunk.conn),
                stream: chunk.stream,
                direction: chunk.direction,
                ..Origin::default()
            };
            decoder.push(origin, chunk.bytes, &mut |decoded| {
                see(session.as_mut(), &mut told, decoded);
            });
        }
        Item::Event(event) => {
            let what = match event.what {
                EventKind::Open => ConnectionChange::Opened,
                EventKind::Eof => ConnectionChange::Ended,
                EventKind::Exit => ConnectionChange::Exited,
                EventKind::Close => ConnectionChange::Closed,
                _ => return,
            };
            session.event(event.origin(), what, &mut Report::default());
        }
        _ => {}
    };
    input.push(&bytes, &mut item);
    input.finish(&mut item);
    decoder.finish(&mut |decoded| see(session.as_mut(), &mut told, decoded));
    told
}

#[test]
fn links_of_real_sessions_are_certain() {
    let Some(folder) = common::recordings() else {
        return;
    };
    let mut all: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("recordings")
        .map(|file| file.expect("a file").path())
        .collect();
    files.sort();
    for file in files {
        let name = file.file_name().expect("a name").to_string_lossy();
        let Some(protocol) = registry::names().find(|p| name.starts_with(&format!("{p}-"))) else {
            continue;
        };
        println!("{name}");
        let told = told(protocol, &file);
        wrong.extend(told.wrong.iter().map(|text| format!("{name}: {text}")));
        let sum = all.entry(protocol).or_default();
        for (sum, links) in sum.iter_mut().zip(told.links) {
            *sum += links;
        }
    }
    println!("recorded and inferred links: {all:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    for protocol in ["acp", "lsp", "mcp"] {
        assert!(all[protocol][0] > 5, "{protocol}: {all:?}");
    }
}
