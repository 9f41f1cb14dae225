//! Test cases with their failures, for the reports that list them.

use crate::conversation::Finding;
use crate::protocol::session::Place;

/// A test suite with one test case per input.
pub struct Cases {
    pub command: &'static str,
    pub all: Vec<Case>,
}

pub struct Case {
    pub name: String,
    /// Broken rules with texts.
    pub failures: Vec<(String, String)>,
    /// Other findings.
    pub notes: Vec<String>,
}

impl Cases {
    pub fn new(command: &'static str) -> Self {
        let all = Vec::new();
        Self { command, all }
    }

    /// Returns the case with a name: the last one, or a new one.
    pub fn case(&mut self, name: &str) -> &mut Case {
        let at = self.all.iter().rposition(|case| case.name == name);
        let at = at.unwrap_or_else(|| {
            self.all.push(Case {
                name: name.to_owned(),
                failures: Vec::new(),
                notes: Vec::new(),
            });
            self.all.len() - 1
        });
        &mut self.all[at]
    }

    pub fn add_finding(&mut self, finding: &Finding, name: &str, fails: bool) {
        let place = finding.place;
        let index =
            (place.index != Place::NO_MESSAGE).then(|| format!("message #{}, ", place.index));
        let text = format!(
            "{}offset {}: {}",
            index.unwrap_or_default(),
            place.offset,
            finding.text
        );
        if fails {
            self.add_failure(name, &finding.name(), &text);
        } else {
            let note = format!("{} {}: {text}", finding.severity.name(), finding.name());
            self.case(name).notes.push(note);
        }
    }

    pub fn add_failure(&mut self, name: &str, rule: &str, text: &str) {
        let failure = (rule.to_owned(), text.to_owned());
        self.case(name).failures.push(failure);
    }

    /// Returns the number of cases with a failure.
    pub fn failed(&self) -> usize {
        let failed = self.all.iter().filter(|case| !case.failures.is_empty());
        failed.count()
    }
}
