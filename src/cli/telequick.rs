//! `wiretool telequick schema`: check, lay out and show a schema; compute method ids.

use super::output::Output;
use super::{Exit, complain, options};
use crate::encoding::serde_envelope::Type;
use crate::protocol::telequick::{Schema, format, method_id};
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wiretool telequick schema show                 methods with their ids and structs
  wiretool telequick schema show BargeRequest    one struct, enum or method
  wiretool telequick schema check my.tq          is this a schema?
  wiretool telequick schema format my.tq         the same, laid out
  wiretool telequick schema id Barge             how a frame names this method";

const CHECK_EXAMPLES: &str = "\
Examples:
  wiretool telequick schema check my.tq          where is it wrong?
  wiretool telequick schema check *.tq           each by itself";

const FORMAT_EXAMPLES: &str = "\
Examples:
  wiretool telequick schema format my.tq           to stdout
  wiretool telequick schema format my.tq -o my.tq  in place";

const SHOW_EXAMPLES: &str = "\
Examples:
  wiretool telequick schema show                        methods with their ids and structs
  wiretool telequick schema show BargeRequest           one struct, enum or method
  wiretool telequick schema show --schema my.tq Barge   with definitions of one's own";

const ID_EXAMPLES: &str = "\
Examples:
  wiretool telequick schema id Barge
  wiretool telequick schema id Ring --request RingRequest --response RingResponse";

const EXIT_CODES: &str = "\
Exit codes:
  0  it is so
  1  it is no schema, or has no such name
  2  usage, or a file that cannot be read";

/// Telequick's own: schemas and method ids
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    topic: Topic,
}

#[derive(clap::Subcommand)]
enum Topic {
    /// Check, lay out and show schemas; compute method ids
    #[command(subcommand, before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
    #[command(disable_help_subcommand = true)]
    Schema(Command),
}

