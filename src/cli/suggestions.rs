//! Interprets command lines without a command, and gives tips for wrong ones.

mod complete;
mod filled;
mod misread;
mod others;
mod shapes;
#[cfg(test)]
mod tests;
mod values;
mod words;

use super::topics;
use crate::framing;
use crate::protocol::registry;
use crate::words::nearest;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
pub use complete::{complete_command, is_command, stdin_has_input};
use complete::{is_flag, record_tip};
pub use misread::{misread_command, misread_flag};
use others::tip_of_recording;
pub use shapes::{as_address, file_tip};
use shapes::{
    endpoint_of_socat, is_method, is_program, local, packet_filter, tip_of_address,
    tip_of_endpoint, tip_of_process,
};
use std::ffi::OsString;
use std::path::Path;

/// The beginning of a tip with a whole command line of tcpdump or tshark.
const READ: &str = "a capture is an argument without a flag: ";

/// Returns the text of a usage error for stderr, in a few lines: the error, tips, the usage.
pub fn usage_text(error: &clap::Error, root: &Command, args: &[OsString]) -> String {
    let situation = Situation::new(error, root, args);
    if let Some(file) = situation.missing_file() {
        return format!("error: there is no file '{}'\n", super::escape_lines(file));
    }
    let tips = situation.tips();
    // The text contains arguments of the command line.
    let text = error.render().to_string();
    // Conditions are shown as they were typed, with the place of the error.
    let arg = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let is_condition = arg.is_some_and(|arg| arg.starts_with("--where"));
    let text = if is_condition {
        text.into()
    } else {
        framing::fields::masked(&text)
    };
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let is_tip = line.trim_start().starts_with("tip: ");
        let is_usage = line.starts_with("Usage: ");
        if is_useless_tip(line) {
            continue;
        }
        let line = super::escape_lines(line);
        match &tips {
            Tips::Parser => lines.push(line),
            Tips::Own(_) if is_tip || is_usage => {}
            Tips::Own(_) => lines.push(line),
        }
        if let (1, Tips::Own(own)) = (lines.len(), &tips) {
            lines.extend(
                own.iter()
                    .map(|tip| format!("  tip: {}", super::escape_lines(tip))),
            );
        }
    }
    if let (ErrorKind::InvalidSubcommand, Some(first)) = (error.kind(), lines.first_mut()) {
        let word = error.get(ContextKind::InvalidSubcommand);
        let word = word.map_or(String::new(), ToString::to_string);
        let is_top = args
            .iter()
            .skip(1)
            .find(|arg| !is_flag(arg))
            .is_some_and(|arg| *arg == *word);
        if is_top {
            let is_file = shapes::is_file_name(&word) && matches!(tips, Tips::Parser);
            let word = super::escape_lines(&word);
            if is_file {
                return format!("error: there is no file '{word}'\n");
            }
            *first = format!("error: '{word}' is neither a command nor a file");
        }
    }
    lines.join("\n") + "\n"
}

/// Returns the tip for the name of a protocol as a command.
fn tip_of_protocol(name: &str) -> Option<String> {
    let is_protocol = registry::names().any(|known| known == name);
    is_protocol.then(|| {
        format!(
            "the protocol is an argument: wiretool proxy -p {name}, send {name}, stub {name}, decode -p {name}"
        )
    })
}

/// Returns the tip for the name of a protocol before a capture.
fn tip_with_file(name: &str, file: &str) -> Option<String> {
    let is_protocol = registry::names().any(|known| known == name);
    let file = Path::new(file).is_file().then(|| shell_words::quote(file));
    file.filter(|_| is_protocol)
        .map(|file| format!("the protocol is a flag: wiretool -p {name} {file}"))
}

/// Returns true for the tip of the parser to take a flag as a file, if there is no such file.
fn is_useless_tip(line: &str) -> bool {
    let flag = line.trim_start().strip_prefix("tip: to pass '");
    let flag = flag.and_then(|rest| rest.split('\'').next());
    flag.is_some_and(|flag| !Path::new(flag).exists())
}

/// The tips of an error.
enum Tips {
    /// Those of the parser are shown.
    Parser,
    /// These are shown, without the usage.
    Own(Vec<String>),
}

