//! Spans of operations, as the JSON of OTLP, the protocol of OpenTelemetry: a line for some spans of one resource.
//!
//! ```text
//!   {"resourceSpans":[{"resource":..,"scopeSpans":[{"scope":..,"spans":[
//!       {"traceId","spanId","parentSpanId","name":"tools/call book","kind":3,"startTimeUnixNano",..,"events":[..]} ]}]}]}
//! ```
//!
//! The collector's receiver `otlpjsonfile` reads such a file. The parent of a span is what the request says (trace
//! context, ids of the protocol), otherwise the operation that contains it. If both are there and differ, the second is a
//! link.

mod attributes;
mod ids;
mod metrics;
mod names;

use super::facts::Facts;
use super::text::brief;
use super::{ExportOptions, Form};
use crate::capture::{EventKind, Header, Item};
use crate::conversation::{
    Finding, MessageOperation, Operation, OperationState, Run, Verdict, trace_ids,
};
use crate::decoder::{Decoded, Origin};
use crate::encoding::Want;
use crate::encoding::json::write_str;
use crate::protocol::session::Link;
use crate::protocol::{Direction, Notes};
use crate::render::line;
use crate::render::operation::about;
use crate::render::subject::masked_subject;
use crate::tape::Node;
use attributes::Attributes;
use metrics::Metrics;
use std::collections::BTreeMap;

/// The number of operations that are known after their end, because later ones may be parts of them.
const MAX_ENDED: usize = 1 << 13;
/// The number of child processes that are known.
const MAX_CHILDREN: usize = 1 << 12;
/// The number of events of a span; further ones are counted.
const MAX_EVENTS: usize = 64;
/// The number of spans of a line.
const MAX_SPANS: usize = 64;
/// The maximum number of characters of a name and of a text.
const MAX_NAME: usize = 200;
/// Between two lines with metrics of live traffic, in nanoseconds.
const METRICS_PAUSE: i64 = 10_000_000_000;
const MAX_TEXT: usize = 1000;

/// The operations of captures as spans.
pub(super) struct Otlp {
    options: ExportOptions,
    facts: Facts,
    /// The capture that ids are derived from.
    source: String,
    transport: Option<String>,
    /// The child processes by connection: they serve it.
    children: BTreeMap<u32, u64>,
    /// The open operations, which the conversation limits.
    operations: BTreeMap<u64, TraceSpan>,
    /// Trace and span of those that have ended.
    ended: BTreeMap<u64, (String, String)>,
    stated: ids::StatedSpans,
    /// The resource of the spans that wait for their line.
    resource: Vec<u8>,
    waiting: Vec<u8>,
    /// The number of spans that wait, of all that are written, and of those without times.
    in_line: usize,
    written: u64,
    without_times: u64,
    metrics: Metrics,
}

/// What is known about an operation before its end.
#[derive(Debug, Default)]
struct TraceSpan {
    trace: String,
    id: String,
    parent: Option<String>,
    /// The span of another trace that contains it.
    linked: Option<(String, String)>,
    /// A trace context of its sender is its parent.
    is_remote: bool,
    attributes: Attributes,
    /// The metrics of its duration, and their attributes.
    durations: Option<([String; 2], Attributes)>,
    resource: Vec<u8>,
    events: Vec<u8>,
    event_count: usize,
    dropped: u64,
    /// The code of an error, or what a result says.
    error: Option<String>,
    error_text: String,
}

impl Otlp {
    pub(super) fn new(options: ExportOptions) -> Self {
        Self {
            options,
            facts: Facts::new(options.sources),
            source: String::new(),
            transport: None,
            children: BTreeMap::new(),
            operations: BTreeMap::new(),
            ended: BTreeMap::new(),
            stated: ids::StatedSpans::default(),
            resource: Vec::new(),
            waiting: Vec::new(),
            in_line: 0,
            written: 0,
            without_times: 0,
            metrics: Metrics::default(),
        }
    }

    /// Returns trace and span of an operation.
    fn place_of(&self, index: u64) -> Option<(String, String)> {
        let open = self.operations.get(&index);
        let open = open.map(|span| (span.trace.clone(), span.id.clone()));
        open.or_else(|| self.ended.get(&index).cloned())
    }

    /// Ends an operation; returns its span.
    fn end_operation(&mut self, index: u64) -> Option<TraceSpan> {
        let span = self.operations.remove(&index)?;
        if self.ended.len() >= MAX_ENDED {
            self.ended.pop_first();
        }
        self.ended
            .insert(index, (span.trace.clone(), span.id.clone()));
        Some(span)
    }

