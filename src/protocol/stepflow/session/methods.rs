//! The methods of all releases: who asks, what must be said, what must be answered.
//!
//! ```text
//!   releases   0.2 to 0.4   0.5 to 0.7   0.9   0.10 to 0.11        of the Python SDK; all say protocol version 1
//!   mask            A            B        C0        C
//! ```

use crate::protocol::Direction::{self, ToClient, ToServer};
use crate::protocol::jsonrpc::Call;

/// Releases of the seed's time.
const A: u8 = 1;
const B: u8 = 2;
/// Without stdio; blobs still go over this protocol.
const C0: u8 = 4;
/// Blobs go another way.
const C: u8 = 8;
/// Nothing tells.
pub(super) const ALL: u8 = A | B | C0 | C;

/// What a member must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    Text,
    /// Text; the document also writes an object with a name.
    Component,
    /// A whole number that is not negative.
    Count,
    /// A whole number from 1.
    Attempt,
    List,
    Object,
    /// The hex digits of a SHA-256.
    Blob,
    /// Where in a trace it belongs.
    Observability,
    /// What a component says of itself.
    Info,
    Infos,
    /// A result that says how it came out.
    Outcome,
}

/// A member of params or of a result.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name; releases differ.
    pub(super) names: &'static [&'static str],
    pub(super) kind: Kind,
    pub(super) required: bool,
}

/// A method.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: &'static str,
    /// The way that requests go.
    pub(super) asks: Direction,
    /// False: it is a notification.
    pub(super) answered: bool,
    pub(super) params: &'static [Field],
    pub(super) result: &'static [Field],
    releases: u8,
}

/// The way that a method is asked or told.
pub(in super::super) fn goes(name: &str) -> Option<Direction> {
    Method::find(name).map(|method| method.asks)
}

impl Method {
    const PLAIN: Self = Self {
        name: "",
        asks: ToServer,
        answered: true,
        params: &[],
        result: &[],
        releases: ALL,
    };

    /// The method of that name.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|m| m.name == name)
    }

    /// Whether it runs a component: meanwhile the server may ask back.
    pub(super) fn executes(&self) -> bool {
        self.name == EXECUTE
    }

    /// Whether it opens a session.
    pub(super) fn opens(&self) -> bool {
        self.name == INITIALIZE
    }

    /// The releases that say this with these members.
    pub(super) fn releases(&self, call: &Call<'_>) -> u8 {
        let told = call.params.or(call.result);
        let has = |names: &[&str]| told.is_some_and(|t| names.iter().any(|n| t.get(n).is_some()));
        let by_members = match self.name {
            INITIALIZE if has(&["runtimeProtocolVersion", "serverProtocolVersion"]) => C,
            INITIALIZE if has(&["runtime_protocol_version", "server_protocol_version"]) => {
                A | B | C0
            }
            EXECUTE if has(&["observability"]) => B | C0 | C,
            EXECUTE if has(&["step_id", "run_id", "flow_id"]) => A | B,
            _ => ALL,
        };
        self.releases & by_members
    }
}

/// The releases of a mask, in words.
pub(super) fn releases_named(mask: u8) -> String {
    let all = [
        (A, "0.2 to 0.4"),
        (B, "0.5 to 0.7"),
        (C0, "0.9"),
        (C, "0.10 and later"),
    ];
    let names: Vec<&str> = all
        .iter()
        .filter(|(bit, _)| mask & bit != 0)
        .map(|(_, name)| *name)
        .collect();
    names.join(", ")
}

const INITIALIZE: &str = "initialize";
const EXECUTE: &str = "components/execute";

const fn must(names: &'static [&'static str], kind: Kind) -> Field {
    Field {
        names,
        kind,
        required: true,
    }
}

const fn may(names: &'static [&'static str], kind: Kind) -> Field {
    Field {
        names,
        kind,
        required: false,
    }
}

const OBSERVED: Field = may(&["observability"], Kind::Observability);
const COMPONENT: Field = must(&["component"], Kind::Component);
const FLOW: Field = must(&["flow_id"], Kind::Blob);
const STATUS: &[Field] = &[
    must(&["runId"], Kind::Text),
    must(&["flowId"], Kind::Blob),
    must(&["status"], Kind::Text),
    must(&["items"], Kind::Object),
];

