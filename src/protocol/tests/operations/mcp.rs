//! Operations of mcp: calls that wait for a person, retries, tasks, progress, event streams.

use super::{check, http, line};

#[test]
fn requests_inside_of_calls() {
    let cases = [
        (
            "the only open call",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"book","_meta":{"progressToken":1}}}
            < {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}  => inside 0 inferred, person
            > {"id":1,"result":{"action":"accept","content":{}}}
            < {"id":2,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}  => inside 0 inferred
            > {"id":2,"result":{"role":"user","content":{"type":"text","text":""},"model":"m"}}
            < {"id":3,"method":"roots/list"}
            > {"id":3,"result":{"roots":[]}}
            < {"method":"notifications/progress","params":{"progressToken":1,"progress":1}}  => part of 0 recorded
            < {"method":"notifications/progress","params":{"progressToken":"1","progress":1}}
            > {"method":"notifications/cancelled","params":{"requestId":1}}  => part of 0 recorded, cancels, leaves 0
            "#,
        ),
        (
            "a cancelled call is not open",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"a"}}
            > {"id":2,"method":"tools/call","params":{"name":"b"}}
            > {"method":"notifications/cancelled","params":{"requestId":1}}  => part of 0 recorded, cancels, leaves 0
            < {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}  => inside 1 inferred, person
            "#,
        ),
        (
            "two open calls, or no call",
            r#"
            > {"id":1,"method":"tools/list"}
            < {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}  => person
            < {"id":1,"result":{"tools":[]}}
            > {"id":2,"method":"tools/call","params":{"name":"a"}}
            > {"id":3,"method":"tools/call","params":{"name":"b"}}
            < {"id":2,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}  => person
            "#,
        ),
        (
            "what a subscription brings",
            r#"
            > {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}
            < {"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}  => part of 0 recorded
            < {"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"1"}}}
            < {"method":"notifications/tools/list_changed"}
            > {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}
            < {"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
            "#,
        ),
        (
            "a progress token of two open requests",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":5}}}
            > {"id":2,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":5}}}
            < {"method":"notifications/progress","params":{"progressToken":5,"progress":1}}
            "#,
        ),
    ];
    check("mcp", line, &cases);
}

#[test]
fn streams_of_posted_calls() {
    let cases = [(
        "an event stream answers one call",
        r#"
        1> {"id":1,"method":"tools/call","params":{"name":"a"}}
        2> {"id":2,"method":"tools/call","params":{"name":"b"}}
        2< stream
        1< stream
        2< {"id":0,"method":"roots/list"}  => inside 1 recorded
        1< {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}  => inside 0 recorded, person
        2< {"method":"notifications/message","params":{"level":"info","data":1}}  => part of 1 recorded
        3> get
        3< stream
        3< {"id":2,"method":"roots/list"}
        3< {"method":"notifications/message","params":{"level":"info","data":1}}
        4> {"method":"notifications/initialized"}
        4< accepted
        "#,
    )];
    check("mcp", http, &cases);
}

/// All answers and all requests of the server are events of one stream: only the number of open calls shows to which one a
/// request belongs.
#[test]
fn one_stream_for_all_calls() {
    let cases = [(
        "HTTP+SSE of 2024-11-05",
        r#"
        1> get
        1< stream
        1< endpoint
        2> ? {"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":5}}}
        2< accepted
        1< {"method":"notifications/progress","params":{"progressToken":5,"progress":1}}  => part of 3 recorded
        1< {"id":0,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}  => inside 3 inferred
        3> ? {"id":0,"result":{"role":"user","content":{"type":"text","text":""},"model":"m"}}
        3< accepted
        3> ? {"method":"notifications/cancelled","params":{"requestId":1}}  => part of 3 recorded, cancels, leaves 3
        3< accepted
        1< {"id":1,"result":{"content":[]}}
        4> ? {"id":2,"method":"tools/call","params":{"name":"a"}}
        4< accepted
        5> ? {"id":3,"method":"tools/call","params":{"name":"b"}}
        5< accepted
        1< {"id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}
        "#,
    )];
    check("mcp", http, &cases);
}

/// A stream that ended early goes on in another one, after the event that Last-Event-ID names.
#[test]
fn streams_that_go_on() {
    let cases = [
        (
            "one open call",
            r#"
            1> {"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":5}}}
            1< stream
            2> resume
            2< stream
            2< {"method":"notifications/progress","params":{"progressToken":5,"progress":1}}  => part of 0 recorded
            2< {"id":0,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}  => inside 0 inferred, person
            3> {"id":0,"result":{"action":"decline"}}
            3< accepted
            2< {"id":1,"result":{"content":[]}}
            2< {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}  => person
            "#,
        ),
        (
            "two open calls",
            r#"
            1> {"id":1,"method":"tools/call","params":{"name":"a"}}
            1< stream
            2> {"id":2,"method":"tools/call","params":{"name":"b"}}
            2< stream
            3> resume
            3< stream
            3< {"id":0,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}  => person
            3< {"id":1,"result":{"content":[]}}
            "#,
        ),
        (
            "another stream",
            r#"
            1> {"id":1,"method":"tools/call","params":{"name":"a"}}
            1< stream
            2> get
            2< stream
            2< {"id":0,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}  => person
            "#,
        ),
    ];
    check("mcp", http, &cases);
}

