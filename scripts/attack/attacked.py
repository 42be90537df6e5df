"""What attacks of running commands share: the environment with its mark, the processes that carry it, and the user's refs."""

import os
import subprocess
import time
from pathlib import Path

# Seconds for which processes of a test may live longer than the command.
PATIENCE = 5


def environment(place, home="", **more):
    """The environment of what runs in a place; `home` is below it."""
    who = {f"GIT_{part}_{what}": "x" for part in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {f"GIT_{part}_DATE": "2024-01-01T00:00:00Z" for part in ("AUTHOR", "COMMITTER")}
    return {"PATH": os.environ["PATH"], **who, **dates, "HOME": str(place / home), "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null", "IDD_ATTACKED": str(place), **more}


def processes(place):
    """The processes that carry the mark of this place."""
    mark = f"IDD_ATTACKED={place}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    yield f"{entry.name} {(entry / 'cmdline').read_bytes().replace(bytes(1), b' ').decode(errors='replace').strip()}"
            except OSError:
                continue


def left_running(place):
    """The processes of a place that live for longer than they are allowed to."""
    end = time.monotonic() + PATIENCE
    while (left := list(processes(place))) and time.monotonic() < end:
        time.sleep(0.1)
    return left


def refs(repo, variables):
    """The refs of a repository that are the user's, with what they name."""
    listed = subprocess.run(["git", "for-each-ref", "--format=%(refname) %(objectname)"], cwd=repo, env=variables, text=True,
                            stdout=subprocess.PIPE, check=True).stdout
    return [line for line in listed.splitlines() if not line.startswith("refs/worktree/idd")]
