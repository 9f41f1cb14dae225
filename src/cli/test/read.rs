//! Reads a file of tests. Every error has its place and names what was expected.

use super::suite::{Action, Budget, Case, Common, Condition, StubProgram, Suite};
use crate::capture::line_table::LineColumn;
use crate::cli::options;
use crate::own_rules::{OwnRule, read_rules};
use crate::protocol::rule_names::RuleId;
use crate::protocol::session::Severity;
use crate::protocol::{Protocol, registry};
use crate::select::{Expr, ParseError};
use crate::settings::{is_rule, nearest_rule};
use crate::toml_text::{Entries, Item, Key, TomlError, TomlText, in_order};
use crate::words::nearest;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The keys that a file and a case have.
const COMMON: [&str; 12] = [
    "protocol", "command", "connect", "env", "flags", "timeout", "limit", "linger", "budget",
    "allow", "deny", "fail-on",
];
/// The keys of a file only.
const SUITE: [&str; 3] = ["stub", "rule", "case"];
/// The keys of a case only.
const CASE: [&str; 12] = [
    "name", "send", "wait", "replay", "ignore", "strict", "client", "exit", "watch", "expect",
    "never", "baseline",
];
const STUB: [&str; 5] = ["protocol", "script", "recording", "listen", "flags"];
const BUDGET: [&str; 4] = ["latency", "time", "bytes", "calls"];
const CONDITION: [&str; 4] = ["where", "count", "least", "most"];

type Read<T> = Result<T, TomlError>;

/// Reads a file. `name` is its name in errors.
pub fn read(name: &str, text: &str) -> Result<Suite, Vec<TomlError>> {
    let toml = TomlText { name, text };
    let table = toml.parse().map_err(|error| vec![error])?;
    let entries = in_order(&table);
    let rules = match entries.iter().find(|(key, _)| key.get_ref() == "rule") {
        Some((_, item)) => {
            let protocols: Vec<_> = registry::names().collect();
            read_rules(toml, item, Some(&protocols), RuleId::of_tests)?
        }
        None => Vec::new(),
    };
    let mut reader = Reader {
        toml,
        folder: folder_of(Path::new(name)),
        rules,
        stubs: Vec::new(),
    };
    let cases = reader.cases(&entries).map_err(|error| vec![error])?;
    Ok(Suite {
        name: name.to_owned(),
        folder: reader.folder,
        rules: reader.rules,
        stubs: reader.stubs,
        cases,
    })
}

struct Reader<'t> {
    toml: TomlText<'t>,
    folder: PathBuf,
    rules: Vec<OwnRule>,
    stubs: Vec<StubProgram>,
}

