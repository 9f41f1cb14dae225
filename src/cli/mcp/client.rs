//! The client on stdin and stdout. While a call runs, it is told how far the call is, and can cancel it.
//!
//! ```text
//!   stdin --> thread --> Client --> next line --> Server --> answers --> stdout
//!                          '------> a call that runs: progress --> stdout, cancellation --> Stop
//! ```

use crate::capture::Time;
use crate::cli::interrupt::Stop;
use crate::cli::print_message;
use crate::framing::Limits;
use crate::transport::now;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead as _, Read as _, Write as _};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The least time between two notifications of progress, in nanoseconds.
const INTERVAL: Time = 250_000_000;
/// The number of lines that wait for the end of a call.
const MAX_WAITING: usize = 64;
/// The number of their bytes from which on no more are read.
const MAX_WAITING_BYTES: usize = 1 << 20;

type Line = std::io::Result<Vec<u8>>;

pub struct Client {
    stdin: Receiver<Line>,
    /// Lines that came during a call.
    waiting: VecDeque<Line>,
    /// The requests that waiting lines cancel.
    cancelled: Vec<Value>,
    call: Option<Call>,
}

/// A call that runs.
struct Call {
    id: Value,
    /// The token of progress, if the client asks for that.
    token: Option<Value>,
    /// The time of the next notification.
    next: Time,
    /// Set if it is cancelled, or if nobody reads its answer.
    stop: Stop,
}

impl Client {
    /// Begins to read stdin.
    pub fn new() -> Result<Self> {
        let (to, stdin) = sync_channel(1);
        let thread = std::thread::Builder::new().spawn(move || read_lines(&to));
        thread.context("cannot start a thread")?;
        Ok(Self {
            stdin,
            waiting: VecDeque::new(),
            cancelled: Vec::new(),
            call: None,
        })
    }

    /// Waits for a line; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let line = self.waiting.pop_front();
        if line.is_none() {
            self.cancelled.clear();
        }
        let line = line.or_else(|| self.stdin.recv().ok());
        line.transpose().context("cannot read stdin")
    }

    /// Writes a message.
    pub fn write(message: &str) -> Result<()> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(format!("{message}\n").as_bytes());
        let written = written.and_then(|()| stdout.flush());
        written.context("cannot write stdout")
    }

    /// Begins a call, and returns what ends it early.
    pub fn begin(&mut self, request: &Value) -> Stop {
        let token = request.pointer("/params/_meta/progressToken");
        let call = Call {
            id: request["id"].clone(),
            token: token.cloned(),
            next: now(),
            stop: Stop::default(),
        };
        let stop = call.stop.clone();
        self.call = Some(call);
        self.look_for_cancellation();
        stop
    }

    /// Tells the client that a call has done this part of its work. A `total` of 0 is not known.
    pub fn tell_progress(&mut self, done: u64, total: u64) {
        self.look_for_cancellation();
        let Some(call) = self.call.as_mut().filter(|call| call.next <= now()) else {
            return;
        };
        call.next = now() + INTERVAL;
        let Some(token) = &call.token else {
            return;
        };
        let mut params = json!({ "progressToken": token, "progress": done });
        if total > 0 {
            params["total"] = total.into();
        }
        let method = "notifications/progress";
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        let stop = call.stop.clone();
        if Self::write(&message.to_string()).is_err() {
            stop.set();
        }
    }

    /// Ends the call. Returns true if it was cancelled: then it has no answer.
    pub fn end(&mut self) -> bool {
        self.look_for_cancellation();
        self.call.take().is_some_and(|call| call.stop.is_set())
    }

    /// Reads the lines that have come, as far as they can wait.
    pub fn look_for_cancellation(&mut self) {
        let bytes = |line: &Line| line.as_ref().map_or(0, Vec::len);
        while self.waiting.len() < MAX_WAITING
            && self.waiting.iter().map(bytes).sum::<usize>() < MAX_WAITING_BYTES
            && let Ok(line) = self.stdin.try_recv()
        {
            let id = line.as_ref().ok().and_then(|line| cancelled_by(line));
            self.cancelled.extend(id);
            self.waiting.push_back(line);
        }
        if let Some(call) = &self.call
            && self.cancelled.contains(&call.id)
        {
            call.stop.set();
        }
    }
}

/// Returns the id of the request that a message cancels.
fn cancelled_by(line: &[u8]) -> Option<Value> {
    memchr::memmem::find(line, b"notifications/cancelled")?;
    let mut message: Value = serde_json::from_slice(line).ok()?;
    let is_one = message["method"] == "notifications/cancelled";
    is_one.then(|| message["params"]["requestId"].take())
}

/// Passes on the lines of stdin, until its end or an error.
fn read_lines(to: &SyncSender<Line>) {
    let (mut stdin, mut is_open) = (std::io::stdin().lock(), true);
    while is_open {
        let line = read_line(&mut stdin).transpose();
        is_open = matches!(line, Some(Ok(_)));
        if line.is_some_and(|line| to.send(line).is_err()) {
            break;
        }
    }
}

/// Reads a line, an empty one for one that is too long; `None` at the end.
fn read_line(input: &mut impl std::io::BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let most = u64::from(Limits::default().message) + 1;
    let n = input.by_ref().take(most).read_until(b'\n', &mut line)?;
    if n as u64 == most && !line.ends_with(b"\n") {
        print_message("a line on stdin is too long: it has no answer");
        line.clear();
        input.skip_until(b'\n')?;
    }
    Ok((n > 0).then_some(line))
}
