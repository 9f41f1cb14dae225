//! The session of a conversation between an editor and a language server.
//!
//! ```text
//!   initialize -> result -> initialized -> requests, documents, progress -> shutdown -> exit
//!   capabilities of both sides decide which methods may be used
//! ```

mod documents;
mod header;
mod progress;
mod results;

use super::DESCRIPTOR;
use super::schema::{self, DIALECT};
use crate::protocol::Direction::{ToClient, ToServer};
use crate::protocol::Role;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::rpc::capabilities::{Capabilities, need};
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::rpc::extension::{Extension, Nested, RpcMessage, SentRequest};
use crate::protocol::rpc::handshake::{Disorder, Stage};
use crate::protocol::rule_names::lsp as rule;
use crate::protocol::session::text::short;
use crate::protocol::session::{Current, Owner, Place, Report, RuleId, broken};
use crate::tape::Node;
use documents::Documents;
use progress::Progress;
use results::Legend;

/// The request during which a server acts for the client.
const COMMAND: &[&str] = &["workspace/executeCommand"];

/// A server and its client.
#[derive(Default)]
pub(super) struct LspSession {
    stage: Stage,
    /// `shutdown` was sent.
    is_shut_down: bool,
    /// The first client message after the answer, until `initialized` is sent.
    early: Option<Place>,
    capabilities: Capabilities,
    documents: Documents,
    legend: Legend,
    progress: Progress,
}

/// The state of an open request.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// The number of items of `workspace/configuration`.
    items: Option<usize>,
    /// Its partialResultToken.
    partial: Option<Box<str>>,
    /// Its workDoneToken, or the token that it creates.
    work: Option<Box<str>>,
    /// It creates a token for progress.
    creates: bool,
    /// The number of positions whose ranges it asks for.
    positions: Option<usize>,
}

impl LspSession {
    /// Checks the order of a message that the client sends.
    fn check_order(&mut self, message: &RpcMessage<'_, '_>, name: &str) {
        let (place, before) = (message.whole(), self.stage);
        let is_request = message.role == Role::Request;
        let is_optional = name.starts_with("$/");
        let disorder = self.stage.asks(message, "initialized");
        if self.stage == Stage::Open {
            self.early = None;
        }
        if name == "exit" {
            if !self.is_shut_down && before != Stage::Assumed {
                broken!(message, rule::EXIT_WITHOUT_SHUTDOWN, place;
                    "exit is sent without shutdown; the server then exits with status 1");
            }
            return;
        }
        if self.is_shut_down && is_request {
            broken!(message, rule::REQUEST_AFTER_SHUTDOWN, place;
                "{} is sent after shutdown; only exit may follow", short(name));
        }
        self.is_shut_down |= name == "shutdown";
        let Some((disorder, cause, text)) = disorder else {
            return;
        };
        let rule = match disorder {
            Disorder::Again => {
                self.stage = before;
                rule::SECOND_INITIALIZE
            }
            Disorder::BeforeRequest | Disorder::BeforeAnswer if !is_request => {
                if is_optional {
                    return;
                }
                rule::NOTIFICATION_BEFORE_INITIALIZE
            }
            Disorder::BeforeRequest => rule::REQUEST_BEFORE_INITIALIZE,
            Disorder::BeforeAnswer if message.order => rule::REQUEST_BEFORE_INITIALIZE,
            Disorder::BeforeConfirmation if !is_optional => {
                self.early.get_or_insert(place);
                return;
            }
            _ => return,
        };
        broken!(message, rule, place, cause; "{text}");
    }

    /// Handles what a server registers later.
    fn register(&mut self, registrations: Option<Node<'_>>) {
        let registrations = registrations.filter(|list| list.is_array());
        for one in registrations.into_iter().flat_map(Node::children) {
            self.legend.register(one);
            let Some(method) = one.get("method").and_then(Node::text) else {
                continue;
            };
            self.documents.register(&method);
            // One registration covers all requests for semantic tokens.
            if method.contains("semantic")
                && let Some(capability) = need::<Self>(&format!("{method}/"))
            {
                self.capabilities.register(capability);
            }
            self.capabilities.register(&method);
        }
    }
}

