"""Recipes of test runners: each makes two tests, `a` and `b`, which fail with the same text if the file of that name holds a 0.

A recipe has a name, the programs that it needs, a script, the test command, and the command that prints the version. The script runs in the
empty repository; `$SIDE` is a directory beside it, for what is compiled once. The tests run at the top of the checkout, where the files are.
In the recipes whose name ends with `(file)`, the test prints nothing, and the runner writes a JUnit file.
"""

from typing import NamedTuple


class Recipe(NamedTuple):
    name: str
    programs: tuple
    script: str
    test: str
    version: str


PYTEST = r"""
printf '__pycache__\n.pytest_cache\n.tox\n' > .gitignore
cat > test_m.py <<'E'
def check(name):
    value = int(open(name).read())
    assert value == 1
def test_a():
    check("a")
def test_b():
    check("b")
E
"""

UNITTEST = r"""
printf '__pycache__\n' > .gitignore
cat > test_m.py <<'E'
import unittest
class TestM(unittest.TestCase):
    def check(self, name):
        with open(name) as file:
            self.assertEqual(int(file.read()), 1)
    def test_a(self):
        self.check("a")
    def test_b(self):
        self.check("b")
E
"""

CARGO = r"""
printf '/target\n' > .gitignore; mkdir src
printf '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n' > Cargo.toml
cat > src/lib.rs <<'E'
#[cfg(test)]
mod tests {
    fn check(name: &str) {
        assert_eq!(std::fs::read_to_string(name).unwrap(), "1\n");
    }
    #[test]
    fn a() {
        check("a");
    }
    #[test]
    fn b() {
        check("b");
    }
}
E
cargo generate-lockfile --offline -q
"""

NEXTEST = CARGO + r"""
mkdir .config; printf '[profile.default.junit]\npath = "junit.xml"\n' > .config/nextest.toml
"""

GO = r"""
printf 'module m\n\ngo 1.18\n' > go.mod
cat > m_test.go <<'E'
package m

import (
	"os"
	"testing"
)

func check(t *testing.T, name string) {
	got, _ := os.ReadFile(name)
	if string(got) != "1\n" {
		t.Fatalf("got %q, want 1", got)
	}
}

func TestA(t *testing.T) { check(t, "a") }
func TestB(t *testing.T) { check(t, "b") }
E
"""

NODE = "const fs = require('fs'); const assert = require('assert');\nconst check = name => assert.strictEqual(fs.readFileSync(name, 'utf8'), '1\\n');\n"


def node(path, head, call):
    tests = "".join(f"{call}('{name} holds', {{}});\n".replace("{}", "() => check('" + name + "')") for name in "ab")
    return f"printf 'out\\n' > .gitignore; printf '{{\"name\":\"m\",\"private\":true}}\\n' > package.json\ncat > {path} <<'E'\n{NODE}{head}{tests}E\n"


JEST = node("m.test.js", "", "test")
VITEST = JEST.replace("m.test.js", "m.test.cjs")
MOCHA = node("m.spec.js", "", "it")
NODE_TEST = node("m.test.js", "const test = require('node:test');\n", "test")
AVA = node("m.test.js", "const test = require('ava');\n", "test").replace("() => check(", "t => check_in(t, ").replace(
    "assert = require('assert')", "check_in = (t, name) => t.is(fs.readFileSync(name, 'utf8'), '1\\n')").replace(
    "const check = name => assert.strictEqual(fs.readFileSync(name, 'utf8'), '1\\n');\n", "")
TAPE = node("m.js", "const test = require('tape');\n", "test").replace("() => check(", "t => check_in(t, ").replace(
    "assert = require('assert')", "check_in = (t, name) => { t.equal(fs.readFileSync(name, 'utf8'), '1\\n', name + ' holds'); t.end(); }").replace(
    "const check = name => assert.strictEqual(fs.readFileSync(name, 'utf8'), '1\\n');\n", "")

C_VALUE = r"""
#include <stdio.h>
static int value(const char *name) {
    FILE *file = fopen(name, "r");
    int found = fgetc(file) - '0';
    fclose(file);
    return found;
}
"""


def c(compiler, file, source, flags=""):
    return f"""printf 'out\\n' > .gitignore
cat > {file} <<'E'
{C_VALUE}{source}E
{compiler} {file} -o "$SIDE/t" {flags}
"""


