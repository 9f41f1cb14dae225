//! The protocol of a quiz, as a program outside of the crate implements it: schema, rules, both sides, and a framing.
//!
//! ```text
//!   -> {"ask":1,"about":"time"}
//!   <- {"answer":1,"is":"noon"}
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use wiretool::encoding::Parsed;
use wiretool::error::{DecodeError, Refusal};
use wiretool::framing::{Buffer, CustomFraming, Frame, Framing, FramingReader, Head, Step};
use wiretool::protocol::make::{IdGen, Made, Object, Recipe, Words};
use wiretool::protocol::peer::{
    Outgoing, Peer, PeerConfig, PeerReply, Request, json_of, with_json,
};
use wiretool::protocol::rules::{Rule, parse};
use wiretool::protocol::schema::check::{refuse, write_json};
use wiretool::protocol::schema::json_schema::shapes;
use wiretool::protocol::schema::lint::lint_message;
use wiretool::protocol::schema::marks::Marks;
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

pub struct Quiz;

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
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| parse(RULES_TEXT, None).unwrap());

const FIELD: &[u8] = b"Content-Length: ";
const BLANK: &[u8] = b"\r\n\r\n";

/// A framing of this protocol: `Content-Length: 24`, CR LF, CR LF, and that number of bytes.
static CONTENT_LENGTH: CustomFraming = CustomFraming {
    name: "quiz-length",
    reader: || Box::new(ContentLengthReader),
    write: |body, _, out| {
        out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        out.extend_from_slice(body);
    },
};

struct ContentLengthReader;

impl FramingReader for ContentLengthReader {
    fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a> {
        let window = input.window;
        let framing = Framing::Custom(&CONTENT_LENGTH);
        if window.is_empty() {
            return Step::Incomplete(None);
        }
        let body = memchr::memmem::find(window, BLANK).map(|at| at + BLANK.len());
        let length = body.and_then(|body| {
            let text = window.strip_prefix(FIELD)?.get(..body - FIELD.len() - 4)?;
            std::str::from_utf8(text).ok()?.parse::<usize>().ok()
        });
        let (Some(body), Some(length)) = (body, length) else {
            let begins = window.starts_with(FIELD) || FIELD.starts_with(window);
            if begins && body.is_none() && window.len() < 100 && !input.eof {
                return Step::Incomplete(None);
            }
            let span = Span::new(0, window.len());
            let (wanted, got) = ("Content-Length and a blank line", "something else");
            let error = DecodeError::new("bad-length", span, "head", wanted, got);
            let mut frame = input.frame(framing, Head::None, span, window.len());
            frame.fault = Some(input.fault(0, error));
            return Step::Frame(frame, window.len());
        };
        let length = length.min(input.limits.message as usize);
        let there = window.len() - body;
        if there < length && !input.eof {
            return Step::Incomplete(Some((length - there) as u64));
        }
        let end = body + length.min(there);
        let mut frame = input.frame(framing, Head::None, Span::new(body, end), end);
        if there < length {
            frame.fault = Some(input.truncated("body", format!("{length} bytes"), there));
        }
        Step::Frame(frame, end)
    }

    fn seek(&mut self) {}

    fn is_between(&self) -> bool {
        true
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
static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| schema::kinds(&MESSAGES));
static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| schema::make::recipes(&MESSAGES));
static MARKS: LazyLock<Marks> = LazyLock::new(|| Marks::of(&MESSAGES));

static QUIZ: Descriptor = Descriptor {
    name: "quiz",
    framings: &[Framing::Lines, Framing::Custom(&CONTENT_LENGTH)],
    sides: ["client", "server"],
    faults: &[("neither", "an object with neither ask nor answer")],
    ..Descriptor::new(&KINDS, &RECIPES, &MARKS, || shapes(&MESSAGES))
};

impl Protocol for Quiz {
    fn descriptor(&self) -> &'static Descriptor {
        &QUIZ
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
        let known = KINDS
            .iter()
            .find_map(|kind| Some((kind, root.get(kind.name)?)));
        let Some((kind, number)) = known else {
            let (wanted, got) = ("ask or answer", root.describe());
            let neither = DecodeError::new("neither", root.span(), "message", wanted, got);
            message.faults.push(neither);
            return message;
        };
        message.kind = kind.name.into();
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
    fn rules(&self) -> &'static [Rule] {
        &RULES
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

    fn waiting(&self) -> Vec<Waiting> {
        self.0.values().map(|asked| asked.waiting(None)).collect()
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
