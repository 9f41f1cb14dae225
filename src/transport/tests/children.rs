//! Children: their pipes, their stderr, and all the ways in which they end.

use super::common::*;
use crate::capture::ChunkSource;
use crate::live::handler::{Command, Ended};
use crate::transport::Target;
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

fn child(script: &str, stderr: &Path) -> Target {
    Target::Child {
        program: ["sh", "-c", script].map(Into::into).to_vec().into(),
        stderr: File::create(stderr).unwrap(),
    }
}

/// Runs a child as connection 1. Returns its events, the recording, and the printed messages.
fn run(
    script: &str,
    mut react: impl FnMut(&Event, &mut Vec<Command>) + Send + 'static,
) -> (Vec<Event>, Recording, Vec<String>, Vec<u8>) {
    let (folder, path) = folder();
    let stderr = folder.path().join("stderr");
    let (tell, event): (_, Receiver<Event>) = event_channel();
    let handler = fn_handler(move |happened: Event, commands: &mut Vec<Command>| {
        if happened == Event::Begin {
            commands.push(Command::Connect(1));
            return;
        }
        react(&happened, commands);
        tell.send(happened).unwrap();
    });
    let (_, printed) = client(child(script, &stderr), Some(&path), handler).end();
    let recording = Recording::read(&path);
    let errors = std::fs::read(&stderr).unwrap();
    (event.iter().collect(), recording, printed, errors)
}

fn received(all: &[Event]) -> Vec<u8> {
    let bytes = all.iter().filter_map(|event| match event {
        Event::Received(1, bytes) => Some(bytes),
        _ => None,
    });
    bytes.flatten().copied().collect()
}

fn ends(all: &[Event]) -> Vec<Ended> {
    let ends = all.iter().filter_map(|event| match event {
        Event::Ended(1, how) => Some(how.clone()),
        _ => None,
    });
    ends.collect()
}

#[test]
fn child_receives_and_sends() {
    for size in [3, 5 << 20] {
        let bytes = Noise::new(2).bytes(size);
        let sends = bytes.clone();
        let (all, recording, printed, errors) = run(
            "echo oops >&2; cat; echo bye >&2",
            move |event, commands| {
                if *event == Event::Opened(1) {
                    commands.push(Command::Send(1.into(), sends.clone()));
                    commands.push(Command::Finish(1.into()));
                }
            },
        );
        assert!(received(&all) == bytes, "{size}");
        assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(0)]);
        assert_eq!(all.first(), Some(&Event::Opened(1)));
        assert_eq!(errors, b"oops\nbye\n");
        assert!(printed.is_empty(), "{printed:?}");
        assert!(recording.bytes(1, ChunkSource::C2s) == bytes);
        assert!(recording.bytes(1, ChunkSource::S2c) == bytes);
        assert_eq!(recording.bytes(1, ChunkSource::Stderr), errors);
        let events = events(&recording);
        assert_eq!(events, ["open", "eof c2s", "eof s2c", "exit"]);
    }
}

#[test]
fn every_child_exit_is_reported() {
    let nothing = |_: &Event, _: &mut Vec<Command>| {};
    let (all, ..) = run("exit 7", nothing);
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(7)]);
    let (all, ..) = run("echo last; kill -TERM $$", nothing);
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(143)]);
    assert_eq!(received(&all), b"last\n");
    // It sends no more, but runs until it is ended.
    let (all, ..) = run("exec >&-; cat; exit 3", |event, commands| {
        if *event == Event::Ended(1, Ended::Eof) {
            commands.push(Command::Close(1));
        }
    });
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(3)]);
    // Output that it writes at its end is received after the order.
    let (all, ..) = run("cat; echo bye", |event, commands| {
        if *event == Event::Opened(1) {
            commands.push(Command::Send(1.into(), b"hi ".to_vec()));
            commands.push(Command::Close(1));
        }
    });
    assert_eq!(received(&all), b"hi bye\n");
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(0)]);
    // Its own child holds the pipe open.
    let since = Instant::now();
    let (all, ..) = run("sleep 50 & echo here", nothing);
    assert_eq!(received(&all), b"here\n");
    assert_eq!(ends(&all), [Ended::Exited(0)]);
    assert!(since.elapsed() < Duration::from_secs(20));
    let (all, recording, ..) = run("cat", |event, commands| {
        if *event == Event::Opened(1) {
            commands.push(Command::Reset(1));
        }
    });
    assert_eq!(ends(&all), [Ended::Exited(137)]);
    assert_eq!(events(&recording).last().unwrap(), "exit");
}

