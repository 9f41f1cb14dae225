//! Captures that the tests build, from bytes to items.

use crate::capture::{CaptureInput, Form, Item, PacketOptions};
use etherparse::PacketBuilder;
use std::fmt::Write as _;

const CLIENT: u16 = 50_000;
const SERVER: u16 = 7000;

/// The flags of a segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Syn,
    SynAck,
    Data,
    Fin,
    Rst,
}
use Flag::{Data, Fin, Rst, Syn, SynAck};

/// Returns an Ethernet packet with a segment between two ports of loopback.
fn tcp(from: u16, to: u16, sequence: u32, flag: Flag, payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([0; 6], [0; 6])
        .ipv4([127, 0, 0, 1], [127, 0, 0, 1], 64)
        .tcp(from, to, sequence, 512);
    let builder = match flag {
        Syn => builder.syn(),
        SynAck => builder.syn().ack(1),
        Data => builder.ack(1),
        Fin => builder.fin().ack(1),
        Rst => builder.rst(),
    };
    let mut packet = Vec::new();
    builder.write(&mut packet, payload).unwrap();
    packet
}

fn to_server(sequence: u32, flag: Flag, payload: &[u8]) -> Vec<u8> {
    tcp(CLIENT, SERVER, sequence, flag, payload)
}

fn to_client(sequence: u32, flag: Flag, payload: &[u8]) -> Vec<u8> {
    tcp(SERVER, CLIENT, sequence, flag, payload)
}

/// Returns a pcap file of packets that are a microsecond apart.
fn pcap(link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for n in [0xa1b2_c3d4_u32, 4 << 16 | 2, 0, 0, 65535, link] {
        file.extend_from_slice(&n.to_le_bytes());
    }
    for (at, packet) in packets.iter().enumerate() {
        let len = packet.len() as u32;
        for n in [100, at as u32, len, len] {
            file.extend_from_slice(&n.to_le_bytes());
        }
        file.extend_from_slice(packet);
    }
    file
}

/// Returns a block of a pcapng file.
fn block(is_big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let number = |n: u32| {
        if is_big {
            n.to_be_bytes()
        } else {
            n.to_le_bytes()
        }
    };
    let len = number(body.len().next_multiple_of(4) as u32 + 12);
    let pad = [0; 3];
    let pad = &pad[..body.len().next_multiple_of(4) - body.len()];
    [&number(kind)[..], &len, body, pad, &len].concat()
}

/// Returns a section with an interface, whose times count units of a power of ten, and packets.
fn section(is_big: bool, resolution: u8, packets: &[Vec<u8>]) -> Vec<u8> {
    let long = |n: u32| {
        if is_big {
            n.to_be_bytes()
        } else {
            n.to_le_bytes()
        }
    };
    let short = |n: u16| {
        if is_big {
            n.to_be_bytes()
        } else {
            n.to_le_bytes()
        }
    };
    let header = [&long(0x1a2b_3c4d)[..], &short(1), &short(0), &[0xff; 8]].concat();
    let options = [
        &short(9)[..],
        &short(1),
        &[resolution, 0, 0, 0],
        &short(0),
        &short(0),
    ]
    .concat();
    let interface = [&short(1)[..], &short(0), &long(0), &options].concat();
    let mut file = block(is_big, 0x0a0d_0d0a, &header);
    file.extend(block(is_big, 1, &interface));
    for (at, packet) in packets.iter().enumerate() {
        let len = packet.len() as u32;
        let head = [0, 0, at as u32, len, len].map(long).concat();
        file.extend(block(is_big, 6, &[&head[..], packet].concat()));
        file.extend(block(is_big, 0x4000_0bad, b"unknown"));
    }
    file
}

/// Reads a file in pieces of this size; returns a line for each item.
fn items_in(file: &[u8], step: usize, options: PacketOptions) -> String {
    items_from(Form::Auto, file, step, options)
}

fn items_from(form: Form, file: &[u8], step: usize, options: PacketOptions) -> String {
    let mut text = String::new();
    let mut sink = |item: Item<'_>| match item {
        Item::Header(header) => writeln!(text, "header {:?}", header.captured()).unwrap(),
        Item::Chunk(chunk) => writeln!(
            text,
            "{} {} {:?} {}",
            chunk.conn,
            chunk.direction.map_or("", |d| d.name()),
            chunk.time.map(|t| t % 1_000_000_000),
            String::from_utf8_lossy(chunk.bytes)
        )
        .unwrap(),
        Item::Event(event) => {
            let direction = event.direction.map_or("", |d| d.name());
            let more = event.more.map(|m| serde_json::to_string(m).unwrap());
            let name = event.what.name();
            writeln!(
                text,
                "{} {name} {direction} {}",
                event.conn,
                more.unwrap_or_default()
            )
            .unwrap();
        }
        Item::Problem(problem) => writeln!(text, "{:?} {problem}", problem.severity).unwrap(),
        other => panic!("{other:?}"),
    };
    let mut input = CaptureInput::new(form).with_packet_options(options);
    for piece in file.chunks(step) {
        input.push(piece, &mut sink);
    }
    input.finish(&mut sink);
    text
}

