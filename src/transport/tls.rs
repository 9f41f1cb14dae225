//! TLS for clients and servers: trust, certificates and error messages.
//!
//! ```text
//!   client --plain or TLS--> wiretool --plain or TLS--> server        recordings hold the plaintext
//! ```

use std::fmt::Display;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::rustls;
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, ServerConfig,
    SignatureScheme,
};

/// Time limit of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const HTTP: &[u8] = b"http/1.1";

/// The certificates that a client accepts.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Certificates that lead to a root of the system.
    System,
    /// Those that lead to one of these roots (PEM).
    Roots(Vec<u8>),
    /// Any certificate.
    Any,
}

/// The configuration of a TLS client.
#[derive(Clone)]
pub struct TlsClient {
    connector: TlsConnector,
    /// None if any certificate is accepted.
    verifier: Option<Arc<TrustedRoots>>,
}

/// The configuration of a TLS server.
#[derive(Clone)]
pub struct TlsServer(TlsAcceptor);

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Parses certificates in PEM; at least one.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(found) if found.is_empty() => Err("it contains no certificate in PEM".into()),
        Ok(found) => Ok(found),
        Err(error) => Err(format!("no certificate that can be read: {error}")),
    }
}

impl TlsClient {
    /// Creates the configuration. With `http`, ALPN offers `http/1.1`.
    ///
    /// # Errors
    ///
    /// Returns a sentence about roots that cannot be used.
    pub fn new(trust: &Trust, http: bool) -> Result<Self, String> {
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?;
        let mut roots = RootCertStore::empty();
        let mut given = Vec::new();
        match trust {
            Trust::Any => {}
            Trust::System => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                if roots.is_empty() {
                    let text =
                        "the system has no trusted root certificates: give one with --cacert";
                    return Err(text.into());
                }
            }
            Trust::Roots(pem) => {
                given = certificates(pem)?;
                for root in &given {
                    roots.add(root.clone()).map_err(|e| plain_text(&e))?;
                }
            }
        }
        let config = config.dangerous();
        let (config, verifier) = if matches!(trust, Trust::Any) {
            let any = Arc::new(AnyCertificate(provider()));
            (config.with_custom_certificate_verifier(any), None)
        } else {
            let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider());
            let verifier = Arc::new(TrustedRoots {
                given,
                chains: chains.build().map_err(|e| plain_text(&e))?,
                refusal: Mutex::default(),
            });
            let same = Arc::clone(&verifier);
            (
                config.with_custom_certificate_verifier(same),
                Some(verifier),
            )
        };
        let mut config = config.with_no_client_auth();
        config.key_log = Arc::new(rustls::KeyLogFile::new());
        if http {
            config.alpn_protocols = vec![HTTP.to_vec()];
        }
        Ok(Self {
            connector: Arc::new(config).into(),
            verifier,
        })
    }

    pub(super) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(self.connector.config())
    }

    /// Explains why the last certificate was refused, once. A QUIC error has only the text of the library.
    pub(super) fn refusal(&self) -> Option<String> {
        let refusal = self.verifier.as_ref()?.refusal.lock();
        let error = refusal.unwrap_or_else(PoisonError::into_inner).take()?;
        Some(explain_tls(&error, "the server"))
    }

    pub(super) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| io_error(format!("{host:?} is not a valid name for a certificate")))?;
        let done =
            tokio::time::timeout(HANDSHAKE_TIMEOUT, self.connector.connect(name, stream)).await;
        match done {
            Ok(Ok(stream)) => Ok(stream.into()),
            Ok(Err(error)) => Err(io_error(explain(&error, "the server"))),
            Err(_) => Err(io_error(timeout_message("the server"))),
        }
    }
}

impl TlsServer {
    /// Creates the configuration from a certificate chain and its key, both in PEM. With `http`, ALPN selects
    /// `http/1.1`.
    ///
    /// # Errors
    ///
    /// Returns a sentence about the problem.
    pub fn new(certificate: &[u8], key: &[u8], http: bool) -> Result<Self, String> {
        let chain = certificates(certificate).map_err(|e| format!("--cert: {e}"))?;
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|e| format!("--key: no private key that can be read: {e}"))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|e| format!("--cert and --key do not match: {e}"))?;
        config.key_log = Arc::new(rustls::KeyLogFile::new());
        if http {
            config.alpn_protocols = vec![HTTP.to_vec()];
        }
        Ok(Self(Arc::new(config).into()))
    }

    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(self.0.config())
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let done = tokio::time::timeout(HANDSHAKE_TIMEOUT, self.0.accept(stream)).await;
        match done {
            Ok(Ok(stream)) => Ok(stream.into()),
            Ok(Err(error)) => Err(io_error(explain(&error, "the client"))),
            Err(_) => Err(io_error(timeout_message("the client"))),
        }
    }
}

fn io_error(text: String) -> io::Error {
    io::Error::other(text)
}

fn timeout_message(who: &str) -> String {
    format!(
        "{who} did not complete the TLS handshake within {} s: perhaps it does not use TLS",
        HANDSHAKE_TIMEOUT.as_secs()
    )
}

