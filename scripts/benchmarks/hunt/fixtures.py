"""The hunt on every fixture: expected beside found, and `git bisect run` on the same history where it applies."""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from expected import FIXTURES, complaints, names
from running import bisect, environment, idd, keep
from tables import short, table

def measure(binary, name, progress):
    """One fixture, made twice: for the hunt, and for git bisect."""
    expect = tomllib.loads((FIXTURES / name / "expect.toml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        def make(where):
            repo = Path(scratch, where, "repo")
            env = environment(scratch)
            subprocess.run([FIXTURES / name / "make.sh", repo], env=env, check=True, capture_output=True)
            return repo
        report = idd(binary, make("hunt"), expect["arguments"], progress, 600)
        plain = None
        if "bisect_good" in expect:
            repo = make("bisect")
            good = subject_to_commit(repo, expect["bisect_good"])
            plain = bisect(repo, "main", good, expect["bisect_command"], 300)
    return {"fixture": name, "expect": expect, "wrong": complaints(expect, report), "report": report, "bisect": plain}


def subject_to_commit(repo, named):
    """A commit by its subject, or by any name that git knows."""
    log = subprocess.run(["git", "-C", repo, "log", "--all", "--format=%H %s"], capture_output=True, text=True, check=True)
    hits = [line.split(" ", 1)[0] for line in log.stdout.splitlines() if line.split(" ", 1)[1:] == [named]]
    return hits[0] if hits else named


def row(measured):
    """One line of the table."""
    expect, report, plain = measured["expect"], measured["report"], measured["bisect"]
    probes, change = report["probes"], report.get("change") or {}
    found = (report.get("first_bad") or {}).get("subject")
    lines = "/".join(str((change.get(side) or {}).get("lines", "–")) for side in ("sufficient", "necessary"))
    expected_lines = "/".join(str(expect.get(f"{side}_lines", "–")) for side in ("sufficient", "necessary"))
    answer = None
    if plain:
        is_right = plain["answer"] == expect.get("first_bad_subject")
        answer = "the same" if is_right else plain["answer"] if plain["answer"] in ("only skipped", "n/a") else f"wrong: {short(plain['answer'], 30)}"
    return [
        measured["fixture"],
        f"{expect.get('status')}: {short(expect.get('first_bad_subject')) or '–'}",
        f"{report['status']}: {'the same' if found and found == expect.get('first_bad_subject') else short(found) or '–'}",
        expected_lines, lines,
        "as expected" if not measured["wrong"] else "NOT " + ", ".join(measured["wrong"]),
        probes.get("reproduce", 0) + probes.get("search", 0), probes.get("repair"), probes.get("reduce"), probes.get("port"),
        probes.get("verify"), measured["report"]["wall"], answer, plain and plain["probes"],
    ]


HEAD = ["fixture", "expected", "found", "lines expected", "lines found", "verdict", "search", "repair", "reduce", "port",
        "verify", "s", "git bisect run", "its tests"]


def main(binary, chosen, progress_directory):
    """Measures, tells about each on stderr, prints the table. Returns how many are not as expected."""
    rows, n_wrong = [], 0
    for name in chosen or names():
        measured = measure(binary, name, progress_directory / f"fixture-{name}.err")
        keep("fixtures", measured)
        rows.append(row(measured))
        n_wrong += bool(measured["wrong"])
        print(f"{name}: {rows[-1][5]}, {rows[-1][11]:.1f} s", file=sys.stderr, flush=True)
    print(table(HEAD, rows))
    return n_wrong
