//! Files, pipes and pairs of one-way files, read into a decoder.

mod doubt;
mod guess;
mod pairs;
mod ready;

use super::config::settings;
use super::options::Input as Args;
use super::progress::Progress;
use crate::capture::recording::Header;
use crate::capture::{Event, Form, Input, Item, Problem, Severity, What};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::protocol::Direction;
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
    /// A frame.
    fn frame(&mut self, decoded: &Decoded<'_>) -> Result<()>;
    /// All that was read so far was told; more may take its time. What waits should go out.
    fn idle(&mut self) -> Result<()>;
    /// Something that is no frame and worth a line on stderr; `bad` where part of the input could not be used.
    fn note(&mut self, source: &str, text: &str, bad: bool);
    /// Something for those who want to know how it was read.
    fn detail(&mut self, source: &str, text: &str);
    /// A source begins; `ordered`: whether it says which of two messages of different directions came first.
    fn begin(&mut self, source: &str, ordered: bool);
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
    /// Something that happened between messages.
    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        let _ = event;
        Ok(())
    }
    /// A source has ended, with so many bytes read from it.
    fn end(&mut self, source: &str, bytes: u64, decoder: &Decoder<'_>) -> Result<()>;
    /// Whether the decoder should keep all places from now on.
    fn want(&self) -> crate::encoding::Want;
    /// After so long without a byte, [`Show::stalled`] is told.
    fn stall(&self) -> Option<Duration> {
        None
    }
    /// Nothing came for that long.
    fn stalled(&mut self, decoder: &Decoder<'_>, silent: Duration) -> Result<()> {
        let _ = (decoder, silent);
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
        let mut decoder = Decoder::new(options.clone()).starting_at(index);
        match open(path) {
            Ok(source) => {
                while one(&source, conn, args, dir, &mut decoder, show)? == Left::Truncated {
                    (&source.file).rewind()?;
                    decoder = Decoder::new(options.clone()).starting_at(decoder.index());
                }
            }
            Err(error) if paths.len() > 1 => {
                if let Some(earlier) = trouble.replace(error) {
                    show.note("", &format!("{earlier:#}"), true);
                }
            }
            Err(error) => return Err(error),
        }
        index = if show.each_from_zero() {
            0
        } else {
            decoder.index()
        };
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

fn one(
    source: &Source,
    conn: Option<u32>,
    args: &Args,
    dir: Option<Direction>,
    decoder: &mut Decoder<'_>,
    show: &mut dyn Show,
) -> Result<Left> {
    let Source {
        name,
        file,
        plain,
        len,
    } = source;
    let (mut file, plain, len) = (file, *plain, *len);
    show.begin(name, true);
    let doubt = Doubt::new(decoder.options());
    let told = plain && !args.follow && show.progress();
    let mut progress = Progress::of(len, told);
    let mut input = Input::new(args.from);
    let mut feed = Feed {
        decoder,
        doubt,
        show,
        name,
        conn,
        dir,
        recording: args.from == Form::Recording,
        lost: None,
        failed: None,
    };
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
            feed.show.stalled(feed.decoder, stall)?;
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
                feed.show.stalled(feed.decoder, silent)?;
            }
            continue;
        }
        silent = Duration::ZERO;
        total += n as u64;
        if let Some(progress) = &mut progress {
            progress.at(total);
        }
        input.push(buffer.get(..n).unwrap_or_default(), &mut |item| {
            feed.item(item);
        });
        if let Some(error) = feed.failed.take() {
            return Err(error);
        }
        if feed.show.is_done() {
            return Ok(Left::Done);
        }
    }
    drop(progress);
    let left = truncated || is_stopped();
    // Of an input that was left before its end, the end is not to be judged.
    input.finish(&mut |item| match item {
        Item::Problem(_) if left => {}
        item => feed.item(item),
    });
    feed.frames(|decoder, sink| {
        decoder.finish(&mut |decoded| {
            if !(left && decoded.is_faulty()) {
                sink(decoded);
            }
        });
    });
    if let Some(error) = feed.failed.take() {
        return Err(error);
    }
    let Feed { doubt, .. } = feed;
    if let Some(text) = doubt.other(decoder) {
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
    show.end(name, total, decoder)?;
    Ok(if truncated {
        Left::Truncated
    } else {
        Left::Done
    })
}

