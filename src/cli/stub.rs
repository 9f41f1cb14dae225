//! `wiretool stub`: stands in for a peer, and reaches nobody.

mod watch;
mod wire;

use super::calling::{Place, place};
use super::gentle::gently;
use super::live::{EVERYWHERE, header, take_stdio, trouble};
use super::options::{self, Shared};
use super::output::Output;
use super::tls::{Shown, Trusted};
use super::{Exit, complain, complain_lines, recording};
use crate::capture::Header;
use crate::framing::{Framing, LengthMode, Limits};
use crate::live::codec::ConnectionConfig;
use crate::live::script::compile::compile;
use crate::live::script::print;
use crate::live::script::recorded::Exchanges;
use crate::live::script::value::Value;
use crate::live::script::{Rule, Script, ScriptError};
use crate::live::speed::Speed;
use crate::live::stub::{OnMiss, Settings, Stub};
use crate::protocol::peer::PeerConfig;
use crate::protocol::{Descriptor, Direction, Protocol, Setting};
use crate::transport::{
    Accepting, Address, Bound, CONNECT, Outcome, Say, Setup, Target, call, serve_stdio,
};
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use watch::{ExitStatus, Log};
use wire::{config, framing, listen, no_flag_in_vain, no_socket_flag};

const EXAMPLES: &str = "\
Examples:
  wiretool stub oracle --selector pow='[\"0x5f5e100\"]'  on stdio: every pow is answered so
  wiretool stub oracle --script oracle.toml            executors put stdio: before that
  wiretool stub saikuro --script calls.toml            on saikuro's usual port, 7700
  wiretool stub saikuro --connect tcp://127.0.0.1:7700 --script calls.toml  serves a runtime
  wiretool stub sael --listen ws://127.0.0.1:8080 --script tools.toml
  wiretool stub oracle --from-recording session.jsonl  answer as in the recording
  wiretool stub oracle --from-recording session.jsonl --speed 1      and as slowly
  wiretool stub oracle --from-recording session.jsonl --print-script > my.toml";

