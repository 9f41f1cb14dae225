"""mcp_tools.py CALLS COMMAND…: the SDK's client calls tools, pairs of name and arguments. Prints their texts."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(calls, command, *args):
    server = StdioServerParameters(command=command, args=list(args), env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).tools
        resources = (await client.list_resources()).resources
        read = await client.read_resource(str(resources[0].uri))
        texts = [(await client.call_tool(name, given)).content[0].text for name, given in json.loads(calls)]
        got = {"tools": [tool.name for tool in tools], "resource": read.contents[0].text, "texts": texts}
        print(json.dumps({**got, "instructions": client.instructions}))


asyncio.run(main(*sys.argv[1:]))
