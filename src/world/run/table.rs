//! Messages of compilers, linkers and build tools when a build fails; messages of sanitizers, allocators and
//! assertions.
//!
//! Data only. A row of [`BUILD_FAILURES`] must match its tool's own message, and nothing that a test program is likely
//! to print. So patterns are anchored at the start of a line and need the tool's exact form (a source file *and* a
//! position, an object file as the target, ...). `^` and `$` match at lines. The tests have, for each row, texts that
//! it must match and texts that no row may match.

use std::sync::LazyLock;

use regex::{RegexSet, RegexSetBuilder};

/// The messages of one tool about a failed build.
struct ToolMessages {
    tool: &'static str,
    pattern: &'static str,
}

const BUILD_FAILURES: &[ToolMessages] = &[
    ToolMessages {
        tool: "gcc, clang",
        pattern: r"^(?:[^\s:]+\.(?:c|cc|cpp|cxx|c\+\+|C|h|hh|hpp|hxx|H|m|mm|inc|def|inl|ipp|tcc|l|ll|y|yy|cu|cuh)|[^\s:]*/include/[^\s:]+):\d+(?::\d+)?: (?:fatal error|error): \S",
    },
    ToolMessages {
        tool: "compiler driver",
        pattern: r"^(?:\S*/)?(?:cc1|cc1plus|lto1|(?:[\w.]+-)*(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+))(?:-[\d.]+)?: (?:fatal )?error: \S",
    },
    ToolMessages { tool: "assembler", pattern: r"^(?:\S+\.(?:s|S|asm):\d+: Error: |\{standard input\}:\d+: Error: )" },
    ToolMessages { tool: "gfortran", pattern: r"^\S+\.[fF]\w{0,3}:\d+:\d+:\n\n(?:.*\n){1,3}(?:Fatal )?Error: " },
    ToolMessages {
        tool: "nvcc, msvc",
        pattern: r"^\S.*\(\d+(?:,\d+)?\)\s?: (?:fatal )?error(?: (?:C|LNK|CS|FS|BC)\d{4})?: \S",
    },
    ToolMessages {
        tool: "bison, flex",
        pattern: r"^\S+\.(?:y|yy|ypp|y\+\+|l|ll|lex):\d+(?:\.\d+(?:-\d+(?:\.\d+)?)?)?: (?:(?:fatal )?error: |unrecognized rule|bad )",
    },
    ToolMessages {
        tool: "ld: undefined",
        pattern: r"^(?:\S*(?:ld|ld\.\w+|gold|mold|collect2): )?(?:[^\s:]+(?:\([^\s:]+\))?:(?:\d+:|\(\.[\w.$+*-]+\):)? (?:error: )?(?:in function .*: )?|[^\s:]+: in function .*: )undefined reference to [`'\x22‘]",
    },
    ToolMessages {
        tool: "ld",
        pattern: r"^(?:\S*/)?(?:[\w.]+-)*(?:ld(?:\.\w+|64(?:\.lld)?)?|lld|mold|gold|collect2)(?:\.exe)?: (?:(?:fatal )?error: |cannot find (?:-l|\S+\.(?:o|a|so)\b|\S+: No such file)|library not found for |symbol\(s\) not found for |\S+: undefined reference|\S+: multiple definition of )",
    },
    ToolMessages {
        tool: "ld: macOS",
        pattern: r"^(?:Undefined symbols for architecture \w+:|clang(?:\+\+)?: error: linker command failed)",
    },
    ToolMessages {
        tool: "ld: multiple definition",
        pattern: r"^\S.*: multiple definition of [`'].*(?:first defined here)",
    },
    ToolMessages {
        tool: "make",
        pattern: r"^(?:\S*make(?:\[\d+\])?|\S*[Mm]akefile\S*:\d+|\S+\.mk:\d+): \*\*\* (?:No rule to make target |No targets |missing separator|commands commence before|recipe commences|multiple target patterns|unterminated |Recursive variable |target pattern contains no)",
    },
    ToolMessages {
        tool: "make: object",
        pattern: r"^\S*make(?:\[\d+\])?: \*\*\* \[(?:[^\]\s]+:\d+: )?[^\]\s]+\.(?:o|lo|obj|os|a|la|so|so\.[\d.]+|d|gch|class|jar|ko|dep|Po|Plo)\] Error \d+",
    },
    ToolMessages {
        tool: "make: no compiler",
        pattern: r"^(?:\S*make(?:\[\d+\])?|\S*sh(?:: line \d+|: \d+)?): (?:\S*/)?(?:[\w.]+-)*(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+|ld|ar|ranlib|javac|ghc|rustc|cargo|tsc|cmake|ninja|meson|bison|flex|yacc|lex|gperf|autoconf|automake|autoreconf|aclocal|libtoolize|gfortran)(?:-[\d.]+)?: (?:Command not found|command not found|not found|No such file or directory)",
    },
    ToolMessages {
        tool: "cmake",
        pattern: r"^CMake Error(?: at \S+:\d+ \(|:? in \S+:\d+|: (?:The source|Could not|CMake was|Error|Unable|Cannot|No cmake|Generator|The current))",
    },
    ToolMessages {
        tool: "ninja",
        pattern: r"^(?:FAILED: (?:\[code=\d+\] )?\S+\.(?:o|obj|so|so\.[\d.]+|a|dylib|pch|gch|pcm|class|jar)\s*$|ninja: error: )",
    },
    ToolMessages { tool: "meson", pattern: r"^(?:\S*/)?meson(?:\.build|_options\.txt|\.options):\d+:\d+: ERROR: " },
    ToolMessages {
        tool: "autoconf, automake",
        pattern: r"^(?:(?:\S*/)?configure: error: |(?:\S*/)?configure: line \d+: syntax error|configure\.(?:ac|in):\d+: error: |\S*Makefile\.am:\d+: error: |(?:\S*/)?(?:autoreconf|autoconf|automake|aclocal|autom4te|autoheader|libtoolize)(?:-[\d.]+)?: (?:error: |\S+ failed with exit status))",
    },
    ToolMessages { tool: "scons", pattern: r"^scons: \*\*\* \[[^\]]+\.(?:o|os|obj|a|so)\] " },
    ToolMessages {
        tool: "rustc",
        pattern: r"^error(?:\[E\d{4}\])?: .*\n(?:\s*\n)?\s*--> \S+\.rs:\d+:\d+$|^error\[E\d{4}\]: ",
    },
    ToolMessages {
        tool: "cargo",
        pattern: r"^error: (?:could not compile `|failed to (?:parse manifest|select a version|load manifest|parse lock file|get `|resolve|run custom build command)|no matching package|linking with `|aborting due to (?:\d+ )?previous error|package `[^`]+` cannot be built)",
    },
    ToolMessages {
        tool: "javac",
        pattern: r"^\s*(?:\[javac\] )?\S+\.java:\d+: error: \S|^error: release version \S+ not supported",
    },
    ToolMessages { tool: "ecj", pattern: r"^\d+\. ERROR in \S+\.java \(at line \d+\)" },
    ToolMessages {
        tool: "maven",
        pattern: r"^\[ERROR\]\s+(?:COMPILATION ERROR|.*Failed to execute goal \S*maven-(?:compiler|resources|enforcer)-plugin|.*Could not resolve dependencies for|.*Non-resolvable parent POM|/?\S+\.(?:java|kt|groovy|scala):\[\d+,\d+\] )",
    },
    ToolMessages {
        tool: "gradle, ant",
        pattern: r"^(?:>? ?Compilation failed; see the compiler |.*: Compile failed; see the compiler error output|Execution failed for task '(?::[\w-]+)*:compile\w*'|> Could not resolve all (?:files|dependencies|artifacts) for configuration )",
    },
    ToolMessages {
        tool: "kotlin, scala",
        pattern: r"^(?:e: \S+\.kts?:(?: \(?|\d)|\[error\] (?:-- .*Error: )?\S+\.scala:\d+|-- (?:\[E\d+\] )?\S*\s?Error: \S+\.scala:)",
    },
    ToolMessages {
        tool: "go",
        pattern: r"^(?:vet: )?\S+\.go:\d+:\d+: (?:undefined: |undeclared name|cannot use |cannot find |syntax error: |declared and not used|\S+ declared (?:and|but) not used|.* imported and not used|missing return|not enough |too many |invalid operation: |assignment mismatch: |no required module|package \S+ is not in|\S+ redeclared|expected (?:'|declaration|operand|statement)|\S+ undefined \(|could not import |import cycle|method \S+ already declared|non-name )",
    },
    ToolMessages {
        tool: "go: build",
        pattern: r"^(?:FAIL\s+\S+ \[(?:build|setup) failed\]|go: (?:errors parsing go\.mod|cannot find main module|go\.mod (?:file not found|requires)|\S+: reading |\S+@\S+: |updates to go\.mod needed|inconsistent vendoring))",
    },
    ToolMessages { tool: "tsc", pattern: r"^\S+\.[cm]?tsx?(?:\(\d+,\d+\): |:\d+:\d+ - )error TS\d+: " },
    ToolMessages { tool: "ghc", pattern: r"^\S+\.l?hs:(?:\d+:\d+(?:-\d+)?|\(\d+,\d+\)-\(\d+,\d+\)): error:" },
    ToolMessages { tool: "swift", pattern: r"^\S+\.swift:\d+:\d+: (?:fatal )?error: " },
    ToolMessages {
        tool: "zig, nim, d, vala",
        pattern: r"^\S+\.(?:zig:\d+:\d+: error: |nim\(\d+, \d+\) Error: |d\(\d+(?:,\d+)?\): Error: |vala:\d+\.\d+-\d+\.\d+: error: )",
    },
    ToolMessages {
        tool: "ocaml",
        pattern: r"^File \x22[^\x22]+\.ml[iyl]?\x22, lines? \d+(?:-\d+)?, characters [\d-]+:\n(?:.*\n){0,6}?Error: ",
    },
    ToolMessages {
        tool: "elixir, erlang",
        pattern: r"^(?:== Compilation error in file \S+ ==|\S+\.erl:\d+(?::\d+)?: (?:syntax error before|undefined |function \S+ undefined|head mismatch))",
    },
    ToolMessages {
        tool: "bazel",
        pattern: r"^(?:\S*\s?ERROR: \S+BUILD(?:\.bazel)?:\d+:\d+: (?:\S+ .* failed: |no such |name '|error loading|in \S+ rule )|ERROR: (?:no such |error loading package|Skipping '|Analysis of target )|FAILED: Build did NOT complete successfully)",
    },
    ToolMessages {
        tool: "python: native extension",
        pattern: r"^\s*error: (?:command '\S*(?:gcc|g\+\+|cc|clang|clang\+\+|ld|cl\.exe)(?:-[\d.]+)?' failed|Microsoft Visual C\+\+)",
    },
    // A module that cannot be compiled. One that cannot be imported is an answer of the program.
    ToolMessages {
        tool: "python",
        pattern: r"^\s*File \x22[^\x22]+\.pyw?\x22, line \d+\n(?:.*\n){0,3}\s*(?:SyntaxError|IndentationError|TabError): ",
    },
    ToolMessages {
        tool: "perl",
        pattern: r"^(?:Execution of \S+ aborted due to compilation errors|\S+ had compilation errors)\.",
    },
];

