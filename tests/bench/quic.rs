//! Compares `wiretool proxy` over QUIC with a relay that inspects nothing: `cargo bench --bench quic`.
//!
//! ```text
//!   client --quic--> relay         --quic--> server     streams are forwarded as they are
//!                    proxy -q
//!                    proxy -q -w                        the same with a recording
//! ```
//!
//! Client and server are threads of this program; what is between them is a process: wiretool, or this program again. All are
//! measured in each round, one after another, so that other programs on the machine disturb all of them; a ratio is the median of its rounds. The program
//! fails if a ratio is beyond its limit. Without `--bench`, it makes one short round and compares nothing.

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, Endpoint, RecvStream, SendStream, ServerConfig};
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_rustls::rustls;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

/// A `Barge` request of telequick, and its answer.
const REQUEST: &[u8] = b"\x15\0\0\0\x12\xfa\xbb\xe5\0\0\x07\0\0\0\x03\0\0\0abc";
const ANSWER: &[u8] = b"\x0a\0\0\0\x12\xfa\xbb\xe5\0\0\0\0\0\0";
/// Time limit for each step that waits for something.
const LIMIT: Duration = Duration::from_secs(60);
/// A chunk of the bulk transfer in bytes.
const CHUNK: usize = 64 << 10;
const MIB: u64 = 1 << 20;

/// The amount of work of one round.
struct Load {
    rounds: usize,
    /// Requests one after another.
    requests: usize,
    connections: usize,
    streams: usize,
    /// Time during which all streams of all connections send requests.
    time: Duration,
    /// Bytes of the bulk transfer.
    bulk: u64,
}

const FULL: Load = Load {
    rounds: 5,
    requests: 4000,
    connections: 64,
    streams: 8,
    time: Duration::from_secs(2),
    bulk: 128 * MIB,
};

const SHORT: Load = Load {
    rounds: 1,
    requests: 20,
    connections: 4,
    streams: 2,
    time: Duration::from_millis(100),
    bulk: MIB,
};

/// A measured value; `true` if more is better.
const METRICS: [(&str, bool); 4] = [
    ("p50 µs", false),
    ("p99 µs", false),
    ("requests/s", true),
    ("bulk MB/s", true),
];

/// One value for each metric.
type Figures = [f64; 4];

/// A forwarder, and the limits of its ratios to the first.
const SUBJECTS: [(&str, Option<Figures>); 3] = [
    ("relay", None),
    ("proxy", Some([1.15, 1.4, 0.85, 0.7])),
    ("proxy -w", Some([1.2, 1.5, 0.8, 0.35])),
];

/// The certificate of all servers, and a folder for recordings.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let files = Self(tempfile::tempdir().unwrap());
        std::fs::write(files.path("cert.pem"), made.cert.pem()).unwrap();
        std::fs::write(files.path("key.pem"), made.signing_key.serialize_pem()).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn server_config(cert: &Path, key: &Path) -> ServerConfig {
    let cert = CertificateDer::from_pem_file(cert).unwrap();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let tls = rustls::ServerConfig::builder().with_no_client_auth();
    let mut tls = tls.with_single_cert(vec![cert], key).unwrap();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()))
}

fn client_config(cert: &Path) -> ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(cert).unwrap())
        .unwrap();
    let tls = rustls::ClientConfig::builder().with_root_certificates(roots);
    let mut tls = tls.with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()))
}

fn any_port() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

/// Accepts streams, counts what they bring, and answers with the count.
async fn serve(endpoint: Endpoint) {
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            let connection = incoming.await.unwrap();
            while let Ok((send, receive)) = connection.accept_bi().await {
                tokio::spawn(answer(send, receive));
            }
        });
    }
}

async fn answer(mut send: SendStream, mut receive: RecvStream) {
    let mut count = 0;
    while let Ok(Some(chunk)) = receive.read_chunk(CHUNK, true).await {
        count += chunk.bytes.len() as u64;
    }
    let answer = [ANSWER, &count.to_le_bytes()].concat();
    // The client may have closed the connection at the end of its time.
    if send.write_all(&answer).await.is_ok() {
        let _ = send.finish();
    }
}

