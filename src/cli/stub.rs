//! `wiretool stub`: answers requests in place of a peer; connects to no other peer.

mod report;
mod wire;

use super::call_address::{CallAddress, parse_address};
use super::live::{ALL_ADDRESSES_WARNING, header, report_losses, take_stdio};
use super::options::{self, SharedArgs};
use super::poll::print_nonblocking;
use super::redact::random_key;
use super::tls::TlsArgs;
use super::values::read_string;
use super::{Exit, output, print_lines, print_message, recording};
use crate::capture::Header;
use crate::decoder::DecodeOptions;
use crate::encoding::Want;
use crate::framing::{Framing, LengthMode, Limits};
use crate::live::codec::ConnectionConfig;
use crate::live::script::compile::compile;
use crate::live::script::print;
use crate::live::script::value::OpenValue;
use crate::live::script::{RuleCondition, Script, ScriptRule};
use crate::live::speed::Speed;
use crate::live::stub::{OnMiss, Stub, StubConfig};
use crate::protocol::peer::{Offer, PeerConfig};
use crate::protocol::{Direction, Protocol};
use crate::redact::{RedactConfig, RedactError, redact};
use crate::toml_text::TomlError;
use crate::transport::{
    Accepting, Address, BoundListener, CONNECT_TIMEOUT, ListenOutcome, MessagePrinter, Setup, call,
    serve_stdio,
};
use anyhow::{Context as _, Result, bail, ensure};
use report::{ExitStatus, RequestLog};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use wire::{config, framing, listen, older_path_of, refuse_socket_flags, refuse_useless_flags};

const EXAMPLES: &str = "\
Examples:
  wiretool stub mcp --tool add='{\"sum\":3}'            on stdin and stdout
  wiretool stub oracle --selector pow='[\"0x5f5e100\"]'  the same
  wiretool stub oracle --script oracle.toml            answers from a script
  wiretool stub oracle --from-recording session.jsonl  answers from a recording
  wiretool stub saikuro --script calls.toml            on saikuro's port, 7700
  wiretool stub sael --listen ws://127.0.0.1:8080 --script tools.toml
  wiretool stub saikuro --connect tcp://127.0.0.1:7700 --script calls.toml
  wiretool stub oracle --from-recording session.jsonl --speed 1
  wiretool stub oracle --from-recording session.jsonl --print-script > my.toml";

const EXIT_CODES: &str = "\
Exit codes:
  0         success
  1         --require-all, and a rule was not used; --fail-on-miss, and a request
            had no answer; or the peer refused this stub, or left it
  2         usage, or a script, address or file that failed
  N         a script's exit = N
  130, 143  interrupted, terminated; files are complete";

/// Answer requests from a script or a recording
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub struct Args {
    /// Protocol
    #[arg(value_name = "PROTOCOL", value_parser = options::protocol())]
    protocol: String,
    /// Answer from this script (see wiretool help scripts)
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    script: Option<PathBuf>,
    /// Answer from this recording; a script comes first; `-`: stdin
    #[arg(long, value_name = "RECORDING", value_parser = options::capture(), help_heading = "Answers")]
    from_recording: Option<PathBuf>,
    /// Pause between messages: as recorded (1), faster (2x), slower (0.5), or none (max)
    #[arg(
        long,
        value_name = "SPEED",
        default_value = "max",
        requires = "from_recording",
        conflicts_with = "print_script",
        help_heading = "Answers"
    )]
    speed: Speed,
    /// oracle: answer this selector with these felts (repeatable)
    #[arg(long, value_name = "NAME=JSON", value_parser = parse_pair, help_heading = "Answers")]
    selector: Vec<(String, String)>,
    /// mcp: announce this tool, and answer its calls with this (repeatable)
    #[arg(long, value_name = "NAME=JSON", value_parser = parse_pair, help_heading = "Answers")]
    tool: Vec<(String, String)>,
    /// For requests without an answer: error, close, hang, or a FILE with a result
    #[arg(
        long,
        value_name = "error|close|hang|FILE",
        default_value = "error",
        help_heading = "Answers"
    )]
    on_miss: String,
    /// Write what was requested and what was not, as JSON
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,
    /// Exit 1 if a rule or a recorded request was not used
    #[arg(long, help_heading = "Output")]
    require_all: bool,
    /// Exit 1 if a request had no answer
    #[arg(long, help_heading = "Output")]
    fail_on_miss: bool,
    /// Record to this file; existing files are not replaced
    ///
    /// `{pid}` in the name becomes the process id, and a suffix is added if the file exists.
    /// `wiretool help recording` explains numbered names.
    #[arg(short, long, value_name = "RECORDING", help_heading = "Output")]
    write: Option<PathBuf>,
    /// Print the recording as a script, and exit
    #[arg(long, requires = "from_recording", conflicts_with_all = ["script", "selector", "tool"], help_heading = "Output")]
    print_script: bool,
    #[arg(long, help = listen_help(), value_name = "ADDR", value_parser = options::parse_listen, help_heading = "Sockets")]
    listen: Option<Address>,
    /// Address: a runtime; the stub connects to it as a provider
    #[arg(long, value_name = "ADDR", value_parser = parse_address, conflicts_with_all = ["listen", "once", "idle", "cert"], help_heading = "Sockets")]
    connect: Option<CallAddress>,
    /// Exit when the first connection has closed
    #[arg(long, help_heading = "Sockets")]
    once: bool,
    /// Exit after this time without traffic: 500ms, 2s, 1m
    #[arg(long, value_name = "TIME", value_parser = options::parse_duration, help_heading = "Sockets")]
    idle: Option<Duration>,
    #[command(flatten)]
    tls: TlsArgs,
    /// Framing of the messages; the default depends on the address
    #[arg(long, value_name = "FRAMING", default_value = "auto", value_parser = options::words("framing"), help_heading = "Protocol")]
    framing: String,
    /// telequick: how frames count their length; inclusive counts its own 4 bytes, too
    #[arg(long, value_name = "MODE", default_value = "auto", value_parser = options::length_mode(), help_heading = "Protocol")]
    length_mode: LengthMode,
    /// telequick: schema file that extends or replaces the built-in one
    #[arg(long, value_name = "FILE", help_heading = "Protocol")]
    schema: Option<PathBuf>,
    /// File with the key that signs sael tokens, to check signatures; a final line end is ignored
    #[arg(long, value_name = "FILE", help_heading = "Protocol")]
    secret_file: Option<PathBuf>,
}

