"""The tables."""

import algorithms
from tables import table

CURVE_AT = [5, 10, 20, 50, 100, 200, 500, 1000, 2000]
# What each algorithm is compared with.
RIVAL = "picire"


def n_probes(row):
    return len(row["rows"])


def share_unresolved(row):
    """In percent, of the probes."""
    n_unresolved = sum(outcome == "unresolved" for outcome, _ in row["rows"])
    return round(100 * n_unresolved / n_probes(row)) if row["rows"] else 0


def n_removable(row):
    """Lines left that are not needed; `None` if it was not tested."""
    return None if row.get("removable") is None else len(row["removable"])


def cell(row):
    """Probes / lines left (share unresolved, refused without a probe); `>`: the run was cut."""
    if row is None or "missing" in row:
        return "n/a" if row and row["missing"] != "left out by the case" else "–"
    if row["error"]:
        return f"error after {n_probes(row)}"
    refused = f", {row['refused']} refused" if row.get("refused") else ""
    cut = "> " if row["cut"] else ""
    wrong = f", {n_removable(row)} not needed" if n_removable(row) else ""
    return f"{cut}{n_probes(row)} / {row['lines']} ({share_unresolved(row)} %{refused}{wrong})"


def newest(rows):
    """The newest row of each case and algorithm, in the order of the cases."""
    found = {}
    for row in rows:
        found.setdefault(row["case"]["name"], {})[row["algorithm"]] = row
    return found


def complete(row):
    return row is not None and "missing" not in row and not row["cut"] and not row["error"]


def about(case):
    return [case["name"], case["files"], case["hunks"], case["lines"]]


ABOUT = ["case", "files", "hunks", "lines"]


def main_table(found, names):
    """One row for each case, one column for each algorithm."""
    lines = [about(next(iter(by.values()))["case"]) + [cell(by.get(name)) for name in names] for by in found.values()]
    return table(ABOUT + names, lines)


def sums(found, names):
    """Each algorithm against the rival, over the cases that both finished."""
    lines = []
    for name in names:
        pairs = [(by[name], by[RIVAL]) for by in found.values() if complete(by.get(name)) and complete(by.get(RIVAL))]
        if not pairs or name == RIVAL:
            continue
        mine, other = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        total = lambda rows, of: sum(of(row) for row in rows)
        size = lambda row: row["lines"]
        ratio = lambda of: f"{total(mine, of) / max(total(other, of), 1):.2f}"
        n_unresolved = sum(outcome == "unresolved" for row in mine for outcome, _ in row["rows"])
        worse = [f"{a['case']['name']} +{size(a) - size(b)}" for a, b in pairs if size(a) > size(b) + 2]
        lines.append([name, len(pairs), total(mine, n_probes), total(other, n_probes), ratio(n_probes), total(mine, size),
                      total(other, size), ratio(size), f"{100 * n_unresolved / max(total(mine, n_probes), 1):.0f} %",
                      sum(row.get("refused") or 0 for row in mine), ", ".join(worse) or "none"])
    head = ["algorithm", "cases", "probes", f"{RIVAL}'s", "ratio", "lines", f"{RIVAL}'s", "ratio", "unresolved", "refused",
            "larger by more than 2 lines"]
    return table(head, lines) if lines else None


def long_table(rows):
    """All figures of every run."""
    head = [*ABOUT, "algorithm", "probes", "unresolved", "refused", "lines left", "hunks left", "units left", "not needed", "s", ""]
    lines = []
    for row in rows:
        note = row["error"] or ("cut" if row["cut"] else "")
        lines.append([*about(row["case"]), row["algorithm"], n_probes(row), f"{share_unresolved(row)} %", row.get("refused"),
                      row["lines"], row["hunks"], row.get("units"), n_removable(row), row["wall"], note[:80]])
    return table(head, lines)


def curve(row, n):
    """Lines of the best candidate after `n` probes."""
    sizes = [lines for outcome, lines in row["rows"][:n] if outcome == "fail" and lines is not None]
    return min(sizes, default=row["case"]["lines"])


def curves(rows):
    """The size over the probes, up to the end of each run."""
    lines = []
    for row in rows:
        points = [curve(row, n) if n < n_probes(row) else None for n in CURVE_AT]
        lines.append([row["case"]["name"], row["algorithm"], row["case"]["lines"], *points, row["lines"]])
    return table(["case", "algorithm", "at first", *[f"after {n}" for n in CURVE_AT], "at the end"], lines)


def ratios(found, one, other, goal):
    """Wall time of one way of working over another's, which must have found the same."""
    lines, walls = [], [0.0, 0.0]
    for name, by in found.items():
        if not (complete(by.get(one)) and complete(by.get(other))):
            continue
        pair = by[one], by[other]
        is_same = "yes" if pair[0]["tree"] == pair[1]["tree"] else "NO"
        walls = [wall + row["wall"] for wall, row in zip(walls, pair)]
        ratio = f"{pair[0]['wall'] / pair[1]['wall']:.2f}"
        lines.append([name, *map(n_probes, pair), *(row["wall"] for row in pair), ratio, is_same])
    if not lines:
        return None
    lines.append(["sum", None, None, *walls, f"{walls[0] / walls[1]:.2f}", None])
    head = ["case", f"probes, {one}", f"probes, {other}", f"s, {one}", f"s, {other}", "ratio", "same result"]
    return f"Wall time, {one} over {other} (goal {goal}):\n\n" + table(head, lines)


def audits(rows):
    """Refused candidates that were built all the same."""
    lines = []
    for row in rows:
        outcomes = [refused[1] for refused in row.get("audit") or []]
        if outcomes:
            counts = [outcomes.count(word) for word in ("unresolved", "pass", "fail")]
            lines.append([row["case"]["name"], row["algorithm"], len(outcomes), *counts])
    return table(["case", "algorithm", "refused", "unresolved", "pass: wrongly", "fail: wrongly"], lines) if lines else None


def print_all(rows):
    """Prints what there is to say about raw rows."""
    found = newest(rows)
    if not found:
        return
    flat = [row for by in found.values() for row in by.values()]
    ran = [row for row in flat if "missing" not in row]
    names = [name for name in algorithms.MAIN if any(row["algorithm"] == name for row in flat)]
    main = [row for row in ran if row["algorithm"] in names]
    if names:
        print("Probes / lines left (share unresolved); `>` marks a run that was cut.\n\n" + main_table(found, names))
        if text := sums(found, names):
            print(f"\nAgainst `{RIVAL}`, over the cases that both finished:\n\n" + text)
        print("\nEvery run:\n\n" + long_table(main))
        print("\nLines left over probes:\n\n" + curves(main))
    for one, other, goal in (("default", "default, clean", "0.4"), ("default, -j2", "default, -j1", "0.6")):
        if text := ratios(found, one, other, goal):
            print("\n" + text)
    if text := audits(ran):
        print("\nRefused candidates, built all the same:\n\n" + text)
