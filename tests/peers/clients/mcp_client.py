"""mcp_client.py URL TOOL ARGUMENTS: a session of the SDK's client, which needs no handshake with new servers."""

import asyncio
import json
import sys

from mcp import Client


async def main(url, tool, arguments):
    async with Client(url) as client:
        tools = await client.list_tools()
        result = await client.call_tool(tool, json.loads(arguments))
        print(json.dumps({"tools": len(tools.tools), "text": result.content[0].text}))


asyncio.run(main(*sys.argv[1:]))
