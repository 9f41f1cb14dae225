//! Chooses the reading of a text whose bytes are whole messages of a protocol.

use crate::capture::chunk::{Chunk, DirectionSlots, Item, ProblemSeverity};
use crate::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use crate::encoding::{Parsed, Want};
use crate::framing::{Frame, Framing, Head, Places, View};
use crate::protocol::{Context, Descriptor, Direction, Evidence, Protocol, Role, registry};
use crate::span::Span;
use serde_json::Value;
use std::borrow::Cow;

/// The result of decoding the bytes of a reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Score {
    /// Messages without faults.
    pub whole: u64,
    /// Frames with faults, skipped bytes, problems of the text.
    pub faults: u64,
    /// Bytes of messages without faults.
    pub message_bytes: u64,
    /// Problems of the text, which are faults too.
    pub problems: u64,
    pub bytes: u64,
    /// The direction of some bytes is known.
    pub directed: bool,
    /// A protocol was detected.
    pub detected: bool,
    /// The only frame lacks its end.
    pub truncated: bool,
    /// Messages that only one side sends, in its direction and in the opposite direction.
    pub right: u64,
    pub wrong: u64,
    /// Messages from the client and from the server, as the text says.
    pub to_server: u64,
    pub to_client: u64,
    pub answers: u64,
    /// Answers whose request has the other direction, and those whose request has the same one.
    pub answered_back: u64,
    pub answered_onward: u64,
}

impl Score {
    /// The better of two readings has the higher rank.
    pub(super) fn rank(self) -> (bool, bool, i64, u64, bool) {
        let certain = self.whole.cast_signed() - self.faults.cast_signed();
        let is_good = self.whole > 0 && certain > 0;
        let bytes = self.message_bytes;
        (is_good, self.is_truncated(), certain, bytes, self.directed)
    }

    /// Returns true if no other reading can be better.
    pub(super) fn is_sure(self) -> bool {
        self.whole > 0 && self.faults * 4 <= self.whole
    }

    /// Returns true if every message that only one side sends has the direction of the other side.
    pub(super) fn is_reversed(self) -> bool {
        self.wrong > 0 && self.right == 0 && !self.is_one_way()
    }

    /// Returns true if there is nothing else than answers of the client: a log of what a server sends.
    pub(super) fn has_only_answers_of_client(self) -> bool {
        self.answers > 1 && self.answers == self.whole && self.to_server == self.whole
    }

    /// Returns true if requests and answers have the same direction, which is not that of all of them.
    pub(super) fn is_one_way(self) -> bool {
        if self.answered_onward > 0 && self.answered_back == 0 {
            return true;
        }
        let is_mixed = self.right > 0 || self.answers > 0;
        self.wrong > 0 && is_mixed && !self.has_both_ways()
    }

    pub(super) fn has_both_ways(self) -> bool {
        self.to_server > 0 && self.to_client > 0
    }

    /// Returns true if more bytes may show a message.
    pub(super) fn is_undecided(self) -> bool {
        !self.detected && self.whole == 0 && self.faults == 0
    }

    /// Returns true if there are messages, perhaps with faults.
    pub(super) fn is_any(self) -> bool {
        self.whole > 0 || self.detected
    }

    /// Returns true if the bytes are the beginning of one message.
    pub(super) fn is_truncated(self) -> bool {
        self.whole == 0 && self.faults == 1 && self.detected && self.truncated
    }
}

/// Decodes the items of a reading.
#[derive(Default)]
pub(super) struct Probe {
    /// The protocol that the user named, if a file describes it.
    described: Expected,
    /// Created with the first bytes: most readings of a text have none.
    decoder: Option<Decoder<'static>>,
    score: Score,
    ids: LastIds,
}

/// The ids of the last request and of the last answer in each direction.
#[derive(Default)]
struct LastIds {
    asked: DirectionSlots<Option<String>>,
    answered: DirectionSlots<Option<String>>,
}

impl LastIds {
    /// Adds a message; returns true if its partner has the other direction, and false if it has the same one. A text may
    /// begin with the newest message, so that a request is behind its answer.
    fn add(&mut self, id: String, is_request: bool, direction: Direction) -> Option<bool> {
        let (own, partners) = if is_request {
            (&mut self.asked, &mut self.answered)
        } else {
            (&mut self.answered, &mut self.asked)
        };
        let mut has = |direction| partners.of(Some(direction)).as_ref() == Some(&id);
        let is_back = has(direction.other());
        let found = is_back || has(direction);
        *own.of(Some(direction)) = Some(id);
        found.then_some(is_back)
    }
}

impl Probe {
    pub(super) fn new(expected: Expected) -> Self {
        Self {
            described: expected.filter(|one| is_described(*one)),
            ..Self::default()
        }
    }

