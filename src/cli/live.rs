//! What `proxy` and `record` share: where they stand, what they write, and how they end.

mod view;

use super::faults::{Faulty, on_purpose};
use super::gentle::gently;
use super::options::{self, Shared};
use super::tls::Tls;
use super::{Exit, complain, counted, recording};
use crate::capture::{Header, Time};
use crate::conversation::guard::{Guard, Quarantine, speaks_lines};
use crate::conversation::tap::Settings;
use crate::decoder;
use crate::framing::Framing;
use crate::protocol::Protocol;
use crate::protocol::session::Severity;
use crate::transport::{
    Address, Bound, Child, Faults, Options, Policy, Say, Seen, Setup, Sink, Wrap, wrap,
};
use anyhow::{Context as _, Result};
use clap::ValueEnum;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Said where that is so.
pub const EVERYWHERE: &str =
    "listening on all addresses: whoever reaches this machine can connect, not this machine alone";

/// Messages without an answer that are shown at the end.
const WAITING: usize = 20;

pub const EXIT_CODES: &str = "\
Exit codes:
  0         it ran, and ended as it was told to
  1         a rule was broken that --fail-on names
  2         usage, an address or a file that cannot be used, or bytes that were not recorded
  130, 143  interrupted, terminated; files are complete
With -- COMMAND: 2 and 1 as above, else the command's own status, 128 and the signal's number where one ended it";

/// Where to stand.
#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub struct Place {
    /// Where to listen; by default any free port, for this machine alone
    #[arg(long, value_name = "ADDR", value_parser = Address::parse, help_heading = "Sockets")]
    listen: Option<Address>,
    #[arg(long, help = connect_help(), value_name = "ADDR", value_parser = Address::parse, help_heading = "Sockets")]
    connect: Option<Address>,
    /// End when the first connection has ended
    #[arg(long, help_heading = "Sockets")]
    once: bool,
    /// End when nothing has passed for so long: 500ms, 2s, 1m
    #[arg(long, value_name = "TIME", value_parser = options::duration, help_heading = "Sockets")]
    idle: Option<Duration>,
    /// Read the child's stderr however slowly ours is read; what is not read is recorded all the same
    #[arg(long, help_heading = "Children")]
    drain_stderr: bool,
    /// Hold each line of the child's stdout until it is whole, and move lines that are none of the protocol to stderr
    #[arg(long, help_heading = "Children")]
    quarantine: bool,
    /// Pass on what other processes still write to the child's stdout and stderr after it has ended, for so long; by default until they close them
    #[arg(long, value_name = "TIME", value_parser = options::duration, help_heading = "Children")]
    keep_open: Option<Duration>,
    /// HTTP requests name the host that is connected to, whoever they were meant for
    #[arg(long, help_heading = "Sockets")]
    rewrite_host: bool,
    #[command(flatten)]
    tls: Tls,
    #[command(flatten)]
    pub faults: Faulty,
    /// Start this with pipes and stand between it and our own stdin, stdout and stderr
    #[arg(last = true, value_name = "COMMAND", help_heading = "Children", conflicts_with_all = ["listen", "connect", "once", "idle", "rewrite_host"])]
    command: Vec<OsString>,
}

/// Whether what passes is held to rules.
#[derive(clap::Args)]
pub struct Watch {
    /// Hold messages to the rules of their protocol, also where nothing is shown: broken ones are told on stderr
    #[arg(long, help_heading = "Rules")]
    lint: bool,
    /// Exit 1 where something this bad is found, with --lint (error unless given); where it is given, nothing goes by
    /// unjudged: what is too slow to be judged waits
    #[arg(long, value_name = "SEVERITY", requires = "lint", value_parser = options::names(["info", "warning", "error", "never"]), help_heading = "Rules")]
    fail_on: Option<String>,
    #[command(flatten)]
    judging: options::Judging,
}

impl Watch {
    /// Whether it was asked for.
    pub fn is_on(&self) -> bool {
        self.lint
    }

    fn fail_on(&self) -> Option<Severity> {
        let least = self.fail_on.as_deref().unwrap_or("error");
        Severity::from_name(least).filter(|_| self.lint)
    }
}

/// How frames are shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Every field with its byte range
    Tree,
    /// One line a message, with its time and how long the answer took
    Line,
    /// One JSON object a message
    Json,
    /// Bytes beside the fields that own them
    Hex,
}

/// Where frames are shown.
pub struct Screen {
    /// `None`: nowhere.
    pub path: Option<PathBuf>,
    /// `None`: only rules that are broken.
    pub format: Option<Format>,
    pub show_secrets: bool,
}

impl Screen {
    /// Whether it leaves stdout alone.
    fn is_elsewhere(&self) -> bool {
        self.path
            .as_ref()
            .is_some_and(|path| path.as_os_str() != "-")
    }
}

