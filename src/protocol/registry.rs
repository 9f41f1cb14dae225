//! The list of all protocols. A new protocol of this crate is one line here; `cli::run` takes further ones.

use super::Protocol;
use super::oracle::Oracle;
pub(crate) use super::oracle::cairo_serde::Signature;
use super::telequick::{Schema, Telequick};
use crate::framing::Framing;
use std::sync::RwLock;

static BUILTIN: &[&dyn Protocol] = &[
    &super::saikuro::Saikuro,
    &Oracle::builtin(),
    &super::sael::Sael,
    &super::stepflow::Stepflow,
    &Telequick::builtin(),
    &super::mcp::Mcp,
    &super::lsp::Lsp,
    &super::acp::Acp,
    &super::jsonrpc::JsonRpc,
];

/// The protocols of this process, if there are further ones. They are used until it ends, and so is each list of them:
/// a process adds few.
static EXTENDED: RwLock<Option<&'static [&'static dyn Protocol]>> = RwLock::new(None);

/// All protocols, in the order that decides a tie of detection.
///
/// They live as long as the process, so that the command line can hand them to its threads; everything else takes
/// protocols of any lifetime.
pub fn all() -> &'static [&'static dyn Protocol] {
    let extended = EXTENDED.read().ok().and_then(|list| *list);
    extended.unwrap_or(BUILTIN)
}

/// The protocols that are folders of this crate.
pub(crate) fn built_in() -> &'static [&'static dyn Protocol] {
    BUILTIN
}

/// Returns the protocol of this crate with this name.
pub(crate) fn find_built_in(name: &str) -> Option<&'static dyn Protocol> {
    BUILTIN.iter().copied().find(|p| p.name() == name)
}

/// Adds protocols before or after those of this process. One that comes earlier replaces one of the same name.
#[cfg(feature = "cli")]
pub(crate) fn extend(first: &[&'static dyn Protocol], last: &[&'static dyn Protocol]) {
    let mut protocols: Vec<&'static dyn Protocol> = Vec::new();
    for protocol in first.iter().chain(all()).chain(last) {
        if protocols
            .iter()
            .all(|known| known.name() != protocol.name())
        {
            protocols.push(*protocol);
        }
    }
    if let Ok(mut list) = EXTENDED.write() {
        *list = Some(protocols.leak());
    }
}

/// Returns the protocol with this name.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    all().iter().copied().find(|p| p.name() == name)
}

/// Returns the framing with this name: one of this crate, or one of a protocol's own.
pub fn framing_named(name: &str) -> Option<Framing> {
    all().iter().find_map(|p| p.framing_named(name))
}

/// Returns the names of all framings: those of this crate, and those that protocols bring.
pub fn framing_names() -> Vec<&'static str> {
    let framings = all().iter().flat_map(|p| p.descriptor().framings);
    let own = framings.filter(|framing| matches!(framing, Framing::Custom(_)));
    let mut names: Vec<_> = Framing::ALL.iter().chain(own).map(Framing::name).collect();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(*name));
    names
}

/// Returns the names of all protocols.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().iter().map(|p| p.name())
}

/// User settings that extend protocols for one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extensions {
    /// telequick: the name of a schema file and its text, which extend the built-in schema.
    pub schema: Option<(String, String)>,
    /// telequick: the struct that every body is read as.
    pub layout: Option<String>,
    /// oracle: signatures of functions, which type their arguments and results.
    pub signatures: Vec<Signature>,
}

impl Extensions {
    /// Returns the protocol of every body if a struct is chosen.
    pub fn owner(&self) -> Option<String> {
        let layout = self.layout.as_ref();
        layout.map(|_| Telequick::builtin().name().to_owned())
    }
}

/// The protocols of one run: those of the registry, with extensions. The user may choose one of them.
pub(crate) struct Protocols {
    /// At most one instance for each protocol.
    extended: Vec<Box<dyn Protocol>>,
    name: Option<String>,
}

impl Protocols {
    /// Fails if a schema cannot be read, or has no struct with the chosen name.
    pub fn new(extensions: Extensions, name: Option<String>) -> Result<Self, String> {
        let mut extended: Vec<Box<dyn Protocol>> = Vec::new();
        let mut telequick = None;
        if let Some((file, text)) = extensions.schema {
            let schema = Schema::builtin().extend(&text);
            let schema = schema.map_err(|error| format!("{file}:{error}"))?;
            telequick = Some(Telequick::new(schema));
        }
        if let Some(layout) = extensions.layout {
            let known = telequick.unwrap_or_else(Telequick::builtin);
            let chosen = known.with_struct(&layout);
            telequick = Some(chosen.ok_or_else(|| format!("no struct is called {layout}"))?);
        }
        extended.extend(telequick.map(|protocol| Box::new(protocol) as Box<dyn Protocol>));
        if !extensions.signatures.is_empty() {
            extended.push(Box::new(Oracle::with_signatures(extensions.signatures)));
        }
        Ok(Self { extended, name })
    }

    /// Returns all protocols, in the order that decides a tie of detection.
    pub fn all(&self) -> Vec<&dyn Protocol> {
        let extended = |protocol: &'static dyn Protocol| -> &dyn Protocol {
            let mut list = self.extended.iter();
            let found = list.find(|extended| extended.name() == protocol.name());
            found.map_or(protocol, |extended| &**extended)
        };
        all().iter().copied().map(extended).collect()
    }

    /// Returns the chosen protocol.
    pub fn named(&self) -> Option<&dyn Protocol> {
        let name = self.name.as_deref()?;
        self.all().into_iter().find(|p| p.name() == name)
    }

    /// Returns the chosen protocol, or all of them.
    pub fn possible(&self) -> Vec<&dyn Protocol> {
        self.named().map_or_else(|| self.all(), |named| vec![named])
    }
}