fn listen_help() -> String {
    let lines = options::protocols_with(|descriptor| {
        let first = descriptor.framings.first();
        match first {
            Some(Framing::Values) => descriptor.port.is_none(),
            first => matches!(first, Some(Framing::Lines | Framing::ContentLength)),
        }
    });
    format!(
        "Address to listen on [default: stdin and stdout ({}), the protocol's port ({}), or any free port]",
        lines.join(", "),
        options::usual_ports()
    )
}

/// Parses `NAME=VALUE`.
fn parse_pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or("wanted NAME=JSON, such as add={\"sum\":3}")?;
    OpenValue::json(value).map_err(|error| format!("the answer of {name} is {error}"))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn peer_config(args: &Args) -> Result<PeerConfig> {
    let secret = args.secret_file.as_deref();
    Ok(PeerConfig {
        seed: fastrand::u64(..),
        now: i64::try_from(crate::transport::now()).unwrap_or_default(),
        secret: secret.map(options::read_secret).transpose()?,
        ..PeerConfig::default()
    })
}

fn printer(stdio: bool) -> MessagePrinter {
    if stdio {
        // The parent process may read our stderr late or never.
        Arc::new(print_nonblocking)
    } else {
        Arc::new(print_message)
    }
}

/// Returns what a request without a rule gets.
fn on_miss(word: &str) -> Result<OnMiss> {
    Ok(match word {
        "error" => OnMiss::Error,
        "close" => OnMiss::Close,
        "hang" => OnMiss::Hang,
        file => OnMiss::Answer(
            OpenValue::json(&read_string(Path::new(file))?).map_err(|e| {
                anyhow::anyhow!(
                    "{file}: {e} (wanted: a file with the result as JSON, or error, close, hang)"
                )
            })?,
        ),
    })
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    refuse_useless_flags(args)?;
    let protocols = options::protocols_for_writing(args.schema.as_deref(), Some(&args.protocol))?;
    let protocol = protocols.named().context("no such protocol")?;
    let mut script = match read_script(args, protocol) {
        Ok(script) => script,
        Err(error) if error.is::<TomlError>() => {
            print_lines(&error.to_string());
            return Ok(Exit::Error);
        }
        Err(error) => return Err(error),
    };
    if let (.., true) = carrier(args, protocol, None)? {
        refuse_socket_flags(args)?;
    }
    if let Some(path) = &args.from_recording {
        script.extend(compile_recording(args, path, protocol)?);
    }
    let (framing, listen, stdio) = carrier(args, protocol, script.framing)?;
    if args.connect.is_some() {
        add_announcement(&mut script, protocol)?;
    }
    if args.print_script {
        return output::print(&print::script(&script, protocol));
    }
    let older_path = script.older_path.take();
    let older_path = older_path.or_else(|| older_path_of(protocol));
    let sessions = std::mem::take(&mut script.sessions);
    let settings = StubConfig {
        script,
        on_miss: on_miss(&args.on_miss)?,
        stdio,
        dials: args.connect.is_some(),
        peer_config: peer_config(args)?,
        limits: Limits::default(),
    };
    let config = ConnectionConfig {
        older_path,
        sessions,
        length_mode: Some(args.length_mode).filter(|mode| *mode != LengthMode::Auto),
        ..config(args, protocol, framing)
    };
    let status = ExitStatus::default();
    let say = printer(stdio);
    let log = RequestLog::new(
        Arc::clone(&status),
        args.report.clone(),
        shared,
        say.clone(),
    );
    let mut stub = Stub::new(config, settings, Box::new(log));
    // The report exists from the start, whatever happens later.
    report::write(args.report.as_deref(), stub.report())?;
    let outcome = serve(
        args,
        protocol,
        listen.as_ref(),
        &mut stub,
        shared,
        say.clone(),
    )?;
    let bad =
        report_losses(&outcome.seen, &print_message) || outcome.refused && args.connect.is_some();
    let is_refused = stub.refused().is_some() && listen.is_none();
    let is_left = stub.is_left() && outcome.signal.is_none();
    if is_left {
        let [_, server] = protocol.descriptor().sides;
        say(&format!("the {server} has ended the connection"));
    }
    let is_missing = report_end(args, shared, &mut stub, &say)?;
    let status = *status.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(match (status, outcome.signal) {
        _ if bad => Exit::Error,
        (Some(status), _) => Exit::Status(status),
        (None, Some(signal)) => Exit::of_signal(signal),
        _ => Exit::negative_if(is_refused || is_left || is_missing),
    })
}

