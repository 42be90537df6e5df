"""The driver, with a program in the place of `git idd` that answers what the test wants to hear."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import cases
import explaining
import programs
import report

ROOT = Path(__file__).resolve().parents[3]

# Builds and tests both commits, as explain would, and answers only if the first fails and the second passes.
ANSWERING = """#!{python}
import json, os, subprocess, sys
words = sys.argv[1:]
build, command = words[words.index("--build") + 1], words[words.index("--") + 1]

def code(revision):
    subprocess.run(["git", "checkout", "-q", revision], check=True)
    subprocess.run(["sh", "-c", build], check=True)
    return subprocess.run(["sh", "-c", command], stderr=subprocess.DEVNULL).returncode

codes = [code("main"), code("main~1")]
subprocess.run(["git", "checkout", "-q", "main"], check=True)
if codes != [1, 0]:
    sys.exit(f"error: the outcomes are {{codes}}")
chains = json.loads({chains!r})
name = "switch" if "--switch" in words else "good"
chain = chains[name]
if chain == "none":
    sys.exit("error: no decision makes the test pass when it is switched (switched: 1, runs of the test: 0)")
if chain is None:
    print("error: no luck", file=sys.stderr)
    sys.exit(3)
print(json.dumps({{"chain": chain, "n_tests": 7, "seconds": 0.5}}))
"""


def element(file, line, variable, step):
    return {"file": file, "line": line, "variable": variable, "value": "1", "reference": "0", "step": step, "in_change": False}


def bench(chains, *arguments):
    """Runs `bench chain` with a program that gives those chains; returns the rows, tables, and exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        binary, raw = Path(scratch, "git-idd"), Path(scratch, "raw.jsonl")
        binary.write_text(ANSWERING.format(python=sys.executable, chains=json.dumps(chains)))
        binary.chmod(0o755)
        command = [ROOT / "scripts" / "bench", "chain", "--binary", binary, "--raw", raw, *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        rows = [json.loads(line) for line in raw.read_text().splitlines()] if raw.exists() else []
        return rows, done.stdout, done.returncode


class Driver(unittest.TestCase):
    def setUp(self):
        self.program = programs.load("scheduler")
        self.fault = self.program.faults[0]
        ideal = [element(self.fault.file, self.fault.line, "slice_left", 10), element(self.fault.file, 1, "n", 20)]
        self.chains = {"good": ideal, "switch": ideal[1:]}

    def line(self, tables, *beginning):
        """The cells after those of the first line of a table that begins so."""
        for line in tables.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if tuple(cells[: len(beginning)]) == beginning:
                return cells[len(beginning) :]
        raise AssertionError(f"no line {beginning} in\n{tables}")

    def test_each_failing_run_is_explained_and_compared(self):
        rows, tables, code = bench(self.chains, "scheduler", "--fault", self.fault.id, "--runs", "2")
        self.assertEqual((code, len(rows)), (0, 2), tables)
        self.assertEqual([row["test"] for row in rows], list(self.fault.fails)[:2])
        self.assertEqual(self.line(tables, "scheduler"), ["1", "2", "2", "100.0 %", "–", "2.0", "7.0", "0.50"])
        self.assertEqual(self.line(tables, "ours", "scheduler"), ["0", "2", "0.0 %"])
        self.assertEqual(self.line(tables, "ours", "scheduler", "best"), ["1", "2.00", "1.00", "50.0 %", "100.0 %", "1.00", "0"])
        self.assertEqual(self.line(tables, "paper", "tcas", "best")[3], "84.6 %")

    def test_an_explanation_that_fails_is_counted_and_named(self):
        rows, tables, code = bench({**self.chains, "switch": None}, "scheduler", "--fault", self.fault.id, "--runs", "1")
        self.assertEqual((code, len(rows)), (1, 1))
        self.assertEqual(self.line(tables, "switch", "exit 3: error: no luck"), ["1", f"{self.fault.id} {rows[0]['test']}"])
        self.assertEqual(self.line(tables, "ours", "scheduler"), ["0", "0", "–"])

    def test_no_chain_from_a_switch_is_a_run_without_a_critical_predicate(self):
        _, tables, code = bench({**self.chains, "switch": "none"}, "scheduler", "--fault", self.fault.id, "--runs", "1")
        self.assertEqual((code, self.line(tables, "ours", "scheduler")), (0, ["1", "1", "100.0 %"]))

    def test_only_ideal_chains_are_found_when_asked_for(self):
        rows, tables, code = bench(self.chains, "scheduler", "--fault", self.fault.id, "--runs", "1", "--ideal")
        self.assertEqual((code, [("good" in row, "switch" in row) for row in rows]), (0, [(True, False)]), tables)

    def test_a_case_study_counts_the_steps_of_the_nearest_expected_chain(self):
        case = cases.load("figure1")
        blue = [element("program.c", step["line"], step["variable"], n) for n, step in enumerate(case.chain[1]["steps"])]
        rows, tables, code = bench({"good": blue[:2] + blue[3:], "switch": []}, "--cases", "figure1")
        self.assertEqual((code, len(rows)), (0, 1), tables)
        self.assertEqual(self.line(tables, "figure1", "Figure 1", "good"), ["4", "3", "3", "7", "0.50"])


    def test_changes_of_a_history_are_explained_as_they_are_listed(self):
        with tempfile.TemporaryDirectory() as scratch:
            repo, listed = Path(scratch, "repo"), Path(scratch, "cases.toml")
            explaining.make_repository(repo, lambda place: None, "test.sh", "exit 0\n", "exit 1\n")
            listed.write_text("".join(f"""[[case]]
name = "{name}"
repo = "repo"
bad = "{bad}"
good = "main~1"
build = ":"
test = "sh ./test.sh"
lines = 12
""" for name, bad in (("one", "main"), ("other", "main~1"))))
            chain = [{**element("test.sh", 1, "n", 3), "in_change": where} for where in (False, True)]
            rows, tables, code = bench({"good": chain}, "--histories", listed)
            self.assertEqual((code, [row["history"] for row in rows]), (0, ["one", "other"]), tables)
            self.assertEqual(self.line(tables, "one"), ["12", "–", "–", "2", "7", "0.5", "change, later", "–", "yes"])
            self.assertIn("2 of 2 explained; 0 begin in the change, 2 go through it, 0 do not; median 0.5 s", tables)
            rows, tables, code = bench({"good": None}, "--histories", listed, "other")
            self.assertEqual((code, self.line(tables, "other")[-3]), (1, "exit 3: error: no luck"))

    def test_the_failing_step_ends_the_chain_unless_it_is_its_last_element_already(self):
        failure = {"what": "the output differs", "file": "f.c", "line": 3, "step": 20, "in_change": False}
        link = element("f.c", 2, "n", 10)
        self.assertEqual([each["step"] for each in explaining.whole({"chain": [link], "failure": failure})], [10, 20])
        self.assertEqual(explaining.whole({"chain": [{**link, "step": 20}], "failure": failure}), [{**link, "step": 20}])
        self.assertEqual([each["line"] for each in explaining.whole({"chain": [], "failure": failure})], [3])
        self.assertEqual(explaining.whole({"chain": []}), [])


class Faults(unittest.TestCase):
    def test_lines_of_a_fault_are_those_that_differ(self):
        fault = lambda original, replacement: programs.Fault("x", "k", "multi", "f.c", 10, original, replacement, {})
        self.assertEqual(fault("a\nb\nc", "a\nB\nc").lines(), [11])
        self.assertEqual(fault("a\nb", "b\na").lines(), [10, 11])
        self.assertEqual(fault("a", "").lines(), [])
        self.assertEqual(fault("a\nb\nc", "a\nX").lines(), [11])

    def test_a_fault_is_refused_where_its_original_does_not_stand(self):
        fault = programs.Fault("x", "k", "single", "f.c", 2, "b", "B", {})
        self.assertEqual(fault.apply("a\nb\nc\n"), "a\nB\nc\n")
        self.assertRaises(ValueError, fault.apply, "a\nc\nb\n")

    def test_an_empty_chain_and_none_are_not_the_same(self):
        self.assertEqual(report.chain_of({"good": {"chain": []}}, "good"), [])
        self.assertIsNone(report.chain_of({"good": {"error": "x"}}, "good"))


if __name__ == "__main__":
    unittest.main()
