//! Applies a fault to a message.

use super::edit::{EditKind, StreamEnd};
use super::queue::DirectionQueue;
use super::{Action, CorruptSpot, corrupt, length};
use crate::decoder::Decoded;
use crate::framing::{Framing, Head, Places};
use fastrand::Rng;
use serde_json::{Map, Value};
use std::ops::Range;

/// A frame, and the bytes of the stream that belong to it.
pub(super) struct FaultTarget<'d, 'a> {
    pub(super) decoded: &'d Decoded<'a>,
    pub(super) own: Vec<Range<u64>>,
    /// The offset after the last of them.
    pub(super) end: u64,
}

/// `Ok`, or the reason why a fault cannot be applied.
pub(super) type EditResult = Result<(), &'static str>;

impl FaultTarget<'_, '_> {
    pub(super) fn start(&self) -> u64 {
        self.decoded.frame.offset
    }

    fn is_event(&self) -> bool {
        matches!(self.decoded.frame.head, Head::Http { event: true, .. })
    }

    /// Applies an action. Details for the event go to `details`.
    pub(super) fn apply(
        &self,
        action: &Action,
        queue: &mut DirectionQueue,
        rng: &mut Rng,
        details: &mut Map<String, Value>,
    ) -> Vec<(Range<u64>, EditKind)> {
        let mut edits = Vec::new();
        let done = self.edits(action, queue, rng, details, &mut edits);
        if let Err(why) = done {
            details.insert("undone".into(), why.into());
            edits.clear();
        }
        edits
    }

    fn edits(
        &self,
        action: &Action,
        queue: &DirectionQueue,
        rng: &mut Rng,
        details: &mut Map<String, Value>,
        edits: &mut Vec<(Range<u64>, EditKind)>,
    ) -> EditResult {
        let (start, end) = (self.start(), self.end);
        let over = self.decoded.frame.fault.as_ref();
        if queue.bytes(&(start..end)).is_none()
            || over.is_some_and(|f| f.error.code == "over-limit")
        {
            return Err("it is too long to hold");
        }
        match action {
            Action::Delay(ns) => {
                details.insert("ns".into(), (*ns).into());
                edits.push((start..start, EditKind::Wait(*ns)));
            }
            Action::Drop if self.is_event() => {
                details.insert("as".into(), "comment".into());
                self.comment_out(queue, edits);
            }
            Action::Drop => {
                let runs = self.own.iter().cloned();
                edits.extend(runs.map(|run| (run, EditKind::Put(Vec::new()))));
            }
            Action::Dup => {
                let copy = queue.joined(&self.own);
                details.insert("bytes".into(), copy.len().into());
                if self.is_event() && queue.in_chunks() {
                    let data = self.data(queue);
                    edits.push((end..end, EditKind::Chunk(data)));
                } else {
                    edits.push((end..end, EditKind::Put(copy)));
                }
            }
            Action::Corrupt(spot) => self.corrupt(spot, queue, rng, details, edits)?,
            Action::Truncate(n) => {
                let mut left = *n;
                let mut cut = 0;
                for run in &self.own {
                    let len = run.end - run.start;
                    let remaining = left.min(len);
                    left -= remaining;
                    if remaining < len {
                        edits.push((run.start + remaining..run.end, EditKind::Put(Vec::new())));
                        cut += len - remaining;
                    }
                }
                details.insert("cut".into(), cut.into());
                if cut == 0 {
                    return Err("its frame is not longer");
                }
            }
            Action::Length(by) => {
                let frame = queue.joined(&self.own);
                let head = &self.decoded.frame.head;
                let changed = length::change_length(self.decoded.frame.framing, head, &frame, *by);
                let changed = changed.ok_or("its frame has no length")?;
                details.insert("was".into(), changed.was.into());
                details.insert("is".into(), changed.is.into());
                let at = start + changed.at.start as u64..start + changed.at.end as u64;
                edits.push((at, EditKind::Put(changed.with)));
            }
            Action::Inject(file) => {
                details.insert("bytes".into(), file.bytes.len().into());
                edits.push((start..start, EditKind::Put(file.bytes.to_vec())));
            }
            Action::Close(code) => {
                edits.push((start..start, EditKind::End(StreamEnd::Close(*code))));
            }
            Action::Reset(code) => {
                edits.push((start..start, EditKind::End(StreamEnd::Reset(*code))));
            }
            Action::Stall => edits.push((start..start, EditKind::End(StreamEnd::Stall))),
        }
        Ok(())
    }

    fn corrupt(
        &self,
        spot: &CorruptSpot,
        queue: &DirectionQueue,
        rng: &mut Rng,
        details: &mut Map<String, Value>,
        edits: &mut Vec<(Range<u64>, EditKind)>,
    ) -> EditResult {
        let view = &self.decoded.frame.view;
        let packed = matches!(view.places, Places::Packed(_));
        let changes = match spot {
            CorruptSpot::Byte if packed => return self.corrupt_packed(queue, rng, details, edits),
            CorruptSpot::Byte => {
                let (at, is) = corrupt::byte(view.body(), rng).ok_or("it has no body")?;
                vec![(view.body.at() + at, is)]
            }
            CorruptSpot::At(_) if packed => return Err("it is compressed"),
            CorruptSpot::At(path) => {
                let root = self.decoded.root();
                let node = root.and_then(|root| path.find(root));
                let node = node.ok_or("it has no such field")?;
                corrupt::value(node, view.bytes, rng)
            }
        };
        if changes.is_empty() {
            return Err("no byte of it can be changed");
        }
        for (at, is) in changes {
            let was = view.bytes.get(at).copied().unwrap_or_default();
            flip(view.locate(at), was, is, queue, details, edits)?;
        }
        Ok(())
    }

