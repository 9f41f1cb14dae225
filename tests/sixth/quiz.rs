//! The protocol of a quiz, as a program outside of the crate implements it: schema, rules, both sides, and a framing.
//!
//! ```text
//!   -> {"ask":1,"about":"time"}
//!   <- {"answer":1,"is":"noon"}
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wiretool::encoding::Parsed;
use wiretool::error::{DecodeError, Refusal};
use wiretool::framing::{
    Buffer, CustomFraming, Frame, Framing, FramingName, FramingReader, Head, Step, Wire,
};
use wiretool::protocol::make::{IdGen, Made, Object, Recipe, Words};
use wiretool::protocol::peer::{
    Outgoing, Peer, PeerConfig, PeerReply, Request, json_of, with_json,
};
use wiretool::protocol::rules::{Rule, parse};
use wiretool::protocol::schema::check::{refuse, write_json};
use wiretool::protocol::schema::json_schema::{MessageJsonSchema, shapes};
use wiretool::protocol::schema::lint::lint_message;
use wiretool::protocol::schema::marks::{Generated, Marks};
use wiretool::protocol::schema::{self, Fresh, Mark, TEXT, UINT, message, must, object, request};
use wiretool::protocol::session::{
    Behavior, OpenRequest, Report, Session, SessionConfig, Waiting, broken,
};
use wiretool::protocol::{
    Context, Descriptor, Direction, Evidence, Id, Kind, Message, Notes, Protocol, Role, RuleId,
    Seen, WriteOptions, Written,
};
use wiretool::span::Span;
use wiretool::tape::Node;

/// The protocol, with the framing of its peers. All of it is made at run time, as if it were read from a file.
pub struct Quiz {
    pub length: LengthField,
    name: String,
    sides: [String; 2],
    kinds: Vec<Kind>,
    recipes: Vec<Recipe>,
    marks: Marks,
    rules: Vec<Arc<Rule>>,
}

impl Quiz {
    pub fn new(name: &str, length: LengthField) -> Self {
        let kinds = schema::kinds(&MESSAGES).into_iter();
        let kinds = kinds.map(|kind| {
            let (name, about) = (kind.name.into_owned(), kind.about.into_owned());
            Kind::new(name, kind.role, about)
        });
        let generated = [("ask:ask", "number"), ("answer:answer", "number")];
        let generated = generated.map(|(path, group)| {
            Generated::new(path.to_owned(), group.to_owned(), Fresh::Id).volatile()
        });
        Self {
            length,
            name: name.to_owned(),
            sides: ["client", "server"].map(|side| format!("{name} {side}")),
            kinds: kinds.collect(),
            recipes: schema::make::recipes(&MESSAGES),
            marks: Marks {
                generated: generated.into(),
                secrets: vec![format!("{name}-key").into()],
                ..Marks::default()
            },
            rules: parse(&RULES_TEXT.replace("quizzes", name), None).unwrap(),
        }
    }
}

impl Default for Quiz {
    /// The mark `Q`, a reserved byte, and a length in two bytes.
    fn default() -> Self {
        let length = LengthField {
            mark: b"Q".to_vec(),
            offset: 2,
            width: 2,
            header: 4,
        };
        Self::new("quiz", length)
    }
}

const RULES_TEXT: &str = "\
## unasked

- document: error
- peers: error
- clause: the rules of quizzes, section 1

Nobody listens for an answer to a question that was not asked.

## wrong-answer

- document: error
- peers: error
- clause: the rules of quizzes, section 2

An answer that is no text is not counted.
";
/// The rules, in the order of their headings.
const UNASKED: RuleId = RuleId::own(0);
const WRONG_ANSWER: RuleId = RuleId::own(1);

/// A framing of this protocol: a mark, a big-endian length at an offset from it, and the body at the end of the header.
///
/// ```text
///   mark | .. | length | .. | body
///   0         offset          header
/// ```
#[derive(Clone, Debug)]
pub struct LengthField {
    pub mark: Vec<u8>,
    pub offset: usize,
    pub width: usize,
    pub header: usize,
}

