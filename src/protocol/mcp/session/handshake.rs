//! The handshake of a session, and its version.
//!
//! ```text
//!   2024-11-05 to 2025-11-25   initialize -> result: a version, capabilities of both sides -> notifications/initialized
//!   2026-07-28                 no handshake: version and capabilities are in the `_meta` of each request
//! ```

use super::super::schema;
use crate::protocol::Direction;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::rpc::capabilities::Capabilities;
use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rpc::handshake::{Disorder, Stage};
use crate::protocol::rule_names::mcp as rule;
use crate::protocol::schema::Releases;
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Current, broken};
use crate::tape::Node;

/// The state of the handshake.
#[derive(Default)]
pub(super) struct Handshake {
    stage: Stage,
    /// The negotiated version.
    pub(super) version: Option<Releases>,
    /// A request without a handshake named its version.
    stateless: bool,
}

/// Returns the version that a request names in its `_meta`.
pub(super) fn own_version<'a>(message: &RpcMessage<'_, 'a>) -> Option<Node<'a>> {
    schema::own_version(message.call.params)
}

impl Handshake {
    /// Returns true if requests name their version, and no handshake was seen.
    pub(super) fn is_stateless(&self) -> bool {
        self.stateless && self.version.is_none()
    }

    /// The handshake may have been missed.
    pub(super) fn assume(&mut self) {
        self.stage = Stage::Assumed;
    }

    /// Checks that a message belongs to the kind of session: with or without a handshake.
    pub(super) fn check_era(
        &mut self,
        message: &RpcMessage<'_, '_>,
        capabilities: &mut Capabilities,
    ) {
        let seen = message.seen;
        let is_request = message.call.id.is_some();
        let is_stateless = self.is_stateless();
        match own_version(message) {
            Some(own) if self.version.is_some() => {
                broken!(message, rule::ERA_MIXED, seen.at(own);
                    "the request names a version, but the session has already negotiated one");
            }
            Some(own) => {
                self.stateless = true;
                let meta = message.param("_meta");
                let declared = meta.and_then(|meta| meta.get(schema::CAPABILITIES_KEY));
                capabilities.read(Direction::ToServer, declared);
                check_version(seen, Some(own));
                if declared.is_none() && is_request {
                    broken!(message, rule::META_MISSING, seen.at(own);
                        "_meta has no {}", schema::CAPABILITIES_KEY);
                }
            }
            None if !is_stateless || !is_request => {}
            None if !message.is_from_client() => {
                broken!(message, rule::SERVER_REQUEST, seen.whole();
                    "the server sends a request; without a session it should answer with \
                    inputRequests");
            }
            // The next attempt of a client whose server has no stateless version.
            None if message.is("initialize") => self.stateless = false,
            None => {
                broken!(message, rule::META_MISSING, seen.whole();
                    "_meta has no {}, but earlier requests have it", schema::VERSION_KEY);
            }
        }
    }

    /// Checks the order of a message of the client.
    pub(super) fn check_order(&mut self, message: &RpcMessage<'_, '_>) {
        if message.is("initialize") {
            check_version(message.seen, message.param("protocolVersion"));
        } else if self.stateless || own_version(message).is_some() || message.is("ping") {
            return;
        }
        // A cancellation of initialize has a rule of its own.
        let cancels = message.is("notifications/cancelled");
        let Some((disorder, cause, text)) = self.stage.asks(message, "notifications/initialized")
        else {
            return;
        };
        let rule = match disorder {
            Disorder::Again => rule::SECOND_INITIALIZE,
            Disorder::ConfirmedEarly => rule::INITIALIZED_EARLY,
            Disorder::BeforeRequest => rule::BEFORE_INITIALIZE,
            Disorder::BeforeAnswer if cancels => return,
            Disorder::BeforeAnswer | Disorder::BeforeConfirmation => rule::BEFORE_INITIALIZED,
        };
        broken!(message, rule, message.whole(), cause; "{text}");
        if disorder != Disorder::Again {
            self.stage = Stage::Assumed;
        }
    }

    /// Handles a request that HTTP refuses.
    pub(super) fn refused(&mut self, asked: &OpenRequest) {
        self.stage.refused(asked.index());
    }

    /// Handles an answer; `offered` is the version in the request.
    pub(super) fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        offered: Option<&str>,
    ) {
        let (seen, index) = (message.seen, asked.index());
        let result = message.result();
        self.stage.answered(index, message);
        let opens = asked.subject() == Some("initialize");
        let Some(result) = result.filter(|_| opens) else {
            return;
        };
        let version = result.get("protocolVersion");
        check_version(seen, version);
        self.version = version.and_then(schema::version);
        self.stateless = false;
        if let (Some(node), Some(offered)) = (version, offered)
            && node.text().is_some_and(|got| got != offered)
        {
            broken!(message, rule::VERSION_LOWERED, seen.at(node), index;
                "the server answers {}; the client offered {}", quote(node), short(offered));
        }
    }
}

/// Reports a version that was never published.
fn check_version(seen: Current<'_, '_>, version: Option<Node<'_>>) {
    let version = version.filter(|node| node.is_string() && schema::version(*node).is_none());
    if let Some(node) = version {
        broken!(seen, rule::UNKNOWN_VERSION, seen.at(node);
            "there is no version {}; known ones are {}", quote(node), schema::names());
    }
}
