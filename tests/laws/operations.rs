//! Operations of every capture: their messages are later than their first one, and the shares of their time add up.

use crate::seeds::fixtures;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use wiretool::capture::{CaptureInput, Form};
use wiretool::conversation::{Output, RuleSettings, Run};
use wiretool::decoder::DecodeOptions;
use wiretool::encoding::Want;
use wiretool::protocol::registry;

/// The fixtures, with the examples of rules and the captures of other programs.
fn captures() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fixtures().into_iter().map(|(_, path)| path).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let rules = registry::all()
        .iter()
        .map(|protocol| root.join(protocol.name()).join("rules"));
    for folder in rules.chain([root.join("captures")]) {
        let found = std::fs::read_dir(folder).expect("a folder");
        files.extend(found.map(|file| file.expect("a file").path()));
    }
    files
}

#[test]
fn messages_and_times_of_operations_add_up() {
    let (mut count, mut links) = (0, 0);
    for path in captures() {
        let bytes = std::fs::read(&path).expect("a file");
        let mut options = DecodeOptions::new(registry::all().to_vec());
        options.want = Want::Places;
        let rules = RuleSettings {
            operations: true,
            ..RuleSettings::default()
        };
        let mut run = Run::new(CaptureInput::new(Form::Auto), options, Some(rules));
        // The number of messages by operation, the parents, and the operations that ended.
        let mut messages: BTreeMap<u64, u64> = BTreeMap::new();
        let mut parents: BTreeMap<u64, Option<u64>> = BTreeMap::new();
        let mut ended = BTreeMap::new();
        let mut sink = |output: Output<'_>| -> ControlFlow<()> {
            let name = path.display();
            let end = match output {
                Output::Message(decoded, Some(verdict)) => {
                    if let Some(operation) = verdict.operation {
                        assert!(operation.index <= decoded.index, "{name}: {operation:?}");
                        let parent = operation.parent;
                        assert!(
                            parent.is_none_or(|parent| parent < operation.index),
                            "{name}"
                        );
                        let known = parents.insert(operation.index, parent);
                        assert!(known.is_none_or(|known| known == parent), "{name}");
                        assert_eq!(
                            operation.is_late,
                            ended.contains_key(&operation.index),
                            "{name}"
                        );
                        if !operation.is_late {
                            *messages.entry(operation.index).or_default() += 1;
                        }
                        links += usize::from(operation.link.is_some());
                    }
                    verdict.ended
                }
                Output::Event(_, verdict) => verdict.ended,
                Output::End(run, _) => run.conversation().expect("rules").ended_operations(),
                _ => return ControlFlow::Continue(()),
            };
            for operation in end {
                let sum: i64 = operation.shares.iter().sum();
                assert_eq!(
                    operation.duration.unwrap_or_default(),
                    sum,
                    "{name}: {operation:?}"
                );
                assert!(operation.shares.iter().all(|share| *share >= 0), "{name}");
                let before = ended.insert(operation.index, operation.messages);
                assert!(before.is_none(), "{name}: #{} ended twice", operation.index);
                count += 1;
            }
            ControlFlow::Continue(())
        };
        assert!(run.read_all(&bytes, &mut sink).is_continue());
        for (operation, own) in messages {
            let whole = ended.get(&operation).copied().unwrap_or_default();
            assert!(
                whole >= own,
                "{}: #{operation}: {whole}, {own}",
                path.display()
            );
        }
    }
    assert!(count > 1000, "{count} operations, {links} links");
}
