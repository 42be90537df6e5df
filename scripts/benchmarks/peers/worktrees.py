"""Bisection with `git worktree`, as people write it by hand: N revisions are tested at once, each worker in a worktree of its own.

Prints the first bad commit. Every round divides the first-parent line into N + 1 parts and waits for all N tests; the
worktrees keep their build products.
"""

import argparse
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--jobs", type=int, default=2)
parser.add_argument("bad")
parser.add_argument("good")
parser.add_argument("command")
options = parser.parse_args()


def git(*words):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def passes(place, commit):
    subprocess.run(["git", "checkout", "-q", "--force", "--detach", commit], cwd=place, check=True)
    return subprocess.run(["sh", "-c", options.command], cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


# Newest first; the first fails, and what is behind the last passes.
line = git("rev-list", "--first-parent", options.bad, f"^{options.good}").split()
with tempfile.TemporaryDirectory() as scratch:
    places = [Path(scratch) / f"w{n}" for n in range(options.jobs)]
    for place in places:
        git("worktree", "add", "-q", "--detach", str(place), options.bad)
    bad, good = 0, len(line)
    with ThreadPoolExecutor(options.jobs) as pool:
        while good - bad > 1:
            parts = options.jobs + 1
            stops = sorted({bad + (good - bad) * n // parts for n in range(1, parts)} - {bad})
            for stop, passed in zip(stops, pool.map(passes, places, [line[stop] for stop in stops])):
                if passed:
                    good = min(good, stop)
                elif stop < good:
                    bad = max(bad, stop)
    for place in places:
        git("worktree", "remove", "--force", str(place))
print(line[bad])
