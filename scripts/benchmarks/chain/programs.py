"""The programs, their tests and their seeded faults: reading, changing, building, running.

`programs/<name>/faults.toml` says how <name> is built and what is seeded; `tests/<test>.in` is standard input, `.args` shell
words after the command, `.out` what the correct program prints, `.status` its exit status unless that is 0.
"""

import os
import shutil
import signal
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"
# A second of processor time (the programs need milliseconds), 1 MiB of output, 512 MiB of memory, no core.
LIMITS = "ulimit -t 1; ulimit -f 2048; ulimit -v 524288; ulimit -c 0"
WALL_SECONDS = 10
SHAPES = ("single", "multi", "omission")


@dataclass(frozen=True)
class Test:
    name: str
    arguments: str
    status: int

    def command(self):
        """A shell line for the directory of the program: 0 if it does what it should, or else 1."""
        run = " ".join(filter(None, ["./program", self.arguments, f"<tests/{self.name}.in", ">got"]))
        return f"{run}; test $? -eq {self.status} && cmp -s got tests/{self.name}.out"


@dataclass(frozen=True)
class Fault:
    """`original` are whole lines of `file` from `line` on (1-based); `replacement` takes their place, none if it is empty.

    `fails` has for each failing test how: output, status (and not the output), crash, or hang.
    """

    id: str
    kind: str
    shape: str
    file: str
    line: int
    original: str
    replacement: str
    fails: dict

    def lines(self):
        """The lines of the faulty file that differ from the correct one; none if something was only taken out."""
        before, after = self.original.split("\n"), self.replacement.split("\n") if self.replacement else []
        if len(before) == len(after):
            return [self.line + i for i, (old, new) in enumerate(zip(before, after)) if old != new]
        return [self.line + i for i, new in enumerate(after) if new not in before]

    def apply(self, text):
        """The faulty text of the file."""
        lines, original = text.split("\n"), self.original.split("\n")
        begin, end = self.line - 1, self.line - 1 + len(original)
        if lines[begin:end] != original:
            raise ValueError(f"{self.id}: line {self.line} of {self.file} is not the original")
        lines[begin:end] = self.replacement.split("\n") if self.replacement else []
        return "\n".join(lines)


@dataclass(frozen=True)
class Program:
    name: str
    directory: Path
    build: str
    tests: list
    faults: list

    def copy_to(self, place):
        """Puts sources and tests into an empty or absent directory."""
        place.mkdir(parents=True, exist_ok=True)
        for source in self.directory.glob("*.[ch]"):
            shutil.copy(source, place)
        shutil.copytree(self.directory / "tests", place / "tests")


def read_test(path):
    """A test by its input."""
    arguments, status = path.with_suffix(".args"), path.with_suffix(".status")
    return Test(path.stem, arguments.read_text().strip() if arguments.exists() else "",
                int(status.read_text()) if status.exists() else 0)


def read_toml(name):
    """What `faults.toml` of a program says."""
    return tomllib.loads((PROGRAMS / name / "faults.toml").read_text(encoding="utf-8"))


def program(name, command, faults):
    """The program of that name, built by `command`."""
    directory = PROGRAMS / name
    tests = [read_test(path) for path in sorted((directory / "tests").glob("*.in"))]
    return Program(name, directory, command, tests, faults)


def load(name):
    """The program of that name with its faults."""
    table = read_toml(name)
    return program(name, table["build"], [Fault(**fault) for fault in table["fault"]])


def names():
    """All programs."""
    return sorted(path.parent.name for path in PROGRAMS.glob("*/faults.toml"))


def build(command, place, flags="", compiler="cc"):
    """Builds in `place`; returns what the compiler complains about, or None if it made the program."""
    env = {**os.environ, "CC": compiler, "CFLAGS": flags}
    done = subprocess.run(["sh", "-c", command], cwd=place, env=env, capture_output=True, text=True)
    return done.stderr.strip() or f"exit {done.returncode}" if done.returncode else None


def run(place, test):
    """What the program in `place` does with a test: its output, and its exit status, `crash`, or `hang`."""
    output = place / "got"
    command = f"{LIMITS}; exec ./program {test.arguments} <tests/{test.name}.in >got 2>/dev/null"
    child = subprocess.Popen(["sh", "-c", command], cwd=place)
    try:
        code = child.wait(WALL_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        code = -signal.SIGXCPU
    if code in (-signal.SIGXCPU, -signal.SIGXFSZ, -signal.SIGKILL):
        code = "hang"
    elif code < 0:
        code = "crash"
    return output.read_bytes(), code


def judge(program, test, output, code):
    """How a run fails, or None."""
    if code in ("hang", "crash"):
        return code
    if output != (program.directory / "tests" / f"{test.name}.out").read_bytes():
        return "output"
    return None if code == test.status else "status"
