// Long: tables.
//! Words of other tools in this field, and the command or flag to use instead. Words of a row are separated by spaces.

/// Words in place of a command.
pub(super) const COMMANDS: &[(&str, &str)] = &[
    (
        "bridge capture forward forward-proxy http-proxy intercept listen live mitm mitmdump mitmproxy mitmweb monitor port-forward relay reverse sniff socat spy tap tcpdump dumpcap tshark wireshark tunnel",
        "wiretool proxy shows live traffic, of addresses (--connect ADDR) or of a child (-- COMMAND); wiretool record -w FILE records it",
    ),
    (
        "operation operations ops turns",
        "wiretool stat --ops FILE counts operations and their times, wiretool decode --ops FILE shows each",
    ),
    (
        "bugreport bug-report issue share ticket",
        "wiretool redact FILE -o NEW.jsonl replaces secrets; then wiretool export NEW.jsonl -f html -o NEW.html writes one page for a ticket",
    ),
    (
        "report",
        "wiretool lint FILE --report sarif (or github, junit, html) writes a report; wiretool export FILE -f html -o FILE.html one page of the session",
    ),
    (
        "bisect ddmin delta minimise minimize reduce simplify",
        "wiretool shrink FILE -- COMMAND writes the smallest capture for which a command still fails",
    ),
    (
        "tee",
        "wiretool record -w FILE -- COMMAND starts a command and records its messages; wiretool proxy also shows them",
    ),
    (
        "attach exec launch npx run spawn start stdio",
        "wiretool proxy -- COMMAND starts a command and shows its messages",
    ),
    (
        "follow log logs tail",
        "wiretool decode --follow FILE reads while the file grows; --tail N shows the last messages",
    ),
    (
        "head",
        "wiretool FILE --head N shows the first messages, --tail N the last, --skip N those after the first",
    ),
    (
        "jq",
        "wiretool decode -f json FILE | jq .message.params.name takes members out; --where EXPR selects messages (see wiretool help where)",
    ),
    (
        "ack ag egrep filter find grep query rg search select",
        "wiretool decode --grep TEXT FILE and --where EXPR select messages (see wiretool help where); --ignore-case for any case, --where 'not …' for the others, -A, -B and -C as in grep",
    ),
    (
        "bat batcat less lnav load more most timeline",
        "wiretool watch FILE shows a capture on the whole screen, with its times; wiretool FILE prints it",
    ),
    (
        "column nl sort uniq wc",
        "wiretool stat FILE counts messages and lists the slowest calls; jq sorts what wiretool FILE -f json prints",
    ),
    (
        "awk gawk sed strings",
        "wiretool FILE --where EXPR selects messages; jq takes members out of what wiretool FILE -f json prints",
    ),
    (
        "detect file identify type which",
        "wiretool decode -v FILE says what was detected, and why",
    ),
    (
        "cut range slice split",
        "wiretool FILE --where 'index>=3 index<=5' selects messages, -w NEW.jsonl writes a recording of the whole input",
    ),
    (
        "docker journalctl k kubectl podman stern",
        "the log of a container is read from a pipe: docker logs NAME 2>&1 | wiretool, kubectl logs NAME | wiretool",
    ),
    (
        "git",
        "wiretool diff A B compares two captures, wiretool snapshot test FILE one with what is accepted",
    ),
    (
        "ltrace script strace truss",
        "wiretool proxy -- COMMAND starts a command and shows its messages; recordings of script and traces of strace are read, too: wiretool FILE (wiretool help inputs)",
    ),
    (
        "explain",
        "wiretool lint --explain RULE explains a rule of lint",
    ),
    (
        "debug inspect inspector trace",
        "wiretool watch FILE shows a capture on the whole screen; wiretool proxy -- COMMAND shows live traffic",
    ),
    (
        "analyse analyze audit errors expert failed failures verify",
        "wiretool lint FILE checks the rules; --where 'role=error or outcome=error' selects errors",
    ),
    (
        "calls count metrics requests statistics status summary top",
        "wiretool stat FILE counts messages and measures latencies",
    ),
    ("hist latencies latency perf slow slowest", LATENCIES),
    (
        "client connect curl get grpcurl http httpie insomnia invoke list-tools newman post postman prompts repl resources tool tools websocat wscat xh",
        "wiretool send PROTOCOL WORD... --connect ADDR sends a message and shows the answer, such as wiretool send mcp tools/list -- COMMAND",
    ),
    (
        "fake playback respond serve serve-recording server simulate",
        "wiretool stub PROTOCOL --from-recording FILE answers as a recording does, such as wiretool stub mcp --from-recording FILE --listen tcp://127.0.0.1:PORT",
    ),
    (
        "convert import save transform",
        "wiretool decode -f json FILE prints JSON; -w FILE writes a recording; wiretool export FILE -f FORM writes other forms; wiretool encode writes bytes",
    ),
    (
        "chart diagram draw graph mermaid plantuml sequence",
        "wiretool export -f mermaid FILE draws a sequence diagram",
    ),
    (
        "html page webpage",
        "wiretool export -f html FILE -o FILE.html writes a page for a browser",
    ),
    (
        "gui open ui web",
        "wiretool watch FILE shows a capture on the whole screen",
    ),
    (
        "blame commands flags list protocols stash",
        "wiretool help lists commands and topics; wiretool help protocols, the protocols",
    ),
    (
        "cp del delete mv remove rm",
        "recordings are plain files: rm FILE removes one, cp FILE NEW copies it",
    ),
    ("rules", "wiretool lint --rules lists the rules"),
    (
        "blocked hang next pending stalled stuck unanswered wait waiting who whose why",
        "wiretool lint FILE lists requests without an answer, and the side that must send next",
    ),
    (
        "concat join merge mergecap",
        "wiretool decode A B reads several captures; --c2s A --s2c B make one conversation of one-way files",
    ),
    (
        "diagnose doctor troubleshoot",
        "wiretool lint FILE says which rules are broken, and who must send next; wiretool decode -v FILE, what was detected",
    ),
    (
        "health ping probe",
        "wiretool send mcp ping -- COMMAND asks a server for an answer; wiretool make PROTOCOL --list lists other messages",
    ),
    (
        "chaos corrupt fault fuzz inject",
        "wiretool proxy -p mcp --fault 'chance 10%: drop' -- COMMAND changes traffic (see wiretool help faults); wiretool encode --patch, one message",
    ),
    (
        "init install setup",
        "wiretool help clients says how to record between a client and its server; wiretool completions completes words in a shell",
    ),
    (
        "example examples quickstart tutorial",
        "wiretool --help has examples, and so has --help of each command",
    ),
    (
        "accept approve bless update",
        "wiretool snapshot accept PATH accepts new snapshots",
    ),
    (
        "anonymise anonymize clean mask sanitise sanitize scrub",
        "wiretool redact FILE replaces the secrets of a recording",
    ),
    (
        "hd hex hexdump xxd",
        "wiretool decode -f hex FILE shows bytes and their fields",
    ),
    (
        "ls parse print read tree",
        "wiretool FILE shows the messages of a file; -f tree, all fields",
    ),
    (
        "describe methods reflect schema schemas",
        "wiretool stat FILE counts the methods of a capture; wiretool make PROTOCOL --list lists the messages of a protocol; wiretool help protocols describes them",
    ),
    (
        MAKERS,
        "wiretool make PROTOCOL WORD... makes a message; wiretool encode, from JSON",
    ),
    (
        "assert expect",
        "wiretool snapshot test FILE compares captures with snapshots; wiretool replay FILE -- COMMAND, a server with a recording; wiretool lint --fail-on warning FILE checks rules; --where 'role=error or outcome=error' selects errors, and exits with 1 if there is none",
    ),
    ("settings", "wiretool config show lists the settings"),
    (
        "ps conns containers images info connections conversations flow flows sessions streams",
        "wiretool stat FILE counts connections; wiretool FILE --where conn=N selects the messages of one",
    ),
];

