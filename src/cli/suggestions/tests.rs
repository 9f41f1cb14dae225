// Long: a table of command lines.
//! Tests of command lines without a command, and of tips.

use super::*;
use crate::cli::Cli;

#[test]
fn file_is_decoded_unless_it_is_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.bin");
    std::fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    let script = folder.path().join("server");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    let script = script.to_str().unwrap();
    let is_command = |word: &str| word == "lint";
    for (words, wanted) in [
        (&[file][..], Some(vec!["decode", file])),
        (&["-"], Some(vec!["decode", "-"])),
        (
            &["-f", "json", file],
            Some(vec!["decode", "-f", "json", file]),
        ),
        (&["-w", "o", file], Some(vec!["decode", "-w", "o", file])),
        (&["-w", "o", script], None),
        (&["-w", "o", "--", script], None),
        (&["lint", file], None),
        (&["-q", "lint", file], None),
        (&["no-such-file"], None),
        (&["--help"], None),
        (&[], None),
        (&["explain", "a/b"], Some(vec!["lint", "--explain", "a/b"])),
        (&["version"], Some(vec!["--version"])),
    ] {
        let args = std::iter::once(&"wiretool").chain(words);
        let args: Vec<OsString> = args.map(OsString::from).collect();
        let found = complete_command(&args, is_command, || false);
        let found = found.map(|all| all.into_iter().skip(1).collect::<Vec<_>>());
        let wanted = wanted.map(|all| all.into_iter().map(OsString::from).collect());
        assert_eq!(found, wanted, "{words:?}");
    }
}

#[test]
fn stdin_with_input_is_decoded_if_there_is_no_command() {
    for (words, wanted) in [
        (&[][..], Some(vec!["decode"])),
        (&["-f", "json"], Some(vec!["decode", "-f", "json"])),
        (&["--no-such-flag"], Some(vec!["decode", "--no-such-flag"])),
        (&["-q", "lint"], None),
        // A protocol with the name of a command.
        (&["-p", "lint"], Some(vec!["decode", "-p", "lint"])),
        (&["no-such-file"], None),
        (&["-w", "x", "--", "cat"], None),
        (&["-o", "x", "cat", "-u"], None),
        (&["-w", "x"], Some(vec!["decode", "-w", "x"])),
        (&["-h"], None),
        (&["-q", "--version"], None),
    ] {
        let args = std::iter::once(&"wiretool").chain(words);
        let args: Vec<OsString> = args.map(OsString::from).collect();
        let found = complete_command(&args, |word| word == "lint", || true);
        let found = found.map(|all| all.into_iter().skip(1).collect::<Vec<_>>());
        let wanted = wanted.map(|all| all.into_iter().map(OsString::from).collect());
        assert_eq!(found, wanted, "{words:?}");
    }
}

