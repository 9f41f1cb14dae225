//! Builds announces of the offered functions, and the answers to announces.

use super::{VERSION, envelope, error, failure, success};
use crate::protocol::make::{IdGen, Object, array};
use crate::protocol::peer::{Offer, Readiness, with_about, with_json};
use crate::protocol::saikuro::message::field;
use crate::tape::Node;

/// The state of the announces.
#[derive(Debug, Default)]
pub(super) enum Hello {
    /// None is needed.
    #[default]
    None,
    /// It is not sent yet.
    Due,
    /// It was sent; the ids or namespaces that are not acknowledged.
    Sent(Vec<String>),
    /// The runtime has refused it.
    Refused(String),
}

impl Hello {
    pub(super) fn announced(&mut self, name: &str) {
        match self {
            Self::Sent(open) => open.push(name.to_owned()),
            Self::None | Self::Due => *self = Self::Sent(vec![name.to_owned()]),
            Self::Refused(_) => {}
        }
    }

    pub(super) fn answered(&mut self, root: Node<'_>, id: &str) {
        let Self::Sent(open) = self else {
            return;
        };
        let namespace = root.get("namespace").and_then(Node::text);
        let name = namespace.as_deref().unwrap_or(id);
        let Some(at) = open.iter().position(|open| open == name) else {
            return;
        };
        open.swap_remove(at);
        if root.get("ok").and_then(Node::as_bool) == Some(false) {
            let error = root.get("error");
            let part = |name| error.and_then(|e| e.get(name)?.text()).unwrap_or_default();
            *self = Self::Refused(format!(
                "announce was answered with {}: {}",
                part("code"),
                part("message")
            ));
        }
    }

    pub(super) fn readiness(&self) -> Readiness {
        match self {
            Self::None => Readiness::Ready,
            Self::Sent(open) if open.is_empty() => Readiness::Ready,
            Self::Due | Self::Sent(_) => Readiness::Waits("the answer to announce".into()),
            Self::Refused(why) => Readiness::Refused(why.clone()),
        }
    }
}

/// Returns the namespace of an announce in the document's form.
pub(super) fn document_form(root: Node<'_>) -> Option<Node<'_>> {
    root.get("namespace").filter(|_| root.get("args").is_none())
}

/// Builds the announces of the offers: one for all to real peers, one for each namespace by the document. A name
/// without a dot cannot be called and is left out.
pub(super) fn messages(offers: &[Offer], document: bool, id_gen: &mut IdGen) -> Vec<String> {
    let named = || {
        let offers = offers.iter();
        offers.filter_map(|offer| Some((offer.name.rsplit_once('.')?, offer)))
    };
    let mut spaces: Vec<&str> = Vec::new();
    for ((space, _), _) in named() {
        if !spaces.contains(&space) {
            spaces.push(space);
        }
    }
    let spaces = spaces.into_iter().map(|space| {
        let own = named().filter(|((of, _), _)| *of == space);
        let functions = own.fold(Object::default(), |all, ((_, name), offer)| {
            all.json(name, &function(offer))
        });
        let functions = Object::default().json("functions", &functions.finish());
        (space, functions.finish())
    });
    let schema = |spaces: Object| {
        let schema = Object::default().json("version", VERSION);
        let schema = schema.json("namespaces", &spaces.finish());
        schema.json("types", "{}").finish()
    };
    if document {
        let message = |(space, functions): (&str, String)| {
            let spaces = Object::default().json(space, &functions);
            let announce = Object::default().text("type", "announce");
            let announce = announce.text("namespace", space);
            announce.json("schema", &schema(spaces)).finish()
        };
        return spaces.map(message).collect();
    }
    let all = spaces.fold(Object::default(), |all, (space, functions)| {
        all.json(space, &functions)
    });
    let args = array(&[schema(all)]);
    vec![envelope("announce", "$saikuro.announce", &args, id_gen)]
}

/// The number of arguments of a function whose arguments are not given. A schema has no list of any length, and a runtime
/// refuses a call with more arguments.
const MAX_ARGUMENTS: usize = 16;

/// Builds the arguments of a function that takes any values.
fn any_arguments() -> String {
    let argument = |n| {
        format!(
            "{{\"name\":\"arg{n}\",\"type\":{{\"kind\":\"primitive\",\"type\":\"any\"}},\"optional\":true}}"
        )
    };
    array(&(0..MAX_ARGUMENTS).map(argument).collect::<Vec<_>>())
}

/// Builds a function of a schema. By default it takes and returns any values.
fn function(offer: &Offer) -> String {
    const ANY: &str = r#"{"kind":"primitive","type":"any"}"#;
    const STREAM: &str = r#"{"kind":"stream","item":{"kind":"primitive","type":"any"}}"#;
    let about = offer.about.as_deref();
    let is_sent = |name: &str| with_json(about.unwrap_or("{}"), |a| a.get(name).is_some());
    let arguments = any_arguments();
    let usual = [
        ("args", arguments.as_str()),
        ("returns", if offer.streams { STREAM } else { ANY }),
        ("visibility", "\"public\""),
        ("capabilities", "[]"),
    ];
    let entry = usual
        .into_iter()
        .filter(|(name, _)| is_sent(name) != Some(true))
        .fold(Object::default(), |entry, (name, value)| {
            entry.json(name, value)
        });
    with_about(entry, &[], about).finish()
}

/// Builds the answer to an announce, in the same form.
pub(super) fn ack(root: Node<'_>, id: &str) -> String {
    if let Some(namespace) = document_form(root) {
        let ack = Object::default().text("type", "announce_ack");
        let ack = ack.text("namespace", &namespace.text().unwrap_or_default());
        if root.get("schema").is_some_and(Node::is_map) {
            return ack.json("ok", "true").finish();
        }
        let why = error("SchemaError", "a schema is a map", None);
        return ack.json("ok", "false").json("error", &why).finish();
    }
    let schema = field(root, "args").and_then(|args| args.at(0));
    if schema.is_some_and(Node::is_map) {
        return success(id).finish();
    }
    let why = "announce envelope must carry a Schema in args[0]";
    failure(id, "MalformedEnvelope", why, None)
}