/// Commands below a command: the command, words in place of the one below it, and a tip.
pub(super) const SUBCOMMANDS: &[(&str, &str, &str)] = &[
    (
        "snapshot",
        "assert check compare diff run verify",
        "wiretool snapshot test PATH compares captures with their snapshots",
    ),
    (
        "snapshot",
        "add create generate init new record save write",
        "wiretool snapshot test PATH writes new snapshots, wiretool snapshot accept PATH accepts them",
    ),
    (
        "snapshot",
        "approve bless update",
        "wiretool snapshot accept PATH accepts new snapshots, wiretool snapshot review shows them first",
    ),
    (
        "snapshot",
        "ls status",
        "wiretool snapshot list PATH lists captures and the state of their snapshots",
    ),
    (
        "mcp",
        "agent run server start stdio",
        "wiretool mcp serve lets an agent read recordings, and wiretool mcp serve FOLDER those of a folder, too",
    ),
    (
        "mcp",
        "call call-tool describe list list-tools ls tools tools/list",
        "wiretool send mcp tools/list -- COMMAND sends a message to a server and shows the answer; wiretool mcp serve is a server itself",
    ),
    (
        "mcp",
        "add config install setup",
        "a client starts wiretool mcp serve: wiretool help agents shows its configuration",
    ),
    (
        "protocol",
        "all list ls names",
        "wiretool help protocols lists the protocols; wiretool protocol show NAME describes one",
    ),
    (
        "protocol",
        "lint test valid validate verify",
        "wiretool protocol check FILE.toml says what is wrong in a description",
    ),
    (
        "protocol",
        "cat describe dump explain get help info print view",
        "wiretool protocol show NAME describes a protocol, with --toml as a description to begin with",
    ),
    (
        "protocol",
        "create detect discover generate guess infer init learn new propose suggest",
        "wiretool protocol draft FILE proposes a description of a capture",
    ),
    (
        "config",
        "add reset set unset write",
        "a setting is a line of wiretool.toml, such as color = \"never\", or a variable, such as WIRETOOL_COLOR=never; wiretool config show lists all",
    ),
    (
        "config",
        "get list ls print",
        "wiretool config show lists the settings",
    ),
];