/// What a command asks for.
pub struct Ask<'a> {
    pub place: &'a Place,
    pub watch: &'a Watch,
    pub write: Option<PathBuf>,
    /// A name was made up for the recording, and should be told.
    pub made_up: bool,
    pub screen: Option<Screen>,
    /// How bytes are understood, where they are.
    pub decode: Option<decoder::Options<'static>>,
    pub protocol: Option<&'static dyn Protocol>,
    pub shared: &'a Shared,
}

impl Place {
    /// Whether a child is wrapped.
    pub fn wraps(&self) -> bool {
        !self.command.is_empty()
    }
}

impl Ask<'_> {
    fn on_purpose(&self, host: Option<String>, started: Option<Time>) -> Result<Option<Faults>> {
        let (faults, quiet) = (&self.place.faults, self.shared.quiet);
        on_purpose(
            faults,
            self.protocol,
            self.decode.as_ref(),
            quiet,
            host,
            started,
        )
    }
}

/// Stands in the middle until the end.
pub fn run(ask: Ask<'_>) -> Result<Exit> {
    let only = ask.place.drain_stderr || ask.place.quarantine || ask.place.keep_open.is_some();
    anyhow::ensure!(
        ask.place.wraps() || !only,
        "--drain-stderr, --quarantine and --keep-open are for a child: name its command after --"
    );
    if ask.place.wraps() {
        child(ask)
    } else {
        sockets(ask)
    }
}

fn connect_help() -> String {
    format!(
        "Where to connect: `tcp://HOST:PORT`, `unix:PATH`, or tls, ws, wss, http, https; by default the protocol's usual \
         port ({})",
        options::usual_ports()
    )
}

fn sockets(mut ask: Ask<'_>) -> Result<Exit> {
    let name = ask.protocol.map(Protocol::name);
    let usual = ask.protocol.and_then(|protocol| protocol.descriptor().port);
    let connect = match (&ask.place.connect, usual) {
        (Some(connect), _) => connect.clone(),
        (None, Some(port)) => Address::loopback(port),
        (None, None) => anyhow::bail!(
            "nowhere to connect: name it with --connect tcp://HOST:PORT, or a command after -- (--help has examples)"
        ),
    };
    let listen = ask.place.listen.clone().unwrap_or(Address::loopback(0));
    if let Some(options) = &mut ask.decode
        && (connect.is_http() || listen.is_http())
    {
        options.framing.get_or_insert(Framing::Http);
    }
    let (client, server) = ask.place.tls.sides(&connect, &listen)?;
    let (quiet, verbose) = (ask.shared.quiet, ask.shared.verbose);
    let fail_on = ask.watch.fail_on();
    let bound = Bound::to(&listen).with_context(|| format!("cannot listen on {listen}"))?;
    let header = Header {
        transport: Some(connect.transport().into()),
        listen: Some(bound.address().to_string()),
        connect: Some(connect.to_string()),
        ..header(name)
    };
    let host = ask.place.rewrite_host.then(|| connect.host());
    let wrong = ask.on_purpose(host.flatten(), header.started)?;
    anyhow::ensure!(
        !bound.is_reached_by(&connect),
        "--connect {connect} leads back to --listen {}: every connection would make another one",
        bound.address()
    );
    let (place, write) = (ask.place, ask.write.clone());
    let is_free = ask.screen.as_ref().is_none_or(Screen::is_elsewhere);
    let mut setup = setup(ask, header, Arc::new(complain))?;
    // Last: a file that is made takes its name.
    let create = |path| recording::create(path, is_free);
    let recording = write.as_deref().map(create).transpose()?;
    // A port that nobody can know but from here is no chatter.
    if !quiet || listen.is_any_port() {
        let why = match (&place.connect, name) {
            (None, Some(name)) => format!(" ({name}'s usual port)"),
            _ => String::new(),
        };
        let to = recording.as_ref();
        let to = to.map_or(String::new(), |sink| {
            format!(", recording to {}", sink.name)
        });
        let at = bound.address();
        complain(&format!(
            "listening on {at}, connecting to {connect}{why}{to}"
        ));
    }
    if bound.is_everywhere() {
        complain(EVERYWHERE);
    }
    let options = Options {
        faults: wrong,
        client,
        server,
        connect,
        once: place.once,
        idle: place.idle,
    };
    into(recording, &mut setup);
    let outcome = bound.proxy(options, setup).context("cannot go on")?;
    let bad = trouble(&outcome.seen, &complain);
    if verbose && outcome.seen.counts.torn > 0 {
        let torn = counted(outcome.seen.counts.torn, "direction", "directions");
        complain(&format!(
            "{torn} ended without TLS's close_notify: whether all has come nobody knows"
        ));
    }
    if !quiet {
        let counts = outcome.seen.counts;
        let (connections, frames, faulty) = (counts.connections, counts.frames, counts.faulty);
        let faulty = match faulty {
            0 => String::new(),
            n => format!(", {n} at fault"),
        };
        let found = match counts.findings {
            0 => String::new(),
            n => format!(", {}", counted(n, "finding", "findings")),
        };
        let frames = match frames {
            0 => String::new(),
            n => format!(", {}{faulty}{found}", counted(n, "message", "messages")),
        };
        let connections = counted(connections, "connection", "connections");
        complain(&format!("{connections}{frames}"));
    }
    Ok(match outcome.signal {
        _ if bad => Exit::Trouble,
        Some(signal) => Exit::Status(128 + u8::try_from(signal).unwrap_or_default()),
        None if outcome.refused => Exit::Trouble,
        None if is_broken(fail_on, &outcome.seen) => Exit::No,
        None => Exit::Clean,
    })
}