GTEST = c("c++", "t.cc", """#include <gtest/gtest.h>
static void check(const char *name) { EXPECT_EQ(value(name), 1); }
TEST(M, A) { check("a"); }
TEST(M, B) { check("b"); }
""", "-lgtest -lgtest_main -pthread")
CATCH2 = c("c++", "t.cc", """#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
static void check(const char *name) { REQUIRE(value(name) == 1); }
TEST_CASE("a holds") { check("a"); }
TEST_CASE("b holds") { check("b"); }
""")
DOCTEST = c("c++", "t.cc", """#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
static void check(const char *name) { REQUIRE(value(name) == 1); }
TEST_CASE("a holds") { check("a"); }
TEST_CASE("b holds") { check("b"); }
""")
BOOST = c("c++", "t.cc", """#define BOOST_TEST_MODULE m
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
static void check(const char *name) { BOOST_TEST(value(name) == 1); }
BOOST_AUTO_TEST_CASE(a) { check("a"); }
BOOST_AUTO_TEST_CASE(b) { check("b"); }
""", "-lboost_unit_test_framework")
CMOCKA = c("cc", "t.c", """#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
static void check(const char *name) { assert_int_equal(value(name), 1); }
static void a(void **state) { (void)state; check("a"); }
static void b(void **state) { (void)state; check("b"); }
int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a), cmocka_unit_test(b)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
""", "-lcmocka")
CHECK = c("cc", "t.c", """#include <check.h>
static void check(const char *name) { ck_assert_int_eq(value(name), 1); }
START_TEST(a) { check("a"); } END_TEST
START_TEST(b) { check("b"); } END_TEST
int main(void) {
    Suite *suite = suite_create("m");
    TCase *tests = tcase_create("core");
    tcase_add_test(tests, a);
    tcase_add_test(tests, b);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    return srunner_ntests_failed(runner) != 0;
}
""", "-lcheck -lsubunit -lm -lrt -pthread")
CUNIT = c("cc", "t.c", """#include <CUnit/Basic.h>
static void check(const char *name) { CU_ASSERT_EQUAL(value(name), 1); }
static void a(void) { check("a"); }
static void b(void) { check("b"); }
int main(void) {
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("m", NULL, NULL);
    CU_add_test(suite, "a holds", a);
    CU_add_test(suite, "b holds", b);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    return CU_get_number_of_failures() != 0;
}
""", "-lcunit")

SHELL = r"""
printf '#!/bin/sh\n[ "$(cat "$1")" = 1 ] || { echo "assertion failed"; exit 1; }\n' > check.sh; chmod +x check.sh
"""
CTEST = SHELL + r"""
printf 'out\n' > .gitignore
cat > CMakeLists.txt <<'E'
cmake_minimum_required(VERSION 3.13)
project(m NONE)
enable_testing()
add_test(NAME a COMMAND ./check.sh a WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME b COMMAND ./check.sh b WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
E
"""
MESON = SHELL + r"""
printf 'out\n' > .gitignore
cat > meson.build <<'E'
project('m')
test('a', find_program('check.sh'), args: 'a', workdir: meson.current_source_dir())
test('b', find_program('check.sh'), args: 'b', workdir: meson.current_source_dir())
E
"""
AUTOMAKE = SHELL + r"""
for t in a b; do printf '#!/bin/sh\n./check.sh %s\n' $t > t$t.sh; chmod +x t$t.sh; done
printf 'TESTS = ta.sh tb.sh\n' > Makefile.am
printf 'AC_INIT([m], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n' > configure.ac
autoreconf -i > /dev/null 2>&1; rm -rf autom4te.cache
printf '*.log\n*.trs\nconfig.status\nMakefile\n' > .gitignore
"""
PROVE = r"""
mkdir t
for t in a b; do printf 'use Test::More tests => 1;\nopen my $f, "<", "%s";\nis(<$f>, "1\\n", "holds");\n' $t > t/$t.t; done
"""
TAP = r"""
cat > t.pl <<'E'
use Test::More tests => 2;
sub check { open my $file, "<", $_[0]; is(<$file>, "1\n", $_[1]); }
check("a", "the first holds");
check("b", "the second holds");
E
"""
BATS = r"""
printf 'out\n' > .gitignore
printf 'check() { [ "$(cat "$1")" = 1 ]; }\n@test "a holds" { check a; }\n@test "b holds" { check b; }\n' > m.bats
"""
RSPEC = r"""
cat > m_spec.rb <<'E'
RSpec.describe "M" do
  def check(name) = expect(File.read(name)).to(eq("1\n"))
  it("has an a that holds") { check("a") }
  it("has a b that holds") { check("b") }
end
E
"""


def ruby(library, base):
    return f"""cat > m.rb <<'E'
require "{library}"
class TestM < {base}
  def check(name) = assert_equal("1\\n", File.read(name))
  def test_a = check("a")
  def test_b = check("b")
end
E
"""


