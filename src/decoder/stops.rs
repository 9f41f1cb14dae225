//! Sinks that may fail, and so stop the decoder.

use super::{Decoded, Decoder, Origin};

/// Bytes that are decoded at most after a sink failed.
const PART: usize = 64 << 10;

impl Decoder<'_> {
    /// [`Decoder::push`] with a sink that may fail, or stop early by an error of its own. After an error no further message
    /// is given to it, and the rest of the bytes is left.
    pub fn try_push<E>(
        &mut self,
        origin: Origin,
        bytes: &[u8],
        sink: &mut dyn FnMut(&Decoded<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for part in bytes.chunks(PART) {
            stopping(sink, |sink| self.push(origin, part, sink))?;
        }
        Ok(())
    }

    /// [`Decoder::finish`] with a sink that may fail.
    pub fn try_finish<E>(
        &mut self,
        sink: &mut dyn FnMut(&Decoded<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        stopping(sink, |sink| self.finish(sink))
    }

    /// Bytes that no protocol recognises, once all has come.
    pub fn undetected(&self) -> usize {
        self.undetected
    }
}

/// Runs something with a sink that hears nothing more after its first error.
fn stopping<E>(
    sink: &mut dyn FnMut(&Decoded<'_>) -> Result<(), E>,
    run: impl FnOnce(&mut dyn FnMut(&Decoded<'_>)),
) -> Result<(), E> {
    let mut result = Ok(());
    run(&mut |decoded| {
        if result.is_ok() {
            result = sink(decoded);
        }
    });
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::Options;
    use crate::protocol::registry;

    #[test]
    fn a_sink_that_fails_stops_the_decoder() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}\n";
        let bytes = line.repeat(10_000);
        let mut decoder = Decoder::new(Options::new(registry::all().to_vec()));
        let mut seen = 0;
        let result = decoder.try_push(Origin::default(), &bytes, &mut |decoded| {
            seen += 1;
            if decoded.index == 3 {
                Err("enough")
            } else {
                Ok(())
            }
        });
        assert_eq!((result, seen), (Err("enough"), 4));
        let count = decoder.index();
        assert!(count < 2000, "{count} messages were decoded");
    }
}