const SCRIPTS: &str = "\
Scripts (TOML); of the rules, the first that fits and is not used up counts:
  before = \"Compiling...\"     sent first; also `ready = false`: no hello; `exit = 3`: the end then
  offers = [\"pow\", \"now\"]     what lists say can be asked for; or tables: name, about, streams
  first = { a whole message } said once calls may be made; also name, dialect; saikuro: role = \"provider\"
  [[on]]
  match = 'subject=pow'       as after --where, any message; without it every request that the
                              protocol does not answer itself
  times = 2                   so often; then the next rule that fits
  delay = \"100ms\"             before the answer
  result = [\"0x1\"]            or one of these in its place:
    error = \"no\"              or { code, message, data }
    items = [1, 2]            each also { value, after = \"1s\" }, { delta }, { error }; end = 3
    message = { a whole one } or several; raw = \"bytes\" or { hex = \"00ff\" }; hang = true
  ask = { method, params }    first a request the other way; `tell`: no answer is waited for
  then = { method, params }   told after the answer
  pretty, twice, garbage, id, close, reset, exit: what goes wrong on purpose
Text takes values of the request: \"{{params.calldata[0]}}\", which alone keeps its type; of the
answer to ask: \"{{answer.result}}\"; and \"{{count}}\". { json = '[null]' } is JSON as it is; oracle:
{ type = \"(u256,)\", value = [5] } is felts.

Exit codes:
  0         it ran, and ended as it was told to
  1         --require-all, and something was never asked for; on stdio or with --connect, the other
            side did not let it serve
  2         usage, a script, an address or a file that cannot be used
  N         a script's exit = N
  130, 143  interrupted, terminated; files are complete";

/// Stand in for a peer: answer as a script or a recording says, and reach nobody
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = SCRIPTS, help_template = options::HELP)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub struct Args {
    /// Which protocol it speaks
    #[arg(value_name = "PROTOCOL", value_parser = options::names(options::protocol_names()))]
    protocol: String,
    /// Answer as this script says
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    script: Option<PathBuf>,
    /// Answer what was asked in this recording as it was answered there; a script comes first; `-` is stdin, with --listen
    #[arg(long, value_name = "RECORDING", help_heading = "Answers")]
    from_recording: Option<PathBuf>,
    /// Distances between messages: as recorded (1), faster (2x), slower (0.5), or none
    #[arg(
        long,
        value_name = "SPEED",
        default_value = "max",
        requires = "from_recording",
        conflicts_with = "print_script",
        help_heading = "Answers"
    )]
    speed: Speed,
    /// oracle: answer this selector with these felts, as JSON (repeatable)
    #[arg(long, value_name = "NAME=JSON", value_parser = pair, help_heading = "Answers")]
    selector: Vec<(String, String)>,
    /// What comes of a request that has no answer: error, close, hang, or a FILE that holds the result as JSON
    #[arg(
        long,
        value_name = "error|close|hang|FILE",
        default_value = "error",
        help_heading = "Answers"
    )]
    on_miss: String,
    /// Write what was asked, and what never was, as JSON; anew after answers, at most every 100 ms, and at the end
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,
    /// Exit 1 where a rule or a recorded request was never asked for
    #[arg(long, help_heading = "Output")]
    require_all: bool,
    /// Record what passes, never over another file; `{pid}` and a lone n in such braces are filled in
    #[arg(short, long, value_name = "RECORDING", help_heading = "Output")]
    write: Option<PathBuf>,
    /// Print the recording as a script, to be edited by hand, and end
    #[arg(long, requires = "from_recording", help_heading = "Output")]
    print_script: bool,
    #[arg(long, help = listen_help(), value_name = "ADDR", value_parser = Address::parse, help_heading = "Sockets")]
    listen: Option<Address>,
    /// Where to connect, to serve a runtime as a provider: `tcp://HOST:PORT`, `unix:PATH`, tls, ws or wss, these two with a path
    #[arg(long, value_name = "ADDR", value_parser = place, conflicts_with_all = ["listen", "once", "idle", "cert"], help_heading = "Sockets")]
    connect: Option<Place>,
    /// End when the first connection has ended
    #[arg(long, help_heading = "Sockets")]
    once: bool,
    /// End when nothing has passed for so long: 500ms, 2s, 1m
    #[arg(long, value_name = "TIME", value_parser = options::duration, help_heading = "Sockets")]
    idle: Option<Duration>,
    #[command(flatten)]
    tls: Shown,
    #[command(flatten)]
    trusted: Trusted,
    /// How messages are delimited; follows from the address where it is not given
    #[arg(long, value_name = "FRAMING", default_value = "auto", value_parser = options::names(options::framing_names()), help_heading = "Protocol")]
    framing: String,
    /// How telequick's lengths count
    #[arg(long, value_name = "MODE", default_value = "auto", value_parser = options::length_mode(), help_heading = "Protocol")]
    length_mode: LengthMode,
    /// telequick definitions that replace or extend the built-in ones
    #[arg(long, value_name = "FILE", help_heading = "Protocol")]
    schema: Option<PathBuf>,
    /// What sael tokens are signed with, to check signatures: a file, without its last line end
    #[arg(long, value_name = "FILE", help_heading = "Protocol")]
    secret_file: Option<PathBuf>,
}

fn listen_help() -> String {
    let lines = options::those(|descriptor| descriptor.framings.first() == Some(&Framing::Lines));
    format!(
        "Where to listen; without it stdin and stdout ({}), or the protocol's usual port ({}), else any free one",
        lines.join(", "),
        options::usual_ports()
    )
}

