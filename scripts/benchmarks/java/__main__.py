"""What recording costs a Java program, and how fast its recording is read.

Without `--classes`, three programs of this directory are measured: *compute* (matrices, polynomials, complex numbers, collections), *allocate* (a tight loop that makes objects) and
*hello*. With `--classes`, another one: a directory with its classes and archives, of which everything is recorded.

Each program runs as it is, recorded without values, and recorded, in turns, as the test of one `git idd record`; the table shows the fastest of the rounds. *Processor time* is that of the virtual machine, *time* is
on the clock and has the other process in it that rewrites classes. A shorter run, with `--few` as arguments, is then decoded: *stat* is `git idd trace stat`, each step with
what it depends on, and *slice* is `git idd slice` back from the last step, which plays the recording several times; both by processor time. Bytes of records are those of the shorter run. Raw rows go to target/bench/java.jsonl.

With `--trials`, experiments of `git idd explain` are measured instead, on a plain program and, if Debian's JUnit 4 is there, on a test under it: how many it makes a second in one virtual
machine, whose start is counted, beside runs of the test itself.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import trials
from running import ROOT, environment, git, keep, usage
from tables import table

HERE = Path(__file__).resolve().parent
OWN = [
    {"name": "compute", "main": "Compute", "arguments": "1000", "few": "50"},
    {"name": "allocate", "main": "Allocate", "arguments": "2000000", "few": "100000"},
    {"name": "hello", "main": "Hello", "arguments": "", "few": ""},
]
GOALS = {"ratio": 6, "steps": 2, "seconds": 0.5, "start": 0.5, "trials": 20}
JUNIT = [Path("/usr/share/java/junit4.jar"), Path("/usr/share/java/hamcrest-core.jar")]


class Case:
    """A program in a repository of its own."""

    def __init__(self, case, options, place):
        self.case, self.options, self.env = case, options, environment(place)
        self.repo, self.results = place / "repo", place / "results"
        self.repo.mkdir()
        if classes := case.get("classes"):
            shutil.copytree(classes, self.repo / "out", ignore=shutil.ignore_patterns(".git"))
            self.build = "true"
        else:
            for source in HERE.glob("*.java"):
                shutil.copy(source, self.repo)
            self.build = "javac -g -d out *.java"
        git(self.repo, "init", "-q")
        for words in (["add", "-Af", "."], ["commit", "-qm", "All"]):
            subprocess.run(["git", "-c", "user.name=bench", "-c", "user.email=bench@example.org", *words], cwd=self.repo, env=self.env, check=True)

    def recorded(self, arguments, rounds):
        """Runs it in turns; returns the seconds, and the last recorded process."""
        path = ":".join(str(Path("out", part)) for part in self.case.get("path", ".").split(":"))
        java = ["java", "-cp", path, self.case["main"], *shlex.split(arguments)]
        command = [self.options.binary, "record", "--once", "--timeout", "30m", "--max-trace", "30G", "--build", self.build, "--",
                   "python3", "-B", str(HERE / "runs.py"), str(self.results), str(rounds), *java]
        _, _, said = usage(command, self.repo, self.env)
        if not self.results.exists():
            raise SystemExit(f"{command} failed: {said.decode(errors='replace')[-800:]}")
        recordings = Path(git(self.repo, "rev-parse", "--absolute-git-dir"), "idd", "recordings")
        [recording] = recordings.rglob("recording.json")
        process = json.loads(recording.read_text())["processes"][-1]
        seconds = json.loads(self.results.read_text())
        self.results.unlink()
        return seconds, process, recording.parent

    def decoded(self, command):
        """The least processor time of a command on the recording, MiB at the most, and its JSON."""
        runs = [usage([self.options.binary, *command, "--json"], self.repo, self.env) for _ in range(self.options.decodings)]
        return min(run[0] for run in runs), max(run[1] for run in runs), json.loads(runs[-1][2])


def measure(case, options, place):
    one = Case(case, options, place)
    row = {"case": case["name"], "load": os.getloadavg()[0]}
    seconds, _, recording = one.recorded(case["arguments"], options.rounds)
    for name, rounds in seconds.items():
        row[name], row[f"{name}_clock"] = min(processor for processor, _ in rounds), min(clock for _, clock in rounds)
    # The long one is not kept: there may be gigabytes of it.
    shutil.rmtree(recording)
    _, process, _ = one.recorded(case["few"], 1)
    row["n_bytes"], row["n_packed"] = process["n_bytes"], process["n_packed"]
    row["stat"], row["mib"], stat = one.decoded(["trace", "stat"])
    row["n_steps"] = stat["n_steps"]
    row["slice"], mib, _ = one.decoded(["slice", "--backward", str(row["n_steps"])])
    row["mib"] = max(row["mib"], mib)
    return row


def tables(rows):
    ratio = lambda row, name, clock: f"{row[name + clock] / row['plain' + clock]:.2f}"
    ms = lambda seconds: f"{1000 * seconds:.0f}"
    one = lambda row, name, clock: ms(row[name + clock])
    columns = ["steps, ms", "ratio", "recorded, ms", "ratio"]
    both = lambda row, clock: [ms(row[f"plain{clock}"]), *(each(row, name, clock) for name in ("steps", "recorded") for each in (one, ratio))]
    yield table(["program", "processor time, ms", *columns, "time, ms", *columns], [[row["case"], *both(row, ""), *both(row, "_clock")] for row in rows])
    million = lambda row: row["n_steps"] / 1e6
    yield table(["program", "M steps", "bytes a step", "kept bytes a step", "stat, s for 1 M steps", "slice, s for 1 M steps", "MiB to decode"],
                [[row["case"], f"{million(row):.2f}", f"{row['n_bytes'] / row['n_steps']:.2f}", f"{row['n_packed'] / row['n_steps']:.2f}",
                  f"{row['stat'] / million(row):.2f}", f"{row['slice'] / million(row):.2f}", row["mib"]] for row in rows if row["n_steps"] > 1000])
    yield table(["goal", "program", "measured", "met"], goals(rows))


def goals(rows):
    """Each goal with the program that it is about; a program without steps only has a start."""
    for row in rows:
        if row["n_steps"] > 1000:
            times = row["recorded"] / row["plain"]
            yield [f"at most {GOALS['ratio']} times the processor time", row["case"], f"{times:.2f}", "yes" if times <= GOALS["ratio"] else "no"]
            times = row["steps"] / row["plain"]
            yield [f"at most {GOALS['steps']} times for the steps alone", row["case"], f"{times:.2f}", "yes" if times <= GOALS["steps"] else "no"]
            seconds = row["stat"] / (row["n_steps"] / 1e6)
            yield [f"{GOALS['seconds']} s for 1 M steps with dependences", row["case"], f"{seconds:.2f} s", "yes" if seconds <= GOALS["seconds"] else "no"]
        else:
            more = row["recorded_clock"] - row["plain_clock"]
            yield [f"{GOALS['start']} s more to start", row["case"], f"{more:.2f} s", "yes" if more <= GOALS["start"] else "no"]


def experiments(options):
    """The rate of experiments, a row for each way to test."""
    rows = []
    for name, junit in (("plain", []), ("JUnit 4", [str(path) for path in JUNIT])):
        if not all(Path(path).exists() for path in junit):
            print(f"{name} is not there: left out")
            continue
        with tempfile.TemporaryDirectory() as place:
            row = {"case": name, **trials.measure(junit, options, environment(Path(place)), Path(place))}
        keep(options.raw or "java-trials", row)
        rate = row["trials"]
        rows.append([name, f"{row['tested']} of {row['links']}", row["n_trials"], f"{rate:.1f}", f"{row['runs']:.1f}", f"{rate / row['runs']:.1f}", "yes" if rate >= GOALS["trials"] else "no"])
    print(table(["test", "links tested", "experiments", "a second", "runs of the test a second", "ratio", f"at least {GOALS['trials']} a second"], rows), end="\n\n")
    print(f"Load at the end: {os.getloadavg()[0]:.1f}")


def main():
    parser = argparse.ArgumentParser(prog="bench java", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="names of programs of this directory")
    parser.add_argument("--classes", type=Path, help="measure another program: the directory with its classes and archives")
    parser.add_argument("--path", default=".", help="its class path, seen from there (the directory itself)")
    parser.add_argument("--main", help="its main class")
    parser.add_argument("--arguments", default="", help="its arguments")
    parser.add_argument("--few", help="arguments for a run of up to some million steps, which is decoded (the same)")
    parser.add_argument("--binary", default=ROOT / "target" / "release" / "git-idd", help="the program to measure")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program in each way")
    parser.add_argument("--decodings", type=int, default=2)
    parser.add_argument("--raw", type=Path, help="where raw rows are appended, instead of target/bench/java.jsonl")
    parser.add_argument("--trials", action="store_true", help="measure experiments of links")
    options = parser.parse_args()
    if options.trials:
        experiments(options)
        return
    cases = [case for case in OWN if not options.only or case["name"] in options.only]
    if options.classes:
        few = options.arguments if options.few is None else options.few
        cases = [{"name": options.main, "main": options.main, "classes": options.classes.resolve(), "path": options.path,
                  "arguments": options.arguments, "few": few}]
    rows = []
    for case in cases:
        with tempfile.TemporaryDirectory() as place:
            rows.append(measure(case, options, Path(place)))
        keep(options.raw or "java", rows[-1])
    for each in tables(rows):
        print(each, end="\n\n")
    print(f"Load at the end: {os.getloadavg()[0]:.1f}")


main()
