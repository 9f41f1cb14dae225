//! `wiretool sael token`: inspects, verifies and creates capability tokens.

mod show;

use crate::cli::options::{self, SharedArgs};
use crate::cli::output::print;
use crate::cli::values::{read_input, read_secret_parts};
use crate::cli::{Exit, print_message};
use crate::protocol::sael::capability::{Grant, allows};
use crate::protocol::sael::token::{self, Check, CheckOutcome, Checked, Token, verified};
use crate::render::DisplayOptions;
use crate::render::style::Highlight;
use anyhow::Result;
use serde_json::{Map, Value};
use show::{write_check, write_claim, write_row, write_ruling};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wiretool sael token inspect TOKEN                     claims, times, scope, problems
  wiretool sael token inspect - < token.txt             from stdin
  wiretool sael token verify --secret-file KEY TOKEN    every check of the document
  wiretool sael token mint --secret-file KEY --sub a@b.c --scope 'github:read:*'
  wiretool sael token allows github:read TOKEN          does the scope allow this?";

const INSPECT: &str = "\
Examples:
  wiretool sael token inspect TOKEN
  wiretool sael token inspect --now 2026-11-21T10:00:00Z - < token.txt";

const VERIFY: &str = "\
Examples:
  wiretool sael token verify --secret-file KEY TOKEN
  wiretool sael token verify --secret-file KEY --client-id agent-7 --now 1700000000 - < token.txt";

const MINT: &str = "\
Examples:
  wiretool sael token mint --secret-file KEY --sub a@b.c --scope github:read
  wiretool sael token mint --secret-file KEY --claims \"$(cat claims.json)\"
  wiretool sael token mint --secret-file KEY --claims '{}' --force";

const ALLOWS: &str = "\
Examples:
  wiretool sael token allows github:read:repo --scope 'github:read:*,slack:notify:#dev'
  wiretool sael token allows github:read TOKEN";

const ANSWERS: &str = "\
Exit codes:
  0  success
  1  a problem, a failed check, or not allowed
  2  usage, or a file that cannot be read";

/// Capability tokens: inspect, verify, mint, match
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = ANSWERS, help_template = options::HELP)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    what: TokenCommand,
}

#[derive(clap::Subcommand)]
enum TokenCommand {
    Inspect(Inspect),
    Verify(VerifyArgs),
    Mint(Box<MintArgs>),
    Allows(AllowsArgs),
}

/// Show the claims, times and scope of a token, and its problems
#[derive(clap::Args)]
#[command(before_help = INSPECT, after_help = ANSWERS, help_template = options::HELP)]
struct Inspect {
    /// Token; `-`: stdin, without the final newline
    token: String,
    /// Time of the check: RFC 3339 or seconds since 1970 [default: now]
    #[arg(long, value_name = "TIME", value_parser = super::parse_time, allow_hyphen_values = true)]
    now: Option<i64>,
    /// Do not mask tokens, capabilities and other secrets: show the signature
    #[arg(long)]
    show_secrets: bool,
}

/// Check signature and claims, one line per check
#[derive(clap::Args)]
#[command(before_help = VERIFY, after_help = ANSWERS, help_template = options::HELP)]
struct VerifyArgs {
    /// Token; `-`: stdin, without the final newline
    token: String,
    #[command(flatten)]
    secret: SecretArgs,
    /// Time of the check: RFC 3339 or seconds since 1970 [default: now]
    #[arg(long, value_name = "TIME", value_parser = super::parse_time, allow_hyphen_values = true)]
    now: Option<i64>,
    /// Id of the agent; must equal `client_id` of the token
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
}

/// Create a signed token
#[derive(clap::Args)]
#[command(before_help = MINT, after_help = ANSWERS, help_template = options::HELP)]
struct MintArgs {
    #[command(flatten)]
    secret: SecretArgs,
    /// Claims as JSON; signed exactly as given
    #[arg(long, value_name = "JSON", conflicts_with_all = ["iss", "sub", "scope", "exp", "ttl", "iat", "nbf", "client_id", "max_cost_usd"])]
    claims: Option<String>,
    /// Issuer
    #[arg(long, default_value = "wiretool")]
    iss: String,
    /// Subject
    #[arg(long, required_unless_present = "claims")]
    sub: Option<String>,
    /// Granted capabilities
    #[arg(
        long,
        value_name = "CAPABILITY",
        value_delimiter = ',',
        required_unless_present = "claims"
    )]
    scope: Vec<String>,
    /// Expiry: RFC 3339 or seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = super::parse_time, allow_hyphen_values = true, conflicts_with = "ttl")]
    exp: Option<i64>,
    /// Lifetime from the time of issue: 90, 15m, 1h, 7d
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, default_value = "1h")]
    ttl: i64,
    /// Time of issue [default: now]
    #[arg(long, value_name = "TIME", value_parser = super::parse_time, allow_hyphen_values = true)]
    iat: Option<i64>,
    /// Start of validity: RFC 3339 or seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = super::parse_time, allow_hyphen_values = true)]
    nbf: Option<i64>,
    /// Id of the agent; no other agent may use the token
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Cost limit
    #[arg(long, value_name = "USD")]
    max_cost_usd: Option<f64>,
    /// Write it anyway: claims that the document does not allow
    #[arg(long)]
    force: bool,
}

