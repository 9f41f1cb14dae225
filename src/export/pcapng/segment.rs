//! TCP segments over IPv4, with correct checksums (RFC 791, RFC 9293).

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub address: [u8; 4],
    pub port: u16,
}

/// A segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a> {
    pub from: End,
    pub to: End,
    pub sequence: u32,
    pub acknowledged: u32,
    pub flags: u8,
    pub payload: &'a [u8],
}

pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const PUSH: u8 = 8;
pub(super) const ACK: u8 = 16;

/// The maximum size of a payload, which keeps the length of the packet below 65,536.
pub(super) const MAX_PAYLOAD: usize = 32 << 10;

const IP_LEN: usize = 20;
const TCP_LEN: usize = 20;
const TCP: u8 = 6;

impl Segment<'_> {
    /// Writes the packet.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        let tcp_len = u16::try_from(TCP_LEN + self.payload.len()).unwrap_or(u16::MAX);
        let len = tcp_len.saturating_add(IP_LEN as u16);
        let mut ip = Vec::with_capacity(IP_LEN);
        // Version 4, five words; not fragmented; 64 hops.
        ip.extend_from_slice(&[0x45, 0]);
        ip.extend_from_slice(&len.to_be_bytes());
        ip.extend_from_slice(&[0, 0, 0x40, 0, 64, TCP, 0, 0]);
        ip.extend_from_slice(&self.from.address);
        ip.extend_from_slice(&self.to.address);
        let sum = checksum(&[&ip]);
        put(&mut ip, 10, sum);
        let mut tcp = Vec::with_capacity(TCP_LEN);
        tcp.extend_from_slice(&self.from.port.to_be_bytes());
        tcp.extend_from_slice(&self.to.port.to_be_bytes());
        tcp.extend_from_slice(&self.sequence.to_be_bytes());
        tcp.extend_from_slice(&self.acknowledged.to_be_bytes());
        // Five words; a window of 65,535 bytes.
        tcp.extend_from_slice(&[0x50, self.flags, 0xff, 0xff, 0, 0, 0, 0]);
        let mut pseudo = Vec::with_capacity(12);
        pseudo.extend_from_slice(&self.from.address);
        pseudo.extend_from_slice(&self.to.address);
        pseudo.extend_from_slice(&[0, TCP]);
        pseudo.extend_from_slice(&tcp_len.to_be_bytes());
        let sum = checksum(&[&pseudo, &tcp, self.payload]);
        put(&mut tcp, 16, sum);
        out.extend_from_slice(&ip);
        out.extend_from_slice(&tcp);
        out.extend_from_slice(self.payload);
    }
}

/// Replaces two bytes.
fn put(bytes: &mut [u8], at: usize, value: u16) {
    if let Some(place) = bytes.get_mut(at..at + 2) {
        place.copy_from_slice(&value.to_be_bytes());
    }
}

/// Returns the checksum of the Internet (RFC 1071). All parts but the last have an even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u64;
    for part in parts {
        let mut words = part.chunks_exact(2);
        for word in &mut words {
            let word = word.try_into().map_or(0, u16::from_be_bytes);
            sum += u64::from(word);
        }
        if let [last] = words.remainder() {
            sum += u64::from(*last) << 8;
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
