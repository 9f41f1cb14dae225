//! Decides if granted capabilities cover a required one.
//!
//! ```text
//!   grant            covers, by the document              by the server's code
//!   a:b              a:b                                  the same
//!   a:b:*            a:b and all below it                 only what is below it
//!   *:read           read of anything                     only the text `*:read`
//!   *                anything                             the same
//! ```
//!
//! Both rules are applied. If the document leaves a question open, its verdict is open.

/// The result of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Covered.
    Yes,
    /// Not covered.
    No,
    /// The rule allows both readings.
    Open,
}

impl Grant {
    /// The name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Open => "open",
        }
    }
}

impl From<bool> for Grant {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// A verdict, and the grant that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling<'a> {
    /// Covered or not.
    pub verdict: Grant,
    /// The grant that covers it, or that leaves the question open.
    pub grant: Option<&'a str>,
    /// The reason why the verdict is open.
    pub why: Option<&'static str>,
}

/// The results of both rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapabilityVerdicts<'a> {
    /// The document's rule.
    pub document: Ruling<'a>,
    /// The rule of the reference server.
    pub code: Ruling<'a>,
}

impl CapabilityVerdicts<'_> {
    /// Returns true if both rules give the same verdict.
    pub fn agree(&self) -> bool {
        self.document.verdict == self.code.verdict
    }
}

/// Checks a capability against the grants of a scope, by both rules.
pub fn allows<'a>(scope: &[&'a str], required: &str) -> CapabilityVerdicts<'a> {
    CapabilityVerdicts {
        document: document(scope, required),
        code: code(scope, required),
    }
}

fn document<'a>(scope: &[&'a str], required: &str) -> Ruling<'a> {
    let mut ruling = Ruling {
        verdict: Grant::No,
        grant: None,
        why: None,
    };
    if required.is_empty() {
        ruling.verdict = Grant::Open;
        ruling.why =
            Some("nothing is required, and the document does not say whether that is granted");
    }
    for grant in scope {
        let (verdict, why) = covers(grant, required);
        match (verdict, ruling.verdict) {
            (Grant::Yes, _) => {
                return Ruling {
                    verdict,
                    grant: Some(grant),
                    why: None,
                };
            }
            (Grant::Open, Grant::No) => {
                ruling = Ruling {
                    verdict,
                    grant: Some(grant),
                    why,
                };
            }
            _ => {}
        }
    }
    ruling
}

/// Applies the document's rule to one grant.
fn covers(grant: &str, required: &str) -> (Grant, Option<&'static str>) {
    if grant == required || (grant == "*" && !required.is_empty()) {
        return (Grant::Yes, None);
    }
    let stars = grant.split(':').filter(|segment| *segment == "*").count();
    // A star inside a word is an ordinary character.
    let (stem, below) = (grant.strip_suffix(":*"), grant.strip_prefix("*:"));
    match (stars, stem, below) {
        (0, ..) => (Grant::No, None),
        (1, Some(""), _) => (
            Grant::Open,
            Some("the document does not say what is below an empty name"),
        ),
        (1, Some(stem), _) => {
            let rest = required.strip_prefix(stem);
            let yes = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
            (yes.into(), None)
        }
        (1, None, Some(action)) => {
            let before = required.strip_suffix(action);
            if before.is_some_and(|before| before.ends_with(':')) {
                (Grant::Yes, None)
            } else if format!(":{required}:").contains(&format!(":{action}:")) {
                let why = "the document does not say whether `anywhere` includes this place";
                (Grant::Open, Some(why))
            } else {
                (Grant::No, None)
            }
        }
        _ if may_match(grant, required) => (
            Grant::Open,
            Some("the document has a star at the end or at the front, not in other places"),
        ),
        _ => (Grant::No, None),
    }
}

/// Returns true if a grant matches when each star stands for one segment, or at the end for several.
fn may_match(grant: &str, required: &str) -> bool {
    let mut wanted = required.split(':');
    let mut segments = grant.split(':').peekable();
    while let Some(segment) = segments.next() {
        if segment == "*" && segments.peek().is_none() {
            return true;
        }
        if !wanted
            .next()
            .is_some_and(|w| segment == "*" || segment == w)
        {
            return false;
        }
    }
    wanted.next().is_none()
}

fn code<'a>(scope: &[&'a str], required: &str) -> Ruling<'a> {
    let grant = scope.iter().copied().find(|grant| {
        let is_above = |stem: &str| {
            // A proper prefix of whole segments; an empty one counts too.
            stem.is_empty()
                || required
                    .strip_prefix(stem)
                    .is_some_and(|rest| rest.starts_with(':'))
        };
        *grant == required || *grant == "*" || grant.strip_suffix(":*").is_some_and(is_above)
    });
    Ruling {
        verdict: grant.is_some().into(),
        grant,
        why: None,
    }
}

#[cfg(test)]
mod tests {
    use super::Grant::{No, Open, Yes};
    use super::*;

    #[test]
    fn both_rules_judge_each_grant() {
        for (grant, required, by_document, by_code) in [
            ("a:b", "a:b", Yes, Yes),
            ("a:b:*", "a:b", Yes, No),
            ("a:b:*", "a:b:c:d", Yes, Yes),
            ("a:b:*", "a:bc", No, No),
            ("a:*", "ab", No, No),
            ("*", "a", Yes, Yes),
            ("*:read", "a:read", Yes, No),
            ("*:read", "a:b:read", Yes, No),
            ("*:read", "a:bread", No, No),
            ("*:read", "read", Open, No),
            ("*:read", "a:read:b", Open, No),
            ("*:read", "*:read", Yes, Yes),
            ("a:*:c", "a:b:c", Open, No),
            ("a:*:c", "a:b:d", No, No),
            ("a:*:c", "a:b", No, No),
            ("*:*", "a:b", Open, No),
            (":*", "a:b", Open, Yes),
            ("a:b*", "a:bc", No, No),
            ("A:b", "a:b", No, No),
            ("", "", Yes, Yes),
        ] {
            let found = allows(&[grant], required);
            let verdicts = (found.document.verdict, found.code.verdict);
            assert_eq!(verdicts, (by_document, by_code), "{grant} for {required}");
            assert_eq!(found.agree(), by_document == by_code);
        }
    }

    #[test]
    fn a_grant_that_covers_precedes_an_open_one() {
        let found = allows(&["a:*:c", "a:b:c"], "a:b:c").document;
        assert_eq!((found.verdict, found.grant), (Yes, Some("a:b:c")));
        assert_eq!(allows(&[], "a").document.verdict, No);
        assert_eq!(allows(&[], "").document.verdict, Open);
    }
}
