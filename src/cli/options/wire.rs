//! The options of the decoder: protocol, framing, limits.

use crate::cli::config::settings;
use crate::cli::descriptions::protocol;
use crate::cli::values::{
    default_of, help_of, length_mode, parse_signature, read_text, size, words,
};
use crate::decoder;
use crate::encoding::Want;
use crate::framing::{LengthMode, Limits};
use crate::protocol::registry::{self, Extensions, Protocols, Signature};
use clap::Args;
use std::path::PathBuf;

/// The options of the decoder.
#[derive(Args)]
#[command(next_help_heading = "Protocol")]
pub struct WireArgs {
    #[arg(short, long, help = help_of("protocol"), value_name = "PROTOCOL", value_parser = protocol())]
    pub protocol: Option<String>,
    #[arg(long, help = help_of("framing"), value_name = "FRAMING", default_value = default_of("framing"), value_parser = words("framing"))]
    pub framing: String,
    #[arg(long, help = help_of("length-mode"), value_name = "MODE", default_value = default_of("length-mode"), value_parser = length_mode())]
    pub length_mode: LengthMode,
    #[arg(long, help = help_of("schema"), value_name = "FILE")]
    pub schema: Option<PathBuf>,
    #[arg(long = "struct", help = help_of("struct"), value_name = "NAME")]
    pub as_struct: Option<String>,
    #[arg(long, help = help_of("signature"), long_help = signature_help(), value_name = "SIGNATURE", value_parser = parse_signature)]
    pub signature: Vec<Signature>,
    #[arg(long, help = help_of("max-message"), value_name = "SIZE", default_value = default_of("max-message"), value_parser = size)]
    pub max_message: u32,
    #[arg(long, help = help_of("max-depth"), value_name = "LEVELS", default_value = default_of("max-depth"), value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_depth: u32,
    #[arg(long, help = help_of("no-resync"))]
    pub no_resync: bool,
}

fn signature_help() -> String {
    let help = help_of("signature");
    format!(
        "{help}\n\nWith several signatures only arguments are shown as values: a result does not name its selector."
    )
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
    let protocols = Protocols::new(extensions, name).map_err(anyhow::Error::msg)?;
    if let Some(named) = protocols
        .named()
        .filter(|one| one.descriptor().is_read_only)
    {
        let name = named.name();
        anyhow::bail!("{name} is only read: regular expressions describe its texts, no template");
    }
    Ok(protocols)
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
            ["schema", "signature"].map(|setting| owner(setting).first().copied());
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
            flags: true,
            lookup: None,
        }
    }
}
