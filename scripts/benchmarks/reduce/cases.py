"""What is measured: pairs of revisions with a test that tells them apart, and the scratch directory of one run."""

import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

from changes import git_bytes, read_changes, size, write_tree
from running import ROOT, environment, git

FIXTURES = ROOT / "fixtures-repos"
PROBE = Path(__file__).resolve().with_name("probe.sh")
# The stories with changes large enough to be worth reducing.
DEFAULT_FIXTURES = ["huge-culprit", "linear-c", "one-commit-per-file"]
DEFAULT_TIMEOUT = 20


class Unusable(Exception):
    """A case that does not show what it says."""


def load(path):
    """The cases of a file. `{here}` in its strings is the directory of the file; repositories are relative to that."""
    here = path.resolve().parent
    cases = tomllib.loads(path.read_text(encoding="utf-8").replace("{here}", str(here)))["case"]
    return [{"timeout": DEFAULT_TIMEOUT, **case, "repo": str(here / case["repo"])} for case in cases]


def from_fixtures(names, scratch):
    """Cases from stories: from the last good to the first bad revision, with the test of the newest one."""
    cases = []
    for name in names or DEFAULT_FIXTURES:
        expect = tomllib.loads((FIXTURES / name / "expect.toml").read_text(encoding="utf-8"))
        repo = Path(scratch, name)
        subprocess.run([FIXTURES / name / "make.sh", repo], env=environment(scratch), check=True, capture_output=True)
        words = expect["arguments"]
        at = words.index("--")
        build = words[words.index("--build", 0, at) + 1] if "--build" in words[:at] else "true"
        test = Path(scratch, f"{name}.test.sh")
        shutil.copy2(repo / words[at + 1], test)
        commits = {line.split(" ", 1)[1]: line.split(" ", 1)[0] for line in git(repo, "log", "--all", "--format=%H %s").split("\n")}
        cases.append({"name": name, "repo": str(repo), "good": commits[expect["last_good_subject"]],
                      "bad": commits[expect["first_bad_subject"]], "build": build, "timeout": DEFAULT_TIMEOUT,
                      "test": " ".join([str(test), *words[at + 2:]])})
    return cases


