"""Noise: simulated hunts with a test that is wrong in a share of its runs, beside a plain bisection, the majority of five runs, and git_bayesect."""

import argparse
import json
import math
import random
import subprocess
import sys
from pathlib import Path

import others
from running import ROOT

# Shares of false fails and of false passes.
RATES = [(0, 0)] + [(rate, 0) for rate in (0.05, 0.1, 0.3)] + [(0, rate) for rate in (0.05, 0.1, 0.3)] + [(0.1, 0.1), (0, 0.7)]

parser = argparse.ArgumentParser(prog="bench noise", description=__doc__)
parser.add_argument("--hunts", metavar="N", type=int, default=200, help="for each row; default: 200")
parser.add_argument("--revisions", metavar="N", type=int, nargs="+", default=[30, 300], help="lengths of the histories; default: 30 300")
parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "examples" / "noise", help="what simulates our hunts")
arguments = parser.parse_args()
if not arguments.binary.exists():
    parser.error(f"{arguments.binary} is not there; build it with `cargo build --release --example noise`")


def entropy(p):
    return 0 if p in (0, 1) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def bound(n, false_fails, false_passes):
    """The runs that any search needs in the mean: log2(n) over the capacity of one run."""
    shares = [share / 1000 for share in range(1, 1000)]
    return math.log2(n) / max(
        entropy(share * (1 - false_passes) + (1 - share) * false_fails) - share * entropy(false_passes) - (1 - share) * entropy(false_fails)
        for share in shares
    )


def ours(n, false_fails, false_passes, good):
    command = [arguments.binary, str(arguments.hunts), str(n), str(false_fails), str(false_passes), good]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def other(method, n, false_fails, false_passes):
    rows = []
    for seed in range(arguments.hunts):
        chance = random.Random(seed)
        culprit = chance.randrange(1, n + 1)
        n_runs = 0

        def fails(position):
            nonlocal n_runs
            n_runs += 1
            return chance.random() >= false_passes if position >= culprit else chance.random() < false_fails

        found, confidence = method(n, fails)
        rows.append({"ended": "Found", "culprit": culprit, "found": found, "confidence": confidence, "runs": n_runs})
    return rows


def row(name, n, rates, rows, least):
    found = [hunt for hunt in rows if hunt["ended"] == "Found"]
    right = sum(hunt["found"] == hunt["culprit"] for hunt in found)
    wrong = [hunt for hunt in found if hunt["found"] != hunt["culprit"]]
    silent = sum(hunt["confidence"] is None for hunt in wrong)
    runs = sum(hunt["runs"] for hunt in rows) / len(rows)
    shown = " / ".join(f"{rate:.0%}" for rate in rates)
    cells = [n, shown, name, f"{right / len(rows):.1%}", len(wrong) - silent, silent, len(rows) - len(found), f"{runs:.1f}", f"{runs / least:.1f}"]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


print("| revisions | false fails / passes | method | right | wrong, with its confidence | wrong, unnoticed | no commit named | runs | times the bound |")
print("|---|---|---|---|---|---|---|---|---|")
for n in arguments.revisions:
    for rates in RATES:
        least = bound(n, *rates)
        row("git idd --good", n, rates, ours(n, *rates, "good"), least)
        row("git idd", n, rates, ours(n, *rates, "no-good"), least)
        for name, method in others.METHODS.items():
            row(name, n, rates, other(method, n, *rates), least)
if "git_bayesect" not in others.METHODS:
    print("git_bayesect is not installed (`pip install git_bayesect`), so it is not in the table.", file=sys.stderr)
