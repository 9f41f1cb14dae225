//! Children: their pipes, their stderr, and all the ways in which they end.

use super::common::*;
use crate::capture::Stream;
use crate::live::handler::{Command, Ended};
use crate::transport::Target;
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

fn child(script: &str, stderr: &Path) -> Target {
    Target::Child {
        argv: ["sh", "-c", script].map(Into::into).to_vec(),
        stderr: File::create(stderr).unwrap(),
    }
}

/// Runs a child as connection 1; gives what was told, what was recorded, and what was said.
fn run(
    script: &str,
    mut react: impl FnMut(&Told, &mut Vec<Command>) + Send + 'static,
) -> (Vec<Told>, Recording, Vec<String>, Vec<u8>) {
    let (folder, path) = folder();
    let stderr = folder.path().join("stderr");
    let (tell, told): (_, Receiver<Told>) = telling();
    let handler = on(move |happened: Told, commands: &mut Vec<Command>| {
        if happened == Told::Begin {
            commands.push(Command::Connect(1));
            return;
        }
        react(&happened, commands);
        tell.send(happened).unwrap();
    });
    let (_, said) = client(child(script, &stderr), Some(&path), handler).end();
    let recording = Recording::read(&path);
    let errors = std::fs::read(&stderr).unwrap();
    (told.iter().collect(), recording, said, errors)
}

fn received(all: &[Told]) -> Vec<u8> {
    let bytes = all.iter().filter_map(|told| match told {
        Told::Received(1, bytes) => Some(bytes),
        _ => None,
    });
    bytes.flatten().copied().collect()
}

fn ends(all: &[Told]) -> Vec<Ended> {
    let ends = all.iter().filter_map(|told| match told {
        Told::Ended(1, how) => Some(how.clone()),
        _ => None,
    });
    ends.collect()
}

#[test]
fn a_child_hears_and_is_heard() {
    for size in [3, 5 << 20] {
        let bytes = Noise::new(2).bytes(size);
        let sends = bytes.clone();
        let (all, recording, said, errors) =
            run("echo oops >&2; cat; echo bye >&2", move |told, commands| {
                if *told == Told::Opened(1) {
                    commands.push(Command::Send(1, sends.clone()));
                    commands.push(Command::Finish(1));
                }
            });
        assert!(received(&all) == bytes, "{size}");
        assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(0)]);
        assert_eq!(all.first(), Some(&Told::Opened(1)));
        assert_eq!(errors, b"oops\nbye\n");
        assert!(said.is_empty(), "{said:?}");
        assert!(recording.bytes(1, Stream::C2s) == bytes);
        assert!(recording.bytes(1, Stream::S2c) == bytes);
        assert_eq!(recording.bytes(1, Stream::Stderr), errors);
        let events = events(&recording);
        assert_eq!(events, ["open", "eof c2s", "eof s2c", "exit"]);
    }
}

#[test]
fn every_way_in_which_a_child_ends_is_told() {
    let nothing = |_: &Told, _: &mut Vec<Command>| {};
    let (all, ..) = run("exit 7", nothing);
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(7)]);
    let (all, ..) = run("echo last; kill -TERM $$", nothing);
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(143)]);
    assert_eq!(received(&all), b"last\n");
    // It says no more, but lives on until it is told.
    let (all, ..) = run("exec >&-; cat; exit 3", |told, commands| {
        if *told == Told::Ended(1, Ended::Eof) {
            commands.push(Command::Close(1));
        }
    });
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(3)]);
    // What it says at its end is heard after the order.
    let (all, ..) = run("cat; echo bye", |told, commands| {
        if *told == Told::Opened(1) {
            commands.push(Command::Send(1, b"hi ".to_vec()));
            commands.push(Command::Close(1));
        }
    });
    assert_eq!(received(&all), b"hi bye\n");
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(0)]);
    // Its own child keeps the pipe.
    let since = Instant::now();
    let (all, ..) = run("sleep 50 & echo here", nothing);
    assert_eq!(received(&all), b"here\n");
    assert_eq!(ends(&all), [Ended::Exited(0)]);
    assert!(since.elapsed() < Duration::from_secs(20));
    let (all, recording, ..) = run("cat", |told, commands| {
        if *told == Told::Opened(1) {
            commands.push(Command::Reset(1));
        }
    });
    assert_eq!(ends(&all), [Ended::Exited(137)]);
    assert_eq!(events(&recording).last().unwrap(), "exit");
}