/// A wrong command line.
struct Situation<'a> {
    error: &'a clap::Error,
    root: &'a Command,
    args: &'a [OsString],
    /// The command that is given, if any.
    command: Option<&'a Command>,
}

impl<'a> Situation<'a> {
    fn new(error: &'a clap::Error, root: &'a Command, args: &'a [OsString]) -> Self {
        // The protocol after -p can have the name of a command.
        let values = args.iter().map(|arg| arg == "-p" || arg == "--protocol");
        let words = args.iter().skip(1).zip(
            values
                .skip(1)
                .scan(false, |last, next| Some(std::mem::replace(last, next))),
        );
        let mut words = words.filter_map(|(arg, is_value)| arg.to_str().filter(|_| !is_value));
        let command = words.find_map(|word| root.find_subcommand(word));
        Self {
            error,
            root,
            args,
            command,
        }
    }

    fn tips(&self) -> Tips {
        if let (Some(first), Some(server)) = (self.args.get(1), self.server())
            && first == "--"
        {
            return Tips::Own(vec![format!(
                "wiretool proxy -- {server} starts a command and shows its messages"
            )]);
        }
        let word = |kind| self.error.get(kind).map(ToString::to_string);
        let own = match self.error.kind() {
            ErrorKind::UnknownArgument => {
                let word = word(ContextKind::InvalidArg).unwrap_or_default();
                if word == "--" {
                    self.tip_of_child_of_reader()
                } else if word.starts_with('-') {
                    self.tip_of_flag(&word)
                } else {
                    self.tip_of_argument(&word)
                }
            }
            ErrorKind::InvalidSubcommand => {
                let word = word(ContextKind::InvalidSubcommand).unwrap_or_default();
                self.tip_of_command(&word)
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
                let arg = word(ContextKind::InvalidArg).unwrap_or_default();
                let value = word(ContextKind::InvalidValue).unwrap_or_default();
                self.tip_of_value(&arg, &value)
            }
            ErrorKind::MissingRequiredArgument => self.tip_of_missing(),
            ErrorKind::ArgumentConflict if self.args.iter().any(|arg| arg == "-vv") => {
                Some(words::VERBOSE.to_owned())
            }
            _ => None,
        };
        match own {
            Some(tip) => Tips::Own(self.with_other_flags(self.filled(&tip))),
            None if self.is_misled() => Tips::Own(Vec::new()),
            None => Tips::Parser,
        }
    }

    /// Returns true if the suggestion of the parser has little in common with the word.
    pub(super) fn is_misled(&self) -> bool {
        let strings = |kind| match self.error.get(kind) {
            Some(ContextValue::String(one)) => vec![one.clone()],
            Some(ContextValue::Strings(all)) => all.clone(),
            _ => Vec::new(),
        };
        for (given, suggested) in [
            (ContextKind::InvalidArg, ContextKind::SuggestedArg),
            (
                ContextKind::InvalidSubcommand,
                ContextKind::SuggestedSubcommand,
            ),
        ] {
            let (given, suggested) = (strings(given), strings(suggested));
            if let ([given], [_, ..]) = (&given[..], &suggested[..]) {
                let given = given.trim_start_matches('-');
                let names: Vec<&str> = suggested
                    .iter()
                    .map(|name| name.trim_start_matches('-'))
                    .collect();
                return nearest(given, names.iter().copied()).is_none()
                    && !names
                        .iter()
                        .any(|name| given.starts_with(name) || name.starts_with(given));
            }
        }
        false
    }

