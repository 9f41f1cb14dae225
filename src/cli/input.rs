//! Files, pipes and pairs of one-way files, read into a decoder.

mod doubt;
mod guess;
mod pairs;
mod ready;

use super::config::settings;
use super::options::Input as Args;
use super::progress::Progress;
use crate::capture::recording::Header;
use crate::capture::{Event, Form, Input, Item, Problem, Severity};
use crate::conversation::pipeline::{Pipeline, Sink};
use crate::conversation::{Conversation, Finding, Judge, Verdict};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::encoding::Want;
use crate::protocol::session::SessionConfig;
use anyhow::{Context as _, Result};
use doubt::Doubt;
pub use guess::{tell_guess, tell_undetected};
use ready::{readable, readable_unless};
use std::fs::File;
use std::io::{IsTerminal as _, Read as _, Seek as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bytes of one read.
const READ: usize = 256 << 10;
/// How long a lone message waits for a second one before it is shown as one of several.
const PATIENCE: Duration = Duration::from_millis(200);
/// How often a file that is followed is looked at again.
const FOLLOW: Duration = Duration::from_millis(50);

/// What reading tells whoever shows the frames.
pub trait Show {
    /// A message, with a verdict where [`Show::judged`] asks for it.
    fn frame(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()>;
    /// By which rules messages are judged, if they are.
    fn judged(&self) -> Option<(Judge, SessionConfig)>;
    /// All that was read so far was told; more may take its time. What waits should go out.
    fn idle(&mut self) -> Result<()>;
    /// Something that is no frame and worth a line on stderr; `bad` where part of the input could not be used.
    fn note(&mut self, source: &str, text: &str, bad: bool);
    /// Something for those who want to know how it was read.
    fn detail(&mut self, source: &str, text: &str);
    /// A source begins.
    fn begin(&mut self, source: &str);
    /// Two files are read as the directions of one more connection of the source that has begun.
    fn pair(&mut self, files: [&str; 2]) {
        let _ = files;
    }
    /// Whether the messages of each source are counted from 0, as they are if it is the only one.
    fn each_from_zero(&self) -> bool {
        false
    }
    /// A recording's head.
    fn header(&mut self, header: &Header) {
        let _ = header;
    }
    /// A recording's read begins: the frames that follow were completed by it.
    fn read(&mut self) {}
    /// Something that happened between messages, and the findings that follow from it.
    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<()> {
        let _ = (event, findings);
        Ok(())
    }
    /// A source has ended, with so many bytes read from it.
    fn end(&mut self, source: &str, bytes: u64, pipeline: &mut Pipeline<'_>) -> Result<()>;
    /// Whether the decoder should keep all places from now on.
    fn want(&self) -> Want;
    /// After so long without a byte, [`Show::stalled`] is told.
    fn stall(&self) -> Option<Duration> {
        None
    }
    /// Nothing came for that long.
    fn stalled(&mut self, pipeline: &Pipeline<'_>, silent: Duration) -> Result<()> {
        let _ = (pipeline, silent);
        Ok(())
    }
    /// Once it is set, reading ends as if there were no more.
    fn stop(&self) -> Option<Arc<AtomicBool>> {
        None
    }
    /// Whether it may be told how far reading has come: nothing else is, meanwhile.
    fn progress(&self) -> bool {
        false
    }
    /// Nothing more is wanted.
    fn is_done(&self) -> bool;
}

/// Where bytes come from.
struct Source {
    name: String,
    file: File,
    /// A plain file: reading it never waits.
    plain: bool,
    /// Its bytes, where it is one.
    len: u64,
}

fn open(path: &Path) -> Result<Source> {
    if path == Path::new("-") {
        return stdin();
    }
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
    let meta = file
        .metadata()
        .with_context(|| format!("cannot read {name}"))?;
    anyhow::ensure!(!meta.is_dir(), "cannot read {name}: it is a folder");
    Ok(Source {
        name,
        file,
        plain: meta.is_file(),
        len: meta.len(),
    })
}

fn stdin() -> Result<Source> {
    let fd = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .context("cannot read stdin")?;
    let file = File::from(fd);
    let meta = file.metadata().ok().filter(std::fs::Metadata::is_file);
    Ok(Source {
        name: "stdin".into(),
        file,
        plain: meta.is_some(),
        len: meta.map_or(0, |meta| meta.len()),
    })
}

/// Reads all inputs, in order, and shows what they hold.
pub fn read(args: &Args, options: &Options<'_>, show: &mut dyn Show) -> Result<()> {
    anyhow::ensure!(
        args.c2s.len() == args.s2c.len(),
        "each --c2s needs its --s2c: they make a pair, one a connection"
    );
    if !args.c2s.is_empty() {
        return pairs::pairs(args, options, show);
    }
    let mut paths: Vec<PathBuf> = args.files.clone();
    if paths.is_empty() {
        anyhow::ensure!(
            !std::io::stdin().is_terminal(),
            "no FILE, and stdin is a terminal: name a capture, or pipe one in (--help has examples)"
        );
        paths.push("-".into());
    }
    let mut index = 0;
    // An error in one file is no reason not to read the next; the last one decides the exit status.
    let mut trouble = None;
    let stop = show.stop();
    for (n, path) in paths.iter().enumerate() {
        if show.is_done() || stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed)) {
            break;
        }
        let conn = (paths.len() > 1).then_some(n as u32);
        let (options, dir) = settings().narrowed(options, args.dir, path);
        match open(path) {
            Ok(source) => loop {
                let mut pipeline = pipeline(&options, true, show);
                pipeline.decoder = pipeline.decoder.starting_at(index);
                (pipeline.conn, pipeline.direction) = (conn, dir);
                let left = one(&source, args, &mut pipeline, show)?;
                index = pipeline.decoder.index();
                if left == Left::Done {
                    break;
                }
                (&source.file).rewind()?;
            },
            Err(error) if paths.len() > 1 => {
                if let Some(earlier) = trouble.replace(error) {
                    show.note("", &format!("{earlier:#}"), true);
                }
            }
            Err(error) => return Err(error),
        }
        if show.each_from_zero() {
            index = 0;
        }
    }
    trouble.map_or(Ok(()), Err)
}

/// How reading a source ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Done,
    /// What was read of it is not there any more; what is there now is to be read from its beginning.
    Truncated,
}

