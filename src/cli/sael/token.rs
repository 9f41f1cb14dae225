//! `wiretool sael token`: capability tokens, taken apart, verified, minted.

mod say;

use crate::cli::options::{self, Shared};
use crate::cli::output::Output;
use crate::cli::{Exit, complain};
use crate::protocol::sael::capability::{Verdict, allows};
use crate::protocol::sael::token::{self, Check, Checked, Outcome, Token, verified};
use crate::render::Look;
use crate::render::style::Tone;
use anyhow::Result;
use say::{claim, line, row, say};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wiretool sael token inspect TOKEN                     claims, times in words, scope, problems
  wiretool sael token inspect - < token.txt             from stdin
  wiretool sael token verify --secret-file KEY TOKEN    every check of the document
  wiretool sael token mint --secret-file KEY --sub a@b.c --scope 'github:read:*'
  wiretool sael token allows github:read TOKEN          does its scope cover this?";

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
  wiretool sael token mint --secret-file KEY --sub a@b.c --scope 'github:read:*,slack:notify:#dev'
  wiretool sael token mint --secret-file KEY --claims \"$(cat claims.json)\"
  wiretool sael token mint --secret-file KEY --claims '{}' --force      a wrong one, on purpose";

const ALLOWS: &str = "\
Examples:
  wiretool sael token allows github:read:repo --scope 'github:read:*,slack:notify:#dev'
  wiretool sael token allows github:read TOKEN";

const ANSWERS: &str = "\
Exit codes:
  0  all is well
  1  the answer is no: a problem, a check that failed, not covered
  2  usage, or a file that cannot be read";

/// Capability tokens: inspect, verify, mint, match
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = ANSWERS, help_template = options::HELP)]
#[command(
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Inspect(Inspect),
    Verify(Verify),
    Mint(Box<Mint>),
    Allows(Allows),
}

/// Take a token apart: claims, times in words, scope, and what is wrong with it
#[derive(clap::Args)]
#[command(before_help = INSPECT, after_help = ANSWERS, help_template = options::HELP)]
struct Inspect {
    /// The token; `-` reads it from stdin, less the newline at its end
    token: String,
    /// What time it is: RFC 3339 or seconds since 1970; the clock's where not given
    #[arg(long, value_name = "TIME", value_parser = super::time, allow_hyphen_values = true)]
    now: Option<i64>,
    /// Show secrets in clear: the signature, which makes the token usable
    #[arg(long)]
    show_secrets: bool,
}

/// Make every check of the document, a line each
#[derive(clap::Args)]
#[command(before_help = VERIFY, after_help = ANSWERS, help_template = options::HELP)]
struct Verify {
    /// The token; `-` reads it from stdin, less the newline at its end
    token: String,
    #[command(flatten)]
    secret: Secret,
    /// What time it is: RFC 3339 or seconds since 1970; the clock's where not given
    #[arg(long, value_name = "TIME", value_parser = super::time, allow_hyphen_values = true)]
    now: Option<i64>,
    /// The agent's id, which a token's `client_id` must be
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
}

/// Write a token over claims
#[derive(clap::Args)]
#[command(before_help = MINT, after_help = ANSWERS, help_template = options::HELP)]
struct Mint {
    #[command(flatten)]
    secret: Secret,
    /// The claims, signed exactly as they are written here
    #[arg(long, value_name = "JSON", conflicts_with_all = ["iss", "sub", "scope", "exp", "ttl", "iat", "nbf", "client_id", "max_cost_usd"])]
    claims: Option<String>,
    /// Who issues it
    #[arg(long, default_value = "wiretool")]
    iss: String,
    /// Whom it is for
    #[arg(long, required_unless_present = "claims")]
    sub: Option<String>,
    /// The capabilities that are granted
    #[arg(
        long,
        value_name = "CAPABILITY",
        value_delimiter = ',',
        required_unless_present = "claims"
    )]
    scope: Vec<String>,
    /// When it ends: RFC 3339 or seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = super::time, allow_hyphen_values = true, conflicts_with = "ttl")]
    exp: Option<i64>,
    /// How long it lasts from when it is issued: 90, 15m, 1h, 7d
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "1h")]
    ttl: i64,
    /// When it is issued; now where not given
    #[arg(long, value_name = "TIME", value_parser = super::time, allow_hyphen_values = true)]
    iat: Option<i64>,
    /// Before when it must not be used
    #[arg(long, value_name = "TIME", value_parser = super::time, allow_hyphen_values = true)]
    nbf: Option<i64>,
    /// The agent's id: no other may use the token
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// What it may cost
    #[arg(long, value_name = "USD")]
    max_cost_usd: Option<f64>,
    /// Do it all the same: sign claims that the document does not allow
    #[arg(long)]
    force: bool,
}

