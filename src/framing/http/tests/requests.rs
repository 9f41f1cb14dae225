//! Tests: responses whose body depends on the request.

use super::{EMPTY, GET, OK, POST, emitted, framer};

const HEAD: &str = "HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n";
const CONNECT: &str = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n";
/// In a response to GET, four bytes would follow.
const WITHOUT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
const EARLY: &str = "HTTP/1.1 103 Early Hints\r\n\r\n";

/// Returns the responses as they are read when these requests are known.
fn answered(requests: &str, responses: &str) -> Vec<String> {
    let all = [1, 7, 1000].map(|size| {
        let (mut asking, mut answering) = (framer(), framer());
        emitted(&mut asking, requests, &mut 0, size);
        answering.observe_requests(&mut asking);
        let mut done = 0;
        let emitted = emitted(&mut answering, responses, &mut done, size);
        assert!(done == responses.len() || answering.is_skipping());
        emitted
            .iter()
            .map(|line| line.split(", ").last().unwrap().to_owned())
            .collect::<Vec<_>>()
    });
    assert!(all.iter().all(|one| *one == all[0]));
    let [one, ..] = all;
    one
}

#[test]
fn response_to_head_has_no_body() {
    let response = "http-response";
    for (requests, responses, want) in [
        (vec![HEAD], vec![WITHOUT], vec![response]),
        (
            vec![HEAD, GET],
            vec![WITHOUT, OK],
            vec![response, "message"],
        ),
        (
            vec![GET, HEAD, POST, HEAD],
            vec![OK, WITHOUT, OK, EMPTY],
            vec!["message", response, "message", response],
        ),
        // An interim response is not the final one.
        (
            vec![GET, HEAD],
            vec![EARLY, OK, WITHOUT],
            vec![response, "message", response],
        ),
        // A response without a request answers nothing; after it, the assignment is unknown.
        (vec![], vec![OK, OK], vec!["message", "message"]),
    ] {
        assert_eq!(
            answered(&requests.concat(), &responses.concat()),
            want,
            "{requests:?}"
        );
    }
}

/// A tunnel may be granted with any reason phrase, and refused with a body.
#[test]
fn connect_response_is_a_tunnel_or_has_a_body() {
    let tls = "\x16\x03\x03\0\x7a";
    assert_eq!(
        answered(CONNECT, &format!("{WITHOUT}{tls}")),
        ["http-response"]
    );
    let refused = OK.replace("200 OK", "403 No");
    assert_eq!(answered(CONNECT, &refused), ["message"]);
}

/// Requests that arrive piece by piece and are answered in between.
#[test]
fn requests_and_responses_alternate() {
    let (mut asking, mut answering) = (framer(), framer());
    let (mut asked, mut done) = (0, 0);
    let (mut requests, mut responses) = (String::new(), String::new());
    for n in 0..3000 {
        let is_head = n % 3 == 1;
        requests += if is_head { HEAD } else { GET };
        responses += if is_head { WITHOUT } else { OK };
        emitted(&mut asking, &requests, &mut asked, 1 << 20);
        if n % 7 != 0 {
            continue;
        }
        answering.observe_requests(&mut asking);
        let emitted = emitted(&mut answering, &responses, &mut done, 1 << 20);
        let is_bare = |line: &String| line.ends_with("http-response");
        let bare = emitted.iter().filter(|line| is_bare(line)).count();
        assert_eq!(done, responses.len(), "{n}");
        assert!(bare <= 3 && emitted.len() <= 7, "{n}: {emitted:?}");
    }
}

/// After skipped requests, no response is assigned to a request.
#[test]
fn skipped_requests_make_responses_uncertain() {
    let requests = format!("{HEAD}no request\r\n\r\n{GET}{HEAD}");
    assert_eq!(answered(&requests, OK), ["message"]);
}
