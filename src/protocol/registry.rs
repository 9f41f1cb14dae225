//! Every protocol there is: adding one is adding a line.

pub(crate) use super::oracle::cairo_serde::Signature;
use super::{Protocol, oracle, sael, saikuro, stepflow, telequick};
use oracle::Oracle;
use telequick::{Schema, Telequick};

static ALL: &[&dyn Protocol] = &[
    &saikuro::Saikuro,
    &oracle::Oracle::builtin(),
    &sael::Sael,
    &stepflow::Stepflow,
    &telequick::Telequick::builtin(),
];

/// In the order in which a tie of detection is decided.
pub fn all() -> &'static [&'static dyn Protocol] {
    ALL
}

/// The protocol of that name.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    ALL.iter().copied().find(|p| p.name() == name)
}

/// The name of each.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|p| p.name())
}

/// What a user adds to protocols for one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extensions {
    /// telequick: the name of a schema file and its text, on top of the built-in schema.
    pub schema: Option<(String, String)>,
    /// telequick: the struct that every body is read as.
    pub layout: Option<String>,
    /// oracle: signatures of functions, which give arguments and results their types.
    pub signatures: Vec<Signature>,
}

impl Extensions {
    /// The protocol that every body is of, where a struct is chosen for it.
    pub fn owner(&self) -> Option<&'static str> {
        self.layout.as_ref().map(|_| Telequick::builtin().name())
    }
}

/// The protocols of one run: those of the registry, with extensions; one of them may be named.
pub(crate) struct Protocols {
    /// At most one instance for each protocol.
    extended: Vec<Box<dyn Protocol>>,
    name: Option<String>,
}

impl Protocols {
    /// Fails where a schema cannot be read, or where it has no struct of that name.
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

    /// All of them, in the order in which a tie of detection is decided.
    pub fn all(&self) -> Vec<&dyn Protocol> {
        let extended = |protocol: &'static dyn Protocol| -> &dyn Protocol {
            let mut list = self.extended.iter();
            let found = list.find(|extended| extended.name() == protocol.name());
            found.map_or(protocol, |extended| &**extended)
        };
        ALL.iter().copied().map(extended).collect()
    }

    /// The one that is named.
    pub fn named(&self) -> Option<&dyn Protocol> {
        let name = self.name.as_deref()?;
        self.all().into_iter().find(|p| p.name() == name)
    }

    /// The one that is named, or all.
    pub fn possible(&self) -> Vec<&dyn Protocol> {
        self.named().map_or_else(|| self.all(), |named| vec![named])
    }
}
