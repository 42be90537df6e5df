"""The bugs of the paper's case studies as small programs of our own: reading, checking, and how near a chain comes.

`cases/<name>/` has `bad.c` and `good.c`, both built as `program.c`; `case.toml`; `input`, which is standard input, if the program
reads it; files that the arguments name; and `expected`, what the good version prints. Each `[[chain]]` has the steps of a chain
that explains the failure, lines of `bad.c`: found with the good version as `reference`, or with a switched predicate.

Run as a program it checks them: the good version passes, the bad one fails, and each step stands where it is said to.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

import programs

CASES = Path(__file__).resolve().parent / "cases"
VERSIONS = ("good", "bad")
OURS = {"good.c", "bad.c", "case.toml"}


@dataclass(frozen=True)
class Case:
    name: str
    figure: str
    build: str
    arguments: str
    status: int
    chain: list

    @property
    def directory(self):
        return CASES / self.name

    def command(self):
        """A shell line: 0 if the program does what it should, or else 1."""
        source = "<input" if (self.directory / "input").exists() else "</dev/null"
        run = " ".join(filter(None, ["./program", self.arguments, source, ">got"]))
        return f"{run}; test $? -eq {self.status} && cmp -s got expected"

    def source(self, version):
        """The text of `program.c`."""
        return (self.directory / f"{version}.c").read_text(encoding="utf-8")

    def copy_to(self, place):
        """Puts everything but the program into an empty or absent directory."""
        place.mkdir(parents=True, exist_ok=True)
        for path in self.directory.iterdir():
            if path.name not in OURS:
                shutil.copy(path, place)


def names():
    """All cases."""
    return sorted(path.parent.name for path in CASES.glob("*/case.toml"))


def load(name):
    """The case of that name."""
    return Case(name, **tomllib.loads((CASES / name / "case.toml").read_text(encoding="utf-8")))


def n_in_order(steps, chain):
    """How many of the steps a chain has, in this order: the longest common subsequence by line."""
    row = [0] * (len(chain) + 1)
    for step in steps:
        diagonal = 0
        for i, element in enumerate(chain, 1):
            longest = diagonal + 1 if element["line"] == step["line"] else max(row[i], row[i - 1])
            diagonal, row[i] = row[i], longest
    return row[-1]


def nearest(case, reference, chain):
    """The steps of that expected chain, found with `reference`, which `chain` has most of, and how many it has."""
    expected = [each["steps"] for each in case.chain if each["reference"] == reference]
    return max(((steps, n_in_order(steps, chain)) for steps in expected), key=lambda found: found[1] / len(found[0]), default=([], 0))


def complaints(case):
    """What is wrong with a case."""
    found = []
    for version in VERSIONS:
        with tempfile.TemporaryDirectory() as scratch:
            place = Path(scratch)
            case.copy_to(place)
            (place / "program.c").write_text(case.source(version), encoding="utf-8")
            if complaint := programs.build(case.build, place, "-Wall -Wextra -Werror"):
                found.append(f"{case.name}: the {version} version does not build: {complaint}")
                continue
            code = subprocess.run(["sh", "-c", case.command()], cwd=place, stderr=subprocess.DEVNULL, timeout=60).returncode
            if (code == 0) != (version == "good"):
                found.append(f"{case.name}: the {version} version gives {code}")
    lines = case.source("bad").split("\n")
    for chain in case.chain:
        if chain["reference"] not in ("good", "switch"):
            found.append(f"{case.name}: unknown reference {chain['reference']}")
        for step in chain["steps"]:
            if lines[step["line"] - 1].strip() != step["text"]:
                found.append(f"{case.name}: line {step['line']} is not `{step['text']}`")
    return found


def main():
    found = [complaint for name in names() for complaint in complaints(load(name))]
    for complaint in found:
        print(complaint)
    print(f"{len(names())} cases")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
