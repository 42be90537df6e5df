"""Hunts in real histories: the original linear walk, with its hierarchical reduction, beside the default.

The tables have the columns of Tables 2 to 4 of Artho, Iterative Delta Debugging (2011).
"""

import json
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

from running import bisect, git, idd, keep
from tables import short, table

MODES = {
    "IDD-h": ["--walk", "linear"],
    "default": [],
    # The default with `--artifact` for the products that the case names.
    "artifact": [],
}

DEFAULT_BUDGET = "10m"
TESTED = re.compile(r"^  [0-9a-f]{12}(?: \S+)? unresolved\(([^)]*)\)", re.M)
REDUCING = re.compile(r"^Reducing (.*): (\d+) of (\d+) units left", re.M)


def load(path):
    """The cases of a file. `{here}` in its strings is the directory of the file; paths are relative to that."""
    here = path.resolve().parent
    text = path.read_text(encoding="utf-8").replace("{here}", str(here))
    cases = tomllib.loads(text)["case"]
    for case in cases:
        case["repo"] = str(here / case["repo"])
    return cases


def human_lines(case):
    """Added and removed lines of the fix that people wrote, in the paths that count as source."""
    if "fix" not in case:
        return None
    stat = git(case["repo"], "show", "--numstat", "--format=", case["fix"], "--", *case.get("fix_paths", ["."]))
    return sum(int(number) for line in stat.splitlines() for number in line.split("\t")[:2] if number != "-")


def checkout(case, scratch):
    """A clone whose HEAD is the bad revision, so that hunts share neither cache nor products; with the configuration of the case."""
    clone = Path(scratch, "repo")
    subprocess.run(["git", "clone", "-q", "--no-checkout", case["repo"], clone], check=True)
    bad = git(case["repo"], "rev-parse", f"{case['bad']}^{{commit}}")
    subprocess.run(["git", "-C", clone, "checkout", "-q", "--detach", bad], check=True)
    for name, value in case.get("config", {}).items():
        git(clone, "config", name, value)
    return clone, bad


def arguments_of(case, mode, budget):
    """The command line of `git idd`. Every mode searches the pass on its own: `good` is for git bisect only."""
    build = ["--build", case["build"]] if "build" in case else []
    products = [f"--artifact={path}" for path in case["artifact"]] if mode == "artifact" else []
    return [*MODES[mode], "--budget", budget, *build, *products, *case.get("arguments", []), "--", *case["test"]]


def measure(binary, case, mode, budget, progress):
    """One hunt."""
    with tempfile.TemporaryDirectory() as scratch:
        clone, _ = checkout(case, scratch)
        report = idd(binary, clone, arguments_of(case, mode, budget), progress)
    text = progress.read_text(encoding="utf-8", errors="replace")
    return {"case": case, "mode": mode, "budget": budget, "human": human_lines(case), "report": report,
            "culprit": case.get("culprit") and git(case["repo"], "rev-parse", case["culprit"]),
            "stopped": dict(Counter(TESTED.findall(text))), "reductions": reductions(text)}


def measure_bisect(case):
    """`git bisect run` with the known good revision; a build that fails is skipped."""
    if "good" not in case:
        return None
    command = (f"( {case['build']}\n) || exit 125\n" if "build" in case else "") + shlex.join(case["test"])
    with tempfile.TemporaryDirectory() as scratch:
        clone, bad = checkout(case, scratch)
        good = git(case["repo"], "rev-parse", f"{case['good']}^{{commit}}")
        return bisect(clone, bad, good, command, 1800)


def reductions(text):
    """Units before and after each reduction that took something out, as the progress told them."""
    found = []
    for what, left, total in REDUCING.findall(text):
        left, total = int(left), int(total)
        if found and found[-1][0] == what and found[-1][2] == total and left < found[-1][1]:
            found[-1][1] = left
        else:
            found.append([what, left, total])
    return [[total, left] for _, left, total in found]


def names(measured):
    """The first two cells of every table."""
    return [measured["case"]["name"], measured["mode"]]


