//! `wiretool config`: shows the settings and their origins.

use super::{Config, SettingOrigin, settings};
use crate::cli::Exit;
use crate::cli::options;
use crate::cli::output::CommandOutput;
use crate::render::style::escape;
use crate::settings::SETTINGS;
use anyhow::Result;
use serde_json::{Value as Json, json};

const EXAMPLES: &str = "\
Examples:
  wiretool config show                     all settings and their values
  wiretool config show --origin            with the file or variable that sets them
  WIRETOOL_FORMAT=json wiretool config show --origin
  wiretool --config ci.toml decode FILE    use another file than wiretool.toml";

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  2  a settings file or variable is not valid or cannot be read";

/// Show settings and where they come from
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(clap::Subcommand)]
enum ConfigCommand {
    Show(ShowArgs),
}

/// Show all settings and their values
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
struct ShowArgs {
    /// Also show the file and line, or the variable, that sets each
    #[arg(long)]
    origin: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = options::text_or_json("One line per setting", "One JSON object per setting, with its origin"))]
    format: options::OutputFormat,
}

/// A line of output.
struct SettingRow {
    key: String,
    value: Json,
    origin: SettingOrigin,
}

fn rows(settings: &Config) -> Vec<SettingRow> {
    let mut rows = Vec::new();
    for known in SETTINGS.iter().filter(|known| known.is_in_files()) {
        let value = settings.values.get(known.name);
        let texts: Vec<&str> = match value {
            Some(value) => value.texts.iter().map(String::as_str).collect(),
            None => Vec::from_iter((!known.default.is_empty()).then_some(known.default)),
        };
        rows.push(SettingRow {
            key: known.name.to_owned(),
            value: match texts.as_slice() {
                texts if known.is_list() => json!(texts),
                [] => Json::Null,
                [text, ..] => text
                    .parse::<Json>()
                    .ok()
                    .filter(|v| v.is_number() || v.is_boolean())
                    .unwrap_or_else(|| json!(text)),
            },
            origin: value.map_or(SettingOrigin::Default, |v| v.origin.clone()),
        });
    }
    for (name, severity, origin) in &settings.rules {
        rows.push(SettingRow {
            key: format!("rules.{}", json!(name)),
            value: json!(severity.name()),
            origin: origin.clone(),
        });
    }
    rows.push(SettingRow {
        key: "ignore.paths".to_owned(),
        value: json!(settings.ignored()),
        origin: settings
            .ignore
            .as_ref()
            .map_or(SettingOrigin::Default, |v| v.origin.clone()),
    });
    for (n, (rule, origin)) in settings.files.iter().enumerate() {
        let mut value = json!({ "match": rule.folder.join(&rule.pattern).display().to_string() });
        for (setting, text) in &rule.values {
            value[setting.name] = json!(text);
        }
        rows.push(SettingRow {
            key: format!("files[{n}]"),
            value,
            origin: origin.clone(),
        });
    }
    if let Some((rule, origin)) = &settings.snapshot {
        rows.push(SettingRow {
            key: "snapshot".to_owned(),
            value: json!({ "flags": rule.flags, "skip": rule.skip }),
            origin: origin.clone(),
        });
    }
    rows
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Exit> {
    let ConfigCommand::Show(args) = &args.command;
    let rows = rows(settings());
    let mut text = String::new();
    let width = rows
        .iter()
        .map(|row| row.key.chars().count())
        .max()
        .unwrap_or_default();
    let shown = |row: &SettingRow| match &row.value {
        Json::Null => "-".to_owned(),
        Json::String(text) => text.clone(),
        value => value.to_string(),
    };
    let values = rows.iter().map(|row| shown(row).chars().count());
    let second = values.max().unwrap_or_default().min(32);
    for row in &rows {
        if args.format.is_json() {
            let (key, origin) = (json!(row.key), json!(row.origin.to_string()));
            text.push_str(&format!(
                "{{\"key\":{key},\"value\":{},\"origin\":{origin}",
                row.value
            ));
            if let SettingOrigin::File(path, number) = &row.origin {
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
    let mut output = CommandOutput::open(None, &[])?;
    output.is_json = args.format.is_json();
    output.push(&text);
    output.finish()?;
    Ok(Exit::Clean)
}
