// node mcp_tools.mjs CALLS COMMAND…: the SDK's client calls tools, pairs of name and arguments. Prints their texts.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [calls, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "client", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools();
const { resources } = await client.listResources();
const read = await client.readResource({ uri: resources[0].uri });
const texts = [];
for (const [name, args] of JSON.parse(calls)) {
  texts.push((await client.callTool({ name, arguments: args })).content[0].text);
}
const instructions = client.getInstructions();
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), resource: read.contents[0].text, instructions, texts }));
