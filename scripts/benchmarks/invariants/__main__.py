"""Error invariants of failing runs.

For each fault of the programs of `bench chain` and its first failing test, `git idd chop --no-shrink` records the run and
gives the chop, against the passing version (`--good`); `git idd invariants --passing` then finds the abstract slice of the same recording. *Inside*: a faulty line is a
statement of the slice; for an omission, the line where something is missing, or a decision of the slice around it. Sizes are
executed statements, times are those of `git idd invariants` alone. `--verify` lets z3 check all invariants. Raw rows go to
target/bench/invariants.jsonl.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "chain"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "debug"))

import programs
from explaining import make_repository
from running import ROOT, environment, keep, run
from tables import table
from trials import history

import histories

parser = argparse.ArgumentParser(prog="bench invariants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
parser.add_argument("--mode", action="append", help="value, address or absolute, with `+data` to leave decisions out, `+N` to follow them that far, or `+alone` not to compare with the passing run; repeatable; default: address")
parser.add_argument("--seconds", type=float, default=60, help="time of one command")
parser.add_argument("--verify", action="store_true", help="let z3 check each invariant")
parser.add_argument("--histories", type=Path, action="append", default=[], metavar="FILE",
                    help="versions that this TOML file lists, as in `bench chain`; repeatable")
parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth fault of a program or version of a file")
parser.add_argument("--fault", action="append", help="only this fault; repeatable")
parser.add_argument("--raw", type=Path, help="where raw rows are appended")
parser.add_argument("--tables", type=Path, help="print the tables of an earlier run from its JSON lines")
parser.add_argument("names", nargs="*", help="only these programs or versions")
options = parser.parse_args()
MODES = options.mode or ["address"]


def command(binary, arguments, repo, home):
    """What a command prints as JSON, and its time; or `error`."""
    with tempfile.TemporaryFile() as stderr:
        begin = time.monotonic()
        stdout, code, _ = run([str(binary), *arguments], repo, environment(home), options.seconds, stderr)
        wall = time.monotonic() - begin
        stderr.seek(0)
        told = [line for line in stderr.read().decode(errors="replace").split("\n") if line.startswith("error")]
    try:
        return json.loads(stdout), wall
    except ValueError:
        return {"error": (told or [f"exit {code}"])[0]}, wall


def measured(binary, repo, build, test, faulty):
    """The measures of a failing test: of the chop, and of each mode."""
    row = {}
    with tempfile.TemporaryDirectory() as home:
        right = ["--good", "HEAD~1"]
        chop, _ = command(binary, ["chop", "--json", "--once", "--no-shrink", *right, "--build", build, "--", *test], repo, home)
        if "error" in chop:
            return {"error": chop["error"]}
        # The passing version was recorded right before.
        right = ["--passing", f"{int(chop['recording']) - 1:04}"]
        row |= {"run": chop["run"]["n_statements"], "n_steps": chop["run"]["n_steps"], "backward": chop["backward"]["n_statements"],
                "chop": chop["chop"]["n_statements"], "failure": chop["failure"], "modes": {}}
        for mode in MODES:
            name, depth = (mode.split("+") + [""])[:2]
            how = ["--data"] if depth == "data" else ["--alone"] if depth == "alone" else ["--depth", depth] if depth else []
            arguments = ["invariants", "--json", "--recording", chop["recording"], *right, "--mode", name]
            found, wall = command(binary, arguments + how + ["--verify"] * options.verify, repo, home)
            row["modes"][mode] = {"wall": wall} | measures(found, faulty)
    return row


def measures(found, faulty):
    """What counts of a slice. `faulty` says whether a statement is a faulty one."""
    if "error" in found:
        return {"error": found["error"]}
    invariants = [len(one["invariant"]) for one in found["statements"]]
    verified = found["verified"] or {}
    return {"slice": found["slice"]["n_statements"], "steps": found["slice"]["n_steps"], "dynamic": (found["dynamic"] or {}).get("n_statements"),
            "conditions": statistics.mean(invariants), "inside": any(faulty(one) for one in found["statements"]), "partial": found["is_partial"],
            "questions": found["n_questions"], "unknown": found["n_unknown"], "not_modelled": sum(one["is_unknown"] for one in found["statements"]),
            "checked": sum(verified.get(part, 0) for part in ("n_proved", "n_refuted")), "refuted": verified.get("n_refuted", 0)}


def indent(text):
    """The width of the space before a line."""
    return len(text) - len(text.lstrip())


def around(source, line, depth=1 << 30):
    """The lines of the conditions around a place before a line, by the indentation there."""
    lines, found = source.split("\n"), set()
    for number in range(line - 1, 0, -1):
        text = lines[number - 1]
        if text.strip() and indent(text) < depth:
            depth = indent(text)
            if re.match(r"\s*(\}\s*)?(else\b|if\b|while\b|for\b|switch\b|case\b)", text):
                found.add(number)
    return found


def switch(source, line):
    """The `switch` before a line, in a set."""
    lines = source.split("\n")
    return {max((number for number in range(1, line) if re.search(r"\bswitch\b", lines[number - 1])), default=line)}


def rows(binary):
    """A row for each fault."""
    for path in options.histories:
        for case in histories.load(path, options.names)[:: options.every]:
            with history(case) as trial:
                row = measured(binary, trial.repo, trial.build, ["sh", "-c", trial.test], changed(trial))
                yield {"program": path.stem, "fault": trial.name, **row}
    if options.histories:
        return
    for name in options.names or programs.names():
        program = programs.load(name)
        for fault in program.faults[:: options.every]:
            if options.fault and fault.id not in options.fault:
                continue
            with tempfile.TemporaryDirectory() as scratch:
                repo = Path(scratch, "repo")
                good = (program.directory / fault.file).read_text(encoding="utf-8")
                bad = fault.apply(good)
                make_repository(repo, program.copy_to, fault.file, good, bad)
                test = next(test for test in program.tests if test.name in fault.fails)
                missing = good.split("\n")[fault.line - 1]
                lines = set(fault.lines()) or {fault.line, fault.line - 1} | around(bad, fault.line, indent(missing))
                if re.match(r"\s*(case\b|default\b)", missing):
                    lines |= switch(bad, fault.line)
                source = bad.split("\n")
                row = measured(binary, repo, program.build, [test.command()], is_in(source, fault.file, lines))
                yield {"program": name, "fault": fault.id, "kind": fault.kind, "shape": fault.shape, "test": test.name, **row}


def is_in(source, file, lines):
    """Whether a statement is in one of some lines of a file; a declaration may have several lines."""
    def faulty(statement):
        if not statement["file"] or statement["file"].removeprefix("./") != file:
            return False
        first = last = statement["line"]
        if statement["step"] == 0:
            while last < len(source) and not source[last - 1].rstrip().endswith(";"):
                last += 1
        return any(line in lines for line in range(first, last + 1))
    return faulty


def code(source):
    """The numbers of the lines that have more than comments, braces and space."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), source, flags=re.S)
    return [number for number, line in enumerate(text.split("\n"), 1) if line.strip(" \t{}")]


