//! Where a handler shows text: a thread of its own, so that nothing else waits for who reads it.

use super::connection::Common;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Shows text. That nobody reads any more ([`io::ErrorKind::BrokenPipe`]) ends the run in silence; another error is told.
pub type Screen = Box<dyn FnMut(&str) -> io::Result<()> + Send>;

#[derive(Default)]
struct State {
    waiting: AtomicUsize,
    /// How showing came to its end, where it did.
    ended: Mutex<Option<io::Result<()>>>,
    done: Notify,
}

/// The way to the screen.
pub(super) struct ScreenWriter {
    texts: Option<Sender<String>>,
    state: Arc<State>,
}

impl ScreenWriter {
    pub(super) fn new(mut screen: Screen, common: &Arc<Common>) -> io::Result<Self> {
        let (texts, shown) = channel::<String>();
        let state = Arc::<State>::default();
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
                common.room.notify_one();
            }
            let mut slot = shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
            *slot = Some(ended);
            drop(slot);
            shared.done.notify_one();
            common.room.notify_one();
        })?;
        Ok(Self {
            texts: Some(texts),
            state,
        })
    }

    pub(super) fn show(&self, text: String) {
        self.state.waiting.fetch_add(text.len(), Ordering::Relaxed);
        if let Some(texts) = &self.texts {
            // Nobody takes it where showing has failed, which is known then.
            let _ = texts.send(text);
        }
    }

    /// Bytes that wait to be shown.
    pub(super) fn waiting(&self) -> usize {
        if self.is_closed() {
            return 0;
        }
        self.state.waiting.load(Ordering::Relaxed)
    }

    /// Whether nothing can be shown any more.
    pub(super) fn is_closed(&self) -> bool {
        let ended = self.state.ended.lock();
        ended.unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Waits until everything is shown, or cannot be.
    pub(super) async fn finish(&mut self) {
        self.texts = None;
        while !self.is_closed() {
            self.state.done.notified().await;
        }
    }

    /// Why something could not be shown, apart from nobody's reading it.
    pub(super) fn trouble(self) -> Option<io::Error> {
        let mut ended = self.state.ended.lock();
        let ended = ended.as_deref_mut().ok()?.take()?;
        ended
            .err()
            .filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }
}