#[test]
fn child_with_closed_stdin_is_read_to_its_end() {
    let (all, recording, printed, _) = run("exec <&-; echo on; echo off", |event, commands| {
        if let Event::Received(..) | Event::Opened(_) = event {
            commands.push(Command::Send(1.into(), vec![0; 1 << 20]));
        }
    });
    assert_eq!(received(&all), b"on\noff\n");
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(0)]);
    assert!(printed.is_empty(), "{printed:?}");
    assert!(events(&recording).contains(&"eof c2s".to_owned()));
}

#[test]
fn child_that_does_not_exit_is_killed() {
    let (all, _, printed, _) = run("trap '' TERM INT; exec sleep 1000", |event, commands| {
        if *event == Event::Opened(1) {
            commands.push(Command::Close(1));
        }
    });
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(137)]);
    assert_eq!(
        printed,
        ["connection 1: the child did not end within 5 s after its stdin was closed: killed"]
    );
}

/// The processes that a child started are killed with it, by an order and at the end of the run.
#[test]
fn killed_child_takes_its_children_with_it() {
    let (folder, _) = folder();
    for (n, order) in [Command::Reset(1), Command::Close(1)]
        .into_iter()
        .enumerate()
    {
        let pipe = folder.path().join(n.to_string());
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        // A surviving process would hold the pipe open.
        let script = format!(
            "exec 9>{}; trap '' TERM; sleep 1000 <&9 & echo here; wait",
            pipe.display()
        );
        let reader = std::thread::spawn(move || std::fs::read(&pipe).unwrap());
        let (all, ..) = run(&script, move |event, commands| {
            if let Event::Received(..) = event {
                commands.push(order.clone());
            }
        });
        assert_eq!(received(&all), b"here\n");
        assert_eq!(ends(&all).last(), Some(&Ended::Exited(137)), "{all:?}");
        let since = Instant::now();
        while !reader.is_finished() {
            assert!(since.elapsed() < Duration::from_secs(10), "an orphan");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn command_that_cannot_run_is_refused() {
    let (folder, _) = folder();
    let (tell, event) = event_channel();
    let handler = fn_handler(
        move |happened: Event, commands: &mut Vec<Command>| match happened {
            Event::Begin => commands.push(Command::Connect(1)),
            other => tell.send(other).unwrap(),
        },
    );
    let target = Target::Child {
        program: vec!["./no-such-program".into()].into(),
        stderr: File::create(folder.path().join("stderr")).unwrap(),
    };
    let (outcome, _) = client(target, None, handler).end();
    assert!(outcome.refused);
    match event.iter().collect::<Vec<_>>().as_slice() {
        [Event::Ended(1, Ended::Refused(why))] => {
            let want = "cannot run ./no-such-program: No such file or directory";
            assert!(why.starts_with(want), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn children_are_separate_connections() {
    const CONNECTIONS: u32 = 8;
    let (folder, path) = folder();
    let stderr = folder.path().join("stderr");
    let handler = fn_handler(|event, commands: &mut Vec<Command>| match event {
        Event::Begin => commands.extend((1..=CONNECTIONS).map(Command::Connect)),
        Event::Opened(conn) => {
            commands.push(Command::Send(conn.into(), vec![b'a' + conn as u8; 1000]));
            commands.push(Command::Close(conn));
        }
        _ => {}
    });
    client(child("cat; pwd >&2", &stderr), Some(&path), handler).end();
    let recording = Recording::read(&path);
    for conn in 1..=CONNECTIONS {
        let want = vec![b'a' + conn as u8; 1000];
        assert_eq!(recording.bytes(conn, ChunkSource::S2c), want);
        assert!(!recording.bytes(conn, ChunkSource::Stderr).is_empty());
    }
}
