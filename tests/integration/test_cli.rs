//! `wiretool test`: servers that break, clients, baselines, reports, and files with errors.

use crate::common::{self, Ran};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A server that breaks in several ways.
const TOOLS: &str = r#"
[[on]]
match = 'subject="tools/call" .params.name=add'
result = { content = [{ type = "text", text = "3" }] }
[[on]]
match = 'subject="tools/call" .params.name=slow'
delay = "200ms"
result = { content = [] }
[[on]]
match = 'subject="tools/call" .params.name=hang'
hang = true
[[on]]
match = 'subject="tools/call" .params.name=fail'
result = { content = [], isError = true }
[[on]]
match = 'subject="tools/call" .params.name=garbage'
raw = "Traceback\n"
[[on]]
match = 'subject="tools/call" .params.name=die'
close = true
"#;

const HEAD: &str =
    "protocol = \"mcp\"\ntimeout = \"2s\"\ncommand = \"wiretool stub mcp -q --script tools.toml ";

/// The offers of the server.
const OFFERS: &str = "--tool add={} --tool slow={} --tool hang={} --tool fail={} --tool garbage={} --tool die={}\"\n";

/// A client in Python: calls `x`, prints the answer, and exits with its argument.
const CLIENT: &str = "import socket, sys
to = socket.create_connection((sys.argv[1], int(sys.argv[2])))
to.sendall(b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\\n')
print(to.recv(100))
sys.exit(int(sys.argv[3]))
";

struct Tests(tempfile::TempDir);

impl Tests {
    fn new(cases: &str) -> Self {
        let tests = Self(tempfile::tempdir().unwrap());
        tests.write("tools.toml", TOOLS);
        tests.write("s.toml", &format!("{HEAD}{OFFERS}{cases}"));
        tests
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> Ran {
        // Commands of the cases find the binary on the path.
        let path = common::shell("sh");
        let path = path.get_envs().find(|(name, _)| *name == "PATH");
        let path = path.and_then(|(_, path)| path).unwrap();
        let mut command: Command = common::wiretool();
        let command = command.arg("test").args(args).current_dir(self.path());
        let output = command.env("PATH", path).stdin(Stdio::null()).output();
        common::outcome_of(&output.unwrap())
    }

    /// A line for each case, and one for each problem, change and note.
    fn results(&self, args: &[&str]) -> String {
        let (code, out, err) = self.run(&[args, &["-f", "json", "s.toml"]].concat());
        let mut text = String::new();
        for line in out.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            text += &format!("{} {}\n", word(&case["outcome"]), word(&case["case"]));
            for problem in case["problems"].as_array().unwrap() {
                let line = problem["line"]
                    .as_u64()
                    .map_or(String::new(), |line| format!("{line}: "));
                let summary = word(&problem["text"]);
                let summary = summary.lines().next().unwrap_or_default();
                let summary = without_times(summary);
                text += &format!("  {line}{} {summary}\n", word(&problem["rule"]));
            }
            for note in ["compatible", "notes"]
                .iter()
                .flat_map(|key| case[key].as_array().unwrap())
            {
                text += &format!("  {}\n", word(note));
            }
        }
        format!(
            "{text}{}exit {code}",
            err.replace(&self.path().display().to_string(), "FOLDER")
        )
    }
}

/// Replaces times by `N`: their unit differs from run to run, too.
fn without_times(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let unit = word.trim_end_matches([';', ',', ':']);
        let is_time = ["ns", "µs", "ms", "s"].contains(&unit)
            && (words.last())
                .is_some_and(|last| last.trim_start_matches('+').parse::<f64>().is_ok());
        if is_time {
            words.pop();
            words.push(word.replacen(unit, "N", 1));
        } else {
            words.push(word.to_owned());
        }
    }
    words.join(" ")
}

