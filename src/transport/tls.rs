//! TLS on either side: who is trusted, and what is said when it fails.
//!
//! ```text
//!   client --plain or TLS--> wiretool --plain or TLS--> server        recordings hold the plaintext
//! ```

use std::fmt::Display;
use std::io;
use std::sync::Arc;
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

/// How long the other side may take to agree.
const PATIENCE: Duration = Duration::from_secs(10);
const HTTP: &[u8] = b"http/1.1";

/// Whose certificates are good.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Whoever the system trusts.
    System,
    /// These roots, in PEM.
    These(Vec<u8>),
    /// Everybody.
    Anyone,
}

/// Our side where we connect.
#[derive(Clone)]
pub struct Client(TlsConnector);

/// Our side where we listen.
#[derive(Clone)]
pub struct Server(TlsAcceptor);

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Certificates in PEM; there must be one.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(found) if found.is_empty() => Err("no certificate in it: PEM is wanted".into()),
        Ok(found) => Ok(found),
        Err(error) => Err(format!("no certificate that can be read: {error}")),
    }
}

impl Client {
    /// Offers `http/1.1` where that is what will be spoken.
    ///
    /// # Errors
    ///
    /// A sentence on roots that cannot be used.
    pub fn new(trust: &Trust, http: bool) -> Result<Self, String> {
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?;
        let mut roots = RootCertStore::empty();
        let config = match trust {
            Trust::Anyone => config
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Anyone(provider()))),
            Trust::System => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                if roots.is_empty() {
                    let text = "this system has no roots that it trusts: name one with --cacert";
                    return Err(text.into());
                }
                config.with_root_certificates(roots)
            }
            Trust::These(pem) => {
                let given = certificates(pem)?;
                for root in &given {
                    roots.add(root.clone()).map_err(|e| words(&e))?;
                }
                let provider = provider();
                let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
                let chains = chains.build().map_err(|e| words(&e))?;
                let these = These { given, chains };
                config
                    .dangerous()
                    .with_custom_certificate_verifier(Arc::new(these))
            }
        };
        let mut config = config.with_no_client_auth();
        if http {
            config.alpn_protocols = vec![HTTP.to_vec()];
        }
        Ok(Self(Arc::new(config).into()))
    }

    pub(super) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| other(format!("{host:?} is no name that a certificate can have")))?;
        let done = tokio::time::timeout(PATIENCE, self.0.connect(name, stream)).await;
        match done {
            Ok(Ok(stream)) => Ok(stream.into()),
            Ok(Err(error)) => Err(other(refused(&error, "the server"))),
            Err(_) => Err(other(late("the server"))),
        }
    }
}

impl Server {
    /// Shows this certificate, and those behind it, and holds its key; both in PEM. Agrees on `http/1.1` where that is
    /// what will be spoken.
    ///
    /// # Errors
    ///
    /// A sentence on what cannot be used.
    pub fn new(certificate: &[u8], key: &[u8], http: bool) -> Result<Self, String> {
        let chain = certificates(certificate).map_err(|e| format!("--cert: {e}"))?;
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|e| format!("--key: no private key that can be read: {e}"))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|e| format!("--cert and --key do not go together: {e}"))?;
        if http {
            config.alpn_protocols = vec![HTTP.to_vec()];
        }
        Ok(Self(Arc::new(config).into()))
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let done = tokio::time::timeout(PATIENCE, self.0.accept(stream)).await;
        match done {
            Ok(Ok(stream)) => Ok(stream.into()),
            Ok(Err(error)) => Err(other(refused(&error, "the client"))),
            Err(_) => Err(other(late("the client"))),
        }
    }
}

fn other(text: String) -> io::Error {
    io::Error::other(text)
}

fn late(who: &str) -> String {
    format!(
        "{who} did not agree on TLS within {} s: does it speak TLS there?",
        PATIENCE.as_secs()
    )
}

