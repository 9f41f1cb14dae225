//! The addresses of a stub, and the framing of its messages.

use super::Args;
use crate::cli::call_address::CallAddress;
use crate::cli::options;
use crate::framing::{Framing, LengthMode};
use crate::live::codec::ConnectionConfig;
use crate::protocol::{Direction, Protocol, registry};
use crate::transport::Address;
use anyhow::{Context as _, Result, bail, ensure};
use std::path::Path;

/// Returns the address to listen on; `None` for stdin and stdout.
pub fn listen(args: &Args, protocol: &dyn Protocol, framing: Framing) -> Option<Address> {
    match (&args.listen, protocol.descriptor().port) {
        _ if args.connect.is_some() => None,
        (Some(listen), _) => Some(listen.clone()),
        (None, _) if matches!(framing, Framing::Lines | Framing::ContentLength) => None,
        (None, Some(port)) => Some(Address::loopback(port)),
        (None, None) if framing == Framing::Values => None,
        (None, None) if framing == Framing::WebSocket => Address::parse("ws://127.0.0.1:0").ok(),
        (None, None) => Some(Address::loopback(0)),
    }
}

/// Returns the framing: of the flag, of the address, of the script, or the default of the protocol.
pub fn framing(args: &Args, protocol: &dyn Protocol, scripted: Option<Framing>) -> Result<Framing> {
    let framings = protocol.descriptor().framings;
    let has = |framing: Framing| framings.contains(&framing);
    let first = framings.first().copied().context("no framing")?;
    let given = protocol.framing_named(&args.framing);
    let dialled = args.connect.as_ref().map(|place| &place.address);
    let address = args.listen.as_ref().or(dialled);
    let framing = match (address, given) {
        (_, Some(given)) => given,
        (Some(address), None) if address.is_http() => match address.transport() {
            "http" | "https" if has(Framing::Http) => Framing::Http,
            _ => Framing::WebSocket,
        },
        (Some(_), None) if has(Framing::Http) && !has(Framing::WebSocket) => Framing::Http,
        _ if first == Framing::Http => Framing::WebSocket,
        _ => scripted.unwrap_or(first),
    };
    ensure!(
        has(framing),
        "{} does not use the framing {}, only {}",
        protocol.name(),
        framing.name(),
        framings
            .iter()
            .map(Framing::name)
            .collect::<Vec<_>>()
            .join(", ")
    );
    if let Some(address) = address.filter(|address| address.is_http()) {
        let fits = match framing {
            Framing::WebSocket => true,
            Framing::Http => address.transport().starts_with("http"),
            _ => false,
        };
        let framing = framing.name();
        ensure!(
            fits,
            "--framing {framing} does not fit {address}: use tcp://"
        );
    }
    Ok(framing)
}

/// Returns the usual path of the older transport over HTTP, for a protocol with sessions.
pub fn older_path_of(protocol: &dyn Protocol) -> Option<String> {
    protocol.descriptor().http.map(|_| "/sse".to_owned())
}

/// Refuses flags of other protocols.
pub fn refuse_useless_flags(args: &Args) -> Result<()> {
    let protocol = registry::find(&args.protocol).context("no such protocol")?;
    let name = protocol.name();
    if args.connect.is_some() && protocol.descriptor().provider.is_none() {
        let owners =
            options::protocols_with(|descriptor| descriptor.provider.is_some()).join(" and ");
        bail!("--connect is for {owners}, not for {name}");
    }
    for (given, setting) in [
        (args.length_mode != LengthMode::Auto, "length-mode"),
        (args.schema.is_some(), "schema"),
        (args.secret_file.is_some(), "secret-file"),
    ] {
        if let Some(owner) = options::protocols_with_setting(setting, protocol).filter(|_| given) {
            bail!("--{setting} is for {owner}, not for {name}");
        }
    }
    Ok(())
}

/// Refuses flags of sockets for a stub on stdin and stdout.
pub fn refuse_socket_flags(args: &Args) -> Result<()> {
    for (given, flag) in [
        (args.once, "--once"),
        (args.idle.is_some(), "--idle"),
        (args.tls.is_certificate_given(), "--cert"),
    ] {
        ensure!(!given, "{flag} needs a socket: use --listen ADDR");
    }
    let stdin = Some(Path::new("-"));
    ensure!(
        args.print_script || args.from_recording.as_deref() != stdin,
        "--from-recording -: stdin carries the messages, so the recording must be a file"
    );
    Ok(())
}

/// Returns the configuration of connections, with the direction of the stub.
pub fn config<'p>(
    args: &Args,
    protocol: &'p dyn Protocol,
    framing: Framing,
) -> ConnectionConfig<'p> {
    let Some(CallAddress { address, path }) = &args.connect else {
        let mut config = ConnectionConfig::new(protocol, framing, Direction::ToClient);
        config.streams = args.listen.as_ref().is_some_and(Address::is_quic);
        return config;
    };
    let mut config = ConnectionConfig::new(protocol, framing, Direction::ToServer);
    config.streams = address.is_quic();
    config.host = address.host().unwrap_or(config.host);
    config.path = path.clone().unwrap_or(config.path);
    config
}
