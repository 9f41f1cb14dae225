//! The flags and functions that commands on live traffic share: addresses, output, and exit status.

mod note;
mod stdio;
mod view;

use super::call_address::{CallAddress, parse_address};
use super::descriptions;
use super::export::collector::{self, LiveSpans, report_end};
use super::faults::{FaultArgs, faults_to_inject};
use super::options::{self, SharedArgs};
use super::poll::print_nonblocking;
use super::tls::TlsArgs;
use super::{Exit, count_text, print_message, recording};
use crate::capture::recording::continued::PART;
use crate::capture::{Header, Time};
use crate::conversation::RuleSettings;
use crate::conversation::guard::{Guard, Quarantine, uses_lines};
use crate::conversation::tap::{TapConfig, TapCounts};
use crate::decoder;
use crate::framing::Framing;
use crate::live::codec::ConnectionConfig;
use crate::protocol::Protocol;
use crate::protocol::session::Severity;
use crate::render::Format;
use crate::system;
use crate::transport::{
    Address, BoundListener, ChildCommand, Collector, Faults, FileLimit, Inserts, MessagePrinter,
    Policy, ProxyOptions, RecorderObserver, RecorderScreen, RecordingFile, RecordingSummary, Setup,
    Wrap, wrap,
};
use anyhow::{Context as _, Result};
use note::RecordingNote;
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
pub use stdio::{take_stdio, take_stdio_beside_screen};

/// Printed if the address is not a loopback address.
pub const ALL_ADDRESSES_WARNING: &str =
    "listening on all addresses: other machines can connect, too";

pub const EXIT_CODES: &str = "\
Exit codes:
  0         success
  1         a finding of the severity of --fail-on or worse
  2         usage, an address or file that failed, or bytes that were not recorded
  130, 143  interrupted, terminated; files are complete
With a command after --: 2 and 1 as above, otherwise its own exit code; 128 plus the signal number if a signal ended it";

/// The two sides of forwarded traffic: addresses, or a command.
#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub struct ConnectionArgs {
    /// Address to listen on [default: any free port]
    #[arg(long, value_name = "ADDR", value_parser = options::parse_listen, help_heading = "Sockets")]
    listen: Option<Address>,
    #[arg(long, help = connect_help(), value_name = "ADDR", value_parser = parse_address, help_heading = "Sockets")]
    connect: Option<CallAddress>,
    /// Exit when the first connection has closed
    #[arg(long, help_heading = "Sockets")]
    once: bool,
    /// Exit after this time without traffic: 500ms, 2s, 1m
    #[arg(long, value_name = "TIME", value_parser = options::parse_duration, help_heading = "Sockets")]
    idle: Option<Duration>,
    /// Never let a slow reader of stderr block the child; the recording keeps all of it
    #[arg(long, help_heading = "Children")]
    drain_stderr: bool,
    /// Move text that is not a message from the child's stdout to stderr; each line waits until it is complete
    #[arg(long, help_heading = "Children")]
    quarantine: bool,
    /// After the child has exited, forward output of its own children for this time [default: until they close it]
    #[arg(long, value_name = "TIME", value_parser = options::parse_duration, help_heading = "Children")]
    keep_open: Option<Duration>,
    /// Set the Host of HTTP requests to the host of --connect
    #[arg(long, help_heading = "Sockets")]
    rewrite_host: bool,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    pub faults: FaultArgs,
    /// Command to start; its stdin, stdout and stderr are forwarded
    #[arg(last = true, value_name = "COMMAND", help_heading = "Children", conflicts_with_all = ["listen", "connect", "once", "idle", "rewrite_host"])]
    command: Vec<OsString>,
}

/// The rules for forwarded messages.
#[derive(clap::Args)]
pub struct LintArgs {
    /// Check the rules of the protocol
    ///
    /// If no messages are shown, findings go to stderr.
    #[arg(long, help_heading = "Rules")]
    lint: bool,
    /// Exit 1 on a finding of this severity or worse, with --lint [default: error]
    ///
    /// If it is given, every message is checked: traffic waits while the checks are slower than the traffic.
    #[arg(long, value_name = "SEVERITY", requires = "lint", value_parser = options::words("fail-on"), help_heading = "Rules")]
    fail_on: Option<String>,
    #[command(flatten)]
    judging: options::RuleArgs,
}

