//! What a message is does not depend on how much of it the output wants: all formats tell the same kind, role, id and
//! subject.

use crate::seeds::{each, fixtures};
use std::fmt::Write as _;
use wiretool::encoding::Want;

#[test]
fn every_output_tells_the_same_of_a_message() {
    for (protocol, file) in fixtures() {
        let told = |want, with_outcome| {
            let mut told = String::new();
            each(protocol, &file, want, &mut |decoded| {
                let m = decoded.message;
                // Exact output tells bytes between messages, too.
                if m.kind == "skipped" {
                    return;
                }
                // Output as text has no place for how it ended, nor for its dialect.
                let outcome = m.outcome.as_ref().filter(|_| with_outcome);
                let dialect = m.dialect.filter(|_| with_outcome);
                let codes: Vec<_> = m.faults.iter().map(|fault| fault.code).collect();
                let _ = writeln!(
                    told,
                    "{:?}",
                    (
                        &m.kind, m.role, &m.id, &m.subject, outcome, dialect, m.valid, codes
                    )
                );
            });
            told
        };
        for want in [Want::Head, Want::Text, Want::Exact] {
            let with_outcome = want != Want::Text;
            let places = told(Want::Places, with_outcome);
            assert_eq!(
                told(want, with_outcome),
                places,
                "{} for {want:?}",
                file.display()
            );
        }
    }
}
