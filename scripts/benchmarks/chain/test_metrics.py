"""The measures of chains, on chains of which one sees the answer."""

import unittest

import metrics


def chain(text, file="f.c"):
    """`3x@7` is variable x in line 3 at step 7; without `@`, a step is not known."""
    found = []
    for word in text.split():
        place, _, step = word.partition("@")
        digits = place.rstrip("abcdefghijklmnopqrstuvwxyz")
        found.append({"file": file, "line": int(digits), "variable": place[len(digits):], "step": int(step) if step else None})
    return found


# Both ideal chains of the paper's Figure 1.
RED, BLUE = chain("1x@1 3p@3 4t@4 7o@6"), chain("1x@1 2y@2 6s@5 7o@6")


class Metrics(unittest.TestCase):
    def check(self, ideal, approximate, coverage, relevance, distance):
        self.assertEqual(metrics.coverage(ideal, approximate), coverage)
        self.assertEqual(metrics.relevance(ideal, approximate), relevance)
        self.assertEqual(metrics.edit_distance(ideal, approximate), distance)

    def test_a_chain_is_itself(self):
        self.check(RED, RED, 1, 1, 0)

    def test_the_chains_of_figure_1_share_their_ends(self):
        self.check(RED, BLUE, 0.5, 0.5, 2)

    def test_a_part_is_relevant_but_does_not_cover(self):
        self.check(RED, RED[2:], 0.5, 1, 2)

    def test_a_longer_chain_covers_but_is_less_relevant(self):
        self.check(RED[1:], RED, 1, 0.75, 1)

    def test_instances_of_a_statement_differ_by_their_step(self):
        self.check(chain("5i@10 5i@20"), chain("5i@20 5i@30"), 0.5, 0.5, 2)

    def test_without_steps_instances_are_counted(self):
        self.check(chain("5i 5i 6j"), chain("5i@20 6j"), 2 / 3, 1, 1)

    def test_variables_and_files_differ(self):
        self.check(chain("5i@1"), chain("5j@1"), 0, 0, 1)
        self.check(chain("5i@1"), chain("5i@1", "g.c"), 0, 0, 1)

    def test_order_matters_to_the_distance_only(self):
        self.check(chain("1a@1 2b@2"), chain("2b@2 1a@1"), 1, 1, 2)

    def test_nothing_has_no_share(self):
        self.check([], [], None, None, 0)
        self.check(RED, [], 0, None, 4)
        self.check([], RED, None, 0, 4)

    def test_distance_is_symmetric_and_at_most_the_longer_chain(self):
        chains = [RED, BLUE, RED[1:], BLUE[:1], [], chain("9z@9 8y@8 7o@6")]
        for one in chains:
            for other in chains:
                distance = metrics.edit_distance(one, other)
                self.assertEqual(distance, metrics.edit_distance(other, one))
                self.assertLessEqual(distance, max(len(one), len(other)))
                self.assertGreaterEqual(distance, abs(len(one) - len(other)))

    def test_a_root_is_found_anywhere_but_starts_only_in_front(self):
        self.assertTrue(metrics.has_root(RED, "f.c", [4]))
        self.assertFalse(metrics.has_root(RED, "f.c", [2]))
        self.assertFalse(metrics.has_root(RED, "g.c", [4]))
        self.assertTrue(metrics.starts_at(RED, "f.c", [1]))
        self.assertFalse(metrics.starts_at(RED, "f.c", [4]))
        self.assertFalse(metrics.starts_at([], "f.c", [1]))

    def test_roots_are_counted_as_in_the_paper(self):
        # Switched behind the root cause, a chain is a part of the ideal one, without the root; switched before it, it has more.
        behind, before = RED[1:], chain("9c@0") + RED
        root = lambda found, lines: metrics.compare(RED, found, "f.c", lines)["root"]
        self.assertEqual([root(found, [1]) for found in (RED, behind, before)], [True, False, True])
        # Where something was left out there is no faulty statement to find.
        self.assertFalse(root(before, []))
        rows = [metrics.compare(RED, found, "f.c", [1]) for found in (RED, behind, before)]
        self.assertEqual(metrics.summary(rows)["roots"], 2)

    def test_halves_are_by_coverage_and_the_best_has_the_middle(self):
        rows = [{"name": name, "coverage": value} for name, value in zip("abcdef", [0.5, 1, None, 0, 0.5, 1])]
        names = lambda half: "".join(row["name"] for row in half)
        best, worst = metrics.halves(rows)
        self.assertEqual((names(best), names(worst)), ("bfa", "ed"))
        self.assertEqual(metrics.halves([]), ([], []))

    def test_a_summary_averages_what_is_known(self):
        rows = [metrics.compare(RED, BLUE, "f.c", [1]), metrics.compare(RED, [], "f.c", [1])]
        self.assertEqual(metrics.summary(rows), {"tests": 2, "ideal_length": 4, "length": 2, "coverage": 0.25, "relevance": 0.5,
                                                 "edit_distance": 3, "roots": 1})
        self.assertIsNone(metrics.summary([])["coverage"])


if __name__ == "__main__":
    unittest.main()
