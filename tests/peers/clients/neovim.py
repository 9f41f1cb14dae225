"""neovim.py COMMAND…: pynvim edits a text in a Neovim that the command starts. Prints what it saw."""

import json
import sys

import pynvim

nvim = pynvim.attach("child", argv=sys.argv[1:])
seen = [nvim.eval("1 + 1")]
nvim.current.buffer[:] = ["one", "two"]
seen.append(nvim.current.buffer[:])
try:
    nvim.command("unknown")
except pynvim.NvimError as error:
    seen.append(str(error))
nvim.command(f"call rpcnotify({nvim.channel_id}, 'done', 1)")
seen.append([nvim.next_message().name, nvim.lua.vim.fn.toupper("abc")])


def ask():
    """Neovim asks back while it evaluates."""
    seen.append(nvim.eval(f"rpcrequest({nvim.channel_id}, 'ask', 'you')"))
    nvim.stop_loop()


nvim.run_loop(lambda name, arguments: f"{name} {arguments[0]}", None, ask)
nvim.close()
print(json.dumps(seen))
