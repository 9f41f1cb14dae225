//! Tips for words and flags of other programs, with the words of the command line filled in.

use super::complete::is_command;
use super::shapes::is_file_name;
use super::{Situation, has_word};
use crate::protocol::registry;
use std::ffi::OsString;
use std::path::Path;

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
