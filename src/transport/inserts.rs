//! Messages that a user adds to live traffic, between two messages of a peer.
//!
//! ```text
//!   Inserts::send --Insert--> the task or thread that pumps this direction --> recorded and written as bytes that were read
//! ```

use crate::capture::ChunkSource;
use crate::inject::InsertError;
use crate::protocol::Channel;
use crate::protocol::Direction;
use crate::relay::RelayLane;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The time for which a message waits for the end of another one, and for its receiver.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The interval between two attempts.
const RETRY: Duration = Duration::from_millis(10);

/// A message to add.
pub(super) struct Insert {
    pub(super) bytes: Vec<u8>,
    reply: Sender<Result<(), InsertError>>,
}

impl Insert {
    /// Answers if the message was added.
    pub(super) fn reply(self, result: Result<(), InsertError>) {
        // A sender that no longer waits needs no answer.
        let _ = self.reply.send(result);
    }
}

/// The task or thread that pumps a direction.
#[derive(Clone)]
enum InsertTarget {
    Task(UnboundedSender<Insert>),
    /// Adds the message, on any thread; it may block.
    Call(Arc<dyn Fn(Insert) + Send + Sync>),
}

/// The directions that messages can be added to.
#[derive(Default)]
pub struct Inserts {
    targets: Mutex<BTreeMap<RelayLane, InsertTarget>>,
}

/// The reason why a message was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertRefusal {
    /// The connection, its direction or its stream has ended.
    Ended,
    /// Another message of the direction did not end in time.
    InsideMessage,
    /// The ends of messages of the direction are not known.
    Unknown,
    /// The receiver did not take it in time; it may take it later.
    Late,
}

impl Display for InsertRefusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ended => "not sent: its connection or stream has ended in this direction",
            Self::InsideMessage => "not sent: another message is under way; try again",
            Self::Unknown => {
                "not sent: wiretool does not know where messages of this direction end"
            }
            Self::Late => "the receiver has not taken it yet",
        })
    }
}

impl Inserts {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<RelayLane, InsertTarget>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message, as soon as no other message of the direction is incomplete. Blocks for about a second at most.
    ///
    /// # Errors
    ///
    /// Fails if the message cannot be added, or not in time.
    pub fn send(
        &self,
        conn: u32,
        stream: Option<u64>,
        direction: Direction,
        bytes: &[u8],
    ) -> Result<(), InsertRefusal> {
        let dir = match direction {
            Direction::ToServer => ChunkSource::C2s,
            Direction::ToClient => ChunkSource::S2c,
        };
        let lane = (Channel { conn, stream }, dir);
        let until = Instant::now() + TIMEOUT;
        loop {
            let target = self.lock().get(&lane).cloned();
            let (reply, answer) = channel();
            let insert = Insert {
                bytes: bytes.to_vec(),
                reply,
            };
            match target {
                Some(InsertTarget::Task(task)) => {
                    task.send(insert).map_err(|_| InsertRefusal::Ended)?;
                }
                Some(InsertTarget::Call(add)) => {
                    // A child may not read for any time.
                    std::thread::spawn(move || add(insert));
                }
                None => return Err(InsertRefusal::Ended),
            }
            let left = until.saturating_duration_since(Instant::now());
            match answer.recv_timeout(left.max(RETRY)) {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(InsertError::Unknown)) => return Err(InsertRefusal::Unknown),
                Err(RecvTimeoutError::Timeout) => return Err(InsertRefusal::Late),
                Err(RecvTimeoutError::Disconnected) => return Err(InsertRefusal::Ended),
                Ok(Err(InsertError::InsideMessage)) if Instant::now() >= until => {
                    return Err(InsertRefusal::InsideMessage);
                }
                Ok(Err(InsertError::InsideMessage)) => std::thread::sleep(RETRY),
            }
        }
    }

    /// Registers a direction that a task pumps, until the result is dropped.
    pub(super) fn accept(self: &Arc<Self>, channel: Channel, dir: ChunkSource) -> InsertReceiver {
        let (sender, receiver) = unbounded_channel();
        let lane = (channel, dir);
        self.lock().insert(lane, InsertTarget::Task(sender));
        InsertReceiver {
            inserts: Arc::clone(self),
            lane,
            receiver,
        }
    }

    /// Registers a direction that a thread pumps: `add` drops messages after its end.
    pub(super) fn accept_with(
        &self,
        channel: Channel,
        dir: ChunkSource,
        add: impl Fn(Insert) + Send + Sync + 'static,
    ) {
        let target = InsertTarget::Call(Arc::new(add));
        self.lock().insert((channel, dir), target);
    }
}

/// Receives the messages for one direction.
pub(super) struct InsertReceiver {
    inserts: Arc<Inserts>,
    lane: RelayLane,
    pub(super) receiver: UnboundedReceiver<Insert>,
}

impl Drop for InsertReceiver {
    fn drop(&mut self) {
        self.inserts.lock().remove(&self.lane);
    }
}
