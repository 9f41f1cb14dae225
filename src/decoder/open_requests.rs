//! The open requests of a stream, for protocols whose answers do not name their request.
//!
//! ```text
//!   without direction   counts by method: a frame of a method with an open request may be its answer
//!   with directions     methods in order: an answer without a method id is that of an open request
//! ```

use crate::framing::Head;
use crate::protocol::{Context, Direction, Message, Role};

/// The largest number of requests of one stream whose order is kept.
const MAX_ORDERED: usize = 1 << 10;

/// Requests without a response.
#[derive(Clone, Default)]
pub(super) struct OpenRequests {
    /// In a stream without directions: for each method id, their number, and `true` if the kind of one of them is a
    /// guess.
    counts: Vec<(u32, u32, bool)>,
    /// In a stream with directions: their method ids, the oldest first.
    methods: Vec<u32>,
}

/// The open requests of a stream with directions, in few bytes: most have none or one.
#[derive(Debug, Default)]
pub(super) enum OpenMethods {
    #[default]
    None,
    One(u32),
    // A thin box: there are many streams with one.
    Several(Box<Box<[u32]>>),
}

impl From<OpenMethods> for OpenRequests {
    fn from(open: OpenMethods) -> Self {
        let methods = match open {
            OpenMethods::None => Vec::new(),
            OpenMethods::One(id) => vec![id],
            OpenMethods::Several(ids) => Vec::from(*ids),
        };
        Self {
            methods,
            ..Self::default()
        }
    }
}

impl OpenRequests {
    /// Returns the open requests in few bytes, if the stream has a direction.
    pub(super) fn compact(&self) -> Option<OpenMethods> {
        self.counts
            .is_empty()
            .then(|| match self.methods.as_slice() {
                [] => OpenMethods::None,
                [id] => OpenMethods::One(*id),
                ids => OpenMethods::Several(Box::new(ids.into())),
            })
    }

    /// Returns `true` if no request waits for an answer without a method id.
    pub(super) fn is_without_order(&self) -> bool {
        self.methods.is_empty()
    }

    /// Returns the context of a frame for the protocol, and the entry of its method.
    pub(super) fn context(
        &self,
        direction: Option<Direction>,
        head: Head<'_>,
    ) -> (Context<'_>, Option<usize>) {
        let entry = match (direction, head) {
            (None, Head::Method { id: wanted, .. }) => {
                self.counts.iter().position(|(id, ..)| *id == wanted)
            }
            _ => None,
        };
        let count = entry.and_then(|entry| self.counts.get(entry));
        let open = count.filter(|(_, count, _)| *count > 0);
        let context = Context {
            direction,
            open: open.map(|(.., guess)| *guess),
            open_methods: &self.methods,
        };
        (context, entry)
    }

    /// Counts a message.
    pub(super) fn observe(
        &mut self,
        direction: Option<Direction>,
        head: Head<'_>,
        entry: Option<usize>,
        message: &Message<'_>,
    ) {
        let id = match head {
            Head::Method { id, .. } => Some(id),
            _ => message.answered_method,
        };
        let (Some(id), Some(role)) = (id, message.role) else {
            return;
        };
        if direction.is_some() {
            return self.observe_in_order(id, role);
        }
        // The number of entries is at most that of the protocol's methods: other frames have no role.
        match (entry.and_then(|entry| self.counts.get_mut(entry)), role) {
            (Some((_, count, guess)), Role::Request) => {
                *guess = message.guess || (*guess && *count > 0);
                *count = count.saturating_add(1);
            }
            (None, Role::Request) => self.counts.push((id, 1, message.guess)),
            (Some((_, count, _)), Role::Response) => *count = count.saturating_sub(1),
            _ => {}
        }
    }

    fn observe_in_order(&mut self, id: u32, role: Role) {
        match role {
            Role::Request if self.methods.len() < MAX_ORDERED => self.methods.push(id),
            Role::Response => {
                if let Some(at) = self.methods.iter().position(|open| *open == id) {
                    self.methods.remove(at);
                }
            }
            _ => {}
        }
    }
}
