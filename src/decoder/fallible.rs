//! Decoding with sinks that can fail, which stops the decoder.

use super::{Decoded, Decoder, FlowSink, FrameSink, KeptMessage, Origin};
use std::ops::ControlFlow;

impl Decoder<'_> {
    /// [`Decoder::push`] with a sink that can fail, or stop early with its own error. The decoder stops after the message
    /// whose sink failed, and `bytes` is then the rest that is not decoded. Call it again to go on after that message,
    /// also if no bytes are left: messages of bytes that were held until the protocol was known can be waiting.
    ///
    /// ```
    /// use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
    /// use wiretool::protocol::registry;
    ///
    /// let mut decoder = Decoder::new(DecodeOptions::new(vec![registry::find("oracle").unwrap()]));
    /// let lines = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"shutdown\"}\n".repeat(3);
    /// let (mut rest, mut seen) = (lines.as_bytes(), Vec::new());
    /// // Each message ends the call; a program can wait here, and then go on.
    /// let mut sink = |decoded: &Decoded<'_>| Err(decoded.index);
    /// while let Err(index) = decoder.try_push(Origin::default(), &mut rest, &mut sink) {
    ///     seen.push(index);
    /// }
    /// assert_eq!((seen, rest.len()), (vec![0, 1, 2], 0));
    /// ```
    pub fn try_push<E>(
        &mut self,
        origin: Origin,
        bytes: &mut &[u8],
        sink: &mut dyn FnMut(&Decoded<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut later = Vec::new();
        let mut result = Ok(());
        let taken = self.push_until(
            origin,
            bytes,
            &mut until_error(&mut result, sink, &mut later),
        );
        *bytes = bytes.get(taken..).unwrap_or_default();
        self.waiting.extend(later);
        result
    }

    /// [`Decoder::finish`] with a sink that can fail. Call it again to go on after the message whose sink failed.
    pub fn try_finish<E>(
        &mut self,
        sink: &mut dyn FnMut(&Decoded<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut later = Vec::new();
        let mut result = Ok(());
        let mut until = until_error(&mut result, sink, &mut later);
        if self.pass_waiting(&mut until).is_continue() {
            self.finish(&mut |decoded| {
                let _ = until(decoded);
            });
        }
        drop(until);
        self.waiting.extend(later);
        result
    }

    /// Passes on the messages that were read after a sink failed.
    pub(super) fn pass_waiting(&mut self, sink: &mut FlowSink<'_>) -> ControlFlow<()> {
        while let Some(kept) = self.waiting.pop_front() {
            let mut protocols = self.options.protocols.iter();
            if let Some(protocol) = protocols.find(|p| p.name() == kept.protocol) {
                kept.with(*protocol, &mut *sink)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Returns a sink that never breaks.
pub(super) fn unbroken(sink: &mut FrameSink<'_>) -> impl FnMut(&Decoded<'_>) -> ControlFlow<()> {
    |decoded| {
        sink(decoded);
        ControlFlow::Continue(())
    }
}

/// Returns a sink that breaks at the first error, and keeps the messages after it.
fn until_error<E>(
    result: &mut Result<(), E>,
    sink: &mut dyn FnMut(&Decoded<'_>) -> Result<(), E>,
    later: &mut Vec<KeptMessage>,
) -> impl FnMut(&Decoded<'_>) -> ControlFlow<()> {
    move |decoded| {
        if result.is_ok() {
            *result = sink(decoded);
        } else {
            later.push(decoded.keep());
        }
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::DecodeOptions;
    use crate::protocol::registry;

    #[test]
    fn failing_sink_stops_the_decoder() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}\n";
        let bytes = line.repeat(10);
        let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
        let mut seen = 1;
        // The first message decides the protocol.
        decoder.push(Origin::default(), line, &mut |decoded| {
            assert_eq!(decoded.index, 0);
        });
        let mut rest = &bytes[line.len()..];
        let mut results = Vec::new();
        for fails in [3, 4, 100] {
            let result = decoder.try_push(Origin::default(), &mut rest, &mut |decoded| {
                assert_eq!(decoded.index, seen);
                seen += 1;
                if decoded.index == fails {
                    Err("enough")
                } else {
                    Ok(())
                }
            });
            results.push((result, seen, rest.len() / line.len()));
        }
        assert_eq!(
            results,
            [
                (Err("enough"), 4, 6),
                (Err("enough"), 5, 5),
                (Ok(()), 10, 0)
            ]
        );
    }

    /// Stopping after each message changes no message, in any split, also among bytes that waited for the protocol.
    #[test]
    fn stops_lose_no_message() {
        let mut stream = Vec::new();
        for id in 0..6 {
            stream.extend_from_slice(
                format!("\n{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\nnot json\n")
                    .as_bytes(),
            );
        }
        stream.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}\n{\"jsonrpc\"");
        let show = |decoded: &Decoded<'_>| {
            let (frame, message) = (decoded.frame, decoded.message);
            let faults: Vec<String> = decoded
                .faults()
                .map(|(_, fault)| fault.to_string())
                .collect();
            format!(
                "{} {} {} {:?} {faults:?}",
                decoded.index, frame.offset, message.kind, message.id
            )
        };
        let mut want = Vec::new();
        let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
        decoder.push(Origin::default(), &stream, &mut |decoded| {
            want.push(show(decoded));
        });
        decoder.finish(&mut |decoded| want.push(show(decoded)));
        assert!(want.len() > 12, "{want:#?}");
        for size in [1, 2, 7, 50, stream.len()] {
            let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
            let mut seen = Vec::new();
            let mut stop = |decoded: &Decoded<'_>| Err(show(decoded));
            for mut piece in stream.chunks(size) {
                while let Err(one) = decoder.try_push(Origin::default(), &mut piece, &mut stop) {
                    seen.push(one);
                }
            }
            while let Err(one) = decoder.try_finish(&mut stop) {
                seen.push(one);
            }
            assert_eq!(seen, want, "in pieces of {size}");
        }
    }
}
