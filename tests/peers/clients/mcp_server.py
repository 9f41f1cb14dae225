"""mcp_server.py TRANSPORT PORT: a server on the SDK, with a tool that reports progress."""

import sys

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("example")


@server.tool()
async def count(n: int, context: Context) -> str:
    """Counts."""
    for i in range(n):
        await context.report_progress(i, n)
    return "größe €"


server.run(transport=sys.argv[1], port=int(sys.argv[2]))
