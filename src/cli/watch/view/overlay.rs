//! Texts that cover the panes: help, statistics, a comparison.

use crate::cli::diff::show::write_field;
use crate::cli::stat::write_tables;
use crate::cli::watch::command::Overlay;
use crate::cli::watch::model::Model;
use crate::diff::{Compare, Ignore, StoredMessage};
use crate::render::DisplayOptions;
use crate::render::style::Highlight;

const HELP: &str = "\
Move
  j k arrows   one line                  g G home end  first, last message
  page up/down one page                  tab           next pane
  enter        to the tree               esc           back; all messages again
Find
  /   a condition: kind=call latency>10ms, or plain text
      tab completes, up takes the last one
  n N next, previous match, among all messages
  f F next, previous finding             r   the other message of the pair
  o   open requests only                 c   only the connection of the message
  O   operations as a tree; z unfolds    i   only the operation of the message
Show
  =   this pane on the whole screen      W   wrap long lines
  <- -> scroll sideways                  t   time of day, or since line before
  d   mark; on another message: compare  s   statistics
  z Z fold the pair, the connection      E   lines of stderr between
Copy, save and send
  y   copy: hex, JSON, the send or the encode command
  w   save the messages that show as watch-N.jsonl
  e   edit the message, send it once more (live traffic, --allow-edit)
  q   quit                               space  pause; traffic continues
Marks before a line: ✗ error  ! warning  i note  ▸ folded  ▾ not  d marked";

const COPY: &str = "\
h  the bytes as hex
j  the message as JSON
s  the command that sends the message
e  the command that encodes the message

The copy is exact: secrets are not masked.";

pub(super) fn text(overlay: &Overlay, model: &mut Model, display: DisplayOptions) -> String {
    match overlay {
        Overlay::Help => HELP.to_owned(),
        Overlay::Copy => COPY.to_owned(),
        Overlay::Stats => statistics(model, display),
        Overlay::Compare(a, b) => comparison(model, *a, *b, display),
    }
}

fn statistics(model: &mut Model, display: DisplayOptions) -> String {
    let shared = model.shared.clone();
    let (source, open, protocol) = {
        let store = shared.store();
        let name = store.read(model.selected, &mut model.reader, |decoded, _| {
            decoded.protocol.name().to_owned()
        });
        let source = store.status.source.clone();
        (
            source,
            store.open as u64,
            name.unwrap_or_else(|| "no protocol".to_owned()),
        )
    };
    let mut out = String::new();
    write_tables(&source, &protocol, &shared.stat(), open, display, &mut out);
    out
}

fn comparison(model: &mut Model, a: usize, b: usize, display: DisplayOptions) -> String {
    let shared = model.shared.clone();
    let store = shared.store();
    let mut stored = |index| {
        store.read(index, &mut model.reader, |decoded, verdict| {
            let stored = StoredMessage::of(decoded, verdict.answer);
            (stored, decoded.protocol.name().to_owned())
        })
    };
    let (Some((a, protocol)), Some((b, other))) = (stored(a), stored(b)) else {
        return String::new();
    };
    let protocols = store.protocols();
    let Some(protocol) = protocols.iter().find(|p| p.name() == protocol) else {
        return String::new();
    };
    if other != protocol.name() {
        return format!(
            "one is a {} message, the other a {other} message",
            protocol.name()
        );
    }
    let (ignore, mut out) = (Ignore::default(), String::new());
    let style = display.style;
    for (which, stored) in [("A", &a), ("B", &b)] {
        let text = format!("{which}: #{} {}", stored.index, stored.what());
        style.push_wire(&mut out, Highlight::Kind, &text);
        out.push('\n');
    }
    let mut compare = Compare::new(*protocol, &ignore, model.reader.parsed.depth());
    let fields = compare.fields(&a, &b, &mut |_, _| false);
    for field in &fields {
        write_field(field, false, display, &mut out);
    }
    if fields.is_empty() {
        out.push_str("all values are equal\n");
    }
    out
}
