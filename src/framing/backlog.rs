//! Bytes that wait for more of them: they come at one end and are done with at the other.
//!
//! ```text
//!   bytes   |--- done with ---|====== waiting ======|
//!   from                      ^
//! ```
//!
//! What is done with is let go when it is as much as what waits: then each byte is moved once at most for every byte that
//! came, however small the steps are in which they come and go.

/// Room that is kept though nothing is in it.
const KEPT: usize = 64 << 10;

/// Bytes of a stream that nobody is done with.
#[derive(Default)]
pub(crate) struct Backlog {
    bytes: Vec<u8>,
    from: usize,
    #[cfg(test)]
    moved: usize,
}

impl Backlog {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// All that wait.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.from..).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.from
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first so many are done with.
    pub(crate) fn done(&mut self, n: usize) {
        self.from += n.min(self.len());
        if self.from < self.len() {
            return;
        }
        #[cfg(test)]
        {
            self.moved += self.len();
        }
        self.bytes.drain(..self.from);
        self.from = 0;
        if self.bytes.capacity() > 4 * self.bytes.len().max(KEPT) {
            self.bytes.shrink_to(KEPT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_what_came_without_what_is_done_with() {
        let stream: Vec<u8> = (0..200_000u32).map(|n| (n % 251) as u8).collect();
        let mut backlog = Backlog::default();
        let (mut came, mut gone) = (0, 0);
        for (n, piece) in stream.chunks(777).enumerate() {
            backlog.push(piece);
            came += piece.len();
            // More than there is of it is all of it.
            let n = [0, 1, 700, 1500, 1 << 20][n % 5];
            backlog.done(n);
            gone = (gone + n).min(came);
            assert!(backlog.bytes() == &stream[gone..came]);
            assert_eq!(
                (backlog.len(), backlog.is_empty()),
                (came - gone, came == gone)
            );
        }
    }

    #[test]
    fn small_steps_move_no_more_than_comes() {
        let mut backlog = Backlog::default();
        backlog.push(&vec![0; 1 << 20]);
        for _ in 0..200_000 {
            backlog.push(&[0; 20]);
            backlog.done(20);
        }
        assert!(backlog.moved <= (1 << 20) + 200_000 * 20);
        backlog.done(backlog.len());
        assert!(backlog.bytes.capacity() <= 4 * KEPT);
    }
}
