"""Inputs of real programs, made anew from a seed, and what shows that the failure is still there."""

import io
import json
import os
import random
import subprocess
import tarfile
import textwrap

NAMES = ["alpha", "beta", "gamma", "delta", "eps", "zeta", "eta", "theta"]


def json_input(rng):
    def value(depth):
        if depth == 0:
            return rng.choice([rng.randint(0, 9999), rng.choice(NAMES), True, None, 3.25, "x, {y}"])
        if rng.random() < 0.5:
            return {rng.choice(NAMES) + str(i): value(depth - 1) for i in range(rng.randint(1, 4))}
        return [value(depth - 1) for _ in range(rng.randint(1, 4))]

    items = [{"id": i, "name": f"item {i}", "dim": value(3), "price": rng.randint(1, 900)} for i in range(70)]
    items[43]["price"] = {"amount": 12}
    return json.dumps({"version": 2, "items": items, "meta": value(4)}, indent=1)


def bc_input(_rng):
    lines = [
        f"define f{i}(x,y) {{\n  auto z;\n  z = x * {i} + y;\n  if (z > {i * 3}) {{ z = z - {i}; }}\n"
        f"  while (z > 100) {{ z = z / 2; }}\n  return (z + {i});\n}}"
        for i in range(60)
    ]
    lines.append("define g(n) {\n  auto r, k;\n  for (k = 0; k < n; k++) {\n    r = r + f7(k, n) / (k - 4);\n  }\n  return (r);\n}")
    lines += [f"f{i}({i}, {i + 2})" for i in range(60)]
    return "\n".join([*lines, "scale = 5; g(9)", "quit"]) + "\n"


def sql_input(rng):
    lines = []
    for t in range(12):
        lines.append(f"CREATE TABLE t{t} (id INTEGER PRIMARY KEY, name TEXT NOT NULL, v{t} INTEGER DEFAULT {t}, ref INTEGER);")
        for i in range(8):
            values = f"{i}, '{rng.choice(NAMES)}', {rng.randint(0, 99)}, {rng.randint(0, 7)}"
            lines.append(f"INSERT INTO t{t} (id, name, v{t}, ref) VALUES ({values});")
    lines.append(
        "SELECT a.id, b.name, count(*) FROM t3 AS a LEFT JOIN t4 AS b ON a.ref = b.id "
        "WHERE a.v3 > 3 AND name <> 'x' GROUP BY a.id ORDER BY 1;"
    )
    lines += [f"UPDATE t{t} SET v{t} = v{t} + 1 WHERE id IN (SELECT ref FROM t{(t + 1) % 12});" for t in range(12)]
    return "\n".join(lines) + "\n"