/// A pipeline that judges messages where they are to be judged.
fn pipeline<'p>(options: &Options<'p>, ordered: bool, show: &dyn Show) -> Pipeline<'p> {
    let judged = show.judged();
    let conversation = judged.map(|(judge, session_config)| {
        Conversation::new(&options.protocols, &judge, session_config, ordered)
    });
    Pipeline::new(Decoder::new(options.clone()), conversation)
}

fn one(
    source: &Source,
    args: &Args,
    pipeline: &mut Pipeline<'_>,
    show: &mut dyn Show,
) -> Result<Left> {
    let Source {
        name,
        file,
        plain,
        len,
    } = source;
    let (mut file, plain, len) = (file, *plain, *len);
    show.begin(name);
    let told = plain && !args.follow && show.progress();
    let mut progress = Progress::of(len, told);
    let mut input = Input::new(args.from);
    pipeline.is_recording = args.from == Form::Recording;
    let mut feed = Feed {
        doubts: vec![Doubt::new(pipeline.decoder.options())],
        is_recording: pipeline.is_recording,
        show,
        name,
    };
    let mut failed = None;
    let mut buffer = vec![0; READ];
    let mut total = 0;
    let mut truncated = false;
    let (stall, stop) = (feed.show.stall(), feed.show.stop());
    let is_stopped = || stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed));
    // How long a file that is followed has not grown.
    let mut silent = Duration::ZERO;
    loop {
        // A pipe may pause here for as long as it likes: what waits goes out first.
        if !plain && total > 0 && !readable(file, PATIENCE) {
            feed.show.idle()?;
        }
        if let (false, Some(stall)) = (plain, stall)
            && !readable_unless(file, Some(stall), &is_stopped)
            && !is_stopped()
        {
            feed.show.stalled(pipeline, stall)?;
        }
        // A signal ends this wait; it would not end a read.
        let ready = plain || stop.is_none() || readable_unless(file, None, &is_stopped);
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
                let text = "the file was truncated: reading begins anew";
                feed.show.note(name, text, false);
                truncated = true;
                break;
            }
            std::thread::sleep(FOLLOW);
            let before = silent;
            silent += FOLLOW;
            if stall.is_some_and(|stall| before < stall && silent >= stall) {
                feed.show.stalled(pipeline, silent)?;
            }
            continue;
        }
        silent = Duration::ZERO;
        total += n as u64;
        if let Some(progress) = &mut progress {
            progress.at(total);
        }
        input.push(buffer.get(..n).unwrap_or_default(), &mut |item| {
            feed.item(&item, pipeline, &mut failed);
        });
        failed.take().map_or(Ok(()), Err)?;
        if feed.show.is_done() {
            return Ok(Left::Done);
        }
    }
    drop(progress);
    let left = truncated || is_stopped();
    // Of an input that was left before its end, the end is not to be judged.
    input.finish(&mut |item| match item {
        Item::Problem(_) if left => {}
        item => feed.item(&item, pipeline, &mut failed),
    });
    failed.map_or(Ok(()), Err)?;
    pipeline.finish(!left, &mut feed)?;
    let doubt = feed.doubts.remove(0);
    if let Some(text) = doubt.other(&pipeline.decoder) {
        show.note(name, &text, false);
    }
    // What a recording says of directions was not said by the user.
    if args.dir.is_some() && doubt.is_turned_round() {
        show.note(name, "--dir seems to be the wrong way round", false);
    }
    if !input.evidence().is_empty() {
        show.detail(
            name,
            &format!("read as {}: {}", input.form().name(), input.evidence()),
        );
    }
    if input.ignored_lines() > 0 {
        show.detail(
            name,
            &format!("{} lines hold no bytes", input.ignored_lines()),
        );
    }
    show.end(name, total, pipeline)?;
    Ok(if truncated {
        Left::Truncated
    } else {
        Left::Done
    })
}

