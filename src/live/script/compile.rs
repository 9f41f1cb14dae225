//! Reads a recording for its requests, and what each was answered.

use super::recorded::RecordedRequest;
use super::{Action, RecordedMessage, Reply};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::diff::{Kept, general};
use crate::encoding::{Parsed, Want};
use crate::live::names::{Binding, MessageInfo, Names, Place};
use crate::live::speed::Speed;
use crate::path::{Path, Step};
use crate::protocol::{Direction, Notes, Protocol, Role, annotate};
use crate::tape::Node;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What came of a request.
pub struct Timeline {
    pub actions: Vec<Action>,
    /// When the last of it happened.
    time: Option<i64>,
    speed: Speed,
}

impl Timeline {
    fn new(speed: Speed, time: Option<i64>) -> Self {
        Self {
            actions: Vec::new(),
            time,
            speed,
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
pub struct Reader<'p> {
    pub protocol: &'p dyn Protocol,
    pub side: Direction,
    pub names: Names,
    pub speed: Speed,
    pub entries: Vec<(RecordedRequest, Timeline)>,
    pub hellos: HashMap<String, Arc<RecordedMessage>>,
    /// Hellos by their index.
    pub greeted: HashMap<u64, String>,
    /// Entries by their index.
    pub asked: HashMap<u64, usize>,
    /// What the stub's side asked: in the course of which entry, and how many calls came before it there.
    pub ours: HashMap<u64, (usize, usize)>,
    /// What the stub's side said first, without being asked.
    pub opening: Option<Arc<RecordedMessage>>,
    pub directions: HashMap<u64, Direction>,
    /// Paths of what need not be the same when it is asked again.
    pub loose: BTreeSet<String>,
}

impl Reader<'_> {
    /// Which open request a message without an answer goes on with or ends: that which goes by the same id.
    fn goes_on(&self, conn: Option<u32>, places: &[Place]) -> Option<usize> {
        let names = |place: &Place| match place.binding {
            Binding::Name(name) if !place.spot.is_key => Some(name),
            _ => None,
        };
        let id = places.iter().find(|place| is_id(&place.path))?;
        let name = names(id)?;
        self.entries.iter().rposition(|(entry, _)| {
            let same = |place: &Place| place.path == id.path && names(place) == Some(name);
            !entry.is_done && entry.kept.conn == conn && entry.places.iter().any(same)
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

    pub fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
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
        let recorded = Arc::new(RecordedMessage {
            message,
            kind,
            places,
        });
        match (is_ours, of.and_then(|to| self.asked.get(&to)), role) {
            (true, Some(entry), _) => {
                if let Some((entry, course)) = self.entries.get_mut(*entry) {
                    entry.is_done |= last;
                    course.did(said(recorded), time);
                }
            }
            (true, None, _) if of.is_some_and(|to| self.greeted.contains_key(&to)) => {
                let what = of.and_then(|to| self.greeted.remove(&to));
                self.hellos
                    .entry(what.unwrap_or_default())
                    .or_insert(recorded);
            }
            (true, None, _) if self.entries.is_empty() && self.greeted.is_empty() => {
                self.opening.get_or_insert(recorded);
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
                if let Some(at) = self.course(decoded.origin.conn)
                    && let Some((_, course)) = self.entries.get_mut(at)
                {
                    if role == Role::Request {
                        self.ours.insert(index, (at, course.calls()));
                        course.did(Action::Call(recorded), time);
                    } else {
                        course.did(said(recorded), time);
                    }
                }
            }
            (false, _, _) if self.protocol.is_hello(decoded.message) => {
                self.greeted.insert(index, Kept::of(decoded, None).what());
            }
            (false, None, Some(Role::Notification | Role::Item | Role::End))
                if let Some(at) = self.goes_on(decoded.origin.conn, &recorded.places) =>
            {
                if let Some((_, course)) = self.entries.get_mut(at) {
                    course.received(Action::Hear(recorded), time);
                }
            }
            (false, None, Some(Role::Request | Role::Notification)) => {
                self.asked.insert(index, self.entries.len());
                let kept = Kept::of(decoded, None);
                let loose = loose(self.protocol, &kept, &recorded.places);
                self.loose.extend(loose.patterns);
                let entry = RecordedRequest {
                    index,
                    what: kept.what(),
                    actions: Arc::new([]),
                    message: recorded.message.clone(),
                    made: loose.made,
                    places: recorded.places.clone(),
                    secret: loose.secret,
                    kept,
                    is_done: false,
                    is_used: false,
                };
                self.entries.push((entry, Timeline::new(self.speed, time)));
            }
            (false, None, _) => {
                if let Some((at, call)) = of.and_then(|to| self.ours.get(&to))
                    && let Some((_, course)) = self.entries.get_mut(*at)
                {
                    course.received(Action::Learn(*call, recorded), time);
                }
            }
            _ => {}
        }
    }
}

/// Whether the id of a call stands there.
pub fn is_id(path: &Path) -> bool {
    matches!(&path[..], [Step::Member(key)] if matches!(key.as_str(), "id" | "seq"))
}

fn said(recorded: Arc<RecordedMessage>) -> Action {
    Action::Say(Reply::Recorded(recorded), Arc::default())
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
