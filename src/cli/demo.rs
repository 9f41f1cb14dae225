//! `wiretool demo`: what wiretool is for, in half a minute, without anything to set up.
//!
//! ```text
//!   Case --> play: send, record or proxy with a fault, stub --> recording --> Story: six steps --> Pace: screen
//! ```

mod cases;
mod picture;
mod play;
mod story;

use super::Exit;
use super::options::{self, SharedArgs};
use super::output::print;
use super::terminal_input::{Answer, wait_for_key};
use super::{recording, state};
use crate::render::DisplayOptions;
use crate::render::style::Style;
use anyhow::{Context as _, Result};
use cases::Case;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use story::Story;

const EXAMPLES: &str = "\
Examples:
  wiretool demo                   a session of mcp: 30 seconds; any key goes on
  wiretool demo saikuro --fast    another protocol, without pauses
  wiretool demo lsp -w lsp.jsonl  the recording in this file";

const EXIT_CODES: &str = "\
Exit codes:
  0    all steps were shown, or q was pressed
  2    usage, or a step that failed
  130  interrupted";

/// The time for which a step shows, unless a key is pressed.
const STEP: Duration = Duration::from_secs(5);
/// The width of the picture, in columns.
const PICTURE_WIDTH: usize = 100;

/// Show in six steps what wiretool does; 30 seconds, no set-up
///
/// A client, a proxy with a fault, and a server: all three are wiretool, and no network is needed. The recording stays, to be tried out.
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Protocol of the session
    #[arg(value_name = "PROTOCOL", default_value = "mcp", value_parser = options::names(Case::names()))]
    protocol: String,
    /// Do not pause between the steps; a pipe never pauses
    #[arg(long)]
    fast: bool,
    /// Record to this file; existing files are not replaced [default: @demo]
    #[arg(short, long, value_name = "RECORDING", help_heading = "Output")]
    write: Option<PathBuf>,
    /// Draw the steps to this file instead, as a picture
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    svg: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    let case = Case::named(&args.protocol).context("no such session")?;
    let folder = tempfile::tempdir().context("cannot create a folder for the demo")?;
    let played = play::play(case, folder.path())?;
    if let Some(path) = &args.svg {
        let display = DisplayOptions {
            style: Style { color: true },
            width: Some(PICTURE_WIDTH),
            ..DisplayOptions::default()
        };
        let story = Story::read(case, &played, "@demo", display)?;
        let picture = picture::draw(&story.steps().concat(), PICTURE_WIDTH);
        let written = std::fs::write(path, picture);
        written.with_context(|| format!("cannot write {}", path.display()))?;
        return Ok(Exit::Clean);
    }
    let name = keep(&played.recording, args.write.as_deref())?;
    let story = Story::read(case, &played, &name, display)?;
    let pauses = !args.fast && display.terminal && std::io::stdin().is_terminal();
    if pauses {
        shared.note("any key goes on, q ends");
    }
    for (n, step) in story.steps().iter().enumerate() {
        if n > 0 && pauses {
            match wait_for_key(&std::io::stdin(), STEP)? {
                Answer::Next => {}
                Answer::Quit => return Ok(Exit::Clean),
                Answer::Interrupt => return Ok(Exit::Status(130)),
            }
        }
        print(step)?;
    }
    Ok(Exit::Clean)
}

/// Copies the recording to its place; returns its name in commands.
fn keep(from: &Path, to: Option<&Path>) -> Result<String> {
    let path = to.map_or_else(|| state::new_recording("demo"), |path| Ok(path.to_owned()))?;
    let mut file = recording::create(&path, false)?;
    let mut from = std::fs::File::open(from).context("cannot read the recording")?;
    let copied = std::io::copy(&mut from, &mut file.file);
    copied.with_context(|| format!("cannot write {}", file.name))?;
    Ok(match to {
        None => "@demo".to_owned(),
        Some(_) => shell_words::quote(&file.name).into_owned(),
    })
}
