//! Measures the speed of each layer and compares it with other libraries: `cargo bench`, or `cargo bench -- saikuro`.
//!
//! ```text
//!   frame      framing only
//!   check      parsing without output
//!   tape       all values with their positions
//!   text       the message as JSON
//!   json       the whole pipeline: bytes in, lines of `decode -f json` out
//!   line       the same for `-f line`
//! ```
//!
//! The messages are generated here and are the same in every run. `reference` holds other parsers of the same bodies.

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use serde_json::json;
use std::hint::black_box;
use wiretool::decoder::{DecodeOptions, Decoder, Origin};
use wiretool::encoding::{Nothing, Parsed, Want, json as json_text, msgpack, serde_envelope};
use wiretool::error::DecodeError;
use wiretool::framing::{Framer, Framing, LengthMode, Limits, Step};
use wiretool::protocol::telequick::Schema;
use wiretool::protocol::{Protocol, registry};
use wiretool::render::{self, DisplayOptions};
use wiretool::span::Span;
use wiretool::tape::{Sink, Tape};

/// The number of messages in a stream.
const COUNT: u64 = 2000;
/// The id of telequick's `AudioFrame`, and the start of its body before the fields.
const AUDIO_FRAME: u32 = 2_991_054_320;
const ENVELOPE: usize = serde_envelope::HEADER;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Json,
    MessagePack,
    Serde,
}

/// A stream of one protocol's messages.
struct Case {
    name: &'static str,
    protocol: &'static dyn Protocol,
    framing: Framing,
    encoding: Encoding,
    stream: Vec<u8>,
    bodies: Vec<Span>,
}

