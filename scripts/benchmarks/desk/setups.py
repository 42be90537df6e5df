"""Set-ups of a desk: each makes a history in which `culprit` breaks a test, and what a user has around it.

A set-up is a shell script that runs in an empty repository, `$SIDE` is a directory beside it. `c` commits all files that are not ignored,
`noise N` makes N commits that change nothing of interest. Dependencies are public packages, installed by their usual clients.
"""

HEAD = r"""
set -e
n=0
c() { git add -A; n=$((n + 1)); GIT_AUTHOR_DATE="2026-01-01T00:$((n / 60)):$((n % 60))Z" GIT_COMMITTER_DATE="2026-01-01T00:$((n / 60)):$((n % 60))Z" git commit -q --allow-empty -m "$1"; }
noise() { for i in $(seq "$1"); do echo "$n $i" >> notes.txt; c "Note $n"; done; }
"""

PYTHON = r"""
mkdir -p src/pk tests
printf '[project]\nname="pk"\nversion="1"\n[build-system]\nrequires=["setuptools"]\nbuild-backend="setuptools.build_meta"\n[tool.setuptools.packages.find]\nwhere=["src"]\n' > pyproject.toml
printf '*.egg-info\n__pycache__\nvenv\n.pytest_cache\n' > .gitignore
printf 'def area(a, b):\n    return a * b\n' > src/pk/__init__.py
"""

VENV = r"""
python3 -m venv "$V"; "$V/bin/pip" -q install pytest setuptools wheel >&2; "$V/bin/pip" -q install --no-build-isolation -e . >&2
"""

PYTEST = "printf 'from pk import area\\ndef test_area():\\n    assert area(2, 3) == 6\\n' > tests/test_area.py\n"
BREAK_PYTHON = "printf 'def area(a, b):\\n    return a + b\\n' > src/pk/__init__.py; c culprit; noise $EACH\n"

NODE = r"""
printf 'node_modules\ndist\n' > .gitignore; printf '{"name":"x","version":"1.0.0","private":true}\n' > package.json
npm install --silent lodash semver chalk >&2
printf 'const _ = require("lodash");\nmodule.exports = x => _.sum([x, 1]);\n' > lib.js; c start; noise $EACH
printf 'const _ = require("lodash");\nmodule.exports = x => _.sum([x, 2]);\n' > lib.js; c culprit; noise $EACH
printf 'const assert = require("node:assert");\nassert.strictEqual(require("./lib")(1), 2);\n' > repro.js
"""

TYPESCRIPT = r"""
printf 'node_modules\ndist\n' > .gitignore; mkdir src
printf '{"name":"x","version":"1.0.0","private":true}\n' > package.json; npm install --silent typescript@5 >&2
printf '{"compilerOptions":{"outDir":"dist","module":"commonjs","strict":true},"include":["src"]}\n' > tsconfig.json
printf 'export const next = (x: number): number => x + 1;\n' > src/lib.ts
printf 'import { next } from "./lib";\nif (next(1) !== 2) { throw new Error("got " + next(1)); }\n' > src/test.ts
c start; noise $EACH; printf 'export const next = (x: number): number => x + 2;\n' > src/lib.ts; c culprit; noise $EACH; npx tsc
"""

WORKSPACE = r"""
printf 'node_modules\n' > .gitignore; mkdir -p packages/a packages/b
printf '{"name":"all","private":true,"workspaces":["packages/*"]}\n' > package.json
printf '{"name":"a","version":"1.0.0","dependencies":{"b":"1.0.0"}}\n' > packages/a/package.json
printf '{"name":"b","version":"1.0.0","dependencies":{"lodash":"^4"}}\n' > packages/b/package.json
printf 'const f = require("b");\nif (f(1) !== 2) { throw new Error("got " + f(1)); }\n' > packages/a/test.js
printf 'module.exports = x => require("lodash").sum([x, 1]);\n' > packages/b/index.js
npm install --silent >&2; c start; noise $EACH
printf 'module.exports = x => require("lodash").sum([x, 2]);\n' > packages/b/index.js; c culprit; noise $EACH
"""

