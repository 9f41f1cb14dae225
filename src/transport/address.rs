//! Addresses to listen on and to connect to.
//!
//! ```text
//!   127.0.0.1:7700    tcp://127.0.0.1:7700    tcp://[::1]:7700    tcp://localhost:0    unix:/run/oracle.sock    unix:///run/oracle.sock
//!   ws://host    wss://host    http://host:8080    https://host    tls://host:7701
//! ```

use std::fmt;
use std::path::PathBuf;

/// An address in the form that users write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// `tcp://HOST:PORT`.
    Tcp {
        /// A name or an IP address, without the brackets of IPv6.
        host: String,
        /// 0 selects a free port.
        port: u16,
    },
    /// `SCHEME://HOST:PORT`: TCP with a protocol on top.
    Over {
        /// The protocol on top of TCP.
        scheme: Scheme,
        /// A name or an IP address, without the brackets of IPv6.
        host: String,
        /// 0 selects a free port.
        port: u16,
    },
    /// `unix:PATH`.
    Unix(PathBuf),
}

/// A protocol on top of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// TLS with any content.
    Tls,
    /// HTTP, and WebSocket after an upgrade.
    Ws,
    /// QUIC, which includes TLS.
    Quic,
    /// HTTP over TLS, and WebSocket after an upgrade.
    Wss,
    /// HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    const ALL: [Self; 6] = [
        Self::Tls,
        Self::Quic,
        Self::Ws,
        Self::Wss,
        Self::Http,
        Self::Https,
    ];

    /// The text before `://`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::Quic => "quic",
            Self::Ws => "ws",
            Self::Wss => "wss",
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The default port.
    const fn port(self) -> Option<u16> {
        match self {
            Self::Tls | Self::Quic => None,
            Self::Ws | Self::Http => Some(80),
            Self::Wss | Self::Https => Some(443),
        }
    }
}

/// Maximum length of the path of a Unix socket in bytes: the size of `sun_path` without its terminating zero.
const MAX_UNIX_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

const WANTED: &str = "tcp, tls, quic, ws, wss, http or https://HOST:PORT or unix:PATH";

impl Address {
    /// A TCP address that only this machine can reach.
    pub fn loopback(port: u16) -> Self {
        Self::Tcp {
            host: "127.0.0.1".into(),
            port,
        }
    }

    /// The default listening address of a proxy to `connect`: any port that only this machine can reach.
    pub fn local_for(connect: &Self) -> Self {
        if connect.is_quic() {
            return Self::Over {
                scheme: Scheme::Quic,
                host: "127.0.0.1".into(),
                port: 0,
            };
        }
        Self::loopback(0)
    }

