//! Documents: their versions, and positions in their text (LSP 3.17, "Text Document Synchronization", "Position").

use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rule_names::lsp as rule;
use crate::protocol::session::stored::stored;
use crate::protocol::session::text::short;
use crate::protocol::session::{Severity, broken};
use crate::protocol::{Direction, Role};
use crate::tape::Node;
use foldhash::HashMap;

/// The largest number of open documents.
const MAX_DOCUMENTS: usize = 1 << 8;
/// The largest text that is stored, in bytes. Positions in longer ones are not checked.
const MAX_TEXT: usize = 1 << 18;

/// A document is opened without its text if the others of its connection have this number of bytes.
const MAX_TEXTS: usize = 1 << 24;

/// The unit in which characters of a line are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unit {
    Utf8,
    #[default]
    Utf16,
    Utf32,
}

impl Unit {
    const ALL: [Self; 3] = [Self::Utf8, Self::Utf16, Self::Utf32];

    const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    fn length(self, line: &str) -> usize {
        line.chars().map(|c| self.width(c)).sum()
    }
}

/// An open document.
struct Document {
    unit: Unit,
    version: Option<i128>,
    /// `None` if it is too long, or a change could not be applied.
    text: Option<String>,
}

/// The open documents of a connection.
#[derive(Default)]
pub(super) struct Documents {
    open: HashMap<Box<str>, Document>,
    unit: Unit,
    /// The way in which the server wants changes, if it is known.
    sync: Option<SyncKind>,
    /// A change of the whole text was reported, where the server wants ranges.
    is_whole_reported: bool,
    /// Documents may be open without being known.
    incomplete: bool,
}

/// The way in which a server wants changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyncKind {
    Full,
    Incremental,
}

impl SyncKind {
    /// Returns what the capabilities of the server say (`TextDocumentSyncKind`).
    fn of(capabilities: Node<'_>) -> Option<Self> {
        let sync = capabilities.get("textDocumentSync")?;
        match sync.get("change").unwrap_or(sync).as_i128()? {
            1 => Some(Self::Full),
            2 => Some(Self::Incremental),
            _ => None,
        }
    }
}

impl Documents {
    /// Reads the position encoding from the server's capabilities.
    pub(super) fn initialize(&mut self, capabilities: Option<Node<'_>>) {
        let named = capabilities.and_then(|all| all.get("positionEncoding")?.text());
        let unit = Unit::ALL
            .into_iter()
            .find(|unit| Some(unit.name()) == named.as_deref());
        self.unit = unit.unwrap_or_default();
        self.sync = capabilities.and_then(SyncKind::of);
    }

    /// Handles a method that the server registers: it may be for some documents only.
    pub(super) fn register(&mut self, method: &str) {
        if method == "textDocument/didChange" {
            self.sync = None;
        }
    }

    /// Documents may be open without being known.
    pub(super) fn forget(&mut self) {
        self.open.clear();
        self.incomplete = true;
    }

    /// Opens a document.
    fn open(&mut self, document: Option<Node<'_>>) {
        let Some(uri) = document.and_then(|document| document.get("uri")?.text()) else {
            return;
        };
        if self.open.len() >= MAX_DOCUMENTS {
            self.forget();
        }
        let text = document.and_then(|d| d.get("text")?.text());
        let others = self
            .open
            .values()
            .filter_map(|d| Some(d.text.as_ref()?.len()));
        let space = MAX_TEXTS.saturating_sub(others.sum()).min(MAX_TEXT);
        let text = text.filter(|text| text.len() <= space);
        let version = document.and_then(|d| d.get("version"));
        let opened = Document {
            unit: self.unit,
            version: version.and_then(Node::as_i128),
            text: text.map(std::borrow::Cow::into_owned),
        };
        self.open.insert(stored(&uri).as_ref().into(), opened);
    }