    /// Corrupts a byte of a compressed payload, as it is sent.
    fn corrupt_packed(
        &self,
        queue: &DirectionQueue,
        rng: &mut Rng,
        details: &mut Map<String, Value>,
        edits: &mut Vec<(Range<u64>, EditKind)>,
    ) -> EditResult {
        let frame = self.own.first().and_then(|run| queue.bytes(run));
        let frame = frame.unwrap_or_default();
        let head = length::websocket_head(frame).unwrap_or_default();
        let payload = frame.get(head..).unwrap_or_default();
        let (at, is) = corrupt::byte(payload, rng).ok_or("it has no body")?;
        let was = payload.get(at).copied().unwrap_or_default();
        let offset = self.start() + (head + at) as u64;
        flip(offset, was, is, queue, details, edits)
    }

    /// Turns the lines of an event into comments: the size of its chunk was already sent, so the
    /// event cannot be removed.
    fn comment_out(&self, queue: &DirectionQueue, edits: &mut Vec<(Range<u64>, EditKind)>) {
        let (start, end) = (self.start(), self.end);
        let bytes = queue.bytes(&(start..end)).unwrap_or_default();
        for at in memchr::memmem::find_iter(bytes, b"data") {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            if matches!(before, None | Some(b'\n' | b'\r')) {
                let at = start + at as u64;
                edits.push((at..at + 1, EditKind::Put(vec![b':'])));
            }
        }
    }

    /// Returns an event without chunks around its parts.
    fn data(&self, queue: &DirectionQueue) -> Vec<u8> {
        let body = self.decoded.frame.view.body();
        let raw = queue.joined(&self.own);
        let end = if raw.ends_with(b"\r\n") { "\r\n" } else { "\n" };
        let mut data = Vec::with_capacity(raw.len());
        for line in body.split(|b| *b == b'\n') {
            data.extend_from_slice(b"data: ");
            data.extend_from_slice(line);
            data.extend_from_slice(end.as_bytes());
        }
        data.extend_from_slice(end.as_bytes());
        data
    }

    /// Returns the host names of a request that differ from `host`: in its target, if that is a
    /// whole address, and in every Host field.
    pub(super) fn rewrite_host(
        &self,
        host: &str,
        queue: &DirectionQueue,
    ) -> Vec<(Range<u64>, String)> {
        let Head::Http {
            status: 0,
            event: false,
            len,
            ..
        } = self.decoded.frame.head
        else {
            return Vec::new();
        };
        let start = self.start();
        let Some(head) = queue.bytes(&(start..start + u64::from(len))) else {
            return Vec::new();
        };
        let ranges = length::authority(head).into_iter();
        let ranges = ranges.chain(length::fields(head, "host"));
        let found = ranges.filter_map(|at| {
            let was = head.get(at.clone())?;
            let run = start + at.start as u64..start + at.end as u64;
            (was != host.as_bytes()).then(|| (run, String::from_utf8_lossy(was).into_owned()))
        });
        found.collect()
    }

    /// Returns `true` if a body in chunks follows that is read event by event.
    pub(super) fn opens_chunks(&self, queue: &DirectionQueue) -> bool {
        let frame = self.decoded.frame;
        let Head::Http {
            len, event: false, ..
        } = frame.head
        else {
            return false;
        };
        if frame.framing != Framing::Http || u64::from(len) != frame.len {
            return false;
        }
        let run = frame.offset..frame.offset + frame.len;
        let head = queue.bytes(&run).unwrap_or_default();
        let has_token = |name: &str, word: &[u8]| {
            let value = length::field(head, name).and_then(|at| head.get(at));
            let value = value.map(<[u8]>::to_ascii_lowercase);
            value.is_some_and(|value| memchr::memmem::find(&value, word).is_some())
        };
        has_token("transfer-encoding", b"chunked")
            && has_token("content-type", b"text/event-stream")
    }
}

/// Changes a byte. Under a mask, the change is the same.
fn flip(
    offset: u64,
    was: u8,
    is: u8,
    queue: &DirectionQueue,
    details: &mut Map<String, Value>,
    edits: &mut Vec<(Range<u64>, EditKind)>,
) -> EditResult {
    let sent = queue.bytes(&(offset..offset + 1)).and_then(<[u8]>::first);
    let sent = sent.ok_or("it was already sent")?;
    edits.push((offset..offset + 1, EditKind::Put(vec![sent ^ was ^ is])));
    details.entry("at").or_insert(offset.into());
    for (key, byte) in [("was", was), ("is", is)] {
        let text = details.get(key).and_then(Value::as_str).unwrap_or_default();
        let text = format!("{text}{byte:02x}");
        details.insert(key.into(), text.into());
    }
    Ok(())
}
