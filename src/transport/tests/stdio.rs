//! Handlers in separate processes: one that serves on its stdin and stdout, and some that get signals.
//!
//! Each process is this test program; one of its tests does the work.

use super::common::*;
use crate::capture::ChunkSource;
use crate::live::handler::{Command, Ended};
use crate::transport::{Accepting, Address, BoundListener, Target, call, serve_stdio};
use rustix::process::Signal;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Instant;

const ROLE: &str = "WIRETOOL_TEST_ROLE";

/// The output before this line comes from the test harness.
const MARK: &str = "<<ready>>\n";

struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Program {
    fn start(role: &str, recording: &Path) -> Self {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "transport::tests::stdio::runs_as_program",
                "--nocapture",
            ])
            .env(ROLE, role)
            .env("WIRETOOL_TEST_RECORDING", recording)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.ends_with(MARK) {
            line.clear();
            assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "no beginning");
        }
        Self {
            child,
            stdin,
            stdout,
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn expect(&mut self, want: &str) {
        let mut got = vec![0; want.len()];
        self.stdout.read_exact(&mut got).unwrap();
        assert_eq!(String::from_utf8_lossy(&got), want);
    }

    fn signal(&self, signal: Signal) {
        kill(self.child.id(), signal);
    }

    /// Returns the exit code and the rest of the output.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_output(fd: std::os::fd::BorrowedFd<'_>) -> File {
    File::from(fd.try_clone_to_owned().unwrap())
}

/// Does nothing unless the environment variable is set.
#[test]
fn runs_as_program() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let recording = std::env::var_os("WIRETOOL_TEST_RECORDING").unwrap();
    let (setup, _) = setup(Some(recording.as_ref()));
    let (stdin, stdout) = (
        read_output(std::io::stdin().as_fd()),
        read_output(std::io::stdout().as_fd()),
    );
    let nothing = File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .unwrap();
    rustix::stdio::dup2_stdin(&nothing).unwrap();
    rustix::stdio::dup2_stdout(&nothing).unwrap();
    let mut shown = stdout.try_clone().unwrap();
    let screen = Box::new(move |text: &str| shown.write_all(text.as_bytes()));
    let outcome = match role.as_str() {
        "stdio" => {
            let mut broken = false;
            let mut handler = fn_handler(|event, commands: &mut Vec<Command>| match event {
                Event::Opened(conn) => commands.push(Command::Send(conn.into(), MARK.into())),
                Event::Ended(_, Ended::Reset) => broken = true,
                Event::Received(conn, bytes) if bytes == b"half\n" => {
                    commands.push(Command::Send(conn.into(), b"ha".to_vec()));
                    commands.push(Command::Reset(conn));
                }
                Event::Received(_, bytes) if bytes == b"stop\n" => {
                    commands.push(Command::Send(1.into(), b"stopped\n".to_vec()));
                    commands.push(Command::Stop);
                    commands.push(Command::Send(1.into(), b"never\n".to_vec()));
                }
                other => echo(other, commands),
            });
            let outcome = serve_stdio(stdin, stdout, &mut handler, discard_text(), setup);
            drop(handler);
            if broken {
                std::process::exit(9);
            }
            outcome
        }
        // Counts interrupts but does not stop.
        "stubborn" | "polite" => {
            let polite = role == "polite";
            let mut handler = fn_handler(|event, commands: &mut Vec<Command>| match event {
                Event::Begin => commands.push(Command::Print(MARK.into())),
                Event::Interrupted => {
                    commands.push(Command::Print("interrupted\n".into()));
                    if polite {
                        commands.push(Command::Stop);
                    }
                }
                _ => {}
            });
            let listen = Address::parse("tcp://127.0.0.1:0").unwrap();
            let acceptor = BoundListener::bind(&listen).unwrap();
            acceptor.serve(Accepting::default(), &mut handler, screen, setup)
        }
        // Shows more text than anybody reads.
        "loud" => {
            let mark = Path::new(&recording).with_extension("interrupted");
            let mut handler = fn_handler(move |event, commands: &mut Vec<Command>| match event {
                Event::Begin => {
                    commands.push(Command::Print(MARK.into()));
                    commands.push(Command::Print("x".repeat(4 << 20)));
                }
                Event::Interrupted => {
                    File::create(&mark).unwrap();
                    commands.push(Command::Stop);
                }
                _ => {}
            });
            let listen = Address::parse("tcp://127.0.0.1:0").unwrap();
            let acceptor = BoundListener::bind(&listen).unwrap();
            acceptor.serve(Accepting::default(), &mut handler, screen, setup)
        }
        // With a child that ignores signals.
        "parent" => {
            let mut handler = fn_handler(|event, commands: &mut Vec<Command>| match event {
                Event::Begin => commands.push(Command::Connect(1)),
                Event::Received(..) => commands.push(Command::Print(MARK.into())),
                Event::Interrupted => commands.push(Command::Print("interrupted\n".into())),
                _ => {}
            });
            let script = "trap '' HUP INT TERM USR1; echo here; exec sleep 1000";
            let target = Target::Child {
                program: ["sh", "-c", script].map(Into::into).to_vec().into(),
                stderr: nothing,
            };
            call(target, &mut handler, screen, setup)
        }
        other => panic!("{other}"),
    };
    let signal = outcome.unwrap().signal;
    std::process::exit(signal.map_or(0, |signal| 128 + signal));
}

