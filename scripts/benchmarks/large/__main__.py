"""A large repository: how long until the first test starts, how long between two tests, and how much memory.

The history is made here (`--commits`, `--files`, `--bytes`), or kept in `--keep` for the next time. The test takes no time to speak of
and writes down when it begins and ends, and what processor time its parent has used, so that what lies between is ours: taking in an
answer, choosing the next revision, looking after the last probe and writing the files that differ. Beside it stand `git rev-list --bisect`, which only
chooses. Raw rows go to target/bench/large.jsonl.
"""

import argparse
import json
import os
import shutil
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
parser.add_argument("--commits", type=int, default=100_000)
parser.add_argument("--files", type=int, default=60_000)
parser.add_argument("--bytes", type=int, default=1_000, help="size of each file")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--runs", type=int, default=5, help="hunts, whose medians are told")
parser.add_argument("--keep", type=Path, help="a directory for the repository, which is made unless it is there")

# When a test begins, what its parent has used of the processors by then (in ticks), and when it ends.
TEST = ('echo "$(date +%s%N) $(cut -d" " -f14,15 /proc/$PPID/stat) $(sed -n "s/RssAnon:[^0-9]*\\([0-9]*\\).*/\\1/p" /proc/$PPID/status)" '
        '>>"$BENCH_LOG"; ! grep -q bad value; code=$?; '
        'date +%s%N >>"$BENCH_LOG"; exit $code')
TICKS = os.sysconf("SC_CLK_TCK")


def timed(command, repo, env):
    """Runs a command; returns its standard output, seconds, and the most memory that it or a child of it had, in MiB."""
    begin = time.time()
    child = subprocess.Popen(command, cwd=repo, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    stdout = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return stdout, begin, time.time() - begin, usage.ru_maxrss / 1024


def hunt(repo, env, log):
    """One hunt without reduction and port: its start-up, the pauses between tests while it searches, and its memory."""
    log.unlink(missing_ok=True)
    # A hunt that was stopped goes on when its command is given again, and has reproduced the failure already.
    shutil.rmtree(repo / ".git" / "idd", ignore_errors=True)
    command = [options.binary, "--json", "--no-cache", "--no-port", "--level", "file", "-j1", "--max-probes", "20", "--", TEST]
    stdout, begin, seconds, memory = timed(command, repo, {**env, "BENCH_LOG": str(log)})
    report = json.loads(stdout)
    lines = [[int(word) for word in line.split()] for line in log.read_text().splitlines()]
    begins, ends = lines[::2], [line[0] / 1e9 for line in lines[1::2]]
    cpu = [(user + system) / TICKS for _, user, system, _ in begins]
    own_memory = max(kib for _, _, _, kib in begins) / 1024
    # The first two are reproduction at one revision; the rest is the search.
    return {"startup": begins[0][0] / 1e9 - begin, "startup_cpu": cpu[0],
            "search": begins[2][0] / 1e9 - begin, "search_cpu": cpu[2],
            "pauses": [later[0] / 1e9 - end for end, later in zip(ends, begins[1:])][2:],
            "pauses_cpu": [later - earlier for earlier, later in zip(cpu, cpu[1:])][2:],
            "seconds": seconds, "memory": memory, "own_memory": own_memory, "status": report["status"],
            "first_bad": (report["first_bad"] or {}).get("commit"), "n_probes": report["probes"]["run"], "load": os.getloadavg()[0]}


def measure(repo, env, log):
    rows = []
    for _ in range(options.runs):
        row = hunt(repo, env, log)
        _, _, choosing, _ = timed(["git", "rev-list", "--bisect", "main", "^main~60000"], repo, env)
        _, _, choosing_first, _ = timed(["git", "rev-list", "--first-parent", "--bisect", "main", "^main~60000"], repo, env)
        row |= {"rev_list": choosing, "rev_list_first_parent": choosing_first}
        keep("large", {"commits": options.commits, "files": options.files, "bytes": options.bytes, **row})
        rows.append(row)
    median = lambda key: statistics.median(row[key] for row in rows)
    ms = lambda seconds: f"{1000 * seconds:.0f}"
    pauses = [pause for row in rows for pause in row["pauses"]]
    pauses_cpu = [pause for row in rows for pause in row["pauses_cpu"]]
    print(table(["what", "wall", "processor time of ours"], [
        ["until the first test begins, ms", ms(median("startup")), ms(median("startup_cpu"))],
        ["until the first test of the search begins (the third), ms", ms(median("search")), ms(median("search_cpu"))],
        ["from one test of the search to the next, ms: median", ms(statistics.median(pauses)), ms(statistics.median(pauses_cpu))],
        ["`git rev-list --bisect`, ms", ms(median("rev_list")), None],
        ["`git rev-list --bisect --first-parent`, ms", ms(median("rev_list_first_parent")), None],
        ["memory (with the packs that are mapped), MiB", f"{median('memory'):.0f}", None],
        ["memory of its own while a test runs, MiB", f"{median('own_memory'):.0f}", None],
        ["tests", str(rows[0]["n_probes"]), None],
        ["load", f"{median('load'):.1f}", None],
    ]))


options = parser.parse_args()
with tempfile.TemporaryDirectory() as scratch:
    place = options.keep or Path(scratch)
    env = environment(scratch)
    repo = place / f"repo-{options.commits}-{options.files}-{options.bytes}-{options.seed}"
    if not repo.exists():
        make(repo, env, n_commits=options.commits, n_files=options.files, n_bytes=options.bytes,
             culprit=options.commits * 3 // 5, seed=options.seed)
    measure(repo, env, Path(scratch) / "log")
