"""Reductions of change sets: ours, and those of other programs, on the same changes with the same test."""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import algorithms
import cases
import ours
import report
from running import RAW, ROOT, keep

parser = argparse.ArgumentParser(prog="bench reduce", description=__doc__)
parser.add_argument("--cases", metavar="FILE", type=Path, help="the change sets that this TOML file lists; see docs/bench.md")
parser.add_argument("--fixtures", action="store_true", help="add change sets from fixtures-repos")
parser.add_argument("--fixture", action="append", metavar="NAME", default=[], help="only this one of the fixtures; repeatable")
parser.add_argument("--algorithm", action="append", choices=algorithms.NAMES, help="only this one; repeatable")
parser.add_argument("--ratio", action="append", choices=["clean", "jobs"], default=[],
                    help="measure the default with a full build for each candidate, or with -j1 and -j2, instead; repeatable")
parser.add_argument("--seconds", type=float, default=300, help="time of one run (300)")
parser.add_argument("--max-probes", type=int, default=2000, help="probes of one run (2000)")
parser.add_argument("--check", action="store_true", help="test each line left for being needed; these probes are not counted")
parser.add_argument("--audit", action="store_true", help="build what was refused without a probe, too")
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
parser.add_argument("--python", default=sys.executable, help="the interpreter that picire and commit-delta are installed for")
parser.add_argument("--raw", type=Path, default=RAW / "reduce.jsonl", help="where raw rows are kept")
parser.add_argument("--tables", metavar="FILE", type=Path, action="append", help="print the tables of kept rows; repeatable")
parser.add_argument("--list", action="store_true", help="check the cases and tell their sizes, reduce nothing")
parser.add_argument("names", nargs="*", help="only these cases")
arguments = parser.parse_args()

if arguments.tables:
    rows = [json.loads(line) for path in arguments.tables for line in path.read_text(encoding="utf-8").splitlines()]
    report.print_all([row for row in rows if not arguments.names or row["case"]["name"] in arguments.names])
    sys.exit()
if not arguments.cases and not arguments.fixtures and not arguments.fixture:
    parser.error("one of --cases, --fixtures, --tables is needed")
arguments.binary = Path(arguments.binary).resolve()
if not arguments.binary.exists():
    parser.error(f"{arguments.binary} is not there; build it with `cargo build --release`")

wanted = arguments.algorithm or ([] if arguments.ratio else algorithms.MAIN)
wanted += ["default", "default, clean"] if "clean" in arguments.ratio else []
wanted += ["default, -j1", "default, -j2"] if "jobs" in arguments.ratio else []
wanted = list(dict.fromkeys(wanted))
absent = {name: why for name in wanted if (why := algorithms.missing(name, arguments.binary, arguments.python))}
for name, why in absent.items():
    print(f"{name}: n/a, {why}", file=sys.stderr)

progress = RAW / "progress"
progress.mkdir(parents=True, exist_ok=True)
rows = []
with tempfile.TemporaryDirectory() as scratch:
    found = cases.load(arguments.cases) if arguments.cases else []
    if arguments.fixtures or arguments.fixture:
        found += cases.from_fixtures(arguments.fixture, scratch)
    for case in found:
        if arguments.names and case["name"] not in arguments.names:
            continue
        try:
            case = cases.prepare(case)
        except cases.Unusable as why:
            print(f"left out: {why}", file=sys.stderr, flush=True)
            continue
        about = "{name}: {files} files, {hunks} hunks, {lines} lines, {probe_seconds:.1f} s for a full probe"
        print(about.format(**case), file=sys.stderr, flush=True)
        for name in [] if arguments.list else wanted:
            if name in absent or name in case.get("skip", []):
                rows.append({"case": case, "algorithm": name, "missing": absent.get(name, "left out by the case")})
                continue
            file = progress / f"reduce-{case['name']}-{name.replace(', ', '')}.err"
            rows.append(algorithms.measure(name, case, arguments, file))
            keep(arguments.raw, rows[-1])
            print(f"{case['name']}, {name}: {report.cell(rows[-1])}", file=sys.stderr, flush=True)
report.print_all(rows)