def beside(source, gap):
    """The last line of code up to a gap, and the first one behind it."""
    numbers = code(source)
    return {max((number for number in numbers if number <= gap), default=gap), min((number for number in numbers if number > gap), default=gap)}


def users(source, first, n):
    """The lines that use a constant of the preprocessor, or a variable without an initial value, that is declared in some lines; and the `switch` of a `case`."""
    lines, found = source.split("\n"), set()
    for number, text in enumerate(lines[first - 1 : first - 1 + n], first):
        if re.match(r"\s*(case\b|default\b)", text):
            found |= switch(source, number)
        declared = re.match(r"\s*#\s*define\s+(\w+)\s", text) or re.match(r"\s*(?:static\s+)?\w+\s+\**(\w+)(?:\[\w*\])?\s*;", text)
        if declared:
            found |= {number for number, line in enumerate(lines, 1) if re.search(rf"\b{declared[1]}\b", line)}
    return found


def changed(trial):
    """Whether a statement is in a line that differs from the passing version, or beside a gap."""
    import subprocess
    bad, good = trial.versions
    text = subprocess.run(["git", "diff", "-U0", good, bad, "--", "*.c", "*.h"], cwd=trial.repo, capture_output=True, text=True, errors="replace", check=True).stdout
    lines, file = {}, None
    for line in text.split("\n"):
        if line.startswith("+++ b/"):
            file = line[6:]
        elif (hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)) and file:
            first, n = int(hunk[1]), int(hunk[2] or 1)
            source = (trial.repo / file).read_text(errors="replace")
            n = n if set(code(source)) & set(range(first, first + n)) else 0
            own = set(range(first, first + n)) if n else beside(source, first) | around(source, first)
            lines.setdefault(file, set()).update(own)
            if n:
                # A condition over several lines begins before its changed line.
                lines[file].add(first - 1)
                lines[file] |= users(source, first, n)
    sources = {file: (trial.repo / file).read_text(errors="replace").split("\n") for file in lines}
    tests = [is_in(sources[file], file, of_file) for file, of_file in lines.items()]
    return lambda statement: any(test(statement) for test in tests)


