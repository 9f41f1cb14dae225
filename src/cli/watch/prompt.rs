//! The line for a condition.

/// The text of the prompt, with its cursor at the end, and completions.
#[derive(Clone, Debug, Default)]
pub(super) struct Prompt {
    pub text: String,
    /// The error of the last attempt, with a caret.
    pub error: Option<String>,
    /// Completions, and the one that is in the text.
    completions: Vec<String>,
    chosen: usize,
}

impl Prompt {
    /// Replaces the text.
    pub fn set(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.changed();
    }

    pub fn push(&mut self, c: char) {
        // Control characters have no place on the line.
        if !c.is_control() {
            self.text.push(c);
        }
        self.changed();
    }

    pub fn backspace(&mut self) {
        self.text.pop();
        self.changed();
    }

    /// Removes the last word.
    pub fn remove_word(&mut self) {
        let kept = self.text.trim_end();
        let end = kept.rfind(' ').map_or(0, |at| at + 1);
        self.text.truncate(end);
        self.changed();
    }

    fn changed(&mut self) {
        self.error = None;
        self.completions.clear();
    }

    /// Replaces the text by the next completion; `find` returns all of them for a text.
    pub fn complete(&mut self, find: impl FnOnce(&str) -> Vec<String>) {
        if self.completions.is_empty() {
            self.completions = find(&self.text);
            self.chosen = 0;
        } else {
            self.chosen = (self.chosen + 1) % self.completions.len();
        }
        if let Some(text) = self.completions.get(self.chosen) {
            self.text.clone_from(text);
        }
    }

    /// Returns the completions, the chosen one first.
    pub fn completions(&self) -> impl Iterator<Item = &str> {
        let chosen = self.chosen.min(self.completions.len());
        let (before, after) = self.completions.split_at(chosen);
        after.iter().chain(before).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_follow_one_another_until_the_text_changes() {
        let mut prompt = Prompt::default();
        prompt.set("ki");
        let find = |_: &str| vec!["kind".to_owned(), "kite".to_owned()];
        for wanted in ["kind", "kite", "kind"] {
            prompt.complete(find);
            assert_eq!(prompt.text, wanted);
        }
        prompt.push('=');
        assert_eq!(prompt.completions().count(), 0);
        prompt.push('\u{1b}');
        prompt.text.push_str("a b");
        prompt.remove_word();
        assert_eq!(prompt.text, "kind=a ");
        prompt.backspace();
        prompt.set("");
        assert_eq!(prompt.text, "");
    }
}
