"""Neovim, whose protocol is described in a file, and pynvim: recorded, checked by lint, replayed to a new Neovim, and played
by a stub for the same client."""

import sys

from described_tools import check_bytes, check_session, replay, run_client, tee
from proxy_tools import WIRETOOL, check, new_path

PYTHON = sys.argv[2]
NEOVIM = ["nvim", "--embed", "--headless", "-u", "NONE", "-i", "NONE", "-n"]


def edit(command):
    return run_client([PYTHON, "clients/neovim.py", *command])


path = new_path("nvim")
seen = edit(tee("client", [WIRETOOL, "record", "-q", "-w", path, "--", *tee("neovim", NEOVIM)]))
wanted = [2, ["one", "two"], "Vim:E492: Not an editor command: unknown", ["done", "ABC"], "ask you"]
check("seen", seen, wanted)
check_bytes(path, "client", "neovim")
count = check_session("nvim", path)
end = replay(path, "--", *NEOVIM)
check("seen at the stub", edit([WIRETOOL, "stub", "-q", "--from-recording", path, "nvim"]), wanted)
print(f"Neovim: {count} messages; {end}")