impl Case {
    fn new(
        (name, protocol): (&'static str, &str),
        framing: Framing,
        encoding: Encoding,
        message: fn(u64) -> Vec<u8>,
    ) -> Self {
        let mut stream = Vec::new();
        for n in 0..COUNT {
            let body = message(n);
            let len = body.len() as u32;
            match framing {
                Framing::Prefix => stream.extend(len.to_be_bytes()),
                Framing::Method => {
                    stream.extend((len + 4).to_le_bytes());
                    stream.extend(AUDIO_FRAME.to_le_bytes());
                }
                _ => {}
            }
            stream.extend(body);
            if framing == Framing::Lines {
                stream.push(b'\n');
            }
        }
        let mut case = Self {
            name,
            protocol: registry::find(protocol).unwrap(),
            framing,
            encoding,
            stream,
            bodies: Vec::new(),
        };
        case.bodies = case.frames();
        assert_eq!(case.bodies.len() as u64, COUNT, "{name}");
        case
    }

    /// The ranges of the bodies, found by framing only.
    fn frames(&self) -> Vec<Span> {
        let (limits, hints) = (Limits::default(), self.protocol.descriptor().hints);
        let mut framer = Framer::new(self.framing, limits, hints, LengthMode::Auto, true);
        let mut bodies = Vec::with_capacity(self.bodies.len());
        let mut at = 0;
        loop {
            match framer.step(&self.stream[at..], at as u64, true) {
                Step::Took(n) => at += n,
                Step::Frame(frame, n) => {
                    let start = frame.offset as usize + frame.view.body.at();
                    bodies.push(Span::new(start, start + frame.view.body.len as usize));
                    at += n;
                }
                _ => return bodies,
            }
        }
    }

    fn parse<S: Sink>(&self, body: Span, sink: &mut S) -> Result<(), DecodeError> {
        let (bytes, depth) = (self.stream.as_slice(), Limits::default().depth);
        match self.encoding {
            Encoding::Json => json_text::parse(bytes, body, depth, sink).map(|_| ()),
            Encoding::MessagePack => msgpack::parse(bytes, body, depth, sink),
            Encoding::Serde => {
                let schema = Schema::builtin();
                let audio = schema.struct_named("AudioFrame").unwrap();
                let fields = Span::new(body.at() + ENVELOPE, body.end());
                serde_envelope::parse(&schema.types, audio, bytes, fields, depth, sink).map(|_| ())
            }
        }
    }

    /// Decodes the stream in pieces of the size of file reads.
    fn decode(&self, want: Want, mut each: impl FnMut(&wiretool::decoder::Decoded<'_>)) {
        let mut options = DecodeOptions::new(vec![self.protocol]);
        (options.framing, options.want) = (Some(self.framing), want);
        let mut decoder = Decoder::new(options);
        for piece in self.stream.chunks(256 << 10) {
            decoder.push(Origin::default(), piece, &mut each);
        }
        decoder.finish(&mut each);
    }
}

fn cases() -> [Case; 6] {
    use Encoding::{Json, MessagePack, Serde};
    [
        Case::new(("saikuro", "saikuro"), Framing::Prefix, MessagePack, |n| {
            rmp_serde::to_vec(&saikuro(n)).unwrap()
        }),
        Case::new(("oracle", "oracle"), Framing::Lines, Json, |n| {
            oracle(n).to_string().into_bytes()
        }),
        Case::new(("sael-json", "sael"), Framing::Lines, Json, |n| {
            sael(n).to_string().into_bytes()
        }),
        Case::new(
            ("sael-msgpack", "sael"),
            Framing::Prefix,
            MessagePack,
            |n| rmp_serde::to_vec(&sael(n)).unwrap(),
        ),
        Case::new(("stepflow", "stepflow"), Framing::Lines, Json, |n| {
            stepflow(n).to_string().into_bytes()
        }),
        Case::new(
            ("telequick", "telequick"),
            Framing::Method,
            Serde,
            telequick,
        ),
    ]
}

/// A pseudo-random number, the same in every run.
fn mixed(n: u64) -> u64 {
    (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn saikuro(n: u64) -> serde_json::Value {
    let id = format!(
        "{:08x}-d620-4cf3-8db0-{:012x}",
        mixed(n) >> 32,
        mixed(n) >> 16
    );
    match n % 2 {
        0 => {
            json!({"version": 1, "type": "call", "id": id, "target": "math.add", "args": [n, {"scale": 0.5}]})
        }
        _ => {
            json!({"id": id, "ok": true, "result": {"sum": mixed(n) >> 40, "unit": "milliseconds"}})
        }
    }
}

fn oracle(n: u64) -> serde_json::Value {
    let felts = [n, mixed(n), mixed(n + 1)].map(|felt| format!("0x{felt:x}{felt:x}"));
    match n % 2 {
        0 => {
            json!({"jsonrpc": "2.0", "id": n, "method": "invoke", "params": {"selector": "sqrt", "calldata": felts}})
        }
        _ => json!({"jsonrpc": "2.0", "id": n - 1, "result": felts}),
    }
}

fn sael(n: u64) -> serde_json::Value {
    let trace = format!("{:016x}{:016x}", mixed(n), mixed(n + 1));
    match n % 2 {
        0 => {
            json!({"kind": "INV", "seq": n, "trace_id": trace, "tool": "github.list_repos", "input": {"owner": "someone", "page": n}})
        }
        _ => {
            json!({"kind": "RES", "seq": n - 1, "output": [{"name": "wiretool", "stars": n}], "cost_used": 0.0058})
        }
    }
}

fn stepflow(n: u64) -> serde_json::Value {
    match n % 2 {
        0 => json!({"jsonrpc": "2.0", "id": n.to_string(), "method": "components/execute",
            "params": {"component": "/builtin/messages", "input": {"text": "A line of text, as long as such lines are.", "n": n}}}),
        _ => {
            json!({"jsonrpc": "2.0", "id": (n - 1).to_string(), "result": {"output": {"tokens": [mixed(n) >> 50, n], "done": true}}})
        }
    }
}

fn telequick(n: u64) -> Vec<u8> {
    let mut fields = Vec::new();
    let mut run = |bytes: &[u8]| {
        fields.extend((bytes.len() as u32).to_le_bytes());
        fields.extend(bytes);
    };
    run(format!("CA{:016x}{:016x}", mixed(0), mixed(1)).as_bytes());
    // 20 ms of audio.
    run(&(0..160)
        .map(|i| (mixed(n + i) >> 56) as u8)
        .collect::<Vec<_>>());
    run(b"PCMU");
    fields.extend(n.to_le_bytes());
    fields.push(0);
    let mut body = vec![0, 0];
    body.extend((fields.len() as u32).to_le_bytes());
    body.extend(fields);
    body
}

/// Runs `each` over every body.
fn bodies(
    group: &mut BenchmarkGroup<'_, WallTime>,
    layer: &str,
    case: &Case,
    mut each: impl FnMut(Span),
) {
    group.bench_function(layer, |b| {
        b.iter(|| case.bodies.iter().for_each(|body| each(*body)));
    });
}

fn bench(criterion: &mut Criterion, case: &Case) {
    let mut group = criterion.benchmark_group(case.name);
    group.throughput(Throughput::Bytes(case.stream.len() as u64));

    group.bench_function("frame", |b| b.iter(|| black_box(case.frames()).len()));
    bodies(&mut group, "check", case, |body| {
        case.parse(body, &mut Nothing).unwrap();
    });
    let mut tape = Tape::new();
    bodies(&mut group, "tape", case, |body| {
        tape.clear(u32::MAX);
        case.parse(body, &mut tape).unwrap();
    });
    let mut parsed = Parsed::new(Want::Text, Limits::default().depth);
    let mut out = Vec::new();
    bodies(&mut group, "text", case, |body| {
        match case.encoding {
            Encoding::Json => parsed.json(&case.stream, body).unwrap(),
            Encoding::MessagePack => parsed.msgpack(&case.stream, body).unwrap(),
            Encoding::Serde => {
                let text = parsed.with(body, |text| case.parse(body, text), |_| Ok(()));
                text.unwrap();
            }
        }
        out.clear();
        parsed.write_message(&case.stream, &mut out);
    });
    group.bench_function("json", |b| {
        b.iter(|| {
            out.clear();
            case.decode(Want::Text, |decoded| {
                render::json::write(decoded, None, DisplayOptions::default(), &mut out);
            });
        });
    });
    let mut lines = String::new();
    group.bench_function("line", |b| {
        b.iter(|| {
            lines.clear();
            case.decode(Want::Line, |decoded| {
                render::line::write(decoded, None, DisplayOptions::default(), &mut lines);
            });
        });
    });

    match case.encoding {
        Encoding::Json => {
            bodies(&mut group, "reference/serde_json ignored", case, |body| {
                let text = body.of(&case.stream);
                serde_json::from_slice::<serde::de::IgnoredAny>(text).unwrap();
            });
            bodies(&mut group, "reference/serde_json value", case, |body| {
                let text = body.of(&case.stream);
                black_box(serde_json::from_slice::<serde_json::Value>(text).unwrap());
            });
        }
        Encoding::MessagePack => {
            bodies(&mut group, "reference/rmpv ref", case, |body| {
                let mut bytes = body.of(&case.stream);
                black_box(rmpv::decode::read_value_ref(&mut bytes).unwrap());
            });
            bodies(&mut group, "reference/rmp-serde ignored", case, |body| {
                let bytes = body.of(&case.stream);
                rmp_serde::from_slice::<serde::de::IgnoredAny>(bytes).unwrap();
            });
        }
        Encoding::Serde => {}
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for case in &cases() {
        bench(&mut criterion, case);
    }
    criterion.final_summary();
}