/// The name of the framing, whatever its parameters are.
pub const LENGTH_FIELD: FramingName = FramingName::new("quiz-length").unwrap();

impl CustomFraming for LengthField {
    fn name(&self) -> FramingName {
        LENGTH_FIELD
    }

    fn reader(&self) -> Box<dyn FramingReader> {
        Box::new(self.clone())
    }

    fn write(&self, body: &[u8], _: &Wire, out: &mut Vec<u8>) {
        let mut head = vec![0; self.header];
        head[..self.mark.len()].copy_from_slice(&self.mark);
        let length = body.len().to_be_bytes();
        let end = self.offset + self.width;
        head[self.offset..end].copy_from_slice(&length[length.len() - self.width..]);
        out.extend_from_slice(&head);
        out.extend_from_slice(body);
    }
}

impl FramingReader for LengthField {
    fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a> {
        let (framing, there) = (Framing::Custom(LENGTH_FIELD), input.window.len());
        let field = input.window.get(self.offset..self.offset + self.width);
        let length = field.map(|field| {
            field
                .iter()
                .fold(0, |sum, byte| sum << 8 | usize::from(*byte))
        });
        let length = length.map(|length: usize| length.min(input.limits.message as usize));
        let wanted = self.header + length.unwrap_or(0);
        if there < wanted && !input.eof {
            return Step::Incomplete(Some((wanted - there) as u64));
        }
        let (start, end) = (self.header.min(there), wanted.min(there));
        let mut frame = input.frame(framing, Head::None, Span::new(start, end), end);
        if there < wanted {
            let got = there - start;
            frame.fault = Some(input.truncated("body", format!("{wanted} bytes"), got));
        }
        Step::Frame(frame, end)
    }

    fn is_start(&self, bytes: &[u8]) -> Option<bool> {
        let known = bytes.len().min(self.mark.len());
        let fits = bytes[..known] == self.mark[..known];
        (!fits || known == self.mark.len()).then_some(fits)
    }
}

/// Each run has its own numbers; those of a question and of its answer are the same.
const NUMBER: &[Mark] = &[Mark::Generated("number", Fresh::Id), Mark::Volatile];

/// All messages as data: kinds, the check before writing and `make` are derived from it.
static MESSAGES: [schema::MessageSchema; 2] = [
    request("ask", Direction::ToServer)
        .of(object![
            must("ask", UINT)
                .new(|id_gen| id_gen.number().to_string())
                .marked(NUMBER),
            must("about", TEXT),
        ])
        .words("about")
        .about("a question"),
    message("answer", Direction::ToClient)
        .role(Some(Role::Response))
        .of(object![
            must("answer", UINT).marked(NUMBER),
            must("is", TEXT).missing(WRONG_ANSWER).wrong(WRONG_ANSWER)
        ])
        .about("what the question of that number is answered"),
];

impl Protocol for Quiz {
    fn descriptor(&self) -> Descriptor<'_> {
        Descriptor {
            name: &self.name,
            framings: &[Framing::Lines, Framing::Custom(LENGTH_FIELD)],
            sides: [&self.sides[0], &self.sides[1]],
            faults: &[("neither", "an object with neither ask nor answer")],
            ..Descriptor::USUAL
        }
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn recipes(&self) -> &[Recipe] {
        &self.recipes
    }

    fn marks(&self) -> &Marks {
        &self.marks
    }

    fn shapes(&self) -> Vec<MessageJsonSchema> {
        shapes(&MESSAGES)
    }

    fn custom_framing(&self, name: FramingName) -> Option<&dyn CustomFraming> {
        (name == LENGTH_FIELD).then_some(&self.length)
    }

