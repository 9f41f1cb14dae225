//! Reads a recording for its requests, and what each was answered.

use super::recorded::{Exchanges, RecordedRequest};
use super::template::{Slot, Source, Template};
use super::value::Value;
use super::{Action, Heard, Reply, Script};
use crate::conversation::{Judge, Verdict, follow};
use crate::decoder::{Decoded, Options};
use crate::diff::{Kept, general};
use crate::encoding::{Parsed, Want};
use crate::framing::{LengthMode, Limits};
use crate::live::names::{Binding, MessageInfo, Names, Place};
use crate::live::plan::check;
use crate::live::speed::Speed;
use crate::path::{Path, Step};
use crate::protocol::session::SessionConfig;
use crate::protocol::{Direction, Notes, Protocol, Role, annotate};
use crate::tape::Node;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;

/// The script that answers as a recording did; the side is the one that will be played, at this speed.
pub fn compile(
    recording: &[u8],
    protocol: &dyn Protocol,
    side: Direction,
    limits: Limits,
    speed: Speed,
) -> Result<Script, String> {
    check(recording, protocol)?;
    let options = Options {
        protocols: vec![protocol],
        framing: None,
        length_mode: LengthMode::Auto,
        limits,
        resync: true,
        want: Want::Places,
    };
    let mut reader = Reader {
        protocol,
        side,
        speed,
        names: Names::new(protocol),
        entries: Vec::new(),
        hellos: HashMap::new(),
        greeted: HashMap::new(),
        asked: HashMap::new(),
        ours: HashMap::new(),
        opening: None,
        directions: HashMap::new(),
        loose: BTreeSet::new(),
    };
    let Ok(_) = follow::<Infallible>(
        recording,
        &options,
        &Judge::default(),
        SessionConfig::default(),
        &mut |decoded, verdict| {
            if let Some(decoded) = decoded {
                reader.see(decoded, verdict);
            }
            Ok(())
        },
    );
    // That nobody answered is the way of notifications.
    let entries = reader.entries.into_iter();
    let entries = entries.filter(|(entry, timeline)| {
        entry.kept.role == Some(Role::Request) || !timeline.actions.is_empty()
    });
    let entries = entries.map(|(entry, timeline)| RecordedRequest {
        actions: timeline.actions.into(),
        ..entry
    });
    let (hellos, opening) = (reader.hellos, reader.opening);
    let entries = entries.collect();
    let recorded = Exchanges::new(protocol, limits, entries, hellos, opening, &reader.loose);
    if recorded.is_empty() {
        let [client, server] = protocol.descriptor().sides;
        let from = if side == Direction::ToClient {
            client
        } else {
            server
        };
        return Err(format!(
            "no request of a {from} is recorded: there is nothing to answer"
        ));
    }
    Ok(Script {
        recorded: Some(recorded),
        ..Script::default()
    })
}

/// What came of a request.
struct Timeline {
    actions: Vec<Action>,
    /// When the last of it happened.
    time: Option<i64>,
    speed: Speed,
    /// What calls were answered in the recording: which, and its values that stand for something.
    answers: Vec<(usize, Vec<Place>)>,
}

impl Timeline {
    fn new(speed: Speed, time: Option<i64>) -> Self {
        Self {
            actions: Vec::new(),
            time,
            speed,
            answers: Vec::new(),
        }
    }

    /// The other side did something.
    fn received(&mut self, action: Action, time: Option<i64>) {
        self.time = time.or(self.time);
        self.actions.push(action);
    }

    /// The stub's side did something, so long after what came before.
    fn did(&mut self, action: Action, time: Option<i64>) {
        let since = time
            .zip(self.time)
            .map(|(now, last)| now.saturating_sub(last));
        let wait = since.and_then(|since| self.speed.distance(since));
        self.actions
            .extend(wait.filter(|ns| *ns > 0).map(Action::Wait));
        self.received(action, time);
    }

    fn calls(&self) -> usize {
        let calls = self
            .actions
            .iter()
            .filter(|action| matches!(action, Action::Call(_)));
        calls.count()
    }
}

/// What is collected while a recording is read.
struct Reader<'p> {
    protocol: &'p dyn Protocol,
    side: Direction,
    names: Names,
    speed: Speed,
    entries: Vec<(RecordedRequest, Timeline)>,
    hellos: HashMap<String, Template>,
    /// Hellos by their index.
    greeted: HashMap<u64, String>,
    /// Entries by their index.
    asked: HashMap<u64, usize>,
    /// What the stub's side asked: in the course of which entry, and how many calls came before it there.
    ours: HashMap<u64, (usize, usize)>,
    /// What the stub's side said first, without being asked.
    opening: Option<String>,
    directions: HashMap<u64, Direction>,
    /// Paths of what need not be the same when it is asked again.
    loose: BTreeSet<String>,
}

