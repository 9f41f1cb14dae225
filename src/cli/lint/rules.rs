//! `lint --rules` and `lint --explain`: list and explain the rules.

use super::super::options::{WireArgs, nearest_rule_hint};
use super::super::output::CommandOutput;
use super::super::topics::markdown::wrap;
use super::super::{Exit, print_message};
use crate::capture::{CaptureInput, Form};
use crate::conversation::{
    Judge, Output as RunOutput, RuleSettings, Run, find_rule, full_name, rules_called, rules_of,
};
use crate::error::with_flags;
use crate::protocol::session::{Example, Need, Rule, SessionConfig};
use crate::protocol::{Protocol, registry};
use crate::render::line::Lines;
use crate::render::style::Highlight;
use crate::render::{DisplayOptions, findings};
use anyhow::Result;
use serde_json::json;
use std::convert::Infallible;
use std::ops::ControlFlow;

/// The secret and the signature for examples of rules that need them.
const SECRET: &[u8] = b"correct horse battery staple";
const SIGNATURE: &str = "pow(u256) -> u256";

/// Writes all rules, or those of one protocol.
pub fn write_rules(
    wire: &WireArgs,
    judge: &Judge,
    as_json: bool,
    display: DisplayOptions,
    mut output: CommandOutput,
) -> Result<Exit> {
    let wanted = wire.protocol.as_deref();
    let protocols = registry::all().iter().copied();
    let mut text = String::new();
    for protocol in protocols.filter(|p| wanted.is_none_or(|w| w == p.name())) {
        for rule in rules_of(protocol) {
            if as_json {
                output.push(rule_json(protocol, rule, judge).to_string());
                output.buffer().push(b'\n');
            } else {
                write_rule(protocol, rule, judge, display, &mut text);
            }
        }
    }
    output.push(&text);
    output.finish()?;
    Ok(Exit::Clean)
}

fn write_rule(
    protocol: &dyn Protocol,
    rule: &Rule,
    judge: &Judge,
    display: DisplayOptions,
    out: &mut String,
) {
    let severity = judge.severity(protocol.name(), rule);
    let name = full_name(protocol.name(), rule);
    display
        .style
        .push(out, Highlight::Kind, &format!("{name:<36} "));
    let highlight = findings::highlight(severity);
    display
        .style
        .push(out, highlight, &format!("{:<8} ", severity.name()));
    display.style.push(out, Highlight::Dim, &rule.clause);
    for (i, need) in rule.needs.iter().enumerate() {
        let lead = if i == 0 { "; needs " } else { ", " };
        display.style.push(out, Highlight::Dim, lead);
        display
            .style
            .push(out, Highlight::Dim, &with_flags(need.about()));
    }
    out.push('\n');
}

fn rule_json(protocol: &dyn Protocol, rule: &Rule, judge: &Judge) -> serde_json::Value {
    json!({
        "v": 1,
        "rule": full_name(protocol.name(), rule),
        "severity": judge.severity(protocol.name(), rule).name(),
        "document": rule.document.name(),
        "peers": rule.peers.name(),
        "clause": rule.clause,
        "implies": rule.implies.iter().map(|i| format!("{}/{i}", protocol.name())).collect::<Vec<_>>(),
        "needs": rule.needs.iter().map(|need| with_flags(need.about())).collect::<Vec<_>>(),
        "faults": rule.faults,
        "why": rule.why,
    })
}