def summary(of, name, mode):
    """A line of the table."""
    fine = [row for row in of if "error" not in row and "error" not in row["modes"][mode]]
    modes = [row["modes"][mode] for row in fine]
    median = lambda values: f"{statistics.median(values):.0f}" if values else "-"
    ratios = [one["slice"] / row["chop"] for row, one in zip(fine, modes) if row["chop"]]
    walls = sorted(one["wall"] for one in modes)
    dynamic = [one["dynamic"] for one in modes if one["dynamic"]]
    at = lambda share: f"{walls[min(len(walls) - 1, int(share * len(walls)))]:.2f}" if walls else "-"
    conditions = f"{statistics.median(one['conditions'] for one in modes):.1f}" if modes else "-"
    return [name, mode, f"{len(fine)} of {len(of)}", median([row["run"] for row in fine]), median(dynamic), median([row["chop"] for row in fine]),
            median([one["slice"] for one in modes]), f"{statistics.median(ratios):.2f}" if ratios else "-", conditions, f"{sum(one['inside'] for one in modes)}",
            f"{sum(one['partial'] for one in modes)}", at(0.5), at(0.95), median([one["questions"] for one in modes]), f"{sum(one['checked'] for one in modes)}", f"{sum(one['refuted'] for one in modes)}"]


def tables(rows):
    names = list(dict.fromkeys(row["program"] for row in rows))
    modes = list(dict.fromkeys(mode for row in rows for mode in row.get("modes", {})))
    head = ["program", "mode", "slices", "executed", "dynamic slice", "chop", "abstract slice", "of the chop", "conditions", "inside", "partial", "s", "s, 95 %", "questions",
            "checked", "refuted"]
    lines = [summary([row for row in rows if row["program"] == name], name, mode) for name in names for mode in modes]
    return table(head, lines + [summary(rows, "all", mode) for mode in modes])


def main():
    if options.tables:
        print(tables([json.loads(line) for line in options.tables.read_text().splitlines()]))
        return
    binary = Path(options.binary).resolve()
    if not binary.exists():
        parser.error(f"{binary} is not there; build it with `cargo build --release`")
    found = []
    for row in rows(binary):
        keep(options.raw or "invariants", row)
        found.append(row)
        shown = lambda one: one.get("error") or f"{one['slice']} of {row['chop']} {'inside' if one['inside'] else 'MISSED'} {one['wall']:.2f} s"
        seen = row.get("error") or ", ".join(f"{mode} {shown(one)}" for mode, one in row["modes"].items())
        print(f"{row['fault']}: {seen}", file=sys.stderr, flush=True)
    if not found:
        parser.error("nothing to measure")
    print(tables(found))


main()
