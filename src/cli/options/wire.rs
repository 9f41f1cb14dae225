//! How bytes are understood: which protocol, how delimited, within which limits.

use crate::cli::config::settings;
use crate::cli::values::{
    framing_names, length_mode, names, protocol_names, read_text, signature, size,
};
use crate::decoder;
use crate::encoding::Want;
use crate::framing::{Framing, LengthMode, Limits};
use crate::protocol::Setting;
use crate::protocol::registry::{Extensions, Protocols, Signature};
use clap::Args;
use std::path::PathBuf;

/// How the bytes are understood.
#[derive(Args)]
#[command(next_help_heading = "Protocol")]
pub struct Wire {
    /// Which protocol; detected where it is not given
    #[arg(short, long, value_name = "PROTOCOL", value_parser = names(protocol_names()))]
    pub protocol: Option<String>,
    /// How messages are delimited; detected where it is not given
    #[arg(long, value_name = "FRAMING", default_value = "auto", value_parser = names(framing_names()))]
    pub framing: String,
    /// How telequick's lengths count
    #[arg(long, value_name = "MODE", default_value = "auto", value_parser = length_mode())]
    pub length_mode: LengthMode,
    /// telequick definitions that replace or extend the built-in ones
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// telequick: read every body as this struct
    #[arg(long = "struct", value_name = "NAME")]
    pub as_struct: Option<String>,
    /// oracle: show arguments and results as values, `pow(u256) -> u256` (repeatable); results only where there is one
    /// signature, since they do not say what they answer
    #[arg(long, value_name = "SIGNATURE", value_parser = signature)]
    pub signature: Vec<Signature>,
    /// Longest message, inflated size included: bytes, or with K, M, G
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = size)]
    pub max_message: u32,
    /// Deepest nesting that is read
    #[arg(long, value_name = "LEVELS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_depth: u32,
    /// Stop at the first bad frame instead of looking for the next good one
    #[arg(long)]
    pub no_resync: bool,
}

/// The protocols as commands that write see them: with the schema that is given.
pub fn protocols_for_writing(
    schema: Option<&std::path::Path>,
    name: Option<&str>,
) -> anyhow::Result<Protocols> {
    let extensions = Extensions {
        schema: read_schema(schema)?,
        ..Extensions::default()
    };
    let name = name.or(settings().protocol()).map(str::to_owned);
    Protocols::new(extensions, name).map_err(anyhow::Error::msg)
}

/// Bytes of a schema.
const LARGEST: u64 = 16 << 20;

/// The schema that is given or set, with its name.
fn read_schema(given: Option<&std::path::Path>) -> anyhow::Result<Option<(String, String)>> {
    let Some(path) = given.or(settings().schema()) else {
        return Ok(None);
    };
    let text = read_text(path, LARGEST)?;
    Ok(Some((path.display().to_string(), text)))
}

impl Wire {
    /// Reads the schema, if one is given or set.
    pub fn protocols(&self) -> anyhow::Result<Protocols> {
        let settings = settings();
        let signatures = match self.signature.as_slice() {
            [] => settings.signatures(),
            given => given.to_vec(),
        };
        // A flag that only one protocol has can only be meant for that one; a setting waits until it is of use.
        let has_schema = self.schema.is_some() || self.as_struct.is_some();
        let owner = |setting| super::those(|descriptor| descriptor.settings.contains(&setting));
        let [of_schema, of_signature] =
            [Setting::Schema, Setting::Signatures].map(|setting| owner(setting).first().copied());
        let (owner, flags) = match (has_schema, !self.signature.is_empty()) {
            (true, true) => anyhow::bail!(
                "--signature is {}'s, --schema and --struct are {}'s: one of them",
                of_signature.unwrap_or_default(),
                of_schema.unwrap_or_default()
            ),
            (true, false) => (of_schema, "--schema and --struct are"),
            (false, true) => (of_signature, "--signature is"),
            (false, false) => (None, ""),
        };
        match (owner, &self.protocol) {
            (Some(owner), Some(name)) if owner != name => {
                anyhow::bail!("{flags} {owner}'s; the protocol is {name}")
            }
            _ => {}
        }
        let name = self.protocol.as_deref().or(owner).or(settings.protocol());
        let extensions = Extensions {
            schema: read_schema(self.schema.as_deref())?,
            layout: self.as_struct.clone(),
            signatures,
        };
        let protocols = Protocols::new(extensions, name.map(str::to_owned));
        protocols.map_err(anyhow::Error::msg)
    }

    /// What the decoder is told.
    pub fn options<'p>(&self, protocols: &'p Protocols, want: Want) -> decoder::Options<'p> {
        decoder::Options {
            protocols: protocols.possible(),
            framing: Framing::from_name(&self.framing),
            length_mode: self.length_mode,
            limits: Limits {
                message: self.max_message,
                depth: self.max_depth,
            },
            resync: !self.no_resync,
            want,
        }
    }
}
