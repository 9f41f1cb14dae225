//! The processes of a trace, and what their file descriptors are.
//!
//! ```text
//!   clone(.. CLONE_THREAD ..) = 78     78 shares the descriptors of its process
//!   fork() = 79                        79 has a copy of them, and standard streams of its own
//!   connect(3, ..) = 0                 3 is a socket of a client
//!   accept(4, ..) = 5                  5 is a socket of a server
//! ```
//!
//! A process that appears without a call that started it is taken for a thread of the first one, unless its stdin or stdout
//! has another name.

use super::call::Transfer;
use super::line::{self, SystemCall};
use crate::capture::text::{begins_with_message, sender};
use crate::protocol::Direction;
use std::collections::{HashMap, HashSet};

/// The maximum number of threads.
const MAX_THREADS: usize = 1 << 16;
/// The maximum number of descriptors of a process.
const MAX_DESCRIPTORS: usize = 1 << 10;
/// The maximum number of pipes that wait for their other direction.
const MAX_PIPES: usize = 1 << 10;
/// Calls that start a process or a thread.
const STARTS: [&[u8]; 5] = [b"clone", b"clone2", b"clone3", b"fork", b"vfork"];
/// The names of stream sockets in the output of `-y` and `-yy`.
const SOCKETS: [&[u8]; 4] = [b"TCP", b"UNIX-STREAM", b"UNIX:", b"socket:"];

/// The side of a connection that a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    /// Also a child that reads requests from stdin.
    Server,
}

/// One side of a connection.
#[derive(Debug, Default)]
pub(super) struct Endpoint {
    /// The number of the connection; `None` before its first byte.
    pub conn: Option<u32>,
    /// `None` until one side has spoken.
    pub role: Option<Role>,
    /// The other side has ended its direction.
    pub ended: bool,
    /// The address of the other side.
    pub peer: Option<String>,
    /// The number of descriptors that refer to it.
    references: u32,
}

/// The target of a descriptor.
#[derive(Clone, Debug, Default)]
struct FileDescriptor {
    /// `None`: not a stream that is read.
    endpoint: Option<u64>,
    /// Its name by `-y`; empty if it is not known.
    name: Vec<u8>,
}

/// Two pipes of a process, one in each direction.
struct PipePair {
    process: u32,
    endpoint: u64,
    written: Option<Vec<u8>>,
    read: Option<Vec<u8>>,
}

#[derive(Default)]
struct Process {
    /// The number of its threads.
    threads: u32,
    descriptors: HashMap<u64, FileDescriptor>,
}

#[derive(Default)]
pub(super) struct Processes {
    /// The process of each thread.
    of_thread: HashMap<Option<u32>, u32>,
    all: HashMap<u32, Process>,
    /// Threads that no call started: they may be processes.
    guessed: HashSet<Option<u32>>,
    /// The number of processes so far.
    count: u32,
    /// Calls that start a process and have not returned: the caller, and whether it starts a thread.
    starting: Vec<(u32, bool)>,
    endpoints: HashMap<u64, Endpoint>,
    /// The number of endpoints so far.
    created: u64,
    pipes: Vec<PipePair>,
    /// The trace has the start of a process: it also has the calls that opened its descriptors.
    has_start: bool,
    /// The number of transfers through descriptors that neither a call nor a name describes.
    pub unnamed: u64,
}

impl Processes {
    /// Returns the process of a thread.
    pub(super) fn enter(&mut self, pid: Option<u32>) -> u32 {
        if let Some(process) = self.of_thread.get(&pid) {
            return *process;
        }
        let process = match self.starting.last() {
            Some((parent, false)) => self.fork(*parent),
            Some((parent, true)) => *parent,
            None if self.count == 0 => self.add(),
            None => {
                if self.guessed.len() < MAX_THREADS {
                    self.guessed.insert(pid);
                }
                0
            }
        };
        self.assign(pid, process);
        process
    }

    /// Makes a thread one of a process.
    fn assign(&mut self, pid: Option<u32>, process: u32) {
        if self.of_thread.len() >= MAX_THREADS && !self.of_thread.contains_key(&pid) {
            return;
        }
        self.all.entry(process).or_default().threads += 1;
        if let Some(left) = self.of_thread.insert(pid, process)
            && let Some(left) = self.all.get_mut(&left)
        {
            left.threads = left.threads.saturating_sub(1);
        }
    }

    fn descriptor(&self, process: u32, fd: u64) -> Option<&FileDescriptor> {
        self.all.get(&process)?.descriptors.get(&fd)
    }

