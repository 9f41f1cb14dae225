//! `--otlp`: a collector that takes spans, is down, slow, busy, or refuses them.

use crate::common::{self, Ran};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const CAPTURE: &str = "fixtures/cli/operations.jsonl";

/// Starts a collector that answers with these responses, then with the last one. It passes on the requests.
fn collector(responses: &'static [&'static str]) -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (requests, received) = channel();
    std::thread::spawn(move || {
        let mut responses = responses.iter().peekable();
        for socket in listener.incoming() {
            let response = match responses.next_if(|_| true) {
                Some(response) => *response,
                None => OK,
            };
            serve(socket.unwrap(), response, &requests);
        }
    });
    (format!("http://{address}"), received)
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

/// Reads a request, and answers it.
fn serve(mut socket: TcpStream, response: &str, requests: &Sender<(String, Value)>) {
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let (head, body) = loop {
        let Ok(n @ 1..) = socket.read(&mut buffer) else {
            return;
        };
        bytes.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let mut fields = head
            .lines()
            .filter_map(|line| line.strip_prefix("content-length: "));
        let len: usize = fields.next().unwrap().parse().unwrap();
        if body.len() >= len {
            break (head.to_owned(), body.to_owned());
        }
    };
    let line = head.lines().next().unwrap().to_owned();
    let _ = requests.send((line, serde_json::from_str(&body).unwrap()));
    let _ = socket.write_all(response.as_bytes());
}

fn export(url: &str) -> Ran {
    common::outcome(&["export", "-f", "otlp", "--otlp", url, CAPTURE])
}

/// The names of the spans of a request.
fn names(request: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for resource in request["resourceSpans"].as_array().unwrap() {
        for span in resource["scopeSpans"][0]["spans"].as_array().unwrap() {
            names.push(span["name"].as_str().unwrap().to_owned());
        }
    }
    names
}

#[test]
fn a_collector_gets_spans_and_metrics() {
    let (url, received) = collector(&[]);
    let (code, out, err) = export(&format!("{url}/base/"));
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let (line, spans) = received.recv().unwrap();
    assert_eq!(line, "POST /base/v1/traces HTTP/1.1");
    assert!(names(&spans).iter().any(|name| name == "tools/call book"));
    let (line, metrics) = received.recv().unwrap();
    assert_eq!(line, "POST /base/v1/metrics HTTP/1.1");
    let metrics = &metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let durations = metrics
        .as_array()
        .unwrap()
        .iter()
        .find(|metric| metric["name"] == "mcp.client.operation.duration");
    let points = durations.unwrap()["histogram"]["dataPoints"]
        .as_array()
        .unwrap();
    let booked = points
        .iter()
        .find(|point| point["attributes"].to_string().contains("\"book\""))
        .unwrap();
    assert_eq!(booked["count"], "1");
    assert!(booked["sum"].as_f64().unwrap() > 6.0);
    assert_eq!(booked["bucketCounts"].as_array().unwrap().len(), 15);
}

#[test]
fn a_busy_collector_is_asked_again() {
    let (url, received) = collector(&[
        "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
    ]);
    let start = Instant::now();
    let (code, _, err) = export(&url);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        start.elapsed() >= Duration::from_millis(1500),
        "{:?}",
        start.elapsed()
    );
    let bodies: Vec<_> = received
        .try_iter()
        .filter(|(line, _)| line.contains("traces"))
        .collect();
    assert_eq!(bodies.len(), 3);
    assert_eq!(bodies[0], bodies[2]);
}

#[test]
fn spans_that_are_refused_are_an_error() {
    for (response, wanted) in [
        (
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n",
            "answers 400",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 42\r\n\r\n{\"partialSuccess\":{\"rejectedSpans\":\"2\"}}   ",
            "2 dropped: the collector rejects them",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 69\r\n\r\n{\"partialSuccess\":{\"rejectedSpans\":\"2\",\"errorMessage\":\"too\\nold\"}}   ",
            "2 dropped: the collector rejects them: too\\nold",
        ),
    ] {
        let (url, _received) = collector(vec![response].leak());
        let (code, _, err) = export(&url);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(wanted), "{err}");
    }
    let (code, _, err) = export("tcp://127.0.0.1:1");
    assert_eq!(code, 2);
    assert!(err.contains("http://HOST:PORT"), "{err}");
}

/// Forwards 40 requests to a child while spans are sent. Returns the time of the traffic, and stderr.
fn forward(url: Option<&str>) -> (Duration, String) {
    let child = r#"while read -r line; do id=${line##*\"id\":}; id=${id%%,*}; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}"; done"#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let mut command = common::wiretool();
    command.args(["record", "-p", "mcp", "-w"]).arg(&file);
    if let Some(url) = url {
        command.args(["--otlp", url]);
    }
    command.args(["--", "sh", "-c", child]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut wiretool = command.spawn().unwrap();
    let mut stdin = wiretool.stdin.take().unwrap();
    let mut stdout = std::io::BufReader::new(wiretool.stdout.take().unwrap());
    let start = Instant::now();
    for id in 1..=40 {
        writeln!(stdin, r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).unwrap();
        let mut answer = String::new();
        std::io::BufRead::read_line(&mut stdout, &mut answer).unwrap();
        assert!(answer.contains(&format!("\"id\":{id}")), "{answer}");
    }
    let time = start.elapsed();
    drop(stdin);
    let output = wiretool.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.lines().count() > 80);
    (time, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn live_traffic_does_not_wait_for_the_collector() {
    // Nobody listens there.
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    // It accepts, and never answers.
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = slow.local_addr().unwrap();
    let (busy, _busy) = collector(
        vec!["HTTP/1.1 429 Too Many Requests\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n"; 99]
            .leak(),
    );
    for url in [format!("http://{free}"), format!("http://{silent}"), busy] {
        let (time, err) = forward(Some(&url));
        assert!(time < Duration::from_secs(4), "{url}: {time:?}");
        assert!(err.contains("0 spans sent, 40 dropped"), "{url}: {err}");
    }
    let (url, received) = collector(&[]);
    let (_, err) = forward(Some(&url));
    assert!(err.contains("40 spans sent\n"), "{err}");
    let spans: usize = received
        .try_iter()
        .filter(|(line, _)| line.contains("traces"))
        .map(|(_, body)| names(&body).len())
        .sum();
    assert_eq!(spans, 40);
}
