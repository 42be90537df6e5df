"""Porting: the changes of real commits carried over their histories, by git apply, patch, git's merge and ours."""

import argparse
import sys
from pathlib import Path

import measure
import shares
from running import ROOT

parser = argparse.ArgumentParser(prog="bench port", description=__doc__)
what = parser.add_mutually_exclusive_group(required=True)
what.add_argument("--histories", metavar="FILE", type=Path, help="carry changes over the histories that this TOML file lists; see docs/bench-port.md")
what.add_argument("--tables", metavar="FILE", type=Path, help="print the tables of an earlier run from its JSON lines")
parser.add_argument("--raw", metavar="FILE", type=Path, help="where the JSON lines go; default: target/bench/port.jsonl")
parser.add_argument("--only-ours", metavar="FILE", type=Path, help="take the cases and what the other methods did from an earlier run")
parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "examples" / "carry", help="the program that merges")
parser.add_argument("names", nargs="*", help="only these histories")
arguments = parser.parse_args()

if arguments.tables:
    print(shares.tables(shares.read(arguments.tables)))
    sys.exit()
if not arguments.binary.exists():
    parser.error(f"{arguments.binary} is not there; build it with `cargo build --release --example carry`")
raw = arguments.raw or ROOT / "target" / "bench" / "port.jsonl"
measure.main(arguments, raw)
print(shares.tables(shares.read(raw)))