    /// Handles the first call of a thread. After `execve`, which the trace may lack, the loader reads libraries.
    pub(super) fn first_call(&mut self, pid: Option<u32>, call: &SystemCall<'_>) {
        if self.of_thread.contains_key(&pid) {
            return;
        }
        let process = self.enter(pid);
        let mut start = Vec::new();
        line::string(call.arg(1), &mut start);
        if call.name == b"read" && start.starts_with(b"\x7fELF") {
            self.has_start = true;
            if self.is_shared(process) {
                self.separate(pid);
            }
        }
    }

    /// Makes a thread a process of its own.
    fn separate(&mut self, pid: Option<u32>) -> u32 {
        let own = self.add();
        self.assign(pid, own);
        own
    }

    /// Returns true if a process has several threads.
    fn is_shared(&self, process: u32) -> bool {
        self.all.get(&process).is_some_and(|p| p.threads > 1)
    }

    /// Handles the beginning of a call that has not returned.
    pub(super) fn begin(&mut self, pid: Option<u32>, text: &[u8]) {
        let process = self.enter(pid);
        if STARTS.contains(&line::word(text).0) && self.starting.len() < MAX_PIPES {
            self.starting.push((process, is_thread(text)));
        }
    }

    /// Handles a call that changes descriptors or processes.
    pub(super) fn change(&mut self, pid: Option<u32>, call: &SystemCall<'_>) {
        let process = self.enter(pid);
        if STARTS.contains(&call.name) {
            let shares = call.args.iter().any(|arg| is_thread(arg));
            let same = |start: &(u32, bool)| *start == (process, shares);
            if let Some(at) = self.starting.iter().rposition(same) {
                self.starting.remove(at);
            }
            let child = call.value.and_then(|value| u32::try_from(value).ok());
            if let Some(child) = child.filter(|child| *child > 0)
                && !self.of_thread.contains_key(&Some(child))
            {
                let of = if shares { process } else { self.fork(process) };
                self.assign(Some(child), of);
            }
            return;
        }
        let first = line::descriptor(call.arg(0));
        match (call.name, first, call.value) {
            (b"execve" | b"execveat", _, Some(_)) => {
                self.has_start = true;
                if self.is_shared(process) {
                    self.separate(pid);
                }
            }
            (b"connect", Some((fd, _)), _) if !self.is_ignored(process, fd) => {
                let peer = address(call.arg(1));
                self.create(process, fd, Some(Role::Client), peer);
            }
            (b"accept" | b"accept4", _, Some(fd)) => {
                self.create(process, fd, Some(Role::Server), address(call.arg(1)));
            }
            (b"socket", _, Some(fd)) => {
                // -X raw prints numbers; the lowest bits are the type.
                let is_stream = match call.arg(1).strip_prefix(b"0x") {
                    Some(kind) => kind.ends_with(b"1"),
                    None => call.arg(1).starts_with(b"SOCK_STREAM"),
                };
                let is_stream = is_stream && !call.arg(0).starts_with(b"AF_NETLINK");
                if is_stream {
                    self.remove(process, fd);
                } else {
                    self.set(process, fd, FileDescriptor::default());
                }
            }
            (b"open" | b"openat" | b"creat" | b"eventfd2" | b"memfd_create", _, Some(fd))
                if fd > 2 =>
            {
                self.set(process, fd, FileDescriptor::default());
            }
            (b"dup" | b"dup2" | b"dup3", Some((from, _)), Some(to)) => self.copy(process, from, to),
            (b"fcntl", Some((from, _)), Some(to)) if call.arg(1).starts_with(b"F_DUPFD") => {
                self.copy(process, from, to);
            }
            _ => {}
        }
    }

    /// Returns the endpoint to which a call transfers bytes, if it belongs to a conversation.
    pub(super) fn endpoint(
        &mut self,
        pid: Option<u32>,
        transfer: Transfer,
        call: &SystemCall<'_>,
    ) -> Option<&mut Endpoint> {
        let mut process = self.enter(pid);
        let (fd, name) = line::descriptor(call.arg(0))?;
        if fd == 1 && transfer.writes && self.guessed.remove(&pid) && is_other_text(call) {
            process = self.separate(pid);
        }
        let known = self.all.get_mut(&process);
        let id = match known.and_then(|p| p.descriptors.get_mut(&fd)) {
            Some(known) if known.name.is_empty() || name.is_empty() || known.name == name => {
                if !name.is_empty() {
                    known.name = name;
                }
                known.endpoint?
            }
            other => {
                // The same stream of another process has another name.
                if other.is_some() && fd < 2 {
                    process = self.separate(pid);
                }
                self.create_for(process, fd, &name, transfer, call)?
            }
        };
        self.endpoints.get_mut(&id)
    }

