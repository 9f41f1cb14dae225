//! Small handlers and helpers that run them.

pub use crate::common::programs::{LIMIT, Noise, Recording, is_alive, kill};

use crate::capture::Header;
use crate::conversation::tap::TapConfig;
use crate::live::handler::{Command, Ended, Handler};
use crate::protocol::Channel;
use crate::transport::screen::TextScreen;
use crate::transport::{
    Accepting, Address, BoundListener, ListenOutcome, Policy, RecordingFile, Setup, Target,
    TlsClient, call, now,
};
use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use std::time::Duration;

/// An event for a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Begin,
    Opened(u32),
    Received(u32, Vec<u8>),
    Ended(u32, Ended),
    Tick,
    Interrupted,
}

/// A handler that consists of one function.
pub struct FnHandler<F> {
    react: F,
    /// The time of its next tick.
    pub due: Arc<Mutex<Option<i64>>>,
    last: i64,
}

pub fn fn_handler<F: FnMut(Event, &mut Vec<Command>) + Send>(react: F) -> FnHandler<F> {
    FnHandler {
        react,
        due: Arc::default(),
        last: 0,
    }
}

impl<F: FnMut(Event, &mut Vec<Command>) + Send> FnHandler<F> {
    fn event(&mut self, event: Event, at: i64, commands: &mut Vec<Command>) {
        assert!(at >= self.last, "time goes back before {event:?}");
        self.last = at;
        (self.react)(event, commands);
    }
}

impl<F: FnMut(Event, &mut Vec<Command>) + Send> Handler for FnHandler<F> {
    fn begin(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.event(Event::Begin, now, commands);
    }

    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.event(Event::Opened(conn), now, commands);
    }

    fn received(&mut self, channel: Channel, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        let event = Event::Received(channel.conn, bytes.to_vec());
        self.event(event, now, commands);
    }

    fn ended(&mut self, channel: Channel, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        self.event(Event::Ended(channel.conn, how.clone()), now, commands);
    }

    fn due(&self) -> Option<i64> {
        *self.due.lock().unwrap()
    }

    fn tick(&mut self, now: i64, commands: &mut Vec<Command>) {
        assert!(self.due().is_some_and(|due| due <= now), "too early");
        self.event(Event::Tick, now, commands);
    }

    fn interrupted(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.event(Event::Interrupted, now, commands);
    }
}

/// Sends everything back, including the end.
pub fn echo(event: Event, commands: &mut Vec<Command>) {
    match event {
        Event::Received(conn, bytes) => commands.push(Command::Send(conn.into(), bytes)),
        Event::Ended(conn, Ended::Eof) => commands.push(Command::Finish(conn.into())),
        Event::Interrupted => commands.push(Command::Stop),
        _ => {}
    }
}

/// Collects printed messages; with a recording if one is requested.
pub fn setup(recording: Option<&Path>) -> (Setup, Arc<Mutex<Vec<String>>>) {
    let printed = Arc::new(Mutex::new(Vec::new()));
    let messages = Arc::clone(&printed);
    let sink = recording.map(|path| RecordingFile {
        file: File::create(path).unwrap(),
        name: path.display().to_string(),
    });
    let setup = Setup {
        tap: TapConfig {
            header: Header::new(now()),
            record: sink.is_some(),
            decode: None,
            rules: None,
            guard: None,
        },
        recording: sink,
        rotation: None,
        observer: None,
        view: None,
        policy: Policy::Drop,
        print: Arc::new(move |text| messages.lock().unwrap().push(text.to_owned())),
    };
    (setup, printed)
}

/// A screen without a reader.
pub fn discard_text() -> TextScreen {
    Box::new(|_| Ok(()))
}

/// A run that must end within the limit.
pub struct TestRun(Receiver<(io::Result<ListenOutcome>, Vec<String>)>);

impl TestRun {
    fn new(
        recording: Option<&Path>,
        run: impl FnOnce(Setup) -> io::Result<ListenOutcome> + Send + 'static,
    ) -> Self {
        let (setup, printed) = setup(recording);
        let (give, take) = channel();
        spawn(move || {
            let outcome = run(setup);
            let _ = give.send((outcome, std::mem::take(&mut *printed.lock().unwrap())));
        });
        Self(take)
    }

    /// Returns the result of the run and its printed messages.
    pub fn end(self) -> (ListenOutcome, Vec<String>) {
        let (outcome, printed) = self.0.recv_timeout(LIMIT).expect("an end");
        (outcome.unwrap(), printed)
    }
}

/// A server on an address.
pub fn serve(
    listen: &str,
    recording: Option<&Path>,
    options: Accepting,
    mut handler: impl Handler + 'static,
) -> (Address, TestRun) {
    let acceptor = BoundListener::bind(&Address::parse(listen).unwrap()).unwrap();
    let address = acceptor.address().clone();
    let run = TestRun::new(recording, move |setup| {
        acceptor.serve(options, &mut handler, discard_text(), setup)
    });
    (address, run)
}

/// A client.
pub fn client(
    target: Target,
    recording: Option<&Path>,
    handler: impl Handler + 'static,
) -> TestRun {
    client_with_screen(target, recording, discard_text(), handler)
}

/// A client with a screen.
pub fn client_with_screen(
    target: Target,
    recording: Option<&Path>,
    screen: TextScreen,
    mut handler: impl Handler + 'static,
) -> TestRun {
    TestRun::new(recording, move |setup| {
        call(target, &mut handler, screen, setup)
    })
}

pub fn address(to: &Address, tls: Option<TlsClient>) -> Target {
    Target::Address {
        to: to.clone(),
        tls,
        within: Duration::from_secs(10),
    }
}

pub fn accept_once() -> Accepting {
    Accepting {
        once: true,
        ..Accepting::default()
    }
}

/// A socket to an address that a handler serves.
pub fn connect(to: &Address) -> TcpStream {
    let Address::Tcp { port, .. } = to else {
        panic!("{to} is not a port");
    };
    crate::common::programs::connect_to_port(*port)
}

/// A channel for the events of a handler, without its start.
pub fn event_channel() -> (Sender<Event>, Receiver<Event>) {
    channel()
}

pub fn next(event: &Receiver<Event>) -> Event {
    event.recv_timeout(LIMIT).expect("something that is told")
}

/// Returns the events without the last one, which must be the end.
pub fn events(recording: &Recording) -> Vec<String> {
    let mut events = recording.events();
    assert_eq!(events.pop().as_deref(), Some("end"), "after {events:?}");
    events
}

/// A folder, and a path for a recording in it.
pub fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording.jsonl");
    (folder, path)
}
