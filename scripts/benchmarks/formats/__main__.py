"""Hunts in every fixture in other formats of git: SHA-256 ids, refs in tables, or both at once. Prints what is not as expected, and counts."""

import argparse
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from expected import FIXTURES, complaints, names
from running import RAW, ROOT, environment, git, idd, keep

FORMATS = {
    "sha256": {"FIXTURE_HASH": "sha256"},
    "reftable": {"FIXTURE_REFS": "reftable"},
    "both": {"FIXTURE_HASH": "sha256", "FIXTURE_REFS": "reftable"},
}

parser = argparse.ArgumentParser(prog="bench formats", description=__doc__)
parser.add_argument("--format", action="append", choices=list(FORMATS), help="only this one; repeatable; default: sha256 and reftable")
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
parser.add_argument("names", nargs="*", help="only these fixtures")
arguments = parser.parse_args()

binary = Path(arguments.binary).resolve()
if not binary.exists():
    parser.error(f"{binary} is not there; build it with `cargo build --release`")
progress = RAW / "progress"
progress.mkdir(parents=True, exist_ok=True)


def fsck(repo):
    """What git finds wrong with a repository, as some fixtures are."""
    done = subprocess.run(["git", "-C", repo, "fsck", "--no-dangling", "--no-progress"], capture_output=True, check=False)
    return done.stdout + done.stderr


def hunt(name, format_name):
    """The expected fields that are not as expected, and the report."""
    expect = tomllib.loads((FIXTURES / name / "expect.toml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        repo = Path(scratch, "repo")
        made = {**environment(scratch), **FORMATS[format_name]}
        subprocess.run([FIXTURES / name / "make.sh", repo], env=made, check=True, capture_output=True)
        is_made = (repo / ".git" / "reftable").is_dir() or "FIXTURE_REFS" not in FORMATS[format_name]
        n_digits = 64 if "FIXTURE_HASH" in FORMATS[format_name] else 40
        if not is_made or len(git(repo, "rev-parse", "HEAD")) != n_digits:
            return ["this git does not make the format"], {}
        before = fsck(repo)
        report = idd(binary, repo, expect["arguments"], progress / f"{format_name}-{name}.err", 600)
        is_sound = fsck(repo) == before
    return complaints(expect, report) + ["what git fsck says"] * (not is_sound), report


n_wrong = 0
for format_name in arguments.format or ["sha256", "reftable"]:
    chosen = arguments.names or names()
    n_right = 0
    for name in chosen:
        wrong, report = hunt(name, format_name)
        keep("formats", {"fixture": name, "format": format_name, "wrong": wrong, "report": report})
        n_right += not wrong
        print(f"{format_name}: {name}: {', '.join(wrong) or 'as expected'}", file=sys.stderr, flush=True)
    print(f"{format_name}: {n_right} of {len(chosen)} fixtures as expected", flush=True)
    n_wrong += len(chosen) - n_right
sys.exit(min(n_wrong, 1))