class Bench:
    """The scratch directory of one run: `repo`, a repository whose only commits are good and bad, and the judge's files.

    `paths` of a case limits the change: the bad tree is the good one with these pathspecs taken from the bad revision.
    `setup` is run in the repository once, for what git does not track. `products` are patterns that are added to the top
    `.gitignore` of both trees, so that what the build makes stays.
    """

    def __init__(self, case, scratch):
        self.case = case
        self.directory = Path(scratch)
        self.repo = self.directory / "repo"
        self.log = self.directory / "log"
        subprocess.run(["git", "clone", "-q", "--no-checkout", "--shared", case["repo"], self.repo], check=True)
        self.good_tree = git(self.repo, "rev-parse", f"{case['good']}^{{tree}}")
        self.bad_tree = self._bad_tree()
        if "products" in case:
            self.good_tree, self.bad_tree = self._with_products(self.good_tree), self._with_products(self.bad_tree)
        self.env = {**environment(self.directory / "home"), "BENCH_DIR": str(self.directory), "BENCH_FAIL": "1",
                    "BENCH_SECONDS": str(case["timeout"]), "GIT_COMMITTER_NAME": "bench", "GIT_COMMITTER_EMAIL": "bench@example.org"}
        (self.directory / "home").mkdir()
        for stage in ("build", "test"):
            (self.directory / f"{stage}.sh").write_text(case[stage] + "\n", encoding="utf-8")
        self.good = self._commit(self.good_tree, "Good")
        self.bad = self._commit(self.bad_tree, "Bad", "-p", self.good)
        git(self.repo, "update-ref", "--no-deref", "HEAD", self.bad)
        git(self.repo, "reset", "-q", "--hard")
        if "setup" in case:
            subprocess.run(case["setup"], shell=True, cwd=self.repo, check=True)

    def _bad_tree(self):
        bad = git(self.repo, "rev-parse", f"{self.case['bad']}^{{tree}}")
        if "paths" not in self.case:
            return bad
        index = self.directory / "index"
        git_bytes(self.repo, "read-tree", self.good_tree, index=index)
        raw = ["diff", "--raw", "--no-renames", "--no-abbrev", "-z", self.good_tree, bad, "--", *self.case["paths"]]
        words = git_bytes(self.repo, *raw).split(b"\0")
        lines = []
        for about, path in zip(words[0::2], words[1::2]):
            _, mode, _, name, _ = about[1:].split(b" ")
            lines.append((b"0" if mode == b"000000" else mode) + b" " + name + b"\t" + path + b"\0")
        git_bytes(self.repo, "update-index", "-z", "--index-info", stdin=b"".join(lines), index=index)
        return git_bytes(self.repo, "write-tree", index=index).decode().strip()

    def _with_products(self, tree):
        old = subprocess.run(["git", "-C", self.repo, "show", f"{self.case['good']}:.gitignore"], capture_output=True).stdout
        text = old.rstrip(b"\n") + b"\n" + "".join(f"{line}\n" for line in self.case["products"]).encode()
        return write_tree(self.repo, tree, {".gitignore": ("100644", text)}, self.directory / "index")

    def _commit(self, tree, message, *parents):
        done = subprocess.run(["git", "-C", self.repo, "commit-tree", "-m", message, *parents, tree], env=self.env,
                              capture_output=True, check=True)
        return done.stdout.decode().strip()

    def checkout(self, name, commit):
        """Another worktree of the repository."""
        path = self.directory / name
        git(self.repo, "worktree", "add", "-q", "--detach", path, commit)
        return path

    def probe(self, directory, key="-"):
        """Builds and tests what is in `directory`: `pass`, `fail` or `unresolved`."""
        done = subprocess.run([PROBE, "both"], cwd=directory, env={**self.env, "BENCH_KEY": key}, capture_output=True)
        return {0: "pass", 1: "fail"}.get(done.returncode, "unresolved")

    def rows(self):
        """The commands that were run so far: tree, stage, begin, end, exit code."""
        if not self.log.exists():
            return []
        rows = []
        for line in self.log.read_text().splitlines():
            tree, stage, begin, end, code = line.split(" ")
            rows.append({"tree": tree, "stage": stage, "begin": float(begin), "end": float(end), "code": int(code)})
        return rows

    def check(self):
        """Shows that good passes and bad fails, and learns the exit code of the failure."""
        directory = self.checkout("check", self.good)
        if self.probe(directory) != "pass":
            raise Unusable(f"{self.case['name']}: the test does not pass at the good revision")
        git(directory, "checkout", "-q", "--detach", self.bad)
        self.probe(directory)
        last = self.rows()[-1]
        if last["stage"] != "test" or last["code"] in (0, 124, 125):
            raise Unusable(f"{self.case['name']}: the test does not fail at the bad revision ({last['stage']}: {last['code']})")
        return last["code"], last["end"] - self.rows()[-2]["begin"]

    def size(self, tree):
        """Lines and runs of lines that differ from good."""
        return size(self.repo, self.good_tree, tree)


class Opened:
    """A `Bench` in a directory of its own, for a `with` block."""

    def __init__(self, case):
        self.case = case
        self.scratch = tempfile.TemporaryDirectory(prefix="bench-reduce-")

    def __enter__(self):
        bench = Bench(self.case, self.scratch.name)
        bench.env["BENCH_FAIL"] = str(self.case.get("fail", 1))
        return bench

    def __exit__(self, *_):
        self.scratch.cleanup()


def prepare(case):
    """Checks a case; returns it with the exit code of its failure and the sizes of its change."""
    with Opened(case) as bench:
        code, seconds = bench.check()
        n_lines, n_hunks = bench.size(bench.bad_tree)
        n_files = len(read_changes(bench.repo, bench.good_tree, bench.bad_tree)[0])
    return {**case, "fail": code, "files": n_files, "hunks": n_hunks, "lines": n_lines, "probe_seconds": seconds}