/// Forwards connections to a server until the process is killed.
async fn relay(server: SocketAddr, cert: PathBuf, key: PathBuf) {
    let listener = Endpoint::server(server_config(&cert, &key), any_port()).unwrap();
    let dialer = Endpoint::client(any_port()).unwrap();
    let config = client_config(&cert);
    eprintln!("listening on quic://{}", listener.local_addr().unwrap());
    while let Some(incoming) = listener.accept().await {
        let to = dialer
            .connect_with(config.clone(), server, "localhost")
            .unwrap();
        tokio::spawn(async move {
            let (client, server) = tokio::try_join!(async { incoming.await }, to).unwrap();
            while let Ok((answer, request)) = client.accept_bi().await {
                let (forward, reply) = server.open_bi().await.unwrap();
                tokio::spawn(copy(request, forward));
                tokio::spawn(copy(reply, answer));
            }
            server.close(0u32.into(), b"");
        });
    }
}

async fn copy(mut from: RecvStream, mut to: SendStream) {
    while let Ok(Some(chunk)) = from.read_chunk(CHUNK, true).await {
        if to.write_chunk(chunk.bytes).await.is_err() {
            return;
        }
    }
    let _ = to.finish();
}

/// A process between client and server.
struct Process {
    child: Child,
    port: u16,
    recording: Option<PathBuf>,
}

impl Process {
    fn start(name: &str, server: u16, files: &Files) -> Self {
        let [cert, key] = ["cert.pem", "key.pem"].map(|name| files.path(name));
        let connect = format!("quic://localhost:{server}");
        let mut recording = None;
        let mut command = if name == "relay" {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command
                .args(["relay", &server.to_string()])
                .args([&cert, &key]);
            command
        } else {
            let mut command = Command::new(env!("CARGO_BIN_EXE_wiretool"));
            command.args(["proxy", "-q", "-p", "telequick", "--connect", &connect]);
            command
                .args(["--listen", "quic://127.0.0.1:0", "--cacert"])
                .arg(&cert);
            command.arg("--cert").arg(&cert).arg("--key").arg(&key);
            if name.ends_with("-w") {
                command
                    .arg("-w")
                    .arg(recording.insert(files.path("recording.jsonl")));
            }
            command
        };
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            let (_, address) = line.split_once("listening on ")?;
            let (_, port) = address.split_once("127.0.0.1:")?;
            port.split(|c: char| !c.is_ascii_digit())
                .next()?
                .parse()
                .ok()
        });
        let port = port.unwrap_or_else(|| panic!("{name} does not listen"));
        // The rest is shown, so that a problem is seen.
        std::thread::spawn(move || {
            lines
                .map_while(Result::ok)
                .for_each(|line| eprintln!("{line}"));
        });
        Self {
            child,
            port,
            recording,
        }
    }

    /// Ends the process. A recording must have all bytes of `sent`.
    fn end(mut self, sent: u64) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap();
        let Some(path) = self.recording else { return };
        let text = std::fs::read_to_string(&path).unwrap();
        let end: serde_json::Value =
            serde_json::from_str(text.lines().next_back().unwrap()).unwrap();
        assert_eq!(
            end["bytes"]["c2s"], sent,
            "the recording lacks bytes: {end}"
        );
        std::fs::remove_file(path).unwrap();
    }
}

/// A client of one process.
struct Client {
    endpoint: Endpoint,
    config: ClientConfig,
    to: SocketAddr,
}

impl Client {
    async fn connect(&self) -> Connection {
        let connecting = self
            .endpoint
            .connect_with(self.config.clone(), self.to, "localhost");
        connecting.unwrap().await.unwrap()
    }

