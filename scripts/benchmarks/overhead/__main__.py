"""What a probe costs without its test: near and far jumps in trees of some thousand files, beside `git checkout` and `git worktree`.

A near jump goes to the parent, a far one over `--far` commits. For git idd the time from the end of one test to the beginning of
the next is taken (looking after the old probe, writing what differs, index, journal), in hunts with -j1; beside it stands the
processor time that it used. For git it is the time of the command. Rounds are interleaved; told are medians. Raw rows go to
target/bench/overhead.jsonl.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from running import ROOT, environment, keep
from synthetic import make
from tables import table

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
parser.add_argument("--files", type=int, nargs="*", default=[5_000, 60_000])
parser.add_argument("--bytes", type=int, default=1_000)
parser.add_argument("--commits", type=int, default=2_000)
parser.add_argument("--far", type=int, default=1_000)
parser.add_argument("--runs", type=int, default=5)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--keep", type=Path, help="a directory for the repositories, which are made unless they are there")
options = parser.parse_args()

TEST = ('echo "$(date +%s%N) $(cut -d" " -f14,15 /proc/$PPID/stat)" >>"$BENCH_LOG"; ! grep -q bad value; code=$?; '
        'echo "$(date +%s%N) $(cut -d" " -f14,15 /proc/$PPID/stat)" >>"$BENCH_LOG"; exit $code')
TICKS = os.sysconf("SC_CLK_TCK")


def pauses(repo, env, log, *words):
    """Seconds and processor time between two tests, for each pair of tests that follow each other."""
    log.unlink(missing_ok=True)
    command = [options.binary, "--json", "--no-cache", "--no-port", "--no-hold", "-j1", *words, "--", TEST]
    subprocess.run(command, cwd=repo, env={**env, "BENCH_LOG": str(log)}, capture_output=True, check=False)
    marks = [[int(word) for word in line.split()] for line in log.read_text().splitlines()]
    marks = [(ns / 1e9, (user + system) / TICKS) for ns, user, system in marks]
    return [(later[0] - earlier[0], later[1] - earlier[1]) for earlier, later in zip(marks[1::2], marks[2::2])]


def command(*words, cwd, env):
    """Seconds and processor time of a command."""
    begin = time.monotonic()
    child = subprocess.Popen(words, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime


def measure(repo, env, log, scratch):
    """One round: name of what was done, seconds, processor time."""
    steps = pauses(repo, env, log, "--walk", "linear", "--max-probes", "12")
    for pause in steps[3:]:
        yield "near: git idd", *pause
    yield "the same tree again: git idd", *steps[0]
    # Reproduced twice at the bad revision, then far back.
    yield "far: git idd", *pauses(repo, env, log, "--good", f"main~{options.far}", "--max-probes", "3")[1]
    place = Path(scratch) / "worktree"
    yield "a first checkout: git worktree add", *command("git", "worktree", "add", "--detach", str(place), "main", cwd=repo, env=env)
    checkout = lambda revision: command("git", "checkout", "-q", "--detach", revision, cwd=place, env=env)
    for n in range(1, 6):
        yield "near: git checkout", *checkout(f"main~{n}")
    checkout("main")
    yield "far: git checkout", *checkout(f"main~{options.far}")
    command("git", "worktree", "remove", "--force", str(place), cwd=repo, env=env)


rows = []
with tempfile.TemporaryDirectory() as scratch:
    env = environment(scratch)
    for n_files in options.files:
        repo = (options.keep or Path(scratch)) / f"repo-{options.commits}-{n_files}-{options.bytes}-{options.seed}"
        if not repo.exists():
            make(repo, env, n_commits=options.commits, n_files=n_files, n_bytes=options.bytes,
                 culprit=options.commits // 10, seed=options.seed)
        seen = {}
        for _ in range(options.runs):
            for what, seconds, cpu in measure(repo, env, Path(scratch) / "log", scratch):
                keep("overhead", {"files": n_files, "what": what, "seconds": seconds, "cpu": cpu, "load": os.getloadavg()[0]})
                seen.setdefault(what, []).append((seconds, cpu))
        for what, values in seen.items():
            ms = lambda index: f"{1000 * statistics.median(value[index] for value in values):.1f}"
            rows.append([n_files, what, len(values), ms(0), ms(1)])
print(table(["files", "what", "times", "ms", "ms of processor"], rows))
print(f"\nLoad at the end: {os.getloadavg()[0]:.1f}")
