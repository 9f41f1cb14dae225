//! Captures of other programs: `decode` shows their messages as those of a recording.

use crate::common;

/// Exit code, stdout and stderr of `decode -f line` for a fixture.
fn decode(name: &str) -> (i32, String, String) {
    let path = format!("fixtures/captures/{name}");
    common::outcome(&["decode", "-f", "line", &path])
}

fn assert_decodes(name: &str, code: i32, messages: &str, remarks: &[&str]) {
    let (exit, stdout, stderr) = decode(name);
    let wanted: Vec<&str> = messages.lines().skip(1).map(|line| &line[4..]).collect();
    let found: Vec<&str> = stdout.lines().map(str::trim_end).collect();
    assert_eq!((exit, found), (code, wanted), "{name}: {stderr}");
    for remark in remarks {
        assert!(stderr.contains(remark), "{name}: {remark}: {stderr}");
    }
    assert_eq!(stderr.is_empty(), remarks.is_empty(), "{name}: {stderr}");
}

#[test]
fn strace_of_a_child_is_decoded_and_cut_strings_are_gaps() {
    assert_decodes(
        "child.strace.txt",
        1,
        r#"
       #0        0 c0 10:03:11.362 ← ready                             0
       #1        0 c0      +300 µs → ack                               0      300 µs {}
       #2       37 c0      +700 µs → invoke       f                    1             ["0x1"]
       #3       42 c0        +1 ms ← result       f                    1        1 ms ["0x2"]
       #4      125 c0        +1 ms → -                                 2
          ✗ gap: offset 157: stream: wanted every byte, got a gap of 56 bytes — decoding continues at the next frame
       #5       84 c0        +1 ms ← result                            2             ["0x3"]"#,
        &["strace -s 65535", "a gap of 56 bytes"],
    );
}

#[test]
fn curl_trace_ascii_output_is_decoded() {
    assert_decodes(
        "curl-trace-ascii.txt",
        0,
        r#"
       #0        0 c0 → request       components/list      "a1" {}
       #1        0 c0 ← response      components/list      "a1" {components: []}"#,
        &["curl --trace prints all bytes"],
    );
}

#[test]
fn curl_trace_output_is_decoded() {
    assert_decodes(
        "curl-trace.txt",
        0,
        r#"
       #0        0 c0 → request       components/list      "a1" {}
       #1        0 c0 ← response      components/list      "a1" {components: []}"#,
        &[],
    );
}

#[test]
fn har_bodies_and_events_are_decoded() {
    assert_decodes(
        "exchanges.har",
        1,
        r#"
       #0        0 c0 10:00:00.121 → request       components/list      "a1"          {}
       #1        0 c0      +3.5 ms ← response      components/list      "a1"   3.5 ms {components: []}
       #2        0 c1    +876.5 ms → request       components/execute /upper "b2"          {text: "hi"}
       #3        0 c1      +3.5 ms ← http-response                                         200
       #4       73 c1        +0 ns ← request       blobs/get                 "c3"          {blob_id: "k"}
       #5      154 c1        +0 ns ← response      components/execute /upper "b2"   3.5 ms {output: {outcome: "success", result: "…
       #6      170 c0    +996.5 ms → request       components/list           "d4"          {}
       #7      125 c0      +3.5 ms ← response      components/list           "d4"   3.5 ms {…}
          ✗ gap: offset 236: stream: wanted every byte, got a gap of 40 bytes — decoding continues at the next frame
       #8      340 c0    +996.5 ms → request       components/list           "e5"          {}"#,
        &["a gap of 40 bytes"],
    );
}

#[test]
fn ngrep_output_is_decoded() {
    assert_decodes(
        "ngrep.txt",
        0,
        r"
       #0        0 c0 → call           math.add             c7760…50b1db [2, 3]
       #1        0 c0 ← response       math.add             c7760…50b1db ok 5",
        &[],
    );
}

#[test]
fn socat_output_is_decoded() {
    assert_decodes(
        "socat.txt",
        0,
        r"
       #0        0 c0 10:05:02.655 → call           math.add             c7760…50b1db          [2, 3]
       #1        0 c0        +1 µs ← response       math.add             c7760…50b1db     1 µs ok 5",
        &[],
    );
}

#[test]
fn strace_of_a_socket_is_decoded() {
    assert_decodes(
        "socket.strace.txt",
        0,
        r"
       #0        0 c0 → call           math.add             c7760…50b1db [2, 3]
       #1        0 c0 ← response       math.add             c7760…50b1db ok 5",
        &[],
    );
}

#[test]
fn tcpdump_output_is_decoded() {
    assert_decodes(
        "tcpdump.txt",
        0,
        r"
       #0        0 c0 09:52:21.830 → call           math.add             c7760…50b1db          [2, 3]
       #1        0 c0        +1 µs ← response       math.add             c7760…50b1db     1 µs ok 5",
        &[],
    );
}

#[test]
fn tcpflow_output_is_decoded() {
    assert_decodes(
        "tcpflow.txt",
        0,
        r"
       #0        0 c0 → call           math.add             c7760…50b1db [2, 3]
       #1        0 c0 ← response       math.add             c7760…50b1db ok 5",
        &[],
    );
}

#[test]
fn har_websocket_messages_are_decoded() {
    assert_decodes(
        "websocket.har",
        0,
        r"
       #0        0 c0 10:00:22.400 → http-request  GET /sael/ws
       #1        0 c0        +0 ns ← http-response                                    101
       #2       88 c0      +100 ms → HEY
       #3       77 c0        +1 ms ← HEY
       #4      200 c0       +99 ms → INV           add                  1             {a: 2, b: 3}
       #5      256 c0      +2.5 ms ← RES           add                  1      2.5 ms 5",
        &[],
    );
}
