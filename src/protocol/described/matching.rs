//! Finds the kind of a message: conditions and paths, prepared for many messages.
//!
//! ```text
//!   .type=request  .arguments.name       the members type and arguments are found in one pass; the rest follows from there
//! ```

use super::description::{Description, MessageKind, Word};
use crate::path::{Path, PathStep};
use crate::protocol::Direction;
use crate::select::{Expr, Key, KeyTest, Operand, Test};
use crate::tape::Node;
use std::cell::RefCell;

/// The maximum number of different first members of all paths.
pub(super) const MAX_FIRST_MEMBERS: usize = 32;

/// The first members of all paths.
#[derive(Debug)]
pub(super) struct Matcher {
    first: Vec<String>,
    /// The number of levels that the paths reach.
    pub levels: u32,
}

thread_local! {
    /// A buffer for values that are compared as JSON.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Matcher {
    pub fn new(description: &Description) -> Self {
        let mut matcher = Self::of(&description.messages);
        for answer in &description.opening.answers {
            matcher.add_condition(&answer.when);
        }
        matcher
    }

    pub fn of(messages: &[MessageKind]) -> Self {
        let mut matcher = Self {
            first: Vec::new(),
            levels: 0,
        };
        for message in messages {
            let conditions = [
                &message.when,
                &message.error,
                &message.last,
                &message.answers,
                &message.ends,
            ];
            for condition in conditions.into_iter().flatten() {
                matcher.add_condition(condition);
            }
            let words = [
                Some(&message.kind),
                message.subject.as_ref(),
                message.name.as_ref(),
            ];
            let words = words.into_iter().flatten().filter_map(|word| match word {
                Word::At(path) => Some(path),
                Word::Text(_) => None,
            });
            let paths = [
                &message.id,
                &message.reply_to,
                &message.content,
                &message.outcome,
                &message.text,
                &message.cancels,
            ];
            for path in paths.into_iter().flatten().chain(words) {
                matcher.add_path(path);
            }
        }
        matcher
    }

    /// Returns the number of different first members.
    pub fn first_members(&self) -> usize {
        self.first.len()
    }

    fn add_path(&mut self, path: &Path) {
        self.levels = self
            .levels
            .max(u32::try_from(path.len()).unwrap_or(u32::MAX));
        if let Some(PathStep::Member(name)) = path.first()
            && !self.first.contains(name)
        {
            self.first.push(name.clone());
        }
    }

    fn add_condition(&mut self, condition: &Expr) {
        let mut compares_containers = false;
        condition.each_test(&mut |test| {
            if let Key::Message(path) = &test.key {
                self.add_path(path);
            }
            compares_containers |= match &test.what {
                KeyTest::Is(list) => list.iter().any(is_container),
                KeyTest::Like(_) => true,
                KeyTest::There | KeyTest::Order(..) => false,
            };
        });
        if compares_containers {
            self.levels = self.levels.saturating_add(1);
        }
    }

    /// Returns the first kind that a message matches; `direction`: `None` if it is not known.
    pub fn find<'m>(
        &self,
        messages: &'m [MessageKind],
        root: Node<'_>,
        direction: Option<Direction>,
    ) -> Option<&'m MessageKind> {
        self.read(root, |found| found.kind(messages, direction))
    }

    /// Finds the first members of a message.
    pub fn read<'n, T>(&self, root: Node<'n>, with: impl FnOnce(&Found<'_, 'n>) -> T) -> T {
        let values = root.get_each::<MAX_FIRST_MEMBERS, _>(&self.first, String::as_str);
        let value = |at| values.get(at);
        with(&Found {
            root,
            first: &self.first,
            value: &value,
        })
    }
}

fn is_container(operand: &Operand) -> bool {
    match operand {
        Operand::Text(text) | Operand::Word(text) => text.starts_with(['[', '{']),
        Operand::Number(_) | Operand::SinceStart(_) | Operand::OfDay(_) => false,
    }
}

/// A message whose first members are found.
pub(super) struct Found<'f, 'n> {
    pub root: Node<'n>,
    first: &'f [String],
    value: &'f dyn Fn(usize) -> Option<Node<'n>>,
}

impl<'n> Found<'_, 'n> {
    /// Returns the value at a path.
    pub fn at(&self, path: &Path) -> Option<Node<'n>> {
        let Some((first, rest)) = path.split_first() else {
            return Some(self.root);
        };
        let first = match first {
            PathStep::Element(n) => self.root.at(*n)?,
            PathStep::Member(name) => (self.value)(self.first.iter().position(|one| one == name)?)?,
        };
        rest.iter().try_fold(first, |node, step| match step {
            PathStep::Member(name) => node.get(name),
            PathStep::Element(n) => node.at(*n),
        })
    }

    /// Returns the first kind that the message matches.
    pub fn kind<'m>(
        &self,
        messages: &'m [MessageKind],
        direction: Option<Direction>,
    ) -> Option<&'m MessageKind> {
        messages.iter().find(|one| {
            let when = one.when.as_ref();
            when.is_none_or(|when| self.holds(when, direction))
        })
    }

    /// Returns true if a condition holds. Without a direction, both directions are possible.
    pub fn holds(&self, condition: &Expr, direction: Option<Direction>) -> bool {
        match condition {
            Expr::All(parts) => parts.iter().all(|part| self.holds(part, direction)),
            Expr::Any(parts) => parts.iter().any(|part| self.holds(part, direction)),
            Expr::Not(part) => match &**part {
                Expr::Test(Test { key: Key::Dir, .. }) if direction.is_none() => true,
                part => !self.holds(part, direction),
            },
            Expr::Test(Test { key, what }) => match key {
                Key::Message(path) => self.at(path).is_some_and(|node| fits(what, node)),
                _ => direction.is_none_or(|direction| is_direction(what, direction)),
            },
        }
    }
}

/// Compares a value. Most are compared with words.
fn fits(what: &KeyTest, node: Node<'_>) -> bool {
    if let (KeyTest::Is(list), true) = (what, node.is_string()) {
        return list.iter().any(|operand| match operand {
            Operand::Text(text) | Operand::Word(text) => node.is_text(text),
            Operand::Number(_) | Operand::SinceStart(_) | Operand::OfDay(_) => false,
        });
    }
    SCRATCH.with_borrow_mut(|scratch| what.fits(node, scratch))
}

fn is_direction(what: &KeyTest, direction: Direction) -> bool {
    match what {
        KeyTest::Is(list) => list
            .iter()
            .any(|one| matches!(one, Operand::Text(name) if name == direction.name())),
        _ => true,
    }
}
