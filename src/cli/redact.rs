//! `wiretool redact`: replaces the secrets in a recording, so that it can be shared.

use super::options::{self, SharedArgs};
use super::output::CommandOutput;
use super::progress::ReadProgress;
use super::{Exit, count_text, print_message, recording};
use crate::encoding::Want;
use crate::redact::{RedactConfig, RedactError, redact};
use anyhow::{Context as _, Result};
use regex::Regex;
use std::cell::RefCell;
use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool redact calls.jsonl -o shown.jsonl
  wiretool redact calls.jsonl -o shown.jsonl --key 'pin*'      also values with these names
  wiretool redact calls.jsonl -o shown.jsonl --value '\\d{16}'  also text that matches";

const REPLACED: &str = "\
Secret names, in every protocol; case and separators are ignored:
  names           auth bearer cookies credentials csrf otp pass passwords pin pwd
                  secrets setcookie totp xsrf
  endings         accesskey apikey authkey authorization connectionstring cookie
                  credential encryptionkey hmackey jwt licensekey mfacode otpcode
                  passcode passphrase passwd password passwordhash pincode
                  privatekey secret secretkey signingkey sshkey subscriptionkey
                  token
  but not         partialresulttoken progresstoken workdonetoken
  HTTP, queries   authentication dpop xauth xotp; endings connectionid
                  functionskey sessionid signature signature256; in queries code
                  key pw sig ticket
  --key NAME      your own names; `*` matches any text
Values that are replaced:
  messages        values with these names, also in JSON inside text; secrets of
                  the protocol
  child           its arguments, and everything that it wrote to stderr
  recording       values with these names in the header and events; passwords in
                  addresses
  authorization   the text after the scheme; also in proxy-authorization, after
                  Bearer and Basic
  cookies         values in cookie and set-cookie
  subprotocols    the text after authorization, bearer, jwt, key, secret or
                  token; also 16 or more characters with a digit, and with a
                  capital letter or without a hyphen
  user:pass@host  the password in a URL or in Host; without a password, the user
  lists           the value after a flag with a secret name, and of such a flag;
                  the password after -u or --user; after --key, 16 or more
                  characters that look random; the value beside a secret name,
                  as in {name: …, value: …} and {key: …, value: …}; in a list
                  whose name is a plural (tokens), texts of 6 characters with a
                  digit; the text after token: in a first parameter, as in aria2
  texts           passwords and parameters of URLs, fields of heads, flags and
                  variables inside texts, unless the value looks like a word;
                  after a secret name and a colon, values of 6 characters with
                  a digit, as in password: hunter22
  forms           keys of GitHub (ghp_ gho_ ghu_ ghs_ ghr_ github_pat_), GitLab
                  (glpat-), Slack (xoxb- xoxp- xoxa- xoxe- xoxr- xoxs-),
                  Anthropic, OpenAI (sk-), Stripe (sk_live_ sk_test_ rk_live_),
                  npm_, pypi-, Hugging Face (hf_), Amazon (AKIA ASIA) and Google
                  (AIza); JSON Web Tokens (eyJ); lines of a PEM PRIVATE KEY-----
  gzip, deflate   all of these in HTTP bodies and their events; if the
                  placeholders need more space, all their letters and digits are
                  a and 1
  other bytes     all of these in bytes that are not a message; words of 16
                  characters
  --value REGEX   matches in texts of messages, in HTTP heads, and in other bytes,
                  of any length
  copies          each of these secrets in other places: from 4 bytes as a whole
                  value, from 8 bytes also inside other text, base64 and hex

A placeholder has the length of its secret, letters for letters and digits for digits. Equal secrets \
have equal placeholders. Refused HTTP heads and trailers are read, too. redact reports bytes that it did not examine.

Exit codes:
  0  the secrets were replaced
  1  refused: a compressed body or message has a secret that cannot be replaced,
     or cannot be inflated; or the result still has one of the secrets, of 8
     bytes or more: as it is, in Base64, in hex, or escaped as in URLs or JSON
  2  usage, not a recording, or a file that cannot be read or written";

