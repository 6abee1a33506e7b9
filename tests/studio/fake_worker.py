"""Stands in for a fit: says what it is told to say, or waits to be stopped.

Its first argument is a mode; folder and table follow, as for the worker.
"""

import json
import shutil
import sys
from pathlib import Path


def say(**event):
    print(json.dumps(event), flush=True)


mode, folder = sys.argv[1], Path(sys.argv[2])
say(step="Reading the table")
if mode == "refuses":
    say(ended="failed", message="column 'age' has missing cells; choose “contribute nothing”.")
    sys.exit()
say(step="stage 1 of 6", spends=True)
if mode == "stops early and loses its folder":
    shutil.rmtree(folder)
if mode.startswith("stops early"):
    say(ended="stopped", notes=[])
    sys.exit()
if mode == "dies":
    sys.exit(9)
if mode == "waits":
    sys.stdin.read()
    say(ended="stopped", notes=["Spent by then: half of it."])
if mode == "fits":
    (folder / "model.json").write_text("{}", encoding="utf-8")
    say(step="Writing the report", saved=True)
    say(ended="done", health=[])
