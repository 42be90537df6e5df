"""The algorithms by name, and one measured run."""

import json

import ours
import peers
from cases import Opened
from changes import Directory, read_changes
from running import git

# Options of `git idd minimize`.
OURS = {
    "default": [],
    "fast": ["--fast"],
    "half": ["--level", "half-line"],
    "default, clean": ["--clean"],
    "default, -j1": ["-j1"],
    "default, -j2": ["-j2"],
}
MAIN = ["default", "fast", *peers.MODULES]
NAMES = [*OURS, *peers.MODULES]


def missing(name, binary, python):
    """Why an algorithm cannot be run here, or `None`."""
    if name in peers.MODULES:
        return None if peers.is_installed(python, name) else f"{python} has no {name}"
    return None if ours.knows(binary, OURS[name]) else f"{binary} does not know {' '.join(OURS[name])}"


def measure(name, case, arguments, progress):
    """One run of one algorithm; the raw row."""
    with Opened(case) as bench:
        if name in peers.MODULES:
            row = peers.reduce(arguments.python, name, bench, arguments.seconds, arguments.max_probes)
        else:
            refused = bench.directory / "refused.jsonl" if arguments.audit else None
            row = ours.reduce(arguments.binary, bench, OURS[name], arguments.seconds, arguments.max_probes, progress,
                              refused)
            row["audit"] = audit(bench, refused) if arguments.audit else None
        row["lines"], row["hunks"] = bench.size(row["tree"])
        row["patch"] = git(bench.repo, "diff", "--no-renames", bench.good_tree, row["tree"])
        row["removable"] = removable(bench, row["tree"]) if arguments.check and not row["cut"] else None
    return {"case": case, "algorithm": name, **row}


def removable(bench, tree):
    """The lines left that can be taken out, one alone, and it still fails: none for a 1-minimal result."""
    changes, n_atoms = read_changes(bench.repo, bench.good_tree, tree)
    directory = Directory(bench.checkout("removable", bench.good), changes)
    found = []
    for atom, shown in enumerate(text for change in changes for text in change.shown()):
        directory.put(set(range(n_atoms)) - {atom})
        if bench.probe(directory.path, "removable") == "fail":
            found.append(shown)
    return found


def audit(bench, listed):
    """Builds the candidates that the program says it refused without a probe: for each the reason, what it shows, and,
    if it was refused wrongly, its patch."""
    if not listed.exists():
        return []
    ours.borrow_candidates(bench)
    worktree = bench.checkout("audit", bench.good)
    at, outcomes = bench.good_tree, []
    for line in listed.read_text(encoding="utf-8").splitlines():
        refused = json.loads(line)
        changes, n_atoms = read_changes(bench.repo, at, refused["tree"])
        Directory(worktree, changes).put(set(range(n_atoms)))
        at = refused["tree"]
        outcome = bench.probe(worktree, "audit")
        patch = None if outcome == "unresolved" else git(bench.repo, "diff", bench.good_tree, at)
        outcomes.append([refused["reason"], outcome, patch])
    return outcomes
