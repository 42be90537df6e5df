"""Tables of measured rows, beside those of the paper; pure."""

from collections import Counter
from statistics import median

import cases
import metrics
import paper
from explaining import REFERENCES
from histories import history_table
from tables import table

MAX_NAMED = 5


def chain_of(row, reference):
    """The chain found with a reference; empty if none was, None if it was not asked for or went wrong."""
    return (row.get(reference) or {}).get("chain")


def percent(share):
    return None if share is None else f"{100 * share:.1f} %"


def ratio(part, whole):
    return percent(part / whole) if whole else None


def middle(values):
    """The median of what is known, or None."""
    known = [value for value in values if value is not None]
    return float(median(known)) if known else None


def two_digits(value):
    return None if value is None else f"{value:.2f}"


def errors(rows):
    """How often what went wrong, and where."""
    named = {}
    for row in rows:
        for reference in REFERENCES:
            if error := (row.get(reference) or {}).get("error"):
                named.setdefault((reference, error), []).append(
                    row.get("case") or f"{row['fault']} {row['test']}")
    return [[*what, len(where), ", ".join(where[:MAX_NAMED]) + (", …" if len(where) > MAX_NAMED else "")]
            for what, where in named.items()]


def ideal_row(name, rows):
    """Ideal chains of a program: how many begin at the fault, and what they cost."""
    explained = [row for row in rows if chain_of(row, "good")]
    starts = lambda row: metrics.starts_at(chain_of(row, "good") or [], row["file"], row["lines"])
    # A fault that only takes something out has no line at which a chain could start. What was not explained counts.
    value = [row for row in rows if row["shape"] == "single"]
    other = [row for row in rows if row["shape"] != "single" and row["lines"]]
    n_lengths = middle(len(chain_of(row, "good")) for row in explained)
    cost = lambda key: middle(row["good"].get(key) for row in explained)
    return [name, len({row["fault"] for row in rows}), len(rows), len(explained), ratio(sum(map(starts, value)), len(value)),
            ratio(sum(map(starts, other)), len(other)), n_lengths, cost("n_tests"), two_digits(cost("seconds"))]


IDEAL = ["program", "faults", "failing runs", "explained", "starts at a value fault", "starts at another", "length", "tests", "s"]


def critical_row(name, rows):
    """Failing runs without a predicate to switch, as in Table 2."""
    asked = [row for row in rows if chain_of(row, "switch") is not None]
    n_without = sum(not chain_of(row, "switch") for row in asked)
    return ["ours", name, n_without, len(asked), ratio(n_without, len(asked))]


CRITICAL = ["", "program", "without critical predicate", "failing runs", "share"]


def compared(rows):
    """Measures of all rows that have the ideal chain and that of a switched run."""
    return [metrics.compare(chain_of(row, "good"), chain_of(row, "switch"), row["file"], row["lines"])
            for row in rows if chain_of(row, "good") and chain_of(row, "switch")]


def half_rows(name, rows):
    """Two lines as in Table 3; the runs are halved by coverage."""
    for half, members in zip(("best", "worst"), metrics.halves(compared(rows))):
        found = metrics.summary(members)
        yield ["ours", name, half, found["tests"], *[two_digits(found[key]) for key in ("ideal_length", "length")],
               percent(found["coverage"]), percent(found["relevance"]), two_digits(found["edit_distance"]), found["roots"]]


def paper_half(row):
    """A line of the paper's Table 3."""
    name, half, n, ideal, length, coverage, relevance, distance, roots = row
    return ["paper", name, half, n, two_digits(ideal), two_digits(length), f"{coverage:.1f} %", f"{relevance:.1f} %",
            two_digits(distance), roots]


def baseline_halves(row):
    """The lines of the paper's baselines for half a program."""
    name, half, *figures = row
    for which, (length, coverage, relevance) in (("paper: DD", figures[:3]), ("paper: DD_p", figures[3:])):
        yield [which, name, half, None, None, two_digits(length), f"{coverage:.1f} %", f"{relevance:.1f} %", None, None]


HALVES = ["", "program", "half", "tests", "ideal length", "length", "coverage", "relevance", "edit distance", "roots"]


def print_faults(rows):
    """All tables of the seeded faults."""
    first = [row for row in rows if not row.get("is_long")]
    by_name = {}
    for row in first:
        by_name.setdefault(row["program"], []).append(row)
    groups = [*by_name.items(), ("all", first)] if len(by_name) > 1 else list(by_name.items())
    print("Ideal chains, found with the fixed version; medians:\n\n" + table(IDEAL, [ideal_row(*group) for group in groups]))
    theirs = [["paper", name, n, total, ratio(n, total)] for name, n, total in paper.TABLE_2]
    print("\nRuns that no switched predicate patches (the paper's Table 2):\n\n"
          + table(CRITICAL, [*(critical_row(*group) for group in groups), *theirs]))
    halves = [row for group in groups for row in half_rows(*group)] if any(chain_of(row, "switch") for row in first) else []
    baselines = [line for row in paper.TABLE_3_BASELINES for line in baseline_halves(row)]
    print("\nChains of switched runs beside the ideal ones (the paper's Table 3):\n\n"
          + table(HALVES, [*halves, *map(paper_half, paper.TABLE_3), *baselines]))
    if long := [row for row in rows if row.get("is_long")]:
        print("\nLong runs; medians:\n\n" + table(IDEAL, [ideal_row("all", long)]))


def case_row(row, reference):
    """How much of the expected chain a case study has."""
    chain = chain_of(row, reference)
    case = cases.load(row["case"])
    steps, n_found = cases.nearest(case, reference, chain or [])
    found = row.get(reference) or {}
    return [row["case"], case.figure, reference, len(steps) or None, n_found if steps and chain is not None else None,
            None if chain is None else len(chain), found.get("n_tests"), two_digits(found.get("seconds"))]


CASES = ["case", "in the paper", "reference", "steps expected", "of them found", "length", "tests", "s"]


def print_tables(rows):
    """Everything that was measured; the newest row of each run counts. Returns how many explanations went wrong."""
    key = lambda row: (row.get("case"), row.get("history"), row.get("fault"), row.get("test"))
    rows = list({key(row): row for row in rows}.values())
    if real := [row for row in rows if "history" in row]:
        print("Changes of real histories:\n\n" + history_table(real))
        return len([row for row in real if "chain" not in row["good"]])
    if studies := [row for row in rows if "case" in row]:
        print("Case studies:\n\n" + table(CASES, [case_row(row, reference) for row in studies for reference in REFERENCES]))
        print("\nThe real bugs of the paper's Table 4, seconds of its Algorithms 1 (hierarchical) and 2 (dependence):\n\n"
              + table(["program", "version", "length", "Algorithm 1", "Algorithm 2"],
                      [[*bug[:3], bug[3] or "over 4 h", bug[4]] for bug in paper.TABLE_4]) + "\n")
    if faults := [row for row in rows if "fault" in row]:
        print_faults(faults)
    wrong = errors(rows)
    if wrong:
        print("\nNo explanation:\n\n" + table(["reference", "reason", "runs", "where"], wrong))
    n_shapes = Counter(row["shape"] for row in {row["fault"]: row for row in faults}.values())
    print("\n" + ", ".join([f"{len(studies)} case studies", *(f"{n} {shape} faults" for shape, n in n_shapes.items())]))
    return sum(row[2] for row in wrong)