/// Explains a failed handshake.
fn explain(error: &io::Error, who: &str) -> String {
    let inner = error.get_ref().and_then(|e| e.downcast_ref());
    let Some(inner) = inner else {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                format!("{who} closed the connection during the TLS handshake")
            }
            _ => error.to_string(),
        };
    };
    explain_tls(inner, who)
}

fn explain_tls(error: &rustls::Error, who: &str) -> String {
    let certificate = |what: &str| format!("{who}'s certificate {what}; --insecure accepts it");
    match error {
        rustls::Error::InvalidCertificate(why) => match why {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                certificate("has expired")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                certificate("is not valid yet")
            }
            CertificateError::NotValidForNameContext {
                expected,
                presented,
            } if presented.is_empty() => {
                let kind = match expected {
                    ServerName::IpAddress(_) => "IP",
                    _ => "DNS",
                };
                let expected = expected.to_str();
                format!(
                    "{who}'s certificate has no subjectAltName, and its common name does not count: make one with \
                     subjectAltName={kind}:{expected}, or accept any certificate with --insecure"
                )
            }
            CertificateError::NotValidForNameContext {
                expected,
                presented,
            } => certificate(&format!(
                "is not for {}, but for {}",
                expected.to_str(),
                names(presented)
            )),
            CertificateError::NotValidForName => certificate("is for another name"),
            CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
                "no trusted CA signed {who}'s certificate: name its root with --cacert FILE, or accept any certificate with \
                 --insecure"
            ),
            CertificateError::Other(OtherError(why)) if is_authority(why.as_ref()) => format!(
                "{who}'s certificate belongs to a certificate authority, not to a server: trust this one with \
                 --cacert FILE, or accept any certificate with --insecure"
            ),
            CertificateError::Other(OtherError(why)) => {
                certificate(&format!("is not valid: {}", plain_text(why.as_ref())))
            }
            why => certificate(&format!("is not valid: {}", plain_text(why))),
        },
        rustls::Error::InvalidMessage(_) => {
            format!(
                "{who} does not use TLS at this address: without TLS use tcp://, ws:// or http://"
            )
        }
        rustls::Error::AlertReceived(alert) => {
            format!(
                "{who} ended the TLS handshake: {}",
                split_words(&format!("{alert:?}"))
            )
        }
        rustls::Error::NoApplicationProtocol => {
            format!("{who} does not use HTTP/1.1 (ALPN)")
        }
        other => plain_text(other),
    }
}

/// The text of a TLS error without the names of library types.
fn plain_text(error: &dyn Display) -> String {
    let text = error.to_string();
    let pieces = text.split(|c: char| !c.is_alphanumeric());
    // The library's texts contain type names such as `UnsupportedCertVersion`.
    let is_name = |word: &&str| word.chars().skip(1).any(char::is_uppercase);
    let mut plain = text.clone();
    for name in pieces
        .filter(is_name)
        .filter(|n| n.chars().any(char::is_lowercase))
    {
        plain = plain.replace(name, &split_words(name));
    }
    plain
}

/// Turns `HandshakeFailure` into `handshake failure`.
fn split_words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// Returns `true` if a certificate was refused because it is a CA certificate, as `openssl req -x509` makes them.
fn is_authority(why: &(dyn std::error::Error + 'static)) -> bool {
    matches!(why.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

/// Lists the names of a certificate: `DnsName("a.example")` becomes `a.example`.
fn names(presented: &[String]) -> String {
    let bare = presented.iter().map(|name| {
        let inside = name
            .split_once('(')
            .and_then(|(_, rest)| rest.strip_suffix(')'));
        inside.unwrap_or(name).trim_matches('"')
    });
    bare.collect::<Vec<_>>().join(", ")
}

/// Accepts certificates that lead to a given one, and the given certificates themselves.
#[derive(Debug)]
struct TrustedRoots {
    given: Vec<CertificateDer<'static>>,
    chains: Arc<WebPkiServerVerifier>,
    /// The last error.
    refusal: Mutex<Option<rustls::Error>>,
}

impl TrustedRoots {
    fn verify(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let chains = &self.chains;
        let verified = chains.verify_server_cert(end_entity, intermediates, name, ocsp, now);
        match &verified {
            // The validity period is checked before the CA flag.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(why))))
                if is_authority(why.as_ref()) && self.given.contains(end_entity) =>
            {
                match verify_server_name(&ParsedCertificate::try_from(end_entity)?, name) {
                    // A trusted certificate without any name is accepted.
                    Err(rustls::Error::InvalidCertificate(
                        CertificateError::NotValidForNameContext { presented, .. },
                    )) if presented.is_empty() => {}
                    named => named?,
                }
                Ok(ServerCertVerified::assertion())
            }
            _ => verified,
        }
    }
}

impl ServerCertVerifier for TrustedRoots {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.verify(end_entity, intermediates, name, ocsp, now);
        if let Err(error) = &verified {
            let refusal = self.refusal.lock();
            *refusal.unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chains
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chains
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// Accepts any certificate, but verifies that the server has its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
