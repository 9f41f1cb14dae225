"""input_client.py URL | COMMAND ...: calls two tools of a server at the same time; a person needs 400 ms for each input."""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult


async def answer(_, params):
    await asyncio.sleep(0.4)
    key = next(iter(params.requested_schema["properties"]))
    return ElicitResult(action="accept", content={key: "2A"})


async def main(first, *more):
    server = first if first.startswith("http") else StdioServerParameters(command=first, args=list(more))
    async with Client(server, elicitation_callback=answer) as client:
        results = await asyncio.gather(client.call_tool("book", {"to": "Oslo"}), client.call_tool("now", {}))
        print(client.session.protocol_version, *(result.content[0].text for result in results))


asyncio.run(main(*sys.argv[1:]))
