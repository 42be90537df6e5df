"""Wide searches: simulated rounds and work of the walk and of the reduction with many probes at once."""

import argparse
import json
import math
import subprocess
from pathlib import Path

from running import ROOT

WIDTHS = [1, 2, 8, 64, 1000]
LATENCIES = [0.1, 1, 10, 60]

parser = argparse.ArgumentParser(prog="bench wide", description=__doc__)
parser.add_argument("--histories", metavar="N", type=int, nargs="+", default=[10**2, 10**3, 10**4, 10**5, 10**6, 10**7], help="revisions; default: 100 to 10000000")
parser.add_argument("--changes", metavar="N", type=int, nargs="+", default=[10, 100, 1000, 10**4, 10**5], help="units; default: 10 to 100000")
parser.add_argument("--needed", metavar="N", type=int, default=3, help="units that the failure needs; default: 3")
parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "examples" / "wide", help="what simulates our searches")
arguments = parser.parse_args()
if not arguments.binary.exists():
    parser.error(f"{arguments.binary} is not there; build it with `cargo build --release --example wide`")


def measured(*words):
    output = subprocess.run([arguments.binary, *map(str, words)], check=True, capture_output=True, text=True).stdout
    return json.loads(output)


def times(n):
    """Fewer searches of what takes long."""
    return max(3, min(100, 10**7 // max(n, 1) // 10))


def seconds(rounds):
    return " / ".join(f"{rounds * latency:.3g}" for latency in LATENCIES)


HEAD = "rounds | most rounds | bound | times the bound | probes | probes of width 1 | work, times width 1 | seconds at " + " / ".join(f"{it:g} s" for it in LATENCIES) + " a probe |"


def row(cells, found, bound, alone):
    cells = [*cells, f"{found['rounds']:.1f}", found["most_rounds"], f"{bound:.1f}", f"{found['rounds'] / bound:.2f}", f"{found['run']:.0f}", f"{alone:.1f}", f"{found['run'] / alone:.2f}", seconds(found["rounds"])]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


print("| revisions | good given | width | " + HEAD)
print("|---" * 11 + "|")
for n in arguments.histories:
    for good in ["good", "no-good"]:
        alone = None
        for width in WIDTHS:
            found = measured("history", n, good, width, times(n))
            alone = alone or found["run"]
            # The good revision is tested, too: it is one more place that the search can end in.
            row([n, "yes" if good == "good" else "no", width], found, math.log(n + 1, width + 1), alone)
print()
print("| units | needed | width | " + HEAD)
print("|---" * 11 + "|")
for n in arguments.changes:
    alone = None
    needed = min(arguments.needed, n)
    for width in WIDTHS:
        found = measured("reduction", n, needed, width, times(10 * n))
        alone = alone or found["run"]
        # Which units are needed is one of so many answers.
        row([n, needed, width], found, max(1, math.log(math.comb(n, needed), width + 1)), alone)