#[test]
fn each_way_of_breaking_is_named() {
    let tests = Tests::new(
        r#"
[[case]]
name = "works"
send = ["tools/call add"]
expect = ['of="tools/call" .result.content[0].text="3"', { where = 'subject="tools/call"', count = 1 }]
budget = { calls = 1, bytes = "4K" }
[[case]]
name = "another answer"
send = ["tools/call add"]
expect = '.result.content[0].text="4"'
never = 'role=response of="tools/call"'
[[case]]
name = "no answer"
timeout = "300ms"
send = ["tools/call hang"]
[[case]]
name = "an error"
send = ["tools/call fail"]
[[case]]
name = "an expected error"
send = ["tools/call fail"]
expect = "outcome=error"
[[case]]
name = "text on stdout"
timeout = "300ms"
send = ["tools/call garbage"]
[[case]]
name = "the end"
send = ["tools/call die"]
[[case]]
name = "over budget"
send = ["tools/call add", "tools/call add"]
budget = { calls = 1 }
[[case]]
name = "a broken rule"
send = ["tools/call add", "tools/call add"]
[[rule]]
name = "one-call"
when = 'subject="tools/call"'
at-most = 1
[[case]]
name = "an allowed rule"
send = ["tools/call add", "tools/call add"]
allow = ["one-call"]
"#,
    );
    assert_snapshot!(tests.results(&[]), @r#"
    passed works
    failed another answer
      13: test/expect no message matches `.result.content[0].text="4"`
      14: test/never 1 message matches `role=response of="tools/call"`, none may
    failed no answer
      test/hangs no message for N; #3 c1 → request tools/call hang id 1 for N the server must send it
      mcp/unanswered #3: request tools/call hang (1) has no answer, and the connection is closed
    failed an error
      test/error #4 is an error that no condition of expect names: #4 183 c1 N ← response tools/call fail 1 N ✗ isError: true: {content: [], isError: true}
    passed an expected error
    failed text on stdout
      test/hangs no expected message for N; #3 c1 → request tools/call garbage id 1 for N the server must send it
      test/fault #4 at byte 183: message: wanted JSON, got text that is not JSON
      mcp/not-json #4: message: wanted JSON, got text that is not JSON (a log line on stdout? Only messages may go there, logs belong on stderr)
      mcp/unanswered #3: request tools/call garbage (1) has no answer, and the connection is closed
    failed the end
      test/ended the child ended with status 0 before its answer came
      mcp/unanswered #3: request tools/call die (1) has no answer, and the connection is closed
    failed over budget
      mcp/one-call #5: more than 1 messages
      test/calls 2 calls, at most 1 are allowed
    failed a broken rule
      mcp/one-call #5: more than 1 messages
    passed an allowed rule
    wiretool: 10 cases: 3 passed, 7 failed
    exit 1
    "#);
}

#[test]
fn an_unusual_end_of_a_server_is_a_note_or_a_failure() {
    let tests = Tests::new(
        r#"
[[case]]
name = "another status"
command = ["sh", "-c", "cat > /dev/null; exit 5"]
baseline = "none.json"
timeout = "300ms"
[[case]]
name = "a wrong status"
command = ["sh", "-c", "cat > /dev/null; exit 5"]
exit = 4
baseline = "none.json"
timeout = "300ms"
"#,
    );
    let found = tests.results(&[]);
    for (wanted, count) in [
        ("the server ended with status 5\n", 1),
        ("test/exit the server ended with status 5, not 4\n", 1),
    ] {
        assert_eq!(found.matches(wanted).count(), count, "{wanted}: {found}");
    }
}

#[test]
fn latency_has_a_budget() {
    let tests = Tests::new(
        "[[case]]\nname = \"slow\"\nsend = [\"tools/call slow\"]\nbudget = { latency = \"100ms\" }\n",
    );
    let (code, out, _) = tests.run(&["s.toml"]);
    assert_eq!(code, 1);
    assert!(
        out.contains("test/latency: the answer to tools/call #3 took 2"),
        "{out}"
    );
    assert!(out.contains("the last messages:"), "{out}");
}

#[test]
fn programs_that_do_not_start_are_not_failures_of_the_case() {
    let tests = Tests::new(
        "[stub.api]\nprotocol = \"jsonrpc\"\nlisten = \"unix:/no/folder\"\n\
         [[case]]\nname = \"no server\"\ncommand = \"./nothing\"\nsend = \"ping\"\n\
         [[case]]\nname = \"nobody listens\"\nconnect = \"unix:nothing.sock\"\nsend = \"ping\"\n\
         [[case]]\nname = \"no message\"\nsend = \"tools/call add a=1\"\n\
         [[case]]\nname = \"no stub\"\nclient = [\"true\", \"{api}\"]\n",
    );
    assert_snapshot!(tests.results(&[]), @r#"
    broken no server
      7: test/broken cannot run ./nothing: No such file or directory (os error 2)
    broken nobody listens
      11: test/broken cannot connect to unix:nothing.sock: No such file or directory (os error 2)
    broken no message
      15: test/broken send: tools/call add a=1: word 2: wanted an object, such as '{"a":1}', got `a=1` (wiretool make mcp --list)
    broken no stub
      18: test/broken the stub api does not listen: wiretool: cannot listen on unix:/no/folder: No such file or directory (os error 2)
    wiretool: 4 cases: 0 passed, 4 could not run
    exit 2
    "#);
}

#[test]
fn clients_talk_to_stubs() {
    let tests = Tests::new(
        r#"
[stub.api]
protocol = "jsonrpc"
script = "api.toml"
listen = "tcp://127.0.0.1:0"
flags = "--framing lines"
[[case]]
name = "asks"
client = ["python3", "client.py", "{api.host}", "{api.port}", "0"]
expect = "role=response .result=7"
[[case]]
name = "fails"
client = ["python3", "client.py", "{api.host}", "{api.port}", "4"]
[[case]]
name = "fails as expected"
client = ["python3", "client.py", "{api.host}", "{api.port}", "4"]
exit = 4
[[case]]
name = "asks nothing"
client = ["true"]
[[case]]
name = "does not end"
client = ["sleep", "100"]
timeout = "200ms"
"#,
    );
    tests.write("client.py", CLIENT);
    tests.write("api.toml", "[[on]]\nmatch = \"subject=x\"\nresult = 7\n");
    assert_snapshot!(tests.results(&[]), @r#"
    passed asks
    failed fails
      test/exit the client ended with status 4, not 0
    passed fails as expected
    passed asks nothing
    failed does not end
      test/timeout the client did not end within N: killed
    wiretool: 5 cases: 3 passed, 2 failed
    exit 1
    "#);
    tests.write("api.toml", "[[on]]\nmatch = \"subject=y\"\nresult = 7\n");
    assert_snapshot!(tests.results(&["--case", "asks"]), @r#"
    failed asks
      test/stub the stub api had no answer to 1 request
      test/error #1 is an error that no condition of expect names: #1 0 c1 N ← error x 1 N -32601: request x has no rule
      13: test/expect no message matches `role=response .result=7`
    wiretool: 1 case: 0 passed, 1 failed
    exit 1
    "#);
}

#[test]
fn changes_of_what_a_server_offers_are_classified() {
    let tests = Tests::new("[[case]]\nname = \"offers\"\nbaseline = \"b.json\"\n");
    assert_snapshot!(tests.results(&[]), @r#"
    failed offers
      6: test/baseline there is no b.json yet: --update writes it
    wiretool: 1 case: 0 passed, 1 failed
    exit 1
    "#);
    assert_snapshot!(tests.results(&["--update"]), @r#"
    passed offers
      wrote b.json: 4 of initialize, 6 of tools/list
    wiretool: 1 case: 1 passed
    exit 0
    "#);
    assert_snapshot!(tests.results(&["--update"]), @r#"
    passed offers
    wiretool: 1 case: 1 passed
    exit 0
    "#);
    let offers = OFFERS
        .replace("--tool slow={} ", "")
        .replace("--tool die={}", "--tool new={}");
    tests.write(
        "s.toml",
        &format!("{HEAD}{offers}[[case]]\nname = \"offers\"\nbaseline = \"b.json\"\n"),
    );
    assert_snapshot!(tests.results(&[]), @r#"
    failed offers
      6: test/baseline breaking: tools/list die: gone
      6: test/baseline breaking: tools/list slow: gone
      tools/list new: new
    wiretool: 1 case: 0 passed, 1 failed
    exit 1
    "#);
    tests.write("b.json", "{}");
    assert_snapshot!(tests.results(&[]), @r#"
    broken offers
      4: test/broken b.json: not a baseline, which has the member "wiretool-baseline": 1
    wiretool: 1 case: 0 passed, 1 could not run
    exit 2
    "#);
}

#[test]
fn recordings_are_kept_and_replayed() {
    let tests = Tests::new(
        "[[case]]\nname = \"add\"\nsend = \"tools/call add\"\n\
         [[case]]\nname = \"again\"\nreplay = \"tools.toml\"\n",
    );
    assert_eq!(
        tests.run(&["--case", "add", "--keep", "kept", "s.toml"]).0,
        0
    );
    let cases = "[[case]]\nname = \"again\"\nreplay = \"kept/add.jsonl\"\n";
    tests.write("s.toml", &format!("{HEAD}{OFFERS}{cases}"));
    assert_snapshot!(tests.results(&[]), @r#"
    passed again
    wiretool: 1 case: 1 passed
    exit 0
    "#);
    tests.write("tools.toml", &TOOLS.replace("\"3\"", "\"4\""));
    assert_snapshot!(tests.results(&[]), @r#"
    failed again
      test/differs → request tools/call add #3; ← response add #4 of the recording, #4 now; result.content[0].text "3" → "4" (bytes 250..253: 223322 and 250..253: 223422); to ignore it: --ignore 'response:result.content[*].text'
    wiretool: 1 case: 0 passed, 1 failed
    exit 1
    "#);
}

#[test]
fn reports_have_the_cases() {
    let tests = Tests::new(
        "[[case]]\nname = \"adds, too\"\nsend = \"tools/call add\"\n\
         [[case]]\nname = \"fails\"\nsend = \"tools/call add\"\nexpect = \"kind=x\"\n",
    );
    let report = |kind| {
        let (code, out, _) = tests.run(&["--report", kind, "s.toml"]);
        format!("{out}exit {code}")
    };
    assert_snapshot!(report("tap"), @r#"
    TAP version 14
    1..2
    ok 1 - s.toml: adds, too
    not ok 2 - s.toml: fails
      ---
      failures:
        - rule: "test/expect"
          text: "no message matches `kind=x`"
      ...
    exit 1
    "#);
    assert_snapshot!(report("junit"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="wiretool test" tests="2" failures="1" errors="0">
      <testsuite name="wiretool test" tests="2" failures="1" errors="0">
        <testcase classname="wiretool test" name="s.toml: adds, too"/>
        <testcase classname="wiretool test" name="s.toml: fails">
          <failure type="test/expect" message="no message matches `kind=x`">test/expect: no message matches `kind=x`</failure>
        </testcase>
      </testsuite>
    </testsuites>
    exit 1
    "#);
    assert_snapshot!(report("github"), @r#"
    ::error file=s.toml,line=10,col=10,title=test/expect::fails: no message matches `kind=x`
    exit 1
    "#);
    let (code, out, err) = tests.run(&["-q", "--case", "adds*", "s.toml"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let (code, _, err) = tests.run(&["--case", "nothing", "s.toml"]);
    assert_eq!(
        (code, err.as_str()),
        (1, "wiretool: no case has this name\n")
    );
}

#[test]
fn errors_in_a_file_have_their_place() {
    let tests = Tests::new("");
    let mut text = String::new();
    for file in [
        "",
        "[[case]]\n",
        "protocl = \"mcp\"\n",
        "protocol = \"mpc\"\n",
        "[[case]]\nname = \"a\"\nsned = [\"x\"]\n",
        "[[case]]\nname = \"a\"\nsend = \"ping\"\n",
        "protocol = \"mcp\"\n[[case]]\nname = \"a\"\nsend = \"ping\"\n",
        "command = \"x\"\nprotocol = \"mcp\"\n[[case]]\nname = \"a\"\nsend = \"x\"\nexpect = \"knd=x\"\n",
        "command = \"x\"\n[[case]]\nname = \"a\"\nreplay = \"nothing.jsonl\"\n",
        "[[case]]\nname = \"a\"\nclient = \"x\"\nsend = \"x\"\n",
        "[[case]]\nname = \"a\"\nclient = \"x\"\nwatch = \"b\"\n",
        "[stub.a]\nlisten = \"tcp://127.0.0.1:0\"\n",
        "budget = { latncy = \"1s\" }\n",
        "timeout = 5\n",
        "allow = [\"mcp/no-such-rule\"]\n",
        "fail-on = \"fatal\"\n",
        "a = \n",
    ] {
        tests.write("s.toml", file);
        let (code, _, err) = tests.run(&["s.toml"]);
        assert_eq!(code, 2, "{file}: {err}");
        text += err.lines().next().unwrap_or_default();
        text.push('\n');
    }
    assert_snapshot!(text, @r#"
    wiretool: s.toml:1:1: wanted a case: [[case]] with name and send
    wiretool: s.toml:1:1: wanted a name: name = "adds two numbers"
    wiretool: s.toml:1:1: unknown key protocl: did you mean protocol?
    wiretool: s.toml:1:12: protocol: wanted one of saikuro, oracle, sael, stepflow, telequick, mcp, lsp, acp, jsonrpc, dap, cdp, nvim, i3 (did you mean mcp?), got "mpc"
    wiretool: s.toml:3:1: unknown key sned: did you mean send?
    wiretool: s.toml:1:1: a: wanted a protocol: protocol = "mcp"
    wiretool: s.toml:2:1: a: wanted a server: command = "./server" or connect = "tcp://127.0.0.1:7700"
    wiretool: s.toml:6:10: expect: wanted a key, got knd (did you mean kind?)
    wiretool: s.toml:4:10: replay: there is no file nothing.jsonl
    wiretool: s.toml:3:1: wanted one of send, replay and client in each case
    wiretool: s.toml:4:9: watch: wanted a stub of this file, which has none: [stub.NAME], got "b"
    wiretool: s.toml:1:7: wanted a protocol: protocol = "mcp"
    wiretool: s.toml:1:12: unknown key latncy: did you mean latency?
    wiretool: s.toml:1:11: timeout: wanted a time such as "500ms" or "2s", got 5
    wiretool: s.toml:1:10: no rule is called mcp/no-such-rule
    wiretool: s.toml:1:11: fail-on: wanted error, warning, info or never, got "fatal"
    wiretool: s.toml:1:5: string values must be quoted, expected literal string
    "#);
}

#[test]
fn programs_end_with_an_interrupted_run() {
    use rustix::process::{Pid, Signal, kill_process, test_kill_process};
    let tests = Tests::new(
        "[[case]]\nname = \"waits\"\ntimeout = \"50s\"\ncommand = [\"sh\", \"-c\", \"echo $$ > pid; sleep 100\"]\nsend = \"ping\"\n",
    );
    let mut command = common::wiretool();
    let command = command.args(["test", "s.toml"]).current_dir(tests.path());
    let mut running = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let file = tests.path().join("pid");
    let pid = || fs::read_to_string(&file).ok()?.trim().parse().ok();
    common::wait_until("the server starts", || pid().is_some());
    let server = Pid::from_raw(pid().unwrap()).unwrap();
    let pid = Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert!(test_kill_process(server).is_err(), "the server runs on");
}