    /// Reads a message, selected or not: it may begin an operation of which a later message is selected.
    fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        self.facts.see(decoded);
        let Some(of) = verdict.operation else {
            return;
        };
        let begins = of.index == decoded.index;
        if begins {
            let span = self.begin_span(decoded, of);
            self.operations.insert(of.index, span);
        }
        if let Some(mut span) = self.operations.remove(&of.index) {
            self.add_events(decoded, verdict, begins, &mut span);
            self.operations.insert(of.index, span);
        }
    }

    /// Begins the span of the operation that a message begins.
    fn begin_span(&mut self, decoded: &Decoded<'_>, of: MessageOperation) -> TraceSpan {
        let stated = trace_ids(decoded);
        let inside = of.parent.and_then(|parent| self.place_of(parent));
        let index = of.index.to_be_bytes();
        // Two captures may have one name: ids of different ones differ by their times.
        let source = self.source.as_bytes();
        let time = decoded.origin.time.unwrap_or_default().to_be_bytes();
        let trace = match (&stated.trace, &inside) {
            (Some(trace), _) => ids::stated(trace, ids::TRACE),
            (None, Some((trace, _))) => trace.clone(),
            (None, None) => ids::derived(&[b"trace", source, &time, &index], ids::TRACE),
        };
        let derived = ids::derived(&[b"span", source, &time, &index], ids::SPAN);
        let own = stated.own.as_deref().map(|own| ids::stated(own, ids::SPAN));
        let parent = stated
            .parent
            .as_deref()
            .map(|parent| ids::stated(parent, ids::SPAN));
        let is_known = inside.as_ref().is_some_and(|(of, _)| *of == trace);
        let parent = match (parent, &inside) {
            // The span of the sender is inside of the operation; both are in the trace.
            (Some(parent), _) => Some(parent),
            (None, Some((_, id))) if is_known => Some(id.clone()),
            (None, _) => None,
        };
        let linked = inside.filter(|(_, id)| parent.as_ref() != Some(id));
        let own = own.filter(|own| parent.as_ref() != Some(own));
        let id = own.filter(|own| self.stated.is_new(&trace, own));
        let is_remote = stated.trace.is_some() && parent.is_some();
        let mut span = TraceSpan {
            trace,
            id: id.unwrap_or(derived),
            is_remote,
            parent,
            linked,
            resource: self.resource_of(decoded, is_remote),
            ..TraceSpan::default()
        };
        self.describe(decoded, &mut span);
        span
    }

    /// Adds what the first message says.
    fn describe(&self, decoded: &Decoded<'_>, span: &mut TraceSpan) {
        let (message, show) = (decoded.message, self.options.show_secrets);
        let all = &mut span.attributes;
        let name = decoded.protocol.name();
        let root = decoded.root();
        let version = root.and_then(|root| root.get(names::CALL_SYSTEM));
        all.text(
            names::RPC_SYSTEM,
            if version.is_some() {
                names::CALL_SYSTEM
            } else {
                name
            },
        );
        if let Some(version) = version.and_then(Node::text) {
            all.text(names::CALL_VERSION, &version);
            let id = message.id.text();
            if !id.is_empty() {
                all.text(names::CALL_ID, id.trim_matches('"'));
            }
        }
        let method = message.subject.as_deref().unwrap_or(&message.kind);
        let method = masked_subject(method, show);
        all.text(names::RPC_METHOD, &method);
        let facts = self.facts.of(decoded);
        if let Some(own) = decoded.protocol.descriptor().spans {
            all.text(own.method, &method);
            let session = facts.session.filter(|_| show);
            all.text_if(own.session, session);
            let target = own.targets.iter().find(|(subject, _)| *subject == method);
            if let Some((target, value)) = target.zip(message.name.as_deref()) {
                all.text(target.1, &masked_subject(value, show));
            }
            if *own.tool_call == *method {
                all.text(names::OPERATION_NAME, names::EXECUTE_TOOL);
            }
        }
        self.describe_duration(decoded, &method, span);
        let all = &mut span.attributes;
        let transport = self.network_transport();
        all.text_if(names::NETWORK_TRANSPORT, transport);
        let carrier = self.transport.as_deref();
        all.text_if(
            names::NETWORK_PROTOCOL,
            carrier.filter(|name| matches!(*name, "http" | "websocket")),
        );
        all.text(names::PROTOCOL, name);
        all.text(names::SOURCE, facts.source);
        all.integer(names::INDEX, signed(decoded.index));
        if let Some(conn) = decoded.origin.conn {
            all.integer(names::CONNECTION, conn.into());
        }
        if self.options.shows_content {
            let own = decoded
                .protocol
                .descriptor()
                .spans
                .filter(|own| *own.tool_call == *method);
            let name = own.map_or(names::REQUEST, |own| own.arguments);
            all.text(name, &line::content(decoded, show));
        }
    }

    /// Notes the metrics of the duration, with attributes of few values.
    fn describe_duration(&self, decoded: &Decoded<'_>, method: &str, span: &mut TraceSpan) {
        let Some(own) = decoded.protocol.descriptor().spans else {
            return;
        };
        let mut all = Attributes::default();
        all.text(own.method, method);
        if own.tool_call == method {
            let target = own.targets.iter().find(|(subject, _)| *subject == method);
            if let Some((target, value)) = target.zip(decoded.message.name.as_deref()) {
                all.text(target.1, &masked_subject(value, self.options.show_secrets));
            }
            all.text(names::OPERATION_NAME, names::EXECUTE_TOOL);
        }
        all.text_if(names::NETWORK_TRANSPORT, self.network_transport());
        span.durations = Some((own.durations.map(str::to_owned), all));
    }

    fn network_transport(&self) -> Option<&str> {
        match self.transport.as_deref() {
            Some("stdio") => Some("pipe"),
            Some(other @ ("tcp" | "unix" | "quic")) => Some(other),
            Some("websocket" | "http" | "tls") => Some("tcp"),
            _ => None,
        }
    }

    /// Returns the attributes of the process whose span it is, and of its recorder: the receiver if the sender has a span of
    /// its own, otherwise the sender.
    fn resource_of(&self, decoded: &Decoded<'_>, is_remote: bool) -> Vec<u8> {
        let facts = self.facts.of(decoded);
        let sender = decoded.origin.direction.unwrap_or(Direction::ToServer);
        let direction = if is_remote { sender.other() } else { sender };
        let side = usize::from(direction == Direction::ToClient);
        let sides = decoded.protocol.descriptor().sides;
        let name = sides.get(side).copied().unwrap_or_default();
        let service = match self.facts.peer(decoded, direction) {
            // The version is not a part of the name.
            Some(peer) => peer
                .rsplit_once(' ')
                .map_or(peer, |(name, _)| name)
                .to_owned(),
            None => format!("{} {name}", decoded.protocol.name()),
        };
        let mut all = Attributes::default();
        all.text(names::SERVICE_NAME, &service);
        all.text_if(names::HOST_NAME, facts.host);
        let conn = decoded.origin.conn.filter(|_| side == 1);
        if let Some(pid) = conn.and_then(|conn| self.children.get(&conn)) {
            all.integer(names::PROCESS_ID, signed(*pid));
        }
        let mut out = Vec::new();
        all.write(&mut out);
        out
    }

    /// Adds a message, that neither begins nor ends the operation, and findings as events.
    fn add_events(
        &self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        begins: bool,
        span: &mut TraceSpan,
    ) {
        let time = decoded.origin.time;
        let is_end = verdict.answer.is_some_and(|answer| answer.last);
        if !begins && !is_end {
            let names = line::names(decoded, verdict.answer, self.options.show_secrets);
            let mut all = Attributes::default();
            all.integer(names::INDEX, signed(decoded.index));
            span.event(time, &brief(&names, MAX_NAME), &all);
        }
        for finding in verdict.findings {
            span.finding(finding, time);
        }
        let message = decoded.message;
        if message.is_error() || message.failed {
            let own = decoded.protocol.descriptor().spans;
            let code = message.outcome.as_deref().unwrap_or_default();
            let kind = match own {
                Some(_) if message.failed => names::TOOL_ERROR,
                _ if code.is_empty() => "error",
                _ => code,
            };
            span.error = Some(brief(kind, MAX_NAME));
            let notes = &mut Notes::of_secrets();
            let show = self.options.show_secrets;
            let text = line::content_text(decoded, verdict.answer, show, MAX_TEXT, notes);
            span.error_text = brief(&text, MAX_TEXT);
        }
        if self.options.shows_content && is_end {
            let call = decoded.protocol.descriptor().spans.filter(|own| {
                verdict
                    .answer
                    .is_some_and(|a| a.subject.as_deref() == Some(own.tool_call))
            });
            let name = call.map_or(names::ANSWER, |own| own.result);
            let content = line::content(decoded, self.options.show_secrets);
            span.attributes.text(name, &content);
        }
    }

    /// Adds a span to the line of its resource.
    fn add_span(&mut self, resource: Vec<u8>, text: &mut Vec<u8>, out: &mut Vec<u8>) {
        if self.in_line >= MAX_SPANS || self.resource != resource {
            self.end_line(out);
            self.resource = resource;
        }
        if self.in_line > 0 {
            self.waiting.push(b',');
        }
        self.waiting.append(text);
        self.in_line += 1;
        self.written += 1;
        if self.options.is_live {
            self.end_line(out);
            self.metrics.write_after(METRICS_PAUSE, out);
        }
    }

    /// Writes the spans that wait as a line.
    fn end_line(&mut self, out: &mut Vec<u8>) {
        if self.in_line == 0 {
            return;
        }
        self.in_line = 0;
        out.extend_from_slice(b"{\"resourceSpans\":[{\"resource\":{\"attributes\":");
        out.extend_from_slice(&self.resource);
        out.extend_from_slice(b"},\"scopeSpans\":[{\"scope\":{\"name\":\"wiretool\",\"version\":");
        write_str(env!("CARGO_PKG_VERSION"), out);
        out.extend_from_slice(b"},\"spans\":[");
        out.append(&mut self.waiting);
        out.extend_from_slice(b"],\"schemaUrl\":");
        write_str(names::SCHEMA_URL, out);
        out.extend_from_slice(b"}],\"schemaUrl\":");
        write_str(names::SCHEMA_URL, out);
        out.extend_from_slice(b"}]}\n");
    }
}