    fn tip_of_flag(&self, flag: &str) -> Option<String> {
        let name = self.command.map_or("decode", Command::get_name);
        // Commands below a command have no rows.
        let is_row = |(commands, flags, _): &&(&[&str], &str, &str)| {
            (commands.is_empty() || commands.contains(&name)) && has_word(flags, flag)
        };
        if let Some(tip) = record_tip(self.args) {
            return Some(tip);
        }
        if let Some(protocol) = self.protocol_of_flag(flag) {
            return Some(format!("the protocol is -p {protocol}"));
        }
        if let Some(tip) = self.tip_of_one_dash(flag) {
            return Some(tip);
        }
        if let Some(tip) = self.tip_of_value_of_flag(name, flag) {
            return Some(tip);
        }
        let of_server = self.args.iter().skip_while(|arg| *arg != "--");
        if of_server.skip(1).any(|arg| *arg == flag) {
            return self.tip_of_server(name);
        }
        if let Some(bytes) = self.value_of("--hex").filter(|_| flag == "--hex")
            && let Some(tip) = file_tip(Path::new(bytes))
        {
            return Some(tip);
        }
        if let Some(tip) = self.tip_of_code().filter(|_| name == "lint") {
            return Some(tip);
        }
        if name == "send"
            && let Some(tip) = self
                .value_of(flag)
                .and_then(|json| self.tip_of_params(json))
        {
            return Some(tip);
        }
        if let Some(pid) = self.process().filter(|_| flag == "-p") {
            return Some(tip_of_process(pid));
        }
        if self.command.is_none()
            && let Some(address) = self.address()
        {
            return Some(tip_of_address(&address));
        }
        if flag == "-T" && self.value_of(flag) == Some("fields") {
            return Some(words::COLUMNS.to_owned());
        }
        let is_file = |value: &&str| Path::new(value).is_file();
        if words::READERS.contains(&name)
            && ["-e", "-E", "-g", "-P"].contains(&flag)
            && let Some(file) = self.value_of(flag).filter(is_file)
        {
            let file = shell_words::quote(file);
            return Some(format!("{READ}wiretool {file}; a text is --grep TEXT"));
        }
        if let Some(tip) = self.tip_of_filter(flag) {
            return Some(tip);
        }
        if words::READERS.contains(&name) && ["-r", "--read-file"].contains(&flag) {
            return Some(self.tip_of_read());
        }
        if words::RELAYS.contains(&name)
            && let Some(tip) = self.tip_of_ends(flag)
        {
            return Some(tip);
        }
        if let Some(tip) = self.tip_of_words(name, flag) {
            return Some(tip);
        }
        let row = words::FLAGS.iter().find(is_row);
        let owners = || self.owners(flag);
        let tip = row.map(|(.., tip)| self.with_value(tip, flag));
        let tip = tip.or_else(owners);
        // Without a command, each one may be meant.
        let mut others = words::FLAGS
            .iter()
            .filter(|(_, flags, _)| self.command.is_none() && has_word(flags, flag));
        tip.or_else(|| others.next().map(|(.., tip)| (*tip).to_owned()))
    }

    /// Returns the value of a flag.
    fn value_of(&self, flag: &str) -> Option<&str> {
        let mut words = self.args.iter().filter_map(|arg| arg.to_str());
        let value = words.find_map(|word| word.strip_prefix(flag))?;
        match value.strip_prefix('=') {
            None => words
                .next()
                .filter(|next| !next.starts_with('-') || next.parse::<i64>().is_ok()),
            given => given,
        }
    }

    /// Returns a command line as tcpdump and tshark take it, with the flags of wiretool.
    fn tip_of_read(&self) -> String {
        let file = ["-r", "--read-file"]
            .into_iter()
            .find_map(|flag| self.value_of(flag));
        let mut own = vec!["wiretool"];
        own.extend(self.command.map(Command::get_name));
        own.push(file.unwrap_or("FILE"));
        let mut text = shell_words::join(own);
        let mut is_summary = false;
        let mut words = self.args.iter().filter_map(|arg| arg.to_str());
        while let Some(word) = words.next() {
            let port = match word {
                "port" => words.next(),
                _ => Some(word)
                    .filter(|word| word.contains(' '))
                    .and_then(packet_filter),
            };
            match (word, port) {
                ("-Y", _) => {
                    words.next();
                    text.push_str(" --where EXPR (wiretool help where)");
                }
                ("-T", _) => text.push_str(" -f json"),
                ("-V", _) => text.push_str(" -f tree"),
                ("-x" | "-X" | "-xx" | "-XX", _) => text.push_str(" -f hex"),
                ("-c", _) => {
                    let count = words.next().filter(|count| count.parse::<u64>().is_ok());
                    text.push_str(&format!(" --head {}", count.unwrap_or("N")));
                }
                ("-z", _) => is_summary = true,
                (_, Some(port)) => text.push_str(&format!(" --port {port}")),
                _ => {}
            }
        }
        let summary = if is_summary {
            "; wiretool stat FILE counts messages and measures latencies"
        } else {
            ""
        };
        format!("{READ}{text}{summary}")
    }

