"""How near an approximate failure-inducing chain comes to the ideal one; pure functions.

A chain is a list of `{file, line, variable, step}` from the change to the failure. The ideal chain is computed with the fixed
version as reference, the approximate one with a patched (switched) run, and both are subsequences of the *same* failing run
(Definition 6 of Sumner and Zhang, "Automatic Failure Inducing Chain Computation through Aligned Execution Comparison"): the
paper's elements are instances of instructions, `4_2`. So two elements are the same if file, line, variable *and* step are.
Where a chain has an element without a step, the k-th of a place and variable in the one stands for the k-th in the other.

Deviation from the paper: it does not say what it does with a chain without elements. Here a share of nothing is `None`, and
means leave it out.
"""

from collections import Counter
from statistics import mean


def keys(chain, with_steps=True):
    """One hashable key for each element, by which elements are compared; all keys of a chain differ, but for equal steps."""
    seen = Counter()
    found = []
    for element in chain:
        place = (element["file"], element["line"], element["variable"])
        seen[place] += 1
        found.append((*place, element["step"] if with_steps else seen[place]))
    return found


def comparable(ideal, approximate):
    """The keys of both chains: by step if every element of both has one."""
    with_steps = all(element.get("step") is not None for element in [*ideal, *approximate])
    return keys(ideal, with_steps), keys(approximate, with_steps)


def length(chain):
    """Elements of a chain."""
    return len(chain)


def coverage(ideal, approximate):
    """The share of the ideal chain that is in the approximate one, 0 to 1; None if the ideal chain is empty."""
    wanted, found = map(Counter, comparable(ideal, approximate))
    return (wanted & found).total() / wanted.total() if wanted else None


def relevance(ideal, approximate):
    """The share of the approximate chain that is in the ideal one, 0 to 1; None if the approximate chain is empty."""
    return coverage(approximate, ideal)


def edit_distance(ideal, approximate):
    """Levenshtein: the fewest elements to insert, delete or replace to make one chain of the other."""
    older, newer = comparable(ideal, approximate)
    row = list(range(len(newer) + 1))
    for i, wanted in enumerate(older, 1):
        diagonal, row[0] = row[0], i
        for j, found in enumerate(newer, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (wanted != found))
    return row[-1]


def has_root(chain, file, lines):
    """Whether some element stands in the lines of the fault: the column `Roots` of Table 3."""
    return any(element["file"] == file and element["line"] in lines for element in chain)


def starts_at(chain, file, lines):
    """Whether the first element stands in the lines of the fault."""
    return has_root(chain[:1], file, lines)


def halves(rows):
    """The best and the worst half of rows by `coverage`, best first; equal ones stay in order, a middle one is of the best.

    Rows without a coverage are in neither.
    """
    ranked = sorted((row for row in rows if row["coverage"] is not None), key=lambda row: -row["coverage"])
    middle = (len(ranked) + 1) // 2
    return ranked[:middle], ranked[middle:]


def average(values):
    """The mean of what is known, or None."""
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def compare(ideal, approximate, file, lines):
    """All measures of a failing run, as one row."""
    return {
        "ideal_length": length(ideal),
        "length": length(approximate),
        "coverage": coverage(ideal, approximate),
        "relevance": relevance(ideal, approximate),
        "edit_distance": edit_distance(ideal, approximate),
        "root": has_root(approximate, file, lines),
    }


def summary(rows):
    """The averages of one half, as a line of Table 3 has them; shares 0 to 1, roots counted."""
    names = ("ideal_length", "length", "coverage", "relevance", "edit_distance")
    return {"tests": len(rows), **{name: average(row[name] for row in rows) for name in names},
            "roots": sum(row["root"] for row in rows)}