/// Why there is no TLS with the other side, in words that help.
fn refused(error: &io::Error, who: &str) -> String {
    let inner = error.get_ref().and_then(|e| e.downcast_ref());
    let Some(inner) = inner else {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                format!("{who} hung up in the middle of the TLS handshake")
            }
            _ => error.to_string(),
        };
    };
    let certificate =
        |what: &str| format!("{who}'s certificate {what}; --insecure takes it all the same");
    match inner {
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
            } => certificate(&format!(
                "is not for {}, but for {}",
                expected.to_str(),
                names(presented)
            )),
            CertificateError::NotValidForName => certificate("is for another name"),
            CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
                "nobody trusted has signed {who}'s certificate: name its root with --cacert FILE, or take anybody's with \
                 --insecure"
            ),
            CertificateError::Other(OtherError(why)) if is_authority(why.as_ref()) => format!(
                "{who}'s certificate is one of a certificate authority: trust exactly this one with --cacert FILE, or take \
                 anybody's with --insecure"
            ),
            CertificateError::Other(OtherError(why)) => {
                certificate(&format!("is not good: {}", words(why.as_ref())))
            }
            why => certificate(&format!("is not good: {}", words(why))),
        },
        rustls::Error::InvalidMessage(_) => {
            format!(
                "{who} does not speak TLS there: plain text is spoken with tcp://, ws:// or http://"
            )
        }
        rustls::Error::AlertReceived(alert) => {
            format!(
                "{who} ended the TLS handshake: {}",
                spaced(&format!("{alert:?}"))
            )
        }
        rustls::Error::NoApplicationProtocol => {
            format!("{who} does not speak HTTP/1.1 (by ALPN)")
        }
        other => words(other),
    }
}

/// An error of the TLS library, without names of its types.
fn words(error: &dyn Display) -> String {
    let text = error.to_string();
    let pieces = text.split(|c: char| !c.is_alphanumeric());
    // What is written for programs has names in it such as `UnsupportedCertVersion`.
    let is_name = |word: &&str| word.chars().skip(1).any(char::is_uppercase);
    let mut plain = text.clone();
    for name in pieces
        .filter(is_name)
        .filter(|n| n.chars().any(char::is_lowercase))
    {
        plain = plain.replace(name, &spaced(name));
    }
    plain
}

/// `HandshakeFailure` as `handshake failure`.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// Whether a certificate was refused because it may sign others. Plain `openssl req -x509` makes such ones.
fn is_authority(why: &(dyn std::error::Error + 'static)) -> bool {
    matches!(why.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

/// `DnsName("a.example")` and so on, as people write them.
fn names(presented: &[String]) -> String {
    let bare = presented.iter().map(|name| {
        let inside = name
            .split_once('(')
            .and_then(|(_, rest)| rest.strip_suffix(')'));
        inside.unwrap_or(name).trim_matches('"')
    });
    match bare.collect::<Vec<_>>().join(", ").as_str() {
        "" => "nobody by name".to_owned(),
        names => names.to_owned(),
    }
}

/// Takes what leads to one of the given certificates, and each of these itself.
#[derive(Debug)]
struct These {
    given: Vec<CertificateDer<'static>>,
    chains: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for These {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let chains = &self.chains;
        let judged = chains.verify_server_cert(end_entity, intermediates, name, ocsp, now);
        match &judged {
            // That it is not in force is found before that it is an authority's.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(why))))
                if is_authority(why.as_ref()) && self.given.contains(end_entity) =>
            {
                match verify_server_name(&ParsedCertificate::try_from(end_entity)?, name) {
                    // It names nobody, and it is trusted by itself.
                    Err(rustls::Error::InvalidCertificate(
                        CertificateError::NotValidForNameContext { presented, .. },
                    )) if presented.is_empty() => {}
                    named => named?,
                }
                Ok(ServerCertVerified::assertion())
            }
            _ => judged,
        }
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

/// Takes any certificate, and still has its owner prove to have the key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
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
