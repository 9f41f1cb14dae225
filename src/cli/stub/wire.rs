//! Where a stub listens or dials, and how messages go there.

use super::Args;
use crate::cli::calling::Place;
use crate::cli::options;
use crate::framing::{Framing, LengthMode};
use crate::live::codec::ConnectionConfig;
use crate::protocol::{Direction, Protocol, Setting, registry};
use crate::transport::Address;
use anyhow::{Context as _, Result, bail, ensure};
use std::path::Path;

/// Where to listen; nowhere on stdin and stdout.
pub fn listen(args: &Args, protocol: &dyn Protocol, framing: Framing) -> Option<Address> {
    match (&args.listen, protocol.descriptor().port) {
        _ if args.connect.is_some() => None,
        (Some(listen), _) => Some(listen.clone()),
        (None, _) if framing == Framing::Lines => None,
        (None, Some(port)) => Some(Address::loopback(port)),
        (None, None) if framing == Framing::WebSocket => Address::parse("ws://127.0.0.1:0").ok(),
        (None, None) => Some(Address::loopback(0)),
    }
}

/// How messages are delimited: as is said, as the address says, or as peers of the protocol do.
pub fn framing(args: &Args, protocol: &dyn Protocol) -> Result<Framing> {
    let framings = protocol.descriptor().framings;
    let has = |framing: Framing| framings.contains(&framing);
    let first = framings.first().copied().context("no framing")?;
    let asked = Framing::from_name(&args.framing);
    let dialled = args.connect.as_ref().map(|place| &place.address);
    let address = args.listen.as_ref().or(dialled);
    let framing = match (address, asked) {
        (_, Some(asked)) => asked,
        (Some(address), None) if address.is_http() => match address.transport() {
            "ws" | "wss" => Framing::WebSocket,
            _ if has(Framing::WebSocket) => Framing::WebSocket,
            _ => Framing::Http,
        },
        (Some(_), None) if has(Framing::Http) && !has(Framing::WebSocket) => Framing::Http,
        _ if first == Framing::Http => Framing::WebSocket,
        _ => first,
    };
    ensure!(
        has(framing),
        "{} is not spoken over {}: it has {}",
        protocol.name(),
        framing.name(),
        framings
            .iter()
            .map(|f| f.name())
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
            "--framing {framing} is not what {address} speaks: tcp:// is any"
        );
    }
    Ok(framing)
}

/// Refuses flags of other protocols.
pub fn no_flag_in_vain(args: &Args) -> Result<()> {
    let protocol = registry::find(&args.protocol).context("no such protocol")?;
    let name = protocol.name();
    if args.connect.is_some() && protocol.descriptor().provider.is_none() {
        let owners = options::those(|descriptor| descriptor.provider.is_some()).join(" and ");
        bail!("--connect is {owners}'s: {name} has no use for it");
    }
    for (given, flag, setting) in [
        (
            args.length_mode != LengthMode::Auto,
            "--length-mode",
            Setting::LengthMode,
        ),
        (args.schema.is_some(), "--schema", Setting::Schema),
        (args.secret_file.is_some(), "--secret-file", Setting::Secret),
    ] {
        if let Some(owner) = options::others(setting, protocol).filter(|_| given) {
            bail!("{flag} is {owner}'s: {name} has no use for it");
        }
    }
    Ok(())
}

/// Refuses flags of sockets, on stdin and stdout.
pub fn no_socket_flag(args: &Args) -> Result<()> {
    for (given, flag) in [
        (args.once, "--once"),
        (args.idle.is_some(), "--idle"),
        (args.tls.is_given(), "--cert"),
    ] {
        ensure!(
            !given,
            "{flag} is for sockets, and this is stdin and stdout: name a socket with --listen ADDR"
        );
    }
    let stdin = Some(Path::new("-"));
    ensure!(
        args.print_script || args.from_recording.as_deref() != stdin,
        "--from-recording -: messages come on stdin here, so that the recording must be a file"
    );
    Ok(())
}

/// How messages go, and in which direction.
pub fn config<'p>(
    args: &Args,
    protocol: &'p dyn Protocol,
    framing: Framing,
) -> ConnectionConfig<'p> {
    let Some(Place { address, path }) = &args.connect else {
        return ConnectionConfig::new(protocol, framing, Direction::ToClient);
    };
    let mut config = ConnectionConfig::new(protocol, framing, Direction::ToServer);
    config.host = address.host().unwrap_or(config.host);
    config.path = path.clone().unwrap_or(config.path);
    config
}
