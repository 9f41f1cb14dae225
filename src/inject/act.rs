//! A fault, done to a message.

use super::edit::{Does, End};
use super::lane::Lane;
use super::{Action, Spot, corrupt, length};
use crate::decoder::Decoded;
use crate::framing::{Framing, Head, Places};
use fastrand::Rng;
use serde_json::{Map, Value};
use std::ops::Range;

/// A frame, and which bytes of the stream are its own.
pub(super) struct Target<'d, 'a> {
    pub(super) decoded: &'d Decoded<'a>,
    pub(super) own: Vec<Range<u64>>,
    /// One past the last of them.
    pub(super) end: u64,
}

/// What is to be said of it, or why it could not be done.
pub(super) type Done = Result<(), &'static str>;

impl Target<'_, '_> {
    pub(super) fn start(&self) -> u64 {
        self.decoded.frame.offset
    }

    fn is_event(&self) -> bool {
        matches!(self.decoded.frame.head, Head::Http { event: true, .. })
    }

    /// Does it; what there is to say beside goes to `told`.
    pub(super) fn act(
        &self,
        action: &Action,
        lane: &mut Lane,
        rng: &mut Rng,
        told: &mut Map<String, Value>,
    ) -> Vec<(Range<u64>, Does)> {
        let mut edits = Vec::new();
        let done = self.edits(action, lane, rng, told, &mut edits);
        if let Err(why) = done {
            told.insert("undone".into(), why.into());
            edits.clear();
        }
        edits
    }

    fn edits(
        &self,
        action: &Action,
        lane: &Lane,
        rng: &mut Rng,
        told: &mut Map<String, Value>,
        edits: &mut Vec<(Range<u64>, Does)>,
    ) -> Done {
        let (start, end) = (self.start(), self.end);
        let over = self.decoded.frame.fault.as_ref();
        if lane.bytes(&(start..end)).is_none() || over.is_some_and(|f| f.error.code == "over-limit")
        {
            return Err("too long to be held");
        }
        match action {
            Action::Delay(ns) => {
                told.insert("ns".into(), (*ns).into());
                edits.push((start..start, Does::Wait(*ns)));
            }
            Action::Drop if self.is_event() => {
                told.insert("as".into(), "comment".into());
                self.comment_out(lane, edits);
            }
            Action::Drop => {
                let runs = self.own.iter().cloned();
                edits.extend(runs.map(|run| (run, Does::Put(Vec::new()))));
            }
            Action::Dup => {
                let copy = lane.joined(&self.own);
                told.insert("bytes".into(), copy.len().into());
                if self.is_event() && lane.in_chunks() {
                    let data = self.data(lane);
                    edits.push((end..end, Does::Chunk(data)));
                } else {
                    edits.push((end..end, Does::Put(copy)));
                }
            }
            Action::Corrupt(spot) => self.corrupt(spot, lane, rng, told, edits)?,
            Action::Truncate(n) => {
                let mut left = *n;
                let mut cut = 0;
                for run in &self.own {
                    let len = run.end - run.start;
                    let kept = left.min(len);
                    left -= kept;
                    if kept < len {
                        edits.push((run.start + kept..run.end, Does::Put(Vec::new())));
                        cut += len - kept;
                    }
                }
                told.insert("cut".into(), cut.into());
                if cut == 0 {
                    return Err("it is no longer than that");
                }
            }
            Action::Length(by) => {
                let frame = lane.joined(&self.own);
                let head = &self.decoded.frame.head;
                let lie = length::lie(self.decoded.frame.framing, head, &frame, *by);
                let lie = lie.ok_or("its frame tells no length")?;
                told.insert("was".into(), lie.was.into());
                told.insert("is".into(), lie.is.into());
                let at = start + lie.at.start as u64..start + lie.at.end as u64;
                edits.push((at, Does::Put(lie.with)));
            }
            Action::Inject(file) => {
                told.insert("bytes".into(), file.bytes.len().into());
                edits.push((start..start, Does::Put(file.bytes.to_vec())));
            }
            Action::Close => edits.push((start..start, Does::End(End::Close))),
            Action::Reset => edits.push((start..start, Does::End(End::Reset))),
            Action::Stall => edits.push((start..start, Does::End(End::Stall))),
        }
        Ok(())
    }