    /// Parses an address.
    ///
    /// # Errors
    ///
    /// Returns a sentence that states the problem.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = match path.strip_prefix("//") {
                Some(path) if path.starts_with('/') => path,
                Some(_) => return Err("unix:// wants an absolute path: unix:///run/x.sock".into()),
                None => path,
            };
            return match path {
                "" => Err("unix: names no path: unix:PATH".into()),
                path if path.len() > MAX_UNIX_PATH => Err(format!(
                    "the path has {} bytes, and that of a socket has at most {MAX_UNIX_PATH}",
                    path.len()
                )),
                path => Ok(Self::Unix(path.into())),
            };
        }
        let Some((name, rest)) = text.split_once("://") else {
            // `tcp:7700` is no host called tcp.
            let is_scheme = |host: &str| {
                host == "tcp" || Scheme::ALL.iter().any(|scheme| scheme.name() == host)
            };
            return match host_and_port("tcp", None, text) {
                Ok((host, port)) if !is_scheme(&host) => Ok(Self::Tcp { host, port }),
                _ => Err(suggestion(text).unwrap_or_else(|| format!("{WANTED} is wanted"))),
            };
        };
        let scheme = Scheme::ALL.into_iter().find(|scheme| scheme.name() == name);
        if name == "tcp" {
            let (host, port) = host_and_port(name, None, rest)?;
            return Ok(Self::Tcp { host, port });
        }
        let Some(scheme) = scheme else {
            return Err(format!("{name}:// is not an address: wanted {WANTED}"));
        };
        let (host, port) = host_and_port(name, scheme.port(), rest)?;
        Ok(Self::Over { scheme, host, port })
    }

    /// The value of the `Host` field that a client of this address sends. `None` for a Unix socket.
    pub fn host(&self) -> Option<String> {
        let (usual, host, port) = match self {
            Self::Tcp { host, port } => (None, host, *port),
            Self::Over { scheme, host, port } => (scheme.port(), host, *port),
            Self::Unix(_) => return None,
        };
        let host = bracketed(host);
        // RFC 9110 section 7.2: the port is omitted if it is the default of the scheme.
        Some(match usual {
            Some(usual) if usual == port => host,
            _ => format!("{host}:{port}"),
        })
    }

    /// Returns `true` if the connection uses TLS.
    pub fn is_tls(&self) -> bool {
        let is = |scheme: &Scheme| {
            matches!(
                scheme,
                Scheme::Tls | Scheme::Wss | Scheme::Https | Scheme::Quic
            )
        };
        matches!(self, Self::Over { scheme, .. } if is(scheme))
    }

    /// Returns `true` if the connection starts with HTTP.
    pub fn is_http(&self) -> bool {
        matches!(self, Self::Over { scheme, .. } if !matches!(scheme, Scheme::Tls | Scheme::Quic))
    }

    /// Returns `true` for a QUIC address.
    pub fn is_quic(&self) -> bool {
        matches!(
            self,
            Self::Over {
                scheme: Scheme::Quic,
                ..
            }
        )
    }

    /// Returns `true` if the port is 0, which selects a free port.
    pub fn is_any_port(&self) -> bool {
        matches!(self, Self::Tcp { port: 0, .. } | Self::Over { port: 0, .. })
    }

    /// The name of the transport in recordings: `tcp`, `unix` or the scheme.
    pub const fn transport(&self) -> &'static str {
        match self {
            Self::Tcp { .. } => "tcp",
            Self::Over { scheme, .. } => scheme.name(),
            Self::Unix(_) => "unix",
        }
    }
}

/// Suggests an address for `7700` or `tcp:7700`.
fn suggestion(text: &str) -> Option<String> {
    let bare = text.strip_prefix("tcp:").unwrap_or(text);
    let is_port = !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_digit());
    let host = if is_port { "127.0.0.1:" } else { "" };
    let full = format!("{host}{bare}");
    host_and_port("tcp", None, &full).ok()?;
    Some(format!("tcp://HOST:PORT is wanted: tcp://{full}"))
}

/// Parses the host and the port after a scheme.
fn host_and_port(scheme: &str, usual: Option<u16>, rest: &str) -> Result<(String, u16), String> {
    if rest.contains('@') {
        return Err(format!(
            "an address has no user and no password: {scheme}://HOST:PORT is wanted, and credentials go into HTTP fields"
        ));
    }
    let rest = match rest.split_once('/') {
        Some((rest, "")) if usual.is_some() => rest,
        Some(_) if usual.is_some() => {
            return Err(format!(
                "the address of a proxy has no path, because the client sends it: wanted {scheme}://HOST:PORT"
            ));
        }
        _ => rest,
    };
    let six = || format!("an IPv6 address is written {scheme}://[::1]:PORT");
    let (host, port) = match rest.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, "")) if usual.is_some() => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or_else(six)?)),
            None => return Err(six()),
        },
        None => match rest.rsplit_once(':') {
            Some((host, _)) if host.contains(':') => return Err(six()),
            Some((host, port)) => (host, Some(port)),
            None => (rest, None),
        },
    };
    if host.is_empty() {
        return Err(format!(
            "{scheme}:// names no host: {scheme}://127.0.0.1:PORT"
        ));
    }
    if host.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(format!(
            "a host cannot contain spaces and control characters: {host:?}"
        ));
    }
    let port = match (port, usual) {
        (Some(port), _) => port,
        (None, Some(usual)) => return Ok((host.to_owned(), usual)),
        (None, None) => {
            return Err(format!("{scheme}:// names no port: {scheme}://HOST:PORT"));
        }
    };
    // `parse` alone accepts a sign.
    let digits = port.bytes().all(|b| b.is_ascii_digit());
    match port.parse() {
        Ok(port) if digits => Ok((host.to_owned(), port)),
        _ => Err(format!(
            "{port:?} is not a port: wanted a number up to 65535, 0 for any free port"
        )),
    }
}