    /// Measures everything. Returns the figures and the number of bytes that were sent.
    async fn measure(&self, load: &Load) -> (Figures, u64) {
        let mut sent = 0;
        let mut times = Vec::new();
        let connection = self.connect().await;
        for n in 0..load.requests + load.requests / 10 {
            let start = Instant::now();
            request(&connection).await;
            // The first requests warm up.
            if n >= load.requests / 10 {
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
            sent += REQUEST.len() as u64;
        }
        connection.close(0u32.into(), b"");
        times.sort_by(f64::total_cmp);
        let quantile = |of: usize| times[times.len() * of / 100];

        let mut connections = Vec::new();
        for _ in 0..load.connections {
            connections.push(self.connect().await);
        }
        let start = Instant::now();
        let until = start + load.time;
        let clients = connections.iter().flat_map(|connection| {
            (0..load.streams).map(|_| {
                let connection = connection.clone();
                tokio::spawn(async move {
                    let mut count = 0u32;
                    while Instant::now() < until {
                        request(&connection).await;
                        count += 1;
                    }
                    count
                })
            })
        });
        let mut count = 0u32;
        for client in clients.collect::<Vec<_>>() {
            count += client.await.unwrap();
        }
        let rate = f64::from(count) / start.elapsed().as_secs_f64();
        sent += u64::from(count) * REQUEST.len() as u64;
        for connection in connections {
            connection.close(0u32.into(), b"");
        }

        let connection = self.connect().await;
        let frames = REQUEST.repeat(CHUNK / REQUEST.len());
        let start = Instant::now();
        let (mut up, mut down) = connection.open_bi().await.unwrap();
        let mut bulk = 0;
        while bulk < load.bulk {
            up.write_all(&frames).await.unwrap();
            bulk += frames.len() as u64;
        }
        up.finish().unwrap();
        check(&down.read_to_end(100).await.unwrap(), bulk);
        let speed = f64::from(u32::try_from(bulk).unwrap()) / 1e6 / start.elapsed().as_secs_f64();
        connection.close(0u32.into(), b"");
        self.endpoint.wait_idle().await;
        ([quantile(50), quantile(99), rate, speed], sent + bulk)
    }
}

/// Sends a request on a stream of its own, and reads the answer.
async fn request(connection: &Connection) {
    let (mut send, mut receive) = connection.open_bi().await.unwrap();
    send.write_all(REQUEST).await.unwrap();
    send.finish().unwrap();
    check(
        &receive.read_to_end(100).await.unwrap(),
        REQUEST.len() as u64,
    );
}

fn check(answer: &[u8], sent: u64) {
    assert_eq!(answer, [ANSWER, &sent.to_le_bytes()].concat());
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints the medians and the ratios. Returns `true` if no ratio is beyond its limit.
fn report(rounds: &[[Figures; SUBJECTS.len()]]) -> bool {
    print!("{:<12}", "");
    for (name, _) in METRICS {
        print!("{name:>24}");
    }
    println!();
    let mut is_within = true;
    for (subject, (name, limits)) in SUBJECTS.iter().enumerate() {
        print!("{name:<12}");
        for (metric, (_, more_is_better)) in METRICS.iter().enumerate() {
            let value = median(rounds.iter().map(|round| round[subject][metric]).collect());
            let Some(limits) = limits else {
                print!("{value:>24.0}");
                continue;
            };
            let ratios = rounds
                .iter()
                .map(|round| round[subject][metric] / round[0][metric]);
            let (ratio, limit) = (median(ratios.collect()), limits[metric]);
            let (sign, is_kept) = match more_is_better {
                true => ('≥', ratio >= limit),
                false => ('≤', ratio <= limit),
            };
            is_within &= is_kept;
            let mark = if is_kept { ' ' } else { '!' };
            print!(
                "{:>24}",
                format!("{value:.0}  {ratio:.2} {sign} {limit:.2}{mark}")
            );
        }
        println!();
    }
    is_within
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let ["relay", port, cert, key] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        let server = (Ipv4Addr::LOCALHOST, port.parse().unwrap()).into();
        runtime().block_on(relay(server, cert.into(), key.into()));
        return ExitCode::SUCCESS;
    }
    let is_full = words.iter().any(|word| word == "--bench");
    let load = if is_full { FULL } else { SHORT };
    let files = Files::new();
    let config = server_config(&files.path("cert.pem"), &files.path("key.pem"));
    let (listening, port) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        runtime().block_on(async {
            let endpoint = Endpoint::server(config, any_port()).unwrap();
            listening
                .send(endpoint.local_addr().unwrap().port())
                .unwrap();
            serve(endpoint).await;
        });
    });
    let server = port.recv_timeout(LIMIT).unwrap();
    let runtime = runtime();
    let mut rounds = Vec::new();
    for round in 0..load.rounds {
        let mut figures = [Figures::default(); SUBJECTS.len()];
        for n in 0..SUBJECTS.len() {
            // Another one comes first in each round.
            let subject = (round + n) % SUBJECTS.len();
            let process = Process::start(SUBJECTS[subject].0, server, &files);
            let (measured, sent) = runtime.block_on(async {
                let client = Client {
                    endpoint: Endpoint::client(any_port()).unwrap(),
                    config: client_config(&files.path("cert.pem")),
                    to: (Ipv4Addr::LOCALHOST, process.port).into(),
                };
                tokio::time::timeout(LIMIT, client.measure(&load))
                    .await
                    .unwrap()
            });
            figures[subject] = measured;
            process.end(sent);
        }
        rounds.push(figures);
    }
    if report(&rounds) || !is_full {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
