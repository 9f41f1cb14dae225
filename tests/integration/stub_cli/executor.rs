//! An executor that follows the real one step by step: the first byte, `ready`, one line per answer, ids equal to those
//! of the request, and SIGKILL directly after `shutdown`.

use crate::common;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The real executor waits forever.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The result of reading the stdout of a child.
enum ReadResult {
    First(Option<u8>),
    Line(String),
}

/// An executor and the oracle that it started.
pub struct Executor {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<ReadResult>,
    next: u64,
    pub patience: Duration,
}

impl Executor {
    /// Starts an oracle and completes the handshake, or returns the real executor's error message.
    pub fn connect(args: &[&str]) -> Result<Self, String> {
        let mut this = Self::spawn(args);
        match this.handshake() {
            Ok(()) => Ok(this),
            Err(why) => Err(why),
        }
    }

    /// Starts an oracle and does not read yet.
    pub fn spawn(args: &[&str]) -> Self {
        let mut child = common::wiretool()
            .arg("stub")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (reported, lines) = channel();
        std::thread::spawn(move || {
            let mut first = [0];
            let got = stdout.read(&mut first).unwrap_or(0) > 0;
            let _ = reported.send(ReadResult::First(got.then_some(first[0])));
            let mut line = if got { first.to_vec() } else { Vec::new() };
            while stdout.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) || !line.is_empty() {
                let text = String::from_utf8_lossy(&line).into_owned();
                line.clear();
                if reported.send(ReadResult::Line(text)).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            stdin,
            lines,
            next: 0,
            patience: TIME_LIMIT,
        }
    }

    /// Completes the handshake, or returns the real executor's error message.
    pub fn handshake(&mut self) -> Result<(), String> {
        match self.lines.recv_timeout(self.patience) {
            Ok(ReadResult::First(Some(b'{'))) => {}
            Ok(ReadResult::First(Some(byte))) => {
                let _ = self.child.kill();
                return Err(format!("unexpected first byte {byte:#04x}"));
            }
            Ok(ReadResult::First(None)) => return Err("no bytes received".into()),
            _ => return Err("nothing".into()),
        }
        let line = self.line()?;
        let ready: Value = serde_json::from_str(line.trim()).map_err(|e| e.to_string())?;
        let is_request = ready.get("id").is_some() && ready["jsonrpc"] == "2.0";
        if !is_request || ready["method"] != "ready" {
            return Err(format!("expected ready request from oracle, got {line}"));
        }
        self.send(&json!({"jsonrpc": "2.0", "id": ready["id"], "result": {}}));
        Ok(())
    }

    /// Sends a line unchanged.
    pub fn write(&mut self, text: &str) {
        let _ = self.stdin.write_all(text.as_bytes());
        let _ = self.stdin.flush();
    }

    pub fn send(&mut self, message: &Value) {
        self.write(&format!("{message}\n"));
    }

    /// Returns the next line, or the given message if there is none.
    pub fn line(&self) -> Result<String, String> {
        loop {
            match self.lines.recv_timeout(self.patience) {
                Ok(ReadResult::Line(line)) => return Ok(line),
                Ok(ReadResult::First(_)) => {}
                Err(RecvTimeoutError::Timeout) => return Err("waits forever".into()),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("oracle process terminated".into());
                }
            }
        }
    }

    /// Makes a call. Returns its felts, or the error as Cairo sees it.
    pub fn invoke(&mut self, selector: &str, calldata: &[&str]) -> Result<Vec<String>, String> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "invoke",
            "params": {"selector": selector, "calldata": calldata},
        }));
        let line = self.line()?;
        let answer: Value =
            serde_json::from_str(line.trim()).map_err(|e| format!("bad line: {e}"))?;
        if answer["jsonrpc"] != "2.0" || answer.get("id").is_none() {
            return Err(format!("expected response, got {line}"));
        }
        if answer["id"] != json!(id) {
            return Err(format!(
                "response ID mismatch: expected {id}, got {}",
                answer["id"]
            ));
        }
        if let Some(message) = answer["error"]["message"].as_str() {
            return Err(message.to_owned());
        }
        let felts = answer["result"].as_array().cloned().unwrap_or_default();
        Ok(felts
            .iter()
            .map(|felt| felt.as_str().unwrap_or_default().to_owned())
            .collect())
    }

    /// Closes stdin. Returns the exit status of the oracle and its stderr.
    pub fn eof(mut self) -> (Option<i32>, String) {
        drop(self.stdin);
        let mut stderr = String::new();
        let _ = self
            .child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr);
        (self.child.wait().unwrap().code(), stderr)
    }

    /// Sends `shutdown` and waits, unlike the real executor.
    pub fn shutdown(mut self) -> (Option<i32>, String, Vec<String>) {
        self.send(&json!({"jsonrpc": "2.0", "method": "shutdown"}));
        let mut stderr = String::new();
        let _ = self
            .child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr);
        let status = self.child.wait().unwrap().code();
        let mut rest = Vec::new();
        while let Ok(line) = self.line() {
            rest.push(line);
        }
        (status, stderr, rest)
    }

    /// Sends `shutdown` and kills immediately, as the real executor.
    pub fn kill(mut self) -> Option<i32> {
        self.send(&json!({"jsonrpc": "2.0", "method": "shutdown"}));
        let _ = self.child.kill();
        self.child.wait().unwrap().code()
    }

    /// The exit status of a regular end.
    pub fn status(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}