/// Messages of test runners that have not found the test: pytest, unittest, jest, vitest, mocha, ctest, cargo, Surefire,
/// Gradle, `PHPUnit`.
const NO_TEST: [&str; 10] = [
    r"^ERROR: (?:not found: \S|file or directory not found: \S|found no collectors for )",
    r"^(?:=+ )?(?:no tests (?:ran|collected)|\d+ deselected) in [\d.]+s",
    r"^AttributeError: (?:type object '\w+'|module '[\w.]+') has no attribute 'test\w*'$",
    r"^(?:Ran 0 tests in [\d.]+s|NO TESTS RAN)",
    r"^No tests? (?:files? )?found, exiting with code 1",
    r"^\s*Error: No test files found",
    r"^No tests were found!!!",
    r"^error: no (?:test|bench) target named ",
    r"\bNo tests (?:matching pattern .* )?were executed!|^> No tests found for given includes",
    r"^No tests executed!",
];

/// Messages of test runners that have run no test and succeed: cargo, go, jest, mocha, node, `RSpec`, minitest, vitest, busted.
const RAN_NOTHING: [&str; 8] = [
    r"^test result: ok\. 0 passed; 0 failed; (?:[1-9]\d* ignored; 0 measured; \d+|0 ignored; 0 measured; [1-9]\d*) filtered out",
    r"^testing: warning: no tests to run|^ok  \t.* \[no tests to run\]$",
    r"^No tests? (?:files? )?found, exiting with code 0",
    r"^ +0 passing \(",
    r"^(?:#|ℹ) tests 0$",
    r"^0 (?:examples|runs|tests), 0 (?:failures|assertions)",
    r"^ *Tests:? +\d+ (?:skipped|todo)(?:(?: \||,) \d+ (?:skipped|todo))*(?: \(\d+\)|, \d+ total)$",
    r"^0 successes / 0 failures / 0 errors",
];

