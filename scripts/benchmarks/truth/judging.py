"""What a patch does to a revision: the project's suite, warnings, sanitizers, and where it lies."""

import collections
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import cases
import hunting
import places
from running import environment, git, run

SHIM = """#!/bin/sh
# Stands in for {name}: the real one, with other options.
n=$#
while [ $n -gt 0 ]; do
    case $1 in {dropped}) ;; *) set -- "$@" "$1" ;; esac
    shift
    n=$((n - 1))
done
exec {real} "$@" {added} 2>>"$TRUTH_DIAGNOSTICS"
"""
C_COMPILERS = ("cc", "gcc", "clang", "tcc")
WARNING = re.compile(r"^(.*?):\d+(?::\d+)?: (warning|error): (.*)$")
PYFLAKES = re.compile(r"^(.*?):\d+(?::\d+)?:? (.*)$")
FAILING = re.compile(r"\b(fail(ed|s|ure|ing)?|errors?|not ok|bad|differs|traceback|segmentation fault|aborted|timeout)\b"
                     r"|\w(Error|Exception)\b|^\d+\) \w", re.I)
# Sums and boasts, which change with each test that is mended.
SUMMARY = re.compile(r"\b\d+ (tests? )?(failed|failures?|errors?|passed|bad)\b|(failures|errors?|failed|fails): *\d+"
                     r"|^make(\[\d+\])?: |\b(no|without) (errors?|failures?)\b", re.I)
MASKED = [(re.compile(pattern), by) for pattern, by in (
    (r"0x[0-9a-fA-F]+", "0x"), (r"/tmp/\S*?/(repo/)?", "/"), (r"\b\d+(\.\d+)? ?m?s\b", "T"), (r"\.(java|py|c|js|rs|go):\d+", r".\1"),
    (r"line \d+", "line"), (r"@[0-9a-f]{5,}", "@"), (r"^\d+\) ", ") "))]
# A line that is nothing but a comment, in other languages and in Python.
COMMENT = re.compile(r"\s*(//|/\*|\*( |/|$))"), re.compile(r"\s*#")
REPORT = re.compile(r"ERROR: \w+Sanitizer: ([\w-]+)|(Direct|Indirect) leak of|runtime error: (.*)")
FRAME = re.compile(r"^ *#\d+ 0x[0-9a-f]+ in (\S+) (\S+)")


def is_failing(line):
    """Whether a line of a suite tells of one failure."""
    return bool(FAILING.search(line)) and not SUMMARY.search(line) and not line.strip().startswith(("ok", "at "))


def masked(line):
    """A line without what differs between two runs."""
    line = line.strip()
    for pattern, by in MASKED:
        line = pattern.sub(by, line)
    return line


class Place:
    """A clone at the tested revision with a tree of its own checked out, and how to run lines in it."""

    def __init__(self, case, scratch, tree, limit):
        self.case, self.scratch, self.limit = case, Path(scratch), limit
        self.repo, _ = cases.checkout(case, scratch)
        git(self.repo, "read-tree", "-u", "--reset", tree)
        self.home = self.scratch / "home"
        self.home.mkdir()

    def sh(self, line, more=None):
        """Runs a shell line; returns its output (stdout and stderr) and its exit code."""
        with open(self.scratch / "stderr", "w+b") as stderr:
            stdout, code, _ = run(["sh", "-c", line], self.repo, {**environment(self.home), **(more or {})}, self.limit, stderr)
            stderr.seek(0)
            return (stdout + b"\n" + stderr.read()).decode(errors="replace"), code

    def build(self, more=None):
        return self.sh(f"( {self.case['build']}\n) 2>&1", more) if "build" in self.case else ("", 0)

    def standing_in(self, names, added, dropped):
        """The environment in which scripts stand in for compilers."""
        shims, diagnostics = self.scratch / "shims", self.scratch / "diagnostics"
        shims.mkdir(exist_ok=True)
        diagnostics.write_text("")
        for name in names:
            if real := shutil.which(name):
                (shims / name).write_text(SHIM.format(name=name, real=real, added=added, dropped="|".join(dropped)))
                (shims / name).chmod(0o755)
        return {"PATH": f"{shims}:{os.environ['PATH']}", "TRUTH_DIAGNOSTICS": str(diagnostics)}


