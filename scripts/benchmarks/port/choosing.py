"""Which changes are carried where.

- *earlier*: the change of a commit, carried to a revision 10, 100 or 1,000 before the commit's parent on the first-parent line.
- *later*: its reversal, carried to a revision 10, 100 or 1,000 after the commit.
- *backport*: a commit that the history has twice, on two branches: the change of the newer one carried to the parent
  of the other. Here the history says what should come out.
- *merge*: a real merge: the change of the second parent since the merge base, carried to the first parent. Here, too.
"""

import random

DISTANCES = (10, 100, 1000)
MAX_FILES = 10
MAX_LINES = 400
SOURCES = (".c", ".h", ".java")


def is_small(numstat):
    """Whether a commit touches sources only, few of them, and changes few lines, but some."""
    rows = [line.split("\t") for line in numstat]
    if not 0 < len(rows) <= MAX_FILES or not all(len(row) == 3 and row[2].endswith(SOURCES) and row[0] != "-" for row in rows):
        return False
    return 0 < sum(int(row[0]) + int(row[1]) for row in rows) <= MAX_LINES


def commits(scratch, *revisions):
    """Commits that `git log` gives: id, tree, parents, author date, subject, numstat; in its order."""
    text = scratch.log("--no-renames", "--numstat", "--format=%x00%H%x01%T%x01%P%x01%at %an%x01%s", *revisions)
    found = []
    for part in text.split("\0")[1:]:
        head, *numstat = part.strip("\n").split("\n")
        name, tree, parents, author, subject = head.split("\x01", 4)
        found.append({"id": name, "tree": tree, "parents": parents.split(), "author": author, "subject": subject,
                      "numstat": [line for line in numstat if line]})
    return found


def along(scratch, history, seed):
    """The cases *earlier* and *later*."""
    line = commits(scratch, "--first-parent", history.get("tip", "HEAD"))[::-1]
    eligible = [at for at, commit in enumerate(line) if at > 0 and len(commit["parents"]) == 1 and is_small(commit["numstat"])]
    chosen = random.Random(f"{seed} {history['name']}").sample(eligible, min(history["commits"], len(eligible)))
    for at in sorted(chosen):
        parent, commit = line[at - 1], line[at]
        for distance in DISTANCES:
            if at - 1 - distance >= 0:
                yield case("earlier", distance, commit, parent["tree"], line[at - 1 - distance]["tree"], commit["tree"])
            if at + distance < len(line):
                yield case("later", distance, commit, commit["tree"], line[at + distance]["tree"], parent["tree"])


def case(kind, distance, commit, base, ours, patched, expected=None):
    """One change to be carried. The names are those of trees."""
    return {"kind": kind, "distance": distance, "commit": commit["id"], "subject": commit["subject"],
            "base": base, "ours": ours, "patched": patched, "expected": expected}


def backports(scratch, history, seed):
    """Commits with the same author, author date and subject: the newest is carried to the parent of each other one."""
    found, twins = {}, {}
    for commit in commits(scratch, *scratch.tips, "--no-merges"):
        found[commit["id"]] = commit
        if is_small(commit["numstat"]):
            twins.setdefault((commit["author"], commit["subject"]), []).append(commit)
    pairs = [(group[0], other) for group in twins.values() for other in group[1:] if other["tree"] != group[0]["tree"]]
    trees = dict(line.split() for line in scratch.log(*scratch.tips, "--format=%H %T").splitlines())
    random.Random(f"{seed} {history['name']} backports").shuffle(pairs)
    for commit, other in pairs[: history.get("backports", 0)]:
        base, ours = (trees.get(which["parents"][0]) if which["parents"] else None for which in (commit, other))
        if base and ours:
            yield case("backport", None, commit, base, ours, commit["tree"], other["tree"])


def merges(scratch, history, seed):
    """Real merges of two parents with one base, where both sides changed some source in common."""
    found = commits(scratch, *scratch.tips, "--merges", "--min-parents=2", "--max-parents=2")
    random.Random(f"{seed} {history['name']} merges").shuffle(found)
    trees = dict(line.split() for line in scratch.log(*scratch.tips, "--format=%H %T").splitlines())
    n_left = history.get("merges", 0)
    for commit in found:
        if n_left == 0:
            return
        bases = scratch.run("merge-base", "--all", *commit["parents"])[1].decode().split()
        if len(bases) != 1:
            continue
        base, first, second = (trees[name] for name in (bases[0], *commit["parents"]))
        both = scratch.changed(base, first).keys() & scratch.changed(base, second).keys()
        if any(path.endswith(SOURCES) for path in both):
            n_left -= 1
            yield case("merge", None, commit, base, first, second, commit["tree"])


def all_cases(scratch, history, seed):
    """Every case of a history."""
    yield from along(scratch, history, seed)
    if history.get("backports"):
        yield from backports(scratch, history, seed)
    if history.get("merges"):
        yield from merges(scratch, history, seed)