impl Form for Otlp {
    fn want(&self) -> Want {
        Want::Places
    }

    fn needs_operations(&self) -> bool {
        true
    }

    fn begin(&mut self, run: &Run<'_>, _out: &mut Vec<u8>) {
        self.operations.clear();
        self.ended.clear();
        self.source.clone_from(&run.source().name);
        self.facts.begin(&self.source);
        self.transport = None;
        self.children.clear();
    }

    fn item(&mut self, item: &Item<'_>, _origin: Origin, _out: &mut Vec<u8>) {
        match item {
            Item::Header(header) => {
                self.facts.header(header);
                if self.source.is_empty() {
                    self.source = name_of(header);
                    self.facts.begin(&self.source);
                    self.facts.header(header);
                }
                self.transport.clone_from(&header.transport);
            }
            Item::Event(event) if event.what == EventKind::Open => {
                let pid = event.more.and_then(|more| more.get("pid")?.as_u64());
                if let Some(pid) = pid {
                    if self.children.len() >= MAX_CHILDREN {
                        self.children.pop_first();
                    }
                    self.children.insert(event.conn, pid);
                }
            }
            _ => {}
        }
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, _out: &mut Vec<u8>) {
        self.see(decoded, verdict);
    }

    fn skip(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, _out: &mut Vec<u8>) {
        self.see(decoded, verdict);
    }