    /// Returns the number after `-p` without a command: strace takes a process there.
    fn process(&self) -> Option<u32> {
        let mut words = self.args.iter().skip_while(|arg| *arg != "-p").skip(1);
        let pid = words.next()?.to_str()?.parse().ok()?;
        let is_strace = self
            .args
            .get(1)
            .is_some_and(|arg| arg == "strace" || is_flag(arg));
        (self.command.is_none() && is_strace).then_some(pid)
    }

    /// Returns the first argument that is an address.
    fn address(&self) -> Option<String> {
        let mut words = self.args.iter().skip(1).filter_map(|arg| arg.to_str());
        let is_plain = |word: &&str| word.contains(':') && !Path::new(word).exists();
        words.find_map(|word| as_address(Some(word).filter(is_plain)?))
    }

    /// Returns a tip for an argument without a flag that is one too many.
    fn tip_of_argument(&self, word: &str) -> Option<String> {
        let command = self.command?;
        if command.get_name() == "man" {
            return Some(format!("wiretool help {word} prints that page"));
        }
        let has = |long| {
            command
                .get_arguments()
                .any(|arg| arg.get_long() == Some(long))
        };
        let takes_command = command.get_arguments().any(clap::Arg::is_last_set);
        if let Some(tip) = self.tip_of_protocol_word(word) {
            return Some(tip);
        }
        if has("output")
            && let Some(tip) = self.tip_of_output(word)
        {
            return Some(tip);
        }
        if !takes_command && let Some(tip) = self.tip_of_server(command.get_name()) {
            return Some(tip);
        }
        if has("connect")
            && let Some(addresses) = self.addresses(word)
        {
            return Some(match addresses.as_slice() {
                [listen, connect] if has("listen") => {
                    format!("use --listen {listen} --connect {connect}")
                }
                [.., connect] => format!("use --connect {connect}"),
                [] => return None,
            });
        }
        if has("listen") && word.contains(':') {
            return Some(
                "addresses are --listen ADDR and --connect ADDR, such as ws://127.0.0.1:8080"
                    .into(),
            );
        }
        if command.get_name() == "replay" && Path::new(word).is_file() {
            let file = shell_words::quote(word);
            return Some(format!(
                "the recording stands first, and a server to start last: wiretool replay {file} -- COMMAND"
            ));
        }
        if has("from-recording") {
            return Some(format!(
                "answers of a recording are --from-recording {}, those of a script --script FILE",
                shell_words::quote(word)
            ));
        }
        takes_command.then(|| self.tip_of_child(word, has("write")))?
    }

    /// Returns a tip for a command to start that does not stand after `--`. `writes`: there is a flag `-w`.
    fn tip_of_child(&self, word: &str, writes: bool) -> Option<String> {
        let at = self.args.iter().position(|arg| *arg == *word)?;
        let (own, child) = self.args.split_at_checked(at)?;
        let text =
            |args: &[OsString]| shell_words::join(args.iter().map(|arg| arg.to_string_lossy()));
        let own = own.get(1..).unwrap_or_default();
        if let [file, mark, command @ ..] = child
            && mark == "--"
            && writes
        {
            return Some(format!(
                "the recording is -w FILE: wiretool {} -w {} -- {}",
                text(own),
                text(std::slice::from_ref(file)),
                text(command)
            ));
        }
        if let Some(tip) = tip_of_recording(own, child).filter(|_| writes) {
            return Some(tip);
        }
        // The file of the recording stands last, as in other programs.
        let (child, file) = match child {
            [command @ .., flag, file] if writes && ["-o", "-w"].iter().any(|own| flag == own) => {
                (command, format!(" -w {}", text(std::slice::from_ref(file))))
            }
            all => (all, String::new()),
        };
        Some(format!(
            "give a command to run after --: wiretool {}{file} -- {}",
            text(own),
            text(child)
        ))
    }

    /// Returns the addresses that begin with this argument: to listen on, and to connect to.
    fn addresses(&self, word: &str) -> Option<Vec<String>> {
        let is_port = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if let Some((own, other)) = word
            .split_once(':')
            .filter(|(a, b)| is_port(a) && is_port(b))
        {
            return Some([own, other].map(local).to_vec());
        }
        let words = self.args.iter().skip_while(|arg| *arg != word);
        let words = words.filter_map(|arg| arg.to_str()).take(2);
        let found = words.map_while(|word| endpoint_of_socat(word).or_else(|| as_address(word)));
        let found: Vec<String> = found.collect();
        (!found.is_empty()).then_some(found)
    }

