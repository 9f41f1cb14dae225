//! Responses whose body, or lack of one, only the request tells.

use super::{EMPTY, GET, OK, POST, framer, told};

const HEAD: &str = "HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n";
const CONNECT: &str = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n";
/// To a GET, four bytes would follow.
const WITHOUT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
const EARLY: &str = "HTTP/1.1 103 Early Hints\r\n\r\n";

/// What is told of the responses, once these requests are known.
fn answered(requests: &str, responses: &str) -> Vec<String> {
    let all = [1, 7, 1000].map(|size| {
        let (mut asking, mut answering) = (framer(), framer());
        told(&mut asking, requests, &mut 0, size);
        answering.hear(&mut asking);
        let mut done = 0;
        let told = told(&mut answering, responses, &mut done, size);
        assert!(done == responses.len() || answering.is_lost());
        told.iter()
            .map(|line| line.split(", ").last().unwrap().to_owned())
            .collect::<Vec<_>>()
    });
    assert!(all.iter().all(|one| *one == all[0]));
    let [one, ..] = all;
    one
}

#[test]
fn a_head_request_is_answered_without_a_body() {
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
        // An interim response is not the answer.
        (
            vec![GET, HEAD],
            vec![EARLY, OK, WITHOUT],
            vec![response, "message", response],
        ),
        // What nobody asked for answers nothing; then it is not known what does.
        (vec![], vec![OK, OK], vec!["message", "message"]),
    ] {
        assert_eq!(
            answered(&requests.concat(), &responses.concat()),
            want,
            "{requests:?}"
        );
    }
}

/// A tunnel may be granted in any words, and refused with a body.
#[test]
fn connect_is_answered_by_a_tunnel_or_a_body() {
    let tls = "\x16\x03\x03\0\x7a";
    assert_eq!(
        answered(CONNECT, &format!("{WITHOUT}{tls}")),
        ["http-response"]
    );
    let refused = OK.replace("200 OK", "403 No");
    assert_eq!(answered(CONNECT, &refused), ["message"]);
}

/// Requests that are heard of piece by piece, and answered in between.
#[test]
fn requests_and_responses_alternate() {
    let (mut asking, mut answering) = (framer(), framer());
    let (mut asked, mut done) = (0, 0);
    let (mut requests, mut responses) = (String::new(), String::new());
    for n in 0..3000 {
        let is_head = n % 3 == 1;
        requests += if is_head { HEAD } else { GET };
        responses += if is_head { WITHOUT } else { OK };
        told(&mut asking, &requests, &mut asked, 1 << 20);
        if n % 7 != 0 {
            continue;
        }
        answering.hear(&mut asking);
        let told = told(&mut answering, &responses, &mut done, 1 << 20);
        let is_bare = |line: &String| line.ends_with("http-response");
        let bare = told.iter().filter(|line| is_bare(line)).count();
        assert_eq!(done, responses.len(), "{n}");
        assert!(bare <= 3 && told.len() <= 7, "{n}: {told:?}");
    }
}

/// Where requests were passed over, no response is taken for the answer to a certain one.
#[test]
fn what_was_lost_makes_answers_uncertain() {
    let requests = format!("{HEAD}no request\r\n\r\n{GET}{HEAD}");
    assert_eq!(answered(&requests, OK), ["message"]);
}
