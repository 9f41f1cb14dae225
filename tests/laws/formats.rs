//! The identity of a message does not depend on the output format: all formats report the same kind, role, id and
//! subject.

use crate::seeds::{each, fixtures};
use std::fmt::Write as _;
use wiretool::encoding::Want;

#[test]
fn every_format_reports_same_identity() {
    for (protocol, file) in fixtures() {
        let reported = |want, with_outcome| {
            let mut reported = String::new();
            each(protocol, &file, want, &mut |decoded| {
                let m = decoded.message;
                // Exact output also shows bytes between messages.
                if m.kind == "skipped" {
                    return;
                }
                // Text output does not contain the exit code and the dialect.
                let outcome = m.outcome.as_ref().filter(|_| with_outcome);
                let dialect = m.dialect.as_deref().filter(|_| with_outcome);
                let codes: Vec<_> = m.faults.iter().map(|fault| fault.code).collect();
                let _ = writeln!(
                    reported,
                    "{:?}",
                    (
                        &m.kind, m.role, &m.id, &m.subject, outcome, dialect, m.valid, codes
                    )
                );
            });
            reported
        };
        for want in [Want::Head, Want::Text, Want::TextOfFew, Want::Exact] {
            let with_outcome = !matches!(want, Want::Text | Want::TextOfFew);
            let places = reported(Want::Places, with_outcome);
            assert_eq!(
                reported(want, with_outcome),
                places,
                "{} for {want:?}",
                file.display()
            );
        }
    }
}
