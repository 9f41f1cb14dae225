//! A sixth protocol, outside of the crate: a crate that uses the library implements its own protocol, so that its
//! messages are decoded, shown, encoded, linted, compared and sent.
//!
//! ```text
//!   -> {"ask":1,"about":"time"}
//!   <- {"answer":1,"is":"noon"}
//! ```

use std::collections::BTreeMap;
use std::sync::LazyLock;
use wiretool::conversation::{Conversation, Judge, Verdict};
use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use wiretool::diff::{Diff, DiffSide, Difference, Ignore};
use wiretool::encode::{self, Encoder};
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
use wiretool::protocol::schema::marks::{Generated, Marks};
use wiretool::protocol::schema::{self, TEXT, UINT, message, must, object, request};
use wiretool::protocol::session::{Behavior, OpenRequest, Report, Session, SessionConfig, Waiting};
use wiretool::protocol::{
    Context, Descriptor, Direction, Evidence, Id, Kind, Message, Notes, Protocol, Role, Seen,
    WriteOptions, Written,
};
use wiretool::render::{DisplayOptions, json, line, tree};
use wiretool::span::Span;
use wiretool::tape::Node;

struct Quiz;

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

/// All messages as data: kinds, the check before writing and `make` are derived from it.
static MESSAGES: [schema::MessageSchema; 2] = [
    request("ask", Direction::ToServer)
        .of(object![
            must("ask", UINT).new(|id_gen| id_gen.number().to_string()),
            must("about", TEXT),
        ])
        .words("about")
        .about("a question"),
    message("answer", Direction::ToClient)
        .role(Some(Role::Response))
        .of(object![
            must("answer", UINT),
            must("is", TEXT).rules("wrong-answer", "wrong-answer")
        ])
        .about("what the question of that number is answered"),
];
static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| schema::kinds(&MESSAGES));
static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| schema::make::recipes(&MESSAGES));
static MARKS: LazyLock<Marks> = LazyLock::new(|| Marks {
    generated: vec![
        Generated::ignored("ask", "number"),
        Generated::ignored("answer", "number"),
    ],
    ..Marks::default()
});

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
        Box::new(QuizPeer)
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
            report.broken("unasked", seen.whole(), format!("{id} was not asked"));
        }
        let schema = MESSAGES.iter().find(|one| one.name == seen.message.kind);
        if let Some(schema) = schema {
            lint_message(seen, schema, report);
        }
    }

    fn finish(&mut self, _: &mut Report) {}

    fn waiting(&self) -> Vec<Waiting> {
        Vec::new()
    }
}

/// The active side.
struct QuizPeer;

