"""chain_client.py COMMAND ...: calls a tool of the server that COMMAND starts."""

import asyncio
import sys

from mcp import Client, StdioServerParameters


async def main(command):
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        print((await client.call_tool("find", {"what": "x"})).content[0].text)


asyncio.run(main(sys.argv[1:]))
