//! What telequick conversations are held to.
//!
//! ```text
//!   frame | envelope | fields        one message: most of it is a fault already, and a row only names the code
//!   audio | requests | calls | events    several messages: the session looks
//! ```

// Long: one row a rule, in the order in which a conversation comes to them.

use crate::protocol::session::Severity::{Error, Info, Off, Warning};
use crate::protocol::session::{Need, Rule, example};

/// Every rule, in the order in which a conversation comes to them.
pub(super) static RULES: &[Rule] = &[
    // Frames: length, method id, and what is behind them.
    Rule {
        name: "cut-short",
        document: Error,
        peers: Error,
        clause: "Reading a frame",
        why: "The stream ends inside a frame, so its reader waits for bytes that never come and drops what it has. \
              Either the connection was cut, or length says more than was written: an inclusive length read as an \
              exclusive one is 4 bytes too much.",
        faults: &["truncated"],
        example: example!("telequick", "cut-short"),
        ..Rule::PLAIN
    },
    Rule {
        name: "frame-length",
        document: Error,
        peers: Error,
        clause: "Frame layout",
        why: "No frame can have this length: method id and envelope header alone take 10 bytes, and payload_size says \
              how many follow. A reader that believes it cuts the stream in the wrong places from here on. Count \
              method id and body, or those and the length itself where the peer wants it so.",
        faults: &["bad-length"],
        example: example!("telequick", "frame-length"),
        ..Rule::PLAIN
    },
    Rule {
        name: "frame-limit",
        document: Error,
        peers: Error,
        clause: "wiretool's own bound (--max-message)",
        why: "The length is beyond anything that is sent in one frame; mostly it is garbage, a number in the wrong byte \
              order, or text where a frame should begin. Whoever allocates that much on the word of a peer can be \
              brought down by four bytes.",
        faults: &["over-limit"],
        example: example!("telequick", "frame-limit"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unframed-answer",
        document: Error,
        peers: Error,
        clause: "Frame layout; real peers: an answer on the stream of its request is an envelope alone",
        why: "Framed answers came before on this stream, and this one is an envelope without length and method id, as \
              servers write it on the QUIC stream of its request. A reader of frames takes its first bytes for a \
              length and waits for, or passes over, all that follows.",
        needs: &[Need::BothWays],
        example: example!("telequick", "unframed-answer"),
        ..Rule::PLAIN
    },
    Rule {
        name: "peer-limit",
        document: Off,
        peers: Error,
        clause: "real peers: the Java, Go and Rust clients read frames of at most 1 MiB",
        why: "The document sets no limit, but clients do: the Java client fails, and the Go and Rust clients go on \
              reading in the middle of the frame and lose the stream. Send less in one frame. The limit is \
              the schema's, `limit frame`.",
        example: example!("telequick", "peer-limit"),
        ..Rule::PLAIN
    },
    Rule {
        name: "envelope-overrun",
        document: Error,
        peers: Error,
        clause: "Serde envelope: payload_size",
        why: "An envelope claims more bytes than its frame, or the envelope around it, has. The C++ reader moves its \
              pointer out of the buffer and reads on there. payload_size counts the fields alone.",
        faults: &["envelope-overrun"],
        example: example!("telequick", "envelope-overrun"),
        ..Rule::PLAIN
    },
    Rule {
        name: "trailing-bytes",
        document: Warning,
        peers: Warning,
        clause: "Frame layout: body",
        why: "The body of a frame is one envelope, and this frame has bytes after it that nobody will read. Either \
              payload_size is too small and fields are lost with it, or length is too big.",
        example: example!("telequick", "trailing-bytes"),
        ..Rule::PLAIN
    },
    Rule {
        name: "inclusive-length",
        document: Info,
        peers: Info,
        clause: "Frame layout: length",
        why: "The length counts its own four bytes. The document says that it does not, yet every SDK writes its \
              requests so. A reader that goes by the document waits for 4 bytes that belong to the next frame, or \
              forever. Told once for each direction of a connection.",
        example: example!("telequick", "inclusive-length"),
        ..Rule::PLAIN
    },
    Rule {
        name: "flavour-change",
        document: Error,
        peers: Error,
        clause: "Frame layout: length",
        why: "Some lengths of frames of one sort count their own four bytes and others do not, so that no reader with \
              one rule can follow them: it loses the stream at the change. That requests and answers count so and audio \
              and events otherwise is what the SDKs do, and no change. Told once for each sort and direction of a \
              connection.",
        example: example!("telequick", "flavour-change"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unknown-method",
        document: Warning,
        peers: Warning,
        clause: "Frame layout: method_id",
        why: "No method of the schema has this id, so the fields cannot be told apart. Where the method is new, give its \
              definition with a schema; the administration calls have ids of their own, too. Told once for each id and \
              direction.",
        example: example!("telequick", "unknown-method"),
        ..Rule::PLAIN
    },
    Rule {
        name: "misspelt-id",
        document: Warning,
        peers: Error,
        clause: "Worked example: BargeRequest; Frame layout: method_id, little-endian",
        why: "No method has this id, but one has nearly the same: with its bytes in the other order, with a byte \
              changed, or as the document's worked example misprints it. A server does not know the method and answers \
              nothing. Copy ids as numbers, and write them little-endian.",
        example: example!("telequick", "misspelt-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "legacy-id",
        document: Info,
        peers: Info,
        clause: "real peers: the Python reader takes 9999 for audio and 10000 for events",
        why: "Ids from before methods had hashed ones. Only the Python reader still knows them; every other one skips \
              the frame. Told once for each id and direction.",
        example: example!("telequick", "legacy-id"),
        ..Rule::PLAIN
    },
    Rule {
        name: "disputed-id",
        document: Info,
        peers: Info,
        clause: "real peers: TypeScript has another id for SuperviseSubscribe, the documents one for ExecuteDialplan",
        why: "The method has two ids, depending on whom one asks, and a server may know only the other. If the request \
              stays unanswered, this is a likely reason. Told once for each id and direction.",
        example: example!("telequick", "disputed-id"),
        ..Rule::PLAIN
    },
    // Envelopes: versions, and whether the fields fill them.
    Rule {
        name: "negative-size",
        document: Error,
        peers: Error,
        clause: "Serde envelope: payload_size",
        why: "payload_size is signed, but cannot be below zero. The C++ reader does not look and reads the fields all \
              the same; one that adds the number to a pointer reads before the envelope.",
        faults: &["negative-size"],
        example: example!("telequick", "negative-size"),
        ..Rule::PLAIN
    },
    Rule {
        name: "compat-above-version",
        document: Error,
        peers: Error,
        clause: "Serde envelope: compat_version",
        why: "compat_version is the oldest version that the writer can be read as, so it cannot be above the writer's \
              own. Redpanda's readers refuse such an envelope; often the two bytes were swapped.",
        example: example!("telequick", "compat-above-version"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unreadable-version",
        document: Error,
        peers: Error,
        clause: "Serde envelope: compat_version",
        why: "The writer says that readers of the version that the schema describes cannot read this, so its fields may \
              mean something else. A gateway refuses it. Bring the schema up to date, or lower compat_version where \
              the change was compatible after all.",
        faults: &["unreadable-version"],
        example: example!("telequick", "unreadable-version"),
        ..Rule::PLAIN
    },
    Rule {
        name: "newer-version",
        document: Info,
        peers: Info,
        clause: "Serde envelope: a tail of newer fields",
        why: "A newer writer sent fields that the schema does not describe; readers skip them. That is how the format \
              is meant to grow, but what the fields say is lost here.",
        example: example!("telequick", "newer-version"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unexpected-tail",
        document: Warning,
        peers: Warning,
        clause: "Serde envelope: a tail of newer fields",
        why: "There are bytes after the last field, although the version is one that the schema describes. Either fields \
              were added without raising the version, or the writer's fields differ from the reader's.",
        example: example!("telequick", "unexpected-tail"),
        ..Rule::PLAIN
    },
    Rule {
        name: "older-version",
        document: Info,
        peers: Info,
        clause: "Serde envelope: version",
        why: "An older writer leaves out fields that came later; a reader fills in zeros and empty text. The C++ reader \
              does not: it throws at the end of the buffer, so keep its clients as new as the servers are.",
        example: example!("telequick", "older-version"),
        ..Rule::PLAIN
    },
    Rule {
        name: "field-overrun",
        document: Error,
        peers: Error,
        clause: "Serde envelope: payload_size; Field encoding",
        why: "The envelope ends inside a field. The C++ reader does not keep to envelopes and takes the rest of the \
              field from whatever follows; others fail. payload_size is too small, or the fields are others.",
        faults: &["field-overrun"],
        example: example!("telequick", "field-overrun"),
        ..Rule::PLAIN
    },
    Rule {
        name: "missing-fields",
        document: Warning,
        peers: Error,
        clause: "Field encoding: each field, in declaration order",
        why: "The envelope ends before fields that its version has. The C++ reader throws at the end of the buffer, or \
              reads the missing fields from the bytes behind the envelope. Write every field, or the version that did \
              not have them.",
        example: example!("telequick", "missing-fields"),
        ..Rule::PLAIN
    },
    // Fields: what a single value may be.
    Rule {
        name: "string-length",
        document: Error,
        peers: Error,
        clause: "Field encoding: string",
        why: "A string's length is below zero, or more than its envelope has left. The C++ reader throws; a reader that \
              casts it to a size first asks for gigabytes. What stands behind the string cannot be read.",
        faults: &["string-length"],
        example: example!("telequick", "string-length"),
        ..Rule::PLAIN
    },
    Rule {
        name: "invalid-text",
        document: Error,
        peers: Warning,
        clause: "Field encoding: string",
        why: "Strings are UTF-8; only the audio payload is bytes. The C++ code passes anything on, and the readers in \
              other languages fail on it or replace what they cannot read.",
        example: example!("telequick", "invalid-text"),
        ..Rule::PLAIN
    },
    Rule {
        name: "nul-in-string",
        document: Off,
        peers: Warning,
        clause: "real peers: the C interface takes strings that end with NUL",
        why: "A NUL is legal UTF-8, but Python, Go, Rust and Java write through an interface that ends text at the first \
              one, so that a call named so cannot be named by them. Mostly it is padding that should not be there.",
        example: example!("telequick", "nul-in-string"),
        ..Rule::PLAIN
    },
    Rule {
        name: "vector-count",
        document: Error,
        peers: Error,
        clause: "Field encoding: vector<T>",
        why: "A vector's count is below zero, or more than the bytes that are left could hold. A reader that makes room \
              for it first can be brought down by one frame. The count is of elements, not of bytes.",
        faults: &["vector-count"],
        example: example!("telequick", "vector-count"),
        ..Rule::PLAIN
    },
    Rule {
        name: "too-deep",
        document: Error,
        peers: Error,
        clause: "Field encoding: nested struct",
        why: "Envelopes inside envelopes, deeper than any schema has them: a recursive reader runs out of stack. No \
              peer writes this; it is damage or an attack.",
        faults: &["too-deep"],
        example: example!("telequick", "too-deep"),
        ..Rule::PLAIN
    },
    Rule {
        name: "odd-bool",
        document: Error,
        peers: Warning,
        clause: "Field encoding: bool",
        why: "A bool is 0 or 1. The C++ reader copies the byte into a bool, which for any other value is undefined: it \
              may be true and false at once. Often the fields are not where the reader takes them to be.",
        example: example!("telequick", "odd-bool"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unknown-enum",
        document: Warning,
        peers: Warning,
        clause: "Field encoding: enum; documentation of types",
        why: "The enum has no such value. Peers store the number as it is and then do nothing, or the wrong thing, for \
              it. Where the value is new, the schema should name it.",
        example: example!("telequick", "unknown-enum"),
        ..Rule::PLAIN
    },
    Rule {
        name: "gateway-verb",
        document: Warning,
        peers: Warning,
        clause: "real peers: SUPERVISE is the gateway's own action",
        why: "A client asks for SUPERVISE (13), which the gateway uses inside and no SDK offers. To listen in to a call \
              there is SuperviseSubscribe.",
        example: example!("telequick", "gateway-verb"),
        ..Rule::PLAIN
    },
    Rule {
        name: "not-finite",
        document: Warning,
        peers: Warning,
        clause: "Field encoding: double",
        why: "NaN or infinity where a measure is expected, mostly from a division by zero packets. Sums and averages \
              that it goes into are lost. 0 says that there is no measure.",
        example: example!("telequick", "not-finite"),
        ..Rule::PLAIN
    },
    Rule {
        name: "jitter-range",
        document: Warning,
        peers: Warning,
        clause: "documentation of call events: jitter_ms",
        why: "Jitter is a length of time and cannot be below zero; the sender's clock arithmetic is wrong.",
        example: example!("telequick", "jitter-range"),
        ..Rule::PLAIN
    },
    Rule {
        name: "mos-range",
        document: Warning,
        peers: Warning,
        clause: "documentation of call events: estimated_mos; ITU-T P.800",
        why: "A mean opinion score goes from 1, bad, to 5, excellent; 0 stands for none. Other numbers are on another \
              scale, such as the R factor of 0 to 100, and mislead whoever raises alarms by them.",
        example: example!("telequick", "mos-range"),
        ..Rule::PLAIN
    },
    // Audio: the frames of one call, one way on one connection.
    Rule {
        name: "seq-gap",
        document: Warning,
        peers: Warning,
        clause: "documentation of audio frames: sequence_number",
        why: "Numbers were passed over, so sound is missing: the sender dropped frames, or took numbers for frames that \
              it did not send. The listener hears a gap for every 20 ms.",
        example: example!("telequick", "seq-gap"),
        ..Rule::PLAIN
    },
    Rule {
        name: "seq-back",
        document: Error,
        peers: Error,
        clause: "documentation of audio frames: sequence_number",
        why: "A number comes again, or goes back, where each must be above the one before. A receiver takes the frame \
              for a late copy and drops it. The sender does not count, counts all calls together, or began anew.",
        example: example!("telequick", "seq-back"),
        ..Rule::PLAIN
    },
    Rule {
        name: "audio-after-end",
        document: Error,
        peers: Error,
        clause: "documentation of audio frames: end_of_stream",
        why: "After end_of_stream no more audio is taken for the call in this direction: the frame is dropped and never \
              heard. Set the flag on the last frame only.",
        example: example!("telequick", "audio-after-end"),
        ..Rule::PLAIN
    },
    Rule {
        name: "no-end-of-stream",
        document: Warning,
        peers: Warning,
        clause: "documentation of audio frames: end_of_stream",
        why: "The connection ended in order without an end_of_stream for this call, so the other side cannot tell the end \
              of the speech from a loss, and waits for its timeout. Send a last frame with the flag, with or without \
              sound.",
        needs: &[Need::Ends],
        example: example!("telequick", "no-end-of-stream"),
        ..Rule::PLAIN
    },
    Rule {
        name: "audio-size",
        document: Warning,
        peers: Warning,
        clause: "documentation of audio frames: payload, 20 ms",
        why: "20 ms of PCMU or PCMA are 160 bytes. Fewer: the C interface ends the payload at its first zero byte. More: \
              the WASM build writes each byte above 127 as two. Both are heard as noise. The last frame may be short. \
              Told once for each call and direction.",
        example: example!("telequick", "audio-size"),
        ..Rule::PLAIN
    },
    Rule {
        name: "audio-empty",
        document: Warning,
        peers: Warning,
        clause: "documentation of audio frames: payload",
        why: "A frame without sound that is not the last. The C interface ends the payload at its first zero byte, and \
              where that is the first of all, nothing is left. Told once for each call and direction.",
        example: example!("telequick", "audio-empty"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unknown-codec",
        document: Warning,
        peers: Warning,
        clause: "documentation of audio frames: codec",
        why: "The codecs are PCMU, PCMA and PCM16, spelled so. What else is named cannot be played. Told once for each \
              call and direction.",
        example: example!("telequick", "unknown-codec"),
        ..Rule::PLAIN
    },
    Rule {
        name: "codec-change",
        document: Warning,
        peers: Warning,
        clause: "documentation of audio frames: codec",
        why: "The codec changes in the middle of a call. Receivers choose their decoder by the first frame and play the \
              rest as noise.",
        example: example!("telequick", "codec-change"),
        ..Rule::PLAIN
    },
    // Requests and answers: nothing but method and order ties them.
    Rule {
        name: "no-subscription",
        document: Info,
        peers: Info,
        clause: "real peers: EventStreamRequest is sent right after connecting",
        why: "The first request on a connection is not EventStreamRequest, as it is with every SDK. Events of calls that \
              are made before the subscription may be lost.",
        example: example!("telequick", "no-subscription"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unasked",
        document: Warning,
        peers: Warning,
        clause: "Frame layout: method_id; no field ties an answer to its request",
        why: "An answer for which no request of its method is open on the connection: it comes twice, carries the wrong \
              method id, or came on the wrong connection. A client that pairs by order gives it to the next request, \
              and every one after it to the wrong one.",
        needs: &[Need::BothWays],
        example: example!("telequick", "unasked"),
        ..Rule::PLAIN
    },
    Rule {
        name: "unanswered",
        document: Warning,
        peers: Warning,
        clause: "Frame layout: method_id; no field ties an answer to its request",
        why: "A request stayed without an answer although a later one of the same connection got its own. The server does \
              not know the method, or dropped the request; a client that pairs by order is out of step from then on.",
        needs: &[Need::BothWays],
        unanswered: true,
        example: example!("telequick", "unanswered"),
        ..Rule::PLAIN
    },
    Rule {
        name: "error-without-message",
        document: Warning,
        peers: Warning,
        clause: "documentation of types: error_code, error_message",
        why: "The answer is an error and does not say which: error_message is empty. Whoever has to find the reason has \
              nothing but the code.",
        example: example!("telequick", "error-without-message"),
        ..Rule::PLAIN
    },
    Rule {
        name: "message-without-error",
        document: Warning,
        peers: Warning,
        clause: "documentation of types: error_code, error_message",
        why: "The answer has an error_message, but its code is SUCCESS. Clients look at the code and take it for done; \
              set the code, or put what is no error into status.",
        example: example!("telequick", "message-without-error"),
        ..Rule::PLAIN
    },
    Rule {
        name: "dial-action",
        document: Warning,
        peers: Warning,
        clause: "documentation of types: DialplanAction",
        why: "A call cannot begin with this: TRANSFER, MUTE, HOLD and the like are for calls that are already answered. \
              To begin with there are 0 to 6, HANGUP to AI_BIDIRECTIONAL_STREAM, and 14, LOOPBACK.",
        example: example!("telequick", "dial-action"),
        ..Rule::PLAIN
    },
    Rule {
        name: "dtmf-args",
        document: Warning,
        peers: Warning,
        clause: "real peers: the SDKs write digit:mode:milliseconds",
        why: "SEND_DTMF takes a digit (0-9, A-D, *, #), how it is sent (rfc2833, info or inband) and how many \
              milliseconds, with colons between: `5:rfc2833:200`. A gateway sends no tone for anything else.",
        example: example!("telequick", "dtmf-args"),
        ..Rule::PLAIN
    },
    // Calls: made, answered, over; whichever connection names them.
    Rule {
        name: "unknown-call",
        document: Info,
        peers: Info,
        clause: "documentation of types: call_sid",
        why: "Nothing in the conversation made this call. If no other client made it either, the request comes to \
              nothing: the call_sid is misspelt, or stale. Told once for each call.",
        needs: &[Need::Order],
        example: example!("telequick", "unknown-call"),
        ..Rule::PLAIN
    },
    Rule {
        name: "call-too-early",
        document: Warning,
        peers: Warning,
        clause: "documentation of types: call_sid",
        why: "The call was asked for, but neither OriginateResponse nor CHANNEL_CREATE says that it was made. The gateway \
              may not know it yet and answer with an error. Wait for one of the two. Told once for each call.",
        needs: &[Need::Order],
        example: example!("telequick", "call-too-early"),
        ..Rule::PLAIN
    },
    Rule {
        name: "call-over",
        document: Warning,
        peers: Warning,
        clause: "documentation of call events: CHANNEL_HANGUP_COMPLETE",
        why: "The request is about a call that was hung up, or that could not be made. The gateway has forgotten it and \
              answers with an error. Where the hang-up only just went by, the two have crossed, and it is harmless.",
        needs: &[Need::Order],
        example: example!("telequick", "call-over"),
        ..Rule::PLAIN
    },
    Rule {
        name: "verb-too-early",
        document: Warning,
        peers: Warning,
        clause: "documentation of types: DialplanAction",
        why: "TRANSFER, MUTE, UNMUTE, HOLD, UNHOLD and SEND_DTMF need an active call, and this one was created but not \
              answered yet. Wait for CHANNEL_ANSWER.",
        needs: &[Need::Order],
        example: example!("telequick", "verb-too-early"),
        ..Rule::PLAIN
    },
    // Events: what happened to one call, as one connection was told.
    Rule {
        name: "unknown-event",
        document: Warning,
        peers: Warning,
        clause: "documentation of call events: event_type",
        why: "event_type 0 is what a struct holds before anything is set; no event has it. The sender forgot to set it.",
        example: example!("telequick", "unknown-event"),
        ..Rule::PLAIN
    },
    Rule {
        name: "event-order",
        document: Error,
        peers: Warning,
        clause: "documentation of call events: event_type",
        why: "A call is created once, answered at most once after that, and hung up last. A client that follows these \
              events as states ends up in the wrong one: two gateways tell of the same call, or events were reordered.",
        example: example!("telequick", "event-order"),
        ..Rule::PLAIN
    },
    Rule {
        name: "event-after-hangup",
        document: Error,
        peers: Warning,
        clause: "documentation of call events: CHANNEL_HANGUP_COMPLETE",
        why: "CHANNEL_HANGUP_COMPLETE is the last event of a call, and clients forget it then. Events after it are lost, \
              or bring a dead call back to life; where the call_sid was used again, take a new one.",
        example: example!("telequick", "event-after-hangup"),
        ..Rule::PLAIN
    },
    Rule {
        name: "hold-order",
        document: Warning,
        peers: Warning,
        clause: "documentation of call events: CHANNEL_HOLD, CHANNEL_RESUME",
        why: "Hold and resume take turns: a call that is on hold cannot be put on hold, nor one resumed that is not. An \
              event is missing, or was sent twice.",
        example: example!("telequick", "hold-order"),
        ..Rule::PLAIN
    },
    Rule {
        name: "time-order",
        document: Warning,
        peers: Warning,
        clause: "documentation of call events: timestamps",
        why: "A call starts, is answered and ends, in this order; 0 stands for not yet. Otherwise durations come out \
              negative: clocks differ, or seconds and milliseconds are mixed.",
        example: example!("telequick", "time-order"),
        ..Rule::PLAIN
    },
    Rule {
        name: "early-statistics",
        document: Warning,
        peers: Info,
        clause: "documentation of call events: q850_cause and statistics",
        why: "The cause of the hang-up and the statistics belong to CHANNEL_HANGUP_COMPLETE; in earlier events they are \
              0. Clients that add them up count twice.",
        example: example!("telequick", "early-statistics"),
        ..Rule::PLAIN
    },
    Rule {
        name: "wrong-client",
        document: Warning,
        peers: Warning,
        clause: "documentation of call events: client_id",
        why: "The event is for another client than the one that subscribed, so it tells of calls that are none of its \
              business, and the right client misses it. Told once for each connection.",
        example: example!("telequick", "wrong-client"),
        ..Rule::PLAIN
    },
];
