//! Requests over HTTP: their path, their fields, and the event streams that GET opens.

use super::{PlanReader, PlanStep, PlannedConnection};
use crate::decoder::Decoded;
use crate::diff::StoredMessage;
use crate::framing::Head;
use crate::live::codec::EventStreams;
use crate::live::codec::head::{field, user_fields};
use crate::protocol::Direction;
use std::collections::BTreeSet;

impl PlanReader<'_> {
    /// The first request of a client names the path of all messages.
    pub(super) fn read_http_head(&mut self, decoded: &Decoded<'_>, is_chosen: bool) {
        if decoded.origin.direction == Some(Direction::ToServer)
            && let Head::Http {
                start,
                event: false,
                ..
            } = decoded.frame.head
        {
            let path = start.split(' ').nth(1).map(str::to_owned);
            self.path = self.path.take().or(path);
            let raw = decoded.raw.as_ref().map_or(&[][..], |raw| raw.bytes);
            let fields = user_fields(raw);
            match &mut self.fields {
                // A field that others lack is about one message.
                Some(known) => known.retain(|field| fields.contains(field)),
                None => self.fields = Some(fields),
            }
            let asks_for_events = start.starts_with("GET ")
                && field(decoded, "accept")
                    .is_some_and(|kinds| kinds.contains("text/event-stream"));
            if asks_for_events {
                self.streams.extend(decoded.origin.conn);
            }
            self.read_stream_request(start, asks_for_events);
            if start.starts_with("DELETE ") {
                self.add_deletion(decoded, is_chosen);
            }
        }
        self.read_session_name(decoded);
    }

    /// Adds the end of a session as a step without a message.
    fn add_deletion(&mut self, decoded: &Decoded<'_>, is_chosen: bool) {
        let http = decoded.protocol.descriptor().http.filter(|_| is_chosen);
        let Some(session) = http.and_then(|http| field(decoded, http.name)) else {
            return;
        };
        let step = PlanStep {
            session: Some(session),
            is_deletion: true,
            received_before: self.expected.len(),
            ..PlanStep::of(decoded, &StoredMessage::of(decoded, None))
        };
        self.add_step(decoded, step);
    }

    /// The response to a hello names the session, if it accepts it.
    fn read_session_name(&mut self, decoded: &Decoded<'_>) {
        let http = decoded.protocol.descriptor().http;
        let is_accepted = matches!(
            decoded.frame.head,
            Head::Http {
                status: 200..=299,
                ..
            }
        );
        let name = http.filter(|_| is_accepted);
        let conn = decoded.origin.conn.unwrap_or_default();
        let last = self.connections.get(&conn).and_then(|one| one.steps.last());
        let step = last.and_then(|last| self.steps.get_mut(*last));
        if let (Some(http), Some(step)) = (name, step.filter(|step| step.begins_session()))
            && let Some(value) = field(decoded, http.name)
        {
            step.session = Some(value);
        }
    }

    /// A client opens an event stream with GET; another GET, as of a health check, opens none. In the older transport
    /// messages are posted to another path.
    fn read_stream_request(&mut self, start: &str, asks_for_events: bool) {
        let (method, target) = start.split_once(' ').unwrap_or_default();
        match &self.stream_target {
            None if asks_for_events => {
                self.stream_target = Some(target.to_owned());
                self.events = EventStreams::After;
            }
            Some(known)
                if method == "POST" && known != target && self.events == EventStreams::After =>
            {
                self.events = EventStreams::First;
                self.drop_refused_messages();
            }
            _ => {}
        }
    }

    /// Drops the messages before an event stream of the older transport: they only showed that the server has no newer
    /// one.
    fn drop_refused_messages(&mut self) {
        self.steps.clear();
        self.expected.clear();
        self.classified.clear();
        self.last_steps.clear();
        self.ids.clear();
        for connection in self.connections.values_mut() {
            *connection = PlannedConnection::default();
        }
        (self.chosen, self.chosen_on) = (0, BTreeSet::new());
    }
}
