//! The descriptions of this crate. Each is read when something but its name is needed.

use super::message::UNKNOWN;
use super::{Described, FIELDS};
use crate::encoding::{Encoding, Parsed};
use crate::error::Refusal;
use crate::framing::{CustomFraming, Frame, Framing, FramingName};
use crate::protocol::make::{IdGen, Made, Recipe, Words};
use crate::protocol::schema::files::SchemaFile;
use crate::protocol::schema::json_schema::MessageJsonSchema;
use crate::protocol::schema::marks::Marks;
use crate::protocol::session::Behavior;
use crate::protocol::{
    Context, Descriptor, Direction, Kind, Message, Notes, PartName, Protocol, WriteOptions, Written,
};
use crate::tape::Node;
use flate2::read::ZlibDecoder;
use std::io::Read as _;
use std::sync::LazyLock;

static DAP: Embedded = embed!(
    "dap",
    Descriptor {
        port: Some(4711),
        framings: &[Framing::ContentLength],
        sides: ["client", "adapter"],
        ..Descriptor::USUAL
    },
    Some(&DAP_SCHEMA)
);
/// Packed, it has 5 KB: without texts for people.
static DAP_SCHEMA: LazyLock<SchemaFile> = LazyLock::new(|| {
    static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/dap.schema.z"));
    let mut text = String::new();
    let read = ZlibDecoder::new(PACKED).read_to_string(&mut text);
    let schema = read.ok().and_then(|_| SchemaFile::read(&text).ok());
    // A test reads it.
    schema.unwrap_or_else(|| unreachable!("the schema of dap"))
});
static CDP: Embedded = embed!(
    "cdp",
    Descriptor {
        port: Some(9222),
        framings: &[Framing::Http, Framing::WebSocket],
        sides: ["client", "browser"],
        ..Descriptor::USUAL
    }
);
static NVIM: Embedded = embed!(
    "nvim",
    Descriptor {
        framings: &[Framing::Values],
        encodings: &[Encoding::MessagePack],
        sides: ["client", "nvim"],
        ..Descriptor::USUAL
    }
);

static I3: Embedded = embed!(
    "i3",
    Descriptor {
        framings: &[Framing::Custom(FIELDS)],
        encodings: &[Encoding::Json, Encoding::Text],
        sides: ["client", "i3"],
        is_sequential: true,
        ..Descriptor::USUAL
    }
);

static ALL: [&Embedded; 4] = [&DAP, &CDP, &NVIM, &I3];
static EMBEDDED: [&dyn Protocol; 4] = [&DAP, &CDP, &NVIM, &I3];

/// Returns the protocols that this crate describes in files: the Debug Adapter Protocol, the Chrome `DevTools` Protocol,
/// the RPC of Neovim, and the IPC of i3.
pub fn embedded() -> &'static [&'static dyn Protocol] {
    &EMBEDDED
}

/// Returns the texts of the descriptions, each after its name.
pub(crate) fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.iter().map(|one| (one.descriptor.name, one.text))
}

/// A description of this crate.
struct Embedded {
    /// The facts that commands need of all protocols when they start; the text has them, too.
    descriptor: Descriptor<'static>,
    text: &'static str,
    described: LazyLock<Described>,
}

/// Embeds the description in the file of this name.
macro_rules! embed {
    ($name:literal, $descriptor:expr) => {
        embed!($name, $descriptor, None)
    };
    ($name:literal, $descriptor:expr, $schema:expr) => {{
        const TEXT: &str = include_str!(concat!($name, ".toml"));
        Embedded {
            descriptor: Descriptor {
                name: $name,
                ..$descriptor
            },
            text: TEXT,
            described: LazyLock::new(|| {
                let described = Described::from_toml_named(concat!($name, ".toml"), TEXT);
                // A test reads all of them.
                let described = described.unwrap_or_else(|error| unreachable!("{error}"));
                described.with_schema($schema)
            }),
        }
    }};
}
use embed;

