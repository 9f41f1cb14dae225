//! The flags and functions that `replay` and `send` share: address, connection, recording.

use super::call_address::{CallAddress, parse_address};
use super::live::TrafficCheck;
use super::options::{self, SharedArgs};
use super::output::as_file;
use super::tls::TrustArgs;
use super::{Exit, print_message, recording};
use crate::capture::Header;
use crate::diff::DiffMessage;
use crate::encoding::Encoding;
use crate::framing::{Framing, LengthMode};
use crate::live::client::{Client, Hang};
use crate::live::codec::{ConnectionConfig, EventStreams, GENERATED_FIELDS};
use crate::live::handler::Handler;
use crate::protocol::peer::PeerConfig;
use crate::protocol::{Descriptor, Direction, Protocol};
use crate::render::style::{Highlight, shorten};
use crate::render::{DisplayOptions, arrow, findings};
use crate::transport::{
    ListenOutcome, MessagePrinter, Program, RecordingFile, Setup, Target, TextScreen, call,
};
use anyhow::{Context as _, Result};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of characters of a kind and subject that are shown.
pub const MAX_SHOWN: usize = 60;

fn parse_field(text: &str) -> Result<(String, String), String> {
    let wanted = || "wanted NAME: VALUE".to_owned();
    let (name, value) = text.split_once(':').ok_or_else(wanted)?;
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(is_name) {
        return Err(wanted());
    }
    if value.contains(|c: char| c.is_control() && c != '\t') {
        return Err("a field value cannot contain control characters".into());
    }
    if GENERATED_FIELDS
        .iter()
        .any(|made| made.eq_ignore_ascii_case(name))
    {
        return Err(format!(
            "{name} cannot be set: wiretool generates it for each message"
        ));
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

/// The flags of a connection to a peer.
#[derive(clap::Args)]
pub struct PeerArgs {
    /// Address: tcp://HOST:PORT, unix:PATH, tls, quic, ws, wss, http, https
    #[arg(long, value_name = "ADDR", value_parser = parse_address, help_heading = "Connection")]
    connect: Option<CallAddress>,
    /// Framing of the messages; the default depends on the address and the protocol
    #[arg(long, value_name = "FRAMING", value_parser = options::framing(), help_heading = "Connection")]
    framing: Option<Framing>,
    /// telequick: how frames count their length; inclusive counts its own 4 bytes, too
    #[arg(long, value_name = "MODE", value_parser = options::written_length_mode(), help_heading = "Connection")]
    length_mode: Option<LengthMode>,
    /// Use `MessagePack`, if the protocol has both
    #[arg(long, help_heading = "Connection")]
    msgpack: bool,
    /// Set a field of HTTP requests: `authorization: Bearer x` (repeatable)
    #[arg(long, short_alias = 'H', value_name = "FIELD", value_parser = parse_field, help_heading = "Connection")]
    header: Vec<(String, String)>,
    /// File with the token for the handshake; a final line end is ignored
    #[arg(long, value_name = "FILE", help_heading = "Connection")]
    token_file: Option<PathBuf>,
    /// Name of this side, if the protocol has one
    #[arg(long, value_name = "NAME", help_heading = "Connection")]
    name: Option<String>,
    /// Time limit for an answer: 500ms, 2s, 1m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = options::parse_duration, help_heading = "Connection")]
    timeout: Duration,
    /// Seed for random choices: new ids and masks
    #[arg(long, value_name = "N", help_heading = "Connection")]
    seed: Option<u64>,
    #[command(flatten)]
    trusted: TrustArgs,
    /// Record to this file; existing files are not replaced
    ///
    /// `{pid}` in the name becomes the process id, and a suffix is added if the file exists.
    /// `wiretool help recording` explains numbered names.
    #[arg(short, long, value_name = "RECORDING", help_heading = "Output")]
    write: Option<PathBuf>,
    /// Command to start; messages go to its stdin, answers come from its stdout
    #[arg(last = true, value_name = "COMMAND", help_heading = "Connection", conflicts_with_all = ["connect", "cacert", "insecure", "alpn"])]
    command: Vec<OsString>,
}

/// What a run of a client writes to.
pub struct CallOutputs {
    /// Receives the stderr of a child.
    pub stderr: File,
    /// Receives the texts that the client shows.
    pub screen: TextScreen,
    /// Receives messages for the user.
    pub print: MessagePrinter,
    /// The new recording.
    pub recording: Option<RecordingFile>,
    /// What checks the rules.
    pub check: Option<TrafficCheck>,
}

/// The properties of a connection that a recording gives.
#[derive(Default)]
pub struct KnownConnections {
    pub framing: Option<Framing>,
    pub path: Option<String>,
    pub fields: Vec<(String, String)>,
    /// The event streams of the client.
    pub events: EventStreams,
    /// The messages hold tokens, which the user can replace.
    pub takes_token: bool,
}

impl PeerArgs {
    /// Returns the maximum time for an answer, in nanoseconds.
    pub fn timeout(&self) -> i64 {
        nanos(self.timeout)
    }

    /// Returns the seed of the run with this number.
    pub fn seed(&self, run: u64) -> u64 {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..));
        seed.wrapping_add(run.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns the configuration of our side of the connection.
    pub fn peer_config(&self, seed: u64) -> Result<PeerConfig> {
        let token = self.token_file.as_deref();
        let token = token.map(options::read_secret).transpose()?;
        let token = token.map(String::from_utf8).transpose();
        Ok(PeerConfig {
            seed,
            now: i64::try_from(crate::transport::now()).unwrap_or_default(),
            name: self.name.clone(),
            token: token.context("the token is not text")?,
            ..PeerConfig::default()
        })
    }

    /// Returns the configuration of the connection.
    pub fn config<'p>(
        &self,
        protocol: &'p dyn Protocol,
        known: KnownConnections,
    ) -> Result<ConnectionConfig<'p>> {
        self.check_peer()?;
        let usual = || self.framing_of(protocol, known.framing);
        let framing = self.framing.unwrap_or_else(usual);
        self.check_flags(protocol, framing, known.takes_token)?;
        let mut config = ConnectionConfig::new(protocol, framing, Direction::ToServer);
        config.length_mode = self.length_mode;
        config.packed = self.msgpack;
        config.recorded = known.fields;
        config.fields.clone_from(&self.header);
        config.events = known.events;
        if let Some(CallAddress { address, path }) = &self.connect {
            config.streams = address.is_quic();
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

    /// Sets the command to start.
    pub fn set_command(&mut self, argv: &[OsString]) {
        argv.clone_into(&mut self.command);
    }

    /// Returns true if an address or a command is given.
    pub fn has_peer(&self) -> bool {
        self.connect.is_some() || !self.command.is_empty()
    }

    fn check_peer(&self) -> Result<()> {
        anyhow::ensure!(
            self.has_peer(),
            "no peer: use --connect tcp://HOST:PORT, or give a command after -- (--help has examples)"
        );
        Ok(())
    }

    /// Refuses flags that have no effect for this protocol and framing.
    fn check_flags(
        &self,
        protocol: &dyn Protocol,
        framing: Framing,
        takes_token: bool,
    ) -> Result<()> {
        let token = self.token_file.is_some() && !takes_token;
        let is_packed = |one: &Encoding| matches!(one, Encoding::MessagePack | Encoding::Cbor);
        let chooses = |descriptor: &Descriptor| {
            descriptor.encodings.len() > 1 && descriptor.encodings.iter().any(is_packed)
        };
        if self.msgpack && !chooses(&protocol.descriptor()) {
            let owner = options::protocols_with(chooses).join(" and ");
            let name = protocol.name();
            anyhow::bail!("--msgpack is for {owner}, but the protocol is {name}");
        }
        for (setting, is_set) in [
            ("length-mode", self.length_mode.is_some()),
            ("name", self.name.is_some()),
            ("token-file", token),
        ] {
            if let Some(owner) =
                options::protocols_with_setting(setting, protocol).filter(|_| is_set)
            {
                let name = protocol.name();
                anyhow::bail!("--{setting} is for {owner}, but the protocol is {name}");
            }
        }
        let has_head = matches!(framing, Framing::Http | Framing::WebSocket);
        anyhow::ensure!(
            self.header.is_empty() || has_head,
            "--header is for HTTP and WebSocket; these messages use {}",
            framing.name()
        );
        let address = self.connect.as_ref().map(|place| &place.address);
        if let Some(address) = address.filter(|address| address.is_http()) {
            let scheme = address.transport();
            anyhow::ensure!(
                has_head,
                "--framing {} is for addresses such as tcp://HOST:PORT; {scheme}:// uses {}",
                framing.name(),
                self.framing_of(protocol, None).name()
            );
        }
        Ok(())
    }

    /// Runs a client until it ends. `Err` holds the exit code of the command if it was interrupted, could not write the
    /// recording, or could not start.
    pub fn run_client(
        &self,
        protocol: &dyn Protocol,
        client: &mut Client<'_>,
        check: Option<TrafficCheck>,
        shared: &SharedArgs,
    ) -> Result<Result<ListenOutcome, Exit>> {
        let ended = self.run_handler(protocol, client, check, shared)?;
        Ok(match (ended.signal, &client.outcome().failure) {
            _ if ended.seen.failed || ended.seen.lost > 0 => Err(Exit::Error),
            (Some(signal), _) => Err(Exit::of_signal(signal)),
            (None, Some(why)) => {
                print_message(why);
                Err(Exit::Error)
            }
            (None, None) => Ok(ended),
        })
    }

    /// Runs a handler until it ends.
    fn run_handler(
        &self,
        protocol: &dyn Protocol,
        handler: &mut dyn Handler,
        check: Option<TrafficCheck>,
        shared: &SharedArgs,
    ) -> Result<ListenOutcome> {
        super::closed_stdout::ensure_open()?;
        let mut stdout = as_file(std::io::stdout()).context("cannot use stdout")?;
        let create = |path| recording::create_and_note(path, shared.quiet, &print_message);
        let outputs = CallOutputs {
            stderr: as_file(std::io::stderr()).context("cannot use stderr")?,
            screen: Box::new(move |text: &str| stdout.write_all(text.as_bytes())),
            print: Arc::new(print_message),
            recording: self.write.as_deref().map(create).transpose()?,
            check,
        };
        let program = self.command.clone().into();
        self.call(protocol, program, handler, outputs)
    }

    /// Runs a handler until it ends: as a client of the address, or of the program if there is none.
    pub fn call(
        &self,
        protocol: &dyn Protocol,
        program: Program,
        handler: &mut dyn Handler,
        outputs: CallOutputs,
    ) -> Result<ListenOutcome> {
        let argv = (!program.argv.is_empty()).then(|| super::live::words(&program.argv));
        let (target, transport) = if let Some(CallAddress { address, .. }) = &self.connect {
            let target = self.trusted.target(address.clone(), self.timeout)?;
            (target, address.transport())
        } else {
            let stderr = outputs.stderr;
            (Target::Child { program, stderr }, "stdio")
        };
        let header = Header {
            transport: Some(transport.into()),
            connect: self.connect.as_ref().map(|place| place.address.to_string()),
            argv,
            ..super::live::header(Some(protocol.name()))
        };
        let mut setup = Setup::recording(header, outputs.recording, outputs.print);
        if let Some(check) = outputs.check {
            setup.tap.decode = Some(check.decode);
            setup.tap.rules = Some(check.rules);
            setup.view = Some(check.view);
        }
        call(target, handler, outputs.screen, setup).context("cannot go on")
    }
}

/// Returns true if the peer took everything that was sent; otherwise prints a message.
pub fn check_all_taken(outcome: &ListenOutcome) -> bool {
    if outcome.undelivered > 0 {
        print_message(&format!(
            "bytes that the other side did not receive: {}",
            outcome.undelivered
        ));
    }
    outcome.undelivered == 0
}

/// Returns a time in nanoseconds.
pub fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Adds `→ call math.add  #3`.
pub fn write_head(which: &DiffMessage, display: DisplayOptions, out: &mut String) {
    let style = display.style;
    let text = format!(
        "{} {}",
        arrow(which.direction),
        shorten(&which.what, MAX_SHOWN)
    );
    style.push_wire(out, Highlight::Kind, &text);
    style.push(out, Highlight::Dim, &format!("  #{}", which.index));
}

/// Returns a report that nothing arrives: the requests without an answer, and the incomplete message.
pub fn describe_hang(hang: &Hang, protocol: &dyn Protocol, display: DisplayOptions) -> String {
    let mut text = String::new();
    let style = display.style;
    style.push(&mut text, Highlight::Error, "✗ hangs");
    let silent = findings::duration(hang.silence);
    let what = if hang.other_traffic {
        "no expected message"
    } else {
        "no message"
    };
    text.push_str(&format!(": {what} for {silent}\n"));
    if hang.is_connecting {
        text.push_str("    the connection is not open: the server did not finish the handshake of TLS or HTTP\n");
    }
    if let Some((which, why)) = &hang.blocked {
        text.push_str("    next ");
        write_head(which, display, &mut text);
        style.push_wire(&mut text, Highlight::Note, &format!(", waits for {why}"));
        text.push('\n');
    }
    for which in &hang.pending {
        text.push_str("    unanswered ");
        write_head(which, display, &mut text);
        text.push_str(" of the recording\n");
    }
    for waiting in &hang.waiting {
        text.push_str("   ");
        findings::write_waiting(
            waiting,
            Some(hang.now),
            protocol.descriptor().sides,
            display,
            &mut text,
        );
    }
    for half in &hang.partials {
        text.push_str("    ");
        findings::write_partial(half, "stream", display, &mut text);
    }
    text
}
