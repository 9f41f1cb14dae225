//! The session of a conversation between an editor and a language server.
//!
//! ```text
//!   initialize -> result -> initialized -> requests, documents, progress -> shutdown -> exit
//!   capabilities of both sides decide which methods may be used
//! ```

mod documents;
mod header;
mod progress;

use super::schema::{self, DIALECT};
use crate::protocol::correlation::OpenRequest;
use crate::protocol::rpc::capabilities::Capabilities;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::rpc::extension::{Extension, RpcMessage};
use crate::protocol::rpc::pairing::SentRequest;
use crate::protocol::rpc::session::RpcSession;
use crate::protocol::rpc::shape::{ShapeViolation, usual_rule};
use crate::protocol::session::memory::{ConnId, Connections, PerDirection};
use crate::protocol::session::text::short;
use crate::protocol::session::{ConnectionChange, Place, Report, Seen, Session, SessionConfig};
use crate::protocol::{Direction, Origin, Role};
use crate::tape::Node;
use documents::Documents;
use progress::Progress;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The largest number of connections.
const MAX_CONNECTIONS: usize = 1 << 10;
/// The largest number of registered methods.
const MAX_NAMES: usize = 1 << 10;

/// Creates the session of a conversation.
pub(super) fn session(config: &SessionConfig) -> impl Session + use<> {
    let servers = Connections::with_capacity(MAX_CONNECTIONS, 0);
    let order = config.order;
    RpcSession::new(Editors { servers, order }, config)
}

/// The rules that only this protocol has.
struct Editors {
    servers: Connections<Server>,
    /// The order of the two directions is known.
    order: bool,
}

/// The stage of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    New,
    /// `initialize` was sent.
    Requested,
    /// It was answered.
    Answered,
    /// `initialized` was sent.
    Open,
    /// `shutdown` was sent.
    Shutdown,
    Exited,
}

/// A server and its client.
#[derive(Default)]
struct Server {
    stage: Stage,
    /// The first client message after the answer, until `initialized` is sent.
    early: Option<Place>,
    /// The capabilities that the sender of a direction declared.
    capabilities: PerDirection<Capabilities>,
    /// The methods, and their capabilities, that the server registered later.
    registered: BTreeSet<String>,
    documents: Documents,
    progress: Progress,
}

/// The state of an open request.
#[derive(Debug, Default)]
struct Sent {
    /// The number of items of `workspace/configuration`.
    items: Option<usize>,
    /// It has a partialResultToken, and a partial result came.
    partial: Option<Box<str>>,
}

impl Editors {
    fn server(&mut self, conn: ConnId) -> &mut Server {
        self.servers.entry_or_evict(conn, Server::default)
    }

    /// Checks the order of a message that the client sends.
    fn check_stage(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let (order, seen) = (self.order, message.seen);
        let server = self.server(seen.origin.conn);
        let name = message.call.method.and_then(Node::text).unwrap_or_default();
        let place = seen.whole();
        let next = match name.as_ref() {
            "initialize" => Stage::Requested,
            "initialized" => Stage::Open,
            "shutdown" => Stage::Shutdown,
            "exit" => Stage::Exited,
            _ => server.stage,
        };
        match (name.as_ref(), server.stage) {
            ("initialize", Stage::New) => {
                let declared = server.capabilities.get_mut(Some(Direction::ToServer));
                declared.read(message.param("capabilities"));
            }
            ("initialize", _) => {
                let text = "initialize is sent a second time; a server takes it once";
                report.broken("second-initialize", place, text);
            }
            ("exit", stage) if stage < Stage::Shutdown => {
                let text = "exit without shutdown: the server exits with status 1";
                report.broken("exit-without-shutdown", place, text);
            }
            ("exit" | "initialized", _) => {}
            (_, Stage::New) if message.role == Role::Request => {
                let text = format!("{} before initialize", short(&name));
                report.broken("request-before-initialize", place, text);
            }
            (_, Stage::New | Stage::Requested)
                if message.role == Role::Notification && !name.starts_with("$/") =>
            {
                let text = format!("{} before initialize is answered is dropped", short(&name));
                report.broken("notification-before-initialize", place, text);
            }
            (_, Stage::New | Stage::Requested) if message.role == Role::Notification => {}
            (_, Stage::Requested) if order => {
                let text = format!("{} before initialize is answered", short(&name));
                report.broken("request-before-initialize", place, text);
            }
            (_, Stage::Answered) if !name.starts_with("$/") => {
                server.early.get_or_insert(place);
            }
            (_, Stage::Shutdown) if message.role == Role::Request => {
                let text = format!("{} after shutdown", short(&name));
                report.broken("request-after-shutdown", place, text);
            }
            _ => {}
        }
        if next == Stage::Open {
            server.early = None;
        }
        server.stage = server.stage.max(next);
    }

