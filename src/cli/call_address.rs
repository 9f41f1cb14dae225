//! Addresses of servers, which may have a path.

use crate::transport::Address;

/// An address with its path.
#[derive(Clone, Debug)]
pub struct CallAddress {
    pub address: Address,
    pub path: Option<String>,
}

/// Parses an address with its path.
pub fn parse_address(text: &str) -> Result<CallAddress, String> {
    let is_http = ["ws://", "wss://", "http://", "https://"];
    let scheme = is_http.iter().find(|scheme| text.starts_with(**scheme));
    let slash = scheme.and_then(|scheme| {
        let rest = text.get(scheme.len()..)?;
        Some(scheme.len() + rest.find('/')?)
    });
    let (address, path) = match slash {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    if path.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(
            "a path cannot contain spaces and control characters: write a space as %20".into(),
        );
    }
    Ok(CallAddress {
        address: Address::parse(address)?,
        path: (!path.is_empty()).then(|| path.to_owned()),
    })
}