impl LintArgs {
    /// Returns true if --lint is given.
    pub fn is_on(&self) -> bool {
        self.lint
    }

    fn fail_on(&self) -> Option<Severity> {
        let least = self.fail_on.as_deref().unwrap_or("error");
        Severity::from_name(least).filter(|_| self.lint)
    }

    /// Returns true if a finding has the severity of `--fail-on` or a worse one.
    pub fn is_failed(&self, seen: &RecordingSummary) -> bool {
        self.fail_on()
            .is_some_and(|least| seen.counts.worst >= Some(least))
    }

    /// Returns the check of a client's connections, if --lint is given.
    pub fn check(
        &self,
        connection: &ConnectionConfig<'static>,
        show_secrets: bool,
        shared: &SharedArgs,
    ) -> Result<Option<TrafficCheck>> {
        if !self.lint {
            return Ok(None);
        }
        let decode = decoder::DecodeOptions {
            framing: connection.initial_framing(),
            ..decoder::DecodeOptions::new(vec![connection.protocol])
        };
        Ok(Some(TrafficCheck {
            decode,
            rules: self.judging.rules()?,
            view: view::open_findings(show_secrets, shared)?,
        }))
    }
}

/// Checks the rules of the protocol for what passes.
pub struct TrafficCheck {
    pub decode: decoder::DecodeOptions<'static>,
    pub rules: RuleSettings,
    /// Shows the findings.
    pub view: RecorderScreen,
}

/// The output for messages.
pub struct LiveScreen {
    /// `None`: messages are not shown.
    pub path: Option<PathBuf>,
    /// `None`: only findings are shown.
    pub format: Option<Format>,
    /// Operations are shown in place of messages.
    pub ops: bool,
    pub show_secrets: bool,
}

impl LiveScreen {
    /// Returns true if stdout is not used.
    fn leaves_stdout_free(&self) -> bool {
        self.path
            .as_ref()
            .is_some_and(|path| path.as_os_str() != "-")
    }
}

/// The options of a command.
pub struct LiveConfig<'a> {
    pub connection: &'a ConnectionArgs,
    /// The rules that are checked; `None`: the caller checks them.
    pub lint: Option<&'a LintArgs>,
    pub write: Option<PathBuf>,
    /// When the recording goes on in another file.
    pub rotate: Option<FileLimit>,
    /// The collector of spans.
    pub otlp: Option<&'a CallAddress>,
    /// Spans have secrets.
    pub show_secrets: bool,
    /// The recording, if it exists already; `write` is not used.
    pub recording: Option<RecordingFile>,
    /// The stdin, stdout and stderr that are forwarded to a child, if not those of the process.
    pub stdio: Option<Wrap>,
    /// Prints messages for the user, if not on stderr.
    pub print: Option<MessagePrinter>,
    pub screen: Option<LiveScreen>,
    /// The options of the decoder, if bytes are decoded.
    pub decode: Option<decoder::DecodeOptions<'static>>,
    /// The directions that messages can be added to, if they can.
    pub inserts: Option<Arc<Inserts>>,
    pub protocol: Option<&'static dyn Protocol>,
    pub shared: &'a SharedArgs,
}

impl ConnectionArgs {
    /// Returns true if a child is wrapped.
    pub fn has_child(&self) -> bool {
        !self.command.is_empty()
    }

    /// Returns the address to listen on, for connections to that one.
    fn listen_address(&self, connect: &Address) -> Address {
        let given = self.listen.clone();
        given.unwrap_or_else(|| Address::local_for(connect))
    }

    /// Returns true for live traffic.
    pub fn is_given(&self) -> bool {
        self.has_child() || self.listen.is_some() || self.connect.is_some()
    }

    /// Returns true if one of the addresses is that of an HTTP server.
    pub fn is_http(&self) -> bool {
        let connect = self.connect.as_ref().map(|to| &to.address);
        [self.listen.as_ref(), connect]
            .into_iter()
            .flatten()
            .any(Address::is_http)
    }
}

impl LiveConfig<'_> {
    fn read_faults(
        &self,
        host: Option<String>,
        started: Option<Time>,
        has_codes: bool,
    ) -> Result<Option<Faults>> {
        let (faults, quiet) = (&self.connection.faults, self.shared.quiet);
        let mut plan = faults.read_plan(quiet)?;
        anyhow::ensure!(
            has_codes || !plan.has_codes(),
            "only quic:// connections end with a code: close and reset have none here"
        );
        plan.host = host;
        let decode = self.decode.as_ref();
        faults_to_inject(plan, self.protocol, decode, started, self.inserts.clone())
    }
}

