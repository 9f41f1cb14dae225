"""i3.py SOCKET: i3ipc asks i3, renames a workspace and hears of it. Prints what it saw."""

import json
import sys

import i3ipc

connection = i3ipc.Connection(sys.argv[1])
seen = {"version": connection.get_version().major, "focused": []}


def begin(connection, event):
    connection.command("workspace two")


def end(connection, event):
    seen["focused"].append(event.current.name)
    connection.main_quit()


connection.on("tick", begin)
connection.on("workspace::focus", end)
connection.main()
seen["success"] = [connection.command(text)[0].success for text in ("rename workspace to three", "unknown")]
seen["names"] = [space.name for space in connection.get_workspaces()]
print(json.dumps(seen))
