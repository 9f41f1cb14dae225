"""chain_server.py NAME SECONDS [COMMAND ...]: a server on the SDK whose tool calls the server that COMMAND starts."""

import asyncio
import sys
from contextlib import asynccontextmanager

from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import Context, MCPServer

name, seconds, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]


@asynccontextmanager
async def behind(_):
    if not command:
        yield None
        return
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
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


server.run(transport="stdio")
