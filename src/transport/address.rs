//! Where to listen and where to connect.
//!
//! ```text
//!   tcp://127.0.0.1:7700    tcp://[::1]:7700    tcp://localhost:0    unix:/run/oracle.sock    unix:///run/oracle.sock
//!   ws://host    wss://host    http://host:8080    https://host    tls://host:7701
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
    /// `SCHEME://HOST:PORT`: the same, and what is spoken over it.
    Over {
        /// What is spoken.
        scheme: Scheme,
        /// A name or a number, without the brackets of IPv6.
        host: String,
        /// 0 stands for any free one.
        port: u16,
    },
    /// `unix:PATH`.
    Unix(PathBuf),
}

/// What is spoken over TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// TLS, and anything in it.
    Tls,
    /// HTTP, and WebSocket after an upgrade.
    Ws,
    /// The same in TLS.
    Wss,
    /// HTTP.
    Http,
    /// The same in TLS.
    Https,
}

impl Scheme {
    const ALL: [Self; 5] = [Self::Tls, Self::Ws, Self::Wss, Self::Http, Self::Https];

    /// As it is written before `://`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::Ws => "ws",
            Self::Wss => "wss",
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port that is meant where none is written.
    const fn port(self) -> Option<u16> {
        match self {
            Self::Tls => None,
            Self::Ws | Self::Http => Some(80),
            Self::Wss | Self::Https => Some(443),
        }
    }
}

/// Bytes of a socket's path: `sun_path` without its zero byte.
const LONGEST: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

const WANTED: &str = "tcp, tls, ws, wss, http or https://HOST:PORT or unix:PATH";

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
                path if path.len() > LONGEST => Err(format!(
                    "the path has {} bytes, and that of a socket has at most {LONGEST}",
                    path.len()
                )),
                path => Ok(Self::Unix(path.into())),
            };
        }
        let Some((name, rest)) = text.split_once("://") else {
            return Err(meant(text).unwrap_or_else(|| format!("{WANTED} is wanted")));
        };
        let scheme = Scheme::ALL.into_iter().find(|scheme| scheme.name() == name);
        if name == "tcp" {
            let (host, port) = place(name, None, rest)?;
            return Ok(Self::Tcp { host, port });
        }
        let Some(scheme) = scheme else {
            return Err(format!("{name}:// is no address: {WANTED} is wanted"));
        };
        let (host, port) = place(name, scheme.port(), rest)?;
        Ok(Self::Over { scheme, host, port })
    }

    /// What a client that was told this address would name as the host; none where it names none.
    pub fn host(&self) -> Option<String> {
        let (usual, host, port) = match self {
            Self::Tcp { host, port } => (None, host, *port),
            Self::Over { scheme, host, port } => (scheme.port(), host, *port),
            Self::Unix(_) => return None,
        };
        let host = bracketed(host);
        // RFC 9110 section 7.2: the port is left out where it is the scheme's own.
        Some(match usual {
            Some(usual) if usual == port => host,
            _ => format!("{host}:{port}"),
        })
    }

    /// Whether TLS is spoken there.
    pub fn is_tls(&self) -> bool {
        let is = |scheme: &Scheme| matches!(scheme, Scheme::Tls | Scheme::Wss | Scheme::Https);
        matches!(self, Self::Over { scheme, .. } if is(scheme))
    }

    /// Whether what is spoken there begins as HTTP.
    pub fn is_http(&self) -> bool {
        matches!(self, Self::Over { scheme, .. } if *scheme != Scheme::Tls)
    }

    /// Whether any free port is meant.
    pub fn is_any_port(&self) -> bool {
        matches!(self, Self::Tcp { port: 0, .. } | Self::Over { port: 0, .. })
    }

    /// `tcp`, `unix` or the scheme, as recordings name it.
    pub const fn transport(&self) -> &'static str {
        match self {
            Self::Tcp { .. } => "tcp",
            Self::Over { scheme, .. } => scheme.name(),
            Self::Unix(_) => "unix",
        }
    }
}

/// What somebody most likely means who writes `7700`, `localhost:7700` or `tcp:7700`.
fn meant(text: &str) -> Option<String> {
    let bare = text.strip_prefix("tcp:").unwrap_or(text);
    let is_port = !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_digit());
    let host = if is_port { "127.0.0.1:" } else { "" };
    let full = format!("{host}{bare}");
    place("tcp", None, &full).ok()?;
    Some(format!("tcp://HOST:PORT is wanted: tcp://{full}"))
}

/// Host and port behind a scheme.
fn place(scheme: &str, usual: Option<u16>, rest: &str) -> Result<(String, u16), String> {
    if rest.contains('@') {
        return Err(format!(
            "an address has no user and no password: {scheme}://HOST:PORT is wanted, and credentials go into HTTP fields"
        ));
    }
    let rest = match rest.split_once('/') {
        Some((rest, "")) if usual.is_some() => rest,
        Some(_) if usual.is_some() => {
            return Err(format!(
                "no path stands in the address of a proxy: the client names it; {scheme}://HOST:PORT is wanted"
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
            "no space and no control character stands in a host: {host:?}"
        ));
    }
    let port = match (port, usual) {
        (Some(port), _) => port,
        (None, Some(usual)) => return Ok((host.to_owned(), usual)),
        (None, None) => {
            return Err(format!("{scheme}:// names no port: {scheme}://HOST:PORT"));
        }
    };
    // `parse` alone would take a sign.
    let digits = port.bytes().all(|b| b.is_ascii_digit());
    match port.parse() {
        Ok(port) if digits => Ok((host.to_owned(), port)),
        _ => Err(format!(
            "{port:?} is no port: a number up to 65535, 0 for any free one"
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
        for (short, long, host) in [
            ("ws://h", "ws://h:80", "h"),
            ("wss://[::1]/", "wss://[::1]:443", "[::1]"),
            ("http://h:8080/", "http://h:8080", "h:8080"),
            ("https://h:80", "https://h:80", "h:80"),
            ("tls://h:1", "tls://h:1", "h:1"),
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
    fn a_path_too_long_for_a_socket_is_refused() {
        let text = |len| format!("unix:{}", "x".repeat(len));
        assert!(Address::parse(&text(super::LONGEST)).is_ok());
        let said = Address::parse(&text(super::LONGEST + 1)).unwrap_err();
        assert!(said.starts_with("the path has "), "{said}");
    }

    #[test]
    fn what_is_no_address_is_said_in_a_sentence() {
        for (text, want) in [
            ("", "https://HOST:PORT or unix:PATH is wanted"),
            ("/run/x.sock", "https://HOST:PORT or unix:PATH is wanted"),
            ("7700", "is wanted: tcp://127.0.0.1:7700"),
            ("tcp:7700", "is wanted: tcp://127.0.0.1:7700"),
            ("localhost:7700", "is wanted: tcp://localhost:7700"),
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
            ("tls://h", "tls:// names no port"),
            ("ws://user:pass@h:1", "no user and no password"),
            ("tcp://pass@h:1", "no user and no password"),
            ("ws://h:1/p", "no path stands"),
            ("wss://", "names no host"),
            ("https://h:x", "\"x\" is no port"),
            ("http://[::1", "http://[::1]:PORT"),
            ("ws://h\r\nx: 1", "in a host: \"h\\r\\nx\""),
            ("tcp://a b:1", "in a host: \"a b\""),
        ] {
            let said = Address::parse(text).unwrap_err();
            assert!(said.contains(want), "{text}: {said}");
        }
    }
}
