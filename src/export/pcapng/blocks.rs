//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng), in the order of bytes of this file: little endian.

/// Packets begin with an IP header.
const LINK_RAW: u16 = 101;
/// Times are nanoseconds: ten to the power of minus nine.
const NANOSECONDS: u8 = 9;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const PACKET: u32 = 6;

const COMMENT: u16 = 1;
const NAME: u16 = 2;
const FLAGS: u16 = 2;
const APPLICATION: u16 = 4;
const RESOLUTION: u16 = 9;

/// A block that is written.
struct Block(Vec<u8>);

impl Block {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Fills up to a multiple of four bytes.
    fn pad(&mut self) -> &mut Self {
        let len = self.0.len().next_multiple_of(4);
        self.0.resize(len, 0);
        self
    }

    /// Adds an option, with at most 65,535 bytes.
    fn option(&mut self, code: u16, value: &[u8]) -> &mut Self {
        let len = u16::try_from(value.len()).unwrap_or(u16::MAX);
        let value = value.get(..usize::from(len)).unwrap_or_default();
        self.bytes(&code.to_le_bytes()).bytes(&len.to_le_bytes());
        self.bytes(value).pad()
    }

    fn end_options(&mut self) -> &mut Self {
        self.bytes(&[0; 4])
    }

    fn write(&mut self, kind: u32, out: &mut Vec<u8>) {
        let len = u32::try_from(self.0.len() + 12).unwrap_or(u32::MAX);
        out.extend_from_slice(&kind.to_le_bytes());
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(&self.0);
        out.extend_from_slice(&len.to_le_bytes());
    }
}

/// Begins a file.
pub(super) fn begin(out: &mut Vec<u8>) {
    let application = concat!("wiretool ", env!("CARGO_PKG_VERSION"));
    let mut section = Block::new();
    section.bytes(&0x1a2b_3c4d_u32.to_le_bytes());
    section
        .bytes(&1_u16.to_le_bytes())
        .bytes(&0_u16.to_le_bytes());
    // The length of the section is not known.
    section.bytes(&[0xff; 8]);
    section
        .option(APPLICATION, application.as_bytes())
        .end_options();
    section.write(SECTION, out);
    let mut interface = Block::new();
    interface.bytes(&LINK_RAW.to_le_bytes()).bytes(&[0; 2]);
    interface.bytes(&0_u32.to_le_bytes());
    interface.option(NAME, b"wiretool");
    interface.option(RESOLUTION, &[NANOSECONDS]).end_options();
    interface.write(INTERFACE, out);
}

/// Names an address.
pub(super) fn name(address: [u8; 4], name: &str, out: &mut Vec<u8>) {
    let mut names = Block::new();
    let len = u16::try_from(name.len() + 5).unwrap_or(u16::MAX);
    names.bytes(&1_u16.to_le_bytes()).bytes(&len.to_le_bytes());
    names
        .bytes(&address)
        .bytes(name.as_bytes())
        .bytes(&[0])
        .pad();
    names.bytes(&[0; 4]);
    names.write(NAMES, out);
}

/// Writes a packet. `is_inbound`: it goes to the side that opened the connection.
pub(super) fn packet(time: i64, bytes: &[u8], is_inbound: bool, comment: &str, out: &mut Vec<u8>) {
    let time = u64::try_from(time).unwrap_or_default();
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut packet = Block::new();
    packet.bytes(&0_u32.to_le_bytes());
    packet.bytes(&((time >> 32) as u32).to_le_bytes());
    packet.bytes(&(time as u32).to_le_bytes());
    packet.bytes(&len.to_le_bytes()).bytes(&len.to_le_bytes());
    packet.bytes(bytes).pad();
    if !comment.is_empty() {
        packet.option(COMMENT, comment.as_bytes());
    }
    let flags: u32 = if is_inbound { 1 } else { 2 };
    packet.option(FLAGS, &flags.to_le_bytes()).end_options();
    packet.write(PACKET, out);
}
