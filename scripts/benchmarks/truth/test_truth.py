"""What is counted, on small texts."""

import unittest

import hunting
import judging
import places
import report

C = b"""#include <stdio.h>

struct point {
    int x;
};

static const int table[] = {
    1,
    2,
};

int one(void)
{
    return 1;
}

int two(a)
int a;
{
    return a;
}
"""

JAVA = b"""class A {
    int field = 1;

    int get() {
        return field;
    }
}
"""

JAVASCRIPT = b"""var LIMIT = 3, TEXT = "}";

function one(a) {
    var b = a.map(function(x) { return x; });
    return /[{"]/.test(b); // }
}

Two.prototype.get = function() {
    return `${"}"}`;
};
DEFINE("three", function(self) {
    self.x = function() {};
});

module.exports = {
    four: function() {
        return '{';
    },
    five() {
        return 5;
    }
};
"""

RUST = b"""static LIMIT: [char; 2] = [
    '{', '}',
];

impl<'a> Point<'a> {
    fn get(&self) -> &'a str
    where
        Self: Sized,
    {
        r#"}"}"#
    }
}

mod tests {
    #[test]
    fn one() {}
}
"""

GO = b"""package a

var table = list(
\t`}`,
)

func (p *Point) get() rune {
\treturn '}'
}
"""

PYTHON = b"""LIMIT = 3


class A:
    @property
    def size(self):
        return LIMIT


def main():
    pass
"""


class Places(unittest.TestCase):
    def names(self, source, path, *lines):
        found = places.declarations(source, path)
        return [places.name_of(found, line) for line in lines]

    def test_c(self):
        self.assertEqual(self.names(C, "a.c", 1, 4, 8, 14, 20), ["", "point", "table", "one", "two"])

    def test_java(self):
        self.assertEqual(self.names(JAVA, "A.java", 2, 5, 7), ["A.field", "A.get", "A"])

    def test_javascript(self):
        expected = ["LIMIT", "one", "one", "Two.prototype.get", 'DEFINE("three"', "module.exports.four", "module.exports.five",
                    "module.exports", ""]
        self.assertEqual(self.names(JAVASCRIPT, "a.js", 1, 4, 6, 9, 12, 17, 20, 22, 23), expected)

    def test_rust(self):
        self.assertEqual(self.names(RUST, "a.rs", 2, 7, 10, 12, 16), ["LIMIT", "Point.get", "Point.get", "Point", "tests.one"])

    def test_go(self):
        self.assertEqual(self.names(GO, "a.go", 1, 4, 8), ["", "a.table", "a.Point.get"])

    def test_python(self):
        self.assertEqual(self.names(PYTHON, "a.py", 1, 2, 5, 7, 11), ["LIMIT", "", "A.size", "A.size", "main"])


class Judging(unittest.TestCase):
    def test_failing_lines_are_those_of_single_tests(self):
        texts = ["not ok 3 - adds", "FAILED test_a", "E   ValueError: x", "2) testB(com.A)", "ok 4 - no error", "Tests run: 3,  Failures: 1",
                 "== 2 failed, 3 passed in 1 s ==", "Runs: 3 Passes: 2 Fails: 1", "make: *** [Makefile:3: check] Error 1",
                 "all is well"]
        self.assertEqual([judging.is_failing(text) for text in texts], [True] * 4 + [False] * 6)

    def test_what_differs_between_runs_is_masked(self):
        self.assertEqual(judging.masked(" 12) at 0x7f line 12 took 0.31s"), ") at 0x line took T")

    def test_a_report_is_its_kind_and_the_first_function_of_the_program(self):
        log = """==1==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 24 byte(s) in 1 object(s) allocated from:
    #0 0x7f in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x55 in add /x/a.c:3
    #2 0x55 in main /x/a.c:9
a.c:7:3: runtime error: load of null pointer of type 'char'
    #0 0x55 in get /x/a.c:7
"""
        self.assertEqual(judging.reports(log), {"direct leak in add", "undefined: load of null pointer of type 'char' in get"})


