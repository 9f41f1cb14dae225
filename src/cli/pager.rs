//! Shows a long text on a terminal, with the program that `PAGER` names, as git does.

use super::{Exit, options, output};
use anyhow::Result;
use signal_hook::consts::SIGINT;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The options of less, if the user has none: quit if the text fits on the screen, keep colours, leave the screen as it is.
const LESS: &str = "FRX";

/// Exit codes of a shell that cannot start a command.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Prints a text; on a terminal a pager shows it, unless the user wants none.
pub fn print(text: &str, is_wanted: bool) -> Result<Exit> {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if is_wanted && !is_dumb && options::stdout_is_terminal() && show(text) {
        return Ok(Exit::Clean);
    }
    output::print(text)
}

/// Returns true if a pager has shown the text.
fn show(text: &str) -> bool {
    let mut command = match std::env::var("PAGER") {
        Ok(own) if own.trim().is_empty() || own == "cat" => return false,
        // The shell splits the words.
        Ok(own) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", &own]);
            shell
        }
        Err(_) => Command::new("less"),
    };
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    // Ctrl-C is for the pager.
    let ignored = signal_hook::flag::register(SIGINT, Arc::default());
    let Ok(mut child) = command.stdin(Stdio::piped()).spawn() else {
        return false;
    };
    if let Some(mut stdin) = child.stdin.take() {
        // The user may leave the pager before the end.
        let _ = stdin.write_all(text.as_bytes());
    }
    let ended = child.wait();
    if let Ok(id) = ignored {
        signal_hook::low_level::unregister(id);
    }
    let code = ended.ok().and_then(|status| status.code());
    !code.is_some_and(|code| NOT_STARTED.contains(&code))
}