/// `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or("NAME=JSON is wanted, such as pow=[\"0x1\"]")?;
    Value::json(value).map_err(|error| format!("the answer of {name} is {error}"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared) -> Result<Exit> {
    no_flag_in_vain(args)?;
    let protocols = options::protocols_for_writing(args.schema.as_deref(), Some(&args.protocol))?;
    let protocol = protocols.named().context("no such protocol")?;
    let framing = framing(args, protocol)?;
    let script = match script(args, protocol) {
        Ok(script) => script,
        Err(error) if error.is::<ScriptError>() => {
            complain_lines(&error.to_string());
            return Ok(Exit::Trouble);
        }
        Err(error) => return Err(error),
    };
    let listen = listen(args, protocol, framing);
    let stdio = listen.is_none() && args.connect.is_none();
    if stdio {
        no_socket_flag(args)?;
    }
    let mut script = script;
    if let Some(path) = &args.from_recording {
        script.recorded = recorded(path, protocol, args.speed, args.connect.is_some())?;
    }
    if args.connect.is_some() {
        offer(&mut script)?;
    }
    if let Some(recorded) = script.recorded.as_ref().filter(|_| args.print_script) {
        let mut output = Output::open(None, &[])?;
        let text = print::script(recorded, protocol);
        output.room().extend_from_slice(text.as_bytes());
        output.finish()?;
        return Ok(Exit::Clean);
    }
    let on_miss = match args.on_miss.as_str() {
        "error" => OnMiss::Error,
        "close" => OnMiss::Close,
        "hang" => OnMiss::Hang,
        file => OnMiss::Answer(Value::json(&read(Path::new(file))?).map_err(|e| {
            anyhow::anyhow!("{file}: {e} (the result as JSON is wanted, or error, close, hang)")
        })?),
    };
    let secret = args.secret_file.as_deref();
    let settings = Settings {
        script,
        on_miss,
        stdio,
        dials: args.connect.is_some(),
        peer_config: PeerConfig {
            seed: fastrand::u64(..),
            now: i64::try_from(crate::transport::now()).unwrap_or_default(),
            secret: secret.map(options::read_secret).transpose()?,
            ..PeerConfig::default()
        },
        limits: Limits::default(),
    };
    let config = ConnectionConfig {
        length_mode: Some(args.length_mode).filter(|mode| *mode != LengthMode::Auto),
        ..config(args, protocol, framing)
    };
    let status = Arc::new(ExitStatus::default());
    // Whoever started us may read our stderr late or never.
    let say: Say = if stdio {
        Arc::new(gently)
    } else {
        Arc::new(complain)
    };
    let log = Log::new(
        Arc::clone(&status),
        args.report.clone(),
        shared,
        Arc::clone(&say),
    );
    let mut stub = Stub::new(config, settings, Box::new(log));
    // A report is there from the beginning, whatever comes.
    watch::write(args.report.as_deref(), stub.report())?;
    let outcome = serve(args, protocol, listen.as_ref(), &mut stub, shared, say)?;
    let bad = trouble(&outcome.seen, &complain) || outcome.refused && args.connect.is_some();
    let is_refused = stub.refused().is_some() && listen.is_none();
    let tell: &dyn Fn(&str) = if stdio { &gently } else { &complain };
    if let Some(text) = stub.untold() {
        tell(&text);
    }
    let report = stub.report();
    watch::write(args.report.as_deref(), report)?;
    let missing: Vec<String> = report.never().map(watch::usage).collect();
    if !shared.quiet {
        let missed = match report.missed {
            0 => String::new(),
            n => format!(", {n} without an answer"),
        };
        tell(&format!("{} requests{missed}", report.requests));
    }
    if args.require_all {
        for one in &missing {
            complain(&format!("never asked for: {one}"));
        }
    }
    Ok(match (status.status(), outcome.signal) {
        _ if bad => Exit::Trouble,
        (Some(status), _) => Exit::Status(status),
        (None, Some(signal)) => Exit::Status(128 + u8::try_from(signal).unwrap_or_default()),
        _ if is_refused => Exit::No,
        _ if args.require_all && !missing.is_empty() => Exit::No,
        _ => Exit::Clean,
    })
}

fn serve(
    args: &Args,
    protocol: &dyn Protocol,
    listen: Option<&Address>,
    stub: &mut Stub<'_>,
    shared: &Shared,
    say: Say,
) -> Result<Outcome> {
    let create = |path| recording::create(path, false);
    let recording = args.write.as_deref().map(create).transpose()?;
    let written = recording.as_ref();
    let written = written.map_or(String::new(), |sink| {
        format!(", recording to {}", sink.name)
    });
    let screen = Box::new(|_: &str| Ok(()));
    let mut setup = Setup::recording(header(Some(protocol.name())), recording, say);
    if let Some(Place { address: to, .. }) = &args.connect {
        setup.tap.header = Header {
            transport: Some(to.transport().into()),
            connect: Some(to.to_string()),
            ..setup.tap.header
        };
        if !shared.quiet {
            complain(&format!("connecting to {to}{written}"));
        }
        let target = Target::Address {
            to: to.clone(),
            tls: args.trusted.client(to)?,
            within: CONNECT,
        };
        return call(target, stub, screen, setup).context("cannot go on");
    }
    let Some(listen) = listen else {
        setup.tap.header.transport = Some("stdio".into());
        let ours = take_stdio().context("cannot use stdin and stdout")?;
        return serve_stdio(ours.stdin, ours.stdout, stub, screen, setup).context("cannot go on");
    };
    let tls = args.tls.server(listen)?;
    let bound = Bound::to(listen).with_context(|| format!("cannot listen on {listen}"))?;
    setup.tap.header = Header {
        transport: Some(listen.transport().into()),
        listen: Some(bound.address().to_string()),
        ..setup.tap.header
    };
    // A port that nobody can know but from here is no chatter.
    if !shared.quiet || listen.is_any_port() {
        complain(&format!("listening on {}{written}", bound.address()));
    }
    if bound.is_everywhere() {
        complain(EVERYWHERE);
    }
    let accepting = Accepting {
        once: args.once,
        idle: args.idle,
        tls,
    };
    bound
        .serve(accepting, stub, screen, setup)
        .context("cannot go on")
}

fn script(args: &Args, protocol: &dyn Protocol) -> Result<Script> {
    let mut script = match &args.script {
        Some(path) => {
            let name = path.display().to_string();
            Script::read(&name, &read(path)?, protocol)?
        }
        None => Script::default(),
    };
    let has = |descriptor: &Descriptor| descriptor.settings.contains(&Setting::Signatures);
    ensure!(
        args.selector.is_empty() || has(protocol.descriptor()),
        "--selector is {}'s; other protocols are told by --script",
        options::those(has).join(" and ")
    );
    for (name, felts) in &args.selector {
        let place = format!("--selector {name}");
        match Rule::answer(protocol, &place, name, felts) {
            Ok(rule) => script.rules.push(rule),
            Err(error) => bail!("{place}: {error}"),
        }
    }
    Ok(script)
}

/// A runtime sends calls only to who has announced what it has.
fn offer(script: &mut Script) -> Result<()> {
    let recorded = script.recorded.as_ref();
    let is_announced = !script.first.is_empty() || recorded.is_some_and(Exchanges::opens);
    if script.offers.is_empty() {
        script.offers = recorded.map_or(Vec::new(), Exchanges::offers);
    }
    ensure!(
        !script.offers.is_empty() || is_announced,
        "nothing is offered, so that no call will come: name it in the script, as in offers = [\"math.add\"]"
    );
    Ok(())
}

/// What was asked and answered in a recording.
fn recorded(
    path: &Path,
    protocol: &dyn Protocol,
    speed: Speed,
    dials: bool,
) -> Result<Option<Exchanges>> {
    let bytes = recording::read(path)?;
    let compile = |side| compile(&bytes, protocol, side, Limits::default(), speed);
    // Who dials answers what it was asked where it dialled, or else what the other side was.
    let own = dials.then(|| compile(Direction::ToServer).ok()).flatten();
    let has_requests = |script: &Script| {
        let recorded = script.recorded.as_ref();
        recorded.is_some_and(|recorded| !recorded.entries.is_empty())
    };
    let own = own.filter(has_requests);
    let script = own.map_or_else(|| compile(Direction::ToClient), Ok);
    let script = script.map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
    Ok(script.recorded)
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
