"""Performance hunts: histories with a loss of 5, 10 and 30 percent at a known commit, hunted on a quiet machine and beside busy loops, and
hunts in histories without a loss.

By default, wall time is measured on a quiet machine and processor time beside busy loops, as the manual recommends. The programs run some
ten milliseconds, so a hunt takes up to half a minute.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from running import RAW, ROOT, environment, idd
from tables import table

# The threshold for each loss, in percent.
THRESHOLDS = {5: "3%", 10: "5%", 30: "10%", 0: "5%"}
# The units of work of the program.
WORK = 200

parser = argparse.ArgumentParser(prog="bench perf", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--only", metavar="PERCENT", type=int, nargs="+", choices=THRESHOLDS, help="only these losses; 0 is the history without one")
parser.add_argument("--load", metavar="N", type=int, nargs="+", default=[0, 4], help="numbers of busy loops; default: 0 4")
parser.add_argument("--hunts", metavar="N", type=int, help="for each row; default: 10, and 20 in all without a loss")
parser.add_argument("--measure", choices=["time", "cpu", "memory", "instructions"], help="for all rows; default: time without load, else cpu")
parser.add_argument("--commits", metavar="N", type=int, default=40, help="length of the histories; default: 40")
parser.add_argument("--minutes", metavar="N", type=float, default=40, help="no hunt begins after this time; default: 40")
parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "git-idd", help="the program")
parser.add_argument("--seed", type=int, default=1, help="of the histories; default: 1")
arguments = parser.parse_args()
if not arguments.binary.exists():
    parser.error(f"{arguments.binary} is not there; build it with `cargo build --release`")
arguments.binary = arguments.binary.resolve()
END = time.monotonic() + 60 * arguments.minutes

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>

#include "other.h"

#define UNITS {units}

int main(void)
{{
    volatile unsigned state = 1;
    for (int unit = 0; unit < UNITS; unit++)
        for (int step = 0; step < 50000; step++)
            state = state * 1103515245u + 12345u;
    printf("%u\\n", state ^ OTHER);
    return 0;
}}
"""


def make(repo, loss, seed):
    """A history in which the program does `loss` percent more work since one commit; returns the subject of that commit."""
    chance = random.Random(seed)
    culprit = chance.randrange(5, arguments.commits - 3)
    env = environment(repo)
    env |= {"GIT_COMMITTER_NAME": "bench", "GIT_COMMITTER_EMAIL": "bench@example.org"}
    git = ["git", "-C", repo]
    subprocess.run([*git[:1], "init", "-q", "-b", "main", repo], env=env, check=True)
    for number in range(1, arguments.commits + 1):
        units = WORK if number < culprit else WORK + WORK * loss // 100
        Path(repo, "program.c").write_text(PROGRAM.format(units=units), encoding="utf-8")
        Path(repo, "other.h").write_text(f"#define OTHER {chance.randrange(1 << 16)}u\n", encoding="utf-8")
        Path(repo, f"notes-{number % 7}").write_text(f"{number}\n", encoding="utf-8")
        subprocess.run([*git, "add", "-A"], env=env, check=True)
        subprocess.run([*git, "commit", "-q", "-m", f"change {number}"], env=env, check=True)
    return f"change {culprit}" if loss else None


def hunt(loss, load, seed):
    """The report of one hunt, and the subject that it should have."""
    with tempfile.TemporaryDirectory() as directory:
        repo = str(Path(directory, "repo"))
        wanted = make(repo, loss, seed)
        RAW.mkdir(parents=True, exist_ok=True)
        words = ["--perf", "./program", "--build", "cc -O1 -o program program.c", "--threshold", THRESHOLDS[loss]]
        words += ["--measure", measure(load), "--good", f"HEAD~{arguments.commits - 1}"]
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
        try:
            report = idd(arguments.binary, repo, words, RAW / "perf.progress")
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        return report, wanted


def measure(load):
    return arguments.measure or ("cpu" if load else "time")


def rounds(progress):
    """The rounds of each decision of a hunt."""
    text = Path(progress).read_text(encoding="utf-8", errors="replace")
    return [int(part.split(" rounds)")[0].rsplit(" ", 1)[-1]) for part in text.split(", ")[1:] if " rounds)" in part]


def row(loss, load, n_hunts):
    """The cells of one kind of hunts; `None` if the time is up."""
    right, wrong, ended, n_rounds, seconds = 0, 0, {}, [], []
    for number in range(n_hunts):
        if time.monotonic() > END:
            break
        report, wanted = hunt(loss, load, 1000 * arguments.seed + 10 * loss + number)
        found = ((report.get("first_bad") or {}).get("subject")) if report["status"] == "found" else None
        right += found == wanted and (wanted is not None or report["status"] == "bad_passes")
        wrong += found is not None and found != wanted
        ended[report["status"]] = ended.get(report["status"], 0) + 1
        n_rounds += rounds(report["progress"])
        seconds.append(report["wall"])
        print(f"loss {loss} %, load {load}: {report['status']} {found}, wanted {wanted}, {report['wall']:.0f} s", file=sys.stderr, flush=True)
    if not seconds:
        return None
    statuses = ", ".join(f"{number} {status}" for status, number in sorted(ended.items()))
    mean = lambda values: sum(values) / len(values) if values else None
    return [f"{loss} %", load, measure(load), f"{right} of {len(seconds)}", wrong, statuses, mean(n_rounds), mean(seconds)]


losses = arguments.only if arguments.only is not None else [5, 10, 30, 0]
rows = []
for load in arguments.load:
    for loss in losses:
        n_hunts = arguments.hunts or (10 if loss else max(1, 20 // len(arguments.load)))
        rows.append(row(loss, load, n_hunts))
HEAD = ["loss", "busy loops", "measure", "right", "wrong commit", "ended as", "rounds of a decision", "seconds"]
print(table(HEAD, [cells for cells in rows if cells]))
if None in rows:
    print("The time was up before the last rows.", file=sys.stderr)
