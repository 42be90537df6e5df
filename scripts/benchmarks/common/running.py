"""Running git idd and git bisect, and reading what they answer."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RAW = ROOT / "target" / "bench"


def environment(home):
    """No configuration of the user's, no colours, fixed language."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    fixed = {"HOME": str(home), "LC_ALL": "C", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return {**kept, **fixed, "GIT_AUTHOR_NAME": "bench", "GIT_AUTHOR_EMAIL": "bench@example.org"}


def run(command, cwd, env, seconds, stderr):
    """Runs a command in a session of its own; ends all of it after `seconds`. Returns stdout, exit code, time taken."""
    begin = time.monotonic()
    child = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
                             start_new_session=True)
    try:
        stdout, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # Interrupted first: the program ends its children and says what it has.
        os.killpg(child.pid, signal.SIGINT)
        try:
            stdout, _ = child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            stdout, _ = child.communicate()
    return stdout, child.returncode, time.monotonic() - begin


def git(repo, *arguments):
    """What git prints, without the last newline."""
    done = subprocess.run(["git", "-C", repo, *arguments], capture_output=True, check=True)
    return done.stdout.decode(errors="replace").rstrip("\n")


def idd(binary, repo, arguments, progress, seconds=None):
    """Hunts, one test at a time; returns the report with `progress`, the file that stderr was written to, and `wall`."""
    with tempfile.TemporaryDirectory() as home, open(progress, "wb") as stderr:
        command = [binary, "--json", *arguments]
        # Unless the arguments say otherwise: runs that were guessed ahead would be counted too.
        one_by_one = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "idd.jobs", "GIT_CONFIG_VALUE_0": "1"}
        stdout, code, wall = run(command, repo, {**environment(home), **one_by_one}, seconds, stderr)
    try:
        report = json.loads(stdout)
    except ValueError:
        report = {"status": f"no report, exit {code}", "exit": code, "probes": {}}
    return {**report, "progress": str(progress), "wall": wall}


def bisect(repo, bad, good, command, seconds=None):
    """`git bisect run`: what it answers (a subject, `only skipped` or `n/a`), the tests it ran, and its time.

    The two ends are not tested: git takes them as given. Works in `repo`, whose HEAD must be `bad`.
    """
    with tempfile.TemporaryDirectory() as scratch:
        counter, output = Path(scratch, "counter"), Path(scratch, "output")
        env = {**environment(scratch), "BENCH_COUNTER": str(counter)}
        counted = f'echo >>"$BENCH_COUNTER"\n{command}'
        begin = time.monotonic()
        subprocess.run(["git", "bisect", "start", bad, good], cwd=repo, env=env, capture_output=True, check=True)
        with open(output, "wb") as stderr:
            stdout, _, _ = run(["git", "bisect", "run", "sh", "-c", counted], repo, env, seconds, stderr)
        wall = time.monotonic() - begin
        text = (stdout + output.read_bytes()).decode(errors="replace")
        n_probes = counter.read_text().count("\n") if counter.exists() else 0
        subprocess.run(["git", "bisect", "reset", bad], cwd=repo, env=env, capture_output=True, check=False)
    return {"answer": bisect_answer(repo, text), "probes": n_probes, "wall": wall}


def bisect_answer(repo, text):
    """The subject of the first bad commit, or what git says instead."""
    if "only 'skip'ped commits left" in text or re.search("only .skip.* commits left", text):
        return "only skipped"
    found = re.search("^([0-9a-f]{40}) is the first .*bad.* commit$", text, re.M)
    return git(repo, "log", "-1", "--format=%s", found[1]) if found else "n/a"


def usage(command, cwd, env):
    """Seconds of processor time, and MiB at the most, of a command; and what it printed."""
    child = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said, told = child.stdout.read(), child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{command} failed: {told.decode(errors='replace')[-800:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said


def keep(name, row):
    """Appends a raw row to a file of JSON lines: one named so below `RAW`, or a path."""
    path = name if isinstance(name, Path) else RAW / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        print(json.dumps(row), file=file)
