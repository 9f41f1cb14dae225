//! The screen of a handler: a thread that writes text, so that a slow reader blocks nothing else.

use super::connection::Common;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Writes text. [`io::ErrorKind::BrokenPipe`] ends the run silently; another error is reported.
pub type TextScreen = Box<dyn FnMut(&str) -> io::Result<()> + Send>;

#[derive(Default)]
struct ScreenState {
    waiting: AtomicUsize,
    /// The error that ended the writing.
    ended: Mutex<Option<io::Result<()>>>,
    done: Notify,
}

/// The sender side of the screen thread.
pub(super) struct ScreenWriter {
    texts: Option<Sender<String>>,
    state: Arc<ScreenState>,
}

impl ScreenWriter {
    pub(super) fn new(mut screen: TextScreen, common: &Arc<Common>) -> io::Result<Self> {
        let (texts, shown) = channel::<String>();
        let state = Arc::<ScreenState>::default();
        let (common, shared) = (Arc::clone(common), Arc::clone(&state));
        let thread = std::thread::Builder::new().name("screen".into());
        thread.spawn(move || {
            let mut ended = Ok(());
            for text in shown {
                ended = screen(&text);
                if ended.is_err() {
                    break;
                }
                shared.waiting.fetch_sub(text.len(), Ordering::Relaxed);
                common.space_freed.notify_one();
            }
            let mut slot = shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
            *slot = Some(ended);
            drop(slot);
            shared.done.notify_one();
            common.space_freed.notify_one();
        })?;
        Ok(Self {
            texts: Some(texts),
            state,
        })
    }

    pub(super) fn show(&self, text: String) {
        self.state.waiting.fetch_add(text.len(), Ordering::Relaxed);
        if let Some(texts) = &self.texts {
            // Fails only after a write has failed, which is reported separately.
            let _ = texts.send(text);
        }
    }

    /// Number of bytes that wait to be written.
    pub(super) fn waiting(&self) -> usize {
        if self.is_closed() {
            return 0;
        }
        self.state.waiting.load(Ordering::Relaxed)
    }

    /// Returns `true` if nothing more can be written.
    pub(super) fn is_closed(&self) -> bool {
        let ended = self.state.ended.lock();
        ended.unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Waits until everything is written or cannot be written.
    pub(super) async fn finish(&mut self) {
        self.texts = None;
        while !self.is_closed() {
            self.state.done.notified().await;
        }
    }

    /// The error that ended the writing, unless the reader has closed.
    pub(super) fn error(self) -> Option<io::Error> {
        let mut ended = self.state.ended.lock();
        let ended = ended.as_deref_mut().ok()?.take()?;
        ended
            .err()
            .filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }
}
