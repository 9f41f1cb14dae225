//! The input that a server asks for: what the client supports, and the forms that it can show.
//!
//! ```text
//!   result {inputRequests: {a: {method: elicitation/create, params}}}     2026-07-28, Multi Round-Trip Requests
//!   requestedSchema: {type: object, properties: {seat: {type: string}}}   Elicitation: a flat object of simple values
//! ```

use super::super::schema;
use super::{ASKERS, ELICITATION, SAMPLING};
use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rule_names::mcp as rule;
use crate::protocol::session::broken;
use crate::protocol::session::text::quote;
use crate::tape::Node;

const ROOTS: &str = "roots/list";
/// The kinds of input, each with its capability.
const INPUTS: [(&str, &str); 3] = [
    (ELICITATION, "elicitation"),
    (SAMPLING, "sampling"),
    (ROOTS, "roots"),
];
const URL_MODE: &str = "elicitation.url";
const FORM_MODE: &str = "elicitation.form";
/// The types of the values of a form.
const SIMPLE: [&str; 4] = ["string", "number", "integer", "boolean"];

/// The kinds of input that the client of a request supports.
#[derive(Debug)]
pub(super) struct Supported {
    inputs: [bool; INPUTS.len()],
    /// A form, and a page of the web.
    modes: [bool; 2],
}

impl Supported {
    /// Reads the capabilities in a request; `None` if it has none.
    pub(super) fn of(message: &RpcMessage<'_, '_>) -> Option<Self> {
        let declared = message.param("_meta")?.get(schema::CAPABILITIES_KEY)?;
        let is_there = |of: Node<'_>, name: &str| of.get(name).is_some_and(|one| !one.is_null());
        declared.is_map().then(|| {
            let elicitation = declared.get(INPUTS[0].1);
            let has = |name: &str| elicitation.is_some_and(|modes| is_there(modes, name));
            Self {
                inputs: INPUTS.map(|(_, name)| is_there(declared, name)),
                // Without modes it is that of forms.
                modes: [has("form") || !has("url"), has("url")],
            }
        })
    }
}

/// Checks a result of a request without a session that asks for input.
pub(super) fn check(
    message: &RpcMessage<'_, '_>,
    name: &str,
    result: Node<'_>,
    supported: Option<&Supported>,
) {
    let kind = result.get("resultType");
    let kind = kind.filter(|kind| kind.is_text("input_required"));
    if let Some(kind) = kind.filter(|_| refuses_input(name)) {
        broken!(message, rule::INPUT_REQUEST, message.at(kind);
            "the result of {name} asks for input; only those of {} may", ASKERS.join(", "));
    }
    let requests = result.get("inputRequests");
    let requests = requests.filter(|requests| requests.is_map());
    for (_, request) in requests.into_iter().flat_map(Node::members) {
        let Some(method) = request.get("method").filter(|method| method.is_string()) else {
            continue;
        };
        let at = INPUTS.iter().position(|(name, _)| method.is_text(name));
        let Some((at, (_, capability))) = at.and_then(|at| Some((at, INPUTS.get(at)?))) else {
            let known = INPUTS.map(|(name, _)| name).join(", ");
            broken!(message, rule::INPUT_REQUEST, message.at(method);
                "the input is a request {}; it should be one of {known}", quote(method));
            continue;
        };
        let params = request.get("params");
        let is_form = params.is_none_or(is_form);
        if let Some(supported) = supported {
            let [has_forms, has_urls] = supported.modes;
            let has_mode = at > 0 || if is_form { has_forms } else { has_urls };
            let has = supported.inputs.get(at).is_some_and(|has| *has);
            let missing = match (has, has_mode) {
                (false, _) => Some(*capability),
                (true, false) => Some(if is_form { FORM_MODE } else { URL_MODE }),
                (true, true) => None,
            };
            if let Some(missing) = missing {
                broken!(message, rule::CAPABILITY_MISSING, message.at(method);
                    "the request does not declare the capability {missing}, which the input {} needs",
                    quote(method));
            }
        }
        if let Some(params) = params.filter(|_| at == 0) {
            check_form(message, params, true);
        }
    }
}

/// Returns true for a method of the schema whose result may not ask for input. Those of tasks are an extension.
fn refuses_input(name: &str) -> bool {
    !name.is_empty() && !name.starts_with("tasks/") && !ASKERS.contains(&name)
}

/// Returns true for the params of an elicitation that shows a form.
fn is_form(params: Node<'_>) -> bool {
    match params.get("mode") {
        Some(mode) => mode.is_text("form"),
        None => params.get("url").is_none(),
    }
}

/// Checks the schema of a form: a flat object of simple values. `lists`: the version has lists of choices.
pub(super) fn check_form(message: &RpcMessage<'_, '_>, params: Node<'_>, lists: bool) {
    let schema = params.get("requestedSchema");
    let Some(schema) = schema.filter(|schema| schema.is_map() && is_form(params)) else {
        return;
    };
    let ty = schema.get("type");
    if !ty.is_some_and(|ty| ty.is_text("object")) {
        let got = ty.map_or("nothing".to_owned(), quote);
        return broken!(message, rule::ELICITATION_SCHEMA, message.at(ty.unwrap_or(schema));
            "the type of requestedSchema is {got}; it should be \"object\"");
    }
    let Some(properties) = schema.get("properties").filter(|all| all.is_map()) else {
        return broken!(message, rule::ELICITATION_SCHEMA, message.at(schema);
            "requestedSchema has no properties; it should name the values of the form");
    };
    let list = if lists { ", or a list of choices" } else { "" };
    for (name, property) in properties.members() {
        let ty = property.get("type");
        let is = |name: &&str| ty.is_some_and(|ty| ty.is_text(name));
        let is_choices = lists && is(&"array") && property.get("items").is_some_and(has_choices);
        if !SIMPLE.iter().any(is) && !is_choices {
            let got = ty.map_or("nothing".to_owned(), quote);
            return broken!(message, rule::ELICITATION_SCHEMA, message.at(property);
                "the type of {} is {got}; it should be one of {}{list}",
                quote(name), SIMPLE.join(", "));
        }
    }
}

/// Returns true for the items of a list of choices.
fn has_choices(items: Node<'_>) -> bool {
    ["enum", "anyOf"]
        .iter()
        .any(|name| items.get(name).is_some())
}
