"""A real stepflow server with two components: one that computes, one that asks the runtime back while it does."""

import asyncio
import sys

import msgspec
from stepflow_py.worker.context import StepflowContext
from stepflow_py.worker.server import StepflowServer

server = StepflowServer()


class Input(msgspec.Struct):
    n: int


class Output(msgspec.Struct):
    n: int
    blob: str = ""


@server.component
def double(input: Input) -> Output:
    return Output(n=2 * input.n)


@server.component
async def store(input: Input, context: StepflowContext) -> Output:
    return Output(n=input.n, blob=await context.put_blob({"n": input.n}))


asyncio.run(server.run(host="127.0.0.1", port=int(sys.argv[1]) if len(sys.argv) > 1 else 0))
