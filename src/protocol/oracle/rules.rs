//! What oracle conversations are held to.
//!
//! ```text
//!   connection string -> lines -> handshake -> invoke -> answer -> shutdown
//! ```
//!
//! Where a fault of decode is a rule broken, the row lists the fault's code, and the session need not look for it.

// Long: one table, a row for each rule.

use crate::protocol::session::{Need, Rule, Severity, example};

/// Every rule, in the order in which a conversation comes to them.
pub(super) static RULES: &[Rule] = &[
    // The command that started the oracle, as a recording has it.
    Rule {
        name: "connection-shell",
        document: Severity::Warning,
        peers: Severity::Warning,
        clause: "Connection string format",
        why: "No shell reads the command: variables, globs, pipes and redirections reach the program as they are \
              spelled, as arguments. What looks like a pipeline starts its first program with odd arguments, often \
              without any complaint. Where a shell is needed, name it (sh -c), and quote what is meant literally.",
        needs: &[Need::Connection],
        example: example!("oracle", "connection-shell"),
        ..Rule::PLAIN
    },
    Rule {
        name: "connection-cr",
        document: Severity::Off,
        peers: Severity::Warning,
        clause: "real peers: blank, tab and LF stand between words, CR does not",
        why: "A carriage return is part of the word that it stands in: a program name or an argument that ends in one \
              is not found, and nothing on the screen shows why. It usually comes from a file with CR LF line ends.",
        needs: &[Need::Connection],
        example: example!("oracle", "connection-cr"),
        ..Rule::PLAIN
    },
    // One line, one message: what a reader must be able to parse.
    Rule {
        name: "first-byte",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Transport protocol, rule 3",
        why: "The executor looks at one byte before it reads anything else. Where that is no `{` it kills the oracle \
              at once and the call fails; the next call starts a new one, which fails alike. Usually a build tool or a \
              log wrote to stdout first: send that to stderr, and write no byte order mark.",
        faults: &["first-byte"],
        example: example!("oracle", "first-byte"),
        ..Rule::PLAIN
    },
    Rule {
        name: "blank-line",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Transport protocol, rule 4",
        why: "A line without a message cannot be parsed. The invoke that reads it fails, and where it stands before an \
              answer, every later invoke reads the answer to the one before. End each message with one line end.",
        faults: &["blank-line"],
        example: example!("oracle", "blank-line"),
        ..Rule::PLAIN
    },
    Rule {
        name: "not-json",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Transport protocol, rule 4",
        why: "A line that is not JSON makes the invoke fail that reads it; an oracle passes over such a line without \
              an answer, and exits where it stands for the acknowledgement. Logs belong on stderr, which the executor \
              keeps.",
        faults: &["bad-json"],
        example: example!("oracle", "not-json"),
        ..Rule::PLAIN
    },
    Rule {
        name: "not-unicode",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "real peers: lines are read as UTF-8",
        why: "The executor fails the invoke that reads such a line, and the SDK's oracle exits. Escape what is not \
              text, or encode it as felts.",
        faults: &["bad-utf8"],
        example: example!("oracle", "not-unicode"),
        ..Rule::PLAIN
    },
    Rule {
        name: "cut-line",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Transport protocol, rule 4",
        why: "The line ends inside its message. Pretty-printed JSON takes several lines, each of which is read as a \
              message of its own and refused; or the writer ended while it wrote. Write compact JSON and flush it.",
        faults: &["ends-early"],
        example: example!("oracle", "cut-line"),
        ..Rule::PLAIN
    },
    Rule {
        name: "trailing-bytes",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Transport protocol, rule 4",
        why: "More stands on the line than one message: a second message, something that is no JSON, or a message \
              after a CR alone, which ends no line. Peers refuse the whole line, the first message with it.",
        faults: &["trailing-bytes"],
        example: example!("oracle", "trailing-bytes"),
        ..Rule::PLAIN
    },
    Rule {
        name: "not-an-object",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "JSON-RPC 2.0 section 4",
        why: "The line is JSON, but no object, as with a batch. Neither side takes batches: nothing in the line is \
              looked at.",
        faults: &["not-an-object"],
        example: example!("oracle", "not-an-object"),
        ..Rule::PLAIN
    },
    Rule {
        name: "lone-surrogate",
        document: Severity::Warning,
        peers: Severity::Error,
        clause: "RFC 8259 section 8.2; real peers refuse the line",
        why: "Text with half of a surrogate pair escaped is no Unicode text. Some writers let it pass, the readers of \
              both sides refuse the whole line.",
        faults: &["lone-surrogate"],
        example: example!("oracle", "lone-surrogate"),
        ..Rule::PLAIN
    },
    Rule {
        name: "nesting",
        document: Severity::Off,
        peers: Severity::Error,
        clause: "real peers: at most 127 levels are read",
        why: "The parser of both real peers gives up at the 128th level of nesting, and the line is lost. No message \
              of the protocol needs more than four.",
        faults: &["too-deep"],
        example: example!("oracle", "nesting"),
        ..Rule::PLAIN
    },
    Rule {
        name: "version",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "JSON-RPC 2.0 section 4",
        why: "`jsonrpc` must be the text \"2.0\"; where it is missing, a number or another version, real peers refuse \
              the line.",
        faults: &["bad-version"],
        example: example!("oracle", "version"),
        ..Rule::PLAIN
    },
    Rule {
        name: "not-a-message",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "JSON-RPC 2.0 section 4",
        why: "An object with neither a method nor an id asks nothing and answers nothing; nor is one a message that has \
              jsonrpc twice, or a member of an answer in an answer, as real peers read it. The executor fails the \
              invoke that reads it; an oracle passes over it.",
        faults: &["not-a-message"],
        example: example!("oracle", "not-a-message"),
        ..Rule::PLAIN
    },
    Rule {
        name: "id-form",
        document: Severity::Warning,
        peers: Severity::Error,
        clause: "JSON-RPC 2.0 section 4; real peers: null, text, or an integer of 0 to 2^64-1",
        why: "Real peers have no other ids: below zero, with a point or an exponent, 2^64 and above, true, an array. A \
              request with one is read as a notification and never answered; ready with one makes the connection fail. \
              Count from 0.",
        faults: &["bad-id"],
        example: example!("oracle", "id-form"),
        ..Rule::PLAIN
    },
    Rule {
        name: "error-shape",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "JSON-RPC 2.0 section 5.1",
        why: "`error` must be an object with an integer code and a message text. Otherwise the executor cannot parse \
              the answer, and the program sees that instead of the oracle's own message.",
        faults: &["bad-error"],
        example: example!("oracle", "error-shape"),
        ..Rule::PLAIN
    },
    Rule {
        name: "repeated-key",
        document: Severity::Warning,
        peers: Severity::Error,
        clause: "RFC 8259 section 4",
        why: "Which of the two counts is the reader's choice. Real peers take a request whose id is there twice for a \
              notification, which is never answered, and one whose method or params is for an answer; in params the \
              last one counts. Where they refuse the line, it is not-a-message.",
        example: example!("oracle", "repeated-key"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unknown-member",
        document: Severity::Warning,
        peers: Severity::Off,
        clause: "JSON-RPC 2.0 sections 4 and 5",
        why: "No message has such a member at its top. Real peers pass over it, so what it says is lost; a stricter \
              reader may refuse the line. A misspelled name is a common cause.",
        example: example!("oracle", "unknown-member"),
        ..Rule::PLAIN
    },
    Rule {
        name: "crlf",
        document: Severity::Off,
        peers: Severity::Info,
        clause: "real peers: LF ends a line, blanks around a message are passed over",
        why: "The line ends in CR LF. Real peers read it, since they trim lines, but never write it; readers that do \
              not trim see a CR behind the message. Said once a side.",
        example: example!("oracle", "crlf"),
        ..Rule::PLAIN
    },
    Rule {
        name: "lone-cr",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Transport protocol, rule 4; real peers: LF ends a line",
        why: "A CR alone ends no line. The executor reads on until the LF comes, without a time-out, and the call \
              blocks until the oracle gives up or is killed. Write LF after each message, and flush it.",
        example: example!("oracle", "lone-cr"),
        ..Rule::PLAIN
    },
    Rule {
        name: "long-line",
        document: Severity::Off,
        peers: Severity::Info,
        clause: "real peers: lines have no limit, pipes do",
        why: "A line longer than a pipe holds is written in several steps, between which the writer waits for the \
              reader. Where the other side is writing as well, or nobody drains the oracle's stderr, both wait for \
              ever. Real peers read any length, and hold all of it in memory.",
        example: example!("oracle", "long-line"),
        ..Rule::PLAIN
    },
    // The handshake: ready, and its acknowledgement.
    Rule {
        name: "first-not-ready",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Initialisation",
        why: "The first message must be the request ready, spelled so. The executor answers anything else with an \
              error or not at all, and kills the oracle; the call fails, and the next one starts a new process.",
        example: example!("oracle", "first-not-ready"),
        ..Rule::PLAIN
    },
    Rule {
        name: "no-ready",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Initialisation",
        why: "The oracle ended without saying ready: the call fails, and the next one starts a new process, which \
              likely ends alike. What it wrote to stderr says why; the executor logs that at debug level only.",
        needs: &[Need::Ends],
        unanswered: true,
        example: example!("oracle", "no-ready"),
        ..Rule::PLAIN
    },
    Rule {
        name: "ready-params",
        document: Severity::Warning,
        peers: Severity::Error,
        clause: "Initialisation, rule 1",
        why: "ready needs no params; where there are some, the executor takes an object or null. It answers an array \
              or a plain value with an error, and the connection fails.",
        example: example!("oracle", "ready-params"),
        ..Rule::PLAIN
    },
    Rule {
        name: "null-id",
        document: Severity::Warning,
        peers: Severity::Off,
        clause: "JSON-RPC 2.0 section 4, on null",
        why: "An answer with the id null also means that a request could not be read, so the two cannot be told apart. \
              Real peers take it; number requests instead.",
        example: example!("oracle", "null-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "ready-twice",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Initialisation",
        why: "Only the first line may be ready. The executor takes a second one for the answer to the invoke that is \
              next, which fails, and from then on each invoke reads the answer to the one before.",
        example: example!("oracle", "ready-twice"),
        ..Rule::PLAIN
    },
    Rule {
        name: "speaks-before-ready",
        document: Severity::Error,
        peers: Severity::Warning,
        clause: "Initialisation, rule 4",
        why: "The executor must not send a byte before ready. The SDK's oracle takes the first line that it reads for \
              the acknowledgement, and exits where it is none.",
        needs: &[Need::BothWays, Need::Order],
        example: example!("oracle", "speaks-before-ready"),
        ..Rule::PLAIN
    },
    Rule {
        name: "ack-id",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "JSON-RPC 2.0 section 5",
        why: "The acknowledgement must have the id of ready, of the same type: 0 is not \"0\". The SDK's oracle exits \
              at any other.",
        needs: &[Need::BothWays],
        example: example!("oracle", "ack-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stray-ack",
        document: Severity::Error,
        peers: Severity::Off,
        clause: "Initialisation",
        why: "The executor answers once: ready. The SDK's oracle passes over other answers, a stricter one may take \
              them for a fault.",
        needs: &[Need::BothWays, Need::Order],
        example: example!("oracle", "stray-ack"),
        ..Rule::PLAIN
    },
    Rule {
        name: "invoke-unacknowledged",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Initialisation",
        why: "The oracle waits to be acknowledged before it serves. The SDK's takes the invoke for the \
              acknowledgement, finds that it is none, and exits.",
        needs: &[Need::BothWays, Need::Order],
        example: example!("oracle", "invoke-unacknowledged"),
        ..Rule::PLAIN
    },
    Rule {
        name: "alive-after-refusal",
        document: Severity::Error,
        peers: Severity::Off,
        clause: "Initialisation, rule 2",
        why: "An oracle whose ready was answered with an error must terminate. The SDK's does not look at the error \
              and goes on as if it had been acknowledged; the executor has given it up and kills it.",
        needs: &[Need::BothWays, Need::Order],
        example: example!("oracle", "alive-after-refusal"),
        ..Rule::PLAIN
    },
    // What the executor asks.
    Rule {
        name: "invoke-no-id",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation",
        why: "An invoke without an id is a notification: it is never answered, and an executor that waits for the \
              answer waits for ever.",
        example: example!("oracle", "invoke-no-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "invoke-params",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation, rules 1 and 2",
        why: "params must have a selector, which is text, and calldata, which is an array. The SDK's oracle answers \
              anything else with -32602.",
        example: example!("oracle", "invoke-params"),
        ..Rule::PLAIN
    },
    Rule {
        name: "positional-params",
        document: Severity::Error,
        peers: Severity::Off,
        clause: "Function invocation, rule 1",
        why: "selector and calldata are named fields. The SDK's oracle takes them by position too, because its parser \
              happens to; other oracles need not.",
        example: example!("oracle", "positional-params"),
        ..Rule::PLAIN
    },
    Rule {
        name: "id-order",
        document: Severity::Off,
        peers: Severity::Warning,
        clause: "real peers: the executor counts from 0",
        why: "Real executors give each invoke of a connection the next number. With an id that was used before, or a \
              lower one, a late answer is taken for the answer to another invoke.",
        example: example!("oracle", "id-order"),
        ..Rule::PLAIN
    },
    Rule {
        name: "overlap",
        document: Severity::Error,
        peers: Severity::Off,
        clause: "Function invocation, rule 4",
        why: "There is no parallel invocation: the executor sends the next invoke when it has read a line for the one \
              before. The SDK's oracle answers both in turn; an executor that reads one line an invoke mixes up the \
              answers.",
        needs: &[Need::BothWays, Need::Order],
        example: example!("oracle", "overlap"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unknown-method",
        document: Severity::Error,
        peers: Severity::Warning,
        clause: "General flow; Function invocation; Termination",
        why: "The executor has two methods, invoke and shutdown, spelled so. The SDK's oracle answers other requests \
              with -32601 and passes over other notifications.",
        example: example!("oracle", "unknown-method"),
        ..Rule::PLAIN
    },
    Rule {
        name: "calldata-type",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation, rule 2; the signature given",
        why: "The felts are not what Cairo Serde writes for the selector's arguments: a number out of range, a length \
              with too few felts behind it, an unknown variant. The SDK's oracle answers -32603. Either program and \
              oracle disagree on the types, or the signature is not the oracle's.",
        needs: &[Need::Signature],
        example: example!("oracle", "calldata-type"),
        ..Rule::PLAIN
    },
    Rule {
        name: "calldata-surplus",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation, rule 2; the signature given",
        why: "After the selector's arguments there are felts left. The SDK's oracle refuses the call: unexpected \
              parameters. Program and oracle disagree on the number or the types of arguments.",
        needs: &[Need::Signature],
        example: example!("oracle", "calldata-surplus"),
        ..Rule::PLAIN
    },
    // What the oracle answers.
    Rule {
        name: "answer-id",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation; JSON-RPC 2.0 section 5",
        why: "An answer must have the id of its invoke, of the same type: 0 is not \"0\". The executor fails the \
              invoke: response ID mismatch.",
        needs: &[Need::BothWays],
        example: example!("oracle", "answer-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "extra-line",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation",
        why: "The executor reads one line for each invoke and nothing between. A line too many stays in the pipe and \
              is taken for the answer to the next invoke. Without the order of the two directions, answers are counted: \
              an id has more of them than requests.",
        needs: &[Need::BothWays],
        example: example!("oracle", "extra-line"),
        ..Rule::PLAIN
    },
    Rule {
        name: "desync",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation; real peers: one line is read for each invoke",
        why: "Because of an earlier line too many, an invoke reads the answer to the one before it, and the executor \
              fails it: response ID mismatch. The connection is kept, so that every later call fails too. The line to \
              blame is named; this is said once.",
        implies: &["extra-line"],
        needs: &[Need::BothWays, Need::Order],
        example: example!("oracle", "desync"),
        ..Rule::PLAIN
    },
    Rule {
        name: "oracle-asks",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "General flow",
        why: "After ready the oracle only answers: there are no notifications, progress or requests from it. The \
              executor takes such a line for the answer to the invoke that is next, which fails, and later invokes may \
              be one line behind. Log to stderr instead.",
        example: example!("oracle", "oracle-asks"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unanswered",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation",
        why: "The oracle passed over this request: it answered a later one, or shutdown came without an answer. A real \
              executor has no time-out and waits for ever. Answer each request with a line, an error where there is no \
              result. The same is said of a ready that the executor does not acknowledge before the connection ends.",
        needs: &[Need::BothWays],
        example: example!("oracle", "unanswered"),
        ..Rule::PLAIN
    },
    Rule {
        name: "died-in-invoke",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Error handling; Process spawning",
        why: "The oracle ended while an invoke waited for its answer. That call fails, and so do all later ones: the \
              executor keeps the connection and never starts the process anew. Catch what a handler throws and answer \
              with an error; stderr may say what it was.",
        needs: &[Need::BothWays, Need::Ends],
        unanswered: true,
        example: example!("oracle", "died-in-invoke"),
        ..Rule::PLAIN
    },
    Rule {
        name: "answer-after-eof",
        document: Severity::Off,
        peers: Severity::Warning,
        clause: "real peers: the executor waits for each line without a time-out",
        why: "The executor waited for this line, and it came only when its input had ended: it was written before and \
              stood in a buffer. Languages buffer stdout where it is a pipe. The executor would have waited for ever; \
              flush after each line, or turn buffering off (python -u).",
        needs: &[Need::Times, Need::Ends],
        example: example!("oracle", "answer-after-eof"),
        ..Rule::PLAIN
    },
    Rule {
        name: "result-and-error",
        document: Severity::Error,
        peers: Severity::Warning,
        clause: "JSON-RPC 2.0 section 5",
        why: "Exactly one of result and error may be there, a null one counts. Real executors take the error where it \
              is not null, others may take the result.",
        example: example!("oracle", "result-and-error"),
        ..Rule::PLAIN
    },
    Rule {
        name: "no-result",
        document: Severity::Error,
        peers: Severity::Warning,
        clause: "JSON-RPC 2.0 section 5; Function invocation, rule 2",
        why: "With neither a result nor an error, or with a null result, real executors read an empty list of felts: \
              the program sees success with nothing in it, or fails to read it. Send [] where that is meant.",
        example: example!("oracle", "no-result"),
        ..Rule::PLAIN
    },
    Rule {
        name: "result-shape",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation, rule 2",
        why: "A result must be an array, also where it is one felt. The executor cannot parse anything else and fails \
              the invoke.",
        example: example!("oracle", "result-shape"),
        ..Rule::PLAIN
    },
    Rule {
        name: "felt-form",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation, rule 2",
        why: "A felt is text: a lower-case 0x, then 1 to 64 hex digits. Numbers, decimals, 0X, blanks, underscores, \
              signs and longer text are refused, and the whole list with them.",
        example: example!("oracle", "felt-form"),
        ..Rule::PLAIN
    },
    Rule {
        name: "felt-range",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation, rule 2: Felt252",
        why: "Felts are below P = 2^251 + 17 * 2^192 + 1. Most real peers silently take a larger number modulo P, so \
              that another number arrives than was sent; newer ones refuse it. A negative number -x is written as P - \
              x.",
        example: example!("oracle", "felt-range"),
        ..Rule::PLAIN
    },
    Rule {
        name: "felt-spelling",
        document: Severity::Off,
        peers: Severity::Warning,
        clause: "real peers: lower-case digits, no leading zeros, one 0x",
        why: "Real peers read such a felt, but never write one. A reader that compares text, or is stricter, takes it \
              for another felt or for none.",
        example: example!("oracle", "felt-spelling"),
        ..Rule::PLAIN
    },
    Rule {
        name: "error-code",
        document: Severity::Warning,
        peers: Severity::Off,
        clause: "Function invocation, rule 3",
        why: "The protocol has no error codes beside those of JSON-RPC: -32700, -32600 to -32603, and -32000 to -32099 \
              for servers. The executor drops the code; 0 is what some real peers send.",
        example: example!("oracle", "error-code"),
        ..Rule::PLAIN
    },
    Rule {
        name: "error-code-range",
        document: Severity::Off,
        peers: Severity::Warning,
        clause: "real peers: the executor holds 64 bits, the SDK 32",
        why: "The code does not fit 32 bits. The real executor reads it, peers that are built on the SDK refuse the \
              whole line.",
        example: example!("oracle", "error-code-range"),
        ..Rule::PLAIN
    },
    Rule {
        name: "backtrace",
        document: Severity::Off,
        peers: Severity::Warning,
        clause: "real peers: errors are written with their chain of causes",
        why: "The message holds a backtrace, as the SDK writes it with RUST_BACKTRACE set. All of it becomes part of \
              the error that the Cairo program sees, and it differs from run to run.",
        example: example!("oracle", "backtrace"),
        ..Rule::PLAIN
    },
    Rule {
        name: "result-type",
        document: Severity::Error,
        peers: Severity::Error,
        clause: "Function invocation, rule 2; the signature given",
        why: "The felts are not what Cairo Serde writes for the selector's result, so the program fails to deserialise \
              the oracle's response. The Rust SDK writes a length before [T; N], which Cairo does not.",
        needs: &[Need::Signature, Need::BothWays],
        example: example!("oracle", "result-type"),
        ..Rule::PLAIN
    },
    Rule {
        name: "result-surplus",
        document: Severity::Error,
        peers: Severity::Off,
        clause: "Function invocation, rule 2; the signature given",
        why: "After the result there are felts left. Cairo passes over them, so that a part of the answer is lost \
              without a word. Oracle and program disagree on the type.",
        needs: &[Need::Signature, Need::BothWays],
        example: example!("oracle", "result-surplus"),
        ..Rule::PLAIN
    },
    // The end.
    Rule {
        name: "shutdown-id",
        document: Severity::Error,
        peers: Severity::Warning,
        clause: "Termination",
        why: "shutdown is a notification. With an id it is a request for a method that the SDK's oracle does not have: \
              it answers -32601 and goes on.",
        example: example!("oracle", "shutdown-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "shutdown-params",
        document: Severity::Warning,
        peers: Severity::Off,
        clause: "Termination",
        why: "shutdown takes no params. Real oracles do not look at them.",
        example: example!("oracle", "shutdown-params"),
        ..Rule::PLAIN
    },
    Rule {
        name: "invoke-after-shutdown",
        document: Severity::Warning,
        peers: Severity::Warning,
        clause: "Termination",
        why: "After shutdown the oracle exits without reading on: nothing answers this. Said once.",
        example: example!("oracle", "invoke-after-shutdown"),
        ..Rule::PLAIN
    },
    Rule {
        name: "output-after-shutdown",
        document: Severity::Warning,
        peers: Severity::Off,
        clause: "Termination",
        why: "After shutdown the oracle should end, not write. Real executors kill it at once and read nothing more. \
              Said once.",
        needs: &[Need::BothWays, Need::Order],
        example: example!("oracle", "output-after-shutdown"),
        ..Rule::PLAIN
    },
    Rule {
        name: "no-shutdown",
        document: Severity::Warning,
        peers: Severity::Off,
        clause: "Termination",
        why: "The executor is gone without asking the oracle to end, so that it cannot clean up. Real oracles exit at \
              the end of their input; real executors that were killed leave them like this.",
        needs: &[Need::BothWays, Need::Ends],
        example: example!("oracle", "no-shutdown"),
        ..Rule::PLAIN
    },
    Rule {
        name: "left-idle",
        document: Severity::Warning,
        peers: Severity::Error,
        clause: "Process spawning",
        why: "The oracle must last as long as the executor. It ended while nothing was asked and nobody had said \
              shutdown: the executor keeps the connection, never starts the process anew, and every later call fails.",
        needs: &[Need::BothWays, Need::Ends],
        example: example!("oracle", "left-idle"),
        ..Rule::PLAIN
    },
];