impl Reader<'_> {
    /// Which open request a message without an answer goes on with or ends: that which goes by the same id.
    fn goes_on(&self, conn: Option<u32>, places: &[Place]) -> Option<usize> {
        let id = places.iter().find(|place| is_id(&place.path))?;
        let name = name_at(id)?;
        self.entries.iter().rposition(|(entry, _)| {
            let same = |place: &Place| place.path == id.path && name_at(place) == Some(name);
            !entry.is_done && entry.kept.conn == conn && entry.places.iter().any(same)
        })
    }

    /// A message that is said in the course of a request: values that the other side made come from the request, or from
    /// what it has answered meanwhile.
    fn message(&self, at: usize, text: String, kind: String, places: Vec<Place>) -> Value {
        let of = |number: usize| {
            self.names
                .name(number)
                .filter(|name| name.owner != self.side)?;
            let (entry, timeline) = self.entries.get(at)?;
            let find = |places: &[Place]| {
                let place = places.iter().find(|place| name_at(place) == Some(number));
                place.map(|place| place.path.clone())
            };
            find(&entry.places).map(Source::Request).or_else(|| {
                let mut answers = timeline.answers.iter();
                answers.find_map(|(call, places)| Some(Source::Call(*call, find(places)?)))
            })
        };
        let source = |place: &Place| match place.binding {
            Binding::Name(number) => of(number),
            Binding::Time | Binding::Given => None,
        };
        Value::Recorded(Arc::new(template(text, kind, places, source)))
    }

    /// The call of a request that a message names by its id, which the request has as well.
    fn named(&self, at: usize, kind: String, places: &[Place]) -> Option<Heard> {
        let id = places.iter().find(|place| is_id(&place.path))?;
        let (entry, _) = self.entries.get(at)?;
        let mut own = entry.places.iter();
        let own = own.find(|place| name_at(place).is_some() && name_at(place) == name_at(id))?;
        Some(Heard {
            kind,
            path: id.path.clone(),
            request: own.path.clone(),
        })
    }

    /// In the course of which request something is said that is no answer: the last that is open on its connection, or
    /// else the last on it, or the last that is open at all.
    fn course(&self, conn: Option<u32>) -> Option<usize> {
        let last = |fits: &dyn Fn(&RecordedRequest) -> bool| {
            let mut entries = self.entries.iter();
            entries.rposition(|(entry, _)| fits(entry))
        };
        last(&|entry| entry.kept.conn == conn && !entry.is_done)
            .or_else(|| last(&|entry| entry.kept.conn == conn))
            .or_else(|| last(&|entry| !entry.is_done))
    }

    fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        let Some(direction) = decoded.origin.direction else {
            return;
        };
        let role = decoded.message.role;
        if decoded.frame.control.is_some() || !decoded.message.valid {
            return;
        }
        if matches!(role, Some(Role::Heartbeat | Role::Control) | None) {
            return;
        }
        let answer = verdict.answer;
        let about = MessageInfo {
            kind: &decoded.message.kind,
            role,
            direction,
            asked: answer.and_then(|a| self.directions.get(&a.to).copied()),
        };
        let mut message = Vec::new();
        decoded.write_message(&mut message);
        let message = String::from_utf8(message).unwrap_or_default();
        let places = self.names.read(&message, &about);
        let index = decoded.index;
        let time = decoded.origin.time;
        self.directions.insert(index, direction);
        let is_ours = direction == self.side;
        let of = answer.map(|a| a.to);
        let last = answer.is_some_and(|a| a.last);
        let kind = decoded.message.kind.to_string();
        let asked = of.and_then(|to| self.asked.get(&to)).copied();
        let greeted = of
            .filter(|_| is_ours)
            .and_then(|to| self.greeted.remove(&to));
        match (is_ours, asked, role) {
            (true, Some(at), _) => {
                let reply = self.message(at, message, kind, places);
                if let Some((entry, timeline)) = self.entries.get_mut(at) {
                    entry.is_done |= last;
                    timeline.did(said(reply), time);
                }
            }
            (true, None, _) if let Some(what) = greeted => {
                // What the protocol itself would say has the values of this run at the same places.
                let own = |place: &Place| match place.binding {
                    Binding::Name(_) => Some(Source::Request(place.path.clone())),
                    Binding::Time | Binding::Given => None,
                };
                let hello = template(message, kind, places, own);
                self.hellos.entry(what).or_insert(hello);
            }
            (true, None, _) if self.entries.is_empty() && self.greeted.is_empty() => {
                self.opening.get_or_insert(message);
            }
            // A runtime also tells a provider by an error of its own that it refuses what the provider sent; items that
            // belong to no request, such as audio, go with the one before them.
            (
                true,
                None,
                Some(
                    role @ (Role::Request
                    | Role::Notification
                    | Role::Error
                    | Role::Item
                    | Role::End),
                ),
            ) => {
                let Some(at) = self.course(decoded.origin.conn) else {
                    return;
                };
                let message = self.message(at, message, kind, places);
                if let Some((_, timeline)) = self.entries.get_mut(at) {
                    if role == Role::Request {
                        self.ours.insert(index, (at, timeline.calls()));
                        timeline.did(Action::Call(message), time);
                    } else {
                        timeline.did(said(message), time);
                    }
                }
            }
            (false, _, _) if self.protocol.is_hello(decoded.message) => {
                self.greeted.insert(index, Kept::of(decoded, None).what());
            }
            (false, None, Some(Role::Notification | Role::Item | Role::End))
                if let Some(at) = self.goes_on(decoded.origin.conn, &places) =>
            {
                let heard = self.named(at, kind, &places);
                if let Some(((_, timeline), heard)) = self.entries.get_mut(at).zip(heard) {
                    timeline.received(Action::Hear(heard), time);
                }
            }
            (false, None, Some(Role::Request | Role::Notification)) => {
                self.asked.insert(index, self.entries.len());
                let kept = Kept::of(decoded, None);
                let loose = loose(self.protocol, &kept, &places);
                self.loose.extend(loose.patterns);
                let entry = RecordedRequest {
                    index,
                    what: kept.what(),
                    actions: Arc::new([]),
                    message,
                    made: loose.made,
                    places,
                    secret: loose.secret,
                    kept,
                    is_done: false,
                    is_used: false,
                };
                self.entries.push((entry, Timeline::new(self.speed, time)));
            }
            (false, None, _) => {
                if let Some((at, call)) = of.and_then(|to| self.ours.get(&to)).copied()
                    && let Some((_, timeline)) = self.entries.get_mut(at)
                {
                    timeline.received(Action::Await(call), time);
                    timeline.answers.push((call, places));
                }
            }
            _ => {}
        }
    }
}