/// Words in place of `make`.
pub(super) const MAKERS: &str = "build create gen generate new";

/// Flags of other programs for one answer of a stub.
pub(super) const REPLIES: &str = "--answer --default-error --error --hover --method --mock --on --reply --respond --response --result";

/// Roles, as they are typed.
pub(super) const ROLES: &[(&str, &str)] = &[
    ("error errors failed failures", "error"),
    ("notification notifications", "notification"),
    ("request requests", "request"),
    ("answer answers response responses", "response"),
];

/// Flags of other programs that leave messages out.
pub(super) const LEAVES_OUT: &str = "--exclude --hide --ignore --not --skip --without";

/// Flags of other programs that select messages.
pub(super) const SELECTS: &str =
    "--filter --include --match --method --only --select --show --subject";

/// Encodings in place of a protocol, and a tip.
pub(super) const ENCODINGS: &[(&str, &str)] = &[
    (
        "msgpack messagepack msgpack-rpc",
        "MessagePack is an encoding: -p saikuro and -p nvim read protocols in it; a description with encodings = [\"msgpack\"] reads another one, and wiretool protocol draft FILE proposes it",
    ),
    (
        "cbor",
        "CBOR is an encoding: a description with encodings = [\"cbor\"] reads a protocol in it (wiretool help describe)",
    ),
    (
        "json ndjson",
        "JSON is an encoding: -p jsonrpc reads JSON-RPC; a description reads other messages (wiretool help describe)",
    ),
];

/// How latencies are found.
pub(super) const LATENCIES: &str = "wiretool stat FILE counts messages and measures latencies, wiretool -f json --pair FILE has latency_ms; times are in recordings (wiretool record)";

/// How a table is made.
pub(super) const TABLE: &str = "a table is wiretool -f json FILE | jq -r '[.kind, .subject] | @csv'; for databases, wiretool decode -f json --flat FILE prints the rows, and wiretool export -f sql their table (wiretool help scale)";

/// How columns are made.
pub(super) const COLUMNS: &str = "columns are wiretool -f json --pair FILE | jq -r '[.kind, .of, .id, .latency_ms, .message.method] | @tsv', with the keys of -f json; a field of one message is --path PATH";

/// What `-vv` of tcpdump shows.
pub(super) const VERBOSE: &str =
    "-v explains what was detected; all fields are -f tree, bytes -f hex";

/// The commands that read captures.
pub const READERS: &[&str] = &["decode", "diff", "lint", "stat", "watch"];
/// The commands that messages pass through.
pub const RELAYS: &[&str] = &["proxy", "record", "watch"];
/// The flags of other programs that name the server.
pub const SERVERS: &str = "--backend --dest --destination --forward --mode --remote --reverse --server --target --to --upstream --upstream-server --url -m -u -R";
/// The flags of other programs that name the address to listen on.
pub const LISTENERS: &str =
    "--bind --host --from --listen-host --listen-port --local --port -l -L -P";
/// The commands that send messages.
const SENDERS: &[&str] = &["replay", "send"];
const STUB: &[&str] = &["stub"];
const EXPORT: &[&str] = &["export"];
const LINT: &[&str] = &["lint"];
const STAT: &[&str] = &["stat"];
const DIFF: &[&str] = &["diff"];
const WATCH: &[&str] = &["watch"];
const REDACT: &[&str] = &["redact"];
const MAKE: &[&str] = &["make"];
const REPLAY: &[&str] = &["replay"];
const TEST: &[&str] = &["test"];
const SNAPSHOT: &[&str] = &["snapshot"];
/// Every command.
const ANY: &[&str] = &[];

/// The flags that turn a rule off.
pub(super) const TURNS_OFF: &str = "--disable --exclude --ignore --ignore-rule --off --skip";

/// The flags that raise the severity of a rule.
pub(super) const RAISES: &str = "--error --upgrade --warn --warning";

