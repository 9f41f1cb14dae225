//! The state of a framer between two messages: a decoder of many connections stores it in place of the framer.

use super::LengthMode;

/// The state of a framer between two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramerRest {
    /// That of a new framer.
    New,
    /// The length mode of the last frame that showed one.
    Method(Option<LengthMode>),
    /// `true` if the last WebSocket frame was masked.
    WebSocket(Option<bool>),
    /// The numbers of requests and of answered requests.
    Http {
        requests: u32,
        answered: u32,
        asked: bool,
    },
}

#[cfg(feature = "cli")]
impl std::fmt::Display for FramerRest {
    /// Writes the state as the event `continued` of a recording has it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::New => f.write_str("new"),
            Self::Method(mode) => write!(f, "method {}", mode.map_or("unknown", LengthMode::name)),
            Self::WebSocket(None) => f.write_str("websocket unknown"),
            Self::WebSocket(Some(true)) => f.write_str("websocket masked"),
            Self::WebSocket(Some(false)) => f.write_str("websocket plain"),
            Self::Http {
                requests,
                answered,
                asked,
            } => {
                let asked = if *asked { " upgrade" } else { "" };
                write!(f, "http {requests} {answered}{asked}")
            }
        }
    }
}

#[cfg(feature = "cli")]
impl std::str::FromStr for FramerRest {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let words: Vec<&str> = text.split(' ').collect();
        Ok(match words.as_slice() {
            ["new"] => Self::New,
            ["method", mode] => Self::Method(LengthMode::from_name(mode)),
            ["websocket", kind] => Self::WebSocket(match *kind {
                "masked" => Some(true),
                "plain" => Some(false),
                _ => None,
            }),
            ["http", requests, answered, rest @ ..] => Self::Http {
                requests: requests.parse().map_err(drop)?,
                answered: answered.parse().map_err(drop)?,
                asked: *rest == ["upgrade"],
            },
            _ => return Err(()),
        })
    }
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_as_they_are_written() {
        for rest in [
            FramerRest::New,
            FramerRest::Method(None),
            FramerRest::Method(Some(LengthMode::Inclusive)),
            FramerRest::WebSocket(None),
            FramerRest::WebSocket(Some(true)),
            FramerRest::WebSocket(Some(false)),
            FramerRest::Http {
                requests: 7,
                answered: 6,
                asked: true,
            },
        ] {
            assert_eq!(rest.to_string().parse(), Ok(rest));
        }
        assert_eq!("http 1".parse::<FramerRest>(), Err(()));
    }
}
