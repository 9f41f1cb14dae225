// node acp.mjs COMMAND… | URL: a session of the SDK's client with an agent. Prints what it got.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";

const [command, ...args] = process.argv.slice(2);
const process_ = command.startsWith("http:") ? null : spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = process_ && new Promise((resolve) => process_.on("exit", resolve));
const updates = [];
const stream = process_
  ? ndJsonStream(Writable.toWeb(process_.stdin), Readable.toWeb(process_.stdout))
  : createHttpStream(command);
const answer = await client({ name: "client" })
  .onRequest(methods.client.session.requestPermission, () => ({ outcome: { outcome: "selected", optionId: "yes" } }))
  .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update.sessionUpdate))
  .connectWith(stream, async (agent) => {
    const { protocolVersion } = await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
    const prompt = [{ type: "text", text: "Hallo" }];
    const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
    return { protocolVersion, stopReason };
  });
process_?.stdin.end();
console.log(JSON.stringify({ ...answer, updates, status: await exited }));
