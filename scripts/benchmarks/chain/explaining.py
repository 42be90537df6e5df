"""Two commits, good and bad, and what `git idd explain` says about them."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from running import environment, run

ALGORITHMS = ("dependence", "hierarchical", "linear")
REFERENCES = ("good", "switch")
# What is kept of a report, beside the chain.
KEPT = ("n_tests", "n_forks", "seconds", "build_seconds", "n_steps", "n_aligned", "end", "remarks", "switched")
# What is said where no switched predicate makes the test pass.
NO_CRITICAL = "no decision was found that, switched, makes the test pass"


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


def explain(binary, repo, build, command, reference, algorithm, seconds):
    """The chain and its cost: `chain`, `wall`, and all of `KEPT`; or `error` and `wall`.

    `reference` is `good`, the fixed version, or `switch`, the failing run with a switched predicate. An empty chain is an
    answer: nothing to compare with was found.
    """
    which = ["--bad", "HEAD", "--good", "HEAD~1"] if reference == "good" else ["--switch"]
    arguments = ["explain", "--json", *which, "--algorithm", algorithm, "--build", build, "--", command]
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


def explain_fault(binary, program, fault, n_runs, algorithms, seconds):
    """One row for each of the first failing runs of a fault and each algorithm; the first one also gets the switched chain."""
    with tempfile.TemporaryDirectory() as scratch:
        repo = Path(scratch, "repo")
        good = (program.directory / fault.file).read_text(encoding="utf-8")
        make_repository(repo, program.copy_to, fault.file, good, fault.apply(good))
        for test in [test for test in program.tests if test.name in fault.fails][:n_runs]:
            for algorithm in algorithms:
                references = REFERENCES if algorithm == algorithms[0] else REFERENCES[:1]
                found = {reference: explain(binary, repo, program.build, test.command(), reference, algorithm, seconds)
                         for reference in references}
                yield {"program": program.name, "fault": fault.id, "kind": fault.kind, "shape": fault.shape, "file": fault.file,
                       "lines": fault.lines(), "test": test.name, "how": fault.fails[test.name], "algorithm": algorithm, **found}


def explain_case(binary, case, algorithm, seconds):
    """The row of a case study."""
    with tempfile.TemporaryDirectory() as scratch:
        repo = Path(scratch, "repo")
        make_repository(repo, case.copy_to, "program.c", case.source("good"), case.source("bad"))
        return {"case": case.name, "algorithm": algorithm,
                **{reference: explain(binary, repo, case.build, case.command(), reference, algorithm, seconds)
                   for reference in REFERENCES}}
