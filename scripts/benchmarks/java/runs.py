"""Runs a Java program as it is, recorded without values, and recorded, in turns: the test command of a recording.

    runs.py <results> <rounds> <command>...

The results are one JSON object: for `plain`, `steps` and `recorded` the processor time of the virtual machine and the time on the clock, in seconds, for each round. Each run
must end with the same exit code. The options that record come in `JAVA_TOOL_OPTIONS`; in the directory that they name, a file `steps` says that no values are recorded.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def run(command, env):
    """Processor time and time on the clock of a command, and its exit code."""
    begin = time.monotonic()
    child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # The process that rewrites classes is not waited for by the virtual machine, and not counted.
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, time.monotonic() - begin, child.returncode


def main():
    results, rounds, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    plain = {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}
    agent = next(word for word in os.environ["JAVA_TOOL_OPTIONS"].split() if word.startswith("-javaagent:"))
    mark = Path(agent.partition("=")[2], "steps")
    seen, codes = {"plain": [], "steps": [], "recorded": []}, set()
    for _ in range(rounds):
        for name, env in (("plain", plain), ("steps", dict(os.environ)), ("recorded", dict(os.environ))):
            if name == "steps":
                mark.touch()
            processor, clock, code = run(command, env)
            mark.unlink(missing_ok=True)
            seen[name].append([processor, clock])
            codes.add(code)
    if len(codes) > 1:
        raise SystemExit(f"{command} does not end in the same way each time, but with {codes}")
    with open(results, "w", encoding="utf-8") as file:
        json.dump(seen, file)


main()
