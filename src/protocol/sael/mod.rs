//! sael: agents and tools, JSON or `MessagePack` maps with a three-letter `kind`, over WebSocket.
//!
//! ```text
//!   client                                   server
//!     | -> {"kind":"HEY","agent":{…}}           |
//!     | <- {"kind":"HEY","server":{…}}          |
//!     | -> {"kind":"INV","seq":1,"tool":"…"}    |
//!     | <- STR STR END, or RES, or ERR, seq 1   |
//!
//!   header form (documents only)    01 49 4e 56  {"seq":1,…}
//!                                   v  I  N  V   rest of the message, or nothing
//! ```
//!
//! Kinds: the seventeen of the schema, as written. The id is `seq`; the subject is the tool of an INV or the topic of a
//! SUB. The first byte decides the form: `{` JSON, 1 or 2 the header, a map marker `MessagePack`; they cannot collide.

#[cfg(feature = "rules")]
pub mod capability;
#[cfg(feature = "rules")]
pub(crate) mod delta;
#[cfg(feature = "rules")]
pub mod filter;
mod message;
#[cfg(feature = "rules")]
mod peer;
mod schema;
#[cfg(feature = "rules")]
mod session;
#[cfg(feature = "rules")]
pub mod token;

use super::make::{IdGen, Made, Words};
use super::{
    Context, Descriptor, Direction, Message, Notes, Protocol, Setting, WriteOptions, Written,
};
use crate::encoding::Parsed;
use crate::error::Result;
use crate::framing::{Frame, Framing, Hints};
use crate::tape::Node;

/// The protocol.
pub struct Sael;

/// Fault codes in addition to those of framing and encodings.
pub const FAULTS: &[(&str, &str)] = &[
    ("not-an-object", "a value, but not an object"),
    ("blank-line", "a line without a message"),
    (
        "bad-header",
        "the start of a message: not a version byte and three capital letters, nor any other form",
    ),
];

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "sael",
    port: None,
    framings: &[
        Framing::Http,
        Framing::WebSocket,
        Framing::Header,
        Framing::Lines,
        Framing::Prefix,
    ],
    hints: Hints {
        plausible: Some(message::plausible),
        measure: None,
    },
    sides: ["client", "server"],
    provider: None,
    dialects: &[],
    settings: &[
        Setting::MessagePack,
        Setting::Name,
        Setting::Token,
        Setting::Secret,
    ],
    kinds: &schema::KINDS,
    recipes: &schema::RECIPES,
    marks: &schema::MARKS,
    shapes: schema::shapes,
    faults: FAULTS,
    value_types: None,
    is_re_encoded: false,
    is_sequential: false,
    is_fallback: false,
    http: None,
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Sael,
    ["rules.md"],
    "$CARGO_MANIFEST_DIR/fixtures/sael/rules",
    |_, config| session::SaelSession::new(config),
    |_, side, config| peer::peer(side, config),
);

impl Protocol for Sael {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn fixed_direction(&self, message: &Message<'_>) -> Option<Direction> {
        schema::fixed_direction(schema::forms(&message.kind))
    }

    fn read<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &Context,
        parsed: &'a mut Parsed,
    ) -> Message<'a> {
        message::read(frame, context, parsed)
    }

    fn write(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written> {
        schema::write(message, options, out)
    }

    fn make(&self, kind: &str, words: &mut Words<'_>, id_gen: &mut IdGen) -> Result<Made> {
        schema::make(kind, words, id_gen)
    }

    fn content<'n>(&self, root: Node<'n>, message: &Message<'_>) -> Option<Node<'n>> {
        message::content(root, message)
    }

    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        message::annotate(root, message, notes);
    }

    #[cfg(feature = "rules")]
    fn behavior(&self) -> &dyn super::session::Behavior {
        self
    }
}