/// Returns the framing, the address to listen on, and true for stdin and stdout. `scripted`: the framing of the script.
fn carrier(
    args: &Args,
    protocol: &dyn Protocol,
    scripted: Option<Framing>,
) -> Result<(Framing, Option<Address>, bool)> {
    let framing = framing(args, protocol, scripted)?;
    let listen = listen(args, protocol, framing);
    let stdio = listen.is_none() && args.connect.is_none();
    Ok((framing, listen, stdio))
}

/// Reports what the stub has answered. Returns true if answers or requests are missing that the flags ask for.
fn report_end(
    args: &Args,
    shared: &SharedArgs,
    stub: &mut Stub<'_>,
    say: &MessagePrinter,
) -> Result<bool> {
    if let Some(text) = stub.suppressed_note() {
        say(&text);
    }
    let report = stub.report();
    let is_missed = args.fail_on_miss && report.missed > 0;
    report::write(args.report.as_deref(), report)?;
    if !shared.quiet {
        let missed = match report.missed {
            0 => String::new(),
            n => format!(", {n} without an answer"),
        };
        let count = super::count_text(report.requests, "request", "requests");
        let more = match report.hellos {
            0 => String::new(),
            n => format!(", {n} more that opened a session"),
        };
        say(&format!("{count}{missed}{more}"));
    }
    let mut is_missing = false;
    for usage in report.never().filter(|_| args.require_all) {
        print_message(&format!("not requested: {}", report::usage_text(usage)));
        is_missing = true;
    }
    Ok(is_missed || is_missing)
}

fn serve(
    args: &Args,
    protocol: &dyn Protocol,
    listen: Option<&Address>,
    stub: &mut Stub<'_>,
    shared: &SharedArgs,
    say: MessagePrinter,
) -> Result<ListenOutcome> {
    let create = |path| recording::create(path, false);
    let recording = args.write.as_deref().map(create).transpose()?;
    let file = recording.as_ref().zip(args.write.as_deref());
    let note = file.and_then(|(file, named)| recording::note(file, named, shared.quiet));
    let written = note
        .as_ref()
        .map_or(String::new(), |note| format!(", {note}"));
    // The line about the address names it, too.
    let has_line = match listen {
        Some(listen) => !shared.quiet || listen.is_any_port(),
        None => !shared.quiet && args.connect.is_some(),
    };
    if let Some(note) = note.filter(|_| !has_line) {
        say(&note);
    }
    let screen = Box::new(|_: &str| Ok(()));
    let mut setup = Setup::recording(header(Some(protocol.name())), recording, say);
    if let Some(CallAddress { address: to, .. }) = &args.connect {
        setup.tap.header = Header {
            transport: Some(to.transport().into()),
            connect: Some(to.to_string()),
            ..setup.tap.header
        };
        shared.note(&format!("connecting to {to}{written}"));
        let target = args.tls.target(to.clone(), CONNECT_TIMEOUT)?;
        return call(target, stub, screen, setup).context("cannot go on");
    }
    let Some(listen) = listen else {
        setup.tap.header.transport = Some("stdio".into());
        let ours = take_stdio().context("cannot use stdin and stdout")?;
        return serve_stdio(ours.stdin, ours.stdout, stub, screen, setup).context("cannot go on");
    };
    let tls = args.tls.server(listen)?;
    let quic = listen.is_quic().then(|| args.tls.quic_server(listen));
    let quic = quic.transpose()?;
    let bound =
        BoundListener::bind(listen).with_context(|| format!("cannot listen on {listen}"))?;
    setup.tap.header = Header {
        transport: Some(listen.transport().into()),
        listen: Some(bound.address().to_string()),
        ..setup.tap.header
    };
    // With port 0, the printed address is the only way to learn the port.
    if !shared.quiet || listen.is_any_port() {
        print_message(&format!("listening on {}{written}", bound.address()));
    }
    if bound.is_on_all_addresses() {
        print_message(ALL_ADDRESSES_WARNING);
    }
    let accepting = Accepting {
        once: args.once,
        idle: args.idle,
        tls,
        quic,
    };
    bound
        .serve(accepting, stub, screen, setup)
        .context("cannot go on")
}

