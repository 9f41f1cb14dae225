//! Compares the output of the examples of the library in `tests/examples`. `cargo run --example NAME` runs one.

#[allow(dead_code)] // Used by `cargo run` only.
#[path = "../examples"]
mod examples {
    pub mod build_message;
    pub mod lint_recording;
    pub mod print_tree;
    pub mod read_field;
    pub mod read_stream;
    pub mod split_buffer;
}

/// Compares the output of an example.
macro_rules! printed {
    ($name:ident) => {{
        let mut out = Vec::new();
        examples::$name::run(&mut out).expect("the example runs");
        String::from_utf8(out).expect("text")
    }};
}

#[test]
fn split_buffer_prints_frames() {
    insta::assert_snapshot!(printed!(split_buffer), @r#"
    "hi" at 0
    "there" at 6
    "cut" at 15: length: wanted 9 bytes after the prefix, got 3 before the end of the stream
    "#);
}

#[test]
fn read_stream_prints_messages() {
    insta::assert_snapshot!(printed!(read_stream), @"
    oracle invoke f
    oracle shutdown -
    ");
}

#[test]
fn read_field_prints_value_and_bytes() {
    insta::assert_snapshot!(printed!(read_field), @r#"café, spelled "caf\u00e9", in bytes 51..62"#);
}

#[test]
fn build_message_prints_frame() {
    insta::assert_snapshot!(printed!(build_message), @r#"
    \x00\x00\x00A\x85\xa7version\x01\xa4type\xa4call\xa2id\xc4\x10\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\xa6target\xa8math.add\xa4args\x92\x14\x16
    id: wanted a string, 16 bytes, or an array of 16 numbers, got {"$bin":""}
    "#);
}

#[test]
fn lint_recording_prints_findings() {
    insta::assert_snapshot!(printed!(lint_recording), @"
    error oracle/ack-id: id is 5; it should be 0, as in ready (#0)
    2 messages
    ");
}

#[test]
fn print_tree_prints_positions() {
    insta::assert_snapshot!(printed!(print_tree), @r#"
    #0 · BargeRequest Barge abc  (telequick, method, request, 21 bytes at 0)
       0..4   length  17
       0..21  {7}
       4..8     method  Barge
       4..8     method_id  3854301714  = 0xe5bbfa12
       4..8     struct  BargeRequest
       8..9     version  0
       9..10    compat_version  0
       0..4     length_mode  exclusive
      14..21    fields  {1}
      14..21      call_sid  "abc"
    "#);
}
