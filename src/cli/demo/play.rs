//! Plays a session: client, proxy and server are this program.
//!
//! ```text
//!   send --stdio--> record --stdio--> stub          send --tcp, ws--> proxy --> stub
//! ```

use super::cases::Case;
use anyhow::{Context as _, Result, ensure};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

/// The time after which the client gives up; the first answers come much earlier.
const TIMEOUT: &str = "2s";
/// The number of looks at a program that must end, and the time between two.
const MAX_LOOKS: u32 = 250;
const LOOK: Duration = Duration::from_millis(20);

/// A session that was played.
pub struct Played {
    pub recording: PathBuf,
    /// What the client printed.
    pub client: String,
}

/// A program that listens. It ends with its connection, and at the latest here.
struct Listener {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// `tcp://127.0.0.1:4711`.
    address: String,
}

impl Listener {
    fn start(mut command: Command, scheme: &str) -> Result<Self> {
        command.args(["--listen", &format!("{scheme}://127.0.0.1:0"), "--once"]);
        let pipes = command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = pipes.stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take().context("stderr is no pipe")?;
        let mut listener = Self {
            child,
            stderr: BufReader::new(stderr),
            address: String::new(),
        };
        let mut line = String::new();
        listener.stderr.read_line(&mut line)?;
        let (_, rest) = line
            .split_once("listening on ")
            .with_context(|| line.clone())?;
        listener.address = rest
            .split([',', '\n'])
            .next()
            .unwrap_or_default()
            .to_owned();
        Ok(listener)
    }

    /// Waits until it has ended by itself, so that the recording is complete.
    fn end(mut self) -> Result<()> {
        for _ in 0..MAX_LOOKS {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        anyhow::bail!("the session does not end")
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Plays a session, with its files in a folder.
pub fn play(case: &Case, folder: &Path) -> Result<Played> {
    let [calls, script, recording] =
        ["calls.txt", "server.toml", "session.jsonl"].map(|name| folder.join(name));
    let lines: Vec<&str> = case.lines().collect();
    std::fs::write(&calls, lines.join("\n"))?;
    std::fs::write(&script, case.script)?;
    let program = std::env::current_exe().context("this program has no path")?;
    let command = |words: &[&str]| {
        let mut command = Command::new(&program);
        command.args(words);
        command
    };
    let protocol = case.protocol;
    let mut client = command(&["send", protocol, "--timeout", TIMEOUT, "--color", "never"]);
    client.arg("--file").arg(&calls).stdin(Stdio::null());
    let mut proxy = command(&["record", "-q", "-p", protocol, "--fault", &case.fault()]);
    proxy.arg("-w").arg(&recording);
    let mut server = command(&["stub", protocol, "-q"]);
    server.arg("--script").arg(&script);
    let ran = if let Some(scheme) = case.scheme {
        let server = Listener::start(server, scheme).context("the server does not start")?;
        let (own, any) = (format!("{scheme}:"), "tcp:");
        proxy.args(["--connect", &server.address.replacen(&own, any, 1)]);
        let proxy = Listener::start(proxy, "tcp").context("the proxy does not start")?;
        let address = proxy.address.replacen(any, &own, 1);
        let ran = client.args(["--connect", &address]).output()?;
        proxy.end()?;
        server.end()?;
        ran
    } else {
        let words = |command: &Command| {
            let program = command.get_program().to_owned();
            let args = command.get_args().map(ToOwned::to_owned);
            [program].into_iter().chain(args).collect::<Vec<_>>()
        };
        client
            .arg("--")
            .args(words(&proxy))
            .arg("--")
            .args(words(&server));
        client.output()?
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // The lost answer is the only one that is missing.
    ensure!(
        ran.status.code() == Some(1) && recording.exists(),
        "the session could not be played: {}{}",
        text(&ran.stdout),
        text(&ran.stderr)
    );
    Ok(Played {
        recording,
        client: text(&ran.stdout),
    })
}
