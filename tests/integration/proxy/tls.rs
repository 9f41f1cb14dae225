//! TLS on either side: all bytes, all ends, and an error message for every failure.

use super::common::*;
use super::sockets::send_in_both_directions;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use std::path::{Path, PathBuf};

/// Certificates in a folder.
pub struct Certificates {
    folder: tempfile::TempDir,
    issuer: Issuer<'static, KeyPair>,
}

impl Certificates {
    /// A root that signs other certificates.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        let name = folder.path().display().to_string();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap();
        std::fs::write(folder.path().join("root.pem"), root.pem()).unwrap();
        let issuer = Issuer::new(params, key);
        Self { folder, issuer }
    }

    /// A certificate for a name, valid until the start of a year.
    pub fn sign(&self, name: &str, year: i32) -> (PathBuf, PathBuf) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &self.issuer).unwrap();
        let paths = [format!("{name}-{year}.pem"), format!("{name}-{year}.key")];
        let [cert, secret] = paths.map(|path| self.folder.path().join(path));
        std::fs::write(&cert, signed.pem()).unwrap();
        std::fs::write(&secret, key.serialize_pem()).unwrap();
        (cert, secret)
    }

    pub fn root(&self) -> String {
        self.folder.path().join("root.pem").display().to_string()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A proxy with TLS for clients, in front of an address; and its port.
pub fn tls_proxy(
    scheme: &str,
    connect: &str,
    (cert, key): &(PathBuf, PathBuf),
    more: &[&str],
) -> (Run, u16) {
    let listen = format!("{scheme}://localhost:0");
    let mut args = vec!["record", "--connect", connect, "--listen", &listen];
    args.extend(["-w", "/dev/null", "--cert", text(cert), "--key", text(key)]);
    args.extend(more);
    let run = Run::new(&args);
    let output = read_until(&run.stderr, "connecting to");
    let (_, rest) = output.split_once("://localhost:").unwrap();
    let port = rest.split(',').next().unwrap().parse().unwrap();
    (run, port)
}

#[test]
fn tls_forwards_every_byte() {
    let certificate = Certificates::new();
    let paper = certificate.sign("localhost", 2100);
    for scheme in ["tls", "https", "wss"] {
        for size in [0, 1, 16_385, 1 << 20, 8 << 20] {
            let (give, server) = std::sync::mpsc::channel();
            let (address, _) = tcp(move |stream| give.send(stream).unwrap());
            let (front, port) = tls_proxy(scheme, &address, &paper, &["--once"]);
            let connect = format!("{scheme}://localhost:{port}");
            let root = certificate.root();
            let more = ["--once", "-w", "/dev/null", "--cacert", &root];
            let (run, port) = Run::proxy("record", &connect, &more);
            let client = connect_to_port(port);
            send_in_both_directions(client, server.recv_timeout(LIMIT).unwrap(), size);
            assert_eq!(run.code(), Some(0), "{scheme} {size}");
            assert_eq!(front.code(), Some(0), "{scheme} {size}");
        }
    }
}

#[test]
fn each_tls_failure_has_an_error() {
    let certificate = Certificates::new();
    let others = Certificates::new();
    let good = certificate.sign("localhost", 2100);
    let old = certificate.sign("localhost", 2020);
    let else_where = certificate.sign("example.org", 2100);
    let (root, other) = (certificate.root(), others.root());
    let mut table = String::new();
    for (what, paper, flags) in [
        ("good", &good, vec!["--cacert", &root]),
        ("expired", &old, vec!["--cacert", &root]),
        ("wrong name", &else_where, vec!["--cacert", &root]),
        ("unknown root", &good, vec!["--cacert", &other]),
        ("system roots", &good, vec![]),
        ("insecure", &old, vec!["--insecure"]),
    ] {
        let (_front, port) = tls_proxy("https", &echo_server(), paper, &[]);
        let connect = format!("https://localhost:{port}");
        table += format!("{what}: {}", try_connect(&connect, &flags)).trim_end();
        table += "\n";
    }
    let (plain, _) = tcp(|mut stream| {
        use std::io::Write as _;
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
        receive(&mut stream)
    });
    let plain = plain.replace("tcp://127.0.0.1", "https://localhost");
    table += &format!(
        "plain text on a TLS port: {}\n",
        try_connect(&plain, &["--insecure"])
    );
    insta::assert_snapshot!(table, @r#"
    good: "hello" Ok(5), exit Some(0)
    expired: "" Err(ConnectionReset), exit Some(2)
      wiretool: connection 1: cannot connect to https://localhost:PORT: the server's certificate has expired; --insecure accepts it
    wrong name: "" Err(ConnectionReset), exit Some(2)
      wiretool: connection 1: cannot connect to https://localhost:PORT: the server's certificate is not for localhost, but for example.org; --insecure accepts it
    unknown root: "" Err(ConnectionReset), exit Some(2)
      wiretool: connection 1: cannot connect to https://localhost:PORT: no trusted CA signed the server's certificate: name its root with --cacert FILE, or accept any certificate with --insecure
    system roots: "" Err(ConnectionReset), exit Some(2)
      wiretool: connection 1: cannot connect to https://localhost:PORT: no trusted CA signed the server's certificate: name its root with --cacert FILE, or accept any certificate with --insecure
    insecure: "hello" Ok(5), exit Some(0)
    plain text on a TLS port: "" Err(ConnectionReset), exit Some(2)
      wiretool: connection 1: cannot connect to https://localhost:PORT: the server does not use TLS at this address: without TLS use tcp://, ws:// or http://
    "#);
}

/// The bytes that a client receives and the messages of the proxy for an address, without ports.
fn try_connect(connect: &str, flags: &[&str]) -> String {
    use std::io::{Read as _, Write as _};
    let more = [&["--once", "-q", "-w", "/dev/null"][..], flags].concat();
    let (run, port) = Run::proxy("record", connect, &more);
    let mut client = connect_to_port(port);
    // A reset before the first byte is reported here, and not a second time.
    let written = client.write_all(b"hello");
    client.end();
    let mut got = Vec::new();
    let end = written.and_then(|()| client.read_to_end(&mut got));
    let end = end.map_err(|e| e.kind());
    let (status, _, output) = run.end();
    let port = connect.rsplit(':').next().unwrap();
    let output = output.replace(port, "PORT");
    let output = output.lines().filter(|line| !line.contains("listening on"));
    let output: Vec<&str> = output.collect();
    let got = String::from_utf8_lossy(&got).into_owned();
    format!(
        "{got:?} {end:?}, exit {:?}\n  {}",
        status.code(),
        output.join("\n  ")
    )
}

#[test]
fn plain_text_to_tls_listener_is_reported() {
    use std::io::Write as _;
    let certificate = Certificates::new();
    let paper = certificate.sign("localhost", 2100);
    let (front, port) = tls_proxy("wss", &echo_server(), &paper, &["--once"]);
    let mut client = connect_to_port(port);
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut rest = Vec::new();
    let _ = std::io::Read::read_to_end(&mut client, &mut rest);
    let (status, _, output) = front.end();
    assert_eq!(status.code(), Some(2));
    assert!(
        output.contains("the client does not use TLS at this address"),
        "{output}"
    );
}

#[test]
fn contradictory_flags_are_refused() {
    for (args, want) in [
        (
            &["--listen", "https://127.0.0.1:0"][..],
            "needs a certificate",
        ),
        (&["--insecure"], "--cacert and --insecure need TLS"),
        (
            &["--cert", "/x", "--key", "/x"],
            "--cert and --key need TLS",
        ),
        (&["--cert", "/x"], "--key"),
        (
            &["--connect", "https://localhost:1", "--cacert", "/dev/null"],
            "it contains no certificate",
        ),
        (&["--fault", "kind=call: drop"], "-p"),
    ] {
        let mut all = vec!["record", "-w", "/dev/null"];
        if !args.contains(&"--connect") {
            all.extend(["--connect", "tcp://127.0.0.1:1"]);
        }
        all.extend(args);
        let (status, _, output) = Run::new(&all).end();
        assert_eq!(status.code(), Some(2), "{args:?} {output}");
        assert!(output.contains(want), "{args:?} {output}");
    }
}

/// A connection without `close_notify` is recorded differently from a connection with it.
#[test]
fn missing_close_notify_is_recorded() {
    use std::io::{Read as _, Write as _};
    use std::sync::Arc;
    use tokio_rustls::rustls::pki_types::CertificateDer;
    use tokio_rustls::rustls::pki_types::pem::PemObject as _;
    use tokio_rustls::rustls::{
        ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring,
    };
    let certificate = Certificates::new();
    let (cert, key) = certificate.sign("localhost", 2100);
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_file(certificate.root()).unwrap();
    roots.add(root).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = Arc::new(config);
    let folder = tempfile::tempdir().unwrap();
    for in_order in [true, false] {
        let (address, server) = tcp(|mut stream| receive(&mut stream));
        let recording = folder.path().join(in_order.to_string());
        let args = [
            "record",
            "-v",
            "--once",
            "--listen",
            "tls://localhost:0",
            "--connect",
            &address,
            "--cert",
            text(&cert),
            "--key",
            text(&key),
            "-w",
            text(&recording),
        ];
        let run = Run::new(&args);
        let output = read_until(&run.stderr, "connecting to");
        let (_, rest) = output.split_once("://localhost:").unwrap();
        let port = rest.split(',').next().unwrap().parse().unwrap();
        let name = "localhost".try_into().unwrap();
        let client = ClientConnection::new(Arc::clone(&config), name).unwrap();
        let mut client = StreamOwned::new(client, connect_to_port(port));
        client.write_all(b"hello").unwrap();
        client.flush().unwrap();
        if in_order {
            client.conn.send_close_notify();
            client.flush().unwrap();
        }
        client.sock.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(server.join().unwrap(), b"hello");
        let _ = client.read_to_end(&mut Vec::new());
        let (status, _, output) = run.end();
        assert_eq!(status.code(), Some(0), "{output}");
        let lines = std::fs::read_to_string(&recording).unwrap();
        let eof = |dir: &str| {
            let is = |line: &&str| line.contains("\"eof\"") && line.contains(dir);
            lines.lines().find(is).unwrap().to_owned()
        };
        assert_eq!(eof("c2s").contains("\"close_notify\":false"), !in_order);
        assert!(!eof("s2c").contains("close_notify"), "{lines}");
        let tells = output.contains("1 direction ended without close_notify of TLS");
        assert_eq!(tells, !in_order, "{output}");
    }
}

/// The result of plain `openssl req -x509`: a self-signed CA certificate. It is trusted if it is given as a root.
#[test]
fn self_signed_certificate_is_trusted_as_root() {
    let folder = tempfile::tempdir().unwrap();
    let unnamed = "has no subjectAltName, and its common name does not count: make one with subjectAltName=DNS:localhost";
    let make = |file: &str, names: &[&str], year: i32| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        if file != "server" {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let [cert, secret] = ["pem", "key"].map(|end| folder.path().join(format!("{file}.{end}")));
        std::fs::write(&cert, params.self_signed(&key).unwrap().pem()).unwrap();
        std::fs::write(&secret, key.serialize_pem()).unwrap();
        (cert, secret)
    };
    let named = make("named", &["localhost"], 2100);
    let nameless = make("nameless", &[], 2100);
    let other = make("other", &["example.org"], 2100);
    let old = make("old", &["localhost"], 2020);
    let server = make("server", &[], 2100);
    for (paper, root, want) in [
        (&named, &named, ": \"hello\" Ok(5), exit Some(0)"),
        (&nameless, &nameless, ": \"hello\" Ok(5), exit Some(0)"),
        (&other, &other, "is not for localhost, but for example.org"),
        (&old, &old, "has expired"),
        (&named, &other, "belongs to a certificate authority"),
        (&server, &server, unnamed),
    ] {
        let (_front, port) = tls_proxy("https", &echo_server(), paper, &[]);
        let connect = format!("https://localhost:{port}");
        let output = format!(": {}", try_connect(&connect, &["--cacert", text(&root.0)]));
        assert!(output.contains(want), "{output}");
        assert!(
            !output.contains("Ca") && !output.contains("Error("),
            "{output}"
        );
    }
}