class Report(unittest.TestCase):
    ENDS = {"head": {"suite": {"exit": 1, "failing": [["a", 2]]}, "warnings": [["a.c", "x", 1]], "sanitizers": [["leak in f", 4]]},
            "human_touches": ["a.c:f", "a.c:g"], "before_culprit": {"warnings": [["a.c", "y", 1]]}}

    def test_worse_is_what_fails_only_with_the_fix(self):
        worse = lambda code, *failing: report.is_worse({"exit": code, "failing": failing}, self.ENDS)
        self.assertEqual([worse(1, ["a", 2]), worse(0), worse(1, ["a", 3]), worse(1, ["b", 1])], [False, False, True, True])
        expected = {**self.ENDS, "human": {"suite": {"exit": 1, "failing": [["b", 1]]}}}
        self.assertEqual([report.is_worse({"exit": 1, "failing": [[line, 1]]}, expected) for line in "bc"], [False, True])
        passing = {"head": {"suite": {"exit": 0, "failing": []}}}
        self.assertEqual([report.is_worse({"exit": code, "failing": []}, passing) for code in (0, 1, None)], [False, True, True])

    def test_a_warning_is_new_that_no_end_has_in_a_file_that_changes(self):
        judged = {"warnings": [["src/a.c", "x", 1], ["a.c", "x", 2], ["a.c", "y", 1], ["b.c", "z", 1]]}
        self.assertEqual(report.new_of("warnings", judged, self.ENDS, ["src/a.c"]), 2)
        self.assertEqual(report.new_of("sanitizers", {"sanitizers": [["leak in f", 9], ["leak in g", 1]]}, self.ENDS), 1)
        self.assertIsNone(report.new_of("sanitizers", {"sanitizers": None}, self.ENDS))

    def test_a_change_is_in_place_where_people_changed_something(self):
        place = lambda *touches: report.in_place(touches, self.ENDS)
        self.assertEqual([place("a.c:f"), place("a.c:f", "a.c:"), place("a.c:f", "a.c:h"), place("a.c:h"), place()],
                         ["yes", "yes", "partly", "no", None])
        ends = {"human_touches": [], "fix_place": ["a.rs:Parser::next (new)", "a.js:PARENS([ A ])"]}
        self.assertEqual([report.in_place([name], ends) for name in ("a.rs:Reader.next", "b.rs:next", "a.js:PARENS([ A ])")],
                         ["yes", "no", "yes"])


class Hunting(unittest.TestCase):
    PATCH = """diff --git a/a.c b/a.c
--- a/a.c
+++ b/a.c
@@ -1,2 +1,3 @@
--- x;
+++ x;
+
 y;
"""

    def test_a_report_begins_with_one_change_or_with_the_sufficient_one_of_two(self):
        change = lambda marked: {"patch": self.PATCH, "marked": marked}
        shown = lambda **sides: [side["marked"] for side in hunting.views({"change": sides})]
        self.assertEqual(shown(sufficient=change([6]), necessary=change([1])), [[6]])
        self.assertEqual(shown(sufficient=change([]), necessary=change([1])), [[], [1]])
        self.assertEqual(shown(sufficient=None, necessary=change([1])), [[1]])
        self.assertEqual(shown(common=change([2]), sufficient=change([]), necessary=change([])), [[2]])

    def test_edits_are_what_is_added_and_removed_and_not_blank(self):
        self.assertEqual(hunting.edits(self.PATCH), ["--- x;", "+++ x;"])
        self.assertEqual(hunting.edits(self.PATCH, [6, 7]), ["+++ x;"])

    def test_a_claim_that_was_not_run_again_is_no_proof(self):
        claims = [{"claim": claim, "expected": "fail", "outcome": "fail"} for claim in hunting.CLAIMS]
        proved = lambda evidence: hunting.is_proved({"change": {"necessary": {"patch": ""}}, "evidence": evidence})
        self.assertEqual([proved(claims), proved(claims[1:])], [True, False])


if __name__ == "__main__":
    unittest.main()
