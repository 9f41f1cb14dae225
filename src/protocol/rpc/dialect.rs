//! A protocol on JSON-RPC 2.0, by the schema of its methods: the check before writing, `make` and marks.

use super::{Call, spelling};
use crate::error::Refusal;
use crate::protocol::make::{IdGen, Made, Object, Recipe, Words, array, text, unknown_kind, value};
use crate::protocol::schema::MessageIndex;
use crate::protocol::schema::check::{refuse, refuse_nothing};
use crate::protocol::schema::head::HeadPlaces;
use crate::protocol::schema::json_schema::{MessageJsonSchema, any_of, of, of_type, one_of};
use crate::protocol::schema::marks::{Collector, Generated, Marks};
use crate::protocol::schema::{
    self, ANY, BOOL, Fresh, INT, Mark, MessageSchema, TEXT, Type, may, message, must, object,
};
use crate::protocol::{Direction, Message, Role, WriteOptions, Written};
use crate::span::SpannedText;
use crate::tape::Node;
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

/// A protocol on JSON-RPC.
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(in crate::protocol) struct Dialect {
    /// Its methods; each type is that of the params.
    pub(in crate::protocol) methods: &'static [MessageSchema],
    /// The same methods, in the order of their names. A static is never dropped, and base values in one must not need it.
    pub(in crate::protocol) by_name: ManuallyDrop<OnceLock<MessageIndex>>,
    /// The places in results of values that say that a call failed.
    pub(in crate::protocol) failures: ManuallyDrop<OnceLock<HeadPlaces>>,
    /// The answers that `make` builds; each type is that of the whole message.
    pub(in crate::protocol) answers: &'static [MessageSchema],
    /// `make` builds requests and notifications of any method.
    pub(in crate::protocol) open: bool,
    /// Methods that are not in the schema are written and not reported.
    pub(in crate::protocol) any_method: bool,
    /// Starts of other methods that are not reported.
    pub(in crate::protocol) others: &'static [&'static str],
    /// Batches are written and not reported.
    pub(in crate::protocol) batches: bool,
    /// No peer reads a result that is not an object.
    pub(in crate::protocol) object_results: bool,
    /// The type of an id.
    pub(in crate::protocol) id: Type,
    /// The type of the id of an error, which may answer an unreadable request.
    pub(in crate::protocol) error_id: Type,
    /// The type of a result.
    pub(in crate::protocol) result: Type,
    /// Makes a new id for a request.
    pub(in crate::protocol) new_id: fn(&mut IdGen) -> String,
    /// `make` writes empty params.
    pub(in crate::protocol) empty_params: bool,
    /// The number of levels from which the head of a message is read, if there are more than usual.
    pub(in crate::protocol) head_levels: u32,
}

const RESULT_OR_ERROR: &str = "a method, or an id and its result or error";
/// The version, which every message has.
pub(in crate::protocol) const VERSION: schema::Member =
    must("jsonrpc", Type::OneOf(&["2.0"])).default("\"2.0\"");
/// An error object.
pub(in crate::protocol) const ERROR: Type = object![
    must("code", INT),
    must("message", TEXT),
    may("data", Type::Any),
];
/// An answer with a result.
pub(in crate::protocol) const RESPONSE: MessageSchema = message("response", Direction::ToClient)
    .role(Some(Role::Response))
    .of(object![
        VERSION,
        must("id", Type::Any),
        must("result", Type::Any),
    ])
    .words("id result")
    .about("an answer");
/// An answer with an error.
pub(in crate::protocol) const FAILURE: MessageSchema = message("error", Direction::ToClient)
    .role(Some(Role::Error))
    .of(object![
        VERSION,
        must("id", Type::Any),
        must("error", ERROR),
    ])
    .words("id error.code error.message [error.data]")
    .about("an error answer");
