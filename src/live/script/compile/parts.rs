//! The parts of a script while a recording is read: requests with the actions that answer them, and first messages.

use super::CompiledRequests;
use crate::diff::SpellingForm;
use crate::live::names::{Binding, ValuePlace};
use crate::live::script::request::RequestPattern;
use crate::live::script::template::{Replacement, Template, ValueSource};
use crate::live::script::value::{OpenValue, with_json};
use crate::live::script::{AwaitedRequest, HelloReply, Reply, ScriptAction};
use crate::live::speed::Speed;
use crate::path::Path;
use crate::protocol::{Direction, Protocol};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// The maximum time in ns that an event waits for the request before it, if the intervals are not kept.
const MAX_ORDER_WAIT: i64 = 1_000_000_000;
/// The time in ns between a notification and the answer after it, if the intervals are not kept.
const PAUSE_AFTER_NOTIFICATION: i64 = 1_000_000;

/// The first messages of the connections that the simulated side has opened.
#[derive(Default)]
pub(super) struct Opening {
    pub(super) kind: String,
    pub(super) conns: BTreeSet<Option<u32>>,
    pub(super) messages: Vec<String>,
}

impl Opening {
    /// Returns true for the message of another connection that corresponds to the first one.
    pub(super) fn begins(&self, conn: Option<u32>, kind: &str) -> bool {
        self.kind == kind && !self.conns.contains(&conn)
    }

    pub(super) fn add(&mut self, conn: Option<u32>, kind: &str, message: String, side: Direction) {
        // A side that listens has the same hello for each connection.
        if self.conns.is_empty() || side == Direction::ToServer && self.begins(conn, kind) {
            kind.clone_into(&mut self.kind);
            self.messages.push(message);
        }
        self.conns.insert(conn);
    }
}

/// A recorded request, while the recording is read.
pub(super) struct CompiledRequest {
    pub(super) index: u64,
    pub(super) conn: Option<u32>,
    pub(super) is_request: bool,
    /// It is a hello, with this reply. Boxed: few are.
    pub(super) hello: Option<Box<HelloReply>>,
    /// Its last answer is read.
    pub(super) is_done: bool,
    pub(super) pattern: RequestPattern,
    pub(super) values: StoredValues,
    pub(super) timeline: Timeline,
}

/// The values with a meaning in a message, which are stored for each message: most have one.
pub(super) enum StoredValues {
    One(StoredValue),
    Several(Box<[StoredValue]>),
}

impl StoredValues {
    /// `id`: the path of the id of the message.
    pub(super) fn of(places: &[ValuePlace], id: Option<&Path>, paths: &mut SharedPaths) -> Self {
        let value = |place: &ValuePlace| StoredValue {
            is_id: id == Some(&place.path),
            ..StoredValue::of(place, paths)
        };
        let values: Vec<StoredValue> = places.iter().map(value).collect();
        match <[StoredValue; 1]>::try_from(values) {
            Ok([value]) => Self::One(value),
            Err(values) => Self::Several(values.into()),
        }
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, StoredValue> {
        match self {
            Self::One(value) => std::slice::from_ref(value).iter(),
            Self::Several(values) => values.iter(),
        }
    }
}

/// A value of a stored message.
pub(super) struct StoredValue {
    pub(super) path: Arc<Path>,
    /// The number of the name that it stands for.
    name: Option<u32>,
    form: SpellingForm,
    is_id: bool,
}

impl StoredValue {
    fn of(place: &ValuePlace, paths: &mut SharedPaths) -> Self {
        Self {
            path: paths.share(&place.path),
            name: name_at(place).and_then(|name| u32::try_from(name).ok()),
            form: place.spot.form,
            is_id: false,
        }
    }

    pub(super) fn name(&self) -> Option<usize> {
        self.name.map(|name| name as usize)
    }
}

/// Paths of values, each stored once.
#[derive(Default)]
pub(super) struct SharedPaths(HashSet<Arc<Path>>);

impl SharedPaths {
    /// The maximum number of paths. A path that differs in every message is not worth sharing.
    const MAX: usize = 1 << 12;

