//! Runs a case: starts its stubs, then sends, replays or starts the client, and checks the messages.

use super::changes::{OfferChange, changes};
use super::check::{CaseProblem, CheckedMessages, ExitStatus, check};
use super::limited::{Cut, LimitedClient};
use super::offers::{OfferRequests, Offered};
use super::programs::{CaseStub, ClientEnd, filled, filled_words, names, run_client};
use super::suite::{Action, Case, Common, StubProgram, Suite};
use crate::cli::Exit;
use crate::cli::client::{CallOutputs, KnownConnections, PeerArgs, describe_hang, nanos};
use crate::cli::interrupt::Stop;
use crate::cli::recording;
use crate::cli::replay::show::write_divergence;
use crate::cli::send::messages::{MessageMaker, classify};
use crate::framing::Limits;
use crate::live::client::{
    Client, ClientConfig, ClientEvent, ClientObserver, FeedInput, LINGER, RunOutcome,
};
use crate::live::codec::{ConnectionConfig, EventStreams};
use crate::live::plan::Plan;
use crate::protocol::{Protocol, registry};
use crate::render::DisplayOptions;
use crate::render::findings::duration;
use crate::transport::Program;
use anyhow::{Context as _, Result};
use clap::Parser;
use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of lines of a program's output that a failed case shows.
const MAX_OUTPUT: usize = 5;

#[derive(Default)]
pub struct CaseResult {
    pub problems: Vec<CaseProblem>,
    /// The number of problems that are not stored.
    pub more: u64,
    /// The case could not run.
    pub is_broken: bool,
    /// Changes of what the server offers that break no client.
    pub compatible: Vec<OfferChange>,
    /// What was done, such as the writing of a baseline.
    pub notes: Vec<String>,
    /// The last messages, as lines.
    pub lines: Vec<String>,
    /// The last lines that the program wrote to stderr.
    pub output: Vec<String>,
    pub messages: u64,
    /// The exit status of an interrupted run.
    pub interrupted: Option<Exit>,
}

/// How cases run.
pub struct CaseOptions {
    /// Baselines are written.
    pub update: bool,
    /// The folder that receives the recordings.
    pub keep: Option<PathBuf>,
    pub stop: Stop,
}

/// The connection flags of `wiretool send`.
#[derive(Parser)]
#[command(name = "flags", no_binary_name = true, disable_help_flag = true)]
struct ConnectionFlags {
    #[command(flatten)]
    peer: PeerArgs,
}

pub fn run(suite: &Suite, case: &Case, options: &CaseOptions) -> CaseResult {
    let mut run = CaseRun {
        suite,
        case,
        options,
        result: CaseResult::default(),
    };
    if let Err(error) = run.run() {
        run.result.is_broken = true;
        let problem = CaseProblem::new("broken", format!("{error:#}")).at(case.at);
        run.result.problems.push(problem);
    }
    run.result
}

struct CaseRun<'s> {
    suite: &'s Suite,
    case: &'s Case,
    options: &'s CaseOptions,
    result: CaseResult,
}

/// What a client reports, in its own thread.
#[derive(Default)]
struct Reported {
    problems: Vec<CaseProblem>,
    notes: Vec<String>,
}

