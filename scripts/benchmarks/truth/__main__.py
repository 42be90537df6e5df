"""How true the answers are: hunts in real histories whose culprit and whose fix by people are known.

A case is a table of a TOML file, as for `bench hunt --cases`: `name`, `lang` (c, java, python, javascript, rust, go), `repo`, `bad`, `good`,
`culprit`, `fix` (a commit), `fix_paths` (the paths of the fix that count), perhaps `fix_place` (its declarations, by hand: a list of
`file:name`), `config` (git's, for the clone: a table), `build`, `test` (a list), `suite` (a shell line), `note`. Each case is hunted in
twice by each program, in fresh clones: without and with `--suite`. What is recommended is then put on the tested revision in a
clone of its own, built, and judged there; so are this revision as it is (HEAD) and with the fix by people.

Columns, one row for each hunt:
  culprit     whether the first bad commit is the known one
  N, S, C     lines of the necessary change, the sufficient one, and what they have in common, where a program says it
  shown       lines of the change that the report begins with, those of them that are marked (or how many changes it shows), and those
              of the culprit: added and removed, not blank. An older program shows C, or N
  proved      whether the four claims about the two revisions and the two changes held when they were run again
  in place    whether what is shown first lies in functions, types or variables that the fix by people touches (or in those that the
              case names): `yes` all of them, `partly`, `no`; then the same of the necessary change
  fix         how much of the culprit the recommended fix takes back, whether it is a revert of the whole, and its lines / those of the
              fix by people
  suite       failing lines of the project's suite: at HEAD > with the recommended fix (with the fix by people); WORSE: lines fail that do
              so neither at HEAD nor with the fix by people, or the suite, or the build before it, fails as a whole and did not
  warnings    new ones with the fix (with that by people): neither HEAD nor the revision before the culprit has them. -Wall -Wextra, -Xlint,
              pyflakes (or syntax errors alone, where it is not installed), of the files that the fix changes; not for other languages
  sanitizer   C: reports of AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer in test and suite with the fix (with that by
              people) that HEAD does not have; n/a: it does not build so
  runs        search, reduce, port, verify, checks, suite, as far as the program counts them; then those of `git bisect run`

A dash: not known, or there is none. The last lines count the cases that are right in each column.

Compilers are found by PATH, where scripts stand in for them that add the options; a build that calls them by their path has no
warnings. Functions are found by universal-ctags (C, Java, Rust, Go), their ends by brackets where it gives none; those of JavaScript
by patterns. Rows are appended to --out; what is there already is not measured again. Rows have no times.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hunt"))

import cases  # noqa: E402
import hunting  # noqa: E402
import judging  # noqa: E402
import report  # noqa: E402
from running import RAW, ROOT, keep  # noqa: E402


def parsed():
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench truth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", metavar="FILE", type=Path, action="append", default=[], help="a file of cases; repeatable")
    parser.add_argument("--binary", type=Path, help="the program to measure; default, without --before: target/release/git-idd")
    parser.add_argument("--before", type=Path, help="an earlier program, measured as well")
    parser.add_argument("--out", type=Path, default=RAW / "truth.jsonl", help="rows, as JSON lines (default: %(default)s)")
    parser.add_argument("--mode", action="append", choices=list(hunting.MODES), help="only this hunt: without or with the suite; repeatable")
    parser.add_argument("--budget", default="20m", help="time of one hunt (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=1800, metavar="SECONDS", help="of one build or suite (default: %(default)s)")
    parser.add_argument("--reports", metavar="DIR", type=Path, help="keep whole reports there; what is there is not hunted again")
    parser.add_argument("--quick", action="store_true", help="no bisection, and HEAD and the fix by people are judged only where a fix is recommended")
    parser.add_argument("--tables", action="store_true", help="measure nothing, print what --out has")
    parser.add_argument("names", nargs="*", help="only these cases")
    arguments = parser.parse_args()
    if not arguments.tables and not arguments.cases:
        parser.error("--cases is needed")
    return parser, arguments


def main():
    """Measures what is missing, tells about each on stderr, prints the table."""
    parser, arguments = parsed()
    if not arguments.tables:
        programs = {"before": arguments.before, "now": arguments.binary}
        if not any(programs.values()):
            programs["now"] = ROOT / "target" / "release" / "git-idd"
        programs = {label: path.resolve() for label, path in programs.items() if path}
        for path in programs.values():
            if not path.exists():
                parser.error(f"{path} is not there; build it with `cargo build --release`")
        # Of two cases of one name the last one counts.
        for case in {case["name"]: case for path in arguments.cases for case in cases.load(path)}.values():
            if not arguments.names or case["name"] in arguments.names:
                measure(case, programs, arguments)
    rows = read(arguments.out)
    print(report.tables([row for row in rows if not arguments.names or row["case"] in arguments.names]))


def measure(case, programs, arguments):
    """All that is missing of one case. A case that cannot be measured is told, and the others go on."""
    done = {(row["case"], row["program"], row["mode"]): row for row in read(arguments.out)}
    todo = [(label, mode) for label in programs for mode in arguments.mode or hunting.MODES
            if (case["name"], label, mode) not in done and not (mode == "suite" and "suite" not in case)]
    if not todo and (case["name"], None, "ends") in done:
        return
    # All is done in a copy: trees that are judged are objects of it.
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["git", "clone", "-q", "--bare", case["repo"], f"{scratch}/repo"], check=True)
        measure_copy({**case, "repo": f"{scratch}/repo"}, todo, done, programs, arguments)


def measure_copy(case, todo, done, programs, arguments):
    """The same, in a repository that may be written to."""
    try:
        ends = done.get((case["name"], None, "ends"))
        if ends is None:
            ends = keep_ends(case, arguments, not arguments.quick)
        for label, mode in todo:
            row = {"case": case["name"], "program": label, "mode": mode}
            kept = arguments.reports and arguments.reports.resolve() / f"{case['name']}-{label}-{mode}.json"
            row.update(hunting.hunt(programs[label], case, mode, arguments.budget, kept))
            row.update(judging.finding(case, row["report"], arguments.limit, judged_trees(arguments.out, case["name"])))
            if row["fixed"] and ends["head"] is None:
                ends = keep_ends(case, arguments, True)
            keep(arguments.out.resolve(), row)
            print(f"{case['name']} {label} {mode}: {row['report']['status']}", file=sys.stderr, flush=True)
    except Exception as error:  # noqa: BLE001
        print(f"{case['name']}: cannot be measured: {error!r}", file=sys.stderr, flush=True)


def keep_ends(case, arguments, is_judged):
    """What both ends of a case are like, as a row. Of two such rows the last one counts."""
    ends = {"case": case["name"], "program": None, "mode": "ends", **judging.ends(case, arguments.limit, is_judged, not arguments.quick)}
    keep(arguments.out.resolve(), ends)
    return ends


def judged_trees(path, name):
    """What was judged of a case already, by tree: both hunts of a program often recommend the same."""
    fixes = [row["fixed"] for row in read(path) if row["case"] == name and row.get("fixed")]
    return {fixed["tree"]: fixed for fixed in fixes}


def read(path):
    """The rows that are there."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


main()