impl Peer for QuizPeer {
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

const SESSION: [(Direction, &str); 3] = [
    (Direction::ToServer, "{\"ask\":1,\"about\":\"time\"}\n"),
    (Direction::ToClient, "{\"answer\":1,\"is\":\"noon\"}\n"),
    (Direction::ToClient, "{\"answer\":2,\"is\":\"blue\"}\n"),
];

/// Decodes the messages of a connection.
fn decode(talk: &[(Direction, &str)], tell: &mut dyn FnMut(&Decoded<'_>)) {
    let mut decoder = Decoder::new(DecodeOptions::new(vec![&Quiz]));
    for (direction, text) in talk {
        let origin = Origin {
            direction: Some(*direction),
            ..Origin::default()
        };
        decoder.push(origin, text.as_bytes(), tell);
    }
    decoder.finish(tell);
}

#[test]
fn quiz_is_decoded_and_shown() {
    let (mut lines, mut trees, mut jsons) = (String::new(), String::new(), Vec::new());
    decode(&SESSION[..2], &mut |decoded| {
        line::write(decoded, None, DisplayOptions::default(), &mut lines);
        let notes = &mut Notes::default();
        tree::write(decoded, None, DisplayOptions::default(), notes, &mut trees);
        json::write(decoded, None, DisplayOptions::default(), &mut jsons);
    });
    insta::assert_snapshot!(lines, @"
   #0        0 → ask    time                 1
   #1        0 ← answer                      1
    ");
    insta::assert_snapshot!(trees, @r#"
    #0 → ask time  id 1  (quiz, lines, request, 24 bytes at 0)
       0..24  {2}
       7..8     ask  1
      17..23    about  "time"
    #1 ← answer  id 1  (quiz, lines, response, 24 bytes at 0)
       0..24  {2}
      10..11    answer  1
      17..23    is  "noon"  = 12:00
    "#);
    insta::assert_snapshot!(String::from_utf8(jsons).unwrap(), @r#"
    {"v":1,"index":0,"dir":"c2s","offset":0,"len":24,"body_offset":0,"body_len":24,"framing":"lines","protocol":"quiz","kind":"ask","role":"request","id":1,"subject":"time","message":{"ask":1,"about":"time"}}
    {"v":1,"index":1,"dir":"s2c","offset":0,"len":24,"body_offset":0,"body_len":24,"framing":"lines","protocol":"quiz","kind":"answer","role":"response","id":1,"message":{"answer":1,"is":"noon"}}
    "#);
}

#[test]
fn quiz_is_detected_among_all_protocols() {
    let mut protocols = wiretool::protocol::registry::all().to_vec();
    protocols.push(&Quiz);
    let mut decoder = Decoder::new(DecodeOptions::new(protocols));
    let mut found = Vec::new();
    let mut tell = |decoded: &Decoded<'_>| found.push(decoded.protocol.name());
    for (_, text) in &SESSION[..2] {
        decoder.push(Origin::default(), text.as_bytes(), &mut tell);
    }
    decoder.finish(&mut tell);
    assert_eq!(found, ["quiz", "quiz"]);
}

#[test]
fn own_framing_is_detected_in_any_split() {
    let texts = [SESSION[0].1.trim_end(), SESSION[1].1.trim_end()];
    let stream = texts.map(|text| format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    let stream = stream.concat().into_bytes();
    for size in 1..=stream.len() {
        let mut decoder = Decoder::new(DecodeOptions::new(vec![&Quiz]));
        let mut found = Vec::new();
        let mut tell = |decoded: &Decoded<'_>| {
            let framing = decoded.frame.framing.name();
            found.push((framing, decoded.frame.view.body().to_vec()));
        };
        for piece in stream.chunks(size) {
            decoder.push(Origin::default(), piece, &mut tell);
        }
        decoder.finish(&mut tell);
        let want = texts.map(|text| ("quiz-length", text.as_bytes().to_vec()));
        assert_eq!(found, want, "in pieces of {size}");
    }
}

#[test]
fn own_framing_is_written() {
    let line = r#"{"v":1,"index":0,"offset":0,"len":46,"framing":"quiz-length","protocol":"quiz","message":{"answer":1,"is":"noon"}}"#;
    let options = encode::EncodeOptions::lines(vec![&Quiz]);
    let mut encoder = Encoder::new(options, IdGen::new(1));
    let written = with_json(line, |message| encoder.encode(message)).unwrap();
    let written = String::from_utf8(written.unwrap().bytes).unwrap();
    assert_eq!(
        written,
        "Content-Length: 24\r\n\r\n{\"answer\":1,\"is\":\"noon\"}"
    );
}

/// Writes one message.
fn encode(text: &str) -> Result<String, Refusal> {
    let options = encode::EncodeOptions::new(&Quiz);
    let mut encoder = Encoder::new(options, IdGen::new(1));
    let written = with_json(text, |message| encoder.encode(message)).unwrap()?;
    Ok(String::from_utf8(written.bytes).unwrap())
}

#[test]
fn quiz_is_encoded_and_made() {
    for (_, text) in SESSION {
        assert_eq!(encode(text.trim_end()).unwrap(), text);
    }
    insta::assert_snapshot!(encode(r#"{"ask":-1}"#).unwrap_err().to_string(), @"ask: wanted an integer of 0 or more, got -1");

    let words = ["time".to_owned()];
    let mut words = Words::new(&words, |_| false);
    let made = Quiz.make("ask", &mut words, &mut IdGen::new(1)).unwrap();
    assert_eq!(made.message, r#"{"ask":0,"about":"time"}"#);
}

#[test]
fn quiz_rules_give_findings() {
    let mut conversation =
        Conversation::new(&[&Quiz], &Judge::default(), SessionConfig::default(), true);
    let mut reported = Vec::new();
    decode(&SESSION, &mut |decoded| {
        let findings = conversation.see(decoded).findings;
        reported.extend(findings.iter().map(|f| format!("{}: {}", f.name(), f.text)));
    });
    assert_eq!(reported, ["quiz/unasked: 2 was not asked"]);
}

#[test]
fn quiz_pairs_answers_and_checks_members() {
    let mut conversation =
        Conversation::new(&[&Quiz], &Judge::default(), SessionConfig::default(), true);
    let mut pairs = Vec::new();
    let talk = [
        SESSION[0],
        (Direction::ToClient, "{\"answer\":1,\"is\":7}\n"),
    ];
    decode(&talk, &mut |decoded| {
        let verdict = conversation.see(decoded);
        let found: Vec<_> = verdict.findings.iter().map(|f| f.text.clone()).collect();
        pairs.push((verdict.answer.map(|answer| answer.to), found.join("; ")));
    });
    let wrong = "is of the message is 7; it should be a string".to_owned();
    assert_eq!(pairs, [(None, String::new()), (Some(0), wrong)]);
}

#[test]
fn quiz_recordings_are_compared() {
    let side = |talk: &[(Direction, &str)]| {
        let mut side = DiffSide::default();
        decode(talk, &mut |decoded| {
            side.see(decoded, Verdict::default());
        });
        side
    };
    let (left, right) = (side(&SESSION[..2]), side(&[SESSION[0], SESSION[2]]));
    let ignore = Ignore::new(
        Quiz.descriptor()
            .marks
            .generated
            .iter()
            .map(|one| one.path.as_ref()),
    );
    let mut reported = Vec::new();
    Diff::new(&Quiz, &ignore, &left, &right, 128).run(&mut |difference| {
        if let Difference::Fields(_, _, fields) = difference {
            reported.extend(fields.into_iter().map(|field| field.path));
        }
    });
    assert_eq!(reported, ["is"]);
}

#[test]
fn quiz_is_sent_and_answered() {
    let mut master = Quiz.peer(Direction::ToClient, &PeerConfig::default());
    let mut output = Vec::new();
    decode(&SESSION[..1], &mut |decoded| {
        let request = Request::of(&decoded.seen());
        output.push(
            master
                .encode_reply(&request, PeerReply::Result("\"noon\""), 0)
                .unwrap()
                .message,
        );
    });
    assert_eq!(output, [r#"{"answer":1,"is":"noon"}"#]);
}
