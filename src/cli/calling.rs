//! What `replay` and `send` share: whom they call, how, and where it is written down.

use super::options::{self, Shared};
use super::tls::Trusted;
use super::{Exit, complain, recording};
use crate::capture::Header;
use crate::diff::Which;
use crate::framing::{Framing, LengthMode};
use crate::live::client::{Client, Hang};
use crate::live::codec::{ConnectionConfig, MADE};
use crate::live::handler::Handler;
use crate::protocol::peer::PeerConfig;
use crate::protocol::{Direction, Protocol, Setting};
use crate::render::style::{Tone, shorten};
use crate::render::{Look, arrow, findings};
use crate::transport::{Address, Outcome, Setup, Target, call};
use anyhow::{Context as _, Result};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Characters of what a message is that are shown.
pub const SHOWN: usize = 60;

/// An address, and the path behind it.
#[derive(Clone, Debug)]
pub struct Place {
    pub address: Address,
    pub path: Option<String>,
}

/// Reads one.
pub fn place(text: &str) -> Result<Place, String> {
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
        return Err("no space and no control character stands in a path: %20 is a space".into());
    }
    Ok(Place {
        address: Address::parse(address)?,
        path: (!path.is_empty()).then(|| path.to_owned()),
    })
}

fn field(text: &str) -> Result<(String, String), String> {
    let wanted = || "NAME: VALUE is wanted".to_owned();
    let (name, value) = text.split_once(':').ok_or_else(wanted)?;
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(is_name) {
        return Err(wanted());
    }
    if value.contains(|c: char| c.is_control() && c != '\t') {
        return Err("no control character stands in the value of a field".into());
    }
    if MADE.iter().any(|made| made.eq_ignore_ascii_case(name)) {
        return Err(format!("{name} follows from what is sent: it is made anew"));
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

/// Whom to call.
#[derive(clap::Args)]
pub struct Callee {
    /// Where to connect: `tcp://HOST:PORT`, `unix:PATH`, or tls, ws, wss, http, https, these four with a path
    #[arg(long, value_name = "ADDR", value_parser = place, help_heading = "Connection")]
    connect: Option<Place>,
    /// How messages are delimited; by default as the address says, else as before, else as peers of the protocol do
    #[arg(long, value_name = "FRAMING", value_parser = options::names(Framing::ALL.map(Framing::name)), help_heading = "Connection")]
    framing: Option<String>,
    /// How telequick's lengths count
    #[arg(long, value_name = "MODE", value_parser = options::names(["exclusive", "inclusive"]), help_heading = "Connection")]
    length_mode: Option<String>,
    /// Where the protocol has both: `MessagePack`, not JSON
    #[arg(long, help_heading = "Connection")]
    msgpack: bool,
    /// A field of HTTP requests: `authorization: Bearer x`; in place of the usual or recorded one: `host: x` (repeatable)
    #[arg(long, value_name = "FIELD", value_parser = field, help_heading = "Connection")]
    header: Vec<(String, String)>,
    /// The token to show, in the handshake: a file, without its last line end
    #[arg(long, value_name = "FILE", help_heading = "Connection")]
    token_file: Option<PathBuf>,
    /// How this side names itself, where the protocol has names for sides
    #[arg(long, value_name = "NAME", help_heading = "Connection")]
    name: Option<String>,
    /// How long an answer may take: 500ms, 2s, 1m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = options::duration, help_heading = "Connection")]
    timeout: Duration,
    /// What is left to chance follows from this number: fresh ids and masks
    #[arg(long, value_name = "N", help_heading = "Connection")]
    seed: Option<u64>,
    #[command(flatten)]
    trusted: Trusted,
    /// Record what passes, never over another file: `{pid}` becomes our process id, a lone n in such braces the first
    /// free number; without it a suffix is added where there is such a file
    #[arg(short, long, value_name = "RECORDING", help_heading = "Output")]
    write: Option<PathBuf>,
    /// Start this, and speak to it over its stdin and stdout
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["connect", "cacert", "insecure"])]
    command: Vec<OsString>,
}

/// What is known of connections before they are made.
#[derive(Default)]
pub struct Known {
    pub framing: Option<Framing>,
    pub path: Option<String>,
    pub fields: Vec<(String, String)>,
    /// What is said holds values that are given to whoever says it anew: tokens.
    pub takes_token: bool,
}

