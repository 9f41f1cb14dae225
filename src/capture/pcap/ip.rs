//! IP packets: their TCP segments, with fragments joined.

use core::net::{IpAddr, SocketAddr};
use etherparse::defrag::IpDefragBuf;
use etherparse::{IpFragOffset, IpNumber, Ipv6ExtensionSlice, LaxIpSlice, TcpSlice};
use std::collections::{HashMap, VecDeque};

/// The maximum number of packets whose fragments wait; each has at most 64 KiB.
const MAX_WAITING: usize = 128;

/// A TCP segment.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // the flags of the header
pub(super) struct TcpSegment<'a> {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub sequence: u32,
    pub syn: bool,
    pub ack: bool,
    pub fin: bool,
    pub rst: bool,
    pub payload: &'a [u8],
    /// The number of bytes after the payload that the capture lacks.
    pub missing: u32,
}

/// Protocols other than TCP, by name.
pub(super) type OtherPacket = &'static str;

/// Fragments of a packet: addresses, identification and protocol.
type FragmentKey = (IpAddr, IpAddr, u32, u8);

/// Joins fragments.
#[derive(Default)]
pub(super) struct IpReader {
    waiting: HashMap<FragmentKey, IpDefragBuf>,
    /// In the order of their first fragment.
    order: VecDeque<FragmentKey>,
    /// The payload of the last joined packet.
    joined: Vec<u8>,
}

impl IpReader {
    /// Returns the segment of an IP packet. `None`: a fragment that waits for others.
    pub(super) fn segment<'a>(
        &'a mut self,
        bytes: &'a [u8],
    ) -> Result<Option<TcpSegment<'a>>, OtherPacket> {
        let Ok((ip, damage)) = LaxIpSlice::from_slice(bytes) else {
            return Err("malformed IP");
        };
        if damage.is_some() {
            return Err("malformed IP");
        }
        let payload = ip.payload();
        let (from, to) = (ip.source_addr(), ip.destination_addr());
        let number = payload.ip_number;
        if payload.fragmented {
            // The rest of a fragment that is cut never comes.
            if payload.incomplete || !self.join(&ip) {
                return Ok(None);
            }
            return tcp(from, to, number, &self.joined, 0);
        }
        let claimed = match &ip {
            LaxIpSlice::Ipv4(ip) => u32::from(ip.header().total_len()),
            LaxIpSlice::Ipv6(ip) => u32::from(ip.header().payload_length()) + 40,
        };
        let missing = if payload.incomplete {
            claimed.saturating_sub(bytes.len() as u32)
        } else {
            0
        };
        tcp(from, to, number, payload.payload, missing)
    }

    /// Adds a fragment; returns true if the packet is whole now.
    fn join(&mut self, ip: &LaxIpSlice<'_>) -> bool {
        let fragment: Option<(IpFragOffset, bool, u32)> = match ip {
            LaxIpSlice::Ipv4(ip) => {
                let header = ip.header();
                let id = u32::from(header.identification());
                Some((header.fragments_offset(), header.more_fragments(), id))
            }
            LaxIpSlice::Ipv6(ip) => {
                ip.extensions()
                    .clone()
                    .into_iter()
                    .find_map(|extension| match extension {
                        Ipv6ExtensionSlice::Fragment(f) => {
                            Some((f.fragment_offset(), f.more_fragments(), f.identification()))
                        }
                        _ => None,
                    })
            }
        };
        let Some((offset, more, id)) = fragment else {
            return false;
        };
        let payload = ip.payload();
        let key = (
            ip.source_addr(),
            ip.destination_addr(),
            id,
            payload.ip_number.0,
        );
        if !self.waiting.contains_key(&key) {
            if self.order.len() >= MAX_WAITING
                && let Some(oldest) = self.order.pop_front()
            {
                self.waiting.remove(&oldest);
            }
            self.order.push_back(key);
        }
        let buffer = self
            .waiting
            .entry(key)
            .or_insert_with(|| IpDefragBuf::new(payload.ip_number, Vec::new(), Vec::new()));
        let is_whole = buffer.add(offset, more, payload.payload).is_ok() && buffer.is_complete();
        if is_whole && let Some(buffer) = self.waiting.remove(&key) {
            self.order.retain(|other| *other != key);
            self.joined = buffer.take_bufs().0;
        }
        is_whole
    }
}

fn tcp(
    from: IpAddr,
    to: IpAddr,
    number: IpNumber,
    payload: &[u8],
    missing: u32,
) -> Result<Option<TcpSegment<'_>>, OtherPacket> {
    match number {
        IpNumber::TCP => {}
        IpNumber::UDP => return Err(if is_quic(payload) { "QUIC" } else { "UDP" }),
        IpNumber::ICMP | IpNumber::IPV6_ICMP => return Err("ICMP"),
        IpNumber::SCTP => return Err("SCTP"),
        IpNumber::IGMP => return Err("IGMP"),
        _ => return Err("other IP"),
    }
    let Ok(segment) = TcpSlice::from_slice(payload) else {
        return Err("TCP with a cut header");
    };
    Ok(Some(TcpSegment {
        from: SocketAddr::new(from, segment.source_port()),
        to: SocketAddr::new(to, segment.destination_port()),
        sequence: segment.sequence_number(),
        syn: segment.syn(),
        ack: segment.ack(),
        fin: segment.fin(),
        rst: segment.rst(),
        payload: segment.payload(),
        missing,
    }))
}

/// Returns true for a datagram with a long header of QUIC version 1 or 2 (RFC 9000 section 17.2, RFC 9369).
fn is_quic(udp: &[u8]) -> bool {
    let Some((first, rest)) = udp.get(8..).and_then(<[u8]>::split_first) else {
        return false;
    };
    let version = rest
        .first_chunk()
        .map(|version| u32::from_be_bytes(*version));
    first & 0x80 != 0 && matches!(version, Some(1 | 0x6b33_43cf))
}