/// Returns what a number is in each description: no message that it knows.
fn number<'a>(frame: &Frame<'a>, parsed: &'a Parsed) -> Message<'a> {
    Message {
        valid: true,
        kind: UNKNOWN.into(),
        value: Some(parsed),
        ..Message::new(frame.view.body)
    }
}

impl Protocol for Embedded {
    fn descriptor(&self) -> Descriptor<'_> {
        self.descriptor
    }

    fn kinds(&self) -> &[Kind] {
        self.described.kinds()
    }

    fn recipes(&self) -> &[Recipe] {
        self.described.recipes()
    }

    fn marks(&self) -> &Marks {
        self.described.marks()
    }

    fn shapes(&self) -> Vec<MessageJsonSchema> {
        self.described.shapes()
    }

    fn custom_framing(&self, name: FramingName) -> Option<&dyn CustomFraming> {
        self.described.custom_framing(name)
    }

    fn read<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &Context<'_>,
        parsed: &'a mut Parsed,
    ) -> Message<'a> {
        // Detection reads any bytes as values; most are a small number.
        if frame.framing == Framing::Values
            && self.descriptor.encodings == [Encoding::MessagePack]
            && let [0..=0x7f] = frame.view.body()
            && parsed.msgpack(frame.view.bytes, frame.view.body).is_ok()
        {
            return number(frame, parsed);
        }
        self.described.read(frame, context, parsed)
    }

    fn write(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written, Refusal> {
        self.described.write(message, options, out)
    }

    fn make(&self, kind: &str, words: &mut Words<'_>, id_gen: &mut IdGen) -> Result<Made, Refusal> {
        self.described.make(kind, words, id_gen)
    }

    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        self.described.annotate(root, message, notes);
    }

    fn content<'n>(&self, root: Node<'n>, message: &Message<'_>) -> Option<Node<'n>> {
        self.described.content(root, message)
    }

    fn fixed_direction(&self, message: &Message<'_>) -> Option<Direction> {
        self.described.fixed_direction(message)
    }

    fn own_direction(&self, frame: &Frame<'_>, message: &Message<'_>) -> Option<Direction> {
        self.described.own_direction(frame, message)
    }

    fn is_hello(&self, message: &Message<'_>) -> bool {
        self.described.is_hello(message)
    }

    fn needs_no_session(&self, root: Node<'_>) -> bool {
        self.described.needs_no_session(root)
    }

    fn parts<'n>(&self, root: Node<'n>, message: &Message<'_>) -> Vec<Node<'n>> {
        self.described.parts(root, message)
    }

    fn part_names(&self, root: Node<'_>) -> Vec<PartName> {
        self.described.part_names(root)
    }

    fn pair_id<'n>(&self, root: Node<'n>, direction: Direction) -> Option<Node<'n>> {
        self.described.pair_id(root, direction)
    }

    fn is_error_answer(&self, root: Node<'_>, direction: Direction) -> bool {
        self.described.is_error_answer(root, direction)
    }

    fn behavior(&self) -> &dyn Behavior {
        self.described.behavior()
    }

    fn description_hash(&self) -> Option<&str> {
        self.described.description_hash()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Want;
    use crate::framing::{Head, Places, View};
    use crate::span::Span;

    #[test]
    fn a_number_reads_as_in_the_description() {
        for byte in 0..=0xff {
            let bytes = [byte];
            let frame = Frame {
                offset: 0,
                len: 1,
                framing: Framing::Values,
                head: Head::None,
                view: View {
                    bytes: &bytes,
                    body: Span::new(0, 1),
                    places: Places::Run(0),
                },
                control: None,
                fault: None,
            };
            let [own, described] = [&NVIM as &dyn Protocol, &*NVIM.described].map(|protocol| {
                let mut parsed = Parsed::new(Want::Head, 8);
                let mut message = protocol.read(&frame, &Context::default(), &mut parsed);
                let root = message.value.take().and_then(|value| value.root(&bytes));
                format!("{message:?} {:?}", root.map(Node::value))
            });
            assert_eq!(own, described, "{byte}");
        }
    }
}
