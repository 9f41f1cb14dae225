//! Reads files, pipes and pairs of one-way files into a decoder.

mod detection;
mod files;
mod pairs;
mod plausibility;
mod run;

use super::config::settings;
use super::options::InputArgs as Args;
use super::poll::{wait_readable, wait_readable_unless};
use super::progress::ReadProgress;
use crate::capture::recording::Header;
use crate::capture::{CaptureInput, Event, EventKind, Form, Item, Problem, ProblemSeverity};
use crate::conversation::pipeline::{Pipeline, PipelineSink};
use crate::conversation::{Conversation, Finding, Judge, Verdict};
use crate::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use crate::encoding::Want;
use crate::protocol::session::SessionConfig;
use crate::protocol::{Direction, Protocol};
use anyhow::{Context as _, Result};
use detection::report_unrecognised;
pub use detection::{no_protocol, report_undetected};
pub use files::has_capture_name;
use files::{Source, Unit, list_units, open};
use plausibility::FlagPlausibility;
pub use run::InputRun;
use std::io::{IsTerminal as _, Read as _, Seek as _};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The maximum number of bytes of a read.
const READ_SIZE: usize = 256 << 10;
/// The time that a single message waits for a second one before it is shown as one of several.
const SINGLE_MESSAGE_WAIT: Duration = Duration::from_millis(200);
/// The interval between checks of a followed file.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(50);

/// Receives the frames and events of inputs.
pub trait FrameDisplay {
    /// Returns the state of the run.
    fn run(&mut self) -> &mut InputRun;
    /// Receives a message, with a verdict if [`FrameDisplay::rules_to_check`] returns rules.
    fn frame(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()>;
    /// Returns the rules for messages, if they are checked.
    fn rules_to_check(&self) -> Option<(Judge, SessionConfig)> {
        Some(Default::default())
    }
    /// Starts the conversation of a source, in one of these protocols. `ordered`: the input gives the order of messages of
    /// different directions.
    fn begin_conversation(&mut self, protocols: &[&dyn Protocol], ordered: bool) -> Result<()> {
        let _ = (protocols, ordered);
        Ok(())
    }
    /// Reports that everything read so far was passed on, and the next read may take long. Waiting output must be written.
    fn idle(&mut self) -> Result<()> {
        Ok(())
    }
    /// Reports that there are several sources.
    fn begin_several(&mut self) {}
    /// Starts a source.
    fn begin(&mut self, source: &str) {
        let _ = source;
    }
    /// Reports that two files are read as the directions of one more connection of the current source.
    fn pair(&mut self, files: [&str; 2]) {
        let _ = files;
    }
    /// Returns true if the messages of each source are counted from 0, as for a single source.
    fn counts_each_source(&self) -> bool {
        false
    }
    /// Receives the header of a recording.
    fn header(&mut self, header: &Header) {
        let _ = header;
    }
    /// Receives an item of the input, before its messages.
    fn item(&mut self, item: &Item<'_>, direction: Option<Direction>) -> Result<()> {
        let _ = (item, direction);
        Ok(())
    }
    /// Starts a read of a recording: the frames that follow were completed by it.
    fn read(&mut self) {}
    /// Receives an event between messages, and the findings that follow from it.
    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<()> {
        let _ = (event, findings);
        Ok(())
    }
    /// Ends a source, of which `bytes` bytes were read.
    fn end(&mut self, source: &str, bytes: u64, pipeline: &mut Pipeline<'_>) -> Result<()>;
    /// Returns the positions that the decoder must store from now on.
    fn want(&self) -> Want {
        Want::Places
    }
    /// Returns the time without input after which [`FrameDisplay::stalled`] is called.
    fn stall(&self) -> Option<Duration> {
        None
    }
    /// Reports that no bytes arrived for this time.
    fn stalled(&mut self, pipeline: &Pipeline<'_>, silent: Duration) -> Result<()> {
        let _ = (pipeline, silent);
        Ok(())
    }
    /// Returns true if progress can be shown: nothing else is written to the terminal meanwhile.
    fn progress(&mut self) -> bool {
        !self.run().quiet
    }
    /// Returns true if no more messages are needed.
    fn is_done(&self) -> bool {
        false
    }
}

/// Reads all inputs, in order, and passes their messages to `show`.
pub fn read(args: &Args, options: &DecodeOptions<'_>, show: &mut dyn FrameDisplay) -> Result<()> {
    anyhow::ensure!(
        args.c2s.len() == args.s2c.len(),
        "each --c2s needs an --s2c: one pair per connection"
    );
    if !args.c2s.is_empty() {
        let all: Vec<_> = args.c2s.iter().zip(&args.s2c).collect();
        return pairs::read_pairs(&all, args.from, None, 0, options, show).map(|_| ());
    }
    let mut units = list_units(&args.files)?;
    if units.is_empty() {
        anyhow::ensure!(
            !std::io::stdin().is_terminal(),
            "no FILE, and stdin is a terminal: name a capture, or pipe one in (--help has examples)"
        );
        units.push(Unit::File("-".into()));
    }
    let several = units.len() > 1;
    if several {
        show.begin_several();
    }
    let mut index = 0;
    // After an error in one file, the next file is read; the last error decides the exit status.
    let mut last_error = None;
    let stop = show.stop();
    for (n, unit) in units.iter().enumerate() {
        if show.is_done() || stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed)) {
            break;
        }
        let conn = several.then_some(n as u32);
        let read = match unit {
            Unit::File(path) => read_file(path, conn, &mut index, args, options, show),
            Unit::Pair(c2s, s2c) => {
                let pair = [(c2s, s2c)];
                pairs::read_pairs(&pair, args.from, conn, index, options, show)
                    .map(|next| index = next)
            }
        };
        match read {
            Ok(()) => {}
            Err(error) if super::is_closed_pipe(&error) => return Err(error),
            Err(error) if several => {
                if let Some(earlier) = last_error.replace(error) {
                    show.note("", &format!("{earlier:#}"), true);
                }
            }
            Err(error) => return Err(error),
        }
        if show.counts_each_source() {
            index = 0;
        }
    }
    last_error.map_or(Ok(()), Err)
}