impl Reader<'_> {
    fn cases(&mut self, entries: &Entries<'_, '_>) -> Read<Vec<Case>> {
        let mut common = Common::default();
        let mut cases = Vec::new();
        for (key, item) in entries {
            let word: &str = key.get_ref();
            match word {
                "rule" | "case" => {}
                "stub" => {
                    for (key, item) in self.toml.entries(word, item)? {
                        let stub = self.stub(key, item)?;
                        self.stubs.push(stub);
                    }
                }
                _ if self.common(word, item, &mut common)? => {}
                _ => return Err(self.unknown_key(key, &SUITE)),
            }
        }
        let list = entries.iter().find(|(key, _)| key.get_ref() == "case");
        let Some((_, list)) = list else {
            let end = self.toml.text.len();
            let text = "wanted a case: [[case]] with name and send";
            return Err(self.toml.error(&(end..end), text));
        };
        let mut names = HashSet::new();
        for item in self
            .toml
            .list("case", list, "tables, each below [[case]]")?
        {
            let case = self.case(item, common.clone())?;
            if !names.insert(case.name.clone()) {
                let text = format!("name: wanted a name for each case, got {} again", case.name);
                return Err(self.toml.error(&item.span(), text));
            }
            cases.push(case);
        }
        Ok(cases)
    }

    /// The error of a key that neither the file or case nor both have.
    fn unknown_key(&self, key: &Key<'_>, own: &[&str]) -> TomlError {
        self.toml.unknown_key(key, &[own, &COMMON].concat())
    }

    /// Reads a key that a file and a case have. Returns false if it is another one.
    fn common(&self, word: &str, item: &Item<'_>, common: &mut Common) -> Read<bool> {
        match word {
            "protocol" => common.protocol = Some(self.protocol(item)?),
            "command" => {
                common.command = self.words(word, item)?;
                common.flags.retain(|flag| !flag.starts_with("--connect="));
            }
            "connect" => {
                let address = self.toml.string(word, item)?;
                common.command.clear();
                common.flags.retain(|flag| !flag.starts_with("--connect="));
                common.flags.push(format!("--connect={address}"));
            }
            "env" => {
                for (key, item) in self.toml.entries(word, item)? {
                    let value = self.toml.string(key.get_ref(), item)?.to_owned();
                    common.env.push((key.get_ref().to_string(), value));
                }
            }
            "flags" => common.flags.extend(self.words(word, item)?),
            "timeout" => common.timeout = self.time(word, item)?,
            "limit" => common.limit = self.time(word, item)?,
            "linger" => common.linger = self.time(word, item)?,
            "budget" => common.budget = self.budget(item, common.budget)?,
            "allow" => self.levels(word, item, Severity::Off, common)?,
            "deny" => self.levels(word, item, Severity::Error, common)?,
            "fail-on" => {
                let name = self.toml.string(word, item)?;
                let wanted = || {
                    self.toml
                        .wrong_value(word, item, "error, warning, info or never")
                };
                common.fail_on = match name {
                    "never" => None,
                    name => Some(Severity::from_name(name).ok_or_else(wanted)?),
                };
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn protocol(&self, item: &Item<'_>) -> Read<&'static dyn Protocol> {
        let name = self.toml.string("protocol", item)?;
        registry::find(name).ok_or_else(|| {
            let near = nearest(name, registry::names());
            let near = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
            let names: Vec<_> = registry::names().collect();
            let wanted = format!("one of {}{near}", names.join(", "));
            self.toml.wrong_value("protocol", item, &wanted)
        })
    }

    /// Reads words: a list, or a text in the syntax of a shell.
    fn words(&self, key: &str, item: &Item<'_>) -> Read<Vec<String>> {
        let wanted = "words: a text such as \"node server.js\", or a list of texts";
        let words = match item.get_ref().as_str() {
            Some(text) => {
                shell_words::split(text).map_err(|_| self.toml.wrong_value(key, item, wanted))?
            }
            None => self.toml.strings(key, item, wanted)?,
        };
        if words.is_empty() {
            return Err(self.toml.wrong_value(key, item, wanted));
        }
        Ok(words)
    }

    fn time(&self, key: &str, item: &Item<'_>) -> Read<Duration> {
        let text = item.get_ref().as_str().unwrap_or_default();
        let wanted = |_| {
            self.toml
                .wrong_value(key, item, "a time such as \"500ms\" or \"2s\"")
        };
        options::parse_duration(text).map_err(wanted)
    }

    fn number(&self, key: &str, item: &Item<'_>) -> Read<u64> {
        let number = item.get_ref().as_integer();
        let number = number.and_then(|number| number.as_str().parse().ok());
        number.ok_or_else(|| self.toml.wrong_value(key, item, "a number from 0"))
    }

    fn budget(&self, item: &Item<'_>, mut budget: Budget) -> Read<Budget> {
        for (key, item) in self.toml.entries("budget", item)? {
            let word: &str = key.get_ref();
            match word {
                "latency" => budget.latency = Some(self.time(word, item)?),
                "time" => budget.time = Some(self.time(word, item)?),
                "calls" => budget.calls = Some(self.number(word, item)?),
                "bytes" => {
                    let text = item.get_ref().as_str();
                    let size = text.map(|text| options::size(text).map(u64::from));
                    budget.bytes = Some(match size {
                        Some(Ok(size)) => size,
                        Some(Err(_)) => {
                            let wanted = "bytes, or a size such as \"64K\"";
                            return Err(self.toml.wrong_value(word, item, wanted));
                        }
                        None => self.number(word, item)?,
                    });
                }
                _ => return Err(self.toml.unknown_key(key, &BUDGET)),
            }
        }
        Ok(budget)
    }

    /// Adds the severity of rules, which the program or this file has.
    fn levels(
        &self,
        key: &str,
        item: &Item<'_>,
        severity: Severity,
        common: &mut Common,
    ) -> Read<()> {
        for item in self.toml.list(key, item, "names of rules")? {
            let name = self.toml.string(key, item)?;
            let own = |rule: &OwnRule| name.rsplit('/').next() == Some(&*rule.rule.name);
            if !is_rule(name) && !self.rules.iter().any(own) {
                let near = nearest_rule(name).map(|near| format!(": did you mean {near}?"));
                let text = format!("no rule is called {name}{}", near.unwrap_or_default());
                return Err(self.toml.error(&item.span(), text));
            }
            common.levels.push((name.to_owned(), severity));
        }
        Ok(())
    }

    fn stub(&self, name: &Key<'_>, item: &Item<'_>) -> Read<StubProgram> {
        let mut words = Vec::new();
        let (mut protocol, mut listens, mut more) = (None, false, Vec::new());
        for (key, item) in self.toml.entries(name.get_ref(), item)? {
            let word: &str = key.get_ref();
            let mut flag = |name: &str, value: String| words.extend([name.to_owned(), value]);
            match word {
                "protocol" => protocol = Some(self.protocol(item)?),
                "script" => flag("--script", self.absolute(word, item)?),
                "recording" => flag("--from-recording", self.absolute(word, item)?),
                "listen" => {
                    listens = true;
                    flag("--listen", self.toml.string(word, item)?.to_owned());
                }
                "flags" => more = self.words(word, item)?,
                _ => return Err(self.toml.unknown_key(key, &STUB)),
            }
        }
        let Some(protocol) = protocol else {
            let text = "wanted a protocol: protocol = \"mcp\"";
            return Err(self.toml.error(&name.span(), text));
        };
        listens |= more.iter().any(|word| word.starts_with("--listen"));
        words.insert(0, protocol.name().to_owned());
        words.extend(more);
        Ok(StubProgram {
            name: name.get_ref().to_string(),
            words,
            listens,
        })
    }

    /// Reads the path of a file that exists, relative to the folder of the tests.
    fn path(&self, key: &str, item: &Item<'_>) -> Read<PathBuf> {
        let path = self.folder.join(self.toml.string(key, item)?);
        if path.is_file() {
            Ok(path)
        } else {
            let text = format!("{key}: there is no file {}", path.display());
            Err(self.toml.error(&item.span(), text))
        }
    }

    /// Reads the path of a file for a program that runs elsewhere.
    fn absolute(&self, key: &str, item: &Item<'_>) -> Read<String> {
        let path = std::path::absolute(self.path(key, item)?);
        let path = path.map_err(|error| self.toml.error(&item.span(), error.to_string()))?;
        Ok(path.display().to_string())
    }

    fn at(&self, item: &Item<'_>) -> LineColumn {
        let error = self.toml.error(&item.span(), "");
        LineColumn {
            line: error.line as u64,
            column: error.column as u64,
        }
    }

    fn case(&self, table: &Item<'_>, common: Common) -> Read<Case> {
        let entries = self.toml.entries("case", table)?;
        let mut case = CaseParts {
            common,
            ..CaseParts::default()
        };
        for (key, item) in &entries {
            self.case_key(key, item, &mut case)?;
        }
        let Some(name) = case.name else {
            let text = "wanted a name: name = \"adds two numbers\"";
            return Err(self.toml.error(&table.span(), text));
        };
        let at = |key: &str| entries.iter().find(|(name, _)| name.get_ref() == key);
        let given: Vec<_> = ["send", "replay", "client"]
            .into_iter()
            .filter_map(at)
            .collect();
        if let [_, (key, _), ..] = given.as_slice() {
            let text = "wanted one of send, replay and client in each case";
            return Err(self.toml.error(&key.span(), text));
        }
        for (key, of) in [
            ("wait", "send"),
            ("ignore", "replay"),
            ("strict", "replay"),
            ("watch", "client"),
        ] {
            if let Some((key, _)) = at(key).filter(|_| at(of).is_none()) {
                let text = format!("{} is of {of}, which the case does not have", key.get_ref());
                return Err(self.toml.error(&key.span(), text));
            }
        }
        let action = match case.action {
            Some(Action::Send { lines, .. }) => Action::Send {
                lines,
                waits: case.waits.unwrap_or(true),
            },
            Some(Action::Replay { recording, .. }) => Action::Replay {
                recording,
                ignore: case.ignore,
                strict: case.strict,
            },
            Some(Action::Client { argv, .. }) => Action::Client {
                argv,
                stub: self.watched(case.watch, table)?,
                exit: case.exit.unwrap_or_default(),
            },
            _ if case.baseline.is_some() => Action::Offers,
            _ => {
                let text = format!("{name}: wanted send, replay, client or baseline");
                return Err(self.toml.error(&table.span(), text));
            }
        };
        self.check_peer(&name, &action, &case.common, table)?;
        Ok(Case {
            name,
            at: self.at(table),
            exit: case
                .exit
                .filter(|_| !matches!(action, Action::Client { .. })),
            common: case.common,
            action,
            conditions: case.conditions,
            baseline: case.baseline,
        })
    }

    fn case_key(&self, key: &Key<'_>, item: &Item<'_>, case: &mut CaseParts) -> Read<()> {
        let word: &str = key.get_ref();
        match word {
            "name" => case.name = Some(self.toml.string(word, item)?.to_owned()),
            "send" => {
                let lines = self.messages(word, item)?;
                case.action = Some(Action::Send { lines, waits: true });
            }
            "wait" => case.waits = Some(self.toml.bool(word, item)?),
            "replay" => {
                case.action = Some(Action::Replay {
                    recording: self.path(word, item)?,
                    ignore: Vec::new(),
                    strict: false,
                });
            }
            "ignore" => {
                for item in self.toml.list(word, item, "paths such as \"**.ms\"")? {
                    let path = options::parse_pattern(self.toml.string(word, item)?);
                    let path = path.map_err(|text| self.toml.error(&item.span(), text))?;
                    case.ignore.push(path);
                }
            }
            "strict" => case.strict = self.toml.bool(word, item)?,
            "client" => {
                case.action = Some(Action::Client {
                    argv: self.words(word, item)?,
                    stub: String::new(),
                    exit: 0,
                });
            }
            "exit" => {
                let status = self.number(word, item)?;
                let status = i32::try_from(status)
                    .map_err(|_| self.toml.wrong_value(word, item, "an exit status"))?;
                case.exit = Some(status);
            }
            "watch" => {
                let name = self.toml.string(word, item)?;
                if !self.stubs.iter().any(|stub| stub.name == name) {
                    return Err(self.toml.wrong_value(word, item, &self.stub_names()));
                }
                case.watch = Some(name.to_owned());
            }
            "expect" => self.conditions(word, item, 1, None, case)?,
            "never" => self.conditions(word, item, 0, Some(0), case)?,
            "baseline" => {
                let path = self.folder.join(self.toml.string(word, item)?);
                case.baseline = Some((path, self.at(item)));
            }
            _ if self.common(word, item, &mut case.common)? => {}
            _ => return Err(self.unknown_key(key, &CASE)),
        }
        Ok(())
    }

    /// Reads messages: lines as in a file of `wiretool send`, or lists of their words.
    fn messages(&self, key: &str, item: &Item<'_>) -> Read<Vec<String>> {
        let wanted = "messages, each as JSON, or as words of `wiretool make`";
        let items = match item.get_ref().as_array() {
            Some(items) => items.iter().collect(),
            None => vec![item],
        };
        let line = |item: &Item<'_>| match item.get_ref().as_str() {
            Some(line) => Ok(line.to_owned()),
            None => Ok(shell_words::join(self.toml.strings(key, item, wanted)?)),
        };
        items.into_iter().map(line).collect()
    }

    fn stub_names(&self) -> String {
        let names: Vec<_> = self.stubs.iter().map(|stub| stub.name.as_str()).collect();
        match names.as_slice() {
            [] => "a stub of this file, which has none: [stub.NAME]".to_owned(),
            names => format!("one of {}", names.join(", ")),
        }
    }

    /// Returns the stub whose messages a case of a client checks.
    fn watched(&self, named: Option<String>, table: &Item<'_>) -> Read<String> {
        match (named, self.stubs.as_slice()) {
            (Some(name), _) => Ok(name),
            (None, [only]) => Ok(only.name.clone()),
            (None, _) => {
                let text = format!("watch: wanted {}", self.stub_names());
                Err(self.toml.error(&table.span(), text))
            }
        }
    }

    /// A case needs a protocol to write messages, and a server to send them to.
    fn check_peer(
        &self,
        name: &str,
        action: &Action,
        common: &Common,
        table: &Item<'_>,
    ) -> Read<()> {
        let is_client = matches!(action, Action::Client { .. });
        let has_address = common
            .flags
            .iter()
            .any(|flag| flag.starts_with("--connect"));
        let text = match action {
            Action::Send { .. } | Action::Offers if common.protocol.is_none() => {
                "wanted a protocol: protocol = \"mcp\""
            }
            _ if !is_client && common.command.is_empty() && !has_address => {
                "wanted a server: command = \"./server\" or connect = \"tcp://127.0.0.1:7700\""
            }
            _ => return Ok(()),
        };
        Err(self.toml.error(&table.span(), format!("{name}: {text}")))
    }

    /// Reads conditions: texts, or tables with `where` and the number of messages.
    fn conditions(
        &self,
        key: &str,
        item: &Item<'_>,
        least: u64,
        most: Option<u64>,
        case: &mut CaseParts,
    ) -> Read<()> {
        let items = match item.get_ref().as_array() {
            Some(items) => items.iter().collect(),
            None => vec![item],
        };
        for item in items {
            let mut condition = Condition {
                expr: Expr::All(Vec::new()),
                text: String::new(),
                at: self.at(item),
                least,
                most,
            };
            if item.get_ref().as_str().is_some() {
                (condition.expr, condition.text) = self.expr(key, item)?;
                case.conditions.push(condition);
                continue;
            }
            let mut has_expr = false;
            for (key, item) in self.toml.entries(key, item)? {
                let word: &str = key.get_ref();
                match word {
                    "where" => {
                        (condition.expr, condition.text) = self.expr(word, item)?;
                        has_expr = true;
                    }
                    "count" => {
                        condition.least = self.number(word, item)?;
                        condition.most = Some(condition.least);
                    }
                    "least" => condition.least = self.number(word, item)?,
                    "most" => condition.most = Some(self.number(word, item)?),
                    _ => return Err(self.toml.unknown_key(key, &CONDITION)),
                }
            }
            if !has_expr {
                let wanted = "a condition, or { where = \"…\", count = 2 }";
                return Err(self.toml.wrong_value(key, item, wanted));
            }
            case.conditions.push(condition);
        }
        Ok(())
    }

    fn expr(&self, key: &str, item: &Item<'_>) -> Read<(Expr, String)> {
        let text = self.toml.string(key, item)?;
        let expr: Result<Expr, ParseError> = text.parse();
        let expr = expr.map_err(|error| {
            let part = text.get(error.at.clone()).unwrap_or_default();
            let got = if part.is_empty() { "nothing" } else { part };
            let hint = error
                .hint
                .map_or(String::new(), |hint| format!(" ({hint})"));
            let text = format!("{key}: wanted {}, got {got}{hint}", error.wanted);
            self.toml.error(&item.span(), text)
        })?;
        Ok((expr, text.to_owned()))
    }
}

/// The keys of a case.
#[derive(Default)]
struct CaseParts {
    name: Option<String>,
    common: Common,
    action: Option<Action>,
    waits: Option<bool>,
    ignore: Vec<String>,
    strict: bool,
    exit: Option<i32>,
    watch: Option<String>,
    conditions: Vec<Condition>,
    baseline: Option<(PathBuf, LineColumn)>,
}

/// Returns the folder of a file of tests; empty if it is the working directory.
fn folder_of(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).to_owned()
}
