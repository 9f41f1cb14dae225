//! Gives bytes and events to a session, without a conversation around it.

use crate::decoder::{DecodeOptions, Decoder, FrameSink};
use crate::protocol::session::{Broken, ConnectionChange, Report, Session, SessionConfig, Waiting};
use crate::protocol::{Direction, Origin, Protocol};

/// A session, and what it reports.
pub(in crate::protocol) struct SessionRun<'p, S> {
    decoder: Decoder<'p>,
    pub session: S,
    /// The broken rules.
    pub found: Vec<Broken>,
    /// The index of each answer and of its request; `true` for the last answer.
    pub answers: Vec<(u64, u64, bool)>,
}

/// Returns the configuration of a session that tracks so many requests at a time.
pub(in crate::protocol) fn at_most(max_open: usize) -> SessionConfig {
    SessionConfig {
        max_open,
        ..SessionConfig::default()
    }
}

/// Returns the origin of bytes, or of an event.
pub(in crate::protocol) fn on(conn: u32, direction: impl Into<Option<Direction>>) -> Origin {
    Origin {
        conn: Some(conn),
        direction: direction.into(),
        ..Origin::default()
    }
}

impl<'p, S: Session> SessionRun<'p, S> {
    pub fn new(protocol: &'p dyn Protocol, session: S) -> Self {
        Self {
            decoder: Decoder::new(DecodeOptions::new(vec![protocol])),
            session,
            found: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// Reads bytes.
    pub fn push(&mut self, origin: Origin, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.decode(|decoder, sink| decoder.push(origin, bytes.as_ref(), sink))
    }

    /// Reads a line of the client.
    pub fn client(&mut self, conn: u32, line: &str) -> &mut Self {
        self.push(on(conn, Direction::ToServer), format!("{line}\n"))
    }

    /// Reads a line of the server.
    pub fn server(&mut self, conn: u32, line: &str) -> &mut Self {
        self.push(on(conn, Direction::ToClient), format!("{line}\n"))
    }

    /// Handles an event.
    pub fn event(&mut self, origin: Origin, what: ConnectionChange) -> &mut Self {
        self.report(|session, report| session.event(origin, what, report))
    }

    /// Ends the input.
    pub fn finish(&mut self) -> &mut Self {
        self.decode(Decoder::finish)
            .report(super::super::session::Session::finish)
    }

    fn decode(&mut self, step: impl FnOnce(&mut Decoder<'p>, &mut FrameSink<'_>)) -> &mut Self {
        let Self {
            decoder,
            session,
            found,
            answers,
        } = self;
        step(decoder, &mut |decoded| {
            let mut report = Report::default();
            session.message(&decoded.seen(), &mut report);
            found.append(&mut report.broken);
            answers.extend(report.answer.map(|a| (decoded.index, a.to, a.last)));
        });
        self
    }

    fn report(&mut self, step: impl FnOnce(&mut S, &mut Report)) -> &mut Self {
        let mut report = Report::default();
        step(&mut self.session, &mut report);
        self.found.append(&mut report.broken);
        self
    }

    /// Returns the name of each broken rule, and the index of its message.
    pub fn broken(&self) -> Vec<(&'static str, u64)> {
        let found = self.found.iter();
        found.map(|b| (b.rule.name(), b.place.index)).collect()
    }

    /// Returns the names of the broken rules.
    pub fn rules(&self) -> Vec<&'static str> {
        self.found.iter().map(|b| b.rule.name()).collect()
    }

    /// Returns the index of each answer and of its request.
    pub fn pairs(&self) -> Vec<(u64, u64)> {
        self.answers.iter().map(|&(by, to, _)| (by, to)).collect()
    }

    /// Returns the waiting messages: index, description, expected sender and reason.
    pub fn waiting(&self) -> Vec<String> {
        let line = |w: Waiting| {
            let owes = w.owes.map_or("?", Direction::name);
            let why = w.why.map_or(String::new(), |why| format!(": {why}"));
            format!("#{} {} {owes}{why}", w.place.index, w.what)
        };
        let waiting = Waiting::all_of(&self.session);
        waiting.into_iter().map(line).collect()
    }
}
