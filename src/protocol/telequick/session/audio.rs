//! The sound of calls: numbered, ended, in one codec.
//!
//! ```text
//!   connection, direction, call_sid:  0 - 1 - 2 - ... - n, end_of_stream
//! ```
//!
//! Where nobody says which way frames went, both ways of a call may be in one stream. Then two rows of numbers are
//! followed, the second from where the first cannot be going on.

use super::conn::Way;
use super::recent::Recent;
use super::single::shown;
use crate::protocol::session::{Place, Report, Seen};
use crate::protocol::telequick::schema::name;
use crate::tape::{Node, Scalar, Value};

/// 20 ms of 8000 samples a second, a byte each.
const USUAL: usize = 160;
const CODECS: [&str; 3] = ["PCMU", "PCMA", "PCM16"];

/// All voices that are heard.
pub(super) struct Audio {
    /// By connection.
    voices: Recent<Voice, Option<u32>>,
}

/// One call's sound, one way on one connection.
struct Voice {
    way: Way,
    rows: [Option<Row>; 2],
    told: Told,
}

#[derive(Default)]
struct Told {
    size: bool,
    empty: bool,
    codec: bool,
}

/// Frames that are numbered together.
struct Row {
    /// The number that comes next.
    next: u64,
    /// The last frame.
    last: Place,
    ended: bool,
    codec: Codec,
    /// How often frames of this direction were unreadable before.
    gaps: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Codec {
    Known(&'static str),
    Other,
}

/// The fields of an audio frame.
struct Sound<'a> {
    sid: Node<'a>,
    payload: Node<'a>,
    codec: Node<'a>,
    number: Node<'a>,
    seq: u64,
    ends: bool,
}

impl<'a> Sound<'a> {
    fn of(fields: Node<'a>) -> Option<Self> {
        let number = fields.get(name::NUMBER)?;
        Some(Self {
            sid: fields.get(name::CALL)?,
            payload: fields.get(name::PAYLOAD)?,
            codec: fields.get(name::CODEC)?,
            number,
            seq: u64::try_from(number.as_i128()?).ok()?,
            ends: fields.get("end_of_stream").and_then(Node::as_bool) == Some(true),
        })
    }

    fn codec(&self) -> Codec {
        let known = CODECS.into_iter().find(|c| self.codec.is_text(c));
        known.map_or(Codec::Other, Codec::Known)
    }
}

impl Audio {
    pub fn with_room(most: usize) -> Self {
        Self {
            voices: Recent::with_room(most),
        }
    }

    /// Hears a frame; `gaps` counts the unreadable ones of its direction before it.
    pub fn hear(
        &mut self,
        way: Way,
        gaps: u32,
        fields: Node<'_>,
        seen: &Seen<'_>,
        report: &mut Report,
    ) {
        let Some(sound) = Sound::of(fields) else {
            return;
        };
        let conn = seen.origin.conn;
        let name = (way, sound.sid.raw_text());
        let new = self.voices.get_in(conn, name).is_none();
        if new {
            let voice = Voice {
                way,
                rows: [None, None],
                told: Told::default(),
            };
            self.voices.put_in(conn, name, voice);
        }
        let Some(voice) = self.voices.get_in(conn, name) else {
            return;
        };
        voice.count(&sound, gaps, seen, report);
        voice.told.listen(&sound, seen, report);
        if sound.ends {
            self.voices.done_in(conn, name);
        }
    }

