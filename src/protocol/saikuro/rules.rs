//! What saikuro conversations are held to.
//!
//! ```text
//!   frames, values -> envelopes -> batches, announces -> who answers whom -> answers -> streams, channels
//! ```
//!
//! The document and the real peers differ in nearly everything but the envelope: where one of them allows what the other
//! refuses, a rule says so by two severities.

// Long: one table.

use crate::protocol::session::{Need, Rule, Severity, example};
use Severity::{Error, Info, Off, Warning};

/// Every rule, in the order in which a conversation comes to them.
pub(super) static RULES: &[Rule] = &[
    // Frames: how messages are cut and packed.
    Rule {
        name: "frame-too-long",
        document: Error,
        peers: Error,
        clause: "real peers: no message is longer than 16 MiB",
        why: "A runtime closes the connection without a word when the length says more than 16 MiB, and over WebSocket \
              when one frame does; only a message in fragments is refused with MessageTooLarge. All that is open on \
              the connection is lost with it. Split the value, or hand it on as a resource.",
        faults: &["over-limit"],
        example: example!("saikuro", "frame-too-long"),
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
        example: example!("saikuro", "mask"),
        ..Rule::PLAIN
    },
    Rule {
        name: "text-frame",
        document: Off,
        peers: Error,
        clause: "real peers: messages are binary frames; text frames are passed over",
        why: "The runtime passes over text frames without a word, so that what they ask is never answered and the \
              caller waits until its own time-out. A client that sends JSON, or MessagePack as text, is the usual \
              cause: send bytes. Told once for each side of a connection.",
        example: example!("saikuro", "text-frame"),
        ..Rule::PLAIN
    },
    Rule {
        name: "empty-frame",
        document: Error,
        peers: Error,
        clause: "Encoding: every message is an envelope",
        why: "A frame of no bytes holds no envelope. A runtime answers it with MalformedEnvelope under an id of its \
              own, which nobody waits for. Most often a sender wrote its length before it knew it.",
        faults: &["empty"],
        example: example!("saikuro", "empty-frame"),
        ..Rule::PLAIN
    },
    Rule {
        name: "not-messagepack",
        document: Error,
        peers: Error,
        clause: "Encoding: all envelopes use MessagePack",
        why: "The bytes of a frame are no MessagePack value, or end inside one. A runtime answers MalformedEnvelope \
              under an id of its own. Look for a wrong length before it, JSON, or bytes that something on the way \
              changed.",
        faults: &["bad-msgpack", "ends-early"],
        example: example!("saikuro", "not-messagepack"),
        ..Rule::PLAIN
    },
    Rule {
        name: "trailing-bytes",
        document: Error,
        peers: Error,
        clause: "Encoding: one envelope a message",
        why: "Behind the envelope stand more bytes in the same frame. A runtime reads the first value and drops the \
              rest, so that a second message glued on is lost and nobody hears of it. Give every message a frame of \
              its own.",
        faults: &["trailing-bytes"],
        example: example!("saikuro", "trailing-bytes"),
        ..Rule::PLAIN
    },
    // Values: what MessagePack can say and a runtime cannot hold.
    Rule {
        name: "duplicate-key",
        document: Error,
        peers: Error,
        clause: "Encoding; real peers: a repeated field is a MalformedEnvelope",
        why: "A key stands twice in one map. Readers differ in which of the two they keep, and a runtime refuses an \
              envelope that has a field twice. Write each key once.",
        example: example!("saikuro", "duplicate-key"),
        ..Rule::PLAIN
    },
    Rule {
        name: "extension-value",
        document: Off,
        peers: Error,
        clause: "real peers: a value is nil, bool, number, text, bytes, array or map",
        why: "Extension types, timestamps among them, are good MessagePack, but a runtime has no value for them and \
              refuses the whole message. Send a time as text or a number, and other types as a map.",
        example: example!("saikuro", "extension-value"),
        ..Rule::PLAIN
    },
    Rule {
        name: "non-string-key",
        document: Off,
        peers: Error,
        clause: "real peers: keys of maps are text",
        why: "A map whose key is a number, bytes or nil is good MessagePack, but a runtime refuses the whole message \
              that has one. Write the key as text.",
        example: example!("saikuro", "non-string-key"),
        ..Rule::PLAIN
    },
    Rule {
        name: "bad-text",
        document: Warning,
        peers: Error,
        clause: "Encoding: strings are UTF-8, as MessagePack has it",
        why: "Text that is no UTF-8 is refused by a runtime, and lenient readers show something else than was sent. \
              Bytes belong into a bin value.",
        example: example!("saikuro", "bad-text"),
        ..Rule::PLAIN
    },
    // Envelopes, and the items of batches: one field at a time.
    Rule {
        name: "unknown-message",
        document: Error,
        peers: Error,
        clause: "Invocation Envelope, Response Envelope, Stream Frames",
        why: "A map that has neither a type nor the ok, seq or close of an answer is no message of the protocol. A \
              runtime takes it for an envelope and refuses it. Often a field is misspelt, or end or close is there and \
              not true.",
        example: example!("saikuro", "unknown-message"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unknown-type",
        document: Error,
        peers: Error,
        clause: "Invocation Envelope: type",
        why: "The type is none that an envelope has, in lower case and as spelled in the document. A runtime cannot \
              read the envelope and refuses it under an id of its own, so that its sender waits in vain.",
        example: example!("saikuro", "unknown-type"),
        ..Rule::PLAIN
    },
    Rule {
        name: "peers-type",
        document: Info,
        peers: Off,
        clause: "real peers: resource and log are types of envelopes",
        why: "The document has no such type. A peer that was written by the document alone refuses it.",
        example: example!("saikuro", "peers-type"),
        ..Rule::PLAIN
    },
    Rule {
        name: "bad-version",
        document: Error,
        peers: Error,
        clause: "Protocol Version: the version is 1",
        why: "The version of the envelope is missing, no integer, or not 1. A runtime answers IncompatibleVersion (the \
              document says SchemaError), or MalformedEnvelope under an id of its own where it cannot even read it.",
        example: example!("saikuro", "bad-version"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unread-version",
        document: Info,
        peers: Info,
        clause: "real peers: the version of announce and log is not checked",
        why: "Every envelope says version 1. In an announce or a log a runtime does not look, so it passes today, and \
              fails on the day somebody looks.",
        example: example!("saikuro", "unread-version"),
        ..Rule::PLAIN
    },
    Rule {
        name: "missing-id",
        document: Error,
        peers: Error,
        clause: "Invocation Envelope: id; Response Envelope: id",
        why: "Without an id nothing can be answered, and an answer without one belongs to nothing. A runtime refuses \
              such an envelope under an id of its own, and whoever waits for such an answer goes on waiting.",
        example: example!("saikuro", "missing-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "bad-id",
        document: Info,
        peers: Warning,
        clause: "real peers: ids are UUIDs; Invocation Envelope: UUID v4 recommended",
        why: "The id is no UUID in any of its forms. A runtime cannot read the envelope and refuses it under an id of \
              its own. The log records of the Python, TypeScript and C# adapters are lost in this way, for their ids \
              are log- and a time.",
        example: example!("saikuro", "bad-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "ambiguous-id",
        document: Off,
        peers: Warning,
        clause: "real peers: sixteen bytes that are text are read as text",
        why: "The sixteen bytes of the id happen to be valid UTF-8. A runtime then takes them for text, finds no UUID \
              in it, and refuses the envelope under an id of its own. Random ids meet this once in ten thousand; draw \
              another id, or send it as text.",
        example: example!("saikuro", "ambiguous-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "bad-target",
        document: Error,
        peers: Error,
        clause: "Invocation Envelope: target is namespace.function",
        why: "The target must have a dot with something on either side; the part before the last dot is the namespace. \
              A runtime answers MalformedEnvelope.",
        example: example!("saikuro", "bad-target"),
        ..Rule::PLAIN
    },
    Rule {
        name: "batch-without-target",
        document: Off,
        peers: Error,
        clause: "real peers: target is required in every envelope",
        why: "The document shows batches without a target, but a runtime cannot read an envelope that has none. Write \
              an empty one.",
        example: example!("saikuro", "batch-without-target"),
        ..Rule::PLAIN
    },
    Rule {
        name: "missing-args",
        document: Error,
        peers: Off,
        clause: "Invocation Envelope: args is required, [] where there are none",
        why: "A runtime takes missing args for none; a peer that was written by the document need not.",
        example: example!("saikuro", "missing-args"),
        ..Rule::PLAIN
    },
    Rule {
        name: "bad-field",
        document: Error,
        peers: Error,
        clause: "Invocation Envelope, Stream Frames: types of fields",
        why: "A field has a value that it cannot have: args that are no array, meta that is no map, a seq below zero, \
              an unknown stream_control. A runtime refuses the whole envelope under an id of its own; null counts as \
              left out only in capability, batch_items, stream_control and seq.",
        example: example!("saikuro", "bad-field"),
        ..Rule::PLAIN
    },
    Rule {
        name: "document-capability",
        document: Off,
        peers: Info,
        clause: "real peers: the capability stands under capability",
        why: "The document calls the field cap. A runtime passes over it, so that the call is made without a \
              capability.",
        example: example!("saikuro", "document-capability"),
        ..Rule::PLAIN
    },
    Rule {
        name: "peers-capability",
        document: Info,
        peers: Off,
        clause: "Invocation Envelope: cap",
        why: "Real peers call the field capability. A peer that was written by the document looks for cap.",
        example: example!("saikuro", "peers-capability"),
        ..Rule::PLAIN
    },
    Rule {
        name: "own-namespace",
        document: Off,
        peers: Warning,
        clause: "real peers: a runtime reads one message at a time",
        why: "The namespace was announced on the connection that calls into it. The runtime sends the call back and \
              waits for the answer without reading on, so that nothing moves until it gives up after 30 s. Call the \
              function in the process itself, or by a second connection. Said once for each announce.",
        example: example!("saikuro", "own-namespace"),
        ..Rule::PLAIN
    },
    Rule {
        name: "args-unfit",
        document: Warning,
        peers: Warning,
        clause: "Schema: args of a function",
        why: "The arguments are not those that the announced schema has for the function: too many, too few, or of \
              another type. A runtime answers InvalidArguments; without one, the handler fails. Caller and provider \
              are of different versions, or the schema is wrong.",
        example: example!("saikuro", "args-unfit"),
        ..Rule::PLAIN
    },
    Rule {
        name: "capability-missing",
        document: Error,
        peers: Off,
        clause: "Invocation Envelope: cap; Schema: capabilities of a function",
        why: "The announced schema says that the function requires a capability, and the call shows none. By the \
              document it is denied. Real runtimes do not read what a call shows; they go by what the connection was \
              granted.",
        example: example!("saikuro", "capability-missing"),
        ..Rule::PLAIN
    },
    Rule {
        name: "capability-undeclared",
        document: Info,
        peers: Info,
        clause: "Schema: capabilities of a function",
        why: "The call shows a capability, and the announced schema says that the function requires none. The call is \
              allowed. Either the caller gives a capability to a provider that does not need it, or the schema lacks \
              the capability, and then everybody may call the function.",
        example: example!("saikuro", "capability-undeclared"),
        implies: &["peers-capability"],
        ..Rule::PLAIN
    },
    // Batches.
    Rule {
        name: "empty-batch",
        document: Error,
        peers: Error,
        clause: "Batch Envelope: batch_items",
        why: "A batch without items asks nothing. A runtime answers MalformedEnvelope; a sender that collects calls \
              should not send an empty collection.",
        example: example!("saikuro", "empty-batch"),
        ..Rule::PLAIN
    },
    Rule {
        name: "batch-duplicate-id",
        document: Error,
        peers: Error,
        clause: "Batch Envelope: each call has its own id",
        why: "Two items of a batch have the same id, so that their results cannot be told apart, nor the calls that a \
              runtime makes of them.",
        example: example!("saikuro", "batch-duplicate-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "batch-order",
        document: Error,
        peers: Error,
        clause: "Batch Response: results stand in the order of the calls",
        why: "A result has another id than the call at its place. Who goes by place, as the document promises one may, \
              takes a result for that of another call.",
        example: example!("saikuro", "batch-order"),
        ..Rule::PLAIN
    },
    Rule {
        name: "batch-count",
        document: Error,
        peers: Error,
        clause: "Batch Response: one result for each call",
        why: "There are more or fewer results than calls, so that all behind the first odd one belong to nothing.",
        example: example!("saikuro", "batch-count"),
        ..Rule::PLAIN
    },
    Rule {
        name: "batch-ok",
        document: Error,
        peers: Error,
        clause: "Batch Response: ok is false if any call fails",
        why: "The ok of the batch says other than the ok of its results. A caller that looks at the batch alone takes \
              a failure for a success, or the other way round.",
        example: example!("saikuro", "batch-ok"),
        ..Rule::PLAIN
    },
    // Announces.
    Rule {
        name: "bad-schema",
        document: Error,
        peers: Error,
        clause: "Announce Envelope: schema",
        why: "An announce without a schema, as a map, offers nothing. A runtime answers MalformedEnvelope.",
        example: example!("saikuro", "bad-schema"),
        ..Rule::PLAIN
    },
    Rule {
        name: "schema-version",
        document: Warning,
        peers: Warning,
        clause: "Announce Envelope: schema.version is 1",
        why: "The schema says another version than 1, or none. A runtime does not check today, so that it reads a \
              schema of another version as if it were its own.",
        example: example!("saikuro", "schema-version"),
        ..Rule::PLAIN
    },
    Rule {
        name: "schema-kind",
        document: Off,
        peers: Error,
        clause: "real peers: the kinds of types that a runtime reads",
        why: "A type in the schema has a kind that no runtime reads: adapters write list and optional, and channels \
              with send and recv, where array, option, inbound and outbound are read. One such function makes the \
              runtime refuse the whole announce.",
        example: example!("saikuro", "schema-kind"),
        ..Rule::PLAIN
    },
    Rule {
        name: "announce-late",
        document: Off,
        peers: Warning,
        clause: "real peers: a provider announces first",
        why: "Something was sent on the connection before the announce. Until it announces, what it offers cannot be \
              called, and a caller may have been told NamespaceNotFound. Adapters announce with their first message.",
        example: example!("saikuro", "announce-late"),
        ..Rule::PLAIN
    },
    Rule {
        name: "announce-refused",
        document: Info,
        peers: Warning,
        clause: "Announce Envelope: ok is false; real peers: the schema cannot be read, or is frozen",
        why: "The announce was refused, so that nothing it offers can be called. Adapters go on all the same, and wait \
              for calls that never come.",
        example: example!("saikuro", "announce-refused"),
        ..Rule::PLAIN
    },
    Rule {
        name: "namespace-twice",
        document: Info,
        peers: Warning,
        clause: "Announce Envelope: conflicts are refused; real peers: the later one wins",
        why: "A namespace is announced that was announced before and has not left. By the document it is refused; a \
              runtime takes it without a word, and all calls go to the later provider.",
        example: example!("saikuro", "namespace-twice"),
        ..Rule::PLAIN
    },
    Rule {
        name: "ack-namespace",
        document: Error,
        peers: Error,
        clause: "Announce Envelope: announce_ack names the namespace",
        why: "An announce_ack names a namespace that this connection did not announce. The provider that waits for its \
              own goes on waiting.",
        needs: &[Need::BothWays],
        example: example!("saikuro", "ack-namespace"),
        ..Rule::PLAIN
    },
    // Who answers whom.
    Rule {
        name: "id-reused",
        document: Error,
        peers: Error,
        clause: "Invocation Envelope: id is globally unique",
        why: "An id is used again while what it stands for is open. Answers cannot be told apart, and most peers \
              forget the first one. What follows on an open channel has its id by design.",
        needs: &[Need::Order],
        example: example!("saikuro", "id-reused"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unknown-id",
        document: Error,
        peers: Error,
        clause: "Response Envelope: id is that of the invocation",
        why: "An answer or a frame of a stream or channel has an id that the other side never asked with, on this \
              connection. Nobody waits for it; and whoever it was meant for waits in vain.",
        needs: &[Need::BothWays],
        example: example!("saikuro", "unknown-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "answer-id-form",
        document: Error,
        peers: Error,
        clause: "Response Envelope: id is that of the invocation; real peers: the Python client compares ids as written",
        why: "The request has a text id, its answer the same id in binary form, or the other way round. The Python client \
              looks up the id as it is written and never finds its call: each call times out. The TypeScript client drops \
              answers with a text id. A runtime always answers in binary form. Send binary ids to a runtime; a provider \
              copies the id as it came. The C# and Rust clients accept both forms.",
        example: example!("saikuro", "answer-id-form"),
        ..Rule::PLAIN
    },
    Rule {
        name: "random-id",
        document: Error,
        peers: Warning,
        clause: "Response Envelope: id; real peers: what cannot be read is refused under a new id",
        why: "A runtime that cannot read a message does not know its id either, and refuses it with MalformedEnvelope \
              (or MessageTooLarge) under an id that it makes up. The sender cannot tell what was refused and waits 30 \
              s. What is laid to it here is the oldest message that a runtime may not have understood.",
        implies: &["peers-error-code"],
        needs: &[Need::BothWays],
        example: example!("saikuro", "random-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "second-answer",
        document: Error,
        peers: Error,
        clause: "Message Ordering Guarantees: one response per call",
        why: "Something is answered that was answered before. The first answer counts, and what the second says is \
              lost.",
        example: example!("saikuro", "second-answer"),
        ..Rule::PLAIN
    },
    Rule {
        name: "cast-answered",
        document: Error,
        peers: Info,
        clause: "Example: Cast: no response is sent; real peers: a runtime acknowledges",
        why: "A cast is not answered, by the document. A runtime answers it all the same, with ok and nothing else, \
              which nobody waits for; a peer that was written by the document may take it for an error.",
        harmless: true,
        example: example!("saikuro", "cast-answered"),
        ..Rule::PLAIN
    },
    Rule {
        name: "cast-refused",
        document: Error,
        peers: Warning,
        clause: "Example: Cast; real peers: a runtime says why a cast failed",
        why: "The cast did not reach anyone. A runtime says so, but who casts does not listen, so that the cast is \
              lost silently.",
        example: example!("saikuro", "cast-refused"),
        ..Rule::PLAIN
    },
    Rule {
        name: "log-answered",
        document: Off,
        peers: Info,
        clause: "real peers: a runtime acknowledges log records",
        why: "A log record costs its sender an answer that nobody waits for.",
        implies: &["peers-type"],
        example: example!("saikuro", "log-answered"),
        ..Rule::PLAIN
    },
    Rule {
        name: "out-of-order",
        document: Off,
        peers: Info,
        clause: "real peers: a runtime answers in turn",
        why: "A runtime takes one message at a time from each connection, so that its answers come in the order of the \
              questions. Where they do not, the other side is no runtime but a provider, or something between the two \
              reorders.",
        needs: &[Need::Order],
        example: example!("saikuro", "out-of-order"),
        ..Rule::PLAIN
    },
    Rule {
        name: "late-answer",
        document: Off,
        peers: Warning,
        clause: "real peers: a runtime waits 30 s",
        why: "The answer came after more than 30 s. A runtime has told the caller Timeout by then, and the answer \
              reaches nobody. Make the work shorter, or answer at once and let the caller ask for the result later.",
        needs: &[Need::Times],
        example: example!("saikuro", "late-answer"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unanswered",
        document: Error,
        peers: Error,
        clause: "Message Ordering Guarantees: one response per call",
        why: "A call was never answered while its connection lasted. A caller waits until its own limit; a runtime \
              tells it Timeout after 30 s, also where the provider died on the spot.",
        needs: &[Need::BothWays],
        unanswered: true,
        example: example!("saikuro", "unanswered"),
        ..Rule::PLAIN
    },
    // What an answer says.
    Rule {
        name: "ok-with-error",
        document: Error,
        peers: Error,
        clause: "Response Envelope: error if ok is false",
        why: "The answer says that it worked, and brings an error. Who looks at ok first never sees the error, who \
              looks for the error first takes a success for a failure.",
        example: example!("saikuro", "ok-with-error"),
        ..Rule::PLAIN
    },
    Rule {
        name: "error-missing",
        document: Error,
        peers: Error,
        clause: "Response Envelope: error is required if ok is false",
        why: "The answer says that it failed, and not why, so that its caller has no code to go by. Only the abort \
              behind the error of a stream has none.",
        example: example!("saikuro", "error-missing"),
        ..Rule::PLAIN
    },
    Rule {
        name: "result-missing",
        document: Warning,
        peers: Off,
        clause: "Response Envelope: result is required if ok is true",
        why: "By the document a function that returns nothing has the result null. Real peers leave the field out, as \
              a runtime does when it hands such an answer on; a peer that tells the two apart fails.",
        harmless: true,
        example: example!("saikuro", "result-missing"),
        ..Rule::PLAIN
    },
    Rule {
        name: "bad-error",
        document: Error,
        peers: Error,
        clause: "Error Envelope: code, message, details",
        why: "An error has a code and a message, both text, and details that are a map where there are any. A runtime \
              cannot decode anything else and drops the answer, so that the caller waits 30 s.",
        example: example!("saikuro", "bad-error"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unknown-error-code",
        document: Error,
        peers: Error,
        clause: "Error Codes",
        why: "The error code is neither one of the eight of the document nor one of the twenty of real peers. A \
              runtime cannot decode the answer of a provider that has it and drops it, so that the caller waits 30 s.",
        example: example!("saikuro", "unknown-error-code"),
        ..Rule::PLAIN
    },
    Rule {
        name: "document-error-code",
        document: Off,
        peers: Error,
        clause: "real peers: twenty error codes",
        why: "The code stands in the document, but no real peer has it: a runtime cannot decode the answer and drops \
              it, so that the caller waits 30 s. FunctionNotFound, InvalidArguments or NoProvider say the same.",
        example: example!("saikuro", "document-error-code"),
        ..Rule::PLAIN
    },
    Rule {
        name: "peers-error-code",
        document: Info,
        peers: Off,
        clause: "Error Codes: eight of them",
        why: "The code is one of real peers that the document does not have. A peer that was written by the document \
              has no name for it. Said once for each side of a connection.",
        example: example!("saikuro", "peers-error-code"),
        ..Rule::PLAIN
    },
    Rule {
        name: "mixed-error-codes",
        document: Warning,
        peers: Warning,
        clause: "Error Codes; real peers: twenty others",
        why: "One side uses codes that only the document has next to codes that only real peers have, so that no \
              reader knows them all.",
        implies: &["document-error-code", "peers-error-code"],
        example: example!("saikuro", "mixed-error-codes"),
        ..Rule::PLAIN
    },
    // Streams and channels.
    Rule {
        name: "seq-start",
        document: Error,
        peers: Error,
        clause: "Stream Frames: seq starts at 0",
        why: "The first frame of a direction does not have the number 0. Either the first ones are lost, or the sender \
              counts from 1; a reader that puts frames in order waits for a frame that never comes.",
        example: example!("saikuro", "seq-start"),
        ..Rule::PLAIN
    },
    Rule {
        name: "seq-gap",
        document: Error,
        peers: Error,
        clause: "Stream Frames: seq is monotonically increasing; real peers: by one",
        why: "A number is left out: frames were lost, or the sender counts what it does not send. A reader that puts \
              frames in order waits for the missing one. The frame that ends a stream has a number of its own.",
        example: example!("saikuro", "seq-gap"),
        ..Rule::PLAIN
    },
    Rule {
        name: "seq-repeated",
        document: Error,
        peers: Error,
        clause: "Stream Frames: seq is monotonically increasing",
        why: "A number comes again. Either a frame was sent twice, or frames overtook each other, or two senders share \
              one stream.",
        example: example!("saikuro", "seq-repeated"),
        ..Rule::PLAIN
    },
    Rule {
        name: "after-end",
        document: Error,
        peers: Error,
        clause: "Stream Frames: no more frames follow",
        why: "A frame follows the end of a stream, or the error that ended it. Its reader is gone. Only the abort may \
              stand behind an error, and only once.",
        example: example!("saikuro", "after-end"),
        ..Rule::PLAIN
    },
    Rule {
        name: "item-from-opener",
        document: Warning,
        peers: Warning,
        clause: "Stream Frames: the provider sends",
        why: "The side that opened a stream sends frames on it. Streams go one way; nobody reads these. A channel goes \
              both ways.",
        example: example!("saikuro", "item-from-opener"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stream-answered",
        document: Error,
        peers: Warning,
        clause: "Stream Frames; real peers: a runtime acknowledges streams and channels",
        why: "A stream or channel is answered by a response without seq. From a runtime it says that it was opened, \
              but none of its items is ever handed on, and adapters take it for an item. From a provider it says that \
              the function is a plain one. Streams work where caller and provider are joined directly.",
        example: example!("saikuro", "stream-answered"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stream-unfinished",
        document: Warning,
        peers: Warning,
        clause: "Stream Frames: end",
        why: "The connection went before the stream was ended, so that its reader cannot tell whether it has all of \
              it.",
        needs: &[Need::BothWays],
        unanswered: true,
        example: example!("saikuro", "stream-unfinished"),
        ..Rule::PLAIN
    },
    Rule {
        name: "stream-not-aborted",
        document: Off,
        peers: Warning,
        clause: "real peers: a failed stream ends by two frames, the error and an abort",
        why: "Behind the error of a stream every adapter sends a frame with stream_control abort, which takes the next \
              seq. A client that ends its iteration there waits for more. Send both, also where the handler fails \
              after its first items.",
        needs: &[Need::Order],
        example: example!("saikuro", "stream-not-aborted"),
        ..Rule::PLAIN
    },
    Rule {
        name: "after-own-close",
        document: Error,
        peers: Error,
        clause: "Channel Close",
        why: "A side sends on a channel that it closed itself. The other side saw the end of what it reads, so that \
              this is lost.",
        example: example!("saikuro", "after-own-close"),
        ..Rule::PLAIN
    },
    Rule {
        name: "channel-not-closed",
        document: Error,
        peers: Warning,
        clause: "Channel Close: both sides must send a close frame",
        why: "A channel lives until both sides closed it. While one did not, both keep it in memory, and a reader on \
              the other side waits for frames. Channels of which real frames were seen are let be, since most adapters \
              have no way to close one.",
        needs: &[Need::BothWays],
        unanswered: true,
        example: example!("saikuro", "channel-not-closed"),
        ..Rule::PLAIN
    },
    Rule {
        name: "channel-item-refused",
        document: Error,
        peers: Warning,
        clause: "Channel Frames; real peers: items of channels are checked like calls",
        why: "What followed on an open channel was answered by an error. A runtime takes it for a call, and its empty \
              target for a bad one; Python providers know no channels. The item is lost.",
        example: example!("saikuro", "channel-item-refused"),
        ..Rule::PLAIN
    },
];
