"""The table, and what it says in sum."""

import os

from tables import table

HEAD = ["case", "program", "suite given", "status", "culprit", "N", "S", "C", "in place", "fix", "lines / people's", "suite: HEAD > fix (people's)",
        "warnings", "sanitizer", "search", "reduce", "port", "verify", "checks", "suite runs", "bisect"]


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
    names = ["program", "suite given", "cases", "culprit right", "in place", "a fix", "suite not worse", "no new warning", "no new report",
             "all of them"]
    return f"{text}\n\nCases that are right, of those where it could be told:\n\n{table(names, sums)}"


VERDICTS = ("culprit", "place", "fix", "suite", "warnings", "sanitizers", "all")


def verdicts(row, ends):
    """What is right about a hunt: True, False, or None where it cannot be told."""
    fixed, place = row["fixed"] or {}, in_place(row, ends)
    new = {name: new_of(name, fixed, ends, fixed.get("files", ())) for name in ("warnings", "sanitizers")}
    found = {
        "culprit": row["is_culprit_right"] is True,
        "place": None if not ends["human_touches"] else place == "yes",
        "fix": row["fixed"] is not None,
        "suite": None if not fixed else is_worse(fixed.get("suite"), ends),
        "warnings": None if new["warnings"] is None else new["warnings"] == 0,
        "sanitizers": None if new["sanitizers"] is None else new["sanitizers"] == 0,
    }
    found["suite"] = None if found["suite"] is None else not found["suite"]
    return {**found, "all": all(value is not False for value in found.values())}


def in_place(row, ends):
    """Whether the change lies where people mended it."""
    touches, human = set(row["touches"] or ()), set(ends["human_touches"])
    inside = {name for name in touches if not name.endswith(":")} or touches
    if not row["touches"] or not human:
        return None
    return "yes" if inside <= human else "partly" if inside & human else "no"


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
    report, fix, fixed = row["report"], row["report"].get("fix") or {}, row["fixed"]
    change, probes = report.get("change") or {}, report.get("probes") or {}
    size = lambda name: (change.get(name) or {}).get("lines")
    human_files = [name.split(":", 1)[0] for name in ends["human_touches"]]
    both = lambda name: pair(new_of(name, fixed, ends, (fixed or {}).get("files", ())), new_of(name, ends["human"], ends, human_files))
    culprit = None if row["is_culprit_right"] is None else "yes" if row["is_culprit_right"] else "NO"
    return [row["case"], row["program"], "yes" if row["mode"] == "suite" else "no", report["status"], culprit, size("necessary"), size("sufficient"),
            size("common"), in_place(row, ends), fix.get("scope") or (fix and "fix") or None,
            f"{fix['lines']} / {ends['human_lines']}" if fix else None, suite_cell(fixed, ends),
            both("warnings"), both("sanitizers") or "n/a" if ends["lang"] == "c" else None,
            *(probes.get(name) for name in ("search", "reduce", "port", "verify", "checks", "suite")), (ends["bisect"] or {}).get("probes")]


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