/// Reads a file, again from its start each time it is truncated.
fn read_file(
    path: &Path,
    conn: Option<u32>,
    index: &mut u64,
    args: &Args,
    options: &DecodeOptions<'_>,
    show: &mut dyn FrameDisplay,
) -> Result<()> {
    let (options, dir) = settings().options_for_path(options, args.dir, path);
    let source = open(path)?;
    loop {
        let mut pipeline = new_pipeline(&options, true, show)?;
        pipeline.decoder = pipeline.decoder.starting_at(*index);
        (pipeline.conn, pipeline.direction) = (conn, dir);
        let left = read_source(&source, args, &mut pipeline, show)?;
        *index = pipeline.decoder.index();
        if left == ReadEnd::Done {
            return Ok(());
        }
        (&source.file).rewind()?;
    }
}

/// The reason why reading of a source ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadEnd {
    Done,
    /// The bytes that were read are gone; the file must be read from its start.
    Truncated,
}

/// Creates a pipeline, with a conversation if messages are checked.
fn new_pipeline<'p>(
    options: &DecodeOptions<'p>,
    ordered: bool,
    show: &mut dyn FrameDisplay,
) -> Result<Pipeline<'p>> {
    show.begin_conversation(&options.protocols, ordered)?;
    let judged = show.rules_to_check();
    let conversation = judged.map(|(judge, session_config)| {
        Conversation::new(&options.protocols, &judge, session_config, ordered)
    });
    let decoder = Decoder::new(options.clone());
    Ok(Pipeline::new(decoder, conversation))
}

fn read_source(
    source: &Source,
    args: &Args,
    pipeline: &mut Pipeline<'_>,
    show: &mut dyn FrameDisplay,
) -> Result<ReadEnd> {
    let Source {
        name,
        file,
        plain,
        len,
    } = source;
    let (mut file, plain, len) = (file, *plain, *len);
    show.begin(name);
    let shows_progress = plain && !args.follow && show.progress();
    let mut progress = ReadProgress::new(len, shows_progress);
    let packets = args.packets.options();
    let mut input = CaptureInput::new(args.from).with_packet_options(packets);
    pipeline.is_recording = args.from == Form::Recording;
    let mut feed = PipelineFeed {
        plausibilities: vec![FlagPlausibility::new(pipeline.decoder.options())],
        is_recording: pipeline.is_recording,
        has_bytes: false,
        unreadable: None,
        show,
        name,
    };
    let mut failed = None;
    let mut buffer = vec![0; READ_SIZE];
    let mut total = 0;
    let mut truncated = false;
    let (stall, stop) = (feed.show.stall(), feed.show.stop());
    let is_stopped = || stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed));
    // The time since a followed file has grown.
    let mut silent = Duration::ZERO;
    loop {
        // A pipe may pause here for any time: waiting output is written first.
        if !plain && total > 0 && !wait_readable(file, SINGLE_MESSAGE_WAIT) {
            feed.show.idle()?;
        }
        if let (false, Some(stall)) = (plain, stall)
            && !wait_readable_unless(file, Some(stall), &is_stopped)
            && !is_stopped()
        {
            feed.show.stalled(pipeline, stall)?;
        }
        // A signal ends this wait; it would not end a read.
        let ready = plain || stop.is_none() || wait_readable_unless(file, None, &is_stopped);
        if is_stopped() {
            break;
        }
        if !ready {
            continue;
        }
        let n = match file.read(&mut buffer) {
            Ok(n) => n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e).with_context(|| format!("cannot read {name}")),
        };
        if n == 0 {
            if !args.follow {
                break;
            }
            feed.show.idle()?;
            if plain && file.metadata().is_ok_and(|meta| meta.len() < total) {
                let text = "the file was truncated: reading starts again";
                feed.show.note(name, text, false);
                truncated = true;
                break;
            }
            std::thread::sleep(FOLLOW_INTERVAL);
            let before = silent;
            silent += FOLLOW_INTERVAL;
            if stall.is_some_and(|stall| before < stall && silent >= stall) {
                feed.show.stalled(pipeline, silent)?;
            }
            continue;
        }
        silent = Duration::ZERO;
        total += n as u64;
        if let Some(progress) = &mut progress {
            progress.set_done(total);
        }
        input.push(buffer.get(..n).unwrap_or_default(), &mut |item| {
            feed.item(&item, pipeline, &mut failed);
        });
        failed.take().map_or(Ok(()), Err)?;
        if feed.show.is_done() {
            return Ok(ReadEnd::Done);
        }
    }
    drop(progress);
    let left = truncated || is_stopped();
    // If reading stopped early, the end of the input is not checked.
    input.finish(&mut |item| match item {
        Item::Problem(_) if left => {}
        item => feed.item(&item, pipeline, &mut failed),
    });
    failed.map_or(Ok(()), Err)?;
    pipeline.finish(!left, &mut feed)?;
    if let Some(text) = feed.unreadable {
        anyhow::bail!("{name}: {text}");
    }
    let has_bytes = feed.has_bytes;
    let plausibility = feed.plausibilities.remove(0);
    if let Some(text) = plausibility.detected_protocol(&pipeline.decoder) {
        show.note(name, &text, false);
    }
    // The user did not give the directions of a recording.
    if args.dir.is_some() && plausibility.is_direction_reversed() {
        show.note(name, "--dir seems to be the wrong direction", false);
    }
    report_unrecognised(name, &pipeline.decoder, show);
    if !input.evidence().is_empty() {
        show.detail(
            name,
            &format!("read as {}: {}", input.form().name(), input.evidence()),
        );
    }
    if input.ignored_lines() > 0 {
        let lines = super::count_text(input.ignored_lines(), "line", "lines");
        let text = format!("{lines} without bytes in the form {}", input.form().name());
        if !has_bytes && !left {
            show.note(name, &text, true);
        } else {
            show.detail(name, &text);
        }
    }
    show.end_source(name, total, pipeline)?;
    Ok(if truncated {
        ReadEnd::Truncated
    } else {
        ReadEnd::Done
    })
}

