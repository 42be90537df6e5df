"""What recording costs: programs as they are, with records thrown away, with records sent, and records read again.

The cases file names programs that are built from their sources:

    [[case]]
    name = "gzip"
    source = "/path/to/the/source"                  # a directory, seen from the cases file; it is copied
    build = "make CC=\\"$CC\\" CFLAGS=\\"-g $LEVEL\\""     # $CC and $LEVEL (-O0, -O2) are set
    input = "seq 1000000"                           # what it prints is kept in $INPUT
    run = "./gzip -c <$INPUT >out"                  # is timed
    program = "./gzip -c"                           # is also parked for causality tests; stdin is $INPUT

The columns: seconds of processor time of the program as clang builds it at -O0 and -O2; *ring*, instrumented, the buffer used again and again; *sink*,
records sent to a reader that throws them away; *kept*, seconds on the clock while `git idd record` takes them to disk. Events are the loads, stores, decisions,
calls and returns that ran. *decoded* is `git idd trace stat`: all steps with their data and control dominators, by processor time. Told is the
fastest of the rounds, which are interleaved. Raw rows go to target/bench/record.jsonl.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import tomllib
from pathlib import Path

from running import ROOT, environment, git, keep, usage
from tables import table

LEVELS = ["-O0", "-O2"]


class Sink:
    """Gives programs memory for their records as the recorder does, takes what they send and throws it away."""

    MEMORY = 256 * (4096 + (1 << 20))

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.n_bytes = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            threading.Thread(target=self.drain, args=[self.listener.accept()[0]], daemon=True).start()

    def drain(self, stream):
        buffer = bytearray(1 << 20)
        self.n_bytes += stream.recv_into(buffer)
        memory = os.memfd_create("sink")
        os.truncate(memory, self.MEMORY)
        socket.send_fds(stream, [b"\0"], [memory])
        os.close(memory)
        while n := stream.recv_into(buffer):
            self.n_bytes += n


class Case:
    def __init__(self, case, options, place):
        self.case, self.options, self.place = case, options, place
        self.env = {**environment(place), "IDD_CLANG": options.clang, "INPUT": str(place / "input")}
        with open(place / "input", "wb") as file:
            subprocess.run(["sh", "-c", case.get("input", "true")], cwd=case["source"], stdout=file, check=True)

    def native(self, level):
        tree = self.place / f"native{level}"
        shutil.copytree(self.case["source"], tree, symlinks=True)
        env = {**self.env, "CC": self.options.clang, "LEVEL": level}
        usage(["sh", "-c", self.case["build"]], tree, env)
        return tree

    def recorded(self):
        """Records the program; returns the repository, the tree that was built, and the seconds of its run."""
        repo, tree = self.place / "repo", self.place / "instrumented"
        shutil.copytree(self.case["source"], repo, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        git(repo, "init", "-q")
        (repo / ".git/info/exclude").write_text("")
        for words in (["add", "-Af", "."], ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-qm", "All"]):
            subprocess.run(["git", *words], cwd=repo, env=self.env, check=True)
        timed = f"cp -a . {tree} && date +%s%N >{self.place}/begin && {{ {self.case['run']}; }} && date +%s%N >{self.place}/end"
        command = [self.options.binary, "record", "--once", "--timeout", "30m", "--max-trace", "30G", "--build", self.case["build"], "--", timed]
        usage(command, repo, {**self.env, "LEVEL": "-O2"})
        ns = lambda name: int((self.place / name).read_text())
        return repo, tree, (ns("end") - ns("begin")) / 1e9

    def run(self, tree, **more):
        return usage(["setarch", "-R", "sh", "-c", self.case["run"]], tree, {**self.env, **more})[0]


def measure(case, options, place):
    one = Case(case, options, place)
    row = {"case": case["name"], "clang": options.clang, "load": os.getloadavg()[0]}
    trees = {level: one.native(level) for level in LEVELS}
    repo, tree, row["kept"] = one.recorded()
    sink = Sink(place / "sink")
    seen = {name: [] for name in [*LEVELS, "ring", "sink"]}
    for _ in range(options.runs):
        for level in LEVELS:
            seen[level].append(one.run(trees[level]))
        seen["ring"].append(one.run(tree))
        seen["sink"].append(one.run(tree, IDD_TRACE=str(place / "sink")))
    row.update({name: min(seconds) for name, seconds in seen.items()})
    for _ in range(options.decodings):
        seconds, mib, said = usage([options.binary, "trace", "stat", "--json"], repo, one.env)
        row["decoded"] = min(row.get("decoded", seconds), seconds)
        row["mib"] = max(row.get("mib", 0), mib)
    stat = json.loads(said)
    row.update({name: stat[name] for name in ["n_events", "n_bytes", "n_steps", "n_records"]})
    recordings = Path(git(repo, "rev-parse", "--absolute-git-dir"), "idd")
    [recording] = [path.parent for path in recordings.rglob("recording.json")]
    row["n_packed"] = sum(file.stat().st_size for file in recording.glob("*.trace"))
    if program := case.get("program"):
        (place / "scratch").mkdir()
        command = [options.parked, recording, place / "scratch", f"exec {program} <$INPUT"]
        done = subprocess.run(command, cwd=tree, env=one.env, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{command} failed: {done.stderr[-800:]}")
        row["parked"] = json.loads(done.stdout)
    return row


def tables(rows):
    times = lambda seconds, native: f"{seconds / native:.2f}"
    speed = []
    for row in rows:
        million = row["n_events"] / 1e6
        speed.append([row["case"], 1000 * row["-O0"], 1000 * row["-O2"], times(row["ring"], row["-O0"]), times(row["ring"], row["-O2"]),
                      times(row["sink"], row["-O0"]), times(row["sink"], row["-O2"]), million, million / row["sink"],
                      million / row["kept"], million / row["decoded"], f"{row['n_bytes'] / row['n_events']:.2f}", f"{row['n_packed'] / row['n_events']:.2f}", row["mib"]])
    head = ["program", "-O0, ms", "-O2, ms", "ring / -O0", "ring / -O2", "sink / -O0", "sink / -O2", "M events",
            "M/s to the sink", "M/s kept", "M/s decoded", "bytes an event", "kept bytes an event", "MiB to decode"]
    yield table(head, speed)
    parked = [[row["case"], each["mib"], each["n_segments"], each["tests_per_second"], each["runs_per_second"]]
              for row in rows for each in row.get("parked", [])]
    head = ["program", "MiB of the parked process", "segments of a test", "tests a second, forked", "tests a second, run anew"]
    if parked:
        yield table(head, parked)


def main():
    parser = argparse.ArgumentParser(prog="bench record", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, required=True, help="the programs")
    parser.add_argument("--only", nargs="*", help="names of cases")
    parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
    parser.add_argument("--parked", default=ROOT / "target" / "release" / "examples" / "parked",
                        help="`cargo build --release --example parked`")
    names = [os.environ.get("IDD_CLANG", ""), *(f"clang-{version}" for version in (19, 18, 17, 20, 21, 22, 16)), "clang"]
    parser.add_argument("--clang", default=next(filter(None, map(shutil.which, filter(None, names))), None))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--decodings", type=int, default=2)
    parser.add_argument("--raw", type=Path, help="where raw rows are appended, instead of target/bench/record.jsonl")
    options = parser.parse_args()
    rows = []
    for case in tomllib.loads(options.cases.read_text())["case"]:
        if options.only and case["name"] not in options.only:
            continue
        case["source"] = options.cases.parent.resolve() / case["source"]
        with tempfile.TemporaryDirectory() as place:
            rows.append(measure(case, options, Path(place)))
        keep(options.raw or "record", rows[-1])
    for each in tables(rows):
        print(each, end="\n\n")
    print(f"Load at the end: {os.getloadavg()[0]:.1f}")


main()
