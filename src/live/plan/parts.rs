//! Parts of recorded messages that are stored separately: ids and fields of HTTP requests; and the check that a
//! recording can be used.

use super::PlanError;
use super::sides::check_sides;
use crate::capture::{CaptureInput, Form, Header, Item, ProblemSeverity};
use crate::diff::{Val, walk};
use crate::protocol::{Id, Protocol};

/// The error for input that is not a recording.
pub(super) const NOT_A_RECORDING: &str =
    "not a recording: the first line must be {\"wiretool\":1,…}";

/// Checks that a recording is of one of these protocols, if it names one.
pub(super) fn check_protocol(
    header: &Header,
    protocols: &[&dyn Protocol],
) -> Result<(), PlanError> {
    match &header.protocol {
        Some(name) if !protocols.iter().any(|p| p.name() == name) => Err(match protocols {
            [wanted] => format!("it is a recording of {name}, not of {}", wanted.name()),
            _ => format!(
                "it is a recording of {name}, which is not known here: name its description with -p FILE.toml"
            ),
        }),
        _ => Ok(()),
    }
}

/// Checks that this is a recording of this protocol without errors. A missing end is not an error.
pub(crate) fn check(recording: &[u8], protocol: &dyn Protocol) -> Result<(), PlanError> {
    let mut input = CaptureInput::new(Form::Recording);
    let (mut result, mut has_header) = (Ok(()), false);
    let mut item = |item: Item<'_>| {
        let found = match item {
            Item::Header(header) => {
                has_header = true;
                check_protocol(header, &[protocol])
            }
            Item::Problem(problem) if problem.severity == ProblemSeverity::Error => {
                Err(problem.to_string())
            }
            _ => Ok(()),
        };
        if result.is_ok() {
            result = found;
        }
    };
    input.push(recording, &mut item);
    input.finish(&mut item);
    if !has_header {
        return Err(NOT_A_RECORDING.into());
    }
    result?;
    check_sides(recording, &[protocol])
}

/// Returns the id of a message as a value.
pub(in crate::live) fn id_of(id: &Id<'_>) -> Option<Val> {
    match id {
        Id::None => None,
        Id::Uuid(uuid) => Some(Val::Uuid(*uuid)),
        Id::Text(text) => Some(Val::text(text)),
        Id::Number(n) => Some(Val::integer(*n)),
        Id::Json(text) => {
            let mut val = None;
            walk(text, &mut |_, spot| val = Some(spot.val));
            val
        }
    }
}
