//! Tips with the words of the command line filled in: they work as they stand.

use super::shapes::{as_address, local};
use super::{Situation, has_word, words};
use clap::error::{ContextKind, ErrorKind};
use std::path::Path;

impl Situation<'_> {
    /// Returns a tip, and those for the unknown flags after the one that the parser names.
    pub(super) fn with_other_flags(&self, tip: String) -> Vec<String> {
        // Another command needs other flags.
        let others = if tip.starts_with("wiretool ") {
            Vec::new()
        } else {
            self.tips_of_other_flags()
        };
        [tip].into_iter().chain(others).collect()
    }

    fn tips_of_other_flags(&self) -> Vec<String> {
        let named = self.error.get(ContextKind::InvalidArg);
        let named = named.map(ToString::to_string).unwrap_or_default();
        if self.error.kind() != ErrorKind::UnknownArgument || !named.starts_with("--") {
            return Vec::new();
        }
        let own = self.command.or(self.root.find_subcommand("decode"));
        let commands = [Some(self.root), own];
        let is_known = |flag: &str| {
            let mut all = commands.iter().flatten().flat_map(|c| c.get_arguments());
            all.any(|arg| {
                let long = arg.get_long() == Some(flag);
                let aliases = arg.get_all_aliases().unwrap_or_default();
                long || aliases.contains(&flag)
            })
        };
        let words = self.args.iter().skip(1).filter_map(|arg| arg.to_str());
        let words = words.take_while(|word| *word != "--");
        let flags = words.filter_map(|word| word.strip_prefix("--"));
        let flags = flags.map(|flag| flag.split('=').next().unwrap_or(flag));
        let others = flags.filter(|flag| named.get(2..) != Some(*flag) && !is_known(flag));
        let tips = others.filter_map(|flag| {
            let flag = format!("--{flag}");
            let tip = self.tip_of_flag(&flag)?;
            Some(format!("{flag}: {tip}"))
        });
        tips.collect()
    }

    /// Returns a tip for `send` without a message.
    pub(super) fn tip_of_missing(&self) -> Option<String> {
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
        let address = |flags: &str| {
            let mut flags = flags.split(' ');
            flags.find_map(|flag| {
                let value = self.value_of(flag)?;
                as_address(value.strip_prefix("reverse:").unwrap_or(value))
            })
        };
        let is_end = has_word(words::SERVERS, flag) || has_word(words::LISTENERS, flag);
        let listen = address("--listen").or_else(|| address(words::LISTENERS));
        let listen = listen.or_else(|| address("-p"))?;
        let has_scheme = |word: &&str| word.contains("://");
        let mut words = self.args.iter().filter_map(|arg| arg.to_str());
        let connect = address("--connect").or_else(|| address(words::SERVERS));
        let connect = connect.or_else(|| words.find(has_scheme).and_then(as_address))?;
        is_end.then(|| format!("use --listen {listen} --connect {connect}"))
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

    /// Returns a tip for a recording and a server: `test FILE -- COMMAND`, `tee FILE -- COMMAND`, `serve FILE`.
    pub(super) fn tip_of_test(&self, word: &str) -> Option<String> {
        let rest = self.args.iter().skip_while(|arg| *arg != word).skip(1);
        let rest: Vec<_> = rest.map(|arg| arg.to_string_lossy()).collect();
        let file = rest.first().filter(|file| !file.starts_with('-'));
        let file = shell_words::quote(file?);
        let is_in = |words: &str| has_word(words, word);
        match rest.get(1).map(AsRef::as_ref) {
            Some("--") => {
                let command = shell_words::join(rest.get(2..).unwrap_or_default());
                if is_in("assert check-server expect test verify") {
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
}
