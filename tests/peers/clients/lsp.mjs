// node lsp.mjs LANGUAGE FILE COMMAND…: a session of vscode-jsonrpc with a language server. Prints what it got.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const rpc = createRequire(import.meta.url)("vscode-jsonrpc/node");
const [language, file, command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => server.on("exit", resolve));
const reader = new rpc.StreamMessageReader(server.stdout);
const peer = rpc.createMessageConnection(reader, new rpc.StreamMessageWriter(server.stdin));
peer.onRequest("client/registerCapability", () => null);
peer.onRequest("window/workDoneProgress/create", () => null);
peer.onRequest("workspace/configuration", ({ items }) => items.map(() => null));
peer.listen();
const textDocument = { uri: pathToFileURL(file).href };
const position = { line: 0, character: 1 };
const { capabilities } = await peer.sendRequest("initialize", {
  processId: null,
  rootUri: null,
  capabilities: { workspace: { configuration: true } },
});
await peer.sendNotification("initialized", {});
const text = readFileSync(file, "utf8");
await peer.sendNotification("textDocument/didOpen", { textDocument: { ...textDocument, languageId: language, version: 1, text } });
const hover = await peer.sendRequest("textDocument/hover", { textDocument, position });
await peer.sendNotification("textDocument/didChange", {
  textDocument: { ...textDocument, version: 2 },
  contentChanges: [{ text: `${text}\n` }],
});
const symbols = await peer.sendRequest("textDocument/documentSymbol", { textDocument });
await peer.sendNotification("textDocument/didClose", { textDocument });
await peer.sendRequest("shutdown");
await peer.sendNotification("exit");
const status = await exited;
console.log(JSON.stringify({ capabilities: Object.keys(capabilities).sort(), hover, symbols, status }));