/// The command line, and a part of the only tip.
const GUESSES: &[(&str, &str)] = &[
    ("sniff -i lo", "wiretool proxy shows live traffic"),
    ("lint --only unanswered FILE", "| grep RULE"),
    ("stub mcp --error -32603", "--script FILE"),
    ("decode --session 3 FILE", "--grep ID"),
    ("decode --only-requests FILE", "--where role=request"),
    ("record --duration 2s -w FILE -- x", "timeout 10 wiretool"),
    ("record --cwd DIR -w FILE -- x", "env -C FOLDER COMMAND"),
    ("lint --github FILE", "--report github"),
    ("stat --json FILE", "jq .kinds"),
    ("stat --threshold 1s FILE", "latency>1s"),
    ("export --redact FILE", "wiretool redact FILE"),
    ("replay --realtime FILE -- x", "--speed 1"),
    ("watch --live FILE", "--follow"),
    ("protocol mcp", "wiretool protocol show mcp"),
    (
        "replay server.py Cargo.toml",
        "wiretool replay Cargo.toml -- COMMAND",
    ),
    ("tcpdump -i lo -A", "tcpdump -i lo -w - | wiretool"),
    ("lint --severity error FILE", "--fail-on"),
    ("record --append -w FILE -- x", "FILE.1"),
    ("record --max-size 10M -w FILE -- x", "--rotate 100M"),
    (
        "record ./server stdio -o calls.jsonl",
        "wiretool record -w calls.jsonl -- ./server stdio",
    ),
    ("wrap pylsp --client neovim", "wiretool help clients"),
    (
        "mcp list -- ./server",
        "wiretool send mcp tools/list -- ./server",
    ),
    ("run -p mcp ./server", "wiretool proxy -p mcp -- ./server"),
    ("report FILE", "wiretool lint FILE --report sarif"),
    ("export FILE", "-f is the form, one of mermaid, html"),
    ("export csv FILE", "wiretool -f json --flat FILE"),
    ("decode --pcap FILE", "wiretool FILE"),
    ("decode --in a --out b", "--c2s FILE --s2c OTHER"),
    ("minimize FILE", "wiretool shrink FILE -- COMMAND"),
    ("-- ./server stdio", "wiretool proxy -- ./server stdio"),
    ("encode --hex FILE", "--to hex"),
    (
        "decode --hex '11 00 ff'",
        "printf %s '11 00 ff' | wiretool decode",
    ),
    ("82a16101", "printf %s 82a16101 | wiretool decode"),
    ("{\"id\":1}", "is read from stdin"),
    ("stat --latency FILE", "percentiles and the slowest calls"),
    ("redact --replace a=b FILE", "text of the same length"),
    (
        "make lsp textDocument/hover --uri file:///a.rs",
        "arguments are words, such as 'uri=file:///a.rs'; wiretool make lsp --list",
    ),
    ("make jsonrpc add 1 2 --id 7", "such as 'id=7'"),
    (
        "send -p mcp tools/list -- ./server",
        "wiretool send mcp tools/list -- ./server",
    ),
    ("stub -p mcp", "the protocol comes first: wiretool stub mcp"),
    ("decode -f Cargo.toml", "wiretool decode Cargo.toml"),
    ("wrap --list", "wiretool wrap alone lists"),
    ("wrap --file .mcp.json", "--in .mcp.json"),
    ("wrap --rotate 10M a", "beyond 1 GB are removed"),
    ("wrap --max-size 1G", "beyond 1 GB are removed"),
    ("wrap -w x.jsonl a", "as @NAME"),
    ("snapshot accept --all d", "snapshot accept PATH"),
    ("protocol list", "wiretool help protocols"),
    ("protocol lint my.toml", "wiretool protocol check"),
    (
        "protocol draft lsp.bin -o my.toml",
        "draft FILE > NAME.toml",
    ),
    ("completions --shell zsh", "wiretool completions bash, zsh"),
    ("--man", "wiretool man prints"),
    ("run npx server", "wiretool proxy -- npx server"),
    ("npx server", "wiretool proxy -- npx server"),
    ("sh server.sh", "wiretool proxy -- sh server.sh"),
    (
        "proxy -l 19002 http://h:80/mcp",
        "use --listen tcp://127.0.0.1:19002 --connect http://h:80/mcp",
    ),
    (
        "proxy --mode reverse:http://h:80 -p 19003",
        "use --listen tcp://127.0.0.1:19003 --connect http://h:80",
    ),
    (
        "tee a.jsonl -- ./server",
        "wiretool record -w a.jsonl -- ./server",
    ),
    (
        "verify a.wt -- ./server",
        "wiretool replay a.wt -- ./server",
    ),
    (
        "serve Cargo.toml -p 19012",
        "stub mcp --from-recording Cargo.toml --listen tcp://127.0.0.1:19012",
    ),
    (
        "lint --explain -32602",
        "the parameters of the method are invalid",
    ),
    (
        r#"send tools/call --params '{"name":"add","arguments":{"a":1}}' -- ./server"#,
        r#"wiretool send mcp tools/call add '{"a":1}' -- ./server"#,
    ),
    ("send -- ./server", "wiretool send mcp --json - -- ./server"),
    ("decode -p msgpack FILE", "MessagePack is an encoding"),
    ("decode --count FILE", "wiretool stat --where EXPR FILE"),
    ("slice FILE 3-5", "--where 'index>=3 index<=5'"),
    ("snapshot --ci FILE", "CI=1 wiretool snapshot test"),
    ("conns FILE", "--where conn=N"),
    ("grep x FILE", "--grep TEXT"),
    ("inspect FILE", "wiretool watch FILE"),
    ("logs -f FILE", "--follow"),
    ("mcp FILE", "proxy -p mcp"),
    ("where", "wiretool help where"),
    ("ws://localhost:8080", "--connect ws://localhost:8080"),
    ("localhost:8080", "--connect tcp://localhost:8080"),
    ("-t ws://localhost:8080", "--connect ws://localhost:8080"),
    (
        "-k https://localhost/mcp",
        "--connect https://localhost/mcp",
    ),
    ("ws-c:ws://localhost:8080", "--connect ws://localhost:8080"),
    ("tcp-l:localhost:80 x", "--listen tcp://localhost:80"),
    (
        "@scope/package a",
        "wiretool proxy -- npx -y @scope/package a",
    ),
    ("tools/list", "wiretool send PROTOCOL tools/list"),
    ("images", "wiretool stat FILE"),
    ("mitmweb", "wiretool proxy shows live traffic"),
    ("describe x", "make PROTOCOL --list"),
    ("--mode reverse:x", "--connect ADDR"),
    (".params.name FILE", "--path params.name"),
    ("'#3'", "--where index=3"),
    ("diff -u a b", "-f json"),
    ("decode -C FILE", "--context takes a number"),
    ("decode -n FILE", "--head takes a number"),
    ("decode --index 3", "--where index=3"),
    ("decode --filter x", "--where EXPR"),
    ("decode --limit 2", "--head N"),
    ("decode -r FILE", "argument without a flag"),
    ("-r 'a b.pcap'", "wiretool 'a b.pcap'"),
    (
        "-r a.pcap -Y 'x.y == \"z\"'",
        "wiretool a.pcap --where EXPR",
    ),
    ("lint -r a.pcap -T json", "wiretool lint a.pcap -f json"),
    ("-r a.pcap -V -c 2", "wiretool a.pcap -f tree --head 2"),
    ("-r a.pcap -q -z io,stat,1", "wiretool stat FILE"),
    ("decode FILE -vv", "-f tree"),
    ("decode --hex", "--from hex"),
    ("decode --base64 FILE", "--from base64"),
    ("decode FILE --utc", "times are in UTC"),
    ("export --pcap FILE", "export -f pcapng FILE -o"),
    (
        "export FILE --csv",
        "wiretool decode -f json --flat FILE prints",
    ),
    (
        "export FILE -f csv",
        "and wiretool export -f sql their table",
    ),
    (
        "decode FILE -f sql",
        "and wiretool export -f sql their table",
    ),
    (
        "export FILE --to sql",
        "wiretool decode -f json --flat FILE prints",
    ),
    ("export FILE --to pcap", "wiretool export -f pcapng FILE -o"),
    ("decode FILE -where method=x", "two dashes: --where"),
    ("decode FILE -write x", "two dashes: --write"),
    ("decode FILE -format=json", "two dashes: --format"),
    ("decode FILE -only x", "--where 'subject=x'"),
    ("decode FILE -with", "--pair shows"),
    ("decode Cargo.toml -watch", "wiretool watch Cargo.toml"),
    ("proxy -listen :1 -- S", "two dashes: --listen"),
    (
        "proxy ./server -port 1",
        "wiretool proxy -- ./server -port 1",
    ),
    ("proxy mcp -- ./server", "wiretool proxy -p mcp -- ./server"),
    (
        "record mcp ./server a",
        "wiretool record -p mcp -- ./server a",
    ),
    (
        "proxy -w x.jsonl lsp",
        "wiretool proxy -w x.jsonl -p lsp -- COMMAND",
    ),
    (
        "decode FILE --exclude notification",
        "--where 'not role=notification' leaves",
    ),
    (
        "decode FILE --exclude errors",
        "--where 'not (role=error or outcome=error)'",
    ),
    (
        "decode FILE --only requests",
        "--where role=request selects",
    ),
    ("mcp server FILE", "wiretool mcp serve lets"),
    ("generate mcp initialise", "wiretool make mcp initialize"),
    (
        "lint -r mcp/unanswered Cargo.toml",
        "wiretool lint Cargo.toml | grep mcp/unanswered",
    ),
    (
        "stub mcp --reply tools/list={}",
        "match = 'subject=tools/list'",
    ),
    ("stub mcp --reply x", "--tool NAME=JSON"),
    ("encode FILE --raw", "--to raw"),
    (
        "redact Cargo.toml out.jsonl",
        "wiretool redact Cargo.toml -o out.jsonl",
    ),
    ("wrap --undo phone", "wiretool unwrap phone"),
    ("wrap phone --undo", "wiretool unwrap NAME"),
    (
        "shrink FILE --rule mcp/unanswered -o x",
        "--match mcp/unanswered -- wiretool lint {}",
    ),
    ("inject FILE", "--fault"),
    ("proxy --log-file x -- S", "the recording is -w x"),
    ("decode FILE --slowest 3", "wiretool stat FILE lists"),
    ("decode FILE --relative-time", "since the line before"),
    ("stat -p 99 FILE", "shows p50, p90, p99"),
    ("export FILE -f pcap", "export -f pcapng FILE -o"),
    ("merge A B", "--c2s A --s2c B"),
    ("decode FILE -T fields -e method", ".latency_ms"),
    (
        "send '{\"id\":1}' -- S",
        "wiretool send mcp --json '{\"id\":1}' -- S",
    ),
    ("send Cargo.lock -- S", "wiretool replay Cargo.lock -- S"),
    (
        "call add a=1 b=x c=true -- S",
        r#"wiretool send mcp tools/call add '{"a":1,"b":"x","c":true}' -- S"#,
    ),
    (
        "proxy tcp-listen:18080,fork tcp:127.0.0.1:9999",
        "--listen tcp://127.0.0.1:18080 --connect tcp://127.0.0.1:9999",
    ),
    ("-r a.pcap 'tcp port 7700'", "wiretool a.pcap --port 7700"),
    ("-r a.pcap tcp port 7700", "wiretool a.pcap --port 7700"),
    ("decode -Y x", "--where EXPR"),
    ("decode -T json", "-f tree, line, json or hex"),
    ("stat --json", "-f json"),
    ("lint --json", "-f json"),
    ("decode --listen x", "--listen is a flag of"),
    ("-w x", "-w is a flag of decode"),
    (
        "proxy 8080:9090",
        "--listen tcp://127.0.0.1:8080 --connect tcp://127.0.0.1:9090",
    ),
    (
        "proxy :8080 :9090",
        "--listen tcp://127.0.0.1:8080 --connect tcp://127.0.0.1:9090",
    ),
    ("proxy localhost:9090", "use --connect tcp://localhost:9090"),
    ("proxy 9090", "use --connect tcp://127.0.0.1:9090"),
    (
        "proxy http://localhost:9090/x",
        "use --connect http://localhost:9090/x",
    ),
    (
        "proxy ws-l:127.0.0.1:1 tcp:127.0.0.1:2",
        "--listen ADDR and --connect ADDR",
    ),
    ("proxy node server.js", "wiretool proxy -- node server.js"),
    ("record ./server 'a b'", "wiretool record -- ./server 'a b'"),
    ("proxy --listen-port 8080", "--listen tcp://127.0.0.1:8080"),
    ("proxy --mode reverse:x", "--connect ADDR"),
    ("proxy -p 8080", "--listen tcp://127.0.0.1:8080"),
    (
        "record o.jsonl -- cat -u",
        "wiretool record -w o.jsonl -- cat -u",
    ),
    (
        "attach 15206",
        "strace -f -ttt -y -s 65535 -o FILE -p 15206",
    ),
    ("calls FILE", "wiretool stat FILE"),
    ("head -n 5 FILE", "--head N"),
    ("jq .params FILE", "-f json FILE | jq .message.params.name"),
    ("serve FILE -p 1", "--from-recording FILE"),
    ("diagnose FILE", "wiretool lint FILE"),
    ("verify FILE -- S", "wiretool replay FILE -- S"),
    ("proxy --delay 1s", "-p mcp --fault ': delay 200ms'"),
    ("--cli python3 s.py --method x", "wiretool send mcp"),
    (
        "call echo text=hi n:=1 -- S",
        r#"wiretool send mcp tools/call echo '{"n":1,"text":"hi"}' -- S"#,
    ),
    (
        "proxy --listen 18080 --target localhost:19090",
        "--listen tcp://127.0.0.1:18080 --connect tcp://localhost:19090",
    ),
    (
        "send http://localhost:1/mcp x",
        "--connect http://localhost:1/mcp",
    ),
    ("send mcp --method x", "wiretool send PROTOCOL KIND"),
    (
        "send mcp x --url http://localhost:1",
        "--connect http://localhost:1",
    ),
    ("tshark -r a.pcap -Y http", "wiretool a.pcap --where EXPR"),
    ("rm FILE", "plain files"),
    ("Decode Cargo.toml", "wiretool decode Cargo.toml"),
    ("DECODE Cargo.toml", "wiretool decode Cargo.toml"),
    ("proxies", "wiretool proxy"),
    ("stubs x", "wiretool stub x"),
    ("redacted Cargo.toml", "wiretool redact Cargo.toml"),
    ("decoding Cargo.toml", "wiretool decode Cargo.toml"),
    ("statistics Cargo.toml", "wiretool stat Cargo.toml"),
    ("decode --lsp Cargo.toml", "the protocol is -p lsp"),
    ("decode -lsp Cargo.toml", "the protocol is -p lsp"),
    ("decode --MCP Cargo.toml", "the protocol is -p mcp"),
    ("mcp Cargo.toml", "wiretool -p mcp Cargo.toml"),
    ("lsp Cargo.toml", "wiretool -p lsp Cargo.toml"),
    (
        "grep -i 'a b' Cargo.toml",
        "wiretool Cargo.toml --grep 'a b' --ignore-case selects",
    ),
    (
        "rg hover Cargo.toml",
        "wiretool Cargo.toml --grep hover selects",
    ),
    ("decode Cargo.toml -Y 'tcp.port == 80'", "--port 80"),
    ("decode Cargo.toml --filter 'tcp port 80'", "--port 80"),
    ("decode Cargo.toml -z follow,tcp,ascii,0", "--where conn=N"),
    ("decode Cargo.toml --conversation 3", "--where conn=N"),
    ("decode Cargo.toml -2", "leave it out"),
    ("proxy --script x.py --connect http://h:1", "--fault"),
    ("proxy --flow-detail 3", "-f tree"),
    (
        "curl -X POST http://h/mcp tools/list",
        "wiretool send mcp tools/list --connect http://h/mcp",
    ),
    (
        "http POST http://h/mcp method=tools/list",
        "wiretool send mcp tools/list --connect http://h/mcp",
    ),
    ("wscat -c ws://h:1", "--connect ws://h:1 sends"),
    ("websocat ws://h:1", "--connect ws://h:1 sends"),
    (
        "send jsonrpc x -c ws://h:1",
        "the address is --connect ws://h:1",
    ),
    ("grpcurl h:1 list", "--connect tcp://h:1 sends"),
    ("docker logs x", "docker logs NAME 2>&1 | wiretool"),
    ("kubectl logs -f pod", "kubectl logs NAME | wiretool"),
    ("journalctl -u x", "is read from a pipe"),
    ("git diff A B", "wiretool diff A B"),
    ("script x", "wiretool proxy -- COMMAND"),
    ("strace ./server", "traces of strace are read"),
    ("record a.jsonl", "wiretool record -w a.jsonl -- COMMAND"),
    ("diff Cargo.toml", "wiretool diff Cargo.toml OTHER"),
    ("-?", "--help has all flags"),
    ("decode Cargo.toml --stat", "wiretool stat Cargo.toml"),
    ("lnav Cargo.toml", "wiretool watch Cargo.toml"),
    ("postman", "wiretool send PROTOCOL"),
    ("watch --interval 1 Cargo.toml", "--follow"),
    ("redact --email Cargo.toml", "a pattern is --value REGEX"),
    ("export Cargo.toml -f svg", "wiretool export -f mermaid"),
    ("export Cargo.toml -f postman", "wiretool export -f har"),
    (
        "export Cargo.toml --to html",
        "wiretool export -f html Cargo.toml",
    ),
    ("decode Cargo.toml -f pretty", "-f json prints"),
    ("decode Cargo.toml --color=yes", "--color always"),
    ("decode Cargo.toml --color", "--color always"),
    ("decode Cargo.toml --conn c1", "--where conn=N"),
    ("decode Cargo.toml --no-headers", "lines have no headings"),
    ("send tools/list", "wiretool send mcp tools/list"),
    ("send mcp x --stdio y", "after --"),
    ("proxy -it", "-- COMMAND"),
    ("lint --disable x", "--allow RULE"),
    (
        "lint --disable mcp/unknown-tool x",
        "--allow mcp/unknown-tool",
    ),
    ("decode Cargo.toml -m tools/call", "'subject=tools/call'"),
    ("graph Cargo.toml", "wiretool export -f mermaid"),
    ("lint --list", "--rules lists"),
    ("decode -d mcp", "-p PROTOCOL"),
    ("man decode", "wiretool help decode"),
    ("stub mcp --port 8080", "--listen tcp://127.0.0.1:8080"),
    (
        "-w o.jsonl -- cat -u",
        "wiretool record -w o.jsonl -- cat -u",
    ),
    ("-o o.jsonl cat", "wiretool record -w o.jsonl -- cat"),
    ("--write o.jsonl sh x", "record -w o.jsonl -- sh x"),
    ("lint --format sarif FILE", "--report sarif"),
    ("lint -f github FILE", "--report github"),
    ("snapshot test --format junit", "--report junit"),
    ("lint -Werror FILE", "--fail-on warning"),
    ("watch -f FILE", "--follow"),
    ("decode --errors FILE", "'role=error or outcome=error'"),
    ("decode --failed FILE", "'role=error or outcome=error'"),
    ("errors FILE", "'role=error or outcome=error'"),
    ("analyze FILE", "'role=error or outcome=error'"),
    ("decode --tool sub FILE", "--where name=sub"),
    ("decode --tool='a b' FILE", "--where name='a b'"),
    ("decode --tool", "--where name=VALUE"),
    (
        "call echo '{\"a\": 1}' -- S",
        "wiretool send mcp tools/call echo '{\"a\": 1}' -- S",
    ),
    (
        "send resources/x -- S",
        "wiretool send mcp resources/x -- S",
    ),
    ("send invoke f -- S", "wiretool send oracle invoke f -- S"),
    ("stub mcp FILE", "--from-recording FILE"),
    ("snapshot verify x", "wiretool snapshot test PATH"),
    ("snapshot check", "wiretool snapshot test PATH"),
    ("snapshot create x", "wiretool snapshot accept PATH"),
    ("snapshot save x", "wiretool snapshot accept PATH"),
    ("snapshot update", "wiretool snapshot accept PATH"),
    ("snapshot Cargo.toml", "wiretool snapshot test Cargo.toml"),
    ("snapshot test -u", "wiretool snapshot accept PATH"),
    ("snapshot test --update x", "wiretool snapshot accept PATH"),
    ("expect --update x", "wiretool snapshot test FILE"),
    ("update", "wiretool snapshot accept PATH"),
    ("merge A B", "wiretool decode A B"),
    ("next FILE", "wiretool lint FILE"),
    ("who is waiting FILE", "wiretool lint FILE"),
    ("slow FILE", "wiretool -f json --pair FILE has latency_ms"),
    (
        "slow Cargo.toml Cargo.lock",
        "wiretool stat --c2s Cargo.toml --s2c Cargo.lock",
    ),
    ("decode --slower-than 100ms FILE", "--where 'latency>100ms'"),
    ("decode -e Cargo.toml", "wiretool Cargo.toml; a text is"),
    ("hang FILE", "wiretool lint FILE"),
    ("stuck", "wiretool lint FILE"),
    ("wait", "wiretool lint FILE"),
    ("pending FILE", "wiretool lint FILE"),
    ("doctor", "wiretool decode -v FILE"),
    ("ping", "wiretool send mcp ping -- COMMAND"),
    ("fuzz", "wiretool proxy -p mcp --fault"),
    ("setup", "wiretool help clients"),
    ("examples", "wiretool --help has examples"),
    ("list", "wiretool help lists"),
    ("connections", "wiretool stat FILE"),
    ("flows", "wiretool stat FILE"),
    ("decode --unanswered FILE", "wiretool lint FILE"),
    ("decode --range 1-3", "--where 'index>=3 index<=5'"),
    ("decode --wide FILE", "-f json has whole messages"),
    ("decode --no-truncate FILE", "-f json has whole messages"),
    ("decode --width 300 FILE", "-f json has whole messages"),
    ("decode --tree FILE", "-f tree"),
    ("stat --top 3 FILE", "the slowest calls"),
    ("stat --percentiles FILE", "always lists percentiles"),
    ("redact -i FILE", "-o FILE"),
    ("redact --regex x FILE", "--value REGEX"),
    ("replay --loop FILE", "--repeat N"),
    ("replay --dry-run FILE", "--where role=request"),
    ("stub mcp --delay 1s", "wiretool help scripts"),
    ("stub mcp --timeout 1s", "--idle TIME"),
    ("proxy --timeout 1s", "--idle TIME"),
    ("proxy --replace a=b", "--fault 'CONDITION: ACTION'"),
    ("record --env A=b -- x", "-- env NAME=TEXT COMMAND"),
    ("--no-pager help where", "wiretool help --no-pager"),
    (
        "proxy -p 18080:19090",
        "--listen tcp://127.0.0.1:18080 --connect tcp://127.0.0.1:19090",
    ),
    (
        "send tools/call name=add a:=1 b=x -- S",
        r#"wiretool send mcp tools/call add '{"a":1,"b":"x"}' -- S"#,
    ),
    ("send localhost:19090", "--json -"),
    ("send -d '{}' localhost:19090", "--json"),
    ("decode FILE --kind request --from client", "--dir c2s"),
    ("decode FILE --dir server", "--dir s2c"),
    ("decode FILE --direction out", "--dir c2s"),
    ("decode FILE --type notification", "--kind notification"),
    ("decode FILE --message 7", "--where index=7"),
    ("decode FILE --only errors", "'role=error or outcome=error'"),
    ("decode FILE -f raw", "jq -c .message"),
    ("decode FILE -f csv", "@csv"),
    ("decode FILE -f html", "export -f html"),
    ("decode FILE --html", "export -f html"),
    ("html FILE", "export -f html"),
    ("decode FILE -f jsonl", "jq -r .message.method"),
    ("stat FILE --by method", "a row for each method"),
    ("-p 1234", "strace -f -ttt -y -s 65535 -o FILE -p 1234"),
    (
        "strace -p 1234",
        "strace -f -ttt -y -s 65535 -o FILE -p 1234",
    ),
    ("ls FILE", "wiretool FILE shows"),
    ("config set color never", "WIRETOOL_COLOR=never"),
    (
        "diff Cargo.toml -- ./server --v2",
        "wiretool replay Cargo.toml -- ./server --v2",
    ),
    ("diff --only tools/call a b", "--where 'subject=tools/call'"),
    ("less Cargo.toml", "wiretool watch Cargo.toml"),
    ("wc Cargo.toml", "wiretool stat Cargo.toml"),
    ("decode FILE --sort duration", "wiretool stat FILE"),
    (
        "stub --record a.wt",
        "--from-recording a.wt, those of a script",
    ),
    ("stub mcp -f a.wt", "--from-recording a.wt"),
    ("stub mcp --http 80", "--listen http://127.0.0.1:80"),
    ("decode FILE -k 'a or b'", "--grep TEXT"),
    (
        "proxy --from :1 --to http://h/mcp",
        "use --listen tcp://127.0.0.1:1 --connect http://h/mcp",
    ),
    (
        "proxy --upstream http://h/mcp --port 1",
        "use --listen tcp://127.0.0.1:1 --connect http://h/mcp",
    ),
    ("proxy -p mcp --save a.wt -- S", "the recording is -w a.wt"),
    (
        "decode FILE --exclude tools/list",
        "--where 'not subject=tools/list'",
    ),
    ("decode FILE --code -32602", "--where '.error.code=-32602'"),
    ("decode FILE --regex 'a b|c'", "--where 'message~/a b|c/'"),
    ("decode FILE --fields id,method", "| @tsv"),
    ("decode FILE --csv", "| @tsv"),
    ("decode FILE --format '{{.method}}'", "| @tsv"),
    ("decode FILE -T fields", "| @tsv"),
    ("decode FILE --raw", "jq -c .message; bytes"),
    ("methods Cargo.toml", "wiretool stat Cargo.toml counts"),
    ("failures FILE", "'role=error or outcome=error'"),
    ("why FILE", "wiretool lint FILE"),
    ("identify FILE", "wiretool decode -v FILE"),
    ("--list-protocols", "wiretool help protocols"),
    (
        "tool echo text=hi -- S",
        r#"wiretool send mcp tools/call echo '{"text":"hi"}' -- S"#,
    ),
    (
        "list http://h/mcp",
        "wiretool send mcp tools/list --connect http://h/mcp",
    ),
    (
        "http://h/mcp tools/call name=echo text=hi",
        r#"wiretool send mcp tools/call echo '{"text":"hi"}' --connect http://h/mcp"#,
    ),
    (
        "post http://h/mcp '{\"id\":1}'",
        "wiretool send mcp --json '{\"id\":1}' --connect http://h/mcp",
    ),
    (
        "replay --only tools/call FILE -- S",
        "--where 'subject=tools/call'",
    ),
    ("proxy --only-errors -- S", "--follow FILE --where EXPR"),
    ("proxy --breakpoint x -- S", "no message is held"),
    (
        "port-forward 1:2",
        "wiretool proxy --listen tcp://127.0.0.1:1 --connect tcp://127.0.0.1:2",
    ),
    (
        "http-proxy 1 h:2",
        "wiretool proxy --listen tcp://127.0.0.1:1 --connect tcp://h:2",
    ),
    ("decode FILE --no-notifications", "'not role=notification'"),
    ("diff --brief a b", "the exit code"),
    ("playback FILE", "--from-recording FILE"),
    ("run -- ./server 'a b'", "wiretool proxy -- ./server 'a b'"),
    ("redact --dry-run FILE", "-o FILE"),
    (
        "send mcp initialize -where x -- S",
        "there is no --where; a file of this name is -w here",
    ),
    ("decode FILE --offset 3", "--at N"),
    ("decode FILE --jsonpath .id", "jq"),
    ("decode FILE --reverse", "--tail N"),
    ("record -where x -- S", "--follow FILE --where EXPR"),
    ("redact FILE -out b", "two dashes: --output"),
    ("make mcp initialize -outfile b", "there is no --outfile"),
    ("lint -p mcp -- sh s.sh", "wiretool proxy --lint -- sh s.sh"),
    ("test -- sh s.sh", "wiretool help test"),
    ("stat -- sh s.sh", "wiretool record -w FILE -- sh s.sh"),
    ("stat FILE -f csv", ".kinds[]"),
    ("decode FILE --tz local", "times are in UTC"),
    ("decode FILE --timeline", "wiretool watch FILE"),
    ("decode FILE --server-only", "--dir s2c"),
    ("stat --client-only FILE", "--dir c2s"),
    ("lint --exit-zero FILE", "--fail-on never"),
    ("lint --watch FILE", "--follow"),
    ("redact --secret token FILE", "--key NAME"),
    ("replay --record f FILE -- S", "-w NEW.jsonl"),
    ("proxy --tls", "--connect tls://HOST:PORT"),
    ("test --init", "wiretool help test"),
    ("test FILE -k a", "--case NAME"),
    ("test --junit o.xml FILE", "--report junit"),
    ("stat FILE --p99", "percentiles"),
    ("lint FILE --max-latency 500ms", "latency>500ms"),
    ("decode FILE --last 10s", "--tail N"),
    ("mcp serve --port 9000", "stdin and stdout"),
    ("mcp install", "wiretool help agents"),
    ("make mcp initialize --pretty", "jq ."),
    ("make telequick Barge call_sid=abc --hex", "--to hex"),
    ("make --count 10 mcp ping", "a loop of the shell"),
    ("lint --rule unanswered FILE", "| grep RULE"),
    ("lint --warn mcp/unanswered FILE", "--deny mcp/unanswered"),
    ("diff --ignore-time A B", "are not compared"),
    ("diff --latency A B", "wiretool stat FILE has the latencies"),
    ("replay --ignore-errors FILE -- ./server", "--keep-going"),
];