    pub(super) fn item(&mut self, item: &Item<'_>) {
        let Self {
            described,
            decoder,
            score,
            ids,
        } = self;
        match item {
            Item::Chunk(chunk) => {
                let decoder = decoder.get_or_insert_with(|| {
                    // Its messages need not be certain.
                    let protocols = described.map_or(registry::all().to_vec(), |one| vec![one]);
                    let mut options = DecodeOptions::new(protocols);
                    options.want = Want::Head;
                    Decoder::new(options)
                });
                score.bytes += chunk.bytes.len() as u64;
                score.directed |= chunk.direction.is_some();
                let origin = Origin {
                    conn: None,
                    ..chunk.origin()
                };
                decoder.push(origin, chunk.bytes, &mut |decoded| {
                    count(score, ids, decoded);
                });
            }
            Item::Gap(gap) => {
                let origin = Origin {
                    direction: gap.direction,
                    ..Origin::default()
                };
                let len = gap.to.saturating_sub(gap.from);
                if let Some(decoder) = decoder {
                    decoder.gap(origin, len, &mut |decoded| count(score, ids, decoded));
                }
            }
            Item::Problem(problem) if problem.severity == ProblemSeverity::Error => {
                score.faults += 1;
                score.problems += 1;
            }
            _ => {}
        }
    }

    /// Ends the reading; `ended` if the text ends here too, so that a frame without its end is a fault.
    pub(super) fn finish(mut self, ended: bool) -> Score {
        let (score, ids) = (&mut self.score, &mut self.ids);
        if let Some(decoder) = &mut self.decoder {
            // More text may complete the last frames.
            let mut last = 0;
            decoder.finish(&mut |decoded| {
                if !ended && decoded.is_faulty() {
                    last += 1;
                } else {
                    score.faults += std::mem::take(&mut last);
                    count(score, ids, decoded);
                }
            });
            score.detected = decoder.guess().is_some_and(|guess| !guess.tie);
        }
        self.score
    }
}

fn count(score: &mut Score, ids: &mut LastIds, decoded: &Decoded<'_>) {
    // Only a client sends a request of HTTP, whatever is inside.
    if let (
        Head::Http {
            status, len: 1.., ..
        },
        Some(direction),
    ) = (decoded.frame.head, decoded.origin.direction)
    {
        let is_right = (status == 0) == (direction == Direction::ToServer);
        score.right += u64::from(is_right);
        score.wrong += u64::from(!is_right);
    }
    if let Some((_, error)) = decoded.faults().next() {
        score.faults += 1;
        score.truncated = matches!(error.code, "truncated" | "gap");
    } else if decoded.frame.control == Some("skipped") || is_unknown(decoded) {
        score.faults += 1;
    } else if decoded.message.role != Some(Role::Control) {
        score.whole += 1;
        score.message_bytes += decoded.frame.len;
        match decoded.origin.direction {
            Some(Direction::ToServer) => score.to_server += 1,
            Some(Direction::ToClient) => score.to_client += 1,
            None => {}
        }
        let is_answer = matches!(decoded.message.role, Some(Role::Response | Role::Error));
        score.answers += u64::from(is_answer);
        let id = decoded.message.id.text();
        let is_request = decoded.message.role == Some(Role::Request);
        if let Some(direction) = decoded.origin.direction
            && (is_request || is_answer)
            && !id.is_empty()
        {
            match ids.add(id.into_owned(), is_request, direction) {
                Some(true) => score.answered_back += 1,
                Some(false) => score.answered_onward += 1,
                None => {}
            }
        }
        let sender = (decoded.protocol).own_direction(decoded.frame, decoded.message);
        if let (Some(sender), Some(direction)) = (sender, decoded.origin.direction) {
            let is_right = sender == direction;
            score.right += u64::from(is_right);
            score.wrong += u64::from(!is_right);
        }
    }
}

/// Returns the direction of bytes with a message that only one side sends.
pub(in super::super) fn sender(bytes: &[u8]) -> Option<Direction> {
    let mut probe = Probe::default();
    probe.item(&Item::Chunk(Chunk::of(Some(Direction::ToServer), bytes)));
    let score = probe.finish(false);
    match (score.right, score.wrong) {
        (1.., 0) => Some(Direction::ToServer),
        (0, 1..) => Some(Direction::ToClient),
        _ => None,
    }
}

/// Returns true if no kind of the protocol has this message.
fn is_unknown(decoded: &Decoded<'_>) -> bool {
    decoded.message.role.is_none() && decoded.message.evidence == Evidence::None
}

/// The protocol that the user named.
pub(in super::super) type Expected = Option<&'static dyn Protocol>;

/// Returns true if a file describes the protocol. A message may then have any members.
fn is_described(protocol: &dyn Protocol) -> bool {
    protocol.description_hash().is_some()
}

/// Tells messages from other JSON.
pub(super) struct MessageTest {
    parsed: Parsed,
    /// The name of the described protocol that the user named, or that a message showed for certain. All its messages count.
    described: Option<&'static str>,
    /// The text has messages of a protocol that no file describes.
    has_built_in: bool,
}

impl Default for MessageTest {
    fn default() -> Self {
        Self::new(None)
    }
}

impl MessageTest {
    pub(super) fn new(expected: Expected) -> Self {
        let described = expected.filter(|one| is_described(*one));
        Self {
            parsed: Parsed::new(Want::Head, 128),
            described: described.map(<dyn Protocol>::name),
            has_built_in: false,
        }
    }

