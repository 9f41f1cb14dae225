//! The entry of a server in a configuration: how it is started, and the edits that put a recorder around it or take it away.
//!
//! ```text
//!   "command": "npx",               "command": "/usr/bin/wiretool",
//!   "args": ["-y", "server"]   <->  "args": ["record", "-p", "mcp", "-w", "@name", "--", "npx", "-y", "server"]
//! ```
//!
//! The command moves as it is spelled, and everything else stays, so each edit undoes the other byte for byte.

use super::text::{Member, Placed, Syntax, Value};
use anyhow::{Context as _, Result, bail};
use std::ops::Range;
use std::path::Path;

/// The keys of command and arguments, which some clients nest in a table: `binary.path`.
const SHAPES: [(Option<&str>, &str, &str); 3] = [
    (None, "command", "args"),
    (Some("command"), "path", "args"),
    (Some("binary"), "path", "arguments"),
];

/// The keys of the address of a server that no client starts.
const ADDRESSES: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// What an entry says.
#[derive(Debug)]
pub(super) enum Server<'e> {
    /// The client starts it.
    Started(Launch<'e>),
    /// It has an address.
    Address(&'e str),
    /// Neither.
    Unknown,
}

/// How a server is started.
#[derive(Debug)]
pub(super) struct Launch<'e> {
    /// The command as text, or a list of the command and its arguments.
    command: &'e Member,
    args: Option<&'e Member>,
    args_key: &'static str,
}

/// What a recorder is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorder<'a> {
    /// The path of this program.
    pub program: &'a str,
    /// The name of the recordings, with `@`.
    pub name: &'a str,
    /// The protocol of the server, if it is known.
    pub protocol: Option<&'a str>,
}

/// A replacement of a part of a text.
type Edit = (Range<usize>, String);

impl<'e> Server<'e> {
    /// Reads an entry.
    ///
    /// # Errors
    ///
    /// Fails if the entry has a form that clients do not have.
    pub fn of(entry: &'e Placed) -> Result<Self> {
        for (table, command_key, args_key) in SHAPES {
            let place = match table {
                None => entry,
                Some(key) => match entry.member(key)? {
                    Some(member) => &member.value,
                    None => continue,
                },
            };
            let Some(command) = place.member(command_key)? else {
                continue;
            };
            if matches!(command.value.value, Value::Table(_)) {
                continue;
            }
            let args = place.member(args_key)?;
            let launch = Launch {
                command,
                args,
                args_key,
            };
            launch.check()?;
            return Ok(Self::Started(launch));
        }
        for key in ADDRESSES {
            if let Some(member) = entry.member(key)? {
                let address = member.value.text();
                return Ok(Self::Address(
                    address.with_context(|| format!("{key} is not text"))?,
                ));
            }
        }
        Ok(Self::Unknown)
    }
}

/// The flag before the name of the recording if the list of arguments was there before.
const OWN_ARGS: &str = "--write";

impl<'e> Launch<'e> {
    fn check(&self) -> Result<()> {
        let key = &self.command.key;
        let is_text = |item: &Placed| item.text().is_some();
        match &self.command.value.value {
            Value::Text(_) => {}
            Value::List(items) if items.first().is_some_and(is_text) => {}
            _ => bail!("{key} is neither text nor a list that begins with text"),
        }
        let args = self.args.map(|args| args.value.items());
        let is_list = args.is_none_or(|items| items.is_some_and(|items| items.iter().all(is_text)));
        anyhow::ensure!(is_list, "{} is not a list of texts", self.args_key);
        Ok(())
    }

