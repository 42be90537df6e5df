"""Two commits, good and bad, and what `git idd explain` says about them."""

import json
import math
import os
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import programs
from running import environment, run

REFERENCES = ("good", "switch")
# Steps of a run that is long: what the paper's Table 4 is about.
LONG = 100_000
# What is kept of a report, beside the chain.
KEPT = ("n_tests", "n_forks", "n_states", "seconds", "build_seconds", "n_steps", "n_aligned", "end", "remarks", "switched")
# What is said where no switched predicate makes the test pass.
NO_CRITICAL = "no decision makes the test pass when it is switched"


def commit(repo, env, subject):
    """Commits all there is."""
    for words in (["add", "-A"], ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", subject]):
        subprocess.run(["git", *words], cwd=repo, env=env, check=True, capture_output=True)


def make_repository(repo, fill, file, good, bad):
    """A history of a good and a bad commit, which differ in `file`; `fill` puts everything else into the directory."""
    env = environment(repo.parent)
    repo.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=repo, env=env, check=True)
    fill(repo)
    (repo / ".gitignore").write_text("/program\n/got\n")
    for subject, text in (("good", good), ("bad", bad)):
        (repo / file).write_text(text, encoding="utf-8")
        commit(repo, env, subject)


def whole(report):
    """The chain of a report with the failing step as its last element, as Figure 1 of the paper has it (`7_1`)."""
    chain, failure = [dict(element) for element in report["chain"]], report.get("failure")
    if failure is None or (chain and chain[-1]["step"] == failure["step"]):
        return chain
    return [*chain, {"variable": None, **{key: failure[key] for key in ("file", "line", "step", "in_change")}}]


def explain(binary, repo, build, command, reference, seconds, versions=("HEAD", "HEAD~1")):
    """The chain and its cost: `chain`, `wall`, and all of `KEPT`; or `error` and `wall`.

    `versions` are the revision that fails and the one that passes. `reference` is `good`, the latter, or `switch`, the failing run with a switched predicate. An empty
    chain is an answer: nothing to compare with was found.
    """
    which = ["--bad", versions[0], "--good", versions[1]] if reference == "good" else ["--switch"]
    arguments = ["explain", "--json", *which, "--build", build, "--", command]
    with tempfile.TemporaryDirectory() as home, open(os.path.join(home, "stderr"), "wb+") as stderr:
        stdout, code, wall = run([str(binary), *arguments], repo, environment(home), seconds, stderr)
        stderr.seek(0)
        told = stderr.read().decode(errors="replace").strip().split("\n")
    try:
        report = json.loads(stdout)
        return {"chain": whole(report), "wall": wall,
                **{name: report.get(name) for name in KEPT}}
    except (ValueError, KeyError, TypeError):
        first = next((line for line in told if line.startswith("error")), told[0])
        if reference == "switch" and NO_CRITICAL in first:
            return {"chain": [], "wall": wall}
        return {"error": f"no report after {seconds} s" if wall > seconds else f"exit {code}: {first[:100]}", "wall": wall}


# What a test is where only its files say which one: `arguments`, `input`, `expected` and `status`.
ANY_TEST = 'eval "./program $(cat arguments)" <input >got; test $? -eq $(cat status) && cmp -s got expected'


@dataclass(frozen=True)
class Version:
    """What a commit has: the text of the program's file, and the files of a test."""

    text: str
    arguments: str
    input: bytes
    expected: bytes
    status: int

    @staticmethod
    def of(program, text, test):
        """With the files of a test of the program."""
        read = lambda ending: (program.directory / "tests" / f"{test.name}{ending}").read_bytes()
        return Version(text, test.arguments, read(".in"), read(".out"), test.status)


def make_versions(repo, program, file, versions):
    """A history of these versions of a program, for `ANY_TEST`."""
    env = environment(repo.parent)
    program.copy_to(repo)
    (repo / ".gitignore").write_text("/program\n/got\n")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=repo, env=env, check=True)
    for n, version in enumerate(versions):
        (repo / file).write_text(version.text, encoding="utf-8")
        (repo / "arguments").write_text(version.arguments + "\n")
        (repo / "input").write_bytes(version.input)
        (repo / "expected").write_bytes(version.expected)
        (repo / "status").write_text(f"{version.status}\n")
        commit(repo, env, f"version {n}")


def lengthened(program, fault, test, n_steps):
    """A failing test behind so many times the input of a passing one that a run may have `LONG` steps: its two versions, good and bad, or None.

    `n_steps`: steps of the failing run as it is. What is expected is what the correct program prints.
    """
    good = (program.directory / fault.file).read_text(encoding="utf-8")
    failing = Version.of(program, good, test)
    others = [Version.of(program, good, each) for each in program.tests
              if each.name not in fault.fails and (each.arguments, each.status) == (test.arguments, 0)]
    longest = max(others, key=lambda other: len(other.input), default=None)
    if longest is None or not failing.input or not longest.input:
        return None
    n = math.ceil(1.2 * LONG * len(failing.input) / (n_steps * len(longest.input)))
    text = n * longest.input + failing.input
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch, "program")
        program.copy_to(place)
        (place / "tests" / "long.in").write_bytes(text)
        if programs.build(program.build, place):
            return None
        expected, code = programs.run(place, replace(test, name="long"))
    if not isinstance(code, int):
        return None
    return [Version(version, test.arguments, text, expected, code) for version in (good, fault.apply(good))]


def explain_long(binary, program, fault, seconds):
    """The row of the first failing run of a fault behind much that is right; none if that cannot be made or is not long."""
    test = next(test for test in program.tests if test.name in fault.fails)
    with tempfile.TemporaryDirectory() as scratch:
        repo = Path(scratch, "repo")
        good = (program.directory / fault.file).read_text(encoding="utf-8")
        make_repository(repo, program.copy_to, fault.file, good, fault.apply(good))
        short = explain(binary, repo, program.build, test.command(), "good", seconds)
        versions = lengthened(program, fault, test, short["n_steps"]) if short.get("n_steps") else None
        if versions is None:
            return
        other = Path(scratch, "long", "repo")
        make_versions(other, program, fault.file, versions)
        found = {"good": explain(binary, other, program.build, ANY_TEST, "good", seconds)}
        yield {**about(program, fault, test), "test": f"{test.name}, long", "is_long": True, **found}


def about(program, fault, test):
    """What a row says of a failing run."""
    return {"program": program.name, "fault": fault.id, "kind": fault.kind, "shape": fault.shape, "file": fault.file,
            "lines": fault.lines(), "test": test.name, "how": fault.fails[test.name]}


def explain_fault(binary, program, fault, n_runs, seconds, references=REFERENCES):
    """One row for each of the first failing runs of a fault."""
    with tempfile.TemporaryDirectory() as scratch:
        repo = Path(scratch, "repo")
        good = (program.directory / fault.file).read_text(encoding="utf-8")
        make_repository(repo, program.copy_to, fault.file, good, fault.apply(good))
        for test in [test for test in program.tests if test.name in fault.fails][:n_runs]:
            found = {reference: explain(binary, repo, program.build, test.command(), reference, seconds) for reference in references}
            yield {**about(program, fault, test), **found}


def explain_case(binary, case, seconds):
    """The row of a case study."""
    with tempfile.TemporaryDirectory() as scratch:
        repo = Path(scratch, "repo")
        make_repository(repo, case.copy_to, "program.c", case.source("good"), case.source("bad"))
        return {"case": case.name,
                **{reference: explain(binary, repo, case.build, case.command(), reference, seconds)
                   for reference in REFERENCES}}
