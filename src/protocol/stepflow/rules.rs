//! What stepflow conversations are held to.

// Long: one table, to be read in one go.

use crate::protocol::session::{Need, Rule, Severity, example};

const OFF: Severity = Severity::Off;
const INFO: Severity = Severity::Info;
const WARNING: Severity = Severity::Warning;
const ERROR: Severity = Severity::Error;

/// Every rule, in the order in which a conversation comes to them.
pub(super) static RULES: &[Rule] = &[
    // How messages are delimited.
    Rule {
        name: "blank-line",
        document: ERROR,
        peers: ERROR,
        clause: "Message Format, by reference to the transport: one JSON text a line",
        why: "A line with nothing on it is no message. The runtime takes it for a broken one: it \
              kills the server and starts it again, and throws away what was already in the pipe; \
              the Python server logs it and goes on. Write nothing but messages to stdout.",
        faults: &["blank-line"],
        example: example!("stepflow", "blank-line"),
        ..Rule::PLAIN
    },
    Rule {
        name: "not-an-object",
        document: ERROR,
        peers: ERROR,
        clause: "Message Types",
        why: "JSON, but no object: a bare value, or a batch in an array. No peer takes batches. The \
              runtime kills its server for one, the Python server stays silent on stdio and answers \
              400 over HTTP, so what was asked in it is never answered. Send the messages one by \
              one.",
        faults: &["not-an-object"],
        example: example!("stepflow", "not-an-object"),
        ..Rule::PLAIN
    },
    Rule {
        name: "not-json",
        document: ERROR,
        peers: ERROR,
        clause: "Message Types",
        why: "What cannot be parsed is dropped: the Python server stays silent on stdio and answers \
              400 over HTTP; the runtime kills the server that wrote it, starts it again, and all \
              that was in the pipe is lost. Often it is a log line on stdout, or a message that was \
              printed over several lines.",
        faults: &["bad-json", "ends-early"],
        example: example!("stepflow", "not-json"),
        ..Rule::PLAIN
    },
    Rule {
        name: "not-text",
        document: ERROR,
        peers: ERROR,
        clause: "Message Format, by reference to the transport: UTF-8",
        why: "Both peers read UTF-8 only: the message is dropped, and the runtime kills the server \
              that wrote it. Escape what is not text, or send it as base64.",
        faults: &["bad-utf8"],
        example: example!("stepflow", "not-text"),
        ..Rule::PLAIN
    },
    Rule {
        name: "trailing-bytes",
        document: ERROR,
        peers: ERROR,
        clause: "Message Format, by reference to the transport: one message a line, or a body",
        why: "After the message there is more on the same line, or in the same HTTP body: neither \
              part is read. Two messages need two lines, or two POSTs. A Python server that writes \
              more than 64 KiB at once drops the rest of the line with its end, so that the next \
              answer is glued to it.",
        faults: &["trailing-bytes"],
        example: example!("stepflow", "trailing-bytes"),
        ..Rule::PLAIN
    },
    Rule {
        name: "crlf",
        document: INFO,
        peers: INFO,
        clause: "Message Format, by reference to the transport: LF after each message",
        why: "All known peers take CR LF for LF, but only LF is promised. Open pipes in binary mode, \
              or set the line end.",
        example: example!("stepflow", "crlf"),
        ..Rule::PLAIN
    },
    Rule {
        name: "lone-cr",
        document: ERROR,
        peers: ERROR,
        clause: "transport over stdio: one message a line, LF ends it",
        why: "A CR alone ends no line: both sides read on until the LF comes, and the call waits until the pipe is \
              closed. Write LF after each message, and flush it.",
        example: example!("stepflow", "lone-cr"),
        ..Rule::PLAIN
    },
    Rule {
        name: "long-line",
        document: OFF,
        peers: WARNING,
        clause: "real peers: a stdio server of 0.2 and 0.3 reads lines of 64 KiB, a later one of 512 \
                 KiB",
        why: "A longer line ends the Python server with status 1, and the runtime gets a broken \
              pipe. Put large inputs into a blob and pass its id, or use HTTP.",
        example: example!("stepflow", "long-line"),
        ..Rule::PLAIN
    },
    Rule {
        name: "long-answer",
        document: OFF,
        peers: WARNING,
        clause: "real peers: a stdio server's answer over 64 KiB is cut off",
        why: "The Python server writes answers to a pipe that takes no more than 64 KiB at a time, \
              and does not try again: the rest of the line and its end are lost, and the next answer \
              follows on the same line. Put large outputs into a blob, or use HTTP.",
        example: example!("stepflow", "long-answer"),
        ..Rule::PLAIN
    },
    // What a message consists of.
    Rule {
        name: "version-missing",
        document: ERROR,
        peers: ERROR,
        clause: "Method Request Format, Method Response Format: Required Fields",
        why: "Every message has `\"jsonrpc\":\"2.0\"`. The runtime refuses a message without it and \
              kills the server that wrote it; the Python server fills it in.",
        example: example!("stepflow", "version-missing"),
        ..Rule::PLAIN
    },
    Rule {
        name: "version-wrong",
        document: ERROR,
        peers: ERROR,
        clause: "Method Request Format, Method Response Format: Required Fields",
        why: "The only version is the string \"2.0\"; both peers refuse anything else. On stdio a \
              request is then never answered, over HTTP the answer is 400.",
        example: example!("stepflow", "version-wrong"),
        ..Rule::PLAIN
    },
    Rule {
        name: "not-a-message",
        document: ERROR,
        peers: ERROR,
        clause: "Message Types",
        why: "An object without method, result and error is none of the four types of message, and \
              neither peer can read it.",
        faults: &["not-a-message"],
        example: example!("stepflow", "not-a-message"),
        ..Rule::PLAIN
    },
    Rule {
        name: "duplicate-key",
        document: OFF,
        peers: ERROR,
        clause: "real peers: the runtime refuses a repeated key",
        why: "A member of the message is there twice. The runtime refuses such a message; the Python \
              server takes the last one. Write each once.",
        example: example!("stepflow", "duplicate-key"),
        ..Rule::PLAIN
    },
    Rule {
        name: "result-beside-method",
        document: ERROR,
        peers: ERROR,
        clause: "Message Types",
        why: "A message with a method asks or tells, one with a result or an error answers; one with \
              both is neither, and the runtime refuses it.",
        example: example!("stepflow", "result-beside-method"),
        ..Rule::PLAIN
    },
    Rule {
        name: "result-and-error",
        document: ERROR,
        peers: ERROR,
        clause: "Message Types",
        why: "An answer is either a result or an error. With both, the reader cannot know whether \
              the call succeeded, and the runtime refuses the message.",
        example: example!("stepflow", "result-and-error"),
        ..Rule::PLAIN
    },
    Rule {
        name: "null-beside",
        document: INFO,
        peers: INFO,
        clause: "Message Types",
        why: "A null stands where nothing should: `\"result\":null` beside an error, or `\"error\":null` \
              beside a result. The peers read over it, a stricter reader would not. Leave the member \
              out.",
        example: example!("stepflow", "null-beside"),
        ..Rule::PLAIN
    },
    Rule {
        name: "null-result",
        document: OFF,
        peers: ERROR,
        clause: "real peers: the runtime takes a null result for none",
        why: "The document allows any JSON value as a result, but the runtime takes null for an \
              absent member and refuses the message, which ends the server's process on stdio. \
              Answer with an object, `{}` at least.",
        example: example!("stepflow", "null-result"),
        ..Rule::PLAIN
    },
    Rule {
        name: "missing-id",
        document: ERROR,
        peers: ERROR,
        clause: "Method Response Format: Required Fields",
        why: "An answer without an id cannot be matched to its request, which then waits forever.",
        example: example!("stepflow", "missing-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "id-type",
        document: ERROR,
        peers: ERROR,
        clause: "Method Request Format: Required Fields; the schema: a string or an integer",
        why: "An id is a string or an integer. Fractions, booleans, arrays and objects are refused \
              by both peers, and the request is never answered.",
        example: example!("stepflow", "id-type"),
        ..Rule::PLAIN
    },
    Rule {
        name: "id-range",
        document: ERROR,
        peers: ERROR,
        clause: "Method Request Format: Required Fields; the schema: int64",
        why: "The runtime keeps whole ids in 64 bits with a sign and refuses a message whose id does \
              not fit. Use a string, best a UUID.",
        example: example!("stepflow", "id-range"),
        ..Rule::PLAIN
    },
    Rule {
        name: "null-id",
        document: ERROR,
        peers: WARNING,
        clause: "Method Request Format, Method Response Format: Required Fields",
        why: "With a null id a request is one in name only: both peers take it for a notification \
              and send no answer. A result with a null id answers nothing.",
        example: example!("stepflow", "null-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "null-id-error",
        document: OFF,
        peers: ERROR,
        clause: "real peers: the runtime refuses an error with a null id",
        why: "The document lets an error carry a null id where the request could not be parsed. No \
              peer sends one, and the runtime refuses to read it. Repeat the id where it can be \
              read; otherwise say nothing, or over HTTP answer 400.",
        example: example!("stepflow", "null-id-error"),
        ..Rule::PLAIN
    },
    Rule {
        name: "error-shape",
        document: ERROR,
        peers: ERROR,
        clause: "Method Error Response Format: Required Fields",
        why: "An error is an object with code and message. The runtime cannot read anything else, so \
              that the call fails with a complaint about the protocol instead of the real cause.",
        example: example!("stepflow", "error-shape"),
        ..Rule::PLAIN
    },
    Rule {
        name: "error-code",
        document: ERROR,
        peers: ERROR,
        clause: "Method Error Response Format: Error Object Fields",
        why: "The code of an error is an integer: a number from the table, without quotes and \
              fraction. The runtime cannot read the error otherwise.",
        example: example!("stepflow", "error-code"),
        ..Rule::PLAIN
    },
    Rule {
        name: "error-message",
        document: ERROR,
        peers: ERROR,
        clause: "Method Error Response Format: Error Object Fields",
        why: "The message of an error is a string, and must be there. The runtime cannot read the \
              error otherwise; put structured details into data.",
        example: example!("stepflow", "error-message"),
        ..Rule::PLAIN
    },
    Rule {
        name: "params-missing",
        document: OFF,
        peers: ERROR,
        clause: "real peers: the Python server refuses a message without params",
        why: "The document lets params be left out, the Python server does not: it stays silent on \
              stdio and answers 400 over HTTP. Send `\"params\":{}`.",
        example: example!("stepflow", "params-missing"),
        ..Rule::PLAIN
    },
    Rule {
        name: "params-type",
        document: ERROR,
        peers: ERROR,
        clause: "Method Request Format: Optional Fields; the schema: an object",
        why: "Params are an object with named members; parameters by position are not part of the \
              protocol, and both peers refuse them.",
        example: example!("stepflow", "params-type"),
        ..Rule::PLAIN
    },
    // What answers what. Each side has ids of its own; over HTTP they hold across all connections.
    Rule {
        name: "duplicate-id",
        document: ERROR,
        peers: ERROR,
        clause: "Message Correlation: Correlation Rules 1 and 3",
        why: "Two requests of one side are open under the same id, so that the answers cannot be \
              told apart: one caller gets the other's result, or none. An id may be used again once \
              its answer has come.",
        needs: &[Need::Order],
        example: example!("stepflow", "duplicate-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "orphan",
        document: ERROR,
        peers: ERROR,
        clause: "Message Correlation: Correlation Rule 2",
        why: "An answer whose id no open request of the other side has. It is dropped with a line in \
              the log, over HTTP with 400, and the request that it was meant for goes on waiting. \
              Repeat the id exactly as it came.",
        needs: &[Need::Order],
        example: example!("stepflow", "orphan"),
        ..Rule::PLAIN
    },
    Rule {
        name: "answered-twice",
        document: ERROR,
        peers: ERROR,
        clause: "Message Correlation: Correlation Rules 2 and 3",
        why: "A request is answered once. The second answer is dropped, or taken for the answer to a \
              later request that uses the id again.",
        needs: &[Need::Order],
        example: example!("stepflow", "answered-twice"),
        ..Rule::PLAIN
    },
    Rule {
        name: "id-type-changed",
        document: ERROR,
        peers: ERROR,
        clause: "Message Correlation: Correlation Rule 2",
        why: "The answer has the request's id as another type: 7 is not \"7\". Peers compare ids with \
              their type, so that the request goes on waiting. Do not turn ids into text or numbers \
              on the way.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "id-type-changed"),
        ..Rule::PLAIN
    },
    Rule {
        name: "wrong-answer",
        document: ERROR,
        peers: ERROR,
        clause: "Message Correlation: Correlation Rule 2",
        why: "The response to a POST holds the answer to another request. The runtime does not \
              compare the ids there: it hands the caller a result that is not its own.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "wrong-answer"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unanswered",
        document: ERROR,
        peers: ERROR,
        clause: "Method Request-Response Pattern",
        why: "At the end of the conversation the request has no answer. Peers have no time limit of \
              their own for it: whoever asked waits until its process is ended.",
        needs: &[Need::BothWays],
        unanswered: true,
        example: example!("stepflow", "unanswered"),
        ..Rule::PLAIN
    },
    Rule {
        name: "answer-after-eof",
        document: OFF,
        peers: WARNING,
        clause: "real peers: an answer is written when it is known",
        why: "The runtime waited for this answer, and it came only when the input of the server had \
              ended: it was written before and stood in a buffer. Languages buffer stdout where it is \
              a pipe. Flush after each line, or turn buffering off (python -u).",
        needs: &[Need::Times, Need::Ends],
        example: example!("stepflow", "answer-after-eof"),
        ..Rule::PLAIN
    },
    Rule {
        name: "initialize-unanswered",
        document: ERROR,
        peers: ERROR,
        clause: "Method Request-Response Pattern",
        why: "The server never answered initialize, so that nothing else could begin. It may not \
              have started, may have died, or may not understand this release's form of the request.",
        needs: &[Need::BothWays],
        unanswered: true,
        example: example!("stepflow", "initialize-unanswered"),
        ..Rule::PLAIN
    },
    Rule {
        name: "out-of-order",
        document: INFO,
        peers: INFO,
        clause: "Message Correlation: Correlation Rule 5",
        why: "Answers may overtake each other, and on a server that runs several components at a \
              time they do. Worth knowing only for a client that expects them in order.",
        needs: &[Need::Order],
        example: example!("stepflow", "out-of-order"),
        ..Rule::PLAIN
    },
    Rule {
        name: "notification-answered",
        document: ERROR,
        peers: ERROR,
        clause: "Notifications: Notification Format",
        why: "A notification gets no answer; over HTTP it is acknowledged with 202. The runtime \
              takes any other status for a failure.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "notification-answered"),
        ..Rule::PLAIN
    },
    // How a session begins.
    Rule {
        name: "before-initialize",
        document: OFF,
        peers: WARNING,
        clause: "real peers: the runtime sends initialize first",
        why: "Something is sent to a server that was not initialized. The Python servers allow it, \
              the TypeScript server answers -32002. A child that was started again after a crash is \
              not initialized by the runtime of 0.5 to 0.7.",
        example: example!("stepflow", "before-initialize"),
        ..Rule::PLAIN
    },
    Rule {
        name: "before-initialized",
        document: OFF,
        peers: WARNING,
        clause: "real peers: the runtime waits for the answer, then sends initialized",
        why: "A request is sent while the handshake is under way: before initialize is answered, or \
              before the notification initialized. A server may refuse it with -32002.",
        needs: &[Need::Order],
        example: example!("stepflow", "before-initialized"),
        ..Rule::PLAIN
    },
    Rule {
        name: "initialized-early",
        document: OFF,
        peers: WARNING,
        clause: "real peers: initialized follows the answer to initialize",
        why: "The notification initialized confirms the answer to initialize, and here there was \
              none yet. The server may ignore it and then refuse everything as not initialized.",
        needs: &[Need::Order],
        example: example!("stepflow", "initialized-early"),
        ..Rule::PLAIN
    },
    Rule {
        name: "second-initialize",
        document: OFF,
        peers: WARNING,
        clause: "real peers: one initialize a server",
        why: "The server is initialized again. Either a client lost track, or several clients talk \
              to the same server as if they were one, or the server was started again.",
        example: example!("stepflow", "second-initialize"),
        ..Rule::PLAIN
    },
    Rule {
        name: "version-mismatch",
        document: WARNING,
        peers: INFO,
        clause: "real peers: both sides say version 1",
        why: "The two sides name different protocol versions. The runtime does not look at the \
              server's, so that trouble starts later: with members that one of them does not know.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "version-mismatch"),
        ..Rule::PLAIN
    },
    // Which methods there are, and who may send them when.
    Rule {
        name: "unknown-method",
        document: OFF,
        peers: ERROR,
        clause: "real peers: a message with an unknown method cannot be read",
        why: "No known release has the method. The Python server answers nothing on stdio and 400 \
              over HTTP, not -32601; the runtime kills the server that asks. Check the spelling, and \
              that this is not a method of a later protocol.",
        example: example!("stepflow", "unknown-method"),
        ..Rule::PLAIN
    },
    Rule {
        name: "mixed-releases",
        document: OFF,
        peers: WARNING,
        clause: "real peers: a release has one set of methods and names",
        why: "Releases share one version number but differ in methods and in the spelling of \
              members, and this conversation holds what no single release has. One of the two sides \
              is likely too new for the other.",
        example: example!("stepflow", "mixed-releases"),
        ..Rule::PLAIN
    },
    Rule {
        name: "wrong-direction",
        document: ERROR,
        peers: ERROR,
        clause: "Complete Communication Examples",
        why: "The method exists, but is one that only the other side asks. The Python server answers \
              -32601, the runtime refuses the message.",
        example: example!("stepflow", "wrong-direction"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unknown-notification",
        document: OFF,
        peers: ERROR,
        clause: "real peers: initialized is the only notification",
        why: "The document speaks of notifications such as progress_update, but no release can read \
              them: the runtime kills the server that sends one, the Python server answers 400 over \
              HTTP.",
        example: example!("stepflow", "unknown-notification"),
        ..Rule::PLAIN
    },
    Rule {
        name: "request-without-id",
        document: WARNING,
        peers: ERROR,
        clause: "Method Request Format: Required Fields",
        why: "The method asks for something, but without an id the message is a notification: its \
              answer could not be sent, and the peers refuse it or ignore it.",
        example: example!("stepflow", "request-without-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "notification-with-id",
        document: WARNING,
        peers: ERROR,
        clause: "Notifications: Notification Format",
        why: "The method is a notification, but an id makes the message a request, which the server \
              cannot answer.",
        example: example!("stepflow", "notification-with-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "callback-outside-execute",
        document: OFF,
        peers: WARNING,
        clause: "real peers: a server asks only while a component runs",
        why: "The server asks the runtime for something while no components/execute is open. The \
              runtime answers within the context of a run; over HTTP there is no stream to carry the \
              question. A component that goes on working after its answer does this.",
        needs: &[Need::Order],
        example: example!("stepflow", "callback-outside-execute"),
        ..Rule::PLAIN
    },
    Rule {
        name: "answer-before-callback",
        document: INFO,
        peers: INFO,
        clause: "real peers: a component's answer comes after those to its callbacks",
        why: "The execute is answered while something that was asked inside it is open: the \
              component did not wait for it. Its answer, when it comes, may find no one.",
        needs: &[Need::Order],
        example: example!("stepflow", "answer-before-callback"),
        ..Rule::PLAIN
    },
    // What requests and results hold.
    Rule {
        name: "missing-param",
        document: WARNING,
        peers: ERROR,
        clause: "the schema of the method",
        why: "A member is missing that every release requires. The peer cannot read the request: \
              silence on stdio, 400 over HTTP, or -32602.",
        example: example!("stepflow", "missing-param"),
        ..Rule::PLAIN
    },
    Rule {
        name: "param-type",
        document: WARNING,
        peers: ERROR,
        clause: "the schema of the method",
        why: "A member has another type than every release requires, and the peer cannot read the \
              request.",
        example: example!("stepflow", "param-type"),
        ..Rule::PLAIN
    },
    Rule {
        name: "component-object",
        document: OFF,
        peers: ERROR,
        clause: "real peers: component is a path",
        why: "The document writes a component as an object with a name, as in `{\"name\":\"upper\"}`; \
              every release wants its path as text, as in `\"/upper\"`, and refuses the object.",
        example: example!("stepflow", "component-object"),
        ..Rule::PLAIN
    },
    Rule {
        name: "missing-result",
        document: WARNING,
        peers: WARNING,
        clause: "the schema of the method",
        why: "A member is missing from a result that every release requires. The caller fails when \
              it looks for it.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "missing-result"),
        ..Rule::PLAIN
    },
    Rule {
        name: "result-type",
        document: WARNING,
        peers: WARNING,
        clause: "the schema of the method",
        why: "A result, or a member of it, has another type than every release requires. The caller \
              fails when it reads it.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "result-type"),
        ..Rule::PLAIN
    },
    Rule {
        name: "blob-id",
        document: OFF,
        peers: WARNING,
        clause: "real peers: a blob's id is the SHA-256 of its JSON, in hex",
        why: "Blobs and flows are named by 64 hex digits, without a prefix such as `sha256:`. \
              Nothing is stored under any other name.",
        example: example!("stepflow", "blob-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "trace-id",
        document: OFF,
        peers: WARNING,
        clause: "real peers: a trace id is 16 bytes in hex",
        why: "A trace id is 32 hex digits, without hyphens. With another one the run is missing from \
              its trace.",
        example: example!("stepflow", "trace-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "span-id",
        document: OFF,
        peers: WARNING,
        clause: "real peers: a span id is 8 bytes in hex",
        why: "A span id is 16 hex digits. With another one the step is missing from its trace.",
        example: example!("stepflow", "span-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "attempt",
        document: OFF,
        peers: WARNING,
        clause: "real peers: attempts count from 1",
        why: "The first try of a step is attempt 1, each further one is one more; 0 and less mean \
              nothing, and a component that looks at the number decides wrongly.",
        example: example!("stepflow", "attempt"),
        ..Rule::PLAIN
    },
    // What HTTP adds.
    Rule {
        name: "content-type",
        document: ERROR,
        peers: ERROR,
        clause: "Message Format, by reference to the transport: HTTP",
        why: "A POST says that its body is application/json; otherwise the server answers 415 and \
              does not read it.",
        example: example!("stepflow", "content-type"),
        ..Rule::PLAIN
    },
    Rule {
        name: "accept",
        document: ERROR,
        peers: ERROR,
        clause: "Message Format, by reference to the transport: HTTP",
        why: "A POST accepts application/json and text/event-stream, because the server chooses \
              between the two; otherwise it answers 406 and does not read the body.",
        example: example!("stepflow", "accept"),
        ..Rule::PLAIN
    },
    Rule {
        name: "answer-missing",
        document: ERROR,
        peers: ERROR,
        clause: "Method Request-Response Pattern",
        why: "The response to a posted request holds no message, though its status is no refusal. \
              202 belongs to notifications and to answers; whoever asked waits in vain.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "answer-missing"),
        ..Rule::PLAIN
    },
    Rule {
        name: "refused",
        document: INFO,
        peers: INFO,
        clause: "real peers: 4xx and 5xx carry no message",
        why: "The server refused the POST with a body that is no message, so that the request has no \
              other answer. The text in it tells why; a status of 500 is the server's own failure.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "refused"),
        ..Rule::PLAIN
    },
    Rule {
        name: "callback-answer-refused",
        document: WARNING,
        peers: WARNING,
        clause: "real peers: an answer to a callback is acknowledged with 202",
        why: "The server did not take the answer to what it asked, and the runtime only logs that. \
              The component goes on waiting. Often the answer came too late, or went to another \
              instance of the server.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "callback-answer-refused"),
        ..Rule::PLAIN
    },
    Rule {
        name: "request-in-body",
        document: OFF,
        peers: ERROR,
        clause: "real peers: what a server asks is an event of a stream",
        why: "In a plain response the runtime expects the answer to what it posted and cannot read a \
              request. A server that asks back answers with text/event-stream.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "request-in-body"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stream-ends-early",
        document: ERROR,
        peers: ERROR,
        clause: "Method Request-Response Pattern",
        why: "The event stream of a posted request ends before the answer came. The runtime reports \
              a broken transport and may try again. The server likely died, or something in between \
              cut the connection.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "stream-ends-early"),
        ..Rule::PLAIN
    },
    Rule {
        name: "event-after-answer",
        document: WARNING,
        peers: WARNING,
        clause: "real peers: the answer to the posted request is a stream's last event",
        why: "The client stops reading at the answer, so that whatever follows it in the stream is \
              lost; a callback there is never answered.",
        needs: &[Need::BothWays],
        example: example!("stepflow", "event-after-answer"),
        ..Rule::PLAIN
    },
];