#[test]
fn parent_process_is_served_until_end_of_stdin() {
    let (_folder, path) = folder();
    let mut program = Program::start("stdio", &path);
    for n in 0..100 {
        let line = format!("line {n}\n");
        program.send(line.as_bytes());
        program.expect(&line);
    }
    let (code, rest) = program.end();
    assert_eq!((code, &*rest), (Some(0), ""));
    let recording = Recording::read(&path);
    let want = (0..100).map(|n| format!("line {n}\n"));
    let want = want.collect::<Vec<_>>().concat();
    assert_eq!(recording.bytes(1, ChunkSource::C2s), want.as_bytes());
    let answers = recording.bytes(1, ChunkSource::S2c);
    assert_eq!(answers, format!("{MARK}{want}").as_bytes());
    assert_eq!(events(&recording), ["open", "eof c2s", "eof s2c", "close"]);
}

#[test]
fn kill_after_answer_loses_nothing() {
    let (_folder, path) = folder();
    for n in 0..20 {
        let mut program = Program::start("stdio", &path);
        let line = format!("line {n}\n");
        program.send(line.as_bytes());
        program.expect(&line);
        program.signal(Signal::KILL);
        let mut rest = String::new();
        program.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert_eq!(program.child.wait().unwrap().signal(), Some(9));
        let recording = Recording::read(&path);
        assert_eq!(recording.bytes(1, ChunkSource::C2s), line.as_bytes());
        let answers = recording.bytes(1, ChunkSource::S2c);
        assert_eq!(answers, format!("{MARK}{line}").as_bytes());
    }
}

#[test]
fn reset_follows_sent_bytes_and_nothing_follows_stop() {
    let (_folder, path) = folder();
    let mut program = Program::start("stdio", &path);
    program.send(b"stop\n");
    program.expect("stopped\n");
    let (code, rest) = program.end();
    assert_eq!((code, &*rest), (Some(0), ""));
    let ends = events(&Recording::read(&path));
    assert_eq!(ends.last().map(String::as_str), Some("close"));

    let mut program = Program::start("stdio", &path);
    program.send(b"half\n");
    program.expect("ha");
    // A reset by the handler is reported like any other reset.
    let (code, rest) = program.end();
    assert_eq!((code, &*rest), (Some(9), ""));
    let events = events(&Recording::read(&path));
    assert!(events.contains(&"reset".to_owned()), "{events:?}");
}

#[test]
fn closed_stdout_is_a_reset() {
    let (_folder, path) = folder();
    let mut program = Program::start("stdio", &path);
    let Program { stdout, .. } = &mut program;
    let nothing = std::process::Command::new("true")
        .stdout(Stdio::piped())
        .spawn();
    let mut nothing = nothing.unwrap();
    *stdout = BufReader::new(nothing.stdout.take().unwrap());
    nothing.wait().unwrap();
    program.send(b"anybody?\n");
    assert_eq!(program.child.wait().unwrap().code(), Some(9));
    let events = events(&Recording::read(&path));
    assert_eq!(events.last().map(String::as_str), Some("reset c2s"));
}

#[test]
fn second_signal_ends_the_run() {
    let (_folder, path) = folder();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let program = Program::start("polite", &path);
        program.signal(signal);
        let (got, rest) = program.end();
        assert_eq!((got, &*rest), (Some(code), "interrupted\n"));

        let mut program = Program::start("stubborn", &path);
        program.signal(signal);
        program.expect("interrupted\n");
        assert!(is_alive(program.child.id()));
        program.signal(signal);
        assert_eq!(program.child.wait().unwrap().code(), Some(code));
        assert_eq!(
            Recording::read(&path).0.len(),
            2,
            "the recording has its end"
        );
    }
}

#[test]
fn blocked_screen_does_not_delay_second_signal() {
    let (_folder, path) = folder();
    let mut program = Program::start("loud", &path);
    program.signal(Signal::INT);
    let (mark, since) = (path.with_extension("interrupted"), Instant::now());
    while !mark.exists() {
        assert!(since.elapsed() < LIMIT, "the first signal is not told");
        std::thread::yield_now();
    }
    program.signal(Signal::INT);
    assert_eq!(program.child.wait().unwrap().code(), Some(130));
}

#[test]
fn no_child_outlives_the_run() {
    let (_folder, path) = folder();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::USR1] {
        let mut program = Program::start("parent", &path);
        let [child] = children_of(program.child.id()).try_into().unwrap();
        program.signal(signal);
        program.expect("interrupted\n");
        program.signal(signal);
        let code = program.child.wait().unwrap().code();
        assert_eq!(code, Some(128 + signal.as_raw()));
        assert!(!is_alive(child));
        let events = events(&Recording::read(&path));
        assert_eq!(events.last().map(String::as_str), Some("exit"));
    }
}

/// The child processes of all threads of a process.
fn children_of(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let lists = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("children")));
    let all = lists.map(Result::unwrap).collect::<String>();
    all.split_whitespace().map(|p| p.parse().unwrap()).collect()
}
