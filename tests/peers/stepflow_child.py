"""A real stepflow server of the last release with stdio: like `stepflow_server.py`, with a component that raises."""

import msgspec
from stepflow_py.context import StepflowContext
from stepflow_py.stdio_server import StepflowStdioServer

server = StepflowStdioServer()


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
    return Output(n=input.n, blob=await context.put_blob({"n": input.n, "text": "größe €"}))


@server.component
def fail(input: Input) -> Output:
    raise ValueError(f"{input.n} is refused")


server.run()