/// Forwards until the end.
pub fn run(config: LiveConfig<'_>) -> Result<Exit> {
    let only = config.connection.drain_stderr
        || config.connection.quarantine
        || config.connection.keep_open.is_some();
    anyhow::ensure!(
        config.connection.has_child() || !only,
        "--drain-stderr, --quarantine and --keep-open need a child: give its command after --"
    );
    if config.connection.has_child() {
        run_child(config)
    } else {
        run_sockets(config)
    }
}

fn connect_help() -> String {
    format!(
        "Address: tcp://HOST:PORT, unix:PATH, tls, quic, ws, wss, http, https [default: the protocol's port ({})]",
        options::usual_ports()
    )
}

/// The URL that a client uses in place of that of the server, if it has a path.
fn url_of_client(listen: &Address, connect: &CallAddress) -> Option<String> {
    let path = connect.path.as_ref()?;
    let own = listen.to_string();
    let address = own.split_once("://").map_or(&*own, |(_, address)| address);
    let scheme = match connect.address.transport() {
        _ if listen.is_http() => listen.transport(),
        "ws" | "wss" => "ws",
        _ => "http",
    };
    Some(format!("{scheme}://{address}{path}"))
}

fn run_sockets(mut config: LiveConfig<'_>) -> Result<Exit> {
    let name = config.protocol.map(Protocol::name);
    let connect = server_address(config.connection, config.protocol)?;
    let listen = config.connection.listen_address(&connect);
    if let Some(options) = &mut config.decode
        && (connect.is_http() || listen.is_http())
    {
        options.framing.get_or_insert(Framing::Http);
    }
    let connection = config.connection;
    let tls = &connection.tls;
    let quic = tls.quic(&connect, &listen, connection.rewrite_host)?;
    let sides = quic.is_none().then(|| tls.sides(&connect, &listen));
    let (client, server) = sides.transpose()?.unwrap_or_default();
    let (quiet, verbose) = (config.shared.quiet, config.shared.verbose);
    let lint = config.lint;
    let bound =
        BoundListener::bind(&listen).with_context(|| format!("cannot listen on {listen}"))?;
    let header = Header {
        transport: Some(connect.transport().into()),
        listen: Some(bound.address().to_string()),
        connect: Some(connect.to_string()),
        ..header(name)
    };
    let host = connection.rewrite_host.then(|| connect.host());
    let injected = config.read_faults(host.flatten(), header.started, quic.is_some())?;
    anyhow::ensure!(
        !bound.is_destination_of(&connect),
        "--connect {connect} is the address of --listen {}: every connection would open another one",
        bound.address()
    );
    let print = config.print.take().unwrap_or(Arc::new(print_message));
    let screen = config.screen.as_ref();
    let is_free = screen.is_none_or(LiveScreen::leaves_stdout_free);
    let note = RecordingNote::new(&config);
    let collector = open_collector(&config)?;
    let setup = new_setup(config, header, &print, is_free, collector.as_ref())?;
    // With port 0, the printed address is the only way to learn the port.
    let is_named = !quiet || listen.is_any_port();
    let to = setup.recording.as_ref();
    let listening = || listening_text(connection, name, &connect, bound.address(), to);
    let noted = if is_named {
        Some(listening())
    } else {
        note.of_sockets(to)
    };
    if let Some(text) = noted {
        print(&text);
    }
    if bound.is_on_all_addresses() {
        print(ALL_ADDRESSES_WARNING);
    }
    let options = ProxyOptions {
        faults: injected,
        client,
        server,
        quic,
        connect,
        once: connection.once,
        idle: connection.idle,
    };
    let outcome = bound.proxy(options, setup).context("cannot go on")?;
    report_end(collector.as_deref(), quiet, &*print);
    let bad = report_losses(&outcome.seen, &*print);
    let counts = &outcome.seen.counts;
    if verbose && counts.without_close_notify > 0 {
        print(&close_notify_text(counts));
    }
    if !quiet {
        print(&total(counts));
    }
    Ok(match outcome.signal {
        _ if bad => Exit::Error,
        Some(signal) => Exit::of_signal(signal),
        None if outcome.refused => Exit::Error,
        None if lint.is_some_and(|lint| lint.is_failed(&outcome.seen)) => Exit::Negative,
        None => Exit::Clean,
    })
}