    fn corrupt(
        &self,
        spot: &Spot,
        lane: &Lane,
        rng: &mut Rng,
        told: &mut Map<String, Value>,
        edits: &mut Vec<(Range<u64>, Does)>,
    ) -> Done {
        let view = &self.decoded.frame.view;
        let packed = matches!(view.places, Places::Packed(_));
        let changes = match spot {
            Spot::Byte if packed => return self.corrupt_packed(lane, rng, told, edits),
            Spot::Byte => {
                let (at, is) = corrupt::byte(view.body(), rng).ok_or("it has no body")?;
                vec![(view.body.at() + at, is)]
            }
            Spot::At(_) if packed => return Err("it is compressed"),
            Spot::At(path) => {
                let root = self.decoded.root();
                let node = root.and_then(|root| path.find(root));
                let node = node.ok_or("there is no such place")?;
                corrupt::value(node, view.bytes, rng)
            }
        };
        if changes.is_empty() {
            return Err("there is nothing that could be another");
        }
        for (at, is) in changes {
            let was = view.bytes.get(at).copied().unwrap_or_default();
            flip(view.locate(at), was, is, lane, told, edits)?;
        }
        Ok(())
    }

    /// A byte of a compressed payload, as it is sent.
    fn corrupt_packed(
        &self,
        lane: &Lane,
        rng: &mut Rng,
        told: &mut Map<String, Value>,
        edits: &mut Vec<(Range<u64>, Does)>,
    ) -> Done {
        let frame = self.own.first().and_then(|run| lane.bytes(run));
        let frame = frame.unwrap_or_default();
        let head = length::websocket_head(frame).unwrap_or_default();
        let payload = frame.get(head..).unwrap_or_default();
        let (at, is) = corrupt::byte(payload, rng).ok_or("it has no body")?;
        let was = payload.get(at).copied().unwrap_or_default();
        let offset = self.start() + (head + at) as u64;
        flip(offset, was, is, lane, told, edits)
    }

    /// An event of a stream cannot be left out of a chunk whose size is told already: its lines become comments.
    fn comment_out(&self, lane: &Lane, edits: &mut Vec<(Range<u64>, Does)>) {
        let (start, end) = (self.start(), self.end);
        let bytes = lane.bytes(&(start..end)).unwrap_or_default();
        for at in memchr::memmem::find_iter(bytes, b"data") {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            if matches!(before, None | Some(b'\n' | b'\r')) {
                let at = start + at as u64;
                edits.push((at..at + 1, Does::Put(vec![b':'])));
            }
        }
    }

    /// An event as it is without chunks around its parts.
    fn data(&self, lane: &Lane) -> Vec<u8> {
        let body = self.decoded.frame.view.body();
        let raw = lane.joined(&self.own);
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

    /// What names the host in a request, to be another: its target, where that is a whole address, and every Host field.
    pub(super) fn rehost(&self, host: &str, lane: &Lane) -> Vec<(Range<u64>, String)> {
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
        let Some(head) = lane.bytes(&(start..start + u64::from(len))) else {
            return Vec::new();
        };
        let places = length::authority(head).into_iter();
        let places = places.chain(length::fields(head, "host"));
        let found = places.filter_map(|at| {
            let was = head.get(at.clone())?;
            let run = start + at.start as u64..start + at.end as u64;
            (was != host.as_bytes()).then(|| (run, String::from_utf8_lossy(was).into_owned()))
        });
        found.collect()
    }

    /// Whether a body in chunks follows that is told event by event.
    pub(super) fn opens_chunks(&self, lane: &Lane) -> bool {
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
        let head = lane.bytes(&run).unwrap_or_default();
        let says = |name: &str, word: &[u8]| {
            let value = length::field(head, name).and_then(|at| head.get(at));
            let value = value.map(<[u8]>::to_ascii_lowercase);
            value.is_some_and(|value| memchr::memmem::find(&value, word).is_some())
        };
        says("transfer-encoding", b"chunked") && says("content-type", b"text/event-stream")
    }
}

/// A byte that is to be another; under a mask it still is what it should be.
fn flip(
    offset: u64,
    was: u8,
    is: u8,
    lane: &Lane,
    told: &mut Map<String, Value>,
    edits: &mut Vec<(Range<u64>, Does)>,
) -> Done {
    let sent = lane.bytes(&(offset..offset + 1)).and_then(<[u8]>::first);
    let sent = sent.ok_or("it went out before")?;
    edits.push((offset..offset + 1, Does::Put(vec![sent ^ was ^ is])));
    told.entry("at").or_insert(offset.into());
    for (key, byte) in [("was", was), ("is", is)] {
        let text = told.get(key).and_then(Value::as_str).unwrap_or_default();
        let text = format!("{text}{byte:02x}");
        told.insert(key.into(), text.into());
    }
    Ok(())
}
