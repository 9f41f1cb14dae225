//! The options of the decoder: protocol, framing, limits.

use crate::cli::config::settings;
use crate::cli::values::{
    framing_names, length_mode, names, parse_signature, protocol_names, read_text, size,
};
use crate::decoder;
use crate::encoding::Want;
use crate::framing::{LengthMode, Limits};
use crate::protocol::Setting;
use crate::protocol::registry::{self, Extensions, Protocols, Signature};
use clap::Args;
use std::path::PathBuf;

/// The options of the decoder.
#[derive(Args)]
#[command(next_help_heading = "Protocol")]
pub struct WireArgs {
    /// Protocol; detected by default
    #[arg(short, long, value_name = "PROTOCOL", value_parser = names(protocol_names()))]
    pub protocol: Option<String>,
    /// Framing of the messages; detected by default
    #[arg(long, value_name = "FRAMING", default_value = "auto", value_parser = names(framing_names()))]
    pub framing: String,
    /// telequick: how frames count their length; inclusive counts its own 4 bytes, too
    #[arg(long, value_name = "MODE", default_value = "auto", value_parser = length_mode())]
    pub length_mode: LengthMode,
    /// telequick: schema file that extends or replaces the built-in one
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// telequick: read every body as this struct
    #[arg(long = "struct", value_name = "NAME")]
    pub as_struct: Option<String>,
    /// oracle: show arguments and results as values: `pow(u256) -> u256` (repeatable)
    ///
    /// With several signatures only arguments are shown as values: a result does not name its selector.
    #[arg(long, value_name = "SIGNATURE", value_parser = parse_signature)]
    pub signature: Vec<Signature>,
    /// Limit for the size of a message, also after inflation: bytes, or with K, M, G
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = size)]
    pub max_message: u32,
    /// Limit for the depth of nesting
    #[arg(long, value_name = "LEVELS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_depth: u32,
    /// Stop at the first bad frame; do not search for the next good one
    #[arg(long)]
    pub no_resync: bool,
}

/// Returns the protocols for commands that write, with the schema of the flag.
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

/// The maximum size of a schema, in bytes.
const MAX_SCHEMA: u64 = 16 << 20;

/// Reads the schema of the flag or the setting; returns it with its name.
fn read_schema(given: Option<&std::path::Path>) -> anyhow::Result<Option<(String, String)>> {
    let Some(path) = given.or(settings().schema()) else {
        return Ok(None);
    };
    let text = read_text(path, MAX_SCHEMA)?;
    Ok(Some((path.display().to_string(), text)))
}

impl WireArgs {
    /// Reads the protocols, with the schema of the flag or the setting.
    pub fn protocols(&self) -> anyhow::Result<Protocols> {
        let settings = settings();
        let signatures = match self.signature.as_slice() {
            [] => settings.signatures(),
            given => given.to_vec(),
        };
        // A flag of one protocol selects this protocol; a setting applies only if the protocol is detected.
        let has_schema = self.schema.is_some() || self.as_struct.is_some();
        let owner =
            |setting| super::protocols_with(|descriptor| descriptor.settings.contains(&setting));
        let [of_schema, of_signature] =
            [Setting::Schema, Setting::Signatures].map(|setting| owner(setting).first().copied());
        let (owner, flags) = match (has_schema, !self.signature.is_empty()) {
            (true, true) => anyhow::bail!(
                "--signature is for {}, --schema and --struct are for {}: use one of them",
                of_signature.unwrap_or_default(),
                of_schema.unwrap_or_default()
            ),
            (true, false) => (of_schema, "--schema and --struct are for"),
            (false, true) => (of_signature, "--signature is for"),
            (false, false) => (None, ""),
        };
        match (owner, &self.protocol) {
            (Some(owner), Some(name)) if owner != name => {
                anyhow::bail!("{flags} {owner}, but the protocol is {name}")
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

    /// Returns the options for the decoder.
    pub fn options<'p>(&self, protocols: &'p Protocols, want: Want) -> decoder::DecodeOptions<'p> {
        decoder::DecodeOptions {
            protocols: protocols.possible(),
            framing: registry::framing_named(&self.framing),
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
