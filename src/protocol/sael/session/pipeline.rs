//! The stages of a pipeline.

use super::{Report, Turn, short};
use crate::protocol::sael::filter::Filter;
use crate::tape::Node;

/// What a stage can be.
const SORTS: [&str; 5] = ["tool", "filter", "map", "reduce", "parallel"];
/// What stands for the output of the stage before.
const PREVIOUS: &str = "$prev";

/// A tool that is called, with the input that is given as it stands.
pub(super) type Calls<'a> = Vec<(Node<'a>, Option<Node<'a>>)>;

/// Checks a pipeline, and collects the tools that it calls.
pub(super) fn check<'a>(
    turn: Turn<'_, 'a>,
    pipeline: Node<'a>,
    tools: &mut Calls<'a>,
    report: &mut Report,
) {
    if !pipeline.is_array() {
        let text = format!(
            "pipeline is {}, and must be an array of stages",
            pipeline.describe()
        );
        report.broken("stage-value", turn.seen.at(pipeline), text);
        return;
    }
    stages(turn, pipeline, true, tools, report);
}

fn stages<'a>(
    turn: Turn<'_, 'a>,
    list: Node<'a>,
    first: bool,
    tools: &mut Calls<'a>,
    report: &mut Report,
) {
    for (n, stage) in list.children().enumerate() {
        one(turn, n, stage, first && n == 0, tools, report);
    }
}

fn one<'a>(
    turn: Turn<'_, 'a>,
    n: usize,
    stage: Node<'a>,
    first: bool,
    tools: &mut Calls<'a>,
    report: &mut Report,
) {
    let place = turn.seen.at(stage);
    if !stage.is_map() {
        let text = format!("stage {n} is {}, and must be an object", stage.describe());
        report.broken("stage-kind", place, text);
        return;
    }
    let mut sorts = SORTS
        .iter()
        .filter_map(|sort| Some((*sort, stage.get(sort)?)));
    let (Some((sort, value)), None) = (sorts.next(), sorts.next()) else {
        let count = SORTS
            .iter()
            .filter(|sort| stage.get(sort).is_some())
            .count();
        let text = format!(
            "stage {n} has {count} of tool, filter, map, reduce and parallel, and must have one"
        );
        report.broken("stage-kind", place, text);
        return;
    };
    if let Some(bind) = stage.get("input_bind") {
        binding(turn, n, sort, bind, first, report);
    }
    let wrong = |wanted: &str, report: &mut Report| {
        let text = format!(
            "{sort} of stage {n} is {}, and must be {wanted}",
            value.describe()
        );
        report.broken("stage-value", turn.seen.at(value), text);
    };
    match sort {
        "tool" if !value.is_string() => wrong("text", report),
        "tool" => {
            let input = stage.get("input");
            if let Some(input) = input.filter(|input| !input.is_map()) {
                let text = format!(
                    "input of stage {n} is {}, and must be an object",
                    input.describe()
                );
                report.broken("stage-value", turn.seen.at(input), text);
            }
            // What is bound is not known here.
            tools.push((value, input.filter(|_| stage.get("input_bind").is_none())));
        }
        "filter" => match value.text() {
            None => wrong("text", report),
            Some(text) => filter(turn, n, value, &text, report),
        },
        "map" if !value.is_array() || value.children().any(|field| !field.is_string()) => {
            wrong("an array of field names", report);
        }
        "parallel" => {
            let branches = value.is_array() && value.children().next().is_some();
            if !branches || value.children().any(|branch| !branch.is_array()) {
                let text =
                    format!("parallel of stage {n} must be an array of pipelines, one at least");
                report.broken("parallel-shape", turn.seen.at(value), text);
                return;
            }
            unsupported(turn, n, sort, value, report);
            for branch in value.children() {
                stages(turn, branch, first, tools, report);
            }
        }
        "reduce" => unsupported(turn, n, sort, value, report),
        _ => {}
    }
}

fn unsupported(turn: Turn<'_, '_>, n: usize, sort: &str, value: Node<'_>, report: &mut Report) {
    let text = format!("stage {n} is {sort}, which the reference server does not know");
    report.broken("stage-unsupported", turn.seen.at(value), text);
}

fn binding(
    turn: Turn<'_, '_>,
    n: usize,
    sort: &str,
    bind: Node<'_>,
    first: bool,
    report: &mut Report,
) {
    if sort != "tool" {
        let text = format!("stage {n} has input_bind, and is {sort}: only a tool has an input");
        report.broken("bind-without-tool", turn.seen.at(bind), text);
        return;
    }
    if !bind.is_map() {
        let text = format!(
            "input_bind of stage {n} is {}, and must be an object",
            bind.describe()
        );
        report.broken("stage-value", turn.seen.at(bind), text);
        return;
    }
    let mut bound = bind.members().filter(|(_, value)| value.is_text(PREVIOUS));
    if let (true, Some((key, value))) = (first, bound.next()) {
        let key = key.text().unwrap_or_default();
        let text = format!(
            "`{}` of the first stage is bound to $prev, and nothing is before it",
            short(&key)
        );
        report.broken("bind-nothing", turn.seen.at(value), text);
    }
}

fn filter(turn: Turn<'_, '_>, n: usize, node: Node<'_>, text: &str, report: &mut Report) {
    let problem = match Filter::parse(text) {
        Ok(filter) => filter.problems().first().map(ToString::to_string),
        Err(refused) => Some(refused.to_string()),
    };
    if let Some(problem) = problem {
        let text = format!("in the filter of stage {n}, {problem}");
        report.broken("filter-odd", turn.seen.at(node), text);
    }
}
