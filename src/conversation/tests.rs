//! The cost of following a conversation.

mod continued;
mod operations;
mod rules;

use super::{RuleSettings, check};
use crate::capture::Record;
use crate::decoder::DecodeOptions;
use crate::encoding::Want;
use crate::protocol::exchange::work;
use crate::protocol::{Place, registry};

/// Returns a recording with copies of every connection at the same times.
fn copied(recording: &str, copies: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for line in recording.lines().filter(|line| !line.is_empty()) {
        let record = Record::parse(line.as_bytes()).unwrap();
        for copy in 0..copies {
            let shift = copy * 100;
            let mut record = record.clone();
            match &mut record {
                Record::Header(_) if copy > 0 => continue,
                Record::Header(_) => {}
                Record::Event(event) if event.event == "end" => continue,
                Record::Event(event) => event.conn = event.conn.map(|conn| conn + shift),
                Record::Chunk { conn, .. } => *conn += shift,
            }
            record.write(&mut out);
        }
    }
    out
}

/// Returns the number of table entries that are visited.
fn cost(recording: &[u8], options: &DecodeOptions<'_>) -> u64 {
    work::take();
    check(recording, options.clone(), RuleSettings::default());
    work::take()
}

#[test]
fn the_cost_is_linear_in_the_number_of_connections() {
    let mut visited = 0;
    for protocol in registry::all() {
        let options = DecodeOptions {
            want: Want::Places,
            ..DecodeOptions::new(vec![*protocol])
        };
        for rule in protocol.behavior().rules() {
            let Some(example) = rule.example() else {
                continue;
            };
            let [few, many] = [16, 32].map(|n| cost(&copied(example.fires, n), &options));
            let name = super::full_name(protocol.name(), rule);
            assert!(2 * many <= 5 * few + 128, "{name}: {few}, {many}");
            visited += many;
        }
    }
    assert!(visited > 500, "{visited}");
}

#[test]
fn a_finding_about_a_command_that_sent_nothing_names_no_message() {
    let recording = r#"{"wiretool":1,"protocol":"oracle","argv":["oracle\r"]}"#;
    let found = check(
        recording.as_bytes(),
        DecodeOptions::new(registry::all().to_vec()),
        RuleSettings::default(),
    );
    let places: Vec<_> = found.iter().map(|f| (f.name(), f.place.index)).collect();
    assert_eq!(
        places,
        [("oracle/connection-cr".to_owned(), Place::NO_MESSAGE)]
    );
}
