//! Finds the forms of lines of text: replies with a number, members with names, or verbs; and which lines are answers.
//!
//! ```text
//!   250-SIZE 33554432        {code:int}-{more...}
//!   id=5 op=get key=a        id={id:int} op={op} key={key}
//!   MAIL FROM:<a@x.org>      {verb} {words...}
//! ```

use super::facts::{Values, is};
use super::framing::{Found, streams};
use super::{Capture, DraftMessage};
use crate::protocol::Direction;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The fewest lines that show a form, and the fewest answers that show their order.
const MIN_LINES: usize = 4;
const MIN_ANSWERS: usize = 6;
/// The maximum number of forms of lines with named members, and of verbs of requests.
const MAX_FORMS: usize = 8;
const MAX_VERBS: usize = 32;
/// The members of the forms of lines that are not named.
const CODE: &str = ".code";
const MORE: &str = ".more";
const VERB: &str = ".verb";

/// Returns the forms of lines of text, if all bytes are such lines.
pub fn find(capture: &Capture) -> Option<Found> {
    let streams = streams(capture);
    let mut lines = Vec::new();
    for (direction, stream) in &streams {
        let whole = std::str::from_utf8(stream).ok()?.strip_suffix('\n')?;
        lines.extend(whole.split('\n').map(|line| (*direction, line)));
    }
    let ends = lines
        .iter()
        .filter(|(_, line)| line.ends_with('\r'))
        .count();
    let is_text = |line: &str| !line.contains(|c: char| c.is_control() && c != '\t');
    let trimmed = lines
        .iter()
        .map(|(side, line)| (*side, line.strip_suffix('\r').unwrap_or(line)));
    let lines: Vec<_> = trimmed.collect();
    if lines.len() < MIN_LINES || !lines.iter().all(|(_, line)| is_text(line)) {
        return None;
    }
    let (forms, why) = named(&lines)
        .or_else(|| numbered(&lines))
        .unwrap_or_else(|| {
            let forms = ["{verb} {words...}", "{verb}", "{line...}"];
            (
                forms.map(str::to_owned).to_vec(),
                "the first word of each line is taken as its verb".to_owned(),
            )
        });
    let line_end = if ends == lines.len() {
        "line-end = \"\\r\\n\"\n"
    } else {
        ""
    };
    let forms: Vec<_> = forms
        .into_iter()
        .map(|form| toml::Value::String(form).to_string())
        .collect();
    let toml = format!(
        "framings = [\"lines\"]\n{line_end}encodings = [\"text\"]\ntext = [{}]\n",
        forms.join(", ")
    );
    let text = format!("name = \"draft\"\n{toml}[[message]]\nrole = \"notification\"\n");
    let trial = capture
        .try_description(&text)
        .filter(|trial| trial.bad == 0)?;
    Some(Found {
        toml,
        why: vec![
            format!("{} lines of text, and no byte is left", lines.len()),
            why,
        ],
        trial,
        is_read: true,
    })
}

/// Returns the forms of replies with a number, if all lines of a direction have one.
fn numbered(lines: &[(Option<Direction>, &str)]) -> Option<(Vec<String>, String)> {
    let is_numbered = |line: &str| {
        let (code, rest) = line.split_at_checked(3).unwrap_or_default();
        code.bytes().all(|b| b.is_ascii_digit())
            && code.starts_with(['1', '2', '3', '4', '5'])
            && (rest.is_empty() || rest.starts_with([' ', '-']))
    };
    let of = |side: Option<Direction>| lines.iter().filter(move |(of, _)| *of == side);
    let sides: BTreeSet<_> = lines
        .iter()
        .map(|(side, _)| side.map(Direction::name))
        .collect();
    let sides = sides
        .into_iter()
        .map(|name| name.and_then(Direction::from_name));
    let side = sides.into_iter().find(|side| {
        of(*side).count() >= MIN_LINES && of(*side).all(|(_, line)| is_numbered(line))
    })?;
    let forms = [
        "{code:int}-{more...}",
        "{code:int} {text...}",
        "{code:int}",
        "{verb} {words...}",
        "{verb}",
        "{line...}",
    ];
    let why = format!(
        "{} lines of one side begin with a number of three digits",
        of(side).count()
    );
    Some((forms.map(str::to_owned).to_vec(), why))
}

