//! Interprets a frame: the struct that it holds, and its fields.
//!
//! ```text
//!   {"method":"Barge","method_id":3854301714,"struct":"BargeRequest","version":0,"compat_version":0,
//!    "length_mode":"exclusive","fields":{"call_sid":"abc"}}
//! ```
//!
//! A method id does not show the direction of a frame. If the direction is not known, the version, the fields and the
//! open requests of the stream decide the struct; if they do not, it is the request, as a guess. Bytes after the known
//! fields are `tail`, bytes of the frame after the envelope are `after`. A struct inside a struct is shown as its
//! fields; if it has its own versions or tail, as `{"version","compat_version","fields","tail"?}`.

use super::head::HeadValues;
use super::schema::{RpcMethod, Schema, UNKNOWN, label};
use crate::encoding::serde_envelope::{
    self as envelope, COMPAT_VERSION, EnvelopeHeader, FIELDS, Fit, HEADER, ParseOutcome, TAIL,
    VERSION,
};
use crate::error::DecodeError;
use crate::framing::{Frame, Framing, Head, LengthMode};
use crate::protocol::{Context, Direction, Evidence, Role};
use crate::span::Span;
use crate::tape::{Scalar, Shape, Sink, Tee};

/// The limit of schema versions: an envelope with a higher one is likely not an envelope.
const LIKELY_VERSION: u8 = 16;

/// A frame and all facts that must be known before it is emitted.
pub(super) struct EnvelopePlan<'a> {
    pub schema: &'a Schema,
    pub bytes: &'a [u8],
    pub body: Span,
    /// The method id, and the mode of the length.
    pub head: Option<(u32, Option<LengthMode>)>,
    pub method: Option<&'a RpcMethod>,
    pub header: Option<EnvelopeHeader>,
    /// The struct, as an index into the structs of the schema.
    pub layout: Option<u32>,
    /// The method id of the request that a bare envelope answers.
    pub answered_method: Option<u32>,
    /// The bytes do not decide the struct.
    pub guess: bool,
    pub depth: u32,
    direction: Option<Direction>,
}

/// The fit of a struct. A struct without fields reads any bytes as its tail, which proves nothing.
#[derive(Clone, Copy)]
struct FitScore {
    /// `(known, read)`: the schema has the version; all fields can be read.
    read: (bool, bool),
    /// `(exact, bytes, decisive)`: no byte is left over; the bytes of fields; not only a tail.
    fit: (bool, usize, bool),
}

impl<'a> EnvelopePlan<'a> {
    /// Returns `None` if the frame has no envelope, not even a partial one.
    pub fn new(
        schema: &'a Schema,
        forced: Option<u32>,
        frame: &Frame<'a>,
        context: &Context<'_>,
        depth: u32,
    ) -> Option<Self> {
        let mut body = frame.view.body;
        let head = match frame.head {
            Head::Method { id, mode, .. } => Some((id, mode)),
            // The length is wrong, but a method id of the schema still identifies the frame.
            _ if frame.framing == Framing::Method => {
                let fault = frame.fault.as_ref().map(|fault| fault.error.code);
                if fault == Some("over-limit") {
                    return None;
                }
                let id = frame.view.bytes.get(4..)?.first_chunk::<4>()?;
                let id = u32::from_le_bytes(*id);
                schema.method(id)?;
                body = Span::new(8, body.end());
                Some((id, None))
            }
            _ => None,
        };
        let mut plan = Self {
            schema,
            bytes: frame.view.bytes,
            body,
            head,
            method: head.and_then(|(id, _)| schema.method(id)),
            header: EnvelopeHeader::read(frame.view.bytes, body),
            layout: forced,
            answered_method: None,
            guess: false,
            depth: depth.min(schema.depth),
            direction: context.direction,
        };
        if head.is_none() && plan.direction == Some(Direction::ToClient) {
            plan.find_request(context.open_methods);
        }
        if forced.is_none() {
            (plan.layout, plan.guess) = plan.choose(context.open);
        }
        Some(plan)
    }

