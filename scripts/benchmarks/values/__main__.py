"""Asks gdb whether the values that `git idd trace step` shows are those of the uninstrumented program.

For each program of `programs/`: it is recorded; random steps are chosen, of statements that stand alone in their line; gdb
runs a build by the same clang with -O0 -g up to the same instance of the line, and prints the same variables. Addresses are
compared only as null or not; what a variable holds that was given nothing is not compared.

With `--cases` the programs are those of a file for `bench record`: `source`, `build`, and `program`, which reads what `input` prints, or
`few`, if that is there. Statements in headers are left out: they may be compiled several times.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\\d{3}|\\.|[^\'\\])\'|0x[0-9a-f]+|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|\w+|[{}=,?]|\.\.\.')


def run(*args, cwd, **options):
    done = subprocess.run(args, cwd=cwd, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{args[:4]} failed: {done.stderr[-500:]}")
    return done.stdout


def tokens(text):
    """What has to be equal: numbers, names, strings; pointers only as null or not."""
    text = re.sub(r'", <incomplete sequence ([^>]*)>', r'\1"', text)
    text = re.sub(r"<incomplete sequence ([^>]*)>", r'"\1"', text)
    text = re.sub(r"0x[0-9a-f]+(?: -> [^,{}]*| <[^>]*>)?", lambda m: "NULL" if m[0] == "0x0" else "POINTER", text)
    text = re.sub(r"\((?:[\w ]+\*+|[\w ]*\(\*\)[^)]*\)|operation)\s*\)?", "", text)
    text = re.sub(r" L(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"(?:\.\.\.)?)", "", text)
    text = re.sub(r"\(\w+\) (?=POINTER|NULL)", "", text)
    text = re.sub(r'POINTER ("(?:\\.|[^"\\])*")', r"\1", text)
    return TOKEN.findall(text)


def unescaped(text):
    """The characters of a literal, which may be escaped in two ways."""
    return text[1:-1].encode("utf-8", "replace").decode("unicode_escape", "replace")


def alike(one, other):
    if one == other:
        return True
    if other[0] in "\"'":
        # gdb looks behind every pointer to characters; we call what is no text by its name.
        return (one == "POINTER" and other[0] == '"') or (one[0] == other[0] and unescaped(one) == unescaped(other))
    try:
        return abs(float(one) - float(other)) <= 2e-7 * max(abs(float(one)), abs(float(other)))
    except ValueError:
        return False


def same(ours, theirs):
    """Whether two texts say the same, as far as ours goes: where it ends with `...`, theirs may go on."""
    ours, theirs, at = tokens(ours), tokens(theirs), 0
    for index, token in enumerate(ours):
        if token != "...":
            if at == len(theirs) or not (alike(token, theirs[at]) or is_beginning(ours[index:index + 2], theirs[at])):
                return False
            at += 1
        elif not ours[index - 1].startswith('"'):
            depth = 0
            while at < len(theirs) and (depth > 0 or theirs[at] != "}"):
                depth += {"{": 1, "}": -1}.get(theirs[at], 0)
                at += 1
    return theirs[at:] in ([], ["..."])


def is_beginning(ours, theirs):
    """Whether a string that is cut is the beginning of another."""
    return len(ours) == 2 and ours[1] == "..." and ours[0].startswith('"') and theirs.startswith('"') and unescaped(theirs).startswith(unescaped(ours[0]))


def ask(command, place, instance, names, directory):
    """The values of variables at the `instance`-th run of a line."""
    commands = ["set pagination off", "set print repeats unlimited", "set print elements 4000", "set print null-stop on",
                f"break {place}", f"ignore 1 {instance - 1}", f"run {command['arguments']} < {command['input']} > /dev/null"]
    commands += [f"output {name}\necho \\n@@\\n" for name in names]
    script = "set confirm off\n" + "\n".join(commands[:-len(names)]) + "\necho @@\\n\n" + "\n".join(commands[-len(names):]) + "\nkill\n"
    (directory / "script.gdb").write_text(script)
    done = subprocess.run(["gdb", "-nx", "-batch", "-x", "script.gdb", command["program"]], cwd=directory, capture_output=True, text=True,
                          timeout=300)
    return [part.strip() for part in done.stdout.split("@@")[1:]][: len(names)], done.stderr


def own(source, place):
    """One of our programs: a repository, a build that gdb is asked about, and the command."""
    tree, native = place / source.stem, place / f"{source.stem}-native"
    for directory in (tree, native):
        directory.mkdir()
        shutil.copy(source, directory / source.name)
    build = f"$CC -O0 -g -o prog {source.name} -lm"
    return source.name, tree, native, build, {"program": "./prog", "arguments": "", "input": "/dev/null"}


def real(case, place):
    """A program of a cases file, in the same way."""
    tree, native = place / case["name"], place / f"{case['name']}-native"
    for directory in (tree, native):
        shutil.copytree(case["source"], directory, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    text = place / f"{case['name']}-input"
    with open(text, "wb") as file:
        subprocess.run(["sh", "-c", case.get("few", case.get("input", "true"))], cwd=case["source"], stdout=file, check=True)
    program, _, arguments = case["program"].partition(" ")
    return case["name"], tree, native, case["build"], {"program": program, "arguments": arguments, "input": str(text)}


def compare(prepared, options, n_pairs, chance):
    name, tree, native, build, command = prepared
    environment = dict(os.environ, IDD_CLANG=options.clang, LEVEL="-O0")
    run("sh", "-c", build, cwd=native, env=dict(environment, CC=options.clang))
    run("git", "init", "-q", cwd=tree)
    for words in (["add", "-Af", "."], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]):
        run("git", *words, cwd=tree)
    idd, line = options.idd, f"exec {command['program']} {command['arguments']} < {command['input']}"
    run(idd, "record", "--once", "--build", build, "--", line, cwd=tree, env=environment)
    n_steps = json.loads(run(idd, "trace", "stat", "--json", cwd=tree))["n_steps"]
    asked = equal = unknown = n_tried = 0
    while asked < n_pairs and n_tried < 50 * n_pairs:
        n_tried += 1
        step = chance.randint(1, n_steps)
        seen = json.loads(run(idd, "trace", "step", str(step), "--json", cwd=tree))
        if seen["is_entry"] or not seen["is_alone_in_line"] or not seen["instance"] or seen["file"].endswith(".h"):
            continue
        known = [each for each in seen["variables"] if "?" not in each["value"]]
        unknown += len(seen["variables"]) - len(known)
        chosen = chance.sample(known, min(2, len(known), n_pairs - asked))
        if not chosen:
            continue
        names = [each["name"] for each in chosen]
        theirs, said = ask(command, f"{seen['file']}:{seen['line']}", seen["instance"], names, native)
        for each, their in zip(chosen, theirs + [f"nothing: {said[-200:]}"] * len(chosen)):
            asked += 1
            if same(each["value"], their):
                equal += 1
            else:
                print(f"  step {step}, {seen['file']}:{seen['line']}: {each['name']} is {each['value']}, gdb says {their}")
    print(f"{name}: {equal} of {asked} equal ({n_steps} steps; {unknown} more values were given nothing)", flush=True)
    return asked, equal


def main():
    parser = argparse.ArgumentParser(prog="bench values", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200, help="pairs of a step and a variable over all programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clang", default=os.environ.get("IDD_CLANG", "clang-19"))
    parser.add_argument("--idd", default=str(ROOT / "target" / "release" / "git-idd"))
    parser.add_argument("--cases", type=Path, help="real programs instead of our own")
    parser.add_argument("--only", nargs="*", help="names of cases")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    if options.cases:
        cases = tomllib.loads(options.cases.read_text())["case"]
        programs = [case for case in cases if "program" in case and (not options.only or case["name"] in options.only)]
    else:
        programs = sorted((HERE / "programs").glob("*.c"))
    asked = equal = 0
    with tempfile.TemporaryDirectory() as directory:
        for index, program in enumerate(programs):
            share = (options.pairs - asked) // (len(programs) - index)
            prepare = real if options.cases else own
            n, n_equal = compare(prepare(program, Path(directory)), options, share, chance)
            asked, equal = asked + n, equal + n_equal
    print(f"{equal} of {asked} pairs equal")
    sys.exit(equal != asked)


main()