impl Callee {
    /// Nanoseconds that an answer may take.
    pub fn timeout(&self) -> i64 {
        nanos(self.timeout)
    }

    /// The seed of the run of that number.
    pub fn seed(&self, run: u64) -> u64 {
        let seed = self.seed.unwrap_or_else(super::encode::random_seed);
        seed.wrapping_add(run.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// What the side that calls is like.
    pub fn peer_config(&self, seed: u64) -> Result<PeerConfig> {
        let token = self.token_file.as_deref();
        let token = token.map(options::read_secret).transpose()?;
        let token = token.map(String::from_utf8).transpose();
        Ok(PeerConfig {
            seed,
            now: i64::try_from(crate::transport::now()).unwrap_or_default(),
            name: self.name.clone(),
            token: token.context("the token is no text")?,
            ..PeerConfig::default()
        })
    }

    /// How messages go.
    pub fn config<'p>(
        &self,
        protocol: &'p dyn Protocol,
        known: Known,
    ) -> Result<ConnectionConfig<'p>> {
        self.is_told()?;
        let asked = self.framing.as_deref().and_then(Framing::from_name);
        let framing = asked.unwrap_or_else(|| self.framing_of(protocol, known.framing));
        self.serves(protocol, framing, known.takes_token)?;
        let mut config = ConnectionConfig::new(protocol, framing, Direction::ToServer);
        let mode = self.length_mode.as_deref();
        config.length_mode = mode.and_then(LengthMode::from_name);
        config.packed = self.msgpack;
        config.fields = known.fields;
        for (name, value) in &self.header {
            (config.fields).retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            config.fields.push((name.clone(), value.clone()));
        }
        if let Some(Place { address, path }) = &self.connect {
            config.host = address.host().unwrap_or(config.host);
            let path = path.clone().or(known.path);
            config.path = path.unwrap_or(config.path);
        }
        Ok(config)
    }

    fn framing_of(&self, protocol: &dyn Protocol, known: Option<Framing>) -> Framing {
        let over_http = |framing: &&Framing| matches!(framing, Framing::Http | Framing::WebSocket);
        let plain = protocol
            .descriptor()
            .framings
            .iter()
            .find(|f| !over_http(f));
        let plain = plain.copied().unwrap_or(Framing::Lines);
        let address = self.connect.as_ref().map(|place| place.address.transport());
        match (address, known) {
            (Some("ws" | "wss"), _) => Framing::WebSocket,
            (Some("http" | "https"), _) => Framing::Http,
            (Some(_), Some(known)) => known,
            (None, Some(known)) if !over_http(&&known) => known,
            _ => plain,
        }
    }

    fn is_told(&self) -> Result<()> {
        anyhow::ensure!(
            self.connect.is_some() || !self.command.is_empty(),
            "nobody to call: name it with --connect tcp://HOST:PORT, or a command after -- (--help has examples)"
        );
        Ok(())
    }

    /// Refuses flags that nothing would come of here.
    fn serves(&self, protocol: &dyn Protocol, framing: Framing, takes_token: bool) -> Result<()> {
        let token = self.token_file.is_some() && !takes_token;
        for (flag, is_set, setting) in [
            (
                "--length-mode",
                self.length_mode.is_some(),
                Setting::LengthMode,
            ),
            ("--msgpack", self.msgpack, Setting::MessagePack),
            ("--name", self.name.is_some(), Setting::Name),
            ("--token-file", token, Setting::Token),
        ] {
            if let Some(owner) = options::others(setting, protocol).filter(|_| is_set) {
                let name = protocol.name();
                anyhow::bail!("{flag} is {owner}'s; the protocol is {name}");
            }
        }
        let has_head = matches!(framing, Framing::Http | Framing::WebSocket);
        anyhow::ensure!(
            self.header.is_empty() || has_head,
            "--header is for HTTP and WebSocket, whose requests have fields; here messages go as {}",
            framing.name()
        );
        let address = self.connect.as_ref().map(|place| &place.address);
        if let Some(address) = address.filter(|address| address.is_http()) {
            let scheme = address.transport();
            anyhow::ensure!(
                has_head,
                "--framing {} is for addresses such as tcp://HOST:PORT; over {scheme}:// goes {}",
                framing.name(),
                self.framing_of(protocol, None).name()
            );
        }
        Ok(())
    }