impl Extension for LspSession {
    type Own = Sent;
    const DIALECT: &'static Dialect = &DIALECT;
    const SIDES: [&'static str; 2] = DESCRIPTOR.sides;
    const HAS_HTTP: bool = false;
    const HAS_LINES: bool = false;
    const CANCELS: &'static [(&'static str, &'static str)] = &[("$/cancelRequest", "id")];
    const PERSON: &'static [&'static str] = &["window/showMessageRequest"];
    const NESTED: Nested = Nested(&[
        ("window/showDocument", COMMAND),
        ("window/showMessageRequest", COMMAND),
        ("workspace/applyEdit", COMMAND),
    ]);
    const NEEDS: &'static [(&'static str, &'static str)] = schema::NEEDS;
    const CAPABILITY_RULES: [RuleId; 2] = [rule::CLIENT_CAPABILITY, rule::SERVER_CAPABILITY];

    fn frame(&mut self, seen: Current<'_, '_>) {
        header::check(seen);
    }

    fn asks(&mut self, message: &RpcMessage<'_, '_>) -> Sent {
        let name = message.name();
        if message.is_from_client() {
            self.check_order(message, &name);
        }
        if message.role == Role::Request {
            self.capabilities.check_method::<Self>(message);
        }
        self.documents.check(message);
        self.progress.check(message);
        if name == "client/registerCapability" {
            self.register(message.param("registrations"));
        }
        if name == "initialize" {
            let declared = message.param("capabilities");
            self.capabilities.read(ToServer, declared);
        }
        let creates = name == progress::CREATE;
        let items = message.param("items");
        let items = items.filter(|_| name == "workspace/configuration");
        Sent {
            items: items.map(|items| items.children().count()),
            partial: message.param("partialResultToken").map(progress::key),
            work: message
                .param("workDoneToken")
                .or(message.param("token").filter(|_| creates))
                .map(progress::key),
            creates,
            positions: results::positions(message),
        }
    }

    fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        request: &SentRequest<Sent>,
    ) {
        let (seen, result) = (message.seen, message.call.result);
        let tokens = [&request.own.work, &request.own.partial];
        for token in tokens.into_iter().flatten() {
            self.progress.answer(token);
        }
        if request.own.creates && message.result().is_some() {
            let mut facts = message.operation();
            (facts.ends, facts.owner) = (Some(false), Some(Owner::Server));
        }
        if asked.subject() == Some("initialize") {
            match self.stage {
                // A client may try again after an error.
                Stage::Requested(_) if message.result().is_none() => self.stage = Stage::New,
                Stage::New | Stage::Requested(_) => self.stage = Stage::Answered(seen.index),
                _ => {}
            }
            let capabilities = result.and_then(|result| result.get("capabilities"));
            if capabilities.is_some() {
                self.capabilities.read(ToClient, capabilities);
            }
            self.documents.initialize(capabilities);
            self.legend.initialize(capabilities);
        }
        let Some(result) = result else {
            return;
        };
        if !message.breaks_rule {
            let name = request.method.map_or("", |method| method.name);
            self.legend.check(message, name, result);
            if let Some(positions) = request.own.positions {
                results::check_selection(message, positions, result);
            }
        }
        let got = result.children().count();
        if let Some(items) = request.own.items.filter(|_| result.is_array())
            && got != items
        {
            broken!(message, rule::CONFIGURATION_LENGTH, seen.at(result);
                "the answer has {got} settings for {items} items; each item should have one");
        }
        let token = request.own.partial.as_ref();
        if got > 0 && token.is_some_and(|token| self.progress.has_reported(token)) {
            broken!(message, rule::PARTIAL_RESULT, seen.at(result);
                "the result should be empty, because partial results were sent before");
        }
    }

    fn missed(&mut self) {
        *self = Self {
            stage: Stage::Assumed,
            ..Self::default()
        };
        self.documents.forget();
        self.progress.forget();
    }

    fn end(&self, report: &mut Report) {
        if let Some(place) = self.early.filter(|_| !self.is_shut_down) {
            broken!(report, rule::INITIALIZED_MISSING, place;
                "this is sent without initialized, which should follow the answer to initialize");
        }
        self.progress.end(report);
    }
}