fn read_script(args: &Args, protocol: &dyn Protocol) -> Result<Script> {
    let mut script = match &args.script {
        Some(path) => {
            let name = path.display().to_string();
            Script::read(&name, &read_string(path)?, protocol)?
        }
        None => Script::default(),
    };
    for (flag, is_given, setting) in [
        ("--selector", !args.selector.is_empty(), "signature"),
        ("--tool", !args.tool.is_empty(), "tool"),
    ] {
        let owner = options::protocols_with_setting(setting, protocol).filter(|_| is_given);
        if let Some(owner) = owner {
            bail!("{flag} is for {owner}; for other protocols use --script");
        }
    }
    for (name, felts) in &args.selector {
        let place = format!("--selector {name}");
        match ScriptRule::answer(protocol, &place, name, felts) {
            Ok(rule) => script.rules.push(rule),
            Err(error) => bail!("{place}: {error}"),
        }
    }
    for (name, result) in &args.tool {
        let place = format!("--tool {name}");
        let condition = format!("subject=\"tools/call\" .params.name={name:?}");
        let condition = condition
            .parse()
            .map_err(|error| anyhow::anyhow!("{place}: {error}"))?;
        match ScriptRule::answer(protocol, &place, name, result) {
            Ok(rule) => script.rules.push(ScriptRule {
                condition: RuleCondition::Expr(Box::new(condition)),
                ..rule
            }),
            Err(error) => bail!("{place}: {error}"),
        }
        script.offers.push(Offer {
            name: name.clone(),
            ..Offer::default()
        });
    }
    Ok(script)
}

/// A runtime sends calls only to a provider that has announced its functions.
fn add_announcement(script: &mut Script, protocol: &dyn Protocol) -> Result<()> {
    let is_announced = !script.first.is_empty() || !script.opening.is_empty();
    if script.offers.is_empty() {
        script.offers = script.requested(protocol, Direction::ToClient);
    }
    ensure!(
        !script.offers.is_empty() || is_announced,
        "the script has no offers, so no call will come: add for example offers = [\"math.add\"]"
    );
    Ok(())
}

/// Compiles the requests and answers of a recording to a script.
fn compile_recording(args: &Args, path: &Path, protocol: &dyn Protocol) -> Result<Script> {
    let mut bytes = recording::read(path)?;
    // Secrets match any value, so a printed script does not need them.
    if args.print_script {
        bytes = without_secrets(&bytes, protocol)
            .map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
    }
    let compile = |bytes, side| compile(bytes, protocol, side, Limits::default(), args.speed);
    // A stub that connects answers the requests that the connecting side received, otherwise those of the listening side.
    let own = args.connect.as_ref();
    let own = own.and_then(|_| compile(bytes.clone(), Direction::ToServer).ok());
    let has_requests = |script: &Script| !script.rules.is_empty();
    let own = own.filter(has_requests);
    let script = own.map_or_else(|| compile(bytes, Direction::ToClient), Ok);
    script.map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))
}

/// Replaces the secrets of a recording, as `wiretool redact` does.
fn without_secrets(recording: &[u8], protocol: &dyn Protocol) -> Result<Vec<u8>> {
    let settings = RedactConfig {
        decode: DecodeOptions {
            want: Want::Exact,
            ..DecodeOptions::new(vec![protocol])
        },
        keys: Vec::new(),
        values: Vec::new(),
        key: random_key()?,
        progress: &|_, _| {},
    };
    match redact(recording, &settings) {
        Ok(redacted) => Ok(redacted.out),
        Err(
            RedactError::Unreadable(why) | RedactError::Compressed(why) | RedactError::Left(why),
        ) => bail!(why),
    }
}
