// node dap.mjs PYTHON PROGRAM COMMAND…: VS Code's test client debugs a Python program with a debug adapter. Stops in a
// function, and prints its variables.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const { DebugClient } = createRequire(import.meta.url)("@vscode/debugadapter-testsupport");
const [python, program, command, ...args] = process.argv.slice(2);
const adapter = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => adapter.on("exit", resolve));
const client = new DebugClient("", "", "python");
client.defaultTimeout = 30000;
client.connect(adapter.stdout, adapter.stdin);
await client.initializeRequest();
const initialized = client.waitForEvent("initialized");
const stopped = client.waitForEvent("stopped");
const launched = client.launchRequest({ program, console: "internalConsole", python: [python] });
await initialized;
await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 2 }] });
await client.configurationDoneRequest();
await launched;
const { threadId } = (await stopped).body;
const { stackFrames } = (await client.stackTraceRequest({ threadId })).body;
const { scopes } = (await client.scopesRequest({ frameId: stackFrames[0].id })).body;
const { variablesReference } = scopes[0];
const { variables } = (await client.variablesRequest({ variablesReference })).body;
console.log(JSON.stringify(Object.fromEntries(variables.map(({ name, value }) => [name, value]))));
adapter.kill();
await exited;