/// The commands, the flags that they do not have, and a tip. The first row that fits counts.
pub(super) const FLAGS: &[(&[&str], &str, &str)] = &[
    (LINT, TURNS_OFF, "--allow RULE turns a rule off"),
    (
        LINT,
        "--deny-rule --only --rule --select -r",
        "the findings of one rule are wiretool lint FILE | grep RULE; --explain RULE explains it",
    ),
    (
        LINT,
        RAISES,
        "--deny RULE makes an error of a rule, --allow RULE turns it off",
    ),
    (
        MAKE,
        "--count --number --repeat -c -n",
        "one message is made; a loop of the shell makes several",
    ),
    (
        MAKE,
        "--indent --pretty --tree",
        "wiretool make ... | wiretool -f tree shows all fields; in JSON: ... | jq .",
    ),
    (
        DIFF,
        "--ignore-time --ignore-times --ignore-timestamps --no-time",
        "times of the two captures are not compared; a value that differs is left out with --ignore PATH",
    ),
    (
        DIFF,
        "--latencies --latency --slow --timing",
        "diff compares messages; wiretool stat FILE has the latencies of each file",
    ),
    (
        REPLAY,
        "--continue --force --ignore-errors --no-fail-fast",
        "--keep-going goes on after a difference",
    ),
    (
        LINT,
        "--level --min-severity --only-errors --severity",
        "the exit code depends on --fail-on warning, error, or info; --allow RULE turns a rule off, -f json has the severity of each finding",
    ),
    (
        LINT,
        "--list --list-rules --show-rules",
        "--rules lists the rules, --explain RULE explains one",
    ),
    (
        LINT,
        "--strict --werror --Werror --warnings-as-errors --max-warnings -W",
        "--fail-on warning fails on warnings, too",
    ),
    (
        READERS,
        "--offset --byte",
        "the field at a byte is --at N; the first N messages are left out with --skip N",
    ),
    (
        READERS,
        "--reverse --newest-first",
        "messages stay in the order of the capture: --tail N shows the last ones",
    ),
    (
        LINT,
        "--exit-zero --no-fail --soft-fail",
        "--fail-on never leaves the exit code at 0",
    ),
    (
        READERS,
        "--local --local-time --localtime --time-zone --timezone --tz --utc",
        "times are in UTC; -f json prints them whole, for other programs to convert",
    ),
    (
        READERS,
        "--timeline",
        "wiretool watch FILE shows messages with their times; wiretool export -f mermaid FILE draws a sequence diagram",
    ),
    (
        READERS,
        "--from-server --responses-only --server --server-only",
        "--dir s2c selects what the server sends",
    ),
    (
        READERS,
        "--client --client-only --from-client --requests-only",
        "--dir c2s selects what the client sends",
    ),
    (
        &["diff", "lint", "stat"],
        "--live --poll --watch",
        "--follow reads a file while it grows",
    ),
    (
        REDACT,
        "--mask --password --secret --token",
        "a name whose value is secret is --key NAME, a pattern --value REGEX",
    ),
    (
        REPLAY,
        "--record --save",
        "the recording of the new run is -w NEW.jsonl; --report writes a report",
    ),
    (
        RELAYS,
        "--https --ssl --tls",
        "TLS is a part of the address: --connect tls://HOST:PORT or https://HOST/PATH; to listen with TLS: --cert FILE --key FILE",
    ),
    (
        TEST,
        "--filter --grep --name --only -k",
        "the cases to run are --case NAME",
    ),
    (
        TEST,
        "--bail --exitfirst --fail-fast --failfast --maxfail -x",
        "every case runs; the cases to run are --case NAME",
    ),
    (
        TEST,
        "--junit --junit-xml --junitxml --reporter --tap --xml",
        "a report is --report junit -o FILE.xml, or tap, github, sarif",
    ),
    (
        TEST,
        "--timeout",
        "the time limit is the key timeout of the file (wiretool help test)",
    ),
    (
        TEST,
        "--connect --server --url -p",
        "the file of cases names the server and its protocol (wiretool help test)",
    ),
    (
        TEST,
        "--create --example --init --new",
        "wiretool help test shows a file of cases to begin with",
    ),
    (
        &["mcp"],
        "--bind --host --http --listen --port",
        "a client starts wiretool mcp serve and speaks on its stdin and stdout (wiretool help agents)",
    ),
    (
        LINT,
        "--fix",
        "lint changes nothing; --explain RULE says how to correct it",
    ),
    (
        STAT,
        "--by --group --group-by --sort --sort-by",
        "stat has a row for each method or kind; -f json has all numbers, to be sorted with jq",
    ),
    (
        &["decode", "watch"],
        "--by --group --group-by --order --order-by --sort --sort-by",
        "messages stay in the order of the capture: wiretool stat FILE groups them and lists the slowest calls; jq sorts what -f json prints",
    ),
    (
        STAT,
        "--histogram --latencies --latency --p50 --p90 --p95 --p99 --percentile --percentiles --slow --slowest --top",
        "stat always lists percentiles and the slowest calls; -f json has all numbers",
    ),
    (
        WATCH,
        "--live --poll -f",
        "--follow reads while the file grows",
    ),
    (
        REDACT,
        "--in-place --inplace -i",
        "the recording stays as it is; the result goes to stdout or to -o FILE",
    ),
    (
        REDACT,
        "--match --pattern --regex --regexp --text -E -e",
        "a pattern is --value REGEX, a name --key NAME",
    ),
    (
        REDACT,
        "--field --fields --keys --name --names",
        "a name is --key VALUE, a pattern --value REGEX",
    ),
    (
        REDACT,
        "--replace --replacement --replace-with --substitute --with",
        "a secret becomes text of the same length and form; which ones are secret is --key NAME and --value REGEX",
    ),
    (
        EXPORT,
        "--anonymize --mask --redact",
        "wiretool redact FILE | wiretool export -f html - -o FILE.html leaves secrets out",
    ),
    (
        REDACT,
        "--check --dry-run --list -n",
        "the recording stays as it is: the result goes to stdout or to -o FILE, and stderr says what was replaced",
    ),
    (
        REPLAY,
        "--only --filter --match --select --method --subject",
        "only some requests are --where 'subject=VALUE' or --where 'name=VALUE'; one message is --where index=N",
    ),
    (
        REPLAY,
        "--count --iterations --loop --loops --times -n",
        "--repeat N sends the requests N times",
    ),
    (
        REPLAY,
        "--realtime --real-time --keep-timing --timing",
        "--speed 1 keeps the pauses of the recording",
    ),
    (
        REPLAY,
        "--check --dry-run --list --no-send",
        "wiretool decode --where role=request FILE shows the requests, and sends nothing",
    ),
    (
        SNAPSHOT,
        "--all -a",
        "all captures of a folder are meant: wiretool snapshot accept PATH, or snapshot test PATH",
    ),
    (
        SNAPSHOT,
        "--accept --bless --update --update-snapshots -u",
        "wiretool snapshot accept PATH accepts new snapshots, wiretool snapshot review shows them first",
    ),
    (
        SNAPSHOT,
        "--ci --frozen --no-write",
        "nothing is written if CI is set: CI=1 wiretool snapshot test PATH",
    ),
    (
        DIFF,
        "--brief --exit-code --quiet-diff",
        "the exit code is 0 without a difference, 1 with one; -f json is for programs",
    ),
    (
        DIFF,
        "--name-only --name-status --stat --side-by-side --unified --word-diff -U -u -w -y",
        "diff has one form for people, which shows the values that differ; -f json is for programs, and --ignore PATH leaves values out",
    ),
    (
        RELAYS,
        "--attach --detach --interface --pid --tty -D -d -i -t",
        "start a command with -- COMMAND, or stand between addresses with --listen ADDR and --connect ADDR; no interface or process is opened",
    ),
    (
        SENDERS,
        "--cli --cmd --command --exec --stdio",
        "a command to start stands last, after --",
    ),
    (
        SENDERS,
        "--out --output -O -o",
        "answers go to stdout; the recording is -w FILE",
    ),
    (
        READERS,
        "-O --output-file",
        "the file of the output is -o FILE, where the command has it",
    ),
    (
        ANY,
        "--man --manpage --manual",
        "wiretool man prints the manual page, wiretool help NAME a topic",
    ),
    (
        ANY,
        "--examples --flags --usage -?",
        "--help has all flags and examples",
    ),
    (
        READERS,
        "--as --decode-as --dissector --proto -d",
        "the protocol is -p PROTOCOL, the framing --framing FRAMING",
    ),
    (
        READERS,
        "--columns --csv --field --fields --table --template --tsv",
        COLUMNS,
    ),
    (
        RELAYS,
        LISTENERS,
        "the address to listen on is --listen tcp://127.0.0.1:PORT, the server is --connect ADDR",
    ),
    (
        RELAYS,
        SERVERS,
        "the server is --connect ADDR, such as tcp://HOST:PORT or http://HOST:PORT",
    ),
    (
        RELAYS,
        "--cmd --command --exec --stdio -c -e",
        "the command to start stands last, after --",
    ),
    (
        RELAYS,
        "--capture --dump --file --log --log-file --logfile --out --output --record --save --save-stream-file -o",
        "the recording is -w VALUE",
    ),
    (
        RELAYS,
        "--append -a --overwrite --force",
        "a file is never changed: the name of a second recording gets a number, FILE.1, and wiretool decode FILE FILE.1 reads both",
    ),
    (
        RELAYS,
        "--max-size --max-file-size --filesize --size-limit -C -G",
        "--rotate SIZE begins a new file at a size or after a time: -w 'NAME-{time}.jsonl' --rotate 100M",
    ),
    (
        RELAYS,
        "--replay --server-replay --client-replay",
        "wiretool replay sends recorded requests; wiretool stub --from-recording answers",
    ),
    (
        RELAYS,
        "--env --environment -E",
        "variables stand before the command: -- env NAME=TEXT COMMAND",
    ),
    (
        RELAYS,
        "--chdir --cwd --workdir",
        "a folder stands before the command: -- env -C FOLDER COMMAND",
    ),
    (
        &["proxy", "record"],
        "--errors --failed --filter --grep --kind --only --only-errors --slow --slower-than --subject --where",
        "all messages are shown and recorded; in a second terminal, wiretool decode --follow FILE --where EXPR shows those of the recording -w FILE that match",
    ),
    (
        RELAYS,
        "--addons --breakpoint --break --edit --intercept --pause --script --scripts -s",
        "no message is held for editing: --fault 'CONDITION: ACTION' changes messages (wiretool help faults), and stub --script FILE answers",
    ),
    (
        RELAYS,
        "--map-local --map-remote --mock --reply --respond --response --set-response",
        "answers of your own are those of wiretool stub PROTOCOL --script FILE, or of stub mcp --tool NAME=JSON",
    ),
    (
        RELAYS,
        "--flow-detail --pretty --set --showhost",
        "lines show every message; wiretool FILE -f tree shows all fields of a recording",
    ),
    (
        RELAYS,
        "--duration --seconds --timeout",
        "--idle TIME ends it if nothing is received; timeout 10 wiretool record -w FILE, after 10 seconds",
    ),
    (
        RELAYS,
        "--change --delay --drop --latency --modify --modify-body --replace --rewrite --corrupt",
        "faults are -p PROTOCOL --fault 'CONDITION: ACTION', such as -p mcp --fault ': delay 200ms' (see wiretool help faults)",
    ),
    (
        SENDERS,
        "--addr --address --host --port --server --target --to --transport --uri --url -c -u",
        "the address is --connect ADDR; a command to start stands last, after --",
    ),
    (
        SENDERS,
        "--arg --args --body --data --data-raw --message --method --param --params --payload --request --tool --tool-arg --tool-name -X -d -m",
        "kind and arguments are words: wiretool send PROTOCOL KIND ARGUMENT..., such as tools/call NAME '{\"key\":\"value\"}'; a whole message is --json JSON, or --json FILE",
    ),
    (
        SENDERS,
        "--bearer --token --user -b",
        "a token is --token-file FILE, or --header 'authorization: Bearer …'",
    ),
    (
        SENDERS,
        "--max-time --connect-timeout --wait -m",
        "the time limit is --timeout TIME",
    ),
    (
        STUB,
        "--delay --latency --sleep",
        "a pause is delay of a script (see wiretool help scripts); --speed 1 keeps the pauses of a recording",
    ),
    (
        STUB,
        "--timeout",
        "--idle TIME ends a stub that receives nothing",
    ),
    (
        STUB,
        "--host --port --bind -l -P",
        "the address to listen on is --listen tcp://127.0.0.1:PORT, for HTTP --listen http://127.0.0.1:PORT",
    ),
    (
        STUB,
        "--http --https",
        "the address to listen on is --listen http://127.0.0.1:PORT",
    ),
    (
        STUB,
        "--replay --record --recording --from --file --session -f -r",
        "answers of a recording are --from-recording VALUE, those of a script --script FILE",
    ),
    (
        READERS,
        "--colors --colours --no-header --no-headers",
        "colour is --color always or never; lines have no headings",
    ),
    (
        WATCH,
        "--interval",
        "--follow reads while the file grows, and shows what comes at once",
    ),
    (
        EXPORT,
        "--html --to -t",
        "the form is -f html: wiretool export -f html FILE -o FILE.html",
    ),
    (
        REDACT,
        "--all --email --emails --ip --ips --phone --secrets",
        "known secrets are found without a flag; a pattern is --value REGEX, a name --key NAME",
    ),
    (
        READERS,
        "--only-matching --slurp",
        "a field is --path PATH; for jq, -f json prints one object per message",
    ),
    (
        READERS,
        "--jq --jsonpath --json-path",
        "jq reads what -f json prints: wiretool -f json FILE | jq .message.method",
    ),
    (
        &["encode", "make"],
        "--binary --raw",
        "the bytes alone are --to raw",
    ),
    (
        STUB,
        REPLIES,
        "an answer of your own is a rule of --script FILE (wiretool help scripts); for mcp, the answer of a tool is --tool NAME=JSON",
    ),
    (
        &["shrink"],
        "--code --finding --lint --rule",
        "a finding is text that the command prints: --match VALUE -- wiretool lint {}",
    ),
    (
        &["wrap"],
        "--off --remove --restore --revert --undo --unwrap -d -u",
        "wiretool unwrap VALUE undoes it",
    ),
    (
        &["encode", "make"],
        "--base64 --hex --xxd",
        "the form of the output is --to hex, --to xxd or --to base64",
    ),
    (
        READERS,
        "--in --out --client --server --request --response --requests --responses --sent --received",
        "the files of the two directions are --c2s FILE --s2c OTHER: what the client sent, and what the server sent",
    ),
    (
        READERS,
        "--file --har --input --pcap --pcapng --read --strace",
        "a capture is an argument without a flag: wiretool FILE",
    ),
    (
        READERS,
        "--condition --display-filter --expr --filter --match --query --select -F -Y",
        "conditions are --where EXPR (see wiretool help where)",
    ),
    (
        READERS,
        "--regex --regexp --search -E -P -e -g",
        "a text is --grep VALUE; a pattern in any text, --where 'message~/VALUE/', in a field --where '.params.name~/^a/'",
    ),
    (
        READERS,
        "--exclude --hide --not --without",
        "--where 'not subject=VALUE' leaves out a method, 'not name=VALUE' a tool",
    ),
    (
        READERS,
        "--invert-match --invert",
        "--where 'not …' selects the others",
    ),
    (
        READERS,
        "--no-notifications --no-notification",
        "--where 'not role=notification' leaves them out",
    ),
    (
        READERS,
        "-k",
        "a text is --grep TEXT; several names are --where 'name=a,b' (see wiretool help where)",
    ),
    (
        READERS,
        "--code --error-code",
        "the code of an error is a field: --where '.error.code=VALUE'",
    ),
    (
        READERS,
        "--slowest --top",
        "wiretool stat FILE lists the slowest calls; slow answers are --where 'latency>100ms'",
    ),
    (
        READERS,
        "--delta --elapsed --relative --relative-time",
        "each line shows the time since the line before; -f json has time, and --where 'time>=0.5s' counts from the first message",
    ),
    (
        READERS,
        "--with --with-request --with-response --pairs --both",
        "--pair shows the request of a selected answer, and the reverse",
    ),
    (
        READERS,
        "--line-buffered --unbuffered",
        "output is written whenever the input pauses: leave it out",
    ),
    (
        READERS,
        "-i --interface --iface",
        "text in any case: --grep TEXT --ignore-case; from an interface: tcpdump -i NAME -w - | wiretool",
    ),
    (
        READERS,
        "--interfaces -D",
        "no interface is opened: wiretool proxy stands between, or tcpdump -w - | wiretool",
    ),
    (
        READERS,
        "--output-format --print --style -T",
        "the format is -f tree, line, json or hex",
    ),
    (
        STAT,
        "--json --jsonl -j",
        "JSON is -f json: wiretool stat -f json FILE | jq .kinds",
    ),
    (
        READERS,
        "--json --jsonl --ndjson -j -J",
        "JSON is -f json; the message is in .message: jq .message.method",
    ),
    (
        READERS,
        "--count -c",
        "wiretool stat --where EXPR FILE counts messages; the first N messages are --head N",
    ),
    (
        READERS,
        "--limit --lines --max --max-count --num -m -n",
        "the first N messages are --head N, the last --tail N; wiretool stat counts them",
    ),
    (
        READERS,
        "--last --first",
        "messages from N on are --where 'index>=N', up to N 'index<=N'; the first N messages are --head N, the last --tail N",
    ),
    (
        READERS,
        "--base64 --b64 --hex",
        "a dump in hex or Base64 is read without a flag, or with --from hex or --from base64; to show bytes, -f hex",
    ),
    (
        READERS,
        "--utc --gmt --local --localtime",
        "times are in UTC: leave it out",
    ),
    (
        EXPORT,
        "--pcap --pcapng",
        "packets are wiretool export -f pcapng FILE -o FILE.pcapng",
    ),
    (EXPORT, "--csv --table --tsv", TABLE),
    (
        READERS,
        "--bytes --dump --hexdump -X -b -x",
        "bytes are -f hex; -f json --exact has the bytes of each message",
    ),
    (
        READERS,
        "--raw",
        "the messages alone are wiretool -f json FILE | jq -c .message; bytes are -f hex",
    ),
    (
        READERS,
        "--compact --full --indent --line --oneline --pretty --details --tree -V",
        "all fields are -f tree, one line per message -f line",
    ),
    (
        READERS,
        "--after --before --between --end --since --start --until",
        "times are --where 'time>=10:04:24', 'time<2026-01-01T10:00:00Z', or after the first message 'time>=0.5s'",
    ),
    (
        READERS,
        "--error --errors --errors-only --failed --only-errors --status",
        "errors are --where 'role=error or outcome=error', messages that cannot be decoded --where fault",
    ),
    (
        READERS,
        "--only",
        "a method is --where 'subject=VALUE', a tool --where 'name=VALUE'; errors are --where 'role=error or outcome=error'",
    ),
    (
        READERS,
        "--method --methods",
        "a method is --subject NAME, or --where 'subject~\"NAME*\"'",
    ),
    (
        READERS,
        "--name --prompt --resource --tool",
        "a tool, or what else a message names, is --where name=VALUE",
    ),
    (
        READERS,
        "--hang --open --pending --unanswered --waiting",
        "wiretool lint FILE lists requests without an answer",
    ),
    (
        READERS,
        "--messages --range --slice",
        "a range is --where 'index>=3 index<=5', or --skip N and --head N",
    ),
    (
        READERS,
        "--full-width --no-cut --no-trunc --no-truncate --no-wrap --untruncated --wide --width --wrap -W",
        "-f json has whole messages, -f tree whole values; lines cut arguments and results",
    ),
    (
        READERS,
        "--requests --request --responses --notifications --only-notifications --only-requests --only-responses",
        "requests are --where role=request, answers --where role=response, notifications --where role=notification",
    ),
    (
        READERS,
        "--type",
        "the kind of messages is --kind VALUE, their role --where role=VALUE",
    ),
    (
        READERS,
        "--client --server --direction --sent --received --incoming --outgoing --side",
        "messages of the client are --dir c2s, those of the server --dir s2c",
    ),
    (
        READERS,
        "--slow --slower-than --latency --max-latency --min-latency --threshold",
        "slow answers are --where 'latency>VALUE', with a unit as in 100ms; -f json --pair has latency_ms, if the input has times, as recordings do (wiretool record)",
    ),
    (
        READERS,
        "--stat --stats --statistics --summary -z",
        "wiretool stat FILE counts messages and measures latencies",
    ),
    (
        READERS,
        "--time --times --timestamps -t",
        "lines show times if the input has them; -f json has time",
    ),
    (
        READERS,
        "--role",
        "the role of messages is --where role=ROLE",
    ),
    (
        READERS,
        "--conn --connection --conversation --flow --session --stream",
        "a connection is --where conn=N; a session of a protocol, its id: --grep ID",
    ),
    (
        READERS,
        "--frame --index --message --msg --number --packet -N",
        "message VALUE is --where index=VALUE",
    ),
    (
        READERS,
        "--files-with-matches -l",
        "the exit code says if a message matches, also with > /dev/null",
    ),
    (
        ANY,
        "-k",
        "--insecure accepts any certificate, in commands that connect",
    ),
    (
        ANY,
        "--list-protocols --protocols",
        "wiretool help protocols lists and describes them",
    ),
    (
        ANY,
        "--no-pager",
        "only help uses a pager: wiretool help --no-pager NAME",
    ),
    (READERS, "--faults", "messages at fault are --where fault"),
    (
        LINT,
        "--github --gitlab",
        "a report is --report github, sarif or junit",
    ),
    (READERS, "--sarif", "SARIF is --report sarif"),
    (READERS, "--junit", "JUnit is --report junit"),
    (READERS, "--html", "a page is wiretool export -f html FILE"),
    (
        READERS,
        "--no-resolve --numeric -2",
        "no names are resolved: leave it out",
    ),
    (
        &["decode"],
        "--cli",
        "wiretool send mcp tools/list -- COMMAND asks a server, as the inspector does",
    ),
    (ANY, "--json -j", "JSON is -f json, if the command has it"),
    (
        ANY,
        "--no-color --no-colour --nocolor --nocolour --colour --monochrome-output",
        "colour is --color auto, always or never",
    ),
    (
        ANY,
        "--debug --log-level -vv",
        "-v explains what was detected, and why",
    ),
    (
        &["wrap"],
        "--all --list --ls --show --status -a -l",
        "wiretool wrap alone lists the servers of all clients, and changes nothing; wiretool wrap NAME records one",
    ),
    (
        &["wrap"],
        "--file -f --path",
        "the configuration of a client is --in FILE, such as --in .mcp.json",
    ),
    (
        &["wrap"],
        "--rotate --size --max-size --limit --keep",
        "each start of a server has its own recording, and the oldest ones beyond 1 GB are removed; record -w FILE --rotate SIZE -- COMMAND has other limits",
    ),
    (
        &["wrap"],
        "--write -w --output -o",
        "recordings are in the state folder, as @NAME; record -w FILE -- COMMAND writes to a file",
    ),
    (
        &["protocol"],
        "--out --output --write -o -w",
        "the text goes to stdout: wiretool protocol draft FILE > NAME.toml",
    ),
    (
        &["completions"],
        "--shell --sh -s",
        "the shell is a word: wiretool completions bash, zsh, fish, powershell or elvish",
    ),
    (ANY, "--silent -s", "-q prints no notes"),
];