def suite(case, tree, limit):
    """Failing lines of the suite, as [line, count] pairs, and how it ended: `exit`, None where it does not build."""
    if "suite" not in case:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        place = Place(case, scratch, tree, limit)
        if place.build()[1] != 0:
            return {"exit": None, "failing": []}
        output, code = place.sh(case["suite"])
    lines = [masked(line) for line in output.splitlines() if is_failing(line)]
    return {"exit": code, "failing": sorted(collections.Counter(lines).items())}


def warnings(case, tree, limit):
    """All warnings of a plain build, as [file, text, count]; None where there is no way to ask."""
    if case["lang"] not in ("c", "java", "python"):
        return None
    with tempfile.TemporaryDirectory() as scratch:
        place = Place(case, scratch, tree, limit)
        if case["lang"] == "python":
            tool = "pyflakes" if shutil.which("pyflakes") else "python3 -m compileall -q -f"
            output, _ = place.sh(f"git ls-files -z -- '*.py' | xargs -0 {tool} 2>&1")
            pattern, found = PYFLAKES, collections.Counter()
            for line in output.splitlines():
                if hit := pattern.match(line):
                    found[hit[1].removeprefix("./"), masked(hit[2])] += 1
            return [[*key, n] for key, n in sorted(found.items())]
        if case["lang"] == "java":
            more = place.standing_in(["javac"], "-Xlint:all -Xmaxwarns 100000", ["-nowarn", "-Xlint*"])
        else:
            more = place.standing_in(C_COMPILERS, "-Wall -Wextra", ["-w", "-Werror*"])
        place.build(more)
        text = (place.scratch / "diagnostics").read_text(errors="replace")
    found = collections.Counter()
    for line in text.splitlines():
        if hit := WARNING.match(line):
            found[os.path.basename(hit[1]), masked(hit[3])] += 1
    return [[*key, n] for key, n in sorted(found.items())]


def sanitizers(case, tree, limit):
    """Reports of the sanitizers in test and suite, as [what, count]; None where it does not build so."""
    if case["lang"] != "c":
        return None
    with tempfile.TemporaryDirectory() as scratch:
        place = Place(case, scratch, tree, limit)
        more = place.standing_in(C_COMPILERS, "-g -fno-omit-frame-pointer -fsanitize=address,undefined", ["-s", "-static"])
        logs = place.scratch / "reports"
        logs.mkdir()
        silent = {**more, "ASAN_OPTIONS": f"detect_leaks=0:exitcode=0:log_path={place.scratch}/ignored"}
        if place.build(silent)[1] != 0:
            return None
        told = {**more, "ASAN_OPTIONS": f"exitcode=0:log_path={logs}/asan", "UBSAN_OPTIONS": f"log_path={logs}/ubsan:print_stacktrace=1"}
        place.sh(" ".join("'" + word.replace("'", "'\\''") + "'" for word in case["test"]), told)
        if "suite" in case:
            place.sh(case["suite"], told)
        # By kind and function: numbers of lines differ between two trees, and so does how often something is reached.
        found = collections.Counter()
        for log in logs.iterdir():
            found.update(reports(log.read_text(errors="replace")))
    return sorted(found.items())


def reports(text):
    """What one log complains about: kind, and the first function that is the program's own."""
    found, kind = [], None
    for line in text.splitlines():
        if hit := REPORT.search(line):
            kind = hit[1] or (hit[2] and f"{hit[2].lower()} leak") or "undefined: " + re.sub(r"\d+", "N", masked(hit[3]))
            if hit[3]:
                kind = kind.split(" for type")[0]
        elif kind and (frame := FRAME.match(line)) and "sanitizer" not in frame[2] and "libasan" not in frame[2] and "/libc" not in frame[2]:
            found.append(f"{kind} in {frame[1]}")
            kind = None
    return set(found)