/// Passes the events of a pipeline to the display.
struct PipelineFeed<'f, 'p> {
    /// One for each pair of files, or one.
    plausibilities: Vec<FlagPlausibility<'p>>,
    is_recording: bool,
    /// The input held bytes of traffic.
    has_bytes: bool,
    /// Why nothing can be decoded.
    unreadable: Option<String>,
    show: &'f mut dyn FrameDisplay,
    name: &'f str,
}

impl<'p> PipelineFeed<'_, 'p> {
    fn item(
        &mut self,
        item: &Item<'_>,
        pipeline: &mut Pipeline<'p>,
        failed: &mut Option<anyhow::Error>,
    ) {
        // Input after the last selected message is not checked either.
        if failed.is_none() && !self.show.is_done() {
            let direction = pipeline.direction;
            let shown = self.show.item(item, direction);
            *failed = shown.and_then(|()| pipeline.item(item, self)).err();
        }
    }

    fn plausibility(&mut self, origin: Origin) -> Option<&mut FlagPlausibility<'p>> {
        let pair = match self.plausibilities.len() {
            1 => 0,
            _ => origin.conn.unwrap_or_default() as usize,
        };
        self.plausibilities.get_mut(pair)
    }
}

impl PipelineSink for PipelineFeed<'_, '_> {
    type Error = anyhow::Error;

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        if let Some(plausibility) = self.plausibility(decoded.origin) {
            plausibility.count(decoded);
        }
        self.show.run().messages += 1;
        self.show.frame(decoded, verdict)
    }

    fn header(&mut self, header: &Header) {
        self.is_recording = true;
        self.show.header(header);
    }

    fn bytes(&mut self, origin: Origin, bytes: &[u8]) {
        self.has_bytes |= !bytes.is_empty();
        if self.is_recording {
            self.show.read();
        }
        if let Some(plausibility) = self.plausibility(origin) {
            plausibility.push(origin, bytes);
        }
    }

    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<()> {
        let address = |key| event.more.and_then(|more| more.get(key)?.as_str());
        if let (EventKind::Open, Some(client), Some(server)) =
            (event.what, address("peer"), address("server"))
        {
            let text = format!("c{}: {client} -> {server}", event.conn);
            self.show.detail(self.name, &text);
        }
        self.show.event(event, findings)
    }

    fn problem(&mut self, problem: &Problem) {
        if problem.severity == ProblemSeverity::Unreadable {
            self.unreadable = Some(problem.to_string());
            return;
        }
        let bad = problem.severity == ProblemSeverity::Error;
        self.show.note(self.name, &problem.to_string(), bad);
    }

    fn note(&mut self, text: &str) {
        self.show.note(self.name, text, false);
    }

    fn want(&self) -> Option<Want> {
        Some(self.show.want())
    }

    fn is_done(&self) -> bool {
        self.show.is_done()
    }
}
