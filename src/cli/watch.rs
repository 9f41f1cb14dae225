//! `wiretool watch`: messages of captures and of live traffic on the whole screen.
//!
//! ```text
//!   reader thread   input --> run --> IndexSink --> Store
//!   rule thread     Store --> run --> Store: answers, findings
//!   proxy thread    sockets or child --> recording, which the reader follows
//!   this thread     keys --> Model --> View --> terminal
//! ```

mod command;
mod condition;
mod copies;
mod edit;
pub mod entry;
mod judging;
mod keys;
mod live;
mod model;
mod operations;
mod prompt;
mod screen;
mod shared;
mod source;
mod steps;
pub mod store;
mod terminal;
#[cfg(test)]
mod tests;
mod view;

use super::Exit;
use super::input::{self, InputState};
use super::interrupt::Stop;
use super::live::ConnectionArgs;
use super::options::{self, InputArgs, SharedArgs};
use super::state;
use super::suggestions::file_tip;
use crate::capture::Sources;
use crate::conversation::RuleSettings;
use crate::decoder::{DecodeOptions, StoredFrames};
use crate::encoding::Want;
use crate::framing::Framing;
use crate::transport::Inserts;
use anyhow::Result;
use edit::Editing;
use judging::RuleThread;
use live::LiveTraffic;
use model::Model;
use screen::{run_screen, screen_file};
use shared::Shared;
use source::IndexSink;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use steps::Steps;
use store::{Store, StoreReader};
use terminal::FullScreen;
use view::{Theme, View};

const EXAMPLES: &str = "\
Examples:
  wiretool watch session.jsonl              scroll, search, look inside
  wiretool watch --follow session.jsonl     while the file grows
  wiretool watch a.jsonl b.jsonl            several processes on one clock
  wiretool watch -p mcp -w FILE -- ./server  live: a child; its stdin is that of wiretool
  wiretool watch -p saikuro                 live: the same as proxy, on the whole screen";

const EXIT_CODES: &str = "\
Exit codes:
  0         the screen was closed
  2         usage, an input, address or terminal that failed, or bytes that were not recorded
  130, 143  interrupted, terminated; files are complete";

/// Show messages on the whole screen: scroll, search, look inside
///
/// FILE is a capture. Without one, watch takes the arguments of proxy and record, and shows live traffic; without any
/// argument, it shows what was recorded last. The key `?` lists all keys.
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    input: options::InputArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
    /// Record to this file; existing files are not replaced
    ///
    /// Only for live traffic, with the names of `proxy -w`.
    #[arg(short, long, value_name = "RECORDING", help_heading = "Output")]
    write: Option<PathBuf>,
    /// Let the key `e` edit a message and send it once more
    ///
    /// Only for live traffic. The recording marks what wiretool has sent.
    #[arg(long)]
    allow_edit: bool,
    /// Do not mask tokens, capabilities and other secrets
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
    #[command(flatten)]
    wire: options::WireArgs,
    /// Check the rules of the protocol; findings are always shown here
    #[arg(long, hide = true)]
    #[allow(dead_code)] // It changes nothing.
    lint: bool,
    #[command(flatten)]
    judging: options::RuleArgs,
}

impl Args {
    /// Returns the captures to show; `None` for live traffic.
    fn captures(&self) -> Result<Option<InputArgs>> {
        let has_files = !self.input.paths().is_empty();
        let is_live = self.connection.is_given();
        anyhow::ensure!(
            !(has_files && is_live),
            "watch shows a FILE or live traffic: give one of FILE, --connect and a command after --"
        );
        if is_live {
            return Ok(None);
        }
        if has_files || !std::io::stdin().is_terminal() {
            return Ok(Some(self.input.clone()));
        }
        // A protocol alone means its usual port.
        let newest = self.wire.protocol.is_none().then(state::last).flatten();
        Ok(newest.map(|newest| InputArgs {
            files: vec![newest],
            follow: true,
            ..self.input.clone()
        }))
    }

