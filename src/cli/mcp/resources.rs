//! The documentation as resources: help topics, protocols with their messages, rules.
//!
//! ```text
//!   wiretool://help/where   wiretool://fields/mcp   wiretool://fields/mcp/tools/call   wiretool://rules/mcp/id-reused
//! ```

use crate::cli::lint::rules::explanation;
use crate::cli::protocol::page;
use crate::cli::topics::{self, TOPICS};
use crate::conversation::{Judge, find_rule, full_name, rules_of};
use crate::protocol::registry;
use crate::render::DisplayOptions;
use anyhow::{Result, ensure};
use serde_json::{Value, json};

const SCHEME: &str = "wiretool://";
/// The number of resources of a page.
const PAGE: usize = 100;

/// Returns a page of the list of resources.
///
/// # Errors
///
/// Fails if the cursor is not one of an earlier page.
pub fn list(cursor: Option<&str>) -> Result<Value> {
    let mut all = Vec::new();
    for topic in TOPICS {
        all.push((format!("help/{}", topic.name), topic.about.to_owned()));
    }
    for protocol in registry::all() {
        let name = protocol.name();
        let about = format!("sides, framings, kinds of message and rules of {name}");
        all.push((format!("fields/{name}"), about));
    }
    for protocol in registry::all() {
        for rule in rules_of(*protocol) {
            let name = full_name(protocol.name(), rule);
            all.push((format!("rules/{name}"), rule.clause.to_string()));
        }
    }
    let start: usize = cursor.unwrap_or("0").parse().unwrap_or(usize::MAX);
    ensure!(start < all.len(), "the cursor is not one of an answer");
    let page = all.iter().skip(start).take(PAGE).map(|(name, about)| {
        json!({ "uri": format!("{SCHEME}{name}"), "name": name, "description": about, "mimeType": "text/plain" })
    });
    let mut answer = json!({ "resources": page.collect::<Vec<_>>() });
    if start + PAGE < all.len() {
        answer["nextCursor"] = (start + PAGE).to_string().into();
    }
    Ok(answer)
}

/// Returns the templates of resources.
pub fn templates() -> Value {
    let templates = [
        ("help/{topic}", "a topic of wiretool help"),
        (
            "fields/{protocol}",
            "a protocol: its kinds of message and its rules",
        ),
        (
            "fields/{protocol}/{+kind}",
            "the JSON Schema of a kind of message, or of a method",
        ),
        (
            "rules/{protocol}/{rule}",
            "why a rule exists, with a session that breaks it",
        ),
    ];
    let templates = templates.map(|(name, about)| {
        json!({ "uriTemplate": format!("{SCHEME}{name}"), "name": name, "description": about, "mimeType": "text/plain" })
    });
    json!({ "resourceTemplates": templates })
}

/// Returns the content of a resource; `None` if there is no such resource.
pub fn read(uri: &str) -> Option<Value> {
    let (sort, name) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let text = match sort {
        "help" => topics::find(name)?.text(),
        "rules" => {
            let (protocol, rule) = find_rule(name)?;
            explanation(protocol, rule, &Judge::default(), DisplayOptions::default()).ok()?
        }
        "fields" => match name.split_once('/') {
            None => page(registry::find(name)?, ""),
            Some((protocol, kind)) => {
                let mut shapes = registry::find(protocol)?.shapes().into_iter();
                shapes.find(|(of, _)| *of == kind)?.1
            }
        },
        _ => return None,
    };
    let content = json!({ "uri": uri, "mimeType": "text/plain", "text": text });
    Some(json!({ "contents": [content] }))
}
