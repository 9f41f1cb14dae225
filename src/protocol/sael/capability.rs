//! Whether granted capabilities cover one that is required.
//!
//! ```text
//!   grant            covers, by the document              by the server's code
//!   a:b              a:b                                  the same
//!   a:b:*            a:b and all below it                 only what is below it
//!   *:read           read of anything                     only the text `*:read`
//!   *                anything                             the same
//! ```
//!
//! Both rules are judged; where the document leaves a question open, its verdict says so.

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Covered.
    Yes,
    /// Not covered.
    No,
    /// The rule can be read either way.
    Open,
}

impl Verdict {
    /// The name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Open => "open",
        }
    }
}

impl From<bool> for Verdict {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// A verdict and the grant that led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling<'a> {
    /// Covered or not.
    pub verdict: Verdict,
    /// The grant that covers it, or that leaves it open.
    pub grant: Option<&'a str>,
    /// Why the verdict is open.
    pub why: Option<&'static str>,
}

/// What both rules say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allows<'a> {
    /// The document's rule.
    pub document: Ruling<'a>,
    /// The rule of the reference server.
    pub code: Ruling<'a>,
}

impl Allows<'_> {
    /// Whether the rules come to the same answer.
    pub fn agree(&self) -> bool {
        self.document.verdict == self.code.verdict
    }
}

/// Whether a scope covers a capability, by both rules.
pub fn allows<'a>(scope: &[&'a str], required: &str) -> Allows<'a> {
    Allows {
        document: document(scope, required),
        code: code(scope, required),
    }
}

fn document<'a>(scope: &[&'a str], required: &str) -> Ruling<'a> {
    let mut ruling = Ruling {
        verdict: Verdict::No,
        grant: None,
        why: None,
    };
    if required.is_empty() {
        ruling.verdict = Verdict::Open;
        ruling.why =
            Some("nothing is required, and the document does not say whether that is granted");
    }
    for grant in scope {
        let (verdict, why) = covers(grant, required);
        match (verdict, ruling.verdict) {
            (Verdict::Yes, _) => {
                return Ruling {
                    verdict,
                    grant: Some(grant),
                    why: None,
                };
            }
            (Verdict::Open, Verdict::No) => {
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

/// The document's rule for one grant.
fn covers(grant: &str, required: &str) -> (Verdict, Option<&'static str>) {
    if grant == required || (grant == "*" && !required.is_empty()) {
        return (Verdict::Yes, None);
    }
    let stars = grant.split(':').filter(|segment| *segment == "*").count();
    // A star within a word is a character like others.
    let (stem, below) = (grant.strip_suffix(":*"), grant.strip_prefix("*:"));
    match (stars, stem, below) {
        (0, ..) => (Verdict::No, None),
        (1, Some(""), _) => (
            Verdict::Open,
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
                (Verdict::Yes, None)
            } else if format!(":{required}:").contains(&format!(":{action}:")) {
                let why = "the document does not say whether `anywhere` includes this place";
                (Verdict::Open, Some(why))
            } else {
                (Verdict::No, None)
            }
        }
        _ if may_match(grant, required) => (
            Verdict::Open,
            Some("the document has a star at the end or at the front, not in other places"),
        ),
        _ => (Verdict::No, None),
    }
}

/// Whether a grant would match if each star stood for one segment, or at the end for several.
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
            // A proper prefix, in whole segments; none at all is one, too.
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
    use super::Verdict::{No, Open, Yes};
    use super::*;

    #[test]
    fn both_rules() {
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
    fn a_plain_yes_beats_an_open_question() {
        let found = allows(&["a:*:c", "a:b:c"], "a:b:c").document;
        assert_eq!((found.verdict, found.grant), (Yes, Some("a:b:c")));
        assert_eq!(allows(&[], "a").document.verdict, No);
        assert_eq!(allows(&[], "").document.verdict, Open);
    }
}
