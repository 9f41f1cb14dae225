//! The sessions that can be shown: what the client sends, what the server answers, and which answer gets lost.

/// A session of a protocol.
pub struct Case {
    pub protocol: &'static str,
    /// The scheme of addresses; `None`: the proxy starts the server, and the client the proxy.
    pub scheme: Option<&'static str>,
    /// The messages of the client, as `send --file` reads them.
    pub calls: &'static str,
    /// The script of the server.
    pub script: &'static str,
    /// The number of the answer that gets lost. Answers of the handshake are counted.
    pub lost: u32,
}

const CASES: &[Case] = &[
    Case {
        protocol: "mcp",
        scheme: None,
        calls: r#"
            tools/list
            tools/call add '{"a":2,"b":3}'
            tools/call add '{"a":4,"b":1}'
        "#,
        script: r#"
            [[on]]
            match = "subject=tools/list"
            result = { tools = [{ name = "add", description = "Adds two numbers", inputSchema = { type = "object" } }] }
            [[on]]
            match = ".params.name=add"
            result = "5"
        "#,
        lost: 4,
    },
    Case {
        protocol: "acp",
        scheme: None,
        calls: r#"
            session/new /tmp []
            session/prompt s1 '[{"type":"text","text":"2 + 3?"}]'
            session/prompt s1 '[{"type":"text","text":"4 + 1?"}]'
        "#,
        script: r#"
            [[on]]
            match = "subject=session/new"
            result = { sessionId = "s1" }
            [[on]]
            match = "subject=session/prompt"
            result = { stopReason = "end_turn" }
        "#,
        lost: 4,
    },
    Case {
        protocol: "lsp",
        scheme: None,
        calls: "
            textDocument/didOpen file:///a.rs rust 1 'fn main() {}'
            textDocument/hover file:///a.rs 0 3
            textDocument/hover file:///a.rs 0 4
        ",
        script: r#"
            [[hello]]
            to = "request initialize"
            message = { json = '{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"hoverProvider":true}}}', fill = [{ at = "id", from = "id" }] }
            [[on]]
            match = "subject=shutdown"
            result = { json = "null" }
            [[on]]
            result = { contents = "fn main()" }
        "#,
        lost: 3,
    },
    Case {
        protocol: "jsonrpc",
        scheme: None,
        calls: "
            request math.add [2,3]
            request math.add [4,1]
        ",
        script: "[[on]]\nresult = 5",
        lost: 2,
    },
    Case {
        protocol: "oracle",
        scheme: None,
        calls: "
            invoke add 0x2 0x3
            invoke add 0x4 0x1
        ",
        script: "[[on]]\nresult = [\"0x5\"]",
        lost: 3,
    },
    Case {
        protocol: "saikuro",
        scheme: Some("tcp"),
        calls: "
            call math.add 2 3
            call math.add 4 1
        ",
        script: "offers = [\"math.add\"]\n[[on]]\nresult = 5",
        lost: 2,
    },
    Case {
        protocol: "sael",
        scheme: Some("ws"),
        calls: r#"
            INV math.add '{"a":2,"b":3}'
            INV math.add '{"a":4,"b":1}'
        "#,
        script: "[[on]]\nresult = { sum = 5 }",
        lost: 2,
    },
    Case {
        protocol: "stepflow",
        scheme: None,
        calls: r#"
            components/execute /add '{"a":2,"b":3}'
            components/execute /add '{"a":4,"b":1}'
        "#,
        script: "[[on]]\nresult = { sum = 5 }",
        lost: 3,
    },
    Case {
        protocol: "telequick",
        scheme: Some("tcp"),
        calls: "
            Barge call_sid=abc
            Barge call_sid=def
        ",
        script: "[[on]]\nresult = {}",
        lost: 2,
    },
];

impl Case {
    /// Returns the names of the protocols.
    pub fn names() -> impl Iterator<Item = &'static str> {
        CASES.iter().map(|case| case.protocol)
    }

    pub fn named(protocol: &str) -> Option<&'static Self> {
        CASES.iter().find(|case| case.protocol == protocol)
    }

    /// Returns the fault of the proxy.
    pub fn fault(&self) -> String {
        format!("role=response nth {}: drop", self.lost)
    }

    /// Returns the messages of the client, one per line.
    pub fn lines(&self) -> impl Iterator<Item = &'static str> {
        let lines = self.calls.lines().map(str::trim);
        lines.filter(|line| !line.is_empty())
    }
}