    /// Sets the method of a bare envelope to that of the request that it answers. If several are open, it is the oldest
    /// whose answer has the best fit.
    fn find_request(&mut self, open: &[u32]) {
        let Some(header) = self.header else {
            return;
        };
        let mut best: Option<(_, u32, &'a RpcMethod)> = None;
        for id in open {
            let Some(method) = self.schema.method(*id).filter(|method| !method.streaming) else {
                continue;
            };
            let score = self.rank(method.output, header);
            let fit = (score.read, score.fit.0);
            if best.is_none_or(|(most, ..)| fit > most) {
                best = Some((fit, *id, method));
            }
        }
        // Bytes that are exactly one other struct are not cut to fit the request.
        let other = || header.fields.len > 0 && self.only_fitting_struct().is_some();
        if let Some((fit, id, method)) = best
            && (fit.1 || !other())
        {
            (self.answered_method, self.method) = (Some(id), Some(method));
        }
    }

    /// Returns the struct, and true if it is a guess. `open` is [`Context::open`].
    fn choose(&self, open: Option<bool>) -> (Option<u32>, bool) {
        let Some(method) = self.method else {
            return (self.only_fitting_struct(), true);
        };
        let output = method.output;
        let Some(input) = method.input.filter(|input| *input != output) else {
            return (Some(output), false);
        };
        match (self.direction, self.header) {
            (Some(Direction::ToServer), _) | (None, None) => (Some(input), false),
            (Some(Direction::ToClient), _) => (Some(output), false),
            (None, Some(header)) => {
                let [asked, answered] = [input, output].map(|layout| self.rank(layout, header));
                let is_open = open.is_some();
                // A struct that reads all bytes beats one that leaves a tail, whatever is open.
                let exact = |score: &FitScore| (score.read, score.fit.0);
                let order = exact(&answered).cmp(&exact(&asked));
                let by_fields = order.then(answered.fit.cmp(&asked.fit));
                let answers = order.then(is_open.cmp(&false)).then(by_fields).is_gt();
                let (chosen, other) = if answers {
                    (answered, asked)
                } else {
                    (asked, answered)
                };
                let tie = !is_open && by_fields.is_eq();
                // The answer to a guess is a guess, and so is a struct that cannot be read while the other can.
                let doubt = order.is_eq() && answers && open == Some(true);
                let guess = tie || doubt || (other.read.1 && !chosen.read.1);
                (Some(if answers { output } else { input }), guess)
            }
        }
    }

    /// Rates the fit of a struct.
    fn rank(&self, layout: u32, header: EnvelopeHeader) -> FitScore {
        let fit = self.fit(layout, header);
        let described = self.schema.types.layout(layout);
        let known = described.is_some_and(|s| header.version <= s.version);
        let exact = fit.sound && fit.complete && fit.full && header.fields.end() == self.body.end();
        let fields = described.is_some_and(|s| !s.fields.is_empty());
        FitScore {
            read: (known, fit.sound && fit.complete && (exact || fields)),
            fit: (exact, fit.owned, exact || fields),
        }
    }

    fn fit(&self, layout: u32, header: EnvelopeHeader) -> Fit {
        let types = &self.schema.types;
        envelope::fit(types, layout, self.bytes, header, self.depth)
    }

    /// Returns the struct of an envelope without a method id: the only one that fits.
    fn only_fitting_struct(&self) -> Option<u32> {
        let header = self.header.filter(|_| self.head.is_none())?;
        if header.fields.len == 0 {
            return self.schema.struct_named("Empty");
        }
        let mut exact = (0..self.schema.types.structs.len() as u32).filter(|layout| {
            let fit = self.fit(*layout, header);
            fit.sound && fit.complete && fit.full
        });
        exact.next().filter(|_| exact.next().is_none())
    }

    /// Returns the name of the struct.
    pub fn kind(&self) -> &'a str {
        match self.layout {
            Some(layout) => self.schema.struct_name(layout),
            None => UNKNOWN,
        }
    }

    /// Returns the role.
    pub fn role(&self) -> Option<Role> {
        let layout = self.layout?;
        let of = |method: &RpcMethod| Schema::role_in(method, layout);
        let by_direction = match self.direction {
            Some(Direction::ToServer) => Some(Role::Request),
            Some(Direction::ToClient) => Some(Role::Response),
            None => None,
        };
        if let Some(method) = self.method {
            return of(method).or(by_direction).or(Some(Role::Request));
        }
        // A bare envelope is an answer of a server: a struct with both roles is an answer.
        let roles = || self.schema.methods.iter().filter_map(of);
        let answer = roles().find(|r| *r != Role::Request);
        by_direction
            .filter(|_| answer != Some(Role::Item))
            .or(answer)
            .or(roles().next())
    }

    /// Returns the side whose struct the bytes are, if only one of the two structs of the method fits.
    pub fn own_direction(&self) -> Option<Direction> {
        let method = self.method.filter(|_| self.head.is_some())?;
        let input = method.input.filter(|input| *input != method.output)?;
        let header = self.header?;
        let [asked, answered] = [input, method.output].map(|layout| self.rank(layout, header));
        match (asked.fit.0, answered.fit.0) {
            (true, false) => Some(Direction::ToServer),
            (false, true) => Some(Direction::ToClient),
            _ => None,
        }
    }

    /// Returns the evidence that this is a telequick message.
    pub fn evidence(&self) -> Evidence {
        let fits = self
            .header
            .is_some_and(|h| !h.is_impossible && h.fields.end() == self.body.end());
        let likely = self
            .header
            .is_some_and(|h| h.version < LIKELY_VERSION && h.compat_version <= h.version);
        // A known misspelling of an id is as good as the right one.
        let misspelt = || {
            self.head
                .is_some_and(|(id, _)| self.schema.near_miss(id).is_some())
        };
        match (self.method.is_some(), fits) {
            (true, _) => Evidence::Certain,
            (false, _) if misspelt() => Evidence::Certain,
            (false, true) if likely => Evidence::Possible,
            _ => Evidence::None,
        }
    }

