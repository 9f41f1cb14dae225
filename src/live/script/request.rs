//! A request as a rule describes it: a message, and the values in it that may differ.
//!
//! ```text
//!   request = { json = '{"id":4,"method":"f","token":"t"}', generated = ["id"], secret = ["token"] }
//! ```

use super::value::with_json;
use crate::decoder::Decoded;
use crate::diff::{Compare, Ignore, StoredMessage};
use crate::encoding::{Parsed, Want};
use crate::framing::{Frame, Framing, Head, Limits, Places, View};
use crate::path::{Path, PathStep};
use crate::protocol::{
    Context, Direction, MessageForm, Notes, Origin, Protocol, WriteOptions, annotate,
};
use crate::span::Span;
use crate::tape::Node;
use std::collections::HashSet;
use std::sync::Arc;

/// A request that a rule answers. A message matches if it has the same values, except those that may differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestPattern {
    /// The message, as `decode -f json` shows it.
    pub message: Box<str>,
    /// What requests of one kind share.
    pub form: Arc<RequestForm>,
}

/// How a request is written, and the values in it that may differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestForm {
    /// Its kind and subject, if the message does not show them.
    pub kind: Option<(String, Option<String>)>,
    /// It is written as `MessagePack`, if the protocol has several forms.
    pub packed: bool,
    /// The paths of values that every run generates: any text, bytes or number matches.
    pub generated: Vec<Path>,
    /// The paths of secrets: any value matches.
    pub secret: Vec<Path>,
}

/// The forms of requests, each stored once.
#[derive(Default)]
pub struct SharedForms(HashSet<Arc<RequestForm>>);

impl SharedForms {
    /// The maximum number of forms. A form that differs in every request is not worth sharing.
    const MAX: usize = 1 << 12;

    fn share(&mut self, form: RequestForm) -> Arc<RequestForm> {
        if let Some(known) = self.0.get(&form) {
            return Arc::clone(known);
        }
        let form = Arc::new(form);
        if self.0.len() < Self::MAX {
            self.0.insert(Arc::clone(&form));
        }
        form
    }
}

impl RequestPattern {
    /// Makes the pattern of a recorded request, given its JSON and the paths of values that every run generates. The
    /// error is the reason why it cannot be written.
    pub fn of(
        decoded: &Decoded<'_>,
        message: String,
        generated: &HashSet<&Path>,
        forms: &mut SharedForms,
    ) -> Result<Self, String> {
        let (protocol, framing) = (decoded.protocol, decoded.frame.framing);
        let stored = StoredMessage::of(decoded, None);
        // A header without a body has no message.
        let message = match message.as_str() {
            "" => "null".into(),
            _ => message.into_boxed_str(),
        };
        let mut form = RequestForm::default();
        let direction = decoded.origin.direction;
        let ignore = Ignore::new([]);
        let mut compare = Compare::new(protocol, &ignore, Limits::default().depth);
        // JSON writes some values of MessagePack as other values.
        let packed = [false, true].into_iter().find(|packed| {
            form.packed = *packed;
            let again = form.stored(&message, protocol, framing, direction);
            again.is_ok_and(|again| {
                let fields = compare.fields(&stored, &again, &mut |_, _| false);
                fields.is_empty()
            })
        });
        form.packed = packed.unwrap_or_default();
        drop(compare);
        let again = form.stored(&message, protocol, framing, direction);
        let is_equal = again.is_ok_and(|again| {
            (again.kind, again.subject) == (stored.kind.clone(), stored.subject.clone())
        });
        if !is_equal {
            let subject = stored.subject.as_deref().map(str::to_owned);
            form.kind = Some((stored.kind.to_string(), subject));
            form.stored(&message, protocol, framing, direction)?;
        }
        let mut parsed = Parsed::new(Want::Places, Limits::default().depth);
        let view = stored.view();
        stored.read(protocol, &mut parsed, |message| {
            let Some(root) = message.value.and_then(|parsed| parsed.root(view.bytes)) else {
                return;
            };
            let mut notes = Notes::default();
            annotate(protocol, root, message, &mut notes);
            visit(root, &mut Path::new(), &mut |node, path| {
                if notes.hides(node) {
                    form.secret.push(path.clone());
                }
                if generated.contains(path) {
                    form.generated.push(path.clone());
                }
            });
        });
        let form = forms.share(form);
        Ok(Self { message, form })
    }