/// Whether a scope covers a capability, by the document's rule and by the reference server's; 0 where both say so
#[derive(clap::Args)]
#[command(before_help = ALLOWS, after_help = ANSWERS, help_template = options::HELP)]
struct Allows {
    /// The capability that is required
    capability: String,
    /// The token whose scope it is; `-` reads it from stdin
    #[arg(required_unless_present = "scope")]
    token: Option<String>,
    /// The capabilities that are granted, in place of a token
    #[arg(
        long,
        value_name = "CAPABILITY",
        value_delimiter = ',',
        conflicts_with = "token"
    )]
    scope: Vec<String>,
}

#[derive(clap::Args)]
struct Secret {
    /// What sael tokens are signed with: a file; one newline at its end is not part of it
    #[arg(long, value_name = "FILE")]
    secret_file: PathBuf,
}

/// A secret as it counts, and as the file has it.
struct Key {
    bytes: Vec<u8>,
    newline: Vec<u8>,
}

impl Secret {
    fn read(&self, shared: &Shared) -> Result<Key> {
        let mut bytes = super::read(&self.secret_file)?;
        let stripped = [&b"\r\n"[..], b"\n"]
            .into_iter()
            .find(|end| bytes.ends_with(end))
            .unwrap_or_default();
        bytes.truncate(bytes.len() - stripped.len());
        let name = self.secret_file.display();
        anyhow::ensure!(!bytes.is_empty(), "{name} is empty: there is no secret");
        if !stripped.is_empty() && !shared.quiet {
            complain(&format!(
                "{name}: the newline at its end is not taken as part of the secret"
            ));
        }
        Ok(Key {
            bytes,
            newline: stripped.to_vec(),
        })
    }

    /// Whether stdin is spoken for.
    fn is_stdin(&self) -> bool {
        self.secret_file == Path::new("-")
    }
}

/// A duration in seconds.
fn seconds(text: &str) -> Result<i64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 's')) => (text.get(..at), 1),
        Some((at, 'm')) => (text.get(..at), 60),
        Some((at, 'h')) => (text.get(..at), 3600),
        Some((at, 'd')) => (text.get(..at), 86400),
        _ => (Some(text), 1),
    };
    digits
        .and_then(|d| d.parse::<i64>().ok()?.checked_mul(unit))
        .ok_or_else(|| "a duration is wanted, such as 90, 15m, 1h or 7d".to_owned())
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
    let mut out = String::new();
    let exit = match &args.what {
        What::Inspect(args) => inspect(args, look, &mut out)?,
        What::Verify(args) => verify(args, shared, look, &mut out)?,
        What::Mint(args) => mint(args, shared, &mut out)?,
        What::Allows(args) => may(args, look, &mut out)?,
    };
    let mut output = Output::open(None, &[])?;
    output.room().extend_from_slice(out.as_bytes());
    output.finish()?;
    Ok(exit)
}

/// The token itself, or what stdin has.
fn given(text: &str) -> Result<String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let bytes = super::read(Path::new("-"))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