fn items(file: &[u8]) -> String {
    items_in(file, file.len(), PacketOptions::default())
}

/// A connection with two messages each way, from SYN to FIN.
fn conversation() -> Vec<Vec<u8>> {
    vec![
        to_server(9, Syn, b""),
        to_client(99, SynAck, b""),
        to_server(10, Data, b"ab"),
        to_client(100, Data, b"AB"),
        to_server(12, Data, b"cd"),
        to_server(14, Fin, b""),
        to_client(102, Fin, b"CD"),
    ]
}

const CONVERSATION: &str = r#"header Some("pcap")
0 open  {"peer":"127.0.0.1:50000","server":"127.0.0.1:7000"}
0 c2s Some(2000) ab
0 s2c Some(3000) AB
0 c2s Some(4000) cd
0 eof c2s 
0 s2c Some(6000) CD
0 eof s2c 
0 close  
"#;

#[test]
fn connection_gives_its_chunks_and_ends_in_every_container() {
    let packets = conversation();
    let files = [
        pcap(1, &packets),
        section(false, 6, &packets),
        section(true, 6, &packets),
    ];
    for file in files {
        for step in [1, 7, 100, file.len()] {
            let read = items_in(&file, step, PacketOptions::default());
            assert_eq!(read, CONVERSATION, "step {step}");
        }
    }
    let mut two = section(false, 6, &packets[..4]);
    two.extend(section(true, 6, &packets[4..]));
    let untimed = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    assert_eq!(untimed(&items(&two)), untimed(CONVERSATION));
}

