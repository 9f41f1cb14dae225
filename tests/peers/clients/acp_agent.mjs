// node acp_agent.mjs [PORT]: an ACP agent on the SDK, on stdio or over HTTP. A turn has a plan, a tool that needs a permission,
// and a text.
import { createServer } from "node:http";
import { Readable, Writable } from "node:stream";
import { agent, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { createNodeHttpHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";

let sessions = 0;
const update = (client, sessionId, of) => client.notify(methods.client.session.update, { sessionId, update: of });
const example = agent({ name: "example" })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: 1, agentCapabilities: { loadSession: false } }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: `session-${++sessions}` }))
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const id = params.sessionId;
    const toolCallId = "call-1";
    await update(client, id, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "größe €" } });
    await update(client, id, { sessionUpdate: "tool_call", toolCallId, title: "Edit", kind: "edit", status: "pending" });
    const { outcome } = await client.request(methods.client.session.requestPermission, {
      sessionId: id,
      toolCall: { toolCallId },
      options: [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    });
    const status = outcome.outcome === "selected" && outcome.optionId === "yes" ? "completed" : "failed";
    await update(client, id, { sessionUpdate: "tool_call_update", toolCallId, status });
    return { stopReason: "end_turn" };
  });
const [port] = process.argv.slice(2);
if (port) {
  createServer(createNodeHttpHandler(new AcpServer({ agent: example }))).listen(Number(port), "127.0.0.1");
} else {
  example.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}
