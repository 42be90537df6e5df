"""Where the time of the gate goes.

Clones HEAD into a new directory, and runs `scripts/check.sh` there twice: *cold*, with nothing compiled before, and *warm*, after a change of one line in `src/app/lib.rs`. With `--here`,
it runs once, in this checkout and with the products that are there.

Each compiler, linker and test is started through a script that notes its processor time. *Front end and code* is one call of rustc without its linker. *Rest* is all other processor time: cargo, nextest,
formatting, the installation of packages. Raw rows go to target/bench/gate.jsonl. Use a quiet machine for times on the clock.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from running import RAW, ROOT, keep
from tables import table

# What each of the programs is replaced by, so that its processor time is noted. The name of a test is the word after `--exact`.
NOTED = """#!/bin/bash
{command} "$@"
code=$?
times=$(mktemp {place}/times-XXXXXX)
times >"$times"
{{ read -r _; read -r children; }} <"$times"
rm -f "$times"
printf '%s\\t{kind}\\t%s\\t%s\\t%s\\n' "$EPOCHREALTIME" "{name}" "$children" "$*" >>{place}/log
exit $code
"""


def host():
    said = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    return re.search("^host: (.*)$", said, re.M)[1]


def noting(place):
    """The environment in which processes are noted in `place`/log."""
    host_name = host()
    upper = host_name.upper().replace("-", "_")
    lower = host_name.replace("-", "_")
    programs = {
        "rustc": ("RUSTC_WRAPPER", "", "${CARGO_CRATE_NAME-}"),
        "c": (f"CC_{lower}", "cc", "${CARGO_PKG_NAME-}"),
        "c++": (f"CXX_{lower}", "c++", "${CARGO_PKG_NAME-}"),
        "link": (f"CARGO_TARGET_{upper}_LINKER", "cc", "${CARGO_CRATE_NAME-}"),
        "test": (f"CARGO_TARGET_{upper}_RUNNER", "", "${1##*/}"),
    }
    env = dict(os.environ)
    for kind, (variable, command, name) in programs.items():
        # rustc tells by the name of a linker which words it takes.
        script = place / f"{kind}-cc"
        script.write_text(NOTED.format(command=command, place=place, kind=kind, name=name))
        script.chmod(0o755)
        env[variable] = str(script)
    (place / "log").touch()
    return env


def seconds(times):
    """Processor time from a line such as `1m2.5s 0m0.1s`."""
    return sum(60 * int(minutes) + float(rest) for minutes, rest in re.findall(r"(\d+)m([\d.]+)s", times))


def noted(place):
    """What was noted: when it ended, kind, name, seconds, and the words."""
    rows = []
    for line in (place / "log").read_text(errors="replace").splitlines():
        fields = line.split("\t", 4)
        if len(fields) == 5 and fields[0].replace(".", "").isdigit():
            end, kind, name, times, words = fields
            rows.append({"end": float(end), "kind": kind, "name": name, "cpu": seconds(times), "words": words})
    return rows


def run(checkout, options, place):
    """Runs the gate; returns its steps, what was noted, and the last line.

    Runs that are compared share `place`: cargo compiles everything anew if the path of a compiler is another one.
    """
    env = noting(place)
    begin = time.time()
    gate = subprocess.Popen(["scripts/check.sh", *options], cwd=checkout, env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    steps, last = [], ""
    for line in gate.stderr:
        sys.stderr.write(line)
        if line.startswith("==> "):
            last = line[4:].strip()
            steps.append({"step": last, "begin": time.time()})
    _, status, used = os.wait4(gate.pid, 0)
    end = time.time()
    if os.waitstatus_to_exitcode(status):
        print(f"the gate failed: {last}")
    rows = noted(place)
    (place / "log").unlink()
    return {"wall": end - begin, "cpu": used.ru_utime + used.ru_stime, "end": end, "steps": steps, "last": last}, rows


def target(row):
    """The target of a call of rustc for this package."""
    words = row["words"].split()
    source = next((word for word in words if word.endswith(".rs")), row["name"])
    return f"{source}, {'with its tests' if '--test' in words and source.startswith('src') else 'alone'}"


def shares(total, rows):
    """Where the processor time went."""
    found = defaultdict(lambda: [0.0, 0])

    def add(what, row, n=1):
        found[what][0] += row["cpu"]
        found[what][1] += n

    links = defaultdict(float)
    for row in rows:
        if row["kind"] == "link":
            links[row["name"]] += row["cpu"]
            add("linker", row)
    for row in rows:
        if row["kind"] == "rustc":
            source = re.search(r"(?:^| )((?:src|tests|examples)/\S+\.rs)", row["words"])
            is_package = source and (ROOT / source[1]).exists()
            add(f"front end and code: {target(row)}" if is_package else "dependencies: Rust", row)
        elif row["kind"] in ("c", "c++"):
            add("dependencies: C", row)
        elif row["kind"] == "test" and "--exact" in row["words"]:
            add("tests of the library" if re.match(r"(git_idd|idd_\w+)-", row["name"]) else "tests of whole commands", row)
    # The linker is a child of rustc.
    for name, cpu in links.items():
        member = {"git_idd": "app"}.get(name, name.removeprefix("idd_"))
        of_package = [what for what in found if what.startswith("front end") and f"/{member}/" in what]
        if not of_package:
            found["dependencies: Rust"][0] -= cpu
        for what in of_package:
            found[what][0] -= cpu / len(of_package)
    known = sum(cpu for cpu, _ in found.values())
    found["rest"] = [total["cpu"] - known, 0]
    return sorted(([what, max(cpu, 0.0), n or None] for what, (cpu, n) in found.items()), key=lambda row: -row[1])


def show(what, total, rows, n_tests):
    print(f"\n## {what}: {total['wall']:.0f} s on the clock, {total['cpu']:.0f} s of processor time on {os.cpu_count()} processors\n")
    print(f"Its last line: `{total['last']}`\n")
    steps = total["steps"]
    ends = [step["begin"] for step in steps[1:]] + [total["end"]]
    timed = [(step["step"], end - step["begin"], sum(row["cpu"] for row in rows if step["begin"] <= row["end"] < end and row["kind"] != "link"))
             for step, end in zip(steps, ends)]
    print(table(["step", "s on the clock", "s of noted processor time"], timed[:-1]))
    print()
    print(table(["what", "s of processor time", "processes"], shares(total, rows)))
    tests = [(re.search(r"--exact (\S+)", row["words"])[1], row["cpu"]) for row in rows if row["kind"] == "test" and "--exact" in row["words"]]
    tests.sort(key=lambda test: -test[1])
    print(f"\nThe {min(n_tests, len(tests))} slowest of {len(tests)} tests:\n")
    print(table(["test", "s of processor time"], tests[:n_tests]))


def main():
    parser = argparse.ArgumentParser(prog="bench gate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--here", action="store_true", help="run once, in this checkout")
    parser.add_argument("--tests", type=int, default=60, metavar="N", help="list the N slowest tests")
    parser.add_argument("options", nargs="*", metavar="OPTION", help="options of check.sh, after `--`")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=ROOT.parent) as scratch:
        place, checkout = Path(scratch, "notes"), Path(scratch, "git-idd")
        place.mkdir()
        if options.here:
            runs = [("In this checkout", *run(ROOT, options.options, place))]
        else:
            subprocess.run(["git", "clone", "-q", ROOT, checkout], check=True)
            runs = [("Cold", *run(checkout, options.options, place))]
            with open(checkout / "src/app/lib.rs", "a", encoding="utf-8") as file:
                file.write("\nconst _: () = ();\n")
            runs.append(("Warm, after a change of one line", *run(checkout, options.options, place)))
    for what, total, rows in runs:
        for row in rows:
            keep("gate", {"run": what, **row})
        show(what, total, rows, options.tests)
    print(f"\nRaw rows: {RAW.relative_to(ROOT)}/gate.jsonl")


if __name__ == "__main__":
    main()
