//! Operations of the protocols on JSON-RPC.

use super::{check, line, with_length};

#[test]
fn requests_of_the_other_side() {
    check(
        "jsonrpc",
        line,
        &[
            (
                "nothing says that it belongs to the only open request",
                r#"
                > {"id":1,"method":"a"}
                < {"id":1,"method":"b"}
                > {"id":1,"result":1}
                < {"method":"note"}
                < {"id":1,"result":1}
                < {"id":2,"method":"b"}
                "#,
            ),
            (
                "during two open requests",
                r#"
                > {"id":1,"method":"a"}
                > {"id":2,"method":"a"}
                < {"id":1,"method":"b"}
                < {"id":2,"result":1}
                < {"id":2,"method":"b"}
                "#,
            ),
            (
                "an id of two open requests",
                r#"
                > {"id":1,"method":"a"}
                > {"id":1,"method":"a"}
                < {"id":1,"method":"b"}
                "#,
            ),
            (
                "another request may be missing",
                r#"
                > {"id":1,"method":"a"}
                > lost
                > {"id":2,"method":"a"}
                < {"id":2,"method":"b"}
                "#,
            ),
            (
                "on another connection",
                r#"
                1> {"id":1,"method":"a"}
                2< {"id":1,"method":"b"}
                1< {"id":1,"method":"b"}
                "#,
            ),
            (
                "the answers of a batch come one by one",
                r#"
                > [{"id":1,"method":"a"},{"id":2,"method":"a"},{"id":3,"method":"a"}]
                < {"id":2,"result":1}    => goes on
                < {"id":1,"result":1}    => goes on
                < {"id":3,"result":1}
                "#,
            ),
            (
                "the answers of a batch come together",
                r#"
                > [{"id":1,"method":"a"},{"id":2,"method":"a"}]
                < [{"id":2,"result":1},{"id":1,"result":1}]
                "#,
            ),
        ],
    );
}

