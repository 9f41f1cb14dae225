//! Reads several captures as one conversation on one clock.
//!
//! ```text
//!   a.jsonl --> CaptureInput --> items that wait --.
//!   b.jsonl --> CaptureInput --> items that wait --+-- the earliest --> Run --> Feed
//! ```
//!
//! Of each capture, the items of one read wait at most.

use super::clocks::{self, ClockFile};
use super::feed::Feed;
use super::files::OpenFile;
use super::source::{ReadEnd, end_run};
use super::{Flow, InputState, Inputs, READ_SIZE, Unit, list_units, open, unless_failed};
use crate::capture::{
    CaptureInput, EventKind, Header, Item, KeptItem, Problem, ProblemSeverity, Sources, Time,
};
use crate::cli::options::InputArgs;
use crate::cli::poll::wait_readable_unless;
use crate::conversation::{Run, Source};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, Read as _};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Returns the captures of `--merge`, if there are several.
pub fn merged_sources(args: &InputArgs) -> Result<Option<&'static Sources>> {
    if !args.merge {
        ensure!(
            args.clock.is_empty(),
            "--clock adds to the times of a merged capture: give --merge too"
        );
        return Ok(None);
    }
    let paths = merged_paths(args)?;
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    // Outputs refer to the names until the process ends.
    let sources = (names.len() > 1).then(|| &*Box::leak(Box::new(Sources::new(&names))));
    let short: Vec<&str> = sources.iter().flat_map(|all| all.short_names()).collect();
    for clock in &args.clock {
        ensure!(
            short.contains(&clock.name.as_str()),
            "--clock: no capture is called {}: there are {}",
            clock.name,
            short.join(", ")
        );
    }
    Ok(sources)
}

/// Returns the files of `--merge`.
fn merged_paths(args: &InputArgs) -> Result<Vec<PathBuf>> {
    let paths = list_units(&args.files)?.into_iter().map(|unit| match unit {
        Unit::File(path) => Ok(path),
        Unit::Pair(c2s, _) => Err(without_times(&c2s.display().to_string())),
    });
    paths.collect()
}

fn without_times(name: &str) -> anyhow::Error {
    anyhow!(
        "{name} has no times: --merge puts messages in the order of their times; the files of the two directions of a connection are --c2s FILE --s2c FILE"
    )
}

impl Inputs<'_, '_, '_> {
    /// Reads all files as one conversation.
    pub(super) fn read_merged(&mut self, sources: &'static Sources) -> Result<()> {
        let paths = merged_paths(self.args)?;
        let mut readers = Vec::with_capacity(paths.len());
        for (number, path) in paths.iter().enumerate() {
            let number = u16::try_from(number).context("--merge reads 65536 files at most")?;
            readers.push(MergedFile::new(number, open(path)?, self.args));
        }
        for reader in &mut readers {
            reader.check_times(self.state)?;
            if let Some(header) = reader.header() {
                sources.set_header(reader.number, header);
            }
        }
        self.set_clocks(&mut readers, &paths, sources)?;
        let names = sources.short_names().collect::<Vec<_>>();
        let source = Source {
            name: names.join(" + "),
            merged: Some(sources),
            direction: self.args.dir,
            ..Source::default()
        };
        let (options, rules) = (self.options, self.screen.rules());
        let mut run = Run::of_source(source, None, options.clone(), rules);
        let feed = &mut Feed::new(options, 1, false, self.state, self.screen);
        let read = read_in_order(&mut readers, sources, &mut run, feed);
        match read {
            ControlFlow::Continue(_) => Ok(()),
            ControlFlow::Break(unneeded) => unneeded,
        }
    }
}

