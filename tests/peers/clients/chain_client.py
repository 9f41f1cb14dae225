"""chain_client.py URL | COMMAND ...: calls a tool of a server."""

import asyncio
import sys

from mcp import Client, StdioServerParameters


async def main(command):
    is_url = command[0].startswith("http")
    async with Client(command[0] if is_url else StdioServerParameters(command=command[0], args=command[1:])) as client:
        print((await client.call_tool("find", {"what": "x"})).content[0].text)


asyncio.run(main(sys.argv[1:]))
