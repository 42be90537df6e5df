"""Several tests at once: wall time of a search and of a reduction with -j2, -j4, -j8 over -j1, side by side.

Histories are made here. The test sleeps, and then looks at one line of a file, so that what is measured is how well the
tests are spread, whatever the machine. Beside the search stands `git bisect run`, which tests one revision at a time.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

from running import ROOT, environment, run
from tables import table

N_REVISIONS = 256
CULPRIT = 101
N_LINES = 120

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
parser.add_argument("--runs", type=int, default=5, help="runs of each, whose median is told")
parser.add_argument("--sleep", type=float, default=0.5, help="seconds that the test takes")
parser.add_argument("--jobs", type=int, nargs="*", default=[2, 4, 8], help="numbers of tests at once to compare with one")


def make(repo, env):
    """A history in which one commit changes many lines, two of which break the test."""
    git = lambda *words: subprocess.run(["git", *words], cwd=repo, env=env, check=True, stdout=subprocess.DEVNULL)
    git("init", "-q", "-b", "main")
    lines = [f"line {n} is right" for n in range(N_LINES)]
    for revision in range(N_REVISIONS):
        if revision == CULPRIT:
            lines = [line + (" no more" if n in (31, 77) else " as before") for n, line in enumerate(lines)]
        (repo / "lines").write_text("\n".join(lines) + "\n")
        (repo / "revision").write_text(f"{revision}\n")
        git("add", "-A")
        git("-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", f"revision {revision}")


def measure(what, command, repo, env):
    seconds = []
    probes = None
    for _ in range(options.runs):
        stdout, code, taken = run(command, repo, env, 600, subprocess.DEVNULL)
        if code != 0:
            raise SystemExit(f"{what} ended with {code}: {stdout.decode(errors='replace')[:500]}")
        seconds.append(taken)
        if stdout.startswith(b"{"):
            probes = json.loads(stdout)["probes"]["run"]
    return statistics.median(seconds), probes


options = parser.parse_args()
with tempfile.TemporaryDirectory() as scratch:
    repo = Path(scratch) / "repo"
    repo.mkdir()
    env = environment(scratch)
    make(repo, env)
    test = f"sleep {options.sleep}; ! {{ grep -q '31 .* no more' lines && grep -q '77 .* no more' lines; }}"
    good, bad = "main~255", "main"
    culprit, before = f"main~{N_REVISIONS - 1 - CULPRIT}", f"main~{N_REVISIONS - CULPRIT}"
    alike = ["--json", "--no-cache"]
    rows = []
    for name, words in [
        ("search", [str(options.binary), *alike, "--no-port", "--level", "file", "--good", good]),
        ("reduction", [str(options.binary), "minimize", before, culprit, *alike]),
    ]:
        base = None
        for jobs in [1, *options.jobs]:
            taken, probes = measure(f"{name} -j{jobs}", [*words, f"-j{jobs}", "--", "sh", "-c", test], repo, env)
            base = base or taken
            rows.append([name, f"-j{jobs}", probes, taken, f"{taken / base:.2f}"])
    bisect = f"git bisect start {bad} {good} && git bisect run sh -c {shlex.quote(test)} && git bisect reset"
    taken, _ = measure("git bisect run", ["sh", "-c", bisect + " >&2"], repo, env)
    rows.append(["search", "git bisect run", None, taken, None])
    print(table(["what", "how", "runs", "s", "over -j1"], rows))