/// The name that a value is.
fn name_at(place: &Place) -> Option<usize> {
    match place.binding {
        Binding::Name(number) if !place.spot.is_key => Some(number),
        _ => None,
    }
}

/// Whether the id of a call stands there.
fn is_id(path: &Path) -> bool {
    matches!(&path[..], [Step::Member(key)] if matches!(key.as_str(), "id" | "seq"))
}

fn said(message: Value) -> Action {
    Action::Say(Reply::Message(message), Arc::default())
}

/// A message of which some values come from elsewhere.
fn template(
    text: String,
    kind: String,
    places: Vec<Place>,
    source: impl Fn(&Place) -> Option<Source>,
) -> Template {
    let slots = places.into_iter().filter_map(|place| {
        let source = source(&place)?;
        let spot = place.spot;
        Some(Slot { spot, source })
    });
    let slots = slots.collect();
    Template { text, kind, slots }
}

/// What of a recorded message need not be the same when it is said again: places in its tape, and their paths.
#[derive(Default)]
struct Loose {
    secret: HashSet<usize>,
    made: HashSet<usize>,
    patterns: Vec<String>,
}

fn loose(protocol: &dyn Protocol, kept: &Kept, places: &[Place]) -> Loose {
    let mut parsed = Parsed::new(Want::Places, crate::framing::Limits::default().depth);
    let view = kept.view();
    let is_name = |place: &&Place| matches!(place.binding, Binding::Name(_)) && !place.spot.is_key;
    let made: HashSet<&Path> = places.iter().filter(is_name).map(|p| &p.path).collect();
    let mut found = Loose::default();
    kept.read(protocol, &mut parsed, |message| {
        let Some(root) = message.value.and_then(|parsed| parsed.root(view.bytes)) else {
            return;
        };
        let mut notes = Notes::default();
        annotate(protocol, root, message, &mut notes);
        mark(root, &mut Path::new(), &mut |node, path| {
            let is_secret = notes.is_secret(node);
            let is_made = made.contains(path);
            found.secret.extend(is_secret.then(|| node.index()));
            found.made.extend(is_made.then(|| node.index()));
            if is_secret || is_made {
                let path = general(&path.to_string());
                found.patterns.push(format!("{}:{path}", kept.kind));
            }
        });
    });
    found
}

/// Visits every value with its path.
fn mark<'a>(node: Node<'a>, path: &mut Path, visit: &mut dyn FnMut(Node<'a>, &Path)) {
    visit(node, path);
    if node.is_map() {
        for (key, value) in node.members() {
            path.push(Step::Member(key.text().unwrap_or_default().into_owned()));
            mark(value, path, visit);
            path.pop();
        }
    } else if node.is_array() {
        for (n, item) in node.children().enumerate() {
            path.push(Step::Element(n));
            mark(item, path, visit);
            path.pop();
        }
    }
}