/// The line in which a test runner that succeeds reports that it has run no test, if no other line reports tests that ran.
pub fn ran_nothing_at_all(output: &str) -> Option<&str> {
    static SOME: LazyLock<RegexSet> = LazyLock::new(|| {
        compile(&[r"\b[1-9]\d* pass(?:ed|ing)\b", r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?:\s+coverage.*)?$"])
    });
    let is_some = |line: &str| !ran_nothing(line) && SOME.is_match(line);
    output.lines().find(|line| ran_nothing(line)).filter(|_| !output.lines().any(is_some))
}

/// Whether a test runner that succeeds reports in a line that it has run no test, at least of one part.
pub(super) fn ran_nothing(line: &str) -> bool {
    static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| compile(&RAN_NOTHING));
    PATTERNS.is_match(line) || lacks_test(line)
}

/// The tool whose message about a failed build is in `output`, if there is one.
pub(super) fn failed_builder(output: &str) -> Option<&'static str> {
    static PATTERNS: LazyLock<RegexSet> =
        LazyLock::new(|| compile(&BUILD_FAILURES.iter().map(|row| row.pattern).collect::<Vec<_>>()));
    PATTERNS.matches(output).iter().next().map(|index| BUILD_FAILURES[index].tool)
}

/// Whether a build tool reports a missing file without a rule.
pub(super) fn misses_a_file(output: &str) -> bool {
    static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
        compile(&[
            r"^\S*make(?:\[\d+\])?: \*\*\* No rule to make target [`'\x22‘].*, needed by ",
            r"^ninja: error: .* missing and no known rule to make it",
        ])
    });
    PATTERNS.is_match(output)
}