fn close_notify_text(counts: &TapCounts) -> String {
    let directions = count_text(counts.without_close_notify, "direction", "directions");
    format!("{directions} ended without close_notify of TLS: bytes may be missing")
}

/// Returns the address that is given, or the usual one of the protocol.
fn server_address(connection: &ConnectionArgs, protocol: Option<&dyn Protocol>) -> Result<Address> {
    let usual = protocol.and_then(|protocol| protocol.descriptor().port);
    match (&connection.connect, usual) {
        (Some(to), _) => Ok(to.address.clone()),
        (None, Some(port)) => Ok(Address::loopback(port)),
        (None, None) => anyhow::bail!(
            "no server: use --connect tcp://HOST:PORT, or give a command after -- (--help has examples)"
        ),
    }
}

/// Returns the text about the addresses: `listening on A, connecting to B`.
fn listening_text(
    connection: &ConnectionArgs,
    protocol: Option<&str>,
    connect: &Address,
    at: &Address,
    recording: Option<&RecordingFile>,
) -> String {
    let why = match (&connection.connect, protocol) {
        (None, Some(name)) => format!(" ({name}'s usual port)"),
        _ => String::new(),
    };
    let to = recording.map_or(String::new(), |to| format!(", recording to {}", to.name));
    let url = connection
        .connect
        .as_ref()
        .and_then(|to| url_of_client(at, to));
    let url = url.map_or(String::new(), |url| format!("; the client uses {url}"));
    format!("listening on {at}, connecting to {connect}{why}{to}{url}")
}

/// Returns the number of connections, messages and findings.
fn total(counts: &TapCounts) -> String {
    let (connections, messages, faulty) = (counts.connections, counts.messages, counts.faulty);
    let if_any = |n, text: String| if n == 0 { String::new() } else { text };
    let faulty = if_any(faulty, format!(", {faulty} with faults"));
    let found = count_text(counts.findings, "finding", "findings");
    let found = if_any(counts.findings, format!(", {found}"));
    let text = count_text(messages, "message", "messages");
    let messages = if_any(messages, format!(", {text}{faulty}{found}"));
    let connections = count_text(connections, "connection", "connections");
    format!("{connections}{messages}")
}

fn run_child(mut config: LiveConfig<'_>) -> Result<Exit> {
    let name = config.protocol.map(Protocol::name);
    let speaks = config.protocol.filter(|p| uses_lines(*p));
    let limits = config.decode.as_ref().map(|options| options.limits);
    let limit = limits.unwrap_or_default().message;
    let framing = config.decode.as_ref().and_then(|options| options.framing);
    let quarantine = config.protocol.filter(|_| config.connection.quarantine);
    let quarantine = quarantine.and_then(|p| Quarantine::new(p, framing, limit as usize));
    anyhow::ensure!(
        quarantine.is_some() || !config.connection.quarantine,
        "--quarantine needs a protocol with lines or Content-Length: name it with -p"
    );
    let argv = config.connection.command.clone();
    let header = Header {
        transport: Some("stdio".into()),
        argv: Some(words(&argv)),
        ..header(name)
    };
    anyhow::ensure!(
        !config.connection.quarantine
            || !config.connection.faults.is_given() && config.inserts.is_none(),
        "--quarantine and faults, or --allow-edit, cannot be used together"
    );
    let faults = config.read_faults(None, header.started, false)?;
    let child = ChildCommand {
        faults,
        program: argv.into(),
        drain_stderr: config.connection.drain_stderr,
        quarantine,
        held: config.connection.keep_open,
    };
    let program = words(&child.program.argv)
        .into_iter()
        .next()
        .unwrap_or_default();
    let lint = config.lint;
    let note = RecordingNote::new(&config);
    let print = config.print.take().unwrap_or(Arc::new(print_nonblocking));
    let stdio = config.stdio.take();
    let quiet = config.shared.quiet;
    let collector = open_collector(&config)?;
    let mut setup = new_setup(config, header, &print, false, collector.as_ref())?;
    setup.tap.guard = speaks.map(Guard::new);
    if let Some(text) = note.of_child(setup.recording.as_ref()) {
        print(&text);
    }
    let ours = stdio
        .map_or_else(take_stdio, Ok)
        .context("cannot use stdin, stdout and stderr")?;
    let ended = wrap(child, ours, setup).with_context(|| format!("cannot run {program}"))?;
    report_end(collector.as_deref(), quiet, &*print);
    if report_losses(&ended.seen, &*print) {
        return Ok(Exit::Error);
    }
    if lint.is_some_and(|lint| lint.is_failed(&ended.seen)) {
        return Ok(Exit::Negative);
    }
    let code = ended.status.code().and_then(|code| u8::try_from(code).ok());
    let signal = system::signal_of(ended.status).map(Exit::of_signal);
    Ok(code.map(Exit::Status).or(signal).unwrap_or(Exit::Error))
}

