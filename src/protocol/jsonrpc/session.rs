//! The session of a JSON-RPC conversation: pairs, and the rules of the specification.

use super::DESCRIPTOR;
use super::schema::DIALECT;
use crate::protocol::correlation::OpenRequest;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::rpc::extension::{Extension, RpcMessage};
use crate::protocol::rpc::pairing::SentRequest;
use crate::protocol::session::Report;
use crate::protocol::session::text::quote;
use crate::tape::Node;

/// The rules that only this protocol has.
#[derive(Default)]
pub(super) struct Rules;

impl Extension for Rules {
    type Own = ();
    const DIALECT: &'static Dialect = &DIALECT;
    const SIDES: [&'static str; 2] = DESCRIPTOR.sides;

    fn asks(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let name = message.call.method.and_then(Node::text);
        if let (Some(method), Some(name)) = (message.call.method, name)
            && name.starts_with("rpc.")
        {
            let text = format!("{} begins with \"rpc.\", which is reserved", quote(method));
            report.broken("reserved-method", message.seen.at(method), text);
        }
    }

    fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        _: &OpenRequest,
        _: &SentRequest<()>,
        report: &mut Report,
    ) {
        let Some(error) = message.call.error() else {
            return;
        };
        let code = error.get("code");
        if let Some(code) = code.filter(|code| code.as_i128().is_some_and(is_reserved)) {
            let text = format!("the code {} is reserved and has no meaning", quote(code));
            report.broken("reserved-code", message.seen.at(code), text);
        }
        let data = error.get("data");
        let traces = [error.get("stack"), data.and_then(|data| data.get("stack"))];
        if let Some(trace) = traces.into_iter().flatten().find(|node| node.is_string()) {
            let text = "the error has a stack trace of the server";
            report.broken("stack-trace", message.seen.at(trace), text);
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
