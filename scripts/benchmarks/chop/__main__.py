"""Failure-inducing chops of seeded faults.

For each fault of the programs of `bench chain` and each of its first failing tests, `git idd chop` shrinks the input of the
test, and compares the output with that of the correct program (`--good HEAD~1`). With `--whole` the input stays as it is, and
the right output is given (`--expected`). *Inside*: a faulty line is in the chop; *with constants*: there, or among the
statements that depend on no input (the rule of Gupta et al. 2005 for wrong constants). An omission has no faulty line: the
line where something is missing counts. Sizes are executed statements. The rank of a faulty line is that without the star of
changed lines. Raw rows go to target/bench/chop.jsonl.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "chain"))

import programs
from explaining import make_repository
from running import ROOT, environment, keep, run
from tables import table

parser = argparse.ArgumentParser(prog="bench chop", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
parser.add_argument("--runs", type=int, default=1, help="failing tests of each fault")
parser.add_argument("--seconds", type=float, default=120, help="time of one chop")
parser.add_argument("--whole", action="store_true", help="do not shrink the input")
parser.add_argument("--budget", default="20s", help="time in which an input is shrunk")
parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth fault of a program")
parser.add_argument("--fault", action="append", help="only this fault; repeatable")
parser.add_argument("names", nargs="*", help="only these programs")
options = parser.parse_args()


def chop(binary, repo, program, test):
    """The report of `git idd chop`, with `wall`; or `error` and `wall`."""
    file = f"tests/{test.name}.in"
    if options.whole:
        how, command = ["--expected", f"tests/{test.name}.out"], test.command()
    else:
        how = ["--good", "HEAD~1", "--budget", options.budget, "--input", file]
        command = " ".join(filter(None, ["./program", test.arguments, f"<{file}"]))
    arguments = ["chop", "--json", "--once", *how, "--build", program.build, "--", command]
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as stderr:
        stdout, code, wall = run([str(binary), *arguments], repo, environment(home), options.seconds, stderr)
        stderr.seek(0)
        told = [line for line in stderr.read().decode(errors="replace").split("\n") if line.startswith("error")]
    try:
        return {**json.loads(stdout), "wall": wall}
    except ValueError:
        return {"error": (told or [f"exit {code}"])[0], "wall": wall}


def rows(binary):
    """A row for each fault and failing test."""
    for name in options.names or programs.names():
        program = programs.load(name)
        for fault in program.faults[:: options.every]:
            if options.fault and fault.id not in options.fault:
                continue
            with tempfile.TemporaryDirectory() as scratch:
                repo = Path(scratch, "repo")
                good = (program.directory / fault.file).read_text(encoding="utf-8")
                make_repository(repo, program.copy_to, fault.file, good, fault.apply(good))
                for test in [test for test in program.tests if test.name in fault.fails][: options.runs]:
                    found = chop(binary, repo, program, test)
                    yield {"program": name, "fault": fault.id, "kind": fault.kind, "shape": fault.shape, "test": test.name, "is_whole": options.whole,
                           "how": fault.fails[test.name], "wall": found["wall"], **measures(fault, fault.apply(good).split("\n"), found)}


def measures(fault, source, found):
    """What counts of a report."""
    if "error" in found:
        return {"error": found["error"]}
    faulty = {(fault.file, line) for line in fault.lines() or [fault.line, fault.line - 1]}
    # A declaration may have several lines.
    ends = lambda line: next(n for n in range(line["line"], len(source) + 1) if source[n - 1].rstrip().endswith(";")) if line["function"].startswith("initial") else line["line"]
    is_in = lambda lines: any((line["file"].removeprefix("./"), n) in faulty for line in lines for n in range(line["line"], ends(line) + 1))
    distance = lambda line: float("inf") if line["distance"] is None else line["distance"]
    ranked = sorted(found["lines"], key=lambda line: (line["n_passing"], distance(line), line["n_run"], -line["last"]))
    ranks = [rank for rank, line in enumerate(ranked, 1) if is_in([line])]
    sizes = {"source" if part == "program" else part: found[part]["n_statements"] for part in ("program", "run", "forward", "backward", "chop", "constants")}
    in_chop = is_in(found["lines"])
    return {**sizes, "n_steps": found["run"]["n_steps"], "inside": in_chop, "with_constants": in_chop or is_in(found["constant_lines"]),
            "rank": ranks[0] if ranks else None, "n_lines": len(ranked), "n_passing": found["n_passing"], "failure": found["failure"],
            "bytes_before": sum(file["n_bytes_before"] for file in found["reduced"]), "bytes": sum(file["n_bytes"] for file in found["reduced"])}


def summary(of, name):
    """A line of the table."""
    fine = [row for row in of if "error" not in row]
    median = lambda values: f"{statistics.median(values):.0f}" if values else "-"
    share = lambda values: f"{100 * statistics.median(values):.0f} %" if values else "-"
    ratio = [row["chop"] / row["backward"] for row in fine if row["backward"]]
    return [name, f"{len(fine)} of {len(of)}", *(median([row[part] for row in fine]) for part in ("source", "run", "forward", "backward", "chop", "constants")),
            f"{sum(row['inside'] for row in fine)}", f"{sum(row['with_constants'] for row in fine)}",
            share([row["chop"] / row["source"] for row in fine]), f"{sum(value <= 0.5 for value in ratio)}",
            f"{median([row['rank'] for row in fine if row['rank']])} of {median([row['n_lines'] for row in fine])}",
            f"{median([row['bytes_before'] for row in fine])} to {median([row['bytes'] for row in fine])}", f"{statistics.median(row['wall'] for row in of):.1f}"]


def main():
    binary = Path(options.binary).resolve()
    if not binary.exists():
        parser.error(f"{binary} is not there; build it with `cargo build --release`")
    found = []
    for row in rows(binary):
        keep("chop", row)
        found.append(row)
        seen = row.get("error") or f"{row['chop']} of {row['run']} statements, {'inside' if row['inside'] else 'constant' if row['with_constants'] else 'MISSED'}"
        print(f"{row['fault']} {row['test']} ({row['how']}): {seen}", file=sys.stderr, flush=True)
    if not found:
        parser.error("nothing to measure")
    head = ["program", "chops", "program", "executed", "forward", "backward", "chop", "constants", "inside", "with constants", "chop / program",
            "chop at most half of backward", "rank", "bytes", "s"]
    names = sorted({row["program"] for row in found})
    print(table(head, [*(summary([row for row in found if row["program"] == name], name) for name in names), summary(found, "all")]))


main()