    /// Checks that a method was announced.
    fn check_negotiated(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let server = self.server(message.seen.origin.conn);
        let Some(method) = message.method.filter(|_| message.role == Role::Request) else {
            return;
        };
        let place = message
            .call
            .method
            .map_or(message.seen.whole(), |node| message.seen.at(node));
        if message.direction == Some(Direction::ToClient) {
            let declared = server.capabilities.get(Some(Direction::ToServer));
            if let Some(path) = schema::client_capability(method.name)
                && !declared.allow(&path)
            {
                let text = format!(
                    "{} needs {path}, which the client did not announce",
                    method.name
                );
                report.broken("client-capability", place, text);
            }
            return;
        }
        let declared = server.capabilities.get(Some(Direction::ToClient));
        let is_registered = |name: &str| server.registered.contains(name);
        if let Some(needed) = schema::server_capability(method.name)
            && !declared.allow(&needed)
            && !is_registered(&needed)
            && !is_registered(method.name)
        {
            let text = format!(
                "{} needs {needed}, which the server did not announce",
                method.name
            );
            report.broken("server-capability", place, text);
        }
    }

    /// Handles what a server registers later.
    fn register(&mut self, message: &RpcMessage<'_, '_>) {
        let registered = &mut self.server(message.seen.origin.conn).registered;
        let registrations = message
            .param("registrations")
            .into_iter()
            .flat_map(Node::children);
        for method in registrations.filter_map(|one| one.get("method")?.text()) {
            if registered.len() < MAX_NAMES {
                // One registration covers all requests for semantic tokens.
                let capability =
                    schema::server_capability(&method).filter(|_| method.contains("semantic"));
                registered.extend(capability.map(Cow::into_owned));
                registered.insert(method.into_owned());
            }
        }
    }
}

impl Extension for Editors {
    type Own = Sent;
    const DIALECT: &'static Dialect = &DIALECT;
    const SIDES: [&'static str; 2] = ["client", "server"];
    const HAS_LINES: bool = false;
    const CANCELS: &'static [(&'static str, &'static str)] = &[("$/cancelRequest", "id")];

    fn rule(violation: ShapeViolation) -> &'static str {
        match violation {
            ShapeViolation::UnknownMethod | ShapeViolation::UnknownNotification => "unknown-method",
            violation => usual_rule(violation),
        }
    }

    fn frame(&mut self, seen: &Seen<'_>, report: &mut Report) {
        header::check(seen, report);
    }

    fn asks(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) -> Sent {
        if message.requester() == Direction::ToServer {
            self.check_stage(message, report);
        }
        self.check_negotiated(message, report);
        let server = self.server(message.seen.origin.conn);
        server.documents.check(message, report);
        server.progress.check(message, report);
        if message.is("client/registerCapability") {
            self.register(message);
        }
        let items = message
            .param("items")
            .filter(|_| message.is("workspace/configuration"));
        Sent {
            items: items.map(|items| items.children().count()),
            partial: message.param("partialResultToken").map(progress::key),
        }
    }

    fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        request: &SentRequest<Sent>,
        report: &mut Report,
    ) {
        let seen = message.seen;
        let server = self.server(seen.origin.conn);
        if asked.subject.as_deref() == Some("initialize") {
            server.stage = server.stage.max(Stage::Answered);
            let capabilities = message
                .call
                .result
                .and_then(|result| result.get("capabilities"));
            if capabilities.is_some() {
                let declared = server.capabilities.get_mut(Some(Direction::ToClient));
                declared.read(capabilities);
            }
            server.documents.initialize(capabilities);
        }
        if let (Some(items), Some(result)) = (request.own.items, message.call.result)
            && result.is_array()
            && result.children().count() != items
        {
            let got = result.children().count();
            let text = format!("{got} settings for {items} items; each item has one");
            report.broken("configuration-length", seen.at(result), text);
        }
        let partial = request.own.partial.as_ref();
        let partial = partial.is_some_and(|token| server.progress.has_reported(token));
        if let Some(result) = message.call.result.filter(|_| partial)
            && result.children().next().is_some()
        {
            let text = "the result is not empty, but partial results were sent before";
            report.broken("partial-result", seen.at(result), text);
        }
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        if matches!(what, ConnectionChange::Lost | ConnectionChange::Opened) {
            self.servers.remove(origin.conn);
            if what == ConnectionChange::Lost {
                // Announcements and open documents are unknown from here on.
                let server = self.server(origin.conn);
                server.stage = Stage::Open;
                server.documents.forget();
                server.progress.forget();
            }
            return;
        }
        let ends = origin.direction != Some(Direction::ToServer) || what != ConnectionChange::Ended;
        if ends && let Some(server) = self.servers.remove(origin.conn) {
            server.end(report);
        }
    }

    fn finish(&mut self, report: &mut Report) {
        for server in self.servers.values() {
            server.end(report);
        }
    }
}

impl Server {
    /// Reports what is missing at the end.
    fn end(&self, report: &mut Report) {
        if let Some(place) = self.early.filter(|_| self.stage < Stage::Open) {
            let text = "the client goes on without initialized";
            report.broken("initialized-missing", place, text);
        }
        self.progress.end(report);
    }
}
