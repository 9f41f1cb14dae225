//! Results whose values refer to something else: semantic tokens to the legend, selection ranges to the positions of the
//! request and to each other (LSP 3.17, "Semantic Tokens", "Selection Range Request").
//!
//! ```text
//!   semanticTokensProvider.legend.tokenTypes: ["type", "class"]
//!   data: [line, start, length, index of the type, modifiers, …]        five numbers for each token
//! ```

use super::documents::parts;
use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rule_names::lsp as rule;
use crate::protocol::session::broken;
use crate::tape::Node;

/// The start of the requests for semantic tokens.
const TOKENS: &str = "textDocument/semanticTokens/";
/// The name under which a server registers them.
const REGISTERED: &str = "textDocument/semanticTokens";
const SELECTION_RANGE: &str = "textDocument/selectionRange";

/// The number of values of a token.
const TOKEN: usize = 5;
/// The place of its type.
const TYPE: usize = 3;

/// The types of semantic tokens that the server announced.
#[derive(Debug, Default)]
pub(super) enum Legend {
    #[default]
    Unknown,
    /// The number of types.
    Types(usize),
    /// There are several: which one is of a document is not known.
    Several,
}

impl Legend {
    /// Reads the capabilities of the server.
    pub(super) fn initialize(&mut self, capabilities: Option<Node<'_>>) {
        *self = Self::Unknown;
        self.add(capabilities.and_then(|all| all.get("semanticTokensProvider")));
    }

    /// Reads a registration.
    pub(super) fn register(&mut self, registration: Node<'_>) {
        let is_own = |method: Node<'_>| method.is_text(REGISTERED);
        if registration.get("method").is_some_and(is_own) {
            self.add(registration.get("registerOptions"));
        }
    }

    fn add(&mut self, options: Option<Node<'_>>) {
        let types = options.and_then(|options| options.get("legend")?.get("tokenTypes"));
        let types = types.filter(|types| types.is_array());
        if let Some(types) = types {
            *self = match self {
                Self::Unknown => Self::Types(types.children().count()),
                Self::Types(_) | Self::Several => Self::Several,
            };
        }
    }

    /// Checks the result of a request for semantic tokens.
    pub(super) fn check(&self, message: &RpcMessage<'_, '_>, name: &str, result: Node<'_>) {
        let data = result.get("data").filter(|data| data.is_array());
        let Some(data) = data.filter(|_| name.starts_with(TOKENS)) else {
            return;
        };
        let count = data.children().count();
        if count % TOKEN != 0 {
            broken!(message, rule::SEMANTIC_TOKENS, message.at(data);
                "data has {count} numbers; each token has {TOKEN}, so that the last one is not complete");
        }
        let Self::Types(types) = *self else {
            return;
        };
        let kinds = data.children().skip(TYPE).step_by(TOKEN);
        let is_known = |kind: &Node<'_>| {
            let index = kind.as_i128().and_then(|index| usize::try_from(index).ok());
            index.is_none_or(|index| index < types)
        };
        for (token, kind) in kinds.enumerate() {
            if is_known(&kind) {
                continue;
            }
            let index = kind.as_i128().unwrap_or_default();
            return broken!(message, rule::SEMANTIC_TOKENS, message.at(kind);
                "the type of token {token} is {index}, but the legend has only {types} types");
        }
    }
}

/// Returns the number of positions of a request for selection ranges, if its answer has one range for each.
pub(super) fn positions(message: &RpcMessage<'_, '_>) -> Option<usize> {
    let positions = message.param("positions");
    let positions = positions.filter(|positions| positions.is_array());
    // With partial results the answer has only some.
    let is_whole = message.param("partialResultToken").is_none();
    let positions = positions.filter(|_| is_whole && message.is(SELECTION_RANGE));
    positions.map(|positions| positions.children().count())
}

/// Checks the result of a request for the selection ranges of a number of positions.
pub(super) fn check_selection(message: &RpcMessage<'_, '_>, positions: usize, result: Node<'_>) {
    if !result.is_array() {
        return;
    }
    let got = result.children().count();
    if got != positions {
        broken!(message, rule::SELECTION_RANGE, message.at(result);
            "the answer has {got} ranges for {positions} positions; each position should have one");
    }
    for mut inner in result.children() {
        while let Some(outer) = inner.get("parent").filter(|outer| outer.is_map()) {
            if let (Some(from), Some(to), Some(place)) =
                (ends(inner), ends(outer), outer.get("range"))
                && (to.0 > from.0 || to.1 < from.1)
            {
                return broken!(message, rule::SELECTION_RANGE, message.at(place);
                    "the range of this parent does not contain the range of its child");
            }
            inner = outer;
        }
    }
}

/// A line and a character.
type Position = (usize, usize);

/// Returns start and end of a selection range.
fn ends(selection: Node<'_>) -> Option<(Position, Position)> {
    let range = selection.get("range")?;
    Some((parts(range.get("start")?)?, parts(range.get("end")?)?))
}
