//! Reads any bytes as a WebSocket frame, beside tungstenite.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("websocket", data);
});
