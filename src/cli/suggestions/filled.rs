//! Tips with the words of the command line filled in: they work as they stand.

use super::shapes::{as_address, is_method, local, tool_arguments};
use super::{Situation, has_word, is_command, words};
use crate::capture::Record;
use crate::export::FormName;
use crate::protocol::{Protocol, registry};
use clap::error::{ContextKind, ErrorKind};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

/// The longest header of a recording that is read, in bytes.
const MAX_HEADER: u64 = 64 << 10;

impl Situation<'_> {
    /// Returns a tip, and those for the unknown flags after the one that the parser names.
    pub(super) fn with_other_flags(&self, tip: String) -> Vec<String> {
        let others = match self.error.kind() {
            ErrorKind::UnknownArgument
                if !tip.starts_with("wiretool ") && !tip.starts_with(super::READ) =>
            {
                let mut tips = self.tips_of_other_flags();
                tips.extend(self.tip_of_first_word().filter(|_| !tip.contains(" mcp ")));
                tips
            }
            // The command that the tip names may have them.
            ErrorKind::InvalidSubcommand => self.tips_for_reader(&tip),
            _ => Vec::new(),
        };
        let others = others.iter().map(|other| self.filled(other));
        // Two tips may say the same: `-w FILE`.
        let is_said = |other: &String| {
            let flag = other.rsplit(" is ").next().unwrap_or_default();
            other.ends_with(&tip) || flag.starts_with('-') && tip.contains(flag)
        };
        let others: Vec<_> = others.filter(|other| !is_said(other)).collect();
        [tip].into_iter().chain(others).collect()
    }

    /// Returns a tip for the word in place of the protocol, beside one for a flag: `stub FILE --port 8080`.
    fn tip_of_first_word(&self) -> Option<String> {
        let command = self.command?.get_name();
        let mut words = self.args.iter().skip_while(|arg| *arg != command).skip(1);
        let first = words.next()?.to_str()?;
        let is_known = first.starts_with('-') || registry::find(first).is_some();
        let takes_protocol = ["send", "stub"].contains(&command);
        (takes_protocol && !is_known).then(|| self.tip_of_value("<PROTOCOL>", first))?
    }

    /// Returns tips for the flags and the number after a word that stands for a command: `print --last 2 FILE`, `trace FILE 6`.
    fn tips_for_reader(&self, tip: &str) -> Vec<String> {
        let Some(named) = tip
            .split(' ')
            .nth(1)
            .filter(|_| tip.starts_with("wiretool ") && !tip.contains(" --grep "))
        else {
            return Vec::new();
        };
        let is_file = Path::new(named).is_file();
        let name = if is_file { "decode" } else { named };
        let reads = words::READERS.contains(&name) || ["redact", "replay"].contains(&name);
        let Some(command) = self.root.find_subcommand(name).filter(|_| reads) else {
            return Vec::new();
        };
        let mut situation = Situation::new(self.error, self.root, self.args);
        situation.command = Some(command);
        let mut tips = situation.tips_of_other_flags();
        let mut words = self.args.iter().skip(2).filter_map(|arg| arg.to_str());
        let number = words
            .find(|word| Path::new(word).is_file())
            .and_then(|_| words.next()?.parse::<u64>().ok());
        tips.extend(number.map(|number| {
            format!(
                "message {number} is --where index={number}, the call with this id --id {number}"
            )
        }));
        tips
    }

    /// Returns a tip with the value of the flag, if it has one. In a condition, quotes stand around it already.
    pub(super) fn with_value(&self, tip: &str, flag: &str) -> String {
        let Some(value) = self.value_of(flag) else {
            let tip = tip.replace("-w VALUE", "-w FILE");
            let tip = tip.replace("--from-recording VALUE", "--from-recording FILE");
            let tip = tip.replace("unwrap VALUE", "unwrap NAME");
            return tip.replace("--match VALUE", "--match RULE");
        };
        let mut text = String::with_capacity(tip.len() + value.len());
        for (n, part) in tip.split('\'').enumerate() {
            let is_quoted = n % 2 == 1;
            text.push_str(if n > 0 { "'" } else { "" });
            text.push_str(&match is_quoted {
                true if value.contains(['\'', '"']) => part.to_owned(),
                // In a condition, a pattern is searched for.
                true if value.contains('*') => part
                    .replace("=VALUE", &format!("~\"{value}\""))
                    .replace("VALUE", value),
                true => part.replace("VALUE", value),
                false => part.replace("VALUE", &shell_words::quote(value)),
            });
        }
        match value.parse::<u16>() {
            Ok(_) => text.replace("PORT", value),
            Err(_) => text,
        }
    }

    /// Returns a tip with the capture and the server of the command line.
    pub(super) fn filled(&self, tip: &str) -> String {
        /// Flags before the name of another file.
        const OTHERS: [&str; 5] = ["-w", "-o", "--script", "--token-file", "--json"];
        let own = self.args.iter().skip(1).take_while(|arg| *arg != "--");
        let mut own = own.filter_map(|arg| arg.to_str());
        let file = own
            .find(|word| Path::new(word).is_file())
            .map(shell_words::quote);
        let mut text = String::with_capacity(tip.len());
        let mut before = "";
        for word in tip.split_inclusive(' ') {
            match (&file, word.strip_prefix("FILE")) {
                (Some(file), Some(rest))
                    if !OTHERS.contains(&before)
                        && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '.') =>
                {
                    text.push_str(file);
                    text.push_str(rest);
                }
                _ => text.push_str(word),
            }
            before = word.trim_end();
        }
        if let Some(other) = own.find(|word| Path::new(word).is_file()) {
            text = text.replace("OTHER", &shell_words::quote(other));
        }
        if let Some(protocol) = self.recorded_protocol() {
            text = text.replace("stub mcp --from", &format!("stub {protocol} --from"));
        }
        if let Some(address) = self.address() {
            for end in [" ", ";"] {
                let whole = format!("--connect {address}{end}");
                text = text.replace(&format!("--connect ADDR{end}"), &whole);
            }
        }
        match self.server() {
            Some(server) => text.replace("-- COMMAND", &format!("-- {server}")),
            None => text,
        }
    }

    /// Returns the protocol that the first recording of the command line names.
    fn recorded_protocol(&self) -> Option<String> {
        let mut words = self.args.iter().skip(1);
        let file = words.find(|word| Path::new(word).is_file())?;
        let mut line = String::new();
        let file = std::fs::File::open(file).ok()?.take(MAX_HEADER);
        BufReader::new(file).read_line(&mut line).ok()?;
        match Record::parse(line.as_bytes()).ok()? {
            Record::Header(header) => header.protocol,
            _ => None,
        }
    }

    /// Returns the command after `--`.
    pub(super) fn server(&self) -> Option<String> {
        let peer = self.args.iter().skip_while(|arg| *arg != "--").skip(1);
        let peer = shell_words::join(peer.map(|arg| arg.to_string_lossy()));
        (!peer.is_empty()).then_some(peer)
    }

    /// Returns a tip for a command that reads captures, and a server: `diff FILE -- COMMAND`.
    pub(super) fn tip_of_server(&self, command: &str) -> Option<String> {
        let server = self.server()?;
        Some(match command {
            "diff" => {
                "wiretool replay FILE -- COMMAND compares the answers of a server with a recording"
                    .into()
            }
            _ => format!("wiretool proxy -- {server} starts a command and shows its messages"),
        })
    }

    /// Returns a tip for a word of a proxy with both addresses: `mitm 8080 localhost:9090`.
    pub(super) fn tip_of_relay(&self, word: &str) -> Option<String> {
        let (all, _) = words::COMMANDS.first()?;
        let mut words = self.args.iter().skip(1).filter_map(|arg| arg.to_str());
        let (listen, connect) = self.ends().or_else(|| {
            let found = words.find_map(|word| self.addresses(word))?;
            let [listen, connect] = found.try_into().ok()?;
            Some((listen, connect))
        })?;
        has_word(all, word).then(|| {
            format!("wiretool proxy --listen {listen} --connect {connect} shows live traffic")
        })
    }

    /// Returns a tip for a message to a server, where an address is typed, or a command after `--`: `list http://h/mcp`,
    /// `http://h/mcp tools/call name=echo`.
    pub(super) fn tip_of_call(&self, command: &str) -> Option<String> {
        const LISTS: &str = "describe list list-tools ls tools";
        const VERBS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
        const CALLS: &str = "client curl get http invoke post tool";
        let own = self.args.iter().skip(1).take_while(|arg| *arg != "--");
        let own: Vec<&str> = own.filter_map(|arg| arg.to_str()).collect();
        let url = own.iter().find(|word| word.contains("://"));
        let url = url.and_then(|word| as_address(word));
        let is_url = as_address(command).is_some();
        if !is_url && !has_word(LISTS, command) && !has_word(CALLS, command) {
            return None;
        }
        let is_own = |word: &&str| {
            *word != command
                && !word.contains("://")
                && !word.starts_with('-')
                && !VERBS.contains(word)
        };
        let words: Vec<&str> = own.into_iter().filter(is_own).collect();
        let message = match words.as_slice() {
            [json, ..] if json.starts_with(['{', '[']) => {
                format!("--json {}", shell_words::quote(json))
            }
            ["tools/call", rest @ ..] => format!("tools/call {}", tool_arguments(rest)?),
            [method, rest @ ..] if is_method(method) => {
                shell_words::join([method].into_iter().chain(rest))
            }
            [pair] if pair.starts_with("method=") => pair.split_once('=')?.1.to_owned(),
            _ if has_word(LISTS, command) => "tools/list".to_owned(),
            [] => return None,
            tool => format!("tools/call {}", tool_arguments(tool)?),
        };
        let peer = url.map(|url| format!("--connect {url}"));
        let peer = peer.or_else(|| Some(format!("-- {}", self.server()?)))?;
        Some(format!(
            "wiretool send mcp {message} {peer} sends a message and shows the answer"
        ))
    }

    fn tips_of_other_flags(&self) -> Vec<String> {
        let named = self.error.get(ContextKind::InvalidArg);
        let named = named.map(ToString::to_string).unwrap_or_default();
        let own = self.command.or(self.root.find_subcommand("decode"));
        let commands = [Some(self.root), own];
        let is_known = |flag: &str| {
            let mut all = commands.iter().flatten().flat_map(|c| c.get_arguments());
            all.any(|arg| {
                let name = flag.trim_start_matches('-');
                let long = arg.get_long() == Some(name);
                let short = arg
                    .get_short()
                    .is_some_and(|short| flag == format!("-{short}"));
                let aliases = arg.get_all_aliases().unwrap_or_default();
                long || short || aliases.contains(&name)
            })
        };
        let words = self.args.iter().skip(1).filter_map(|arg| arg.to_str());
        let words = words.take_while(|word| *word != "--");
        // Several letters behind one dash may be flags of one letter.
        let is_one =
            |word: &&str| word.starts_with("--") || word.starts_with('-') && word.len() == 2;
        let flags = words.filter(is_one);
        let flags = flags.map(|flag| flag.split('=').next().unwrap_or(flag));
        let named = named.split('=').next().unwrap_or_default();
        // The names of the columns.
        let is_column = |flag: &str| flag == "-e" && self.value_of("-T") == Some("fields");
        let others = flags.filter(|flag| *flag != named && !is_known(flag) && !is_column(flag));
        let tips = others.filter_map(|flag| {
            let tip = self.tip_of_flag(flag)?;
            Some(format!("{flag}: {tip}"))
        });
        tips.collect()
    }

    /// Returns a tip for a flag of the commands that take the protocol and the message as words.
    pub(super) fn tip_of_words(&self, command: &str, flag: &str) -> Option<String> {
        if !["make", "send", "stub"].contains(&command) {
            return None;
        }
        let own = self.args.iter().filter_map(|arg| arg.to_str());
        let own: Vec<&str> = own.take_while(|word| *word != "--").collect();
        let value = self.value_of(flag);
        if ["-p", "--protocol"].contains(&flag) {
            let protocol = value.unwrap_or("PROTOCOL");
            let skipped = [flag, protocol, command];
            let rest = own.iter().skip(1).filter(|word| !skipped.contains(word));
            let rest = shell_words::join([protocol].iter().chain(rest));
            let peer = self
                .server()
                .map_or(String::new(), |peer| format!(" -- {peer}"));
            return Some(format!(
                "the protocol comes first: wiretool {command} {rest}{peer}"
            ));
        }
        let is_misspelled =
            self.error.get(ContextKind::SuggestedArg).is_some() && !self.is_misled();
        let name = flag.strip_prefix("--")?;
        let is_known = words::FLAGS
            .iter()
            .any(|(commands, flags, _)| commands.contains(&"make") && has_word(flags, flag));
        if command != "make" || is_misspelled || is_known {
            return None;
        }
        let pair = match value {
            Some(value) => shell_words::quote(&format!("{name}={value}")).into_owned(),
            None => format!("{name}=VALUE"),
        };
        let protocol = own.iter().find(|word| registry::find(word).is_some());
        Some(format!(
            "arguments are words, such as {pair}; wiretool make {} --list lists them for each message",
            protocol.unwrap_or(&"PROTOCOL")
        ))
    }

    /// Returns a tip for `export` without a form, or `send` without a message.
    pub(super) fn tip_of_missing(&self) -> Option<String> {
        let name = self.command?.get_name();
        if name == "diff" {
            return Some(
                "diff compares two captures: wiretool diff FILE OTHER; one with its accepted form is wiretool snapshot test FILE".into(),
            );
        }
        if name == "export" {
            let forms: Vec<&str> = FormName::ALL.iter().map(|form| form.name()).collect();
            return Some(format!(
                "-f is the form, one of {}: wiretool export -f html FILE -o FILE.html; a table is wiretool -f json --flat FILE (wiretool help scale)",
                forms.join(", ")
            ));
        }
        let at = self.args.iter().position(|arg| *arg == "--")?;
        let command = self
            .command
            .filter(|command| command.get_name() == "send")?;
        let peer = self.args.get(at + 1..)?.iter();
        let peer = shell_words::join(peer.map(|arg| arg.to_string_lossy()));
        Some(format!(
            "wiretool {name} mcp tools/list -- {peer} sends a message, wiretool {name} mcp --json - -- {peer} those of stdin",
            name = command.get_name()
        ))
    }

    /// Returns a tip for the code of an error: `explain -32602`.
    pub(super) fn tip_of_code(&self) -> Option<String> {
        let mut words = self.args.iter().filter_map(|arg| arg.to_str());
        let code = words.find_map(|word| word.parse().ok().filter(|code| *code < -999))?;
        let meaning = match code {
            -32700 => "the message is not JSON",
            -32600 => "the message is no request",
            -32601 => "the method does not exist",
            -32602 => "the parameters of the method are invalid",
            -32603 => "an error inside the peer",
            -32099..=-32000 => "an error that the peer defines",
            _ => return None,
        };
        Some(format!(
            "in JSON-RPC, {code} says: {meaning}; wiretool lint --explain RULE explains a rule"
        ))
    }

    /// Returns both addresses of a proxy, as flags of other programs name them.
    pub(super) fn tip_of_ends(&self, flag: &str) -> Option<String> {
        let is_end = has_word(words::SERVERS, flag) || has_word(words::LISTENERS, flag);
        let (listen, connect) = self.ends().filter(|_| is_end)?;
        Some(format!("use --listen {listen} --connect {connect}"))
    }

    /// Returns the address to listen on and that of the server, after flags of other programs.
    fn ends(&self) -> Option<(String, String)> {
        let address = |flags: &str| {
            let mut flags = flags.split(' ');
            flags.find_map(|flag| {
                let value = self.value_of(flag)?;
                as_address(value.strip_prefix("reverse:").unwrap_or(value))
            })
        };
        let listen = address("--listen").or_else(|| address(words::LISTENERS));
        let listen = listen.or_else(|| address("-p"))?;
        let has_scheme = |word: &&str| word.contains("://");
        let mut words = self.args.iter().filter_map(|arg| arg.to_str());
        let connect = address("--connect").or_else(|| address(words::SERVERS));
        let connect = connect.or_else(|| words.find(has_scheme).and_then(as_address))?;
        Some((listen, connect))
    }

    /// Returns a call of a tool for its parameters in JSON.
    pub(super) fn tip_of_params(&self, json: &str) -> Option<String> {
        let params: serde_json::Value = serde_json::from_str(json).ok()?;
        let name = params.get("name")?.as_str()?;
        let arguments = params.get("arguments").unwrap_or(&serde_json::Value::Null);
        let words = ["send", "mcp", "tools/call", name];
        let mut call = shell_words::join(words);
        if arguments.is_object() {
            call = format!("{call} {}", shell_words::quote(&arguments.to_string()));
        }
        let peer = self.args.iter().skip_while(|arg| *arg != "--").skip(1);
        let peer: Vec<_> = peer.map(|arg| arg.to_string_lossy()).collect();
        Some(match peer.as_slice() {
            [] => format!("kind and arguments are words: wiretool {call} --connect ADDR"),
            peer => format!(
                "kind and arguments are words: wiretool {call} -- {}",
                shell_words::join(peer)
            ),
        })
    }

    /// Returns a tip for a recording and a server: `verify FILE -- COMMAND`, `tee FILE -- COMMAND`, `serve FILE`.
    pub(super) fn tip_of_test(&self, word: &str) -> Option<String> {
        let rest = self.args.iter().skip_while(|arg| *arg != word).skip(1);
        let rest: Vec<_> = rest.map(|arg| arg.to_string_lossy()).collect();
        let file = rest.first().filter(|file| !file.starts_with('-'));
        let file = shell_words::quote(file?);
        let is_in = |words: &str| has_word(words, word);
        match rest.get(1).map(AsRef::as_ref) {
            Some("--") => {
                let command = shell_words::join(rest.get(2..).unwrap_or_default());
                if is_in("assert check-server expect verify") {
                    return Some(format!(
                        "wiretool replay {file} -- {command} compares the answers of a server with a recording"
                    ));
                }
                is_in("capture dump save tee tap")
                    .then(|| format!("wiretool record -w {file} -- {command} records the messages"))
            }
            _ if is_in("fake respond serve server simulate") => {
                let port = self.value_of("-p").or_else(|| self.value_of("--port"));
                let port = port.filter(|port| port.parse::<u16>().is_ok());
                let listen =
                    port.map_or(String::new(), |port| format!(" --listen {}", local(port)));
                Path::new(&*file).exists().then(|| {
                    format!("wiretool stub mcp --from-recording {file}{listen} answers as the recording does")
                })
            }
            _ => None,
        }
    }

    /// Returns a tip for a message without a protocol: `tools/list`, or the name of a tool.
    pub(super) fn tip_of_message(&self, word: &str) -> Option<String> {
        let at = self.args.iter().position(|arg| *arg == *word)?;
        if word.contains('/') && self.server().is_none() && is_command(word) {
            let rest = self
                .args
                .get(at + 1..)?
                .iter()
                .map(|arg| arg.to_string_lossy());
            let rest: Vec<_> = rest.filter(|arg| *arg != "--").collect();
            let (message, own): (Vec<_>, Vec<_>) = rest.iter().partition(|arg| is_method(arg));
            let message = match message.as_slice() {
                [first, ..] => first,
                [] => "tools/list",
            };
            let command =
                shell_words::join([word].into_iter().chain(own.iter().map(|arg| &***arg)));
            return Some(format!(
                "the protocol and the message come first: wiretool send mcp {message} -- {command}"
            ));
        }
        if let Some(tip) = tip_of_json(word) {
            return Some(tip);
        }
        let rest = self.args.get(at..)?.iter().map(|arg| arg.to_string_lossy());
        let has_recipe = |protocol: &&dyn Protocol| {
            let mut recipes = protocol.recipes().iter();
            recipes.any(|recipe| recipe.name == word)
        };
        let maker = registry::all().iter().copied().find(has_recipe);
        let start = match maker.map(Protocol::name) {
            Some(protocol) => protocol,
            None if is_method(word) => "mcp",
            None => "mcp tools/call",
        };
        let rest: Vec<_> = rest.collect();
        let mut words: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
        let own = words
            .iter()
            .take_while(|word| !word.starts_with('-'))
            .count();
        let arguments = words.get(1..own).unwrap_or_default();
        let has_pairs = arguments.iter().any(|word| word.contains('='));
        let is_tool = start == "mcp tools/call";
        let tool = match word {
            "tools/call" => tool_arguments(arguments),
            _ if is_tool => tool_arguments(words.get(..own).unwrap_or_default()),
            _ => None,
        };
        let text = match tool.filter(|_| has_pairs) {
            Some(tool) => {
                let after = words.split_off(own);
                let word = if is_tool { "" } else { "tools/call " };
                format!("{word}{tool} {}", shell_words::join(after))
            }
            None => shell_words::join(words),
        };
        Some(format!(
            "the protocol comes first: wiretool send {start} {}",
            text.trim_end()
        ))
    }
}

/// Returns a tip for a message, or a file of messages, in place of a protocol.
fn tip_of_json(word: &str) -> Option<String> {
    if word.starts_with(['{', '[']) {
        return Some(format!(
            "a message in JSON is sent as it is with wiretool send mcp --json {} -- COMMAND",
            shell_words::quote(word)
        ));
    }
    Path::new(word).is_file().then(|| {
        "wiretool replay FILE -- COMMAND sends the requests of a recording; wiretool send mcp --json FILE -- COMMAND sends the messages of a file".to_owned()
    })
}
