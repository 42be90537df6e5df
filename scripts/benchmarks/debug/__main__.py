"""Walks of a simulated person with `git idd debug`.

Each trial is a program with one fault, and its first failing test. The person knows the program without the fault: steps
that correspond to none there are on a wrong path, those that use other values use wrong ones, and a step of level l is
unclear at the kth look with the probability (1 - 1/e^(l-1))/k (Lin et al. 2017, formula 1). A trial is found when a step
in the lines of the fault is recommended. A trial that gives no walk counts as not found.

The ways: `expected` is what `git idd debug` does, with `+help` the program without the fault answers what it can;
`microbat` is the state machine of the paper, `dominators` its simple inference with untried options taken up again,
`slicing` reads the backward slice, `divide` is divide and query, and `states` is a search by halves in time, by a person
who can compare whole states. Without options the trials are the seeded faults of `bench chain`. With
`--java`, the trials are mutants of Java libraries on lines that a passing test method runs. Raw rows go to
target/bench/debug.jsonl.
"""

import argparse
import json
import math
import statistics
import sys
import tempfile
from pathlib import Path

from running import ROOT, environment, keep, run
from tables import table
from trials import all_trials

WAYS = "expected,expected+help,microbat,dominators,slicing,divide,states"

parser = argparse.ArgumentParser(prog="bench debug", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--binary", default=ROOT / "target" / "release" / "examples" / "simulate", help="what walks as the person")
parser.add_argument("--ways", default=WAYS, help=f"default: {WAYS}")
parser.add_argument("--seconds", type=float, default=120, help="time of one trial, with all its ways")
parser.add_argument("--histories", type=Path, action="append", default=[], metavar="FILE", help="versions that this TOML file lists, as in `bench chain`; repeatable")
parser.add_argument("--mutants", type=Path, action="append", default=[], metavar="FILE", help="mutants of the programs of this TOML file; repeatable")
parser.add_argument("--java", type=Path, action="append", default=[], metavar="FILE", help="mutants of the Java libraries of this TOML file; repeatable")
parser.add_argument("--trials", type=int, default=60, help="mutants of each program or library")
parser.add_argument("--per-test", type=int, default=3, metavar="N", help="mutants of a Java library that a test method finds, at most")
parser.add_argument("--compiled", type=Path, metavar="DIRECTORY", help="where compiled Java libraries are kept for the next run")
parser.add_argument("--attempts", type=int, default=15, metavar="N", help="mutants of a Java library that are tried with a test method")
parser.add_argument("--max-steps", type=int, default=1_000_000, metavar="N", help="test methods of a Java library that run more lines are not used")
parser.add_argument("--seed", type=int, default=1, help="by which mutants are chosen")
parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth fault of a program or version of a file")
parser.add_argument("--raw", type=Path, help="where raw rows are appended")
parser.add_argument("--tables", type=Path, help="print the tables of an earlier run from its JSON lines")
parser.add_argument("names", nargs="*", help="only these programs or versions")
options = parser.parse_args()


def walk(binary, trial):
    """What came of a trial, by way, or `error`."""
    bad, good = trial.versions
    arguments = ["debug", "--json", "--bad", bad, "--good", good, "--simulate", options.ways, "--build", trial.build, "--", "sh", "-c", trial.test]
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as stderr:
        stdout, code, wall = run([str(binary), *arguments], trial.repo, environment(trial.home or home), options.seconds, stderr)
        stderr.seek(0)
        told = [line for line in stderr.read().decode(errors="replace").split("\n") if line.startswith("error")]
    row = {"group": trial.group, "trial": trial.name, "wall": wall}
    try:
        return {**row, "ways": json.loads(stdout)["ways"]}
    except (ValueError, KeyError):
        return {**row, "error": (told or [f"no walk after {options.seconds} s" if wall > options.seconds else f"exit {code}"])[0]}


def summary(rows, name, way):
    """A line of the table: a way in the trials of a group."""
    walks = [row["ways"][way] for row in rows if way in row.get("ways", {})]
    found = [walk for walk in walks if walk["found"]]
    answers = [walk["answers"] for walk in found]
    mean = lambda values: statistics.mean(values) if values else None
    return [name, way, len(rows), f"{100 * len(found) / len(rows):.1f} %", mean([float(walk["steps"]) for walk in walks]), max((walk["steps"] for walk in walks), default=None), mean([float(answer) for answer in answers]),
            statistics.median(answers) if answers else None, sorted(answers)[math.ceil(0.9 * len(answers)) - 1] if answers else None,
            mean([float(walk["unclear"]) for walk in found]), f"{1000 * max((walk['longest_recommendation'] for walk in walks), default=0):.0f} ms"]


def tables(rows):
    """Found, length of the runs, and answers, by group and way; answers are those of the trials that are found."""
    groups = list(dict.fromkeys(row["group"] for row in rows))
    ways = list(dict.fromkeys(way for row in rows for way in row.get("ways", {})))
    head = ["group", "way", "trials", "found", "steps, mean", "max", "answers, mean", "median", "90 %", "of them unclear", "longest recommendation"]
    lines = [summary([row for row in rows if row["group"] == group], group, way) for group in groups for way in ways]
    if len(groups) > 1:
        lines += [summary(rows, "all", way) for way in ways]
    return table(head, lines)


def main():
    if options.tables:
        print(tables([json.loads(line) for line in options.tables.read_text().splitlines()]))
        return
    binary = Path(options.binary).resolve()
    if not binary.exists():
        parser.error(f"{binary} is not there; build it with `cargo build --release --example simulate`")
    rows = []
    for trial in all_trials(options):
        row = walk(binary, trial)
        keep(options.raw or "debug", row)
        rows.append(row)
        seen = row.get("error") or ", ".join(f"{way} {walk['answers'] if walk['found'] else 'MISSED'}" for way, walk in row["ways"].items())
        print(f"{row['group']} {row['trial']}: {seen} ({row['wall']:.1f} s)", file=sys.stderr, flush=True)
    if not rows:
        parser.error("nothing to measure")
    print(tables(rows))


main()
