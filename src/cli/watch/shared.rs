//! Shared state of the threads of watch: the messages and the statistics.

use super::store::Store;
use crate::stat::Stat;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The messages and the statistics.
#[derive(Clone)]
pub(super) struct Shared {
    store: Arc<Mutex<Store>>,
    stat: Arc<Mutex<Stat>>,
}

impl Shared {
    pub fn new(store: Store) -> Self {
        Self {
            store: Arc::new(Mutex::new(store)),
            stat: Arc::default(),
        }
    }

    /// Locks the messages, for a short time.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the statistics, for a short time.
    pub fn stat(&self) -> MutexGuard<'_, Stat> {
        self.stat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