PLAYWRIGHT = r"""
printf 'test-results\nout\n' > .gitignore
cat > m.spec.cjs <<'E'
const { test, expect } = require('@playwright/test');
const fs = require('fs');
const check = name => expect(fs.readFileSync(name, 'utf8')).toBe('1\n');
test('a holds', () => check('a'));
test('b holds', () => check('b'));
E
"""
PHPUNIT = r"""
printf 'out\n.phpunit.result.cache\n' > .gitignore
cat > MTest.php <<'E'
<?php
class MTest extends PHPUnit\Framework\TestCase {
    private function check($name) { $this->assertSame("1\n", file_get_contents($name)); }
    public function testA() { $this->check("a"); }
    public function testB() { $this->check("b"); }
}
E
"""
EXUNIT = r"""
cat > m_test.exs <<'E'
ExUnit.start()
defmodule MTest do
  use ExUnit.Case
  defp check(name), do: assert(File.read!(name) == "1\n")
  test("a holds", do: check("a"))
  test("b holds", do: check("b"))
end
E
"""


def java(imports):
    return f"""import {imports};
import java.nio.file.*;
public class MTest {{
    static void check(String name) throws Exception {{ assertEquals("1\\n", new String(Files.readAllBytes(Paths.get(name)))); }}
    @Test public void a() throws Exception {{ check("a"); }}
    @Test public void b() throws Exception {{ check("b"); }}
}}
"""


JUNIT4_SOURCE = java("org.junit.Test").replace("import java", "import static org.junit.Assert.*;\nimport java", 1)
JUNIT5_SOURCE = java("org.junit.jupiter.api.Test").replace("import java", "import static org.junit.jupiter.api.Assertions.*;\nimport java", 1)
JARS = "J=$(ls $JARS/*.jar | grep -E '/(junit|hamcrest|opentest4j|apiguardian|picocli|univocity)' | tr '\\n' ':')"
JUNIT4 = f"cat > MTest.java <<'E'\n{JUNIT4_SOURCE}E\n{JARS}; javac -cp \"$J\" -d \"$SIDE\" MTest.java\n"
JUNIT5 = f"cat > MTest.java <<'E'\n{JUNIT5_SOURCE}E\n{JARS}; javac -cp \"$J\" -d \"$SIDE\" MTest.java\n"
MAVEN = f"""printf 'target\\n' > .gitignore; mkdir -p src/test/java
cat > src/test/java/MTest.java <<'E'
{JUNIT4_SOURCE}E
""" + r"""
cat > pom.xml <<'E'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>m</groupId><artifactId>m</artifactId><version>1</version>
<properties><maven.compiler.source>8</maven.compiler.source><maven.compiler.target>8</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency></dependencies>
<build><plugins>
E
for p in resources compiler surefire; do
    v=$(ls "$MAVEN_REPO/org/apache/maven/plugins/maven-$p-plugin" | sort -V | tail -1)
    echo "<plugin><artifactId>maven-$p-plugin</artifactId><version>$v</version></plugin>" >> pom.xml
done
echo '</plugins></build></project>' >> pom.xml
"""
GRADLE = f"""printf 'build\\n.gradle\\n' > .gitignore; mkdir -p src/test/java
cat > src/test/java/MTest.java <<'E'
{JUNIT4_SOURCE}E
""" + r"""
printf "apply plugin: 'java'\ndependencies { testCompile fileTree(dir: '%s', includes: ['junit4.jar', 'hamcrest*.jar']) }\n" "$JARS" > build.gradle
"""

PYTHON_VERSION = "python3 --version"
CC = "pkg-config --modversion "
QUIET = " > /dev/null 2>&1"

