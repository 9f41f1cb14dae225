//! `wiretool telequick`: schemas and method ids; the sound of calls.

mod audio;

use super::options::{self, SharedArgs};
use super::output::{CommandOutput, print};
use super::values::read_string;
use super::{Exit, print_message};
use crate::encoding::serde_envelope::FieldType;
use crate::protocol::telequick::{Schema, format, method_id};
use anyhow::Result;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wiretool telequick schema show                 methods with their ids and structs
  wiretool telequick schema show BargeRequest    one struct, enum or method
  wiretool telequick schema check my.tq          check a schema file
  wiretool telequick schema format my.tq         print it in the standard layout
  wiretool telequick schema id Barge             the id of a method
  wiretool telequick audio call.jsonl -o call.wav  the sound of a call";

const CHECK_EXAMPLES: &str = "\
Examples:
  wiretool telequick schema check my.tq          errors with their line
  wiretool telequick schema check *.tq           several files, each on its own";

const FORMAT_EXAMPLES: &str = "\
Examples:
  wiretool telequick schema format my.tq           to stdout
  wiretool telequick schema format my.tq -o my.tq  in place";

const SHOW_EXAMPLES: &str = "\
Examples:
  wiretool telequick schema show                        methods with their ids and structs
  wiretool telequick schema show BargeRequest           one struct, enum or method
  wiretool telequick schema show --schema my.tq Barge   with your own definitions";

const ID_EXAMPLES: &str = "\
Examples:
  wiretool telequick schema id Barge
  wiretool telequick schema id Ring --request RingRequest --response RingResponse";

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  the schema is not valid, or does not have this name
  2  usage, or a file that cannot be read";

/// Commands for telequick: schemas, method ids, sound of calls
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    topic: Topic,
}

#[derive(clap::Subcommand)]
enum Topic {
    /// Check, format and show schemas; compute method ids
    #[command(subcommand, before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
    #[command(disable_help_subcommand = true)]
    Schema(TelequickCommand),
    Audio(audio::Args),
}

#[derive(clap::Subcommand)]
enum TelequickCommand {
    /// Check schema files, and report errors with their line
    #[command(before_help = CHECK_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
    Check {
        /// Schema files; each may use the built-in definitions
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print a schema in the standard layout, with its comments
    #[command(before_help = FORMAT_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
    Format {
        /// Schema file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Write to this file, completely or not at all
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Show all methods, or one definition
    #[command(before_help = SHOW_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
    Show {
        /// Method, struct or enum
        name: Option<String>,
        /// telequick: schema file that extends or replaces the built-in one
        #[arg(long, value_name = "FILE")]
        schema: Option<PathBuf>,
    },
    /// Compute the id of a method from its names
    #[command(before_help = ID_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
    Id {
        /// Method
        method: String,
        /// Struct of the request [default: from the schema]
        #[arg(long, value_name = "STRUCT", requires = "response")]
        request: Option<String>,
        /// Struct of the response
        #[arg(long, value_name = "STRUCT", requires = "request")]
        response: Option<String>,
        /// Namespace of the service
        #[arg(long, default_value = "clutchcall::api")]
        namespace: String,
        /// Service
        #[arg(long, default_value = "clutchcall")]
        service: String,
    },
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    let command = match &args.topic {
        Topic::Schema(command) => command,
        Topic::Audio(args) => return audio::run(args, shared),
    };
    match command {
        TelequickCommand::Check { files } => check(files),
        TelequickCommand::Format { file, output } => {
            let text = read_string(file)?;
            match format(&text) {
                Ok(text) => {
                    // The flag may name the input: the file is then formatted in place.
                    let mut output = CommandOutput::open(output.as_deref(), &[])?;
                    output.push(text);
                    output.finish()?;
                    Ok(Exit::Clean)
                }
                Err(error) => {
                    print_message(&format!("{}:{error}", file.display()));
                    Ok(Exit::Negative)
                }
            }
        }
        TelequickCommand::Show { name, schema } => show(name.as_deref(), schema.as_deref()),
        TelequickCommand::Id {
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

fn check(files: &[PathBuf]) -> Result<Exit> {
    let mut exit = Exit::Clean;
    for file in files {
        if let Err(error) = Schema::builtin().extend(&read_string(file)?) {
            print_message(&format!("{}:{error}", file.display()));
            exit = Exit::Negative;
        }
    }
    Ok(exit)
}

fn show(name: Option<&str>, path: Option<&Path>) -> Result<Exit> {
    let extended = match path {
        Some(path) => match Schema::builtin().extend(&read_string(path)?) {
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
        print_message(&format!("the schema has no {}", name.unwrap_or("method")));
        return Ok(Exit::Negative);
    }
    print(&out)
}

/// Returns a method with its id in its three common forms.
fn method_line(schema: &Schema, method: &crate::protocol::telequick::RpcMethod) -> String {
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

fn type_name(schema: &Schema, kind: &FieldType) -> String {
    match kind {
        FieldType::Bool => "bool".into(),
        FieldType::Int(width) => format!("int{}", width * 8),
        FieldType::Uint(width) => format!("uint{}", width * 8),
        FieldType::Double => "double".into(),
        FieldType::Str => "string".into(),
        FieldType::Bytes => "bytes".into(),
        FieldType::Enum(id) => schema
            .types
            .enums
            .get(*id as usize)
            .map_or(String::new(), |e| schema.types.name(e.name).into()),
        FieldType::Struct(id) => schema.struct_name(*id).into(),
        FieldType::Vector(inner) => format!("vector<{}>", type_name(schema, inner)),
    }
}

fn id(method: &str, structs: Option<(&str, &str)>, namespace: &str, service: &str) -> Result<Exit> {
    let schema = Schema::builtin();
    let known = schema.method_named(method);
    let found =
        known.and_then(|m| Some((schema.struct_name(m.input?), schema.struct_name(m.output))));
    let Some((request, response)) = structs.or(found) else {
        print_message(&format!(
            "the schema has no method {method}: name its structs with --request and --response"
        ));
        return Ok(Exit::Negative);
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
    print(&text)
}
