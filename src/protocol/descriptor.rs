//! The descriptor of a protocol, for generic code and the command line.

use super::{MessageForm, Role};
use crate::encoding::Encoding;
use crate::framing::{Framing, Hints};
use crate::tape::Node;
use std::borrow::Cow;
use std::sync::Arc;

/// Types that only one protocol has, for values that people write: `(u256,)`.
pub trait ValueTypes: Send + Sync {
    /// Returns the name of the protocol.
    fn protocol(&self) -> &str;
    /// Returns the same types, to be stored in a script.
    fn share(&self) -> Arc<dyn ValueTypes>;
    /// Checks that a type with this name exists. The error gives the reason.
    fn check(&self, name: &str) -> Result<(), ValueError>;
    /// Writes a value of the type as JSON of a message. The error gives the reason why the value does not fit.
    fn write(&self, name: &str, value: Node<'_>) -> Result<String, ValueError>;
}

/// The reason why a type or a value is refused: an error of the protocol.
pub type ValueError = Box<dyn std::error::Error + Send + Sync>;

impl std::fmt::Debug for dyn ValueTypes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "types of {}", self.protocol())
    }
}

impl PartialEq for dyn ValueTypes {
    fn eq(&self, other: &Self) -> bool {
        self.protocol() == other.protocol()
    }
}

impl Eq for dyn ValueTypes {}

/// A kind of message: its name, its role and one line of help.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Kind {
    /// The name in output.
    pub name: Cow<'static, str>,
    /// The role; `None` if direction or content decides.
    pub role: Option<Role>,
    /// The meaning, with the section of the document.
    pub about: Cow<'static, str>,
}

impl Kind {
    /// A kind of message.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        role: Option<Role>,
        about: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (name, about) = (name.into(), about.into());
        Self { name, role, about }
    }
}

/// The common parts of the requests of a client over HTTP, on any connection. The client also opens
/// event streams with GET; messages that are not in the response to a request are events of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpSession<'p> {
    /// The field that names the session: a response has it, and later requests repeat it.
    pub name: &'p str,
    /// A field for a member of the first result, such as the version.
    pub version: Option<(&'p str, &'p str)>,
    /// A field for a member of results and params: each of its values has an event stream.
    pub part: Option<(&'p str, &'p str)>,
}

/// The descriptor of a protocol. It borrows from the protocol, which may be made at run time.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct Descriptor<'p> {
    /// The name that users write.
    pub name: &'p str,
    /// The default port of its servers, if there is one.
    pub port: Option<u16>,
    /// The framings in which its messages may occur, the most likely first.
    pub framings: &'p [Framing],
    /// The encodings of its bodies.
    pub encodings: &'p [Encoding],
    /// The hints that framing needs for its bytes.
    pub hints: Hints,
    /// The names of the two sides: first the one that opened the connection or spawned the process.
    pub sides: [&'p str; 2],
    /// The side that offers functions although it opens the connection, if there is one.
    pub provider: Option<&'p str>,
    /// The names of its dialects, if scripts can choose one.
    pub dialects: &'p [&'p str],
    /// The settings that not all protocols have: `length-mode`, `name`, `schema`, `secret-file`, `signature`, `token-file`,
    /// `tool`. The command line refuses their flags for other protocols.
    pub settings: &'p [&'p str],
    /// Its own fault codes, each with its meaning. Framing and encodings have theirs.
    pub faults: &'p [(&'p str, &'p str)],
    /// The types of values that scripts can name.
    pub value_types: Option<&'p dyn ValueTypes>,
    /// Peers re-encode the messages that they relay, so that the same message has other bytes on each leg.
    pub is_re_encoded: bool,
    /// A request must wait for the previous answer: only their order links the two, or peers handle one request at a
    /// time.
    pub is_sequential: bool,
    /// Answers repeat nothing of their request: each side answers in the order of the requests.
    pub answers_in_order: bool,
    /// Answers repeat only the subject: each side answers the requests with one subject in their order.
    pub answers_by_subject: bool,
    /// An answer may come on another connection than its request.
    pub answers_anywhere: bool,
    /// A name belongs to one call, so that statistics leave it out.
    pub has_unique_names: bool,
    /// The protocol is detected only if no other one is, and without certainty: it reads what others may also have.
    pub is_fallback: bool,
    /// The common parts of its requests over HTTP; `None` if they are independent.
    pub http: Option<HttpSession<'p>>,
    /// Bodies of HTTP are messages. Otherwise HTTP only leads to WebSocket, and a body is a text for people.
    pub has_http_bodies: bool,
    /// The body of the HTTP response to a message that has no answer.
    pub accepted_body: &'p str,
    /// The end of each line that is written, if it is not LF.
    pub line_end: &'p str,
    /// Its messages are read, but cannot be written.
    pub is_read_only: bool,
    /// The members of requests that say to which trace they belong.
    pub traces: &'p [(&'p [&'p str], TraceMember)],
    /// The members of answers that state what a call costs: objects of numbers. Those of later members that differ from
    /// the first that is there count under their own name.
    pub costs: &'p [&'p str],
    /// The lists of what a server offers.
    pub definitions: &'p [Definitions<'p>],
    /// What a side announces when a session opens: objects whose members can be compared with those of an earlier release.
    pub announced: &'p [Definitions<'p>],
    /// The names that OpenTelemetry has for its operations, if there are own ones.
    pub spans: Option<SpanNames<'p>>,
}

