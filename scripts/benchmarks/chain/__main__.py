"""Chains that `git idd explain` finds for seeded faults, and for the bugs of the paper's case studies.

For each fault of `programs/` and each of its first failing tests, a history of two commits is made (good, and bad: with the
fault). The ideal chain is found with the good commit as reference, the approximate one with a switched predicate; they are
compared as in Sumner and Zhang's Tables 2 and 3, whose figures stand below. `--histories` explains changes of real histories. Raw rows go to target/bench/chain.jsonl.
"""

import argparse
import json
import sys
from pathlib import Path

import cases
import histories
import programs
import report
from explaining import REFERENCES, explain_case, explain_fault, explain_long
from running import ROOT, keep

parser = argparse.ArgumentParser(prog="bench chain", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
parser.add_argument("--runs", type=int, default=4, help="failing tests of each fault, as many as in the paper")
parser.add_argument("--seconds", type=float, default=60, help="time of one explanation")
parser.add_argument("--ideal", action="store_true", help="only ideal chains, no switched ones")
parser.add_argument("--long", action="store_true", help="only runs of 100,000 steps or so: a failing input behind much that passes")
parser.add_argument("--fault", action="append", help="only this fault; repeatable")
parser.add_argument("--cases", action="store_true", help="only the case studies; names are those of cases/")
parser.add_argument("--histories", metavar="FILE", type=Path, help="only the changes that this TOML file lists; names are those in it")
parser.add_argument("--raw", type=Path, help="where raw rows are appended")
parser.add_argument("--tables", metavar="FILE", type=Path, help="print the tables of an earlier run from its JSON lines")
parser.add_argument("names", nargs="*", help="only these programs or case studies; without, all of both")
options = parser.parse_args()


def chosen(known):
    """Those of the known names that were asked for."""
    unknown = set(options.names) - set(programs.names()) - set(cases.names())
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return [name for name in known if not options.names or name in options.names]


def measure(binary):
    """All rows, one after the other."""
    if options.histories:
        for case in histories.load(options.histories, options.names):
            yield histories.explain_history(binary, case, options.seconds)
        return
    if not options.fault and not options.long:
        for name in chosen(cases.names()):
            yield explain_case(binary, cases.load(name), options.seconds)
    if options.cases:
        return
    for name in chosen(programs.names()):
        program = programs.load(name)
        for fault in program.faults:
            if options.fault and fault.id not in options.fault:
                continue
            if options.long:
                yield from explain_long(binary, program, fault, options.seconds)
            else:
                references = REFERENCES[:1] if options.ideal else REFERENCES
                yield from explain_fault(binary, program, fault, options.runs, options.seconds, references)


def main():
    if options.tables:
        rows = [json.loads(line) for line in options.tables.read_text(encoding="utf-8").splitlines()]
        return report.print_tables(rows)
    binary = Path(options.binary).resolve()
    if not binary.exists():
        parser.error(f"{binary} is not there; build it with `cargo build --release`")
    rows = []
    for row in measure(binary):
        keep(options.raw or "chain", row)
        rows.append(row)
        seen = ", ".join(f"{reference}: {len(row[reference]['chain'])} steps" if "chain" in row[reference] else row[reference]["error"]
                         for reference in ("good", "switch") if reference in row)
        where = row.get("case") or row.get("history") or f"{row['fault']} {row['test']}"
        print(f"{where}: {seen}", file=sys.stderr, flush=True)
    if not rows:
        parser.error("nothing to measure")
    return report.print_tables(rows)


sys.exit(min(main(), 1))
