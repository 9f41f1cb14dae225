//! `wiretool completions`: writes completion scripts for shells.
//!
//! Some values accept any text, because they can contain `*`, but the names are known: the scripts list these
//! names. The parser does not, so that its messages stay short.

use super::output::CommandOutput;
use super::topics::TOPICS;
use super::{Cli, Exit, options};
use crate::conversation::{full_name, rules_of};
use crate::protocol::telequick::Schema;
use crate::protocol::{Protocol, registry};
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};
use clap_complete::Shell;
use std::collections::BTreeSet;

const EXAMPLES: &str = "\
Examples:
  wiretool completions bash > wiretool.bash        source it, or use bash-completion
  wiretool completions zsh > _wiretool             move it to a folder of $fpath
  wiretool completions fish > wiretool.fish        move it to ~/.config/fish/completions
  wiretool completions powershell > _wiretool.ps1  run it from $PROFILE
  wiretool completions elvish > wiretool.elv       run it from rc.elv";

const EXIT_CODES: &str = "\
Exit codes:
  0  the script was written
  2  usage, or stdout cannot be written";

/// Write a completion script for a shell
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Exit> {
    let mut command = list_names(list_pages(Cli::command()));
    let mut output = CommandOutput::open(None, &[])?;
    clap_complete::generate(args.shell, &mut command, "wiretool", output.buffer());
    output.finish()?;
    Ok(Exit::Clean)
}

/// Returns the command line in which `help` has the commands and topics below it, so that every shell completes them.
fn list_pages(command: Command) -> Command {
    let about = |command: &Command| command.get_about().cloned().unwrap_or_default();
    let commands: Vec<Command> = (command.get_subcommands())
        .map(|one| Command::new(&*one.get_name().to_owned().leak()).about(about(one)))
        .collect();
    let known: Vec<String> = commands
        .iter()
        .map(|one| one.get_name().to_owned())
        .collect();
    // A topic may have the name of a command.
    let topics = TOPICS
        .iter()
        .filter(|topic| !known.iter().any(|name| name == topic.name));
    let topics = topics.map(|topic| Command::new(topic.name).about(topic.about));
    command.mut_subcommand("help", |help| {
        help.subcommands(commands)
            .subcommands(topics)
            .disable_help_subcommand(true)
    })
}

/// Returns the command line with lists of names where any text is accepted.
fn list_names(command: Command) -> Command {
    let of = command.get_name().to_owned();
    let command = command.mut_args(|arg| add_names(&of, arg));
    command.mut_subcommands(self::list_names)
}

fn add_names(command: &str, arg: Arg) -> Arg {
    let name = arg.get_long().unwrap_or(arg.get_id().as_str());
    let schema = Schema::builtin();
    let names: BTreeSet<String> = match (command, name) {
        (_, "allow" | "deny" | "explain") => rules(),
        (_, "kind") => kinds(),
        ("make" | "send", "words") => recipes(),
        (_, "struct" | "request" | "response") => structs(schema),
        ("id", "method") => methods(schema),
        ("show", "name") => structs(schema).into_iter().chain(methods(schema)).collect(),
        (_, "command") => return arg.value_hint(ValueHint::CommandName),
        _ => return arg,
    };
    // The names live as long as the process, which ends soon.
    let names: Vec<&str> = names.into_iter().map(|name| &*name.leak()).collect();
    arg.value_parser(PossibleValuesParser::new(names))
}

fn rules() -> BTreeSet<String> {
    let of = |p: &'static dyn Protocol| rules_of(p).map(|rule| full_name(p.name(), rule));
    registry::all().iter().copied().flat_map(of).collect()
}

fn kinds() -> BTreeSet<String> {
    let kinds = registry::all().iter().flat_map(|p| p.kinds());
    kinds.map(|kind| kind.name.to_string()).collect()
}

/// Returns the kinds that `make` can make, of all protocols.
fn recipes() -> BTreeSet<String> {
    let recipes = registry::all().iter().flat_map(|p| p.recipes());
    recipes.map(|recipe| recipe.name.to_string()).collect()
}

fn structs(schema: &Schema) -> BTreeSet<String> {
    let names = schema.types.structs.iter().map(|s| s.name);
    names.map(|id| schema.types.name(id).to_owned()).collect()
}

fn methods(schema: &Schema) -> BTreeSet<String> {
    let names = schema.methods.iter().map(|m| m.name);
    names.map(|id| schema.types.name(id).to_owned()).collect()
}
