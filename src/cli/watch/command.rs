//! The commands of a user, and the overlays that show their results.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    Messages,
    Tree,
    Bytes,
    State,
}

impl Pane {
    pub const ALL: [Self; 4] = [Self::Messages, Self::Tree, Self::Bytes, Self::State];

    /// Returns the pane `by` panes later.
    pub fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|pane| *pane == self);
        let at = (at.unwrap_or_default() + by) % Self::ALL.len();
        Self::ALL.get(at).copied().unwrap_or(self)
    }
}

/// The command of a key or of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Move down by lines; up, if negative.
    Move(isize),
    /// Move down by pages; up, if negative.
    Page(isize),
    First,
    Last,
    NextPane,
    PreviousPane,
    /// Go from messages to the tree.
    Open,
    /// Leave, in this order: the overlay, the pane, the condition.
    Back,
    Quit,
    Help,
    Prompt,
    Match {
        forward: bool,
    },
    Finding {
        forward: bool,
    },
    OtherOfPair,
    OpenOnly,
    OneConnection,
    /// Only the messages of one operation.
    OneOperation,
    /// The messages as a tree of operations, or in their order.
    Operations,
    Delta,
    /// Lines of stderr between the messages, or no longer.
    Stderr,
    /// Continue long lines of the tree on the next row, or cut them.
    Wrap,
    /// Show only the pane with the focus, or all.
    Zoom,
    /// Scroll sideways.
    Scroll {
        right: bool,
    },
    Stats,
    Compare,
    Copy,
    CopyAs(CopyForm),
    Save,
    /// Edit the message, and send it once more.
    Edit,
    Pause,
    /// Fold a request and its answers; in the tree, an operation.
    FoldPair,
    FoldConnection,
    /// Select this row of the messages.
    Row(usize),
    /// Select this line of a pane on the screen.
    Line(Pane, usize),
}

/// The form of a copied message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyForm {
    Hex,
    Json,
    Send,
    Encode,
}

/// The overlay over the panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Overlay {
    Help,
    Stats,
    /// The forms of a copy.
    Copy,
    /// Two messages to compare.
    Compare(usize, usize),
}
