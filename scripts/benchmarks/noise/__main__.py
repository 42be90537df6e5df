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

# Shares of false fails and of false passes, and which revisions have them: all, or only the middle third, which then has the culprit.
SIDES = [rates for rate in (0.05, 0.1, 0.2, 0.3) for rates in [(rate, 0), (0, rate), (rate, rate)]]
ROWS = [(*rates, "all") for rates in [(0, 0), *SIDES, (0, 0.7)]] + [(rate, rate, "middle") for rate in (0.2, 0.3)]

parser = argparse.ArgumentParser(prog="bench noise", description=__doc__)
parser.add_argument("--hunts", metavar="N", type=int, default=200, help="for each row; default: 200")
parser.add_argument("--revisions", metavar="N", type=int, nargs="+", default=[60, 1000], help="lengths of the histories; default: 60 1000")
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


def ours(n, false_fails, false_passes, where, good):
    command = [arguments.binary, str(arguments.hunts), str(n), str(false_fails), str(false_passes), good, where]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def other(method, n, false_fails, false_passes, where):
    rows = []
    middle = range(n // 3, n // 3 * 2)
    culprits, noisy = (middle, middle) if where == "middle" else (range(1, n + 1), range(n + 1))
    for seed in range(arguments.hunts):
        chance = random.Random(seed)
        culprit = chance.choice(culprits)
        n_runs = 0

        def fails(position):
            nonlocal n_runs
            n_runs += 1
            rate = false_passes if position >= culprit else false_fails
            return (position >= culprit) != (position in noisy and chance.random() < rate)

        found, confidence = method(n, fails)
        rows.append({"ended": "Found", "culprit": culprit, "found": found, "confidence": confidence, "noticed": False, "runs": n_runs})
    return rows


def row(name, n, noise, rows):
    *rates, where = noise
    found = [hunt for hunt in rows if hunt["ended"] == "Found"]
    right = sum(hunt["found"] == hunt["culprit"] for hunt in found)
    wrong = [hunt for hunt in found if hunt["found"] != hunt["culprit"]]
    sure = sum(hunt["confidence"] is not None for hunt in wrong)
    silent = sum(hunt["confidence"] is None and not hunt["noticed"] for hunt in wrong)
    ranges = [hunt for hunt in rows if hunt["ended"] == "Range"]
    holding = sum(hunt["culprit"] in hunt["range"] for hunt in ranges)
    n_none = len(rows) - len(found) - len(ranges)
    runs = sum(hunt["runs"] for hunt in rows) / len(rows)
    shown = " / ".join(f"{rate:.0%}" for rate in rates) + (", middle third" if where == "middle" else "")
    times = f"{runs / bound(n, *rates):.1f}" if where == "all" else "–"
    cells = [n, shown, name, f"{right / len(rows):.1%}", sure, len(wrong) - sure - silent, silent, f"{holding} of {len(ranges)}", n_none, f"{runs:.1f}", times]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


print(
    "| revisions | false fails / passes | method | right | wrong, with its confidence | wrong, noticed | wrong, unnoticed "
    "| ranges with the culprit | no answer | runs | times the bound |"
)
print("|---|---|---|---|---|---|---|---|---|---|---|")
for n in arguments.revisions:
    for noise in ROWS:
        row("git idd --good", n, noise, ours(n, *noise, "good"))
        row("git idd", n, noise, ours(n, *noise, "no-good"))
        for name, method in others.METHODS.items():
            row(name, n, noise, other(method, n, *noise))
if "git_bayesect" not in others.METHODS:
    print("git_bayesect is not installed (`pip install git_bayesect`), so it is not in the table.", file=sys.stderr)
