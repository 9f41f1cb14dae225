//! The state of one session: a process, or what an `Mcp-Session-Id` names.
//!
//! ```text
//!   2024-11-05 to 2025-11-25   initialize -> result: a version, capabilities of both sides -> notifications/initialized
//!   2026-07-28                 no handshake: version and capabilities are in the `_meta` of each request
//! ```

use super::super::schema;
use super::needs::need;
use super::tools::Tools;
use crate::protocol::Direction;
use crate::protocol::correlation::OpenRequest;
use crate::protocol::rpc::capabilities::Capabilities;
use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rpc::pairing::SentRequest;
use crate::protocol::rpc::spelling;
use crate::protocol::schema::Releases;
use crate::protocol::schema::check::number;
use crate::protocol::session::memory::{PerDirection, RecentEntries};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Report, Seen, Severity};
use crate::tape::Node;

/// The number of progress tokens, and of cursors, that are stored.
const MAX_TOKENS: usize = 1 << 12;

/// The state of a session.
pub(super) struct SessionState {
    pub(super) stage: Stage,
    /// The negotiated version.
    pub(super) version: Option<Releases>,
    /// A request without a handshake named its version.
    stateless: bool,
    /// The capabilities that the sender of a direction declared.
    capabilities: PerDirection<Capabilities>,
    tools: Tools,
    /// Progress tokens by the direction of their request.
    progress: RecentEntries<(Direction, Box<str>), Progress>,
    cursors: RecentEntries<Box<str>, ()>,
    /// The number of stored tokens and cursors: older ones are forgotten.
    stored: [usize; 2],
}

/// The state of the handshake.
#[derive(Debug, Default)]
pub(super) enum Stage {
    #[default]
    New,
    /// `initialize` was sent, with this index and id.
    Requested(u64, Box<str>),
    /// It was answered by this message; `notifications/initialized` must follow.
    Answered(u64),
    Ready,
    /// The handshake was not seen, is not needed, or its error was reported.
    Assumed,
}

/// The progress of a request.
struct Progress {
    index: u64,
    last: Option<f64>,
    answered: bool,
}

/// The stored part of a request, until its answer.
#[derive(Debug, Default)]
pub(super) struct RequestContext {
    /// The offered version of `initialize`.
    version: Option<Box<str>>,
    /// The name of the tool.
    tool: Option<Box<str>>,
    /// The list starts with a cursor.
    paged: bool,
    /// The progress token.
    token: Option<Box<str>>,
    /// It named its version itself.
    stateless: bool,
}

impl Default for SessionState {
    fn default() -> Self {
        Self {
            stage: Stage::New,
            version: None,
            stateless: false,
            capabilities: PerDirection::default(),
            tools: Tools::default(),
            progress: RecentEntries::with_capacity(MAX_TOKENS),
            cursors: RecentEntries::with_capacity(MAX_TOKENS),
            stored: [0; 2],
        }
    }
}

/// Returns the version that a request names in its `_meta`.
pub(super) fn own_version<'a>(message: &RpcMessage<'_, 'a>) -> Option<Node<'a>> {
    message.param("_meta")?.get(schema::VERSION_KEY)
}

impl SessionState {
    fn declared(&mut self, direction: Direction) -> &mut Capabilities {
        self.capabilities.get_mut(Some(direction))
    }

    /// Checks a request or a notification, and returns what its answer needs.
    pub(super) fn asks(
        &mut self,
        message: &RpcMessage<'_, '_>,
        report: &mut Report,
    ) -> RequestContext {
        let seen = message.seen;
        let before = report.broken.len();
        self.check_era(message, report);
        if message.requester() == Direction::ToServer {
            self.check_handshake(message, report);
        }
        let name = message.call.method.and_then(Node::text).unwrap_or_default();
        let text = |name: &str| message.param(name)?.text().map(|text| text.as_ref().into());
        let mut context = RequestContext {
            stateless: own_version(message).is_some(),
            ..RequestContext::default()
        };
        match &*name {
            "initialize" => {
                self.declared(Direction::ToServer)
                    .read(message.param("capabilities"));
                check_version(seen, message.param("protocolVersion"), report);
                context.version = text("protocolVersion");
            }
            schema::CALL => {
                context.tool = text("name");
                self.tools.check_call(message, report);
            }
            "notifications/progress" => self.check_progress(message, report),
            "notifications/tools/list_changed" => self.tools.change_announced = true,
            _ => {}
        }
        if let Some(cursor) = message.param("cursor") {
            context.paged = true;
            self.check_cursor(seen, cursor, report);
        }
        let token = message
            .param("_meta")
            .and_then(|meta| meta.get("progressToken"));
        if let Some(token) = token.filter(|_| message.call.id.is_some()) {
            let token: Box<str> = spelling(token).into();
            let progress = Progress {
                index: seen.index,
                last: None,
                answered: false,
            };
            self.stored[0] += 1;
            let key = (message.requester(), token.clone());
            self.progress.insert(key, progress);
            context.token = Some(token);
        }
        if report.broken.len() == before {
            self.check_release(message, report);
            self.check_capability(message, report);
        }
        context
    }