/// Members of results by which services on JSON-RPC say that a call failed.
const FAILED_RESULT: Type = object![
    may("isError", BOOL).marked(&[Mark::Fails(&["true"])]),
    may("ok", BOOL).marked(&[Mark::Fails(&["false"])]),
    may("success", BOOL).marked(&[Mark::Fails(&["false"])]),
    may("status", TEXT).marked(&[Mark::Fails(&["failed", "error"])]),
    may("error", ANY).marked(&[Mark::Fails(&[])]),
];
/// Messages of methods that are not in the schema.
pub(in crate::protocol) static OTHERS: [MessageSchema; 2] = [
    schema::request("request", Direction::ToServer).about("any other request"),
    message("notification", Direction::ToServer).about("any other notification"),
];

impl Dialect {
    /// The usual values: JSON-RPC with these methods and any others.
    pub(in crate::protocol) const fn new(methods: &'static [MessageSchema]) -> Self {
        Self {
            methods,
            by_name: ManuallyDrop::new(OnceLock::new()),
            failures: ManuallyDrop::new(OnceLock::new()),
            answers: &[RESPONSE, FAILURE],
            open: true,
            any_method: true,
            others: &["$/"],
            batches: false,
            object_results: false,
            id: Type::Either(&[TEXT, INT]),
            // An error that answers an unreadable request has no id.
            error_id: Type::Either(&[TEXT, INT, Type::Null]),
            result: Type::Any,
            new_id: |id_gen| id_gen.number().to_string(),
            empty_params: false,
            head_levels: 0,
        }
    }