/// Check whether a scope allows a capability: by the document and by the reference server
#[derive(clap::Args)]
#[command(before_help = ALLOWS, after_help = ANSWERS, help_template = options::HELP)]
struct AllowsArgs {
    /// Required capability
    capability: String,
    /// Token with the scope; `-`: stdin
    #[arg(required_unless_present = "scope")]
    token: Option<String>,
    /// Granted capabilities, instead of a token
    #[arg(
        long,
        value_name = "CAPABILITY",
        value_delimiter = ',',
        conflicts_with = "token"
    )]
    scope: Vec<String>,
}

#[derive(clap::Args)]
struct SecretArgs {
    /// File with the key that signs sael tokens; a final line end is ignored
    #[arg(long, value_name = "FILE")]
    secret_file: PathBuf,
}

/// A secret as it is used, and as the file contains it.
struct SecretKey {
    bytes: Vec<u8>,
    newline: Vec<u8>,
}

impl SecretArgs {
    fn read(&self, shared: &SharedArgs) -> Result<SecretKey> {
        let (bytes, newline) = read_secret_parts(&self.secret_file)?;
        if !newline.is_empty() {
            let name = self.secret_file.display();
            shared.note(&format!(
                "{name}: its final newline is not part of the secret"
            ));
        }
        Ok(SecretKey { bytes, newline })
    }

    /// Returns true if the secret comes from stdin.
    fn is_stdin(&self) -> bool {
        self.secret_file == Path::new("-")
    }
}

/// Parses a duration as seconds.
fn parse_seconds(text: &str) -> Result<i64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 's')) => (text.get(..at), 1),
        Some((at, 'm')) => (text.get(..at), 60),
        Some((at, 'h')) => (text.get(..at), 3600),
        Some((at, 'd')) => (text.get(..at), 86400),
        _ => (Some(text), 1),
    };
    digits
        .and_then(|d| d.parse::<i64>().ok()?.checked_mul(unit))
        .ok_or_else(|| "wanted a duration, such as 90, 15m, 1h or 7d".to_owned())
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    let mut out = String::new();
    let exit = match &args.what {
        TokenCommand::Inspect(args) => inspect(args, display, &mut out)?,
        TokenCommand::Verify(args) => verify(args, shared, display, &mut out)?,
        TokenCommand::Mint(args) => mint(args, shared, &mut out)?,
        TokenCommand::Allows(args) => check_scope(args, display, &mut out)?,
    };
    print(&out)?;
    Ok(exit)
}

/// Returns the token of the argument or of stdin.
fn read_token(text: &str) -> Result<String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let bytes = read_input(Path::new("-"))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

fn inspect(args: &Inspect, display: DisplayOptions, out: &mut String) -> Result<Exit> {
    let text = read_token(&args.token)?;
    let token = Token::parse(&text);
    let now = super::now(args.now);
    write_row(display, Highlight::Plain, "prefix", token.prefix(), "", out);
    write_row(
        display,
        Highlight::Plain,
        "version",
        token.version(),
        "",
        out,
    );
    // In the order of the document, then unknown claims.
    let known = [
        "iss",
        "sub",
        "iat",
        "nbf",
        "exp",
        "client_id",
        "session_id",
        "max_cost_usd",
        "federation_allowed",
        "scope",
    ];
    let empty = Map::new();
    let claims = token.claims().unwrap_or(&empty);
    for name in known {
        if let Some(value) = claims.get(name) {
            write_claim(display, name, value, now, out);
        }
    }
    for (name, value) in claims {
        if !known.contains(&name.as_str()) {
            write_claim(display, name, value, now, out);
        }
    }
    if let (None, Some(json)) = (token.claims(), token.json()) {
        write_row(display, Highlight::Text, "payload", json, "", out);
    }
    match token.signature() {
        Some(signature) if args.show_secrets => {
            write_row(display, Highlight::Text, "signature", signature, "", out);
        }
        Some(signature) => {
            let count = signature.chars().count();
            let text = format!("(secret, {count} characters)");
            write_row(display, Highlight::Note, "signature", &text, "", out);
        }
        None => {}
    }
    for problem in token.problems() {
        display
            .style
            .push_wire(out, Highlight::Error, &format!("✗ {problem}"));
        out.push('\n');
    }
    Ok(Exit::negative_if(!token.problems().is_empty()))
}

