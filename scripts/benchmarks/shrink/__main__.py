"""Shrinks failing inputs of real programs with `git idd shrink` and with other reducers, with the same oracle.

Every case needs its program (Debian: jq bc sqlite3 libxml2-utils perl m4 bison tcl mawk tar python3 gcc). The other
reducers are optional: picire and shrinkray from PyPI, cvise from Debian. A probe is a run of the oracle.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time

import cases

OTHERS = {
    "picire": ["picire", "-i", "{file}", "--test", "{oracle}", "-o", "out", "--atom", "both", "-j", "1"],
    "shrinkray": ["shrinkray", "--ui", "basic", "--parallelism", "1", "{oracle}", "{file}"],
    "cvise": ["cvise", "--n", "1", "--not-c", "{oracle}", "{file}"],
}


def oracle(directory, name, line):
    """The script that succeeds if the failure is still there, and counts its runs."""
    path = os.path.join(directory, "oracle.sh")
    count = os.path.join(directory, "count")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho >>'{count}'\nexport F=${{1:-{name}}}\nexec timeout 10 sh -c {shlex.quote(line)}\n")
    os.chmod(path, 0o755)
    return path, count


def other(tool, name, content, line, limit):
    """Size of the result (the one so far if the limit was reached), probes and seconds."""
    # A tool that was stopped can still write.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        path = cases.make(directory, name, content)
        script, count = oracle(directory, name, line)
        command = [word.format(file=name, oracle=script) for word in OTHERS[tool]]
        # Newer versions of shrinkray ask a language model otherwise, and download it.
        environment = {**os.environ, "SHRINKRAY_LLM": "0"}
        begin = time.monotonic()
        run = subprocess.run(
            ["timeout", str(limit), *command],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        seconds = time.monotonic() - begin
        result = os.path.join(directory, "out", name) if tool == "picire" else path
        size = os.path.getsize(result) if os.path.exists(result) else None
        n_probes = os.path.getsize(count) if os.path.exists(count) else 0
        return size, n_probes, seconds, run.returncode == 124


def ours(program, name, content, line, limit, jobs):
    """The same of `git idd shrink`."""
    with tempfile.TemporaryDirectory() as directory:
        cases.make(directory, name, content)
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "Empty"]):
            subprocess.run([*git, *words], cwd=directory, check=True)
        command = [program, "shrink", "-q", "--json", "-j", str(jobs), "--budget", str(limit), "--input", name, "--"]
        begin = time.monotonic()
        test = f"F={name}; if {line}; then exit 1; fi"
        run = subprocess.run([*command, test], cwd=directory, capture_output=True, check=False)
        seconds = time.monotonic() - begin
        report = json.loads(run.stdout)
        if "inputs" not in report:
            raise SystemExit(f"{name}: {run.stderr.decode()}")
        return report["inputs"][0]["bytes"], report["probes"]["run"], seconds, report["status"] != "minimal"


def shown(result):
    size, n_probes, seconds, is_cut = result
    return f"{'-' if size is None else size} / {n_probes} / {seconds:.0f}{'+' if is_cut else ''}"


def main():
    parser = argparse.ArgumentParser(prog="bench shrink", description=__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    built = os.path.join(here, "../../../target/debug/git-idd")
    parser.add_argument("--program", default=built, help="the git-idd to measure")
    parser.add_argument("--case", action="append", help="only this case; may be given more than once")
    parser.add_argument("--limit", type=int, default=75, help="seconds for each run")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--peers", action="store_true", help="run the other reducers that are installed, too")
    args = parser.parse_args()
    tools = [tool for tool in OTHERS if args.peers and shutil.which(tool)]
    print("bytes / probes / seconds; + where the limit was reached\n")
    print("| input | bytes | git idd |" + "".join(f" {tool} |" for tool in tools))
    print("|---|---|---|" + "---|" * len(tools))
    for name, content, line in cases.CASES:
        if args.case and name.split(".")[0] not in args.case:
            continue
        if not shutil.which(name.split(".")[0].replace("sqlite", "sqlite3").replace("python", "python3").replace("tcl", "tclsh")):
            print(f"| {name} | the program is not installed |")
            continue
        with tempfile.TemporaryDirectory() as directory:
            n_bytes = os.path.getsize(cases.make(directory, name, content))
        row = [ours(os.path.abspath(args.program), name, content, line, args.limit, args.jobs)]
        row += [other(tool, name, content, line, args.limit) for tool in tools]
        print(f"| {name} | {n_bytes} |" + "".join(f" {shown(result)} |" for result in row), flush=True)


main()
