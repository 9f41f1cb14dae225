//! Decoding with sinks that can fail, which stops the decoder.

use super::{Decoded, Decoder, Origin};

/// The maximum number of bytes that are decoded after a sink failed.
const MAX_PART: usize = 64 << 10;

impl Decoder<'_> {
    /// [`Decoder::push`] with a sink that can fail, or stop early with its own error. After an
    /// error it gets no further message, and the remaining bytes are not decoded.
    pub fn try_push<E>(
        &mut self,
        origin: Origin,
        bytes: &[u8],
        sink: &mut dyn FnMut(&Decoded<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for part in bytes.chunks(MAX_PART) {
            until_error(sink, |sink| self.push(origin, part, sink))?;
        }
        Ok(())
    }

    /// [`Decoder::finish`] with a sink that can fail.
    pub fn try_finish<E>(
        &mut self,
        sink: &mut dyn FnMut(&Decoded<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        until_error(sink, |sink| self.finish(sink))
    }
}

/// Runs a function with a sink that gets no message after its first error.
fn until_error<E>(
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
    use crate::decoder::DecodeOptions;
    use crate::protocol::registry;

    #[test]
    fn failing_sink_stops_the_decoder() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}\n";
        let bytes = line.repeat(10_000);
        let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
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