#[test]
fn turns() {
    let cases = [
        (
            "a turn",
            r#"
            > {"id":0,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
            < {"id":0,"result":{"sessionId":"s"}}
            > {"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
            < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}  => part of 2 recorded
            < {"id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}  => inside 2 recorded, person
            > {"id":0,"result":{"outcome":{"outcome":"cancelled"}}}
            < {"id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}  => inside 2 recorded
            > {"id":1,"result":{"content":""}}
            < {"id":2,"method":"terminal/create","params":{"sessionId":"s","command":"ls"}}  => inside 2 recorded
            > {"id":2,"result":{"terminalId":"t"}}
            > {"method":"session/cancel","params":{"sessionId":"s"}}  => part of 2 recorded, cancels
            < {"id":1,"result":{"stopReason":"cancelled"}}  => cancels
            > {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
            < {"id":2,"result":{"stopReason":"end_turn"}}
            < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}
            "#,
        ),
        (
            "of another session, or of none",
            r#"
            > {"id":0,"method":"session/load","params":{"sessionId":"s","cwd":"/","mcpServers":[]}}
            < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}  => part of 0 recorded
            < {"id":0,"result":null}
            > {"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
            < {"method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"plan","entries":[]}}}
            < {"id":0,"method":"fs/read_text_file","params":{"sessionId":"other","path":"/a"}}
            < {"id":1,"method":"fs/read_text_file","params":{"path":"/a"}}
            "#,
        ),
        (
            "two prompts of a session are open",
            r#"
            > {"id":0,"method":"session/load","params":{"sessionId":"s","cwd":"/","mcpServers":[]}}
            < {"id":0,"result":null}
            > {"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
            > {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
            < {"id":0,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}
            > {"method":"$/cancel_request","params":{"requestId":1}}  => part of 2 recorded, cancels
            "#,
        ),
        (
            "messages of MCP during a turn, and without one",
            r#"
            > {"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
            < {"id":0,"method":"mcp/message","params":{"serverId":"m","requestId":"a","method":"tools/call","params":{}}}  => inside 0 inferred
            > {"method":"mcp/message","params":{"serverId":"m","requestId":"a","method":"notifications/progress","params":{}}}  => part of 1 recorded
            > {"method":"mcp/message","params":{"serverId":"m","requestId":"b","method":"notifications/progress","params":{}}}
            > {"id":0,"result":{"result":{"content":[]}}}
            < {"id":1,"result":{"stopReason":"end_turn"}}
            < {"id":2,"method":"mcp/message","params":{"serverId":"m","requestId":"c","method":"tools/list","params":{}}}
            "#,
        ),
    ];
    check("acp", line, &cases);
}

#[test]
fn work_and_partial_results() {
    let cases = [
        (
            "tokens of requests",
            r#"
            > {"id":1,"method":"textDocument/references","params":{"workDoneToken":"w","partialResultToken":7}}
            < {"method":"$/progress","params":{"token":"w","value":{"kind":"begin","title":"t"}}}  => part of 0 recorded
            < {"method":"$/progress","params":{"token":7,"value":[]}}  => part of 0 recorded
            < {"method":"$/progress","params":{"token":"7","value":[]}}
            < {"method":"$/progress","params":{"token":"w","value":{"kind":"end"}}}  => part of 0 recorded
            > {"method":"$/cancelRequest","params":{"id":1}}  => part of 0 recorded, cancels
            > {"method":"$/cancelRequest","params":{"id":"1"}}
            < {"id":1,"result":[]}
            > {"method":"$/cancelRequest","params":{"id":1}}  => part of 0 recorded, cancels
            > {"id":2,"method":"textDocument/references","params":{"workDoneToken":"w"}}
            < {"method":"$/progress","params":{"token":"w","value":{"kind":"begin","title":"t"}}}  => part of 9 recorded
            "#,
        ),
        (
            "a token of two open requests",
            r#"
            > {"id":1,"method":"textDocument/references","params":{"workDoneToken":"w"}}
            > {"id":2,"method":"textDocument/references","params":{"workDoneToken":"w"}}
            < {"method":"$/progress","params":{"token":"w","value":{"kind":"begin","title":"t"}}}
            "#,
        ),
        (
            "a token of the server",
            r#"
            < {"id":1,"method":"window/workDoneProgress/create","params":{"token":1}}
            > {"id":1,"result":null}  => goes on, server
            < {"method":"$/progress","params":{"token":1,"value":{"kind":"begin","title":"t"}}}  => part of 0 recorded
            > {"method":"window/workDoneProgress/cancel","params":{"token":1}}  => part of 0 recorded, cancels
            < {"method":"$/progress","params":{"token":1,"value":{"kind":"end"}}}  => part of 0 recorded, ends
            < {"id":2,"method":"window/workDoneProgress/create","params":{"token":2}}
            > {"id":2,"error":{"code":-32603,"message":"no"}}
            "#,
        ),
        (
            "commands",
            r#"
            > {"id":1,"method":"textDocument/hover","params":{}}
            < {"id":1,"method":"workspace/applyEdit","params":{"edit":{}}}
            > {"id":1,"result":{"applied":true}}
            < {"id":1,"result":null}
            > {"id":2,"method":"workspace/executeCommand","params":{"command":"c"}}
            < {"id":2,"method":"workspace/configuration","params":{"items":[]}}
            > {"id":2,"result":[]}
            < {"id":3,"method":"workspace/applyEdit","params":{"edit":{}}}  => inside 4 inferred
            > {"id":3,"result":{"applied":true}}
            < {"id":4,"method":"window/showMessageRequest","params":{"type":1,"message":"m"}}  => inside 4 inferred, person
            > {"id":4,"result":null}
            > {"id":5,"method":"workspace/executeCommand","params":{"command":"c"}}
            < {"id":5,"method":"workspace/applyEdit","params":{"edit":{}}}
            "#,
        ),
    ];
    check("lsp", with_length, &cases);
}
