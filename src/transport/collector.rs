//! Sends telemetry to a collector of OpenTelemetry: OTLP/HTTP with JSON.
//!
//! ```text
//!   offer --> queue of bounded size --> thread: batches, POST, retries --> /v1/traces, /v1/metrics
//!               full: dropped and counted
//! ```
//!
//! A caller of `offer` never waits for the collector.

use super::address::Address;
use super::listen::runtime;
use super::socket::Socket;
use super::tls::TlsClient;
use crate::escape::escape;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The number of bytes that wait; more are dropped.
const MAX_WAITING: usize = 8 << 20;
/// The size of a request at which it takes no further line.
const MAX_REQUEST: usize = 512 << 10;
/// The time that lines wait for more.
const BATCH_DELAY: Duration = Duration::from_millis(500);
/// The time limit of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The first pause before a retry, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// The time after which a request is given up.
const GIVE_UP: Duration = Duration::from_secs(60);
/// The maximum length of a response.
const MAX_RESPONSE: usize = 64 << 10;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TelemetrySignal {
    Traces,
    Metrics,
}

impl TelemetrySignal {
    const fn path(self) -> &'static str {
        match self {
            Self::Traces => "/v1/traces",
            Self::Metrics => "/v1/metrics",
        }
    }

    /// What a line begins with; `]}` ends it.
    const fn start(self) -> &'static str {
        match self {
            Self::Traces => "{\"resourceSpans\":[",
            Self::Metrics => "{\"resourceMetrics\":[",
        }
    }
}

/// The content of a line, without what surrounds it.
struct Telemetry {
    signal: TelemetrySignal,
    json: Vec<u8>,
    spans: u64,
}

impl Telemetry {
    fn of_line(line: &[u8]) -> Option<Self> {
        let signals = [TelemetrySignal::Traces, TelemetrySignal::Metrics].into_iter();
        let (signal, rest) = signals
            .into_iter()
            .find_map(|signal| Some((signal, line.strip_prefix(signal.start().as_bytes())?)))?;
        // A quote inside of a text is escaped, so this is the key.
        let spans = memchr::memmem::find_iter(rest, b",\"startTimeUnixNano\":").count();
        Some(Self {
            signal,
            json: rest.trim_ascii_end().strip_suffix(b"]}")?.to_vec(),
            spans: if signal == TelemetrySignal::Traces {
                spans as u64
            } else {
                0
            },
        })
    }
}

/// A collector and how it is reached.
pub struct CollectorAddress {
    /// The address.
    pub address: Address,
    /// The path before that of the signal.
    pub path: String,
    /// The TLS configuration, if the address uses TLS.
    pub tls: Option<TlsClient>,
}

/// What happened to spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectorReport {
    /// The number of spans that the collector has accepted.
    pub sent: u64,
    /// The number of those that it did not.
    pub dropped: u64,
    /// The last reason.
    pub problem: Option<String>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Telemetry>,
    bytes: usize,
    /// The spans of the request that is being sent.
    in_flight: u64,
    report: CollectorReport,
    /// Nothing more is offered; waiting spans are sent until this time.
    ends: Option<Instant>,
    is_done: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, within: Duration) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, within);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Sends to a collector.
pub struct Collector(Arc<Shared>);

/// The result of one request.
enum Outcome {
    /// Accepted, apart from some spans.
    Accepted(Rejected),
    /// The same request may succeed later, perhaps after this time.
    Retry(String, Option<Duration>),
    Refused(String),
}

