"""debugpy, whose protocol is described in a file, and VS Code's test client: recorded, checked by lint, replayed to a new
adapter, and played by a stub for the same client."""

import os
import sys

from described_tools import check_bytes, check_session, replay, run_client, tee
from proxy_tools import WIRETOOL, check, folder, new_path

PYTHON = sys.argv[2]
ADAPTER = [PYTHON, "-m", "debugpy.adapter"]
PROGRAM = os.path.join(folder.name, "add.py")


def debug(command):
    """Stops in a function of the program. Returns its variables."""
    return run_client(["node", "clients/dap.mjs", PYTHON, PROGRAM, *command])


with open(PROGRAM, "w") as file:
    file.write("def add(a, b):\n    return a + b\nadd(1, 2)\n")
path = new_path("dap")
variables = debug(tee("client", [WIRETOOL, "record", "-q", "-w", path, "--", *tee("adapter", ADAPTER)]))
check("variables", variables, {"a": "1", "b": "2"})
check_bytes(path, "client", "adapter")
# Two threads of debugpy write: a number may come after the next one.
count = check_session("dap", path, allow=["dap/seq-order"])
end = replay(path, "--", *ADAPTER)
check("variables of the stub", debug([WIRETOOL, "stub", "-q", "--from-recording", path, "dap"]), variables)
print(f"debugpy: {count} messages; {end}")