    fn share(&mut self, path: &Path) -> Arc<Path> {
        if let Some(known) = self.0.get(path) {
            return Arc::clone(known);
        }
        let path = Arc::new(path.clone());
        if self.0.len() < Self::MAX {
            self.0.insert(Arc::clone(&path));
        }
        path
    }
}

impl CompiledRequest {
    /// Returns `true` for a request on this connection that waits for an answer.
    pub(super) fn is_open_on(&self, conn: Option<u32>) -> bool {
        self.is_request && !self.is_done && self.conn == conn
    }

    /// Returns its id.
    pub(super) fn id(&self) -> Option<&StoredValue> {
        self.values.iter().find(|value| value.is_id)
    }
}

/// A notification that may belong to each of several open requests. It goes with the one that is answered first: who
/// reads that answer has read what came before it.
pub(super) struct Undecided {
    /// The last request to which it may belong.
    pub(super) last: usize,
    /// The requests that hold its values, with the number of these.
    pub(super) holders: BTreeMap<usize, usize>,
    pub(super) message: String,
    pub(super) places: Vec<ValuePlace>,
    pub(super) time: Option<i64>,
    pub(super) is_event: bool,
}

/// The time of a request, and what answers it. Boxed: many requests have no answer.
pub(super) struct Timeline {
    pub(super) time: Option<i64>,
    course: Option<Box<Course>>,
}

impl Timeline {
    pub(super) fn new(time: Option<i64>) -> Self {
        Self { time, course: None }
    }

    /// Returns the actions so far.
    pub(super) fn actions(&self) -> &[ScriptAction] {
        self.course.as_ref().map_or(&[], |course| &course.actions)
    }

    pub(super) fn into_actions(self) -> Arc<[ScriptAction]> {
        self.course
            .map_or_else(Arc::default, |course| course.actions.into())
    }

    pub(super) fn course(&mut self, speed: Speed) -> &mut Course {
        let time = self.time;
        self.course
            .get_or_insert_with(|| Box::new(Course::new(speed, time)))
    }

