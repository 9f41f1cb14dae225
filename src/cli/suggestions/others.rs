//! Tips for words and flags of other programs, with the words of the command line filled in.

use super::complete::is_command;
use super::shapes::is_file_name;
use super::values::tip_of_form;
use super::{Situation, has_word, words};
use crate::conversation::find_rule;
use crate::export::FormName;
use crate::protocol::registry;
use crate::words::nearest;
use clap::Command;
use std::ffi::OsString;
use std::path::Path;

/// The most commands that are named as those with a flag.
const MAX_OWNERS: usize = 6;

impl Situation<'_> {
    /// Returns the protocol that a flag names, as in `--mcp` and `-lsp`.
    pub(super) fn protocol_of_flag(&self, flag: &str) -> Option<&'static str> {
        let short = |word: &&str| word.starts_with(flag) && !word.starts_with("--");
        let mut words = self.args.iter().filter_map(|arg| arg.to_str());
        let whole = words.find(short).unwrap_or(flag);
        registry::names().find(|name| {
            let is_name = |flag: &str| name.eq_ignore_ascii_case(flag.trim_start_matches('-'));
            is_name(flag) || is_name(whole)
        })
    }

    /// Returns a tip for a command in capitals, in the plural, or in another form: `Decode`, `proxies`, `decoded`.
    pub(super) fn tip_of_form_of_command(&self, word: &str) -> Option<String> {
        let stems = ["", "s", "es", "d", "ed", "r", "er", "ing", "ies"];
        let mut stems = stems.iter().filter_map(|end| word.strip_suffix(end));
        let command = stems.find_map(|stem| {
            let names = [stem.to_owned(), format!("{stem}y"), format!("{stem}e")];
            names
                .into_iter()
                .find_map(|name| self.root.find_subcommand(name))
        })?;
        let rest = self.args.iter().skip(2).map(|arg| arg.to_string_lossy());
        let name = command.get_name().to_owned();
        let words = std::iter::once(name.into()).chain(rest);
        Some(format!("wiretool {}", shell_words::join(words)))
    }

    /// Returns a tip for another program that reads a capture: `tshark -r FILE`, `grep -i TEXT FILE`.
    pub(super) fn tip_of_other_reader(&self, word: &str) -> Option<String> {
        const SEARCHES: &str = "ack ag egrep fgrep grep rg ripgrep search";
        const PACKETS: &str = "dumpcap ngrep tcpdump tshark wireshark";
        let words: Vec<&str> = self
            .args
            .iter()
            .skip(2)
            .filter_map(|arg| arg.to_str())
            .collect();
        if has_word(PACKETS, word) && self.value_of("-r").is_some() {
            return Some(self.tip_of_read());
        }
        if has_word(PACKETS, word)
            && let Some(interface) = self.value_of("-i")
        {
            let interface = shell_words::quote(interface);
            return Some(format!(
                "no interface is opened: tcpdump -i {interface} -w - | wiretool reads packets; wiretool proxy shows live traffic between two programs"
            ));
        }
        let [text, file] = words
            .iter()
            .filter(|word| !word.starts_with('-'))
            .collect::<Vec<_>>()
            .try_into()
            .ok()?;
        let flags = || words.iter().filter(|word| word.starts_with('-'));
        let is_case = |flag: &&&str| ["-i", "--ignore-case"].contains(*flag);
        let is_plain =
            flags().all(|flag| ["-i", "--ignore-case", "-n", "-r", "-F", "-E"].contains(flag));
        if !has_word(SEARCHES, word) || !is_plain || !Path::new(file).is_file() {
            return None;
        }
        let case = flags().find(is_case).map_or("", |_| " --ignore-case");
        let [text, file] = [text, file].map(|word| shell_words::quote(word));
        Some(format!(
            "wiretool {file} --grep {text}{case} selects messages (see wiretool help where)"
        ))
    }

    /// Returns a tip for a program to start: `run -p mcp ./server`.
    pub(super) fn tip_of_start(&self, word: &str) -> Option<String> {
        const STARTS: &str = "exec launch npx run spawn start";
        let mut words: Vec<_> = self
            .args
            .iter()
            .skip(2)
            .map(|arg| arg.to_string_lossy())
            .collect();
        let protocol = match words.as_slice() {
            [flag, name, ..] if ["-p", "--protocol"].contains(&&**flag) => registry::find(name),
            _ => None,
        };
        let flag = protocol.map_or(String::new(), |one| format!("-p {} ", one.name()));
        words.drain(..if protocol.is_some() { 2 } else { 0 });
        let is_command = words.first().is_some_and(|word| !word.starts_with('-'));
        if !has_word(STARTS, word) || !is_command {
            return None;
        }
        if word == "npx" {
            words.insert(0, "npx".into());
        }
        Some(format!(
            "wiretool proxy {flag}-- {} starts a command and shows its messages",
            shell_words::join(words)
        ))
    }

    /// Returns a tip for a filter of packets after a flag: `-Y 'tcp.port == 80'`, `-z follow,tcp,ascii,3`.
    pub(super) fn tip_of_filter(&self, flag: &str) -> Option<String> {
        let value = self.value_of(flag)?;
        if value.starts_with("follow,") {
            return Some(
                "a connection is --where conn=N; wiretool stat FILE counts connections".into(),
            );
        }
        let (_, port) = value.split_once("port")?;
        let is_packets = ["tcp", "udp", "port"]
            .iter()
            .any(|name| value.starts_with(name));
        let port = port.trim_start_matches([' ', '=']);
        let digits = port.split(|c: char| !c.is_ascii_digit()).next()?;
        (is_packets && digits.parse::<u16>().is_ok())
            .then(|| format!("packets are chosen with --port {digits}, messages with --where EXPR"))
    }

    /// Returns a tip for the latencies of two files, which may be those of the two directions.
    pub(super) fn tip_of_two_files(&self) -> Option<String> {
        let files = self
            .args
            .iter()
            .skip(1)
            .filter(|word| Path::new(word).is_file());
        let [a, b] = files.collect::<Vec<_>>().try_into().ok()?;
        let [a, b] = [a, b].map(|file| shell_words::quote(&file.to_string_lossy()).into_owned());
        Some(format!(
            "wiretool stat --c2s {a} --s2c {b} pairs the files of the two directions, wiretool stat {a} {b} those of two connections; latencies need times, as in recordings (wiretool record)"
        ))
    }

    /// Returns a tip for the protocol as an argument: `proxy mcp -- ./server`.
    pub(super) fn tip_of_protocol_word(&self, word: &str) -> Option<String> {
        let mut flags = self.command?.get_arguments();
        let has_flag = flags.any(|arg| arg.get_long() == Some("protocol"));
        let name = registry::find(word).filter(|_| has_flag)?.name();
        let (own, rest) = self.around(word)?;
        let is_connected = self.value_of("--connect").is_some();
        let end = match rest.first() {
            None if is_connected => String::new(),
            None => " -- COMMAND".to_owned(),
            Some(first) if first.to_string_lossy().starts_with('-') => format!(" {}", join(rest)),
            Some(_) => format!(" -- {}", join(rest)),
        };
        Some(format!(
            "the protocol is -p {name}: wiretool {} -p {name}{end}",
            join(own)
        ))
    }

    /// Returns a tip for the file of the output as an argument: `redact FILE NEW.jsonl`.
    pub(super) fn tip_of_output(&self, word: &str) -> Option<String> {
        let is_new = is_file_name(word) && !Path::new(word).exists() && !is_command(word);
        let (own, rest) = self.around(word).filter(|_| is_new)?;
        let (own, file) = (join(own), shell_words::quote(word));
        let text = format!("wiretool {own} -o {file} {}", join(rest));
        Some(format!("the output is -o {file}: {}", text.trim_end()))
    }

    /// Returns the arguments before and after this one.
    fn around(&self, word: &str) -> Option<(&[OsString], &[OsString])> {
        let at = self.args.iter().position(|arg| *arg == *word)?;
        Some((self.args.get(1..at)?, self.args.get(at + 1..)?))
    }

    /// Returns a tip for a message to make: `generate mcp initialise`.
    pub(super) fn tip_of_make(&self, word: &str) -> Option<String> {
        let mut rest = self.args.iter().skip(2).filter_map(|arg| arg.to_str());
        let protocol = registry::find(rest.next()?);
        let protocol = protocol.filter(|_| has_word(words::MAKERS, word))?;
        let name = protocol.name();
        let Some(given) = rest.next() else {
            return Some(format!("wiretool make {name} --list lists its messages"));
        };
        let recipes = protocol.recipes().iter();
        let recipes: Vec<_> = recipes.map(|recipe| recipe.name.clone()).collect();
        let message = nearest(given, recipes.iter().map(AsRef::as_ref)).unwrap_or(given);
        let words = ["make", name, message].into_iter().chain(rest);
        Some(format!(
            "wiretool {} makes a message",
            shell_words::join(words)
        ))
    }

    /// Returns a tip that depends on the value of a flag that the command does not have: `export --to pcap`.
    pub(super) fn tip_of_value_of_flag(&self, command: &str, flag: &str) -> Option<String> {
        let value = self.value_of(flag)?;
        if flag == "-m" && words::READERS.contains(&command) && value.parse::<u64>().is_err() {
            return Some(format!("a method is --where 'subject={value}'"));
        }
        match command {
            "export" if has_word("--as --form --to --type -t", flag) => {
                let is_form = FormName::from_name(value).is_some() && value != "sql";
                return if is_form {
                    Some(format!(
                        "the form is -f {value}: wiretool export -f {value} FILE -o FILE.{value}"
                    ))
                } else {
                    tip_of_form(value)
                };
            }
            "lint" if find_rule(value).is_some() => {
                if has_word(words::TURNS_OFF, flag) {
                    return Some(format!("--allow {value} turns this rule off"));
                }
                if has_word(words::RAISES, flag) {
                    return Some(format!(
                        "--deny {value} makes an error of this rule, --allow {value} turns it off"
                    ));
                }
                return Some(format!(
                    "the findings of one rule are wiretool lint FILE | grep {value}; --explain {value} explains it"
                ));
            }
            "stub" if has_word(words::REPLIES, flag) => {
                let (method, _) = value.split_once('=')?;
                return Some(format!(
                    "an answer to {method} is a rule of --script FILE: [[on]], match = 'subject={method}', result = {{ json = 'JSON' }} (wiretool help scripts)"
                ));
            }
            _ => {}
        }
        let selects = words::READERS.contains(&command) || command == "replay";
        let (_, role) = words::ROLES
            .iter()
            .find(|(all, _)| selects && has_word(all, &value.to_lowercase()))?;
        let condition = match *role {
            "error" => "role=error or outcome=error".to_owned(),
            role => format!("role={role}"),
        };
        if has_word(words::LEAVES_OUT, flag) {
            let condition = match *role {
                "error" => format!("({condition})"),
                _ => condition,
            };
            return Some(format!("--where 'not {condition}' leaves them out"));
        }
        let condition = match *role {
            "error" => format!("'{condition}'"),
            _ => condition,
        };
        has_word(words::SELECTS, flag).then(|| format!("--where {condition} selects them"))
    }

    /// Returns the commands that have this flag.
    pub(super) fn owners(&self, flag: &str) -> Option<String> {
        let has = |command: &&Command| {
            command
                .get_arguments()
                .filter(|arg| !arg.is_hide_set())
                .any(|arg| {
                    let long = arg
                        .get_long()
                        .is_some_and(|long| flag.strip_prefix("--") == Some(long));
                    long || arg
                        .get_short()
                        .is_some_and(|short| format!("-{short}") == flag)
                })
        };
        let owners: Vec<&str> = self
            .root
            .get_subcommands()
            .filter(has)
            .map(Command::get_name)
            .collect();
        let text = match owners.as_slice() {
            // A flag of so many is known; the question is what this command has instead.
            [] => return None,
            all if all.len() > MAX_OWNERS && self.command.is_some() => return None,
            [one] => (*one).to_owned(),
            [most @ .., last] => format!("{} and {last}", most.join(", ")),
        };
        let own = self.command.map(Command::get_name);
        let own = own.map_or(String::new(), |own| {
            format!("; wiretool {own} -h lists those of {own}")
        });
        Some(format!("{flag} is a flag of {text}{own}"))
    }
}

fn join(args: &[OsString]) -> String {
    shell_words::join(args.iter().map(|arg| arg.to_string_lossy()))
}

/// Returns the tip for the name of a recording in place of a command: `record a.jsonl`.
pub(super) fn tip_of_recording(own: &[OsString], child: &[OsString]) -> Option<String> {
    let [file] = child else { return None };
    let name = file.to_string_lossy();
    let own = shell_words::join(own.iter().map(|arg| arg.to_string_lossy()));
    (is_file_name(&name) && !is_command(file)).then(|| {
        let file = shell_words::quote(&name);
        format!("the recording is -w {file}: wiretool {own} -w {file} -- COMMAND")
    })
}
