//! Checks a recording against the rules of its protocol. Needs the feature `rules`.

use std::error::Error;
use std::io::{self, Write};
use wiretool::conversation::{Judge, follow};
use wiretool::decoder::DecodeOptions;
use wiretool::protocol::registry;
use wiretool::protocol::session::SessionConfig;

const RECORDING: &str = r#"{"wiretool":1,"protocol":"oracle"}
{"t":0,"conn":1,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n"}
{"t":1,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n"}
{"t":2,"event":"end"}
"#;

/// The example. Its test compares the output.
pub fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let options = DecodeOptions::new(registry::all().to_vec());
    let (judge, session_config) = (Judge::default(), SessionConfig::default());
    let summary = follow(
        RECORDING.as_bytes(),
        &options,
        &judge,
        session_config,
        &mut |_, verdict| {
            verdict.findings.iter().try_for_each(|finding| {
                let (severity, name) = (finding.severity.name(), finding.name());
                writeln!(out, "{severity} {name}: {}", finding.text)
            })
        },
    )?;
    writeln!(out, "{} messages", summary.messages)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}
