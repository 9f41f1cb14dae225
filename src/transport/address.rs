//! Where to listen and where to connect.
//!
//! ```text
//!   tcp://127.0.0.1:7700    tcp://[::1]:7700    tcp://localhost:0    unix:/run/oracle.sock    unix:///run/oracle.sock
//! ```

use std::fmt;
use std::path::PathBuf;

/// An address, as users write it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// `tcp://HOST:PORT`.
    Tcp {
        /// A name or a number, without the brackets of IPv6.
        host: String,
        /// 0 stands for any free one.
        port: u16,
    },
    /// `unix:PATH`.
    Unix(PathBuf),
}

/// What other tools call the transports that are not spoken here.
const UNSPOKEN: &[&str] = &["tls", "ws", "wss", "http", "https"];

impl Address {
    /// A port of this machine that only this machine reaches.
    pub fn loopback(port: u16) -> Self {
        Self::Tcp {
            host: "127.0.0.1".into(),
            port,
        }
    }

    /// Reads one.
    ///
    /// # Errors
    ///
    /// A sentence on what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = match path.strip_prefix("//") {
                Some(path) if path.starts_with('/') => path,
                Some(_) => return Err("unix:// wants an absolute path: unix:///run/x.sock".into()),
                None => path,
            };
            return match path {
                "" => Err("unix: names no path: unix:PATH".into()),
                path => Ok(Self::Unix(path.into())),
            };
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err("tcp://HOST:PORT or unix:PATH is wanted".into());
        };
        if UNSPOKEN.contains(&scheme) {
            return Err(format!(
                "{scheme}:// is not spoken here: name tcp://HOST:PORT, what passes in plain is understood all the same"
            ));
        }
        if scheme != "tcp" {
            return Err(format!(
                "{scheme}:// is no address: tcp://HOST:PORT or unix:PATH is wanted"
            ));
        }
        tcp(rest)
    }

    /// `tcp` or `unix`, as recordings name it.
    pub const fn transport(&self) -> &'static str {
        match self {
            Self::Tcp { .. } => "tcp",
            Self::Unix(_) => "unix",
        }
    }
}

fn tcp(rest: &str) -> Result<Address, String> {
    let (host, port) = match rest.strip_prefix('[') {
        Some(rest) => match rest.split_once("]:") {
            Some(parts) => parts,
            None => return Err("an IPv6 address is written tcp://[::1]:PORT".into()),
        },
        None => match rest.rsplit_once(':') {
            Some((host, _)) if host.contains(':') => {
                return Err("an IPv6 address is written tcp://[::1]:PORT".into());
            }
            Some(parts) => parts,
            None => return Err("tcp:// names no port: tcp://HOST:PORT".into()),
        },
    };
    if host.is_empty() {
        return Err("tcp:// names no host: tcp://127.0.0.1:PORT".into());
    }
    // `parse` alone would take a sign.
    let digits = port.bytes().all(|b| b.is_ascii_digit());
    match port.parse() {
        Ok(port) if digits => Ok(Address::Tcp {
            host: host.to_owned(),
            port,
        }),
        _ => Err(format!(
            "{port:?} is no port: a number up to 65535, 0 for any free one"
        )),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "tcp://[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "tcp://{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn addresses_are_read_and_written_the_same() {
        for text in [
            "tcp://127.0.0.1:7700",
            "tcp://[::1]:0",
            "tcp://a.example:65535",
            "unix:/run/x.sock",
            "unix:x",
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        let long = Address::parse("unix:///run/x.sock").unwrap();
        assert_eq!(long.to_string(), "unix:/run/x.sock");
    }

    #[test]
    fn what_is_no_address_is_said_in_a_sentence() {
        for (text, want) in [
            ("", "tcp://HOST:PORT or unix:PATH is wanted"),
            ("7700", "tcp://HOST:PORT or unix:PATH is wanted"),
            ("127.0.0.1:7700", "tcp://HOST:PORT or unix:PATH is wanted"),
            ("tcp://7700", "names no port"),
            ("tcp://:7700", "names no host"),
            ("tcp://[]:7700", "names no host"),
            ("tcp://h:", "\"\" is no port"),
            ("tcp://h:+1", "\"+1\" is no port"),
            ("tcp://h:65536", "\"65536\" is no port"),
            ("tcp://h:1/x", "\"1/x\" is no port"),
            ("tcp://::1:7700", "tcp://[::1]:PORT"),
            ("tcp://[::1]", "tcp://[::1]:PORT"),
            ("unix:", "names no path"),
            ("unix://x", "absolute path"),
            ("udp://h:1", "udp:// is no address"),
            ("tls://h:1", "tls:// is not spoken here"),
            ("ws://h:1/p", "ws:// is not spoken here"),
            ("wss://h", "wss:// is not spoken here"),
            ("http://h:1", "http:// is not spoken here"),
            ("https://h:1", "https:// is not spoken here"),
        ] {
            let said = Address::parse(text).unwrap_err();
            assert!(said.contains(want), "{text}: {said}");
        }
    }
}