def ends(case, limit, is_judged=True, is_bisected=True):
    """Where people changed something; what the revision is like as it is, and with their fix; and what `git bisect run` takes."""
    repo = case["repo"]
    bad = git(repo, "rev-parse", f"{case['bad']}^{{commit}}")
    paths = case.get("fix_paths", ["."])
    human = subprocess.run(["git", "-C", repo, "diff", "--binary", f"{case['fix']}^", case["fix"], "--", *paths],
                           capture_output=True, check=True).stdout
    found = {
        "lang": case["lang"],
        "human_lines": cases.human_lines(case),
        "human_touches": sorted(places.touched(repo, f"{case['fix']}^", case["fix"], paths)),
        "fix_place": case.get("fix_place", []),
        "culprit_lines": len(hunting.edits(culprit_patch(case))),
        "head": None, "human": None, "before_culprit": {}, "bisect": bisect_of(case) if is_bisected else None,
    }
    if not is_judged:
        return found
    fixed = places.patched_tree(repo, bad, human)
    return {
        **found,
        "head": judged(case, git(repo, "rev-parse", f"{bad}^{{tree}}"), limit),
        "human": fixed and judged(case, fixed, limit),
        "before_culprit": {"warnings": warnings(case, git(repo, "rev-parse", f"{case['culprit']}^"), limit)},
    }


def culprit_patch(case):
    return git(case["repo"], "diff", "--no-ext-diff", "--no-color", f"{case['culprit']}^", case["culprit"])


def judged(case, tree, limit):
    """All that is asked of a tree. The clones that it is asked in have the objects of the case's repository, this tree included."""
    found = {"tree": tree}
    for name, ask in (("suite", suite), ("warnings", warnings), ("sanitizers", sanitizers)):
        found[name] = ask(case, tree, limit)
    return found


def bisect_of(case):
    """What `git bisect run` answers, and its runs; None without a good revision."""
    plain = cases.measure_bisect(case)
    return plain and {name: plain[name] for name in ("answer", "probes")}


def finding(case, report, limit, known):
    """Where the change lies, and what the recommended fix does; `known` are the trees of the case that were judged already."""
    views, touches = hunting.views(report), lambda change: change and change_touches(case, report, hunting.text(change["patch"]))
    row = {"touches": touches(views[0] if views else None), "necessary_touches": touches(hunting.side(report, "necessary")),
           "fixed": None, "is_fix_revert": None}
    fix = report.get("fix")
    if fix and fix.get("complete", True):
        row["is_fix_revert"] = is_revert(case, fix)
        bad = git(case["repo"], "rev-parse", f"{case['bad']}^{{commit}}")
        tree = places.patched_tree(case["repo"], bad, hunting.text(fix["patch"]))
        if tree and tree in known:
            row["fixed"] = known[tree]
        elif tree:
            row["fixed"] = {**judged(case, tree, limit), "files": git(case["repo"], "diff", "--name-only", bad, tree).splitlines()}
    return row


def is_revert(case, fix):
    """Whether a fix takes the whole culprit back: it says so, or it removes each line that came, and brings each that went.

    Comments may stay.
    """
    turned = {"+": "-", "-": "+"}
    lines = [line for line in hunting.edits(culprit_patch(case)) if not COMMENT[case["lang"] == "python"].match(line[1:])]
    culprit = collections.Counter(turned[line[0]] + line[1:] for line in lines)
    return fix.get("scope") in ("revert", "merge") or bool(fix.get("reverts")) or not culprit - collections.Counter(hunting.edits(fix["patch"]))


def change_touches(case, report, patch):
    """The declarations that a change of the pair touches: taken out of the first bad revision, or put on the last good one."""
    for name, is_reversed in (("first_bad", True), ("last_good", False)):
        commit = (report.get(name) or {}).get("commit")
        tree = commit and places.patched_tree(case["repo"], commit, patch, is_reversed)
        if tree:
            older, newer = (tree, commit) if is_reversed else (commit, tree)
            return sorted(places.touched(case["repo"], older, newer))
    return None