/// Returns the forms of lines whose words all are `NAME=VALUE`, one for each list of names.
fn named(lines: &[(Option<Direction>, &str)]) -> Option<(Vec<String>, String)> {
    let is_name = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits)
    };
    let mut forms: BTreeMap<Vec<&str>, Vec<bool>> = BTreeMap::new();
    for (_, line) in lines {
        let words = line.split(' ').map(|word| word.split_once('='));
        let members: Vec<_> = words.collect::<Option<_>>()?;
        if !members
            .iter()
            .all(|(name, value)| is_name(name) && !value.is_empty())
        {
            return None;
        }
        let is_number = |value: &str| value.parse::<i64>().is_ok_and(|n| n.to_string() == value);
        let names = members.iter().map(|(name, _)| *name).collect();
        let numbers = forms
            .entry(names)
            .or_insert_with(|| vec![true; members.len()]);
        for (all, (_, value)) in numbers.iter_mut().zip(&members) {
            *all &= is_number(value);
        }
    }
    if forms.len() > MAX_FORMS {
        return None;
    }
    let count = forms.len();
    let mut forms: Vec<_> = forms.into_iter().collect();
    // A form with more members does not fit the lines of another.
    forms.sort_by_key(|(names, _)| std::cmp::Reverse(names.len()));
    let form = |(names, numbers): (Vec<&str>, Vec<bool>)| {
        let members = names.iter().zip(numbers).map(|(name, is_number)| {
            let kind = if is_number { ":int" } else { "" };
            format!("{name}={{{name}{kind}}}")
        });
        members.collect::<Vec<_>>().join(" ")
    };
    let why = format!("all words of all lines are NAME=VALUE, in {count} forms");
    Some((forms.into_iter().map(form).collect(), why))
}

/// The parts of a conversation in lines, in which each side waits for the other.
#[derive(Default)]
pub struct Turns {
    greeting: Vec<usize>,
    requests: Vec<usize>,
    /// Lines of a client that are not answered.
    data: Vec<usize>,
    items: Vec<usize>,
    pub answers: Vec<usize>,
}

impl Turns {
    /// Divides lines with verbs into requests and answers: the last line before an answer is the request.
    pub fn of(values: &Values, messages: &[DraftMessage]) -> Option<Self> {
        let mut turns = Self::default();
        let mut open: HashMap<Option<u32>, usize> = HashMap::new();
        let mut has_asked = BTreeSet::new();
        for (n, message) in messages.iter().enumerate() {
            let conn = message.conn;
            if message.direction? == Direction::ToServer {
                turns.data.extend(open.insert(conn, n));
                has_asked.insert(conn);
            } else if values.get(MORE, n).is_some() {
                open.get(&conn)?;
                turns.items.push(n);
            } else if let Some(request) = open.remove(&conn) {
                turns.requests.push(request);
                turns.answers.push(n);
            } else if has_asked.contains(&conn) {
                return None;
            } else {
                turns.greeting.push(n);
            }
        }
        let all: Vec<_> = (0..messages.len()).collect();
        let is_text = values.count(VERB) > 0 && !values.texts(CODE, &all).is_empty();
        let verbs = values.texts(VERB, &turns.requests);
        let is_sure = turns.answers.len() >= MIN_ANSWERS
            && verbs.len() <= MAX_VERBS
            && values.texts(VERB, &turns.data).is_disjoint(&verbs);
        (is_text && is_sure && open.is_empty()).then_some(turns)
    }

    /// Returns the `[[message]]`s, and the lines before them.
    pub fn write(&self, values: &Values) -> (String, String) {
        let codes = values.texts(CODE, &self.answers);
        let top = format!(
            "# {0} lines of the client are answered in order, each by a line with a number.\npair = \"order\"\n",
            self.answers.len()
        );
        let mut out = String::new();
        let mut write = |of: &[usize], when: &str, rest: &str| {
            if !of.is_empty() {
                let when = toml::Value::String(when.to_owned());
                out += &format!(
                    "\n# lines: {}\n[[message]]\nwhen = {when}\n{rest}",
                    of.len()
                );
            }
        };
        let greeting = values.texts(CODE, &self.greeting);
        if let (Some(code), true) = (greeting.first(), greeting.is_disjoint(&codes)) {
            write(
                &self.greeting,
                &format!("{CODE}={code}"),
                "role = \"hello\"\ncontent = \".text\"\n",
            );
        }
        let verbs = values.texts(VERB, &self.requests);
        let verbs: Vec<_> = verbs.into_iter().collect();
        let asked = match self.data.as_slice() {
            [] => "dir=c2s".to_owned(),
            _ => format!("dir=c2s and {}", is(VERB, &verbs)),
        };
        let request = "role = \"request\"\nsubject = \".verb\"\ncontent = \".words\"\n";
        write(&self.requests, &asked, request);
        write(
            &self.data,
            "dir=c2s",
            "role = \"notification\"\nkind = \"data\"\n",
        );
        write(
            &self.items,
            ".more or .more=''",
            "role = \"item\"\ncontent = \".more\"\n",
        );
        let mut response = "role = \"response\"\ncontent = \".text\"\n".to_owned();
        response += if codes.iter().any(|code| code.as_str() >= "400") {
            "error = \".code>=400\"\noutcome = \".code\"\ntext = \".text\"\n"
        } else {
            "# Not found: the condition of an error; no answer shows it.\n"
        };
        write(&self.answers, "dir=s2c", &response);
        (top, out)
    }
}