    /// Returns the value of this run for a name, and its recorded form: of the request, of the answer to a call, or of a
    /// call.
    pub(super) fn source(
        &self,
        request: &StoredValues,
        name: usize,
        is_ours: bool,
    ) -> Option<(ValueSource, SpellingForm)> {
        let find = |values: &StoredValues, is_wanted: fn(&StoredValue) -> bool| {
            let mut values = values.iter();
            let value = values.find(|value| value.name() == Some(name) && is_wanted(value));
            value.map(|value| ((*value.path).clone(), value.form))
        };
        let course = self.course.as_deref();
        if is_ours {
            let mut calls = course?.calls.iter().enumerate();
            return calls.find_map(|(call, values)| {
                let (path, form) = find(values, |value| value.is_id)?;
                Some((ValueSource::Sent(call, path), form))
            });
        }
        let own = find(request, |_| true).map(|(path, form)| (ValueSource::Request(path), form));
        own.or_else(|| {
            let mut answers = course?.answers.iter();
            answers.find_map(|(call, values)| {
                let (path, form) = find(values, |_| true)?;
                Some((ValueSource::Call(*call, path), form))
            })
        })
    }
}

/// The actions that answer a request, with their times.
pub(super) struct Course {
    actions: Vec<ScriptAction>,
    /// The time of the last action.
    time: Option<i64>,
    speed: Speed,
    /// The number of the last request that an action waits for.
    awaited: u64,
    /// The last action is a notification.
    is_notified: bool,
    /// The values of the calls.
    pub(super) calls: Vec<StoredValues>,
    /// The answered calls: their numbers, and the values of the answers.
    pub(super) answers: Vec<(usize, StoredValues)>,
}

impl Course {
    fn new(speed: Speed, time: Option<i64>) -> Self {
        Self {
            actions: Vec::new(),
            time,
            speed,
            awaited: 0,
            is_notified: false,
            calls: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// Records that the request has no answer itself, which is not an error.
    pub(super) fn stay_silent(&mut self) {
        if self.actions.is_empty() {
            self.actions.push(ScriptAction::Wait(0));
        }
    }

    /// Adds a wait for an event of the peer.
    pub(super) fn received(&mut self, action: ScriptAction, time: Option<i64>) {
        self.time = time.or(self.time);
        self.is_notified = false;
        self.actions.push(action);
    }

    /// Adds a notification, after the recorded pause.
    pub(super) fn notified(&mut self, action: ScriptAction, time: Option<i64>) {
        self.did(action, time);
        self.is_notified = true;
    }

    /// Adds a pause before an answer that follows a notification, if the recorded ones are not kept: some clients drop a
    /// notification about a request that they read together with its answer.
    pub(super) fn pause_after_notification(&mut self) {
        if self.is_notified && self.speed == Speed::MAX {
            self.actions
                .push(ScriptAction::Wait(PAUSE_AFTER_NOTIFICATION));
        }
    }

    /// Adds a wait for a later request of the peer, at most as long as in the recording. Without intervals the order
    /// alone counts.
    pub(super) fn received_request(&mut self, index: u64, time: Option<i64>) {
        if index <= self.awaited {
            return;
        }
        self.awaited = index;
        let since = time
            .zip(self.time)
            .map(|(now, last)| now.saturating_sub(last));
        let most = self.speed.scale(since.unwrap_or_default());
        let most = most.unwrap_or(MAX_ORDER_WAIT);
        let awaited = AwaitedRequest { index, most };
        self.received(ScriptAction::AwaitRequest(awaited), time);
    }

    /// Adds an action of the stub's side, after the recorded pause.
    pub(super) fn did(&mut self, action: ScriptAction, time: Option<i64>) {
        let since = time
            .zip(self.time)
            .map(|(now, last)| now.saturating_sub(last));
        let wait = since.and_then(|since| self.speed.scale(since));
        self.actions
            .extend(wait.filter(|ns| *ns > 0).map(ScriptAction::Wait));
        self.received(action, time);
    }
}

/// The requests that hold the values of a recording, by the number of the name.
#[derive(Default)]
pub(super) struct Holders(Vec<HoldersOfName>);

/// The requests that hold a value: most values have one.
#[derive(Clone)]
enum HoldersOfName {
    One(u32),
    Several(Vec<u32>),
}

impl HoldersOfName {
    fn all(&self) -> &[u32] {
        match self {
            Self::One(request) => std::slice::from_ref(request),
            Self::Several(requests) => requests,
        }
    }
}

impl Holders {
    /// The maximum number of requests that are stored for a value: the last ones.
    pub(super) const MAX: usize = 64;

    /// Records that a request, its answers or its calls have these values.
    pub(super) fn add(&mut self, request: usize, places: &[ValuePlace]) {
        let Ok(request) = u32::try_from(request) else {
            return;
        };
        for name in names(places) {
            if self.0.len() <= name {
                let none = HoldersOfName::Several(Vec::new());
                self.0.resize(name + 1, none);
            }
            let Some(requests) = self.0.get_mut(name) else {
                continue;
            };
            match requests {
                HoldersOfName::Several(all) if all.is_empty() => {
                    *requests = HoldersOfName::One(request);
                }
                _ if requests.all().contains(&request) => {}
                HoldersOfName::One(first) => {
                    *requests = HoldersOfName::Several(vec![*first, request]);
                }
                HoldersOfName::Several(all) => {
                    if all.len() >= Self::MAX {
                        all.remove(0);
                    }
                    all.push(request);
                }
            }
        }
    }

    /// Returns the requests that hold some of these values, with the number of these values; values that one request holds
    /// do not count.
    pub(super) fn find(
        &self,
        places: &[ValuePlace],
        without: Option<usize>,
    ) -> BTreeMap<usize, usize> {
        let names: BTreeSet<usize> = names(places).collect();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let requests = names.iter().filter_map(|name| self.0.get(*name));
        let requests = requests.map(HoldersOfName::all);
        let holds = |all: &[u32], one: usize| all.iter().any(|at| *at as usize == one);
        let counted = requests.filter(|all| without.is_none_or(|one| !holds(all, one)));
        for request in counted.flatten() {
            *counts.entry(*request as usize).or_default() += 1;
        }
        counts
    }
}

/// Returns the names in a message. An empty value names nothing.
fn names(places: &[ValuePlace]) -> impl Iterator<Item = usize> {
    let places = places.iter().filter(|place| !place.spot.val.is_empty());
    places.filter_map(name_at)
}

/// Returns the replies to hellos: the first answer to each that accepts it, otherwise the first one, and what followed it.
pub(super) fn replies_to(
    hellos: CompiledRequests,
    protocol: &dyn Protocol,
    side: Direction,
) -> Vec<HelloReply> {
    let is_refusal = |hello: &HelloReply| is_refusal(hello, protocol, side);
    let mut replies: Vec<HelloReply> = Vec::new();
    for entry in hellos {
        let Some(hello) = entry.hello else { continue };
        let then = entry.timeline.into_actions();
        match replies.iter_mut().find(|reply| reply.to == hello.to) {
            // A client can offer another version after a refusal.
            Some(reply) if is_refusal(reply) && !is_refusal(&hello) => {
                reply.message = hello.message;
                reply.before = hello.before;
                reply.then = then;
            }
            Some(reply) => {
                reply.message = reply.message.take().or(hello.message);
                if reply.then.is_empty() {
                    reply.then = then;
                }
            }
            None => replies.push(HelloReply { then, ..*hello }),
        }
    }
    replies.retain(|reply| reply.message.is_some() || !reply.then.is_empty());
    replies
}

/// Returns `true` if the recorded answer to a hello is an error.
fn is_refusal(hello: &HelloReply, protocol: &dyn Protocol, side: Direction) -> bool {
    let text = match &hello.message {
        Some(OpenValue::Recorded(template)) => &template.text,
        Some(OpenValue::Json(text)) => text,
        _ => return false,
    };
    with_json(text, |root| protocol.is_error_answer(root, side)).unwrap_or_default()
}

/// Returns the number of the name that a value stands for.
pub(super) fn name_at(place: &ValuePlace) -> Option<usize> {
    match place.binding {
        Binding::Name(number) if !place.spot.is_key => Some(number),
        _ => None,
    }
}

pub(super) fn send_action(message: OpenValue) -> ScriptAction {
    ScriptAction::SendReply(Reply::Message(message), Arc::default())
}

/// Makes a message of which some values are replaced. `source` returns the source of a value and its recorded form
/// there.
pub(super) fn recorded(
    text: String,
    places: Vec<ValuePlace>,
    source: impl Fn(&ValuePlace) -> Option<(ValueSource, SpellingForm)>,
) -> OpenValue {
    let replaced = places.into_iter().filter_map(|place| {
        let (source, form) = source(&place)?;
        let span = place.spot.span;
        let key = text
            .get(span.at()..span.end())
            .filter(|_| place.spot.is_key);
        Some(Replacement {
            key: key.map(str::to_owned),
            source,
            keeps_form: !place.spot.is_key && place.spot.form != form,
            at: place.path,
        })
    });
    let replaced: Vec<Replacement> = replaced.collect();
    if replaced.is_empty() {
        return OpenValue::Json(text);
    }
    match Template::new(text.clone(), replaced) {
        Ok(template) => OpenValue::Recorded(Arc::new(template)),
        Err(_) => OpenValue::Json(text),
    }
}