    /// Returns the values of all words, the command first.
    fn items(&self) -> Vec<&'e Placed> {
        let command = match &self.command.value.value {
            Value::List(items) => items.iter().collect(),
            _ => vec![&self.command.value],
        };
        let args = self.args.and_then(|args| args.value.items());
        command
            .into_iter()
            .chain(args.into_iter().flatten())
            .collect()
    }

    /// Returns the command and its arguments.
    pub fn words(&self) -> Vec<&'e str> {
        let items = self.items().into_iter();
        items.map(|item| item.text().unwrap_or_default()).collect()
    }

    /// Returns the position of the recorded command among the words, if a recorder starts it: `program` is the path of
    /// this program, which may have moved since.
    pub fn recorded(&self, program: &str) -> Option<usize> {
        let words = self.words();
        let (first, rest) = words.split_first()?;
        let name = Path::new(first).file_name().and_then(|name| name.to_str());
        let is_ours = *first == program || name.is_some_and(is_wiretool);
        if !is_ours || rest.first() != Some(&"record") {
            return None;
        }
        let at = words.iter().position(|word| *word == "--")? + 1;
        (at < words.len()).then_some(at)
    }

    /// Returns the name of the recordings of a recorded command, without `@`.
    pub fn recording(&self, program: &str) -> Option<&'e str> {
        let end = self.recorded(program)?;
        let words = self.words();
        let flags = words.get(..end)?;
        let at = flags
            .iter()
            .position(|word| *word == "-w" || *word == OWN_ARGS)?;
        flags.get(at + 1)?.strip_prefix('@')
    }

    /// Returns the text with a recorder around the command.
    pub fn wrap(&self, syntax: Syntax, text: &str, recorder: Recorder<'_>) -> Result<String> {
        let protocol = recorder.protocol.map(|name| ["-p", name]);
        let own = ["record"].into_iter().chain(protocol.into_iter().flatten());
        // An empty list of the user can stand where it would be added: the long flag tells the two apart.
        let is_own = self.args.is_some_and(|args| {
            args.value.items().is_some_and(<[Placed]>::is_empty) && self.is_added(text, args)
        });
        let write = if is_own { OWN_ARGS } else { "-w" };
        let own: Vec<String> = own
            .chain([write, recorder.name, "--"])
            .map(quoted)
            .collect();
        let (own, program) = (own.join(", "), quoted(recorder.program));
        let place = &self.command.value.place;
        if let Value::List(items) = &self.command.value.value {
            let start = items.first().map_or(place.end, |item| item.place.start);
            return apply(text, vec![(start..start, format!("{program}, {own}, "))]);
        }
        let command = text.get(place.clone()).unwrap_or_default();
        let words = format!("{own}, {command}");
        let args = match self
            .args
            .map(|args| (args, args.value.items().unwrap_or_default()))
        {
            Some((_, [first, ..])) => (first.place.start, format!("{words}, ")),
            Some((args, [])) => (args.value.place.start + 1, words),
            None => self.missing_args(syntax, text, &words)?,
        };
        let args = (args.0..args.0, args.1);
        apply(text, vec![(place.clone(), program), args])
    }

    /// Returns the place and the text of arguments that the entry does not have: before the command.
    fn missing_args(&self, syntax: Syntax, text: &str, words: &str) -> Result<(usize, String)> {
        let start = self.command.key_place.start;
        let key = self.args_key;
        if syntax == Syntax::Json {
            return Ok((start, format!("\"{key}\": [{words}], ")));
        }
        let before = text.get(..start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        if line.trim().is_empty() {
            let end = if before.ends_with("\r\n")
                || before.trim_end_matches([' ', '\t']).ends_with("\r\n")
            {
                "\r\n"
            } else {
                "\n"
            };
            return Ok((start, format!("{key} = [{words}]{end}{line}")));
        }
        anyhow::ensure!(
            line.trim_end().ends_with(['{', ',']),
            "its command has a key with dots"
        );
        Ok((start, format!("{key} = [{words}], ")))
    }

    /// Returns the text without the recorder; `None` if the command is not recorded.
    pub fn unwrap(&self, text: &str, program: &str) -> Result<Option<String>> {
        let Some(at) = self.recorded(program) else {
            return Ok(None);
        };
        let items = self.items();
        let place = |at: usize| items.get(at).map(|item| item.place.clone());
        let command = place(at).context("it has no command after --")?;
        let spelled = text.get(command.clone()).unwrap_or_default().to_owned();
        if matches!(self.command.value.value, Value::List(_)) {
            let first = place(0).map_or(command.start, |first| first.start);
            return apply(text, vec![(first..command.start, String::new())]).map(Some);
        }
        let first = place(1).map_or(command.start, |first| first.start);
        let own = match (place(at + 1), self.args) {
            (Some(next), _) => first..next.start,
            (None, Some(args)) if self.is_added(text, args) && !self.has_own_args() => {
                args.key_place.start..self.command.key_place.start
            }
            (None, _) => first..command.end,
        };
        let edits = vec![
            (self.command.value.place.clone(), spelled),
            (own, String::new()),
        ];
        apply(text, edits).map(Some)
    }

    /// Returns `true` if the list of arguments was there before the recorder.
    fn has_own_args(&self) -> bool {
        let words = self.words();
        words
            .iter()
            .take_while(|word| **word != "--")
            .any(|word| *word == OWN_ARGS)
    }

    /// Returns `true` if the arguments stand where [`Launch::wrap`] adds them.
    fn is_added(&self, text: &str, args: &Member) -> bool {
        let between = text.get(args.value.place.end..self.command.key_place.start);
        between
            .is_some_and(|between| matches!(between.trim_matches([' ', '\t']), "," | "\n" | "\r\n"))
    }
}

