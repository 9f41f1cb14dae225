//! `wiretool config`: what is set, and by what.

use super::known::KNOWN;
use super::{Origin, Settings, settings};
use crate::cli::Exit;
use crate::cli::options;
use crate::cli::output::Output;
use crate::render::style::escape;
use anyhow::Result;
use clap::ValueEnum;
use serde_json::{Value as Json, json};

const EXAMPLES: &str = "\
Examples:
  wiretool config show                     every setting and its value
  wiretool config show --origin            and which file, variable or flag says so
  WIRETOOL_FORMAT=json wiretool config show --origin
  wiretool --config ci.toml decode FILE    settings of another file than wiretool.toml";

const SETTINGS: &str = "\
The first that says so counts: a flag, a variable, the project's file, the user's file.

Files:
  wiretool.toml  the project's, here or above, up to the repository's root; --config names another
  config.toml    the user's, in $XDG_CONFIG_HOME/wiretool or ~/.config/wiretool

Settings:
  protocol = \"saikuro\"               WIRETOOL_PROTOCOL
  format = \"json\"                    WIRETOOL_FORMAT: tree, line, json or hex
  color = \"never\"                    WIRETOOL_COLOR
  max-message = \"64M\"                WIRETOOL_MAX_MESSAGE
  max-depth = 256                    WIRETOOL_MAX_DEPTH
  dialect = \"peers\"                  WIRETOOL_DIALECT
  fail-on = \"warning\"                WIRETOOL_FAIL_ON
  schema = \"own.tq\"                  WIRETOOL_SCHEMA; paths count from the file's folder
  signature = [\"pow(u256) -> u256\"]  WIRETOOL_SIGNATURE, with ; between several
  show-secrets = true                WIRETOOL_SHOW_SECRETS; not in a project's file
  [rules]
  \"saikuro/seq-*\" = \"warning\"        off, info, warning, error
  [ignore]
  paths = [\"**.timestamp\"]           as diff --ignore; snapshots do not show them
  [[files]]                          the first that matches counts
  match = \"captures/*.bin\"           * stands for any run of characters
  protocol = \"saikuro\"               also framing, dir and length-mode
  [snapshot]                         as a fixture's comment says it (wiretool snapshot --help)
  flags = \"--lint\"
  skip = [\"notes.txt\"]              files that are no fixtures

Exit codes:
  0  shown
  2  a settings file or variable cannot be read, or says what cannot be";

/// Show settings and where they come from
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = SETTINGS, help_template = options::HELP, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Show(Show),
}

/// Show every setting and its value
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = SETTINGS, help_template = options::HELP)]
struct Show {
    /// Also which file and line, variable or flag says so
    #[arg(long)]
    origin: bool,
    /// How settings are shown
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line a setting
    Text,
    /// A JSON object a setting, with its origin
    Json,
}

/// A line of output.
struct Row {
    key: String,
    value: Json,
    origin: Origin,
}

fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    for known in &KNOWN {
        let value = settings.values.get(known.key);
        let texts: Vec<&str> = match value {
            Some(value) => value.texts.iter().map(String::as_str).collect(),
            None => Vec::from_iter((!known.default.is_empty()).then_some(known.default)),
        };
        rows.push(Row {
            key: known.key.to_owned(),
            value: match texts.as_slice() {
                texts if known.is_list() => json!(texts),
                [] => Json::Null,
                [text, ..] => text
                    .parse::<Json>()
                    .ok()
                    .filter(|v| v.is_number() || v.is_boolean())
                    .unwrap_or_else(|| json!(text)),
            },
            origin: value.map_or(Origin::Default, |v| v.origin.clone()),
        });
    }
    for (name, severity, origin) in &settings.rules {
        rows.push(Row {
            key: format!("rules.{}", json!(name)),
            value: json!(severity.name()),
            origin: origin.clone(),
        });
    }
    rows.push(Row {
        key: "ignore.paths".to_owned(),
        value: json!(settings.ignored()),
        origin: settings
            .ignore
            .as_ref()
            .map_or(Origin::Default, |v| v.origin.clone()),
    });
    for (n, rule) in settings.files.iter().enumerate() {
        let mut value = json!({ "match": rule.folder.join(&rule.pattern).display().to_string() });
        let parts = [
            ("protocol", rule.protocol.as_deref()),
            ("framing", rule.framing.map(crate::framing::Framing::name)),
            ("dir", rule.direction.map(crate::protocol::Direction::name)),
            (
                "length-mode",
                rule.length_mode.map(crate::framing::LengthMode::name),
            ),
        ];
        for (key, part) in parts {
            if let Some(part) = part {
                value[key] = json!(part);
            }
        }
        rows.push(Row {
            key: format!("files[{n}]"),
            value,
            origin: rule.origin.clone(),
        });
    }
    if let Some(rule) = &settings.snapshot {
        rows.push(Row {
            key: "snapshot".to_owned(),
            value: json!({ "flags": rule.flags, "skip": rule.skip }),
            origin: rule.origin.clone(),
        });
    }
    rows
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Exit> {
    let Command::Show(args) = &args.command;
    let rows = rows(settings());
    let mut text = String::new();
    let width = rows
        .iter()
        .map(|row| row.key.chars().count())
        .max()
        .unwrap_or_default();
    let shown = |row: &Row| match &row.value {
        Json::Null => "-".to_owned(),
        Json::String(text) => text.clone(),
        value => value.to_string(),
    };
    let values = rows.iter().map(|row| shown(row).chars().count());
    let second = values.max().unwrap_or_default().min(32);
    for row in &rows {
        if args.format == Format::Json {
            let (key, origin) = (json!(row.key), json!(row.origin.to_string()));
            text.push_str(&format!(
                "{{\"key\":{key},\"value\":{},\"origin\":{origin}",
                row.value
            ));
            if let Origin::File(path, number) = &row.origin {
                let path = json!(path.display().to_string());
                text.push_str(&format!(",\"file\":{path},\"line\":{number}"));
            }
            text.push_str("}\n");
            continue;
        }
        let (key, value) = (escape(&row.key).into_owned(), shown(row));
        let value = escape(&value);
        let line = if args.origin {
            format!(
                "{key:width$}  {value:second$}  {}",
                escape(&row.origin.to_string())
            )
        } else {
            format!("{key:width$}  {value}")
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let mut output = Output::open(None, &[])?;
    output.is_json = args.format == Format::Json;
    output.room().extend_from_slice(text.as_bytes());
    output.finish()?;
    Ok(Exit::Clean)
}
