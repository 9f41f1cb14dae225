//! Finds the request of an answer if no conversation does: stores requests by connection and direction, and by id or in
//! order. Over HTTP, the answer may come on another connection.

use crate::capture::Sources;
use crate::decoder::Decoded;
use crate::framing::Head;
use crate::protocol::{Direction, Id, Role};
use foldhash::HashMap;
use std::collections::VecDeque;

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

/// Requests without an answer.
#[derive(Default)]
pub(super) struct Pairs {
    open: HashMap<u64, ShownRequest>,
    /// The keys of those over HTTP, by capture, direction and id.
    over_http: HashMap<u64, Vec<u64>>,
    /// Those whose answers come in order: the oldest first, with the connection and the direction.
    ordered: VecDeque<(Option<u32>, Direction, ShownRequest)>,
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
        if message.id == Id::None && decoded.protocol.descriptor().answers_in_order {
            return self.find_oldest(decoded, role, asked);
        }
        let hashes = self.open.hasher().clone();
        let key = || message.id.pair_key((origin.conn, asked), &hashes);
        let is_http = matches!(decoded.frame.head, Head::Http { .. });
        let shared = || {
            let source = || sources.and_then(|all| all.of(origin.conn));
            let key = is_http.then(|| message.id.pair_key((source(), asked), &hashes));
            key.flatten()
        };
        match role {
            Role::Request => {
                let key = key()?;
                if self.open.len() >= MAX_REQUESTS {
                    self.open.clear();
                    self.over_http.clear();
                }
                if let Some(shared) = shared() {
                    self.over_http.entry(shared).or_default().push(key);
                }
                let request = self.request(decoded);
                self.open.insert(key, request);
                None
            }
            Role::Response | Role::Error | Role::End => {
                let key = self.known_key(key()?, shared());
                if let Some(shared) = shared()
                    && let Some(keys) = self.over_http.get_mut(&shared)
                {
                    keys.retain(|one| *one != key);
                    if keys.is_empty() {
                        self.over_http.remove(&shared);
                    }
                }
                self.open.remove(&key)
            }
            Role::Item => self.open.get(&self.known_key(key()?, shared())).copied(),
            _ => None,
        }
    }

    /// Returns the key of the request of an answer: on its connection, otherwise the only one over HTTP with its id.
    fn known_key(&self, own: u64, shared: Option<u64>) -> u64 {
        let others = shared.and_then(|shared| self.over_http.get(&shared));
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
        let conn = decoded.origin.conn;
        if role == Role::Request {
            if self.ordered.len() >= MAX_REQUESTS {
                self.ordered.clear();
            }
            let request = self.request(decoded);
            self.ordered.push_back((conn, asked, request));
            return None;
        }
        let is_its =
            |(of, side, _): &(Option<u32>, Direction, ShownRequest)| (*of, *side) == (conn, asked);
        let at = self.ordered.iter().position(is_its)?;
        match role {
            Role::Response | Role::Error | Role::End => self.ordered.remove(at),
            Role::Item => self.ordered.get(at).copied(),
            _ => None,
        }
        .map(|(.., request)| request)
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
