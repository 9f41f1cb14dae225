//! `wiretool mcp`: wiretool as a server of tools for an agent.
//!
//! ```text
//!   stdin --> Server --> Peer: handshake, lists       answers --> stdout
//!               '------> tools, resources --> Recordings --> Index
//! ```

mod client;
mod folders;
mod index;
mod listing;
mod page;
mod resources;
mod server;
mod tools;

use super::Exit;
use super::options::{self, SharedArgs};
use anyhow::Result;
use folders::Folders;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool mcp serve                the recordings of wiretool wrap
  wiretool mcp serve captures       and those of a folder
  wiretool send mcp tools/call messages '{\"recording\":\"@last\"}' -- wiretool mcp serve
  wiretool help agents              how clients start it, and what it can see";

const EXIT_CODES: &str = "\
Exit codes:
  0  stdin has ended
  2  usage, a folder that cannot be read, or stdin or stdout that failed";

/// Commands for mcp: wiretool as a server for agents
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    what: McpCommand,
}

#[derive(clap::Subcommand)]
enum McpCommand {
    Serve(ServeArgs),
}

/// Let an agent read recordings: an MCP server on stdin and stdout
///
/// It only reads, makes no connection, and masks secrets. The recordings of wiretool wrap can always be read.
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
struct ServeArgs {
    /// Folders whose captures can be read, too; @NAME is one of wiretool wrap
    #[arg(value_name = "FOLDER")]
    folders: Vec<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    let McpCommand::Serve(args) = &args.what;
    server::serve(Folders::new(&args.folders)?, shared)
}