    fn skip_operation(&mut self, operation: &Operation) {
        self.end_operation(operation.index);
    }

    fn operation(&mut self, operation: &Operation, _last: u64, out: &mut Vec<u8>) {
        let Some(mut span) = self.end_operation(operation.index) else {
            return;
        };
        let Some(start) = operation.origin.time else {
            self.without_times += 1;
            return;
        };
        let mut all = std::mem::take(&mut span.attributes);
        all.text(names::STATE, operation.state.name());
        all.text_if(names::LINK, operation.link.map(Link::name));
        all.integer(names::MESSAGES, signed(operation.messages));
        all.integer(names::BYTES, signed(operation.bytes));
        for (owner, ns) in operation.shares() {
            all.integer(&format!("{}{}", names::WAITED_FOR, owner.name()), ns);
        }
        let failed = operation.state == OperationState::Failed;
        let error = match (&span.error, operation.state) {
            (Some(error), _) if failed => Some(error.as_str()),
            (None, _) if failed => Some("error"),
            (_, OperationState::Cancelled) => Some("cancelled"),
            _ => None,
        };
        all.text_if(names::ERROR_TYPE, error);
        let is_code = |error: &&str| error.parse::<i64>().is_ok();
        all.text_if(names::RPC_STATUS, error.filter(is_code));
        let end = start.saturating_add(operation.duration.unwrap_or_default().max(0));
        if let Some((durations, mut attributes)) = span.durations.take() {
            attributes.text_if(names::ERROR_TYPE, error);
            attributes.text_if(names::RPC_STATUS, error.filter(is_code));
            let [of_client, of_server] = durations;
            let name = if span.is_remote { of_server } else { of_client };
            self.metrics.add(&name, &attributes, [start, end]);
        }
        let name = masked_subject(&about(operation), self.options.show_secrets).into_owned();
        let mut text = Vec::new();
        span.write(&name, [start, end], &all, failed, &mut text);
        self.add_span(span.resource, &mut text, out);
    }

