//! Traces of strace: a connection for the standard streams of each process, and one for each socket.
//!
//! ```text
//!   77  read(0, "{\"id\":1}\n", 4096) = 9        conn 0 c2s   stdin of process 77
//!   77  write(1, "{\"id\":1"..., 40) = 40         conn 0 s2c   and 32 bytes that were not printed: lost
//!   77  connect(3, {..htons(7000)..}, 16) = 0
//!   77  sendto(3, "..", 12, 0, NULL, 0) = 12      conn 1 c2s   what a process writes to a socket that it connected
//! ```
//!
//! strace(1), version 6. Only stdin, stdout, sockets, and pipes that `-y` names are read: other descriptors, for example those of
//! files, carry no conversation. A trace that begins after the start of its process lacks the
//! calls that opened other descriptors: without their names, those through which messages pass are taken for a pair of pipes.

mod call;
mod detect;
mod line;
mod processes;

use super::chunk::{InputPlace, ItemSink, Problem};
use super::form::Form;
use super::lines::{Line, LineForm};
use super::time::{self, Time};
use super::traffic::{self, Traffic};
use crate::protocol::Direction::{self, ToClient, ToServer};
use call::{Transfer, Transferred};
pub(super) use detect::detect;
use line::{SystemCall, TraceEvent};
use processes::{Processes, Role};
use std::collections::HashMap;

/// The maximum number of bytes of calls that have not returned.
const UNFINISHED_LIMIT: usize = 64 << 20;

/// Reads a trace line by line.
#[derive(Default)]
pub(super) struct Strace {
    /// The beginnings of calls that have not returned, by process.
    unfinished: HashMap<Option<u32>, Vec<u8>>,
    unfinished_bytes: usize,
    processes: Processes,
    traffic: Traffic,
    /// The number of bytes that were not printed because strace cut their string.
    cut: u64,
    ignored: u64,
    /// The times have no date, and this is said.
    is_undated: bool,
    transferred: Transferred,
}

impl LineForm for Strace {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let Some(trace) = line::read(line.text) else {
            self.ignored += u64::from(!line.text.trim_ascii().is_empty());
            return;
        };
        match trace.what {
            TraceEvent::Other => {}
            TraceEvent::Call(text) => self.call(trace.pid, trace.time, text, sink),
            TraceEvent::Unfinished(text) => {
                self.take_unfinished(trace.pid);
                if self.unfinished_bytes + text.len() <= UNFINISHED_LIMIT {
                    self.unfinished_bytes += text.len();
                    self.unfinished.insert(trace.pid, text.to_vec());
                }
                self.processes.begin(trace.pid, text);
            }
            TraceEvent::Resumed(name, rest) => {
                // A trace may start inside a call.
                let mut text = self.take_unfinished(trace.pid).unwrap_or_default();
                if line::word(&text).0 == name {
                    text.extend_from_slice(rest);
                    self.call(trace.pid, trace.time, &text, sink);
                } else {
                    self.ignored += 1;
                }
            }
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        if self.traffic.is_empty() && self.processes.unnamed > 0 {
            let text = format!(
                "{} calls read or write descriptors that the trace does not describe, and are not shown",
                self.processes.unnamed
            );
            let problem = Problem::note(InputPlace::Whole, text);
            problem
                .hint(
                    "strace -y prints the names of descriptors, so that pipes and sockets are read",
                )
                .report(sink);
        }
        if self.cut > 0 {
            let text = format!("{} bytes were not printed by strace", self.cut);
            let problem = Problem::note(InputPlace::End, text);
            problem
                .hint("its default is 32 bytes of a string: record with strace -s 65535")
                .report(sink);
        }
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}

impl Strace {
    fn take_unfinished(&mut self, pid: Option<u32>) -> Option<Vec<u8>> {
        let text = self.unfinished.remove(&pid)?;
        self.unfinished_bytes -= text.len();
        Some(text)
    }

    /// Handles a call that has returned.
    fn call(&mut self, pid: Option<u32>, time: Option<Time>, text: &[u8], sink: &mut ItemSink<'_>) {
        // The end of a file that was cut.
        let Some(call) = SystemCall::read(text) else {
            self.ignored += 1;
            return;
        };
        if time.is_some_and(time::is_undated) && !self.is_undated {
            self.is_undated = true;
            Problem::note(InputPlace::Whole, "the times of the text have no date").report(sink);
        }
        self.processes.first_call(pid, &call);
        match (Transfer::of(call.name), call.name, call.value) {
            (Some(transfer), _, Some(value)) if !transfer.is_peek(&call) => {
                self.transfer(pid, time, transfer, &call, value, sink);
            }
            (Some(_), ..) => {}
            (None, b"close", Some(_)) => {
                if let Some(conn) = self.processes.close(pid, &call) {
                    traffic::emit_end(conn, None, time, sink);
                }
            }
            (None, ..) => self.processes.change(pid, &call),
        }
    }

    /// Handles a call that transferred bytes.
    fn transfer(
        &mut self,
        pid: Option<u32>,
        time: Option<Time>,
        transfer: Transfer,
        call: &SystemCall<'_>,
        value: u64,
        sink: &mut ItemSink<'_>,
    ) {
        let Some(endpoint) = self.processes.endpoint(pid, transfer, call) else {
            return;
        };
        self.transferred.read(call, transfer, value);
        if self.transferred.is_empty() {
            // The other side ended its direction. An empty write changes nothing.
            if let (Some(conn), Some(role), false) = (endpoint.conn, endpoint.role, transfer.writes)
                && !std::mem::replace(&mut endpoint.ended, true)
            {
                traffic::emit_end(conn, Some(role.direction(false)), time, sink);
            }
            return;
        }
        // The side that speaks first is taken for the client.
        let role = *endpoint.role.get_or_insert(if transfer.writes {
            Role::Client
        } else {
            Role::Server
        });
        let traffic = &mut self.traffic;
        let conn = *endpoint.conn.get_or_insert_with(|| {
            let pid = pid.map(|pid| pid.to_string());
            let keys = [("peer", endpoint.peer.as_deref()), ("pid", pid.as_deref())];
            traffic.open(Form::Strace, time, &keys, sink)
        });
        for (bytes, missing) in self.transferred.parts() {
            let direction = role.direction(transfer.writes);
            traffic::emit_chunk(conn, direction, time, bytes, sink);
            traffic::emit_lost(conn, direction, time, missing, sink);
            self.cut = self.cut.saturating_add(missing);
        }
    }
}

impl Role {
    /// Returns the direction of what this side writes, or reads.
    fn direction(self, writes: bool) -> Direction {
        if (self == Self::Client) == writes {
            ToServer
        } else {
            ToClient
        }
    }
}
