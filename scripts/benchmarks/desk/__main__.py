"""At a desk: git idd beside `git bisect run`, where untracked tests, installed dependencies, absolute paths and warm builds matter.

Each set-up is made from public packages, with a history of 600 revisions (`--each`). `git bisect run` runs in a copy of the user's tree;
git idd gets the same test and the same good revision (the oldest), one job, and no other option: once where probes see their checkout at
the path of the working tree, and once elsewhere (`IDD_PLACE=off`). Told are the runs of the test, the seconds until the commit is
found and to the end of its proof, and the ratio of the first over `git bisect run`. The user's files must be the same afterwards, byte for byte.
Raw rows go to target/bench/desk.jsonl.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from running import ROOT, keep
from setups import HEAD, SETUPS
from tables import table

FOUND = "Found the first bad commit"

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", type=Path, help="the program to measure")
parser.add_argument("--list", action="store_true", help="only print the names")
parser.add_argument("--each", type=int, default=300, help="commits before the culprit, and behind it")
parser.add_argument("--verbose", action="store_true", help="print what git idd says where the answer is not right")
parser.add_argument("names", nargs="*", help="set-ups to run, by a part of their names; default: all")
options = parser.parse_args()


def digest(top):
    """A digest of all files of a working tree, ignored ones too."""
    seen = hashlib.sha256()
    for directory, names, files in sorted(os.walk(top)):
        if Path(directory).relative_to(top).parts[:1] == (".git",):
            continue
        for name in sorted(set(files + names) - {".git"}):
            path = Path(directory, name)
            stat = path.lstat()
            seen.update(f"{path.relative_to(top)} {stat.st_mode} {stat.st_mtime_ns}\n".encode(errors="surrogateescape"))
            if path.is_symlink():
                seen.update(os.readlink(path).encode(errors="surrogateescape"))
            elif path.is_file():
                seen.update(path.read_bytes())
    return seen.hexdigest()


class Desk:
    """A set-up in a directory of its own: always the same one, since installations name it."""

    def __init__(self, scratch, setup):
        self.name, self.programs, self.script, self.test, self.path = setup
        self.repo, self.side, self.runs = scratch / "repo", scratch / "side", scratch / "runs"
        self.scratch, self.copy = scratch, scratch / "copy"
        self.missing = next((name for name in self.programs if shutil.which(name) is None), None)

    def variables(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        path = (self.path or "").replace("$SIDE", str(self.side)).replace("$R", str(self.repo))
        fixed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "XDG_CACHE_HOME": str(self.scratch / "cache")}
        who = {f"GIT_{role}_{what}": f"bench{tail}" for role in ("AUTHOR", "COMMITTER") for what, tail in (("NAME", ""), ("EMAIL", "@example.org"))}
        return {**kept, **fixed, **who, "EACH": str(options.each), "SIDE": str(self.side), "R": str(self.repo), "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}

    def make(self):
        for directory in (self.repo, self.side):
            directory.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=self.repo, env=self.variables(), check=True)
        subprocess.run(["bash", "-c", HEAD + self.script], cwd=self.repo, env=self.variables(), check=True, stdout=sys.stderr)
        # As a clone is.
        subprocess.run(["git", "gc", "-q"], cwd=self.repo, env=self.variables(), check=True)
        subprocess.run(["cp", "-a", self.repo, self.copy], check=True)

    def restore(self):
        shutil.rmtree(self.repo)
        subprocess.run(["cp", "-a", self.copy, self.repo], check=True)
        self.runs.write_text("")

    def counted(self):
        """The test as a line that counts its runs."""
        return f"echo >> {self.runs}; {self.test}"

    def n_runs(self):
        return self.runs.read_text().count("\n")

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.repo, env=self.variables(), capture_output=True, text=True, check=True).stdout.strip()

    def bisect(self):
        self.restore()
        oldest = self.git("rev-list", "--max-parents=0", "HEAD")
        begin = time.monotonic()
        self.git("bisect", "start", "HEAD", oldest)
        done = subprocess.run(["git", "bisect", "run", "sh", "-c", self.counted()], cwd=self.repo, env=self.variables(), capture_output=True, text=True)
        seconds = time.monotonic() - begin
        found = next((line.split()[0] for line in done.stdout.splitlines() if line.endswith("is the first bad commit")), None)
        return {"subject": found and self.git("log", "-1", "--format=%s", found), "runs": self.n_runs(), "seconds": seconds}

    def idd(self, more):
        self.restore()
        oldest = self.git("rev-list", "--max-parents=0", "HEAD")
        before = digest(self.repo)
        command = [options.binary.resolve(), "-j1", "--good", oldest, "--until", "commit", "--", self.counted()]
        begin, found, said = time.monotonic(), None, []
        child = subprocess.Popen(command, cwd=self.repo, env={**self.variables(), **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        for line in child.stdout:
            said.append(line)
            if found is None and line.startswith(FOUND):
                found = (time.monotonic() - begin, self.n_runs())
        child.wait()
        named = next((line.split()[0] for line in said if line.rstrip().endswith("is the first bad commit")), None)
        subject = named and self.git("log", "-1", "--format=%s", named)
        seconds, n_runs = found or (None, None)
        row = {"subject": subject, "found": seconds, "runs": n_runs, "all": self.n_runs(), "seconds": time.monotonic() - begin,
               "code": child.returncode, "is_same": digest(self.repo) == before}
        if options.verbose and (subject != "culprit" or row["all"] > 40):
            print("".join(said), file=sys.stderr)
        return row


def answer(row):
    if not row["is_same"]:
        return "CHANGED THE USER'S FILES"
    return "right" if row["subject"] == "culprit" else "wrong" if row["subject"] else f"none, exit code {row['code']}"


HOW = {"in place": {}, "elsewhere": {"IDD_PLACE": "off"}}
rows, right, quick = [], dict.fromkeys(HOW, 0), dict.fromkeys(HOW, 0)
n_run = 0
for setup in SETUPS:
    if options.list:
        print(setup[0])
        continue
    if options.names and not any(name in setup[0] for name in options.names):
        continue
    with tempfile.TemporaryDirectory(prefix="desk-") as scratch:
        desk = Desk(Path(scratch).resolve(), setup)
        if desk.missing:
            rows.append([desk.name, f"not run: no {desk.missing}", *[None] * 6])
            continue
        try:
            desk.make()
        except subprocess.CalledProcessError as error:
            rows.append([desk.name, f"not made: exit code {error.returncode}", *[None] * 6])
            continue
        n_run += 1
        base = desk.bisect()
        keep("desk", {"setup": desk.name, "how": "git bisect run", **base})
        rows.append([desk.name, "git bisect run", base["runs"], base["runs"], base["seconds"], base["seconds"], None, "right" if base["subject"] == "culprit" else "wrong"])
        for how, more in HOW.items():
            row = desk.idd(more)
            keep("desk", {"setup": desk.name, "how": how, **row})
            ratio = row["found"] and row["found"] / base["seconds"]
            right[how] += answer(row) == "right"
            quick[how] += ratio is not None and ratio <= 1.3
            rows.append([desk.name, how, row["runs"], row["all"], row["found"], row["seconds"], ratio and f"{ratio:.2f}", answer(row)])
if not options.list:
    print(table(["set-up", "how", "runs until found", "in all", "s until found", "s in all", "over bisect", "answer"], rows))
    print()
    for how in HOW:
        print(f"{how}: right in {right[how]} of {n_run}, found in at most 1.3 times the time of bisect in {quick[how]}")
    print(f"Load at the end: {os.getloadavg()[0]:.1f}")