#[derive(clap::Subcommand)]
enum Command {
    /// Say whether files are schemas, and where not
    #[command(before_help = CHECK_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
    Check {
        /// The schemas; each may use what is built in
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print a schema in one layout, comments kept
    #[command(before_help = FORMAT_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
    Format {
        /// The schema
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Write here, whole or not at all, instead of stdout
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Show methods with ids and structs, or one definition
    #[command(before_help = SHOW_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
    Show {
        /// A method, struct or enum
        name: Option<String>,
        /// telequick definitions that replace or extend the built-in ones
        #[arg(long, value_name = "FILE")]
        schema: Option<PathBuf>,
    },
    /// Compute a method's id from its names
    #[command(before_help = ID_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
    Id {
        /// The method
        method: String,
        /// Its request; looked up where the schema has the method
        #[arg(long, value_name = "STRUCT", requires = "response")]
        request: Option<String>,
        /// Its response
        #[arg(long, value_name = "STRUCT", requires = "request")]
        response: Option<String>,
        /// The namespace of the service
        #[arg(long, default_value = "clutchcall::api")]
        namespace: String,
        /// The service
        #[arg(long, default_value = "clutchcall")]
        service: String,
    },
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Exit> {
    let Topic::Schema(command) = &args.topic;
    match command {
        Command::Check { files } => check(files),
        Command::Format { file, output } => {
            let text = read(file)?;
            match format(&text) {
                Ok(text) => {
                    // Laying a file out in place is what the flag is for.
                    print(output.as_deref(), &text)?;
                    Ok(Exit::Clean)
                }
                Err(error) => {
                    complain(&format!("{}:{error}", file.display()));
                    Ok(Exit::No)
                }
            }
        }
        Command::Show { name, schema } => show(name.as_deref(), schema.as_deref()),
        Command::Id {
            method,
            request,
            response,
            namespace,
            service,
        } => id(
            method,
            request.as_deref().zip(response.as_deref()),
            namespace,
            service,
        ),
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn print(path: Option<&Path>, text: &str) -> Result<()> {
    let mut output = Output::open(path, &[])?;
    output.room().extend_from_slice(text.as_bytes());
    output.finish()
}

fn check(files: &[PathBuf]) -> Result<Exit> {
    let mut exit = Exit::Clean;
    for file in files {
        if let Err(error) = Schema::builtin().extend(&read(file)?) {
            complain(&format!("{}:{error}", file.display()));
            exit = Exit::No;
        }
    }
    Ok(exit)
}

fn show(name: Option<&str>, path: Option<&Path>) -> Result<Exit> {
    let extended = match path {
        Some(path) => match Schema::builtin().extend(&read(path)?) {
            Ok(schema) => Some(schema),
            Err(error) => anyhow::bail!("{}:{error}", path.display()),
        },
        None => None,
    };
    let schema = extended.as_ref().unwrap_or(Schema::builtin());
    let mut out = String::new();
    let is = |id: u32| name.is_none_or(|name| schema.types.name(id) == name);
    for method in schema.methods.iter().filter(|m| is(m.name)) {
        out.push_str(&method_line(schema, method));
    }
    if name.is_some() {
        for layout in schema.types.structs.iter().filter(|s| is(s.name)) {
            let (name, version, compat) = (
                schema.types.name(layout.name),
                layout.version,
                layout.compat_version,
            );
            out.push_str(&format!(
                "struct {name} version {version} compat {compat} {{\n"
            ));
            for field in &layout.fields {
                let since = if field.since > 0 {
                    format!(" @{}", field.since)
                } else {
                    String::new()
                };
                let kind = type_name(schema, &field.kind);
                out.push_str(&format!(
                    "  {kind} {}{since};\n",
                    schema.types.name(field.name)
                ));
            }
            out.push_str("}\n");
        }
        for names in schema.types.enums.iter().filter(|e| is(e.name)) {
            out.push_str(&format!("enum {} {{\n", schema.types.name(names.name)));
            for (value, name) in &names.values {
                out.push_str(&format!("  {} = {value};\n", schema.types.name(*name)));
            }
            out.push_str("}\n");
        }
    }
    if out.is_empty() {
        complain(&format!("the schema has no {}", name.unwrap_or("method")));
        return Ok(Exit::No);
    }
    print(None, &out)?;
    Ok(Exit::Clean)
}

/// A method with its id in the three ways in which one meets it.
fn method_line(schema: &Schema, method: &crate::protocol::telequick::Method) -> String {
    let [a, b, c, d] = method.id.to_le_bytes();
    let name = schema.types.name(method.name);
    let structs = match method.input {
        Some(input) => {
            let stream = if method.streaming { "stream " } else { "" };
            format!(
                "{} -> {stream}{}",
                schema.struct_name(input),
                schema.struct_name(method.output)
            )
        }
        None => format!("stream of {}", schema.struct_name(method.output)),
    };
    format!(
        "{name:<20} {:>10}  0x{:08x}  {a:02x} {b:02x} {c:02x} {d:02x}  {structs}\n",
        method.id, method.id
    )
}

fn type_name(schema: &Schema, kind: &Type) -> String {
    match kind {
        Type::Bool => "bool".into(),
        Type::Int(width) => format!("int{}", width * 8),
        Type::Uint(width) => format!("uint{}", width * 8),
        Type::Double => "double".into(),
        Type::Str => "string".into(),
        Type::Bytes => "bytes".into(),
        Type::Enum(id) => schema
            .types
            .enums
            .get(*id as usize)
            .map_or(String::new(), |e| schema.types.name(e.name).into()),
        Type::Struct(id) => schema.struct_name(*id).into(),
        Type::Vector(inner) => format!("vector<{}>", type_name(schema, inner)),
    }
}

fn id(method: &str, structs: Option<(&str, &str)>, namespace: &str, service: &str) -> Result<Exit> {
    let schema = Schema::builtin();
    let known = schema.method_named(method);
    let found =
        known.and_then(|m| Some((schema.struct_name(m.input?), schema.struct_name(m.output))));
    let Some((request, response)) = structs.or(found) else {
        complain(&format!(
            "the schema has no method {method}: name its structs with --request and --response"
        ));
        return Ok(Exit::No);
    };
    let id = method_id(namespace, service, method, request, response);
    let [a, b, c, d] = id.to_le_bytes();
    let mut text = format!("{method}: {id}  0x{id:08x}  {a:02x} {b:02x} {c:02x} {d:02x}\n");
    if let Some(known) = known.filter(|m| m.id != id) {
        text.push_str(&format!(
            "the schema has {} (0x{:08x}) for it: these names do not give that id\n",
            known.id, known.id
        ));
    }
    print(None, &text)?;
    Ok(Exit::Clean)
}