/// Shows what a pipeline reads.
struct Feed<'f, 'p> {
    /// One for each pair of files, or one.
    doubts: Vec<Doubt<'p>>,
    is_recording: bool,
    show: &'f mut dyn Show,
    name: &'f str,
}

impl<'p> Feed<'_, 'p> {
    fn item(
        &mut self,
        item: &Item<'_>,
        pipeline: &mut Pipeline<'p>,
        failed: &mut Option<anyhow::Error>,
    ) {
        // What comes after all that was asked for is not judged either.
        if failed.is_none() && !self.show.is_done() {
            *failed = pipeline.item(item, self).err();
        }
    }

    fn doubt(&mut self, origin: Origin) -> Option<&mut Doubt<'p>> {
        let pair = match self.doubts.len() {
            1 => 0,
            _ => origin.conn.unwrap_or_default() as usize,
        };
        self.doubts.get_mut(pair)
    }
}

impl Sink for Feed<'_, '_> {
    type Error = anyhow::Error;

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        if let Some(doubt) = self.doubt(decoded.origin) {
            doubt.see(decoded);
        }
        self.show.frame(decoded, verdict)
    }

    fn header(&mut self, header: &Header) {
        self.is_recording = true;
        self.show.header(header);
    }

    fn bytes(&mut self, origin: Origin, bytes: &[u8]) {
        if self.is_recording {
            self.show.read();
        }
        if let Some(doubt) = self.doubt(origin) {
            doubt.push(origin, bytes);
        }
    }

    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<()> {
        self.show.event(event, findings)
    }

    fn problem(&mut self, problem: &Problem) {
        let bad = problem.severity == Severity::Error;
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
