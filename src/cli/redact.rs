//! `wiretool redact`: a recording that can be shown to others.

use super::options::{self, Shared};
use super::output::Output;
use super::{Exit, complain, recording};
use crate::capture::recording::Record;
use crate::encoding::Want;
use crate::redact::{Refused, Settings, redact};
use anyhow::{Context as _, Result};
use regex::Regex;
use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool redact calls.jsonl -o shown.jsonl                   tokens, headers, arguments, stderr
  wiretool redact calls.jsonl -o shown.jsonl --key 'pin*'      and values of such a name
  wiretool redact calls.jsonl -o shown.jsonl --value '\\d{16}'  and such text wherever it stands";

const REPLACED: &str = "\
Secret names, in every protocol, whatever the value's type; case and separators do not count:
  names           auth bearer cookies credentials pass passwords pwd secrets setcookie
  endings         accesskey apikey authorization cookie credential jwt passcode passphrase passwd
                  password privatekey secret secretkey token
  but not         partialresulttoken progresstoken workdonetoken
  HTTP, queries   endings sessionid signature signingkey; in queries code key sig ticket
  --key NAME      names of your own; `*` stands for anything
What is replaced:
  messages        values under such names, in JSON inside text too; what the protocol calls secret
  a child         its arguments, and all that it wrote to stderr
  the recording   the same names in its header and events, and passwords in its addresses
  authorization   what follows the scheme; so in proxy-authorization, and after Bearer and Basic
  cookies         their values, in cookie and set-cookie
  subprotocols    what follows a word in authorization, bearer, jwt, key, secret, token
  random ones     from a word of 16 characters on, with a digit, and with a capital or no hyphen
  user:pass@host  the password in a URL or in Host; the user where none is there
  no message      in other bytes all of these, and words of 16 characters
  --value REGEX   what matches in texts of messages, in HTTP's heads, and in other bytes
  elsewhere       all of these: texts of 4 bytes and more; from 8 on inside others, base64, hex

Stand-ins are as long, letters for letters and digits for digits, and equal where secrets are.
Heads that were refused and trailers are read, too. Texts in messages are not searched for URLs:
name what is secret there. What was not examined is reported.

Exit codes:
  0  it is redacted
  1  refused: a compressed body has a secret, or may have one
  2  usage, or a file that cannot be read or written, or is no recording";

/// Replace what is secret in a recording, by stand-ins of the same length and kind
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = REPLACED, help_template = options::HELP)]
pub struct Args {
    /// The recording; none, or `-`, is stdin
    #[arg(value_name = "RECORDING")]
    recording: Option<PathBuf>,
    /// Write here, whole or not at all, instead of stdout
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Values of this name are secret, too, in any case; `*` stands for anything (repeatable)
    #[arg(long, alias = "field", value_name = "NAME", help_heading = "Secrets")]
    key: Vec<String>,
    /// Text that matches is secret, too (repeatable)
    #[arg(long, value_name = "REGEX", value_parser = Regex::new, help_heading = "Secrets")]
    value: Vec<Regex>,
    #[command(flatten)]
    wire: options::Wire,
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared) -> Result<Exit> {
    let asked = args.recording.clone().unwrap_or_else(|| "-".into());
    anyhow::ensure!(
        args.recording.is_some() || !std::io::stdin().is_terminal(),
        "no RECORDING, and stdin is a terminal: name one, or pipe one in (--help has examples)"
    );
    let name = match asked.display().to_string() {
        name if name == "-" => "stdin".to_owned(),
        name => name,
    };
    let recording = recording::read(&asked)?;
    anyhow::ensure!(
        begins_as_one(&recording),
        "{name}: this is no recording: one begins with a line {{\"wiretool\":1,…}}"
    );
    let mut key = [0; 32];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut key))
        .context("cannot make a random key")?;
    let protocols = args.wire.protocols()?;
    let settings = Settings {
        decode: args.wire.options(&protocols, Want::Exact),
        keys: args.key.clone(),
        values: args.value.clone(),
        key,
    };
    let redacted = match redact(&recording, &settings) {
        Ok(redacted) => redacted,
        Err(Refused::Unreadable(text)) => anyhow::bail!("{name}: {text}"),
        Err(Refused::Compressed(text)) => {
            complain(&format!("{name}: refused: {text}"));
            return Ok(Exit::No);
        }
    };
    let mut output = Output::open(args.output.as_deref(), &[asked])?;
    output.room().extend_from_slice(&redacted.out);
    output.finish()?;
    if !shared.quiet {
        for note in &redacted.notes {
            complain(&format!("{name}: {note}"));
        }
        let secrets = format!("{} secrets replaced", redacted.secrets);
        let all: Vec<String> = [secrets].into_iter().chain(redacted.beside).collect();
        complain(&format!("{name}: {}", all.join(", ")));
    }
    Ok(Exit::Clean)
}

/// Whether the first line that is not blank is a recording's.
fn begins_as_one(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty());
    first.is_some_and(|line| matches!(Record::parse(line), Ok(Record::Header(_))))
}

#[cfg(test)]
mod tests {
    use super::REPLACED;
    use crate::framing::fields::{ENDINGS, NAMES, OTHER_TOKENS, QUERY_NAMES, WEB_ENDINGS};

    #[test]
    fn help_lists_every_secret_name() {
        let words: Vec<&str> = REPLACED.split(|c: char| !c.is_alphanumeric()).collect();
        let all = NAMES.iter().chain(&ENDINGS).chain(&OTHER_TOKENS);
        for name in all.chain(&QUERY_NAMES).chain(&WEB_ENDINGS) {
            assert!(words.contains(name), "{name}");
        }
    }
}
