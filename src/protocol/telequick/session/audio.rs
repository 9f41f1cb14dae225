//! Audio of calls: numbers, end, codec.
//!
//! ```text
//!   connection, direction, call_sid:  0 - 1 - 2 - ... - n, end_of_stream
//! ```
//!
//! If the direction is not known, both directions of a call may be in one stream. Then two sequences of numbers are
//! tracked; the second starts at a number that cannot continue the first.

use super::recent::RecentTable;
use super::shape::quote_text;
use crate::protocol::Direction;
use crate::protocol::rule_names::telequick as rule;
use crate::protocol::session::{Current, Place, Report, broken};
use crate::protocol::telequick::schema::name;
use crate::tape::{Node, Scalar, Value};
use std::ops::Range;

/// 20 ms of 8000 samples per second, one byte each.
const USUAL_SIZE: usize = 160;
const CODECS: [&str; 3] = ["PCMU", "PCMA", "PCM16"];

/// All tracked audio.
pub(super) struct Audio {
    /// The calls by connection.
    calls: RecentTable<CallAudio, Option<u32>>,
}

/// The audio of one call, in one direction of one connection.
struct CallAudio {
    direction: Option<Direction>,
    rows: [Option<Row>; 2],
    reported: ReportedAudio,
}

#[derive(Default)]
struct ReportedAudio {
    size: bool,
    empty: bool,
    codec: bool,
}

/// Frames with consecutive numbers.
struct Row {
    /// The next expected number.
    next: u64,
    /// The numbers that the last gap lacks.
    missing: Range<u64>,
    /// The last frame.
    last: Place,
    ended: bool,
    /// The frames after its end were reported.
    was_ended: bool,
    /// The codec, if it is known.
    codec: Option<&'static str>,
    /// The number of unreadable frames in this direction before the sequence started.
    gaps: u32,
}

/// The fields of an audio frame.
struct AudioFrame<'a> {
    sid: Node<'a>,
    payload: Node<'a>,
    codec: Node<'a>,
    /// The codec, if it is known.
    known: Option<&'static str>,
    number: Node<'a>,
    seq: u64,
    ends: bool,
}

impl<'a> AudioFrame<'a> {
    fn of(fields: Node<'a>) -> Option<Self> {
        const FIELDS: [&str; 5] = [
            name::CALL,
            name::PAYLOAD,
            name::CODEC,
            name::NUMBER,
            "end_of_stream",
        ];
        let values = fields.get_each::<{ FIELDS.len() }, _>(&FIELDS, |name| name);
        let [sid, payload, codec, number, ends] = std::array::from_fn(|n| values.get(n));
        let (codec, number) = (codec?, number?);
        Some(Self {
            sid: sid?,
            payload: payload?,
            codec,
            known: CODECS.into_iter().find(|known| codec.is_text(known)),
            number,
            seq: u64::try_from(number.as_i128()?).ok()?,
            ends: ends.and_then(Node::as_bool) == Some(true),
        })
    }
}

impl Audio {
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            calls: RecentTable::with_capacity(capacity),
        }
    }

    /// Handles a frame; `gaps` is the number of unreadable frames of its direction before it.
    pub fn handle_frame(&mut self, gaps: u32, fields: Node<'_>, seen: Current<'_, '_>) {
        let Some(frame) = AudioFrame::of(fields) else {
            return;
        };
        let (conn, direction) = (seen.origin.conn, seen.origin.direction);
        let name = (direction, frame.sid.raw_text());
        let audio = self.calls.entry_in(conn, name, || CallAudio {
            direction,
            rows: [None, None],
            reported: ReportedAudio::default(),
        });
        audio.count(&frame, gaps, seen);
        audio.reported.check_content(&frame, seen);
        if frame.ends {
            self.calls.finish_in(conn, name);
        }
    }

    /// Handles the end of one direction of a connection, or of both; `orderly` is false after a reset.
    pub fn end(
        &mut self,
        conn: Option<u32>,
        direction: Option<Direction>,
        orderly: bool,
        report: &mut Report,
    ) {
        let ended = |v: &CallAudio| direction.is_none() || direction == v.direction;
        let calls = self.calls.take(conn, ended);
        if !orderly {
            return;
        }
        let rows = calls.into_iter().flat_map(|v| v.rows.into_iter().flatten());
        let mut open: Vec<_> = rows.filter(|row| !row.ended && !row.was_ended).collect();
        open.sort_by_key(|row| row.last.index);
        for row in open {
            let last = row.next.wrapping_sub(1);
            broken!(report, rule::NO_END_OF_STREAM, row.last;
                "the stream ends after sequence_number {last}, without end_of_stream");
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.calls.len()
    }
}

