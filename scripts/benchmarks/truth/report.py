"""The table, and what it says in sum."""

import os
import re

import hunting
from tables import table

HEAD = ["case", "language", "program", "suite given", "status", "culprit", "N", "S", "C", "shown, marked / culprit", "proved", "in place",
        "necessary in place", "fix", "revert", "lines / people's", "suite: HEAD > fix (people's)", "warnings",
        "sanitizer", "search", "reduce", "port", "verify", "checks", "suite runs", "bisect"]


def tables(rows):
    """One row for each hunt, then what is right in each column, by program and hunt."""
    ends = {row["case"]: row for row in rows if row["mode"] == "ends"}
    # The last row of a hunt counts.
    hunts = {(row["case"], row["program"], row["mode"]): row for row in rows if row["mode"] != "ends" and row["case"] in ends}
    judged = [(row, verdicts(row, ends[row["case"]])) for _, row in sorted(hunts.items())]
    text = table(HEAD, [cells(row, ends[row["case"]], verdict) for row, verdict in judged])
    sums = []
    for key in sorted({(row["program"], row["mode"]) for row, _ in judged}):
        of_key = [verdict for row, verdict in judged if (row["program"], row["mode"]) == key]
        count = lambda name: f"{sum(v[name] is True for v in of_key)} of {sum(v[name] is not None for v in of_key)}"
        sums.append([key[0], "yes" if key[1] == "suite" else "no", len(of_key), *map(count, VERDICTS)])
    names = ["program", "suite given", "cases", "culprit right", "proved", "in place", "necessary in place", "a fix", "no revert",
             "suite not worse", "no new warning", "no new report", "all of them"]
    return f"{text}\n\nCases that are right, of those where it could be told:\n\n{table(names, sums)}"


VERDICTS = ("culprit", "proved", "place", "necessary_place", "fix", "no_revert", "suite", "warnings", "sanitizers", "all")


def verdicts(row, ends):
    """What is right about a hunt: True, False, or None where it cannot be told."""
    fixed, place = row["fixed"] or {}, {name: in_place(row[name], ends) for name in ("touches", "necessary_touches")}
    new = {name: new_of(name, fixed, ends, fixed.get("files", ())) for name in ("warnings", "sanitizers")}
    found = {
        "culprit": row["is_culprit_right"] is True,
        "proved": hunting.is_proved(row["report"]),
        "place": None if not ends["human_touches"] else place["touches"] == "yes",
        "necessary_place": None if not ends["human_touches"] else place["necessary_touches"] == "yes",
        "fix": row["fixed"] is not None,
        "no_revert": None if row["is_fix_revert"] is None else not row["is_fix_revert"],
        "suite": None if not fixed else is_worse(fixed.get("suite"), ends),
        "warnings": None if new["warnings"] is None else new["warnings"] == 0,
        "sanitizers": None if new["sanitizers"] is None else new["sanitizers"] == 0,
    }
    found["suite"] = None if found["suite"] is None else not found["suite"]
    asked = {name: value for name, value in found.items() if name != "necessary_place"}
    return {**found, "all": all(value is not False for value in asked.values())}


def in_place(touches, ends):
    """Whether a change lies where people mended it; what they touched is known by name, and may be given by hand, too."""
    by_hand = {by_name(place) for place in ends.get("fix_place", ())}
    touches, human = set(touches or ()), set(ends["human_touches"])
    inside = {name for name in touches if not name.endswith(":")} or touches
    if not touches or not human | by_hand:
        return None
    right = {name for name in inside if name in human or by_name(name) in by_hand}
    return "yes" if right == inside else "partly" if right else "no"


def by_name(place):
    """A place as file and last name: `src/a.rs:Parser::next (new)` is `src/a.rs:next`."""
    path, _, name = re.sub(r" \([^()]*\)$", "", place).partition(":")
    return f"{path}:{re.split(r'[.:]+', name)[-1]}" if re.fullmatch(r"[\w$.:]+", name) else f"{path}:{name}"


