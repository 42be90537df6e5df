"""The tables of a run."""

import json
from collections import Counter

from tables import table

METHODS = ["git apply", "patch", "git merge", "ours"]


def read(path):
    """The cases of a run."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def share(part, whole):
    """As people read it."""
    return None if whole == 0 else f"{part} ({100 * part / whole:.0f} %)"


def by_method(cases):
    """For each method: how many it carried, and what is known of those."""
    for method in METHODS:
        clean = [case["methods"][method] for case in cases if case["methods"][method]["outcome"] == "clean"]
        commutes = Counter(result["commutes"] for result in clean)
        wanted = Counter(result["expected"] for result in clean if result["expected"])
        yield [method, len(cases), share(len(clean), len(cases)), share(sum(result["parses"] for result in clean), len(clean)),
               commutes["equal"], commutes["space"], commutes["differs"], commutes["unknown"],
               wanted["equal"], wanted["space"], wanted["differs"]]


HEAD = ["method", "cases", "carried", "of these: parse", "commute: equal", "space", "differ", "unknown", "history: equal", "space", "differ"]


def by_distance(cases):
    """Carried by each method, by kind and distance."""
    keys = sorted({(case["kind"], case["distance"] or 0) for case in cases})
    for kind, distance in keys:
        group = [case for case in cases if (case["kind"], case["distance"] or 0) == (kind, distance)]
        counts = [share(sum(case["methods"][method]["outcome"] == "clean" for case in group), len(group)) for method in METHODS]
        yield [kind, distance or None, len(group), *counts]


def left(cases):
    """Of the conflicts of git's merge: how many ours leaves, by kind of conflict."""
    groups = {}
    for case in cases:
        result = case["methods"]["git merge"]
        if result["outcome"] == "conflict":
            kind = "content only" if result.get("kinds") == ["content"] else "others: a file removed, added twice or moved"
            if "earlier" == case["kind"] or "later" == case["kind"]:
                groups.setdefault(("along the line", kind), []).append(case)
            else:
                groups.setdefault((case["kind"], kind), []).append(case)
    for (which, kind), group in sorted(groups.items()):
        rungs = Counter(case["methods"]["ours"].get("rung") for case in group if case["methods"]["ours"]["outcome"] == "clean")
        yield [which, kind, len(group), share(len(group) - rungs.total(), len(group)), ", ".join(f"{rung} {count}" for rung, count in sorted(rungs.items())) or None]


def files(cases):
    """Files in which git's merge has a content conflict."""
    groups = {"along the line": [], "backport": [], "merge": []}
    for case in cases:
        kind = case["kind"] if case["kind"] in groups else "along the line"
        groups[kind] += case["by_file"].values()
    for kind, results in groups.items():
        rungs = Counter(result.get("rung") for result in results if result["outcome"] == "clean")
        yield [kind, len(results), share(len(results) - rungs.total(), len(results)), ", ".join(f"{rung} {count}" for rung, count in sorted(rungs.items())) or None]


def tables(cases):
    """All tables, as Markdown."""
    told = [case for case in cases if not case["trivial"]]
    line = [case for case in told if case["kind"] in ("earlier", "later")]
    known = [case for case in told if case["expected"]]
    n_commits = len({(case["history"], case["commit"]) for case in cases if case["kind"] in ("earlier", "later")})
    parts = [
        f"{n_commits} commits of {len({case['history'] for case in cases})} histories; {len(cases)} cases, of which "
        f"{len(cases) - len(told)} are trivial (no file of the change differs) and left out.",
        "Along the line:", table(HEAD, by_method(line)),
        "Where the history has the answer (backports and merges):", table(HEAD, by_method(known)),
        table(["kind", "distance", "cases", *METHODS], by_distance(told)),
        "Conflicts of git's merge:", table(["cases", "conflict", "git's", "left by ours", "carried by ours, by rung"], left(told)),
        "Files in which git's merge has a content conflict, each as a change of its own:",
        table(["cases", "files", "left by ours", "carried by ours, by rung"], files(told)),
    ]
    return "\n\n".join(parts)