CARGO = r"""
printf '/target\n' > .gitignore; mkdir -p one/src two/src two/tests
printf '[workspace]\nmembers = ["one", "two"]\nresolver = "2"\n' > Cargo.toml
printf '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nregex = "1"\n' > one/Cargo.toml
printf '[package]\nname = "two"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\none = { path = "../one" }\nserde_json = "1"\n' > two/Cargo.toml
f() { printf 'pub fn count(text: &str) -> usize { regex::Regex::new("a+").unwrap().find_iter(text).count() + %s }\n' "$1" > one/src/lib.rs; }
printf 'pub fn json(text: &str) -> String { serde_json::json!({"n": one::count(text)}).to_string() }\n' > two/src/lib.rs
f 1; cargo generate-lockfile -q; c start; noise $EACH; f 2; c culprit; noise $EACH
printf '#[test]\nfn repro() { assert_eq!(two::json("aab a"), "{\\"n\\":3}"); }\n' > two/tests/repro.rs
cargo test -q -p two --test repro >/dev/null 2>&1 || true
"""

C_FILES = r"""
printf 'int next(int x);\n' > next.h; printf '#include "next.h"\nint next(int x) { return x + 1; }\n' > next.c
printf '#include <stdio.h>\n#include "next.h"\nint main(void) { printf("got %%d, expected 2\\n", next(1)); return next(1) != 2; }\n' > t.c
"""
BREAK_C = "printf '#include \"next.h\"\\nint next(int x) { return x + 2; }\\n' > next.c; c culprit; noise $EACH\n"

