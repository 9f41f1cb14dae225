//! TLS from flags: whom to trust, and what to show.

use super::complain;
use crate::transport::{Address, Client, Server, Trust};
use anyhow::{Context as _, Result};
use std::path::PathBuf;

/// Whom to trust.
#[derive(clap::Args)]
#[command(next_help_heading = "TLS")]
pub struct Trusted {
    /// Trust these roots (PEM) instead of the system's
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Take the server's certificate whoever signed it
    #[arg(long, conflicts_with = "cacert")]
    insecure: bool,
}

/// How TLS is spoken, where addresses say that it is.
#[derive(clap::Args)]
#[command(next_help_heading = "TLS")]
pub struct Tls {
    #[command(flatten)]
    trusted: Trusted,
    #[command(flatten)]
    shown: Shown,
}

/// What clients are shown.
#[derive(clap::Args)]
#[command(next_help_heading = "TLS")]
pub struct Shown {
    /// What clients are shown, with what stands behind it (PEM); a `--listen` with TLS needs it
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// The private key of `--cert` (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
}

impl Trusted {
    /// TLS with a server, where its address says so.
    pub fn client(&self, connect: &Address) -> Result<Option<Client>> {
        let trust = match &self.cacert {
            Some(path) => Trust::These(read(path)?),
            None if self.insecure => Trust::Anyone,
            None => Trust::System,
        };
        if !connect.is_tls() {
            anyhow::ensure!(
                !self.insecure && self.cacert.is_none(),
                "--cacert and --insecure are for TLS: {connect} has none (tls://, wss://, https://)"
            );
            return Ok(None);
        }
        if self.insecure {
            complain(&format!(
                "--insecure: NOBODY checks who answers at {connect}; it may be anyone, and read and change all that passes"
            ));
        }
        let made = Client::new(&trust, connect.is_http());
        made.map(Some).map_err(|e| match &self.cacert {
            Some(path) => anyhow::anyhow!("{}: {e}", path.display()),
            None => anyhow::anyhow!(e),
        })
    }
}

fn read(path: &PathBuf) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

impl Tls {
    /// TLS on either side, where it is asked for.
    pub fn sides(
        &self,
        connect: &Address,
        listen: &Address,
    ) -> Result<(Option<Client>, Option<Server>)> {
        let client = self.trusted.client(connect)?;
        Ok((client, self.shown.server(listen)?))
    }
}

impl Shown {
    /// Whether there is something to show.
    pub fn is_given(&self) -> bool {
        self.cert.is_some()
    }

    /// TLS with clients, where the address says that it is spoken.
    pub fn server(&self, listen: &Address) -> Result<Option<Server>> {
        Ok(match (&self.cert, &self.key) {
            (Some(cert), Some(key)) if listen.is_tls() => {
                let made = Server::new(&read(cert)?, &read(key)?, listen.is_http());
                Some(made.map_err(anyhow::Error::msg)?)
            }
            (Some(_), _) => anyhow::bail!(
                "--cert and --key are for TLS: {listen} has none (tls://, wss://, https://)"
            ),
            (None, _) if listen.is_tls() => anyhow::bail!(
                "{listen} wants a certificate to show: name it and its key with --cert FILE --key FILE"
            ),
            _ => None,
        })
    }
}
