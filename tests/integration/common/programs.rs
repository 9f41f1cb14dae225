//! The programs around the tested one.

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;
use wiretool::capture::{ChunkSource, Record};

/// The time limit of every wait.
pub const LIMIT: Duration = Duration::from_secs(60);

/// A socket of either kind with a time limit.
pub trait Socket: Read + Write + Send + 'static {
    fn end(&self);
    fn with_time_limits(self) -> Self;
    fn clone_socket(&self) -> Self;
}

macro_rules! socket {
    ($stream:ty) => {
        impl Socket for $stream {
            fn end(&self) {
                match self.shutdown(Shutdown::Write) {
                    // The other side has closed the connection already.
                    Err(error) if error.kind() == ErrorKind::NotConnected => {}
                    ended => ended.unwrap(),
                }
            }
            fn with_time_limits(self) -> Self {
                self.set_read_timeout(Some(LIMIT)).unwrap();
                self.set_write_timeout(Some(LIMIT)).unwrap();
                self
            }
            fn clone_socket(&self) -> Self {
                self.try_clone().unwrap()
            }
        }
    };
}

socket!(TcpStream);
socket!(UnixStream);

/// A proxy or another running command.
pub struct Run {
    child: Child,
    pub stdin: Option<ChildStdin>,
    pub stdout: Receiver<Vec<u8>>,
    pub stderr: Receiver<Vec<u8>>,
}

fn read_in_thread<R: Read + Send + 'static>(from: R) -> Receiver<Vec<u8>> {
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

/// Reads until the end.
pub fn read_all(from: &Receiver<Vec<u8>>) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        match from.recv_timeout(LIMIT) {
            Ok(bytes) => all.extend(bytes),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return all,
            Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&all)),
        }
    }
}

/// Reads until a text appears.
pub fn read_until(from: &Receiver<Vec<u8>>, text: &str) -> String {
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
        Self::from_command(command(args))
    }

    pub fn from_command(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: read_in_thread(child.stdout.take().unwrap()),
            stderr: read_in_thread(child.stderr.take().unwrap()),
            child,
        }
    }

    /// A proxy between a free port and an address; with the port.
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
        let output = read_until(&run.stderr, "connecting to");
        let (_, rest) = output.split_once("tcp://127.0.0.1:").unwrap();
        let port = rest.split(',').next().unwrap().parse().unwrap();
        (run, port)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill(self.child.id(), signal);
    }

    /// Waits for the end. Returns the status and the rest of stdout and stderr.
    pub fn end(mut self) -> (ExitStatus, Vec<u8>, String) {
        drop(self.stdin.take());
        // Both streams end when the process ends.
        let (stdout, stderr) = (read_all(&self.stdout), read_all(&self.stderr));
        let status = self.child.wait().unwrap();
        (
            status,
            stdout,
            String::from_utf8_lossy(&stderr).into_owned(),
        )
    }

    /// [`Run::end`] with the exit code only.
    pub fn code(self) -> Option<i32> {
        let (status, _, output) = self.end();
        eprintln!("{output}");
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

/// Returns `true` if the process exists and is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().unwrap_or_default().chars().next();
    state.is_some_and(|state| state != 'Z')
}

/// The child processes of a process.
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
    let server = spawn(move || serve(listener.accept().unwrap().0.with_time_limits()));
    (address, server)
}

/// The same on a path.
pub fn unix<T: Send + 'static>(
    folder: &std::path::Path,
    serve: impl FnOnce(UnixStream) -> T + Send + 'static,
) -> (String, JoinHandle<T>) {
    let path = folder.join("server.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = spawn(move || serve(listener.accept().unwrap().0.with_time_limits()));
    (format!("unix:{}", path.display()), server)
}

/// A server that returns all bytes on every connection, until the process ends.
pub fn echo_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap().with_time_limits();
            spawn(move || {
                let mut back = stream.clone_socket();
                let _ = std::io::copy(&mut stream, &mut back);
                let _ = back.shutdown(Shutdown::Write);
            });
        }
    });
    address
}

pub fn connect_to_port(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port))
        .unwrap()
        .with_time_limits();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Writes until no more is taken. Returns the number of bytes.
pub fn write_until_full(stream: &mut TcpStream) -> usize {
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

/// Closes a socket with a reset.
pub fn reset(stream: TcpStream) {
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
}

/// Pseudo-random bytes, the same for the same seed.
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
        // Small pieces of a large text would take too long.
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

    /// The bytes of one direction of a connection.
    pub fn bytes(&self, conn: u32, stream: ChunkSource) -> Vec<u8> {
        let chunks = self.0.iter().filter_map(|record| match record {
            Record::Chunk {
                conn: c,
                dir: s,
                bytes,
                ..
            } if (*c, *s) == (conn, stream) => Some(bytes),
            _ => None,
        });
        chunks.flatten().copied().collect()
    }

    /// The events in order, as `open`, `eof c2s`, `close`, ...
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
