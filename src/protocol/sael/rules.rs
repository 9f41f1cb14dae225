//! What sael conversations are held to.
//!
//! Where the document and the peers that were written by it differ, a row says both: `document` is what the text allows,
//! `peers` what the reference server and its clients do.

// Long: one table, one row a rule.

use crate::protocol::session::Need::{BothWays, Connection, Order, Secret, Times};
use crate::protocol::session::Severity::{Error, Info, Off, Warning};
use crate::protocol::session::{Rule, example};

/// Every rule, in the order in which a conversation comes to them.
pub(super) static RULES: &[Rule] = &[
    // The upgrade, and what messages are carried in.
    Rule {
        name: "subprotocol-name",
        document: Error,
        peers: Error,
        clause: "real peers: WebSocket libraries refuse a subprotocol that is no token",
        why: "A subprotocol's name must be a token of HTTP, and a slash is none: browsers and Node refuse to \
              connect with such a name before a byte is sent. Offer `x-quark-msgpack`, or none.",
        example: example!("sael", "subprotocol-name"),
        ..Rule::PLAIN
    },
    Rule {
        name: "mask",
        document: Error,
        peers: Error,
        clause: "real peers: WebSocket libraries close the connection (RFC 6455 section 5.1)",
        why: "Every frame of a client is masked, none of a server is: whoever is sent another must close the connection, \
              and libraries do, with status 1002 and often without a word in any log. Most often a client writes its \
              frames by hand, or something between the two took masks off and put none on.",
        example: example!("sael", "mask"),
        ..Rule::PLAIN
    },
    Rule {
        name: "msgpack-unagreed",
        document: Error,
        peers: Error,
        clause: "Framing: MessagePack is opt-in by subprotocol",
        why: "MessagePack goes only where the upgrade agreed on a subprotocol for it. The reference server agrees \
              on none and answers ERR INVALID_FRAME; clients that expect JSON fail on the first byte. Send JSON, \
              or wait for Sec-WebSocket-Protocol in the 101.",
        example: example!("sael", "msgpack-unagreed"),
        ..Rule::PLAIN
    },
    Rule {
        name: "json-in-binary",
        document: Warning,
        peers: Warning,
        clause: "Framing: WebSocket text frames with JSON",
        why: "JSON belongs in text messages. The reference server and the Python client read it from binary ones \
              too, the TypeScript client drops those without a word. Send text.",
        example: example!("sael", "json-in-binary"),
        ..Rule::PLAIN
    },
    Rule {
        name: "text-despite-msgpack",
        document: Error,
        peers: Warning,
        clause: "Framing: MessagePack frames travel as binary",
        why: "The upgrade agreed on MessagePack in binary messages, and a text message comes. A peer that reads by \
              what was agreed cannot decode it.",
        example: example!("sael", "text-despite-msgpack"),
        ..Rule::PLAIN
    },
    Rule {
        name: "header-form",
        document: Off,
        peers: Error,
        clause: "real peers: ERR INVALID_FRAME",
        why: "The document has a header of one version byte and three letters before the JSON; no peer has ever \
              written or read it. The reference server answers ERR INVALID_FRAME. Send one JSON object with a \
              `kind` member.",
        example: example!("sael", "header-form"),
        ..Rule::PLAIN
    },
    // The envelope that all messages share.
    Rule {
        name: "kind-unknown",
        document: Error,
        peers: Error,
        clause: "Frame kinds",
        why: "The kind is none of the seventeen, or there is none. The server answers ERR UNKNOWN_KIND, clients \
              drop the message, and whoever waits for its effect waits for ever. Kinds are three capital letters.",
        example: example!("sael", "kind-unknown"),
        ..Rule::PLAIN
    },
    Rule {
        name: "kind-direction",
        document: Error,
        peers: Error,
        clause: "Frame kinds: client to server, server to client",
        why: "The kind belongs to the other side. The server answers ERR UNKNOWN_KIND, clients drop it; often two \
              ends of a proxy were swapped.",
        example: example!("sael", "kind-direction"),
        ..Rule::PLAIN
    },
    Rule {
        name: "ack-undefined",
        document: Off,
        peers: Error,
        clause: "real peers: ERR UNKNOWN_KIND",
        why: "The document lists ACK and gives it no fields, and no peer knows it: the server answers ERR \
              UNKNOWN_KIND. Leave it out.",
        example: example!("sael", "ack-undefined"),
        ..Rule::PLAIN
    },
    Rule {
        name: "version-missing",
        document: Warning,
        peers: Off,
        clause: "Handshake",
        why: "HEY and RSM say by `v` which protocol is spoken. Peers do without, but a server that checks cannot \
              tell what it is spoken to in.",
        example: example!("sael", "version-missing"),
        ..Rule::PLAIN
    },
    Rule {
        name: "version-unknown",
        document: Error,
        peers: Off,
        clause: "Handshake: if versions do not match, ERR and close",
        why: "`v` is neither 1 nor 2. A server that follows the document answers ERR UNSUPPORTED_VERSION and \
              closes; the reference server never looks.",
        example: example!("sael", "version-unknown"),
        ..Rule::PLAIN
    },
    Rule {
        name: "version-mixed",
        document: Info,
        peers: Off,
        clause: "Handshake",
        why: "The two sides speak different versions. 1 and 2 are treated alike by all that is known, so that this \
              only tells that one side is older than the other.",
        example: example!("sael", "version-mixed"),
        ..Rule::PLAIN
    },
    Rule {
        name: "field-missing",
        document: Error,
        peers: Warning,
        clause: "Handshake; Session resume; Subscriptions; Errors",
        why: "A field that gives the message its meaning is not there: who the agent or the server is, which \
              session, which topic, which error. The other side takes it as empty and goes on with that.",
        example: example!("sael", "field-missing"),
        ..Rule::PLAIN
    },
    Rule {
        name: "seq-missing",
        document: Error,
        peers: Error,
        clause: "Channels: distinguished by seq",
        why: "Calls and answers are told apart by `seq` alone. The server reads an absent one as 0 and answers with \
              0, which no client waits for.",
        example: example!("sael", "seq-missing"),
        ..Rule::PLAIN
    },
    Rule {
        name: "seq-value",
        document: Error,
        peers: Error,
        clause: "Channels: distinguished by seq",
        why: "`seq` must be a whole number from 1 to 2^53 - 1. The server reads it as a double and cuts off the \
              fraction: text becomes 0, 5.9 becomes 5, greater numbers are rounded; the answer then carries a \
              number that nobody waits for.",
        example: example!("sael", "seq-value"),
        ..Rule::PLAIN
    },
    Rule {
        name: "trace-id",
        document: Error,
        peers: Off,
        clause: "Tracing",
        why: "A trace id is 32 hex digits, not all zero. Peers pass on anything, but collectors drop spans with \
              other ids, and the trace ends here.",
        example: example!("sael", "trace-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "span-id",
        document: Error,
        peers: Off,
        clause: "Tracing",
        why: "A span id is 16 hex digits, not all zero. Peers pass on anything, but collectors drop such spans, and \
              the tree of the trace falls apart.",
        example: example!("sael", "span-id"),
        ..Rule::PLAIN
    },
    // How a connection begins.
    Rule {
        name: "hey-first",
        document: Error,
        peers: Off,
        clause: "Handshake: every channel starts with a HEY",
        why: "The client asks before it has said HEY or RSM. The reference server answers all the same, without a \
              session: nothing can be resumed, and no token was checked. Greet first. Judged where the connection \
              was seen to begin.",
        example: example!("sael", "hey-first"),
        ..Rule::PLAIN
    },
    Rule {
        name: "hey-again",
        document: Error,
        peers: Off,
        clause: "Handshake: every channel starts with a HEY",
        why: "HEY belongs at the start. The reference server opens a fresh session on the same connection, and what \
              was granted before is gone.",
        example: example!("sael", "hey-again"),
        ..Rule::PLAIN
    },
    Rule {
        name: "hey-answer",
        document: Error,
        peers: Error,
        clause: "Handshake",
        why: "The server must answer HEY by HEY, or by ERR and a close, before it says anything else. Clients wait \
              for that one message and take what comes instead for the wrong thing.",
        needs: &[Order],
        example: example!("sael", "hey-answer"),
        ..Rule::PLAIN
    },
    Rule {
        name: "hey-unanswered",
        document: Error,
        peers: Error,
        clause: "Handshake",
        why: "HEY or RSM got neither HEY nor ERR. A server that refuses a login queues ERR and closes at once, so \
              that it is often lost on the way; the Python client then waits for ever. Look at the token and at \
              the server's log.",
        needs: &[BothWays],
        unanswered: true,
        example: example!("sael", "hey-unanswered"),
        ..Rule::PLAIN
    },
    Rule {
        name: "login-refused",
        document: Info,
        peers: Info,
        clause: "Server verification; Session resume",
        why: "The server does not let the client in. The code says why: no token where one is demanded, a bad one, \
              a session that has expired.",
        example: example!("sael", "login-refused"),
        ..Rule::PLAIN
    },
    Rule {
        name: "login-error-seq",
        document: Warning,
        peers: Warning,
        clause: "Server verification",
        why: "The ERR that refuses a connection belongs to no call, so its seq is 0. With another number a client \
              takes it for the answer to a call and waits on for its HEY.",
        implies: &["login-refused"],
        example: example!("sael", "login-error-seq"),
        ..Rule::PLAIN
    },
    Rule {
        name: "refused-goes-on",
        document: Error,
        peers: Error,
        clause: "Server verification: ERR and close",
        why: "After it has refused a login the server must close. A client that is refused and served all the same \
              has rights that nobody granted.",
        implies: &["login-refused"],
        example: example!("sael", "refused-goes-on"),
        ..Rule::PLAIN
    },
    Rule {
        name: "anonymous-subscription",
        document: Warning,
        peers: Off,
        clause: "Authentication: anonymous clients list, and call what is pure or reads",
        why: "A client without a token may only list and call what is pure or reads; it subscribes. The reference \
              server lets it, one that keeps to its own specification will not.",
        harmless: true,
        example: example!("sael", "anonymous-subscription"),
        ..Rule::PLAIN
    },
    Rule {
        name: "anonymous-effect",
        document: Warning,
        peers: Off,
        clause: "Authentication: anonymous clients list, and call what is pure or reads",
        why: "A client without a token calls a tool that does more than read. The reference server lets it, one \
              that keeps to its own specification will not. Log in with a token.",
        harmless: true,
        example: example!("sael", "anonymous-effect"),
        ..Rule::PLAIN
    },
    Rule {
        name: "anonymous-resume",
        document: Warning,
        peers: Off,
        clause: "Authentication: anonymous clients list, and call what is pure or reads",
        why: "A session that was opened without a token is resumed. The reference server lets anybody resume who \
              knows the session's id; one that keeps to its own specification will not.",
        harmless: true,
        example: example!("sael", "anonymous-resume"),
        ..Rule::PLAIN
    },
    // Tokens.
    Rule {
        name: "auth-type",
        document: Error,
        peers: Off,
        clause: "Usage in handshake",
        why: "The only kind of authentication is `bearer`. The reference server lets any other type in without a \
              token, even where it forbids anonymous clients: a hole, not a way in.",
        example: example!("sael", "auth-type"),
        ..Rule::PLAIN
    },
    Rule {
        name: "token-shape",
        document: Error,
        peers: Error,
        clause: "Token format",
        why: "A token is `qct.v1.`, claims and a signature, both base64url without padding, the claims a JSON \
              object. Every server refuses another shape with ERR AUTH_INVALID.",
        example: example!("sael", "token-shape"),
        ..Rule::PLAIN
    },
    Rule {
        name: "token-claims",
        document: Error,
        peers: Warning,
        clause: "Payload",
        why: "iss, sub, exp and scope are required, and every claim has its type. The reference servers take a \
              token without exp as one that never expires, and the Go one refuses wrong types.",
        example: example!("sael", "token-claims"),
        ..Rule::PLAIN
    },
    Rule {
        name: "token-signature",
        document: Error,
        peers: Error,
        clause: "Server verification",
        why: "The signature is HMAC-SHA256 under the shared secret of `v1.` and the payload as it is written. It \
              does not match: another secret, changed claims, or a signature over something else. The server \
              answers ERR AUTH_INVALID.",
        needs: &[Secret],
        example: example!("sael", "token-signature"),
        ..Rule::PLAIN
    },
    Rule {
        name: "token-issued-later",
        document: Error,
        peers: Off,
        clause: "Server verification: iat <= now",
        why: "The token was issued in the future: a clock is wrong, or a minter is. A server that follows the \
              document refuses it; the reference ones do not look.",
        needs: &[Times],
        example: example!("sael", "token-issued-later"),
        ..Rule::PLAIN
    },
    Rule {
        name: "token-not-yet",
        document: Error,
        peers: Error,
        clause: "Server verification: nbf <= now",
        why: "The token is not good yet. The server answers ERR AUTH_INVALID; check the clocks.",
        needs: &[Times],
        example: example!("sael", "token-not-yet"),
        ..Rule::PLAIN
    },
    Rule {
        name: "token-expired",
        document: Error,
        peers: Error,
        clause: "Server verification: exp > now",
        why: "The token has expired. The reference server answers ERR AUTH_INVALID, not AUTH_EXPIRED. Get a new \
              one.",
        needs: &[Times],
        example: example!("sael", "token-expired"),
        ..Rule::PLAIN
    },
    Rule {
        name: "token-client",
        document: Error,
        peers: Error,
        clause: "Server verification: client_id matches agent.id",
        why: "The token is for another agent than the one that HEY names. The server answers ERR AUTH_INVALID. Mint \
              one for this agent, or one without client_id.",
        example: example!("sael", "token-client"),
        ..Rule::PLAIN
    },
    Rule {
        name: "token-long-lived",
        document: Off,
        peers: Info,
        clause: "real peers: a token cannot be revoked",
        why: "The token is good for more than a year, and nothing but a new secret for all can take it back. Mint \
              shorter ones.",
        example: example!("sael", "token-long-lived"),
        ..Rule::PLAIN
    },
    Rule {
        name: "token-in-clear",
        document: Info,
        peers: Info,
        clause: "Transport: wss recommended",
        why: "The token goes over a connection that is not encrypted. Whoever reads it on the way may use it until \
              it expires. Use wss.",
        needs: &[Connection],
        example: example!("sael", "token-in-clear"),
        ..Rule::PLAIN
    },
    Rule {
        name: "token-exposed",
        document: Warning,
        peers: Warning,
        clause: "Usage in handshake",
        why: "A token belongs into HEY's auth and nowhere else. Here it is in a call, an answer or an error: \
              whoever reads logs, outputs or messages may use it until it expires.",
        example: example!("sael", "token-exposed"),
        ..Rule::PLAIN
    },
    Rule {
        name: "scope-differs",
        document: Warning,
        peers: Warning,
        clause: "Server verification: store granted scope",
        why: "The server grants other capabilities than the token's scope. The client acts on what it was told, and \
              is refused where it should not be, or let in where it should not be.",
        example: example!("sael", "scope-differs"),
        ..Rule::PLAIN
    },
    // What is called.
    Rule {
        name: "seq-reused",
        document: Error,
        peers: Error,
        clause: "Channels: distinguished by seq",
        why: "A seq is used for a second request while the first is open. Answers to both look alike: one of the \
              callers gets the other's, the other waits for ever.",
        needs: &[Order],
        example: example!("sael", "seq-reused"),
        ..Rule::PLAIN
    },
    Rule {
        name: "seq-not-rising",
        document: Warning,
        peers: Off,
        clause: "Session resume: frames with seq > last_seq_received",
        why: "A seq was used before, or a higher one was. Calls still pair, but after a drop the server replays by \
              `seq > last_seq_received`, and passes over answers to this one.",
        needs: &[Order],
        example: example!("sael", "seq-not-rising"),
        ..Rule::PLAIN
    },
    Rule {
        name: "window-exceeded",
        document: Error,
        peers: Error,
        clause: "Backpressure",
        why: "More requests are outstanding than the window allows, 64 unless WIN says otherwise. The reference \
              server does not refuse them; its send queue has 64 places, and answers that find none are dropped \
              without a word. Wait for answers before asking more.",
        needs: &[Order],
        example: example!("sael", "window-exceeded"),
        ..Rule::PLAIN
    },
    Rule {
        name: "window-value",
        document: Error,
        peers: Warning,
        clause: "Backpressure",
        why: "WIN must say by a whole number how many requests may be outstanding. Clients ignore what they do not \
              understand and go on as before.",
        example: example!("sael", "window-value"),
        ..Rule::PLAIN
    },
    Rule {
        name: "call-both",
        document: Error,
        peers: Off,
        clause: "Tools; Composition",
        why: "INV has a tool and a pipeline. The server runs the pipeline, and the tool is not called. Send one of \
              them.",
        example: example!("sael", "call-both"),
        ..Rule::PLAIN
    },
    Rule {
        name: "call-empty",
        document: Error,
        peers: Error,
        clause: "Tools; Composition",
        why: "INV names nothing to run: no tool, and no stage. The server answers ERR TOOL_NOT_FOUND with an empty \
              name.",
        example: example!("sael", "call-empty"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stage-kind",
        document: Error,
        peers: Error,
        clause: "Composition: stages",
        why: "A stage is an object with one of tool, filter, map, reduce and parallel. The server answers ERR \
              INVALID_INPUT and names the stage, counted from 0; where there are two, it takes the first of tool, \
              filter, map and forgets the other.",
        example: example!("sael", "stage-kind"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stage-value",
        document: Error,
        peers: Error,
        clause: "Composition: stages",
        why: "What stands in a stage has the wrong type: a tool and a filter are texts, map is an array of field \
              names, input and input_bind are objects. The server refuses it or passes the data through unchanged.",
        example: example!("sael", "stage-value"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stage-unsupported",
        document: Off,
        peers: Error,
        clause: "real peers: ERR INVALID_INPUT, stage unknown",
        why: "The document has `parallel` and `reduce`; the published reference server knows neither and refuses \
              the whole pipeline.",
        example: example!("sael", "stage-unsupported"),
        ..Rule::PLAIN
    },
    Rule {
        name: "parallel-shape",
        document: Error,
        peers: Error,
        clause: "Composition: parallel",
        why: "parallel is an array of pipelines, one at least. Anything else has no branches to run.",
        example: example!("sael", "parallel-shape"),
        ..Rule::PLAIN
    },
    Rule {
        name: "bind-without-tool",
        document: Error,
        peers: Off,
        clause: "Composition: input_bind",
        why: "input_bind fills the input of a tool; beside filter, map and the others it is ignored, and the data \
              does not go where it was meant to.",
        example: example!("sael", "bind-without-tool"),
        ..Rule::PLAIN
    },
    Rule {
        name: "bind-nothing",
        document: Error,
        peers: Warning,
        clause: "Composition: $prev",
        why: "$prev is the output of the stage before, and the first stage has none. The tool gets null in its \
              place.",
        example: example!("sael", "bind-nothing"),
        ..Rule::PLAIN
    },
    Rule {
        name: "filter-odd",
        document: Warning,
        peers: Warning,
        clause: "Composition: filter",
        why: "The filter is not read as it was likely meant. No peer refuses a filter: what does not parse is taken \
              as text or as a field that is not there, and the wrong items are kept. `wiretool sael filter` shows \
              how it is read.",
        example: example!("sael", "filter-odd"),
        ..Rule::PLAIN
    },
    Rule {
        name: "tool-unlisted",
        document: Warning,
        peers: Warning,
        clause: "Tools: clients discover via LST",
        why: "The tool is not in the server's list. The server will answer ERR TOOL_NOT_FOUND; names are exact, and \
              a version goes behind `@`.",
        needs: &[Order],
        example: example!("sael", "tool-unlisted"),
        ..Rule::PLAIN
    },
    Rule {
        name: "cancel-unknown",
        document: Error,
        peers: Off,
        clause: "Streaming; Subscriptions: UNS with same seq",
        why: "UNS or CAN names a seq that no request has. The server says nothing, and what was to be stopped goes \
              on.",
        needs: &[Order],
        example: example!("sael", "cancel-unknown"),
        ..Rule::PLAIN
    },
    Rule {
        name: "cancel-late",
        document: Info,
        peers: Off,
        clause: "Subscriptions: UNS with same seq",
        why: "UNS or CAN names a request that is done. It may have crossed the last answer on the way; where it is \
              always so, the client lost track.",
        needs: &[Order],
        example: example!("sael", "cancel-late"),
        ..Rule::PLAIN
    },
    Rule {
        name: "cancel-kind",
        document: Error,
        peers: Off,
        clause: "Subscriptions: UNS with same seq",
        why: "UNS ends a subscription, CAN a call. The reference server treats both alike; one that follows the \
              document does not find what it is to stop.",
        needs: &[Order],
        example: example!("sael", "cancel-kind"),
        ..Rule::PLAIN
    },
    // What is answered.
    Rule {
        name: "unanswered",
        document: Error,
        peers: Error,
        clause: "Tools; Subscriptions: the server replies",
        why: "A request never got its answer. Either the server is stuck, or the answer was dropped: the reference \
              server drops what does not fit into its send queue. The caller waits for ever.",
        needs: &[BothWays],
        unanswered: true,
        example: example!("sael", "unanswered"),
        ..Rule::PLAIN
    },
    Rule {
        name: "answer-unasked",
        document: Error,
        peers: Error,
        clause: "Channels: distinguished by seq",
        why: "An answer carries a seq that no request has. Clients drop it; the request that it was meant for stays \
              open.",
        needs: &[Order],
        example: example!("sael", "answer-unasked"),
        ..Rule::PLAIN
    },
    Rule {
        name: "answer-after-end",
        document: Error,
        peers: Error,
        clause: "Streaming: ending with END",
        why: "RES, END and ERR are the last answer, and something came for the same seq behind it. Clients have \
              forgotten the call and drop it.",
        needs: &[Order],
        example: example!("sael", "answer-after-end"),
        ..Rule::PLAIN
    },
    Rule {
        name: "answer-kind",
        document: Error,
        peers: Error,
        clause: "Frame kinds",
        why: "The answer is of a kind that its request does not have: LST answers LST, calls get RES, or STR and \
              END, subscriptions RES and then EVT. Clients hand it to code that waits for something else.",
        needs: &[Order],
        example: example!("sael", "answer-kind"),
        ..Rule::PLAIN
    },
    Rule {
        name: "event-early",
        document: Error,
        peers: Warning,
        clause: "Subscriptions: RES, then EVT",
        why: "An event comes before the RES that grants its subscription. A client that sets up its handler on RES \
              loses it.",
        needs: &[Order],
        example: example!("sael", "event-early"),
        ..Rule::PLAIN
    },
    Rule {
        name: "subscription-id",
        document: Warning,
        peers: Warning,
        clause: "Subscriptions: RES (subscription id)",
        why: "The RES that grants a subscription carries its id. Without it the answer looks like a tool's empty \
              output, and a client that goes by the id loses the events.",
        needs: &[Order],
        example: example!("sael", "subscription-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "subscription-unknown",
        document: Warning,
        peers: Warning,
        clause: "Subscriptions: RES (subscription id); real peers: it is the seq of the SUB",
        why: "The subscriptionId is not the seq of the SUB that it belongs to. A client that goes by it looks for its \
              events under an id that nothing has, or takes those of another subscription.",
        needs: &[Order],
        example: example!("sael", "subscription-unknown"),
        ..Rule::PLAIN
    },
    Rule {
        name: "still-sending",
        document: Error,
        peers: Error,
        clause: "Subscriptions: until UNS; Streaming",
        why: "Frames still come 2 s after UNS or CAN. Those under way may follow, these are not: the server did not \
              stop, and goes on spending time and money.",
        needs: &[Times, Order],
        example: example!("sael", "still-sending"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stream-undeclared",
        document: Error,
        peers: Warning,
        clause: "Tool schemas: streaming",
        why: "STR or END answers a tool that is listed with streaming false. A client that called it for one result \
              takes the first item for it, or waits for a RES that never comes.",
        needs: &[Order],
        example: example!("sael", "stream-undeclared"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stream-not-streamed",
        document: Off,
        peers: Warning,
        clause: "real peers: a streaming tool ends with END",
        why: "The tool is listed with streaming true and is answered by a single RES. The reference server always \
              streams such a tool; clients that iterate over items get none.",
        needs: &[Order],
        example: example!("sael", "stream-not-streamed"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stream-ends-with-result",
        document: Error,
        peers: Error,
        clause: "Streaming: ending with END",
        why: "A stream ends with END or ERR, and RES came. Clients wait for more items, or drop what RES holds.",
        needs: &[Order],
        example: example!("sael", "stream-ends-with-result"),
        ..Rule::PLAIN
    },
    Rule {
        name: "item-content",
        document: Error,
        peers: Error,
        clause: "Streaming",
        why: "STR carries one of data and delta. With neither the client gets nothing, with both it cannot know \
              which counts.",
        example: example!("sael", "item-content"),
        ..Rule::PLAIN
    },
    Rule {
        name: "delta-undeclared",
        document: Error,
        peers: Warning,
        clause: "Streaming: delta",
        why: "Deltas come only from tools that are listed with delta true. A client that does not expect them takes \
              a patch for the whole value, or nothing at all.",
        needs: &[Order],
        example: example!("sael", "delta-undeclared"),
        ..Rule::PLAIN
    },
    Rule {
        name: "delta-snapshot",
        document: Error,
        peers: Warning,
        clause: "Streaming: a snapshot first",
        why: "The first delta is the whole state, and patches are merged into it: it has to be an object.",
        needs: &[Order],
        example: example!("sael", "delta-snapshot"),
        ..Rule::PLAIN
    },
    Rule {
        name: "delta-mixed",
        document: Error,
        peers: Warning,
        clause: "Streaming: delta",
        why: "Items of one call are deltas or data, not both: after data a client cannot know what the next patch \
              is to be merged into.",
        needs: &[Order],
        example: example!("sael", "delta-mixed"),
        ..Rule::PLAIN
    },
    Rule {
        name: "trace-mismatch",
        document: Error,
        peers: Error,
        clause: "Tracing: propagates trace_id",
        why: "The answer carries the trace id of another request. The trace shows time and cost where they were not \
              spent.",
        needs: &[Order],
        example: example!("sael", "trace-mismatch"),
        ..Rule::PLAIN
    },
    Rule {
        name: "trace-dropped",
        document: Warning,
        peers: Warning,
        clause: "Tracing: propagates trace_id",
        why: "The request has a trace id and its answer none. The reference server echoes it on RES, STR and END; \
              without it the trace ends at the client.",
        needs: &[Order],
        example: example!("sael", "trace-dropped"),
        ..Rule::PLAIN
    },
    Rule {
        name: "capability-ignored",
        document: Error,
        peers: Warning,
        clause: "Capabilities: validates on each INV",
        why: "A tool requires a capability that was not granted by any rule, and the call is answered. The server \
              does not check, and anybody may call it.",
        needs: &[Order],
        example: example!("sael", "capability-ignored"),
        ..Rule::PLAIN
    },
    Rule {
        name: "capability-denied",
        document: Error,
        peers: Off,
        clause: "Capability strings",
        why: "The server refuses for want of a capability that the document's rule grants: `a:b:*` covers `a:b` \
              itself, `*:read` covers reading anywhere. The reference server knows neither. Grant the capability \
              by its full name.",
        needs: &[Order],
        example: example!("sael", "capability-denied"),
        ..Rule::PLAIN
    },
    Rule {
        name: "input-unchecked",
        document: Warning,
        peers: Warning,
        clause: "Tool input validation",
        why: "The input does not fit the schema that the tool is listed with, and the call is answered. Either the \
              server does not check, or the schema says more than is meant.",
        needs: &[Order],
        example: example!("sael", "input-unchecked"),
        ..Rule::PLAIN
    },
    Rule {
        name: "cost-over-limit",
        document: Warning,
        peers: Warning,
        clause: "Payload: max_cost_usd",
        why: "The calls of the session have cost more than the token's max_cost_usd. The reference server looks \
              before a call, not after it, so that the last one may exceed.",
        example: example!("sael", "cost-over-limit"),
        ..Rule::PLAIN
    },
    // What is listed.
    Rule {
        name: "tool-effect",
        document: Warning,
        peers: Warning,
        clause: "Tool schemas: effects",
        why: "A tool has an effect that is none of the document's seven. Clients that ask a human before money is \
              spent or data changed cannot tell what this one does.",
        example: example!("sael", "tool-effect"),
        ..Rule::PLAIN
    },
    Rule {
        name: "tool-cost",
        document: Warning,
        peers: Warning,
        clause: "Tool schemas: cost",
        why: "A cost without a currency is a number that means nothing.",
        example: example!("sael", "tool-cost"),
        ..Rule::PLAIN
    },
    // Errors.
    Rule {
        name: "error-code",
        document: Error,
        peers: Warning,
        clause: "Errors: standard codes",
        why: "The code is none of the fifteen. Clients cannot tell whether to try again, to log in anew or to give \
              up.",
        example: example!("sael", "error-code"),
        ..Rule::PLAIN
    },
    Rule {
        name: "error-code-extra",
        document: Warning,
        peers: Off,
        clause: "Errors: standard codes",
        why: "The reference server has four codes that the document has not: INVALID_FRAME, UNKNOWN_KIND, \
              TOPIC_NOT_FOUND, PIPELINE_STAGE_FAILED. A client that was written by the document does not know \
              them.",
        harmless: true,
        example: example!("sael", "error-code-extra"),
        ..Rule::PLAIN
    },
    // Heartbeats.
    Rule {
        name: "heartbeat-late",
        document: Warning,
        peers: Off,
        clause: "Heartbeat: every 30 s",
        why: "The client sends HBT every 30 s, and none came for 45. Servers that follow the document close after \
              90 s without one; the reference server takes any message for a sign of life.",
        needs: &[Times],
        example: example!("sael", "heartbeat-late"),
        ..Rule::PLAIN
    },
    Rule {
        name: "client-silent",
        document: Warning,
        peers: Error,
        clause: "Heartbeat: no HBT in 90 s, close",
        why: "The client said nothing for more than 90 s. The reference server looks every 30 s and closes without \
              a word; WebSocket pings do not count.",
        needs: &[Times],
        example: example!("sael", "client-silent"),
        ..Rule::PLAIN
    },
    Rule {
        name: "heartbeat-unanswered",
        document: Warning,
        peers: Warning,
        clause: "Heartbeat: HBA",
        why: "HBT got no HBA. A client that follows the document reconnects after 60 s; those that are known notice \
              nothing, and hang on a dead connection.",
        needs: &[Order],
        example: example!("sael", "heartbeat-unanswered"),
        ..Rule::PLAIN
    },
    Rule {
        name: "heartbeat-echo",
        document: Warning,
        peers: Warning,
        clause: "Heartbeat: HBA",
        why: "HBA carries the ts of the HBT that it answers. With another one, round trips cannot be measured, and \
              a late answer passes for a fresh one.",
        needs: &[Order],
        example: example!("sael", "heartbeat-echo"),
        ..Rule::PLAIN
    },
    Rule {
        name: "heartbeat-unit",
        document: Warning,
        peers: Info,
        clause: "Heartbeat: ts, in Unix seconds",
        why: "The ts of a heartbeat is in seconds since 1970, and this one is in milliseconds or finer. Peers echo it \
              as it is; whoever reckons with it is off by thousands of years. Told once for each connection.",
        example: example!("sael", "heartbeat-unit"),
        ..Rule::PLAIN
    },
    // Sessions that are taken up again.
    Rule {
        name: "resume-unknown",
        document: Warning,
        peers: Error,
        clause: "Session resume",
        why: "RSM names a session that no HEY of this recording gave. The server answers ERR SESSION_EXPIRED and \
              closes, and the client has to begin anew with HEY.",
        example: example!("sael", "resume-unknown"),
        ..Rule::PLAIN
    },
    Rule {
        name: "resume-ahead",
        document: Error,
        peers: Warning,
        clause: "Session resume: last_seq_received",
        why: "The client claims to have received a seq that was never used. The server replays nothing, and what \
              the client missed is lost.",
        needs: &[Order],
        example: example!("sael", "resume-ahead"),
        ..Rule::PLAIN
    },
    Rule {
        name: "replay-many",
        document: Warning,
        peers: Warning,
        clause: "Session resume: the last 64 outgoing frames",
        why: "A server keeps the last 64 frames for a client that comes back. More were replayed: they are older \
              than the buffer, or there twice.",
        needs: &[Order],
        example: example!("sael", "replay-many"),
        ..Rule::PLAIN
    },
    Rule {
        name: "replay-old",
        document: Error,
        peers: Error,
        clause: "Session resume: frames with seq > 42",
        why: "A frame is replayed that the client said it has. It is handled twice: an event counted again, an \
              answer given to nobody.",
        needs: &[Order],
        example: example!("sael", "replay-old"),
        ..Rule::PLAIN
    },
    Rule {
        name: "replay-twice",
        document: Error,
        peers: Warning,
        clause: "Session resume: replays buffered frames",
        why: "A frame is replayed that this replay has had. The reference server puts what it replays into the \
              buffer again, so that a second resume brings it twice. Clients have to drop what they know.",
        needs: &[Order],
        example: example!("sael", "replay-twice"),
        ..Rule::PLAIN
    },
    Rule {
        name: "replay-count",
        document: Error,
        peers: Error,
        clause: "Session resume",
        why: "HEY says how many frames were replayed, and there were more or fewer: some were lost, and the client \
              does not know which.",
        needs: &[Order],
        example: example!("sael", "replay-count"),
        ..Rule::PLAIN
    },
    Rule {
        name: "replay-lost",
        document: Error,
        peers: Warning,
        clause: "Session resume: frames behind last_seq_received, at most 64",
        why: "The server sent frames with a seq above last_seq_received on an earlier connection, they are among its \
              last 64, and it does not replay them; replayed in HEY agrees with what came, so that the client cannot \
              see the loss. Ask again for what matters.",
        needs: &[Order],
        example: example!("sael", "replay-lost"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stream-survived",
        document: Error,
        peers: Error,
        clause: "Session resume: open tool streams are cancelled",
        why: "Streams end with their connection; the client may have called again. This one goes on after the \
              resume, and two runs of the same tool are mixed up.",
        needs: &[Order],
        example: example!("sael", "stream-survived"),
        ..Rule::PLAIN
    },
    // How a connection ends.
    Rule {
        name: "after-bye",
        document: Warning,
        peers: Error,
        clause: "Frame kinds: BYE",
        why: "BYE is the last word. The server closes when it reads it, and what comes behind is lost.",
        example: example!("sael", "after-bye"),
        ..Rule::PLAIN
    },
    Rule {
        name: "dropped-call",
        document: Off,
        peers: Error,
        clause: "real peers: the reference server crashes",
        why: "The client closes the connection while a call is open. When the answer comes, the reference server \
              sends on a closed channel and its whole process ends, for all clients. Wait for the answer, or for \
              the error after CAN.",
        needs: &[Order],
        example: example!("sael", "dropped-call"),
        ..Rule::PLAIN
    },
    Rule {
        name: "dropped-subscription",
        document: Off,
        peers: Error,
        clause: "real peers: the reference server crashes",
        why: "The client closes the connection while a subscription lives. At the next event the reference server \
              sends on a closed channel and its whole process ends, for all clients. Send UNS and wait a moment \
              before closing.",
        needs: &[Order],
        example: example!("sael", "dropped-subscription"),
        ..Rule::PLAIN
    },
];
