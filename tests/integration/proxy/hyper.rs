//! hyper at both ends, with or without TLS: requests of all forms, persistent connections and concurrent connections.
//!
//! ```text
//!   hyper client --http or https--> proxy --http or https--> hyper server
//!   '- hash of its traffic                                   '- the same
//! ```

use super::common::*;
use super::tls::Certificates;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::{Method, Request, Response, StatusCode, client, server};
use hyper_util::rt::TokioIo;
use sha2::{Digest as _, Sha256};
use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use wiretool::capture::{ChunkSource, Record};

/// The plain text of one connection, seen from one side.
#[derive(Clone, Default)]
struct Seen {
    read: Sha256,
    written: Sha256,
}

impl Seen {
    fn hashes(self) -> (String, String) {
        let hex = |sha: Sha256| hex::encode(sha.finalize());
        (hex(self.read), hex(self.written))
    }
}

type Shared = Arc<Mutex<Seen>>;

/// A stream that hashes its bytes.
struct Hashed<S>(S, Shared);

impl<S: AsyncRead + Unpin> AsyncRead for Hashed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.0).poll_read(context, into))?;
        self.1.lock().unwrap().read.update(&into.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Hashed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let n = ready!(Pin::new(&mut self.0).poll_write(context, bytes))?;
        self.1.lock().unwrap().written.update(&bytes[..n]);
        Poll::Ready(Ok(n))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

trait DuplexStream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> DuplexStream for S {}

type Body = BoxBody<Bytes, Infallible>;

fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed()
}

/// In pieces, so that hyper sends it in chunks.
fn pieces(pieces: Vec<Vec<u8>>) -> Body {
    let frames = pieces
        .into_iter()
        .map(|piece| Ok(Frame::data(piece.into())));
    BodyExt::boxed(StreamBody::new(futures_util::stream::iter(frames)))
}

/// Returns the request in the form that the path selects.
async fn answer(request: Request<Incoming>) -> Result<Response<Body>, hyper::Error> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    let response = Response::builder();
    let response = match path.as_str() {
        "/none" => response.status(StatusCode::NO_CONTENT).body(full("")),
        "/missing" => response.status(StatusCode::NOT_FOUND).body(full("no")),
        "/chunks" => response.body(pieces(body.chunks(10_000).map(<[u8]>::to_vec).collect())),
        "/events" => {
            let event = format!("data: {}\n\n", String::from_utf8_lossy(&body));
            let all = std::iter::repeat_n(event.into_bytes(), 5).collect();
            response
                .header("content-type", "text/event-stream")
                .body(pieces(all))
        }
        _ => response.body(full(body)),
    };
    Ok(response.unwrap())
}

const MESSAGE: &str = r#"{"jsonrpc":"2.0","id":"1","method":"components/list","params":{}}"#;

/// Method, path, pieces of the body; expected status and body.
type Exchange = (Method, &'static str, Vec<Vec<u8>>, u16, Vec<u8>);

/// The requests of one connection.
fn requests() -> Vec<Exchange> {
    let message = || MESSAGE.as_bytes().to_vec();
    let big = Noise::new(11).bytes(150_000);
    let events = format!("data: {MESSAGE}\n\n").repeat(5).into_bytes();
    let parts: Vec<Vec<u8>> = big.chunks(50_000).map(<[u8]>::to_vec).collect();
    vec![
        (Method::POST, "/", vec![message()], 200, message()),
        (Method::GET, "/none", vec![], 204, vec![]),
        (Method::POST, "/", vec![big.clone()], 200, big.clone()),
        (Method::PUT, "/chunks", parts, 200, big),
        (Method::POST, "/events", vec![message()], 200, events),
        (Method::DELETE, "/missing", vec![], 404, b"no".to_vec()),
    ]
}

fn server_config((cert, key): &(PathBuf, PathBuf)) -> Arc<ServerConfig> {
    let certs = CertificateDer::pem_file_iter(cert).unwrap();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(certs.map(Result::unwrap).collect(), key);
    Arc::new(config.unwrap())
}

fn client_config(root: &str) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for cert in CertificateDer::pem_file_iter(root).unwrap() {
        roots.add(cert.unwrap()).unwrap();
    }
    let config = ClientConfig::builder().with_root_certificates(roots);
    Arc::new(config.with_no_client_auth())
}

/// A server with or without TLS, until the process ends. Returns its port, and the traffic of each connection.
fn serve(tls: Option<Arc<ServerConfig>>) -> (u16, Arc<Mutex<Vec<Shared>>>) {
    let (tell, port) = std::sync::mpsc::channel();
    let all: Arc<Mutex<Vec<Shared>>> = Arc::default();
    let seen = Arc::clone(&all);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap().port()).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (tls, shared) = (tls.clone(), Shared::default());
                seen.lock().unwrap().push(Arc::clone(&shared));
                tokio::spawn(async move {
                    let stream: Box<dyn DuplexStream> = match tls {
                        None => Box::new(stream),
                        Some(tls) => Box::new(TlsAcceptor::from(tls).accept(stream).await.unwrap()),
                    };
                    let io = TokioIo::new(Hashed(stream, shared));
                    let service = hyper::service::service_fn(answer);
                    let _ = server::conn::http1::Builder::new()
                        .serve_connection(io, service)
                        .await;
                });
            }
        });
    });
    (port.recv().unwrap(), all)
}