impl CallAudio {
    fn count(&mut self, frame: &AudioFrame<'_>, gaps: u32, seen: Current<'_, '_>) {
        let seq = frame.seq;
        let alone = self.rows[1].is_none();
        let Some(row) = self.row_for(seq) else {
            return self.start_row(frame, gaps, seen);
        };
        let related = row.last.index;
        if row.ended {
            broken!(seen, rule::AUDIO_AFTER_END, seen.at(frame.number), related;
                "sequence_number {seq} comes after end_of_stream");
        } else if row.gaps == gaps && row.missing.contains(&seq) {
            broken!(seen, rule::AUDIO_ORDER, seen.at(frame.number), related;
                "sequence_number {seq} comes after {}: the order is wrong",
                row.next.wrapping_sub(1));
        } else if row.gaps == gaps && seq != row.next {
            let next = row.next;
            let rules = [rule::SEQ_BACK, rule::SEQ_GAP];
            broken!(seen, rules[usize::from(seq > next)], seen.at(frame.number), related;
                "sequence_number is {seq}; it should be {next}, after #{related}");
        }
        let codec = frame.known;
        if codec != row.codec && alone {
            let before = row.codec.unwrap_or("another");
            broken!(seen, rule::CODEC_CHANGE, seen.at(frame.codec), related;
                "codec is {}, but #{related} has {before}", quote_text(frame.codec));
        }
        let after = Row::after(frame, gaps, seen);
        let is_late = row.missing.contains(&seq);
        *row = Row {
            was_ended: row.ended || row.was_ended,
            // A late frame does not change the number of the next.
            next: if is_late { row.next } else { after.next },
            missing: if is_late {
                seq + 1..row.missing.end
            } else {
                row.next..seq.max(row.next)
            },
            ..after
        };
    }

    /// Returns the sequence that a number continues; `None` if it starts one.
    fn row_for(&mut self, seq: u64) -> Option<&mut Row> {
        let [first, second] = &mut self.rows;
        let follows = |row: &Option<Row>| row.as_ref().is_some_and(|r| r.next == seq);
        let id_spaces =
            |row: &Option<Row>| row.as_ref().map(|r| r.next).filter(|next| *next <= seq);
        match (self.direction, &second) {
            (None, _) if follows(first) => first.as_mut(),
            (None, _) if follows(second) => second.as_mut(),
            // The number may belong to the opposite direction.
            (None, None) if first.as_ref().is_some_and(|r| seq < r.next) => None,
            (None, Some(_)) if id_spaces(second) > id_spaces(first) => second.as_mut(),
            _ => first.as_mut(),
        }
    }

    fn start_row(&mut self, frame: &AudioFrame<'_>, gaps: u32, seen: Current<'_, '_>) {
        let [first, second] = &mut self.rows;
        let free = if first.is_none() { first } else { second };
        *free = Some(Row::after(frame, gaps, seen));
    }
}

impl Row {
    fn after(frame: &AudioFrame<'_>, gaps: u32, seen: Current<'_, '_>) -> Self {
        Self {
            next: frame.seq.wrapping_add(1),
            missing: 0..0,
            last: seen.whole(),
            ended: frame.ends,
            was_ended: false,
            codec: frame.known,
            gaps,
        }
    }
}

impl ReportedAudio {
    /// Checks the content of one frame.
    fn check_content(&mut self, frame: &AudioFrame<'_>, seen: Current<'_, '_>) {
        let codec = frame.known;
        let once = |reported: &mut bool| !std::mem::replace(reported, true);
        // Invalid text has its own finding.
        let text = frame.codec.text().is_some();
        if codec.is_none() && text && once(&mut self.codec) {
            broken!(seen, rule::UNKNOWN_CODEC, seen.at(frame.codec);
                "codec is {}; known codecs are {}", quote_text(frame.codec), CODECS.join(", "));
        }
        if frame.ends {
            return;
        }
        let len = match frame.payload.value() {
            Value::Scalar(Scalar::Bin(bytes) | Scalar::Str(bytes)) => bytes.len(),
            _ => return,
        };
        match codec {
            _ if len == 0 && once(&mut self.empty) => {
                broken!(seen, rule::AUDIO_EMPTY, seen.at(frame.payload);
                    "payload is empty, but end_of_stream is not set");
            }
            Some(codec @ ("PCMU" | "PCMA"))
                if len != 0 && len != USUAL_SIZE && once(&mut self.size) =>
            {
                broken!(seen, rule::AUDIO_SIZE, seen.at(frame.payload);
                    "payload has {len} bytes; 20 ms of {codec} are {USUAL_SIZE}");
            }
            _ => {}
        }
    }
}