    fn tip_of_command(&self, word: &str) -> Option<String> {
        let is_first = self.args.get(1).is_some_and(|first| *first == *word);
        if let Some(command) = self.command.filter(|_| !is_first) {
            let name = command.get_name();
            let tip = subcommand_tip(name, word);
            return tip
                .or_else(|| tip_with_file(name, word))
                .or_else(|| tip_of_protocol(name));
        }
        let next = || self.args.iter().skip_while(|arg| *arg != word).nth(1);
        let number = || next()?.to_str()?.parse().ok();
        if let Some(pid) = self
            .process()
            .or_else(|| number().filter(|_| word == "attach"))
        {
            return Some(tip_of_process(pid));
        }
        let lower = word.to_lowercase();
        if let Some(tip) = self
            .tip_of_other_reader(&lower)
            .or_else(|| self.tip_of_start(&lower))
        {
            return Some(tip);
        }
        let tip = self.tip_of_test(&lower);
        let tip = tip.or_else(|| self.tip_of_call(word));
        if let Some(tip) = tip.or_else(|| self.tip_of_relay(&lower)) {
            return Some(tip);
        }
        if let Some(tip) = self.tip_of_make(&lower) {
            return Some(tip);
        }
        if let Some(tip) = command_tip(&lower) {
            let is_about_times = tip == words::LATENCIES;
            let pair = is_about_times.then(|| self.tip_of_two_files()).flatten();
            return Some(pair.unwrap_or_else(|| tip.to_owned()));
        }
        if let Some(tip) = self.tip_of_form_of_command(&lower) {
            return Some(tip);
        }
        if let Some(tip) = tip_of_protocol(&lower) {
            let file = next().and_then(|file| file.to_str());
            return file
                .and_then(|file| tip_with_file(&lower, file))
                .or(Some(tip));
        }
        if let Some(address) = as_address(word) {
            return Some(tip_of_address(&address));
        }
        if let Some(tip) = tip_of_endpoint(word) {
            return Some(tip);
        }
        if topics::find(&lower).is_some() {
            return Some(format!("wiretool help {lower} is a topic"));
        }
        let at = self.args.iter().position(|arg| *arg == *word)?;
        let rest = self.args.get(at..)?.iter().map(|arg| arg.to_string_lossy());
        let rest = shell_words::join(rest);
        if is_program(word) {
            return Some(format!(
                "to start a command and show its messages: wiretool proxy -- {rest}"
            ));
        }
        if word.starts_with('@') && word.contains('/') {
            return Some(format!(
                "to start a package and show its messages: wiretool proxy -- npx -y {rest}"
            ));
        }
        if is_method(word) {
            return Some(format!(
                "wiretool send PROTOCOL {rest} -- COMMAND sends a message and shows the answer; -p and --where 'subject={word}' select it"
            ));
        }
        file_tip(Path::new(word))
    }
}

/// Returns the tip for a word in place of a command.
pub fn command_tip(word: &str) -> Option<&'static str> {
    let mut rows = words::COMMANDS.iter();
    let found = rows.find(|(all, _)| has_word(all, word));
    found.map(|(_, tip)| *tip)
}

/// Returns the tip for a word in place of a command below a command.
fn subcommand_tip(command: &str, word: &str) -> Option<String> {
    let is_meant = |(own, all, _): &&(&str, &str, &str)| {
        *own == command && has_word(all, &word.to_lowercase())
    };
    match words::SUBCOMMANDS.iter().find(is_meant) {
        Some((.., tip)) => Some((*tip).to_owned()),
        None if command == "protocol" && registry::find(word).is_some() => Some(format!(
            "wiretool protocol show {word} describes it, wiretool -p {word} FILE reads it"
        )),
        None if command == "snapshot" && Path::new(word).exists() => Some(format!(
            "wiretool snapshot test {} compares it with its snapshot",
            shell_words::quote(word)
        )),
        None => None,
    }
}

/// Returns true if a list separated by spaces has this word.
fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}
