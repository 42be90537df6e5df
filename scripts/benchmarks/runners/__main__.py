"""Test runners: git idd on a history in which one test fails early, and the hunted one later with the same text.

For each runner (`recipes.py`), a history of 11 commits is made: `b` breaks, then `a`, then `b` is mended. Without the names of tests, the commit that
broke `b` would be named. Printed are the version, whether the name of the failing test was read, and whether the commit is right. The runner must be
on PATH or in a directory of `--bin`; from `node_modules/.bin`, its packages are used, too. A runner that is missing or whose tests cannot be made
here is marked so. Raw rows go to target/bench/runners.jsonl.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from recipes import RECIPES
from running import ROOT, keep
from tables import short, table

HISTORY = r"""
set -e
n=0
c() { git add -A; n=$((n + 1)); d="2026-01-01T00:0$((n / 60)):$((n % 60))Z"; GIT_AUTHOR_DATE=$d GIT_COMMITTER_DATE=$d git commit -q -m "$1"; }
noise() { for i in $(seq "$1"); do echo "$n $i" >> notes; c "note $n"; done; }
c start; noise 2; echo 0 > b; c "break b"; noise 2; echo 0 > a; c culprit; noise 1; echo 1 > b; c "mend b"; noise 2
"""

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", type=Path, help="the program to measure")
parser.add_argument("--bin", action="append", default=[], type=Path, metavar="DIR", help="a directory with runners, searched before PATH")
parser.add_argument("--jars", type=Path, metavar="DIR", help="the directory with the libraries of JUnit")
parser.add_argument("--maven-repo", type=Path, metavar="DIR", help="the local repository of Maven")
parser.add_argument("--list", action="store_true", help="only print the names")
parser.add_argument("--verbose", action="store_true", help="print what git idd says where the answer is not right")
parser.add_argument("names", nargs="*", help="recipes to run, by a part of their names; default: all")
options = parser.parse_args()


def variables(side):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    path = os.pathsep.join([str(bin.resolve()) for bin in options.bin] + [os.environ["PATH"]])
    modules = os.pathsep.join(str(bin.resolve().parent) for bin in options.bin if bin.parent.name == "node_modules")
    fixed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8", "SIDE": str(side), "PATH": path, "NODE_PATH": modules}
    given = {"JARS": options.jars, "MAVEN_REPO": options.maven_repo}
    given = {name: str(place.resolve()) for name, place in given.items() if place is not None}
    who = {f"GIT_{role}_{what}": f"bench{tail}" for role in ("AUTHOR", "COMMITTER") for what, tail in (("NAME", ""), ("EMAIL", "@example.org"))}
    return {**kept, **fixed, **given, **who}


def version(recipe, env):
    done = subprocess.run(["sh", "-c", recipe.version], env=env, capture_output=True, text=True, errors="replace")
    found = re.search(r"\d+\.\d[\w.]*", done.stdout + done.stderr)
    return found and found.group()


def is_there(program, env):
    """A program on PATH, a package beside the programs of Node, or a directory that was given."""
    packages = [Path(place, program) for place in env["NODE_PATH"].split(os.pathsep) if place]
    return program in env or shutil.which(program, path=env["PATH"]) is not None or any(package.is_dir() for package in packages)


def hunt(recipe, scratch):
    """A row: version, the name of the test, the answer."""
    repo, side = scratch / "repo", scratch / "side"
    env = variables(side)
    missing = next((program for program in recipe.programs if not is_there(program, env)), None)
    if missing is not None:
        return None, None, f"not run: no `{missing}`"
    for directory in (repo, side):
        directory.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=repo, env=env, check=True)
    for name in "ab":
        (repo / name).write_text("1\n")
    made = subprocess.run(["bash", "-ec", recipe.script], cwd=repo, env=env, capture_output=True, text=True, errors="replace")
    if made.returncode != 0:
        said = (made.stderr.strip().splitlines() or [f"exit code {made.returncode}"])[0].replace(str(scratch), "")
        return version(recipe, env), None, f"not made: {short(said, 60)}"
    subprocess.run(["bash", "-c", HISTORY], cwd=repo, env=env, check=True)
    command = [options.binary.resolve(), "--json", "--no-cache", "--until", "commit", "--budget", "5m", "--", recipe.test]
    done = subprocess.run(command, cwd=repo, env=env, capture_output=True, text=True, errors="replace")
    report = json.loads(done.stdout)
    subject = (report["first_bad"] or {}).get("subject")
    test = (report["signature"] or {}).get("test")
    answer = "right" if subject == "culprit" else f"wrong: {subject}" if subject else f"none: {report['status']}"
    if options.verbose and (answer != "right" or test is None):
        shown = subprocess.run(["sh", "-c", recipe.test], cwd=repo, env=env, capture_output=True, text=True, errors="replace")
        print(f"== {recipe.name}\n{shown.stdout}{shown.stderr}-- git idd\n{done.stderr}", file=sys.stderr)
    return version(recipe, env), test and f"{test['runner']}: `{test['name']}`", answer


rows = []
for recipe in RECIPES:
    if options.names and not any(name in recipe.name for name in options.names):
        continue
    if options.list:
        print(recipe.name)
        continue
    with tempfile.TemporaryDirectory(prefix="runners-") as scratch:
        found, test, answer = hunt(recipe, Path(scratch).resolve())
    keep("runners", {"runner": recipe.name, "version": found, "test": test, "answer": answer})
    is_run = not answer.startswith("not ")
    rows.append([recipe.name, found, "–" if not is_run else "yes, " + test if test else "no", answer])
    print(f"{recipe.name}: {rows[-1][2]}; {answer}", file=sys.stderr)
if not options.list:
    print(table(["runner", "version", "names its tests", "culprit"], rows))
    ran = [row for row in rows if not row[3].startswith("not ")]
    named = sum(row[2].startswith("yes") for row in ran)
    print(f"\nThe failing test is named in {named} of {len(ran)}, and the commit is right in {sum(row[3] == 'right' for row in ran)}.")
