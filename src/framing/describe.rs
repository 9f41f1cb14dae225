//! Builds the [`Wire`] of a frame: the reverse of [`super::write()`]. Each framing describes its
//! own frames.

use super::{Frame, Framing, Head, Wire, content_length, http, lines, method, prefix, websocket};

impl Wire {
    /// Describes the bytes of a frame. The message starts `header` bytes into the body. The caller
    /// writes the result to check that it reproduces the frame.
    pub(crate) fn of(frame: &Frame<'_>, header: usize, raw: &[u8]) -> Self {
        let body = frame.view.body();
        let mut wire = Self {
            header: body.get(..header).unwrap_or_default().to_vec(),
            ..Self::default()
        };
        match (frame.framing, frame.head) {
            (Framing::Lines, _) => lines::describe(raw, body, &mut wire),
            (Framing::ContentLength, Head::Length(length)) => {
                content_length::describe(raw, frame.view.body.at(), length, &mut wire);
            }
            (_, Head::Length(length)) => prefix::describe(raw, length, &mut wire),
            (_, Head::Method { length, id, mode }) => {
                method::describe(raw, (length, id), mode, &mut wire);
            }
            (_, Head::WebSocket { .. }) => websocket::describe(raw, &mut wire),
            (_, Head::Http { len, event, .. }) => {
                http::describe(raw, len as usize, event, body, &mut wire);
            }
            _ => {}
        }
        wire
    }

    /// Stores the positions of frames inside this one, from their byte offsets in it. Returns
    /// `true` if each position is between two fragments.
    pub(crate) fn set_between(&mut self, raw: &[u8], between: &[usize]) -> bool {
        if between.is_empty() {
            return true;
        }
        let ends = websocket::ends(raw);
        let positions = between.iter().map(|at| match at {
            0 => Some(0),
            at => ends.iter().position(|end| end == at).map(|n| n + 1),
        });
        self.between = positions.map_while(|place| place).collect();
        self.between.len() == between.len()
    }

    /// Sets the values that are left open and depend on the sender: a client masks and sends
    /// requests, a server sends responses.
    pub(crate) fn fill_defaults(
        &mut self,
        framing: Framing,
        body: &[u8],
        from_client: bool,
        mask: [u8; 4],
    ) {
        match framing {
            Framing::WebSocket if from_client => {
                self.mask.get_or_insert_with(|| vec![mask]);
            }
            Framing::Http if !from_client && self.head.is_none() && self.event.is_none() => {
                let len = self.header.len() + body.len();
                self.head = Some(http::response(len, self));
            }
            _ => {}
        }
    }
}