/// Sends all requests on one connection and returns its traffic.
async fn ask(port: u16, tls: Option<Arc<ClientConfig>>) -> (String, String) {
    let shared = Shared::default();
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let stream: Box<dyn DuplexStream> = match tls {
        None => Box::new(stream),
        Some(tls) => {
            let name = ServerName::try_from("localhost").unwrap();
            Box::new(TlsConnector::from(tls).connect(name, stream).await.unwrap())
        }
    };
    let io = TokioIo::new(Hashed(stream, Arc::clone(&shared)));
    let (mut sender, connection) = client::conn::http1::handshake(io).await.unwrap();
    let talk = async move {
        for (method, path, parts, status, want) in requests() {
            let body = match parts.as_slice() {
                [] => full(""),
                [one] => full(one.clone()),
                _ => pieces(parts),
            };
            let request = Request::builder().method(&method).uri(path);
            let request = { request }.header("host", "localhost").body(body).unwrap();
            let response = sender.send_request(request).await.unwrap();
            assert_eq!(response.status().as_u16(), status, "{method} {path}");
            let got = response.into_body().collect().await.unwrap().to_bytes();
            assert!(got == want, "{method} {path}");
        }
    };
    let ((), ended) = tokio::join!(talk, connection);
    ended.unwrap();
    let seen = shared.lock().unwrap().clone();
    seen.hashes()
}

/// A proxy that records, and its port.
fn run_between(
    listen: &str,
    connect: &str,
    certificate: &Certificates,
    recording: &Path,
    more: &[&str],
) -> (Run, u16) {
    let (cert, key) = certificate.sign("localhost", 2100);
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let (listen, root) = (format!("{listen}://localhost:0"), certificate.root());
    let recording = recording.to_str().unwrap();
    let mut args = vec!["record", "-p", "stepflow", "--listen", &listen];
    args.extend(["--connect", connect, "-w", recording]);
    if listen.starts_with("https") {
        args.extend(["--cert", cert, "--key", key]);
    }
    if connect.starts_with("https") {
        args.extend(["--cacert", &root]);
    }
    args.extend(more);
    let run = Run::new(&args);
    let output = read_until(&run.stderr, "connecting to");
    let (_, rest) = output.split_once("://localhost:").unwrap();
    let port = rest.split(',').next().unwrap().parse().unwrap();
    (run, port)
}

const CONNECTIONS: usize = 4;

#[test]
fn hyper_works_over_every_pair_of_schemes() {
    let certificate = Certificates::new();
    let (accept, trust) = (
        server_config(&certificate.sign("localhost", 2100)),
        client_config(&certificate.root()),
    );
    let idle = ["--fault", "kind=none: drop"];
    for (listen, connect, faults) in [
        ("http", "http", &[][..]),
        ("http", "https", &[]),
        ("https", "http", &[]),
        ("https", "https", &[]),
        ("https", "https", &idle),
    ] {
        let name = format!("{listen} to {connect} {faults:?}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let (port, served) = serve((connect == "https").then(|| Arc::clone(&accept)));
        let to = format!("{connect}://localhost:{port}");
        let (run, port) = run_between(listen, &to, &certificate, &path, faults);
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let asked = runtime.block_on(async {
            let tls = (listen == "https").then(|| Arc::clone(&trust));
            let all = (0..CONNECTIONS).map(|_| ask(port, tls.clone()));
            let all = futures_util::future::join_all(all);
            tokio::time::timeout(LIMIT, all).await.unwrap()
        });
        run.signal(rustix::process::Signal::INT);
        let (status, _, output) = run.end();
        assert_eq!(status.code(), Some(130), "{name}: {output}");
        // The recording equals the traffic of both ends.
        let recording = Recording::read(&path);
        let of = |conn, way| hex::encode(Sha256::digest(recording.bytes(conn, way)));
        let conns =
            (1..=CONNECTIONS as u32).map(|c| (of(c, ChunkSource::S2c), of(c, ChunkSource::C2s)));
        let mut recorded: Vec<_> = conns.collect();
        let served = std::mem::take(&mut *served.lock().unwrap());
        let mut received: Vec<_> = served
            .iter()
            .map(|s| s.lock().unwrap().clone().hashes())
            .collect();
        for (read, written) in &mut received {
            std::mem::swap(read, written);
        }
        let mut output = asked;
        for all in [&mut recorded, &mut received, &mut output] {
            all.sort();
        }
        assert_eq!(received, output, "{name}");
        assert_eq!(recorded, output, "{name}");
        assert!(!recording.0.iter().any(
            |r| matches!(r, Record::Event(e) if ["lost", "reset"].contains(&e.event.as_str()))
        ));
        // Every exchange is decoded, and none of them as partial.
        let (_, shown, _) = Run::new(&["decode", "-f", "json", path.to_str().unwrap()]).end();
        let shown = String::from_utf8(shown).unwrap();
        let count = |word: &str| shown.lines().filter(|line| line.contains(word)).count();
        let calls = r#""subject":"components/list""#;
        // Sent in two requests; returned in one answer and in five events.
        assert_eq!(count(calls), CONNECTIONS * 8, "{name}");
        assert_eq!(count(r#""code":"truncated""#), 0, "{name}");
        assert_eq!(count(r#""code":"bad-http""#), 0, "{name}");
    }
}
