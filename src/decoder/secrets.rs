//! Replaces the secrets of a message in texts about it.

use super::Decoded;
use crate::encoding::lossless;
use crate::protocol::{Notes, hide};
use std::borrow::Cow;

impl Decoded<'_> {
    /// Replaces the secrets of this message in texts about it.
    pub fn hide_secrets(&self, texts: &mut dyn Iterator<Item = &mut String>) {
        let mut notes = Notes::default();
        self.annotate(&mut notes);
        let Some(root) = self.root() else {
            return;
        };
        let mut secrets = Vec::new();
        root.each(&mut |node| {
            let parts = notes.secret_parts(node).iter();
            let text = node.text().filter(|_| parts.len() > 0);
            if let Some(text) = text {
                secrets.extend(
                    parts.filter_map(|part| text.get(part.range.clone()).map(str::to_owned)),
                );
            }
            let mut json = Vec::new();
            if notes.is_secret(node) && !node.is_map() && !node.is_array() {
                lossless::write(node, &mut json);
                secrets.extend(node.text().map(Cow::into_owned));
                secrets.extend(node.raw_content().map(hex::encode));
                secrets.push(String::from_utf8_lossy(&json).into_owned());
            }
        });
        for text in texts {
            for secret in &secrets {
                hide(secret, text);
            }
        }
    }
}