    /// Checks the flags for captures, and that these can be opened.
    fn check_for_files(&self, input: &InputArgs) -> Result<()> {
        anyhow::ensure!(
            self.write.is_none(),
            "-w records live traffic; the key w saves the messages of a FILE"
        );
        anyhow::ensure!(
            !self.allow_edit,
            "--allow-edit sends messages to live traffic; a FILE takes none"
        );
        for path in input.paths().iter().filter(|p| *p != Path::new("-")) {
            let found = path.metadata();
            found.map_err(|error| {
                let tip = file_tip(path).map_or(String::new(), |tip| format!("; {tip}"));
                let tip = tip.replace("wiretool proxy", "wiretool watch");
                anyhow::anyhow!("cannot open {}: {error}{tip}", path.display())
            })?;
        }
        Ok(())
    }
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    let captures = args.captures()?;
    let is_live = captures.is_none();
    let input = captures.unwrap_or_else(|| args.input.clone());
    if !is_live {
        args.check_for_files(&input)?;
    }
    let out = screen_file(args.connection.has_child())?;
    // The threads need them until the process ends.
    let protocols = Box::leak(Box::new(args.wire.protocols()?));
    let port = protocols.named().and_then(|p| p.descriptor().port);
    anyhow::ensure!(
        !is_live || args.connection.is_given() || port.is_some(),
        "nothing to show: name a FILE, a protocol with a usual port, --connect, or a command after --"
    );
    let mut input = InputArgs {
        merge: !input.follow && !is_live,
        ..input
    };
    let sources = input::merged_sources(&input)?;
    let mut options = args.wire.options(protocols, Want::Places);
    let depth = options.limits.depth;
    let rules = args.judging.rules()?;
    let frames = StoredFrames::new(protocols.all());
    let messages = Shared::new(Store::new(frames.clone())?);
    let stop = Stop::on_signals()?;
    if is_live && args.connection.is_http() {
        options.framing.get_or_insert(Framing::Http);
    }
    let begin = || LiveTraffic::new(args.write.as_deref(), shared.quiet);
    let mut live = is_live.then(begin).transpose()?;
    let inserts = args.allow_edit.then(Arc::<Inserts>::default);
    if let Some(live) = &mut live {
        live.inserts.clone_from(&inserts);
        input = live.input(&input.packets);
    }
    let temporary = live.as_mut().and_then(|live| live.temporary.take());
    let reader = Reader {
        input,
        options,
        rules,
        frames,
        show_secrets: args.show_secrets,
        sources,
    };
    let follows = is_live || reader.input.follow;
    std::thread::scope(|scope| {
        let relaying = live.map(|live| {
            let (protocol, options) = (protocols.named(), reader.options.clone());
            let (messages, stop) = (&messages, &stop);
            scope.spawn(move || {
                live.relay(&args.connection, protocol, options, shared, messages, stop)
            })
        });
        let reading = scope.spawn(|| reader.read(shared, &messages, &stop));
        let mut model = Model::new(messages.clone(), StoreReader::new(depth), follows);
        let shown = FullScreen::begin(out).and_then(|mut screen| {
            let mut view = View::new(Theme::of(shared), args.show_secrets, sources);
            let mut editing = inserts.map(|inserts| Editing::new(inserts, fastrand::u64(..)));
            run_screen(&mut screen, &mut view, &mut model, &mut editing, &stop)
        });
        let signal = stop.exit();
        if relaying.is_some() && signal.is_none() {
            live::end_relay();
        }
        stop.set();
        let read = join(reading);
        drop(temporary);
        let relayed = relaying.map(join).transpose()?;
        shown?;
        // An input that failed is the answer, unless messages were shown before.
        if model.message_count() == 0 {
            read?;
        }
        Ok(match relayed {
            Some(Exit::Error) => Exit::Error,
            _ => signal.unwrap_or(Exit::Clean),
        })
    })
}

fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The parameters of the reader thread.
struct Reader {
    input: options::InputArgs,
    options: DecodeOptions<'static>,
    rules: RuleSettings,
    frames: StoredFrames<'static>,
    show_secrets: bool,
    sources: Option<&'static Sources>,
}

impl Reader {
    /// Reads all input into the store.
    fn read(self, shared: &SharedArgs, messages: &Shared, stop: &Stop) -> Result<()> {
        let mut run = source::input_run(
            InputState::new(shared, self.input.follow, Some(stop.clone())),
            messages,
        );
        run.sources = self.sources;
        let steps = Arc::<Steps>::default();
        let mut sink = IndexSink::new(messages.clone(), Arc::clone(&steps), self.frames);
        let rules = RuleThread::new(
            messages.clone(),
            Arc::clone(&steps),
            self.rules,
            self.options.limits.depth,
            self.show_secrets,
        );
        std::thread::scope(|scope| {
            scope.spawn(|| rules.run(stop));
            let read = input::read(&self.input, &self.options, &mut run, &mut sink);
            steps.close();
            let status = &mut messages.store().status;
            if let Err(error) = &read {
                status.note(format!("{error:#}"));
            }
            status.ended = true;
            read
        })
    }
}
