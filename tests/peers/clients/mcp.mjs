// node mcp.mjs stdio|http|sse TOOL ARGUMENTS (URL | COMMAND…): a session of the SDK's client. Prints what it got.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [kind, tool, args, ...target] = process.argv.slice(2);
const transport = {
  stdio: () => new StdioClientTransport({ command: target[0], args: target.slice(1), env: process.env }),
  http: () => new StreamableHTTPClientTransport(new URL(target[0])),
  sse: () => new SSEClientTransport(new URL(target[0])),
}[kind]();
const client = new Client({ name: "client", version: "1" }, { capabilities: { roots: {} } });
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [] }));
await client.connect(transport);
const { tools } = await client.listTools();
const result = await client.callTool({ name: tool, arguments: JSON.parse(args) });
await client.ping();
if (kind === "http") await transport.terminateSession();
await client.close();
console.log(JSON.stringify({ tools: tools.length, result }));
