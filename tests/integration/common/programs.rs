//! Programs around the tested one.

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;
use wiretool::capture::{Record, Stream};

/// Nothing takes so long, on any machine.
pub const LIMIT: Duration = Duration::from_secs(60);

/// A socket of either kind, with a time limit.
pub trait Socket: Read + Write + Send + 'static {
    fn end(&self);
    fn limited(self) -> Self;
    fn twin(&self) -> Self;
}

macro_rules! socket {
    ($stream:ty) => {
        impl Socket for $stream {
            fn end(&self) {
                self.shutdown(Shutdown::Write).unwrap();
            }
            fn limited(self) -> Self {
                self.set_read_timeout(Some(LIMIT)).unwrap();
                self.set_write_timeout(Some(LIMIT)).unwrap();
                self
            }
            fn twin(&self) -> Self {
                self.try_clone().unwrap()
            }
        }
    };
}

socket!(TcpStream);
socket!(UnixStream);

/// A proxy, or anything else that runs.
pub struct Run {
    child: Child,
    pub stdin: Option<ChildStdin>,
    pub stdout: Receiver<Vec<u8>>,
    pub stderr: Receiver<Vec<u8>>,
}

fn pass<R: Read + Send + 'static>(from: R) -> Receiver<Vec<u8>> {
    let (to, received) = channel();
    spawn(move || {
        let mut from = BufReader::with_capacity(64 << 10, from);
        loop {
            let n = match from.fill_buf() {
                Ok([]) | Err(_) => return,
                Ok(bytes) => {
                    let n = bytes.len();
                    if to.send(bytes.to_vec()).is_err() {
                        return;
                    }
                    n
                }
            };
            from.consume(n);
        }
    });
    received
}

/// Everything until the end.
pub fn all(from: &Receiver<Vec<u8>>) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        match from.recv_timeout(LIMIT) {
            Ok(bytes) => all.extend(bytes),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return all,
            Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&all)),
        }
    }
}

/// Until a text has come.
pub fn until(from: &Receiver<Vec<u8>>, text: &str) -> String {
    let mut all = Vec::new();
    while !String::from_utf8_lossy(&all).contains(text) {
        match from.recv_timeout(LIMIT) {
            Ok(bytes) => all.extend(bytes),
            Err(error) => panic!(
                "{error}, no {text:?} in {:?}",
                String::from_utf8_lossy(&all)
            ),
        }
    }
    String::from_utf8(all).unwrap()
}

pub fn command(args: &[&str]) -> Command {
    let mut command = crate::common::wiretool();
    command.args(args);
    command
}

impl Run {
    pub fn new(args: &[&str]) -> Self {
        Self::of(command(args))
    }

    pub fn of(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: pass(child.stdout.take().unwrap()),
            stderr: pass(child.stderr.take().unwrap()),
            child,
        }
    }

    /// A proxy between a free port and an address; and the port.
    pub fn proxy(command: &str, connect: &str, more: &[&str]) -> (Self, u16) {
        let mut args = vec![
            command,
            "--connect",
            connect,
            "--listen",
            "tcp://127.0.0.1:0",
        ];
        args.extend(more);
        let run = Self::new(&args);
        let said = until(&run.stderr, "connecting to");
        let (_, rest) = said.split_once("tcp://127.0.0.1:").unwrap();
        let port = rest.split(',').next().unwrap().parse().unwrap();
        (run, port)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill(self.child.id(), signal);
    }

    /// Waits for its end: status, and what it still said on stdout and stderr.
    pub fn end(mut self) -> (ExitStatus, Vec<u8>, String) {
        drop(self.stdin.take());
        // Both end when it does.
        let (stdout, stderr) = (all(&self.stdout), all(&self.stderr));
        let status = self.child.wait().unwrap();
        (
            status,
            stdout,
            String::from_utf8_lossy(&stderr).into_owned(),
        )
    }

    /// [`Run::end`], with the exit code alone.
    pub fn code(self) -> Option<i32> {
        let (status, _, said) = self.end();
        eprintln!("{said}");
        status.code()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn kill(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Whether there is such a process, zombies apart.
pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().unwrap_or_default().chars().next();
    state.is_some_and(|state| state != 'Z')
}

/// The processes that a process started.
pub fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace()
        .map(|p| p.parse().unwrap())
        .collect()
}

/// A server for one connection.
pub fn tcp<T: Send + 'static>(
    serve: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (String, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let server = spawn(move || serve(listener.accept().unwrap().0.limited()));
    (address, server)
}

/// The same on a path.
pub fn unix<T: Send + 'static>(
    folder: &std::path::Path,
    serve: impl FnOnce(UnixStream) -> T + Send + 'static,
) -> (String, JoinHandle<T>) {
    let path = folder.join("server.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = spawn(move || serve(listener.accept().unwrap().0.limited()));
    (format!("unix:{}", path.display()), server)
}

/// A server that answers every connection with what it sends, until the process ends.
pub fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap().limited();
            spawn(move || {
                let mut back = stream.twin();
                let _ = std::io::copy(&mut stream, &mut back);
                let _ = back.shutdown(Shutdown::Write);
            });
        }
    });
    address
}

pub fn dial(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap().limited();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Writes until nothing is taken any more; says how much was.
pub fn fill(stream: &mut TcpStream) -> usize {
    stream
        .set_write_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    let block = vec![b'x'; 64 << 10];
    let mut sent = 0;
    loop {
        match stream.write(&block) {
            Ok(n) => sent += n,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return sent;
            }
            Err(e) => panic!("{e}"),
        }
        assert!(sent < 1 << 30, "somebody swallows it");
    }
}

/// Closes a socket so that the other side sees a reset.
pub fn reset(stream: TcpStream) {
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
}

/// Bytes that repeat nowhere near, the same for the same seed.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            bytes.extend(self.next().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }
}

/// Sends bytes in pieces of all sizes.
pub fn send(to: &mut dyn Write, bytes: &[u8], seed: u64) {
    let mut noise = Noise::new(seed);
    let mut rest = bytes;
    while !rest.is_empty() {
        let most = [1, 2, 7, 100, 1460, 5000, 70_000, 300_000][noise.next() as usize % 8];
        // Small pieces of much take for ever.
        let least = bytes.len() / 20_000;
        let (piece, after) =
            rest.split_at((noise.next() as usize % most + 1 + least).min(rest.len()));
        to.write_all(piece).unwrap();
        rest = after;
    }
}

pub fn receive(from: &mut dyn Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    bytes
}

/// A recording, line by line.
pub struct Recording(pub Vec<Record>);

impl Recording {
    pub fn read(path: &std::path::Path) -> Self {
        let text = std::fs::read(path).unwrap();
        let lines = text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        Self(lines.map(|line| Record::parse(line).unwrap()).collect())
    }

    /// What went one way over one connection.
    pub fn bytes(&self, conn: u32, stream: Stream) -> Vec<u8> {
        let chunks = self.0.iter().filter_map(|record| match record {
            Record::Chunk {
                conn: c,
                stream: s,
                bytes,
                ..
            } if (*c, *s) == (conn, stream) => Some(bytes),
            _ => None,
        });
        chunks.flatten().copied().collect()
    }

    /// Events in order, as `open`, `eof c2s`, `close`, ...
    pub fn events(&self) -> Vec<String> {
        let events = self.0.iter().filter_map(|record| match record {
            Record::Event(event) => {
                let dir = event.more.get("dir").and_then(|d| d.as_str());
                let dir = dir.map(|d| format!(" {d}")).unwrap_or_default();
                Some(format!("{}{dir}", event.event))
            }
            _ => None,
        });
        events.collect()
    }
}
