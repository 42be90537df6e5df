"""Checks the seeded faults: each is applied, built twice (-O0, -O1), and run with every test of its program.

What a fault does must not depend on how the program was built, or a chain would explain the build.

  faults.py check [NAME...]   what `faults.toml` says is so: text and line, failing tests, and how they fail
  faults.py write [NAME...]   writes line and failing tests as they are seen into `faults.toml`
  faults.py expect [NAME...]  writes what the correct program does into `tests/`
"""

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import programs
from programs import Fault

LEVELS = ("-O0", "-O1")
HEADER = """# Faults to seed into {name}. `faults.py write` fills in `line` and `fails`; `faults.py check` checks all of it.
build = '{build}'
"""


def observe(program, text_of, way):
    """Runs all tests of a changed program, built in a way (compiler and flags): how each fails, and what it did.

    `text_of` has the new text of changed files.
    """
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch, "program")
        program.copy_to(place)
        for file, text in text_of.items():
            (place / file).write_text(text, encoding="utf-8")
        complaint = programs.build(program.build, place, way[1], way[0])
        if complaint:
            raise ValueError(f"does not build: {complaint[:300]}")
        seen = {test: programs.run(place, test) for test in program.tests}
    fails = {test.name: how for test, (output, code) in seen.items() if (how := programs.judge(program, test, output, code))}
    # What was written before a crash or in a hang depends on buffers.
    exact = {test.name: (b"" if code in ("crash", "hang") else output, code) for test, (output, code) in seen.items()}
    return fails, exact


def failing(program, fault, ways):
    """How the tests fail by a fault, the same however it is built."""
    text = (program.directory / fault.file).read_text(encoding="utf-8")
    fails, exact = observe(program, {fault.file: fault.apply(text)}, ways[0])
    for way in ways[1:]:
        _, other = observe(program, {fault.file: fault.apply(text)}, way)
        differ = sorted(test for test in exact if exact[test] != other[test])
        if differ:
            raise ValueError(f"{', '.join(differ)} differ between {' '.join(ways[0])} and {' '.join(way)}")
    return fails


def complaints_about(program, fault, ways):
    """What is wrong with a fault."""
    if fault.shape not in programs.SHAPES:
        return [f"{fault.id}: unknown shape {fault.shape}"]
    if fault.shape == "single" and (fault.original.count("\n") or fault.replacement.count("\n") or not fault.replacement):
        return [f"{fault.id}: not a single line"]
    try:
        fails = failing(program, fault, ways)
    except ValueError as error:
        return [f"{fault.id}: {error}"]
    if not fails:
        return [f"{fault.id}: no test fails"]
    return [] if fails == fault.fails else [f"{fault.id}: fails {fails}, not {fault.fails}"]


def check(program, pool, ways):
    """Complaints about a program, its tests, and its faults."""
    found = []
    for compiler, flags in ways:
        fails, _ = observe(program, {}, (compiler, f"{flags} -Wall -Wextra -Werror"))
        found += [f"{program.name}: the correct program fails {test} by {how} with {compiler} {flags}" for test, how in fails.items()]
    ids = [fault.id for fault in program.faults]
    found += [f"{fault}: twice" for fault in set(ids) if ids.count(fault) > 1]
    for complaints in pool.map(lambda fault: complaints_about(program, fault, ways), program.faults):
        found += complaints
    return found


def located(program, table):
    """A fault as it was read, with the line where its original stands, which must be one."""
    text = (program.directory / table["file"]).read_text(encoding="utf-8").split("\n")
    original = table["original"].split("\n")
    places = [i + 1 for i in range(len(text)) if text[i : i + len(original)] == original]
    if table.get("line") not in places:
        if len(places) != 1:
            raise SystemExit(f"{table['id']}: the original stands in {len(places)} places")
        table = {**table, "line": places[0]}
    return Fault(**{"fails": {}, **table})


def shown(fault):
    """A fault in TOML."""
    quoted = lambda text: f"'''\n{text}'''" if "\n" in text or "'" in text else f"'{text}'"
    fails = ", ".join(f"{test} = '{how}'" for test, how in fault.fails.items())
    return "\n".join(["", "[[fault]]", f"id = '{fault.id}'", f"kind = '{fault.kind}'", f"shape = '{fault.shape}'",
                      f"file = '{fault.file}'", f"line = {fault.line}", f"original = {quoted(fault.original)}",
                      f"replacement = {quoted(fault.replacement)}", f"fails = {{ {fails} }}", ""])


def write(name, pool, ways):
    """Writes the faults of a program as they are seen; returns complaints."""
    path, table = programs.PROGRAMS / name / "faults.toml", programs.read_toml(name)
    program = programs.program(name, table["build"], [])
    faults = [located(program, fault) for fault in table["fault"]]
    found = []

    def seen(fault):
        try:
            fails = failing(program, fault, ways)
        except ValueError as error:
            found.append(f"{fault.id}: {error}")
            return fault
        if not fails:
            found.append(f"{fault.id}: no test fails")
        return replace(fault, fails=fails)

    path.write_text(HEADER.format(name=name, build=table["build"]) + "".join(map(shown, pool.map(seen, faults))), encoding="utf-8")
    return found


def expect(name):
    """Writes what the correct program does with each input."""
    program = programs.program(name, programs.read_toml(name)["build"], [])
    for test in program.tests:
        for ending in (".out", ".status"):
            (program.directory / "tests" / f"{test.name}{ending}").unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch, "program")
        program.copy_to(place)
        if complaint := programs.build(program.build, place):
            raise SystemExit(f"{name} does not build: {complaint}")
        for test in program.tests:
            output, code = programs.run(place, test)
            if code not in (0, 1):
                raise SystemExit(f"{name}: {test.name}: {code}")
            (program.directory / "tests" / f"{test.name}.out").write_bytes(output)
            if code:
                (program.directory / "tests" / f"{test.name}.status").write_text(f"{code}\n")


def main():
    parser = argparse.ArgumentParser(prog="faults.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["check", "write", "expect"])
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--compiler", action="append", help="repeatable; default: cc")
    options = parser.parse_args()
    ways = [(compiler, level) for compiler in options.compiler or ["cc"] for level in LEVELS]
    complaints, n_faults = [], {shape: 0 for shape in programs.SHAPES}
    with ThreadPoolExecutor(2) as pool:
        for name in options.names or programs.names():
            if options.what == "expect":
                expect(name)
                continue
            if options.what == "write":
                complaints += write(name, pool, ways)
            program = programs.load(name)
            if options.what == "check":
                complaints += check(program, pool, ways)
            for fault in program.faults:
                n_faults[fault.shape] += 1
            n_failing = sum(len(fault.fails) for fault in program.faults)
            print(f"{name}: {len(program.tests)} tests, {len(program.faults)} faults, {n_failing} failing runs", file=sys.stderr)
    for complaint in complaints:
        print(complaint)
    if options.what != "expect":
        print(", ".join(f"{n} {shape}" for shape, n in n_faults.items()))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