RECIPES = [
    Recipe("pytest", ("pytest",), PYTEST, "pytest", "pytest --version"),
    Recipe("pytest -q", ("pytest",), PYTEST, "pytest -q", "pytest --version"),
    Recipe("pytest -q --tb=no", ("pytest",), PYTEST, "pytest -q --tb=no", "pytest --version"),
    Recipe("pytest-xdist", ("pytest",), PYTEST, "pytest -n 2", "pytest --version"),
    Recipe("pytest (file)", ("pytest",), PYTEST + "echo /report.xml >> .gitignore\n", "pytest --junitxml report.xml" + QUIET, "pytest --version"),
    Recipe("tox with pytest", ("tox", "pytest"), PYTEST + "printf '[tox]\\nno_package = true\\n[testenv]\\nallowlist_externals = *\\ncommands = pytest\\n' > tox.ini\n", "tox -q", "tox --version"),
    Recipe("unittest", ("python3",), UNITTEST, "python3 -m unittest", PYTHON_VERSION),
    Recipe("unittest -v", ("python3",), UNITTEST, "python3 -m unittest -v", PYTHON_VERSION),
    Recipe("nose2", ("nose2",), UNITTEST, "nose2", "nose2 --version"),
    Recipe("cargo test", ("cargo",), CARGO, "cargo test --offline", "cargo --version"),
    Recipe("cargo test -q", ("cargo",), CARGO, "cargo test -q --offline", "cargo --version"),
    Recipe("nextest", ("cargo-nextest",), CARGO, "cargo nextest run --offline --no-fail-fast", "cargo nextest --version"),
    Recipe("nextest (file)", ("cargo-nextest",), NEXTEST, "cargo nextest run --offline --no-fail-fast" + QUIET, "cargo nextest --version"),
    Recipe("go test", ("go",), GO, "go test ./...", "go version"),
    Recipe("go test -v", ("go",), GO, "go test -v ./...", "go version"),
    Recipe("go test -json", ("go",), GO, "go test -json ./...", "go version"),
    Recipe("gotestsum (file)", ("gotestsum",), GO + "printf '/out.xml\\n' > .gitignore\n", "gotestsum --junitfile out.xml ./..." + QUIET, "gotestsum --version"),
    Recipe("jest", ("jest",), JEST, "jest", "jest --version"),
    Recipe("jest-junit (file)", ("jest", "jest-junit"), JEST, "JEST_JUNIT_OUTPUT_DIR=out jest --reporters jest-junit" + QUIET, "jest --version"),
    Recipe("vitest", ("vitest",), VITEST, "vitest run --globals", "vitest --version"),
    Recipe("vitest (file)", ("vitest",), VITEST, "vitest run --globals --reporter junit --outputFile out/r.xml" + QUIET, "vitest --version"),
    Recipe("mocha", ("mocha",), MOCHA, "mocha m.spec.js", "mocha --version"),
    Recipe("mocha --reporter dot", ("mocha",), MOCHA, "mocha --reporter dot m.spec.js", "mocha --version"),
    Recipe("mocha xunit (file)", ("mocha",), MOCHA, "mocha --reporter xunit --reporter-option output=out/r.xml m.spec.js" + QUIET, "mocha --version"),
    Recipe("ava", ("ava",), AVA, "ava", "ava --version"),
    Recipe("tape", ("tape",), TAPE, "tape m.js", "tape --version"),
    Recipe("node --test", ("node",), NODE_TEST, "node --test", "node --version"),
    Recipe("node --test, spec", ("node",), NODE_TEST, "node --test --test-reporter spec", "node --version"),
    Recipe("node --test (file)", ("node",), NODE_TEST, "mkdir -p out; node --test --test-reporter junit --test-reporter-destination out/r.xml" + QUIET, "node --version"),
    Recipe("ctest", ("ctest",), CTEST, "cmake -S . -B out > /dev/null && ctest --test-dir out --output-on-failure", "ctest --version"),
    Recipe("ctest (file)", ("ctest",), CTEST, "cmake -S . -B out > /dev/null && ctest --test-dir out --output-junit r.xml" + QUIET, "ctest --version"),
    Recipe("GoogleTest", ("c++",), GTEST, '"$SIDE/t"', CC + "gtest"),
    Recipe("GoogleTest (file)", ("c++",), GTEST, '"$SIDE/t" --gtest_output=xml:out/r.xml' + QUIET, CC + "gtest"),
    Recipe("cmocka", ("cc",), CMOCKA, '"$SIDE/t"', CC + "cmocka"),
    Recipe("cmocka (file)", ("cc",), CMOCKA, 'mkdir -p out; rm -f out/r.xml; CMOCKA_MESSAGE_OUTPUT=xml CMOCKA_XML_FILE=out/r.xml "$SIDE/t"' + QUIET, CC + "cmocka"),
    Recipe("Catch2", ("c++",), CATCH2, '"$SIDE/t"', CC + "catch2"),
    Recipe("Catch2 (file)", ("c++",), CATCH2, 'mkdir -p out; "$SIDE/t" -r junit -o out/r.xml' + QUIET, CC + "catch2"),
    Recipe("doctest", ("c++",), DOCTEST, '"$SIDE/t"', "dpkg-query -W doctest-dev"),
    Recipe("doctest (file)", ("c++",), DOCTEST, 'mkdir -p out; "$SIDE/t" -r=junit -o=out/r.xml' + QUIET, "dpkg-query -W doctest-dev"),
    Recipe("Boost.Test", ("c++",), BOOST, '"$SIDE/t"', "dpkg-query -W libboost-test-dev"),
    Recipe("Boost.Test (file)", ("c++",), BOOST, 'mkdir -p out; "$SIDE/t" --log_format=JUNIT --log_sink=out/r.xml' + QUIET, "dpkg-query -W libboost-test-dev"),
    Recipe("Check", ("cc",), CHECK, '"$SIDE/t"', CC + "check"),
    Recipe("CUnit", ("cc",), CUNIT, '"$SIDE/t"', CC + "cunit"),
    Recipe("automake", ("autoreconf",), AUTOMAKE, "./configure -q && make -s check", "automake --version"),
    Recipe("meson", ("meson",), MESON, "{ [ -d out ] || meson setup out > /dev/null; } && meson test -C out", "meson --version"),
    Recipe("meson (file)", ("meson",), MESON, "{ [ -d out ] || meson setup out > /dev/null; } && meson test -C out" + QUIET, "meson --version"),
    Recipe("prove", ("prove",), PROVE, "prove", "prove --version"),
    Recipe("TAP of Perl", ("perl",), TAP, "perl t.pl", "perl -MTest::More -e 'print $Test::More::VERSION'"),
    Recipe("bats", ("bats",), BATS, "bats m.bats", "bats --version"),
    Recipe("bats --tap", ("bats",), BATS, "bats --tap m.bats", "bats --version"),
    Recipe("bats (file)", ("bats",), BATS, "mkdir -p out; bats --report-formatter junit --output out m.bats" + QUIET, "bats --version"),
    Recipe("RSpec", ("rspec",), RSPEC, "rspec m_spec.rb", "rspec --version"),
    Recipe("minitest", ("ruby",), ruby("minitest/autorun", "Minitest::Test"), "ruby m.rb", "ruby -rminitest -e 'puts Minitest::VERSION'"),
    Recipe("test-unit", ("ruby",), ruby("test/unit", "Test::Unit::TestCase"), "ruby m.rb", "ruby -rtest/unit/version -e 'puts Test::Unit::VERSION'"),
    Recipe("PHPUnit", ("phpunit",), PHPUNIT, "phpunit MTest.php", "phpunit --version"),
    Recipe("PHPUnit (file)", ("phpunit",), PHPUNIT, "phpunit --log-junit out/r.xml MTest.php" + QUIET, "phpunit --version"),
    Recipe("ExUnit", ("elixir",), EXUNIT, "elixir m_test.exs", "elixir --short-version"),
    Recipe("JUnit 4", ("javac", "JARS"), JUNIT4, f'{JARS}; java -cp "$SIDE:$J" org.junit.runner.JUnitCore MTest', "dpkg-query -W junit4"),
    Recipe("JUnit 5 console", ("javac", "JARS"), JUNIT5, f'{JARS}; java -cp "$SIDE:$J" org.junit.platform.console.ConsoleLauncher -c MTest', "dpkg-query -W junit5"),
    Recipe("JUnit 5 console (file)", ("javac", "JARS"), JUNIT5 + "printf 'out\\n' > .gitignore\n", f'{JARS}; java -cp "$SIDE:$J" org.junit.platform.console.ConsoleLauncher -c MTest --reports-dir out' + QUIET, "dpkg-query -W junit5"),
    Recipe("Surefire", ("mvn", "MAVEN_REPO"), MAVEN, 'mvn -o -B -Dmaven.repo.local="$MAVEN_REPO" test', "ls $MAVEN_REPO/org/apache/maven/plugins/maven-surefire-plugin | sort -V | tail -1"),
    Recipe("Surefire (file)", ("mvn", "MAVEN_REPO"), MAVEN, 'mvn -o -B -Dmaven.repo.local="$MAVEN_REPO" test' + QUIET, "ls $MAVEN_REPO/org/apache/maven/plugins/maven-surefire-plugin | sort -V | tail -1"),
    Recipe("Gradle", ("gradle", "JARS"), GRADLE, "gradle --offline test", "gradle --version"),
    Recipe("Gradle (file)", ("gradle", "JARS"), GRADLE, "gradle --offline test" + QUIET, "gradle --version"),
    Recipe("Playwright", ("playwright",), PLAYWRIGHT, "playwright test", "playwright --version"),
    Recipe("Playwright (file)", ("playwright",), PLAYWRIGHT, "PLAYWRIGHT_JUNIT_OUTPUT_NAME=out/r.xml playwright test --reporter junit" + QUIET, "playwright --version"),
    Recipe("dotnet test", ("dotnet",), "", "dotnet test", "dotnet --version"),
]