/// The names that OpenTelemetry has for the operations of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanNames<'p> {
    /// The attribute of the subject.
    pub method: &'p str,
    /// The attribute of the session.
    pub session: &'p str,
    /// The attribute that has the name within the subject, by subject.
    pub targets: &'p [(&'p str, &'p str)],
    /// The subject that calls a tool.
    pub tool_call: &'p str,
    /// The attribute of the arguments of a tool.
    pub arguments: &'p str,
    /// The attribute of the result of a tool.
    pub result: &'p str,
    /// The metrics of the duration of an operation, as the client and as the server sees it.
    pub durations: [&'p str; 2],
}

/// A list of definitions, each with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definitions<'p> {
    /// The subject of its request; without a subject, the kind.
    pub of: &'p str,
    /// Its place in the answer, or in the message itself if it answers nothing.
    pub path: &'p [&'p str],
    /// The member of what the server announces without which the list is not requested; empty: none.
    pub needs: &'p str,
    /// The member of the answer that names the next part of a long list: the first argument of its request. Empty: none.
    pub next: &'p [&'p str],
}

impl<'p> Definitions<'p> {
    /// Creates a list by the subject or kind of its request, and its place in the answer.
    pub const fn new(of: &'p str, path: &'p [&'p str]) -> Self {
        Self {
            of,
            path,
            needs: "",
            next: &[],
        }
    }

    /// Sets what the server announces if it has the list, and the member that names the next part.
    #[must_use]
    pub const fn after(mut self, needs: &'p str, next: &'p [&'p str]) -> Self {
        self.needs = needs;
        self.next = next;
        self
    }
}

/// What a member says about the trace of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceMember {
    /// The trace and the span of the sender, as in the field `traceparent` of W3C Trace Context.
    Context,
    /// The id of the trace.
    Trace,
    /// The id of the span.
    Span,
    /// The id of the span that contains it.
    ParentSpan,
    /// What the request starts: the requests of it are inside of this one.
    Starts,
    /// What was started, of which the request is a part.
    Started,
}

impl std::fmt::Debug for Descriptor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("Descriptor");
        fields.field("name", &self.name);
        fields.field("framings", &self.framings);
        fields.field("sides", &self.sides);
        fields.finish_non_exhaustive()
    }
}

impl Descriptor<'_> {
    /// Returns true if messages are JSON that HTTP or WebSocket carries: a file can hold them alone.
    pub(crate) fn is_carried_json(&self) -> bool {
        let is_carrier = |framing| matches!(framing, &Framing::Http | &Framing::WebSocket);
        self.encodings == [Encoding::Json] && self.framings.iter().all(is_carrier)
    }

    /// Returns the encoding of a body.
    pub(crate) fn encoding_of(&self, body: &[u8]) -> Encoding {
        // A map or an array of the other encodings never starts like one of JSON.
        let is_json = || matches!(body.trim_ascii_start().first(), Some(b'{' | b'['));
        match self.encodings {
            [only] => *only,
            _ if is_json() => Encoding::Json,
            all => {
                let mut others = all.iter().copied().filter(|one| *one != Encoding::Json);
                others.next().unwrap_or(Encoding::Json)
            }
        }
    }

    /// The usual values; name, framings, sides and faults are still to be set.
    pub const USUAL: Self = Self {
        name: "",
        port: None,
        framings: &[],
        encodings: &[Encoding::Json],
        hints: Hints::NONE,
        sides: [""; 2],
        provider: None,
        dialects: &[],
        settings: &[],
        faults: &[],
        value_types: None,
        is_re_encoded: false,
        is_sequential: false,
        answers_in_order: false,
        answers_by_subject: false,
        answers_anywhere: false,
        has_unique_names: false,
        is_fallback: false,
        http: None,
        has_http_bodies: true,
        accepted_body: "",
        line_end: "",
        is_read_only: false,
        traces: &[],
        costs: &[],
        definitions: &[],
        announced: &[],
        spans: None,
    };

    /// Returns the form of its messages that are not text: CBOR if it has CBOR and no `MessagePack`.
    pub fn packed_form(&self) -> MessageForm {
        let has = |encoding| self.encodings.contains(&encoding);
        if has(Encoding::Cbor) && !has(Encoding::MessagePack) {
            MessageForm::Cbor
        } else {
            MessageForm::MessagePack
        }
    }
}
