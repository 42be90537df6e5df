"""Hunts: on the fixtures, and on real histories that lie on this disk."""

import argparse
import sys
from pathlib import Path

import cases
import fixtures
from running import RAW, ROOT

parser = argparse.ArgumentParser(prog="bench hunt", description=__doc__)
what = parser.add_mutually_exclusive_group(required=True)
what.add_argument("--fixtures", action="store_true", help="hunt in every history of fixtures-repos, beside git bisect")
what.add_argument("--cases", metavar="FILE", type=Path, help="hunt in the histories that this TOML file lists; see docs/bench.md")
what.add_argument("--tables", metavar="FILE", type=Path, help="print the tables of an earlier run from its JSON lines")
parser.add_argument("--mode", action="append", choices=list(cases.MODES), help="only this mode of --cases; repeatable")
parser.add_argument("--budget", help="time of one hunt of --cases, instead of the one in the file: 10m")
parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
parser.add_argument("names", nargs="*", help="only these fixtures or cases")
arguments = parser.parse_args()

binary = Path(arguments.binary).resolve()
if not arguments.tables and not binary.exists():
    parser.error(f"{binary} is not there; build it with `cargo build --release`")
progress = RAW / "progress"
progress.mkdir(parents=True, exist_ok=True)
if arguments.fixtures:
    sys.exit(min(fixtures.main(binary, arguments.names, progress), 1))
if arguments.tables:
    sys.exit(cases.print_tables(cases.read(arguments.tables, arguments.names)))
sys.exit(cases.main(binary, arguments, progress))