/// Returns `true` for the name of a copy of this program, also with a version: `wiretool-0.2.0`, `wiretool.exe`.
fn is_wiretool(name: &str) -> bool {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let version = name.strip_prefix("wiretool");
    let is_of_version = |c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | '_' | 'v');
    version.is_some_and(|version| version.chars().all(is_of_version))
}

/// Returns text in the quotes of JSON, which are also those of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn apply(text: &str, mut edits: Vec<Edit>) -> Result<String> {
    edits.sort_by_key(|(place, _)| place.start);
    let (mut out, mut at) = (String::with_capacity(text.len() + 200), 0);
    for (place, new) in edits {
        out += text.get(at..place.start).context("the places overlap")?;
        out += &new;
        at = place.end;
    }
    out += text.get(at..).context("the places overlap")?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDER: Recorder<'_> = Recorder {
        program: "/opt/wiretool",
        name: "@s",
        protocol: Some("mcp"),
    };

    fn entry(root: &Placed) -> &Placed {
        &root
            .members()
            .first()
            .unwrap()
            .value
            .members()
            .first()
            .unwrap()
            .value
    }

    fn wrapped(syntax: Syntax, text: &str) -> Result<String> {
        let root = syntax.read("x", text)?;
        match Server::of(entry(&root))? {
            Server::Started(launch) => launch.wrap(syntax, text, RECORDER),
            other => bail!("{other:?}"),
        }
    }

    fn unwrapped(syntax: Syntax, text: &str) -> Result<Option<String>> {
        let root = syntax.read("x", text)?;
        match Server::of(entry(&root))? {
            Server::Started(launch) => launch.unwrap(text, RECORDER.program),
            other => bail!("{other:?}"),
        }
    }

    /// The inner part of a configuration before, and after.
    const JSON: &[(&str, &str)] = &[
        (
            r#"{"command":"npx","args":["-y","x"]}"#,
            r#"{"command":"/opt/wiretool","args":["record", "-p", "mcp", "-w", "@s", "--", "npx", "-y","x"]}"#,
        ),
        (
            "{ \"args\": [\n\t\"-y\", // first\n\t\"x\",\n\t],\r\n \"command\": \"np\\u0078\", }",
            "{ \"args\": [\n\t\"record\", \"-p\", \"mcp\", \"-w\", \"@s\", \"--\", \"np\\u0078\", \"-y\", // first\n\t\"x\",\n\t],\r\n \"command\": \"/opt/wiretool\", }",
        ),
        (
            r#"{"command":"a b","args":[ ],"env":{}}"#,
            r#"{"command":"/opt/wiretool","args":["record", "-p", "mcp", "-w", "@s", "--", "a b" ],"env":{}}"#,
        ),
        (
            r#"{"args": [], "command": "x"}"#,
            r#"{"args": ["record", "-p", "mcp", "--write", "@s", "--", "x"], "command": "/opt/wiretool"}"#,
        ),
        (
            r#"{"args":[ ],"command":"x"}"#,
            r#"{"args":["record", "-p", "mcp", "--write", "@s", "--", "x" ],"command":"/opt/wiretool"}"#,
        ),
        (
            r#"{"type":"stdio", "command": "x"}"#,
            r#"{"type":"stdio", "args": ["record", "-p", "mcp", "-w", "@s", "--", "x"], "command": "/opt/wiretool"}"#,
        ),
        (
            r#"{"command":{"path":"x","args":["y"]}}"#,
            r#"{"command":{"path":"/opt/wiretool","args":["record", "-p", "mcp", "-w", "@s", "--", "x", "y"]}}"#,
        ),
        (
            r#"{"binary":{"path":"x"}}"#,
            r#"{"binary":{"arguments": ["record", "-p", "mcp", "-w", "@s", "--", "x"], "path":"/opt/wiretool"}}"#,
        ),
        (
            r#"{"command":["x", "y"]}"#,
            r#"{"command":["/opt/wiretool", "record", "-p", "mcp", "-w", "@s", "--", "x", "y"]}"#,
        ),
    ];

    const TOML: &[(&str, &str)] = &[
        (
            "[t.s]\ncommand = 'npx'\nargs = [ \"-y\" ] # why\n",
            "[t.s]\ncommand = \"/opt/wiretool\"\nargs = [ \"record\", \"-p\", \"mcp\", \"-w\", \"@s\", \"--\", 'npx', \"-y\" ] # why\n",
        ),
        (
            "[t.s]\r\n  command = \"npx\"\r\n",
            "[t.s]\r\n  args = [\"record\", \"-p\", \"mcp\", \"-w\", \"@s\", \"--\", \"npx\"]\r\n  command = \"/opt/wiretool\"\r\n",
        ),
        (
            "[t.s]\nargs = []\ncommand = \"npx\"\n",
            "[t.s]\nargs = [\"record\", \"-p\", \"mcp\", \"--write\", \"@s\", \"--\", \"npx\"]\ncommand = \"/opt/wiretool\"\n",
        ),
        (
            "[t]\ns = { command = \"npx\" }",
            "[t]\ns = { args = [\"record\", \"-p\", \"mcp\", \"-w\", \"@s\", \"--\", \"npx\"], command = \"/opt/wiretool\" }",
        ),
        (
            "[t.s]\ncommand = \"npx\"\nargs = []\n",
            "[t.s]\ncommand = \"/opt/wiretool\"\nargs = [\"record\", \"-p\", \"mcp\", \"-w\", \"@s\", \"--\", \"npx\"]\n",
        ),
    ];

    #[test]
    fn each_edit_undoes_the_other() {
        let json = JSON.iter().map(|(before, after)| {
            let of = |inner: &str| format!("{{\"mcpServers\": {{ \"s\": {inner} }} }}\n");
            (Syntax::Json, of(before), of(after))
        });
        let toml = TOML
            .iter()
            .map(|(before, after)| (Syntax::Toml, (*before).to_owned(), (*after).to_owned()));
        for (syntax, before, after) in json.chain(toml) {
            assert_eq!(wrapped(syntax, &before).unwrap(), after);
            assert_eq!(unwrapped(syntax, &after).unwrap(), Some(before.clone()));
            assert_eq!(unwrapped(syntax, &before).unwrap(), None);
        }
    }

    #[test]
    fn later_edits_of_the_user_stay() {
        for program in ["wiretool", "wiretool-0.2.0", "wiretool16", "wiretool.exe"] {
            assert!(super::is_wiretool(program), "{program}");
        }
        assert!(!super::is_wiretool("wiretools"));
        let after = r#"{"t":{"s":{"command":"/new/wiretool","args":["record","-p","mcp", "-w", "@s", "--", "npx", "-y", "z"]}}}"#;
        let before = r#"{"t":{"s":{"command":"npx","args":["-y", "z"]}}}"#;
        assert_eq!(
            unwrapped(Syntax::Json, after).unwrap().as_deref(),
            Some(before)
        );
    }

    #[test]
    fn other_entries_are_refused() {
        for (inner, wanted) in [
            (r#"{"command":1}"#, "command is neither text nor a list"),
            (r#"{"command":[]}"#, "command is neither text nor a list"),
            (
                r#"{"command":"x","args":"y"}"#,
                "args is not a list of texts",
            ),
            (
                r#"{"command":"x","args":[1]}"#,
                "args is not a list of texts",
            ),
            (
                r#"{"command":"x","command":"y"}"#,
                "the key command is there twice",
            ),
            (r#"{"url":"http://x"}"#, "Address(\"http://x\")"),
            (r#"{"url":7}"#, "url is not text"),
            (r#"{"x":7}"#, "Unknown"),
        ] {
            let error = wrapped(Syntax::Json, &format!("{{\"t\":{{\"s\":{inner}}}}}")).unwrap_err();
            assert!(format!("{error:#}").contains(wanted), "{inner}: {error:#}");
        }
        let error = wrapped(Syntax::Toml, "[t]\ns.command = \"x\"\n").unwrap_err();
        assert_eq!(error.to_string(), "its command has a key with dots");
    }
}
