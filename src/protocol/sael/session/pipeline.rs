//! Checks the stages of a pipeline beyond the schema.

use super::{SaelMessage, broken, rule, short};
use crate::protocol::sael::filter::ItemFilter;
use crate::protocol::sael::schema::stage_kinds;
use crate::tape::Node;

/// The reference to the output of the previous stage.
const PREVIOUS: &str = "$prev";
/// The longest name of a result that is compared, in bytes.
const MAX_NAME: usize = 64;

/// The tools that are called, each with its literal input.
pub(super) type PipelineCall<'a> = Vec<(Node<'a>, Option<Node<'a>>)>;

/// Checks the stages of a pipeline, and collects the tools that it calls. `first`: no stage precedes them.
pub(super) fn check<'a>(
    message: &SaelMessage<'_, 'a>,
    stages: Node<'a>,
    first: bool,
    tools: &mut PipelineCall<'a>,
) {
    for (n, stage) in stages.children().enumerate() {
        let mut kinds = stage_kinds().filter_map(|kind| Some((kind, stage.get(kind)?)));
        // The schema reports stages that do not have exactly one kind.
        let (Some((kind, value)), None) = (kinds.next(), kinds.next()) else {
            continue;
        };
        let bind = stage.get("input_bind");
        if let Some(bind) = bind {
            binding(message, (n, kind), bind, first && n == 0);
        }
        let branches = || value.children().all(Node::is_array);
        let is_parallel = kind == "parallel" && value.is_array() && branches();
        if kind == "reduce" || is_parallel && value.at(0).is_some() {
            broken!(message, rule::STAGE_UNSUPPORTED, message.at(value);
                "stage {n} is {kind}, which the reference server does not know");
        }
        match kind {
            // A bound input is not known here.
            "tool" => tools.push((value, stage.get("input").filter(|_| bind.is_none()))),
            "filter" => filter(message, n, value),
            "parallel" if is_parallel => {
                for branch in value.children() {
                    check(message, branch, first && n == 0, tools);
                }
            }
            _ => {}
        }
    }
}

fn binding(message: &SaelMessage<'_, '_>, (n, kind): (usize, &str), bind: Node<'_>, first: bool) {
    if kind != "tool" {
        broken!(message, rule::BIND_WITHOUT_TOOL, message.at(bind);
            "stage {n} has input_bind, but is {kind}: only a tool has an input");
        return;
    }
    let mut bound = bind.members().filter(|(_, value)| value.is_text(PREVIOUS));
    if let (true, Some((key, value))) = (first && bind.is_map(), bound.next()) {
        broken!(message, rule::BIND_NOTHING, message.at(value);
            "`{}` of the first stage is bound to $prev, but there is no previous stage",
            short(&key.text().unwrap_or_default()));
    }
    let other = bind.members().find(|(_, value)| is_other_result(*value));
    if let Some((key, value)) = other.filter(|_| bind.is_map()) {
        broken!(message, rule::BIND_NOTHING, message.at(value);
            "`{}` of stage {n} is bound to {}, which does not exist: only $prev is a result",
            short(&key.text().unwrap_or_default()), short(&value.text().unwrap_or_default()));
    }
}

/// Returns true for the name of a result other than `$prev`, such as `$first`.
fn is_other_result(value: Node<'_>) -> bool {
    let Some(text) = value.text().filter(|_| value.is_string()) else {
        return false;
    };
    let Some(name) = text.strip_prefix('$').filter(|_| text.len() <= MAX_NAME) else {
        return false;
    };
    let is_start = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte);
    text != PREVIOUS && name.as_bytes().first().is_some_and(is_start) && name.bytes().all(is_part)
}

fn filter(message: &SaelMessage<'_, '_>, n: usize, node: Node<'_>) {
    let Some(text) = node.text().filter(|_| node.is_string()) else {
        return;
    };
    let problem = match ItemFilter::parse(&text) {
        Ok(filter) => filter.problems().first().map(ToString::to_string),
        Err(refused) => Some(refused.to_string()),
    };
    if let Some(problem) = problem {
        broken!(message, rule::FILTER_ODD, message.at(node);
            "the filter of stage {n} is unusual: {problem}");
    }
}
