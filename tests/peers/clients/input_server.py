"""input_server.py stdio | http PORT: a server on the SDK. A tool asks twice for input (2026-07-28), another one does not ask."""

import asyncio
import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = MCPServer("example")


def ask(key, state):
    schema = {"type": "object", "properties": {key: {"type": "string"}}}
    params = ElicitRequestFormParams(message=f"Which {key}?", requested_schema=schema)
    return InputRequiredResult(input_requests={key: ElicitRequest(params=params)}, request_state=state)


@server.tool()
async def book(to: str, context: Context) -> str | InputRequiredResult:
    """Books, with a seat and a meal."""
    await asyncio.sleep(0.05)
    if context.request_state is None:
        return ask("seat", "s1")
    if context.request_state == "s1":
        return ask("meal", "s2")
    return f"booked {to}"


@server.tool()
async def now() -> str:
    """Says now."""
    await asyncio.sleep(0.1)
    return "now"


if sys.argv[1] == "stdio":
    server.run(transport="stdio")
else:
    server.run(transport="streamable-http", port=int(sys.argv[2]))