impl CaseRun<'_> {
    fn run(&mut self) -> Result<()> {
        let files = tempfile::tempdir().context("cannot create a temporary folder")?;
        let mut stubs = Vec::new();
        for stub in self.suite.stubs.iter().filter(|stub| self.needs(stub)) {
            stubs.push(CaseStub::start(stub, self.folder(), files.path())?);
        }
        let recorded = self.act(&stubs, files.path());
        for stub in &mut stubs {
            let missed = stub.finish();
            if missed > 0 {
                let requests = crate::cli::count_text(missed, "request", "requests");
                let text = format!("the stub {} had no answer to {requests}", stub.name);
                self.result.problems.push(CaseProblem::new("stub", text));
            }
        }
        let output = std::fs::read(files.path().join("stderr")).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let lines: Vec<_> = output.lines().map(str::to_owned).collect();
        let from = lines.len().saturating_sub(MAX_OUTPUT);
        self.result.output = lines.get(from..).unwrap_or_default().to_vec();
        let recorded = recorded?;
        let bytes = std::fs::read(&recorded).unwrap_or_default();
        if let Some(folder) = &self.options.keep {
            self.keep(folder, &bytes)?;
        }
        if bytes.is_empty() {
            let text = "there are no messages: the program did not connect to the stub";
            self.result.problems.push(CaseProblem::new("silent", text));
            return Ok(());
        }
        let checked = check(self.case, &bytes);
        self.take(checked)
    }

    /// The folder in which programs run; `None`: the working directory.
    fn folder(&self) -> Option<PathBuf> {
        let folder = &self.suite.folder;
        (!folder.as_os_str().is_empty()).then(|| folder.clone())
    }

    /// Returns true if the case uses a stub.
    fn needs(&self, stub: &StubProgram) -> bool {
        let Common {
            command,
            env,
            flags,
            ..
        } = &self.case.common;
        let (client, watched) = match &self.case.action {
            Action::Client { argv, stub, .. } => (argv.as_slice(), stub.as_str()),
            _ => (&[][..], ""),
        };
        let values = env.iter().map(|(_, value)| value);
        let mut texts = command.iter().chain(flags).chain(client).chain(values);
        watched == stub.name || texts.any(|text| names(text, &stub.name))
    }

    /// Copies the recording to a folder of the user.
    fn keep(&self, folder: &Path, bytes: &[u8]) -> Result<()> {
        let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        let name: String = self
            .case
            .name
            .chars()
            .map(|c| if is_plain(c) { c } else { '-' })
            .collect();
        let path = folder.join(format!("{}.jsonl", name.trim_start_matches('.')));
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, bytes))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Sends, replays, or runs the client; returns the recording.
    fn act(&mut self, stubs: &[CaseStub], files: &Path) -> Result<PathBuf> {
        if let Action::Client { argv, stub, exit } = &self.case.action {
            self.run_client(argv, *exit, stubs, files)?;
            let watched = stubs.iter().find(|one| one.name == *stub);
            return Ok(watched.map(|one| one.recording.clone()).unwrap_or_default());
        }
        let path = files.join("case.jsonl");
        let common = &self.case.common;
        let timeout = format!("--timeout={}ms", common.timeout.as_millis());
        let flags = common
            .flags
            .iter()
            .map(|flag| filled(flag, stubs))
            .chain([timeout]);
        let parsed = ConnectionFlags::try_parse_from(flags);
        let parsed = parsed.map_err(|error| {
            let text = error.to_string();
            let text = text.lines().next().unwrap_or_default().to_owned();
            anyhow::anyhow!("flags: {}", text.trim_start_matches("error: "))
        })?;
        let mut peer = parsed.peer;
        let program = self.program(&common.command, stubs);
        peer.set_command(&program.argv);
        let outputs = CallOutputs {
            stderr: File::create(files.join("stderr"))?,
            screen: Box::new(|_| Ok(())),
            print: Arc::new(|_| {}),
            recording: Some(recording::create(&path, false)?),
            check: None,
        };
        let call = Call {
            peer: &peer,
            program,
            outputs,
        };
        match &self.case.action {
            Action::Replay {
                recording,
                ignore,
                strict,
            } => self.replay(call, recording, ignore, *strict)?,
            Action::Send { lines, waits } => self.send(call, lines, *waits)?,
            _ => self.request_offers(call)?,
        }
        Ok(path)
    }

    fn program(&self, words: &[String], stubs: &[CaseStub]) -> Program {
        let env = self.case.common.env.iter();
        Program {
            argv: filled_words(words, stubs)
                .into_iter()
                .map(Into::into)
                .collect(),
            env: env
                .map(|(name, value)| (name.clone(), filled(value, stubs)))
                .collect(),
            folder: self.folder(),
        }
    }

    fn run_client(
        &mut self,
        argv: &[String],
        exit: i32,
        stubs: &[CaseStub],
        files: &Path,
    ) -> Result<()> {
        let program = self.program(argv, stubs);
        let output = File::create(files.join("stderr"))?;
        let within = self.case.common.timeout;
        match run_client(&program, &output, within, &self.options.stop)? {
            ClientEnd::Exited(status) if status == exit => {}
            ClientEnd::Exited(status) => {
                let text = format!("the client ended with status {status}, not {exit}");
                self.result.problems.push(CaseProblem::new("exit", text));
            }
            ClientEnd::TimedOut => {
                let within = duration(nanos(within));
                let text = format!("the client did not end within {within}: killed");
                self.result.problems.push(CaseProblem::new("timeout", text));
            }
            ClientEnd::Stopped => self.result.interrupted = self.options.stop.exit(),
        }
        Ok(())
    }

    fn protocol(&self) -> Result<&'static dyn Protocol> {
        self.case.common.protocol.context("wanted a protocol")
    }

    fn send(&mut self, call: Call<'_>, lines: &[String], waits: bool) -> Result<()> {
        let protocol = self.protocol()?;
        let mut maker = MessageMaker::new(protocol, call.peer.seed(0));
        let mut ready = VecDeque::new();
        for line in lines {
            let made = maker
                .line(line)
                .map_err(|why| anyhow::anyhow!("send: {line}: {why}"))?;
            ready.extend(made);
        }
        let first = ready.front().cloned();
        let next = Box::new(move || match ready.pop_front() {
            Some(message) => FeedInput::Message(message),
            None => FeedInput::End,
        });
        let reported = Arc::default();
        let observer = observer(protocol, Arc::clone(&reported));
        self.feed(
            call,
            first.as_deref(),
            waits,
            next,
            observer,
            &reported,
            None,
        )
    }

    fn request_offers(&mut self, call: Call<'_>) -> Result<()> {
        let protocol = self.protocol()?;
        let mut maker = MessageMaker::new(protocol, call.peer.seed(0));
        let requests = Arc::new(Mutex::new(OfferRequests::new(protocol)));
        let (seen, asked) = (Arc::clone(&requests), Arc::clone(&requests));
        let reported = Arc::default();
        let mut report = observer(protocol, Arc::clone(&reported));
        let observer: ClientObserver<'_> = Box::new(move |event, commands| {
            if let ClientEvent::Received(decoded, verdict)
            | ClientEvent::Handshake(decoded, verdict) = &event
            {
                let mut requests = seen.lock().unwrap_or_else(PoisonError::into_inner);
                requests.take(decoded, verdict.answer);
            }
            report(event, commands);
        });
        let next = Box::new(move || {
            let mut requests = asked.lock().unwrap_or_else(PoisonError::into_inner);
            match requests.next() {
                Ok(words) => maker
                    .make(&words)
                    .map_or_else(FeedInput::Bad, FeedInput::Message),
                Err(other) => other,
            }
        });
        self.feed(call, None, true, next, observer, &reported, Some(requests))
    }

    /// Sends the messages of a feed.
    #[allow(clippy::too_many_arguments)] // each is used once
    fn feed<'p>(
        &mut self,
        call: Call<'_>,
        first: Option<&str>,
        waits: bool,
        next: Box<dyn FnMut() -> FeedInput + Send + 'p>,
        observer: ClientObserver<'p>,
        reported: &Arc<Mutex<Reported>>,
        opening: Option<Arc<Mutex<OfferRequests>>>,
    ) -> Result<()> {
        let protocol = self.protocol()?;
        let known = KnownConnections {
            events: EventStreams::Negotiated,
            ..KnownConnections::default()
        };
        let config = call.peer.config(protocol, known)?;
        let mut peer_config = call.peer.peer_config(call.peer.seed(0))?;
        peer_config.no_hello = first.is_some_and(|message| classify(&config, message).opens);
        let settings = ClientConfig {
            peer_config,
            timeout: call.peer.timeout(),
            linger: nanos(self.case.common.linger),
            in_order: !config.streams && waits,
            ..ClientConfig::default()
        };
        let plan = Plan::empty(protocol, config.framing);
        let client = Client::sending(&plan, config, &settings, next, observer);
        self.call(call, protocol, client, reported, opening)
    }

    fn replay(
        &mut self,
        call: Call<'_>,
        path: &Path,
        ignore: &[String],
        strict: bool,
    ) -> Result<()> {
        let known = match self.case.common.protocol {
            Some(protocol) => vec![protocol as &dyn Protocol],
            None => registry::all()
                .iter()
                .map(|one| *one as &dyn Protocol)
                .collect(),
        };
        let bytes = recording::read(path)?;
        let filter = crate::select::Select::default().filter();
        let plan = Plan::of(&bytes, &known, None, Limits::default(), filter);
        let mut plan = plan.map_err(|unfit| anyhow::anyhow!("{}: {unfit}", path.display()))?;
        let ignore = crate::cli::diff::read_ignore(ignore, &[])?;
        let ignore = if strict {
            ignore
        } else {
            ignore.and_generated(plan.protocol, true)
        };
        crate::cli::replay::fit_to_peer(&mut plan, call.peer)?;
        let known = crate::cli::replay::known_connections(&plan);
        let config: ConnectionConfig<'_> = call.peer.config(plan.protocol, known)?;
        let settings = ClientConfig {
            peer_config: call.peer.peer_config(call.peer.seed(0))?,
            timeout: call.peer.timeout(),
            linger: LINGER.min(call.peer.timeout()),
            keep_going: true,
            ignore,
            ..ClientConfig::default()
        };
        let reported = Arc::default();
        let observer = observer(plan.protocol, Arc::clone(&reported));
        let protocol = plan.protocol;
        let client = Client::replaying(&plan, config, &settings, observer);
        self.call(call, protocol, client, &reported, None)
    }

    /// Runs a client until its end or the time limit of the case.
    fn call(
        &mut self,
        call: Call<'_>,
        protocol: &dyn Protocol,
        client: Client<'_>,
        reported: &Arc<Mutex<Reported>>,
        opening: Option<Arc<Mutex<OfferRequests>>>,
    ) -> Result<()> {
        let common = &self.case.common;
        let mut limited = LimitedClient {
            client,
            opening,
            opened_by: i64::MAX,
            ended_by: i64::MAX,
            timeout: nanos(common.timeout),
            limit: nanos(common.limit),
            cut: None,
        };
        let ended = call
            .peer
            .call(protocol, call.program, &mut limited, call.outputs)?;
        self.result.interrupted = ended.signal.map(Exit::of_signal);
        let reported =
            std::mem::take(&mut *reported.lock().unwrap_or_else(PoisonError::into_inner));
        self.result.problems.extend(reported.problems);
        self.result.notes.extend(reported.notes);
        let RunOutcome { failure, .. } = limited.client.outcome();
        if let Some(why) = failure {
            anyhow::bail!("{why}");
        }
        match limited.cut {
            Some(Cut::Opening) => {
                let silent = duration(nanos(common.timeout));
                let text = format!("the session was not open after {silent}");
                self.result.problems.push(CaseProblem::new("opening", text));
            }
            Some(Cut::Limit) => {
                let limit = duration(nanos(common.limit));
                let text = format!("the case did not end within {limit}");
                self.result.problems.push(CaseProblem::new("limit", text));
            }
            None => {}
        }
        if ended.undelivered > 0 {
            let text = format!(
                "bytes that the other side did not receive: {}",
                ended.undelivered
            );
            self.result
                .problems
                .push(CaseProblem::new("undelivered", text));
        }
        Ok(())
    }

    /// Takes what the messages showed, and compares what the server offers.
    fn take(&mut self, checked: CheckedMessages) -> Result<()> {
        self.result.messages = checked.messages;
        self.result.more = checked.more;
        self.result.lines = checked.lines.into();
        self.result.problems.extend(checked.problems);
        let is_client = matches!(self.case.action, Action::Client { .. });
        let is_cut = |problem: &CaseProblem| {
            ["test/opening", "test/limit", "test/timeout"].contains(&problem.rule.as_str())
        };
        if is_client || self.result.problems.iter().any(is_cut) {
            let waiting = checked.waiting.into_iter();
            let unanswered = waiting.map(|text| CaseProblem::new("unanswered", text));
            self.result.problems.extend(unanswered);
        }
        if !is_client {
            let exit = self.case.exit;
            self.result.notes.extend(checked.end.notes(exit.is_some()));
            let wrong = exit.and_then(|exit| match checked.end.exit {
                Some((ExitStatus::Code(code), _)) if code == i64::from(exit) => None,
                Some((ExitStatus::Code(code), _)) => {
                    Some(format!("with status {code}, not {exit}"))
                }
                Some((ExitStatus::Signal(signal), _)) => {
                    Some(format!("by signal {signal}, not with status {exit}"))
                }
                None => None,
            });
            let wrong =
                wrong.map(|how| CaseProblem::new("exit", format!("the server ended {how}")));
            self.result.problems.extend(wrong);
        }
        self.compare_offered(&checked.offered)
    }

    fn compare_offered(&mut self, offered: &Offered) -> Result<()> {
        let Some((path, at)) = &self.case.baseline else {
            return Ok(());
        };
        let name = path.display();
        let mut add = |text: String| {
            let problem = CaseProblem::new("baseline", text).at(*at);
            self.result.problems.push(problem);
        };
        if offered.is_empty() {
            add("the messages show nothing that the server offers".into());
            return Ok(());
        }
        let old = Offered::read(path)?;
        if self.options.update {
            let protocol = self.case.common.protocol.map_or("", |one| one.name());
            // A session that failed does not show everything.
            if self.result.problems.is_empty() && offered.write(path, protocol)? {
                self.result
                    .notes
                    .push(format!("wrote {name}: {}", offered.summary()));
            }
            return Ok(());
        }
        let Some(old) = old else {
            add(format!("there is no {name} yet: --update writes it"));
            return Ok(());
        };
        for change in changes(&old, offered) {
            if change.is_breaking {
                add(format!("breaking: {}", change.text));
            } else {
                self.result.compatible.push(change);
            }
        }
        Ok(())
    }
}

/// The connection of a case.
struct Call<'c> {
    peer: &'c PeerArgs,
    program: Program,
    outputs: CallOutputs,
}

/// Creates an observer that stores what is wrong.
fn observer(protocol: &dyn Protocol, reported: Arc<Mutex<Reported>>) -> ClientObserver<'_> {
    Box::new(move |event, _| {
        let display = DisplayOptions::default();
        let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            ClientEvent::Received(..) | ClientEvent::Handshake(..) => {}
            ClientEvent::Note(text) => reported.problems.push(CaseProblem::new("ended", text)),
            ClientEvent::Hangs(hang) => {
                let text = describe_hang(hang, protocol, display);
                let text = text.trim_start_matches("✗ hangs: ");
                let text = one_line(text);
                reported.problems.push(CaseProblem::new("hangs", text));
            }
            ClientEvent::Diverged(divergence) => {
                let mut text = String::new();
                write_divergence(divergence, display, &mut text);
                let text = one_line(text.trim_start_matches("✗ "));
                reported.problems.push(CaseProblem::new("differs", text));
            }
        }
    })
}

/// Returns lines as one, which is the summary of a report.
fn one_line(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("; ")
}
