//! The formats in which messages are shown.

/// A format of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Every field with its byte range.
    #[default]
    Tree,
    /// One line for each message.
    Line,
    /// One JSON object for each message.
    Json,
    /// Bytes next to their fields.
    Hex,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Tree, Self::Line, Self::Json, Self::Hex];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Line => "line",
            Self::Json => "json",
            Self::Hex => "hex",
        }
    }

    /// Returns the format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}