    /// Creates the endpoint of a descriptor that no call has described.
    fn create_for(
        &mut self,
        process: u32,
        fd: u64,
        name: &[u8],
        transfer: Transfer,
        call: &SystemCall<'_>,
    ) -> Option<u64> {
        let id = match fd {
            0 | 1 if is_device(name) => return None,
            0 | 1 => {
                let other = self.descriptor(process, 1 - fd);
                match other.and_then(|other| other.endpoint) {
                    Some(id) => id,
                    None => self.add_endpoint(Some(Role::Server), None),
                }
            }
            2 => return None,
            _ if name.starts_with(b"pipe:") => {
                let role = role_of(transfer, call).unwrap_or(Role::Client);
                self.pipe(process, name, Some(role), transfer)
            }
            _ if SOCKETS.iter().any(|socket| name.starts_with(socket)) => {
                self.add_endpoint(None, peer_of(name))
            }
            _ if name.is_empty() && transfer.is_socket && !Transfer::is_datagram(call) => {
                self.add_endpoint(None, None)
            }
            _ if name.is_empty() && !self.has_start && begins_message(call) => {
                let name = format!("descriptor:{fd}");
                self.pipe(process, name.as_bytes(), None, transfer)
            }
            _ if name.is_empty() => {
                self.unnamed = self.unnamed.saturating_add(1);
                return None;
            }
            _ => return None,
        };
        let name = name.to_vec();
        let endpoint = Some(id);
        self.set(process, fd, FileDescriptor { endpoint, name });
        self.endpoints.contains_key(&id).then_some(id)
    }

    /// Returns the endpoint of a pipe. The first pipe that a process writes belongs to the first that it reads.
    fn pipe(&mut self, process: u32, name: &[u8], role: Option<Role>, transfer: Transfer) -> u64 {
        let own = |pair: &&mut PipePair| pair.process == process;
        for pair in self.pipes.iter_mut().filter(own) {
            let side = if transfer.writes {
                &mut pair.written
            } else {
                &mut pair.read
            };
            if side.as_deref().is_none_or(|known| known == name)
                && self.endpoints.contains_key(&pair.endpoint)
            {
                *side = Some(name.to_vec());
                return pair.endpoint;
            }
        }
        let endpoint = self.add_endpoint(role, None);
        if self.pipes.len() < MAX_PIPES {
            let name = Some(name.to_vec());
            let (written, read) = if transfer.writes {
                (name, None)
            } else {
                (None, name)
            };
            self.pipes.push(PipePair {
                process,
                endpoint,
                written,
                read,
            });
        }
        endpoint
    }

    /// Closes a descriptor. Returns the connection that this ends.
    pub(super) fn close(&mut self, pid: Option<u32>, call: &SystemCall<'_>) -> Option<u32> {
        let process = self.enter(pid);
        let (fd, _) = line::descriptor(call.arg(0))?;
        // Another program may get the standard streams.
        if fd <= 2 {
            return None;
        }
        self.remove(process, fd)
    }

    fn is_ignored(&self, process: u32, fd: u64) -> bool {
        let known = self.descriptor(process, fd);
        known.is_some_and(|known| known.endpoint.is_none())
    }

    fn add(&mut self) -> u32 {
        self.count = self.count.saturating_add(1);
        self.count - 1
    }

    /// Creates a process with the descriptors of another, except the standard streams.
    fn fork(&mut self, parent: u32) -> u32 {
        let child = self.add();
        let all = self.all.get(&parent).map(|p| &p.descriptors);
        let copies = all.into_iter().flatten().filter(|(fd, _)| **fd > 2);
        let copies: Vec<_> = copies.map(|(fd, d)| (*fd, d.clone())).collect();
        for (fd, descriptor) in copies {
            self.set(child, fd, descriptor);
        }
        child
    }

    fn copy(&mut self, process: u32, from: u64, to: u64) {
        if from == to {
            return;
        }
        match self.descriptor(process, from).cloned() {
            // The standard streams of the child of a fork are those of its own conversation.
            Some(descriptor) if to > 2 || descriptor.endpoint.is_some() => {
                self.set(process, to, descriptor);
            }
            _ => _ = self.remove(process, to),
        }
    }