impl Inputs<'_, '_, '_> {
    /// Sets the offsets of clocks: those that are given, and those of other hosts.
    fn set_clocks(
        &mut self,
        readers: &mut [MergedFile],
        paths: &[PathBuf],
        sources: &Sources,
    ) -> Result<()> {
        let hosts: Vec<Option<String>> = readers.iter().map(MergedFile::host).collect();
        let files = paths.iter().zip(&hosts).zip(readers.iter());
        let mut clocks: Vec<ClockFile<'_>> = files
            .map(|((path, host), reader)| {
                let (number, name) = (reader.number, sources.short(reader.number));
                let mut given = self.args.clock.iter().filter(|clock| clock.name == name);
                ClockFile {
                    number,
                    path,
                    name,
                    host: host.as_deref(),
                    offset: given.next_back().map(|clock| clock.ns),
                }
            })
            .collect();
        clocks::estimate(&mut clocks, sources, self.args, self.options, self.state)?;
        for (reader, clock) in readers.iter_mut().zip(clocks) {
            reader.offset = clock.offset.unwrap_or_default().into();
        }
        Ok(())
    }
}

/// Passes on the items of all files, the earliest first.
fn read_in_order<'p>(
    readers: &mut [MergedFile],
    sources: &'static Sources,
    run: &mut Run<'p>,
    feed: &mut Feed<'_, 'p, '_>,
) -> Flow<ReadEnd> {
    run.read(&mut &[][..], feed)?;
    let is_plain = readers.iter().all(|reader| reader.file.plain);
    let total = readers.iter().map(|reader| reader.file.len).sum();
    let mut progress = feed.state.progress(total, is_plain);
    loop {
        for reader in readers.iter_mut() {
            unless_failed(reader.fill(feed.state))?;
        }
        if let Some(progress) = &mut progress {
            progress.set_done(readers.iter().map(|reader| reader.read).sum());
        }
        if feed.state.is_stopped() {
            feed.is_cut = true;
            break;
        }
        let waiting = readers.iter_mut().filter(|reader| !reader.items.is_empty());
        let Some(earliest) = waiting.min_by_key(|reader| reader.next_time()) else {
            break;
        };
        let given = earliest.pass_next(sources, run, feed);
        if let ControlFlow::Break(unneeded) = given {
            unless_failed(unneeded)?;
            run.drop_waiting();
            return end_run(run, feed, ReadEnd::Unneeded);
        }
    }
    end_run(run, feed, ReadEnd::Done)
}

/// A capture of several.
struct MergedFile {
    number: u16,
    file: OpenFile,
    input: CaptureInput,
    /// What was read and not passed on.
    items: VecDeque<KeptItem>,
    /// The latest time of what was passed on: within a capture, the order stays as it is, also if times step back.
    last: Option<Time>,
    /// Added to each time.
    offset: Time,
    /// The connections in the conversation.
    conns: HashMap<u32, u32>,
    is_ended: bool,
    /// The number of bytes so far.
    read: u64,
    buffer: Vec<u8>,
}

impl MergedFile {
    fn new(number: u16, file: OpenFile, args: &InputArgs) -> Self {
        Self {
            number,
            file,
            input: CaptureInput::new(args.from).with_packet_options(args.packets.options()),
            items: VecDeque::new(),
            last: None,
            offset: 0,
            conns: HashMap::new(),
            is_ended: false,
            read: 0,
            buffer: vec![0; READ_SIZE],
        }
    }

    /// Reads until items wait, or the file ends.
    fn fill(&mut self, state: &mut InputState) -> Result<()> {
        while self.items.is_empty() && !self.is_ended {
            self.read_bytes(state)?;
        }
        Ok(())
    }

