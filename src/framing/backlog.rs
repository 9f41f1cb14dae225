//! A buffer of bytes that wait for more: bytes are appended at the end and consumed at the start.
//!
//! ```text
//!   bytes   |--- done with ---|====== waiting ======|
//!   from                      ^
//! ```
//!
//! Consumed bytes are removed when they are at least as many as the waiting bytes. Then each
//! received byte causes at most one move of a byte, for any size of the steps.

/// The capacity that an empty buffer retains.
const MIN_CAPACITY: usize = 64 << 10;

/// Empties a buffer between two messages. It keeps no capacity of a long message: a capture may have many open
/// connections.
pub(super) fn release(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(MIN_CAPACITY);
}

/// Bytes of a stream that are not consumed yet.
#[derive(Default)]
pub(crate) struct Backlog {
    bytes: Vec<u8>,
    start: usize,
    #[cfg(test)]
    moved: usize,
}

impl Backlog {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns all waiting bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Consumes the first `n` bytes.
    pub(crate) fn consume(&mut self, n: usize) {
        self.start += n.min(self.len());
        if self.start < self.len() {
            return;
        }
        #[cfg(test)]
        {
            self.moved += self.len();
        }
        self.bytes.drain(..self.start);
        self.start = 0;
        if self.bytes.capacity() > 4 * self.bytes.len().max(MIN_CAPACITY) {
            self.bytes.shrink_to(MIN_CAPACITY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_bytes_are_pushed_bytes_minus_consumed() {
        let stream: Vec<u8> = (0..200_000u32).map(|n| (n % 251) as u8).collect();
        let mut backlog = Backlog::default();
        let (mut came, mut gone) = (0, 0);
        for (n, piece) in stream.chunks(777).enumerate() {
            backlog.push(piece);
            came += piece.len();
            // A count above the length consumes everything.
            let n = [0, 1, 700, 1500, 1 << 20][n % 5];
            backlog.consume(n);
            gone = (gone + n).min(came);
            assert!(backlog.bytes() == &stream[gone..came]);
            assert_eq!(
                (backlog.len(), backlog.is_empty()),
                (came - gone, came == gone)
            );
        }
    }

    #[test]
    fn small_steps_move_at_most_the_pushed_bytes() {
        let mut backlog = Backlog::default();
        backlog.push(&vec![0; 1 << 20]);
        for _ in 0..200_000 {
            backlog.push(&[0; 20]);
            backlog.consume(20);
        }
        assert!(backlog.moved <= (1 << 20) + 200_000 * 20);
        backlog.consume(backlog.len());
        assert!(backlog.bytes.capacity() <= 4 * MIN_CAPACITY);
    }
}