#[test]
fn requests_that_are_sent_once_more() {
    let cases = [
        (
            "the same state",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"book","arguments":{"to":"Oslo"}}}
            < {"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}},"requestState":"s1"}}  => goes on, person
            > {"id":2,"method":"tools/call","params":{"name":"book","arguments":{"to":"Oslo"},"inputResponses":{"a":{}},"requestState":"s1"}}  => part of 0 recorded
            < {"id":2,"result":{"resultType":"input_required","inputRequests":{"b":{"method":"sampling/createMessage"}},"requestState":"s2"}}  => goes on, retry
            > {"id":3,"method":"tools/call","params":{"name":"book","arguments":{"to":"Oslo"},"inputResponses":{"b":{}},"requestState":"s2"}}  => part of 0 recorded
            < {"id":3,"result":{"resultType":"complete","content":[]}}
            > {"id":4,"method":"tools/call","params":{"name":"book","arguments":{"to":"Oslo"},"inputResponses":{"b":{}},"requestState":"s2"}}
            "#,
        ),
        (
            "another state, another method",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"book"}}
            < {"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{}},"requestState":"s1"}}  => goes on, retry
            > {"id":2,"method":"tools/call","params":{"name":"book","inputResponses":{"a":{}},"requestState":"s2"}}
            > {"id":3,"method":"tools/call","params":{"name":"book","inputResponses":{"a":{}}}}
            > {"id":4,"method":"prompts/get","params":{"name":"book","inputResponses":{"a":{}},"requestState":"s1"}}
            "#,
        ),
        (
            "a state of two calls",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"book"}}
            > {"id":2,"method":"tools/call","params":{"name":"book"}}
            > {"id":3,"method":"tools/call","params":{"name":"read"}}
            < {"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{}},"requestState":"s"}}  => goes on, retry
            < {"id":2,"result":{"resultType":"input_required","inputRequests":{"a":{}},"requestState":"s"}}  => goes on, retry
            < {"id":3,"result":{"resultType":"input_required","inputRequests":{"a":{}},"requestState":"s"}}  => goes on, retry
            > {"id":4,"method":"tools/call","params":{"name":"book","inputResponses":{"a":{}},"requestState":"s"}}
            > {"id":5,"method":"tools/call","params":{"name":"read","inputResponses":{"a":{}},"requestState":"s"}}  => part of 2 inferred
            "#,
        ),
        (
            "no state",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"book","arguments":{"to":"Oslo"}}}
            > {"id":2,"method":"tools/call","params":{"name":"book","arguments":{"to":"Bonn"}}}
            < {"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{}}}}  => goes on, retry
            < {"id":2,"result":{"resultType":"input_required","inputRequests":{"a":{}}}}  => goes on, retry
            > {"id":3,"method":"tools/call","params":{"name":"book","arguments":{"to":"Rome"},"inputResponses":{"a":{}}}}
            > {"id":4,"method":"tools/call","params":{"name":"book","arguments":{"to":"Bonn"}}}
            > {"id":5,"method":"tools/call","params":{"name":"book","arguments":{"to":"Bonn"},"inputResponses":{"a":{}}}}  => part of 1 inferred
            "#,
        ),
        (
            "no state, equal calls",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"book"}}
            > {"id":2,"method":"tools/call","params":{"name":"book"}}
            < {"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{}}}}  => goes on, retry
            < {"id":2,"result":{"resultType":"input_required","inputRequests":{"a":{}}}}  => goes on, retry
            > {"id":3,"method":"tools/call","params":{"name":"book","inputResponses":{"a":{}}}}
            "#,
        ),
        (
            "a person opens a URL",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"book","arguments":{}}}
            < {"id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"u","message":"m"}]}}}  => goes on, person
            < {"method":"notifications/elicitation/complete","params":{"elicitationId":"other"}}
            < {"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}  => part of 0 recorded, retry
            > {"id":2,"method":"tools/call","params":{"name":"read","arguments":{}}}
            > {"id":3,"method":"tools/call","params":{"name":"book","arguments":{}}}  => part of 0 inferred
            < {"id":1,"method":"elicitation/create","params":{"message":"m","mode":"url","url":"u","elicitationId":"f"}}  => person
            < {"method":"notifications/elicitation/complete","params":{"elicitationId":"f"}}  => part of 6 recorded
            "#,
        ),
    ];
    check("mcp", line, &cases);
}