/// Returns a command line as text.
pub fn words(command: &[OsString]) -> Vec<String> {
    let words = command.iter();
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// Returns the header of a recording that starts now. It names this host, this process, its parent and this version.
pub fn header(protocol: Option<&str>) -> Header {
    let started = crate::transport::now();
    let mut header = match protocol {
        Some(name) => descriptions::header(name, started),
        None => Header::new(started),
    };
    let mut set = |key: &str, value: Value| header.more.insert(key.to_owned(), value);
    set("host", system::host_name().into());
    set("pid", std::process::id().into());
    set("ppid", system::parent().into());
    set("version", env!("CARGO_PKG_VERSION").into());
    header
}

fn open_collector(config: &LiveConfig<'_>) -> Result<Option<Arc<Collector>>> {
    let opened = config.otlp.map(collector::open).transpose()?;
    Ok(opened.map(Arc::new))
}

/// Opens the outputs. The recording is last: creating its file also chooses its name.
fn new_setup(
    config: LiveConfig<'_>,
    header: Header,
    print: &MessagePrinter,
    stdout_is_free: bool,
    collector: Option<&Arc<Collector>>,
) -> Result<Setup> {
    // The keys of operations are those of JSON.
    let operations = (config.screen.as_ref())
        .is_some_and(|screen| screen.ops || screen.format == Some(Format::Json));
    let view = config
        .screen
        .map(|screen| view::open_view(&screen, config.shared))
        .transpose()?;
    let rules = match config.lint {
        Some(lint) if view.is_some() || lint.is_on() => Some(RuleSettings {
            operations,
            ..lint.judging.rules()?
        }),
        _ => None,
    };
    let in_state = config.write.as_deref().and_then(recording::limit_in_state);
    let rotate = config
        .rotate
        .or(in_state.filter(|_| config.recording.is_none()));
    let is_needed = rotate.is_some() || config.otlp.is_some();
    let rules = rules.or_else(|| is_needed.then(RuleSettings::default));
    let rules = rules.map(|rules| RuleSettings {
        operations: rules.operations || config.otlp.is_some(),
        ..rules
    });
    let mut header = header;
    let mut observer: Option<RecorderObserver> = None;
    if let Some(collector) = collector {
        let mut spans = LiveSpans::new(Arc::clone(collector), &header, config.show_secrets)?;
        observer = Some(Box::new(move |output| spans.take(output)));
    }
    let (recording, rotation) = match (config.recording, &config.write, rotate) {
        (None, Some(path), Some(limit)) => {
            header.more.insert(PART.to_owned(), 1.into());
            let (file, rotation) = recording::create_parts(path, limit)?;
            (Some(file), Some(rotation))
        }
        (None, Some(path), None) => (Some(recording::create(path, stdout_is_free)?), None),
        (created, ..) => (created, None),
    };
    Ok(Setup {
        tap: TapConfig {
            header,
            record: recording.is_some(),
            decode: config.decode,
            rules,
            guard: None,
        },
        recording,
        rotation,
        observer,
        view,
        policy: if config.lint.is_some_and(|lint| lint.fail_on.is_some()) {
            Policy::Wait
        } else {
            Policy::Drop
        },
        print: Arc::clone(print),
    })
}

/// Returns true if forwarded bytes were not recorded; prints the reasons.
pub fn report_losses(seen: &RecordingSummary, say: &dyn Fn(&str)) -> bool {
    if seen.lost > 0 {
        say(&format!(
            "{} bytes were not shown or recorded: the disk or the terminal was too slow",
            seen.lost
        ));
    }
    seen.failed || seen.lost > 0
}