/// Whether a test runner reports in a line that it has no test such as the one that was asked for.
pub(super) fn lacks_test(line: &str) -> bool {
    static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| compile(&NO_TEST));
    PATTERNS.is_match(line)
}

/// Whether a sanitizer, the allocator or valgrind reports damaged memory.
pub(super) fn reports_memory_damage(output: &str) -> bool {
    static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
        compile(&[
            r"^=*\d*=*\s*(?:ERROR|WARNING): (?:\w+Sanitizer|libFuzzer): ",
            r"^SUMMARY: \w+Sanitizer: ",
            r"^[^\s:]+:\d+:\d+: runtime error: ",
            r"(?:^|: )(?:double free or corruption|free\(\): |malloc\(\): |realloc\(\): |malloc_consolidate\(\): |munmap_chunk\(\): |corrupted size vs\. prev_size|corrupted double-linked list|malloc\.c:\d+: )",
            r"^\*\*\* (?:stack smashing|buffer overflow|longjmp causes uninitialized stack frame).* \*\*\*|^\*\*\* (?:Error in|glibc detected) ",
            r"^==\d+== +(?:Invalid (?:read|write|free)|Conditional jump or move depends|Use of uninitialised|Mismatched free|Jump to the invalid address|definitely lost: [1-9])",
            r"\*\*\* error for object 0x[0-9a-f]+: |^Scudo ERROR: |heap corruption detected",
        ])
    });
    PATTERNS.is_match(output)
}

/// Whether an assertion has failed.
pub(super) fn reports_assertion(output: &str) -> bool {
    static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
        compile(&[
            r"Assertion [`'\x22‘].*[`'\x22’] failed",
            r"(?:^|: |\*\*|:)\s*[Aa]ssertion (?:failed|`.*` failed|'.*' failed|\(.*\) failed)",
            r"^assertion `.*` failed|panicked at '?assertion|^Assertion failed[:!. ]",
            r"^\s*(?:E\s+|Caused by: |Exception in thread \x22[^\x22]*\x22 )?(?:[\w$]+\.)*Assertion(?:Failed)?Error\b|: AssertionError\s*$",
            r"\bASSERT(?:ION)?(?:_\w+)? (?:FAILED|failed)\b",
            r"\bCheck failed: |^BUG: \S+:\d+: ",
        ])
    });
    PATTERNS.is_match(output)
}

