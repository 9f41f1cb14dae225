//! Checks a recording against the rules of its protocol. Needs the feature `rules`.

use std::error::Error;
use std::io::{self, Write};
use std::ops::ControlFlow;
use wiretool::capture::{CaptureInput, Form};
use wiretool::conversation::{Output, RuleSettings, Run};
use wiretool::decoder::DecodeOptions;
use wiretool::protocol::registry;

const RECORDING: &str = r#"{"wiretool":1,"protocol":"oracle"}
{"t":0,"conn":1,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n"}
{"t":1,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n"}
{"t":2,"event":"end"}
"#;

/// The example. Its test compares the output.
pub fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let options = DecodeOptions::new(registry::all().to_vec());
    let input = CaptureInput::new(Form::Recording);
    let mut run = Run::new(input, options, Some(RuleSettings::default()));
    let written = run.read_all(RECORDING.as_bytes(), &mut |output: Output<'_>| {
        for finding in output.findings() {
            let (severity, name) = (finding.severity.name(), finding.name());
            if let Err(error) = writeln!(out, "{severity} {name}: {}", finding.text) {
                return ControlFlow::Break(error);
            }
        }
        ControlFlow::Continue(())
    });
    if let ControlFlow::Break(error) = written {
        return Err(error.into());
    }
    writeln!(out, "{} messages", run.decoder().index())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}