const SEARCHED: &str = "searched for secret names, credentials in addresses, heads and commands, and known forms of keys (`wiretool redact --help` \
lists them); no other text was searched: --value REGEX adds it";

/// Replace the secrets in a recording with placeholders
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = REPLACED, help_template = options::HELP)]
pub struct Args {
    /// Recording; `-` or none: stdin
    #[arg(value_name = "RECORDING", value_parser = options::capture())]
    recording: Option<PathBuf>,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Values with this name are secret, too; `*` matches any text (repeatable)
    #[arg(long, alias = "field", value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new(), help_heading = "Secrets")]
    key: Vec<String>,
    /// Text that matches this expression is secret, too (repeatable)
    #[arg(long, value_name = "REGEX", value_parser = Regex::new, help_heading = "Secrets")]
    value: Vec<Regex>,
    #[command(flatten)]
    wire: options::WireArgs,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    let path = args.recording.clone().unwrap_or_else(|| "-".into());
    anyhow::ensure!(
        args.recording.is_some() || !std::io::stdin().is_terminal(),
        "no RECORDING, and stdin is a terminal: name one, or pipe one in (--help has examples)"
    );
    let name = super::encode::input_name(Some(&path));
    let recording = recording::read(&path)?;
    let key = random_key()?;
    let protocols = args.wire.protocols()?;
    let shown = RefCell::new(None);
    let progress = |done, all| {
        let mut shown = shown.borrow_mut();
        if done == 0 {
            *shown = ReadProgress::new(all, !shared.quiet);
        }
        if let Some(shown) = shown.as_mut() {
            shown.set_done(done);
        }
    };
    let settings = RedactConfig {
        decode: args.wire.options(&protocols, Want::Exact),
        keys: args.key.clone(),
        values: args.value.clone(),
        key,
        progress: &progress,
    };
    let redacted = redact(&recording, &settings);
    drop(shown.take());
    let redacted = match redacted {
        Ok(redacted) => redacted,
        Err(RedactError::Unreadable(text)) => anyhow::bail!("{name}: {text}"),
        Err(RedactError::Compressed(text)) => {
            print_message(&format!("{name}: refused: {text}"));
            return Ok(Exit::Negative);
        }
        Err(RedactError::Left(text)) => {
            print_message(&format!(
                "{name}: refused: {text}; --value replaces it there"
            ));
            return Ok(Exit::Negative);
        }
    };
    let mut output = CommandOutput::open(args.output.as_deref(), &[path])?;
    output.buffer().extend_from_slice(&redacted.out);
    output.finish()?;
    for note in &redacted.notes {
        shared.note(&format!("{name}: {note}"));
    }
    let mut all = vec![count_text(redacted.secrets as u64, "secret", "secrets") + " replaced"];
    all.extend(redacted.also_replaced);
    shared.note(&format!("{name}: {}", all.join(", ")));
    shared.note(&format!("{name}: {SEARCHED}"));
    Ok(Exit::Clean)
}

/// Returns a random key for stand-ins.
pub fn random_key() -> Result<[u8; 32]> {
    let mut key = [0; 32];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut key))
        .context("cannot make a random key")?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::REPLACED;
    use crate::framing::fields::{
        ENDINGS, NAMES, OTHER_TOKENS, QUERY_NAMES, WEB_ENDINGS, WEB_NAMES, key_starts,
    };

    #[test]
    fn help_lists_every_secret_name_and_form() {
        let words: Vec<&str> = REPLACED.split(|c: char| !c.is_alphanumeric()).collect();
        let all = NAMES.iter().chain(&ENDINGS).chain(&OTHER_TOKENS);
        let web = WEB_ENDINGS.iter().chain(&WEB_NAMES);
        for name in all.chain(&QUERY_NAMES).chain(web) {
            assert!(words.contains(name), "{name}");
        }
        for start in key_starts() {
            assert!(REPLACED.contains(start), "{start}");
        }
    }
}
