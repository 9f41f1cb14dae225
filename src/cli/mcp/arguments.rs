//! The arguments of all tools. `tools.json` says which tool has which.

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// The arguments of a call.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Arguments {
    pub recording: Option<String>,
    pub a: Option<String>,
    pub b: Option<String>,
    #[serde(rename = "where")]
    pub condition: Option<String>,
    pub rule: Option<String>,
    pub index: Option<usize>,
    pub view: Option<String>,
    pub bytes: Option<String>,
    pub protocol: Option<String>,
    pub dir: Option<String>,
    pub offset: usize,
    pub cursor: usize,
    pub limit: Option<usize>,
}

/// Returns an argument that a tool needs.
pub fn needed<'a>(argument: Option<&'a str>, name: &str) -> Result<&'a str> {
    argument.with_context(|| format!("the argument {name} is needed"))
}