fn child(ask: Ask<'_>) -> Result<Exit> {
    let name = ask.protocol.map(Protocol::name);
    let speaks = ask.protocol.filter(|p| speaks_lines(*p));
    let limit = ask.decode.as_ref().map_or(16 << 20, |o| o.limits.message);
    let quarantine = match speaks {
        Some(protocol) if ask.place.quarantine => Some(Quarantine::new(protocol, limit as usize)),
        None if ask.place.quarantine => anyhow::bail!(
            "--quarantine must know which lines are whose: name a protocol of lines with -p"
        ),
        _ => None,
    };
    let argv = ask.place.command.clone();
    let header = Header {
        transport: Some("stdio".into()),
        argv: Some(
            argv.iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
        ),
        ..header(name)
    };
    anyhow::ensure!(
        !(ask.place.quarantine && ask.place.faults.any()),
        "--quarantine and faults are not for one child"
    );
    let faults = ask.on_purpose(None, header.started)?;
    let child = Child {
        faults,
        argv,
        drain_stderr: ask.place.drain_stderr,
        quarantine,
        held: ask.place.keep_open,
    };
    let program = child
        .argv
        .first()
        .map(|word| word.to_string_lossy().into_owned());
    let program = program.unwrap_or_default();
    let fail_on = ask.watch.fail_on();
    let tells = ask.shared.verbose || ask.made_up && !ask.shared.quiet;
    let write = ask.write.clone();
    let mut setup = setup(ask, header, Arc::new(gently))?;
    setup.tap.guard = speaks.map(Guard::new);
    // Last: a file that is made takes its name.
    let create = |path| recording::create(path, false);
    let recording = write.as_deref().map(create).transpose()?;
    if let Some(sink) = recording.as_ref().filter(|_| tells) {
        gently(&format!("recording to {}", sink.name));
    }
    into(recording, &mut setup);
    let ours = take_stdio().context("cannot use stdin, stdout and stderr")?;
    let ended = wrap(child, ours, setup).with_context(|| format!("cannot run {program}"))?;
    if trouble(&ended.seen, &gently) {
        return Ok(Exit::Trouble);
    }
    if is_broken(fail_on, &ended.seen) {
        return Ok(Exit::No);
    }
    let code = ended.status.code();
    let code = code.or(ended.status.signal().map(|signal| 128 + signal));
    Ok(Exit::Status(
        code.and_then(|c| u8::try_from(c).ok()).unwrap_or(2),
    ))
}

/// Our stdin, stdout and stderr, the first two for nobody else: what is closed then is closed.
pub fn take_stdio() -> std::io::Result<Wrap> {
    let taken = |fd: std::os::fd::BorrowedFd<'_>| fd.try_clone_to_owned().map(File::from);
    let ours = Wrap {
        stdin: taken(std::io::stdin().as_fd())?,
        stdout: taken(std::io::stdout().as_fd())?,
        stderr: taken(std::io::stderr().as_fd())?,
    };
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(ours)
}

pub fn header(protocol: Option<&str>) -> Header {
    Header {
        protocol: protocol.map(str::to_owned),
        ..Header::new(crate::transport::now())
    }
}

/// What passes is recorded there.
fn into(recording: Option<Sink>, setup: &mut Setup) {
    setup.tap.record = recording.is_some();
    setup.recording = recording;
}

fn setup(ask: Ask<'_>, header: Header, say: Say) -> Result<Setup> {
    let view = ask
        .screen
        .map(|screen| view::view(&screen, ask.shared))
        .transpose()?;
    Ok(Setup {
        tap: Settings {
            header,
            record: false,
            decode: ask.decode,
            judge: if view.is_some() || ask.watch.lint {
                Some((
                    ask.watch.judging.judge()?,
                    ask.watch.judging.session_config()?,
                ))
            } else {
                None
            },
            guard: None,
        },
        recording: None,
        view,
        policy: if ask.watch.fail_on.is_some() {
            Policy::Wait
        } else {
            Policy::Drop
        },
        say,
    })
}

/// Whether a rule was broken that matters so much.
fn is_broken(fail_on: Option<Severity>, seen: &Seen) -> bool {
    fail_on.is_some_and(|least| seen.counts.worst >= Some(least))
}

/// Whether something that passed was not written down; says so.
pub fn trouble(seen: &Seen, say: &dyn Fn(&str)) -> bool {
    if seen.lost > 0 {
        say(&format!(
            "{} bytes went by unseen: the recording or the view was too slow for them",
            seen.lost
        ));
    }
    seen.trouble || seen.lost > 0
}