#[test]
fn a_child_that_takes_nothing_any_more_is_heard_to_its_end() {
    let (all, recording, said, _) = run("exec <&-; echo on; echo off", |told, commands| {
        if let Told::Received(..) | Told::Opened(_) = told {
            commands.push(Command::Send(1, vec![0; 1 << 20]));
        }
    });
    assert_eq!(received(&all), b"on\noff\n");
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(0)]);
    assert!(said.is_empty(), "{said:?}");
    assert!(events(&recording).contains(&"eof c2s".to_owned()));
}

#[test]
fn a_child_that_does_not_end_is_killed_in_the_end() {
    let (all, _, said, _) = run("trap '' TERM INT; exec sleep 1000", |told, commands| {
        if *told == Told::Opened(1) {
            commands.push(Command::Close(1));
        }
    });
    assert_eq!(ends(&all), [Ended::Eof, Ended::Exited(137)]);
    assert_eq!(
        said,
        ["connection 1: the child did not end within 5 s after its stdin was closed: killed"]
    );
}

/// What a child has started is gone when the child is killed, whether that was ordered or all ends at once.
#[test]
fn a_child_is_killed_with_those_that_it_has_started() {
    let (folder, _) = folder();
    for (n, order) in [Command::Reset(1), Command::Close(1)]
        .into_iter()
        .enumerate()
    {
        let pipe = folder.path().join(n.to_string());
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        // Whoever lives holds the pipe open.
        let script = format!(
            "exec 9>{}; trap '' TERM; sleep 1000 <&9 & echo here; wait",
            pipe.display()
        );
        let reader = std::thread::spawn(move || std::fs::read(&pipe).unwrap());
        let (all, ..) = run(&script, move |told, commands| {
            if let Told::Received(..) = told {
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
fn what_cannot_be_run_is_refused() {
    let (folder, _) = folder();
    let (tell, told) = telling();
    let handler = on(
        move |happened: Told, commands: &mut Vec<Command>| match happened {
            Told::Begin => commands.push(Command::Connect(1)),
            other => tell.send(other).unwrap(),
        },
    );
    let target = Target::Child {
        argv: vec!["./no-such-program".into()],
        stderr: File::create(folder.path().join("stderr")).unwrap(),
    };
    let (outcome, _) = client(target, None, handler).end();
    assert!(outcome.refused);
    match told.iter().collect::<Vec<_>>().as_slice() {
        [Told::Ended(1, Ended::Refused(why))] => {
            let want = "cannot run ./no-such-program: No such file or directory";
            assert!(why.starts_with(want), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn several_children_are_kept_apart() {
    const MANY: u32 = 8;
    let (folder, path) = folder();
    let stderr = folder.path().join("stderr");
    let handler = on(|told, commands: &mut Vec<Command>| match told {
        Told::Begin => commands.extend((1..=MANY).map(Command::Connect)),
        Told::Opened(conn) => {
            commands.push(Command::Send(conn, vec![b'a' + conn as u8; 1000]));
            commands.push(Command::Close(conn));
        }
        _ => {}
    });
    client(child("cat; pwd >&2", &stderr), Some(&path), handler).end();
    let recording = Recording::read(&path);
    for conn in 1..=MANY {
        let want = vec![b'a' + conn as u8; 1000];
        assert_eq!(recording.bytes(conn, Stream::S2c), want);
        assert!(!recording.bytes(conn, Stream::Stderr).is_empty());
    }
}