impl Collector {
    /// Starts the thread that sends.
    ///
    /// # Errors
    ///
    /// Fails if no thread can be started.
    pub fn new(to: CollectorAddress) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let mut worker = Worker {
            shared: Arc::clone(&shared),
            to,
            pause: FIRST_PAUSE,
        };
        let runtime = runtime()?;
        std::thread::Builder::new()
            .name("otlp".into())
            .spawn(move || {
                worker.run(&runtime);
                // A pending name lookup is of no use any more.
                runtime.shutdown_background();
            })?;
        Ok(Self(shared))
    }

    /// Takes lines of OTLP JSON. Those that find no space are dropped and counted.
    pub fn offer(&self, lines: &[u8]) {
        for telemetry in lines
            .split(|byte| *byte == b'\n')
            .filter_map(Telemetry::of_line)
        {
            let mut state = self.0.lock();
            if state.bytes + telemetry.json.len() > MAX_WAITING {
                state.report.dropped += telemetry.spans;
                continue;
            }
            state.bytes += telemetry.json.len();
            state.queue.push_back(telemetry);
            self.0.changed.notify_all();
        }
    }

    /// Takes lines, and waits for space. Fails if the collector does not accept them.
    ///
    /// # Errors
    ///
    /// Fails with the reason for which spans were dropped.
    pub fn send(&self, lines: &[u8]) -> Result<(), String> {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let mut state = self.0.lock();
            while state.bytes > MAX_WAITING / 2 && state.report.problem.is_none() {
                state = self.0.wait(state, BATCH_DELAY);
            }
            if let Some(problem) = &state.report.problem {
                return Err(problem.clone());
            }
            drop(state);
            self.offer(line);
        }
        Ok(())
    }

    /// Sends what waits, within a limit, and returns what happened.
    pub fn finish(&self, within: Duration) -> CollectorReport {
        let until = Instant::now() + within;
        let mut state = self.0.lock();
        state.ends = Some(until);
        self.0.changed.notify_all();
        while !state.is_done && Instant::now() < until {
            state = self.0.wait(state, BATCH_DELAY);
        }
        let mut report = state.report.clone();
        let waiting: u64 = state.queue.iter().map(|one| one.spans).sum();
        report.dropped += waiting + state.in_flight;
        if report.dropped > 0 && report.problem.is_none() {
            report.problem = Some("no answer in time".to_owned());
        }
        report
    }
}

struct Worker {
    shared: Arc<Shared>,
    to: CollectorAddress,
    /// The pause before the next retry.
    pause: Duration,
}

impl Worker {
    fn run(&mut self, runtime: &tokio::runtime::Runtime) {
        while let Some((signal, body, spans)) = self.batch() {
            let sent = runtime.block_on(self.send(signal, &body));
            let mut state = self.shared.lock();
            state.in_flight = 0;
            match sent {
                Ok(rejected) => {
                    state.report.sent += spans.saturating_sub(rejected.spans);
                    state.report.dropped += rejected.spans.min(spans);
                    if rejected.spans > 0 {
                        state.report.problem = Some(rejected.why);
                    }
                }
                Err(problem) => {
                    state.report.dropped += spans;
                    state.report.problem = Some(problem);
                }
            }
            self.shared.changed.notify_all();
        }
        self.shared.lock().is_done = true;
        self.shared.changed.notify_all();
    }

    /// Waits for lines; returns the body of a request and the number of its spans.
    fn batch(&self) -> Option<(TelemetrySignal, Vec<u8>, u64)> {
        let mut state = self.shared.lock();
        while state.queue.is_empty() {
            if state.ends.is_some() {
                return None;
            }
            state = self.shared.wait(state, BATCH_DELAY * 20);
        }
        let until = Instant::now() + BATCH_DELAY;
        while state.ends.is_none() && state.bytes < MAX_REQUEST && Instant::now() < until {
            state = self.shared.wait(state, BATCH_DELAY / 5);
        }
        let signal = state.queue.front()?.signal;
        let mut body = signal.start().as_bytes().to_vec();
        let mut spans = 0;
        let start = body.len();
        while body.len() < MAX_REQUEST
            && let Some(next) = state.queue.pop_front()
        {
            if next.signal != signal {
                state.queue.push_front(next);
                break;
            }
            if body.len() > start {
                body.push(b',');
            }
            state.bytes -= next.json.len();
            spans += next.spans;
            body.extend_from_slice(&next.json);
        }
        body.extend_from_slice(b"]}");
        state.in_flight = spans;
        self.shared.changed.notify_all();
        Some((signal, body, spans))
    }

