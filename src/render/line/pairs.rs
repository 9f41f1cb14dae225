//! Finds the request of an answer if no conversation does: stores requests by connection and direction, and by id or in
//! order. Over HTTP, the answer may come on another connection.

use crate::capture::Sources;
use crate::decoder::Decoded;
use crate::framing::Head;
use crate::protocol::{Direction, Id, Role};
use foldhash::HashMap;
use std::collections::VecDeque;
use std::hash::BuildHasher as _;

/// The maximum number of stored requests.
const MAX_REQUESTS: usize = 1 << 12;
/// The maximum number of stored subjects. Messages of one capture have few.
const MAX_SUBJECTS: usize = 1 << 6;

/// A request without an answer.
#[derive(Clone, Copy, Default)]
pub(super) struct ShownRequest {
    time: Option<i64>,
    /// The place of its subject.
    subject: Option<usize>,
}

/// Where answers come in the order of their requests: a connection, a direction, and the hash of a subject.
type Order = (Option<u32>, Direction, u64);

/// Requests without an answer.
#[derive(Default)]
pub(super) struct Pairs {
    open: HashMap<u64, ShownRequest>,
    /// The keys of those whose answers may come on another connection, as over HTTP: by capture, direction and id.
    shared_ids: HashMap<u64, Vec<u64>>,
    /// Those whose answers come in order: the oldest first.
    ordered: VecDeque<(Order, ShownRequest)>,
    subjects: Vec<Box<str>>,
}

impl Pairs {
    /// Stores a request. For an answer, returns its request. `sources`: the captures, if there are several.
    pub fn request_of(&mut self, decoded: &Decoded<'_>, sources: Option<&Sources>) -> ShownRequest {
        self.find(decoded, sources).unwrap_or_default()
    }

    fn find(&mut self, decoded: &Decoded<'_>, sources: Option<&Sources>) -> Option<ShownRequest> {
        let (origin, message) = (decoded.origin, decoded.message);
        let role = message.role?;
        let asks = role == Role::Request;
        // Without directions, ids alone tell the pair.
        let direction = origin.direction.unwrap_or(Direction::ToServer);
        let asked = match origin.direction {
            Some(direction) if !asks => direction.other(),
            _ => direction,
        };
        let descriptor = decoded.protocol.descriptor();
        let is_in_order = message.id == Id::None && descriptor.answers_in_order;
        if is_in_order || descriptor.answers_by_subject {
            return self.find_oldest(decoded, role, asked);
        }
        let hashes = self.open.hasher().clone();
        let key = || message.id.pair_key((origin.conn, asked), &hashes);
        let is_http = matches!(decoded.frame.head, Head::Http { .. });
        let is_shared = is_http || descriptor.answers_anywhere;
        let shared = || {
            let source = || sources.and_then(|all| all.number_of(origin.conn));
            let key = is_shared.then(|| message.id.pair_key((source(), asked), &hashes));
            key.flatten()
        };
        match role {
            Role::Request => {
                let key = key()?;
                if self.open.len() >= MAX_REQUESTS {
                    self.open.clear();
                    self.shared_ids.clear();
                }
                if let Some(shared) = shared() {
                    self.shared_ids.entry(shared).or_default().push(key);
                }
                let request = self.request(decoded);
                self.open.insert(key, request);
                None
            }
            Role::Response | Role::Error | Role::End => {
                let key = self.known_key(key()?, shared());
                if let Some(shared) = shared()
                    && let Some(keys) = self.shared_ids.get_mut(&shared)
                {
                    keys.retain(|one| *one != key);
                    if keys.is_empty() {
                        self.shared_ids.remove(&shared);
                    }
                }
                self.open.remove(&key)
            }
            Role::Item => self.open.get(&self.known_key(key()?, shared())).copied(),
            _ => None,
        }
    }

    /// Returns the key of the request of an answer: on its connection, otherwise the only one with its id that may be answered on another.
    fn known_key(&self, own: u64, shared: Option<u64>) -> u64 {
        let others = shared.and_then(|shared| self.shared_ids.get(&shared));
        match others.map(Vec::as_slice) {
            Some([only]) if !self.open.contains_key(&own) => *only,
            _ => own,
        }
    }

    /// Stores a request, or returns the oldest one of a side.
    fn find_oldest(
        &mut self,
        decoded: &Decoded<'_>,
        role: Role,
        asked: Direction,
    ) -> Option<ShownRequest> {
        let descriptor = decoded.protocol.descriptor();
        let conn = decoded.origin.conn.filter(|_| !descriptor.answers_anywhere);
        let subject = decoded.message.subject.as_deref();
        let subject = subject.filter(|_| descriptor.answers_by_subject);
        let order: Order = (conn, asked, self.open.hasher().hash_one(subject));
        if role == Role::Request {
            if self.ordered.len() >= MAX_REQUESTS {
                self.ordered.clear();
            }
            let request = self.request(decoded);
            self.ordered.push_back((order, request));
            return None;
        }
        let at = self.ordered.iter().position(|(its, _)| *its == order)?;
        match role {
            Role::Response | Role::Error | Role::End => self.ordered.remove(at),
            Role::Item => self.ordered.get(at).copied(),
            _ => None,
        }
        .map(|(_, request)| request)
    }

    fn request(&mut self, decoded: &Decoded<'_>) -> ShownRequest {
        ShownRequest {
            time: decoded.origin.time,
            subject: self.place_of(decoded.message.subject.as_deref()),
        }
    }

    /// Returns the place of a subject, which is stored once.
    fn place_of(&mut self, subject: Option<&str>) -> Option<usize> {
        let subject = subject?;
        let known = self.subjects.iter().position(|one| **one == *subject);
        known.or_else(|| {
            let place = self.subjects.len();
            (place < MAX_SUBJECTS).then(|| self.subjects.push(subject.into()))?;
            Some(place)
        })
    }

    /// Returns the subject of a request.
    pub fn subject(&self, request: ShownRequest) -> Option<&str> {
        Some(self.subjects.get(request.subject?)?)
    }
}

impl ShownRequest {
    /// Returns the nanoseconds until its answer.
    pub fn latency(self, answer: &Decoded<'_>) -> Option<i64> {
        let (answered, asked) = (answer.origin.time?, self.time?);
        answer.origin.direction?;
        Some(answered.saturating_sub(asked))
    }
}
