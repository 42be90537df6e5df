"""Changes of real histories, each explained as it is: the revision that fails against the one before."""

import subprocess
import tempfile
import tomllib
from pathlib import Path
from statistics import median

from explaining import explain
from running import environment
from tables import table


def load(path, names):
    """The cases of a TOML file: `name`, `repo`, `bad`, `good`, `build`, `test`, and `lines` of source, which is only told.

    `{here}` in its strings is the directory of the file, and `repo` is relative to that.
    """
    here = path.resolve().parent
    cases = tomllib.loads(path.read_text(encoding="utf-8").replace("{here}", str(here)))["case"]
    unknown = set(names) - {case["name"] for case in cases}
    if unknown:
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}")
    return [{**case, "repo": str(here / case["repo"])} for case in cases if not names or case["name"] in names]


def explain_history(binary, case, seconds):
    """The row of a case."""
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch, "repo")
        subprocess.run(["git", "clone", "-q", "--shared", case["repo"], clone], env=environment(scratch), check=True)
        found = explain(binary, clone, case["build"], case["test"], "good", seconds, (case["bad"], case["good"]))
    return {"history": case["name"], "size": case.get("lines"), "good": found}


def starts(chain):
    """Where the chain begins: `change`, its first element in the changed lines, or `change, later`, another one there, or `elsewhere`."""
    where = [element["in_change"] for element in chain]
    return "change" if where[:1] == [True] else "change, later" if any(where) else "elsewhere"


def history_table(rows):
    """One line for each case, and how many begin where."""
    lines = []
    for row in rows:
        found = row["good"]
        if "chain" not in found:
            lines.append([row["history"], row["size"], *[None] * 5, found["error"], None, None])
            continue
        aligned = round(100 * found["n_aligned"] / found["n_steps"]) if found.get("n_steps") else None
        holds = "yes" if not any("does not hold" in remark for remark in found.get("remarks") or []) else "no"
        lines.append([row["history"], row["size"], found.get("n_steps"), aligned, len(found["chain"]), found["n_tests"], found["seconds"],
                      starts(found["chain"]), found.get("end"), holds])
    head = ["history", "lines", "steps", "aligned, %", "length", "tests", "s", "begins in", "end", "asked again"]
    done = [row["good"] for row in rows if "chain" in row["good"]]
    at = [starts(found["chain"]) for found in done]
    summary = (f"{len(done)} of {len(rows)} explained; {at.count('change')} begin in the change, "
               f"{at.count('change, later')} go through it, {at.count('elsewhere')} do not; "
               f"median {median([found['seconds'] for found in done] or [0]):.1f} s of search")
    return f"{table(head, lines)}\n\n{summary}"
