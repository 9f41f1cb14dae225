//! Inflates a body with a content coding (RFC 9110 section 8.4.1).

use crate::error::DecodeError;
use crate::span::Span;
use brotli_decompressor::BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW;
use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::Read;

/// The number of bytes that are read at once.
const BUFFER: usize = 1 << 12;

/// Inflates a body into `out`, at most `limit` bytes. Other codings than gzip, deflate and br are named in the error, which
/// covers the head.
pub(super) fn inflate(
    coding: &str,
    body: &[u8],
    limit: usize,
    head: Span,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let error = |code, wanted: String, got: String| {
        DecodeError::new(code, head, "Content-Encoding", wanted, got)
    };
    out.clear();
    let mut read = |reader: &mut dyn Read| reader.take(limit as u64 + 1).read_to_end(out);
    let result = match coding.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => read(&mut MultiGzDecoder::new(body)),
        // Some peers send the deflate data without the zlib format around it.
        "deflate" if body.first().is_some_and(|b| b & 0x0f == 8) => {
            read(&mut ZlibDecoder::new(body))
        }
        "deflate" => read(&mut DeflateDecoder::new(body)),
        "br" => {
            let mut reader = Decompressor::new(body, BUFFER);
            // RFC 7932 section 9.1: the window has at most 16 MiB.
            reader.set_parameter(BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
            read(&mut reader)
        }
        _ => {
            let error = error(
                "compressed",
                "gzip, deflate or br".into(),
                coding.to_owned(),
            );
            return Err(error.hint("ask for another coding with Accept-Encoding: identity"));
        }
    };
    if let Err(problem) = result {
        let wanted = format!("a body in {coding}");
        return Err(error("bad-deflate", wanted, problem.to_string()));
    }
    if out.len() > limit {
        out.truncate(limit);
        let wanted = format!("at most {limit} bytes after inflation");
        let error = error("over-limit", wanted, "more".into());
        return Err(error.hint("raise the limit with `max-message`"));
    }
    Ok(())
}
