"""The graph of what depends on what in a run, beside what it replaced.

A program of some million steps is recorded; its graph is packed, and it is asked why variables have their values before the last step. All is measured in one
process, one after the other: *play*, a pass over the trace alone; *pairs*, a pass that keeps pairs of steps and sorts them, as was done before; *graph*, a pass that
packs the graph; *backward* and *forward*, slices by the packed graph of the last and of the second step. *by play*: `why` that plays each step that it finds from the checkpoint before, as it did before; *by graph*: `why` that reads them off the
graph, and plays once what it shows. Raw rows go to target/bench/dependence.jsonl.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

from running import ROOT, environment, git, keep
from tables import table

HERE = Path(__file__).resolve().parent
VARIABLES = ["total", "deep", "mixed", "values[100]"]


def recorded(options, place):
    """Records the program; returns the directory of the recording."""
    repo = place / "repo"
    repo.mkdir()
    (repo / "a.c").write_text((HERE / "program.c").read_text().replace("N = 40000", f"N = {options.numbers}"))
    env = environment(place)
    for words in (["init", "-q"], ["add", "a.c"], ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-qm", "All"]):
        subprocess.run(["git", *words], cwd=repo, env=env, check=True)
    command = [options.binary, "record", "--once", "--max-trace", "30G", "--timeout", "30m", "--build", "$CC -g -o a a.c", "--", "./a"]
    done = subprocess.run(command, cwd=repo, env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command} failed: {done.stderr[-800:]}")
    [recording] = Path(git(repo, "rev-parse", "--absolute-git-dir"), "idd").rglob("recording.json")
    return recording.parent


def tables(row):
    million = row["n_steps"] / 1e6
    ratio = lambda name: f"{row[name] / row['play']:.2f}"
    yield table(["M steps", "play, s", "pairs / play", "graph / play", "M steps/s of the graph", "bytes a step, pairs", "bytes a step, graph"],
                [[f"{million:.2f}", f"{row['play']:.2f}", ratio("pairs"), ratio("pack"), f"{million / row['pack']:.2f}",
                  f"{row['pair_bytes'] / row['n_steps']:.1f}", f"{row['bytes'] / row['n_steps']:.1f}"]])
    yield table(["slice", "s", "M steps in it", "M steps of the run/s"],
                [[name, f"{row[name]:.2f}", f"{row[name + '_steps'] / 1e6:.2f}", f"{million / row[name]:.1f}"] for name in ("backward", "forward")])
    whys = [[why["variable"], why["limit"], why["n_played"], why["n_steps"], f"{why['by_play'] * 1000:.0f}", f"{why['by_graph'] * 1000:.0f}",
             f"{why['by_graph'] / why['by_play']:.3f}", f"{(why['by_graph'] + row['pack']) / (why['by_play'] + row['play']):.2f}"] for why in row["whys"]]
    yield table(["why", "limit", "steps by play", "by graph", "by play, ms", "by graph, ms", "ratio", "ratio with the first pass"], whys)


def main():
    parser = argparse.ArgumentParser(prog="bench dependence", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program that records")
    parser.add_argument("--example", default=ROOT / "target" / "release" / "examples" / "dependence",
                        help="`cargo build --release --example dependence`")
    parser.add_argument("--numbers", type=int, default=40000, help="numbers that the program sorts: its steps grow with them")
    parser.add_argument("--raw", type=Path, help="where raw rows are appended, instead of target/bench/dependence.jsonl")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        recording = recorded(options, place)
        done = subprocess.run([options.example, recording, *VARIABLES], env=environment(place), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{options.example} failed: {done.stderr[-800:]}")
    row = {"load": os.getloadavg()[0], **json.loads(done.stdout)}
    keep(options.raw or "dependence", row)
    for each in tables(row):
        print(each, end="\n\n")
    print(f"Load at the end: {os.getloadavg()[0]:.1f}")


main()
