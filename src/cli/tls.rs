//! Reads the TLS flags: trusted certificates, and own certificates.

use super::print_message;
use super::values::read_bytes;
use crate::transport::{
    ALPN, Address, Certificate, QuicClient, QuicLimits, QuicServer, Target, TlsClient, TlsServer,
    Trust,
};
use anyhow::{Context as _, Result};
use std::path::PathBuf;
use std::time::Duration;

/// The certificates to trust.
#[derive(clap::Args)]
#[command(next_help_heading = "TLS")]
pub struct TrustArgs {
    /// Trust these root certificates (PEM) instead of those of the system
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Accept any server certificate
    #[arg(long, short_alias = 'k', conflicts_with = "cacert")]
    insecure: bool,
    /// Offer servers this protocol (ALPN), and accept clients that offer it; a proxy offers what the client has selected
    #[arg(long, value_name = "NAME", default_value = ALPN, value_delimiter = ',', help_heading = "QUIC")]
    alpn: Vec<String>,
}

/// The TLS options for addresses with TLS.
#[derive(clap::Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    #[command(flatten)]
    trusted: TrustArgs,
    /// Certificate chain (PEM) for clients; `--listen` with TLS needs it
    #[arg(long, value_name = "FILE", requires = "key", help_heading = "TLS")]
    cert: Option<PathBuf>,
    /// Private key of `--cert` (PEM)
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "TLS")]
    key: Option<PathBuf>,
    /// Write the certificate that was generated for a quic:// listener to a file (PEM), for clients that verify it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "cert",
        help_heading = "QUIC"
    )]
    cert_out: Option<PathBuf>,
    /// Streams of each kind that a peer may have open at once
    #[arg(long, value_name = "N", default_value_t = QuicLimits::default().streams, help_heading = "QUIC")]
    max_streams: u32,
}

impl TrustArgs {
    /// The destination of a client. `within`: time limit for a server that does not answer.
    pub fn target(&self, to: Address, within: Duration) -> Result<Target> {
        Ok(match self.client(&to)? {
            Some(tls) if to.is_quic() => Target::Quic {
                to,
                client: QuicClient::new(&tls, QuicLimits::default()),
                alpn: self.alpn.clone(),
            },
            tls => Target::Address { to, tls, within },
        })
    }

    /// Returns the TLS configuration for the server, if the address uses TLS.
    pub fn client(&self, connect: &Address) -> Result<Option<TlsClient>> {
        let trust = match &self.cacert {
            Some(path) => Trust::Roots(read_bytes(path)?),
            None if self.insecure => Trust::Any,
            None => Trust::System,
        };
        if !connect.is_tls() {
            anyhow::ensure!(
                !self.insecure && self.cacert.is_none(),
                "--cacert and --insecure need TLS, and {connect} has none (use tls://, wss:// or https://)"
            );
            return Ok(None);
        }
        if self.insecure {
            print_message(&format!(
                "--insecure: the certificate of {connect} is NOT checked; an attacker can read and change the traffic"
            ));
        }
        let made = TlsClient::new(&trust, connect.is_http());
        made.map(Some).map_err(|e| match &self.cacert {
            Some(path) => anyhow::anyhow!("{}: {e}", path.display()),
            None => anyhow::anyhow!(e),
        })
    }
}

impl TlsArgs {
    /// QUIC on both sides, if the addresses say so. `rewrites_host`: HTTP fields are to be changed.
    pub fn quic(
        &self,
        connect: &Address,
        listen: &Address,
        rewrites_host: bool,
    ) -> Result<Option<(QuicServer, QuicClient)>> {
        if !connect.is_quic() && !listen.is_quic() {
            anyhow::ensure!(
                self.cert_out.is_none(),
                "--cert-out is for a quic:// listener: {listen} has no generated certificate"
            );
            return Ok(None);
        }
        anyhow::ensure!(
            connect.is_quic() && listen.is_quic(),
            "QUIC streams can be forwarded only to QUIC: both addresses must be quic:// (--listen {listen}, --connect {connect})"
        );
        anyhow::ensure!(!rewrites_host, "--rewrite-host is not supported over QUIC");
        let client = self.trusted.client(connect)?.context("no TLS")?;
        let server = self.quic_server(listen)?;
        Ok(Some((server, QuicClient::new(&client, self.limits()))))
    }

    /// QUIC with clients.
    pub fn quic_server(&self, listen: &Address) -> Result<QuicServer> {
        let server = match self.server(listen)? {
            Some(server) => server,
            None => self.generated(listen)?,
        };
        let alpn = self.trusted.alpn.clone();
        Ok(QuicServer::new(&server, alpn, self.limits()))
    }

    /// The destination of a client.
    pub fn target(&self, to: Address, within: Duration) -> Result<Target> {
        self.trusted.target(to, within)
    }

    pub fn is_certificate_given(&self) -> bool {
        self.cert.is_some()
    }

    /// A server with a certificate of its own.
    fn generated(&self, listen: &Address) -> Result<TlsServer> {
        let host = match listen {
            Address::Tcp { host, .. } | Address::Over { host, .. } => host,
            Address::Unix(_) => "localhost",
        };
        let made = Certificate::generate(host).map_err(anyhow::Error::msg)?;
        let written = match &self.cert_out {
            Some(path) => {
                std::fs::write(path, &made.pem)
                    .with_context(|| format!("cannot write {}", path.display()))?;
                format!(", written to {}", path.display())
            }
            None => String::new(),
        };
        print_message(&format!(
            "certificate generated for {host}{written}: SHA-256 {}",
            made.fingerprint
        ));
        let (certificate, key) = (made.pem.as_bytes(), made.key.as_bytes());
        TlsServer::new(certificate, key, false).map_err(anyhow::Error::msg)
    }

    /// TLS configurations of both sides.
    pub fn sides(
        &self,
        connect: &Address,
        listen: &Address,
    ) -> Result<(Option<TlsClient>, Option<TlsServer>)> {
        let client = self.trusted.client(connect)?;
        Ok((client, self.server(listen)?))
    }

    fn limits(&self) -> QuicLimits {
        QuicLimits {
            streams: self.max_streams,
            ..QuicLimits::default()
        }
    }

    /// Returns the TLS configuration for clients, if the address uses TLS.
    pub fn server(&self, listen: &Address) -> Result<Option<TlsServer>> {
        Ok(match (&self.cert, &self.key) {
            (Some(cert), Some(key)) if listen.is_tls() => {
                let made = TlsServer::new(&read_bytes(cert)?, &read_bytes(key)?, listen.is_http());
                Some(made.map_err(anyhow::Error::msg)?)
            }
            (Some(_), _) => anyhow::bail!(
                "--cert and --key need TLS, and {listen} has none (use tls://, wss:// or https://)"
            ),
            (None, _) if listen.is_tls() && !listen.is_quic() => {
                anyhow::bail!("{listen} needs a certificate: use --cert FILE --key FILE")
            }
            _ => None,
        })
    }
}