    /// Returns the faults of the envelope before its fields. `torn` is set if framing has reported missing bytes.
    pub fn faults(&self, torn: bool) -> Vec<DecodeError> {
        let mut faults = Vec::new();
        let Some(header) = self.header else {
            if !torn {
                faults.push(DecodeError::new(
                    "envelope-overrun",
                    self.body,
                    "envelope",
                    "6 bytes of envelope header",
                    format!("{} bytes", self.body.len),
                ));
            }
            return faults;
        };
        if !torn || header.payload_size < 0 {
            faults.extend(header.fault());
        }
        if let Some(layout) = self.layout.and_then(|l| self.schema.types.layout(l)) {
            // A reader must refuse a message that its writer marks as unreadable for it.
            faults.extend(header.unreadable_by(layout.version));
        }
        faults
    }

    /// Emits the message.
    pub fn emit<S: Sink>(
        &self,
        head: &mut HeadValues,
        sink: &mut S,
    ) -> Result<ParseOutcome, DecodeError> {
        let types = &self.schema.types;
        sink.open(0, Shape::Map);
        match self.head_key() {
            Some(key) => sink.repeated(key, |sink| self.emit_head(sink)),
            None => self.emit_head(sink),
        }
        let mut outcome = ParseOutcome::default();
        if let Some(header) = self.header {
            let fields = header.fields;
            self.key(FIELDS, fields.at(), sink);
            if let Some(layout) = self.layout {
                let sinks = &mut Tee(sink, head);
                outcome = envelope::parse(types, layout, self.bytes, fields, self.depth, sinks)?;
            } else {
                envelope::guess(types, self.bytes, fields, self.depth, sink)?;
                outcome.end = fields.end();
            }
            for (id, from, to) in [
                (TAIL, outcome.end, fields.end()),
                (label::AFTER, fields.end(), self.body.end()),
            ] {
                if from < to {
                    let rest = Span::new(from, to);
                    self.entry(id, rest, Scalar::Bin(rest.of(self.bytes)), sink);
                }
            }
        }
        sink.close(self.body.end());
        Ok(outcome)
    }

    /// Returns all facts that [`Self::emit_head`] writes as one number: most frames of a stream have the same.
    fn head_key(&self) -> Option<u128> {
        let ((id, mode), layout, header) = (self.head?, self.layout?, self.header?);
        let versions = u16::from_le_bytes([header.version, header.compat_version]);
        let flags = [mode == Some(LengthMode::Inclusive), mode.is_none()];
        let flags = flags.iter().fold(0, |all, flag| all << 1 | *flag as u128);
        Some(id as u128 | (layout as u128) << 32 | (versions as u128) << 64 | flags << 80)
    }

    /// Emits the members before `fields`.
    fn emit_head<S: Sink>(&self, sink: &mut S) {
        let types = &self.schema.types;
        let start = self.body.at();
        // A value without bytes of its own points at the bytes that it follows from.
        let source = match self.head {
            Some(_) => Span::new(4, 8),
            None => Span::new(start, (start + HEADER).min(self.body.end())),
        };
        let name = |id: u32, value: i64| Scalar::Name(value, id, types.name(id));
        if let Some((id, _)) = self.head {
            if let Some(method) = self.method {
                self.entry(label::METHOD, source, name(method.name, id as i64), sink);
            }
            self.entry(label::METHOD_ID, source, Scalar::Uint(id as u64), sink);
        }
        if let Some(layout) = self.layout.and_then(|l| types.layout(l)) {
            self.entry(label::STRUCT, source, name(layout.name, 0), sink);
        }
        if let Some(header) = self.header {
            let byte = |at: usize, value: u8| (Span::new(at, at + 1), Scalar::Uint(value as u64));
            let (at, value) = byte(start, header.version);
            self.entry(VERSION, at, value, sink);
            let (at, value) = byte(start + 1, header.compat_version);
            self.entry(COMPAT_VERSION, at, value, sink);
        }
        if let Some((_, Some(mode))) = self.head {
            let mode = match mode {
                LengthMode::Inclusive => label::INCLUSIVE,
                _ => label::EXCLUSIVE,
            };
            self.entry(label::LENGTH_MODE, Span::new(0, 4), name(mode, 0), sink);
        }
    }

    fn key<S: Sink>(&self, id: u32, at: usize, sink: &mut S) {
        sink.label(at, id, self.schema.types.label(id));
    }

    fn entry<S: Sink>(&self, id: u32, at: Span, value: Scalar<'_>, sink: &mut S) {
        self.key(id, at.at(), sink);
        sink.scalar(at, value);
    }
}