#[test]
fn copies_and_late_packets_add_nothing() {
    let packets = conversation();
    let twice: Vec<_> = packets
        .iter()
        .flat_map(|p| [p.clone(), p.clone()])
        .collect();
    let text = items(&pcap(1, &twice));
    let without_times = |text: &str| {
        let words = text.split(' ').filter(|word| !word.starts_with("Some("));
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(without_times(&text), without_times(CONVERSATION));
    let again = [packets.clone(), packets].concat();
    assert_eq!(items(&pcap(1, &again)), CONVERSATION);
}

#[test]
fn lost_and_cut_bytes_are_gaps() {
    let mut packets = conversation();
    packets.remove(2);
    assert!(items(&pcap(1, &packets)).contains("0 lost c2s {\"len\":2}\n0 c2s Some(3000) cd"));
    let mut packets = conversation();
    packets[2].pop();
    let text = items(&pcap(1, &packets));
    assert!(text.contains("c2s Some(2000) a\n"), "{text}");
    assert!(
        text.contains("0 lost c2s {\"len\":1}\n0 c2s Some(4000) cd"),
        "{text}"
    );
}

#[test]
fn new_syn_starts_another_connection() {
    let mut packets = conversation();
    packets.truncate(4);
    packets.push(to_server(5000, Syn, b""));
    packets.push(to_server(5001, Data, b"new"));
    packets.push(to_client(7, Rst, b""));
    let text = items(&pcap(1, &packets));
    let end = "0 s2c Some(3000) AB\n0 close  \n1 open  {\"peer\":\"127.0.0.1:50000\",\"server\":\"127.0.0.1:7000\"}\n1 c2s Some(5000) new\n1 reset  \n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn client_without_a_syn_is_who_sent_the_request() {
    // The client has the lower port.
    let request = tcp(3000, 4000, 77, Data, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let answer = tcp(4000, 3000, 5, Data, b"HTTP/1.1 204 No Content\r\n\r\n");
    for packets in [[request.clone(), answer.clone()], [answer, request]] {
        let text = items(&pcap(1, &packets));
        assert!(
            text.contains(r#"0 open  {"peer":"127.0.0.1:3000","server":"127.0.0.1:4000"}"#),
            "{text}"
        );
        assert!(text.contains("0 lost c2s {\"len\":0}"), "{text}");
    }
    // No message shows the client: it has the higher port.
    let text = items(&pcap(1, &[tcp(3000, 4000, 77, Data, b"?")]));
    assert!(
        text.contains(r#"{"peer":"127.0.0.1:4000","server":"127.0.0.1:3000"}"#),
        "{text}"
    );
}

#[test]
fn fragments_are_joined_in_any_order() {
    let whole = to_server(10, Data, b"0123456789abcdef");
    let (link, ip) = whole.split_at(14);
    let (head, payload) = ip.split_at(20);
    let fragment = |at: usize, more: bool| {
        let part = &payload[at..payload.len().min(at + 16)];
        let mut head = head.to_vec();
        head[2..4].copy_from_slice(&(20 + part.len() as u16).to_be_bytes());
        let field = (u16::from(more) << 13) | (at / 8) as u16;
        head[6..8].copy_from_slice(&field.to_be_bytes());
        [link, &head, part].concat()
    };
    let parts = [fragment(0, true), fragment(16, true), fragment(32, false)];
    let syn = to_server(9, Syn, b"");
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut packets = vec![syn.clone()];
        packets.extend(order.map(|n| parts[n].clone()));
        let text = items(&pcap(1, &packets));
        assert!(text.contains("0123456789abcdef"), "{order:?}: {text}");
    }
    let text = items(&pcap(1, &[syn, parts[0].clone(), parts[2].clone()]));
    assert!(!text.contains("0123"), "{text}");
}

#[test]
fn packets_without_plain_tcp_are_counted_by_kind() {
    let udp = |payload: &[u8]| {
        let mut packet = Vec::new();
        PacketBuilder::ethernet2([0; 6], [0; 6])
            .ipv4([127, 0, 0, 1], [127, 0, 0, 1], 64)
            .udp(1, 2)
            .write(&mut packet, payload)
            .unwrap();
        packet
    };
    let quic = udp(b"\xc3\0\0\0\x01rest");
    let hello = to_server(10, Data, b"\x16\x03\x01\x00\x10\x01");
    let tls = [to_server(9, Syn, b""), hello];
    for (link, packets, wanted) in [
        (
            1,
            vec![udp(b"x"), quic],
            "Unreadable 2 packets are not TCP: 1 QUIC, 1 UDP; QUIC is",
        ),
        (
            105,
            vec![udp(b"x")],
            "Unreadable 1 packet has link type 105",
        ),
        (1, vec![], "Note the capture is empty: it has no packets"),
        (
            1,
            tls.to_vec(),
            "Unreadable 1 TLS connection, first c0: a key log",
        ),
        (
            1,
            [&tls[..], &conversation_of(1)].concat(),
            "Note 1 TLS connection, first c0",
        ),
    ] {
        let text = items(&pcap(link, &packets));
        assert!(text.contains(wanted), "{text}");
    }
}

/// The conversation from another port of the client.
fn conversation_of(port: u16) -> Vec<Vec<u8>> {
    vec![
        tcp(port, SERVER, 9, Syn, b""),
        tcp(port, SERVER, 10, Data, b"ab"),
    ]
}

#[test]
fn ports_choose_connections_which_keep_their_numbers() {
    let packets = [conversation(), conversation_of(1)].concat();
    let options = PacketOptions {
        ports: vec![1],
        ..PacketOptions::default()
    };
    let text = items_in(&pcap(1, &packets), 100, options);
    assert!(text.contains("1 c2s Some(8000) ab"), "{text}");
    assert!(!text.contains("\n0 "), "{text}");
    assert!(!text.contains("no connection uses"), "{text}");
    let options = PacketOptions {
        ports: vec![2],
        ..PacketOptions::default()
    };
    let text = items_in(&pcap(1, &conversation_of(1)), 100, options);
    let wanted = format!("no connection uses port 2; ports are 1, {SERVER}");
    assert!(text.contains(&wanted), "{text}");
}

#[test]
fn oldest_gap_is_given_up_beyond_the_limit() {
    let mut packets = vec![to_server(9, Syn, b"")];
    packets.extend((0..20).map(|n| to_server(20 + n * 200, Data, &[b'x'; 100])));
    packets.push(to_server(10, Data, b"late"));
    let options = PacketOptions {
        reassembly_limit: 1000,
        ..PacketOptions::default()
    };
    let text = items_in(&pcap(1, &packets), 100, options);
    assert!(text.contains("0 lost c2s {\"len\":10}"), "{text}");
    assert!(!text.contains("late"), "{text}");
    assert!(text.contains("gaps were given up early"), "{text}");
}

#[test]
fn damaged_file_never_panics_and_gives_the_same_in_all_splits() {
    let packets = conversation();
    for file in [pcap(1, &packets), section(false, 6, &packets)] {
        // A damaged magic number is not detected.
        let read = |file: &[u8], step| items_from(Form::Pcap, file, step, PacketOptions::default());
        for at in 0..file.len() {
            read(&file[..at], at.max(1));
            for byte in [0, 0xff, file[at] ^ 1] {
                let mut damaged = file.clone();
                damaged[at] = byte;
                let whole = read(&damaged, damaged.len());
                assert_eq!(whole, read(&damaged, 13), "byte {at} is {byte}");
            }
        }
    }
}
