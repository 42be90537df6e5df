"""One hunt in a fresh clone."""

import base64
import tempfile
from pathlib import Path

import cases
from running import git, idd

MODES = ("plain", "suite")


def hunt(binary, case, mode, budget):
    """The report of `git idd`, without what is long and not needed here, and whether the culprit is right."""
    suite = ["--suite", case["suite"]] if mode == "suite" else []
    build = ["--build", case["build"]] if "build" in case else []
    with tempfile.TemporaryDirectory() as scratch:
        clone, _ = cases.checkout(case, scratch)
        arguments = ["--no-cache", "--budget", budget, *build, *suite, *case.get("arguments", []), "--", *case["test"]]
        report = idd(binary, clone, arguments, Path(scratch, "progress"))
    for field in ("log", "evidence", "wall", "seconds", "progress"):
        report.pop(field, None)
    first_bad = (report.get("first_bad") or {}).get("commit")
    is_right = first_bad == git(case["repo"], "rev-parse", f"{case['culprit']}^{{commit}}") if first_bad else None
    return {"budget": budget, "report": report, "is_culprit_right": is_right}


def text(patch):
    """The bytes of a patch of a report."""
    return base64.b64decode(patch["base64"]) if isinstance(patch, dict) else patch.encode()


def side(report, name):
    """The sufficient, necessary or common change of a report, or None."""
    return (report.get("change") or {}).get(name)