    /// Opens and closes the texts of the cells of a notebook, and changes them.
    fn check_notebook(&mut self, message: &RpcMessage<'_, '_>) {
        let each = |list: Option<Node<'_>>, visit: &mut dyn FnMut(Node<'_>)| {
            let list = list.filter(|list| list.is_array());
            list.into_iter().flat_map(Node::children).for_each(visit);
        };
        let all = message.param("cellTextDocuments");
        let cells = message
            .param("change")
            .and_then(|change| change.get("cells"));
        let structure = cells.and_then(|cells| cells.get("structure"));
        let of_structure = |name: &str| structure.and_then(|structure| structure.get(name));
        let [opened, closed] = if message.is("notebookDocument/didOpen") {
            [all, None]
        } else if message.is("notebookDocument/didClose") {
            [None, all]
        } else {
            ["didOpen", "didClose"].map(of_structure)
        };
        each(opened, &mut |document| self.open(Some(document)));
        each(closed, &mut |document| {
            let uri = document.get("uri").and_then(Node::text);
            uri.map(|uri| self.open.remove(stored(&uri).as_ref()));
        });
        let texts = cells.and_then(|cells| cells.get("textContent"));
        each(texts, &mut |changed| {
            let document = changed.get("document");
            let uri = document.and_then(|document| document.get("uri")?.text());
            let Some(known) = uri.and_then(|uri| self.open.get_mut(stored(&uri).as_ref())) else {
                return;
            };
            let version = document.and_then(|document| document.get("version")?.as_i128());
            known.version = version.or(known.version);
            each(changed.get("changes"), &mut |change| known.apply(change));
        });
    }

    /// Reports changes of another kind than the server wants.
    fn check_sync(&mut self, message: &RpcMessage<'_, '_>) {
        let changes = message.param("contentChanges");
        let changes = changes.filter(|changes| changes.is_array());
        for change in changes.into_iter().flat_map(Node::children) {
            let range = change.get("range").filter(|range| !range.is_null());
            match (self.sync, range) {
                (Some(SyncKind::Full), Some(range)) => {
                    return broken!(message, rule::CHANGE_KIND, message.at(range);
                        "the change has a range, but the server announced that it wants the whole text");
                }
                (Some(SyncKind::Incremental), None)
                    if !std::mem::replace(&mut self.is_whole_reported, true) =>
                {
                    broken!(message, rule::CHANGE_KIND, message.at(change);
                        "the change has no range, although the server announced that it wants only what changed");
                    message.report().at_most(Severity::Info);
                }
                _ => {}
            }
        }
    }

    /// Handles a request or a notification of the client.
    pub(super) fn check(&mut self, message: &RpcMessage<'_, '_>) {
        if message.requester() == Direction::ToServer && message.param("notebookDocument").is_some()
        {
            return self.check_notebook(message);
        }
        let document = message.param("textDocument");
        let Some((node, uri)) = document.and_then(|d| Some((d.get("uri")?, d.get("uri")?.text()?)))
        else {
            return;
        };
        if message.requester() != Direction::ToServer {
            return;
        }
        let (seen, uri) = (message.seen, stored(&uri));
        if message.is("textDocument/didChange") {
            self.check_sync(message);
        }
        let version = document.and_then(|d| d.get("version"));
        if message.is("textDocument/didOpen") {
            if self.open.contains_key(uri.as_ref()) {
                broken!(message, rule::DOCUMENT_OPENED_TWICE, seen.at(node);
                    "{} is opened again, but it is still open", short(&uri));
            }
            self.open(document);
            return;
        }
        let Some(known) = self.open.get_mut(uri.as_ref()) else {
            let syncs = message.role == Role::Notification;
            if !self.incomplete {
                let rules = [rule::REQUEST_NOT_OPEN, rule::DOCUMENT_NOT_OPEN];
                broken!(seen, rules[usize::from(syncs)], seen.at(node);
                    "{} is sent for {}, which is not open", message.short_name(), short(&uri));
            }
            return;
        };
        if message.is("textDocument/didClose") {
            self.open.remove(uri.as_ref());
        } else if message.is("textDocument/didChange") {
            let number = version.and_then(Node::as_i128);
            if let (Some(old), Some(new), Some(node)) = (known.version, number, version)
                && new <= old
            {
                broken!(message, rule::DOCUMENT_VERSION, seen.at(node);
                    "the version is {new}, but it was {old} before; it should be higher");
            }
            known.version = number.or(known.version);
            let changes = message
                .param("contentChanges")
                .into_iter()
                .flat_map(Node::children);
            for change in changes {
                known.check_range(change.get("range"), message);
                known.apply(change);
            }
        } else {
            known.check_position(message.param("position"), message);
            known.check_range(message.param("range"), message);
        }
    }
}

impl Document {
    /// Applies a change: to a range, or of the whole text.
    fn apply(&mut self, change: Node<'_>) {
        let new = change.get("text").and_then(Node::text);
        let (Some(text), Some(new)) = (self.text.as_mut(), new) else {
            self.text = None;
            return;
        };
        let range = change.get("range").filter(|range| !range.is_null());
        let Some(range) = range else {
            self.text = (new.len() <= MAX_TEXT).then(|| new.into_owned());
            return;
        };
        let at = |end: &str| {
            range
                .get(end)
                .and_then(|position| offset(text, position, self.unit))
        };
        let (start, end) = (at("start"), at("end"));
        match start.zip(end).filter(|(start, end)| start <= end) {
            Some((start, end)) if text.len() + new.len() <= MAX_TEXT => {
                text.replace_range(start..end, &new);
            }
            _ => self.text = None,
        }
    }

