"""A real stepflow server with two components: one computes, one calls the runtime during its execution."""

import asyncio
import functools
import os
import sys

import msgspec
import uvicorn
from stepflow_py.worker.context import StepflowContext
from stepflow_py.worker.server import StepflowServer

server = StepflowServer()
# An input that has another answer than before.
CHANGED = int(os.environ.get("PEER_CHANGED", "-1"))


class Input(msgspec.Struct):
    n: int


class Output(msgspec.Struct):
    n: int
    blob: str = ""


@server.component
def double(input: Input) -> Output:
    return Output(n=2 * input.n + (input.n == CHANGED))


@server.component
async def store(input: Input, context: StepflowContext) -> Output:
    return Output(n=input.n, blob=await context.put_blob({"n": input.n}))


# It has no setting for TLS; its HTTP server has one.
if len(sys.argv) > 1:
    uvicorn.Config = functools.partial(uvicorn.Config, ssl_certfile=sys.argv[1], ssl_keyfile=sys.argv[2])
asyncio.run(server.run(host="127.0.0.1", port=0))
