//! The programs of a case: stubs, and a client. Each is ended with the case.

use super::suite::StubProgram;
use crate::capture::Time;
use crate::cli::client::nanos;
use crate::cli::interrupt::Stop;
use crate::system::{self, Signal};
use crate::transport::{Program, now};
use anyhow::{Context as _, Result, bail};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Time limit for the start and for the end of a stub.
const STUB_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval at which programs are examined.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The number of lines of stderr that are stored.
const MAX_LINES: usize = 1 << 8;
/// What a stub prints before its address.
const LISTENING: &str = "listening on ";

/// Returns the time after a wait that begins now.
fn after(wait: Duration) -> Time {
    now() + Time::from(nanos(wait))
}

pub struct CaseStub {
    pub name: String,
    /// Its recording.
    pub recording: PathBuf,
    /// Its report, as `wiretool stub --report` writes it.
    report: PathBuf,
    /// What `{NAME}` stands for: one word if it is an address, otherwise a command.
    words: Vec<String>,
    running: Option<(RunningProgram, Receiver<String>)>,
}

impl CaseStub {
    /// Starts a stub if it listens. Its files are in `files`.
    pub fn start(stub: &StubProgram, folder: Option<PathBuf>, files: &Path) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find wiretool itself")?;
        let recording = files.join(format!("{}.jsonl", stub.name));
        let report = files.join(format!("{}.report.json", stub.name));
        let mut words = vec![program.display().to_string(), "stub".to_owned()];
        words.extend(stub.words.iter().cloned());
        for (flag, path) in [("--write", &recording), ("--report", &report)] {
            words.extend([flag.to_owned(), path.display().to_string()]);
        }
        let mut this = Self {
            name: stub.name.clone(),
            recording,
            report,
            words,
            running: None,
        };
        if stub.listens {
            this.listen(folder)?;
        }
        Ok(this)
    }

    fn listen(&mut self, folder: Option<PathBuf>) -> Result<()> {
        let (mut running, stderr) = RunningProgram::start(&Program {
            argv: self.words.iter().map(OsString::from).collect(),
            env: Vec::new(),
            folder,
        })?;
        let lines = lines_of(stderr)?;
        let until = after(STUB_TIMEOUT);
        let mut said = Vec::new();
        let address = loop {
            let left = u64::try_from(until - now()).unwrap_or_default();
            let left = Duration::from_nanos(left);
            match lines.recv_timeout(left) {
                Ok(line) => match line.split_once(LISTENING) {
                    Some((_, address)) => break address.split(',').next().map(str::to_owned),
                    None => said.push(line),
                },
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break None,
            }
        };
        let Some(address) = address else {
            running.end();
            bail!(
                "the stub {} does not listen: {}",
                self.name,
                said.join("\n")
            );
        };
        self.words = vec![address];
        self.running = Some((running, lines));
        Ok(())
    }

    /// Ends the stub. Returns the number of requests that it could not answer.
    pub fn finish(&mut self) -> u64 {
        if let Some((mut running, _)) = self.running.take() {
            running.end();
        }
        let report = std::fs::read(&self.report).unwrap_or_default();
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap_or_default();
        report
            .get("missed")
            .and_then(serde_json::Value::as_u64)
            .unwrap_or_default()
    }
}

/// Replaces `{NAME}`, `{NAME.host}` and `{NAME.port}` in a text.
pub fn filled(text: &str, stubs: &[CaseStub]) -> String {
    let mut text = text.to_owned();
    for stub in stubs {
        let whole = shell_words::join(&stub.words);
        if let [address] = stub.words.as_slice() {
            let (_, place) = address.split_once("://").unwrap_or_default();
            let (host, port) = place.rsplit_once(':').unwrap_or((place, ""));
            text = text.replace(&format!("{{{}.host}}", stub.name), host);
            text = text.replace(&format!("{{{}.port}}", stub.name), port);
            text = text.replace(&format!("{{{}}}", stub.name), address);
        }
        text = text.replace(&format!("{{{}}}", stub.name), &whole);
    }
    text
}

/// Replaces the names of stubs in the words of a command. A word that is only the name of a stub becomes its words.
pub fn filled_words(words: &[String], stubs: &[CaseStub]) -> Vec<String> {
    let mut all = Vec::new();
    for word in words {
        let alone = stubs
            .iter()
            .find(|stub| *word == format!("{{{}}}", stub.name));
        match alone {
            Some(stub) => all.extend(stub.words.iter().cloned()),
            None => all.push(filled(word, stubs)),
        }
    }
    all
}

/// Returns true if a text has the name of a stub.
pub fn names(text: &str, stub: &str) -> bool {
    [format!("{{{stub}}}"), format!("{{{stub}.")]
        .iter()
        .any(|name| text.contains(name))
}

pub enum ClientEnd {
    Exited(i32),
    TimedOut,
    /// The user interrupted wiretool.
    Stopped,
}

/// Runs a client until it ends, with its output in a file.
pub fn run_client(
    program: &Program,
    output: &File,
    within: Duration,
    stop: &Stop,
) -> Result<ClientEnd> {
    let mut running = RunningProgram::spawn(program, |command| {
        command
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?);
        Ok(())
    })?;
    let until = after(within);
    loop {
        if let Some(status) = running.0.try_wait()? {
            return Ok(ClientEnd::Exited(status_code(status)));
        }
        if stop.is_set() {
            return Ok(ClientEnd::Stopped);
        }
        if now() >= until {
            return Ok(ClientEnd::TimedOut);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn status_code(status: std::process::ExitStatus) -> i32 {
    let signal = system::signal_of(status).map(|signal| 128 + signal);
    status.code().or(signal).unwrap_or_default()
}

/// A program in a process group of its own. It is killed with the group when it is dropped.
struct RunningProgram(Child);

impl RunningProgram {
    fn spawn(
        program: &Program,
        outputs: impl FnOnce(&mut Command) -> std::io::Result<()>,
    ) -> Result<Self> {
        #[cfg(windows)]
        system::unsupported::<()>("starts no programs")?;
        let [name, arguments @ ..] = program.argv.as_slice() else {
            bail!("no command");
        };
        let mut command = Command::new(name);
        command
            .args(arguments)
            .envs(program.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        system::lead_group(&mut command);
        if let Some(folder) = &program.folder {
            command.current_dir(folder);
        }
        outputs(&mut command)?;
        let child = command.spawn();
        child
            .map(Self)
            .with_context(|| format!("cannot run {}", name.to_string_lossy()))
    }

    fn start(program: &Program) -> Result<(Self, ChildStderr)> {
        let mut running = Self::spawn(program, |command| {
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            Ok(())
        })?;
        let stderr = running.0.stderr.take().context("no stderr")?;
        Ok((running, stderr))
    }

    /// Asks the program to end, so that its files are complete, and waits for that.
    fn end(&mut self) {
        system::kill_group(self.0.id(), Signal::TERM);
        let until = after(STUB_TIMEOUT);
        while now() < until {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // After a wait, the system may reuse the number.
        if matches!(self.0.try_wait(), Ok(None)) {
            system::kill_group(self.0.id(), Signal::KILL);
            let _ = self.0.wait();
        }
    }
}

/// Reads lines in a thread, so that the program never waits for a reader.
fn lines_of(stderr: ChildStderr) -> Result<Receiver<String>> {
    let (to, lines) = channel();
    let thread = std::thread::Builder::new().name("stub".into());
    let read = move || {
        let mut count = 0;
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            count += 1;
            if count <= MAX_LINES {
                let _ = to.send(line);
            }
        }
    };
    thread.spawn(read).context("cannot read stderr")?;
    Ok(lines)
}