    /// Returns the method with this name.
    pub(in crate::protocol) fn find(&self, name: &str) -> Option<&'static MessageSchema> {
        self.by_name().forms(name).first().copied()
    }

    fn by_name(&self) -> &MessageIndex {
        self.by_name.get_or_init(|| MessageIndex::new(self.methods))
    }

    /// Sets the name of a request or a notification, and if a message says that its call failed.
    pub(in crate::protocol) fn describe<'a>(&self, call: &Call<'a>, message: &mut Message<'a>) {
        if let Some(method) = message.subject.as_deref() {
            if let Some(params) = call.params
                && let Some(head) = self.by_name().head(method)
            {
                message.name = head.name(params);
                message.set_failure(head.failure(params));
            }
        } else {
            message.set_failure(self.failure(call));
        }
    }

    /// Returns the value of a result that says that the call failed.
    pub(super) fn failure<'a>(&self, call: &Call<'a>) -> Option<SpannedText<'a>> {
        let failures = self.failures.get_or_init(|| {
            let mut failures = HeadPlaces::of(&FAILED_RESULT);
            let results = self.methods.iter().map(|method| &method.result);
            results.for_each(|result| failures.add(result));
            failures
        });
        failures.failure(call.result?)
    }

    /// Returns the direction of a request or a notification, if only one side sends its method.
    pub(in crate::protocol) fn fixed_direction(&self, message: &Message<'_>) -> Option<Direction> {
        let asks = matches!(message.role, Some(Role::Request | Role::Notification));
        self.direction_of(message.subject.as_deref().filter(|_| asks)?)
    }

    /// Returns the direction of a method that only one side sends.
    pub(super) fn direction_of(&self, method: &str) -> Option<Direction> {
        let method = self.find(method)?;
        let is_fixed = !method.both_ways && !method.releases.is_empty();
        is_fixed.then_some(method.direction)
    }

    /// Writes a message: its own text.
    pub(in crate::protocol) fn write(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written, Refusal> {
        schema::check::write_json(message, options.force, |root| self.check(root), out)
    }

    /// Refuses a message that the protocol does not have (JSON-RPC 2.0 sections 4 and 5).
    pub(in crate::protocol) fn check(&self, root: Node<'_>) -> Result<(), Refusal> {
        if self.batches && root.is_array() {
            return root.children().try_for_each(|node| self.check(node));
        }
        refuse(root, &object![VERSION])?;
        let call = Call::of(root);
        let Some(method) = call.method else {
            return self.answer(&call);
        };
        refuse(method, &TEXT).map_err(|r| r.inside("method"))?;
        let Some(method) = self.find(&method.text().unwrap_or_default()) else {
            if self.any_method {
                let id = call.id.map_or(Ok(()), |id| refuse(id, &self.id));
                return id.map_err(|r| r.inside("id"));
            }
            let names: Vec<_> = self.methods.iter().map(|m| m.name).collect();
            let wanted = format!("one of {}", names.join(" "));
            return Err(Refusal::new("method", wanted, spelling(method).to_owned()));
        };
        match call.id {
            Some(_) if !method.answered => {
                let never = Type::Never("this is a notification");
                call.id.map_or(Ok(()), |id| refuse(id, &never))
            }
            Some(id) => refuse(id, &self.id),
            None if method.answered => Err(Refusal::whole(self.id.to_string(), "nothing")),
            None => Ok(()),
        }
        .map_err(|r| r.inside("id"))?;
        match call.params.filter(|params| !params.is_null()) {
            Some(params) => refuse(params, &method.ty),
            None => refuse_nothing(&method.ty),
        }
        .map_err(|r| r.inside("params"))
    }

    /// Checks an answer: it has an id, and either a result or an error.
    fn answer(&self, call: &Call<'_>) -> Result<(), Refusal> {
        let error = call.error();
        let id = error.map_or(&self.id, |_| &self.error_id);
        match (call.id, call.result.or(call.error)) {
            (None, None) => return Err(Refusal::whole(RESULT_OR_ERROR, "nothing")),
            (None, _) => return Err(Refusal::new("id", id.to_string(), "nothing")),
            (Some(node), _) => refuse(node, id).map_err(|r| r.inside("id"))?,
        }
        match (call.result, error) {
            (Some(_), Some(_)) => Err(Refusal::new("error", "nothing beside a result", "one")),
            (None, None) => Err(Refusal::new("result", "a value, or an error", "nothing")),
            (None, Some(error)) => refuse(error, &ERROR).map_err(|r| r.inside("error")),
            (Some(result), None) => refuse(result, &self.result).map_err(|r| r.inside("result")),
        }
    }

    /// Returns the messages that [`Dialect::make`] makes.
    pub(in crate::protocol) fn recipes(&self) -> Vec<Recipe> {
        let methods = self.methods.iter();
        let methods = methods.filter_map(|method| schema::make::recipe(method, method.answered));
        let others = OTHERS.iter().filter(|_| self.open);
        let others = others.map(|other| Recipe {
            name: other.name.into(),
            words: "METHOD [PARAMS]".into(),
            keys: if other.answered { "id" } else { "" }.into(),
            about: other.about.into(),
        });
        let answers = self.answers.iter();
        let answers = answers.filter_map(|answer| schema::make::recipe(answer, false));
        methods.chain(others).chain(answers).collect()
    }

    /// Makes a message from words.
    pub(in crate::protocol) fn make(
        &self,
        kind: &str,
        words: &mut Words<'_>,
        id_gen: &mut IdGen,
    ) -> Result<Made, Refusal> {
        let is_made = |message: &&MessageSchema| message.name == kind && message.words.is_some();
        if let Some(answer) = self.answers.iter().find(is_made) {
            return Ok(Made {
                message: schema::make::build(answer, words, id_gen)?,
                direction: answer.direction,
            });
        }
        let (answered, direction, name, params);
        if let Some(method) = self.methods.iter().find(is_made) {
            (answered, direction, name) = (method.answered, method.direction, method.name);
            params = match schema::make::content_of(method, words) {
                Some(params) => params.to_owned(),
                None => schema::make::build(method, words, id_gen)?,
            };
        } else if let Some(other) = OTHERS.iter().find(|m| self.open && m.name == kind) {
            (answered, direction) = (other.answered, other.direction);
            name = words.word("METHOD, a string")?;
            params = words.optional().map_or_else(|| "{}".into(), value);
            words.end()?;
        } else {
            return Err(unknown_kind(kind, &self.recipes()));
        }
        let mut rpc = Object::default().text("jsonrpc", "2.0");
        if answered {
            let id = words.key("id").map(value);
            rpc = rpc.json("id", &id.unwrap_or_else(|| (self.new_id)(id_gen)));
        }
        let is_left_out = params == "{}" && !self.empty_params;
        let params = Some(params).filter(|_| !is_left_out);
        Ok(Made {
            message: rpc.text("method", name).optional("params", params).finish(),
            direction,
        })
    }

    /// Returns the JSON Schema of each kind: of the methods that `decode` shows as kinds, and of requests,
    /// notifications, responses and errors.
    pub(in crate::protocol) fn shapes(&self) -> Vec<MessageJsonSchema> {
        let rpc = |id: Option<String>, more: Object| {
            let properties = Object::default().json("jsonrpc", &of(&VERSION.ty));
            let mut required = vec![text("jsonrpc")];
            required.extend(id.as_ref().map(|_| text("id")));
            let properties = properties.optional("id", id).finish();
            let more = more.finish();
            let own = of_type("object")
                .json("required", &array(&required))
                .json("properties", &properties);
            own.json("allOf", &array(&[more])).finish()
        };
        let of_method = |method: &MessageSchema| {
            let params = of(&method.ty);
            let properties = Object::default().json("method", &one_of(&[method.name]));
            let null = of_type("null").finish();
            let params = any_of(&[params, null]);
            let properties = properties.json("params", &params).finish();
            let required = array(&[text("method")]);
            let id = method.answered.then(|| of(&self.id));
            let more = Object::default().json("properties", &properties);
            rpc(id, more.json("required", &required))
        };
        let of_other_method = |answered: bool| {
            let known: Vec<&str> = self.methods.iter().map(|method| method.name).collect();
            let not = (!known.is_empty()).then(|| one_of(&known));
            let method = of_type("string").optional("not", not).finish();
            let properties = Object::default().json("method", &method).finish();
            let more = Object::default().json("properties", &properties);
            let id = answered.then(|| of(&self.id));
            rpc(id, more.json("required", &array(&[text("method")])))
        };
        let answer = |key: &str, id: &Type, ty: &Type| {
            let properties = Object::default().json(key, &of(ty)).finish();
            let more = Object::default().json("properties", &properties);
            let more = more.json("required", &array(&[text(key)]));
            rpc(Some(of(id)), more)
        };
        let mut shapes: Vec<MessageJsonSchema> = Vec::new();
        for (answered, other) in [(true, "request"), (false, "notification")] {
            let methods = self.methods.iter().filter(|m| m.answered == answered);
            let mut all: Vec<String> = methods.clone().map(of_method).collect();
            if self.open && self.any_method {
                all.push(of_other_method(answered));
            }
            if self.open {
                shapes.push((other.into(), any_of(&all)));
            } else {
                shapes.extend(methods.map(|method| (method.name.into(), of_method(method))));
            }
        }
        for kind in self.answers {
            shapes.push(match kind.role {
                Some(Role::Error) => (kind.name.into(), answer("error", &self.error_id, &ERROR)),
                _ => (kind.name.into(), answer("result", &self.id, &self.result)),
            });
        }
        shapes
    }

    /// Returns the values that differ from run to run: the id, also in a batch, and the marks of params and results.
    pub(in crate::protocol) fn marks(&self) -> Marks {
        let mut collector = Collector::default();
        for method in self.methods {
            let kind = if method.answered {
                "request"
            } else {
                "notification"
            };
            collector.add((kind, Some(method.name)), "params", &method.ty);
            collector.add(("response", None), "result", &method.result);
        }
        let mut marks = collector.finish();
        let id = Generated::new("id", "id", Fresh::Id).volatile();
        let part = Generated::new("batch:[*].id", "id", Fresh::Id).volatile();
        let ids = std::iter::once(id).chain(Some(part).filter(|_| self.batches));
        marks.generated.splice(0..0, ids);
        marks
    }
}