def is_worse(suite, ends):
    """Whether more fails than at HEAD and with the fix by people; None where there is no suite.

    Where people's fix fails a test of HEAD, the test asked for what was wrong: any right fix fails it.
    """
    head, human = ((ends.get(name) or {}).get("suite") for name in ("head", "human"))
    if suite is None or head is None:
        return None
    is_human_well = human is None or human["exit"] == 0
    return bool(new_lines(suite, head, human)) or suite["exit"] is None or (suite["exit"] != 0 and head["exit"] == 0 and is_human_well)


def new_lines(suite, *known):
    """How many failing lines there are that none of the known suites has."""
    known = [dict(map(tuple, one["failing"])) for one in known if one]
    return sum(max(0, n - max(one.get(line, 0) for one in known)) for line, n in suite["failing"])


def new_of(name, judged, ends, files=None):
    """How many warnings or reports the ends do not have; None where it cannot be told."""
    head, found = (ends["head"] or {}).get(name), (judged or {}).get(name)
    if head is None or found is None:
        return None
    known = dict((tuple(row[:-1]), row[-1]) for row in head)
    for *key, n in (ends["before_culprit"].get(name) or []):
        known[tuple(key)] = max(n, known.get(tuple(key), 0))
    if name == "warnings":
        wanted = {os.path.basename(file) for file in files}
        return sum(max(0, n - known.get(tuple(key), 0)) for *key, n in found if os.path.basename(key[0]) in wanted)
    # How often a place is reported depends on how often it is reached.
    return sum(tuple(key) not in known for *key, _ in found)


def cells(row, ends, verdict):
    """One line of the table."""
    report, fixed = row["report"], row["fixed"]
    # One that is not complete got farthest, and is not recommended.
    fix = (report.get("fix") or {}) if fixed else {}
    change, probes = report.get("change") or {}, report.get("probes") or {}
    size = lambda name: (change.get(name) or {}).get("lines")
    human_files = [name.split(":", 1)[0] for name in ends["human_touches"]]
    both = lambda name: pair(new_of(name, fixed, ends, (fixed or {}).get("files", ())), new_of(name, ends["human"], ends, human_files))
    culprit = None if row["is_culprit_right"] is None else "yes" if row["is_culprit_right"] else "NO"
    proved, yes_or_no = hunting.is_proved(report), {True: "yes", False: "NO", None: None}
    return [row["case"], ends["lang"], row["program"], "yes" if row["mode"] == "suite" else "no", report["status"], culprit,
            size("necessary"), size("sufficient"), size("common"), shown_cell(report, ends), yes_or_no[proved],
            in_place(row["touches"], ends), in_place(row["necessary_touches"], ends), fix.get("scope") or (fix and "fix") or None,
            {True: "YES", False: "no", None: None}[row["is_fix_revert"]],
            f"{fix['lines']} / {ends['human_lines']}" if fix else None, suite_cell(fixed, ends),
            both("warnings"), both("sanitizers") or "n/a" if ends["lang"] == "c" else None,
            *(probes.get(name) for name in ("search", "reduce", "port", "verify", "checks", "suite")), (ends["bisect"] or {}).get("probes")]


def shown_cell(report, ends):
    """The lines of the first view, those of them that are marked (all, if nothing says so), and those of the culprit."""
    views = hunting.views(report)
    if not views:
        return None
    first, marked = views[0], views[0].get("marked")
    told = f", {len(hunting.edits(first['patch'], marked))}" if marked else f" of {len(views)} views" if len(views) > 1 else ""
    return f"{len(hunting.edits(first['patch']))}{told} / {ends['culprit_lines']}"


def pair(ours, human):
    """A count with the fix, and with that by people."""
    shown = lambda count: "n/a" if count is None else str(count)
    return None if ours is None and human is None else f"{shown(ours)} ({shown(human)})"


def suite_cell(fixed, ends):
    """Failing lines at HEAD, with the fix, and with that by people."""
    def shown(judged):
        suite = (judged or {}).get("suite")
        if suite is None:
            return "–"
        n = sum(count for _, count in suite["failing"])
        return "no build" if suite["exit"] is None else f"{n}" if suite["exit"] == 0 or n else f"exit {suite['exit']}"
    if (ends["head"] or {}).get("suite") is None:
        return None
    worse = " WORSE" if fixed and is_worse(fixed["suite"], ends) else ""
    return f"{shown(ends['head'])} > {shown(fixed)}{worse} ({shown(ends['human'])})"
