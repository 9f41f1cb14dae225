//! The connection string, as a recording's head tells it.

use crate::protocol::oracle::connection::{self, ConnectionError};
use crate::protocol::session::{Place, Report};

/// Addresses that a recorder was told to connect to, no program's connection strings.
const ADDRESSES: [&str; 7] = [
    "tcp://", "unix:", "tls://", "ws://", "wss://", "http://", "https://",
];

pub(super) fn is_address(text: &str) -> bool {
    ADDRESSES.iter().any(|scheme| text.starts_with(scheme))
}

/// Rules for connection strings.
pub(super) fn check(text: &str, place: Place, report: &mut Report) {
    match connection::split(text) {
        Ok(_) => {}
        Err(ConnectionError::Scheme(_)) => {
            let text = format!("{text:?} should begin with stdio:");
            return report.broken("connection-scheme", place, text);
        }
        Err(ConnectionError::Quote) => {
            let text = format!("a quote in {text:?} is never closed");
            return report.broken("connection-quote", place, text);
        }
        Err(ConnectionError::Empty) => {
            let text = format!("{text:?} names no command");
            return report.broken("connection-empty", place, text);
        }
    }
    let special = connection::special(text);
    let first = |is: fn(char) -> bool| special.iter().find(|(_, c)| is(*c));
    if let Some((at, c)) = first(|c| !matches!(c, '#' | '\r')) {
        let text =
            format!("{c} at byte {at} of {text:?} means itself, a shell would take it otherwise");
        report.broken("connection-shell", place, text);
    }
    if let Some((at, _)) = first(|c| c == '#') {
        let text = format!("# at byte {at} of {text:?} makes the rest of the line a comment");
        report.broken("connection-comment", place, text);
    }
    if let Some((at, _)) = first(|c| c == '\r') {
        let text =
            format!("the CR at byte {at} of {text:?} is part of a word, a blank should be there");
        report.broken("connection-cr", place, text);
    }
}