fn inspect(args: &Inspect, look: Look, out: &mut String) -> Result<Exit> {
    let text = given(&args.token)?;
    let token = Token::parse(&text);
    let now = super::now(args.now);
    row(look, Tone::Plain, "prefix", token.prefix(), "", out);
    row(look, Tone::Plain, "version", token.version(), "", out);
    // In the document's order, then what it does not know.
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
            claim(look, name, value, now, out);
        }
    }
    for (name, value) in claims {
        if !known.contains(&name.as_str()) {
            claim(look, name, value, now, out);
        }
    }
    if let (None, Some(json)) = (token.claims(), token.json()) {
        row(look, Tone::Text, "payload", json, "", out);
    }
    match token.signature() {
        Some(signature) if args.show_secrets => {
            row(look, Tone::Text, "signature", signature, "", out);
        }
        Some(signature) => {
            let count = signature.chars().count();
            let text = format!("(secret, {count} characters)");
            row(look, Tone::Note, "signature", &text, "", out);
        }
        None => {}
    }
    for problem in token.problems() {
        look.style.wire(out, Tone::Bad, &format!("✗ {problem}"));
        out.push('\n');
    }
    Ok(if token.problems().is_empty() {
        Exit::Clean
    } else {
        Exit::No
    })
}

fn verify(args: &Verify, shared: &Shared, look: Look, out: &mut String) -> Result<Exit> {
    anyhow::ensure!(
        !(args.token == "-" && args.secret.is_stdin()),
        "token and secret cannot both come from stdin"
    );
    let text = given(&args.token)?;
    let key = args.secret.read(shared)?;
    let now = super::now(args.now);
    let token = Token::parse(&text);
    let id = args.client_id.as_deref();
    let checks = token.verify(&key.bytes, now, id);
    for check in &checks {
        line(look, check, &token, now, out);
    }
    let failed = checks
        .iter()
        .filter(|c| c.outcome == Outcome::Failed)
        .count();
    if verified(&checks) {
        look.style.put(out, Tone::Plain, "valid\n");
        return Ok(Exit::Clean);
    }
    let s = if failed == 1 { "" } else { "s" };
    look.style.put(
        out,
        Tone::Bad,
        &format!("not valid: {failed} check{s} failed"),
    );
    out.push('\n');
    let whole = [key.bytes.as_slice(), &key.newline].concat();
    let signed = |checks: &[Checked]| {
        let mut own = checks.iter().filter(|c| c.check == Check::Signature);
        own.any(|c| c.outcome == Outcome::Passed)
    };
    if !signed(&checks) && signed(&token.verify(&whole, now, id)) {
        complain(
            "with the newline at the end of the secret's file, the signature matches: whoever signed took it along",
        );
    }
    Ok(Exit::No)
}

fn mint(args: &Mint, shared: &Shared, out: &mut String) -> Result<Exit> {
    let claims = match &args.claims {
        Some(claims) => claims.clone(),
        None => built(args),
    };
    let key = args.secret.read(shared)?;
    let problems = token::claims_problems(&claims);
    if !problems.is_empty() {
        for problem in &problems {
            if !shared.quiet || !args.force {
                complain(&problem.to_string());
            }
        }
        if !args.force {
            complain("the document does not allow these claims: --force signs them all the same");
            return Ok(Exit::No);
        }
    }
    let token = token::mint(&claims, &key.bytes).map_err(|p| anyhow::anyhow!("{p}"))?;
    out.push_str(&token);
    out.push('\n');
    Ok(Exit::Clean)
}

/// Claims from flags, in the document's order.
fn built(args: &Mint) -> String {
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

fn may(args: &Allows, look: Look, out: &mut String) -> Result<Exit> {
    let text = args.token.as_deref().map(given).transpose()?;
    let token = text.as_deref().map(Token::parse);
    let scope: Vec<&str> = match &token {
        Some(token) => {
            if token.claims().is_none() {
                anyhow::bail!("the token has no claims that could be read: see sael token inspect");
            }
            token.scope()
        }
        None => args.scope.iter().map(String::as_str).collect(),
    };
    let found = allows(&scope, &args.capability);
    for (name, ruling) in [("document", &found.document), ("server", &found.code)] {
        say(look, name, ruling, out);
    }
    if !found.agree() {
        let text = "they differ: the reference server matches whole text, `*`, and `x:*` for what is below x, nothing else\n";
        look.style.put(out, Tone::Note, text);
    }
    let both = [found.document, found.code];
    Ok(if both.iter().all(|r| r.verdict == Verdict::Yes) {
        Exit::Clean
    } else {
        Exit::No
    })
}
