"""The fixtures, and what a hunt in each is to find."""

import tomllib

from running import ROOT

FIXTURES = ROOT / "fixtures-repos"


def names():
    """The fixtures in which one command ends with one finding, sorted: not those hunted by hand or with several tests."""
    expected = {path.parent.name: tomllib.loads(path.read_text(encoding="utf-8")) for path in FIXTURES.glob("*/expect.toml")}
    return sorted(name for name, expect in expected.items() if not {"by_hand", "each"} & expect.keys())


def complaints(expect, report):
    """The names of the expected fields that are not as expected. The tests compare more; these are the main ones."""
    probes = report["probes"]
    change = report.get("change") or {}
    lines = lambda name: (change.get(name) or {}).get("lines")
    subject = lambda name: (report.get(name) or {}).get("subject")
    exact = {
        "status": report["status"],
        "exit": report["exit"],
        "last_good_subject": subject("last_good"),
        "first_bad_subject": subject("first_bad"),
        "sufficient_lines": lines("sufficient"),
        "necessary_lines": lines("necessary"),
        "fix_complete": (report.get("fix") or {}).get("complete"),
    }
    most = {
        "max_probes": probes.get("run", 0) - probes.get("verify", 0),
        "max_search_probes": sum(probes.get(purpose, 0) for purpose in ("reproduce", "search", "repair")),
        "repair_lines_max": max((repair["lines"] for repair in report.get("repairs") or []), default=0),
    }
    wrong = [name for name, found in exact.items() if name in expect and expect[name] != found]
    return wrong + [name for name, found in most.items() if name in expect and found > expect[name]]
