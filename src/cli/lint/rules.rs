//! `lint --rules` and `lint --explain`: what is looked for, and why.

use super::super::options::{Wire, nearest_rule};
use super::super::output::Output;
use super::super::{Exit, complain};
use crate::conversation::{Judge, find_rule, follow, full_name, rules_of};
use crate::protocol::session::{Example, Need, Rule, SessionConfig};
use crate::protocol::{Protocol, Setting, registry};
use crate::render::style::Tone;
use crate::render::{Look, findings, line};
use anyhow::Result;
use serde_json::json;
use std::convert::Infallible;

/// What the examples of rules that need them are judged with.
const SECRET: &[u8] = b"correct horse battery staple";
const SIGNATURE: &str = "pow(u256) -> u256";

/// All rules, or those of one protocol.
pub fn table(
    wire: &Wire,
    judge: &Judge,
    as_json: bool,
    look: Look,
    mut output: Output,
) -> Result<Exit> {
    let wanted = wire.protocol.as_deref();
    let protocols = registry::all().iter().copied();
    let mut text = String::new();
    for protocol in protocols.filter(|p| wanted.is_none_or(|w| w == p.name())) {
        for rule in rules_of(protocol) {
            if as_json {
                output
                    .room()
                    .extend_from_slice(object(protocol, rule, judge).to_string().as_bytes());
                output.room().push(b'\n');
            } else {
                row(protocol, rule, judge, look, &mut text);
            }
        }
    }
    output.room().extend_from_slice(text.as_bytes());
    output.finish()?;
    Ok(Exit::Clean)
}

fn row(protocol: &dyn Protocol, rule: &Rule, judge: &Judge, look: Look, out: &mut String) {
    let severity = judge.severity(protocol.name(), rule);
    let name = full_name(protocol.name(), rule);
    look.style.put(out, Tone::Kind, &format!("{name:<36} "));
    let tone = findings::tone(severity);
    look.style
        .put(out, tone, &format!("{:<8} ", severity.name()));
    look.style.put(out, Tone::Dim, rule.clause);
    for (i, need) in rule.needs.iter().enumerate() {
        let lead = if i == 0 { "; needs " } else { ", " };
        look.style.put(out, Tone::Dim, lead);
        look.style.put(out, Tone::Dim, need.about());
    }
    out.push('\n');
}

fn object(protocol: &dyn Protocol, rule: &Rule, judge: &Judge) -> serde_json::Value {
    json!({
        "v": 1,
        "rule": full_name(protocol.name(), rule),
        "severity": judge.severity(protocol.name(), rule).name(),
        "document": rule.document.name(),
        "peers": rule.peers.name(),
        "clause": rule.clause,
        "implies": rule.implies.iter().map(|i| format!("{}/{i}", protocol.name())).collect::<Vec<_>>(),
        "needs": rule.needs.iter().map(|need| need.about()).collect::<Vec<_>>(),
        "faults": rule.faults,
        "why": rule.why,
    })
}

/// One rule, with a conversation that breaks it and one that does not.
pub fn explain(
    name: &str,
    judge: &Judge,
    as_json: bool,
    look: Look,
    mut output: Output,
) -> Result<Exit> {
    let Some((protocol, rule)) = find_rule(name) else {
        complain(&format!("no rule is called {name}{}", nearest_rule(name)));
        return Ok(Exit::Trouble);
    };
    if as_json && let Some(protocol) = registry::find(protocol) {
        let text = object(protocol, rule, judge).to_string();
        output.room().extend_from_slice(text.as_bytes());
        output.room().push(b'\n');
        output.finish()?;
        return Ok(Exit::Clean);
    }
    let mut text = String::new();
    let style = look.style;
    let severity = judge.severity(protocol, rule);
    style.put(&mut text, Tone::Kind, name);
    style.put(
        &mut text,
        findings::tone(severity),
        &format!("  {}", severity.name()),
    );
    let (document, peers) = (rule.document.name(), rule.peers.name());
    text.push_str(&format!("  (document: {document}, real peers: {peers})\n"));
    text.push_str(&format!("follows   {}\n", rule.clause));
    let needs: Vec<&str> = rule.needs.iter().map(|need| need.about()).collect();
    if !needs.is_empty() {
        text.push_str(&format!("needs     {}\n", needs.join(", ")));
    }
    if !rule.implies.is_empty() {
        text.push_str(&format!("implies   {}\n", rule.implies.join(", ")));
    }
    text.push('\n');
    let width = look.width.unwrap_or(80).clamp(40, 100);
    wrap(rule.why, width, &mut text);
    if let (Some(Example { fires, passes }), Some(protocol)) =
        (rule.example, registry::find(protocol))
    {
        for (title, recording) in [("breaks it:", fires), ("does not:", passes)] {
            style.put(&mut text, Tone::Key, &format!("\n{title}\n"));
            show(recording, protocol, rule, look, &mut text)?;
        }
    }
    output.room().extend_from_slice(text.as_bytes());
    output.finish()?;
    Ok(Exit::Clean)
}

/// An example as decode shows it, with what lint says of it.
fn show(
    recording: &str,
    protocol: &dyn Protocol,
    rule: &Rule,
    look: Look,
    out: &mut String,
) -> Result<()> {
    use crate::protocol::oracle::{Oracle, cairo_serde::Signature};
    let signed = Oracle::with_signatures(vec![
        Signature::parse(SIGNATURE).map_err(|e| anyhow::anyhow!("{e}"))?,
    ]);
    let protocol = if protocol
        .descriptor()
        .settings
        .contains(&Setting::Signatures)
        && rule.needs.contains(&Need::Signature)
    {
        &signed
    } else {
        protocol
    };
    let options = crate::decoder::Options::new(vec![protocol]);
    let session_config = SessionConfig {
        secret: rule.needs.contains(&Need::Secret).then(|| SECRET.to_vec()),
        ..SessionConfig::default()
    };
    let judge = Judge::default();
    let Ok(_) = follow::<Infallible>(
        recording.as_bytes(),
        &options,
        &judge,
        session_config,
        &mut |decoded, verdict| {
            match decoded {
                Some(decoded) => line::write(decoded, Some(verdict), look, out),
                None => verdict
                    .findings
                    .iter()
                    .for_each(|finding| findings::below(finding, None, look, out)),
            }
            Ok(())
        },
    );
    Ok(())
}

/// Words in lines of some width.
fn wrap(text: &str, width: usize, out: &mut String) {
    let mut column = 0;
    for word in text.split_whitespace() {
        let len = word.chars().count();
        if column > 0 && column + 1 + len > width {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += len;
    }
    out.push('\n');
}