    fn read<'a>(&'a self, frame: &Frame<'a>, _: &Context, parsed: &'a mut Parsed) -> Message<'a> {
        let view = frame.view;
        let result = parsed.json(view.bytes, view.body);
        let mut message = Message::new(view.body);
        message.valid = result.is_ok();
        message.faults.extend(result.err());
        let Some(root) = parsed.root(view.bytes) else {
            return message;
        };
        message.value = Some(parsed);
        let mut kinds = self.kinds.iter();
        let known = kinds.find_map(|kind| Some((kind, root.get(&kind.name)?)));
        let Some((kind, number)) = known else {
            let (wanted, got) = ("ask or answer", root.describe());
            let neither = DecodeError::new("neither", root.span(), "message", wanted, got);
            message.faults.push(neither);
            return message;
        };
        message.kind = Cow::Borrowed(&kind.name);
        message.role = kind.role;
        message.id_span = Some(number.span());
        message.id = number.as_i128().map_or(Id::None, Id::Number);
        message.subject = root.get("about").and_then(Node::spanned_text);
        message.evidence = Evidence::Certain;
        message
    }

    fn write(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written, Refusal> {
        let members = |root: Node<'_>| {
            let [ask, answer] = &MESSAGES;
            let answers = root.get("answer").is_some();
            refuse(root, if answers { &answer.ty } else { &ask.ty })
        };
        write_json(message, options.force, members, out)
    }

    fn make(&self, kind: &str, words: &mut Words<'_>, id_gen: &mut IdGen) -> Result<Made, Refusal> {
        schema::make::make(&MESSAGES, kind, words, id_gen)
    }

    fn annotate(&self, root: Node<'_>, _: &Message<'_>, notes: &mut Notes) {
        if let Some(answer) = root.get("is").filter(|is| is.is_text("noon")) {
            notes.remark(answer, "12:00");
        }
    }

    fn behavior(&self) -> &dyn Behavior {
        self
    }
}

impl Behavior for Quiz {
    fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    fn session<'a>(&'a self, _: &SessionConfig) -> Box<dyn Session + 'a> {
        Box::new(QuizSession::default())
    }

    fn peer<'a>(&'a self, _: Direction, _: &PeerConfig) -> Box<dyn Peer + 'a> {
        Box::new(QuizPeer::default())
    }
}

/// The passive side.
#[derive(Default)]
struct QuizSession(BTreeMap<String, OpenRequest>);

impl Session for QuizSession {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        let id = seen.message.id.text().into_owned();
        if seen.message.role == Some(Role::Request) {
            self.0.insert(id, OpenRequest::of(seen));
        } else if let Some(asked) = self.0.remove(&id) {
            report.answers(&asked, seen, true);
        } else {
            broken!(report, UNASKED, seen.whole(); "{id} was not asked");
        }
        let schema = MESSAGES.iter().find(|one| one.name == seen.message.kind);
        if let Some(schema) = schema {
            lint_message(seen, schema, report);
        }
    }

    fn finish(&mut self, _: &mut Report) {}

    fn waiting(&self, visit: &mut dyn FnMut(Waiting)) {
        let asked = self.0.values();
        asked.for_each(|asked| visit(asked.waiting(None)));
    }
}

/// The active side: the numbers of its questions without an answer.
#[derive(Default)]
struct QuizPeer(BTreeSet<String>);

impl Peer for QuizPeer {
    fn sent(&mut self, seen: &Seen<'_>, _: i64) {
        if seen.message.role == Some(Role::Request) {
            self.0.insert(seen.message.id.text().into_owned());
        }
    }

    fn received(&mut self, seen: &Seen<'_>, _: i64, _: &mut Vec<Outgoing>) {
        self.0.remove(&*seen.message.id.text());
    }

    fn has_open_calls(&self, _: u32) -> bool {
        !self.0.is_empty()
    }

    fn encode_reply(
        &mut self,
        to: &Request,
        reply: PeerReply<'_>,
        _: i64,
    ) -> Result<Outgoing, Refusal> {
        let PeerReply::Result(is) = reply else {
            return Err(reply.refused("a result"));
        };
        let number = with_json(&to.message, |ask| ask.get("ask").map(json_of)).flatten();
        let answer = Object::default().optional("answer", number);
        Ok(Outgoing::new(to.conn, answer.json("is", is).finish()))
    }
}