    fn create(&mut self, process: u32, fd: u64, role: Option<Role>, peer: Option<String>) {
        let endpoint = Some(self.add_endpoint(role, peer));
        let name = Vec::new();
        self.set(process, fd, FileDescriptor { endpoint, name });
    }

    fn add_endpoint(&mut self, role: Option<Role>, peer: Option<String>) -> u64 {
        let endpoint = Endpoint {
            role,
            peer,
            ..Endpoint::default()
        };
        self.created += 1;
        self.endpoints.insert(self.created, endpoint);
        self.created
    }

    fn set(&mut self, process: u32, fd: u64, descriptor: FileDescriptor) {
        let id = descriptor.endpoint;
        if let Some(endpoint) = id.and_then(|id| self.endpoints.get_mut(&id)) {
            endpoint.references = endpoint.references.saturating_add(1);
        }
        self.remove(process, fd);
        let all = &mut self.all.entry(process).or_default().descriptors;
        if all.len() < MAX_DESCRIPTORS {
            all.insert(fd, descriptor);
        } else if let Some(id) = id {
            self.release(id);
        }
    }

    /// Removes a descriptor. Returns its connection if it was the last that refers to it.
    fn remove(&mut self, process: u32, fd: u64) -> Option<u32> {
        let process = self.all.get_mut(&process)?;
        let descriptor = process.descriptors.remove(&fd)?;
        self.release(descriptor.endpoint?)
    }

    fn release(&mut self, id: u64) -> Option<u32> {
        let endpoint = self.endpoints.get_mut(&id)?;
        endpoint.references = endpoint.references.saturating_sub(1);
        if endpoint.references > 0 {
            return None;
        }
        self.pipes.retain(|pair| pair.endpoint != id);
        self.endpoints.remove(&id)?.conn
    }
}

/// Returns true if a call writes a text that is no message: the shells that start a server write such texts for each other.
fn is_other_text(call: &SystemCall<'_>) -> bool {
    let mut bytes = Vec::new();
    line::string(call.arg(1), &mut bytes);
    let is_text = |c: &u8| c.is_ascii_graphic() || c.is_ascii_whitespace();
    bytes.ends_with(b"\n") && bytes.iter().all(is_text) && !begins_with_message(&bytes)
}

/// Returns true if a call transfers what a message begins with. Other bytes without a name may be those of a file.
fn begins_message(call: &SystemCall<'_>) -> bool {
    let mut bytes = Vec::new();
    line::string(call.arg(1), &mut bytes);
    begins_with_message(&bytes)
}

/// Returns the side of a process that transfers a message which only one side sends.
fn role_of(transfer: Transfer, call: &SystemCall<'_>) -> Option<Role> {
    let mut bytes = Vec::new();
    line::string(call.arg(1), &mut bytes);
    let is_of_client = sender(&bytes)? == Direction::ToServer;
    Some(if is_of_client == transfer.writes {
        Role::Client
    } else {
        Role::Server
    })
}

/// Returns true for the name of `/dev/null` and its kind: a standard stream that nobody reads or writes.
fn is_device(name: &[u8]) -> bool {
    name.starts_with(b"/dev/null") || memchr::memmem::find(name, b"<char 1:").is_some()
}

fn is_thread(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"CLONE_THREAD").is_some()
}

/// Returns the address of the other side in the name of a socket: `TCP:[127.0.0.1:1->127.0.0.1:2]`.
fn peer_of(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let (_, peer) = name.strip_suffix(']')?.rsplit_once("->")?;
    Some(peer.to_owned())
}

/// Reads the address of `connect` and `accept`: `{sa_family=AF_INET, sin_port=htons(1), sin_addr=inet_addr("1.2.3.4")}`.
fn address(arg: &[u8]) -> Option<String> {
    let after = |mark: &[u8]| {
        let at = memchr::memmem::find(arg, mark)?;
        arg.get(at + mark.len()..)
    };
    let text = |mark: &[u8]| {
        let mut out = Vec::new();
        let rest = after(mark)?;
        line::string(rest.trim_ascii_start(), &mut out)?;
        String::from_utf8(out).ok()
    };
    if let Some(path) = text(b"sun_path=") {
        return Some(format!("unix:{path}"));
    }
    let port = line::number(line::digits(after(b"htons(")?).0)?;
    match text(b"inet_addr(") {
        Some(host) => Some(format!("{host}:{port}")),
        None => Some(format!("[{}]:{port}", text(b"inet_pton(AF_INET6,")?)),
    }
}