    /// Checks that a message belongs to the kind of session: with or without a handshake.
    fn check_era(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let seen = message.seen;
        let (is_request, own) = (message.call.id.is_some(), own_version(message));
        let is_stateless = self.stateless && self.version.is_none();
        match own {
            Some(own) if self.version.is_some() => {
                let text = "the session has a negotiated version; a request should not name one";
                report.broken("era-mixed", seen.at(own), text);
            }
            Some(own) => {
                self.stateless = true;
                let meta = message.param("_meta");
                let clients = meta.and_then(|meta| meta.get(schema::CAPABILITIES_KEY));
                self.declared(Direction::ToServer).read(clients);
                check_version(seen, Some(own), report);
                if clients.is_none() && is_request {
                    let text = format!("_meta has no {}", schema::CAPABILITIES_KEY);
                    report.broken("meta-missing", seen.at(own), text);
                }
            }
            None if !is_stateless || !is_request => {}
            None if message.requester() == Direction::ToClient => {
                let text = "without a session a server asks nothing; it answers with inputRequests";
                report.broken("server-request", seen.whole(), text);
            }
            // The next attempt of a client whose server has no stateless version.
            None if message.is("initialize") => self.stateless = false,
            None => {
                let text = format!(
                    "_meta has no {}, as earlier requests had",
                    schema::VERSION_KEY
                );
                report.broken("meta-missing", seen.whole(), text);
            }
        }
    }

    /// Checks the client's part of the handshake.
    fn check_handshake(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let place = message.seen.whole();
        let name = message.method.map_or("this", |method| method.name);
        let confirms = message.is("notifications/initialized");
        if message.is("initialize") {
            if let Stage::Requested(..) | Stage::Answered(_) | Stage::Ready = self.stage {
                let text = "initialize is sent again; once a session is enough";
                report.broken("second-initialize", place, text);
            }
            let id = message.call.id.map_or("", spelling);
            self.stage = Stage::Requested(message.seen.index, id.into());
            return;
        }
        if let Stage::Requested(asked, id) = &self.stage
            && message.is("notifications/cancelled")
            && message
                .param("requestId")
                .is_some_and(|cancelled| spelling(cancelled) == &**id)
        {
            let text = "initialize is cancelled; a client that gives up closes the connection";
            return report.broken_by("cancel-initialize", place, *asked, text);
        }
        if self.stateless || own_version(message).is_some() || message.is("ping") {
            return;
        }
        let next = match self.stage {
            Stage::New if confirms => {
                let text = "initialized is sent, but initialize was not; that comes first";
                report.broken("initialized-early", place, text);
                Stage::Assumed
            }
            Stage::New => {
                let text = format!("{name} is sent before initialize, which should come first");
                report.broken("before-initialize", place, text);
                Stage::Assumed
            }
            Stage::Requested(asked, _) if confirms => {
                let text = format!("initialized is sent before #{asked} is answered");
                report.broken_by("initialized-early", place, asked, text);
                Stage::Assumed
            }
            Stage::Requested(asked, _) => {
                let text = format!("{name} is sent before initialize, #{asked}, is answered");
                report.broken_by("before-initialized", place, asked, text);
                Stage::Assumed
            }
            Stage::Answered(_) if confirms => Stage::Ready,
            Stage::Answered(answer) => {
                let text = format!("{name} is sent before notifications/initialized");
                report.broken_by("before-initialized", place, answer, text);
                Stage::Assumed
            }
            Stage::Ready | Stage::Assumed => return,
        };
        self.stage = next;
    }

    /// Reports a method or a member that the negotiated version does not have.
    fn check_release(&self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let stateless = schema::STATELESS;
        let own = own_version(message).map(|_| stateless);
        let (Some(version), Some(method), Some(node)) =
            (self.version.or(own), message.method, message.call.method)
        else {
            return;
        };
        let (name, what) = (schema::name(version), method.name);
        if method.releases.and(version).is_empty() {
            let text = format!("version {name}, which was agreed on, has no {what}");
            report.broken("not-in-version", message.seen.at(node), text);
        } else if method
            .releases_of(message.call.params, None)
            .and(version)
            .is_empty()
        {
            let text = format!(
                "version {name}, which was agreed on, has {what} without some of these params"
            );
            report.broken("not-in-version", message.seen.at(node), text);
            report.at_most(Severity::Info);
        }
    }

    /// Checks that a method is one that both sides have.
    fn check_capability(&self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let (Some(node), Some(method)) = (message.call.method, message.method) else {
            return;
        };
        // The first version had no capability for it.
        let is_first = self.version.is_some_and(|version| version == schema::FIRST);
        if is_first && method.name.starts_with("completion/") {
            return;
        }
        if let Some((path, owner, severity)) = need(method, message.requester())
            && !self.capabilities.get(Some(owner)).allow(path)
        {
            let side = match owner {
                Direction::ToServer => "client",
                Direction::ToClient => "server",
            };
            let name = method.name;
            let text =
                format!("the {side} did not declare the capability {path}, which {name} needs");
            report.broken("capability-missing", message.seen.at(node), text);
            report.at_most(severity);
        }
    }