    /// Lets a client speak, until it ends; or how the command ends: it was interrupted, could not be written down, or could
    /// not be done.
    pub fn play(
        &self,
        protocol: &dyn Protocol,
        client: &mut Client<'_>,
        shared: &Shared,
    ) -> Result<Result<Outcome, Exit>> {
        let ended = self.call(protocol, client, shared)?;
        Ok(match (ended.signal, &client.outcome().trouble) {
            _ if ended.seen.trouble || ended.seen.lost > 0 => Err(Exit::Trouble),
            (Some(signal), _) => Err(Exit::Status(128 + u8::try_from(signal).unwrap_or_default())),
            (None, Some(why)) => {
                complain(why);
                Err(Exit::Trouble)
            }
            (None, None) => Ok(ended),
        })
    }

    /// Lets a handler speak, until it ends.
    fn call(
        &self,
        protocol: &dyn Protocol,
        handler: &mut dyn Handler,
        shared: &Shared,
    ) -> Result<Outcome> {
        let (target, transport) = if let Some(Place { address, .. }) = &self.connect {
            let to = address.clone();
            let tls = self.trusted.client(&to)?;
            let within = self.timeout;
            (Target::Address { to, tls, within }, address.transport())
        } else {
            let stderr = std::io::stderr().as_fd().try_clone_to_owned();
            let stderr = stderr.map(File::from).context("cannot use stderr")?;
            let argv = self.command.clone();
            (Target::Child { argv, stderr }, "stdio")
        };
        let words = self.command.iter();
        let words = words.map(|word| word.to_string_lossy().into_owned());
        let header = Header {
            protocol: Some(protocol.name().to_owned()),
            transport: Some(transport.into()),
            connect: self.connect.as_ref().map(|place| place.address.to_string()),
            argv: (!self.command.is_empty()).then(|| words.collect()),
            ..Header::new(crate::transport::now())
        };
        let create = |path| recording::create(path, false);
        let recording = self.write.as_deref().map(create).transpose()?;
        if let Some(sink) = recording.as_ref().filter(|_| !shared.quiet) {
            complain(&format!("recording to {}", sink.name));
        }
        let setup = Setup::recording(header, recording, Arc::new(complain));
        super::closed::ensure_open()?;
        let stdout = std::io::stdout().as_fd().try_clone_to_owned();
        let mut stdout = stdout.map(File::from).context("cannot use stdout")?;
        let screen = Box::new(move |text: &str| stdout.write_all(text.as_bytes()));
        call(target, handler, screen, setup).context("cannot go on")
    }
}

/// Whether all was taken that was sent; says so where it was not.
pub fn all_taken(outcome: &Outcome) -> bool {
    if outcome.untaken > 0 {
        complain(&format!(
            "bytes of what was sent that the other side did not take: {}",
            outcome.untaken
        ));
    }
    outcome.untaken == 0
}

/// A time in nanoseconds.
pub fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// `→ call math.add  #3`.
pub fn head(which: &Which, look: Look, out: &mut String) {
    let style = look.style;
    let text = format!("{} {}", arrow(which.direction), shorten(&which.what, SHOWN));
    style.wire(out, Tone::Kind, &text);
    style.put(out, Tone::Dim, &format!("  #{}", which.index));
}

/// That nothing comes any more, who waits for what, and what is here in part.
pub fn hang(hang: &Hang, protocol: &dyn Protocol, look: Look) -> String {
    let mut text = String::new();
    let style = look.style;
    style.put(&mut text, Tone::Bad, "✗ hangs");
    let silent = findings::duration(hang.silent);
    let what = if hang.other {
        "nothing that is waited for"
    } else {
        "nothing"
    };
    text.push_str(&format!(": {what} came for {silent}\n"));
    if hang.dials {
        text.push_str("    the connection is not open: the server did not finish the handshake of TLS or HTTP\n");
    }
    if let Some((which, why)) = &hang.held {
        text.push_str("    next ");
        head(which, look, &mut text);
        style.wire(&mut text, Tone::Note, &format!(", waits for {why}"));
        text.push('\n');
    }
    for which in &hang.owed {
        text.push_str("    unanswered ");
        head(which, look, &mut text);
        text.push_str(" of the recording\n");
    }
    for waiting in &hang.waiting {
        text.push_str("   ");
        findings::waiting(
            waiting,
            Some(hang.now),
            protocol.descriptor().sides,
            look,
            &mut text,
        );
    }
    for half in &hang.halves {
        text.push_str("    ");
        findings::half(half, "stream", look, &mut text);
    }
    text
}
