//! Large and mixed traffic over every scheme, with and without TLS: the hash of the received bytes equals the hash of
//! the sent bytes.
//!
//! ```text
//!   client --plain--> proxy --sealed--> proxy --plain--> server     wss, https
//!   client --plain--> proxy ----------plain-----------> server     ws, http
//! ```

use super::common::*;
use super::tls::{Certificates, tls_proxy};
use sha2::{Digest as _, Sha256};
use std::io::Write as _;
use std::sync::mpsc::channel;
use std::thread::spawn;

/// The minimum number of bytes in each direction.
const BYTES: usize = 16 << 20;
/// A direction with faults is decoded on the path.
const BYTES_WITH_FAULTS: usize = 4 << 20;

/// Bodies of all sizes, mostly of medium size.
fn body(noise: &mut Noise) -> Vec<u8> {
    let most = [1, 100, 126, 3000, 66_000, 300_000, 1 << 20][noise.next() as usize % 7];
    let len = noise.next() as usize % most;
    noise.bytes(len)
}

/// HTTP in one direction: with a length, in chunks, as events, without a body; requests or responses.
fn http(asks: bool, much: usize) -> Vec<u8> {
    let mut noise = Noise::new(u64::from(asks));
    let start = ["HTTP/1.1 200 OK", "POST /x HTTP/1.1\r\nHost: example.org"][usize::from(asks)];
    let mut all = Vec::new();
    while all.len() < much {
        write!(all, "{start}\r\n").unwrap();
        let content = body(&mut noise);
        match noise.next() % 4 {
            0 => write!(all, "Content-Length: 0\r\n\r\n").unwrap(),
            1 => {
                write!(all, "Content-Length: {}\r\n\r\n", content.len()).unwrap();
                all.extend(content);
            }
            2 => {
                write!(all, "Transfer-Encoding: chunked\r\n\r\n").unwrap();
                for chunk in content.chunks(1 + noise.next() as usize % 9000) {
                    write!(all, "{:x}\r\n", chunk.len()).unwrap();
                    all.extend(chunk);
                    all.extend(b"\r\n");
                }
                all.extend(b"0\r\n\r\n");
            }
            _ => {
                let events = format!(
                    ": a comment\n\ndata: {{\"jsonrpc\":\"2.0\",\"id\":\"{}\",\"result\":{{}}}}\n\n",
                    noise.next()
                );
                write!(
                    all,
                    "Content-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n{events}",
                    events.len()
                )
                .unwrap();
            }
        }
    }
    all
}

/// An upgrade and frames after it: masked or not, whole and fragmented, with pings between the fragments.
fn websocket(asks: bool, much: usize) -> Vec<u8> {
    let mut noise = Noise::new(7 + u64::from(asks));
    let mut all = if asks {
        b"GET /x HTTP/1.1\r\nHost: example.org\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
            .to_vec()
    } else {
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
            .to_vec()
    };
    let frame = |all: &mut Vec<u8>, first: u8, content: &[u8], key: u64| {
        all.push(first);
        let bit = if asks { 0x80 } else { 0 };
        match content.len() {
            len @ 0..126 => all.push(bit | len as u8),
            len @ 126..0x1_0000 => {
                all.push(bit | 0x7e);
                all.extend((len as u16).to_be_bytes());
            }
            len => {
                all.push(bit | 0x7f);
                all.extend((len as u64).to_be_bytes());
            }
        }
        let key = (key as u32).to_be_bytes();
        if asks {
            all.extend(key);
        }
        let masked = content.iter().zip(key.iter().cycle());
        all.extend(masked.map(|(b, k)| if asks { b ^ k } else { *b }));
    };
    while all.len() < much {
        let content = body(&mut noise);
        match noise.next() % 3 {
            0 => frame(&mut all, 0x82, &content, noise.next()),
            1 => {
                let (a, b) = content.split_at(content.len() / 3);
                frame(&mut all, 0x02, a, noise.next());
                frame(&mut all, 0x89, b"between", noise.next());
                frame(&mut all, 0x80, b, noise.next());
            }
            _ => {
                let text = format!("{{\"kind\":\"INV\",\"seq\":{}}}", noise.next() % 100);
                frame(&mut all, 0x81, text.as_bytes(), noise.next());
            }
        }
    }
    all
}

fn hash(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Writes bytes and reads at the same time. Returns the hash of the received bytes.
fn exchange<S: Socket>(mut stream: S, sent: Vec<u8>, seed: u64) -> String {
    let mut writer = stream.clone_socket();
    let writing = spawn(move || {
        send(&mut writer, &sent, seed);
        writer.end();
    });
    let got = receive(&mut stream);
    writing.join().unwrap();
    hash(&got)
}

#[test]
fn every_scheme_forwards_large_mixed_traffic() {
    let certificate = Certificates::new();
    let paper = certificate.sign("localhost", 2100);
    let root = certificate.root();
    let idle = ["-p", "stepflow", "--fault", "kind=none nth 99: drop"];
    let idle_sael = ["-p", "sael", "--fault", "kind=none nth 99: drop"];
    for (scheme, make, faults) in [
        ("http", http as fn(bool, usize) -> Vec<u8>, &[][..]),
        ("https", http, &[]),
        ("ws", websocket, &[]),
        ("wss", websocket, &[]),
        ("http", http, &idle),
        ("https", http, &idle),
        ("ws", websocket, &idle_sael),
        ("wss", websocket, &idle_sael),
    ] {
        let much = if faults.is_empty() {
            BYTES
        } else {
            BYTES_WITH_FAULTS
        };
        let (up, down) = (make(true, much), make(false, much));
        let (want_up, want_down) = (hash(&up), hash(&down));
        let (give, server) = channel();
        let (address, _) = tcp(move |stream| give.send(stream).unwrap());
        let mut more = vec!["--once", "-w", "/dev/null"];
        more.extend(faults);
        let mut fronts = Vec::new();
        let sealed = scheme.ends_with('s') && scheme != "ws";
        let connect = if sealed {
            let (run, port) = tls_proxy(scheme, &address, &paper, &["--once"]);
            fronts.push(run);
            more.extend(["--cacert", &root]);
            format!("{scheme}://localhost:{port}")
        } else {
            address.replace("tcp", scheme)
        };
        let (run, port) = Run::proxy("record", &connect, &more);
        let client = connect_to_port(port);
        let server = server.recv_timeout(LIMIT).unwrap();
        let serving = spawn(move || exchange(server, down, 3));
        let got_down = exchange(client, up, 4);
        let got_up = serving.join().unwrap();
        assert_eq!(
            (got_up, got_down),
            (want_up, want_down),
            "{scheme} {faults:?}"
        );
        assert_eq!(run.code(), Some(0), "{scheme}");
        for front in fronts {
            assert_eq!(front.code(), Some(0), "{scheme}");
        }
    }
}