/// Every method; members that only some releases require are optional here.
const METHODS: &[Method] = &[
    Method {
        name: INITIALIZE,
        params: &[
            must(
                &["runtime_protocol_version", "runtimeProtocolVersion"],
                Kind::Count,
            ),
            may(&["capabilities"], Kind::Object),
            OBSERVED,
        ],
        result: &[must(
            &["server_protocol_version", "serverProtocolVersion"],
            Kind::Count,
        )],
        ..Method::PLAIN
    },
    Method {
        name: "initialized",
        answered: false,
        ..Method::PLAIN
    },
    Method {
        name: "components/list",
        result: &[must(&["components"], Kind::Infos)],
        ..Method::PLAIN
    },
    Method {
        name: "components/info",
        params: &[COMPONENT],
        result: &[must(&["info"], Kind::Info)],
        ..Method::PLAIN
    },
    Method {
        name: EXECUTE,
        params: &[
            COMPONENT,
            must(&["input"], Kind::Any),
            may(&["attempt"], Kind::Attempt),
            may(&["flow_id"], Kind::Blob),
            OBSERVED,
        ],
        result: &[must(&["output"], Kind::Any)],
        ..Method::PLAIN
    },
    Method {
        name: "components/infer_schema",
        params: &[COMPONENT, must(&["input_schema"], Kind::Any)],
        releases: C0 | C,
        ..Method::PLAIN
    },
    Method {
        name: "blobs/put",
        asks: ToClient,
        params: &[
            must(&["data"], Kind::Any),
            may(&["blob_type"], Kind::Text),
            OBSERVED,
        ],
        result: &[must(&["blob_id"], Kind::Blob)],
        releases: A | B | C0,
        ..Method::PLAIN
    },
    Method {
        name: "blobs/get",
        asks: ToClient,
        params: &[must(&["blob_id"], Kind::Blob), OBSERVED],
        result: &[must(&["data"], Kind::Any), may(&["blob_type"], Kind::Text)],
        releases: A | B | C0,
        ..Method::PLAIN
    },
    Method {
        name: "flows/evaluate",
        asks: ToClient,
        params: &[FLOW, must(&["input"], Kind::Any), OBSERVED],
        result: &[must(&["result"], Kind::Outcome)],
        releases: A | B,
        ..Method::PLAIN
    },
    Method {
        name: "flows/get_metadata",
        asks: ToClient,
        params: &[FLOW, may(&["step_id"], Kind::Text), OBSERVED],
        result: &[must(&["flow_metadata"], Kind::Object)],
        releases: A | B,
        ..Method::PLAIN
    },
    Method {
        name: "flows/submit_batch",
        asks: ToClient,
        params: &[
            FLOW,
            must(&["inputs"], Kind::List),
            may(&["max_concurrency"], Kind::Count),
            OBSERVED,
        ],
        result: &[
            must(&["batch_id"], Kind::Text),
            must(&["total_runs"], Kind::Count),
        ],
        releases: B,
        ..Method::PLAIN
    },
    Method {
        name: "flows/get_batch",
        asks: ToClient,
        params: &[must(&["batch_id"], Kind::Text), OBSERVED],
        result: &[
            must(&["details"], Kind::Object),
            may(&["outputs"], Kind::List),
        ],
        releases: B,
        ..Method::PLAIN
    },
    Method {
        name: "runs/submit",
        asks: ToClient,
        params: &[
            must(&["flowId"], Kind::Blob),
            must(&["inputs"], Kind::List),
            may(&["maxConcurrency"], Kind::Count),
            OBSERVED,
        ],
        result: STATUS,
        releases: C0 | C,
        ..Method::PLAIN
    },
    Method {
        name: "runs/get",
        asks: ToClient,
        params: &[
            must(&["runId"], Kind::Text),
            may(&["resultOrder"], Kind::Text),
            OBSERVED,
        ],
        result: STATUS,
        releases: C0 | C,
        ..Method::PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::super::super::message;
    use super::{METHODS, Method, releases_named};

    #[test]
    fn decode_knows_every_method() {
        for method in METHODS {
            assert!(message::METHODS.contains(&method.name), "{}", method.name);
            assert_ne!(releases_named(method.releases), "", "{}", method.name);
        }
    }

    #[test]
    fn a_method_is_found_by_its_name() {
        assert!(Method::find("components/execute").is_some_and(Method::executes));
        assert!(Method::find("initialize").is_some_and(Method::opens));
        assert!(Method::find("progress_update").is_none());
    }
}