/// Explains a rule, with a conversation that breaks it and one that does not.
pub fn explain(
    name: &str,
    judge: &Judge,
    as_json: bool,
    display: DisplayOptions,
    mut output: CommandOutput,
) -> Result<Exit> {
    let known: Vec<_> = rules_called(name).collect();
    let found = match known.as_slice() {
        [one] => Some(*one),
        _ => find_rule(name),
    };
    if let (None, [_, ..]) = (found, known.as_slice()) {
        let names: Vec<_> = known
            .iter()
            .map(|(protocol, rule)| full_name(protocol, rule))
            .collect();
        let names = names.join(", ");
        print_message(&format!("{name} is the name of several rules: {names}"));
        return Ok(Exit::Error);
    }
    let Some((protocol, rule)) = found else {
        print_message(&format!(
            "no rule is called {name}{}",
            nearest_rule_hint(name)
        ));
        return Ok(Exit::Error);
    };
    if as_json && let Some(protocol) = registry::find(protocol) {
        let text = rule_json(protocol, rule, judge).to_string();
        output.push_line(&text);
        output.finish()?;
        return Ok(Exit::Clean);
    }
    let text = explanation(protocol, rule, judge, display)?;
    output.push(&text);
    output.finish()?;
    Ok(Exit::Clean)
}

/// Returns the explanation of a rule of a protocol.
pub fn explanation(
    protocol: &str,
    rule: &Rule,
    judge: &Judge,
    display: DisplayOptions,
) -> Result<String> {
    let mut text = String::new();
    let style = display.style;
    let severity = judge.severity(protocol, rule);
    style.push(&mut text, Highlight::Kind, &full_name(protocol, rule));
    style.push(
        &mut text,
        findings::highlight(severity),
        &format!("  {}", severity.name()),
    );
    let (document, peers) = (rule.document.name(), rule.peers.name());
    text.push_str(&format!("  (document: {document}, real peers: {peers})\n"));
    text.push_str(&format!("follows   {}\n", rule.clause));
    let needs: Vec<_> = rule
        .needs
        .iter()
        .map(|need| with_flags(need.about()))
        .collect();
    if !needs.is_empty() {
        text.push_str(&format!("needs     {}\n", needs.join(", ")));
    }
    if !rule.implies.is_empty() {
        text.push_str(&format!("implies   {}\n", rule.implies.join(", ")));
    }
    text.push('\n');
    let width = display.width.unwrap_or(80).clamp(40, 100);
    wrap(&rule.why, "", width, &mut text);
    if let (Some(Example { fires, passes }), Some(protocol)) =
        (rule.example(), registry::find(protocol))
    {
        for (title, recording) in [("breaks it:", fires), ("does not:", passes)] {
            style.push(&mut text, Highlight::Key, &format!("\n{title}\n"));
            show_example(recording, protocol, rule, display, &mut text)?;
        }
    }
    Ok(text)
}

/// Shows an example as decode does, with its findings.
fn show_example(
    recording: &str,
    protocol: &dyn Protocol,
    rule: &Rule,
    display: DisplayOptions,
    out: &mut String,
) -> Result<()> {
    use crate::protocol::oracle::{Oracle, cairo_serde::Signature};
    let signed = Oracle::with_signatures(vec![
        Signature::parse(SIGNATURE).map_err(|e| anyhow::anyhow!("{e}"))?,
    ]);
    let protocol = if protocol.descriptor().settings.contains(&"signature")
        && rule.needs.contains(&Need::Signature)
    {
        &signed
    } else {
        protocol
    };
    let options = crate::decoder::DecodeOptions::new(vec![protocol]);
    let session = SessionConfig {
        secret: rule.needs.contains(&Need::Secret).then(|| SECRET.to_vec()),
        ..SessionConfig::default()
    };
    let rules = RuleSettings {
        session,
        ..RuleSettings::default()
    };
    let mut run = Run::new(CaptureInput::new(Form::Recording), options, Some(rules));
    let mut lines = Lines::default();
    let mut sink = |output: RunOutput<'_>| -> ControlFlow<Infallible> {
        if let RunOutput::Message(decoded, verdict) = output {
            lines.write(decoded, verdict, display, out);
        } else {
            for finding in output.findings() {
                findings::write_below(finding, None, display, out);
            }
        }
        ControlFlow::Continue(())
    };
    let ControlFlow::Continue(()) = run.read_all(recording.as_bytes(), &mut sink);
    Ok(())
}