    /// One way of a connection ended, or both; `orderly` where it was not cut.
    pub fn end(&mut self, conn: Option<u32>, way: Option<Way>, orderly: bool, report: &mut Report) {
        let ended = |v: &Voice| way.is_none_or(|way| way == v.way);
        let voices = self.voices.take(conn, ended);
        if !orderly {
            return;
        }
        let rows = voices
            .into_iter()
            .flat_map(|v| v.rows.into_iter().flatten());
        let mut open: Vec<_> = rows.filter(|row| !row.ended).collect();
        open.sort_by_key(|row| row.last.index);
        for row in open {
            let last = row.next.wrapping_sub(1);
            let text =
                format!("the stream ends after sequence_number {last}, without end_of_stream");
            report.broken("no-end-of-stream", row.last, text);
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.voices.len()
    }
}

impl Voice {
    fn count(&mut self, sound: &Sound<'_>, gaps: u32, seen: &Seen<'_>, report: &mut Report) {
        let seq = sound.seq;
        let alone = self.rows[1].is_none();
        let Some(row) = self.row(seq) else {
            return self.begin(sound, gaps, seen);
        };
        let related = row.last.index;
        if row.ended {
            let text = format!("sequence_number {seq} comes after end_of_stream");
            report.broken_by("audio-after-end", seen.at(sound.number), related, text);
        } else if row.gaps == gaps && seq != row.next {
            let next = row.next;
            let text = format!("sequence_number is {seq}, {next} should follow #{related}");
            let rule = if seq > next { "seq-gap" } else { "seq-back" };
            report.broken_by(rule, seen.at(sound.number), related, text);
        }
        let codec = sound.codec();
        if codec != row.codec && alone {
            let before = match row.codec {
                Codec::Known(name) => name,
                Codec::Other => "another",
            };
            let text = format!("codec is {}, #{related} has {before}", shown(sound.codec));
            report.broken_by("codec-change", seen.at(sound.codec), related, text);
        }
        *row = Row::after(sound, gaps, seen);
    }

    /// The row that a number belongs to; none where it begins one.
    fn row(&mut self, seq: u64) -> Option<&mut Row> {
        let [first, second] = &mut self.rows;
        let follows = |row: &Option<Row>| row.as_ref().is_some_and(|r| r.next == seq);
        let reaches = |row: &Option<Row>| row.as_ref().map(|r| r.next).filter(|next| *next <= seq);
        match (self.way, &second) {
            (Way::Unknown, _) if follows(first) => first.as_mut(),
            (Way::Unknown, _) if follows(second) => second.as_mut(),
            // It may be the other way's, which nobody tells apart.
            (Way::Unknown, None) if first.as_ref().is_some_and(|r| seq < r.next) => None,
            (Way::Unknown, Some(_)) if reaches(second) > reaches(first) => second.as_mut(),
            _ => first.as_mut(),
        }
    }

    fn begin(&mut self, sound: &Sound<'_>, gaps: u32, seen: &Seen<'_>) {
        let [first, second] = &mut self.rows;
        let free = if first.is_none() { first } else { second };
        *free = Some(Row::after(sound, gaps, seen));
    }
}

impl Row {
    fn after(sound: &Sound<'_>, gaps: u32, seen: &Seen<'_>) -> Self {
        Self {
            next: sound.seq.wrapping_add(1),
            last: seen.whole(),
            ended: sound.ends,
            codec: sound.codec(),
            gaps,
        }
    }
}

impl Told {
    /// Looks at what one frame carries.
    fn listen(&mut self, sound: &Sound<'_>, seen: &Seen<'_>, report: &mut Report) {
        let codec = sound.codec();
        let once = |told: &mut bool| !std::mem::replace(told, true);
        // Text that is none has a finding of its own.
        let text = sound.codec.text().is_some();
        if codec == Codec::Other && text && once(&mut self.codec) {
            let text = format!(
                "codec is {}, known are {}",
                shown(sound.codec),
                CODECS.join(", ")
            );
            report.broken("unknown-codec", seen.at(sound.codec), text);
        }
        if sound.ends {
            return;
        }
        let len = match sound.payload.value() {
            Value::Scalar(Scalar::Bin(bytes) | Scalar::Str(bytes)) => bytes.len(),
            _ => return,
        };
        match codec {
            _ if len == 0 && once(&mut self.empty) => {
                let text = "payload is empty, and end_of_stream is not set";
                report.broken("audio-empty", seen.at(sound.payload), text);
            }
            Codec::Known(codec @ ("PCMU" | "PCMA"))
                if len != 0 && len != USUAL && once(&mut self.size) =>
            {
                let text = format!("payload has {len} bytes, 20 ms of {codec} are {USUAL}");
                report.broken("audio-size", seen.at(sound.payload), text);
            }
            _ => {}
        }
    }
}
