//! The state of a framer between two messages: a decoder of many connections stores it in place of the framer.

use super::LengthMode;

/// The state of a framer between two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramerState {
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
impl std::fmt::Display for FramerState {
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
impl std::str::FromStr for FramerState {
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
        for state in [
            FramerState::New,
            FramerState::Method(None),
            FramerState::Method(Some(LengthMode::Inclusive)),
            FramerState::WebSocket(None),
            FramerState::WebSocket(Some(true)),
            FramerState::WebSocket(Some(false)),
            FramerState::Http {
                requests: 7,
                answered: 6,
                asked: true,
            },
        ] {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        assert_eq!("http 1".parse::<FramerState>(), Err(()));
    }
}