    fn findings(&mut self, findings: &[Finding], _out: &mut Vec<u8>) {
        for finding in findings {
            if let Some(span) = self.operations.get_mut(&finding.place.index) {
                span.finding(finding, finding.place.origin.time);
            }
        }
    }

    fn end(&mut self, _run: &Run<'_>, out: &mut Vec<u8>) {
        self.end_line(out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        self.metrics.write(out);
        if self.written == 0 && self.without_times > 0 {
            return Err("spans need times, which this capture does not have".to_owned());
        }
        Ok(())
    }
}

impl TraceSpan {
    /// Writes the span as JSON.
    fn write(
        &self,
        name: &str,
        [start, end]: [i64; 2],
        attributes: &Attributes,
        failed: bool,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(b"{\"traceId\":");
        write_str(&self.trace, out);
        out.extend_from_slice(b",\"spanId\":");
        write_str(&self.id, out);
        if let Some(parent) = &self.parent {
            out.extend_from_slice(b",\"parentSpanId\":");
            write_str(parent, out);
        }
        out.extend_from_slice(b",\"name\":");
        write_str(&brief(name, MAX_NAME), out);
        // SPAN_KIND_SERVER if the sender has a span of its own, otherwise SPAN_KIND_CLIENT.
        let kind = if self.is_remote { 2 } else { 3 };
        out.extend_from_slice(
            format!(",\"kind\":{kind},\"startTimeUnixNano\":\"{start}\",\"endTimeUnixNano\":\"{end}\",\"attributes\":")
                .as_bytes(),
        );
        attributes.write(out);
        out.extend_from_slice(b",\"events\":[");
        out.extend_from_slice(&self.events);
        out.push(b']');
        if self.dropped > 0 {
            out.extend_from_slice(format!(",\"droppedEventsCount\":{}", self.dropped).as_bytes());
        }
        if let Some((trace, id)) = &self.linked {
            out.extend_from_slice(b",\"links\":[{\"traceId\":");
            write_str(trace, out);
            out.extend_from_slice(b",\"spanId\":");
            write_str(id, out);
            out.extend_from_slice(b"}]");
        }
        out.extend_from_slice(b",\"status\":{");
        if failed {
            out.extend_from_slice(b"\"code\":2,\"message\":");
            write_str(&self.error_text, out);
        }
        out.extend_from_slice(b"}}");
    }

    fn finding(&mut self, finding: &Finding, time: Option<i64>) {
        let mut all = Attributes::default();
        all.text(names::FINDING_RULE, &finding.name());
        all.text(names::FINDING_SEVERITY, finding.severity.name());
        all.text(names::FINDING_TEXT, &brief(&finding.text, MAX_TEXT));
        self.event(time, names::FINDING, &all);
    }

    fn event(&mut self, time: Option<i64>, name: &str, attributes: &Attributes) {
        let Some(time) = time.filter(|_| self.event_count < MAX_EVENTS) else {
            self.dropped += 1;
            return;
        };
        self.event_count += 1;
        let out = &mut self.events;
        out.extend_from_slice(if out.is_empty() { b"" } else { b"," });
        out.extend_from_slice(format!("{{\"timeUnixNano\":\"{time}\",\"name\":").as_bytes());
        write_str(name, out);
        out.extend_from_slice(b",\"attributes\":");
        attributes.write(out);
        out.push(b'}');
    }
}

/// Returns a name of live traffic, which has no file.
fn name_of(header: &Header) -> String {
    let [host, pid] = ["host", "pid"].map(|key| header.more.get(key).cloned());
    let host = host.unwrap_or_default();
    let started = header.started.unwrap_or_default();
    let host = host.as_str().unwrap_or_default();
    format!("{host}:{}:{started}", pid.unwrap_or_default())
}

/// Returns a number as OTLP has it.
fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