# name, programs, script, test, what is added to PATH
SETUPS = [
    ("editable install, untracked test", ["python3"],
     PYTHON + "c start; noise $EACH\n" + BREAK_PYTHON + "V=$SIDE/venv\n" + VENV + PYTEST, "pytest -q tests", "$SIDE/venv/bin"),
    ("venv in the repository", ["python3"],
     PYTHON + PYTEST + "c start; noise $EACH\n" + BREAK_PYTHON + "V=venv\n" + VENV, "pytest -q tests", "$R/venv/bin"),
    ("generated _version.py", ["python3"],
     "mkdir pk; echo _version.py > .gitignore; printf 'from pk._version import version\\ndef f(): return 1\\n' > pk/__init__.py\n"
     "printf 'import pk\\nassert pk.f() == 1, pk.f()\\n' > t.py; c start; noise $EACH\n"
     "printf 'from pk._version import version\\ndef f(): return 2\\n' > pk/__init__.py; c culprit; noise $EACH\n"
     "echo 'version = \"1.2.dev3+g1234567\"' > pk/_version.py", "python3 -c 'import t'", None),
    ("npm, untracked test", ["npm"], NODE, "node repro.js", None),
    ("TypeScript", ["npm"], TYPESCRIPT, "npx tsc && node dist/test.js", None),
    ("npm workspace", ["npm"], WORKSPACE, "node packages/a/test.js", None),
    ("cargo workspace, untracked test", ["cargo"], CARGO, "cargo test -q -p two --test repro", None),
    ("CMake, configured", ["cmake"],
     C_FILES + "echo build > .gitignore; printf 'cmake_minimum_required(VERSION 3.10)\\nproject(t C)\\nadd_executable(t t.c next.c)\\n' > CMakeLists.txt\n"
     "c start; noise $EACH\n" + BREAK_C + "cmake -S . -B build >/dev/null; cmake --build build >/dev/null", "cmake --build build >/dev/null && ./build/t", None),
    ("autotools in tree", ["autoreconf"],
     C_FILES + "printf 'AC_INIT([t], [1])\\nAM_INIT_AUTOMAKE([foreign])\\nAC_PROG_CC\\nAC_CONFIG_FILES([Makefile])\\nAC_OUTPUT\\n' > configure.ac\n"
     "printf 'bin_PROGRAMS = t\\nt_SOURCES = t.c next.c next.h\\n' > Makefile.am\n"
     "printf 'configure\\nMakefile\\nMakefile.in\\naclocal.m4\\nautom4te.cache\\ncompile\\nconfig.*\\ndepcomp\\ninstall-sh\\nmissing\\n.deps\\n*.o\\nt\\n*~\\n' > .gitignore\n"
     "c start; noise $EACH\n" + BREAK_C + "autoreconf -i >/dev/null 2>&1; ./configure >/dev/null; make -s >/dev/null 2>&1", "make -s >/dev/null 2>&1 && ./t", None),
    ("meson, configured", ["python3"],
     C_FILES + "echo build > .gitignore; printf \"project('t', 'c')\\nexecutable('t', 't.c', 'next.c')\\n\" > meson.build; c start; noise $EACH\n" + BREAK_C
     + "python3 -m venv \"$SIDE/venv\"; \"$SIDE/venv/bin/pip\" -q install meson ninja >&2\n"
     "PATH=$SIDE/venv/bin:$PATH; meson setup build >/dev/null; ninja -C build >/dev/null", "ninja -C build >/dev/null && ./build/t", "$SIDE/venv/bin"),
    ("Go with vendor", ["go"],
     "printf 'module x\\n\\ngo 1.19\\n' > go.mod; printf 'package x\\n\\nfunc Next(x int) int { return x + 1 }\\n' > x.go; c start; noise $EACH\n"
     "printf 'package x\\n\\nfunc Next(x int) int { return x + 2 }\\n' > x.go; c culprit; noise $EACH\n"
     "printf 'package x\\n\\nimport \"testing\"\\n\\nfunc TestNext(t *testing.T) {\\n\\tif Next(1) != 2 {\\n\\t\\tt.Fatal(\"got\", Next(1))\\n\\t}\\n}\\n' > x_test.go",
     "go test ./...", None),
    ("javac, jar outside", ["javac"],
     "echo out > .gitignore; mkdir \"$SIDE/lib\"; cp /usr/share/java/commons-lang3.jar \"$SIDE/lib/lang.jar\"\n"
     "f() { printf 'import org.apache.commons.lang3.StringUtils;\\nclass T {\\n  static String f(String s) { return StringUtils.%s(s); }\\n  public static void main(String[] a) { if (!f(\"ab\").equals(\"ba\")) { throw new RuntimeException(\"got \" + f(\"ab\")); } }\\n}\\n' \"$1\" > T.java; }\n"
     "f reverse; c start; noise $EACH; f upperCase; c culprit; noise $EACH",
     "mkdir -p out && javac -cp $SIDE/lib/lang.jar -d out T.java && java -cp out:$SIDE/lib/lang.jar T", None),
    ("make, untracked input", ["make"],
     C_FILES + "printf 't: t.c next.c next.h\\n\\tcc -o t t.c next.c\\n' > Makefile; echo t > .gitignore; printf 'make -s t || exit 125\\n[ \"$(./t)\" = \"$(cat want.txt)\" ] || { echo wrong; exit 1; }\\n' > try.sh\n"
     "c start; noise $EACH\n" + BREAK_C + "echo 'got 2, expected 2' > want.txt", "sh ./try.sh", None),
    ("service on a fixed port", ["python3"],
     "echo 1 > value; printf 'import http.server, socketserver, threading, urllib.request\\nsocketserver.TCPServer.allow_reuse_address = True\\n"
     "s = socketserver.TCPServer((\"127.0.0.1\", 28471), http.server.SimpleHTTPRequestHandler)\\nthreading.Thread(target=s.serve_forever, daemon=True).start()\\n"
     "v = urllib.request.urlopen(\"http://127.0.0.1:28471/value\").read().strip()\\nassert v == b\"1\", v\\n' > t.py; c start; noise $EACH; echo 2 > value; c culprit; noise $EACH",
     "python3 t.py 2>&1 | grep -v '\"GET'; python3 t.py 2>/dev/null >&2", None),
    ("script outside", [],
     "echo 1 > value; c start; noise $EACH; echo 2 > value; c culprit; noise $EACH; mkdir \"$SIDE/tools\"; printf 'grep -qx 1 value || { echo wrong; exit 1; }\\n' > \"$SIDE/tools/try.sh\"",
     "sh ../side/tools/try.sh", None),
    ("git describe in the build", ["make"],
     "printf '#include \"v.h\"\\n#include <stdio.h>\\n#include \"n.h\"\\nint main(void) { if (N > 4) { printf(\"n is %%d\\\\n\", N); return 1; } return 0; }\\n' > a.c\n"
     "printf 'all:\\n\\tV=$$(git describe --tags) && echo \"#define V \\\\\"$$V\\\\\"\" > v.h\\n\\tcc -o a a.c\\n' > Makefile; printf 'a\\nv.h\\n' > .gitignore\n"
     "echo '#define N 1' > n.h; c start; git tag v0.9; noise $EACH; echo '#define N 9' > n.h; c culprit; noise $EACH", "make -s && ./a", None),
]
