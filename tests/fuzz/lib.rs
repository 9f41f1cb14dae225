//! Laws that hold for any input. The targets of libFuzzer and the runner share them.

mod capture;
#[path = "../laws/common.rs"]
#[allow(dead_code, reason = "shared with the laws, which use all of it")]
mod common;
mod description;
mod encodings;
mod packets;
#[path = "../laws/references.rs"]
mod references;
mod secret;
mod session;
mod shape;
mod stream;
mod words;

use wiretool::capture::Form;

/// The inputs from which mutation begins.
#[derive(Clone, Copy, Debug)]
pub enum Seeds {
    /// The decoded bytes of the fixtures of a protocol.
    Stream(&'static str),
    /// The bodies of all messages in one encoding.
    Bodies(Encoding),
    /// Files whose path ends with one of these texts, or contains one that begins with `/`.
    Files(&'static [&'static str]),
    /// Recordings, which mutation treats line by line.
    Recordings,
    /// These texts.
    Texts(&'static [&'static str]),
}

/// An encoding of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Json,
    Binary,
}

/// One kind of input with its laws.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub name: &'static str,
    pub seeds: Seeds,
    /// The bytes that follow each seed; they select options.
    pub suffix: &'static [u8],
    /// Panics if a law is broken. Returns a number for the shape of the result, 0 for none: inputs with a new shape are
    /// worth more mutation.
    pub check: fn(&[u8]) -> u64,
}

/// Declares the target of a protocol.
macro_rules! streams {
    ($($name:literal)*) => {
        [$(Target {
            name: $name,
            seeds: Seeds::Stream($name),
            suffix: &[15, 0, 64],
            check: |data| stream::check($name, data),
        }),*]
    };
}

/// Protocols of code.
const STREAMS: [Target; 9] = streams!(
    "acp" "jsonrpc" "lsp" "mcp" "oracle" "saikuro" "sael" "stepflow" "telequick"
);

const CAPTURES: &[&str] = &["/captures/", "/inputs/"];

/// All other inputs.
const OTHERS: &[Target] = &[
    target(
        "described",
        Seeds::Files(&["/cdp/", "/dap/", "/i3/", "/nvim/"]),
        &[0, 0, 64],
        stream::check_described,
    ),
    target(
        "input",
        Seeds::Files(CAPTURES),
        &[0, 0, 64],
        stream::check_input,
    ),
    target(
        "capture",
        Seeds::Files(CAPTURES),
        &[0, 0, 64],
        capture::check_any,
    ),
    target(
        "text",
        Seeds::Files(&["/inputs/"]),
        &[0, 7],
        capture::check_text,
    ),
    target("har", Seeds::Files(&[".har"]), &[0, 64], |data| {
        capture::check(Form::Har, data)
    }),
    target("strace", Seeds::Files(&[".strace.txt"]), &[0, 64], |data| {
        capture::check(Form::Strace, data)
    }),
    target("pcap", Seeds::Files(&[".pcap"]), &[0, 64], |data| {
        packets::check(packets::PCAP, data)
    }),
    target("pcapng", Seeds::Files(&[".pcapng"]), &[0, 64], |data| {
        packets::check(packets::PCAPNG, data)
    }),
    target("record", Seeds::Recordings, &[], session::check_record),
    target("session", Seeds::Recordings, &[0, 64], session::check),
    target(
        "json",
        Seeds::Bodies(Encoding::Json),
        &[],
        encodings::check_json,
    ),
    target(
        "msgpack",
        Seeds::Bodies(Encoding::Binary),
        &[],
        encodings::check_msgpack,
    ),
    target(
        "cbor",
        Seeds::Bodies(Encoding::Binary),
        &[],
        encodings::check_cbor,
    ),
    target(
        "websocket",
        Seeds::Stream("sael"),
        &[],
        encodings::check_websocket,
    ),
    target(
        "condition",
        Seeds::Texts(words::CONDITIONS),
        &[],
        words::check_condition,
    ),
    target("path", Seeds::Texts(words::PATHS), &[], words::check_path),
    target("cairo", Seeds::Texts(words::CAIRO), &[], words::check_cairo),
    target(
        "sael_text",
        Seeds::Texts(words::SAEL),
        &[],
        words::check_sael,
    ),
    target(
        "schema",
        Seeds::Files(&["schema.json", ".tq"]),
        &[],
        description::check_schema,
    ),
    target(
        "description",
        Seeds::Files(&[
            "/described/cdp.toml",
            "/described/dap.toml",
            "/described/i3.toml",
            "/described/nvim.toml",
        ]),
        &[],
        description::check,
    ),
    target(
        "secret",
        Seeds::Bodies(Encoding::Json),
        &[0, 0, 64],
        secret::check,
    ),
];

const fn target(
    name: &'static str,
    seeds: Seeds,
    suffix: &'static [u8],
    check: fn(&[u8]) -> u64,
) -> Target {
    Target {
        name,
        seeds,
        suffix,
        check,
    }
}

/// Returns all targets.
pub fn targets() -> impl Iterator<Item = &'static Target> {
    STREAMS.iter().chain(OTHERS)
}

/// Checks an input of a target.
///
/// # Panics
///
/// A law is broken, or there is no such target.
pub fn check(name: &str, data: &[u8]) -> u64 {
    let target = targets().find(|target| target.name == name);
    (target.expect("a target of that name").check)(data)
}
