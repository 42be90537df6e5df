"""Runs one peer; started by its own interpreter, which has the peer installed, with a JSON object as its argument.

Prints one JSON object. What is tested stands in the log of the judge, with the size of each candidate in its key.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from changes import Directory, read_changes, write_tree


class Over(Exception):
    """The time or the probes are used up."""


class Judge:
    """Says what a candidate shows, in one worktree whose products stay; asks the same content once only."""

    def __init__(self, order):
        self.order = order
        self.changes, self.n_atoms = read_changes(order["repo"], order["good"], order["bad"])
        self.directory = Directory(order["worktree"], self.changes)
        self.known = {self.key(self.rendered(set())): "pass", self.key(self.rendered(range(self.n_atoms))): "fail"}
        self.best = (self.n_atoms, self.rendered(range(self.n_atoms)))
        self.rows = []
        self.begin = time.monotonic()

    def rendered(self, chosen):
        return {change.path: change.rendered(chosen) for change in self.changes}

    @staticmethod
    def key(files):
        return tuple(files.items())

    def lines(self, chosen):
        return self.files(self.rendered(set(chosen)), len(chosen))

    def files(self, files, n_lines):
        key = self.key(files)
        if key not in self.known:
            if time.monotonic() - self.begin > self.order["seconds"] or len(self.rows) >= self.order["max_probes"]:
                raise Over
            self.directory.put_files(files)
            done = subprocess.run([self.order["probe"], "both"], cwd=self.directory.path, capture_output=True)
            outcome = {0: "pass", 1: "fail"}.get(done.returncode, "unresolved")
            self.known[key] = outcome
            self.rows.append([outcome, n_lines])
            if outcome == "fail" and n_lines < self.best[0]:
                self.best = (n_lines, files)
        return self.known[key]


def picire(judge):
    """picire with the defaults of its command line: Zeller's splitting, subsets first, forward."""
    import picire as package

    def test(config, _):
        is_interesting = judge.lines(config) == "fail"
        return package.Outcome.FAIL if is_interesting else package.Outcome.PASS

    package.DD(test, cache=package.ConfigCache())(list(range(judge.n_atoms)))


def commit_delta(judge):
    """commit-delta's engine on the working tree, which has the bad tree over HEAD, the good one.

    Its own worktree is emptied for each candidate; what it writes there is carried over to one that keeps its products.
    """
    from commit_delta.engine import Engine, EngineConfig
    from commit_delta.parse import capture_snapshot
    from commit_delta.types import Outcome
    from commit_delta.worktree import IsolatedTree
    import commit_delta.engine as engine

    words = {"pass": Outcome.PASS, "fail": Outcome.FAIL, "unresolved": Outcome.UNRESOLVED}

    class Tree(IsolatedTree):
        """Remembers which candidate it holds."""

        def apply_subset(self, hunks):
            super().apply_subset(hunks)
            self.n_lines = sum(line[:1] in ("+", "-") for hunk in hunks for line in hunk.body)

    def read(path, change):
        if path.is_symlink():
            return "120000", os.fsencode(os.readlink(path))
        mode = "100755" if path.exists() and os.access(path, os.X_OK) else change.old_mode or change.new_mode
        return (mode, path.read_bytes()) if path.exists() else None

    def run_command(_command, *, cwd, **_):
        files = {change.path: read(Path(cwd) / change.path, change) for change in judge.changes}
        outcome = words[judge.files(files, tree.n_lines)]
        return engine.CommandResult(outcome=outcome, exit_code=None, elapsed_s=0.0, detail="")

    engine.run_command = run_command
    with Tree(judge.order["repo"]) as tree:
        Engine(capture_snapshot(judge.order["repo"]), tree, EngineConfig(command=["probe"])).reduce()


def main():
    order = json.loads(sys.argv[1])
    judge = Judge(order)
    for chosen, tree in ((set(), order["good"]), (set(range(judge.n_atoms)), order["bad"])):
        assert write_tree(order["repo"], order["good"], judge.rendered(chosen), order["index"]) == tree, "atoms that lose something"
    is_cut, error = False, None
    try:
        {"picire": picire, "commit-delta": commit_delta}[order["peer"]](judge)
    except Over:
        is_cut = True
    except Exception as wrong:  # A peer that gives up is a result, too.
        error = f"{type(wrong).__name__}: {wrong}"
    wall = time.monotonic() - judge.begin
    tree = write_tree(order["repo"], order["good"], judge.best[1], order["index"])
    print(json.dumps({"rows": judge.rows, "cut": is_cut, "error": error, "tree": tree, "wall": wall}))


main()
