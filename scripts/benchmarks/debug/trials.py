"""Trials: repositories with a good and a bad commit, and a test that only the bad one fails."""

import os
import random
import subprocess
import sys
import tempfile
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "chain"))

import histories
import programs
from explaining import ANY_TEST, commit, make_repository
from java import of_java
from mutate import mutants
from running import environment

# A second of processor time, 1 MiB of output, 512 MiB of memory, no core.
LIMITS = programs.LIMITS


@dataclass(frozen=True)
class Trial:
    """One fault. `versions` are the failing and the passing revision of `repo`."""

    group: str
    name: str
    repo: Path
    versions: tuple
    build: str
    test: str
    # Where the program keeps what it makes once; a directory of its own if it is None.
    home: Path | None = None


@contextmanager
def seeded(program, fault):
    """The trial of a seeded fault, with its first failing test."""
    with tempfile.TemporaryDirectory() as scratch:
        repo = Path(scratch, "repo")
        good = (program.directory / fault.file).read_text(encoding="utf-8")
        make_repository(repo, program.copy_to, fault.file, good, fault.apply(good))
        test = next(test for test in program.tests if test.name in fault.fails)
        yield Trial("seeded", fault.id, repo, ("HEAD", "HEAD~1"), program.build, test.command())


@contextmanager
def history(case):
    """The trial of a change of a real history, or of a version with one fault."""
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch, "repo")
        subprocess.run(["git", "clone", "-q", "--shared", case["repo"], clone], env=environment(scratch), check=True)
        yield Trial("versions", case["name"], clone, (case["bad"], case["good"]), case["build"], case["test"])


def observed(place, test):
    """What the program in `place` prints and returns for a test; None if it does not end."""
    command = f'{LIMITS}; eval "exec ./program $1" 2>/dev/null'
    try:
        done = subprocess.run(["sh", "-c", command, "sh", test.get("arguments", "")], cwd=place, input=test.get("input", "").encode(), capture_output=True, timeout=5)
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode in (137, 152, 153) or len(done.stdout) > 1 << 20 else (done.stdout, done.returncode)


def copied(directory, place, changed=None):
    """Copies the files of a program, one of them changed: a pair of its name and its text."""
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory)
        if path.is_file() and ".git" not in name.parts:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            text = changed[1].encode() if changed and changed[0] == str(name) else path.read_bytes()
            (place / name).write_bytes(text)


@contextmanager
def mutant(program, directory, file, number, text):
    """The trial of a mutant; None if it does not build, if no test fails, or if the failing ones do not end."""
    with tempfile.TemporaryDirectory() as scratch:
        yield make_mutant(Path(scratch), program, directory, file, number, text)


def make_mutant(scratch, program, directory, file, number, text):
    place = scratch / "bad"
    copied(directory, place, (file, text))
    if programs.build(program["build"], place):
        return None
    for test in program["tests"]:
        if (seen := observed(place, test)) is None or seen == program["expected"][id(test)]:
            continue
        output, status = program["expected"][id(test)]
        repo = scratch / "repo"
        copied(directory, repo)
        env = environment(scratch)
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=repo, env=env, check=True)
        (repo / ".gitignore").write_text("/program\n/got\n")
        (repo / "arguments").write_text(test.get("arguments", "") + "\n")
        (repo / "input").write_text(test.get("input", ""))
        (repo / "expected").write_bytes(output)
        (repo / "status").write_text(f"{status}\n")
        commit(repo, env, "good")
        (repo / file).write_text(text)
        commit(repo, env, "bad")
        return Trial(program["name"], f"{file}:{number}", repo, ("HEAD", "HEAD~1"), program["build"], ANY_TEST)
    return None


def of_mutants(path, names, n_trials, seed):
    """Makers of trials from the programs of a TOML file.

    Each `[[program]]` has `name`, `directory` (relative to the file), `build` (makes `program`), `mutate` (its files), and `tests`: tables of `arguments` and `input`. Of the mutants
    of a program, `n_trials` that fail a test are taken by chance.
    """
    here = path.resolve().parent
    for program in tomllib.loads(path.read_text(encoding="utf-8"))["program"]:
        if names and program["name"] not in names:
            continue
        directory = here / program["directory"]
        with tempfile.TemporaryDirectory() as scratch:
            copied(directory, Path(scratch))
            complaint = programs.build(program["build"], Path(scratch))
            if complaint:
                raise SystemExit(f"{program['name']} does not build: {complaint[:300]}")
            program["expected"] = {id(test): observed(Path(scratch), test) for test in program["tests"]}
        program["tests"] = [test for test in program["tests"] if program["expected"][id(test)] is not None]
        every = [(file, *each) for file in program["mutate"] for each in mutants((directory / file).read_text(errors="surrogateescape"))]
        random.Random(seed).shuffle(every)
        n_found = 0
        for file, number, text in every:
            if n_found == n_trials:
                break
            with mutant(program, directory, file, number, text) as trial:
                if trial is not None:
                    n_found += 1
                    yield trial


def all_trials(options):
    """The trials that the options ask for, one at a time: each is deleted when the next is asked for."""
    for path in options.histories:
        for case in histories.load(path, options.names)[:: options.every]:
            with history(case) as trial:
                yield trial
    for path in options.mutants:
        yield from of_mutants(path, options.names, options.trials, options.seed)
    for path in options.java:
        yield from of_java(path, options, Trial)
    if options.histories or options.mutants or options.java:
        return
    for name in options.names or programs.names():
        program = programs.load(name)
        for fault in program.faults[:: options.every]:
            with seeded(program, fault) as trial:
                yield trial
