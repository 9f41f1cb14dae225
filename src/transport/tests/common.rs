//! Small handlers, and what runs them.

pub use crate::common::programs::{LIMIT, Noise, Recording, kill, lives};

use crate::capture::Header;
use crate::conversation::tap::Settings;
use crate::live::handler::{Command, Ended, Handler};
use crate::transport::screen::Screen;
use crate::transport::{
    Accepting, Address, Bound, Client, Outcome, Policy, Setup, Sink, Target, call, now,
};
use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use std::time::Duration;

/// What a handler is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Begin,
    Opened(u32),
    Received(u32, Vec<u8>),
    Ended(u32, Ended),
    Tick,
    Interrupted,
}

/// A handler that is one function.
pub struct On<F> {
    react: F,
    /// When it wants to be called.
    pub due: Arc<Mutex<Option<i64>>>,
    last: i64,
}

pub fn on<F: FnMut(Told, &mut Vec<Command>) + Send>(react: F) -> On<F> {
    On {
        react,
        due: Arc::default(),
        last: 0,
    }
}

impl<F: FnMut(Told, &mut Vec<Command>) + Send> On<F> {
    fn told(&mut self, told: Told, at: i64, commands: &mut Vec<Command>) {
        assert!(at >= self.last, "time goes back before {told:?}");
        self.last = at;
        (self.react)(told, commands);
    }
}

impl<F: FnMut(Told, &mut Vec<Command>) + Send> Handler for On<F> {
    fn begin(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.told(Told::Begin, now, commands);
    }

    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.told(Told::Opened(conn), now, commands);
    }

    fn received(&mut self, conn: u32, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        self.told(Told::Received(conn, bytes.to_vec()), now, commands);
    }

    fn ended(&mut self, conn: u32, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        self.told(Told::Ended(conn, how.clone()), now, commands);
    }

    fn due(&self) -> Option<i64> {
        *self.due.lock().unwrap()
    }

    fn tick(&mut self, now: i64, commands: &mut Vec<Command>) {
        assert!(self.due().is_some_and(|due| due <= now), "too early");
        self.told(Told::Tick, now, commands);
    }

    fn interrupted(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.told(Told::Interrupted, now, commands);
    }
}

/// Sends everything back, and the end too.
pub fn echo(told: Told, commands: &mut Vec<Command>) {
    match told {
        Told::Received(conn, bytes) => commands.push(Command::Send(conn, bytes)),
        Told::Ended(conn, Ended::Eof) => commands.push(Command::Finish(conn)),
        Told::Interrupted => commands.push(Command::Stop),
        _ => {}
    }
}

/// Whatever is said, with a recording where one is wanted.
pub fn setup(recording: Option<&Path>) -> (Setup, Arc<Mutex<Vec<String>>>) {
    let said = Arc::new(Mutex::new(Vec::new()));
    let says = Arc::clone(&said);
    let sink = recording.map(|path| Sink {
        file: File::create(path).unwrap(),
        name: path.display().to_string(),
    });
    let setup = Setup {
        tap: Settings {
            header: Header::new(now()),
            record: sink.is_some(),
            decode: None,
            judge: None,
            guard: None,
        },
        recording: sink,
        view: None,
        policy: Policy::Drop,
        say: Arc::new(move |text| says.lock().unwrap().push(text.to_owned())),
    };
    (setup, said)
}

/// A screen that nobody looks at.
pub fn dark() -> Screen {
    Box::new(|_| Ok(()))
}

/// A run, which ends within the limit.
pub struct Runs(Receiver<(io::Result<Outcome>, Vec<String>)>);

impl Runs {
    fn new(
        recording: Option<&Path>,
        run: impl FnOnce(Setup) -> io::Result<Outcome> + Send + 'static,
    ) -> Self {
        let (setup, said) = setup(recording);
        let (give, take) = channel();
        spawn(move || {
            let outcome = run(setup);
            let _ = give.send((outcome, std::mem::take(&mut *said.lock().unwrap())));
        });
        Self(take)
    }

    /// How it went, and what it said.
    pub fn end(self) -> (Outcome, Vec<String>) {
        let (outcome, said) = self.0.recv_timeout(LIMIT).expect("an end");
        (outcome.unwrap(), said)
    }
}

/// A server on an address.
pub fn serve(
    listen: &str,
    recording: Option<&Path>,
    options: Accepting,
    mut handler: impl Handler + 'static,
) -> (Address, Runs) {
    let acceptor = Bound::to(&Address::parse(listen).unwrap()).unwrap();
    let address = acceptor.address().clone();
    let runs = Runs::new(recording, move |setup| {
        acceptor.serve(options, &mut handler, dark(), setup)
    });
    (address, runs)
}

/// A client.
pub fn client(target: Target, recording: Option<&Path>, handler: impl Handler + 'static) -> Runs {
    screen_writer(target, recording, dark(), handler)
}

/// A client that shows something.
pub fn screen_writer(
    target: Target,
    recording: Option<&Path>,
    screen: Screen,
    mut handler: impl Handler + 'static,
) -> Runs {
    Runs::new(recording, move |setup| {
        call(target, &mut handler, screen, setup)
    })
}

pub fn address(to: &Address, tls: Option<Client>) -> Target {
    Target::Address {
        to: to.clone(),
        tls,
        within: Duration::from_secs(10),
    }
}

pub fn once() -> Accepting {
    Accepting {
        once: true,
        ..Accepting::default()
    }
}

/// A socket to an address that a handler serves.
pub fn dial(to: &Address) -> TcpStream {
    let Address::Tcp { port, .. } = to else {
        panic!("{to} is no port");
    };
    crate::common::programs::dial(*port)
}

/// A channel for what a handler was told, apart from its beginning.
pub fn telling() -> (Sender<Told>, Receiver<Told>) {
    channel()
}

pub fn next(told: &Receiver<Told>) -> Told {
    told.recv_timeout(LIMIT).expect("something that is told")
}

/// Its events, of which the last must be its end, which is left out.
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