/// Word boundaries are those of ASCII: others would make output with non-ASCII text slow.
fn compile(patterns: &[&str]) -> RegexSet {
    let patterns = patterns.iter().map(|pattern| pattern.replace(r"\b", r"(?-u:\b)"));
    RegexSetBuilder::new(patterns).multi_line(true).build().expect("valid patterns")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the table, and messages of their tools.
    const FIRES: &[(&str, &[&str])] = &[
        (
            "gcc, clang",
            &[
                "x.c: In function 'main':\nx.c:12:5: error: 'y' undeclared (first use in this function)\n",
                "<worktree>/src/a.cc:3:10: fatal error: foo.h: No such file or directory\n",
                "parse.c:12: error: syntax error before '}' token\n",
                "/usr/include/c++/12/bits/stl_vector:1:2: error: static assertion failed\n",
            ],
        ),
        (
            "compiler driver",
            &[
                "cc1: error: unrecognized command-line option '-Wfoo'\n",
                "gcc: fatal error: no input files\ncompilation terminated.\n",
                "x86_64-linux-gnu-gcc-12: error: x.c: No such file or directory\n",
            ],
        ),
        (
            "assembler",
            &["/tmp/ccAb.s:12: Error: no such instruction: `foo'\n", "{standard input}:4: Error: bad register\n"],
        ),
        ("gfortran", &["x.f90:3:5:\n\n    3 | x = 1\n      | 1\nError: Symbol 'x' at (1) has no IMPLICIT type\n"]),
        (
            "nvcc, msvc",
            &[
                "k.cu(12): error: identifier \"x\" is undefined\n",
                "src\\x.c(3): error C2065: 'y': undeclared identifier\n",
                "A.cs(3,5): error CS0103: The name 'x' does not exist\n",
            ],
        ),
        (
            "bison, flex",
            &["gram.y:12.3-5: error: symbol foo is used, but is not defined\n", "scan.l:7: unrecognized rule\n"],
        ),
        (
            "ld: undefined",
            &[
                "/usr/bin/ld: /tmp/ccX.o: in function `main':\nmain.c:(.text+0xe): undefined reference to `foo'\n",
                "main.c:10: undefined reference to `foo'\n",
                "/usr/bin/ld: main.o:(.data+0x0): undefined reference to `foo'\n",
                "main.cc:(.text+0x1): error: undefined reference to 'foo()'\n",
                "/usr/bin/ld: main.c:10: undefined reference to `foo'\n",
                "x.o: In function `main':\nx.c:(.text+0x5): undefined reference to `y'\n",
            ],
        ),
        (
            "ld",
            &[
                "/usr/bin/ld: cannot find -lfoo: No such file or directory\n",
                "collect2: error: ld returned 1 exit status\n",
                "ld.lld: error: undefined symbol: foo\n",
                "ld: library not found for -lfoo\n",
            ],
        ),
        (
            "ld: macOS",
            &[
                "Undefined symbols for architecture arm64:\n  \"_foo\", referenced from:\n",
                "clang: error: linker command failed with exit code 1 (use -v to see invocation)\n",
            ],
        ),
        (
            "ld: multiple definition",
            &["/usr/bin/ld: b.o:(.bss+0x0): multiple definition of `x'; a.o:(.bss+0x0): first defined here\n"],
        ),
        (
            "make",
            &[
                "make: *** No rule to make target 'x.c', needed by 'x.o'.  Stop.\n",
                "Makefile:12: *** missing separator.  Stop.\n",
                "make: *** No targets specified and no makefile found.  Stop.\n",
            ],
        ),
        (
            "make: object",
            &[
                "make[1]: *** [Makefile:3: src/x.o] Error 1\n",
                "make: *** [libx.so.1.2] Error 1\n",
                "gmake: *** [x.lo] Error 1\n",
            ],
        ),
        (
            "make: no compiler",
            &[
                "make: gcc-4.1: Command not found\n",
                "/bin/sh: 1: bison: not found\n",
                "make: arm-none-eabi-gcc: No such file or directory\n",
            ],
        ),
        (
            "cmake",
            &[
                "CMake Error at CMakeLists.txt:3 (find_package):\n  Could not find\n",
                "CMake Error: The source directory \"/x\" does not appear to contain CMakeLists.txt.\n",
            ],
        ),
        (
            "ninja",
            &[
                "FAILED: src/x.c.o \ncc -c x.c\n",
                "FAILED: [code=1] a.o\n",
                "ninja: error: 'x.c', needed by 'x.o', missing and no known rule to make it\n",
            ],
        ),
        ("meson", &["../meson.build:5:0: ERROR: Dependency \"foo\" not found, tried pkgconfig\n"]),
        (
            "autoconf, automake",
            &[
                "checking for foo... no\nconfigure: error: foo is required\n",
                "./configure: line 2103: syntax error near unexpected token `FOO,'\n",
                "configure.ac:5: error: possibly undefined macro: AC_FOO\n",
                "autoreconf: error: autoconf failed with exit status: 1\n",
            ],
        ),
        ("scons", &["scons: *** [build/x.o] Error 1\n"]),
        (
            "rustc",
            &[
                "error[E0308]: mismatched types\n --> src/lib.rs:3:5\n",
                "error: cannot find macro `foo` in this scope\n --> src/lib.rs:3:5\n",
            ],
        ),
        (
            "cargo",
            &[
                "error: could not compile `x` (lib) due to 2 previous errors\n",
                "error: failed to parse manifest at `/x/Cargo.toml`\n",
            ],
        ),
        (
            "javac",
            &[
                "src/a/X.java:3: error: cannot find symbol\n    foo();\n",
                "    [javac] /x/X.java:3: error: ';' expected\n",
                "error: release version 5 not supported\n",
            ],
        ),
        ("ecj", &["1. ERROR in /x/X.java (at line 3)\n\tfoo();\n"]),
        (
            "maven",
            &[
                "[INFO] ----\n[ERROR] COMPILATION ERROR : \n",
                "[ERROR] /x/src/main/java/X.java:[3,5] cannot find symbol\n",
                "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.8:compile (default-compile) on project x\n",
                "[ERROR] Failed to execute goal on project x: Could not resolve dependencies for project a:x:jar:1\n",
            ],
        ),
        (
            "gradle, ant",
            &[
                "> Compilation failed; see the compiler error output for details.\n",
                "Execution failed for task ':app:compileJava'.\n",
                "/x/build.xml:12: Compile failed; see the compiler error output for details.\n",
            ],
        ),
        (
            "kotlin, scala",
            &[
                "e: file:///x/A.kt:3:5 Unresolved reference: foo\n",
                "e: /x/A.kt: (3, 5): Unresolved reference: foo\n",
                "[error] /x/A.scala:3:5: not found: value foo\n",
            ],
        ),
        (
            "go",
            &[
                "# x/y\n./x.go:3:2: undefined: foo\n",
                "y/z.go:1:8: \"os\" imported and not used\n",
                "x.go:5:2: x declared and not used\n",
            ],
        ),
        (
            "go: build",
            &["FAIL\tx/y [build failed]\n", "go: go.mod file not found in current directory or any parent directory\n"],
        ),
        (
            "tsc",
            &[
                "src/a.ts(3,5): error TS2304: Cannot find name 'foo'.\n",
                "src/a.tsx:3:5 - error TS2304: Cannot find name 'foo'.\n",
            ],
        ),
        ("ghc", &["src/A.hs:3:5: error:\n    Variable not in scope: foo\n", "A.hs:3:5-9: error: [GHC-88464]\n"]),
        ("swift", &["/x/a.swift:3:5: error: cannot find 'foo' in scope\n"]),
        (
            "zig, nim, d, vala",
            &["a.zig:3:5: error: use of undeclared identifier\n", "a.nim(3, 5) Error: undeclared identifier: 'foo'\n"],
        ),
        (
            "ocaml",
            &["File \"a.ml\", line 3, characters 5-8:\n3 | let x = foo\n            ^^^\nError: Unbound value foo\n"],
        ),
        ("elixir, erlang", &["== Compilation error in file lib/a.ex ==\n", "a.erl:3:5: syntax error before: '}'\n"]),
        (
            "bazel",
            &[
                "ERROR: /x/BUILD:3:10: Compiling a.cc failed: (Exit 1): gcc failed\n",
                "ERROR: no such package 'foo': BUILD file not found\n",
                "FAILED: Build did NOT complete successfully\n",
            ],
        ),
        ("python: native extension", &["error: command '/usr/bin/gcc' failed with exit code 1\n"]),
        (
            "python",
            &[
                "  File \"/w/t.py\", line 3\n    print \"a\"\n          ^\nSyntaxError: Missing parentheses in call to 'print'\n",
                "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    import m\n  File \"m.py\", line 2\n    x\nIndentationError: unexpected indent\n",
            ],
        ),
        (
            "perl",
            &[
                "syntax error at t.pl line 3, near \"}\"\nExecution of t.pl aborted due to compilation errors.\n",
                "t.pl had compilation errors.\n",
            ],
        ),
    ];

    /// Messages of tests and their runners that are similar to a row.
    const SILENT: &[&str] = &[
        // Similar to compilers.
        "parser.c:12: expected error: unknown token\n",
        "FAIL: main.c:12:5: error: foo was not reported\n",
        "  main.c:12:5: error: indented expected diagnostic\n",
        "input.txt:3:5: error: unexpected token\n",
        "x.c:12:5: warning: unused variable 'y'\n",
        "list.c:88: push: Assertion `n > 0' failed.\n",
        "error: connection refused\nfatal error: giving up\n",
        "foo.cc:12: Failure\nExpected equality of these values:\n",
        "src/x.c:12:5: runtime error: signed integer overflow\n",
        "gcc test suite: error: 3 cases\n",
        "Error: no such instruction\n",
        "x.f90:3:5: Error in test\n",
        "f(3): error\n",
        "grammar test 12.3: error: not parsed\n",
        // Similar to linkers.
        "expected \"undefined reference to `foo'\" in the message\n",
        "checker: test 3: undefined reference to chapter 2\n",
        "world: error: no such country\n",
        "Undefined symbols: none\n",
        "multiple definition of the word 'x' in dictionary\n",
        "cannot find -l option in help\n",
        // Similar to build tools that also run tests.
        "make: *** [Makefile:3: check] Error 1\n",
        "make[2]: *** [test-suite.log] Error 1\n",
        "make: *** [Makefile:9: t/run.sh] Error 134\n",
        "make: ./prog: Command not found\n",
        "/bin/sh: 1: ./test.sh: not found\n",
        "maker: *** No rule\n",
        "FAILED: CMakeFiles/test.util \nninja: build stopped: subcommand failed.\n",
        "FAILED: meson-internal__test\n",
        "FAILED: test_parser\n",
        "CMake Error reporting test: 1 failure\n",
        "The following tests FAILED:\n\t  3 - x (Failed)\nErrors while running CTest\n",
        "2/3 meson:unit / x  FAIL  0.01s\nERROR: test failed\n",
        "configure: WARNING: unrecognized options: --foo\n",
        "scons: building terminated because of errors.\n",
        "test configure: error: handling ... FAILED\n",
        // Similar to languages' own tools.
        "error: test failed, to rerun pass `--lib`\n",
        "error: 1 target failed:\n    `--test idd`\n",
        "thread 'a' panicked at src/lib.rs:3:5:\nerror: could not read\n",
        "java.lang.AssertionError: X.java:3: error\n\tat X.main(X.java:3)\n",
        "Exception in thread \"main\" java.lang.Error: Unresolved\n",
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.0:test: There are test failures.\n",
        "[ERROR] XTest.foo:12 expected:<1> but was:<2>\n",
        "Execution failed for task ':app:test'.\n> There were failing tests.\n",
        "1) ERROR in test (at line 3)\n",
        "[error] Failed tests:\n[error] \tASpec\n",
        "--- FAIL: TestX (0.00s)\n    x_test.go:12: undefined: got nil\n",
        "panic: runtime error: index out of range\n\n\t/x/x.go:12 +0x1d\n",
        "FAIL\tx/y\t0.003s\n",
        "x_test.go:3:2: wrong answer\n",
        "src/a.test.ts:3:5 - expected 1\nerror TS: none\n",
        "A.hs:3: error in property\n",
        "a.swift: error: XCTAssertEqual failed\n",
        "/x/ATests.swift:3: error: -[A.Tests test] : XCTAssertEqual failed\n",
        "File \"a.ml\", line 3: Assert failure\nFatal error: exception Assert_failure(\"a.ml\", 3, 5)\n",
        "//x:test                                    FAILED in 0.3s\nINFO: Build completed, 1 test FAILED, 2 total actions\n",
        "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    import m\nImportError: No module named m\n",
        "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\n    eval('1+')\n  File \"<string>\", line 1\n    1+\n     ^\nSyntaxError: invalid syntax\n",
        "error: command 'frobnicate' failed with exit code 1\n",
        "Execution of t.pl took 3 s; had compilation errors: 0\n",
        "1) test compiles (A.Test)\n     test/a_test.exs:3\n",
    ];

    #[test]
    fn every_row_fires_on_the_messages_of_its_tool() {
        for row in BUILD_FAILURES {
            let pattern = compile(&[row.pattern]);
            let (_, texts) = FIRES.iter().find(|(tool, _)| *tool == row.tool).expect("a row has examples");
            for text in *texts {
                assert!(pattern.is_match(text), "{}: {text}", row.tool);
                assert!(failed_builder(&format!("cc -c x.c\n{text}done\n")).is_some());
            }
        }
        assert_eq!(FIRES.len(), BUILD_FAILURES.len());
    }

    #[test]
    fn a_runner_that_has_not_found_the_test_says_so_in_one_line() {
        for line in [
            "ERROR: not found: /w/tests/test_a.py::test_b",
            "ERROR: file or directory not found: tests/test_c.py",
            "=========== no tests ran in 0.01s ===========",
            "1 deselected in 0.01s",
            "AttributeError: type object 'T' has no attribute 'test_f'",
            "Ran 0 tests in 0.000s",
            "No tests found, exiting with code 1",
            "No test files found, exiting with code 1",
            "Error: No test files found: \"test/x.js\"",
            "No tests were found!!!",
            "error: no test target named `partial`.",
            "[ERROR] No tests matching pattern \"X#y\" were executed! (Set ...)",
            "> No tests found for given includes: [a.B](--tests filter)",
            "No tests executed!",
        ] {
            assert!(lacks_test(line), "{line}");
        }
        for other in [
            "FAILED tests/test_a.py::test_b - AttributeError: type object 'T' has no attribute 'test_f'",
            "=== 1 failed, 3 deselected in 0.01s ===",
            "AttributeError: module 'm' has no attribute 'parse'",
            "Ran 10 tests in 0.000s",
            "E   assert 'ERROR: not found: x' == ''",
        ] {
            assert!(!lacks_test(other), "{other}");
        }
    }

    #[test]
    fn no_row_fires_on_what_tests_and_runners_print() {
        for text in SILENT {
            assert_eq!(failed_builder(text), None, "{text}");
        }
    }

    #[test]
    fn a_file_that_a_build_tool_misses_is_told_from_other_failures() {
        for text in [
            "make: *** No rule to make target 'old.h', needed by 'main.o'.  Stop.\n",
            "gmake[2]: *** No rule to make target `old.h', needed by `main.o'.  Stop.\n",
            "ninja: error: 'old.h', needed by 'main.o', missing and no known rule to make it\n",
        ] {
            assert!(misses_a_file(&format!("cc -c x.c\n{text}")), "{text}");
        }
        for text in [
            "make: *** No rule to make target 'chekc'.  Stop.\n",
            "ninja: error: unknown target 'x'\n",
            "x.c:1:10: fatal error: old.h: No such file or directory\n",
            "the guide says: No rule to make target 'old.h', needed by 'main.o'\n",
        ] {
            assert!(!misses_a_file(text), "{text}");
        }
    }

    #[test]
    fn memory_damage_is_told_from_other_failures() {
        for text in [
            "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n",
            "WARNING: ThreadSanitizer: data race (pid=3)\n",
            "x.c:3:5: runtime error: signed integer overflow: 1 + 2\n",
            "free(): double free detected in tcache 2\n",
            "prog: malloc(): invalid size (unsorted)\n",
            "*** stack smashing detected ***: terminated\n",
            "==12== Invalid read of size 4\n",
            "prog: malloc.c:2617: sysmalloc: Assertion `x' failed.\n",
        ] {
            assert!(reports_memory_damage(text), "{text}");
        }
        for text in [
            "panic: runtime error: index out of range\n",
            "test free(): ok\n",
            "the file is corrupted\n",
            "==12== definitely lost: 0 bytes in 0 blocks\n",
            "using AddressSanitizer\n",
        ] {
            assert!(!reports_memory_damage(text), "{text}");
        }
    }

    #[test]
    fn assertions_are_told_from_other_failures() {
        for text in [
            "t: x.c:3: f: Assertion `n > 0' failed.\n",
            "Assertion failed: (n > 0), function f, file x.c, line 3.\n",
            "thread 'a' panicked at src/lib.rs:3:5:\nassertion `left == right` failed\n",
            "thread 'a' panicked at 'assertion failed: n > 0', src/lib.rs:3:5\n",
            "Exception in thread \"main\" java.lang.AssertionError: 3\n",
            "AssertionError\n",
            "t.py:3: AssertionError\n",
            "**\nERROR:x.c:3:f: assertion failed: (n > 0)\n",
            "BUG: refs.c:12: no backend\n",
        ] {
            assert!(reports_assertion(text), "{text}");
        }
        for text in ["running assertion tests\n", "3 assertions, 0 failed\n", "BUG: 12 is fixed\n", "error: failed\n"] {
            assert!(!reports_assertion(text), "{text}");
        }
    }
}