    /// Returns the message as if it had been received in this direction and framing.
    pub fn stored(
        &self,
        protocol: &dyn Protocol,
        framing: Framing,
        direction: Option<Direction>,
    ) -> Result<StoredMessage, String> {
        self.form
            .stored(&self.message, protocol, framing, direction)
    }
}

impl RequestForm {
    fn stored(
        &self,
        message: &str,
        protocol: &dyn Protocol,
        framing: Framing,
        direction: Option<Direction>,
    ) -> Result<StoredMessage, String> {
        // A kind that the message does not show is in a header of three letters before it.
        let kind = self.kind.as_ref().map(|(kind, _)| kind.as_bytes());
        let form = match kind.and_then(|kind| <[u8; 3]>::try_from(kind).ok()) {
            Some(kind) => MessageForm::Header {
                version: 1,
                kind,
                packed: self.packed,
            },
            None if self.packed => protocol.descriptor().packed_form(),
            None => MessageForm::Json,
        };
        let options = WriteOptions {
            force: true,
            direction,
            form,
        };
        let look = |decoded: &Decoded<'_>| StoredMessage::of(decoded, None);
        let mut stored = with_message(protocol, message, framing, &options, look)?;
        if let Some((kind, subject)) = &self.kind {
            stored.kind = kind.as_str().into();
            stored.subject = subject.as_deref().map(Into::into);
        }
        Ok(stored)
    }
}

/// Writes a message and passes it on as the decoder would. The error is the reason why it cannot be written.
fn with_message<T>(
    protocol: &dyn Protocol,
    message: &str,
    framing: Framing,
    options: &WriteOptions,
    look: impl FnOnce(&Decoded<'_>) -> T,
) -> Result<T, String> {
    let direction = options.direction;
    let mut body = Vec::new();
    let written = with_json(message, |root| protocol.write(root, options, &mut body))?;
    let written = written.map_err(|refusal| refusal.to_string())?;
    let head = match written.head.method_id {
        Some(id) => Head::Method {
            length: u32::try_from(body.len()).unwrap_or(u32::MAX),
            id,
            mode: written.head.length_mode,
        },
        None => Head::None,
    };
    let view = View {
        bytes: &body,
        body: Span::new(written.head.header_len, body.len()),
        places: Places::Run(0),
    };
    let frame = Frame {
        offset: 0,
        len: body.len() as u64,
        framing,
        head,
        view,
        control: None,
        fault: None,
    };
    let mut parsed = Parsed::new(Want::Places, Limits::default().depth);
    let context = Context {
        direction,
        ..Context::default()
    };
    let read = protocol.read(&frame, &context, &mut parsed);
    let decoded = Decoded {
        index: 0,
        origin: Origin {
            direction,
            ..Origin::default()
        },
        protocol,
        frame: &frame,
        message: &read,
        next: 0,
        remarks: &[],
        injected: None,
        raw: None,
    };
    Ok(look(&decoded))
}

/// Visits every value with its path.
fn visit<'a>(node: Node<'a>, path: &mut Path, look: &mut dyn FnMut(Node<'a>, &Path)) {
    look(node, path);
    if node.is_map() {
        for (key, value) in node.members() {
            path.push(PathStep::Member(
                key.text().unwrap_or_default().into_owned(),
            ));
            visit(value, path, look);
            path.pop();
        }
    } else if node.is_array() {
        for (n, item) in node.children().enumerate() {
            path.push(PathStep::Element(n));
            visit(item, path, look);
            path.pop();
        }
    }
}