    /// Checks both ends of a range.
    fn check_range(&self, range: Option<Node<'_>>, message: &RpcMessage<'_, '_>) {
        let ends = range.and_then(|range| Some((range.get("start")?, range.get("end")?)));
        let Some((start, end)) = ends else {
            return;
        };
        if let (Some(from), Some(to)) = (parts(start), parts(end))
            && from > to
        {
            broken!(message, rule::RANGE, message.at(end);
                "the end of the range is before its start");
        }
        self.check_position(Some(start), message);
        // An end after the last line is usual for a whole document.
        let is_inside = |(number, _)| Some(line(self.text.as_ref()?, number).is_some());
        if parts(end).and_then(is_inside) == Some(true) {
            self.check_position(Some(end), message);
        }
    }

    /// Checks that a position is in the text of its document.
    fn check_position(&self, position: Option<Node<'_>>, message: &RpcMessage<'_, '_>) {
        let (Some(text), Some(position)) = (&self.text, position) else {
            return;
        };
        let Some((number, character)) = parts(position) else {
            return;
        };
        let place = message.at(position);
        let Some((line, _)) = line(text, number) else {
            return broken!(message, rule::POSITION, place;
                "the position is in line {number}, which is past the last line of the document");
        };
        let length = self.unit.length(line);
        if character <= length {
            return;
        }
        let unit = self.unit.name();
        let mut units = Unit::ALL.into_iter();
        let fits = units.find(|other| character <= other.length(line));
        let hint = fits.map_or(String::new(), |fits| {
            let fits = fits.name();
            format!("; in {fits} units it would be inside: the position encoding may be wrong")
        });
        let characters = if length == 1 {
            "character"
        } else {
            "characters"
        };
        broken!(message, rule::POSITION, place;
            "the position is character {character} of line {number}, but that line has only \
            {length} {characters}, counted in {unit} units{hint}");
        // The specification moves it to the end of the line.
        if fits.is_none() {
            message.report().at_most(Severity::Info);
        }
    }
}

/// Returns line and character of a position.
pub(super) fn parts(position: Node<'_>) -> Option<(usize, usize)> {
    let number = |name| usize::try_from(position.get(name)?.as_i128()?).ok();
    Some((number("line")?, number("character")?))
}

/// Returns a line of a text, without its end, and its byte offset.
fn line(text: &str, number: usize) -> Option<(&str, usize)> {
    let mut at = 0;
    // A line ends with CR LF, LF or CR; an empty line follows the last end.
    for _ in 0..number {
        let rest = text.get(at..)?;
        let end = rest.find(['\r', '\n'])?;
        let cr_lf = rest.get(end..).is_some_and(|end| end.starts_with("\r\n"));
        at += end + if cr_lf { 2 } else { 1 };
    }
    let rest = text.get(at..)?;
    let end = rest.find(['\r', '\n']).unwrap_or(rest.len());
    Some((rest.get(..end)?, at))
}

/// Returns the byte offset of a position. A character past the end of its line is the end of the line.
fn offset(text: &str, position: Node<'_>, unit: Unit) -> Option<usize> {
    let (number, character) = parts(position)?;
    let Some((line, start)) = line(text, number) else {
        return Some(text.len());
    };
    let mut counted = 0;
    for (at, c) in line.char_indices() {
        if counted >= character {
            return Some(start + at);
        }
        counted += unit.width(c);
    }
    Some(start + line.len())
}

#[cfg(test)]
mod tests {
    use super::{Unit, line};

    #[test]
    fn lines_end_with_any_line_end() {
        let text = "a\r\n\rbc\n";
        let lines = [Some("a"), Some(""), Some("bc"), Some(""), None];
        for (number, want) in lines.into_iter().enumerate() {
            assert_eq!(line(text, number).map(|(line, _)| line), want, "{number}");
        }
    }

    #[test]
    fn characters_are_counted_in_the_unit() {
        let lengths = Unit::ALL.map(|unit| (unit.name(), unit.length("aä𝄞")));
        assert_eq!(lengths, [("utf-8", 7), ("utf-16", 4), ("utf-32", 3)]);
    }
}