    /// Returns true if a protocol may have written this message.
    pub(super) fn is_message(&mut self, body: &[u8]) -> bool {
        self.framing(body).is_some()
    }

    /// Returns the framing of the protocols that may have written this message: lines, headers, or either one.
    pub(super) fn framing(&mut self, body: &[u8]) -> Option<MessageFraming> {
        self.certain_framing(body).map(|(framing, _)| framing)
    }

    /// Returns the only protocol that has a message for certain.
    pub(super) fn protocol(&mut self, body: &[u8]) -> Option<&'static str> {
        let frame = frame_of(body);
        let mut names = registry::all().iter().filter(|protocol| {
            let context = Context::default();
            framing_of(&protocol.descriptor()).is_some()
                && protocol.read(&frame, &context, &mut self.parsed).evidence == Evidence::Certain
        });
        let (first, second) = (names.next(), names.next());
        let only = first.filter(|_| second.is_none());
        only.map(|one| one.descriptor().name)
    }

    /// Returns the framing, and true if this is a message of some protocol for certain.
    pub(super) fn certain_framing(&mut self, body: &[u8]) -> Option<(MessageFraming, bool)> {
        let frame = frame_of(body);
        // A batch has nothing else than objects.
        if body.starts_with(b"[") && !is_list_of_objects(body) {
            return None;
        }
        let (mut found, mut is_certain) = (None, false);
        for protocol in registry::all() {
            let own = protocol.descriptor();
            let Some(framing) = framing_of(&own) else {
                continue;
            };
            let message = protocol.read(&frame, &Context::default(), &mut self.parsed);
            let is_described = is_described(*protocol);
            match message.evidence {
                Evidence::None | Evidence::Weak => {}
                // Other objects have such members too.
                Evidence::Possible if is_described && self.described != Some(own.name) => {}
                Evidence::Possible if is_described => return Some((framing, true)),
                Evidence::Certain if framing != MessageFraming::Either => {
                    // One object of a text with other messages may look like one by accident.
                    if !is_described {
                        self.has_built_in = true;
                    } else if !self.has_built_in {
                        self.described = Some(own.name);
                    }
                    return Some((framing, true));
                }
                evidence => {
                    // An envelope that protocols share is a message, whatever it has inside.
                    is_certain |= evidence == Evidence::Certain || found.is_some();
                    found = Some(MessageFraming::Either);
                }
            }
        }
        self.has_built_in |= is_certain;
        Some((found?, is_certain))
    }
}

/// Returns the framing of the JSON messages of a protocol; `None` if it has none.
fn framing_of(protocol: &Descriptor<'_>) -> Option<MessageFraming> {
    let has = |framing| protocol.framings.contains(&framing);
    Some(match (has(Framing::Lines), has(Framing::ContentLength)) {
        (true, false) => MessageFraming::Lines,
        (false, true) => MessageFraming::Headers,
        (true, true) => MessageFraming::Either,
        (false, false) if protocol.is_carried_json() => MessageFraming::Lines,
        (false, false) => return None,
    })
}

fn frame_of(body: &[u8]) -> Frame<'_> {
    Frame {
        offset: 0,
        len: body.len() as u64,
        framing: Framing::Message,
        head: Head::None,
        view: View {
            bytes: body,
            body: Span::new(0, body.len()),
            places: Places::Run(0),
        },
        control: None,
        fault: None,
    }
}

/// Returns true if each element of a list is an object.
fn is_list_of_objects(list: &[u8]) -> bool {
    let elements: Result<Vec<&serde_json::value::RawValue>, _> = serde_json::from_slice(list);
    elements.is_ok_and(|all| all.iter().all(|element| element.get().starts_with('{')))
}

/// The framing of the messages of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageFraming {
    /// Each is a line.
    Lines,
    /// Each has a header with its length.
    Headers,
    /// Several protocols have such a message.
    Either,
}

/// Returns true if an object describes a request of HTTP: its method is a verb, which no other protocol has.
pub(super) fn is_http_request(object: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
        jsonrpc: Option<serde::de::IgnoredAny>,
    }
    const VERBS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    let request = serde_json::from_slice::<Request<'_>>(object);
    request.is_ok_and(|one| one.jsonrpc.is_none() && VERBS.contains(&&*one.method))
}

/// Returns the id of a message, and `true` if it is a request.
pub(super) fn exchange(message: &[u8]) -> Option<(String, bool)> {
    let value: Value = serde_json::from_slice(message).ok()?;
    let id = value.get("id").filter(|id| !id.is_null())?;
    Some((id.to_string(), value.get("method").is_some()))
}

/// Returns true if one of these is the answer to the other one.
pub(super) fn are_pair(a: &Value, b: &Value) -> bool {
    let id = a.get("id").filter(|id| !id.is_null());
    let is_request = |value: &Value| value.get("method").is_some();
    id.is_some() && id == b.get("id") && is_request(a) != is_request(b)
}