def summary_row(measured):
    """Sizes and costs: Table 4."""
    report, culprit = measured["report"], measured["culprit"]
    change, fix, repairs = report.get("change") or {}, report.get("fix") or {}, report.get("repairs") or []
    size = lambda side: (change.get(side) or {}).get("lines")
    first_bad = report.get("first_bad") or {}
    verdict = None
    if first_bad and culprit:
        verdict = "yes" if first_bad["commit"] == culprit else f"no: {short(first_bad['subject'], 30)}"
    n_calls = len(repairs) + sum(size(side) is not None for side in ("sufficient", "necessary"))
    n_calls = max(n_calls, len(measured["reductions"]))
    return [*names(measured), report["status"], verdict, max((repair["lines"] for repair in repairs[-1:]), default=0),
            size("sufficient"), size("necessary"), fix.get("lines") if fix.get("complete") else None, measured["human"],
            n_calls, report["probes"].get("run"), report["wall"]]


SUMMARY = ["case", "mode", "status", "culprit right", "ported test", "initial: sufficient", "necessary", "final patch", "human",
           "DD calls", "builds/tests", "s"]


def stopped_row(measured):
    """Why revisions gave no verdict as they were: Table 2."""
    counts = Counter(measured["stopped"])
    known = [counts.pop("does-not-apply", 0), counts.pop("build", 0)]
    n_timeouts = counts.pop("timeout", 0)
    return [*names(measured), *known, sum(counts.values()), n_timeouts]


STOPPED = ["case", "mode", "patch", "build", "test error", "timeout"]


def failed_row(measured):
    """What the candidates of all reductions answered: Table 3."""
    counts = Counter()
    for purpose in ("repair", "reduce", "port"):
        counts.update(measured["report"]["probes"].get("outcomes", {}).get(purpose, {}))
    known = [counts.pop(f"unresolved({reason})", 0) for reason in ("build", "assertion", "timeout", "memory")]
    n_pass, n_fail = counts.pop("pass", 0), counts.pop("fail", 0)
    shares = [1 - left / total for total, left in measured["reductions"] if total]
    average = f"{100 * sum(shares) / len(shares):.0f} %" if shares else None
    return [*names(measured), *known, sum(counts.values()), n_pass, n_fail, average]


FAILED = ["case", "mode", "build", "assertion", "timeout", "memory", "other", "pass", "the failure", "smaller by"]


def print_tables(rows):
    """All tables of measured rows; the newest row of each case and mode counts."""
    newest = {tuple(names(row)): row for row in rows if "mode" in row}
    plain = {row["case"]["name"]: row for row in rows if "bisect" in row}
    rows = list(newest.values())
    print("Sizes in added and removed lines, and cost:\n\n" + table(SUMMARY, map(summary_row, rows)))
    print("\nRevisions without a verdict of their own, by reason:\n\n" + table(STOPPED, map(stopped_row, rows)))
    print("\nCandidates of reductions, by outcome:\n\n" + table(FAILED, map(failed_row, rows)))
    if plain:
        cells = [[name, row["bisect"]["answer"], row["bisect"]["probes"], row["bisect"]["wall"]] for name, row in plain.items()]
        print("\n`git bisect run` with a known good revision:\n\n" + table(["case", "answer", "tests", "s"], cells))


def read(path, wanted):
    """Rows kept by an earlier run."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if not wanted or row["case"]["name"] in wanted]


def main(binary, arguments, progress_directory):
    """Measures all modes of all cases, tells about each on stderr, prints the tables."""
    rows = []
    for case in load(arguments.cases):
        if arguments.names and case["name"] not in arguments.names:
            continue
        if not arguments.mode and (plain := measure_bisect(case)):
            rows.append({"case": case, "bisect": plain})
            keep("cases", rows[-1])
        for mode in arguments.mode or MODES:
            if mode == "artifact" and "artifact" not in case:
                continue
            budget = arguments.budget or case.get("budget", {}).get(mode, DEFAULT_BUDGET)
            measured = measure(binary, case, mode, budget, progress_directory / f"case-{case['name']}-{mode}.err")
            keep("cases", measured)
            rows.append(measured)
            report = measured["report"]
            print(f"{case['name']} {mode}: {report['status']}, {report['wall']:.0f} s", file=sys.stderr, flush=True)
    print_tables(rows)
    return 0