fn bracketed(host: &str) -> String {
    if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } | Self::Over { host, port, .. } => {
                write!(f, "{}://{}:{port}", self.transport(), bracketed(host))
            }
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn parsed_address_prints_the_same() {
        for text in [
            "tcp://127.0.0.1:7700",
            "tcp://[::1]:0",
            "tcp://a.example:65535",
            "unix:/run/x.sock",
            "unix:x",
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        for (short, long, host) in [
            ("ws://h", "ws://h:80", "h"),
            ("wss://[::1]/", "wss://[::1]:443", "[::1]"),
            ("http://h:8080/", "http://h:8080", "h:8080"),
            ("https://h:80", "https://h:80", "h:80"),
            ("tls://h:1", "tls://h:1", "h:1"),
            ("127.0.0.1:7700", "tcp://127.0.0.1:7700", "127.0.0.1:7700"),
            ("localhost:0", "tcp://localhost:0", "localhost:0"),
            ("[::1]:7", "tcp://[::1]:7", "[::1]:7"),
        ] {
            let address = Address::parse(short).unwrap();
            assert_eq!(address.to_string(), long);
            assert_eq!(address.host().as_deref(), Some(host));
            assert_eq!(Address::parse(long).as_ref(), Ok(&address));
        }
        let long = Address::parse("unix:///run/x.sock").unwrap();
        assert_eq!(long.to_string(), "unix:/run/x.sock");
    }

    #[test]
    fn unix_path_over_limit_is_refused() {
        let text = |len| format!("unix:{}", "x".repeat(len));
        assert!(Address::parse(&text(super::MAX_UNIX_PATH)).is_ok());
        let output = Address::parse(&text(super::MAX_UNIX_PATH + 1)).unwrap_err();
        assert!(output.starts_with("the path has "), "{output}");
    }

    #[test]
    fn invalid_address_gives_one_sentence() {
        for (text, want) in [
            ("", "https://HOST:PORT or unix:PATH is wanted"),
            ("/run/x.sock", "https://HOST:PORT or unix:PATH is wanted"),
            ("7700", "is wanted: tcp://127.0.0.1:7700"),
            ("tcp:7700", "is wanted: tcp://127.0.0.1:7700"),
            ("tcp://7700", "names no port"),
            ("tcp://:7700", "names no host"),
            ("tcp://[]:7700", "names no host"),
            ("tcp://h:", "\"\" is not a port"),
            ("tcp://h:+1", "\"+1\" is not a port"),
            ("tcp://h:65536", "\"65536\" is not a port"),
            ("tcp://h:1/x", "\"1/x\" is not a port"),
            ("tcp://::1:7700", "tcp://[::1]:PORT"),
            ("tcp://[::1]", "tcp://[::1]:PORT"),
            ("unix:", "names no path"),
            ("unix://x", "absolute path"),
            ("udp://h:1", "udp:// is not an address"),
            ("tls://h", "tls:// names no port"),
            ("ws://user:pass@h:1", "no user and no password"),
            ("tcp://pass@h:1", "no user and no password"),
            ("ws://h:1/p", "has no path"),
            ("wss://", "names no host"),
            ("https://h:x", "\"x\" is not a port"),
            ("http://[::1", "http://[::1]:PORT"),
            (
                "ws://h\r\nx: 1",
                "a host cannot contain spaces and control characters: \"h\\r\\nx\"",
            ),
            (
                "tcp://a b:1",
                "a host cannot contain spaces and control characters: \"a b\"",
            ),
        ] {
            let output = Address::parse(text).unwrap_err();
            assert!(output.contains(want), "{text}: {output}");
        }
    }
}