fn error_of(line: &str) -> (clap::Error, Vec<OsString>) {
    let line = format!("wiretool {line}");
    let args: Vec<OsString> = shell_words::split(&line)
        .unwrap()
        .into_iter()
        .map(OsString::from)
        .collect();
    let root = Cli::command();
    let error = root.clone().try_get_matches_from(&args).err();
    let is_command = |word: &str| root.find_subcommand(word).is_some();
    let misread = misread_command(&root, &args)
        .or_else(|| misread_flag(&root, &args, error.as_ref(), is_command));
    (misread.or(error).unwrap(), args)
}

#[test]
fn wrong_words_lead_to_the_right_place() {
    let mut wrong = Vec::new();
    for (line, wanted) in GUESSES {
        let (error, args) = error_of(line);
        let text = usage_text(&error, &Cli::command(), &args);
        let tips: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("  tip: "))
            .collect();
        let is_last = text
            .lines()
            .last()
            .is_some_and(|last| last.starts_with("For more information"));
        if !(tips.len() == 1 && tips[0].contains(wanted) && is_last && text.lines().count() <= 6) {
            wrong.push(format!("{line}: {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_unknown_flag_has_its_tip() {
    let (error, args) = error_of("decode --no-pager --nocolor --limit=2 FILE -- --method x");
    let text = usage_text(&error, &Cli::command(), &args);
    let tips: Vec<&str> = text.lines().filter(|line| line.contains("tip:")).collect();
    assert!(tips.len() == 3, "{text}");
    for (tip, wanted) in tips
        .iter()
        .zip(["help --no-pager", "--nocolor: ", "--limit: "])
    {
        assert!(tip.contains(wanted), "{text}");
    }
    let (error, args) = error_of("decode -X FILE -c 1");
    let text = usage_text(&error, &Cli::command(), &args);
    assert!(
        text.contains("-f hex") && text.contains("-c: wiretool stat"),
        "{text}"
    );
}

/// Words of other tools take the flags of the command that they stand for.
#[test]
fn words_that_stand_for_commands_have_flags() {
    for (line, wanted) in [
        (
            "print --last 2 Cargo.toml",
            &["wiretool Cargo.toml shows", "--last: "][..],
        ),
        (
            "sort --by time Cargo.toml",
            &["wiretool stat Cargo.toml", "--by: stat has a row"],
        ),
        (
            "sanitize Cargo.toml --keys a,b",
            &["wiretool redact Cargo.toml", "--key a,b"],
        ),
        (
            "trace Cargo.toml 6",
            &["wiretool watch Cargo.toml", "--where index=6"],
        ),
        ("nosuch.jsonl", &[]),
    ] {
        let (error, args) = error_of(line);
        let text = usage_text(&error, &Cli::command(), &args);
        let tips = text.lines().filter(|line| line.contains("tip: "));
        let tips: Vec<&str> = tips.collect();
        assert_eq!(tips.len(), wanted.len(), "{text}");
        for (tip, wanted) in tips.iter().zip(wanted) {
            assert!(tip.contains(wanted), "{text}");
        }
        if wanted.is_empty() {
            assert_eq!(text, "error: there is no file 'nosuch.jsonl'\n");
        }
    }
}

#[test]
fn suggestion_with_little_in_common_is_not_shown() {
    for line in ["decode --some", "decode --privt"] {
        let (error, args) = error_of(line);
        let text = usage_text(&error, &Cli::command(), &args);
        assert!(!text.contains("tip:"), "{text}");
    }
    let (error, args) = error_of("decode --frmat x");
    let text = usage_text(&error, &Cli::command(), &args);
    assert!(text.contains("'--format'"), "{text}");
}

#[test]
fn words_are_unknown_and_tips_name_what_exists() {
    let mut root = Cli::command();
    root.build();
    let mut flags = std::collections::BTreeSet::new();
    for command in root.get_subcommands() {
        for arg in command.get_arguments() {
            flags.extend(arg.get_long().map(|long| format!("--{long}")));
            flags.extend(arg.get_short().map(|short| format!("-{short}")));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    for (all, _) in words::COMMANDS {
        for word in all.split(' ') {
            assert!(root.find_subcommand(word).is_none(), "{word} is a command");
            assert!(seen.insert(word), "{word} is there twice");
        }
    }
    for (commands, all, _) in words::FLAGS {
        let known = |flag: &str| {
            !commands.is_empty()
                && commands.iter().all(|name| {
                    let command = root.find_subcommand(name).unwrap();
                    command.get_arguments().any(|arg| {
                        arg.get_long()
                            .is_some_and(|long| flag == format!("--{long}"))
                            || arg
                                .get_short()
                                .is_some_and(|short| flag == format!("-{short}"))
                    })
                })
        };
        assert!(!all.split(' ').any(known), "{commands:?} have one of {all}");
    }
    let tips = words::COMMANDS
        .iter()
        .map(|row| row.1)
        .chain(words::FLAGS.iter().map(|row| row.2));
    for tip in tips {
        let mut words = tip.split([' ', ';', ',', ':']).peekable();
        while let Some(word) = words.next() {
            if word == "wiretool"
                && let Some(next) = words.peek()
            {
                let is_file = *next == "FILE" || next.starts_with('-') || next.is_empty();
                assert!(
                    is_file || root.find_subcommand(next).is_some(),
                    "{tip}: {next}"
                );
            }
            // Those of tcpdump and jq.
            let is_other = tip.contains("tcpdump") || tip.contains("| jq -");
            let is_flag = word.starts_with('-') && word != "--" && word != "-" && !is_other;
            assert!(!is_flag || flags.contains(word), "{tip}: {word}");
        }
    }
}

#[test]
fn a_file_behind_flags_that_does_not_exist_is_named() {
    for (line, file) in [
        ("-f line nofile.log", Some("nofile.log")),
        ("--grep x nofile.log", Some("nofile.log")),
        ("--grep nofile.log", None),
        ("-f line Cargo.toml --frmat", None),
        ("-f line decode", None),
        ("--no-such-flag nofile.log", None),
    ] {
        let (error, args) = error_of(line);
        let text = usage_text(&error, &Cli::command(), &args);
        let named = text.strip_prefix("error: there is no file '");
        let named = named.and_then(|rest| rest.strip_suffix("'\n"));
        assert_eq!(named, file, "{line}: {text}");
    }
}

#[test]
fn file_that_is_no_file_gets_a_tip() {
    for (name, wanted) in [
        ("mcp", Some("-p mcp")),
        ("port", Some("--port PORT")),
        (".method", Some("--path method")),
        ("kind=call", Some("--where 'kind=call'")),
        ("localhost:8080", Some("--connect localhost:8080")),
        ("capture.bin", None),
        ("../capture.bin", None),
    ] {
        let tip = file_tip(Path::new(name));
        match wanted {
            Some(wanted) => assert!(
                tip.as_ref().is_some_and(|tip| tip.contains(wanted)),
                "{tip:?}"
            ),
            None => assert_eq!(tip, None, "{name}"),
        }
    }
}
