//! The [`Wire`] of a frame: the reverse of [`super::write()`]. Each framing describes its own frames.

use super::{Frame, Framing, Head, Wire, http, lines, method, prefix, websocket};

impl Wire {
    /// What the bytes of a frame say, whose message begins `header` bytes into its body. Whether it is all there is to
    /// it, writing tells.
    pub(crate) fn of(frame: &Frame<'_>, header: usize, raw: &[u8]) -> Self {
        let body = frame.view.body();
        let mut wire = Self {
            header: body.get(..header).unwrap_or_default().to_vec(),
            ..Self::default()
        };
        match (frame.framing, frame.head) {
            (Framing::Lines, _) => lines::describe(raw, body, &mut wire),
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

    /// Says where frames stand inside this one, from their places in its bytes; whether each is between two fragments.
    pub(crate) fn place(&mut self, raw: &[u8], between: &[usize]) -> bool {
        if between.is_empty() {
            return true;
        }
        let ends = websocket::ends(raw);
        let places = between.iter().map(|at| match at {
            0 => Some(0),
            at => ends.iter().position(|end| end == at).map(|n| n + 1),
        });
        self.between = places.map_while(|place| place).collect();
        self.between.len() == between.len()
    }

    /// Fills in what was left open and what depends on who sends: clients mask, and ask; servers answer.
    pub(crate) fn fill(&mut self, framing: Framing, body: &[u8], from_client: bool, mask: [u8; 4]) {
        match framing {
            Framing::WebSocket if from_client => {
                self.mask.get_or_insert_with(|| vec![mask]);
            }
            Framing::Http if !from_client && self.head.is_none() && self.event.is_none() => {
                let len = self.header.len() + body.len();
                self.head = Some(http::response(len, self.chunks.is_some()));
            }
            _ => {}
        }
    }
}