    fn check_progress(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let (seen, value) = (message.seen, message.param("progress"));
        let Some(token) = message.param("progressToken") else {
            return;
        };
        let key = (message.requester().other(), spelling(token).into());
        let Some(progress) = self.progress.get_mut(&key) else {
            if self.stored[0] < MAX_TOKENS {
                let text = format!("no request has the progress token {}", quote(token));
                report.broken("progress-token", seen.at(token), text);
            }
            return;
        };
        let new = value.and_then(number);
        if progress.answered {
            let text = format!("progress of #{}, which is answered", progress.index);
            report.broken_by("progress-after-answer", seen.whole(), progress.index, text);
        } else if let (Some(new), Some(last), Some(value)) = (new, progress.last, value)
            && new <= last
        {
            let text = format!("progress is {new}; before it was {last}, and it should increase");
            report.broken_by("progress-order", seen.at(value), progress.index, text);
        }
        progress.last = new.or(progress.last);
    }

    fn check_cursor(&self, seen: &Seen<'_>, cursor: Node<'_>, report: &mut Report) {
        let text = cursor.text().unwrap_or_default();
        if self.cursors.get(&text.as_ref().into()).is_none() && self.stored[1] < MAX_TOKENS {
            let text = format!("no list ended with the cursor {}", quote(cursor));
            report.broken("unknown-cursor", seen.at(cursor), text);
        }
    }

    /// Checks the answer to a request.
    pub(super) fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        request: &SentRequest<RequestContext>,
        report: &mut Report,
    ) {
        let (seen, own) = (message.seen, &request.own);
        let name = request.method.map_or("", |method| method.name);
        if let Some(token) = &own.token {
            let requester = asked.origin().direction.unwrap_or(Direction::ToServer);
            let key = (requester, token.clone());
            if let Some(progress) = self.progress.get_mut(&key) {
                progress.answered = true;
            }
        }
        let result = message
            .call
            .result
            .filter(|_| message.call.error().is_none());
        let index = asked.place.index;
        if matches!(&self.stage, Stage::Requested(open, _) if *open == index) {
            self.stage = match result {
                Some(_) => Stage::Answered(seen.index),
                None => Stage::New,
            };
        }
        let Some(result) = result else {
            return;
        };
        if let Some(cursor) = result.get("nextCursor").and_then(Node::text) {
            self.stored[1] += 1;
            self.cursors.insert(cursor.as_ref().into(), ());
        }
        if own.stateless && result.get("resultType").is_none() {
            let text = "resultType is not there; clients take it for \"complete\"";
            report.broken("result-type-missing", seen.at(result), text);
        }
        match name {
            "initialize" => self.open(own, index, seen, result, report),
            "server/discover" => {
                self.declared(Direction::ToClient)
                    .read(result.get("capabilities"));
            }
            "tools/list" => self.tools.read(message, own.paged, report),
            schema::CALL => {
                if let Some(tool) = &own.tool {
                    self.tools.check_result(tool, message, result, report);
                }
            }
            _ => {}
        }
        let content = match name {
            schema::CALL => "content",
            "prompts/get" => "messages",
            "resources/read" => "contents",
            _ => return,
        };
        let others = [content, "task", "inputRequests", "requestState"];
        if result.is_map() && others.iter().all(|name| result.get(name).is_none()) {
            let text = format!("{content} of the result of {name} is not there");
            report.broken("missing-content", seen.at(result), text);
        }
    }

    /// Reads the result of `initialize`.
    fn open(
        &mut self,
        request: &RequestContext,
        index: u64,
        seen: &Seen<'_>,
        result: Node<'_>,
        report: &mut Report,
    ) {
        self.declared(Direction::ToClient)
            .read(result.get("capabilities"));
        let version = result.get("protocolVersion");
        check_version(seen, version, report);
        self.version = version.and_then(schema::version);
        self.stateless = false;
        if let (Some(node), Some(asked)) = (version, &request.version)
            && node.text().is_some_and(|got| got != asked.as_ref())
        {
            let text = format!(
                "the server answers {}; the client offered {}",
                quote(node),
                short(asked)
            );
            report.broken_by("version-lowered", seen.at(node), index, text);
        }
    }
}

/// Reports a version that was never published.
fn check_version(seen: &Seen<'_>, version: Option<Node<'_>>, report: &mut Report) {
    if let Some(node) = version.filter(|node| node.is_string() && schema::version(*node).is_none())
    {
        let text = format!(
            "there is no version {}; known ones are {}",
            quote(node),
            schema::names()
        );
        report.broken("unknown-version", seen.at(node), text);
    }
}