#[test]
fn tasks() {
    let cases = [
        (
            "a task with its result",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"a","task":{}}}
            < {"id":1,"result":{"task":{"taskId":"t","status":"working"}}}  => goes on, server
            < {"method":"notifications/tasks/status","params":{"taskId":"t","status":"working"}}  => part of 0 recorded, goes on, server
            > {"id":2,"method":"tasks/get","params":{"taskId":"t"}}  => part of 0 recorded
            < {"id":2,"result":{"taskId":"t","status":"input_required"}}  => goes on, client
            < {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}  => inside 0 recorded, person
            > {"id":1,"result":{"action":"decline"}}
            > {"id":3,"method":"tasks/get","params":{"taskId":"u"}}
            > {"id":4,"method":"tasks/result","params":{"taskId":"t"}}  => part of 0 recorded
            < {"method":"notifications/tasks/status","params":{"taskId":"t","status":"completed"}}  => part of 0 recorded, goes on, client
            < {"id":4,"result":{"content":[]}}  => ends
            > {"id":5,"method":"tasks/get","params":{"taskId":"t"}}  => part of 0 recorded
            < {"id":5,"result":{"taskId":"t","status":"completed"}}  => ends
            "#,
        ),
        (
            "a task that fails, and one that is cancelled",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"a","task":{}}}
            < {"id":1,"result":{"task":{"taskId":"t","status":"working"}}}  => goes on, server
            > {"id":2,"method":"tools/call","params":{"name":"a","task":{}}}
            < {"id":2,"result":{"task":{"taskId":"u","status":"working"}}}  => goes on, server
            < {"method":"notifications/tasks/status","params":{"taskId":"t","status":"failed"}}  => part of 0 recorded, fails, ends
            > {"id":3,"method":"tasks/cancel","params":{"taskId":"u"}}  => part of 2 recorded
            < {"id":3,"result":{"taskId":"u","status":"cancelled"}}  => cancels, ends
            "#,
        ),
        (
            "a cancellation that is refused, one without a state, and a task that begins with a question",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"a","task":{}}}
            < {"id":1,"result":{"task":{"taskId":"t","status":"input_required"}}}  => goes on, client
            > {"id":2,"method":"tasks/cancel","params":{"taskId":"t"}}  => part of 0 recorded
            < {"id":2,"error":{"code":-32601,"message":"Method not found"}}  => goes on, client
            > {"id":3,"method":"tasks/cancel","params":{"taskId":"t"}}  => part of 0 recorded
            < {"id":3,"result":{}}  => cancels, goes on, client
            "#,
        ),
        (
            "a question that is a task: a person works on it",
            r#"
            < {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{},"task":{}}}  => person
            > {"id":1,"result":{"task":{"taskId":"t","status":"working"}}}  => goes on, person
            < {"id":2,"method":"tasks/get","params":{"taskId":"t"}}  => part of 0 recorded
            > {"id":2,"result":{"taskId":"t","status":"completed"}}  => goes on, server
            "#,
        ),
        (
            "an id of two tasks",
            r#"
            > {"id":1,"method":"tools/call","params":{"name":"a","task":{}}}
            < {"id":1,"result":{"task":{"taskId":"t","status":"working"}}}  => goes on, server
            > {"id":2,"method":"tools/call","params":{"name":"a","task":{}}}
            < {"id":2,"result":{"task":{"taskId":"t","status":"working"}}}  => goes on, server
            > {"id":3,"method":"tasks/get","params":{"taskId":"t"}}
            < {"id":3,"result":{"taskId":"t","status":"working"}}
            "#,
        ),
    ];
    check("mcp", line, &cases);
}
