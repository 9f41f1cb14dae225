//! Builds JSON-RPC 2.0 messages, also from replies.

use super::{Call, spelling};
use crate::error::Refusal;
use crate::protocol::make::Object;
use crate::protocol::peer::{PeerReply, Request, as_json, with_json};

/// The message is not a request.
pub(in crate::protocol) const INVALID_REQUEST: i32 = -32600;
/// The method does not exist.
pub(in crate::protocol) const METHOD_NOT_FOUND: i32 = -32601;
/// The params do not fit the method.
pub(in crate::protocol) const INVALID_PARAMS: i32 = -32602;

/// Names of the standard codes (JSON-RPC 2.0 section 5.1).
const NAMES: [(&str, i32); 5] = [
    ("parse-error", -32700),
    ("invalid-request", INVALID_REQUEST),
    ("method-not-found", METHOD_NOT_FOUND),
    ("invalid-params", INVALID_PARAMS),
    ("internal-error", -32603),
];

fn rpc() -> Object {
    Object::default().text("jsonrpc", "2.0")
}

/// A result for a request id, as it is spelled.
pub(in crate::protocol) fn result(id: &str, value: &str) -> String {
    rpc().json("id", id).json("result", value).finish()
}

/// An error for a request id.
pub(in crate::protocol) fn error(
    id: &str,
    code: &str,
    message: &str,
    data: Option<&str>,
) -> String {
    let error = Object::default()
        .json("code", code)
        .text("message", message);
    let error = error.optional("data", data.map(str::to_owned)).finish();
    rpc().json("id", id).json("error", &error).finish()
}

/// A request.
pub(in crate::protocol) fn request(id: &str, method: &str, params: Option<&str>) -> String {
    let request = rpc().json("id", id).text("method", method);
    request
        .optional("params", params.map(str::to_owned))
        .finish()
}

/// A notification.
pub(in crate::protocol) fn notification(method: &str, params: Option<&str>) -> String {
    let notification = rpc().text("method", method);
    notification
        .optional("params", params.map(str::to_owned))
        .finish()
}

/// Returns the id of a request, as it is spelled; fails if there is none.
pub(in crate::protocol) fn id(of: &Request) -> Result<String, Refusal> {
    let id = with_json(&of.message, |root| {
        Call::of(root).id.map(|id| spelling(id).to_owned())
    });
    let nobody = || Refusal::new("id", "a request to answer", "a message without an id");
    id.flatten().ok_or_else(nobody)
}

/// Builds the message for a result or an error; `None` for other replies. `usual` is the default code, `name` looks up
/// the protocol's own names of codes.
pub(in crate::protocol) fn answer(
    to: &Request,
    reply: PeerReply<'_>,
    usual: i32,
    name: fn(&str) -> Option<i32>,
) -> Result<Option<String>, Refusal> {
    Ok(match reply {
        PeerReply::Result(value) => Some(result(&id(to)?, as_json(value, "result")?)),
        PeerReply::Error {
            code,
            message,
            data,
        } => {
            let code = code.map_or(Ok(usual.into()), |code| self::code(code, name))?;
            let data = data.map(|data| as_json(data, "data")).transpose()?;
            Some(error(&id(to)?, &code.to_string(), message, data))
        }
        _ => None,
    })
}

/// Returns the code for a number or a name.
pub(in crate::protocol) fn code(text: &str, name: fn(&str) -> Option<i32>) -> Result<i64, Refusal> {
    let standard = || NAMES.iter().find(|(name, _)| *name == text);
    let known = || name(text).or_else(|| standard().map(|(_, code)| *code));
    let number = text.parse().ok();
    number.or_else(|| known().map(i64::from)).ok_or_else(|| {
        let names = NAMES.map(|(name, _)| name).join(" ");
        let wanted = format!("an integer, or a name such as {names}");
        Refusal::new("code", wanted, format!("`{text}`"))
    })
}
