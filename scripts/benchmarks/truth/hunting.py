"""One hunt in a fresh clone."""

import base64
import json
import tempfile
from pathlib import Path

import cases
from running import git, idd

MODES = ("plain", "suite")


def hunt(binary, case, mode, budget, kept=None):
    """The report of `git idd`, without what is long and not needed here, and whether the culprit is right.

    `kept` is a file for the whole report; if it is there, that report is taken.
    """
    if kept and kept.exists():
        report = json.loads(kept.read_text(encoding="utf-8"))
    else:
        suite = ["--suite", case["suite"]] if mode == "suite" else []
        build = ["--build", case["build"]] if "build" in case else []
        with tempfile.TemporaryDirectory() as scratch:
            clone, _ = cases.checkout(case, scratch)
            arguments = ["--no-cache", "--budget", budget, *build, *suite, *case.get("arguments", []), "--", *case["test"]]
            report = idd(binary, clone, arguments, kept.with_suffix(".err") if kept else Path(scratch, "progress"))
        if kept:
            kept.write_text(json.dumps(report), encoding="utf-8")
    for field in ("log", "wall", "seconds", "progress"):
        report.pop(field, None)
    first_bad = (report.get("first_bad") or {}).get("commit")
    is_right = first_bad == git(case["repo"], "rev-parse", f"{case['culprit']}^{{commit}}") if first_bad else None
    return {"budget": budget, "report": report, "is_culprit_right": is_right}


def text(patch):
    """The bytes of a patch of a report, or of git."""
    return base64.b64decode(patch["base64"]) if isinstance(patch, dict) else patch.encode()


def side(report, name):
    """The sufficient, necessary or common change of a report, or None."""
    return (report.get("change") or {}).get(name)


def views(report):
    """The changes that a report shows, first the one that it begins with."""
    if "common" in (report.get("change") or {}):
        shown = [side(report, "common") or side(report, "necessary")]
    else:
        sufficient, necessary = side(report, "sufficient"), side(report, "necessary")
        shown = [sufficient] if necessary and (sufficient or {}).get("marked") else [sufficient, necessary]
    return [change for change in shown if change]


def edits(patch, wanted=None):
    """The added and removed lines of a patch that are not blank, as text; only those of the numbers in `wanted`, if given."""
    found, is_in_hunk = [], False
    for number, line in enumerate(text(patch).decode(errors="replace").split("\n"), 1):
        is_in_hunk = (is_in_hunk and not line.startswith("diff ")) or line.startswith("@@ ")
        if is_in_hunk and line[:1] in ("+", "-") and line[1:].strip() and (wanted is None or number in wanted):
            found.append(line)
    return found


# What proves a change: the ends and the two changes, run again.
CLAIMS = ("the last good revision passes", "with the sufficient change it fails", "the first bad revision fails",
          "without the necessary change it passes")


def is_proved(report):
    """Whether each claim about a finding held when it was run again; None where nothing was reduced."""
    held = {claim["claim"]: claim["outcome"] == claim["expected"] for claim in report.get("evidence") or []}
    return all(held.get(claim, False) for claim in CLAIMS) if views(report) else None
