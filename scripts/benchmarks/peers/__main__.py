"""Side by side on one history: git idd, `git bisect run`, and a script that bisects with `git worktree` on N workers.

A case is a table in a TOML file: `name`, `repo` (a bare repository), `bad`, `good`, `culprit` (all commits), `build` and `test` (shell
lines that work in any checkout), and for git idd perhaps `overlay`, such as a `.gitignore` where the history has none: products that no rule
covers do not stay. Every method builds incrementally, as usual; the histories are cloned for each run. In every
round each method runs once, so that a load falls on all of them; told are medians, and the medians of the ratios over
`git bisect run` within a round. For git idd two times are told: until the first bad commit is named, and to the end (reduction, fix, proofs).
Beside the clock stands the processor time of everything that was started, until the commit is named: on a machine that others use as well it
says more. Below the table: what keeping the products spares over `--clean`.
Raw rows go to target/bench/peers.jsonl.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from running import ROOT, environment, keep
from tables import table

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--cases", type=Path, required=True)
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
parser.add_argument("--runs", type=int, default=5, help="rounds")
parser.add_argument("--jobs", type=int, default=2)
parser.add_argument("--methods", nargs="*", help="methods to run besides git bisect, by the end of their name; default: all")
parser.add_argument("--until-named", action="store_true", help="interrupt git idd as soon as it has named the commit")
parser.add_argument("names", nargs="*", help="cases to run, default: all")
options = parser.parse_args()
WORKTREES = Path(__file__).with_name("worktrees.py")


def clone(case, scratch):
    repo = Path(scratch) / "repo"
    subprocess.run(["git", "clone", "-q", "--shared", case["repo"], repo], check=True)
    subprocess.run(["git", "checkout", "-q", "--detach", case["bad"]], cwd=repo, check=True)
    return repo


def processor_time(pid):
    """Seconds of the processors that a process and all that it has waited for have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def timed(command, repo, env):
    """Runs a command to its end; returns its standard output, seconds, and processor time."""
    begin = time.monotonic()
    child = subprocess.Popen(command, cwd=repo, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    stdout = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return stdout, time.monotonic() - begin, usage.ru_utime + usage.ru_stime


def idd(case, repo, env, jobs, *more):
    """Times until the culprit is named and to the end; what was found, and how many tests that took."""
    overlay = ["--overlay", case["overlay"]] if "overlay" in case else []
    command = [options.binary, "--json", "--no-cache", "--no-hold", f"-j{jobs}", "--good", case["good"],
               "--build", case["build"], *overlay, *more, "--", case["test"]]
    begin, named, cpu = time.monotonic(), None, None
    child = subprocess.Popen(command, cwd=repo, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.set_blocking(child.stdout.fileno(), True)
    culprit = None
    for line in child.stderr:
        if named is not None and culprit is None:
            # The line below says which one.
            culprit = line.decode(errors="replace").partition("]")[0].lstrip("[")
            if options.until_named:
                child.send_signal(signal.SIGINT)
        if named is None and line.startswith(b"Found the first bad revision"):
            named, cpu = time.monotonic() - begin, processor_time(child.pid)
    report = json.loads(child.stdout.read())
    child.wait()
    found = culprit if options.until_named else (report["first_bad"] or {}).get("commit")
    whole = None if options.until_named else time.monotonic() - begin
    return {"seconds": named, "cpu": cpu, "whole": whole, "found": found,
            "tests": report["probes"]["run"], "status": report["status"]}


def bisect(case, repo, env):
    script = f"{{ {case['build']}\n}} >/dev/null 2>&1 || exit 125\n{case['test']}"
    _, starting, starting_cpu = timed(["git", "bisect", "start", case["bad"], case["good"]], repo, env)
    stdout, seconds, cpu = timed(["git", "bisect", "run", "sh", "-c", script], repo, env)
    seconds, cpu = seconds + starting, cpu + starting_cpu
    found = [line.split()[0] for line in stdout.splitlines() if line.endswith("is the first bad commit")]
    return {"seconds": seconds, "cpu": cpu, "whole": seconds, "found": found[0] if found else None,
            "tests": stdout.count("running")}


def worktrees(case, repo, env, jobs):
    script = f"{{ {case['build']}\n}} >/dev/null 2>&1 || exit 125\n{case['test']}"
    command = [sys.executable, "-B", WORKTREES, "--jobs", str(jobs), case["bad"], case["good"], script]
    stdout, seconds, cpu = timed(command, repo, env)
    return {"seconds": seconds, "cpu": cpu, "whole": seconds, "found": stdout.strip() or None, "tests": None}


METHODS = {
    "git bisect run": bisect,
    f"git worktree, {options.jobs} workers": lambda *case: worktrees(*case, options.jobs),
    "git idd -j1": lambda *case: idd(*case, 1),
    f"git idd -j{options.jobs}": lambda *case: idd(*case, options.jobs),
    "git idd -j1 --clean": lambda *case: idd(*case, 1, "--clean", "--no-port", "--level", "file"),
}

INCREMENTAL, CLEAN = "git idd -j1", "git idd -j1 --clean"

if options.methods:
    METHODS = {name: method for name, method in METHODS.items()
               if name == "git bisect run" or any(name.endswith(end) for end in options.methods)}
rows = []
spared = []
for case in tomllib.loads(options.cases.read_text())["case"]:
    if options.names and case["name"] not in options.names:
        continue
    rounds = []
    for _ in range(options.runs):
        seen = {}
        for name, method in METHODS.items():
            with tempfile.TemporaryDirectory() as scratch:
                row = method(case, clone(case, scratch), environment(scratch))
            seen[name] = row
            keep("peers", {"case": case["name"], "method": name, "load": os.getloadavg()[0], **row})
        rounds.append(seen)
    base = "git bisect run"
    for name in METHODS:
        of = lambda key: [seen[name][key] for seen in rounds if seen[name][key] is not None]
        ratio = lambda key: [seen[name][key] / seen[base][key] for seen in rounds if seen[name][key] is not None]
        is_right = all(seen[name]["found"] == case["culprit"] for seen in rounds)
        shown = lambda values, form: format(statistics.median(values), form) if values else None
        rows.append([case["name"], name, shown(of("seconds"), ".1f"), shown(ratio("seconds"), ".2f"), shown(of("cpu"), ".1f"), shown(ratio("cpu"), ".2f"),
                     shown(of("whole"), ".1f"), shown(of("tests"), ".0f"), "right" if is_right else "other"])
    for key, what in [("seconds", "of the clock"), ("cpu", "of the processors")] if {INCREMENTAL, CLEAN} <= METHODS.keys() else []:
        ratios = [seen[CLEAN][key] / seen[INCREMENTAL][key] for seen in rounds if seen[CLEAN][key] and seen[INCREMENTAL][key]]
        if ratios:
            spared.append(f"{case['name']}: to the first bad commit `--clean` takes {statistics.median(ratios):.1f} times the time {what}.")
head = ["case", "how", "s to the first bad commit", "over bisect", "s of processor", "over bisect", "s in all", "tests", "answer"]
print(table(head, rows))
print("\n".join(["", *spared]))
print(f"\nLoad at the end: {os.getloadavg()[0]:.1f}")
