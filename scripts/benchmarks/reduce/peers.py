"""Reductions by other programs, each run by the interpreter that it is installed for."""

import json
import os
import subprocess
from pathlib import Path

from cases import PROBE
from running import git

PEER = Path(__file__).resolve().with_name("peer.py")
MODULES = {"picire": "picire", "commit-delta": "commit_delta"}


def is_installed(python, name):
    """Whether the interpreter has the peer."""
    try:
        return subprocess.run([python, "-c", f"import {MODULES[name]}"], capture_output=True).returncode == 0
    except OSError:
        return False


def reduce(python, name, bench, seconds, max_probes):
    """The row of one run. The repository has the bad tree checked out over HEAD, which is the good commit."""
    git(bench.repo, "reset", "-q", "--soft", bench.good)
    order = {"peer": name, "repo": str(bench.repo), "good": bench.good_tree, "bad": bench.bad_tree, "probe": str(PROBE),
             "worktree": str(bench.checkout("peer", bench.good)), "index": str(bench.directory / "peer-index"),
             "seconds": seconds, "max_probes": max_probes}
    path = os.pathsep.join([str(PEER.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([python, "-B", PEER, json.dumps(order)], env={**bench.env, "PYTHONPATH": path, "BENCH_KEY": name},
                          capture_output=True, text=True, errors="replace")
    try:
        row = json.loads(done.stdout)
    except ValueError:
        return {"rows": [], "cut": True, "error": done.stderr[-2000:], "tree": bench.bad_tree, "wall": None}
    return {**row, "rows": [[outcome, lines if outcome == "fail" else None] for outcome, lines in row["rows"]]}
