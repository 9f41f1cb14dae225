"""chain_server.py NAME SECONDS stdio|PORT [URL | COMMAND ...]: a server on the SDK whose tool calls another server."""

import asyncio
import sys
from contextlib import asynccontextmanager

from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import Context, MCPServer

name, seconds, transport, command = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4:]


@asynccontextmanager
async def behind(_):
    if not command:
        yield None
        return
    is_url = command[0].startswith("http")
    async with Client(command[0] if is_url else StdioServerParameters(command=command[0], args=command[1:])) as client:
        yield client


server = MCPServer(name, lifespan=behind)


@server.tool()
async def find(what: str, context: Context) -> str:
    """Finds."""
    await asyncio.sleep(seconds)
    client = context.request_context.lifespan_context
    if client is None:
        return f"{what} in {name}"
    found = await client.call_tool("find", {"what": what})
    return found.content[0].text


if transport == "stdio":
    server.run(transport="stdio")
else:
    server.run(transport="streamable-http", port=int(transport))
