//! Finds the fields that describe a message while its fields are read.

use super::schema::HeadFields;
use crate::span::Span;
use crate::tape::{KeyName, Scalar, Shape, Sink};

/// The values of the fields that describe a message.
pub(super) struct HeadValues {
    wanted: HeadFields,
    level: u32,
    /// The field whose value comes next.
    field: Option<u32>,
    /// The text of the name.
    pub name: Option<Span>,
    /// The number of the outcome, its name as an index, and its position.
    pub outcome: Option<(i64, Option<u32>, Span)>,
}

impl HeadValues {
    pub fn new(wanted: HeadFields) -> Self {
        Self {
            wanted,
            level: 0,
            field: None,
            name: None,
            outcome: None,
        }
    }
}

impl Sink for HeadValues {
    #[inline]
    fn scalar(&mut self, at: Span, value: Scalar<'_>) {
        let Some(field) = self.field.take() else {
            return;
        };
        match value {
            Scalar::Str(text) if Some(field) == self.wanted.name && !text.is_empty() => {
                self.name = Some(Span::new(at.end() - text.len(), at.end()));
            }
            Scalar::Name(number, name, _) if Some(field) == self.wanted.outcome => {
                self.outcome = Some((number, Some(name), at));
            }
            Scalar::Int(number) if Some(field) == self.wanted.outcome => {
                self.outcome = Some((number, None, at));
            }
            Scalar::Uint(number) if Some(field) == self.wanted.outcome => {
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                self.outcome = Some((number, None, at));
            }
            _ => {}
        }
    }

    fn open(&mut self, _: usize, _: Shape) {
        self.level += 1;
    }

    fn close(&mut self, _: usize) {
        self.level = self.level.saturating_sub(1);
    }

    #[inline]
    fn label(&mut self, _: usize, id: u32, _: &KeyName) {
        self.field = Some(id).filter(|_| self.level == 1);
    }
}