    /// Reads a part of the file.
    fn read_bytes(&mut self, state: &mut InputState) -> Result<()> {
        let file = &self.file;
        // A signal ends this wait; it would not end a read.
        let waits = !file.plain && state.stop.is_some();
        if waits && !wait_readable_unless(&file.file, None, &|| state.is_stopped()) {
            self.is_ended = state.is_stopped();
            return Ok(());
        }
        let n = match (&file.file).read(&mut self.buffer) {
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", file.name));
            }
        };
        let mut problems = Vec::new();
        let mut keep = |item: Item<'_>| match item {
            Item::Problem(problem) => problems.push(problem),
            item => self.items.push_back(KeptItem::of(&item)),
        };
        self.is_ended = n == 0;
        self.read += n as u64;
        if let Some(bytes) = self.buffer.get(..n).filter(|_| n > 0) {
            self.input.push(bytes, &mut keep);
        } else {
            self.input.finish(&mut keep);
        }
        problems
            .iter()
            .try_for_each(|problem| report(problem, &file.name, state))
    }

    /// Reads up to the first bytes, which must have a time.
    fn check_times(&mut self, state: &mut InputState) -> Result<()> {
        let first = |items: &VecDeque<KeptItem>| {
            items.iter().find_map(|item| match item.item() {
                Item::Chunk(chunk) => Some(chunk.time.is_some()),
                _ => None,
            })
        };
        loop {
            match first(&self.items) {
                Some(true) => break,
                Some(false) => bail!(without_times(&self.file.name)),
                None if self.is_ended || state.is_stopped() => break,
                None => self.read_bytes(state)?,
            }
        }
        let (form, evidence) = (self.input.form().name(), self.input.evidence());
        if !evidence.is_empty() {
            state.detail(&self.file.name, &format!("read as {form}: {evidence}"));
        }
        Ok(())
    }

    /// Returns its header, before the first item is passed on.
    fn header(&self) -> Option<&Header> {
        self.items.iter().find_map(|item| match item.item() {
            Item::Header(header) => Some(header),
            _ => None,
        })
    }

    /// Returns the host that its header names.
    fn host(&self) -> Option<String> {
        let host = self.header()?.more.get("host")?;
        Some(host.as_str()?.to_owned())
    }

    /// Returns the time at which the next item is passed on.
    fn next_time(&self) -> Option<Time> {
        let time = self.items.front().and_then(|item| match item.item() {
            Item::Chunk(chunk) => chunk.time,
            Item::Event(event) => event.time,
            _ => None,
        });
        self.last.max(time.map(|time| time + self.offset))
    }

    /// Returns the number of a connection in the conversation.
    fn number_of(&mut self, conn: u32, sources: &Sources, run: &mut Run<'_>) -> u32 {
        let number = self.number;
        *self.conns.entry(conn).or_insert_with(|| {
            let all = sources.add_connection(number);
            run.begin_connection(all);
            all
        })
    }

    /// Passes on the next item.
    fn pass_next<'p>(
        &mut self,
        sources: &Sources,
        run: &mut Run<'p>,
        feed: &mut Feed<'_, 'p, '_>,
    ) -> Flow {
        self.last = self.next_time();
        let Some(kept) = self.items.pop_front() else {
            return Flow::Continue(());
        };
        match kept.item() {
            Item::Header(header) => {
                sources.set_header(self.number, header);
                run.item(&Item::Header(header), feed)
            }
            Item::Chunk(mut chunk) => {
                chunk.conn = self.number_of(chunk.conn, sources, run);
                chunk.time = chunk.time.map(|time| time + self.offset);
                run.item(&Item::Chunk(chunk), feed)
            }
            Item::Event(mut event) => {
                let (conn, what) = (event.conn, event.what);
                if what == EventKind::End {
                    return Flow::Continue(());
                }
                event.conn = self.number_of(conn, sources, run);
                event.time = event.time.map(|time| time + self.offset);
                let pid = event.more.and_then(|more| more.get("pid")?.as_u64());
                if let Some(pid) = pid.filter(|_| what == EventKind::Open) {
                    sources.add_process(event.conn, pid);
                }
                let given = run.item(&Item::Event(event), feed);
                if matches!(what, EventKind::Close | EventKind::Reset) && event.stream.is_none() {
                    self.conns.remove(&conn);
                }
                given
            }
            // These belong to forms without times.
            Item::Gap(_) | Item::Comment(_) | Item::Break(_) | Item::Problem(_) => {
                Flow::Continue(())
            }
        }
    }
}

/// Reports a problem of a file.
fn report(problem: &Problem, name: &str, state: &mut InputState) -> Result<()> {
    if problem.severity == ProblemSeverity::Unreadable {
        bail!("{name}: {problem}");
    }
    state.report(name, problem);
    Ok(())
}