    /// Sends a request, again after failures that may pass.
    async fn send(&mut self, signal: TelemetrySignal, body: &[u8]) -> Result<Rejected, String> {
        let first = Instant::now();
        loop {
            let ends = self.shared.lock().ends;
            let limit = ends.map_or(REQUEST_TIMEOUT, |ends| {
                ends.saturating_duration_since(Instant::now())
                    .min(REQUEST_TIMEOUT)
            });
            let posted = tokio::time::timeout(limit, self.post(signal, body)).await;
            let outcome = match posted {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(error)) => Outcome::Retry(error.to_string(), None),
                Err(_) => Outcome::Retry("no answer in time".to_owned(), None),
            };
            let (problem, after) = match outcome {
                Outcome::Accepted(rejected) => {
                    self.pause = FIRST_PAUSE;
                    return Ok(rejected);
                }
                Outcome::Refused(problem) => return Err(problem),
                Outcome::Retry(problem, after) => (problem, after),
            };
            let pause = after.unwrap_or(self.pause).min(GIVE_UP);
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            if first.elapsed() + pause > GIVE_UP || !self.pause_for(pause) {
                return Err(problem);
            }
        }
    }

    /// Waits before a retry. Returns `false` if there is no time for one.
    fn pause_for(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        let mut state = self.shared.lock();
        loop {
            let now = Instant::now();
            if state.ends.is_some_and(|ends| ends <= until) {
                return false;
            }
            if now >= until {
                return true;
            }
            state = self.shared.wait(state, until - now);
        }
    }

    async fn post(&self, signal: TelemetrySignal, body: &[u8]) -> io::Result<Outcome> {
        let CollectorAddress { address, path, tls } = &self.to;
        let mut socket = Socket::connect(address, tls.as_ref(), None).await?;
        let head = format!(
            "POST {path}{} HTTP/1.1\r\nhost: {}\r\nuser-agent: wiretool/{}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n",
            signal.path(),
            address.host().unwrap_or_else(|| "localhost".to_owned()),
            env!("CARGO_PKG_VERSION"),
            body.len()
        );
        let (mut reader, mut writer) = socket.split();
        // A server may refuse before it has read everything.
        let written = async {
            writer.write_all(head.as_bytes()).await?;
            writer.write_all(body).await?;
            writer.flush().await
        };
        let mut response = Vec::new();
        let read = async {
            let mut buffer = [0; 4096];
            while response.len() < MAX_RESPONSE && !is_complete(&response) {
                match reader.read(&mut buffer).await? {
                    0 => break,
                    n => response.extend_from_slice(buffer.get(..n).unwrap_or_default()),
                }
            }
            io::Result::Ok(())
        };
        let (written, read) = tokio::join!(written, read);
        outcome_of(&response).map_or_else(
            || {
                written.and(read)?;
                Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the answer is not HTTP",
                ))
            },
            Ok,
        )
    }
}

/// Reads head and length of a response: calls `take` with the status, the fields and the body.
fn parse<T>(
    response: &[u8],
    take: impl FnOnce(u16, &[httparse::Header<'_>], &[u8]) -> T,
) -> Option<T> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(len) = head.parse(response).ok()? else {
        return None;
    };
    let body = response.get(len..).unwrap_or_default();
    Some(take(head.code?, head.headers, body))
}

fn field<'a>(fields: &[httparse::Header<'a>], name: &str) -> Option<&'a str> {
    let mut fields = fields.iter();
    let field = fields.find(|field| field.name.eq_ignore_ascii_case(name))?;
    std::str::from_utf8(field.value).ok().map(str::trim)
}

/// Returns `true` if no more of a response is needed.
fn is_complete(response: &[u8]) -> bool {
    let complete = parse(response, |status, fields, body| {
        let len = field(fields, "content-length").and_then(|len| len.parse().ok());
        status >= 300 || status == 204 || len.is_some_and(|len: usize| body.len() >= len)
    });
    complete.unwrap_or_default()
}

fn outcome_of(response: &[u8]) -> Option<Outcome> {
    parse(response, |status, fields, body| match status {
        200..300 => Outcome::Accepted(Rejected::read(body)),
        429 | 502..=504 => {
            let after = field(fields, "retry-after").and_then(pause_of);
            Outcome::Retry(format!("the collector answers {status}"), after)
        }
        _ => Outcome::Refused(format!("the collector answers {status}")),
    })
}

/// Reads Retry-After: seconds, or a date (RFC 9110 section 10.2.3).
fn pause_of(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let now = i64::try_from(super::now() / 1_000_000_000).ok()?;
    let seconds = u64::try_from(date.as_second() - now).unwrap_or_default();
    Some(Duration::from_secs(seconds))
}

/// The spans of a request that the collector does not take.
struct Rejected {
    spans: u64,
    why: String,
}

impl Rejected {
    /// Reads `{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}`.
    fn read(body: &[u8]) -> Self {
        let body = serde_json::from_slice::<serde_json::Value>(body).unwrap_or_default();
        let member = |name: &str| body.get("partialSuccess")?.get(name);
        let spans = member("rejectedSpans");
        let text = spans.and_then(|number| number.as_str()?.parse().ok());
        let why = member("errorMessage").and_then(serde_json::Value::as_str);
        let why =
            why.map(|why| format!(": {}", escape(&why.chars().take(200).collect::<String>())));
        Self {
            spans: text.or_else(|| spans?.as_u64()).unwrap_or_default(),
            why: format!("the collector rejects them{}", why.unwrap_or_default()),
        }
    }
}