fn verify(
    args: &VerifyArgs,
    shared: &SharedArgs,
    display: DisplayOptions,
    out: &mut String,
) -> Result<Exit> {
    anyhow::ensure!(
        !(args.token == "-" && args.secret.is_stdin()),
        "token and secret cannot both come from stdin"
    );
    let text = read_token(&args.token)?;
    let key = args.secret.read(shared)?;
    let now = super::now(args.now);
    let token = Token::parse(&text);
    let id = args.client_id.as_deref();
    let checks = token.verify(&key.bytes, now, id);
    for check in &checks {
        write_check(display, check, &token, now, out);
    }
    let failed = checks
        .iter()
        .filter(|c| c.outcome == CheckOutcome::Failed)
        .count();
    if verified(&checks) {
        display.style.push(out, Highlight::Plain, "valid\n");
        return Ok(Exit::Clean);
    }
    let s = if failed == 1 { "" } else { "s" };
    display.style.push(
        out,
        Highlight::Error,
        &format!("not valid: {failed} check{s} failed"),
    );
    out.push('\n');
    let whole = [key.bytes.as_slice(), &key.newline].concat();
    let signed = |checks: &[Checked]| {
        let mut own = checks.iter().filter(|c| c.check == Check::Signature);
        own.any(|c| c.outcome == CheckOutcome::Passed)
    };
    if !signed(&checks) && signed(&token.verify(&whole, now, id)) {
        print_message(
            "the signature matches if the final newline of the file is part of the secret",
        );
    }
    Ok(Exit::Negative)
}

fn mint(args: &MintArgs, shared: &SharedArgs, out: &mut String) -> Result<Exit> {
    let claims = match &args.claims {
        Some(claims) => claims.clone(),
        None => claims_from_flags(args),
    };
    let key = args.secret.read(shared)?;
    let problems = token::claims_problems(&claims);
    if !problems.is_empty() {
        for problem in &problems {
            if !shared.quiet || !args.force {
                print_message(&problem.to_string());
            }
        }
        if !args.force {
            print_message("the document does not allow these claims: --force signs them anyway");
            return Ok(Exit::Negative);
        }
    }
    let token = token::mint(&claims, &key.bytes).map_err(|p| anyhow::anyhow!("{p}"))?;
    out.push_str(&token);
    out.push('\n');
    Ok(Exit::Clean)
}

/// Returns the claims of the flags, in the order of the document.
fn claims_from_flags(args: &MintArgs) -> String {
    let iat = super::now(args.iat);
    let exp = args.exp.unwrap_or_else(|| iat.saturating_add(args.ttl));
    let mut members = vec![
        ("iss", Value::from(args.iss.as_str())),
        ("sub", args.sub.as_deref().unwrap_or_default().into()),
        ("iat", iat.into()),
    ];
    members.extend(args.nbf.map(|nbf| ("nbf", nbf.into())));
    members.push(("exp", exp.into()));
    let scope: Vec<Value> = args.scope.iter().map(|s| s.as_str().into()).collect();
    members.push(("scope", scope.into()));
    members.extend(args.client_id.as_deref().map(|id| ("client_id", id.into())));
    members.extend(args.max_cost_usd.map(|usd| ("max_cost_usd", usd.into())));
    let members: Vec<String> = members
        .into_iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

fn check_scope(args: &AllowsArgs, display: DisplayOptions, out: &mut String) -> Result<Exit> {
    let text = args.token.as_deref().map(read_token).transpose()?;
    let token = text.as_deref().map(Token::parse);
    let scope: Vec<&str> = match &token {
        Some(token) => {
            if token.claims().is_none() {
                anyhow::bail!("the claims of the token cannot be read: see sael token inspect");
            }
            token.scope()
        }
        None => args.scope.iter().map(String::as_str).collect(),
    };
    let found = allows(&scope, &args.capability);
    for (name, ruling) in [("document", &found.document), ("server", &found.code)] {
        write_ruling(display, name, ruling, out);
    }
    if !found.agree() {
        let text = "they differ: the reference server supports only exact names, `*`, and `x:*` for \
            everything below x\n";
        display.style.push(out, Highlight::Note, text);
    }
    let both = [found.document, found.code];
    Ok(Exit::negative_if(
        both.iter().any(|r| r.verdict != Grant::Yes),
    ))
}
