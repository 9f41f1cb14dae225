//! Tips for a wrong value of a flag.

use super::shapes::{as_address, local};
use super::{Situation, has_word, words};
use crate::export::FormName;
use std::path::Path;

/// Formats of reports.
const REPORTS: [&str; 3] = ["github", "junit", "sarif"];

/// Formats of other tools.
const OTHER_FORMATS: [&str; 14] = [
    "compact", "pretty", "short", "oneline", "csv", "jsonl", "ndjson", "raw", "table", "text",
    "tsv", "wide", "xml", "yaml",
];

/// Words for the sides of a connection.
const SIDES: [&str; 8] = [
    "client", "server", "in", "out", "sent", "received", "request", "response",
];

impl Situation<'_> {
    /// Returns a tip for a value that is refused.
    pub(super) fn tip_of_value(&self, arg: &str, value: &str) -> Option<String> {
        if arg.starts_with("--format") && REPORTS.contains(&value) {
            return Some(format!(
                "--report {value} writes such a report, in lint, test, snapshot test and replay"
            ));
        }
        let is_file = arg.starts_with("--format") && Path::new(value).is_file();
        if is_file {
            let name = self.command.map_or("decode", clap::Command::get_name);
            let file = shell_words::quote(value);
            return Some(format!(
                "-f is the format; a file needs no flag: wiretool {name} {file}, with --follow while it grows"
            ));
        }
        if arg.starts_with("--client") {
            return Some(format!(
                "the file and the entry of another client are --in FILE --entry PATH; wiretool help clients says what {value} and other editors need"
            ));
        }
        let is = |name| {
            self.command
                .is_some_and(|command| command.get_name() == name)
        };
        let is_export = is("export");
        let own = is("stat").then(|| tip_of_stat(arg, value)).flatten();
        let own = own.or_else(|| tip_of_own_value(arg, value));
        if let Some(tip) = own.filter(|_| !is_export) {
            return Some(tip);
        }
        let command = self.command?;
        if command.get_name() == "export" && arg.starts_with("--format") {
            return tip_of_form(value);
        }
        let has_listen = command
            .get_arguments()
            .any(|arg| arg.get_long() == Some("listen"));
        if arg.contains("<PROTOCOL>")
            && has_listen
            && let Some([listen, connect]) = self.addresses(value).as_deref()
        {
            return Some(format!("use --listen {listen} --connect {connect}"));
        }
        if arg.contains("<PROTOCOL>") && has_listen && value.parse::<u16>().is_ok() {
            return Some(format!(
                "-p is the protocol; to listen on a port: --listen {}",
                local(value)
            ));
        }
        let connects = command
            .get_arguments()
            .any(|arg| arg.get_long() == Some("connect"));
        if !arg.contains("<PROTOCOL>") || !connects {
            return None;
        }
        let name = command.get_name();
        let Some(address) = as_address(value) else {
            let file = Path::new(value).exists();
            return Some(match name {
                "stub" if file => format!(
                    "the protocol comes first: wiretool stub mcp --from-recording {}",
                    shell_words::quote(value)
                ),
                "send" => self.tip_of_message(value)?,
                _ => return None,
            });
        };
        let words = match name {
            "send" => "WORD..., or with --json -",
            _ => "",
        };
        Some(match words {
            "" => format!("an address is --connect {address}, a protocol is for example mcp"),
            words => format!(
                "an address is --connect {address}, after the protocol: wiretool send mcp {words}"
            ),
        })
    }
}

/// Returns a tip for a form that export does not write.
pub(super) fn tip_of_form(value: &str) -> Option<String> {
    let tip = match value {
        "csv" | "sql" | "table" | "tsv" => words::TABLE,
        "json" | "jsonl" | "ndjson" => "messages in JSON are wiretool -f json FILE",
        "svg" | "png" | "md" | "markdown" => {
            "a diagram for Markdown is wiretool export -f mermaid FILE, a page wiretool export -f html FILE -o FILE.html"
        }
        "curl" | "postman" | "http" => {
            "requests are wiretool export -f har FILE -o FILE.har, which other programs import"
        }
        "pcap" => "packets are wiretool export -f pcapng FILE -o FILE.pcapng",
        _ => return None,
    };
    Some(tip.to_owned())
}

/// Returns a tip for a value of a flag of stat.
fn tip_of_stat(arg: &str, value: &str) -> Option<String> {
    if arg.contains("<PROTOCOL>") && value.parse::<f64>().is_ok() {
        return Some(
            "wiretool stat FILE shows p50, p90, p99 and the maximum; -p is the protocol".into(),
        );
    }
    let is_table = arg.starts_with("--format") && ["csv", "table", "tsv"].contains(&value);
    is_table.then(|| {
        "a table is wiretool stat FILE -f json | jq -r '.kinds[] | [.dir, .kind, .messages, .bytes] | @csv', and of latencies '.latencies[] | [.what, .count, .p50_ms, .max_ms] | @csv'".to_owned()
    })
}

/// Returns a tip that depends on the flag and its value alone.
fn tip_of_own_value(arg: &str, value: &str) -> Option<String> {
    let is_template = ["{{", "{%", "%{", "%("]
        .iter()
        .any(|mark| value.contains(mark));
    if arg.starts_with("--format") && is_template {
        return Some(words::COLUMNS.to_owned());
    }
    if arg.starts_with("--color") {
        return Some("colour is --color always, --color never or --color auto".into());
    }
    if arg.contains("<N>") && value.parse::<u64>().is_err() {
        let flag = arg.split(' ').next().unwrap_or_default();
        return Some(format!(
            "{flag} takes a number, such as {flag} 3; a capture is an argument without a flag"
        ));
    }
    if arg.starts_with("--format") && value == "sql" {
        return Some(words::TABLE.to_owned());
    }
    if arg.starts_with("--format") && FormName::from_name(value).is_some() {
        return Some(format!("wiretool export -f {value} FILE writes this form"));
    }
    if arg.starts_with("--format") && OTHER_FORMATS.contains(&value) {
        return Some(
                "-f json prints an object per line; jq -c .message leaves the messages alone, jq -r .message.method one member, jq -r '[.kind, .subject] | @csv' makes a table"
                    .into(),
            );
    }
    let lower = value.to_lowercase();
    if arg.contains("<PROTOCOL>")
        && let Some((_, tip)) = words::ENCODINGS
            .iter()
            .find(|(all, _)| has_word(all, &lower))
    {
        return Some((*tip).to_owned());
    }
    if (arg.starts_with("--from") || arg.starts_with("--dir")) && SIDES.contains(&&*lower) {
        return Some(
            "--dir c2s selects what the client sends, --dir s2c what the server sends".into(),
        );
    }
    None
}