/// What stands between an input and the decoder.
struct Feed<'f, 'p> {
    decoder: &'f mut Decoder<'p>,
    doubt: Doubt<'p>,
    show: &'f mut dyn Show,
    name: &'f str,
    conn: Option<u32>,
    dir: Option<Direction>,
    recording: bool,
    /// The connection of which it was last said that bytes are missing.
    lost: Option<u32>,
    failed: Option<anyhow::Error>,
}

impl<'p> Feed<'_, 'p> {
    #[allow(clippy::needless_pass_by_value)] // as inputs hand items out
    fn item(&mut self, item: Item<'_>) {
        // What comes after all that was asked for is not judged either.
        if self.show.is_done() {
            return;
        }
        match item {
            Item::Header(header) => {
                self.recording = true;
                if let Some(protocol) = &header.protocol {
                    self.decoder.expect(protocol);
                }
                self.show.header(header);
            }
            Item::Chunk(chunk) => {
                if self.recording {
                    self.show.read();
                }
                let origin = Origin {
                    conn: if self.recording {
                        Some(chunk.conn)
                    } else {
                        self.conn
                    },
                    direction: chunk.direction.or(self.dir),
                    time: chunk.time.and_then(|t| i64::try_from(t).ok()),
                };
                self.doubt.push(origin, chunk.bytes);
                self.frames(|decoder, sink| decoder.push(origin, chunk.bytes, sink));
            }
            Item::Comment(comment) => {
                let Some(beside) = comment.beside() else {
                    return;
                };
                let origin = Origin {
                    conn: self.conn,
                    direction: comment.direction.or(self.dir),
                    time: None,
                };
                self.decoder.beside(origin, beside);
            }
            Item::Gap(gap) => {
                let text = format!("bytes {} to {} of the dump are missing", gap.from, gap.to);
                self.show.note(self.name, &text, false);
                let origin = Origin {
                    conn: self.conn,
                    direction: gap.direction.or(self.dir),
                    time: None,
                };
                let len = gap.to.saturating_sub(gap.from);
                self.frames(|decoder, sink| decoder.gap(origin, len, sink));
            }
            Item::Event(event) => {
                if event.what == What::Lost && self.lost.replace(event.conn) != Some(event.conn) {
                    let text = format!("conn {}: bytes went by unrecorded", event.conn);
                    self.show.note(self.name, &text, false);
                }
                if let Some((origin, len)) = event.lost() {
                    self.frames(|decoder, sink| decoder.gap(origin, len, sink));
                }
                if let Some((origin, beside)) = event.fault() {
                    self.decoder.beside(origin, beside);
                }
                if let Some(origin) = event.end() {
                    self.frames(|decoder, sink| decoder.end(origin, sink));
                }
                if self.failed.is_none() {
                    self.failed = self.show.event(&event).err();
                }
            }
            Item::Problem(Problem { severity, .. }) => {
                if let Item::Problem(problem) = &item {
                    self.show
                        .note(self.name, &problem.to_string(), severity == Severity::Error);
                }
            }
            Item::Break(_) => {}
        }
    }

    fn frames(&mut self, run: impl FnOnce(&mut Decoder<'p>, &mut dyn FnMut(&Decoded<'_>))) {
        let (show, failed, doubt) = (&mut *self.show, &mut self.failed, &mut self.doubt);
        run(self.decoder, &mut |decoded| {
            doubt.see(decoded);
            if failed.is_none()
                && !show.is_done()
                && let Err(error) = show.frame(decoded)
            {
                *failed = Some(error);
            }
        });
        self.decoder.set_want(self.show.want());
    }
}
