//! The session of a JSON-RPC conversation: pairs, and the rules of the specification.

use super::DESCRIPTOR;
use super::schema::DIALECT;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::rpc::extension::{Extension, RpcMessage, SentRequest};
use crate::protocol::rule_names::jsonrpc as rule;
use crate::protocol::session::broken;
use crate::protocol::session::text::quote;
use crate::tape::Node;

/// The rules that only this protocol has.
#[derive(Default)]
pub(super) struct JsonRpcSession;

impl Extension for JsonRpcSession {
    type Own = ();
    const DIALECT: &'static Dialect = &DIALECT;
    const SIDES: [&'static str; 2] = DESCRIPTOR.sides;
    const MAY_LACK_VERSION: bool = true;

    fn asks(&mut self, message: &RpcMessage<'_, '_>) {
        let name = message.call.method.and_then(Node::text);
        if let (Some(method), Some(name)) = (message.call.method, name)
            && name.starts_with("rpc.")
        {
            broken!(message, rule::RESERVED_METHOD, message.at(method);
                "{} begins with \"rpc.\", which is reserved", quote(method));
        }
    }

    fn answers(&mut self, message: &RpcMessage<'_, '_>, _: &OpenRequest, _: &SentRequest<()>) {
        let Some(error) = message.call.error() else {
            return;
        };
        let code = error.get("code");
        if let Some(code) = code.filter(|code| code.as_i128().is_some_and(is_reserved)) {
            broken!(message, rule::RESERVED_CODE, message.at(code);
                "the code {} is reserved and has no meaning", quote(code));
        }
        let data = error.get("data");
        let traces = [error.get("stack"), data.and_then(|data| data.get("stack"))];
        if let Some(trace) = traces.into_iter().flatten().find(|node| node.is_string()) {
            broken!(message, rule::STACK_TRACE, message.at(trace);
                "the error has a stack trace of the server");
        }
    }
}

/// Returns true for a reserved code without a meaning (section 5.1).
fn is_reserved(code: i128) -> bool {
    let defined = matches!(code, -32700 | -32603..=-32600 | -32099..=-32000);
    (-32768..=-32000).contains(&code) && !defined
}

#[cfg(test)]
mod tests;
