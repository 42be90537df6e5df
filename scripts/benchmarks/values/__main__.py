"""Asks gdb whether the values that `git idd trace step` shows are those of the uninstrumented program.

For each program of `programs/`: it is recorded; random steps are chosen, of statements that stand alone in their line; gdb
runs a build by the same clang with -O0 -g up to the same instance of the line, and prints the same variables. Addresses are
compared only as null or not; what a variable holds that was given nothing is not compared.
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
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|\'\\\d{3}\'|0x[0-9a-f]+|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|\w+|[{}=,?]|\.\.\.')


def run(*args, cwd, **options):
    done = subprocess.run(args, cwd=cwd, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{args[:4]} failed: {done.stderr[-500:]}")
    return done.stdout


def tokens(text):
    """What has to be equal: numbers, names, strings; pointers only as null or not."""
    text = re.sub(r"0x[0-9a-f]+(?: -> [^,{}]*| <[^>]*>)?", lambda m: "NULL" if m[0] == "0x0" else "POINTER", text)
    text = re.sub(r"\((?:[\w ]+\*+|[\w ]*\(\*\)[^)]*\)|operation)\s*\)?", "", text)
    text = re.sub(r'POINTER "((?:\\.|[^"\\])*)"(?:\.\.\.)?', r'"\1"', text)
    return TOKEN.findall(text)


def same(ours, theirs):
    one, other = tokens(ours), tokens(theirs)
    if len(one) != len(other):
        return False
    for a, b in zip(one, other):
        if a == b:
            continue
        try:
            if abs(float(a) - float(b)) <= 2e-7 * max(abs(float(a)), abs(float(b))):
                continue
        except ValueError:
            pass
        return False
    return True


def ask(binary, place, instance, names, directory):
    """The values of variables at the `instance`-th run of a line."""
    commands = ["set pagination off", "set print repeats unlimited", "set print elements 200", "set print null-stop on",
                f"break {place}", f"ignore 1 {instance - 1}", "run > /dev/null"]
    commands += [f"output {name}\necho \\n@@\\n" for name in names]
    script = "set confirm off\n" + "\n".join(commands[:-len(names)]) + "\necho @@\\n\n" + "\n".join(commands[-len(names):]) + "\nkill\n"
    (directory / "script.gdb").write_text(script)
    done = subprocess.run(["gdb", "-nx", "-batch", "-x", "script.gdb", binary], cwd=directory, capture_output=True, text=True, timeout=300)
    return [part.strip() for part in done.stdout.split("@@")[1:]][: len(names)], done.stderr


def compare(source, idd, clang, n_pairs, chance, directory):
    work = directory / source.stem
    work.mkdir()
    shutil.copy(source, work / source.name)
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]):
        run("git", *words, cwd=work)
    environment = dict(os.environ, IDD_CLANG=clang)
    run(idd, "record", "--build", f"$CC -o prog {source.name} -lm", "--", "./prog", cwd=work, env=environment)
    run(clang, "-O0", "-g", "-o", "native", source.name, "-lm", cwd=work)
    n_steps = json.loads(run(idd, "trace", "stat", "--json", cwd=work))["n_steps"]
    steps = list(range(1, n_steps + 1))
    chance.shuffle(steps)
    asked = equal = unknown = 0
    for step in steps:
        if asked >= n_pairs:
            break
        seen = json.loads(run(idd, "trace", "step", str(step), "--json", cwd=work))
        if seen["is_entry"] or not seen["is_alone_in_line"]:
            continue
        known = [each for each in seen["variables"] if "?" not in each["value"]]
        unknown += len(seen["variables"]) - len(known)
        chosen = chance.sample(known, min(2, len(known), n_pairs - asked))
        if not chosen:
            continue
        names = [each["name"] for each in chosen]
        theirs, said = ask("./native", f"{seen['file']}:{seen['line']}", seen["instance"], names, work)
        for each, their in zip(chosen, theirs + [f"nothing: {said[-200:]}"] * len(chosen)):
            asked += 1
            if same(each["value"], their):
                equal += 1
            else:
                print(f"  step {step}, line {seen['line']}: {each['name']} is {each['value']}, gdb says {their}")
    print(f"{source.name}: {equal} of {asked} equal ({n_steps} steps; {unknown} more values were given nothing)")
    return asked, equal


def main():
    parser = argparse.ArgumentParser(prog="bench values", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200, help="pairs of a step and a variable over all programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clang", default=os.environ.get("IDD_CLANG", "clang-19"))
    parser.add_argument("--idd", default=str(ROOT / "target" / "release" / "git-idd"))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    programs = sorted((HERE / "programs").glob("*.c"))
    asked = equal = 0
    with tempfile.TemporaryDirectory() as directory:
        for index, source in enumerate(programs):
            share = (options.pairs - asked) // (len(programs) - index)
            n, n_equal = compare(source, options.idd, options.clang, share, chance, Path(directory))
            asked, equal = asked + n, equal + n_equal
    print(f"{equal} of {asked} pairs equal")
    sys.exit(equal != asked)


main()