def xml_input(rng):
    def element(depth, i):
        tag = rng.choice(NAMES)
        if depth == 0:
            return f"<leaf n='{i}' kind=\"{tag}\">text {i} &amp; more</leaf>"
        inner = "".join("\n" + " " * (6 - depth) + element(depth - 1, i * 3 + k) for k in range(rng.randint(2, 4)))
        return f"<{tag} id='{i}' class='a b'>{inner}\n{' ' * (5 - depth)}</{tag}>"

    text = "<?xml version='1.0'?>\n<!-- made -->\n<root>" + element(5, 1) + element(4, 2) + "\n</root>\n"
    middle = text.find("<leaf", len(text) // 2)
    return text[:middle] + text[middle:].replace("&amp; more", "&nbsp; more", 1)


def m4_input(_rng):
    lines = ["divert(-1)"]
    for i in range(80):
        lines.append(
            f"define(`mac{i}', `ifelse(`$1', `{i}', `yes', `mac{max(i - 1, 0)}(eval(`$1' - 1))')')\ndefine(`val{i}', {i * 7})"
        )
    lines.append("define(`loop', `ifelse($1, 0, `', `$1 loop(decr($1))')')\ndefine(`bad', `eval(val3 / (val1 - 7))')")
    lines.append("divert(0)dnl")
    lines += [f"text {i} mac{i % 4}({i % 4}) loop(3) val{i}" for i in range(30)]
    return "\n".join([*lines, "and bad here"]) + "\n"


def bison_input(_rng):
    grammar = """%token NUM ID IF ELSE WHILE DO RETURN
%left '+' '-'
%left '*' '/'
%start program
%%
program: stmts | '@' r0 ;
stmts: %empty | stmts stmt ;
stmt: expr ';' | IF '(' expr ')' stmt | IF '(' expr ')' stmt ELSE stmt | WHILE '(' expr ')' stmt | '{' stmts '}' | RETURN expr ';' ;
expr: expr '+' expr | expr '-' expr | expr '*' expr | expr '/' expr | call | NUM | ID | '(' expr ')' ;
call: ID '(' args ')' ;
args: %empty | arglist ;
arglist: expr | arglist ',' expr ;
"""
    rules = [f"r{i}: ID NUM r{i + 1} | NUM '=' expr {{ $$ = {i}; }} | '[' r{max(0, i - 2)} ']' ;" for i in range(25)]
    return grammar + "\n".join([*rules, "r25: ID | typed ID ;", "typed: ID ;", "%%", "int main(void) { return 0; }"]) + "\n"


def awk_input(_rng):
    lines = [
        f"function f{i}(x, y,  z) {{\n  z = x * {i} + y\n  if (z > {i}) {{ z = z - {i}; gsub(/a{i}/, \"b\") }}\n"
        f"  while (z > 100) {{ z = z / 2 }}\n  return z + {i}\n}}"
        for i in range(50)
    ]
    lines.append("BEGIN {")
    lines += [f'  s += f{i}({i}, {i + 1}); printf("%d %s\\n", s, "v{i}")' for i in range(50)]
    lines.append('  split("a b c", parts, " "); m[1] = parts[7]++ ; print toupper(m[1])\n  exit bad(1)\n}')
    return "\n".join([*lines, "function bad(q) { m = 3; return m[q] }"]) + "\n"


def tcl_input(_rng):
    lines = [f"proc p{i} {{a b}} {{\n    set c [expr {{$a * {i} + $b}}]\n    return $c\n}}" for i in range(20)]
    lines.append(
        "proc count {list} {\n    set n 0\n    foreach item $list {\n        if {[string length $item] > 3} {\n"
        "            incr n\n        } else {\n            set n [expr {$n + $amount}]\n        }\n    }\n    return $n\n}"
    )
    return "\n".join([*lines, *[f"puts [p{i} {i} 2]" for i in range(20)], "puts [count {alpha beta a}]"]) + "\n"


def tar_input(_rng):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for i in range(6):
            info = tarfile.TarInfo(f"dir/file{i}.txt" + ("x" * 110 if i == 3 else ""))
            content = (f"content {i} " * 40).encode()
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()[:4000]


def python_input(_rng):
    with open(textwrap.__file__, encoding="utf-8") as file:
        text = file.read()
    more = "        lines = []\n        def helper():\n            nonlocal missing_name\n            missing_name = 3\n"
    return text.replace("        lines = []\n", more, 1)


def perl_input(_rng):
    place = subprocess.run(["perl", "-MFile::Find", "-e", "print $INC{'File/Find.pm'}"], capture_output=True, text=True, check=True)
    with open(place.stdout, encoding="utf-8") as file:
        lines = file.read().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("sub _find_dir("))
    at = next(i for i in range(at, len(lines)) if lines[i].lstrip().startswith("while"))
    return "\n".join([*lines[: at + 1], "\tmy @x = (1..3); my $y = $x[0] + $undeclared_thing;", *lines[at + 1 :]])


def c_input(_rng):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "../../../tests/idd/record/torture.c"), encoding="utf-8") as file:
        text = file.read()
    return text + (
        "\nstatic int later(unsigned n, int *where)\n{\n    int value;\n    if (n > 3)\n        value = where[n];\n"
        "    for (int i = 0; i < 4; i++)\n        n += i;\n    return value + (int)n;\n}\n"
        "int use_it(int *p) { return later(p[0], p); }\n"
    )


# Name of the file, how it is made, and a shell line that succeeds if `$F` still shows the failure.
CASES = [
    ("jq.json", json_input, "jq '[.items[]|.price*2]|add' \"$F\" 2>&1 | grep -q 'object .* and number .* cannot be multiplied'"),
    ("bc.bc", bc_input, "bc -q \"$F\" </dev/null 2>&1 | grep -q 'Divide by zero'"),
    ("sqlite.sql", sql_input, "sqlite3 :memory: <\"$F\" 2>&1 | grep -q 'ambiguous column name'"),
    ("xmllint.xml", xml_input, "xmllint --noout \"$F\" 2>&1 | grep -q \"Entity 'nbsp' not defined\""),
    ("perl.pl", perl_input, "perl -c \"$F\" 2>&1 | grep -q 'Global symbol .*undeclared_thing.* requires'"),
    ("m4.m4", m4_input, "m4 \"$F\" 2>&1 | grep -q 'divide by zero in eval'"),
    ("bison.y", bison_input, "bison -o /dev/null \"$F\" 2>&1 | grep -q 'shift/reduce conflict'"),
    ("tcl.tcl", tcl_input, "tclsh \"$F\" 2>&1 | grep -q 'can.t read \"amount\": no such variable'"),
    ("mawk.awk", awk_input, "mawk -f \"$F\" </dev/null 2>&1 | grep -q 'illegal reference to array'"),
    ("tar.tar", tar_input, "tar tf \"$F\" 2>&1 | grep -q 'Unexpected EOF in archive'"),
    ("python.py", python_input, "python3 -S -E -c 'import sys; compile(open(sys.argv[1], \"rb\").read(), \"x\", \"exec\")' \"$F\" 2>&1 | grep -q 'no binding for nonlocal'"),
    ("gcc.c", c_input, "gcc -O1 -Wall -c -o /dev/null \"$F\" 2>&1 | grep -q 'may be used uninitialized'"),
]


def make(directory, name, content):
    """Writes an input; returns its path."""
    made = content(random.Random(7))
    path = os.path.join(directory, name)
    with open(path, "wb") as file:
        file.write(made if isinstance(made, bytes) else made.encode())
    return path
