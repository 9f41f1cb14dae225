//! Link layers: where the IP packet begins.
//!
//! ```text
//!   Ethernet   to(6) from(6) type(2) [tag(4)]... IP
//!   SLL        kind(2) hardware(2) length(2) address(8) type(2) [tag(4)]... IP
//!   SLL2       type(2) zero(2) interface(4) hardware(2) kind(1) length(1) address(8) IP
//!   loopback   family(4) IP
//!   raw        IP
//! ```

/// The content of a packet, below the link layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkContent<'a> {
    Ip(&'a [u8]),
    /// Another protocol, with its name.
    Other(&'static str),
    /// The link type cannot be read.
    UnknownLink,
}
use LinkContent::{Ip, Other, UnknownLink};

/// Finds the IP packet of a packet with this link type.
pub(super) fn content(link: u16, bytes: &[u8]) -> LinkContent<'_> {
    let after = |len: usize| bytes.get(len..).unwrap_or_default();
    let number = |at: usize| {
        bytes
            .get(at..)?
            .first_chunk()
            .map(|n| u16::from_be_bytes(*n))
    };
    match link {
        // NULL, and LOOP in network order. Both orders are tried: NULL is in that of the writer.
        0 | 108 => match bytes.first_chunk() {
            Some([2 | 10 | 24 | 28 | 30, 0, 0, 0] | [0, 0, 0, 2 | 10 | 24 | 28 | 30]) => {
                Ip(after(4))
            }
            Some(_) => Other("not IP"),
            None => Other("cut"),
        },
        1 => tagged(number(12), after(14)),
        12 | 14 | 101 | 228 | 229 => Ip(bytes),
        113 => tagged(number(14), after(16)),
        276 => tagged(number(0), after(20)),
        _ => UnknownLink,
    }
}

/// Passes over VLAN tags.
fn tagged(kind: Option<u16>, mut rest: &[u8]) -> LinkContent<'_> {
    let mut kind = kind;
    while let Some(0x8100 | 0x88a8 | 0x9100) = kind {
        kind = rest
            .get(2..)
            .and_then(|r| r.first_chunk())
            .map(|n| u16::from_be_bytes(*n));
        rest = rest.get(4..).unwrap_or_default();
    }
    match kind {
        Some(0x0800 | 0x86dd) => Ip(rest),
        Some(0x0806) => Other("ARP"),
        Some(0x88cc) => Other("LLDP"),
        // A length of 802.3.
        Some(0..=1500) => Other("LLC"),
        Some(_) => Other("not IP"),
        None => Other("cut"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ip_packet_is_found_behind_each_link_header() {
        let ip: &[u8] = b"\x45...";
        let ethernet = [&[0; 12][..], b"\x08\x00", ip].concat();
        let tags = [&[0; 12][..], b"\x88\xa8\0\x01\x81\0\0\x02\x86\xdd", ip].concat();
        let sll = [&[0; 14][..], b"\x08\x00", ip].concat();
        let sll2 = [b"\x86\xdd", &[0; 18][..], ip].concat();
        let little = [b"\x02\0\0\0", ip].concat();
        let big = [b"\0\0\0\x1e", ip].concat();
        for (link, bytes) in [
            (1, &ethernet[..]),
            (1, &tags),
            (113, &sll),
            (276, &sll2),
            (0, &little),
            (0, &big),
            (108, &big),
            (12, ip),
            (101, ip),
            (228, ip),
        ] {
            assert_eq!(content(link, bytes), Ip(ip), "link type {link}");
            for len in 0..bytes.len() {
                content(link, &bytes[..len]);
            }
        }
        let other = |kind: &[u8]| [&[0; 12][..], kind].concat();
        assert_eq!(content(1, &other(b"\x08\x06")), Other("ARP"));
        assert_eq!(content(1, &other(b"\x00\x26")), Other("LLC"));
        assert_eq!(content(1, b"short"), Other("cut"));
        assert_eq!(content(105, ip), UnknownLink);
    }
}
